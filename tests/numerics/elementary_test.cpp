// SPDX-License-Identifier: Apache-2.0
// Largest error of each function in units in the last place, against MPFR. ASSAY_ARGUMENTS is the number of arguments
// per range.
#include "cuda/arith/elementary.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#ifdef ASSAY_HAVE_MPFR
#include <mpfr.h>
#endif

#include "tests/numerics/random_source.h"

namespace assay::arith {
namespace {

using numerics::test::RandomSource;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

TEST(Elementary, Specials) {
    EXPECT_EQ(expOwn(0.0), 1.0);
    EXPECT_EQ(expOwn(-0.0), 1.0);
    EXPECT_EQ(expOwn(kInf), kInf);
    EXPECT_EQ(bitsOf(expOwn(-kInf)), 0U);
    EXPECT_EQ(expOwn(709.79), kInf);
    EXPECT_LT(expOwn(709.78), kInf);
    EXPECT_EQ(bitsOf(expOwn(-745.2)), 0U);
    EXPECT_EQ(expOwn(-745.13), 0x1p-1074);
    EXPECT_EQ(expOwn(1e300), kInf);

    EXPECT_EQ(bitsOf(logOwn(1.0)), 0U);
    EXPECT_EQ(logOwn(0.0), -kInf);
    EXPECT_EQ(logOwn(-0.0), -kInf);
    EXPECT_EQ(logOwn(kInf), kInf);
    EXPECT_TRUE(std::isnan(logOwn(-1.0)));
    EXPECT_TRUE(std::isnan(logOwn(-kInf)));
    EXPECT_TRUE(std::isnan(logOwn(-0x1p-1074)));

    for (const double sign : {1.0, -1.0}) {
        EXPECT_EQ(tanhOwn(sign * kInf), sign);
        EXPECT_EQ(tanhOwn(sign * 1e308), sign);
        EXPECT_EQ(bitsOf(tanhOwn(sign * 0.0)), bitsOf(sign * 0.0));
        EXPECT_EQ(erfOwn(sign * kInf), sign);
        EXPECT_EQ(erfOwn(sign * 1e308), sign);
        EXPECT_EQ(bitsOf(erfOwn(sign * 0.0)), bitsOf(sign * 0.0));
        EXPECT_EQ(bitsOf(sinOwn(sign * 0.0)), bitsOf(sign * 0.0));
        EXPECT_EQ(cosOwn(sign * 0.0), 1.0);
        EXPECT_TRUE(std::isnan(sinOwn(sign * kInf)));
        EXPECT_TRUE(std::isnan(cosOwn(sign * kInf)));
    }
    EXPECT_EQ(sigmoidOwn(0.0), 0.5);
    EXPECT_EQ(sigmoidOwn(kInf), 1.0);
    EXPECT_EQ(bitsOf(sigmoidOwn(-kInf)), 0U);
    EXPECT_EQ(sigmoidOwn(-800.0), 0.0);

    for (const double nan : {kNan, -kNan, doubleFromBits(0x7FF8000000001234ULL)}) {
        for (const auto function : {expOwn, logOwn, tanhOwn, sigmoidOwn, erfOwn, sinOwn, cosOwn}) {
            EXPECT_EQ(bitsOf(function(nan)), bitsOf(nan));
        }
    }
    EXPECT_EQ(sqrtOwn(2.0), 0x1.6a09e667f3bcdp+0);
}

TEST(Elementary, PowSpecials) {
    EXPECT_EQ(powInteger(kNan, 0), 1.0);
    EXPECT_EQ(powInteger(0.0, 0), 1.0);
    EXPECT_EQ(bitsOf(powInteger(-0.0, 3)), bitsOf(-0.0));
    EXPECT_EQ(bitsOf(powInteger(-0.0, 4)), 0U);
    EXPECT_EQ(powInteger(-kInf, 3), -kInf);
    EXPECT_EQ(powInteger(-kInf, 2), kInf);
    EXPECT_TRUE(std::isnan(powInteger(kNan, 1)));
    EXPECT_EQ(powInteger(2.0, 1023), 0x1p1023);
    EXPECT_EQ(powInteger(2.0, 1024), kInf);
    EXPECT_EQ(powInteger(-2.0, 1025), -kInf);
    EXPECT_EQ(powInteger(0.5, 1074), 0x1p-1074);
    EXPECT_EQ(bitsOf(powInteger(-0.5, 1077)), bitsOf(-0.0));
    EXPECT_EQ(powInteger(1.0, ~0ULL), 1.0);
    EXPECT_EQ(powInteger(-1.0, ~0ULL), -1.0);
    EXPECT_EQ(powInteger(1.5, ~0ULL), kInf);
    EXPECT_EQ(powInteger(0.75, ~0ULL), 0.0);
    EXPECT_EQ(powInteger(0x1p-1074, 1), 0x1p-1074);
    EXPECT_EQ(powInteger(3.0, 33), 5559060566555523.0);
}

#ifdef ASSAY_HAVE_MPFR

/// Distance between `got` and the exact value, in units in the last place of the exact value rounded to FP64.
double errorInUlps(double got, mpfr_srcptr exact) {
    if (std::isinf(got)) {
        const double rounded = mpfr_get_d(exact, MPFR_RNDN);
        return rounded == got ? 0.0 : 1e9;
    }
    const mpfr_exp_t exponent = mpfr_zero_p(exact) != 0 ? -1021 : std::max<mpfr_exp_t>(mpfr_get_exp(exact), -1021);
    mpfr_t difference;
    mpfr_init2(difference, 200);
    mpfr_sub_d(difference, exact, got, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, 53 - exponent, MPFR_RNDN);
    const double error = std::fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
}

class Measure {
public:
    Measure() {
        mpfr_init2(m_x, 200);
        mpfr_init2(m_y, 200);
    }
    ~Measure() {
        mpfr_clear(m_x);
        mpfr_clear(m_y);
    }
    Measure(const Measure&) = delete;
    Measure& operator=(const Measure&) = delete;

