// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_LANE_SVD_HPP
#define SHOAL_LANE_SVD_HPP

#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>
#include <shoal/lane/matrix.hpp>
#include <shoal/types.hpp>

#include <type_traits>

/// \file
/// The singular value decomposition of one matrix by one lane: a CUDA thread, or all slots of a
/// Pack abreast on a CPU. A = U diag(s) V^H for m >= n in three steps:
///
///  1. A P = Q R, Householder QR with column pivoting and row exchanges (Businger and Golub, Linear
///     least squares solutions by Householder transformations, 1965; row exchanges make the error
///     small row by row: Cox and Higham, Stability of Householder QR factorization for weighted
///     least squares problems, 1998).
///  2. One-sided Jacobi on the columns of L = R^H: L J = W diag(s), with W orthonormal (Drmac and
///     Veselic, New fast and accurate Jacobi SVD algorithm, 2008). The pivoted QR leaves columns
///     that are nearly sorted and nearly orthogonal, so few sweeps remain, and both A = B D and A =
///     D B with diagonal D keep the relative accuracy of every singular value.
///  3. U = Q J, V = P W.
///
/// Range: a column is stored as a * 2^e with max |a| near 1 and an integer e of its own, so no
/// square overflows or underflows whatever the mix of scales, and no global scaling is needed. A
/// column that the QR finds to be exactly dependent is replaced by a unit vector with e = "minus
/// infinity": Jacobi then orthogonalises it against the others without touching them, which
/// completes W for any rank.
namespace shoal::lane {

namespace detail {

using namespace shoal::detail;

/// Marks a column that is exactly zero: smaller than any exponent that a nonzero column can have,
/// so that 2^(dependent - e) is 0 and 2^(dependent - dependent) is 1.
template <class V>
KOKKOS_FUNCTION integer_t<V> dependent_exponent() {
  return integer_t<V>(-8 * format<number_t<V>>::bias);
}

/// A column whose scale is less than this is zero to the result: its singular value is far below
/// the smallest subnormal number. Rank-deficient matrices get there by cancelling rounding errors
/// again and again.
template <class V>
inline constexpr int least_exponent =
    -(format<number_t<V>>::bias + format<number_t<V>>::mantissa + 16);

/// Below this squared norm a column is scaled up again: far enough from 1 to be rare, far enough
/// from the underflow limit that no square loses bits.
template <class V>
inline constexpr number_t<V> rescale_below = number_t<V>(0x1p-40);

/// The exponent to take out of a column whose largest entry is `top`; 0 for a zero column.
template <class V>
KOKKOS_FUNCTION integer_t<V> exponent_to_take(const real_t<V>& top) {
  using I = integer_t<V>;
  // One below the exponent, so that the factor of the largest finite numbers is still normal.
  const I lowest(-format<number_t<V>>::bias);
  const I below = exponent(top) - I(1);
  return select(top > real_t<V>(0), select(below < lowest, lowest, below), I(0));
}

/// Multiplies rows [from, m) of column j by the power of two that brings their largest entry near
/// 1, in the lanes where `where` holds, and adds its exponent to e.
template <class A, class Rows, class V = typename A::Value>
KOKKOS_FUNCTION void rescale_column(A& a, int from, Rows m, int j, const mask_t<V>& where,
                                    integer_t<V>& e) {
  using R = real_t<V>;
  using I = integer_t<V>;
  R top(0);
  loop(from, m, [&](int i) { top = maximum(top, max_part(a.get(i, j))); });
  const I d = select(where, exponent_to_take<V>(top), I(0));
  const R factor = power_of_two<R>(I(0) - d);
  loop(from, m, [&](int i) { a.set(i, j, factor * a.get(i, j)); });
  e = e + d;
}

template <class A, class Rows, class V = typename A::Value>
KOKKOS_FUNCTION real_t<V> column_norm_squared(const A& a, int from, Rows m, int j) {
  return sum(from, m, real_t<V>(0), [&](int i) { return norm_squared(a.get(i, j)); });
}

/// The pivoted QR of one lane. The Householder vectors stay in a below the diagonal, and above it
/// T, with which H_0 ... H_(n-1) = I - V T V^H (Schreiber and Van Loan, A storage-efficient WY
/// representation for products of Householder transformations, 1989): a pass over the rows, which a
/// lane makes one by one, is what costs it most, and this needs two for each column and one for Q.
template <class V, int MaxCols>
struct PivotedQr {
  real_t<V> tau[MaxCols];         ///< H_k = I - tau_k v_k v_k^H, v_k(k) = 1
  integer_t<V> row[MaxCols];      ///< the row exchanged with row k before H_k
  integer_t<V> column[MaxCols];   ///< the column of A that stands at k
  integer_t<V> exponent[MaxCols]; ///< column k of L is scaled by 2^exponent[k]

