// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_SCALAR_HPP
#define SHOAL_TESTS_SUPPORT_SCALAR_HPP

#include <shoal/half.hpp>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>

/// \file
/// The scalars of the library, the wide numbers that references are computed in, and random
/// numbers that are the same on every machine.
namespace shoal::test {

#ifndef SHOAL_TEST_SPACE // a test that is compiled once for all backends
#define SHOAL_TEST_SPACE Kokkos::DefaultExecutionSpace
#endif
using Exec = SHOAL_TEST_SPACE;
using Memory = Exec::memory_space;

// --- the scalars
// -----------------------------------------------------------------------------------

template <class T>
struct ScalarInfo {
  using Part = T;
  static constexpr bool is_complex = false;
};
template <class R>
struct ScalarInfo<Kokkos::complex<R>> {
  using Part = R;
  static constexpr bool is_complex = true;
};
/// What T is made of: itself, or the type of its real and imaginary parts.
template <class T>
using Part = typename ScalarInfo<T>::Part;
/// The real numbers that T is computed with, and that its singular values are.
template <class T>
using Real = arithmetic_t<Part<T>>;
template <class T>
inline constexpr bool is_complex = ScalarInfo<T>::is_complex;
/// Whether T is stored only, and computed with as float.
template <class T>
inline constexpr bool is_converted = !std::is_same_v<arithmetic_t<T>, T>;

/// Half the distance from 1 to the next number of T's parts.
template <class T>
inline constexpr long double unit_roundoff =
    0.5L / (1LL << (std::numeric_limits<Part<T>>::digits - 1));

/// Those that are computed with as they are.
using WideScalars =
    ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
/// Those that are stored only.
using Scalars16 = ::testing::Types<half, bfloat16>;
using Scalars = ::testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>,
                                 half, bfloat16>;

template <class T>
const char* scalar_name() {
  if constexpr (std::is_same_v<T, float>) return "float";
  else if constexpr (std::is_same_v<T, double>) return "double";
  else if constexpr (std::is_same_v<T, Kokkos::complex<float>>) return "complex_float";
  else if constexpr (std::is_same_v<T, Kokkos::complex<double>>) return "complex_double";
  else if constexpr (std::is_same_v<T, half>) return "half";
  else return "bfloat16";
}
/// Names the instances of a typed test suite.
struct ScalarNames {
  template <class T>
  static std::string GetName(int) {
    return scalar_name<T>();
  }
};

// --- wide numbers
// ---------------------------------------------------------------------------------------

/// std::complex<long double> multiplies through a library call that treats NaN specially; this one
/// does not, and is several times faster.
struct WideComplex {
  long double re = 0, im = 0;

  WideComplex() = default;
  WideComplex(long double r, long double i = 0) : re(r), im(i) {}

  WideComplex& operator+=(const WideComplex& b) {
    re += b.re;
    im += b.im;
    return *this;
  }
  WideComplex& operator-=(const WideComplex& b) {
    re -= b.re;
    im -= b.im;
    return *this;
  }
  friend WideComplex operator+(WideComplex a, const WideComplex& b) { return a += b; }
  friend WideComplex operator-(WideComplex a, const WideComplex& b) { return a -= b; }
  friend WideComplex operator-(const WideComplex& a) { return {-a.re, -a.im}; }
  friend WideComplex operator*(const WideComplex& a, const WideComplex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend WideComplex operator*(long double a, const WideComplex& b) { return {a * b.re, a * b.im}; }
};

template <class T>
using Wide = std::conditional_t<is_complex<T>, WideComplex, long double>;

inline long double widen(float x) { return x; }
inline long double widen(double x) { return x; }
template <class R>
WideComplex widen(const Kokkos::complex<R>& x) {
  return {x.real(), x.imag()};
}

inline long double conjugate(long double x) { return x; }
inline WideComplex conjugate(const WideComplex& x) { return {x.re, -x.im}; }
inline long double abs_squared(long double x) { return x * x; }
inline long double abs_squared(const WideComplex& x) { return x.re * x.re + x.im * x.im; }
inline long double magnitude(long double x) { return std::fabs(x); }
inline long double magnitude(const WideComplex& x) { return std::hypot(x.re, x.im); }
/// x / |x|, 1 for 0.
inline long double phase(long double x) { return x < 0 ? -1 : 1; }
inline WideComplex phase(const WideComplex& x) {
  const long double size = magnitude(x);
  return size == 0 ? WideComplex(1) : WideComplex(x.re / size, x.im / size);
}

/// The nearest T.
template <class T>
T narrow(const Wide<T>& x) {
  if constexpr (is_complex<T>) return T(static_cast<Part<T>>(x.re), static_cast<Part<T>>(x.im));
  else return static_cast<T>(x);
}

// --- bits
// -----------------------------------------------------------------------------------------------

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Whether a number, or any part of it, is NaN.
template <class T>
bool is_nan(const T& x) {
  if constexpr (is_complex<T>) return x.real() != x.real() || x.imag() != x.imag();
  else return x != x;
}

/// What outputs are filled with before a call.
template <class T>
T poison() {
  if constexpr (std::is_integral_v<T>) return T(-0x5a5a5a5b);
  else if constexpr (is_complex<T>) return T(poison<Part<T>>(), poison<Part<T>>());
  else return std::numeric_limits<T>::quiet_NaN();
}

/// What stands between and around matrices: NaN of a certain payload, so that reading it shows in
/// the result and writing it shows in memory.
template <class T>
T guard() {
  if constexpr (is_complex<T>) {
    return T(guard<Part<T>>(), guard<Part<T>>());
  } else if constexpr (std::is_integral_v<T>) {
    return T(0x3c3c3c3c);
  } else {
    const std::uint64_t bits = sizeof(T) == 2   ? 0x7fe5u
                               : sizeof(T) == 4 ? 0x7fc5a5a5u
                                                : 0x7ff8a5a5a5a5a5a5u;
    T x;
    std::memcpy(&x, &bits, sizeof(T)); // machines that Kokkos runs on have the low bytes first
    return x;
  }
}

// --- random numbers
// -------------------------------------------------------------------------------------

/// SplitMix64. The standard's engines are portable, its distributions are not.
class Random {
public:
  explicit Random(std::uint64_t seed) : m_state(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = (m_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  template <class Container>
  auto one_of(const Container& c) {
    return std::begin(c)[integer(0, static_cast<std::int64_t>(std::size(c)) - 1)];
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }
  /// Normal real, and imaginary part.
  template <class W>
  W normal_wide() {
    if constexpr (std::is_same_v<W, WideComplex>) {
      const long double re = normal();
      return {re, normal()};
    } else {
      return normal();
    }
  }
  template <class T>
  T normal_scalar() {
    return narrow<T>(normal_wide<Wide<T>>());
  }
  /// On the unit circle.
  template <class W>
  W unit() {
    if constexpr (std::is_same_v<W, WideComplex>) {
      const long double angle = uniform(0, 6.283185307179586);
      return {std::cos(angle), std::sin(angle)};
    } else {
      return bits() & 1 ? 1 : -1;
    }
  }

private:
  std::uint64_t m_state;
};

} // namespace shoal::test

#endif
