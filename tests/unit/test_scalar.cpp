// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/scalar.hpp"

#include <shoal/detail/scalar.hpp>

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

/// \file
/// The arithmetic of lane values: numbers and packs of them, real and complex, give the same.
namespace shoal::test {
namespace {

namespace d = shoal::detail;

template <class R>
class Numbers : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Numbers, Reals);

template <class R>
constexpr int width = 32 / static_cast<int>(sizeof(R));
template <class R>
using PackOf = d::Pack<R, width<R>>;

/// Numbers over the whole range, signs and zeros included.
template <class R>
std::vector<R> samples() {
  using L = std::numeric_limits<R>;
  std::vector<R> x{0,
                   R(-0.0),
                   1,
                   -1,
                   R(1.5),
                   R(-2.75),
                   L::min(),
                   -L::min(),
                   L::max(),
                   L::lowest(),
                   L::denorm_min(),
                   L::min() / 3,
                   3 * L::epsilon(),
                   1 + L::epsilon(),
                   1 - L::epsilon() / 2};
  for (int e = L::min_exponent - L::digits; e < L::max_exponent; e += 7)
    x.push_back(std::ldexp(R(1.3125), e));
  return x;
}

/// Calls f with packs that hold `samples` slot after slot.
template <class R, class F>
void for_packs(const F& f) {
  const auto x = samples<R>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    PackOf<R> p;
    for (int s = 0; s < width<R>; ++s) p.set(s, x[(i + static_cast<std::size_t>(s)) % x.size()]);
    f(p);
  }
}

TYPED_TEST(Numbers, PackArithmeticIsThatOfItsSlots) {
  using R = TypeParam;
  for_packs<R>([](const PackOf<R>& a) {
    const PackOf<R> b = a * R(0.5) + R(3), sum = a + b, difference = a - b, product = a * b,
                    quotient = a / b, minus = -a;
    const auto less = a<b, greater = a> b, at_most = a <= b, at_least = a >= b, equal = a == a;
    const auto chosen = d::select(a < PackOf<R>(1), a, b);
    const auto larger = d::maximum(a, b);
    const auto size = d::magnitude(a);
    for (int s = 0; s < width<R>; ++s) {
      const R x = a[s], y = b[s];
      EXPECT_EQ(sum[s], x + y);
      EXPECT_EQ(difference[s], x - y);
      EXPECT_EQ(product[s], x * y);
      EXPECT_EQ(quotient[s], x / y);
      EXPECT_EQ(minus[s], -x);
      EXPECT_EQ(less[s], x < y);
      EXPECT_EQ(greater[s], x > y);
      EXPECT_EQ(at_most[s], x <= y);
      EXPECT_EQ(at_least[s], x >= y);
      EXPECT_TRUE(equal[s]);
      EXPECT_EQ((less || greater)[s], x != y);
      EXPECT_FALSE((less && greater)[s]);
      EXPECT_EQ((!less)[s], !(x < y));
      EXPECT_EQ(chosen[s], x < 1 ? x : y);
      EXPECT_EQ(larger[s], x < y ? y : x);
      EXPECT_EQ(size[s], std::fabs(x));
      EXPECT_EQ(d::get_slot(a, s), x);
    }
  });
}

TYPED_TEST(Numbers, MasksAnyOfAndSwapWhere) {
  using R = TypeParam;
  using Mask = typename PackOf<R>::Mask;
  EXPECT_FALSE(d::any_of(Mask(false)));
  EXPECT_TRUE(d::any_of(Mask(true)));
  EXPECT_TRUE(d::any_of(true));
  for (int slot = 0; slot < width<R>; ++slot) {
    PackOf<R> a(1), b(2), index(0);
    index.set(slot, 5);
    const Mask here = index > PackOf<R>(4);
    EXPECT_TRUE(d::any_of(here));
    d::swap_where(here, a, b);
    for (int s = 0; s < width<R>; ++s) {
      EXPECT_EQ(here[s], s == slot);
      EXPECT_EQ(a[s], s == slot ? 2 : 1);
      EXPECT_EQ(b[s], s == slot ? 1 : 2);
    }
  }
  R x = 1, y = 2;
  d::swap_where(false, x, y);
  EXPECT_EQ(x, 1);
  d::swap_where(true, x, y);
  EXPECT_EQ(x, 2);
}