  /// A P = Q R; leaves L = R^H, column by column scaled, in l (n x n). Returns 0, or NaN in the
  /// lanes where an entry is not finite.
  ///
  /// \tparam KeepQ  form_q follows
  template <bool KeepQ, class A, class L, class Rows, class Cols>
  KOKKOS_FUNCTION real_t<V> factor(A& a, L& l, Rows m, Cols n) {
    using R = real_t<V>;
    using I = integer_t<V>;
    I e[MaxCols];
    R norm[MaxCols];
    const R not_finite = scale_columns(a, e, norm, m, n);
    loop(0, n, [&](int k) {
      loop(k, n, [&](int j) {
        const mask_t<V> low = norm[j] < R(rescale_below<V>);
        if (any_of(low)) {
          rescale_column(a, k, m, j, low, e[j]);
          norm[j] = select(low, column_norm_squared(a, k, m, j), norm[j]);
        }
        norm[j] = select(e[j] < I(least_exponent<V>), R(0), norm[j]);
      });
      const I pivot = choose_pivot(l, e, norm, k, n);
      const auto zero = norm[k] == R(0);
      V beta = a.get(k, k);
      if (k + 1 < m) {
        V dot[MaxCols];
        bring_pivot<KeepQ>(a, pivot, k, m, n, dot);
        beta = reflect<KeepQ>(a, norm, dot, k, m, n);
      } else {
        row[k] = I(k);
        tau[k] = R(0);
        if constexpr (KeepQ) loop_before(k, n, [&](int i) { a.set(i, k, V(R(0))); });
      }
      store_row(a, l, e, beta, zero, k, n);
    });
    return not_finite;
  }

  /// Overwrites a (m x n, V and T) with the first n columns of Q.
  template <class A, class Rows, class Cols>
  KOKKOS_FUNCTION void form_q(A& a, Rows m, Cols n) const {
    using R = real_t<V>;
    // Above the diagonal T V^H, whose diagonal is tau.
    loop(0, n, [&](int i) {
      loop(0, n, [&](int back) {
        const int j = n - 1 - back;
        if (j <= i) return;
        V x = tau[i] * conjugate(a.get(j, i));
        loop_before(j, n, [&](int l) {
          if (l > i) x = conj_multiply_add(a.get(j, l), a.get(i, l), x);
        });
        a.set(i, j, x + a.get(i, j));
      });
    });
    V tv[MaxCols * MaxCols];
    columns_after(-1, n, [&](int j) {
      columns_after(-1, n, [&](int l) {
        if (l <= j) tv[l * MaxCols + j] = l < j ? a.get(l, j) : V(tau[j]);
      });
    });
    const auto form_row = [&](int i) {
      V q[MaxCols], v[MaxCols];
      columns_after(-1, n, [&](int j) { v[j] = j < i ? a.get(i, j) : V(R(i == j ? 1 : 0)); });
      columns_after(-1, n, [&](int j) {
        q[j] = V(R(i == j ? 1 : 0));
        columns_after(-1, n, [&](int l) {
          if (l <= j) q[j] = multiply_add(v[l], -tv[l * MaxCols + j], q[j]);
        });
      });
      columns_after(-1, n, [&](int j) { a.set(i, j, q[j]); });
    };
    loop(n, m, form_row);
    loop(0, n, [&](int back) { form_row(n - 1 - back); });
    loop(0, n, [&](int back) {
      const int k = n - 1 - back;
      a.swap_rows(k, row[k], m, 0, n);
    });
  }

private:
  /// Brings the largest entry of each column near 1, and sums the columns' squares. All passes over
  /// the rows take all columns at once, so that a lane has independent work while it waits for
  /// memory.
  template <class A, class Rows, class Cols>
  KOKKOS_FUNCTION real_t<V> scale_columns(A& a, integer_t<V>* e, real_t<V>* norm, Rows m, Cols n) {
    using R = real_t<V>;
    using I = integer_t<V>;
    R not_finite(0); // becomes NaN
    R top[MaxCols], factor[MaxCols], total[MaxCols], part[MaxCols];
    columns_after(-1, n, [&](int j) { top[j] = total[j] = R(0); });
    loop(0, m, [&](int i) {
      columns_after(-1, n, [&](int j) {
        const V x = a.get(i, j);
        not_finite += poison(x);
        top[j] = maximum(top[j], max_part(x));
      });
    });
    columns_after(-1, n, [&](int j) {
      const I d = exponent_to_take<V>(top[j]);
      column[j] = I(j);
      e[j] = d;
      factor[j] = power_of_two<R>(I(0) - d);
    });
    in_blocks(
        0, m, [&] { columns_after(-1, n, [&](int j) { part[j] = R(0); }); },
        [&](int i) {
          columns_after(-1, n, [&](int j) {
            const V x = factor[j] * a.get(i, j);
            a.set(i, j, x);
            part[j] += norm_squared(x);
          });
        },
        [&] { columns_after(-1, n, [&](int j) { total[j] += part[j]; }); });
    columns_after(-1, n, [&](int j) { norm[j] = total[j]; });
    return not_finite;
  }