    template <typename Reference>
    void check(double x, double got, Reference reference) {
        mpfr_set_d(m_x, x, MPFR_RNDN);
        reference(m_y, m_x);
        const double error = errorInUlps(got, m_y);
        double& worst = mpfr_zero_p(m_y) == 0 && mpfr_get_exp(m_y) < -1021 ? worstSubnormal : worstNormal;
        double& where = mpfr_zero_p(m_y) == 0 && mpfr_get_exp(m_y) < -1021 ? whereSubnormal : whereNormal;
        if (error > worst) {
            worst = error;
            where = x;
        }
    }
    void expectAtMost(const char* name, double bound, double subnormalBound = 1.0) const {
        std::printf("%-10s worst %.4f ulp at %a; subnormal results %.4f at %a\n", name, worstNormal, whereNormal,
                    worstSubnormal, whereSubnormal);
        EXPECT_LE(worstNormal, bound) << name;
        EXPECT_LE(worstSubnormal, subnormalBound) << name;
        EXPECT_GT(worstNormal, 0.4) << "suspiciously good: is the reference used?";
    }

    double worstNormal = 0.0;
    double whereNormal = 0.0;
    double worstSubnormal = 0.0;
    double whereSubnormal = 0.0;

private:
    mpfr_t m_x;
    mpfr_t m_y;
};

struct Range {
    double lo;
    double hi;
};

/// Uniform arguments in each range, log-uniform ones of both signs in [2^-1060, largest], and every power of two.
template <typename Function, typename Reference>
void measure(const char* name, double bound, const std::vector<Range>& ranges, double logLargest, bool bothSigns,
             Function function, Reference reference) {
    Measure m;
    RandomSource random(2024);
    for (const Range& range : ranges) {
        for (int i = 0; i < ASSAY_ARGUMENTS; ++i) {
            const double x = random.uniform(range.lo, range.hi);
            m.check(x, function(x), reference);
        }
    }
    for (int i = 0; i < ASSAY_ARGUMENTS; ++i) {
        const double lo = i % 4 == 0 ? -1060.0 : -30.0;
        const double x = random.logUniform(lo, logLargest) * (bothSigns ? random.sign() : 1.0);
        m.check(x, function(x), reference);
    }
    for (int e = -1074; e < static_cast<int>(logLargest); ++e) {
        const double x = std::ldexp(1.0, e);
        m.check(x, function(x), reference);
        if (bothSigns) {
            m.check(-x, function(-x), reference);
        }
    }
    m.expectAtMost(name, bound);
}

TEST(Elementary, Exp) {
    measure(
        "exp", 0.75, {{-1, 1}, {-0.35, 0.35}, {-20, 20}, {-708, 709.7}, {-746, -708}}, 9.4, true,
        [](double x) { return expOwn(x); }, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_exp(y, x, MPFR_RNDN); });
}
TEST(Elementary, Log) {
    measure(
        "log", 1.00, {{0.5, 2}, {0.7, 0.72}, {0.999, 1.001}, {1.40, 1.43}, {0.3, 0.75}, {1, 1e3}}, 1023.9, false,
        [](double x) { return logOwn(x); }, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_log(y, x, MPFR_RNDN); });
}
TEST(Elementary, Tanh) {
    measure(
        "tanh", 1.75, {{-1, 1}, {0.1, 0.6}, {-3, 3}, {-25, 25}}, 6, true, [](double x) { return tanhOwn(x); },
        [](mpfr_ptr y, mpfr_srcptr x) { mpfr_tanh(y, x, MPFR_RNDN); });
}
TEST(Elementary, Sigmoid) {
    measure(
        "sigmoid", 1.75, {{-1, 1}, {-5, 5}, {-40, 40}, {-708, 0}}, 9, true, [](double x) { return sigmoidOwn(x); },
        [](mpfr_ptr y, mpfr_srcptr x) {
            mpfr_neg(y, x, MPFR_RNDN);
            mpfr_exp(y, y, MPFR_RNDN);
            mpfr_add_ui(y, y, 1, MPFR_RNDN);
            mpfr_ui_div(y, 1, y, MPFR_RNDN);
        });
}
TEST(Elementary, Erf) {
    measure(
        "erf", 0.85, {{-0.5, 0.5}, {0.4, 0.7}, {0.5, 2}, {-3, 3}, {2, 6}, {5.8, 6.1}}, 3, true,
        [](double x) { return erfOwn(x); }, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_erf(y, x, MPFR_RNDN); });
}
TEST(Elementary, Sin) {
    measure(
        "sin", 0.85, {{-1, 1}, {0, 7}, {-1e3, 1e3}, {-1048576, 1048576}, {1e6, 1e7}}, 1023.9, true,
        [](double x) { return sinOwn(x); }, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_sin(y, x, MPFR_RNDN); });
}
TEST(Elementary, Cos) {
    measure(
        "cos", 0.85, {{-1, 1}, {0, 7}, {-1e3, 1e3}, {-1048576, 1048576}, {1e6, 1e7}}, 1023.9, true,
        [](double x) { return cosOwn(x); }, [](mpfr_ptr y, mpfr_srcptr x) { mpfr_cos(y, x, MPFR_RNDN); });
}

