// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_PACK_HPP
#define SHOAL_DETAIL_PACK_HPP

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace shoal::detail {

/// The signed integer of a real type's width: it holds exponents and comparison keys.
template <class E>
struct integer_of {
  using type = E;
};
template <>
struct integer_of<float> {
  using type = std::int32_t;
};
template <>
struct integer_of<double> {
  using type = std::int64_t;
};

// --- vectors: what a Pack is made of
// -------------------------------------------------------------------- Width numbers with
// elementwise operators; comparisons give integers of 0 and -1.

#if defined(__CUDACC__)

/// CUDA compilers refuse the host's vector types in functions that are also device functions, so in
/// their builds a vector is an array, and how well the CPU code vectorises is up to the host
/// compiler.
template <class E, int Width>
struct ArrayVector {
  using I = typename integer_of<E>::type;
  alignas(Width * sizeof(E)) E e[Width];

  template <class R = E, class F>
  KOKKOS_FUNCTION static ArrayVector<R, Width> make(const F& f) {
    ArrayVector<R, Width> r;
    for (int i = 0; i < Width; ++i) r.e[i] = static_cast<R>(f(i));
    return r;
  }
  KOKKOS_FUNCTION E operator[](int i) const { return e[i]; }
  KOKKOS_FUNCTION E& operator[](int i) { return e[i]; }
#define SHOAL_ELEMENTWISE(OP, RESULT, SIGN)                                                        \
  friend KOKKOS_FUNCTION ArrayVector<RESULT, Width> operator OP(const ArrayVector & a,             \
                                                                const ArrayVector & b) {           \
    return make<RESULT>([&](int i) { return SIGN(a.e[i] OP b.e[i]); });                            \
  }
  SHOAL_ELEMENTWISE(+, E, +)
  SHOAL_ELEMENTWISE(-, E, +)
  SHOAL_ELEMENTWISE(*, E, +)
  SHOAL_ELEMENTWISE(/, E, +)
  SHOAL_ELEMENTWISE(&, E, +)
  SHOAL_ELEMENTWISE(|, E, +)
  SHOAL_ELEMENTWISE(<, I, -)
  SHOAL_ELEMENTWISE(>, I, -)
  SHOAL_ELEMENTWISE(<=, I, -)
  SHOAL_ELEMENTWISE(>=, I, -)
  SHOAL_ELEMENTWISE(==, I, -)
#undef SHOAL_ELEMENTWISE
  friend KOKKOS_FUNCTION ArrayVector operator+(const ArrayVector& a, E b) {
    return make([&](int i) { return a.e[i] + b; });
  }
  friend KOKKOS_FUNCTION ArrayVector operator<<(const ArrayVector& a, int s) {
    return make([&](int i) { return std::make_unsigned_t<E>(a.e[i]) << s; });
  }
  friend KOKKOS_FUNCTION ArrayVector operator>>(const ArrayVector& a, int s) {
    return make([&](int i) { return a.e[i] >> s; });
  }
  KOKKOS_FUNCTION ArrayVector operator-() const {
    return make([&](int i) { return -e[i]; });
  }
  KOKKOS_FUNCTION ArrayVector operator~() const {
    return make([&](int i) { return ~e[i]; });
  }
};

template <class E, int Width>
struct vector_of {
  using type = ArrayVector<E, Width>;
};
template <class I, class E, int Width>
KOKKOS_FUNCTION ArrayVector<E, Width> vector_select(const ArrayVector<I, Width>& m,
                                                    const ArrayVector<E, Width>& a,
                                                    const ArrayVector<E, Width>& b) {
  return ArrayVector<E, Width>::make([&](int i) { return m.e[i] ? a.e[i] : b.e[i]; });
}
template <class V, class E>
KOKKOS_FUNCTION V vector_splat(E x) {
  return V::template make<E>([&](int) { return x; });
}
template <class To, class From, int Width>
KOKKOS_FUNCTION To vector_bit_cast(const ArrayVector<From, Width>& x) {
  return Kokkos::bit_cast<To>(x);
}
template <int Distance, class E, int Width>
KOKKOS_FUNCTION ArrayVector<E, Width> vector_flip(const ArrayVector<E, Width>& x) {
  return ArrayVector<E, Width>::make([&](int i) { return x.e[i ^ Distance]; });
}
template <int Bit, class E, int Width>
KOKKOS_FUNCTION void vector_trade(ArrayVector<E, Width>& a, ArrayVector<E, Width>& b) {
  for (int i = 0; i < Width; ++i) {
    if (i & Bit) continue;
    const E x = a.e[i | Bit];
    a.e[i | Bit] = b.e[i];
    b.e[i] = x;
  }
}
template <int Slot, class E, int Width>
KOKKOS_FUNCTION void vector_put(ArrayVector<E, Width>& x, const ArrayVector<E, Width>& y) {
  x.e[Slot] = y.e[Slot];
}

#else

/// The compiler's vector extension keeps values in vector registers on every -march, where loops
/// over arrays only sometimes do (measured: docs/performance-log.md).
template <class E, int Width>
struct vector_of {
  typedef E type __attribute__((vector_size(Width * sizeof(E))));
};
template <class M, class V>
V vector_select(const M& m, const V& a, const V& b) {
  return m ? a : b;
}
/// x - 0 is x whatever its sign, so that nothing is left to compute (0 + x is not -0 for x = -0).
template <class V, class E>
V vector_splat(E x) {
  return x - V{};
}
template <class To, class From>
To vector_bit_cast(const From& x) {
  return (To)x;
}
/// f of the numbers of slots, as a pack of arguments.
template <class V, class F>
auto with_slots(const F& f) {
  return [&]<int... Slots>(std::integer_sequence<int, Slots...>) {
    return f.template operator()<Slots...>();
  }(std::make_integer_sequence<int, static_cast<int>(sizeof(V) / sizeof(V{}[0]))>());
}
template <int Distance, class V>
V vector_flip(const V& x) {
  return with_slots<V>(
      [&]<int... Slots>() { return __builtin_shufflevector(x, x, (Slots ^ Distance)...); });
}
template <int Bit, class V>
void vector_trade(V& a, V& b) {
  with_slots<V>([&]<int... Slots>() {
    const V first = __builtin_shufflevector(
        a, b, (Slots & Bit ? static_cast<int>(sizeof...(Slots)) + (Slots ^ Bit) : Slots)...);
    b = __builtin_shufflevector(
        a, b, (Slots & Bit ? static_cast<int>(sizeof...(Slots)) + Slots : Slots ^ Bit)...);
    a = first;
  });
}
template <int Slot, class V>
void vector_put(V& x, const V& y) {
  with_slots<V>([&]<int... Slots>() {
    x = __builtin_shufflevector(
        x, y, (Slots == Slot ? static_cast<int>(sizeof...(Slots)) + Slots : Slots)...);
  });
}

#endif

// --- packs
// ----------------------------------------------------------------------------------------------

/// What comparing two packs gives: all bits set in the slots where it holds.
template <class I, int Width>
struct PackMask {
  using Vector = typename vector_of<I, Width>::type;
  Vector v;

  PackMask() = default;
  KOKKOS_FUNCTION PackMask(const Vector& x) : v(x) {}
  KOKKOS_FUNCTION PackMask(bool x) : v(Vector{} + -I(x)) {}

  KOKKOS_FUNCTION bool operator[](int i) const { return v[i] != 0; }
  friend KOKKOS_FUNCTION PackMask operator&&(const PackMask& a, const PackMask& b) {
    return Vector(a.v & b.v);
  }
  friend KOKKOS_FUNCTION PackMask operator||(const PackMask& a, const PackMask& b) {
    return Vector(a.v | b.v);
  }
  friend KOKKOS_FUNCTION PackMask operator!(const PackMask& a) { return Vector(~a.v); }
};

/// Width numbers side by side, one for each lane of a CPU core's vector unit.
template <class E, int Width>
struct Pack {
  using Vector = typename vector_of<E, Width>::type;
  using Element = E;
  using Mask = PackMask<typename integer_of<E>::type, Width>;
  static constexpr int width = Width;

  Vector v;

  Pack() = default;
  KOKKOS_FUNCTION Pack(const Vector& x) : v(x) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  KOKKOS_FUNCTION Pack(Number x) : v(vector_splat<Vector>(static_cast<E>(x))) {}

  KOKKOS_FUNCTION E operator[](int i) const { return v[i]; }
  KOKKOS_FUNCTION void set(int i, E x) { v[i] = x; }

  KOKKOS_FUNCTION Pack& operator+=(const Pack& b) {
    v = v + b.v;
    return *this;
  }
  KOKKOS_FUNCTION Pack& operator-=(const Pack& b) {
    v = v - b.v;
    return *this;
  }
  KOKKOS_FUNCTION Pack& operator*=(const Pack& b) {
    v = v * b.v;
    return *this;
  }
  friend KOKKOS_FUNCTION Pack operator+(const Pack& a, const Pack& b) { return Vector(a.v + b.v); }
  friend KOKKOS_FUNCTION Pack operator-(const Pack& a, const Pack& b) { return Vector(a.v - b.v); }
  friend KOKKOS_FUNCTION Pack operator*(const Pack& a, const Pack& b) { return Vector(a.v * b.v); }
  friend KOKKOS_FUNCTION Pack operator/(const Pack& a, const Pack& b) { return Vector(a.v / b.v); }
  friend KOKKOS_FUNCTION Pack operator-(const Pack& a) { return Vector(-a.v); }
  friend KOKKOS_FUNCTION Mask operator<(const Pack& a, const Pack& b) { return Mask(a.v < b.v); }
  friend KOKKOS_FUNCTION Mask operator>(const Pack& a, const Pack& b) { return Mask(a.v > b.v); }
  friend KOKKOS_FUNCTION Mask operator<=(const Pack& a, const Pack& b) { return Mask(a.v <= b.v); }
  friend KOKKOS_FUNCTION Mask operator>=(const Pack& a, const Pack& b) { return Mask(a.v >= b.v); }
  friend KOKKOS_FUNCTION Mask operator==(const Pack& a, const Pack& b) { return Mask(a.v == b.v); }
};

/// Slot i ^ Distance of x in each slot i. Distance is a power of two less than the width.
template <int Distance, class E, int Width>
KOKKOS_FUNCTION Pack<E, Width> flip_slots(const Pack<E, Width>& x) {
  return vector_flip<Distance>(x.v);
}

/// Slots 0 and 1 exchanged, 2 and 3, and so on; the width is even.
template <class E, int Width>
KOKKOS_FUNCTION Pack<E, Width> exchange_neighbours(const Pack<E, Width>& x) {
  return flip_slots<1>(x);
}

/// The slots of a whose number has the bit against the slots of b that have not: a matrix of two
/// by two blocks transposed.
template <int Bit, class E, int Width>
KOKKOS_FUNCTION void trade_slots(Pack<E, Width>& a, Pack<E, Width>& b) {
  vector_trade<Bit>(a.v, b.v);
}

/// x[Slot] = y[Slot]
template <int Slot, class E, int Width>
KOKKOS_FUNCTION void put_slot(Pack<E, Width>& x, const Pack<E, Width>& y) {
  vector_put<Slot>(x.v, y.v);
}

} // namespace shoal::detail

#endif
