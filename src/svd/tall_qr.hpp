// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_TALL_QR_HPP
#define SHOAL_SRC_SVD_TALL_QR_HPP

#include "src/svd/deal.hpp"

#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/fast_divide.hpp>
#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>
#include <shoal/lane/svd.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

/// \file
/// Q R of a block of rows in the registers of a group of lanes, each with its share of the rows: A
/// is read once, and what is needed of Q is written once. One pass over the rows gives the products
/// of a column with all others, those done already among them, from which come its reflector, the
/// multiples to subtract, and V^H V: with that, Q X is one product with V (Puglisi, Modification of
/// the Householder method based on the compact WY representation, 1992; Joffrain et al.,
/// Accumulating Householder transformations, revisited, 2006). The triangles of the blocks of one
/// matrix, one below the other, are a matrix of the same singular values (Demmel, Grigori, Hoemmen,
/// Langou, Communication-optimal parallel and sequential QR and LU factorizations, 2012).
///
/// Columns are scaled one by one. Where rows differ in scale, columns and rows are chosen by size,
/// so that the error is small row by row too (Cox and Higham, Stability of Householder QR
/// factorization for weighted least squares problems, 1998). The row of a reflector stays where it
/// is: each row knows its step.
namespace shoal::detail {

/// Columns that are updated, or left alone, together.
inline constexpr int tall_chunk = 4;

/// The scratch of one group, in bytes.
constexpr std::size_t tall_scratch_bytes(int columns, int lanes, std::size_t scalar_bytes,
                                         std::size_t real_bytes) {
  const auto cols = static_cast<std::size_t>(columns);
  const auto rows = static_cast<std::size_t>(columns > lanes ? columns : lanes);
  const auto align = [](std::size_t bytes) { return (bytes + 15) / 16 * 16; };
  // A square or a tile of rows; the right side and W; and what a step is made of.
  return align(rows * (cols | 1) * scalar_bytes) + 2 * align(cols * cols * scalar_bytes) +
         align(cols * (real_bytes + 2 * sizeof(int)));
}

/// What the group leaves of a block of rows in the workspace.
template <class V>
struct TallBlock {
  V* reflectors;       ///< entry (i, j) of V at ((i / lanes) n + j) lanes + i % lanes
  unsigned char* step; ///< of each row
  V* square;     ///< n x n by columns: V's own rows below the diagonal, tau on it, V^H V above
  int* exponent; ///< R is scaled by 2^exponent
};

/// \tparam Cols  most columns
/// \tparam Rows  rows that a lane holds
template <class T, class Group, int Cols, int Rows>
class TallQr {
public:
  using V = lane_value_t<T, 1>;
  using R = real_t<V>;
  using I = integer_t<V>;
  static constexpr int lanes = Group::lanes;
  static constexpr int most_rows = Rows * lanes;

  /// scratch: tall_scratch_bytes
  KOKKOS_FUNCTION TallQr(char* scratch, int n)
      : m_cols(n), m_rank(Group::rank()), m_square(reinterpret_cast<V*>(scratch)) {
    constexpr auto align = [](std::size_t bytes) { return (bytes + 15) / 16 * 16; };
    constexpr std::size_t square = align((Cols > lanes ? Cols : lanes) * (Cols | 1) * sizeof(V));
    constexpr std::size_t side = align(std::size_t(Cols) * Cols * sizeof(V));
    m_right = reinterpret_cast<V*>(scratch + square);
    m_w = reinterpret_cast<V*>(scratch + square + side);
    m_scale = reinterpret_cast<R*>(scratch + square + 2 * side);
    m_exponent = reinterpret_cast<int*>(m_scale + Cols);
    m_column = m_exponent + Cols;
  }

