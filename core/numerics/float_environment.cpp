// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/float_environment.h"

namespace assay::numerics {
namespace {

base::Result<void> wrong(const char* what) {
    return base::fail(base::ErrorCode::environment, std::string("the floating-point environment is wrong: ") + what,
                      "do not build with fast-math, and do not preload libraries that change the rounding mode");
}

} // namespace

base::Result<void> checkFloatEnvironment() {
    // volatile: the compiler must not evaluate these with its own, correct arithmetic.
    volatile double one = 1.0;
    volatile double half = 0x1p-53;
    volatile double more = 0x1.8p-53;
    volatile double less = 0x1p-54;
    const double tie = one + half;
    const double up = one + more;
    const double negative = -one - less;
    if (tie != 1.0 || up != 1.0 + 0x1p-52 || negative != -1.0) {
        return wrong("FP64 does not round to nearest even");
    }
    volatile float oneFloat = 1.0F;
    volatile float tieFloat = 0x1p-24F;
    volatile float upFloat = 0x1.8p-24F;
    if (oneFloat + tieFloat != 1.0F || oneFloat + upFloat != 1.0F + 0x1p-23F) {
        return wrong("FP32 does not round to nearest even");
    }
    volatile double tiny = 0x1p-1022;
    volatile double two = 2.0;
    const double subnormal = tiny / two;
    volatile double stored = subnormal;
    if (stored == 0.0 || stored * two != 0x1p-1022) {
        return wrong("FP64 subnormals are flushed to zero");
    }
    volatile float tinyFloat = 0x1p-126F;
    volatile float twoFloat = 2.0F;
    volatile float storedFloat = tinyFloat / twoFloat;
    if (storedFloat == 0.0F || storedFloat * twoFloat != 0x1p-126F) {
        return wrong("FP32 subnormals are flushed to zero");
    }
    volatile double a = 1.0 + 0x1p-30;
    volatile double c = -(1.0 + 0x1p-29);
    const double x = a;
    const double y = c;
    if (x * x + y != 0.0) { // fused, the square's last bit 2^-60 survives
        return wrong("products and sums are contracted to fused operations");
    }
    return {};
}

} // namespace assay::numerics