template <int Bit, class P>
void expect_flips_and_trades(const P& a, const P& b) {
  const P flipped = d::flip_slots<Bit>(a);
  P x = a, y = b;
  d::trade_slots<Bit>(x, y);
  for (int s = 0; s < P::width; ++s) {
    EXPECT_EQ(flipped[s], a[s ^ Bit]);
    EXPECT_EQ(x[s], s & Bit ? b[s ^ Bit] : a[s]);
    EXPECT_EQ(y[s], s & Bit ? b[s] : a[s ^ Bit]);
  }
}

TYPED_TEST(Numbers, SlotsFlipTradePutAndSpread) {
  using R = TypeParam;
  PackOf<R> a(0), b(0);
  for (int s = 0; s < width<R>; ++s) {
    a.set(s, R(s + 1));
    b.set(s, R(-s - 1));
  }
  expect_flips_and_trades<1>(a, b);
  expect_flips_and_trades<width<R> / 2>(a, b);
  PackOf<R> x = a;
  d::put_slot<1>(x, b);
  const PackOf<R> spread = d::spread_slot(a, 1);
  for (int s = 0; s < width<R>; ++s) {
    EXPECT_EQ(x[s], s == 1 ? b[1] : a[s]);
    EXPECT_EQ(spread[s], a[1]);
  }
}

TYPED_TEST(Numbers, ExponentIsFloorOfLog2) {
  using R = TypeParam;
  using L = std::numeric_limits<R>;
  for (int e = L::min_exponent - 1; e < L::max_exponent; ++e)
    for (const R mantissa : {R(1), 1 + L::epsilon(), R(1.5), 2 - L::epsilon()})
      ASSERT_EQ(d::exponent(std::ldexp(mantissa, e)), e);
  const int bias = L::max_exponent - 1;
  EXPECT_EQ(d::exponent(R(0)), -bias);
  EXPECT_EQ(d::exponent(L::denorm_min()), -bias);
  EXPECT_EQ(d::exponent(L::min() / 2), -bias);
  for_packs<R>([](const PackOf<R>& a) {
    const auto e = d::exponent(d::magnitude(a));
    for (int s = 0; s < width<R>; ++s)
      if (a[s] != 0) {
        EXPECT_EQ(e[s], d::exponent(std::fabs(a[s])));
      }
  });
}

TYPED_TEST(Numbers, MagnitudeOfNegativeZeroHasNoSign) {
  using R = TypeParam;
  EXPECT_FALSE(std::signbit(d::magnitude(R(-0.0))));
  EXPECT_FALSE(std::signbit(d::get_slot(d::magnitude(PackOf<R>(R(-0.0))), 0)));
}

TYPED_TEST(Numbers, PowerOfTwoOverAndBeyondTheWholeRange) {
  using R = TypeParam;
  using L = std::numeric_limits<R>;
  using I = d::integer_t<R>;
  const int bias = L::max_exponent - 1;
  for (int e = -5 * bias; e <= 5 * bias; ++e) {
    const R expected = e > bias       ? std::ldexp(R(1), bias)
                       : e < 1 - bias ? R(0)
                                      : std::ldexp(R(1), e);
    ASSERT_EQ(d::power_of_two<R>(I(e)), expected) << e;
  }
  using P = PackOf<R>;
  d::integer_t<P> e(0);
  for (int s = 0; s < width<R>; ++s) e.set(s, static_cast<I>((s - 2) * bias / 2));
  const P x = d::power_of_two<P>(e);
  for (int s = 0; s < width<R>; ++s) EXPECT_EQ(x[s], d::power_of_two<R>(e[s]));
}

TYPED_TEST(Numbers, ScaleByPowerOfTwoIsLdexp) {
  using R = TypeParam;
  using L = std::numeric_limits<R>;
  using I = d::integer_t<R>;
  const int bias = L::max_exponent - 1;
  // "For any e whose half is an exponent of a normal number."
  for (int e = -2 * (bias - 1); e <= 2 * bias; e += 3)
    for (const R x : samples<R>()) {
      const R expected = std::ldexp(x, e);
      const R got = d::scale_by_power_of_two(x, I(e));
      if (std::fabs(expected) >= L::min() || expected == 0 || std::fabs(x) < 1) {
        // Rounded once where neither factor rounds: not below the normal numbers after a first step
        // there.
        if (std::fabs(expected) >= L::min() &&
            std::fabs(std::ldexp(x, e / 2 - (e < 0 && e % 2 != 0))) >= L::min()) {
          ASSERT_EQ(got, expected) << x << " * 2^" << e;
        }
      }
      const R spacing = L::denorm_min();
      if (std::fabs(x) >= L::min() && std::fabs(expected) < L::min()) {
        ASSERT_LE(std::fabs(got - expected), spacing) << x << " * 2^" << e;
      }
    }
  using P = PackOf<R>;
  const P x(R(1.25));
  const P scaled = d::scale_by_power_of_two(x, d::integer_t<P>(-9));
  for (int s = 0; s < width<R>; ++s) EXPECT_EQ(scaled[s], std::ldexp(R(1.25), -9));
}