  /// The column of largest remaining norm, which all but the rows [k, m) of a learn of here.
  template <class L, class Cols>
  KOKKOS_FUNCTION integer_t<V> choose_pivot(L& l, integer_t<V>* e, real_t<V>* norm, int k, Cols n) {
    using I = integer_t<V>;
    I best(k);
    I best_key = magnitude_key(norm[k], e[k]);
    loop(k + 1, n, [&](int j) {
      const I key = magnitude_key(norm[j], e[j]);
      const auto better = key > best_key;
      best = select(better, I(j), best);
      best_key = select(better, key, best_key);
    });
    loop(k + 1, n, [&](int j) {
      const auto here = best == I(j);
      if (!any_of(here)) return;
      loop_before(k, n, [&](int i) { l.swap_where(here, k, i, j, i); });
      swap_where(here, e[k], e[j]);
      swap_where(here, norm[k], norm[j]);
      swap_where(here, column[k], column[j]);
    });
    return best;
  }

  /// Brings the pivot column to place k, and its largest entry to row k. On the way, over rows [k,
  /// m): dot[j] = a_k^H a_j for the columns j after k, v_j^H a_k for those before it.
  template <bool KeepQ, class A, class Rows, class Cols>
  KOKKOS_FUNCTION void bring_pivot(A& a, const integer_t<V>& pivot, int k, Rows m, Cols n,
                                   V (&dot)[MaxCols]) {
    using R = real_t<V>;
    using I = integer_t<V>;
    const auto stays = pivot == I(k);
    const bool exchange = any_of(!stays);
    V part[MaxCols];
    I best(k);
    R best_size(0);
    columns_after(-1, n, [&](int j) { dot[j] = V(R(0)); });
    in_blocks(
        k, m, [&] { columns_after(-1, n, [&](int j) { part[j] = V(R(0)); }); },
        [&](int i) {
          V y[MaxCols];
          columns_after(-1, n, [&](int j) { y[j] = a.get(i, j); });
          V x = a.get(i, k);
          if (exchange) {
            columns_after(k, n, [&](int j) {
              swap_where(pivot == I(j), x, y[j]);
              a.set(i, j, y[j]);
            });
            a.set(i, k, x);
          }
          columns_after(-1, n, [&](int j) {
            if (j > k) part[j] = conj_multiply_add(x, y[j], part[j]);
            else if (KeepQ && j < k) part[j] = conj_multiply_add(y[j], x, part[j]);
          });
          const R size = norm_squared(x);
          const auto better = size > best_size;
          best = select(better, I(i), best);
          best_size = select(better, size, best_size);
        },
        [&] { columns_after(-1, n, [&](int j) { dot[j] += part[j]; }); });
    row[k] = best;
    a.swap_rows(k, best, m, KeepQ ? 0 : k, n);
  }

