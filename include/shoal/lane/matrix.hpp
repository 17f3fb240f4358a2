// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_LANE_MATRIX_HPP
#define SHOAL_LANE_MATRIX_HPP

#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>

/// \file
/// Where a lane keeps a matrix. Every type here has get(i, j), set(i, j, v), swap_where(mask, i, j,
/// k, l) and swap_rows(k, r, m, from, to), so that lane algorithms run on registers and on memory
/// alike.
namespace shoal::lane {

/// Rows x Cols lane values in registers (where every index is a constant after unrolling).
template <class V, int Rows, int Cols>
struct RegisterMatrix {
  using Value = V;
  V values[Rows * Cols];

  KOKKOS_FUNCTION V get(int i, int j) const { return values[i * Cols + j]; }
  KOKKOS_FUNCTION void set(int i, int j, const V& v) { values[i * Cols + j] = v; }

  /// Exchanges entries (i, j) and (k, l) in the lanes where the mask holds.
  template <class M>
  KOKKOS_FUNCTION void swap_where(const M& mask, int i, int j, int k, int l) {
    shoal::detail::swap_where(mask, values[i * Cols + j], values[k * Cols + l]);
  }

  /// Exchanges rows k and r >= k of columns [from, to). Each lane has an r of its own, so every row
  /// is visited: registers cannot be indexed by a run-time number.
  template <class I>
  KOKKOS_FUNCTION void swap_rows(int k, const I& r, int m, int from, int to) {
    SHOAL_UNROLL
    for (int i = k + 1; i < m; ++i) {
      const auto here = r == I(i);
      if (!shoal::detail::any_of(here)) continue;
      SHOAL_UNROLL
      for (int j = from; j < to; ++j)
        shoal::detail::swap_where(here, values[k * Cols + j], values[i * Cols + j]);
    }
  }
};

/// Lane values in memory with a run-time number of columns: Packs side by side (OpenMP).
template <class V>
struct MemoryMatrix {
  using Value = V;
  V* data;
  int cols;

  KOKKOS_FUNCTION V& at(int i, int j) const { return data[i * cols + j]; }
  KOKKOS_FUNCTION V get(int i, int j) const { return at(i, j); }
  KOKKOS_FUNCTION void set(int i, int j, const V& v) const { at(i, j) = v; }

  template <class M>
  KOKKOS_FUNCTION void swap_where(const M& mask, int i, int j, int k, int l) const {
    shoal::detail::swap_where(mask, at(i, j), at(k, l));
  }

  /// Writes each slot of v to column j[slot] of row i.
  template <class I>
  KOKKOS_FUNCTION void scatter(int i, const I& j, const V& v) const {
    using namespace shoal::detail;
    for (int slot = 0; slot < lane_width<V>; ++slot)
      set_slot(at(i, static_cast<int>(get_slot(j, slot))), slot, get_slot(v, slot));
  }

  template <class I>
  KOKKOS_FUNCTION void swap_rows(int k, const I& r, int, int from, int to) const {
    using namespace shoal::detail;
    for (int slot = 0; slot < lane_width<V>; ++slot) {
      const int other = static_cast<int>(get_slot(r, slot));
      if (other == k) continue;
      for (int j = from; j < to; ++j) {
        const auto t = get_slot(at(k, j), slot);
        set_slot(at(k, j), slot, get_slot(at(other, j), slot));
        set_slot(at(other, j), slot, t);
      }
    }
  }
};

} // namespace shoal::lane

#endif