  /// A = Q R; R to `r` (n x n, its columns in the order of A's), scaled, with NaN in it where A is
  /// not finite. `keep`: whether Q is wanted later.
  KOKKOS_FUNCTION void factor(const MatrixRef<const T>& a, const MatrixRef<T>& r, bool keep,
                              const TallBlock<V>& block) const {
    const auto m = static_cast<int>(a.rows);
    Held x;
    int step[Rows];
    bool graded;
    const R not_finite = load(a, m, x, step, graded);
    int common = lowest;
    for (int j = 0; j < m_cols; ++j) common = m_exponent[j] > common ? m_exponent[j] : common;
    if (m_rank == 0) *block.exponent = common;
    SHOAL_DO_NOT_UNROLL
    for (int k = 0; k < m_cols; ++k) {
      if (graded) choose_pivots(x, step, k);
      reflect(x, step, k, graded, [&](int column, const V& entry) {
        r(k, column) = to_storage(scaled(entry, m_exponent[column] - common) + V(not_finite));
      });
    }
    Group::sync();
    if (keep) store_q(x, step, m, block);
    Group::sync(); // before the next block
  }

  /// U = Q X, X the n x u.cols rows of `right`.
  KOKKOS_FUNCTION void apply(const TallBlock<V>& block, const MatrixRef<const T>& right,
                             const MatrixRef<T>& u, const FastDivide& by_u_cols) const {
    const auto m = static_cast<int>(u.rows), u_cols = static_cast<int>(u.cols);
    for (int e = m_rank; e < m_cols * m_cols; e += lanes) m_square[e] = block.square[e];
    for (int k = 0; k < m_cols; ++k)
      for (int c = m_rank; c < Cols; c += lanes) {
        V v(R(0));
        if (c < u_cols) set_slot(v, 0, right(k, c));
        m_right[k * Cols + c] = v;
      }
    Group::sync();
    solve();
    constexpr int together = Rows % 2 == 0 ? 2 : 1;
    SHOAL_DO_NOT_UNROLL
    for (int first = 0; first < m; first += together * lanes) {
      V y[together][Cols];
      SHOAL_UNROLL
      for (int t = 0; t < together; ++t) {
        const int row = first + t * lanes + m_rank;
        const int step = row < m ? block.step[row] : Cols;
        SHOAL_UNROLL
        for (int c = 0; c < Cols; ++c) y[t][c] = step < m_cols ? m_right[step * Cols + c] : V(R(0));
      }
      const V* v = block.reflectors + first * m_cols + m_rank;
      SHOAL_DO_NOT_UNROLL
      for (int k = 0; k < m_cols; ++k) {
        V q[together];
        SHOAL_UNROLL
        for (int t = 0; t < together; ++t)
          q[t] = first + t * lanes < m ? -v[(t * m_cols + k) * lanes] : V(R(0));
        SHOAL_UNROLL
        for (int c = 0; c < Cols; ++c) {
          const V w = m_w[k * Cols + c];
          SHOAL_UNROLL
          for (int t = 0; t < together; ++t) y[t][c] = multiply_add(q[t], w, y[t][c]);
        }
      }
      SHOAL_UNROLL
      for (int t = 0; t < together; ++t)
        store_rows(y[t], first + t * lanes, m, u_cols, u, by_u_cols);
    }
    Group::sync(); // before the next block
  }

private:
  static_assert(Cols % tall_chunk == 0);
  /// At step k place p holds column k + p; those that are done follow, in their order.
  struct Held {
    V x[Cols][Rows];
  };

  int m_cols, m_rank;
  V* m_square; ///< see TallBlock; then a tile of rows
  V* m_right;  ///< X by rows; in factor the row in work
  V* m_w;      ///< W by rows; in factor the multiples to subtract
  R* m_scale;
  int* m_exponent;
  int* m_column; ///< of A that stands at k

  KOKKOS_FUNCTION V& square(int i, int j) const { return m_square[j * m_cols + i]; }