  /// Makes the reflector of column k and applies it to the columns after it, whose norms below row
  /// k it leaves in norm; adds column k of T. Returns R(k, k) = -phase(alpha) |x|, which keeps tau
  /// real; tau = 2 / v^H v from the rounded v makes H orthogonal to rounding of itself.
  template <bool KeepQ, class A, class Rows, class Cols>
  KOKKOS_FUNCTION V reflect(A& a, real_t<V>* norm, V (&dot)[MaxCols], int k, Rows m, Cols n) {
    using R = real_t<V>;
    const V alpha = a.get(k, k);
    const auto zero = norm[k] == R(0);
    const V beta = -(square_root(norm[k]) * phase_of(alpha));
    const V inverse = reciprocal(select(zero, V(R(1)), alpha - beta));
    const R tail = norm_squared(inverse) * (norm[k] - norm_squared(alpha));
    tau[k] = select(zero, R(0), R(2) / (R(1) + tail));
    if constexpr (KeepQ && MaxCols > 1) {
      V z[MaxCols];
      columns_after(-1, n, [&](int j) {
        const V v = conjugate(a.get(k, j));
        z[j] = multiply_add(inverse, multiply_add(v, -alpha, dot[j]), v);
      });
      columns_after(-1, n, [&](int i) {
        if (i >= k) return;
        V t = tau[i] * z[i];
        columns_after(-1, n, [&](int j) {
          if (j > i && j < k) t = multiply_add(a.get(i, j), z[j], t);
        });
        a.set(i, k, -(tau[k] * t));
      });
    }
    V w[MaxCols];
    columns_after(k, n, [&](int j) {
      const V x = a.get(k, j);
      w[j] = tau[k] * conj_multiply_add(inverse, conj_multiply_add(alpha, -x, dot[j]), x);
      a.set(k, j, x - w[j]);
    });
    R total[MaxCols], part[MaxCols];
    columns_after(k, n, [&](int j) { total[j] = R(0); });
    in_blocks(
        k + 1, m, [&] { columns_after(k, n, [&](int j) { part[j] = R(0); }); },
        [&](int i) {
          const V v = a.get(i, k) * inverse;
          if constexpr (KeepQ) a.set(i, k, v);
          columns_after(k, n, [&](int j) {
            const V x = multiply_add(v, -w[j], a.get(i, j));
            a.set(i, j, x);
            part[j] += norm_squared(x);
          });
        },
        [&] { columns_after(k, n, [&](int j) { total[j] += part[j]; }); });
    columns_after(k, n, [&](int j) { norm[j] = total[j]; });
    return beta;
  }

  /// Column k of L = R^H from row k of R.
  template <class A, class L, class Cols>
  KOKKOS_FUNCTION void store_row(const A& a, L& l, const integer_t<V>* e, const V& beta,
                                 const mask_t<V>& zero, int k, Cols n) {
    using R = real_t<V>;
    using I = integer_t<V>;
    const I own = shoal::detail::exponent(max_part(beta));
    exponent[k] = select(zero, dependent_exponent<V>(), e[k] + own);
    loop_before(k, n, [&](int j) { l.set(j, k, V(R(0))); });
    l.set(k, k, select(zero, V(R(1)), power_of_two<R>(I(0) - own) * conjugate(beta)));
    loop(k + 1, n, [&](int j) {
      l.set(j, k,
            select(zero, V(R(0)), power_of_two<R>(e[j] - e[k] - own) * conjugate(a.get(k, j))));
    });
  }
};

/// The rotation of one column pair. With P = p 2^e_p, Q = q 2^e_q, d = 2^(e_q - e_p), the scaled
/// columns become p := pp p + pq q, q := qp p + qq q, and the columns of J, which carry no scale,
/// p := c p + s q, q := -s p + c q; q is multiplied by `phase` first. The larger of the two new
/// columns stands in p, so that the columns end up sorted.
template <class V>
struct Rotation {
  using R = real_t<V>;
  R pp, pq, qp, qq, c, s;
  V phase;
  R new_app, new_aqq; ///< |p|^2 and |q|^2 after it
  mask_t<V> inexact;  ///< where new_aqq has lost digits, being a difference

