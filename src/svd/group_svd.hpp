// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_GROUP_SVD_HPP
#define SHOAL_SRC_SVD_GROUP_SVD_HPP

#include "src/svd/deal.hpp"

#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/concepts.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>
#include <shoal/lane/svd.hpp>
#include <shoal/plan.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// The singular value decomposition of one matrix by the lanes of a group: a few neighbouring lanes
/// of a warp, each with its share of the rows. The algorithm is that of lane/svd.hpp. A lies in
/// scratch while the pivoted QR works on it. Jacobi works in registers: every lane holds its rows
/// of all columns of L and J, a pair of columns is turned by each lane alone, and only dot products
/// and the rotations made from them travel between lanes.
///
/// Pairs meet in odd-even order (F. T. Luk and H. Park, On parallel Jacobi orderings, 1989): the
/// columns (0, 1), (2, 3), ... are turned and exchanged, then (1, 2), (3, 4), ..., in turns. After
/// as many rounds as there are columns each pair has met once, and the columns stand in reverse
/// order. Which registers meet is known at compile time, and the exchange costs nothing.
///
/// All groups of a warp go through the same steps together. What one does for another's sake leaves
/// its own bits alone.
namespace shoal::detail {

/// Columns that are summed, dealt out and turned at once.
inline constexpr int group_chunk = 8;

struct GroupInstance {
  int columns, lanes;
};

/// The scratch of one matrix of m x n, m >= n, in bytes.
struct GroupSvdSize {
  std::size_t tile = 0;   ///< A and the left vectors in work
  std::size_t square = 0; ///< J, then V^H
  std::size_t small = 0;  ///< norms, scales, rotations: O(n)

  GroupSvdSize(std::int64_t m, std::int64_t n, GroupInstance instance, std::size_t scalar_bytes,
               std::size_t real_bytes, bool completed) {
    const auto align = [](std::size_t bytes) { return (bytes + 15) / 16 * 16; };
    const auto cols = static_cast<std::size_t>(instance.columns);
    const std::int64_t extra = completed ? std::min<std::int64_t>(m - n, group_chunk) : 0;
    tile = align(static_cast<std::size_t>((m | 1) * (n + extra)) * scalar_bytes);
    square = align((cols | 1) * cols * scalar_bytes);
    small = cols * align(real_bytes + 3 * scalar_bytes) + // rotations of two rounds
            align(cols * (5 * real_bytes + 2 * scalar_bytes + 2 * sizeof(int)));
    // The same entry of neighbouring matrices lies in neighbouring banks.
    constexpr std::size_t banks = 128;
    const std::size_t shift = static_cast<std::size_t>(instance.lanes) * scalar_bytes % banks;
    const std::size_t bytes = tile + square + small;
    tile += (bytes + banks - 1) / banks * banks + align(shift) - bytes;
  }
  KOKKOS_FUNCTION std::size_t total() const { return tile + square + small; }
};

template <class T, class Group, int Cols>
class GroupSvd {
public:
  using V = lane_value_t<T, 1>;
  using R = real_t<V>;
  using I = integer_t<V>;
  static constexpr int lanes = Group::lanes;
  /// Rows of L and J that a lane holds.
  static constexpr int held_rows = (Cols + lanes - 1) / lanes;
  static_assert(Cols % 2 == 0);

  KOKKOS_FUNCTION GroupSvd(char* tile, char* square, char* small, int m, int n, bool left_vectors)
      : m_rows(m), m_cols(n), m_left(left_vectors), m_rank(Group::rank()),
        m_tolerance_squared(lane::detail::orthogonality_tolerance_squared<R>(n)),
        m_a{reinterpret_cast<V*>(tile), m | 1}, m_square{reinterpret_cast<V*>(square), Cols | 1},
        m_small(*reinterpret_cast<Small*>(small)) {}

  /// Matrix b of the batch; a group without one (`present` false) decomposes zeros. The references
  /// to its operands are made where they are used: they would take the registers of many columns.
  /// \return info, in every lane
  KOKKOS_FUNCTION int decompose(bool present, const SvdArguments<T>& batch, std::int64_t b,
                                const lane::SvdRequest& request) {
    const R not_finite = load(present, batch.a.matrix(b));
    factor();
    Columns l;
    load_l(l);
    Rotations j(*this);
    if (m_left) {
      SHOAL_UNROLL
      for (int c = 0; c < Cols; ++c) {
        SHOAL_UNROLL
        for (int r = 0; r < held_rows; ++r) j.set(c, r, V(R(c == row_at(r) ? 1 : 0)));
      }
    }
    bool converged, reversed;
    const int sweeps = jacobi(l, j, request, converged, reversed);
    // Where the column in place c belongs; those from m_cols on are padding.
    const auto place = [&](int c) { return reversed ? Cols - 1 - c : c; };

    const bool finite = not_finite == R(0);
    if (request.off_norm) {
      const R off_norm = square_root(off_norm_squared()) + not_finite;
      if (present && m_rank == 0) batch.details.off_norm.store(b, off_norm);
    }
    finish_values(l, place);
    const bool right = present && request.right_vectors;
    if (request.signs == lane::SignRule::right) find_right_phases(l, place);
    // L leaves its registers before U needs them.
    if (right)
      store_right_vectors(l, place, batch.vt.matrix(b), request.signs == lane::SignRule::right,
                          not_finite);
    if (m_left) {
      j.to_square(*this, reversed, request.signs == lane::SignRule::right);
      reorthogonalise();
      complete_left_vectors(present, batch.u, b, not_finite);
      form_q();
      multiply_left_vectors();
      if (request.signs == lane::SignRule::left) {
        fix_left_phases();
        if (right) turn_right_vectors(batch.vt.matrix(b));
      }
      const auto u_cols = static_cast<int>(batch.u.cols);
      if (present)
        store(batch.u.matrix(b), m_rows, m_cols < u_cols ? m_cols : u_cols,
              [&](int i, int k) { return m_a.get(i, k) + V(not_finite); });
    }
    if (present) store_values(batch.s.matrix(b), R(number_t<V>(request.tolerance)), not_finite);
    if (request.details && present && m_rank == 0) {
      batch.details.sweeps.store(b, finite ? sweeps : 0);
      batch.details.rank.store(b,
                               finite ? rank(lane::detail::rank_tolerance<V>(request, m_rows)) : 0);
    }
    return !finite ? svd_not_finite : converged ? 0 : sweeps;
  }

private:
  static constexpr int pairs = Cols / 2;
  /// Whether L alone takes the registers that a lane has for columns.
  static constexpr bool j_in_scratch =
      2 * Cols * held_rows * sizeof(V) > Group::template register_bytes<V>;
  /// Pairs dealt out to the lanes: filled up, so that none is dealt to two lanes.
  static constexpr int pair_slots = [] {
    int slots = 1;
    while (slots < pairs && slots < lanes) slots *= 2;
    return (pairs + slots - 1) / slots * slots;
  }();