TYPED_TEST(Numbers, MagnitudeKeysOrderScaledRoots) {
  using R = TypeParam;
  using I = d::integer_t<R>;
  struct Item {
    R x;
    int e;
    long double log; ///< of sqrt(x) * 2^e
  };
  std::vector<Item> items;
  const int bias = std::numeric_limits<R>::max_exponent - 1;
  Random random(5);
  for (int i = 0; i < 400; ++i) {
    const R x = static_cast<R>(std::exp2(random.uniform(-40, 20)));
    const int e = static_cast<int>(random.integer(-bias, bias));
    items.push_back({x, e, std::log2(static_cast<long double>(x)) / 2 + e});
  }
  for (const Item& a : items)
    for (const Item& b : items) {
      if (a.log > b.log + 1e-5L) {
        ASSERT_GT(d::magnitude_key(a.x, I(a.e)), d::magnitude_key(b.x, I(b.e)))
            << a.x << " 2^" << a.e << " against " << b.x << " 2^" << b.e;
      }
    }
  for (const Item& a : items) {
    const I key = d::magnitude_key(a.x, I(a.e));
    ASSERT_LT(d::magnitude_key(R(0), I(bias)), key);
    // What fell by the rounding unit many times over stays smaller, however far it fell.
    if (!(a.x > 1 && a.e > -bias)) continue;
    for (const int e : {-3 * bias, -100 * bias}) ASSERT_LT(d::magnitude_key(R(1), I(e)), key);
  }
}

TYPED_TEST(Numbers, RootsAndSigns) {
  using R = TypeParam;
  using L = std::numeric_limits<R>;
  for (const R x : samples<R>()) {
    if (!(x > 0)) continue;
    EXPECT_EQ(d::square_root(x), std::sqrt(x));
    if (x < L::min()) continue;
    const long double exact = 1 / std::sqrt(static_cast<long double>(x));
    EXPECT_LE(std::fabs(d::reciprocal_sqrt(x) - exact), 2 * L::epsilon() * exact) << x;
    EXPECT_LE(std::fabs(d::get_slot(d::reciprocal_sqrt(PackOf<R>(x)), 1) - exact),
              2 * L::epsilon() * exact)
        << x;
  }
  EXPECT_EQ(d::with_sign(R(3), R(-0.5)), -3);
  EXPECT_EQ(d::with_sign(R(3), R(0.5)), 3);
  EXPECT_EQ(d::with_sign(R(3), R(0)), 3);
  EXPECT_EQ(d::phase_of(R(-7)), -1);
  EXPECT_EQ(d::phase_of(R(0)), 1);
}

TYPED_TEST(Numbers, PoisonTellsFiniteNumbersFromOthers) {
  using R = TypeParam;
  using L = std::numeric_limits<R>;
  using C = d::Complex<R>;
  for (const R x : samples<R>()) EXPECT_EQ(d::poison(x), 0) << x;
  for (const R x : {L::infinity(), -L::infinity(), L::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(d::poison(x)));
    EXPECT_TRUE(std::isnan(d::poison(C(x, R(1)))));
    EXPECT_TRUE(std::isnan(d::poison(C(R(1), x))));
  }
  EXPECT_EQ(d::poison(C(L::max(), L::lowest())), 0);
}

template <class R>
d::Complex<R> complex(R re, R im) {
  return {re, im};
}

