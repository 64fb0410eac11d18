// SPDX-License-Identifier: Apache-2.0
// What blocks, norms and the site pass cost, against the library's plain product of FP64 operands, in one run.
#include <chrono>
#include <cmath>
#include <vector>

#include <cblas.h>

#include "core/numerics/site_pass.h"
#include "core/tensor/op_kernel.h"
#include "cuda/arith/philox.h"
#include "tests/bench/numerics_bench.h"

namespace {

using namespace assay;
using numerics::BoundKind;

constexpr std::uint64_t kSeed = 20240611;
constexpr int kRepeats = 5;

std::vector<float> operand(std::uint64_t n, std::uint32_t stream) {
    std::vector<float> out(n);
    for (std::uint64_t i = 0; i < n; ++i) {
        out[i] = static_cast<float>(arith::uniform01(arith::randomWord(kSeed, 0, stream, i)) - 0.5);
    }
    return out;
}

/// Rounds without a log, or records, and measures its own time.
class Emitter final : public tensor::SiteEmitter {
public:
    explicit Emitter(bool records) : m_records(records) {}
    base::Result<void> product(std::uint32_t, const numerics::ProductSite& panel, float* out) override {
        if (m_records) {
            const auto start = std::chrono::steady_clock::now();
            entries += numerics::recordSite(panel, out, m_log).entries;
            passNanoseconds +=
                std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
        } else {
            out[0] = static_cast<float>(panel.y[0]);
        }
        return {};
    }
    base::Result<void> completed(std::uint32_t, std::span<float>) override { return {}; }
    std::uint64_t entries = 0;
    double passNanoseconds = 0.0;

private:
    bool m_records;
    numerics::SiteLog m_log;
};

void benchProduct(const char* name, tensor::ProductRunner& runner, std::uint64_t m, std::uint64_t n, std::uint64_t k) {
    const std::vector<float> a = operand(m * k, 1);
    const std::vector<float> b = operand(k * n, 2);
    const std::vector<double> wideA(a.begin(), a.end());
    const std::vector<double> wideB(b.begin(), b.end());
    std::vector<double> y(m * n);
    std::vector<float> out(m * n);
    const std::uint64_t work = m * n * k;
    const auto size = [](std::uint64_t x) { return static_cast<blasint>(x); };
    const double plain = bench::nanosecondsPer(work, kRepeats, [&] {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(m), size(n), size(k), 1.0, wideA.data(), size(k),
                    wideB.data(), size(n), 0.0, y.data(), size(n));
    });
    const tensor::ProductSpec spec{1, m, n, k, a.data(), 0, false, b.data(), 0, false, nullptr};
    const double bare = bench::nanosecondsPer(work, kRepeats, [&] {
        Emitter emitter(false);
        bench::require(runner.run(spec, 0, emitter, {}, out).has_value(), "product");
    });
    double pass = 1e300;
    const double recorded = bench::nanosecondsPer(work, kRepeats, [&] {
        Emitter emitter(true);
        bench::require(runner.run(spec, 0, emitter, {}, out).has_value(), "product");
        pass = std::min(pass, emitter.passNanoseconds / static_cast<double>(work));
    });
    bench::require(std::abs(static_cast<double>(out[m * n - 1]) - y[m * n - 1]) < 1e-5 * (1.0 + std::abs(y[m * n - 1])),
                   name);
    std::printf("%-28s %5.1f GFLOP/s plain; our product %.3f of plain, with recording %.3f, site pass %.1f %%\n", name,
                2.0 / plain, bare / plain, recorded / plain, 100.0 * pass / recorded);
}