  /// A matrix in scratch, by columns; lanes walk along rows.
  struct Tile {
    V* data;
    int pitch; ///< odd: columns side by side start in different banks
    KOKKOS_FUNCTION V& at(int i, int j) const { return data[j * pitch + i]; }
    KOKKOS_FUNCTION V get(int i, int j) const { return at(i, j); }
    KOKKOS_FUNCTION void set(int i, int j, const V& v) const { at(i, j) = v; }
  };

  /// Rows of all columns, in registers.
  struct Columns {
    V x[Cols][held_rows];
    KOKKOS_FUNCTION V get(int c, int r) const { return x[c][r]; }
    KOKKOS_FUNCTION void set(int c, int r, const V& v) { x[c][r] = v; }
  };
  /// J in registers.
  struct HeldRotations : Columns {
    KOKKOS_FUNCTION explicit HeldRotations(const GroupSvd&) {}

    /// Leaves J in the square, in the order of the results; times the phases if `turned`.
    KOKKOS_FUNCTION void to_square(const GroupSvd& svd, bool reversed, bool turned) const {
      Group::sync();
      SHOAL_UNROLL
      for (int c = 0; c < Cols; ++c) {
        const int k = reversed ? Cols - 1 - c : c;
        if (k >= svd.m_cols) continue;
        SHOAL_UNROLL
        for (int r = 0; r < held_rows; ++r) {
          const V v = turned ? svd.m_small.phase[k] * this->get(c, r) : this->get(c, r);
          if (svd.row_at(r) < svd.m_cols) svd.m_square.set(svd.row_at(r), k, v);
        }
      }
      Group::sync();
    }
  };
  /// J in the square from the start.
  struct ScratchRotations {
    V* row;
    int rows; ///< of this lane
    KOKKOS_FUNCTION explicit ScratchRotations(const GroupSvd& svd)
        : row(&svd.m_square.at(svd.m_rank, 0)), rows((Cols - svd.m_rank + lanes - 1) / lanes) {}
    KOKKOS_FUNCTION V get(int c, int r) const {
      return r < rows ? row[c * pitch + r * lanes] : V(R(0));
    }
    KOKKOS_FUNCTION void set(int c, int r, const V& v) const {
      if (r < rows) row[c * pitch + r * lanes] = v;
    }
    KOKKOS_FUNCTION void to_square(const GroupSvd& svd, bool reversed, bool turned) const {
      for (int c = 0; c < pairs && reversed; ++c)
        for (int r = 0; r < rows; ++r)
          exchange(row[c * pitch + r * lanes], row[(Cols - 1 - c) * pitch + r * lanes]);
      for (int k = 0; k < svd.m_cols && turned; ++k)
        for (int r = 0; r < rows; ++r) set(k, r, svd.m_small.phase[k] * get(k, r));
      Group::sync();
    }
    static constexpr int pitch = Cols | 1;
  };
  using Rotations = std::conditional_t<j_in_scratch, ScratchRotations, HeldRotations>;

  /// The rotation of two neighbouring columns a, b of L and x, y of J, exchanged:
  /// a := first a + c b, b := c a + second b; x := unscaled x + c y, y := c x - conj(unscaled) y.
  struct alignas(16) Turn {
    R c;
    V first, second, unscaled;
  };

  /// What is kept of each column, and the rotations of an even and of an odd round.
  struct Small {
    Turn turns[2 * pairs];
    V factor[Cols]; ///< what multiplies the columns in work
    V phase[Cols];  ///< what the sign rule multiplies the columns of V by
    R norm[Cols];   ///< squared norms of the columns in work; in the end the singular values
    R tau[Cols];
    R inverse[Cols];  ///< of the norms of L's columns, in the end
    I scale[Cols];    ///< of the columns of A
    I exponent[Cols]; ///< of the columns of L
    int row[Cols];    ///< exchanged with row k before reflector k
    int column[Cols]; ///< of A that stands at k
  };

