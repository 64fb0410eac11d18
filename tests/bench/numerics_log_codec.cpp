// SPDX-License-Identifier: Apache-2.0
// Speed and size of the log codec.
#include <cmath>

#include "core/numerics/log_codec.h"
#include "tests/bench/numerics_bench.h"
#include "tests/numerics/random_source.h"

using namespace assay;
using namespace assay::numerics;

int main() {
    constexpr std::uint64_t kSeed = 3;
    bench::printHeader("log codec", kSeed);
    test::RandomSource random(kSeed);
    for (const double density : {0.3, 1e-2, 1e-3, 1e-5}) {
        const auto values = static_cast<std::uint64_t>(3e5 / density);
        SiteLog log;
        std::uint64_t next = 0;
        while (true) {
            next += static_cast<std::uint64_t>(std::log(1.0 - random.uniform()) / std::log(1.0 - density));
            if (next >= values) {
                break;
            }
            log.push_back({next++, false, static_cast<std::uint32_t>(random.below(2))});
        }
        base::ByteVector bytes;
        const double encode = bench::nanosecondsPer(log.size(), 20, [&] { bytes = encodeSection(log, values); });
        SiteLog back;
        const double decode =
            bench::nanosecondsPer(log.size(), 20, [&] { back = decodeSection(bytes, values, 0).value(); });
        bench::require(back == log, "round trip");
        const double p = static_cast<double>(log.size()) / static_cast<double>(values);
        const double entropy = (-p * std::log2(p) - (1 - p) * std::log2(1 - p)) / p + 1.0;
        const double bits = 8.0 * static_cast<double>(bytes.size()) / static_cast<double>(log.size());
        std::printf("density %-6g %zu entries: %.3f bits per entry (entropy %.3f, +%.2f %%), encode %.1f ns, decode "
                    "%.1f ns per "
                    "entry; dense base-3 would take %.0f times the bytes\n",
                    density, log.size(), bits, entropy, 100.0 * (bits / entropy - 1.0), encode, decode,
                    static_cast<double>(values) / 5.0 / static_cast<double>(bytes.size()));
    }
    return 0;
}