  /// Returns 0, or NaN where an entry is not finite. `graded`: rows differ in scale.
  KOKKOS_FUNCTION R load(const MatrixRef<const T>& a, int m, Held& x, int (&step)[Rows],
                         bool& graded) const {
    R not_finite(0), top[Cols];
    SHOAL_UNROLL
    for (int c = 0; c < Cols; ++c) top[c] = R(0);
    SHOAL_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const int row = m_rank + r * lanes;
      step[r] = row < m ? Cols : 2 * Cols;
      SHOAL_UNROLL
      for (int c = 0; c < Cols; ++c) {
        V v(R(0));
        if (row < m && c < m_cols) set_slot(v, 0, a(row, c));
        x.x[c][r] = v;
        not_finite += poison(v);
        top[c] = maximum(top[c], max_part(v));
      }
    }
    deal<Group>(top, Maximum());
    const int mine = first_dealt_value<Cols, lanes>(m_rank);
    SHOAL_UNROLL
    for (int h = 0; h < dealt_values<Cols, lanes>(); ++h) {
      if (!is_first_holder<Cols, lanes>(m_rank)) continue;
      const I e = lane::detail::exponent_to_take<V>(top[h]);
      m_scale[mine + h] = power_of_two<R>(-e);
      m_exponent[mine + h] = top[h] > R(0) ? static_cast<int>(e) : lowest;
      m_column[mine + h] = mine + h;
    }
    Group::sync();
    bool low = false;
    SHOAL_UNROLL
    for (int r = 0; r < Rows; ++r) {
      R largest(0);
      SHOAL_UNROLL
      for (int c = 0; c < Cols; ++c) {
        x.x[c][r] = m_scale[c] * x.x[c][r];
        largest = maximum(largest, max_part(x.x[c][r]));
      }
      low = low || (largest > R(0) && largest < R(number_t<V>(0x1p-5)));
    }
    not_finite = over_lanes<Group>(not_finite, Sum());
    graded = Group::any(low) && not_finite == R(0);
    return not_finite;
  }