  int m_rows, m_cols;
  bool m_left;
  int m_rank;
  R m_tolerance_squared;
  Tile m_a, m_square;
  Small& m_small;

  KOKKOS_FUNCTION int row_at(int r) const { return m_rank + r * lanes; }
  /// This lane's first row, or column, from `from` on.
  KOKKOS_FUNCTION int first_of(int from) const {
    return from + ((m_rank - from) & (lanes - 1)); // lanes is a power of two
  }

  /// use(j, sum) in the lane that holds the sum over rows [first_row, rows) of term(i, j), for the
  /// columns [from, to).
  template <class X, class Term, class Use>
  KOKKOS_FUNCTION void sum_columns(int first_row, int rows, int from, int to, const Term& term,
                                   const Use& use) const {
    for (int first = from; first < to; first += group_chunk) {
      X sum[group_chunk];
      SHOAL_UNROLL
      for (int c = 0; c < group_chunk; ++c) sum[c] = X(R(0));
      SHOAL_DO_NOT_UNROLL
      for (int i = first_of(first_row); i < rows; i += lanes) {
        SHOAL_UNROLL
        for (int c = 0; c < group_chunk; ++c)
          if (first + c < to) sum[c] += term(i, first + c);
      }
      deal_to_columns(sum, first, to, use);
    }
  }
  template <class X, class Use, class Combine = Sum>
  KOKKOS_FUNCTION void deal_to_columns(X (&part)[group_chunk], int first, int to, const Use& use,
                                       const Combine& combine = Combine()) const {
    deal<Group>(part, combine);
    if (!is_first_holder<group_chunk, lanes>(m_rank)) return;
    const int mine = first + first_dealt_value<group_chunk, lanes>(m_rank);
    SHOAL_UNROLL
    for (int h = 0; h < dealt_values<group_chunk, lanes>(); ++h)
      if (mine + h < to) use(mine + h, part[h]);
  }
  /// use(c, x) in one lane for each column in registers, with x combined over the lanes' part(c).
  template <class X, class Part, class Combine, class Use>
  KOKKOS_FUNCTION void deal_held(const Part& part, const Combine& combine, const Use& use) const {
    SHOAL_UNROLL
    for (int first = 0; first < Cols; first += group_chunk) {
      X x[group_chunk];
      SHOAL_UNROLL
      for (int c = 0; c < group_chunk; ++c) x[c] = first + c < Cols ? part(first + c) : X(R(0));
      deal_to_columns(x, first, Cols, use, combine);
    }
  }

  /// x_j := x_j - w_j v over rows [first_row, rows) for the columns [from, to) of x, with v the
  /// column k of y and w_j = weight(j, v^H x_j), evaluated by one lane; norm(j, |x_j|^2) likewise.
  template <class Weight, class Norm>
  KOKKOS_FUNCTION void subtract_multiples(const Tile& x, const Tile& y, int k, int first_row,
                                          int rows, int from, int to, const Weight& weight,
                                          const Norm& norm) const {
    const int own = first_of(first_row);
    for (int first = from; first < to; first += group_chunk) {
      V dot[group_chunk];
      SHOAL_UNROLL
      for (int c = 0; c < group_chunk; ++c) dot[c] = V(R(0));
      SHOAL_DO_NOT_UNROLL
      for (int i = own; i < rows; i += lanes) {
        const V v = y.get(i, k);
        SHOAL_UNROLL
        for (int c = 0; c < group_chunk; ++c)
          if (first + c < to) dot[c] = conj_multiply_add(v, x.get(i, first + c), dot[c]);
      }
      deal_to_columns(dot, first, to,
                      [&](int j, const V& d) { m_small.factor[j - from] = weight(j, d); });
      Group::sync();
      V w[group_chunk];
      R size2[group_chunk];
      SHOAL_UNROLL
      for (int c = 0; c < group_chunk; ++c) {
        w[c] = first + c < to ? -m_small.factor[first + c - from] : V(R(0));
        size2[c] = R(0);
      }
      SHOAL_DO_NOT_UNROLL
      for (int i = own; i < rows; i += lanes) {
        const V v = y.get(i, k);
        SHOAL_UNROLL
        for (int c = 0; c < group_chunk; ++c) {
          if (first + c >= to) continue;
          const V z = multiply_add(v, w[c], x.get(i, first + c));
          x.set(i, first + c, z);
          if constexpr (!std::is_same_v<Norm, Unused>) size2[c] += norm_squared(z);
        }
      }
      if constexpr (!std::is_same_v<Norm, Unused>) deal_to_columns(size2, first, to, norm);
    }
  }
  struct Unused {};

  /// f(i, j) for all entries, lanes side by side along rows or along columns of the matrix.
  template <class F>
  KOKKOS_FUNCTION void for_entries(int rows, int cols, bool along_columns, const F& f) const {
    if (along_columns) {
      for (int j = 0; j < cols; ++j) SHOAL_DO_NOT_UNROLL
      for (int i = m_rank; i < rows; i += lanes) f(i, j);
    } else {
      for (int i = 0; i < rows; ++i) SHOAL_DO_NOT_UNROLL
      for (int j = m_rank; j < cols; j += lanes) f(i, j);
    }
  }
  template <class Value>
  KOKKOS_FUNCTION void store(const MatrixRef<T>& to, int rows, int cols, const Value& value) const {
    for_entries(rows, cols, to.row_stride == 1,
                [&](int i, int j) { to(i, j) = to_storage(value(i, j)); });
  }

