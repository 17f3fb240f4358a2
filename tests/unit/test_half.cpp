// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/scalar.hpp"

#include <shoal/half.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

/// \file
/// The 16-bit scalars against their definition: every pattern has the value that its fields say,
/// and every float becomes the nearest of these values, on the host and in a kernel.
namespace shoal::test {
namespace {

template <class T>
struct Fields;
template <>
struct Fields<half> {
  static constexpr int mantissa = 10, bias = 15;
};
template <>
struct Fields<bfloat16> {
  static constexpr int mantissa = 7, bias = 127;
};

template <class T>
class Half : public ::testing::Test {
public:
  static constexpr int mantissa = Fields<T>::mantissa, bias = Fields<T>::bias;
  static constexpr std::uint32_t infinity = (2 * bias + 1) << mantissa; ///< its bits

  /// What the bits of a finite number, or one past the largest, mean.
  static double value(std::uint32_t bits) {
    const int exponent = static_cast<int>(bits >> mantissa);
    const double fraction = bits & ((1u << mantissa) - 1);
    return exponent == 0 ? std::ldexp(fraction, 1 - bias - mantissa)
                         : std::ldexp(fraction + (1 << mantissa), exponent - bias - mantissa);
  }
  /// The bits of the nearest number; ties to the even one. Inf counts as the number after the
  /// largest.
  static std::uint16_t nearest(float x) {
    const double size = std::fabs(static_cast<double>(x));
    std::uint32_t low = 0, high = infinity;
    if (size >= value(infinity)) low = infinity;
    while (high - low > 1 && low < infinity) {
      const std::uint32_t middle = (low + high) / 2;
      (value(middle) <= size ? low : high) = middle;
    }
    if (low < infinity) {
      const double below = size - value(low), above = value(low + 1) - size;
      if (above < below || (above == below && low % 2 == 1)) ++low;
    }
    return static_cast<std::uint16_t>(low | (std::signbit(x) ? 0x8000u : 0u));
  }

  /// Every number that a float can be told apart from, the points halfway between neighbours, and
  /// the floats beside all these; both signs.
  static std::vector<float> points() {
    std::vector<float> all;
    const auto add = [&](float x) {
      for (const float y : {x, std::nextafter(x, 0.0f), std::nextafter(x, HUGE_VALF)})
        for (const float z : {y, -y}) all.push_back(z);
    };
    for (std::uint32_t bits = 0; bits < infinity; ++bits) {
      add(static_cast<float>(value(bits)));
      const double halfway = (value(bits) + value(bits + 1)) / 2;
      if (halfway <= std::numeric_limits<float>::max()) add(static_cast<float>(halfway));
    }
    return all;
  }
};
using Types = ::testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(Half, Types);

TYPED_TEST(Half, IsTwoBytesAsTheFormatHasThem) {
  using T = TypeParam;
  static_assert(sizeof(T) == 2 && alignof(T) == 2);
  static_assert(std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>);
  static_assert(std::is_trivially_default_constructible_v<T>);
  // Widening happens by itself and arithmetic is float's; narrowing is asked for.
  static_assert(std::is_convertible_v<T, float> && !std::is_convertible_v<float, T>);
  static_assert(std::is_same_v<decltype(T() * T()), float>);
  static_assert(std::is_same_v<arithmetic_t<T>, float>);
  EXPECT_TRUE(T(1) == T(1.0f) && T(1) != T(2) && T(1) < T(2) && T(-0.0f) == T(0));
  EXPECT_EQ(T(1).bits, this->bias << this->mantissa);
  EXPECT_EQ(T(-2).bits, 0x8000 | (this->bias + 1) << this->mantissa);
}

TYPED_TEST(Half, EveryPatternHasItsValueAndComesBack) {
  using T = TypeParam;
  constexpr std::uint32_t infinity = TestFixture::infinity;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const T x = T::from_bits(static_cast<std::uint16_t>(bits));
    const float wide = x;
    const std::uint32_t size = bits & 0x7fffu;
    ASSERT_EQ(std::signbit(wide), bits >> 15 == 1) << bits;
    if (size > infinity) {
      ASSERT_TRUE(std::isnan(wide)) << bits;
      const std::uint32_t quiet = bits | 1u << (TestFixture::mantissa - 1);
      ASSERT_EQ(T(wide).bits | (quiet & ~bits), quiet) << "the payload of " << bits;
      continue;
    }
    if (size == infinity) {
      ASSERT_TRUE(std::isinf(wide)) << bits;
    } else {
      ASSERT_EQ(std::fabs(wide), TestFixture::value(size)) << bits;
    }
    ASSERT_EQ(T(wide).bits, bits);
  }
}

TYPED_TEST(Half, RoundsToNearestTiesToEven) {
  using T = TypeParam;
  for (const float x : this->points()) ASSERT_EQ(T(x).bits, TestFixture::nearest(x)) << x;
  Random random(7);
  for (int i = 0; i < 300000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random.bits() >> 32));
    if (!std::isnan(x)) {
      ASSERT_EQ(T(x).bits, TestFixture::nearest(x)) << x;
    }
  }
}

