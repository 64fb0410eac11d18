// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cfenv>
#include <cstdlib>
#include <numeric>

#include <gtest/gtest.h>

#include "core/tensor/kernel_profile.h"
#include "core/tensor/tensor.h"
#include "core/tensor/thread_pool.h"

namespace assay::tensor {
namespace {

TEST(KernelProfile, ParsesAndPrintsCanonically) {
    const std::pair<const char*, const char*> texts[] = {
        {"haswell", "haswell"},
        {"default", "default"},
        {"splitk", "default,splitk"},
        {"threads=2", "default,threads=2"},
        {"noise=0.9,threads=3,splitk,reversed,barcelona", "barcelona,reversed,splitk,threads=3,noise=0.9"},
        {"skylakex,threads=2", "skylakex,threads=2"},
        {"noise=1", "default,noise=1"},
        {"noise=0,prescott", "prescott"}};
    for (const auto& [text, canonical] : texts) {
        const auto profile = KernelProfile::parse(text);
        ASSERT_TRUE(profile.has_value()) << text;
        EXPECT_EQ(profile->toString(), canonical);
        EXPECT_EQ(*KernelProfile::parse(profile->toString()), *profile);
    }
}

TEST(KernelProfile, RefusesWhatItDoesNotKnow) {
    for (const char* text : {"",
                             "zen",
                             "Haswell",
                             "haswell,",
                             ",haswell",
                             "haswell,prescott",
                             "reversed,reversed",
                             "threads",
                             "threads=",
                             "threads=0",
                             "threads=-1",
                             "threads=1.5",
                             "threads=257",
                             "threads=99999999999",
                             "noise",
                             "noise=",
                             "noise=-0.1",
                             "noise=1.1",
                             "noise=nan",
                             "noise=inf",
                             "noise=1e-3",
                             "noise=0.5x",
                             "noise=.",
                             "default,haswell",
                             "haswell=1",
                             "reversed=1",
                             "haswell reversed",
                             "threads=2,threads=2"}) {
        const auto profile = KernelProfile::parse(text);
        ASSERT_FALSE(profile.has_value()) << text;
        EXPECT_EQ(profile.error().code, base::ErrorCode::usage) << text;
    }
}

TEST(KernelProfile, EnvironmentValueAndRestart) {
    const char* before = std::getenv("OPENBLAS_CORETYPE");
    const std::string saved = before == nullptr ? "" : before;
    const auto haswell = *KernelProfile::parse("haswell");
    const auto plain = *KernelProfile::parse("default");
    EXPECT_STREQ(haswell.coreTypeForEnvironment(), "Haswell");
    EXPECT_EQ(plain.coreTypeForEnvironment(), nullptr);
    ::unsetenv("OPENBLAS_CORETYPE");
    EXPECT_TRUE(haswell.needsRestart());
    EXPECT_FALSE(plain.needsRestart());
    ::setenv("OPENBLAS_CORETYPE", "Haswell", 1);
    EXPECT_FALSE(haswell.needsRestart());
    EXPECT_TRUE(plain.needsRestart());
    EXPECT_TRUE(KernelProfile::parse("prescott")->needsRestart());
    if (before == nullptr) {
        ::unsetenv("OPENBLAS_CORETYPE");
    } else {
        ::setenv("OPENBLAS_CORETYPE", saved.c_str(), 1);
    }
}

TEST(KernelProfile, ActivateComparesWhatIsLoaded) {
    const auto own = activate(*KernelProfile::parse("threads=1"));
    ASSERT_TRUE(own.has_value()) << own.error().toString();
    EXPECT_FALSE(own->core.empty());
    EXPECT_NE(own->blas.find("OpenBLAS"), std::string::npos);
    EXPECT_EQ(own->profile, "default,threads=1");
    EXPECT_EQ(own->threads, 1);
    // At most one of the core types is loaded: the others must be refused as an environment that cannot do it.
    int refused = 0;
    for (const std::string& core : allowedCores()) {
        const auto other = activate(*KernelProfile::parse(core));
        if (!other) {
            EXPECT_EQ(other.error().code, base::ErrorCode::environment);
            ++refused;
        }
    }
    EXPECT_GE(refused, 3);
    KernelProfile unknown;
    unknown.core = "zen9";
    EXPECT_FALSE(activate(unknown).has_value());
}

TEST(KernelProfile, ActivateFillsInThreads) {
    const auto own = activate(KernelProfile{});
    ASSERT_TRUE(own.has_value());
    EXPECT_GE(own->threads, 1);
    EXPECT_EQ(own->profile, "default,threads=" + std::to_string(own->threads));
}

TEST(KernelProfile, ActivateChecksTheRoundingMode) {
    std::fesetround(FE_UPWARD);
    const auto result = activate(*KernelProfile::parse("threads=1"));
    std::fesetround(FE_TONEAREST);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, base::ErrorCode::environment);
}

TEST(ThreadPool, EveryItemOnce) {
    for (const int threads : {1, 2, 7}) {
        ThreadPool pool(threads);
        EXPECT_EQ(pool.threads(), threads);
        for (const std::uint64_t n : {0, 1, 9, 10, 11, 1000}) {
            for (const std::uint64_t grain : {0, 1, 10, 5000}) {
                std::vector<std::atomic<int>> seen(n);
                pool.parallelFor(n, grain, [&](std::uint64_t begin, std::uint64_t end) {
                    for (std::uint64_t i = begin; i < end; ++i) {
                        ++seen[i];
                    }
                });
                for (const auto& count : seen) {
                    EXPECT_EQ(count, 1);
                }
            }
        }
    }
}

TEST(ThreadPool, ChecksEveryThread) {
    ThreadPool pool(4);
    EXPECT_TRUE(pool.checkEnvironment().has_value());
    // Breaks the mode of whichever threads get an item; the check runs on all of them. Body 0 waits until another
    // thread has come along, so that a worker is hit for certain.
    std::atomic<int> arrived{0};
    pool.parallelFor(4, 1, [&](std::uint64_t, std::uint64_t) {
        ++arrived;
        while (arrived < 4) {
        }
        std::fesetround(FE_TOWARDZERO);
    });
    std::fesetround(FE_TONEAREST); // the caller is right again, the workers are not
    const auto result = pool.checkEnvironment();
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, base::ErrorCode::environment);
}

TEST(Tensor, SharesAndCopies) {
    Tensor t({2, 3});
    EXPECT_EQ(t.size(), 6U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.data()) % 64, 0U);
    for (const float v : t.values()) {
        EXPECT_EQ(v, 0.0F);
    }
    t.data()[4] = 5.0F;
    const Tensor other = t.alias({3, 2});
    EXPECT_TRUE(t.isShared());
    EXPECT_EQ(other.data(), t.data());
    const Tensor copy = t.clone();
    t.data()[4] = 6.0F;
    EXPECT_EQ(copy.data()[4], 5.0F);
    EXPECT_EQ(other.data()[4], 6.0F);
    EXPECT_FALSE(Tensor().isDefined());
    EXPECT_EQ(Tensor(Shape{}).size(), 1U);
    EXPECT_EQ(Tensor(Shape{3, 0}).size(), 0U);
    EXPECT_EQ(toString(Shape{8, 3}), "[8, 3]");
    EXPECT_EQ(toString(Shape{}), "[]");
}

} // namespace
} // namespace assay::tensor