  /// Copies A, scaled by columns. Returns 0, or NaN where an entry is not finite.
  KOKKOS_FUNCTION R load(bool present, const MatrixRef<const T>& a) {
    R not_finite(0);
    for_entries(m_rows, m_cols, a.row_stride == 1, [&](int i, int j) {
      V x(R(0));
      if (present) set_slot(x, 0, a(i, j));
      m_a.set(i, j, x);
      not_finite += poison(x);
    });
    Group::sync();
    not_finite = over_lanes<Group>(not_finite, Sum());
    for (int first = 0; first < m_cols; first += group_chunk) {
      R top[group_chunk];
      SHOAL_UNROLL
      for (int c = 0; c < group_chunk; ++c) top[c] = R(0);
      SHOAL_DO_NOT_UNROLL
      for (int i = m_rank; i < m_rows; i += lanes) {
        SHOAL_UNROLL
        for (int c = 0; c < group_chunk; ++c)
          if (first + c < m_cols) top[c] = maximum(top[c], max_part(m_a.get(i, first + c)));
      }
      deal_to_columns(
          top, first, m_cols,
          [&](int j, const R& largest) {
            const I e = lane::detail::exponent_to_take<V>(largest);
            m_small.scale[j] = e;
            m_small.inverse[j] = power_of_two<R>(-e);
            m_small.column[j] = j;
          },
          Maximum());
    }
    Group::sync();
    sum_columns<R>(
        0, m_rows, 0, m_cols,
        [&](int i, int j) {
          const V x = m_small.inverse[j] * m_a.get(i, j);
          m_a.set(i, j, x);
          return norm_squared(x);
        },
        [&](int j, const R& norm) { m_small.norm[j] = norm; });
    Group::sync();
    return not_finite;
  }

  /// A P = Q R: R above, the Householder vectors below the diagonal of A.
  KOKKOS_FUNCTION void factor() {
    for (int k = 0; k < m_cols; ++k) {
      bool low = false;
      SHOAL_DO_NOT_UNROLL
      for (int j = first_of(k); j < m_cols; j += lanes)
        low = low || m_small.norm[j] < R(lane::detail::rescale_below<V>);
      if (Group::any_of_warp(low)) rescale_low_columns(k);
      pivot_column(k);
      const bool reflects = k + 1 < m_rows;
      if (reflects) {
        pivot_row(k);
        reflect(k);
      }
      if (!reflects && m_rank == 0) {
        m_small.row[k] = k;
        m_small.tau[k] = R(0);
      }
      Group::sync();
      scale_row(k);
    }
  }

  /// Row k of R becomes the conjugate of column k of L. The columns after it may be scaled anew
  /// later, from row k + 1 on.
  KOKKOS_FUNCTION void scale_row(int k) const {
    const V diagonal = m_a.get(k, k);
    const bool dependent = m_small.norm[k] == R(0);
    const I own = exponent(max_part(diagonal)), e = m_small.scale[k] + own;
    SHOAL_DO_NOT_UNROLL
    for (int j = first_of(k + 1); j < m_cols; j += lanes)
      m_a.set(k, j, dependent ? V(R(0)) : power_of_two<R>(m_small.scale[j] - e) * m_a.get(k, j));
    Group::sync(); // every lane has read the diagonal
    if (m_rank == 0) {
      m_a.set(k, k, dependent ? V(R(1)) : power_of_two<R>(-own) * diagonal);
      m_small.exponent[k] = dependent ? lane::detail::dependent_exponent<V>() : e;
    }
    Group::sync();
  }

  KOKKOS_FUNCTION void set_norm(int j, const R& norm) const {
    m_small.norm[j] = m_small.scale[j] < I(lane::detail::least_exponent<V>) ? R(0) : norm;
  }

  KOKKOS_FUNCTION void rescale_low_columns(int k) {
    for (int j = k; j < m_cols; ++j) {
      const bool low = m_small.norm[j] < R(lane::detail::rescale_below<V>);
      if (!Group::any_of_warp(low)) continue;
      R top(0);
      SHOAL_DO_NOT_UNROLL
      for (int i = first_of(k); i < m_rows; i += lanes) top = maximum(top, max_part(m_a.get(i, j)));
      top = over_lanes<Group>(top, Maximum());
      const I e = low ? lane::detail::exponent_to_take<V>(top) : I(0);
      const R factor = power_of_two<R>(-e);
      R norm(0);
      SHOAL_DO_NOT_UNROLL
      for (int i = first_of(k); i < m_rows; i += lanes) {
        const V x = factor * m_a.get(i, j);
        m_a.set(i, j, x);
        norm += norm_squared(x);
      }
      norm = over_lanes<Group>(norm, Sum());
      Group::sync(); // every lane has read the norm
      if (low && m_rank == 0) {
        m_small.scale[j] += e;
        set_norm(j, norm);
      }
    }
    Group::sync();
  }

  KOKKOS_FUNCTION void pivot_column(int k) {
    Candidate<I> best{magnitude_key(R(0), I(0)), k};
    SHOAL_DO_NOT_UNROLL
    for (int j = first_of(k); j < m_cols; j += lanes)
      best = better(best, Candidate<I>{magnitude_key(m_small.norm[j], m_small.scale[j]), j});
    const int pivot = best_over_lanes<Group>(best);
    Group::sync(); // every lane has read the keys
    if (pivot != k) {
      SHOAL_DO_NOT_UNROLL
      for (int i = m_rank; i < m_rows; i += lanes) exchange(m_a.at(i, k), m_a.at(i, pivot));
      if (m_rank == 0) {
        exchange(m_small.norm[k], m_small.norm[pivot]);
        exchange(m_small.scale[k], m_small.scale[pivot]);
        exchange(m_small.column[k], m_small.column[pivot]);
      }
    }
    Group::sync();
  }

