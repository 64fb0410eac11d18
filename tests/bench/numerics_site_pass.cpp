// SPDX-License-Identifier: Apache-2.0
// Site pass and norms against memcpy, in one run, one thread.
#include <cstring>
#include <vector>

#include "core/numerics/arrays.h"
#include "core/numerics/site_pass.h"
#include "tests/bench/numerics_bench.h"
#include "tests/numerics/random_source.h"

using namespace assay;
using namespace assay::numerics;

namespace {

struct Data {
    std::vector<double> y, rowNorm, colNorm, rowGranule, colGranule;
    ProductSite site;
};

/// Values of size about sqrt(K) with norms that give the proven bound at K = block = 256. `density` of them are at
/// ties.
Data makeData(std::uint64_t rows, std::uint64_t cols, double density, bool exact) {
    test::RandomSource random(1);
    Data d;
    d.y.resize(rows * cols);
    for (double& y : d.y) {
        y = random.normal() * 16.0;
        if (random.uniform() < density) {
            y = static_cast<double>(static_cast<float>(y)) * (1.0 + 0x1p-24);
        }
    }
    d.rowNorm.assign(rows, 16.0);
    d.colNorm.assign(cols, 16.0);
    d.rowGranule.assign(rows, exact ? 0x1p-20 : 0x1p-30);
    d.colGranule.assign(cols, exact ? 0x1p-20 : 0x1p-30);
    d.site = {d.y.data(),
              rows,
              cols,
              d.rowNorm.data(),
              d.colNorm.data(),
              d.rowGranule.data(),
              d.colGranule.data(),
              boundCoefficient(BoundKind::proven, 256, 256),
              0};
    return d;
}

void passes(const char* title, std::uint64_t rows, std::uint64_t cols, double density, bool exact) {
    Data d = makeData(rows, cols, density, exact);
    const std::uint64_t n = rows * cols;
    const int repeats = static_cast<int>(std::max<std::uint64_t>(5, 200000000 / n / 8));
    std::vector<float> out(n);
    std::vector<float> again(n);
    // What the pass reads and writes: 8 + 4 bytes per value. memcpy of 6 bytes reads 6 and writes 6.
    std::vector<char> from(n * 6, 1);
    std::vector<char> to(n * 6, 2);
    const double copy = bench::nanosecondsPer(n, repeats, [&] { std::memcpy(to.data(), from.data(), n * 6); });
    bench::require(to[n] == 1, "memcpy");
    SiteLog log;
    std::printf("%s: %llu x %llu, memcpy of as many bytes %.3f ns per value\n", title,
                static_cast<unsigned long long>(rows), static_cast<unsigned long long>(cols), copy);
    const Isa best = currentIsa();
    for (const Isa isa : {Isa::scalar, Isa::vector128, Isa::avx2, Isa::avx512}) {
        if (!forceIsa(isa)) {
            continue;
        }
        const double plain = bench::nanosecondsPer(n, repeats, [&] { roundArray(d.y.data(), out.data(), n); });
        RecordStats recorded;
        const double record = bench::nanosecondsPer(n, repeats, [&] {
            log.clear();
            recorded = recordSite(d.site, out.data(), log);
        });
        EnforceStats enforced;
        const double enforce =
            bench::nanosecondsPer(n, repeats, [&] { enforced = enforceSite(d.site, log, again.data()); });
        bench::require(enforced.offenceCount == 0 && again == out && recorded.entries == log.size(), "site pass");
        std::printf("  %-9s plain rounding %.3f ns (%.2f x memcpy), record %.3f ns (%.2f x), enforce %.3f ns (%.2f x), "
                    "%zu entries\n",
                    activeIsa(), plain, plain / copy, record, record / copy, enforce, enforce / copy, log.size());
    }
    bench::require(forceIsa(best), "isa");
}

void norms(std::uint64_t rows, std::uint64_t cols) {
    test::RandomSource random(2);
    std::vector<float> a(rows * cols);
    for (float& v : a) {
        v = static_cast<float>(random.normal());
    }
    std::vector<float> copyOfA(a.size());
    std::vector<double> norm(std::max(rows, cols));
    std::vector<double> granule(std::max(rows, cols));
    const std::uint64_t n = rows * cols;
    const int repeats = static_cast<int>(std::max<std::uint64_t>(5, 100000000 / n / 8));
    const double copy =
        bench::nanosecondsPer(n, repeats, [&] { std::memcpy(copyOfA.data(), a.data(), n * sizeof(float)); });
    std::printf("norms of %llu x %llu floats, memcpy of them %.3f ns per value\n",
                static_cast<unsigned long long>(rows), static_cast<unsigned long long>(cols), copy);
    const Isa best = currentIsa();
    for (const Isa isa : {Isa::vector128, Isa::avx2, Isa::avx512}) {
        if (!forceIsa(isa)) {
            continue;
        }
        const double byRow = bench::nanosecondsPer(
            n, repeats, [&] { rowNorms(a.data(), rows, cols, cols, norm.data(), granule.data()); });
        const double byColumn = bench::nanosecondsPer(
            n, repeats, [&] { columnNorms(a.data(), rows, cols, cols, norm.data(), granule.data()); });
        double total = 0.0;
        const double sum = bench::nanosecondsPer(n, repeats, [&] { total += sumOf(a.data(), n); });
        const double columns =
            bench::nanosecondsPer(n, repeats, [&] { columnSums(a.data(), rows, cols, cols, norm.data()); });
        bench::require(total != 0.0, "sum");
        std::printf("  %-9s rowNorms %.3f ns (%.2f x), columnNorms %.3f ns (%.2f x), sum %.3f ns (%.2f x), columnSums "
                    "%.3f ns (%.2f x)\n",
                    activeIsa(), byRow, byRow / copy, byColumn, byColumn / copy, sum, sum / copy, columns,
                    columns / copy);
    }
    bench::require(forceIsa(best), "isa");
}

} // namespace

int main() {
    bench::printHeader("site pass against memcpy", 1);
    passes("in cache, sparse log", 64, 512, 1e-5, false);
    passes("in memory, sparse log", 4096, 2048, 1e-5, false);
    passes("in memory, one in a thousand", 4096, 2048, 1e-3, false);
    passes("exact sums", 4096, 2048, 0.0, true);
    passes("narrow", 65536, 10, 1e-5, false);
    norms(64, 512);
    norms(2048, 2048);
    return 0;
}