  /// From app = |p|^2, aqq = |q|^2, apq = p^H q, d = 2^(e_q - e_p) and its inverse in the lanes
  /// where `active` holds; the identity in the others. The root t of t^2 + t (App - Aqq) / Apq - 1
  /// is taken without dividing by Apq or by d, so that equal norms (t = 1) and d = 0 (a dependent
  /// column) need no special case: with r^2 = h^2 + (2 g d)^2 the cosine's square is (1 + |h| / r)
  /// / 2, and two reciprocal square roots give everything.
  KOKKOS_FUNCTION Rotation(const mask_t<V>& active, const R& app, const R& aqq, const V& apq,
                           const R& d, const R& d_inverse) {
    const R half(number_t<V>(0.5));
    phase = select(active, conjugate(phase_of(apq)), V(R(1)));
    const R g = real_part(phase * apq);
    const R h = app - aqq * d * d;
    const R gd = (g + g) * d;
    const R r_inverse = reciprocal_sqrt(h * h + gd * gd);
    const R cosine2 = half + half * (magnitude(h) * r_inverse);
    const R cosine_inverse = reciprocal_sqrt(cosine2);
    const R tau = g * r_inverse * (cosine_inverse * cosine_inverse);
    const R t = tau * d;
    R cosine = cosine2 * cosine_inverse;
    // One step of Newton: J stays orthogonal only as well as c^2 (1 + t^2) = 1 holds.
    cosine += half * cosine * (R(1) - cosine * cosine * (R(1) + t * t));
    const R sine = t * cosine;
    const auto exchange = h < R(0); // q is the larger: turn by pi/2 less
    c = select(active, select(exchange, sine, cosine), R(1));
    s = select(active, select(exchange, cosine, sine), R(0));
    pp = qq = c;
    pq = s * d;
    qp = select(active, -select(exchange, cosine * d_inverse, tau * cosine), R(0));
    // The larger column gains what the smaller one loses.
    const R smaller = select(exchange, app * d_inverse * d_inverse, aqq);
    const R rest = smaller - tau * g;
    new_app = select(active, select(exchange, aqq * d * d, app) + t * g * d, app);
    new_aqq = select(active, rest, aqq);
    inexact = active && !(rest > R(number_t<V>(0.125)) * smaller);
  }