  KOKKOS_FUNCTION void pivot_row(int k) {
    Candidate<R> best{R(-1), k};
    SHOAL_DO_NOT_UNROLL
    for (int i = first_of(k); i < m_rows; i += lanes)
      best = better(best, Candidate<R>{norm_squared(m_a.get(i, k)), i});
    const int pivot = best_over_lanes<Group>(best);
    Group::sync();
    if (pivot != k) SHOAL_DO_NOT_UNROLL
    for (int j = first_of(k); j < m_cols; j += lanes) exchange(m_a.at(k, j), m_a.at(pivot, j));
    if (m_rank == 0) m_small.row[k] = pivot;
    Group::sync();
  }

  /// See lane::detail::PivotedQr::reflect.
  KOKKOS_FUNCTION void reflect(int k) {
    const V alpha = m_a.get(k, k);
    const R norm = m_small.norm[k];
    const bool zero = norm == R(0);
    const V beta = -(square_root(norm) * phase_of(alpha));
    const V inverse = reciprocal(zero ? V(R(1)) : alpha - beta);
    R tail(0);
    SHOAL_DO_NOT_UNROLL
    for (int i = first_of(k + 1); i < m_rows; i += lanes) {
      const V v = m_a.get(i, k) * inverse;
      m_a.set(i, k, v);
      tail += norm_squared(v);
    }
    tail = over_lanes<Group>(tail, Sum()); // by all groups of the warp
    const R tau = zero ? R(0) : R(2) / (R(1) + tail);
    Group::sync(); // every lane has read alpha
    if (m_rank == 0) {
      m_a.set(k, k, beta);
      m_small.tau[k] = tau;
    }
    subtract_multiples(
        m_a, m_a, k, k + 1, m_rows, k + 1, m_cols,
        [&](int j, const V& dot) { return reflect_top(k, j, tau, dot); },
        [&](int j, const R& size2) { set_norm(j, size2); });
  }
  /// Entry k of column j under the reflector k; returns the multiple of its tail to subtract.
  KOKKOS_FUNCTION V reflect_top(int k, int j, const R& tau, const V& dot) const {
    const V top = m_a.get(k, j), w = tau * (top + dot);
    m_a.set(k, j, top - w);
    return w;
  }

  /// L = R^H.
  KOKKOS_FUNCTION void load_l(Columns& l) const {
    SHOAL_UNROLL
    for (int c = 0; c < Cols; ++c) {
      SHOAL_UNROLL
      for (int r = 0; r < held_rows; ++r) l.set(c, r, V(R(0)));
      if (c >= m_cols) {
        if (m_rank == 0) m_small.exponent[c] = lane::detail::dependent_exponent<V>();
        continue;
      }
      SHOAL_UNROLL
      for (int r = 0; r < held_rows; ++r) {
        const int i = row_at(r);
        if (i >= c && i < m_cols) l.set(c, r, conjugate(m_a.get(c, i)));
      }
    }
    Group::sync();
  }

  /// One-sided Jacobi on L; see lane::detail::jacobi. `reversed`: in which order the columns end.
  /// Where the off-diagonal norm is asked for, one more sweep measures all pairs and turns none.
  KOKKOS_FUNCTION int jacobi(Columns& l, Rotations& j, const lane::SvdRequest& request,
                             bool& converged, bool& reversed) const {
    int sweeps = 0;
    converged = m_cols <= 1;
    reversed = false;
    for (int sweep = 0;; ++sweep) {
      const bool measures = sweep == request.max_sweeps || !Group::any_of_warp(!converged);
      if (measures && !request.off_norm) break;
      const bool running = !converged && !measures;
      refresh_norms(l, running);
      if (measures) start_measuring();
      bool turned = false;
      SHOAL_DO_NOT_UNROLL
      for (int round = 0; round < Cols; round += 2) {
        turn_pairs<0>(l, j, running, measures, reversed, turned);
        turn_pairs<1>(l, j, running, measures, reversed, turned);
      }
      reversed = !reversed;
      if (measures) break;
      if (!converged) ++sweeps;
      const bool again = Group::any(turned); // every lane takes part, whatever it needs
      converged = converged || !again;
    }
    return sweeps;
  }

  /// The squared norms of L's columns, with those that have become small scaled up, if `wanted`.
  KOKKOS_FUNCTION void refresh_norms(Columns& l, bool wanted) const {
    bool low = false;
    const auto norms = [&] {
      Group::sync();
      deal_held<R>([&](int c) { return norm_of(l.x[c]); }, Sum(),
                   [&](int c, const R& norm) {
                     if (wanted) m_small.norm[c] = norm;
                     // Padding, like a column of zeros, is not to be scaled.
                     low = low || (wanted && norm < R(lane::detail::rescale_below<V>) &&
                                   m_small.exponent[c] > lane::detail::dependent_exponent<V>());
                   });
      Group::sync();
    };
    norms();
    if (!Group::any_of_warp(low)) return;
    deal_held<R>(
        [&](int c) {
          R top(0);
          SHOAL_UNROLL
          for (int r = 0; r < held_rows; ++r) top = maximum(top, max_part(l.get(c, r)));
          return top;
        },
        Maximum(),
        [&](int c, const R& top) {
          const bool scaled = wanted && m_small.norm[c] < R(lane::detail::rescale_below<V>);
          const I e = scaled ? lane::detail::exponent_to_take<V>(top) : I(0);
          m_small.inverse[c] = power_of_two<R>(-e);
          m_small.exponent[c] += e;
        });
    Group::sync();
    SHOAL_UNROLL
    for (int c = 0; c < Cols; ++c) {
      const R factor = m_small.inverse[c];
      SHOAL_UNROLL
      for (int r = 0; r < held_rows; ++r) l.set(c, r, factor * l.get(c, r));
    }
    norms();
  }

