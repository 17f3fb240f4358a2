// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_HALF_HPP
#define SHOAL_HALF_HPP

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>

/// \file
/// The 16-bit scalars. They are for storage: batches of them take half the memory and bandwidth of
/// float, and whatever is computed with them is computed in float and rounded once, where it is
/// stored. Kokkos' own 16-bit types are names for float in builds without a GPU.
namespace shoal {

namespace detail {

/// a where the condition holds, else b. By masks: compilers turn other forms into branches around
/// the computation of a or b, and then leave loops as they are.
KOKKOS_INLINE_FUNCTION std::uint32_t choose(bool condition, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t mask = 0u - static_cast<std::uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

/// The nearest number of IEEE binary16, ties to the even one, where no instruction does it.
KOKKOS_INLINE_FUNCTION std::uint16_t portable_half_bits(float x) {
  const auto all = Kokkos::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = all >> 16 & 0x8000u, size = all & 0x7fffffffu;
  // The exponent's bias is less by 112. Just under half of the last place that is kept, and one
  // more where it is odd: what carries into that place rounds it.
  const std::uint32_t normal = (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
  // The last place of floats from 1/2 to 1 is that of subnormals here: the addition rounds.
  const std::uint32_t subnormal =
      Kokkos::bit_cast<std::uint32_t>(Kokkos::bit_cast<float>(size) + 0.5f) - (126u << 23);
  const std::uint32_t large = choose(size > 0x7f800000u, 0x7e00u | (size >> 13 & 0x3ffu), 0x7c00u);
  const std::uint32_t result =
      choose(size < 113u << 23, subnormal, choose(size < 143u << 23, normal, large));
  return static_cast<std::uint16_t>(sign | result);
}

KOKKOS_INLINE_FUNCTION float portable_half_value(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, size = bits & 0x7fffu;
  const auto subnormal = Kokkos::bit_cast<std::uint32_t>(static_cast<float>(size) * 0x1p-24f);
  const std::uint32_t normal = (size << 13) + (112u << 23), large = size << 13 | 0x7f800000u;
  const std::uint32_t result =
      choose(size < 1u << 10, subnormal, choose(size < 31u << 10, normal, large));
  return Kokkos::bit_cast<float>(sign | result);
}

/// On a device Kokkos has the instructions for it.
KOKKOS_INLINE_FUNCTION std::uint16_t half_bits(float x) {
  KOKKOS_IF_ON_DEVICE((using Native = Kokkos::Experimental::half_t::impl_type;
                       return Kokkos::bit_cast<std::uint16_t>(
                           static_cast<Native>(Kokkos::Experimental::cast_to_half(x)));))
  KOKKOS_IF_ON_HOST((return portable_half_bits(x);))
}
KOKKOS_INLINE_FUNCTION float half_value(std::uint16_t bits) {
  KOKKOS_IF_ON_DEVICE((using Native = Kokkos::Experimental::half_t::impl_type;
                       return Kokkos::Experimental::cast_from_half<float>(
                           Kokkos::Experimental::half_t(Kokkos::bit_cast<Native>(bits)));))
  KOKKOS_IF_ON_HOST((return portable_half_value(bits);))
}

/// The nearest bfloat16, ties to the even one: the upper half of a float.
KOKKOS_INLINE_FUNCTION std::uint16_t bfloat16_bits(float x) {
  const auto all = Kokkos::bit_cast<std::uint32_t>(x);
  const bool nan = (all & 0x7fffffffu) > 0x7f800000u;
  return static_cast<std::uint16_t>((nan ? all | 0x400000u : all + 0x7fffu + (all >> 16 & 1u)) >>
                                    16);
}

KOKKOS_INLINE_FUNCTION float bfloat16_value(std::uint16_t bits) {
  return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

} // namespace detail

/// IEEE binary16, "half precision": 11 bits of precision, u = 2^-11, up to 65504; bit for bit what
/// CUDA's __half, the languages' float16_t and NumPy's float16 are.
///
/// From float it rounds to nearest, ties to even; beyond the range to Inf, and NaN stays NaN. To
/// float it converts by itself and exactly, so that expressions with it are computed in float.
struct half {
  std::uint16_t bits;

  half() = default;
  KOKKOS_FUNCTION explicit half(float x) : bits(detail::half_bits(x)) {}
  KOKKOS_FUNCTION operator float() const { return detail::half_value(bits); }

  KOKKOS_FUNCTION static constexpr half from_bits(std::uint16_t bits) {
    half x{};
    x.bits = bits;
    return x;
  }
};

/// bfloat16, the upper half of a float: 8 bits of precision, u = 2^-8, and float's range; bit for
/// bit CUDA's __nv_bfloat16. Conversions as those of \ref half.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  KOKKOS_FUNCTION explicit bfloat16(float x) : bits(detail::bfloat16_bits(x)) {}
  KOKKOS_FUNCTION operator float() const { return detail::bfloat16_value(bits); }

  KOKKOS_FUNCTION static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 x{};
    x.bits = bits;
    return x;
  }
};

namespace detail {

template <class T>
struct arithmetic {
  using type = T;
};
template <>
struct arithmetic<half> {
  using type = float;
};
template <>
struct arithmetic<bfloat16> {
  using type = float;
};

} // namespace detail

/// The type that is computed with where T is stored: float for half and bfloat16, else T itself.
/// alpha and beta of \ref gemm and the values of \ref svd have it.
template <class T>
using arithmetic_t = typename detail::arithmetic<T>::type;

namespace detail {

/// Whether T is stored only, and converted for arithmetic.
template <class T>
inline constexpr bool is_converted = !std::is_same_v<arithmetic_t<T>, T>;

/// The limits of an IEEE binary format of 16 bits; the flags are those of float.
template <class T, int Mantissa, int Bias>
struct Limits16 : std::numeric_limits<float> {
  static constexpr int digits = Mantissa + 1;
  static constexpr int digits10 = Mantissa * 30103 / 100000;
  static constexpr int max_digits10 = digits * 30103 / 100000 + 2;
  static constexpr int min_exponent = 2 - Bias;
  static constexpr int min_exponent10 = (min_exponent - 1) * 30103 / 100000;
  static constexpr int max_exponent = Bias + 1;
  static constexpr int max_exponent10 = max_exponent * 30103 / 100000;

  static constexpr T denorm_min() noexcept { return T::from_bits(1); }
  static constexpr T min() noexcept { return T::from_bits(1 << Mantissa); }
  static constexpr T max() noexcept { return T::from_bits(top - 1); }
  static constexpr T lowest() noexcept { return T::from_bits(0x8000 | (top - 1)); }
  static constexpr T epsilon() noexcept { return T::from_bits((Bias - Mantissa) << Mantissa); }
  static constexpr T round_error() noexcept { return T::from_bits((Bias - 1) << Mantissa); }
  static constexpr T infinity() noexcept { return T::from_bits(top); }
  static constexpr T quiet_NaN() noexcept { return T::from_bits(top | 1 << (Mantissa - 1)); }
  static constexpr T signaling_NaN() noexcept { return T::from_bits(top | 1); }

private:
  static constexpr int top = (2 * Bias + 1) << Mantissa; // Inf
};

} // namespace detail
} // namespace shoal

template <>
struct std::numeric_limits<shoal::half> : shoal::detail::Limits16<shoal::half, 10, 15> {};
template <>
struct std::numeric_limits<shoal::bfloat16> : shoal::detail::Limits16<shoal::bfloat16, 7, 127> {};

#endif
