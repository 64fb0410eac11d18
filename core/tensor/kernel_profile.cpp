// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/kernel_profile.h"

#include <algorithm>
#include <cctype>
#include <cfloat>
#include <charconv>
#include <cstdlib>
#include <string>
#include <thread>

#include <cblas.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/numerics/float_environment.h"

namespace assay::tensor {

using base::ErrorCode;
using base::fail;
using base::Result;

// The x87 unit would round twice.
static_assert(FLT_EVAL_METHOD == 0, "FP64 operations must be rounded to FP64");

namespace {

constexpr int kMaxThreads = 256;

struct CoreType {
    const char* name;        ///< in profiles
    const char* environment; ///< value of OPENBLAS_CORETYPE
    const char* loaded;      ///< what openblas_get_corename returns, compared without case
};

// Persistent: names are part of the evidence. Anything else would fall back silently, or crash.
constexpr CoreType kCores[] = {{"barcelona", "Barcelona", "barcelona"},
                               {"haswell", "Haswell", "haswell"},
                               {"prescott", "Prescott", "prescott"},
                               {"skylakex", "SkylakeX", "skylakex"}};

const CoreType* findCore(std::string_view name) {
    const auto* found =
        std::find_if(std::begin(kCores), std::end(kCores), [&](const auto& c) { return name == c.name; });
    return found == std::end(kCores) ? nullptr : found;
}

std::string allowedParts() {
    std::string text;
    for (const auto& name : allowedCores()) {
        text += name + ", ";
    }
    return text + "reversed, splitk, threads=N, noise=X";
}

Result<void> bad(std::string_view part, std::string_view why) {
    return fail(ErrorCode::usage, fmt::format("kernel profile: '{}' {}", part, why), "a list of " + allowedParts());
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// What the core types' kernels contain, as found in their machine code. nullptr: nothing is missing.
const char* missingFeature([[maybe_unused]] std::string_view core) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (core == "haswell" && !(__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0)) {
        return "AVX2 and FMA";
    }
    if (core == "skylakex" && !(__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                                __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                                __builtin_cpu_supports("avx512cd") != 0)) {
        return "AVX-512 (F, CD, BW, DQ, VL)";
    }
    if ((core == "prescott" || core == "barcelona") && __builtin_cpu_supports("sse3") == 0) {
        return "SSE3";
    }
    if (core == "barcelona") {
        // No SSE4a in there, but PREFETCHW; CPUID 0x80000001, ECX bit 8 on both vendors' CPUs.
        unsigned eax = 0;
        unsigned ebx = 0;
        unsigned ecx = 0;
        unsigned edx = 0;
        if (__get_cpuid(0x80000001U, &eax, &ebx, &ecx, &edx) == 0 || (ecx & (1U << 8)) == 0) {
            return "PREFETCHW";
        }
    }
    return nullptr;
#else
    return core == "default" ? nullptr : "an x86-64 CPU";
#endif
}

Result<void> readThreads(std::string_view part, std::string_view text, KernelProfile& profile) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), profile.threads);
    if (error != std::errc() || end != text.data() + text.size() || profile.threads < 1 ||
        profile.threads > kMaxThreads) {
        return bad(part, fmt::format("needs a whole number from 1 to {}", kMaxThreads));
    }
    return {};
}

Result<void> readNoise(std::string_view part, std::string_view text, KernelProfile& profile) {
    // Digits and one point only: no sign, exponent, infinity or NaN.
    if (text.empty() || text.size() > 20 || text.find_first_not_of("0123456789.") != std::string_view::npos) {
        return bad(part, "needs a number from 0 to 1");
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), profile.noise);
    if (error != std::errc() || end != text.data() + text.size() || !(profile.noise >= 0.0 && profile.noise <= 1.0)) {
        return bad(part, "needs a number from 0 to 1");
    }
    return {};
}

/// OpenBLAS takes 128 MiB of address space for each thread at its first product and, refused, asks again for ever. So
/// where there is a limit, look before it does.
Result<void> checkAddressSpace(int threads) {
    constexpr std::size_t kPerThread = std::size_t{129} << 20;
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return {};
    }
    const std::size_t needed = kPerThread * (static_cast<std::size_t>(threads) + 1);
    void* probe = ::mmap(nullptr, needed, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) {
        return fail(ErrorCode::environment,
                    fmt::format("the limit on this process's address space leaves no room for the {} MiB that OpenBLAS "
                                "takes for {} threads",
                                needed >> 20, threads),
                    "raise the limit (ulimit -v), or take fewer threads (--kernel threads=1)");
    }
    ::munmap(probe, needed);
    return {};
}

} // namespace