  KOKKOS_FUNCTION static R norm_of(const V (&column)[held_rows]) {
    R norm(0);
    SHOAL_UNROLL
    for (int r = 0; r < held_rows; ++r) norm += norm_squared(column[r]);
    return norm;
  }

  /// Turns and exchanges the columns (Offset, Offset + 1), (Offset + 2, Offset + 3), ... where they
  /// need it and the group is `running`; the other pairs are exchanged only. `measures`: see
  /// jacobi.
  template <int Offset>
  KOKKOS_FUNCTION void turn_pairs(Columns& l, Rotations& j, bool running, bool measures,
                                  bool reversed, bool& turned) const {
    V dot[pair_slots];
    SHOAL_UNROLL
    for (int k = 0; k < pair_slots; ++k) {
      dot[k] = V(R(0));
      if (2 * k + Offset + 1 >= Cols) continue;
      SHOAL_UNROLL
      for (int r = 0; r < held_rows; ++r)
        dot[k] = conj_multiply_add(l.get(2 * k + Offset, r), l.get(2 * k + Offset + 1, r), dot[k]);
    }
    deal<Group>(dot, Sum());
    Turn* const turns = m_small.turns + Offset * pairs;
    bool any_active = false, stale = false;
    const int mine = first_dealt_value<pair_slots, lanes>(m_rank);
    SHOAL_UNROLL
    for (int h = 0; h < dealt_values<pair_slots, lanes>(); ++h) {
      const int left = 2 * (mine + h) + Offset;
      if (left + 1 >= Cols || !is_first_holder<pair_slots, lanes>(m_rank)) continue;
      if (measures) measure(left, dot[h]);
      const bool active = make_turn(turns[mine + h], left, dot[h], running, reversed, stale);
      any_active = any_active || active;
    }
    Group::sync();
    SHOAL_UNROLL
    for (int k = 0; 2 * k + Offset + 1 < Cols; ++k) {
      // Else the compiler reads all rotations at once, into registers that L and J need.
      if (k % 4 == 0) Group::sync();
      const Turn t = turns[k];
      const int left = 2 * k + Offset, right = left + 1;
      SHOAL_UNROLL
      for (int r = 0; r < held_rows; ++r) {
        const V a = l.get(left, r), b = l.get(right, r);
        l.set(left, r, multiply_add(t.first, a, t.c * b));
        l.set(right, r, multiply_add(t.second, b, t.c * a));
      }
      if (!m_left) continue;
      const V opposite = -conjugate(t.unscaled);
      SHOAL_UNROLL
      for (int r = 0; r < held_rows; ++r) {
        const V x = j.get(left, r), y = j.get(right, r);
        j.set(left, r, multiply_add(t.unscaled, x, t.c * y));
        j.set(right, r, multiply_add(opposite, y, t.c * x));
      }
    }
    turned = turned || any_active;
    if (Group::any_of_warp(stale)) refresh_norms(l, Group::any(stale));
  }

  /// The rotation of the columns in places left and left + 1 of L with dot product `dot`; their
  /// norms and exponents follow the exchange. Returns whether there is anything to turn. `stale`:
  /// the new norm has lost digits.
  KOKKOS_FUNCTION bool make_turn(Turn& turn, int left, const V& dot, bool running, bool reversed,
                                 bool& stale) const {
    // p is the column that comes first in the order of the results.
    const int p = reversed ? left + 1 : left, q = reversed ? left : left + 1;
    const V apq = reversed ? conjugate(dot) : dot;
    const R app = m_small.norm[p], aqq = m_small.norm[q];
    const I ep = m_small.exponent[p], eq = m_small.exponent[q];
    const R d = power_of_two<R>(eq - ep), d_inverse = power_of_two<R>(ep - eq);
    const bool active =
        running && lane::detail::needs_rotation(app, aqq, apq, d, m_tolerance_squared);
    const lane::detail::Rotation<V> rotation(active, app, aqq, apq, d, d_inverse);
    const V to_p = rotation.pq * rotation.phase, to_q = rotation.qp * conjugate(rotation.phase);
    const V sine = rotation.s * rotation.phase;
    turn.c = rotation.c;
    turn.first = reversed ? to_p : to_q;
    turn.second = reversed ? to_q : to_p;
    turn.unscaled = reversed ? sine : -conjugate(sine);
    m_small.norm[q] = rotation.new_app;
    m_small.norm[p] = rotation.new_aqq;
    m_small.exponent[q] = ep;
    m_small.exponent[p] = eq;
    stale = stale || rotation.inexact;
    return active;
  }