  /// Scales columns whose remaining rows have become small, brings the one of largest entry to
  /// place 0, and makes the row of that entry the one of step k.
  KOKKOS_FUNCTION void choose_pivots(Held& x, int (&step)[Rows], int k) const {
    R top[Cols];
    SHOAL_UNROLL
    for (int c = 0; c < Cols; ++c) {
      top[c] = R(0);
      SHOAL_UNROLL
      for (int r = 0; r < Rows; ++r)
        if (step[r] >= Cols) top[c] = maximum(top[c], max_part(x.x[c][r]));
    }
    deal<Group>(top, Maximum());
    const int mine = first_dealt_value<Cols, lanes>(m_rank);
    Candidate<I> best{magnitude_key(R(0), I(0)), 0};
    bool low = false;
    SHOAL_UNROLL
    for (int h = 0; h < dealt_values<Cols, lanes>(); ++h) {
      const int place = mine + h;
      if (k + place >= m_cols || !is_first_holder<Cols, lanes>(m_rank)) continue;
      const bool small = top[h] < R(number_t<V>(0x1p-20));
      const I e = small ? lane::detail::exponent_to_take<V>(top[h]) : I(0);
      int& exponent = m_exponent[m_column[k + place]];
      exponent += static_cast<int>(e);
      m_scale[place] = power_of_two<R>(-e);
      low = low || small;
      const R near_1 = m_scale[place] * top[h];
      best = better(best, Candidate<I>{magnitude_key(near_1 * near_1, I(exponent)), place});
    }
    const int pivot = best_over_lanes<Group>(best);
    low = Group::any(low);
    Group::sync();
    SHOAL_UNROLL
    for (int c = 0; c < Cols; ++c) {
      if (!low || k + c >= m_cols) continue;
      SHOAL_UNROLL
      for (int r = 0; r < Rows; ++r)
        if (step[r] >= Cols) x.x[c][r] = m_scale[c] * x.x[c][r];
    }
    SHOAL_UNROLL
    for (int c = 1; c < Cols; ++c) {
      if (c != pivot) continue;
      SHOAL_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const V v = x.x[0][r];
        x.x[0][r] = x.x[c][r];
        x.x[c][r] = v;
      }
    }
    if (m_rank == 0) {
      const int column = m_column[k];
      m_column[k] = m_column[k + pivot];
      m_column[k + pivot] = column;
    }
    Candidate<R> row{R(-1), 0};
    SHOAL_UNROLL
    for (int r = 0; r < Rows; ++r)
      if (step[r] == Cols)
        row = better(row, Candidate<R>{norm_squared(x.x[0][r]), m_rank + r * lanes});
    const int pivot_row = best_over_lanes<Group>(row);
    SHOAL_UNROLL
    for (int r = 0; r < Rows; ++r)
      if (m_rank + r * lanes == pivot_row) step[r] = k;
  }

  /// Step k: H = I - tau v v^H with v = 1 in the row of the step. From the products of the column
  /// below that row come its norm, tau, the multiples of v to subtract, and the products with the
  /// reflectors before. store(column, entry) for each entry of row k of R.
  template <class Store>
  KOKKOS_FUNCTION void reflect(Held& x, int (&step)[Rows], int k, bool graded,
                               const Store& store) const {
    V dot[Cols];
    SHOAL_UNROLL
    for (int c = 0; c < Cols; ++c) dot[c] = V(R(0));
    SHOAL_UNROLL
    for (int r = 0; r < Rows; ++r) {
      if (!graded && m_rank + r * lanes == k) step[r] = k;
      if (step[r] == k) {
        SHOAL_UNROLL
        for (int c = 0; c < Cols; ++c) m_right[c] = x.x[c][r];
      }
      const V v = step[r] > k ? x.x[0][r] : V(R(0));
      SHOAL_UNROLL
      for (int c = 0; c < Cols; ++c) dot[c] = conj_multiply_add(v, x.x[c][r], dot[c]);
    }
    deal<Group>(dot, Sum());
    const R tail2 = Group::from(real_part(dot[0]), 0);
    Group::sync();
    const V alpha = m_right[0];
    const R norm2 = norm_squared(alpha) + tail2;
    // Far below rounding, since columns are scaled, and its square would lose bits.
    using Limits = std::numeric_limits<number_t<V>>;
    const bool zero = norm2 < R(Limits::min() / Limits::epsilon());
    const V beta = zero ? alpha : -(square_root(norm2) * phase_of(alpha));
    const V inverse = reciprocal(zero ? V(R(1)) : alpha - beta);
    const R tau = zero ? R(0) : R(2) / (R(1) + norm_squared(inverse) * tail2);
    const int mine = first_dealt_value<Cols, lanes>(m_rank), left = Cols - k;
    SHOAL_UNROLL
    for (int h = 0; h < dealt_values<Cols, lanes>(); ++h) {
      if (!is_first_holder<Cols, lanes>(m_rank)) continue;
      const int place = mine + h;
      const V y = conj_multiply_add(inverse, dot[h], m_right[place]); // v^H of that column
      const V w = tau * y;
      if (place < left) {
        m_w[place] = w;
        if (k + place < m_cols) store(m_column[k + place], place == 0 ? beta : m_right[place] - w);
      } else {
        m_w[place] = V(R(0));
        square(place - left, k) = conjugate(y);
        store(m_column[place - left], V(R(0)));
      }
    }
    if (m_rank == 0) square(k, k) = from_real<V>(tau);
    Group::sync();
    V v[Rows];
    SHOAL_UNROLL
    for (int r = 0; r < Rows; ++r)
      v[r] = step[r] > k ? x.x[0][r] * inverse : V(R(step[r] == k ? 1 : 0));
    SHOAL_UNROLL
    for (int first = 0; first < Cols; first += tall_chunk) {
      Group::sync(); // else the compiler reads all of m_w at once, into registers that x needs
      if (first < left) {
        SHOAL_UNROLL
        for (int c = first; c < first + tall_chunk; ++c) {
          if (c == 0) continue;
          const V w = -m_w[c];
          SHOAL_UNROLL
          for (int r = 0; r < Rows; ++r) x.x[c - 1][r] = multiply_add(v[r], w, x.x[c][r]);
        }
      } else {
        SHOAL_UNROLL
        for (int c = first; c < first + tall_chunk; ++c) {
          if (c == 0) continue;
          SHOAL_UNROLL
          for (int r = 0; r < Rows; ++r) x.x[c - 1][r] = x.x[c][r];
        }
      }
    }
    SHOAL_UNROLL
    for (int r = 0; r < Rows; ++r) x.x[Cols - 1][r] = v[r];
  }

  /// After the last step column j of V stands in place j + Cols - n.
  KOKKOS_FUNCTION void store_q(const Held& x, const int (&step)[Rows], int m,
                               const TallBlock<V>& block) const {
    SHOAL_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const int row = m_rank + r * lanes;
      if (r * lanes >= m) continue;
      if (row < m) block.step[row] = static_cast<unsigned char>(step[r]);
      SHOAL_UNROLL
      for (int c = 0; c < Cols; ++c) {
        const int j = c - (Cols - m_cols);
        if (j < 0) continue;
        block.reflectors[(r * m_cols + j) * lanes + m_rank] = x.x[c][r];
        if (j < step[r] && step[r] < m_cols) square(step[r], j) = x.x[c][r];
      }
    }
    Group::sync();
    for (int e = m_rank; e < m_cols * m_cols; e += lanes) block.square[e] = m_square[e];
  }

  /// W = T V^H [X; 0], column by column: T^-1 is V^H V above the diagonal, and 1 / tau on it.
  KOKKOS_FUNCTION void solve() const {
    for (int k = m_cols - 1; k >= 0; --k) {
      const V tau = square(k, k);
      for (int c = m_rank; c < Cols; c += lanes) {
        V b = m_right[k * Cols + c];
        for (int i = k + 1; i < m_cols; ++i) {
          b = conj_multiply_add(square(i, k), m_right[i * Cols + c], b);
          b = multiply_add(-square(k, i), m_w[i * Cols + c], b);
        }
        m_w[k * Cols + c] = tau * b;
      }
    }
    Group::sync(); // the square becomes a tile
  }

  /// Rows from `first` on, one of each lane: through scratch where rows, not columns, are
  /// contiguous in memory.
  KOKKOS_FUNCTION void store_rows(const V (&y)[Cols], int first, int m, int u_cols,
                                  const MatrixRef<T>& u, const FastDivide& by_u_cols) const {
    const int count = m - first < lanes ? m - first : lanes;
    if (u.col_stride != 1 || lanes == 1) {
      SHOAL_UNROLL
      for (int c = 0; c < Cols; ++c)
        if (m_rank < count && c < u_cols) u(first + m_rank, c) = to_storage(y[c]);
      return;
    }
    constexpr int pitch = Cols | 1;
    SHOAL_UNROLL
    for (int c = 0; c < Cols; ++c) m_square[m_rank * pitch + c] = y[c];
    Group::sync();
    for (int e = m_rank; e < count * u_cols; e += lanes) {
      const auto row = static_cast<int>(by_u_cols(static_cast<unsigned>(e)));
      const int c = e - row * u_cols;
      u(first + row, c) = to_storage(m_square[row * pitch + c]);
    }
    Group::sync();
  }

  /// Of a block of zeros.
  static constexpr int lowest = -format<number_t<V>>::bias;

  KOKKOS_FUNCTION static V scaled(const V& x, int e) {
    if constexpr (is_complex_v<V>)
      return V(scale_by_power_of_two(x.re, I(e)), scale_by_power_of_two(x.im, I(e)));
    else return scale_by_power_of_two(x, I(e));
  }
  KOKKOS_FUNCTION static T to_storage(const V& x) { return static_cast<T>(get_slot(x, 0)); }
};

} // namespace shoal::detail

#endif