Result<KernelProfile> KernelProfile::parse(std::string_view text) {
    KernelProfile profile;
    std::vector<std::string> seen;
    const auto once = [&](std::string what) {
        const bool isNew = std::find(seen.begin(), seen.end(), what) == seen.end();
        seen.push_back(std::move(what));
        return isNew;
    };
    std::size_t at = 0;
    while (at <= text.size()) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const std::string_view part = text.substr(at, comma - at);
        at = comma + 1;
        const std::size_t equals = part.find('=');
        const std::string_view key = part.substr(0, equals);
        const std::string_view value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
        const bool hasValue = equals != std::string_view::npos;
        std::string group(key);
        if (!hasValue && (key == "default" || findCore(key) != nullptr)) {
            profile.core = std::string(key);
            group = "core type";
        } else if (!hasValue && key == "reversed") {
            profile.reversed = true;
        } else if (!hasValue && key == "splitk") {
            profile.splitK = true;
        } else if (hasValue && key == "threads") {
            ASSAY_CHECK(readThreads(part, value, profile));
        } else if (hasValue && key == "noise") {
            ASSAY_CHECK(readNoise(part, value, profile));
        } else {
            ASSAY_CHECK(bad(part, "is not a known part"));
        }
        if (!once(group)) {
            ASSAY_CHECK(bad(part, "is given twice: one " + group + " at most"));
        }
    }
    return profile;
}

std::string KernelProfile::toString() const {
    std::string text = core;
    if (reversed) {
        text += ",reversed";
    }
    if (splitK) {
        text += ",splitk";
    }
    if (threads != 0) {
        text += fmt::format(",threads={}", threads);
    }
    if (noise != 0.0) {
        text += fmt::format(",noise={}", noise);
    }
    return text;
}

const char* KernelProfile::coreTypeForEnvironment() const {
    const CoreType* type = findCore(core);
    return type == nullptr ? nullptr : type->environment;
}

bool KernelProfile::needsRestart() const {
    const char* wanted = coreTypeForEnvironment();
    const char* present = std::getenv("OPENBLAS_CORETYPE");
    if (wanted == nullptr || present == nullptr) {
        return wanted != present;
    }
    return std::string_view(wanted) != present;
}

const std::vector<std::string>& allowedCores() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& core : kCores) {
            all.emplace_back(core.name);
        }
        all.emplace_back("default");
        return all;
    }();
    return names;
}

Result<void> checkSupported(const KernelProfile& profile) {
    if (profile.core != "default" && findCore(profile.core) == nullptr) {
        return bad(profile.core, "is not a known core type");
    }
    if (const char* missing = missingFeature(profile.core)) {
        return fail(ErrorCode::environment,
                    fmt::format("this CPU lacks {}, which the kernels of '{}' use", missing, profile.core),
                    "another core type, for example --kernel default");
    }
    return {};
}

Result<KernelInfo> activate(const KernelProfile& profile) {
    ASSAY_CHECK(checkSupported(profile));
    ASSAY_CHECK(numerics::checkFloatEnvironment());
    KernelInfo info;
    info.blas = openblas_get_config();
    info.core = openblas_get_corename();
    const CoreType* wanted = findCore(profile.core);
    if (wanted != nullptr && lower(info.core) != wanted->loaded) {
        return fail(
            ErrorCode::environment,
            fmt::format("OpenBLAS runs its {} kernels, but the profile asks for {}", info.core, profile.core),
            fmt::format("an OpenBLAS built with DYNAMIC_ARCH (Debian: libopenblas0-pthread), and OPENBLAS_CORETYPE={} "
                        "set when the process starts",
                        wanted->environment));
    }
    KernelProfile resolved = profile;
    if (resolved.threads == 0) {
        const unsigned cpus = std::thread::hardware_concurrency();
        resolved.threads = std::clamp(static_cast<int>(cpus), 1, kMaxThreads);
    }
    ASSAY_CHECK(checkAddressSpace(resolved.threads));
    openblas_set_num_threads(resolved.threads);
    if (openblas_get_num_threads() != resolved.threads) {
        if (profile.threads != 0) {
            return fail(
                ErrorCode::environment,
                fmt::format("OpenBLAS cannot run {} threads, only {}", resolved.threads, openblas_get_num_threads()),
                fmt::format("threads={}", openblas_get_num_threads()));
        }
        resolved.threads = openblas_get_num_threads();
    }
    info.threads = resolved.threads;
    info.profile = resolved.toString();
    return info;
}

} // namespace assay::tensor