  /// The i-th entries x of p and y of q.
  KOKKOS_FUNCTION void turn_scaled(V& x, V& y) const {
    const V a = x, b = phase * y;
    x = pp * a + pq * b;
    y = qp * a + qq * b;
  }
  KOKKOS_FUNCTION void turn(V& x, V& y) const {
    const V a = x, b = phase * y;
    x = c * a + s * b;
    y = c * b - s * a;
  }
  template <class L>
  KOKKOS_FUNCTION void turn_scaled(L& l, int p, int q, int i) const {
    V x = l.get(i, p), y = l.get(i, q);
    turn_scaled(x, y);
    l.set(i, p, x);
    l.set(i, q, y);
  }
  template <class J>
  KOKKOS_FUNCTION void turn(J& j, int p, int q, int i) const {
    V x = j.get(i, p), y = j.get(i, q);
    turn(x, y);
    j.set(i, p, x);
    j.set(i, q, y);
  }
};

/// |p^H q| <= tolerance |p| |q| counts as orthogonal. The tolerance, 2 u n^(1/4), lies above what
/// rounding leaves of the dot product of orthogonal n-vectors (docs/accuracy.md).
template <class R>
KOKKOS_FUNCTION R orthogonality_tolerance_squared(int n) {
  const number_t<R> u = 2 * unit_roundoff<R>;
  return R(u * u * Kokkos::sqrt(number_t<R>(n)));
}

/// Whether columns p < q are still to be turned: not orthogonal, or the larger not first. d =
/// 2^(e_q
/// - e_p).
template <class R, class V>
KOKKOS_FUNCTION mask_t<V> needs_rotation(const R& app, const R& aqq, const V& apq, const R& d,
                                         const R& tolerance_squared) {
  // Norms that agree to rounding count as sorted, else rounding could exchange them for ever.
  const R slack(number_t<V>(1) + 16 * unit_roundoff<R>);
  return norm_squared(apq) > tolerance_squared * app * aqq || aqq * d * d > slack * app;
}

/// One-sided Jacobi on the n scaled columns of l, cyclic by rows. J (n x n) is multiplied by the
/// rotations when Accumulate. Returns the sweeps done in each lane; `converged` tells where the
/// last one found nothing to do.
template <bool Accumulate, class L, class J, class Cols, class V = typename L::Value>
KOKKOS_FUNCTION integer_t<V> jacobi(L& l, J& rotations, integer_t<V>* e, Cols n, int max_sweeps,
                                    mask_t<V>& converged) {
  using R = real_t<V>;
  using I = integer_t<V>;
  I sweeps(0);
  const R tolerance_squared = orthogonality_tolerance_squared<R>(n);
  converged = mask_t<V>(n <= 1);
  for (int sweep = 0; sweep < max_sweeps && any_of(!converged); ++sweep) {
    mask_t<V> turned(false);
    loop(0, n, [&](int p) {
      loop(p + 1, n, [&](int q) {
        V apq(R(0));
        R app(0), aqq(0);
        const auto products = [&] {
          apq = V(R(0));
          app = aqq = R(0);
          loop(0, along(n), [&](int i) {
            const V x = l.get(i, p), y = l.get(i, q);
            apq = conj_multiply_add(x, y, apq);
            app += norm_squared(x);
            aqq += norm_squared(y);
          });
        };
        products();
        const auto low = app < R(rescale_below<V>) || aqq < R(rescale_below<V>);
        if (any_of(low)) {
          rescale_column(l, 0, n, p, low, e[p]);
          rescale_column(l, 0, n, q, low, e[q]);
          products();
        }
        const R d = power_of_two<R>(e[q] - e[p]);
        const auto active = needs_rotation(app, aqq, apq, d, tolerance_squared);
        turned = turned || active;
        if (!any_of(active)) return;
        const Rotation<V> rotation(active, app, aqq, apq, d, power_of_two<R>(e[p] - e[q]));
        loop(0, along(n), [&](int i) { rotation.turn_scaled(l, p, q, i); });
        if constexpr (Accumulate) {
          loop(0, along(n), [&](int i) { rotation.turn(rotations, p, q, i); });
        }
      });
    });
    sweeps = sweeps + select(converged, I(0), I(1));
    converged = !turned;
  }
  return sweeps;
}

} // namespace detail

/// Whose largest entry is made real and positive, vector by vector.
enum class SignRule {
  none,
  left, ///< U's; needs left vectors
  right ///< V's: the left vectors of a wide matrix that is decomposed as its transpose
};

/// The rule that gives the left vectors of the matrix as the caller has it.
KOKKOS_INLINE_FUNCTION SignRule sign_rule(bool fix_signs, bool transposed) {
  return !fix_signs ? SignRule::none : transposed ? SignRule::right : SignRule::left;
}

/// What \ref svd is asked for at run time.
struct SvdRequest {
  bool right_vectors = true; ///< whether V^H is stored
  SignRule signs = SignRule::none;
  double tolerance = 0; ///< s_k <= tolerance * s_0 is stored as 0
  int max_sweeps = 30;  ///< the bound on Jacobi sweeps, >= 1
  /// Whether the details of shoal::SvdDetails are stored, and the off-diagonal norm among them.
  bool details = false, off_norm = false;
  int rank_rows = 0; ///< the rank is that of a matrix of so many rows, if it has fewer
};

/// Stands for details that are never asked for.
struct NoDetails {};

namespace detail {

/// s_k counts towards the rank of an m x n matrix, m >= n, where it exceeds this part of s_0.
template <class V>
KOKKOS_FUNCTION number_t<V> rank_tolerance(const SvdRequest& request, int m) {
  using Number = number_t<V>;
  const int rows = m < request.rank_rows ? request.rank_rows : m;
  const Number rounding = 2 * unit_roundoff<V> * static_cast<Number>(rows);
  const auto asked = static_cast<Number>(request.tolerance);
  return asked > rounding ? asked : rounding;
}

/// The square of the largest |cos| between two columns of L.
template <class L, class Cols, class V = typename L::Value>
KOKKOS_FUNCTION real_t<V> off_norm_squared(const L& l, Cols n) {
  using R = real_t<V>;
  R largest(0);
  loop(0, n, [&](int p) {
    loop(p + 1, n, [&](int q) {
      V apq(R(0));
      loop(0, along(n), [&](int i) { apq = conj_multiply_add(l.get(i, p), l.get(i, q), apq); });
      largest = maximum(largest, norm_squared(apq) / (column_norm_squared(l, 0, along(n), p) *
                                                      column_norm_squared(l, 0, along(n), q)));
    });
  });
  return largest;
}

/// One pass of modified Gram-Schmidt over the columns of J. They are orthonormal but for the
/// rounding of many rotations, whose lengths and angles drift; the pass brings that back to the
/// rounding of one product.
template <class J, class Cols, class V = typename J::Value>
KOKKOS_FUNCTION void reorthogonalise(J& j, Cols n) {
  using R = real_t<V>;
  loop(0, n, [&](int p) {
    const R length = R(1) + R(number_t<V>(0.5)) * (R(1) - column_norm_squared(j, 0, along(n), p));
    loop(0, along(n), [&](int i) { j.set(i, p, length * j.get(i, p)); });
    loop(p + 1, n, [&](int q) {
      V dot(R(0));
      loop(0, along(n), [&](int i) { dot = conj_multiply_add(j.get(i, p), j.get(i, q), dot); });
      loop(0, along(n), [&](int i) { j.set(i, q, multiply_add(j.get(i, p), -dot, j.get(i, q))); });
    });
  });
}

/// The largest of the entries x(0), ..., x(m - 1) by magnitude, one by one.
template <class V>
struct Largest {
  using R = real_t<V>;
  R size2 = R(0);
  V value = V(R(1));

