// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/float_environment.h"

#include <cfenv>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <gtest/gtest.h>

namespace assay::numerics {
namespace {

TEST(FloatEnvironment, DefaultIsRight) {
    EXPECT_TRUE(checkFloatEnvironment());
}

TEST(FloatEnvironment, OtherRoundingModesAreRefused) {
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(mode);
        const auto result = checkFloatEnvironment();
        std::fesetround(FE_TONEAREST);
        ASSERT_FALSE(result) << mode;
        EXPECT_EQ(result.error().code, base::ErrorCode::environment);
    }
    EXPECT_TRUE(checkFloatEnvironment());
}

#if defined(__x86_64__)
TEST(FloatEnvironment, FlushingSubnormalsIsRefused) {
    const unsigned before = _mm_getcsr();
    for (const unsigned bit : {0x8000U, 0x0040U}) { // flush to zero, denormals are zero
        _mm_setcsr(before | bit);
        const bool isRight = checkFloatEnvironment().has_value();
        _mm_setcsr(before);
        EXPECT_FALSE(isRight) << bit;
    }
}
#endif

} // namespace
} // namespace assay::numerics