TYPED_TEST(Numbers, ComplexArithmetic) {
  using R = TypeParam;
  using C = d::Complex<R>;
  const C a(3, -4), b(R(0.5), 2);
  const auto expect = [](const C& x, R re, R im) {
    EXPECT_EQ(x.re, re);
    EXPECT_EQ(x.im, im);
  };
  expect(a + b, R(3.5), -2);
  expect(a - b, R(2.5), -6);
  expect(a * b, R(9.5), 4);
  expect(-a, -3, 4);
  expect(R(2) * a, 6, -8);
  expect(a * R(2), 6, -8);
  expect(d::conjugate(a), 3, 4);
  expect(d::conj_multiply_add(a, b, C(1, 1)), R(1.5 - 8 + 1), 6 + 2 + 1); // conj(a) b + c
  EXPECT_EQ(d::norm_squared(a), 25);
  EXPECT_EQ(d::max_part(a), 4);
  EXPECT_EQ(d::real_part(a), 3);
  expect(d::reciprocal(C(0, 2)), 0, R(-0.5));
  EXPECT_TRUE(d::is_zero(C(0, 0)));
  EXPECT_FALSE(d::is_zero(C(0, 1)));
  EXPECT_EQ(d::conj_multiply_add(R(2), R(3), R(4)), 10);
}

/// A phase is of length 1 to rounding, also of numbers whose square leaves the normal range:
/// rotations are multiplied by it.
TYPED_TEST(Numbers, PhaseHasLengthOne) {
  using R = TypeParam;
  using L = std::numeric_limits<R>;
  using C = d::Complex<R>;
  EXPECT_EQ(d::phase_of(C(0, 0)).re, 1);
  for (int e = L::min_exponent - 1; e < L::max_exponent / 2 - 2; ++e)
    for (const C& direction : {C(R(0.6), R(-0.8)), C(1, 0), C(0, -1), C(R(-0.96), R(0.28)),
                               C(R(1.1), R(0.7)), C(R(-0.3), R(1.27))}) {
      const R scale = std::ldexp(R(1), e);
      const C p = d::phase_of(C(scale * direction.re, scale * direction.im));
      const long double length2 =
          static_cast<long double>(p.re) * p.re + static_cast<long double>(p.im) * p.im;
      ASSERT_LE(std::fabs(length2 - 1), 8 * L::epsilon()) << "at 2^" << e;
      if (p.re == 1 && p.im == 0) continue; // where the square underflows
      const long double length = std::hypot(static_cast<long double>(direction.re),
                                            static_cast<long double>(direction.im));
      ASSERT_LE(std::fabs(p.re - direction.re / length), 8 * L::epsilon()) << "at 2^" << e;
      ASSERT_LE(std::fabs(p.im - direction.im / length), 8 * L::epsilon()) << "at 2^" << e;
    }
}

TYPED_TEST(Numbers, StorageScalarsGoInAndOutOfSlots) {
  using R = TypeParam;
  using T = Kokkos::complex<R>;
  using V = d::lane_value_t<T, width<R>>;
  static_assert(d::lane_width<V> == width<R>);
  static_assert(d::is_complex_v<V> && !d::is_complex_v<d::real_t<V>>);
  static_assert(std::is_same_v<d::number_t<V>, R>);
  V v = d::broadcast<V>(T(1, 2));
  d::set_slot(v, 1, T(5, -6));
  for (int s = 0; s < width<R>; ++s) EXPECT_EQ(d::get_slot(v, s), s == 1 ? T(5, -6) : T(1, 2));
  d::lane_value_t<T, 1> one;
  d::set_slot(one, 0, T(7, 8));
  EXPECT_EQ(d::get_slot(one, 0), T(7, 8));
  EXPECT_EQ(d::from_real<V>(PackOf<R>(3)).im[0], 0);
}

template <class T>
void expect_float_lanes() {
  using V = d::lane_value_t<T, 8>;
  static_assert(std::is_same_v<V, d::Pack<float, 8>>);
  static_assert(std::is_same_v<d::lane_value_t<T, 1>, float>);
  static_assert(std::is_same_v<d::real_t<T>, float> && !d::is_complex_v<T>);
  V v = d::broadcast<V>(T(3));
  d::set_slot(v, 1, T(-5));
  d::set_slot(v, 2, 1 + 0x1p-20f); // is not rounded before it is stored
  EXPECT_EQ(d::get_slot(v, 0), 3);
  EXPECT_EQ(d::get_slot(v, 1), -5);
  EXPECT_EQ(d::get_slot(v, 2), 1 + 0x1p-20f);
  EXPECT_EQ(static_cast<T>(d::get_slot(v, 2)), 1);
  float one;
  d::set_slot(one, 0, T(7));
  EXPECT_EQ(d::get_slot(one, 0), 7);
  EXPECT_EQ(d::broadcast<float>(T(7)), 7);
}

TEST(Scalars16, AreFloatInLanes) {
  expect_float_lanes<half>();
  expect_float_lanes<bfloat16>();
}

} // namespace
} // namespace shoal::test
