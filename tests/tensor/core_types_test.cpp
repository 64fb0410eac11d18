// SPDX-License-Identifier: Apache-2.0
// OpenBLAS's real core types against each other: the binary starts itself again with OPENBLAS_CORETYPE set, because the
// library chooses its kernels when it is loaded.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/process.h"
#include "core/tensor/product.h"
#include "cuda/arith/philox.h"
#include "tests/tensor/op_harness.h"

namespace assay::test {
namespace {

using numerics::BoundKind;
using tensor::KernelProfile;
using tensor::ProductSpec;

constexpr std::uint64_t kRows = 24;
constexpr std::uint64_t kColumns = 40;
constexpr std::uint64_t kLengths[] = {64, 255, 256, 257, 320, 784, 1000, 2048, 4096};

struct Family {
    std::string name;
    std::vector<float> a, b; ///< [rows, 4096] and [columns, 4096]; products use the first K values of each line
};

float uniform(std::uint32_t stream, std::uint64_t i) {
    return static_cast<float>(arith::uniform01(arith::randomWord(11, 0, stream, i)));
}

/// Fills both operands from f(which, line, k).
template <typename F>
Family familyOf(std::string name, F&& f) {
    constexpr std::uint64_t kLength = 4096;
    Family family{std::move(name), std::vector<float>(kRows * kLength), std::vector<float>(kColumns * kLength)};
    for (std::uint64_t i = 0; i < family.a.size(); ++i) {
        family.a[i] = f(0U, i / kLength, i % kLength) + 0.0F;
    }
    for (std::uint64_t i = 0; i < family.b.size(); ++i) {
        family.b[i] = f(1U, i / kLength, i % kLength) + 0.0F;
    }
    return family;
}

std::string mnistFile() {
    const char* given = std::getenv("ASSAY_TEST_DATA");
    const std::string root = given != nullptr ? given : ASSAY_SOURCE_FOLDER "/../shared/data";
    for (const char* name : {"/mnist/t10k-images-idx3-ubyte", "/t10k-images-idx3-ubyte"}) {
        if (std::filesystem::exists(root + name)) {
            return root + name;
        }
    }
    return {};
}

/// Pixels of consecutive images against themselves: long runs of equal background, as in the first layer's statistics.
std::vector<Family> mnistFamilies() {
    std::ifstream in(mnistFile(), std::ios::binary);
    std::vector<char> bytes(16 + (kRows + kColumns) * 4096);
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!in) {
        return {};
    }
    const auto pixel = [&](std::uint64_t i) {
        return static_cast<float>(static_cast<unsigned char>(bytes[16 + i])) / 255.0F;
    };
    std::vector<Family> families;
    families.push_back(familyOf("mnist", [&](unsigned which, std::uint64_t line, std::uint64_t k) {
        return pixel((which * kRows + line) * 4096 + k);
    }));
    families.push_back(familyOf("mnist normalised x weights", [&](unsigned which, std::uint64_t line, std::uint64_t k) {
        return which == 0 ? (pixel(line * 4096 + k) - 0.1307F) / 0.3081F : uniform(30, line * 4096 + k) * 0.1F - 0.05F;
    }));
    return families;
}

std::vector<Family> madeFamilies() {
    std::vector<Family> families;
    families.push_back(
        familyOf("constant", [](unsigned which, std::uint64_t, std::uint64_t) { return which == 0 ? 0.1F : 0.3F; }));
    families.push_back(familyOf("two-valued", [](unsigned which, std::uint64_t line, std::uint64_t k) {
        return uniform(20 + which, line * 4096 + k) < 0.5F ? 0.1F : 0.7F;
    }));
    families.push_back(familyOf("sorted", [](unsigned, std::uint64_t line, std::uint64_t k) {
        return (static_cast<float>(k) + 0.3F) * (1.0F + 0.01F * static_cast<float>(line));
    }));
    families.push_back(familyOf("alternating", [](unsigned which, std::uint64_t line, std::uint64_t k) {
        const float v = 0.1F + 0.001F * static_cast<float>(line);
        return which == 0 && k % 2 != 0 ? -v : v;
    }));
    families.push_back(familyOf("heavy-tailed", [](unsigned which, std::uint64_t line, std::uint64_t k) {
        const float u = uniform(22 + which, line * 4096 + k) - 0.5F;
        return std::copysign(std::pow(std::abs(u) + 1e-6F, -1.5F), u);
    }));
    families.push_back(familyOf("normal", [](unsigned which, std::uint64_t line, std::uint64_t k) {
        const auto i = line * 4096 + k;
        return std::sqrt(-2.0F * std::log(uniform(24 + which, i))) * std::cos(6.2831853F * uniform(26 + which, i));
    }));
    families.push_back(familyOf("positive", [](unsigned which, std::uint64_t line, std::uint64_t k) {
        return uniform(28 + which, line * 4096 + k);
    }));
    return families;
}

/// FP64 results and bounds of one product.
struct Outcome {
    std::vector<double> y, bound;
};

class Collect final : public tensor::SiteEmitter {
public:
    explicit Collect(Outcome& outcome) : m_outcome(outcome) {}
    base::Result<void> product(std::uint32_t, const numerics::ProductSite& panel, float*) override {
        for (std::uint64_t e = 0; e < panel.values(); ++e) {
            m_outcome.y.push_back(panel.y[e]);
            m_outcome.bound.push_back(numerics::elementBound(panel, e / panel.cols, e % panel.cols));
        }
        return {};
    }
    base::Result<void> completed(std::uint32_t, std::span<float>) override { return {}; }

private:
    Outcome& m_outcome;
};

constexpr const char* kVariants[] = {"threads=1", "threads=1,reversed", "threads=1,splitk", "threads=2"};

/// Every family, length, bound and variant in a fixed order.
template <typename F>
void forEachProduct(const std::vector<Family>& families, F&& body) {
    for (const auto bound : {BoundKind::proven, BoundKind::empirical}) {
        for (const Family& family : families) {
            for (const std::uint64_t k : kLengths) {
                for (const char* variant : kVariants) {
                    body(bound, family, k, variant);
                }
            }
        }
    }
}

Outcome compute(BoundKind bound, const Family& family, std::uint64_t k, const std::string& profileText) {
    const auto profile = *KernelProfile::parse(profileText);
    EXPECT_TRUE(tensor::activate(profile).has_value()) << profileText;
    tensor::ThreadPool pool(1);
    tensor::ProductRunner runner(profile, bound, 256, 0, pool);
    std::vector<float> a(kRows * k);
    std::vector<float> b(kColumns * k);
    for (std::uint64_t i = 0; i < a.size(); ++i) {
        a[i] = family.a[i / k * 4096 + i % k];
    }
    for (std::uint64_t i = 0; i < b.size(); ++i) {
        b[i] = family.b[i / k * 4096 + i % k];
    }
    const ProductSpec spec{1, kRows, kColumns, k, a.data(), 0, false, b.data(), 0, true, nullptr};
    Outcome outcome;
    Collect collect(outcome);
    std::vector<float> out(kRows * kColumns);
    EXPECT_TRUE(runner.run(spec, 0, collect, {}, out).has_value());
    return outcome;
}

std::vector<Family> familiesFor(bool isMnist) {
    return isMnist ? mnistFamilies() : madeFamilies();
}

/// The child: computes everything with the core type that it was started with and writes the results.
TEST(Worker, WritesResults) {
    const char* path = std::getenv("ASSAY_CORE_TYPES_OUT");
    if (path == nullptr) {
        return; // started by ctest or by hand: nothing to write, nothing tested here
    }
    const std::string core = std::getenv("ASSAY_CORE_TYPES_CORE");
    std::ofstream out(path, std::ios::binary);
    forEachProduct(
        familiesFor(std::getenv("ASSAY_CORE_TYPES_MNIST") != nullptr),
        [&](BoundKind bound, const Family& family, std::uint64_t k, const char* variant) {
            const Outcome o = compute(bound, family, k, core + "," + variant);
            out.write(reinterpret_cast<const char*>(o.y.data()), static_cast<std::streamsize>(o.y.size() * 8));
            out.write(reinterpret_cast<const char*>(o.bound.data()), static_cast<std::streamsize>(o.y.size() * 8));
        });
    ASSERT_TRUE(out.good());
}

class CoreTypes : public ::testing::TestWithParam<std::string> {
protected:
    /// Compares the core type's results with those of this process.
    void compare(bool isMnist) {
        const std::string core = GetParam();
        if (const auto supported = tensor::checkSupported(*KernelProfile::parse(core)); !supported) {
            GTEST_SKIP() << core << ": " << supported.error().message;
        }
        const auto families = familiesFor(isMnist);
        if (families.empty()) {
            GTEST_SKIP() << "MNIST was not found: set ASSAY_TEST_DATA to the folder that holds mnist/";
        }
        const std::string path = (std::filesystem::temp_directory_path() /
                                  fmt::format("assay_core_types_{}_{}_{}", ::getpid(), core, isMnist))
                                     .string();
        base::ProcessRequest request;
        request.arguments = {"/usr/bin/env",
                             fmt::format("OPENBLAS_CORETYPE={}", KernelProfile::parse(core)->coreTypeForEnvironment()),
                             "ASSAY_CORE_TYPES_OUT=" + path,
                             "ASSAY_CORE_TYPES_CORE=" + core,
                             isMnist ? "ASSAY_CORE_TYPES_MNIST=1" : "ASSAY_CORE_TYPES_MADE=1",
                             base::executableFolder() + "/tensor_core_types_test",
                             "--gtest_filter=Worker.*"};
        std::string output;
        request.onOutputLine = [&](std::string_view line) { output += std::string(line) + "\n"; };
        const auto end = base::runProcess(request);
        ASSERT_TRUE(end.has_value()) << end.error().toString();
        ASSERT_EQ(end->exitCode, 0) << output;
        ASSERT_EQ(end->signal, 0) << output;
        std::ifstream in(path, std::ios::binary);
        double worst[2] = {0.0, 0.0};
        std::string worstWhere[2];
        std::uint64_t different = 0;
        std::uint64_t values = 0;
        std::vector<double> plain; // this process, first variant
        forEachProduct(families, [&](BoundKind bound, const Family& family, std::uint64_t k, const char* variant) {
            Outcome other;
            other.y.resize(kRows * kColumns);
            other.bound.resize(other.y.size());
            in.read(reinterpret_cast<char*>(other.y.data()), static_cast<std::streamsize>(other.y.size() * 8));
            in.read(reinterpret_cast<char*>(other.bound.data()), static_cast<std::streamsize>(other.y.size() * 8));
            ASSERT_TRUE(in.good());
            if (std::string_view(variant) == kVariants[0]) {
                plain = compute(bound, family, k, std::string("default,") + variant).y;
            }
            const int which = bound == BoundKind::proven ? 0 : 1;
            for (std::size_t e = 0; e < other.y.size(); ++e) {
                const double difference = std::abs(other.y[e] - plain[e]);
                ++values;
                different += difference != 0.0 ? 1 : 0;
                if (other.bound[e] == 0.0) {
                    ASSERT_EQ(difference, 0.0) << family.name << ", K = " << k << ": the exact-sum rule is wrong";
                    continue;
                }
                const double ratio = difference / other.bound[e];
                if (ratio > worst[which]) {
                    worst[which] = ratio;
                    worstWhere[which] = fmt::format("{}, K = {}, {}", family.name, k, variant);
                }
            }
        });
        std::filesystem::remove(path);
        fmt::print("{} against default{}: {} of {} values differ; largest |y1 - y2| / D: proven {:.4f} ({}), empirical "
                   "{:.4f} ({})\n",
                   core, isMnist ? " on MNIST" : "", different, values, worst[0], worstWhere[0], worst[1],
                   worstWhere[1]);
        EXPECT_LE(worst[0], 1.0) << "the proven bound does not hold: " << worstWhere[0];
        // The empirical bound is known to be exceeded on constant and sorted operands; its ratio is reported only.
        EXPECT_GT(different, 0U) << "no variant changed a bit: nothing was compared";
    }
};

TEST_P(CoreTypes, WithinTheProvenBound) {
    compare(false);
}
TEST_P(CoreTypes, WithinTheProvenBoundOnMnist) {
    compare(true);
}

INSTANTIATE_TEST_SUITE_P(OpenBlas, CoreTypes, ::testing::Values("haswell", "prescott", "barcelona", "skylakex"),
                         [](const auto& tested) { return tested.param; });

} // namespace
} // namespace assay::test
