// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <memory>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/engine/step_sink.h"

namespace assay::engine {

/// SHA-256 over a site's little-endian FP32 values.
[[nodiscard]] base::Digest siteDigest(std::span<const float> values);

/// Writes one line per site: step, site index, name and digest, separated by tabs. Whole steps only after flush().
class SiteDigestFile final : public SiteHook {
public:
    /// Starts the file anew, keeping the lines of steps up to `keepThrough` of one that is there (0: none).
    /// `environment` if it cannot be written.
    [[nodiscard]] static base::Result<std::unique_ptr<SiteDigestFile>> open(const base::fs::path& path,
                                                                            std::uint64_t keepThrough);
    ~SiteDigestFile() override;

    [[nodiscard]] base::Result<void> completed(std::uint64_t step, const Site& site, std::span<float> values) override;
    /// Hands everything to the operating system.
    [[nodiscard]] base::Result<void> flush();

private:
    SiteDigestFile(std::FILE* file, base::fs::path path) : m_file(file), m_path(std::move(path)) {}
    std::FILE* m_file;
    base::fs::path m_path;
    int m_problem = 0; ///< errno of the first write that failed
};

/// Changes one element of one site in one step.
class SiteFault final : public SiteHook {
public:
    SiteFault(std::uint64_t step, std::uint32_t site, std::uint64_t element)
        : m_step(step), m_site(site), m_element(element) {}
    [[nodiscard]] base::Result<void> completed(std::uint64_t step, const Site& site, std::span<float> values) override;
    [[nodiscard]] bool happened() const { return m_happened; }
    [[nodiscard]] float before() const { return m_before; }
    [[nodiscard]] float after() const { return m_after; }

private:
    std::uint64_t m_step;
    std::uint32_t m_site;
    std::uint64_t m_element;
    bool m_happened = false;
    float m_before = 0;
    float m_after = 0;
};

/// A wrong value that is plainly wrong but of the right size: twice the value, or a small one instead of zero. Finite
/// for every finite value, never -0 and never equal to it.
[[nodiscard]] float wrongValue(float value);

} // namespace assay::engine