  KOKKOS_FUNCTION void see(const V& x, const R& x2) {
    const auto larger = x2 > size2;
    size2 = select(larger, x2, size2);
    value = select(larger, x, value);
  }
};

/// Row i of Q J, row i of Q standing in a.
template <class A, class J, int MaxCols, class Cols, class V = typename A::Value>
KOKKOS_FUNCTION void multiply_row(const A& a, const J& rotations, int i, Cols n,
                                  V (&product)[MaxCols]) {
  loop(0, along(n), [&](int k) {
    product[k] = V(real_t<V>(0));
    loop(0, along(n),
         [&](int p) { product[k] = multiply_add(a.get(i, p), rotations.get(p, k), product[k]); });
  });
}

} // namespace detail

/// A = U diag(s) V^H of one m x n matrix a lane, m >= n >= 1.
///
/// \param a         in: A (m x n); destroyed
/// \param l         n x n work space
/// \param rotations n x n work space, used only with left vectors
/// \param store_s   receives s_k by store_s(k, value), k ascending
/// \param store_u   receives U(i, k) by store_u(i, k, value), row by row; row i of a is not read
/// after row
///                  i is stored, so that it may write into a
/// \param store_vt  receives V^H(k, column) by store_vt(k, column, value); column is a lane value,
/// since
///                  each lane pivots for itself
/// \param store_details  receives what SvdRequest::details asks for by store_details(sweeps,
///                   off_norm, rank), lane values
/// \tparam LeftVectors  false leaves the accumulation of U out of the code
/// \tparam MaxCols      the largest n of this instance
/// \return info of each lane: 0 converged; > 0 the sweeps done without converging (the best
///         decomposition so far is stored); -1 A holds Inf or NaN (everything stored is NaN then)
///
/// Accuracy: docs/accuracy.md. Cost: 2 m n^2 for the QR, as much again for U, about 10 n^3 a sweep.
template <bool LeftVectors, int MaxCols, class A, class L, class J, class Rows, class Cols,
          class StoreS, class StoreU, class StoreVt, class StoreDetails = NoDetails,
          class V = typename A::Value>
KOKKOS_FUNCTION shoal::detail::integer_t<V>
svd(A& a, L& l, J& rotations, Rows m, Cols n, const SvdRequest& request, const StoreS& store_s,
    const StoreU& store_u, const StoreVt& store_vt,
    [[maybe_unused]] const StoreDetails& store_details = {}) {
  using namespace shoal::detail;
  using R = real_t<V>;
  using I = integer_t<V>;

  detail::PivotedQr<V, MaxCols> qr;
  const R not_finite = qr.template factor<LeftVectors>(a, l, m, n);
  if constexpr (LeftVectors) {
    loop(0, n,
         [&](int i) { loop(0, n, [&](int k) { rotations.set(i, k, V(R(i == k ? 1 : 0))); }); });
  }
  mask_t<V> converged;
  const I sweeps =
      detail::jacobi<LeftVectors>(l, rotations, qr.exponent, n, request.max_sweeps, converged);

  if constexpr (LeftVectors) {
    detail::reorthogonalise(rotations, n);
    qr.form_q(a, m, n);
  }
  if (request.signs != SignRule::none) {
    detail::Largest<V> largest[MaxCols];
    R size2[MaxCols], part[MaxCols]; // of the columns of U
    loop(0, n, [&](int k) { size2[k] = R(0); });
    if constexpr (LeftVectors) {
      if (request.signs == SignRule::left)
        in_blocks(
            0, m, [&] { loop(0, n, [&](int k) { part[k] = R(0); }); },
            [&](int i) {
              V row[MaxCols];
              detail::multiply_row(a, rotations, i, n, row);
              loop(0, n, [&](int k) {
                const R x2 = norm_squared(row[k]);
                largest[k].see(row[k], x2);
                part[k] += x2;
              });
            },
            [&] { loop(0, n, [&](int k) { size2[k] += part[k]; }); });
    }
    // U(:, k) = Q J(:, k) and V(:, k) = P L(:, k) / |L(:, k)| are multiplied by one phase.
    loop(0, n, [&](int k) {
      if (request.signs == SignRule::right) {
        loop(0, n, [&](int i) { largest[k].see(l.get(i, k), norm_squared(l.get(i, k))); });
        size2[k] = R(1);
      }
      const V phase = conjugate(phase_of(largest[k].value));
      const V left_phase = unit_length(phase, size2[k]);
      loop(0, n, [&](int i) {
        l.set(i, k, phase * l.get(i, k));
        if constexpr (LeftVectors) rotations.set(i, k, left_phase * rotations.get(i, k));
      });
    });
  }
  if constexpr (LeftVectors) {
    loop(0, m, [&](int i) {
      V row[MaxCols];
      detail::multiply_row(a, rotations, i, n, row);
      loop(0, along(n), [&](int k) { store_u(i, k, row[k] + V(not_finite)); });
    });
  }

  constexpr bool may_have_details = !std::is_same_v<StoreDetails, NoDetails>;
  R previous(0), cutoff(0), rank_cutoff(0);
  I rank(0);
  loop(0, n, [&](int k) {
    const R size = square_root(detail::column_norm_squared(l, 0, along(n), k));
    R sigma = scale_by_power_of_two(size, qr.exponent[k]);
    // Neighbours that agree to rounding may stand in either order: the later place takes the
    // smaller.
    if (k == 0) cutoff = R(number_t<V>(request.tolerance)) * sigma;
    else sigma = select(previous < sigma, previous, sigma);
    previous = sigma;
    if constexpr (may_have_details) {
      if (request.details) {
        if (k == 0) rank_cutoff = R(detail::rank_tolerance<V>(request, m)) * sigma;
        rank = rank + select(sigma > rank_cutoff, I(1), I(0));
      }
    }
    store_s(k, select(sigma <= cutoff, R(0), sigma) + not_finite);
    if (request.right_vectors) {
      const R inverse = R(1) / size;
      loop(0, along(n), [&](int i) {
        store_vt(k, qr.column[i], inverse * conjugate(l.get(i, k)) + V(not_finite));
      });
    }
  });
  const auto finite = not_finite == R(0);
  if constexpr (may_have_details) {
    if (request.details) {
      const R off_norm = request.off_norm ? square_root(detail::off_norm_squared(l, n)) : R(0);
      store_details(select(finite, sweeps, I(0)), off_norm + not_finite,
                    select(finite, rank, I(0)));
    }
  }
  return select(finite, select(converged, I(0), sweeps), I(svd_not_finite));
}

} // namespace shoal::lane

#endif
