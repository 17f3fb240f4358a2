// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of lanes: exponents over the whole range, selection, packs against scalars.
#include <shoal/batch_view.hpp>
#include <shoal/detail/scalar.hpp>
#include <shoal/error.hpp>
#include <shoal/types.hpp>
#include <shoal/version.hpp>

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace {

using namespace shoal::detail;

template <class R>
class Scalar : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Scalar, Reals);

TYPED_TEST(Scalar, power_of_two_is_exact_for_normal_numbers_and_saturates) {
  using R = TypeParam;
  constexpr int bias = format<R>::bias;
  for (int e = 1 - bias; e <= bias; ++e) ASSERT_EQ(power_of_two<R>(e), std::ldexp(R(1), e)) << e;
  EXPECT_EQ(power_of_two<R>(-bias), R(0));
  EXPECT_EQ(power_of_two<R>(-9 * bias), R(0));
  EXPECT_EQ(power_of_two<R>(5 * bias), std::ldexp(R(1), bias));
}

TYPED_TEST(Scalar, exponent_is_that_of_the_format) {
  using R = TypeParam;
  for (int e = 1 - format<R>::bias; e <= format<R>::bias; e += 3) {
    ASSERT_EQ(exponent(std::ldexp(R(1), e)), e);
    ASSERT_EQ(exponent(std::nextafter(std::ldexp(R(2), e), R(0))), e);
  }
  EXPECT_EQ(exponent(R(0)), -format<R>::bias);
  EXPECT_EQ(exponent(std::numeric_limits<R>::denorm_min()), -format<R>::bias);
}

TYPED_TEST(Scalar, scaling_rounds_once) {
  using R = TypeParam;
  for (int e = -2 * format<R>::bias + 2; e < 2 * format<R>::bias; e += 7)
    for (const R x : {R(1), R(1.2345678), R(0.3)})
      ASSERT_EQ(scale_by_power_of_two(x, integer_t<R>(e)), std::ldexp(x, e)) << x << " " << e;
}

TYPED_TEST(Scalar, keys_order_scaled_roots) {
  using R = TypeParam;
  using I = integer_t<R>;
  // sqrt(4) 2^3 = 16 < sqrt(2) 2^4 < sqrt(8) 2^5
  EXPECT_LT(magnitude_key(R(4), I(3)), magnitude_key(R(2), I(4)));
  EXPECT_LT(magnitude_key(R(2), I(4)), magnitude_key(R(8), I(5)));
  EXPECT_LT(magnitude_key(R(0), I(100)), magnitude_key(R(1), I(-format<R>::bias)));
  EXPECT_LT(magnitude_key(R(1), I(-format<R>::bias)), magnitude_key(R(1), I(format<R>::bias)));
}

template <class R>
using Pack4 = Pack<R, 32 / sizeof(R)>;

TYPED_TEST(Scalar, packs_do_in_each_slot_what_numbers_do) {
  using R = TypeParam;
  using P = Pack4<R>;
  P a, b;
  for (int i = 0; i < P::width; ++i) {
    a.set(i, R(i) - R(1.5));
    b.set(i, R(2) / R(i + 1));
  }
  const P sum = a + b, product = a * b, quotient = a / b, negative = -a, larger = maximum(a, b),
          chosen = select(a < b, a, P(R(9))), size = magnitude(a), root = square_root(b),
          inverse_root = reciprocal_sqrt(b), scaled = power_of_two<P>(exponent(b)),
          with = with_sign(b, a);
  const integer_t<P> keys = magnitude_key(b, integer_t<P>(3));
  for (int i = 0; i < P::width; ++i) {
    EXPECT_EQ(sum[i], a[i] + b[i]);
    EXPECT_EQ(product[i], a[i] * b[i]);
    EXPECT_EQ(quotient[i], a[i] / b[i]);
    EXPECT_EQ(negative[i], -a[i]);
    EXPECT_EQ(larger[i], maximum(a[i], b[i]));
    EXPECT_EQ(chosen[i], a[i] < b[i] ? a[i] : R(9));
    EXPECT_EQ(size[i], std::abs(a[i]));
    EXPECT_EQ(root[i], std::sqrt(b[i]));
    EXPECT_NEAR(inverse_root[i] * std::sqrt(b[i]), 1, 4 * std::numeric_limits<R>::epsilon());
    EXPECT_EQ(scaled[i], power_of_two<R>(exponent(b[i])));
    EXPECT_EQ(with[i], a[i] < 0 ? -b[i] : b[i]);
    EXPECT_EQ(keys[i], magnitude_key(b[i], integer_t<R>(3)));
  }
  EXPECT_TRUE(any_of(a < P(R(0))));
  EXPECT_FALSE(any_of(a < P(R(-9))));
  EXPECT_FALSE(any_of(!(a > P(R(-9)))));
}

