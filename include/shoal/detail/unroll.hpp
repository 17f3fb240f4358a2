// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_UNROLL_HPP
#define SHOAL_DETAIL_UNROLL_HPP

#include <Kokkos_Core.hpp>
#include <type_traits>

/// \file
/// Unrolling: only in fully unrolled loops do arrays that are indexed by the loop stay in
/// registers. The compilers spell the request differently; GCC unrolls short loops of constant
/// length by itself.
#if defined(__CUDACC__) || defined(__clang__)
#define SHOAL_UNROLL _Pragma("unroll")
#define SHOAL_DO_NOT_UNROLL _Pragma("unroll 1")
// For loops of run-time length only.
#define SHOAL_UNROLL_BY_2 _Pragma("unroll 2")
#define SHOAL_UNROLL_BY_4 _Pragma("unroll 4")
#else
#define SHOAL_UNROLL
#define SHOAL_DO_NOT_UNROLL
#define SHOAL_UNROLL_BY_2
#define SHOAL_UNROLL_BY_4
#endif

namespace shoal::detail {

/// An extent that is known at compile time, of loops that are not to be unrolled: the matrix is in
/// memory, and the code would grow with the square of its size.
template <int N>
struct Rolled {
  KOKKOS_FUNCTION constexpr operator int() const { return N; }
};
template <class Extent>
inline constexpr bool is_unrolled = !std::is_same_v<Extent, int>;
template <int N>
inline constexpr bool is_unrolled<Rolled<N>> = false;

/// The same extent of the inner loops along one column, which are unrolled where it is known.
template <class Extent>
KOKKOS_FUNCTION constexpr Extent along(Extent n) {
  return n;
}
template <int N>
KOKKOS_FUNCTION constexpr std::integral_constant<int, N> along(Rolled<N>) {
  return {};
}

/// f(from), ..., f(to - 1): unrolled where `to` is a std::integral_constant, and a plain loop where
/// it is a number or Rolled, since unrolling that costs registers and gains nothing.
template <class Extent, class F>
KOKKOS_FUNCTION void loop(int from, Extent to, const F& f) {
  if constexpr (!is_unrolled<Extent>) {
    SHOAL_DO_NOT_UNROLL
    for (int i = from; i < to; ++i) f(i);
  } else {
    SHOAL_UNROLL
    for (int i = from; i < to; ++i) f(i);
  }
}

/// f(k + 1), ..., f(n - 1) inside of a loop over rows: unrolled where n is known, so that what f
/// keeps for each column stays in registers.
template <class Extent, class F>
KOKKOS_FUNCTION void columns_after(int k, Extent n, const F& f) {
  loop(k + 1, n, f);
}
template <int N, class F>
KOKKOS_FUNCTION void columns_after(int k, Rolled<N>, const F& f) {
  SHOAL_UNROLL
  for (int j = 0; j < N; ++j)
    if (j > k) f(j);
}

/// begin(), row(from), ..., row(to - 1), end() for sums over rows that begin() sets to zero and
/// end() adds to a total: once where `to` is known at compile time, else in blocks. Rounding then
/// grows with a part of the length, which matters where all terms have one sign (norms, constant
/// columns).
template <class Extent, class Begin, class Row, class End>
KOKKOS_FUNCTION void in_blocks(int from, Extent to, const Begin& begin, const Row& row,
                               const End& end) {
  if constexpr (is_unrolled<Extent>) {
    begin();
    SHOAL_UNROLL
    for (int i = from; i < to; ++i) row(i);
    end();
  } else {
    constexpr int block = 16;
    for (int first = from; first < to; first += block) {
      const int last = first + block < to ? first + block : to;
      begin();
      SHOAL_UNROLL_BY_2
      for (int i = first; i < last; ++i) row(i);
      end();
    }
  }
}

/// f(0), ..., f(to - 1) for to <= n: unrolled where n is.
template <class Extent, class F>
KOKKOS_FUNCTION void loop_before(int to, Extent, const F& f) {
  if constexpr (is_unrolled<Extent>) {
    SHOAL_UNROLL
    for (int i = 0; i < to; ++i) f(i);
  } else {
    SHOAL_DO_NOT_UNROLL
    for (int i = 0; i < to; ++i) f(i);
  }
}

/// f(from) + ... + f(to - 1). A run-time number of terms is summed in blocks: rounding then grows
/// with the sixteenth part of the length, which matters where all terms have one sign (norms,
/// constant columns).
template <class V, class Extent, class F>
KOKKOS_FUNCTION V sum(int from, Extent to, const V& zero, const F& f) {
  V total = zero;
  if constexpr (!is_unrolled<Extent>) {
    constexpr int block = 16;
    for (int begin = from; begin < to; begin += block) {
      const int end = begin + block < to ? begin + block : to;
      V part = f(begin);
      SHOAL_DO_NOT_UNROLL
      for (int i = begin + 1; i < end; ++i) part += f(i);
      total += part;
    }
  } else {
    SHOAL_UNROLL
    for (int i = from; i < to; ++i) total += f(i);
  }
  return total;
}

} // namespace shoal::detail

#endif
