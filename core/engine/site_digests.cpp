// SPDX-License-Identifier: Apache-2.0
#include "core/engine/site_digests.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "core/crypto/sha256.h"

namespace assay::engine {

using base::ErrorCode;
using base::fail;
using base::Result;

base::Digest siteDigest(std::span<const float> values) {
    static_assert(std::endian::native == std::endian::little, "big-endian hosts need byte swaps here");
    return crypto::sha256({reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
}

Result<std::unique_ptr<SiteDigestFile>> SiteDigestFile::open(const base::fs::path& path, std::uint64_t keepThrough) {
    std::string kept;
    if (keepThrough > 0) {
        std::ifstream old(path);
        for (std::string line; std::getline(old, line) && !old.eof();) {
            std::uint64_t step = 0;
            const auto [end, code] = std::from_chars(line.data(), line.data() + line.size(), step);
            if (code != std::errc{} || step > keepThrough) {
                break;
            }
            kept += line + "\n";
        }
    }
    std::FILE* file = std::fopen(path.c_str(), "we");
    if (file == nullptr) {
        return fail(base::systemError(path, "write", errno));
    }
    std::unique_ptr<SiteDigestFile> result(new SiteDigestFile(file, path));
    if (std::fwrite(kept.data(), 1, kept.size(), file) != kept.size()) {
        return fail(base::systemError(path, "write", errno));
    }
    return result;
}

SiteDigestFile::~SiteDigestFile() {
    std::fclose(m_file);
}

Result<void> SiteDigestFile::completed(std::uint64_t step, const Site& site, std::span<float> values) {
    const auto line = fmt::format("{}\t{}\t{}\t{}\n", step, site.index, site.name, siteDigest(values).toHex());
    if (m_problem == 0 && std::fwrite(line.data(), 1, line.size(), m_file) != line.size()) {
        m_problem = errno;
    }
    return m_problem == 0 ? Result<void>{} : fail(base::systemError(m_path, "write", m_problem));
}

Result<void> SiteDigestFile::flush() {
    // A failed fflush drops what it could not write, and the next one succeeds: remember it.
    if (m_problem == 0 && std::fflush(m_file) != 0) {
        m_problem = errno;
    }
    return m_problem == 0 ? Result<void>{} : fail(base::systemError(m_path, "write", m_problem));
}

float wrongValue(float value) {
    constexpr float kSmall = 0x1p-10f;
    if (value == 0.0f) {
        return kSmall;
    }
    const float twice = value * 2.0f;
    return std::isfinite(twice) && twice != value ? twice : value / 2.0f;
}

Result<void> SiteFault::completed(std::uint64_t step, const Site& site, std::span<float> values) {
    if (step != m_step || site.index != m_site || m_happened) {
        return {};
    }
    if (m_element >= values.size()) {
        return fail(ErrorCode::usage, fmt::format("site {} \"{}\" has {} elements, there is no element {}", site.index,
                                                  site.name, values.size(), m_element));
    }
    m_before = values[m_element];
    m_after = wrongValue(m_before);
    values[m_element] = m_after;
    m_happened = true;
    return {};
}

} // namespace assay::engine
