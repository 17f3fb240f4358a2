// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_COEFFICIENT_HPP
#define SHOAL_DETAIL_COEFFICIENT_HPP

#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/checks.hpp>
#include <shoal/detail/concepts.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace shoal::detail {

/// alpha or beta of a product: a value that the call was given, or a number in memory that is read
/// when the work runs, one for all matrices or one for each. T is the scalar of the matrices.
template <class T>
struct Coefficient {
  using Number = arithmetic_t<T>;
  Number value = Number(0);
  const Number* data = nullptr; ///< null: the value
  std::int64_t stride = 0;

  KOKKOS_FUNCTION Number of(std::int64_t matrix) const {
    return data ? data[matrix * stride] : value;
  }
  /// Whether matrices have coefficients of their own.
  KOKKOS_FUNCTION bool differs() const { return data && stride != 0; }
};

template <class X>
inline constexpr bool is_coefficient_view = is_view_of_rank<X, 0>() || is_view_of_rank<X, 1>();

/// X: a number, or a view of rank 0 or 1.
template <class T, class X>
Coefficient<T> coefficient(const X& x) {
  if constexpr (is_view_of_rank<X, 0>()) return {{}, x.data(), 0};
  else if constexpr (is_view_of_rank<X, 1>())
    return {{}, x.data(), static_cast<std::int64_t>(x.stride(0))};
  else return {static_cast<arithmetic_t<T>>(x), nullptr, 0};
}

/// Not present where x is a number.
template <class X>
BatchShape coefficient_shape(const char* name, const X& x) {
  BatchShape s;
  s.name = name;
  s.present = is_coefficient_view<X>;
  if constexpr (is_coefficient_view<X>) {
    s.data = x.data();
    s.extent[0] = X::rank() == 1 ? static_cast<std::int64_t>(x.extent(0)) : 1;
    s.element_size = sizeof(typename X::value_type);
    if constexpr (X::rank() == 1) s.stride[0] = static_cast<std::int64_t>(x.stride(0));
  }
  return s;
}

} // namespace shoal::detail

#endif
