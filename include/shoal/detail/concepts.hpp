// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_CONCEPTS_HPP
#define SHOAL_DETAIL_CONCEPTS_HPP

#include <shoal/config.hpp>
#include <shoal/half.hpp>

#include <Kokkos_Core.hpp>
#include <type_traits>

/// \file
/// What the public calls ask of their arguments at compile time, and the messages for what is
/// refused.
namespace shoal::detail {

template <class Exec>
inline constexpr bool is_supported_space =
#if SHOAL_ENABLE_CUDA
    std::is_same_v<Exec, Kokkos::Cuda> ||
#endif
#if SHOAL_ENABLE_OPENMP
    std::is_same_v<Exec, Kokkos::OpenMP> ||
#endif
    false;

template <class T>
inline constexpr bool is_supported_scalar =
    std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, Kokkos::complex<float>> || std::is_same_v<T, Kokkos::complex<double>> ||
    std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

template <class T>
inline constexpr bool is_complex_scalar = false;
template <class R>
inline constexpr bool is_complex_scalar<Kokkos::complex<R>> = true;

template <class View>
using scalar_of = typename View::non_const_value_type;
template <class View>
using arithmetic_of = arithmetic_t<scalar_of<View>>;

/// The real type that a scalar is computed with.
template <class Scalar>
struct real_of {
  using type = arithmetic_t<Scalar>;
};
template <class R>
struct real_of<Kokkos::complex<R>> {
  using type = R;
};
template <class View>
using real_scalar_of = typename real_of<scalar_of<View>>::type;

template <class View, int Rank>
constexpr bool is_view_of_rank() {
  if constexpr (Kokkos::is_view_v<View>) return View::rank() == Rank;
  else return false;
}

template <class View>
inline constexpr bool is_writable = std::is_same_v<typename View::value_type, scalar_of<View>>;

template <class Exec, class... Views>
inline constexpr bool are_accessible =
    (Kokkos::SpaceAccessibility<Exec, typename Views::memory_space>::accessible && ...);

} // namespace shoal::detail

#endif