TYPED_TEST(Half, BeyondTheRangeIsInf) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  const float largest = L::max(), step = largest - float(T::from_bits(L::max().bits - 1));
  EXPECT_EQ(T(largest + step * 0.49f).bits, L::max().bits);
  EXPECT_EQ(T(std::numeric_limits<float>::max()).bits, L::infinity().bits);
  EXPECT_EQ(T(-std::numeric_limits<float>::max()).bits, 0x8000 | L::infinity().bits);
  EXPECT_EQ(T(HUGE_VALF).bits, L::infinity().bits);
  if (L::max_exponent == 16) {
    EXPECT_EQ(largest, 65504);
    EXPECT_EQ(T(65519.996f).bits, L::max().bits);
    EXPECT_EQ(T(65520).bits, L::infinity().bits);
  }
}

TYPED_TEST(Half, NanStaysNanWhateverItsPayload) {
  using T = TypeParam;
  for (const std::uint32_t sign : {0u, 0x80000000u})
    for (int bit = 0; bit < 23; ++bit)
      for (const std::uint32_t payload : {1u << bit, (1u << bit) - 1 + (1u << 22)}) {
        const T x(std::bit_cast<float>(sign | 0x7f800000u | payload));
        EXPECT_GT(x.bits & 0x7fffu, TestFixture::infinity) << payload;
        EXPECT_FALSE(x == x);
      }
}

TYPED_TEST(Half, LimitsAreThoseOfTheFormat) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  static_assert(L::is_specialized && L::is_iec559 && L::has_infinity && L::has_quiet_NaN);
  EXPECT_EQ(L::digits, TestFixture::mantissa + 1);
  EXPECT_EQ(L::epsilon(), std::ldexp(1.0f, 1 - L::digits));
  EXPECT_EQ(L::round_error(), 0.5f);
  EXPECT_EQ(L::min(), std::ldexp(1.0f, L::min_exponent - 1));
  EXPECT_EQ(L::denorm_min(), std::ldexp(1.0f, L::min_exponent - L::digits));
  EXPECT_EQ(L::max(), std::ldexp(2 - L::epsilon(), L::max_exponent - 1));
  EXPECT_EQ(L::lowest(), -L::max());
  EXPECT_TRUE(std::isinf(L::infinity()) && std::isnan(L::quiet_NaN()));
  EXPECT_TRUE(std::isnan(L::signaling_NaN()));
  EXPECT_GE(std::pow(10.0, L::min_exponent10), L::min());
  EXPECT_LT(std::pow(10.0, L::min_exponent10 - 1), L::min());
  EXPECT_LE(std::pow(10.0, L::max_exponent10), L::max());
  EXPECT_GT(std::pow(10.0, L::max_exponent10 + 1), L::max());
  EXPECT_EQ(L::digits10, std::floor((L::digits - 1) * std::log10(2.0)));
  EXPECT_EQ(L::max_digits10, std::ceil(L::digits * std::log10(2.0) + 1));
}

template <class T>
struct Convert {
  Kokkos::View<const float*, Memory> x;
  Kokkos::View<T*, Memory> narrow;
  Kokkos::View<float*, Memory> wide;
  KOKKOS_FUNCTION void operator()(int i) const {
    narrow(i) = T(x(i));
    wide(i) = narrow(i);
  }
};

TYPED_TEST(Half, AKernelConvertsAsTheHostDoes) {
  using T = TypeParam;
  const std::vector<float> x = this->points();
  const auto count = static_cast<int>(x.size());
  using Host = Kokkos::View<const float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  const Kokkos::View<float*, Memory> in("x", x.size()), wide("wide", x.size());
  const Kokkos::View<T*, Memory> narrow("narrow", x.size());
  Kokkos::deep_copy(in, Host(x.data(), x.size()));
  Kokkos::parallel_for("test", Kokkos::RangePolicy<Exec>(0, count), Convert<T>{in, narrow, wide});
  const auto n = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), narrow);
  const auto w = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), wide);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(n(i).bits, T(x[i]).bits) << x[i];
    ASSERT_EQ(w(i), static_cast<float>(T(x[i]))) << x[i];
  }
}

} // namespace
} // namespace shoal::test