  /// The largest squares of cosines that a lane has measured are kept by the place of the pairs:
  /// one lane sees all of a place.
  KOKKOS_FUNCTION void start_measuring() const {
    for (int c = m_rank; c < Cols; c += lanes) m_small.inverse[c] = R(0);
    Group::sync();
  }
  KOKKOS_FUNCTION void measure(int left, const V& dot) const {
    const R norms = m_small.norm[left] * m_small.norm[left + 1];
    if (norms > R(0)) // else one is padding
      m_small.inverse[left] = maximum(m_small.inverse[left], norm_squared(dot) / norms);
  }
  /// See lane::detail::off_norm_squared; in every lane.
  KOKKOS_FUNCTION R off_norm_squared() const {
    R largest(0);
    for (int c = m_rank; c < Cols; c += lanes) largest = maximum(largest, m_small.inverse[c]);
    return over_lanes<Group>(largest, Maximum());
  }

  /// s_k and 1 / |L_k| of every column.
  template <class Place>
  KOKKOS_FUNCTION void finish_values(const Columns& l, const Place& place) const {
    Group::sync();
    deal_held<R>([&](int c) { return norm_of(l.x[c]); }, Sum(),
                 [&](int c, const R& norm) {
                   const int k = place(c);
                   if (k >= m_cols) return;
                   const R size = square_root(norm);
                   m_small.norm[k] = scale_by_power_of_two(size, m_small.exponent[c]);
                   m_small.inverse[k] = R(1) / size;
                 });
    Group::sync();
  }

  /// The phases that make the largest entry of each column of L real and positive.
  template <class Place>
  KOKKOS_FUNCTION void find_right_phases(const Columns& l, const Place& place) const {
    SHOAL_UNROLL
    for (int c = 0; c < Cols; ++c) {
      const int k = place(c);
      if (k >= m_cols) continue;
      Candidate<R> largest{R(-1), 0};
      V value(R(0));
      SHOAL_UNROLL
      for (int r = 0; r < held_rows; ++r) {
        const Candidate<R> next{norm_squared(l.get(c, r)), row_at(r)};
        if (next.key > largest.key) {
          largest = next;
          value = l.get(c, r);
        }
      }
      const int row = best_over_lanes<Group>(largest);
      if (row == largest.index && largest.key >= R(0))
        m_small.phase[k] = conjugate(phase_of(value));
    }
    Group::sync();
  }

  /// V^H, the columns of L in the places that the QR took them from. Each row by all lanes: a
  /// permuted run of memory where V^H is stored by rows.
  template <class Place>
  KOKKOS_FUNCTION void store_right_vectors(const Columns& l, const Place& place,
                                           const MatrixRef<T>& vt, bool turned,
                                           const R& not_finite) const {
    SHOAL_UNROLL
    for (int r = 0; r < held_rows; ++r) {
      if (row_at(r) >= m_cols) continue;
      const int column = m_small.column[row_at(r)];
      SHOAL_UNROLL
      for (int c = 0; c < Cols; ++c) {
        const int k = place(c);
        if (k >= vt.rows || k >= m_cols) continue;
        const V x = turned ? m_small.phase[k] * l.get(c, r) : l.get(c, r);
        vt(k, column) = to_storage(m_small.inverse[k] * conjugate(x) + V(not_finite));
      }
    }
  }
  /// Each lane turns what it has stored.
  KOKKOS_FUNCTION void turn_right_vectors(const MatrixRef<T>& vt) const {
    SHOAL_DO_NOT_UNROLL
    for (int i = m_rank; i < m_cols; i += lanes) {
      const int column = m_small.column[i];
      for (int k = 0; k < vt.rows; ++k) {
        V x;
        set_slot(x, 0, vt(k, column));
        vt(k, column) = to_storage(conjugate(m_small.phase[k]) * x);
      }
    }
  }
  KOKKOS_FUNCTION static T to_storage(const V& x) { return static_cast<T>(get_slot(x, 0)); }

  /// Makes the largest entry of each column of U, in A, real and positive; leaves the phases.
  KOKKOS_FUNCTION void fix_left_phases() const {
    for (int k = 0; k < m_cols; ++k) {
      Candidate<R> largest{R(-1), 0};
      R size2(0);
      SHOAL_DO_NOT_UNROLL
      for (int i = m_rank; i < m_rows; i += lanes) {
        const R x2 = norm_squared(m_a.get(i, k));
        size2 += x2;
        largest = better(largest, Candidate<R>{x2, i});
      }
      const int row = best_over_lanes<Group>(largest);
      const R total = over_lanes<Group>(size2, Sum());
      const V phase = conjugate(phase_of(m_a.get(row, k))), left_phase = unit_length(phase, total);
      Group::sync(); // every lane has read the entry
      SHOAL_DO_NOT_UNROLL
      for (int i = m_rank; i < m_rows; i += lanes) m_a.set(i, k, left_phase * m_a.get(i, k));
      if (m_rank == 0) m_small.phase[k] = phase;
    }
    Group::sync();
  }

  /// See lane::detail::reorthogonalise.
  KOKKOS_FUNCTION void reorthogonalise() const {
    for (int p = 0; p < m_cols; ++p) {
      R norm(0);
      SHOAL_DO_NOT_UNROLL
      for (int i = m_rank; i < m_cols; i += lanes) norm += norm_squared(m_square.get(i, p));
      const R length = R(1) + R(number_t<V>(0.5)) * (R(1) - over_lanes<Group>(norm, Sum()));
      SHOAL_DO_NOT_UNROLL
      for (int i = m_rank; i < m_cols; i += lanes) m_square.set(i, p, length * m_square.get(i, p));
      subtract_multiples(
          m_square, m_square, p, 0, m_cols, p + 1, m_cols, [](int, const V& dot) { return dot; },
          Unused());
      Group::sync();
    }
  }

