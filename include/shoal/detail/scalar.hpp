// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_SCALAR_HPP
#define SHOAL_DETAIL_SCALAR_HPP

#include <shoal/detail/pack.hpp>
#include <shoal/half.hpp>

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>

/// \file
/// The arithmetic that lane code is written in. A "lane value" is a number (CUDA: one matrix a
/// thread) or a Pack of numbers (OpenMP: one matrix a slot of the vector unit), real or complex;
/// every function here takes both, so that each algorithm is written once.
namespace shoal::detail {

// --- what a type is made of
// -----------------------------------------------------------------------------

/// Complex numbers over anything that has +, - and *. Kokkos::complex accepts floating-point
/// numbers only, not packs.
template <class R>
struct Complex {
  R re;
  R im;

  Complex() = default;
  KOKKOS_FUNCTION Complex(R r, R i) : re(r), im(i) {}
  KOKKOS_FUNCTION Complex(R r) : re(r), im(R(0)) {}

  KOKKOS_FUNCTION Complex& operator+=(const Complex& b) {
    re += b.re;
    im += b.im;
    return *this;
  }
  KOKKOS_FUNCTION Complex& operator-=(const Complex& b) {
    re -= b.re;
    im -= b.im;
    return *this;
  }
  friend KOKKOS_FUNCTION Complex operator+(const Complex& a, const Complex& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend KOKKOS_FUNCTION Complex operator-(const Complex& a, const Complex& b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend KOKKOS_FUNCTION Complex operator-(const Complex& a) { return {-a.re, -a.im}; }
  friend KOKKOS_FUNCTION Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend KOKKOS_FUNCTION Complex operator*(const R& a, const Complex& b) {
    return {a * b.re, a * b.im};
  }
  friend KOKKOS_FUNCTION Complex operator*(const Complex& a, const R& b) {
    return {a.re * b, a.im * b};
  }
};

template <class V>
struct scalar_traits; // real, pack or complex: Real, is_complex, width, Element

template <class R>
  requires std::is_floating_point_v<R>
struct scalar_traits<R> {
  using Real = R;
  using Number = R;
  static constexpr bool is_complex = false;
};
template <class E, int Width>
struct scalar_traits<Pack<E, Width>> {
  using Real = Pack<E, Width>;
  using Number = E;
  static constexpr bool is_complex = false;
};
template <class R>
struct scalar_traits<Complex<R>> {
  using Real = R;
  using Number = typename scalar_traits<R>::Number;
  static constexpr bool is_complex = true;
};
template <class R>
struct scalar_traits<Kokkos::complex<R>> {
  using Real = R;
  using Number = R;
  static constexpr bool is_complex = true;
};

template <class T>
  requires is_converted<T>
struct scalar_traits<T> : scalar_traits<arithmetic_t<T>> {};

/// The real type of a scalar or lane value: float of complex<float>, Pack of Complex<Pack>.
template <class V>
using real_t = typename scalar_traits<V>::Real;
/// The plain floating-point type underneath.
template <class V>
using number_t = typename scalar_traits<V>::Number;
template <class V>
inline constexpr bool is_complex_v = scalar_traits<V>::is_complex;

template <class R>
struct lane_traits {
  using Integer = typename integer_of<R>::type;
  using Mask = bool;
  static constexpr int width = 1;
};
template <class E, int Width>
struct lane_traits<Pack<E, Width>> {
  using Integer = Pack<typename integer_of<E>::type, Width>;
  using Mask = typename Pack<E, Width>::Mask;
  static constexpr int width = Width;
};
/// The integers and the truth values that go with a real lane value.
template <class V>
using integer_t = typename lane_traits<real_t<V>>::Integer;
template <class V>
using mask_t = typename lane_traits<real_t<V>>::Mask;
template <class V>
inline constexpr int lane_width = lane_traits<real_t<V>>::width;

/// The lane value that holds Width matrices' worth of the storage scalar T.
template <class T, int Width>
struct lane_value {
  using type = Pack<arithmetic_t<T>, Width>;
};
template <class T>
struct lane_value<T, 1> {
  using type = arithmetic_t<T>;
};
template <class R, int Width>
struct lane_value<Kokkos::complex<R>, Width> {
  using type = Complex<typename lane_value<R, Width>::type>;
};
template <class R>
struct lane_value<Kokkos::complex<R>, 1> {
  using type = Complex<R>;
};
template <class T, int Width>
using lane_value_t = typename lane_value<T, Width>::type;

/// Reads or writes one slot of a lane value. What is read has the type of the arithmetic: to be
/// stored it is cast to the storage scalar, which rounds the 16-bit ones; they widen by themselves.
template <class R>
  requires std::is_arithmetic_v<R>
KOKKOS_FUNCTION R get_slot(R v, int) {
  return v;
}
template <class E, int Width>
KOKKOS_FUNCTION E get_slot(const Pack<E, Width>& v, int slot) {
  return v[slot];
}
template <class R>
KOKKOS_FUNCTION auto get_slot(const Complex<R>& v, int slot) {
  return Kokkos::complex<number_t<R>>(get_slot(v.re, slot), get_slot(v.im, slot));
}
template <class R>
  requires std::is_floating_point_v<R>
KOKKOS_FUNCTION void set_slot(R& v, int, std::type_identity_t<R> x) {
  v = x;
}
template <class E, int Width>
KOKKOS_FUNCTION void set_slot(Pack<E, Width>& v, int slot, std::type_identity_t<E> x) {
  v.set(slot, x);
}
template <class R>
KOKKOS_FUNCTION void set_slot(Complex<R>& v, int slot, const Kokkos::complex<number_t<R>>& x) {
  set_slot(v.re, slot, x.real());
  set_slot(v.im, slot, x.imag());
}

/// Slot i ^ Distance in each slot i, and so on as of packs.
template <int Distance, class R>
KOKKOS_FUNCTION Complex<R> flip_slots(const Complex<R>& x) {
  return {flip_slots<Distance>(x.re), flip_slots<Distance>(x.im)};
}
template <int Bit, class R>
KOKKOS_FUNCTION void trade_slots(Complex<R>& a, Complex<R>& b) {
  trade_slots<Bit>(a.re, b.re);
  trade_slots<Bit>(a.im, b.im);
}
template <int Slot, class R>
KOKKOS_FUNCTION void put_slot(Complex<R>& x, const Complex<R>& y) {
  put_slot<Slot>(x.re, y.re);
  put_slot<Slot>(x.im, y.im);
}
/// One slot of a lane value in every slot.
template <class E, int Width>
KOKKOS_FUNCTION Pack<E, Width> spread_slot(const Pack<E, Width>& x, int slot) {
  return Pack<E, Width>(E(x.v[slot]));
}
template <class R>
KOKKOS_FUNCTION Complex<R> spread_slot(const Complex<R>& x, int slot) {
  return {spread_slot(x.re, slot), spread_slot(x.im, slot)};
}

/// The storage scalar x in every slot.
template <class V, class T>
KOKKOS_FUNCTION V broadcast(const T& x) {
  if constexpr (is_complex_v<V>) return V(real_t<V>(x.real()), real_t<V>(x.imag()));
  else return V(static_cast<number_t<V>>(x));
}

// --- selection and reduction of truth values
// -----------------------------------------------------------

template <class V>
KOKKOS_FUNCTION V select(bool m, const V& a, const V& b) {
  return m ? a : b;
}
template <class E, int Width, class I>
KOKKOS_FUNCTION Pack<E, Width> select(const PackMask<I, Width>& m, const Pack<E, Width>& a,
                                      const Pack<E, Width>& b) {
  return Pack<E, Width>(vector_select(m.v, a.v, b.v));
}
template <class E, int Width, class I>
KOKKOS_FUNCTION Complex<Pack<E, Width>> select(const PackMask<I, Width>& m,
                                               const Complex<Pack<E, Width>>& a,
                                               const Complex<Pack<E, Width>>& b) {
  return {select(m, a.re, b.re), select(m, a.im, b.im)};
}

KOKKOS_INLINE_FUNCTION bool any_of(bool m) { return m; }
template <class I, int Width>
KOKKOS_FUNCTION bool any_of(const PackMask<I, Width>& m) {
  // In words: there are fewer of them than slots, or as many.
  struct Words {
    std::uint64_t word[sizeof(m.v) / sizeof(std::uint64_t)];
  };
  const auto words = Kokkos::bit_cast<Words>(m.v);
  std::uint64_t all = 0;
  for (const std::uint64_t word : words.word) all |= word;
  return all != 0;
}

/// Exchanges a and b in the slots where m holds.
template <class M, class V>
KOKKOS_FUNCTION void swap_where(const M& m, V& a, V& b) {
  const V t = select(m, a, b);
  a = select(m, b, a);
  b = t;
}

// --- real functions
// ------------------------------------------------------------------------------------

template <class R>
  requires std::is_floating_point_v<R>
KOKKOS_FUNCTION R square_root(R x) {
  return Kokkos::sqrt(x);
}
template <class E, int Width>
KOKKOS_FUNCTION Pack<E, Width> square_root(Pack<E, Width> x) {
  for (int i = 0; i < Width; ++i) x.v[i] = Kokkos::sqrt(x.v[i]);
  return x;
}

/// 1 / sqrt(x) to within two units in the last place.
template <class R>
  requires std::is_floating_point_v<R>
KOKKOS_FUNCTION R reciprocal_sqrt(R x) {
  return Kokkos::rsqrt(x);
}
template <class E, int Width>
KOKKOS_FUNCTION Pack<E, Width> reciprocal_sqrt(Pack<E, Width> x) {
  return Pack<E, Width>(E(1)) / square_root(x);
}

template <class R>
  requires std::is_floating_point_v<R>
KOKKOS_FUNCTION R magnitude(R x) {
  return Kokkos::fabs(x);
}
template <class E, int Width>
KOKKOS_FUNCTION Pack<E, Width> magnitude(Pack<E, Width> x) {
  const Pack<E, Width> zero(E(0));
  return select(x > zero, x, zero - x); // 0 - x is +0 also for x = -0
}

template <class R>
KOKKOS_FUNCTION R maximum(const R& a, const R& b) {
  return select(a < b, b, a);
}

/// |magnitude| with the sign of s; a zero s counts as positive.
template <class R>
KOKKOS_FUNCTION R with_sign(const R& magnitude, const R& s) {
  return select(s < R(0), -magnitude, magnitude);
}

// --- exponents
// -----------------------------------------------------------------------------------------

template <class E>
struct format; // the IEEE binary format of a number
template <>
struct format<float> {
  static constexpr int mantissa = 23, bias = 127;
};
template <>
struct format<double> {
  static constexpr int mantissa = 52, bias = 1023;
};

template <class R>
  requires std::is_floating_point_v<R>
KOKKOS_FUNCTION integer_t<R> bits_of(R x) {
  return Kokkos::bit_cast<integer_t<R>>(x);
}
template <class E, int Width>
KOKKOS_FUNCTION auto bits_of(const Pack<E, Width>& x) {
  using I = Pack<typename integer_of<E>::type, Width>;
  return I(vector_bit_cast<typename I::Vector>(x.v));
}
template <class R, class I>
  requires std::is_floating_point_v<R>
KOKKOS_FUNCTION R from_bits(I x) {
  return Kokkos::bit_cast<R>(x);
}
template <class R, class I, int Width>
KOKKOS_FUNCTION R from_bits(const Pack<I, Width>& x) {
  return R(vector_bit_cast<typename R::Vector>(x.v));
}

template <class I>
  requires std::is_integral_v<I>
KOKKOS_FUNCTION I shift_left(I x, int s) {
  return I(std::make_unsigned_t<I>(x) << s);
}
template <class I, int Width>
KOKKOS_FUNCTION Pack<I, Width> shift_left(const Pack<I, Width>& x, int s) {
  return Pack<I, Width>(typename Pack<I, Width>::Vector(x.v << s));
}
template <class I>
  requires std::is_integral_v<I>
KOKKOS_FUNCTION I shift_right(I x, int s) {
  return x >> s;
}
template <class I, int Width>
KOKKOS_FUNCTION Pack<I, Width> shift_right(const Pack<I, Width>& x, int s) {
  return Pack<I, Width>(typename Pack<I, Width>::Vector(x.v >> s));
}

/// floor(log2 x) for normal x > 0, -bias for zero and subnormal x.
template <class R>
KOKKOS_FUNCTION integer_t<R> exponent(const R& x) {
  using F = format<number_t<R>>;
  return shift_right(bits_of(x), F::mantissa) - integer_t<R>(F::bias);
}

/// 2^e, exact where that is a normal number, 0 where e is less and 2^bias where it is more.
template <class R>
KOKKOS_FUNCTION R power_of_two(const integer_t<R>& e) {
  using I = integer_t<R>;
  using F = format<number_t<R>>;
  const I biased = e + I(F::bias);
  const I top = select(biased > I(2 * F::bias), I(2 * F::bias), biased);
  return from_bits<R>(shift_left(select(top < I(1), I(0), top), F::mantissa));
}

/// x * 2^e rounded once, for any e whose half is an exponent of a normal number.
template <class R>
KOKKOS_FUNCTION R scale_by_power_of_two(const R& x, const integer_t<R>& e) {
  const integer_t<R> half = shift_right(e, 1);
  return x * power_of_two<R>(half) * power_of_two<R>(e - half);
}

/// An integer that orders numbers of the form sqrt(x) * 2^e, x >= 0, without taking the root:
/// larger number, larger key (numbers that differ in the last bit of x may share one). Zero x gives
/// the smallest key. e may be at most the format's bias; from -2 bias down, e does not count.
template <class R>
KOKKOS_FUNCTION integer_t<R> magnitude_key(const R& x, const integer_t<R>& e) {
  using I = integer_t<R>;
  using F = format<number_t<R>>;
  using Word = typename integer_of<number_t<R>>::type;
  // What is left of columns that depend on others falls by the rounding unit with each of them.
  const I least(-2 * F::bias);
  const I key = shift_right(bits_of(x), 1) + shift_left(select(e < least, least, e), F::mantissa);
  return select(x > R(0), key, I(std::numeric_limits<Word>::min()));
}

// --- real and complex alike
// ----------------------------------------------------------------------------

template <class V>
KOKKOS_FUNCTION real_t<V> real_part(const V& x) {
  if constexpr (is_complex_v<V>) return x.re;
  else return x;
}
template <class V>
KOKKOS_FUNCTION V conjugate(const V& x) {
  if constexpr (is_complex_v<V>) return V(x.re, -x.im);
  else return x;
}
/// |x|^2, without a square root.
template <class V>
KOKKOS_FUNCTION real_t<V> norm_squared(const V& x) {
  if constexpr (is_complex_v<V>) return x.re * x.re + x.im * x.im;
  else return x * x;
}
/// The largest magnitude among the real and imaginary parts.
template <class V>
KOKKOS_FUNCTION real_t<V> max_part(const V& x) {
  if constexpr (is_complex_v<V>) return maximum(magnitude(x.re), magnitude(x.im));
  else return magnitude(x);
}
/// 0 for a finite x, NaN for any other.
template <class V>
KOKKOS_FUNCTION real_t<V> poison(const V& x) {
  using R = real_t<V>;
  if constexpr (is_complex_v<V>) return x.re * R(0) + x.im * R(0);
  else return x * R(0);
}
/// a * b + c, of complex numbers in four fused operations: fewer than a product and a sum take, and
/// less rounding.
template <class V>
KOKKOS_FUNCTION V multiply_add(const V& a, const V& b, const V& c) {
  if constexpr (is_complex_v<V>)
    return V(c.re + a.re * b.re - a.im * b.im, c.im + a.re * b.im + a.im * b.re);
  else return c + a * b;
}
/// conj(a) * b + c
template <class V>
KOKKOS_FUNCTION V conj_multiply_add(const V& a, const V& b, const V& c) {
  if constexpr (is_complex_v<V>)
    return V(c.re + a.re * b.re + a.im * b.im, c.im + a.re * b.im - a.im * b.re);
  else return c + a * b;
}
/// 1 / x where |x|^2 neither overflows nor underflows.
template <class V>
KOKKOS_FUNCTION V reciprocal(const V& x) {
  if constexpr (is_complex_v<V>) return (real_t<V>(1) / norm_squared(x)) * conjugate(x);
  else return V(1) / x;
}
/// x / |x|, 1 where x = 0. |x|^2 must not overflow; where it is so small that its bits are being
/// lost to underflow the phase is 1 too: of length 1 in any case.
template <class V>
KOKKOS_FUNCTION V phase_of(const V& x) {
  using R = real_t<V>;
  if constexpr (is_complex_v<V>) {
    using Limits = std::numeric_limits<number_t<V>>;
    const R x2 = norm_squared(x);
    const auto tiny = x2 < R(Limits::min() / Limits::epsilon());
    const R size2 = select(tiny, R(1), x2);
    // One step of Newton: hardware's reciprocal square root may be off by two bits, and vectors are
    // multiplied by phases.
    R inverse = reciprocal_sqrt(size2);
    inverse += R(number_t<V>(0.5)) * inverse * (R(1) - size2 * inverse * inverse);
    return select(tiny, V(R(1)), inverse * x);
  } else {
    return with_sign(R(1), x);
  }
}
/// A phase, times the number near 1 that makes a vector of squared length size2 near 1 one of
/// length 1: multiplication by a phase adds rounding of its own, and this takes out more than that.
/// Real phases are exact and stay as they are.
template <class V>
KOKKOS_FUNCTION V unit_length(const V& phase, const real_t<V>& size2) {
  using R = real_t<V>;
  if constexpr (is_complex_v<V>)
    return (R(1) + R(number_t<V>(0.5)) * (R(1) - size2 * norm_squared(phase))) * phase;
  else return phase;
}
/// The real number r as a V.
template <class V>
KOKKOS_FUNCTION V from_real(const real_t<V>& r) {
  if constexpr (is_complex_v<V>) return V(r, real_t<V>(0));
  else return r;
}

/// Whether a number (not a pack) is exactly zero.
template <class V>
KOKKOS_FUNCTION bool is_zero(const V& x) {
  if constexpr (is_complex_v<V>) return x.re == real_t<V>(0) && x.im == real_t<V>(0);
  else return x == V(0);
}

/// NaN, in both parts of a complex number.
template <class T>
KOKKOS_FUNCTION T not_a_number() {
  constexpr number_t<T> nan = std::numeric_limits<number_t<T>>::quiet_NaN();
  if constexpr (is_complex_v<T>) return T(nan, nan);
  else return static_cast<T>(nan);
}

/// The unit roundoff u: half the distance from 1 to the next number.
template <class R>
inline constexpr number_t<R> unit_roundoff = std::numeric_limits<number_t<R>>::epsilon() / 2;

} // namespace shoal::detail

#endif