TYPED_TEST(Scalar, poison_marks_what_is_not_finite) {
  using R = TypeParam;
  EXPECT_EQ(poison(std::numeric_limits<R>::max()), R(0));
  EXPECT_TRUE(std::isnan(poison(std::numeric_limits<R>::infinity())));
  EXPECT_TRUE(std::isnan(poison(std::numeric_limits<R>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(poison(Complex<R>(R(1), std::numeric_limits<R>::infinity()))));
}

TYPED_TEST(Scalar, phase_has_length_one_and_zero_has_phase_one) {
  using R = TypeParam;
  const Complex<R> p = phase_of(Complex<R>(R(3), R(-4)));
  EXPECT_NEAR(p.re, 0.6, 4 * std::numeric_limits<R>::epsilon());
  EXPECT_NEAR(p.im, -0.8, 4 * std::numeric_limits<R>::epsilon());
  EXPECT_EQ(phase_of(Complex<R>(R(0), R(0))).re, R(1));
  EXPECT_EQ(phase_of(R(-7)), R(-1));
  EXPECT_EQ(phase_of(R(0)), R(1));
}

TEST(BatchRef, tells_packed_from_other_layouts) {
  double x[1];
  const auto packed = [&](std::int64_t b, std::int64_t r, std::int64_t c) {
    return BatchRef<double>{x, nullptr, 7, 3, 2, b, r, c}.packed();
  };
  EXPECT_TRUE(packed(6, 2, 1));
  EXPECT_TRUE(packed(6, 1, 3));
  EXPECT_FALSE(packed(1, 7, 21));
  EXPECT_FALSE(packed(8, 2, 1));
  EXPECT_FALSE(packed(0, 2, 1));
  EXPECT_FALSE(packed(6, 3, 1));
  double* pointers[1] = {x};
  EXPECT_FALSE((BatchRef<double>{nullptr, pointers, 7, 3, 2, 6, 2, 1}.packed()));
  const auto t = BatchRef<double>{x, nullptr, 7, 3, 2, 6, 2, 1}.transposed();
  EXPECT_EQ(t.rows, 2);
  EXPECT_EQ(t.cols, 3);
  EXPECT_EQ(&t.matrix(1)(1, 2), x + 6 + 2 * 2 + 1);
}

TEST(Names, are_what_the_documentation_says) {
  EXPECT_STREQ(shoal::to_string(shoal::Op::conj_transpose), "conj_transpose");
  EXPECT_STREQ(shoal::to_string(shoal::Vectors::thin), "thin");
  EXPECT_STREQ(shoal::to_string(shoal::GemmPath::team), "team");
  EXPECT_STREQ(shoal::to_string(shoal::SvdPath::lane), "lane");
  const shoal::invalid_argument error("shoal::svd", "U", "extent 1 is 4");
  EXPECT_STREQ(error.what(), "shoal::svd: U: extent 1 is 4");
  EXPECT_EQ(error.function(), "shoal::svd");
  EXPECT_EQ(error.argument(), "U");
  EXPECT_EQ(std::string(SHOAL_VERSION_STRING),
            std::to_string(SHOAL_VERSION_MAJOR) + "." + std::to_string(SHOAL_VERSION_MINOR) + "." +
                std::to_string(SHOAL_VERSION_PATCH));
  EXPECT_GE(SHOAL_VERSION, 100);
}

} // namespace
