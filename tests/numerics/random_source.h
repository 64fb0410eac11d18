// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace assay::numerics::test {

/// SplitMix64: small, fast, the same everywhere. For test data only.
class RandomSource {
public:
    explicit RandomSource(std::uint64_t seed) : m_state(seed) {}
    std::uint64_t word() {
        std::uint64_t z = (m_state += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    /// 0 .. n-1; n > 0.
    std::uint64_t below(std::uint64_t n) { return word() % n; }
    double uniform() { return static_cast<double>(word() >> 11) * 0x1p-53; }
    double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }
    double sign() { return (word() & 1U) != 0 ? 1.0 : -1.0; }
    /// Log-uniform magnitude between 2^lo and 2^hi.
    double logUniform(double lo, double hi) { return std::exp2(uniform(lo, hi)); }
    double normal() { return std::sqrt(-2.0 * std::log(1.0 - uniform())) * std::cos(6.283185307179586 * uniform()); }

private:
    std::uint64_t m_state;
};

} // namespace assay::numerics::test