void benchConvolution(const char* name, tensor::ProductRunner& runner, tensor::ThreadPool& pool, tensor::Shape x,
                      tensor::Shape w, std::int64_t stride) {
    const auto* kernel = tensor::findKernel("conv2d");
    const tensor::AttributeMap attributes{{"stride", stride}, {"padding", w[2] / 2}};
    const std::vector<tensor::Shape> shapes{x, w};
    const tensor::Tensor image(x, operand(tensor::elementCount(x), 3));
    const tensor::Tensor weight(w, operand(tensor::elementCount(w), 4));
    tensor::OpRun run;
    run.call.attributes = &attributes;
    run.call.inputs = shapes;
    run.inputs = {{&image, nullptr}, {&weight, nullptr}};
    run.context.products = &runner;
    run.context.pool = &pool;
    run.wantedGradients = 0b11;
    const tensor::Shape yShape = (*kernel->inferShapes(run.call))[0];
    const tensor::Tensor dy(yShape, operand(tensor::elementCount(yShape), 5));
    run.outputGradients = {&dy};
    // One product of the size of the forward convolution, as the yardstick.
    const std::uint64_t m = static_cast<std::uint64_t>(w[0]);
    const std::uint64_t k = tensor::elementCount(w) / m;
    const std::uint64_t n = tensor::elementCount(yShape) / m;
    const std::vector<double> a(m * k, 0.5);
    const std::vector<double> b(k * n, 0.25);
    std::vector<double> y(m * n);
    const std::uint64_t work = m * n * k;
    const auto size = [](std::uint64_t v) { return static_cast<blasint>(v); };
    const double plain = bench::nanosecondsPer(work, kRepeats, [&] {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size(m), size(n), size(k), 1.0, a.data(), size(k),
                    b.data(), size(n), 0.0, y.data(), size(n));
    });
    const double forward = bench::nanosecondsPer(work, kRepeats, [&] {
        Emitter emitter(true);
        run.emitter = &emitter;
        bench::require(kernel->forward(run).has_value(), name);
    });
    const auto backward = [&](std::uint32_t wanted) {
        run.wantedGradients = wanted;
        return bench::nanosecondsPer(work, kRepeats, [&] {
            Emitter emitter(true);
            run.emitter = &emitter;
            bench::require(kernel->backward(run).has_value(), name);
        });
    };
    const double dx = backward(0b01);
    const double dw = backward(0b10);
    std::printf("%-28s %5.1f GFLOP/s plain; recorded y %.2f, dX %.2f, dW %.2f of one product of this size\n", name,
                2.0 / plain, forward / plain, dx / plain, dw / plain);
}

} // namespace

int main(int argc, char** argv) {
    const auto profile = tensor::KernelProfile::parse(argc > 1 ? argv[1] : "threads=1");
    if (!profile) {
        std::fprintf(stderr, "%s\n", profile.error().toString().c_str());
        return 2;
    }
    const auto info = tensor::activate(*profile);
    if (!info) {
        std::fprintf(stderr, "%s\n", info.error().toString().c_str());
        return 4;
    }
    bench::printHeader("products with blocks and recording", kSeed);
    std::printf("%s; core %s; profile %s\n", info->blas.c_str(), info->core.c_str(), info->profile.c_str());
    tensor::ThreadPool pool(info->threads);
    for (const auto& [text, bound, block] : {std::tuple{"proven, blocks of 256", BoundKind::proven, std::uint64_t{256}},
                                             std::tuple{"proven, blocks of 128", BoundKind::proven, std::uint64_t{128}},
                                             std::tuple{"empirical", BoundKind::empirical, std::uint64_t{256}}}) {
        std::printf("\n%s\n", text);
        tensor::ProductRunner runner(*profile, bound, block, kSeed, pool);
        benchProduct("1024 x 1024 x 1024", runner, 1024, 1024, 1024);
        benchProduct("512 x 768 x 3072", runner, 512, 768, 3072);
        benchProduct("512 x 3072 x 768", runner, 512, 3072, 768);
        benchProduct("256 x 256 x 8192", runner, 256, 256, 8192);
        benchConvolution("conv 64 x 64, 3x3, 8x32x32", runner, pool, {8, 64, 32, 32}, {64, 64, 3, 3}, 1);
        benchConvolution("conv 128 x 128, 3x3, 8x16x16", runner, pool, {8, 128, 16, 16}, {128, 128, 3, 3}, 1);
        benchConvolution("conv 256 x 256, 3x3, 8x8x8", runner, pool, {8, 256, 8, 8}, {256, 256, 3, 3}, 1);
        benchConvolution("conv 64 x 128, stride 2", runner, pool, {8, 64, 32, 32}, {128, 64, 3, 3}, 2);
    }
    return 0;
}
