// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TEAM_SVD_HPP
#define SHOAL_TEAM_SVD_HPP

#include <shoal/detail/batch_ref.hpp>
#include <shoal/lane/svd.hpp>
#include <shoal/options.hpp>
#include <shoal/team/crew.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// The singular value decomposition of one matrix by one team, for any run-time size: the algorithm
/// of lane/svd.hpp with its columns spread over the threads of the team and its rows over their
/// vector lanes. Jacobi runs in round-robin order, so that all threads turn disjoint pairs at once
/// (R. P. Brent and F. T. Luk, The solution of singular-value and symmetric eigenvalue problems on
/// multiprocessor arrays, 1985).
namespace shoal::team {

namespace detail {

/// The parts of the working set, in bytes. They are placed separately: the first are touched most.
struct SvdWorkSize {
  std::size_t small; ///< norms, scales, exchanges: O(n)
  std::size_t l;     ///< n x n
  std::size_t j;     ///< n x n with left vectors
  std::size_t tall;  ///< the copy of A that becomes Q: m x n; and see svd_built_columns
  KOKKOS_FUNCTION std::size_t total() const { return small + l + j + tall; }
};

/// Where the parts are.
struct SvdWork {
  char *small, *l, *j, *tall;
  KOKKOS_FUNCTION SvdWork(const SvdWorkSize& size, char* memory)
      : SvdWork(size, [&](std::size_t bytes) {
          char* const here = memory;
          memory += bytes;
          return here;
        }) {}
  /// Each part where place(bytes) says.
  template <class Place>
    requires std::is_invocable_v<Place, std::size_t>
  KOKKOS_FUNCTION SvdWork(const SvdWorkSize& size, const Place& place)
      : small(place(size.small)), l(place(size.l)), j(place(size.j)), tall(place(size.tall)) {}
};

/// The distance of two columns: odd, so that columns side by side start in different banks.
KOKKOS_INLINE_FUNCTION int svd_pitch(int rows) { return rows | 1; }

KOKKOS_INLINE_FUNCTION std::size_t aligned16(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

/// How many of u_cols left vectors complete the n of A's columns and are built in the working set:
/// those that are rounded where they are stored. Others are built there.
template <class T>
KOKKOS_FUNCTION std::int64_t svd_built_columns(std::int64_t n, std::int64_t u_cols) {
  return is_converted<T> && u_cols > n ? u_cols - n : 0;
}

/// For m >= n; real_bytes is the size of the real type.
KOKKOS_INLINE_FUNCTION SvdWorkSize svd_work_size(std::int64_t m, std::int64_t n,
                                                 std::size_t scalar_bytes, std::size_t real_bytes,
                                                 bool left_vectors,
                                                 std::int64_t built_columns = 0) {
  const std::size_t rows = static_cast<std::size_t>(m) | 1, cols = static_cast<std::size_t>(n);
  SvdWorkSize size;
  size.small = aligned16(cols * real_bytes * 4) + aligned16(cols * sizeof(int) * 2) +
               aligned16(2 * sizeof(int));
  size.l = aligned16((cols | 1) * cols * scalar_bytes);
  size.j = left_vectors ? size.l : 0;
  size.tall = aligned16(rows * (cols + static_cast<std::size_t>(built_columns)) * scalar_bytes);
  return size;
}

/// One column-major matrix of the working set.
template <class V, class Offset>
struct Block {
  using Value = V;
  V* data;
  int pitch;
  KOKKOS_FUNCTION V* column(int j) const { return data + Offset(j) * pitch; }
  KOKKOS_FUNCTION V& at(int i, int j) const { return column(j)[i]; }
  KOKKOS_FUNCTION V get(int i, int j) const { return at(i, j); }
  KOKKOS_FUNCTION void set(int i, int j, const V& v) const { at(i, j) = v; }
};

template <class T>
KOKKOS_FUNCTION lane_value_t<T, 1> to_lane(const T& x) {
  lane_value_t<T, 1> v;
  set_slot(v, 0, x);
  return v;
}
template <class T, class V>
KOKKOS_FUNCTION T to_storage(const V& v) {
  return static_cast<T>(get_slot(v, 0));
}

template <class Matrix>
struct Transposed {
  const Matrix& matrix;
  KOKKOS_FUNCTION decltype(auto) operator()(std::int64_t i, std::int64_t j) const {
    return matrix(j, i);
  }
};

/// What Jacobi works on: the n scaled columns of L, and J, which is multiplied by the rotations if
/// `accumulates`.
template <class V, class Offset>
struct JacobiProblem {
  int n;
  bool accumulates;
  real_t<V> tolerance_squared;
  real_t<V>* norm;        ///< squared norms: room for n
  integer_t<V>* exponent; ///< column k is scaled by 2^exponent[k]
  int* turned;            ///< room for 2
  Block<V, Offset> l, j;
};

/// Who plays whom in a tournament of `players`, an even number, in which everybody meets everybody
/// once in players - 1 rounds: p < q. Player `players - 1` keeps its seat, the others move on by
/// one each round.
struct Opponents {
  int p, q;
};
KOKKOS_INLINE_FUNCTION Opponents opponents(int players, int round, int seat) {
  const int moving = players - 1;
  const int x = seat == 0 ? moving : round + seat < moving ? round + seat : round + seat - moving;
  const int y = round < seat ? round - seat + moving : round - seat;
  return x < y ? Opponents{x, y} : Opponents{y, x};
}

/// Sweeps of `turn(p, q, round)` over all pairs of players until one returns false for each pair or
/// max_sweeps are done. Disjoint pairs are dealt to the threads of the crew. Returns the sweeps
/// done.
template <class Crew, class Turn>
KOKKOS_FUNCTION int sweep_pairs(const Crew& crew, int players, int* turned, int max_sweeps,
                                bool& converged, const Turn& turn) {
  crew.once([&] { turned[0] = turned[1] = 0; });
  crew.barrier();
  players += players % 2;
  int sweep = 0;
  while (sweep < max_sweeps && !converged) {
    for (int round = 0; round < players - 1; ++round) {
      crew.for_columns(0, players / 2, [&](int seat) {
        const Opponents pair = opponents(players, round, seat);
        if (turn(pair.p, pair.q, round)) {
          crew.once_a_column([&] { Kokkos::atomic_store(&turned[sweep % 2], 1); });
        }
      });
      crew.barrier();
    }
    converged = turned[sweep % 2] == 0;
    crew.once([&] { turned[(sweep + 1) % 2] = 0; });
    ++sweep;
    crew.barrier();
  }
  return sweep;
}

/// The decomposition of one m x n matrix, m >= n, by one crew. Every member function is called by
/// all workers of the crew; each leaves them synchronised where the next one needs it.
template <class T, class Crew>
class Svd {
public:
  using V = lane_value_t<T, 1>;
  using R = real_t<V>;
  using I = integer_t<V>;
  using Matrix = Block<V, typename Crew::Offset>;
  using Problem = JacobiProblem<V, typename Crew::Offset>;
  using Columns = typename Crew::Columns;

  KOKKOS_FUNCTION Svd(const Crew& crew, int m, int n, bool left_vectors, const SvdWork& work)
      : m_crew(crew), m_rows(m), m_cols(n), m_left(left_vectors),
        m_tolerance_squared(lane::detail::orthogonality_tolerance_squared<R>(n)) {
    const auto cols = static_cast<std::size_t>(n);
    char* small = work.small;
    m_norm = reinterpret_cast<R*>(small);
    m_tau = m_norm + cols;
    m_exponent = reinterpret_cast<I*>(m_tau + cols);
    m_scale = m_exponent + cols;
    small += aligned16(cols * sizeof(R) * 4);
    m_row = reinterpret_cast<int*>(small);
    m_column = m_row + cols;
    m_turned = reinterpret_cast<int*>(small + aligned16(cols * sizeof(int) * 2));
    m_l = {reinterpret_cast<V*>(work.l), svd_pitch(n)};
    m_j = {reinterpret_cast<V*>(work.j), svd_pitch(n)};
    m_a = {reinterpret_cast<V*>(work.tall), svd_pitch(m)};
  }

  /// A (m x n) = U diag(s) V^H; see team::svd. u may have any number of columns up to m, s any
  /// number of entries up to n, vt any number of rows up to n. One thread calls
  /// store_details(sweeps, off_norm, rank) where the request asks for details.
  template <class MatrixA, class MatrixU, class VectorS, class MatrixVt, class StoreDetails>
  KOKKOS_FUNCTION int decompose(const MatrixA& a, const MatrixU& u, const VectorS& s,
                                const MatrixVt& vt, int u_cols, int s_size, int vt_rows,
                                const lane::SvdRequest& request,
                                const StoreDetails& store_details) {
    return decompose(a, u, s, vt, u_cols, s_size, vt_rows, request, store_details,
                     [&](const Problem&, int max_sweeps, bool& converged) {
                       return jacobi(max_sweeps, converged);
                     });
  }

  /// The same with Jacobi as run_jacobi(problem, max_sweeps, converged) does it, which returns the
  /// sweeps done; `converged` comes in true where there is nothing to do.
  template <class MatrixA, class MatrixU, class VectorS, class MatrixVt, class StoreDetails,
            class RunJacobi>
  KOKKOS_FUNCTION int decompose(const MatrixA& a, const MatrixU& u, const VectorS& s,
                                const MatrixVt& vt, int u_cols, int s_size, int vt_rows,
                                const lane::SvdRequest& request, const StoreDetails& store_details,
                                const RunJacobi& run_jacobi) {
    const R not_finite = load(a);
    factor();
    if (m_left) {
      m_crew.for_columns(0, m_cols, [&](int j) {
        m_crew.for_rows(0, m_cols, [&](int i) { m_j.set(i, j, V(R(i == j ? 1 : 0))); });
      });
    }
    bool converged = m_cols <= 1;
    const Problem problem{m_cols, m_left, m_tolerance_squared, m_norm, m_exponent, m_turned,
                          m_l,    m_j};
    const int sweeps = run_jacobi(problem, request.max_sweeps, converged);
    if (request.signs == lane::SignRule::right) fix_right_signs();
    if (m_left) {
      reorthogonalise();
      complete_left_vectors(u, u_cols, not_finite);
      form_q();
      store_left_vectors(u, u_cols, request.signs == lane::SignRule::left, not_finite);
    }
    store_right_vectors(vt, vt_rows, not_finite);
    const R off_norm = request.off_norm ? square_root(off_norm_squared()) : R(0);
    const bool finite = not_finite == R(0);
    store_values(s, s_size, request, not_finite, [&](int rank) {
      store_details(finite ? sweeps : 0, off_norm + not_finite, finite ? rank : 0);
    });
    return !finite ? svd_not_finite : converged ? 0 : sweeps;
  }

private:
  Crew m_crew;
  int m_rows, m_cols;
  bool m_left;
  R m_tolerance_squared;
  R* m_norm; ///< squared norms of the columns in work; in the end the singular values
  R* m_tau;
  I* m_exponent; ///< of the columns of L
  I* m_scale;    ///< of the columns of A
  int* m_row;
  int* m_column;
  int* m_turned; ///< whether sweep s turned anything, at s % 2
  Matrix m_l, m_j, m_a;

  /// Copies A, scaled by columns. Returns 0, or NaN where an entry is not finite.
  template <class MatrixA>
  KOKKOS_FUNCTION R load(const MatrixA& a) {
    m_crew.for_columns(0, m_cols, [&](int j) {
      const R bad = m_crew.template sum<R>(0, m_rows, [&](int i, R& sum) {
        const V x = to_lane<T>(a(i, j));
        m_a.set(i, j, x);
        sum += poison(x);
      });
      const I e = rescale(m_a, 0, m_rows, j);
      m_crew.once_a_column([&] {
        m_tau[j] = bad;
        m_scale[j] = e;
        m_column[j] = j;
      });
    });
    m_crew.barrier();
    const R not_finite = m_crew.template sum<R>(0, m_cols, [&](int j, R& sum) { sum += m_tau[j]; });
    m_crew.barrier(); // m_tau is about to be written
    return not_finite;
  }

  /// Brings the largest entry of rows [from, to) of column j near 1; returns the exponent taken
  /// out.
  KOKKOS_FUNCTION I rescale(const Matrix& x, int from, int to, int j) const {
    const R top = m_crew.template max<R>(from, to, [&](int i) { return max_part(x.get(i, j)); });
    if (!(top > R(0))) return I(0);
    const I lowest(-format<number_t<V>>::bias);
    const I below = exponent(top) - I(1);
    const I d = below < lowest ? lowest : below;
    const R factor = power_of_two<R>(-d);
    m_crew.for_rows(from, to, [&](int i) { x.set(i, j, factor * x.get(i, j)); });
    return d;
  }

  KOKKOS_FUNCTION R norm_of(const Matrix& x, int from, int to, int j) const {
    const V* const column = x.column(j);
    return m_crew.template sum<R>(from, to, [&](int i, R& sum) { sum += norm_squared(column[i]); });
  }

  /// The norm of rows [k, m) of column j of A, with its entries brought near 1 where they have
  /// become small; 0 where they are negligible.
  KOKKOS_FUNCTION void measure(int k, int j) const {
    const I scale = m_scale[j];
    R norm = norm_of(m_a, k, m_rows, j);
    I e(0);
    if (norm < R(lane::detail::rescale_below<V>)) {
      e = rescale(m_a, k, m_rows, j);
      norm = norm_of(m_a, k, m_rows, j);
    }
    if (scale + e < I(lane::detail::least_exponent<V>)) norm = R(0);
    m_crew.once_a_column([&] {
      m_norm[j] = norm;
      m_scale[j] = scale + e;
    });
  }

  /// A = Q R by Householder reflections, with the column of largest norm and in it the row of
  /// largest entry first, and L = R^H scaled by columns.
  KOKKOS_FUNCTION void factor() {
    m_crew.for_columns(0, m_cols, [&](int j) { measure(0, j); });
    m_crew.barrier();
    for (int k = 0; k < m_cols; ++k) {
      pivot_column(k);
      reflect(k);
    }
    m_crew.barrier();
  }

  KOKKOS_FUNCTION void pivot_column(int k) {
    const int best = m_crew.template argmax<I>(
        k, m_cols, [&](int j) { return magnitude_key(m_norm[j], m_scale[j]); });
    m_crew.barrier(); // every thread has read the keys
    if (best == k) return;
    m_crew.for_all(k, m_rows, [&](int i) { exchange(m_a.at(i, k), m_a.at(i, best)); });
    m_crew.for_all(0, k, [&](int i) { exchange(m_l.at(k, i), m_l.at(best, i)); });
    m_crew.once([&] {
      exchange(m_norm[k], m_norm[best]);
      exchange(m_scale[k], m_scale[best]);
      exchange(m_column[k], m_column[best]);
    });
    m_crew.barrier();
  }

  /// Step k of the factorisation: H = I - tau v v^H, v the column without its upper part and beta
  /// taken from its first entry; tau from the rounded v makes H orthogonal to rounding. The row of
  /// the largest entry and row k change places on the way: the one is read instead of the other.
  /// Row k of R goes to column k of L at once.
  KOKKOS_FUNCTION void reflect(int k) {
    const V* const x = m_a.column(k);
    const int best =
        m_crew.template argmax<R>(k, m_rows, [&](int i) { return norm_squared(x[i]); });
    const V alpha = x[best], displaced = x[k];
    const R norm = m_norm[k];
    const bool zero = norm == R(0), reflects = !zero && k + 1 < m_rows;
    const V beta = reflects ? V(-(square_root(norm) * phase_of(alpha))) : alpha;
    const V first = alpha - beta;
    const R tail = m_crew.template sum<R>(k, m_rows, [&](int i, R& sum) {
      if (i != best) sum += norm_squared(x[i]);
    });
    const R tau = reflects ? R(2) / (norm_squared(first) + tail) : R(0);
    const I e = m_scale[k], own = exponent(max_part(beta));
    const auto v = [&](int i) { return i == best ? displaced : x[i]; };
    m_crew.for_all(0, k, [&](int j) { m_l.set(j, k, V(R(0))); });
    m_crew.for_column_blocks(k + 1, m_cols, [&](const Columns& columns) {
      V *y[Columns::most], top[Columns::most], below[Columns::most], w[Columns::most];
      for_most<Columns::most>([&](int c) {
        y[c] = m_a.column(columns.column(c));
        top[c] = y[c][best];
        below[c] = y[c][k];
      });
      const auto entry = [&](int c, int i) { return i == best ? below[c] : y[c][i]; };
      m_crew.sums(k + 1, m_rows, columns, w,
                  [&](int c, int i, V& sum) { sum = conj_multiply_add(v(i), entry(c, i), sum); });
      for_most<Columns::most>([&](int c) { w[c] = tau * conj_multiply_add(first, top[c], w[c]); });
      R norms[Columns::most];
      m_crew.sums(k + 1, m_rows, columns, norms, [&](int c, int i, R& sum) {
        const V z = multiply_add(v(i), -w[c], entry(c, i));
        y[c][i] = z;
        sum += norm_squared(z);
      });
      bool low = false;
      for_each(columns, [&](int c) { low = low || norms[c] < R(lane::detail::rescale_below<V>); });
      m_crew.once_a_column([&] {
        for_each(columns, [&](int c) {
          const int j = columns.column(c);
          const V r = multiply_add(first, -w[c], top[c]);
          m_l.set(j, k, zero ? V(R(0)) : power_of_two<R>(m_scale[j] - e - own) * conjugate(r));
          m_norm[j] = m_scale[j] < I(lane::detail::least_exponent<V>) ? R(0) : norms[c];
        });
      });
      if (low)
        for (int c = 0; c < columns.count; ++c) measure(k + 1, columns.column(c));
    });
    m_crew.barrier(); // every thread has read column k
    m_crew.once([&] {
      m_a.set(best, k, displaced);
      m_a.set(k, k, first);
      m_row[k] = best;
      m_tau[k] = tau;
      m_l.set(k, k, zero ? V(R(1)) : power_of_two<R>(-own) * conjugate(beta));
      m_exponent[k] = zero ? lane::detail::dependent_exponent<V>() : e + own;
    });
  }

  /// One-sided Jacobi on L in round-robin order; see lane::detail::jacobi.
  KOKKOS_FUNCTION int jacobi(int max_sweeps, bool& converged) {
    m_crew.for_columns(0, m_cols, [&](int j) { refresh_norm(j); });
    return sweep_pairs(m_crew, m_cols, m_turned, max_sweeps, converged,
                       [&](int p, int q, int) { return q < m_cols && turn_pair(p, q); });
  }

  KOKKOS_FUNCTION void refresh_norm(int j) const {
    R norm = norm_of(m_l, 0, m_cols, j);
    I e(0);
    if (norm < R(lane::detail::rescale_below<V>)) {
      e = rescale(m_l, 0, m_cols, j);
      norm = norm_of(m_l, 0, m_cols, j);
    }
    m_crew.once_a_column([&] {
      m_norm[j] = norm;
      m_exponent[j] += e;
    });
  }

  KOKKOS_FUNCTION bool turn_pair(int p, int q) const {
    const R app = m_norm[p], aqq = m_norm[q];
    const I ep = m_exponent[p], eq = m_exponent[q];
    V *const x = m_l.column(p), *const y = m_l.column(q);
    const V apq = m_crew.template sum<V>(
        0, m_cols, [&](int i, V& sum) { sum = conj_multiply_add(x[i], y[i], sum); });
    const R d = power_of_two<R>(eq - ep);
    if (!lane::detail::needs_rotation(app, aqq, apq, d, m_tolerance_squared)) return false;
    const lane::detail::Rotation<V> rotation(true, app, aqq, apq, d, power_of_two<R>(ep - eq));
    // The new norms are summed where the new columns are made: later pairs need the dot product
    // only.
    const Complex<R> norms =
        m_crew.template sum<Complex<R>>(0, m_cols, [&](int i, Complex<R>& sum) {
          V a = x[i], b = y[i];
          rotation.turn_scaled(a, b);
          x[i] = a;
          y[i] = b;
          sum += Complex<R>(norm_squared(a), norm_squared(b));
        });
    if (m_left) {
      V *const u = m_j.column(p), *const v = m_j.column(q);
      m_crew.for_rows(0, m_cols, [&](int i) {
        V a = u[i], b = v[i];
        rotation.turn(a, b);
        u[i] = a;
        v[i] = b;
      });
    }
    m_crew.once_a_column([&] {
      m_norm[p] = norms.re;
      m_norm[q] = norms.im;
    });
    if (norms.re < R(lane::detail::rescale_below<V>)) refresh_norm(p);
    if (norms.im < R(lane::detail::rescale_below<V>)) refresh_norm(q);
    return true;
  }

  /// Brings a vector of this squared norm, which is near 1, to length 1.
  KOKKOS_FUNCTION static R unit_factor(const R& norm) {
    return R(1) + R(number_t<V>(0.5)) * (R(1) - norm);
  }

  /// See lane::detail::reorthogonalise. The columns are brought to unit length later, by the
  /// factors left in m_norm.
  KOKKOS_FUNCTION void reorthogonalise() const {
    for (int p = 0; p < m_cols; ++p) {
      const R length = unit_factor(norm_of(m_j, 0, m_cols, p));
      m_crew.once([&] { m_norm[p] = length; });
      m_crew.for_column_blocks(p + 1, m_cols, [&](const Columns& columns) {
        V *y[Columns::most], dot[Columns::most];
        for_most<Columns::most>([&](int c) { y[c] = m_j.column(columns.column(c)); });
        const V* const x = m_j.column(p);
        m_crew.sums(0, m_cols, columns, dot,
                    [&](int c, int i, V& sum) { sum = conj_multiply_add(x[i], y[c][i], sum); });
        for_most<Columns::most>([&](int c) { dot[c] = (length * length) * dot[c]; });
        m_crew.for_entries(0, m_cols, columns,
                           [&](int c, int i) { y[c][i] = multiply_add(x[i], -dot[c], y[c][i]); });
      });
      m_crew.barrier();
    }
  }

  /// Makes the largest entry of each column of L real and positive; the columns of J follow.
  KOKKOS_FUNCTION void fix_right_signs() const {
    m_crew.for_columns(0, m_cols, [&](int k) {
      const int largest =
          m_crew.template argmax<R>(0, m_cols, [&](int i) { return norm_squared(m_l.get(i, k)); });
      const V phase = conjugate(phase_of(m_l.get(largest, k)));
      m_crew.sync(); // every lane has read the entry
      m_crew.for_rows(0, m_cols, [&](int i) {
        m_l.set(i, k, phase * m_l.get(i, k));
        if (m_left) m_j.set(i, k, phase * m_j.get(i, k));
      });
    });
    m_crew.barrier();
  }

  /// Columns of x, whose row k is zero in all of them, := the rows exchanged by P_k H_k times them,
  /// v in column k of A.
  template <class X>
  KOKKOS_FUNCTION void reflect_back(const X& x, int k, const Columns& columns) const {
    const V* const v = m_a.column(k);
    const V first = v[k];
    const R tau = m_tau[k];
    const int row = m_row[k];
    const auto y = [&](int c) { return x.column(columns.column(c)); };
    V w[Columns::most];
    m_crew.sums(k + 1, m_rows, columns, w,
                [&](int c, int i, V& sum) { sum = conj_multiply_add(v[i], V(y(c)[i]), sum); });
    for_most<Columns::most>([&](int c) { w[c] = -(tau * w[c]); });
    m_crew.for_entries(k + 1, m_rows, columns, [&](int c, int i) {
      const V z = multiply_add(v[i], w[c], V(y(c)[i]));
      y(c)[i == row ? k : i] = z;
      if (i == row) y(c)[i] = w[c] * first;
    });
    if (row == k)
      m_crew.once_a_column([&] { for_each(columns, [&](int c) { y(c)[k] = w[c] * first; }); });
  }

  /// Columns [n, u_cols) of U = Q: unit vectors through all reflectors. A still holds the
  /// reflectors.
  template <class MatrixU>
  KOKKOS_FUNCTION void complete_left_vectors(const MatrixU& u, int u_cols,
                                             const R& not_finite) const {
    const Output<MatrixU> out{u};
    const auto build = [&](const auto& x, const Columns& columns) {
      m_crew.for_entries(0, m_rows, columns, [&](int c, int i) {
        x.set(i, columns.column(c), V(R(i == columns.column(c) ? 1 : 0)) + V(not_finite));
      });
      for (int k = m_cols - 1; k >= 0; --k) reflect_back(x, k, columns);
    };
    m_crew.for_column_blocks(m_cols, u_cols, [&](const Columns& columns) {
      if constexpr (is_converted<T>) {
        build(m_a, columns);
        m_crew.for_entries(0, m_rows, columns, [&](int c, int i) {
          out.set(i, columns.column(c), m_a.get(i, columns.column(c)));
        });
      } else {
        build(out, columns);
      }
    });
    m_crew.barrier();
  }

  /// Overwrites A with the first n columns of Q, brought to unit length.
  KOKKOS_FUNCTION void form_q() {
    for (int k = m_cols - 1; k >= 0; --k) {
      m_crew.for_column_blocks(k + 1, m_cols,
                               [&](const Columns& columns) { reflect_back(m_a, k, columns); });
      m_crew.barrier(); // every thread has read the reflector, which now becomes a column of Q
      m_crew.for_column_blocks(k, k + 1, [&](const Columns&) {
        V* const y = m_a.column(k);
        const R tau = m_tau[k];
        const int row = m_row[k];
        const V first = y[k], w = -(tau * conjugate(first)), diagonal = V(R(1)) + w * first;
        m_crew.for_rows(k + 1, m_rows, [&](int i) { y[i] = w * y[i]; });
        m_crew.once_a_column([&] {
          if (row != k) y[k] = y[row];
          y[row] = diagonal;
        });
      });
    }
    m_crew.for_column_blocks(0, m_cols, [&](const Columns& columns) {
      V* y[Columns::most];
      R norms[Columns::most], length[Columns::most];
      for_most<Columns::most>([&](int c) { y[c] = m_a.column(columns.column(c)); });
      m_crew.sums(0, m_rows, columns, norms,
                  [&](int c, int i, R& sum) { sum += norm_squared(y[c][i]); });
      for_most<Columns::most>([&](int c) { length[c] = unit_factor(norms[c]); });
      m_crew.for_entries(0, m_rows, columns, [&](int c, int i) { y[c][i] = length[c] * y[c][i]; });
    });
    m_crew.barrier();
  }

  /// U = Q J, with the columns of J brought to unit length. With the sign rule the phase that each
  /// column was multiplied by is left in m_l's columns.
  template <class MatrixU>
  KOKKOS_FUNCTION void store_left_vectors(const MatrixU& u, int u_cols, bool fix_signs,
                                          const R& not_finite) {
    const Output<MatrixU> out{u};
    const int n = m_cols < u_cols ? m_cols : u_cols;
    m_crew.for_column_blocks(0, n, [&](const Columns& columns) {
      const V* j[Columns::most];
      R length[Columns::most];
      for_most<Columns::most>([&](int c) {
        j[c] = m_j.column(columns.column(c));
        length[c] = m_norm[columns.column(c)];
      });
      m_crew.for_rows(0, m_rows, [&](int i) {
        V sum[Columns::most];
        for_most<Columns::most>([&](int c) { sum[c] = V(not_finite); });
        SHOAL_UNROLL_BY_2
        for (int p = 0; p < m_cols; ++p) {
          const V q = m_a.get(i, p);
          for_most<Columns::most>([&](int c) { sum[c] = multiply_add(q, j[c][p], sum[c]); });
        }
        for_each(columns, [&](int c) { out.set(i, columns.column(c), length[c] * sum[c]); });
      });
      if (!fix_signs) return;
      for (int c = 0; c < columns.count; ++c) fix_left_signs(out, columns.column(c));
    });
    m_crew.barrier();
  }
  template <class Out>
  KOKKOS_FUNCTION void fix_left_signs(const Out& out, int k) const {
    const int largest =
        m_crew.template argmax<R>(0, m_rows, [&](int i) { return norm_squared(out.get(i, k)); });
    const V phase = conjugate(phase_of(out.get(largest, k)));
    const R norm = m_crew.template sum<R>(
        0, m_rows, [&](int i, R& sum) { sum += norm_squared(out.get(i, k)); });
    const V left_phase = unit_length(phase, norm);
    m_crew.for_rows(0, m_rows, [&](int i) { out.set(i, k, left_phase * out.get(i, k)); });
    m_crew.for_rows(0, m_cols, [&](int i) { m_l.set(i, k, phase * m_l.get(i, k)); });
  }

  template <class MatrixVt>
  KOKKOS_FUNCTION void store_right_vectors(const MatrixVt& vt, int vt_rows,
                                           const R& not_finite) const {
    m_crew.for_columns(0, vt_rows, [&](int k) {
      const V inverse(R(1) / square_root(norm_of(m_l, 0, m_cols, k)));
      m_crew.for_rows(0, m_cols, [&](int i) {
        vt(k, m_column[i]) = to_storage<T>(inverse * conjugate(m_l.get(i, k)) + V(not_finite));
      });
    });
  }

  /// See lane::detail::off_norm_squared; the same in every thread.
  KOKKOS_FUNCTION R off_norm_squared() const {
    m_crew.for_columns(0, m_cols, [&](int j) {
      const R norm = norm_of(m_l, 0, m_cols, j);
      m_crew.once_a_column([&] { m_norm[j] = norm; });
    });
    m_crew.barrier();
    m_crew.for_columns(0, m_cols, [&](int q) {
      const V* const y = m_l.column(q);
      R largest(0);
      for (int p = 0; p < q; ++p) {
        const V* const x = m_l.column(p);
        const V dot = m_crew.template sum<V>(
            0, m_cols, [&](int i, V& sum) { sum = conj_multiply_add(x[i], y[i], sum); });
        largest = maximum(largest, norm_squared(dot) / (m_norm[p] * m_norm[q]));
      }
      m_crew.once_a_column([&] { m_tau[q] = largest; }); // Q has been formed
    });
    m_crew.barrier();
    R largest(0);
    for (int q = 0; q < m_cols; ++q) largest = maximum(largest, m_tau[q]);
    m_crew.barrier(); // every thread has read the norms
    return largest;
  }

  template <class VectorS, class StoreRank>
  KOKKOS_FUNCTION void store_values(const VectorS& s, int s_size, const lane::SvdRequest& request,
                                    const R& not_finite, const StoreRank& store_rank) {
    m_crew.for_columns(0, m_cols, [&](int k) {
      const R size = square_root(norm_of(m_l, 0, m_cols, k));
      m_crew.once_a_column([&] { m_norm[k] = scale_by_power_of_two(size, m_exponent[k]); });
    });
    m_crew.barrier();
    m_crew.once([&] {
      R previous = m_cols > 0 ? m_norm[0] : R(0);
      const R cutoff = R(number_t<V>(request.tolerance)) * previous;
      const R rank_cutoff = R(lane::detail::rank_tolerance<V>(request, m_rows)) * previous;
      int rank = 0;
      for (int k = 0; k < m_cols; ++k) {
        if (m_norm[k] < previous) previous = m_norm[k];
        if (k < s_size) s(k) = (previous <= cutoff ? R(0) : previous) + not_finite;
        if (previous > rank_cutoff) ++rank;
      }
      if (request.details) store_rank(rank);
    });
  }

  /// An output matrix of the storage scalar, read and written as lane values.
  template <class Target>
  struct Output {
    const Target& matrix;
    KOKKOS_FUNCTION V get(int i, int j) const { return to_lane<T>(matrix(i, j)); }
    KOKKOS_FUNCTION void set(int i, int j, const V& v) const { matrix(i, j) = to_storage<T>(v); }

    struct Entry {
      const Output& out;
      int i, j;
      KOKKOS_FUNCTION operator V() const { return out.get(i, j); }
      KOKKOS_FUNCTION const Entry& operator=(const V& v) const {
        out.set(i, j, v);
        return *this;
      }
    };
    struct Column {
      const Output& out;
      int j;
      KOKKOS_FUNCTION Entry operator[](int i) const { return {out, i, j}; }
    };
    KOKKOS_FUNCTION Column column(int j) const { return {*this, j}; }
  };

  template <class X>
  KOKKOS_FUNCTION static void exchange(X& a, X& b) {
    const X t = a;
    a = b;
    b = t;
  }
};

/// One matrix of any shape, by one crew.
template <class Crew, class MatrixA, class MatrixU, class VectorS, class MatrixVt>
KOKKOS_FUNCTION int decompose(const Crew& crew, const MatrixA& a, const MatrixU& u,
                              const VectorS& s, const MatrixVt& vt, void* scratch,
                              const SvdOptions& options) {
  using T = std::remove_cvref_t<decltype(a(0, 0))>;
  const auto rows = static_cast<int>(a.extent(0)), cols = static_cast<int>(a.extent(1));
  const bool tall = rows >= cols;
  const int m = tall ? rows : cols, n = tall ? cols : rows;
  const Vectors of_m = tall ? options.left : options.right;
  const Vectors of_n = tall ? options.right : options.left;
  const auto size = svd_work_size(m, n, sizeof(arithmetic_t<T>), sizeof(shoal::detail::real_t<T>),
                                  of_m != Vectors::none);
  Svd<T, Crew> work(crew, m, n, of_m != Vectors::none, SvdWork(size, static_cast<char*>(scratch)));
  const lane::SvdRequest request{of_n != Vectors::none, lane::sign_rule(options.fix_signs, !tall),
                                 options.tolerance, options.max_sweeps};
  const auto s_size = static_cast<int>(s.extent(0));
  const auto no_details = [](auto...) {};
  if (tall)
    return work.decompose(a, u, s, vt, of_m == Vectors::none ? 0 : static_cast<int>(u.extent(1)),
                          s_size, of_n == Vectors::none ? 0 : static_cast<int>(vt.extent(0)),
                          request, no_details);
  // A^T = (Vt)^T diag(s) U^T: the same memory with rows and columns exchanged.
  return work.decompose(Transposed<MatrixA>{a}, Transposed<MatrixVt>{vt}, s, Transposed<MatrixU>{u},
                        of_m == Vectors::none ? 0 : static_cast<int>(vt.extent(0)), s_size,
                        of_n == Vectors::none ? 0 : static_cast<int>(u.extent(1)), request,
                        no_details);
}

} // namespace detail

/// Bytes of memory that \ref svd needs for one m x n matrix: 16-byte aligned, in team scratch or
/// elsewhere. About sizeof(arithmetic_t<T>) (m n + n^2 + n^2 with left vectors) + 40 n, with n the
/// smaller extent; m^2 in place of m n for all m vectors of a 16-bit scalar.
template <class T>
KOKKOS_FUNCTION std::size_t svd_scratch_bytes(std::int64_t m, std::int64_t n,
                                              Vectors left = Vectors::thin,
                                              Vectors right = Vectors::thin) {
  const bool tall = m >= n;
  const std::int64_t rows = tall ? m : n, cols = tall ? n : m;
  const Vectors of_rows = tall ? left : right;
  const std::int64_t built =
      of_rows == Vectors::full ? detail::svd_built_columns<T>(cols, rows) : 0;
  return detail::svd_work_size(rows, cols, sizeof(arithmetic_t<T>),
                               sizeof(shoal::detail::real_t<T>), of_rows != Vectors::none, built)
      .total();
}

/// A = U diag(s) Vt of one matrix, by all threads of a team; to be called by all of them.
///
/// \param[in]  a   m x n, any type with a(i, j) and extent(r): a rank-2 view or subview
/// \param[out] u   left vectors in columns: m x min(m, n) or m x m; not looked at if left is none
/// \param[out] s   values, by s(k), largest first; extent(0) of them; real numbers of the type that
///                 is computed with: float for half and bfloat16
/// \param[out] vt  conjugate right vectors in rows: min(m, n) x n or n x n; not looked at if right
/// is none
/// \param      scratch  \ref svd_scratch_bytes bytes, aligned to 16, shared by the team. It may be
/// reused
///                      after the next team barrier.
/// \return info, in every thread: 0 converged; > 0 sweeps done without; < 0 A holds NaN or Inf
///
/// The outputs may be read by other threads of the team after the next team barrier. Accuracy, rank
/// deficiency and scales as \ref shoal::svd; options.path is not looked at.
template <class Member, class MatrixA, class MatrixU, class VectorS, class MatrixVt>
KOKKOS_FUNCTION int svd(const Member& member, const MatrixA& a, const MatrixU& u, const VectorS& s,
                        const MatrixVt& vt, void* scratch, const SvdOptions& options) {
  return detail::decompose(detail::TeamCrew<Member>(member), a, u, s, vt, scratch, options);
}

} // namespace shoal::team

#endif