  /// Columns [n, u.cols) of U = Q: unit vectors through all reflectors, some at a time.
  KOKKOS_FUNCTION void complete_left_vectors(bool present, const BatchRef<T>& batch, std::int64_t b,
                                             const R& not_finite) const {
    const int u_cols = static_cast<int>(batch.cols);
    for (int first = m_cols; first < u_cols; first += group_chunk) {
      const int count = u_cols - first < group_chunk ? u_cols - first : group_chunk;
      const int end = m_cols + count;
      for (int c = 0; c < count; ++c) SHOAL_DO_NOT_UNROLL
      for (int i = m_rank; i < m_rows; i += lanes)
        m_a.set(i, m_cols + c, V(R(i == first + c ? 1 : 0)));
      Group::sync();
      for (int k = m_cols - 1; k >= 0; --k) {
        const R tau = m_small.tau[k];
        subtract_multiples(
            m_a, m_a, k, k + 1, m_rows, m_cols, end,
            [&](int j, const V& dot) { return reflect_top(k, j, tau, dot); }, Unused());
        exchange_rows(k, m_cols, end);
      }
      if (present) {
        const MatrixRef<T> u = batch.matrix(b);
        const MatrixRef<T> part{&u(0, first), u.rows, count, u.row_stride, u.col_stride};
        store(part, m_rows, count,
              [&](int i, int c) { return m_a.get(i, m_cols + c) + V(not_finite); });
      }
      Group::sync();
    }
  }

  /// Overwrites A with the first n columns of Q.
  KOKKOS_FUNCTION void form_q() const {
    for (int k = m_cols - 1; k >= 0; --k) {
      const R tau = m_small.tau[k];
      subtract_multiples(
          m_a, m_a, k, k + 1, m_rows, k + 1, m_cols,
          [&](int j, const V& dot) {
            const V w = tau * dot;
            m_a.set(k, j, -w);
            return w;
          },
          Unused());
      SHOAL_DO_NOT_UNROLL
      for (int i = first_of(k + 1); i < m_rows; i += lanes) m_a.set(i, k, -(tau * m_a.get(i, k)));
      if (m_rank == 0) m_a.set(k, k, V(R(1) - tau));
      exchange_rows(k, k, m_cols);
    }
  }
  /// Undoes the row exchange of reflector k in the columns [from, to).
  KOKKOS_FUNCTION void exchange_rows(int k, int from, int to) const {
    Group::sync();
    const int row = m_small.row[k];
    if (row != k) SHOAL_DO_NOT_UNROLL
    for (int j = first_of(from); j < to; j += lanes) exchange(m_a.at(k, j), m_a.at(row, j));
    Group::sync();
  }

  /// U = Q J, in place of Q, some rows of a lane at a time: an entry of J is read once for all.
  KOKKOS_FUNCTION void multiply_left_vectors() const {
    constexpr int together = j_in_scratch ? 1 : 2; // L still takes the registers
    for (int first = m_rank; first < m_rows; first += together * lanes) {
      V product[together][Cols];
      int row[together];
      SHOAL_UNROLL
      for (int t = 0; t < together; ++t) {
        row[t] = first + t * lanes < m_rows ? first + t * lanes : first;
        SHOAL_UNROLL
        for (int k = 0; k < Cols; ++k) product[t][k] = V(R(0));
      }
      SHOAL_DO_NOT_UNROLL
      for (int p = 0; p < m_cols; ++p) {
        V q[together];
        SHOAL_UNROLL
        for (int t = 0; t < together; ++t) q[t] = m_a.get(row[t], p);
        SHOAL_UNROLL
        for (int k = 0; k < Cols; ++k) {
          const V z = m_square.get(p, k); // beyond n: unused
          SHOAL_UNROLL
          for (int t = 0; t < together; ++t) product[t][k] = multiply_add(q[t], z, product[t][k]);
        }
      }
      SHOAL_UNROLL
      for (int t = 0; t < together; ++t) {
        SHOAL_UNROLL
        for (int k = 0; k < Cols; ++k)
          if (k < m_cols) m_a.set(row[t], k, product[t][k]);
      }
    }
    Group::sync();
  }

  KOKKOS_FUNCTION void store_values(const MatrixRef<typename real_of<T>::type>& s,
                                    const R& tolerance, const R& not_finite) const {
    const R cutoff = tolerance * m_small.norm[0];
    for (int k = m_rank; k < s.rows; k += lanes) {
      // Neighbours that agree to rounding may stand in either order: the later takes the smaller.
      R value = m_small.norm[0];
      for (int c = 1; c <= k; ++c) value = m_small.norm[c] < value ? m_small.norm[c] : value;
      s(k, 0) = (value <= cutoff ? R(0) : value) + not_finite;
    }
  }

  /// By one lane.
  KOKKOS_FUNCTION int rank(const R& tolerance) const {
    R value = m_cols > 0 ? m_small.norm[0] : R(0);
    const R cutoff = tolerance * value;
    int count = 0;
    for (int k = 0; k < m_cols; ++k) {
      value = m_small.norm[k] < value ? m_small.norm[k] : value;
      if (value > cutoff) ++count;
    }
    return count;
  }

  template <class X>
  KOKKOS_FUNCTION static void exchange(X& a, X& b) {
    const X t = a;
    a = b;
    b = t;
  }
};

} // namespace shoal::detail

#endif
