// SPDX-License-Identifier: Apache-2.0
// The specified elementary functions against the C library's, in one run, one thread.
#include <cmath>
#include <vector>

#include "core/numerics/arrays.h"
#include "core/numerics/isa.h"
#include "cuda/arith/elementary.h"
#include "tests/bench/numerics_bench.h"
#include "tests/numerics/random_source.h"

using namespace assay;
using namespace assay::numerics;

namespace {

template <typename Library, typename Own>
void compare(const char* name, double lo, double hi, Library library, Own own,
             void (*array)(const double*, double*, std::uint64_t)) {
    constexpr std::uint64_t kCount = 4096;
    test::RandomSource random(4);
    std::vector<double> x(kCount);
    for (double& v : x) {
        v = random.uniform(lo, hi);
    }
    std::vector<double> a(kCount);
    std::vector<double> b(kCount);
    std::vector<double> c(kCount);
    const double libraryTime = bench::nanosecondsPer(kCount, 500, [&] {
        for (std::uint64_t i = 0; i < kCount; ++i) {
            a[i] = library(x[i]);
        }
    });
    const double scalarTime = bench::nanosecondsPer(kCount, 500, [&] {
        for (std::uint64_t i = 0; i < kCount; ++i) {
            b[i] = own(x[i]);
        }
    });
    std::printf("%-8s libm %.2f ns, own one by one %.2f ns (%.2f x)", name, libraryTime, scalarTime,
                scalarTime / libraryTime);
    const Isa best = currentIsa();
    for (const Isa isa : {Isa::vector128, Isa::avx2, Isa::avx512}) {
        if (forceIsa(isa)) {
            const double time = bench::nanosecondsPer(kCount, 500, [&] { array(x.data(), c.data(), kCount); });
            std::printf(", %s %.2f ns (%.2f x)", activeIsa(), time, time / libraryTime);
        }
    }
    std::printf("\n");
    bench::require(forceIsa(best), "isa");
    for (std::uint64_t i = 0; i < kCount; ++i) {
        bench::require(b[i] == c[i] && std::fabs(a[i] - c[i]) <= 1e-15 * std::fabs(a[i]),
                       name); // libm errs by 2 ulp too
    }
}

} // namespace

int main() {
    bench::printHeader("elementary functions against libm", 4);
    compare(
        "exp", -10, 10, [](double v) { return std::exp(v); }, [](double v) { return arith::expOwn(v); }, expArray);
    compare(
        "log", 1e-3, 100, [](double v) { return std::log(v); }, [](double v) { return arith::logOwn(v); }, logArray);
    compare(
        "tanh", -4, 4, [](double v) { return std::tanh(v); }, [](double v) { return arith::tanhOwn(v); }, tanhArray);
    compare(
        "sigmoid", -8, 8, [](double v) { return 1.0 / (1.0 + std::exp(-v)); },
        [](double v) { return arith::sigmoidOwn(v); }, sigmoidArray);
    compare(
        "erf", -3, 3, [](double v) { return std::erf(v); }, [](double v) { return arith::erfOwn(v); }, erfArray);
    compare(
        "sin", -10, 10, [](double v) { return std::sin(v); }, [](double v) { return arith::sinOwn(v); }, sinArray);
    compare(
        "cos", -10, 10, [](double v) { return std::cos(v); }, [](double v) { return arith::cosOwn(v); }, cosArray);
    return 0;
}