// Doubles nearest to multiples of pi/2, where almost everything cancels.
TEST(Elementary, TrigonometryNearMultiplesOfHalfPi) {
    Measure sine;
    Measure cosine;
    mpfr_t multiple;
    mpfr_init2(multiple, 1400);
    RandomSource random(5);
    for (int i = 0; i < ASSAY_ARGUMENTS / 10; ++i) {
        const auto k = static_cast<unsigned long>(random.logUniform(0, 62.9));
        mpfr_const_pi(multiple, MPFR_RNDN);
        mpfr_mul_ui(multiple, multiple, k, MPFR_RNDN);
        mpfr_mul_2si(multiple, multiple, i % 3 == 0 ? static_cast<long>(random.below(900)) : -1, MPFR_RNDN);
        const double x = mpfr_get_d(multiple, MPFR_RNDN);
        sine.check(x, sinOwn(x), [](mpfr_ptr y, mpfr_srcptr v) { mpfr_sin(y, v, MPFR_RNDN); });
        cosine.check(x, cosOwn(x), [](mpfr_ptr y, mpfr_srcptr v) { mpfr_cos(y, v, MPFR_RNDN); });
    }
    mpfr_clear(multiple);
    // The double that comes closest of all to a multiple of pi/2.
    const double closest = 6381956970095103.0 * 0x1p797;
    cosine.check(closest, cosOwn(closest), [](mpfr_ptr y, mpfr_srcptr v) { mpfr_cos(y, v, MPFR_RNDN); });
    EXPECT_LT(std::fabs(cosOwn(closest)), 1e-18);
    sine.expectAtMost("sin near", 0.85);
    cosine.expectAtMost("cos near", 0.85);
}

TEST(Elementary, Pow) {
    Measure m;
    RandomSource random(6);
    for (int i = 0; i < ASSAY_ARGUMENTS; ++i) {
        const auto n = static_cast<unsigned long>(random.logUniform(0, i % 2 == 0 ? 12 : 45));
        // Bases whose power stays in range, such as beta^t of an optimizer.
        const double base = std::exp(random.uniform(-745, 709) / static_cast<double>(n)) * random.sign();
        m.check(base, powInteger(base, n), [n](mpfr_ptr y, mpfr_srcptr x) { mpfr_pow_ui(y, x, n, MPFR_RNDN); });
    }
    for (unsigned long t = 1; t < 20000; ++t) {
        for (const double beta : {static_cast<double>(0.9F), static_cast<double>(0.999F)}) {
            m.check(beta, powInteger(beta, t), [t](mpfr_ptr y, mpfr_srcptr x) { mpfr_pow_ui(y, x, t, MPFR_RNDN); });
        }
    }
    m.expectAtMost("pow", 0.51);
}

#else

TEST(Elementary, Accuracy) {
    GTEST_SKIP() << "MPFR was not found: the accuracy of the functions is not measured";
}

#endif

} // namespace
} // namespace assay::arith
