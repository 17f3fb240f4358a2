// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_PACK_HPP
#define SHOAL_DETAIL_PACK_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

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

/// What comparing two packs gives: all bits set in the slots where it holds.
template <class I, int Width>
struct PackMask {
  typedef I Vector __attribute__((vector_size(Width * sizeof(I))));
  Vector v;

  PackMask() = default;
  KOKKOS_FUNCTION PackMask(Vector x) : v(x) {}
  KOKKOS_FUNCTION PackMask(bool x) : v(Vector{} - I(x)) {}

  KOKKOS_FUNCTION bool operator[](int i) const { return v[i] != 0; }
  friend KOKKOS_FUNCTION PackMask operator&&(PackMask a, PackMask b) { return a.v & b.v; }
  friend KOKKOS_FUNCTION PackMask operator||(PackMask a, PackMask b) { return a.v | b.v; }
  friend KOKKOS_FUNCTION PackMask operator!(PackMask a) { return ~a.v; }
};

/// Width numbers side by side, one for each lane of a CPU core's vector unit. The compiler's vector
/// extension is used because it keeps values in vector registers on every -march, where arrays and
/// loops only sometimes do.
template <class E, int Width>
struct Pack {
  typedef E Vector __attribute__((vector_size(Width * sizeof(E))));
  using Element = E;
  using Mask = PackMask<typename integer_of<E>::type, Width>;
  static constexpr int width = Width;

  Vector v;

  Pack() = default;
  KOKKOS_FUNCTION Pack(Vector x) : v(x) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  KOKKOS_FUNCTION Pack(Number x) : v(Vector{} + static_cast<E>(x)) {}

  KOKKOS_FUNCTION E operator[](int i) const { return v[i]; }
  KOKKOS_FUNCTION void set(int i, E x) { v[i] = x; }

  KOKKOS_FUNCTION Pack& operator+=(Pack b) { v = v + b.v; return *this; }
  KOKKOS_FUNCTION Pack& operator-=(Pack b) { v = v - b.v; return *this; }
  KOKKOS_FUNCTION Pack& operator*=(Pack b) { v = v * b.v; return *this; }
  friend KOKKOS_FUNCTION Pack operator+(Pack a, Pack b) { return a.v + b.v; }
  friend KOKKOS_FUNCTION Pack operator-(Pack a, Pack b) { return a.v - b.v; }
  friend KOKKOS_FUNCTION Pack operator*(Pack a, Pack b) { return a.v * b.v; }
  friend KOKKOS_FUNCTION Pack operator/(Pack a, Pack b) { return a.v / b.v; }
  friend KOKKOS_FUNCTION Pack operator-(Pack a) { return -a.v; }
  friend KOKKOS_FUNCTION Mask operator<(Pack a, Pack b) { return Mask(a.v < b.v); }
  friend KOKKOS_FUNCTION Mask operator>(Pack a, Pack b) { return Mask(a.v > b.v); }
  friend KOKKOS_FUNCTION Mask operator<=(Pack a, Pack b) { return Mask(a.v <= b.v); }
  friend KOKKOS_FUNCTION Mask operator>=(Pack a, Pack b) { return Mask(a.v >= b.v); }
  friend KOKKOS_FUNCTION Mask operator==(Pack a, Pack b) { return Mask(a.v == b.v); }
};

} // namespace shoal::detail

#endif
