// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_VECTOR_SVD_HPP
#define SHOAL_SRC_SVD_VECTOR_SVD_HPP

#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>
#include <shoal/lane/svd.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace shoal::detail {

/// The working set of VectorSvd, in lane values of `width` numbers: blocks of `width` columns, a
/// row of which is one lane value, and for each column one number of several arrays.
struct VectorSvdSize {
  std::size_t width;
  std::size_t rows;     ///< m, filled up to whole lane values
  std::size_t blocks;   ///< of columns of A
  std::size_t l_blocks; ///< of L and J: two at least, since they are turned in pairs
  std::size_t l_rows;
  bool left;

  KOKKOS_FUNCTION VectorSvdSize(std::int64_t m, std::int64_t n, int lanes, bool left_vectors)
      : width(static_cast<std::size_t>(lanes)),
        rows((static_cast<std::size_t>(m) + width - 1) / width * width),
        blocks((static_cast<std::size_t>(n) + width - 1) / width),
        l_blocks(blocks < 2 ? 2 : blocks), l_rows(l_blocks * width), left(left_vectors) {}

  KOKKOS_FUNCTION std::size_t a() const { return blocks * rows; }
  KOKKOS_FUNCTION std::size_t l() const { return l_blocks * l_rows; }
  KOKKOS_FUNCTION std::size_t j() const { return left ? l() : 0; }
  KOKKOS_FUNCTION std::size_t t() const { return left ? blocks * width : 0; }
  KOKKOS_FUNCTION std::size_t gram() const { return l_rows; }
  KOKKOS_FUNCTION std::size_t u() const { return left ? rows : 0; }
  KOKKOS_FUNCTION std::size_t reflector() const { return rows / width; }
  /// Norms, factors of the reflectors, exponents of A and L; exchanged rows and columns.
  KOKKOS_FUNCTION std::size_t arrays() const { return 6 * l_blocks; }
  KOKKOS_FUNCTION std::size_t lane_values() const {
    return a() + l() + j() + t() + u() + gram() + reflector() + arrays();
  }
};

/// The singular value decomposition of one m x n matrix, m >= n, by one thread with vector
/// registers of Bytes bytes: the algorithm of lane/svd.hpp for matrices that are large enough to
/// fill the registers with neighbouring columns.
///
/// Matrices are held in blocks of as many columns as a register has numbers; a row of a block is
/// one lane value V (for complex scalars real and imaginary parts apart). Products of such blocks
/// need neither transposition nor sums across a register.
///
///  - QR: reflector by reflector, with the norms of all columns recomputed where they are changed.
///    Rows are exchanged in earlier reflectors too, so that Q = P (I - V_0 T_0 V_0^H) (I - V_1 T_1
///    V_1^H) ... with one block V_b for every block of columns, and U = Q J needs products only.
///  - Jacobi: two blocks X, Y of L at a time (Z. Drmac, A global convergence proof for cyclic
///  Jacobi
///    methods with block rotations, 2009). Their Gram matrix tells whether the columns are
///    orthogonal, each pair relative to its own norms; if not, rotations make it more diagonal, a
///    register full of disjoint pairs at once, and the product of these rotations turns X, Y and J.
///    The Gram matrix chooses rotations and nothing else: the products of X and Y are summed anew
///    from the columns whenever the blocks meet, those within a block in every sweep, and the
///    values come from the columns' norms.
template <class T, int Bytes>
class VectorSvd {
public:
  using Scalar = arithmetic_t<T>;
  using Number = number_t<T>;
  static constexpr int width = Bytes / static_cast<int>(sizeof(Number));
  using V = lane_value_t<T, width>;
  using R = real_t<V>;
  using I = integer_t<V>;
  using Index = typename integer_of<Number>::type;
  static_assert(width >= 4 && (width & (width - 1)) == 0);

  KOKKOS_FUNCTION VectorSvd(int m, int n, bool left_vectors, char* memory)
      : m_rows(m), m_cols(n), m_left(left_vectors),
        m_tolerance_squared(lane::detail::orthogonality_tolerance_squared<R>(n)) {
    const VectorSvdSize size(m, n, width, left_vectors);
    m_chunks = static_cast<int>(size.reflector());
    m_blocks = static_cast<int>(size.blocks);
    m_l_blocks = static_cast<int>(size.l_blocks);
    m_a_pitch = size.rows;
    m_l_pitch = size.l_rows;
    V* next = reinterpret_cast<V*>(memory);
    const auto take = [&](std::size_t count) {
      V* const here = next;
      next += count;
      return here;
    };
    m_a = take(size.a());
    m_l = take(size.l());
    m_j = take(size.j());
    m_t = take(size.t());
    m_u = take(size.u());
    m_gram = take(size.gram());
    m_reflector = take(size.reflector());
    m_norm = reinterpret_cast<R*>(take(size.l_blocks));
    m_tau = reinterpret_cast<Number*>(take(size.l_blocks));
    m_scale = reinterpret_cast<I*>(take(size.l_blocks));
    m_exponent = reinterpret_cast<I*>(take(size.l_blocks));
    m_row = reinterpret_cast<int*>(take(size.l_blocks));
    m_column = reinterpret_cast<int*>(take(size.l_blocks));
  }

  /// A (m x n) = U diag(s) V^H; u may have any number of columns up to m, s any number of entries
  /// up to n, vt any number of rows up to n. Calls
  /// store_details(sweeps, off_norm, rank) where the request asks for details. Returns info.
  template <class StoreDetails>
  KOKKOS_FUNCTION int decompose(const MatrixRef<const T>& a, const MatrixRef<T>& u, int u_cols,
                                const MatrixRef<Number>& s, const MatrixRef<T>& vt, int vt_rows,
                                const lane::SvdRequest& request,
                                const StoreDetails& store_details) {
    const Number not_finite = load(a);
    factor();
    bool converged;
    const int sweeps = jacobi(request.max_sweeps, converged);
    if (request.signs == lane::SignRule::right) fix_right_signs();
    if (m_left) {
      reorthogonalise();
      form_t();
      store_left_vectors(u, u_cols, request.signs == lane::SignRule::left, not_finite);
    }
    store_right_vectors(vt, vt_rows, not_finite);
    const Number off_norm = request.off_norm ? Kokkos::sqrt(off_norm_squared()) : Number(0);
    const int rank = store_values(s, request, not_finite);
    const bool finite = not_finite == Number(0);
    if (request.details)
      store_details(finite ? sweeps : 0, off_norm + not_finite, finite ? rank : 0);
    return !finite ? svd_not_finite : converged ? 0 : sweeps;
  }

private:
  static constexpr int frame = 2 * width; ///< columns of a pair of blocks
  static constexpr int parts = is_complex_v<T> ? 2 : 1;

  int m_rows, m_cols;
  bool m_left;
  R m_tolerance_squared;
  int m_chunks;             ///< lane values of one column of A
  int m_blocks, m_l_blocks; ///< of A; of L and J
  std::size_t m_a_pitch, m_l_pitch;
  V *m_a, *m_l, *m_j, *m_t, *m_u, *m_gram;
  V* m_reflector; ///< v, the one in work, contiguous
  R* m_norm;      ///< squared norms of the columns of A
  Number* m_tau;
  I *m_scale, *m_exponent; ///< of the columns of A; of L
  int *m_row, *m_column;

  KOKKOS_FUNCTION V* a_block(int b) const { return m_a + static_cast<std::size_t>(b) * m_a_pitch; }
  KOKKOS_FUNCTION V* l_block(int b) const { return m_l + static_cast<std::size_t>(b) * m_l_pitch; }
  KOKKOS_FUNCTION V* gram_block(int b) const { return m_gram + b * width; }
  KOKKOS_FUNCTION V* j_block(int b) const { return m_j + static_cast<std::size_t>(b) * m_l_pitch; }

  KOKKOS_FUNCTION static int least(int x, int y) { return x < y ? x : y; }
  /// The numbers of the columns of a block.
  KOKKOS_FUNCTION static I columns_of(int block) {
    I index(0);
    SHOAL_UNROLL
    for (int s = 0; s < width; ++s) set_slot(index, s, static_cast<Index>(block * width + s));
    return index;
  }
  /// One number of an array that is held in lane values.
  template <class P>
  KOKKOS_FUNCTION static typename P::Element& number(P* x, int i) {
    return reinterpret_cast<typename P::Element*>(x)[i];
  }
  template <class X>
  KOKKOS_FUNCTION static void exchange(X& a, X& b) {
    const X t = a;
    a = b;
    b = t;
  }

  // --- sums and products of blocks --------------------------------------------------------------

  /// Rows that are summed before their sum is added to the total; see in_blocks.
  static constexpr int sum_rows = 32;

  KOKKOS_FUNCTION static R norms(const V* x, int begin, int end) {
    R total(Number(0));
    for (int first = begin; first < end; first += sum_rows) {
      const int last = least(first + sum_rows, end);
      R part[4] = {R(0), R(0), R(0), R(0)};
      int i = first;
      for (; i + 4 <= last; i += 4) {
        SHOAL_UNROLL
        for (int c = 0; c < 4; ++c) part[c] += norm_squared(x[i + c]);
      }
      for (; i < last; ++i) part[0] += norm_squared(x[i]);
      total += (part[0] + part[1]) + (part[2] + part[3]);
    }
    return total;
  }

  /// product = X^H Y, row by row, of a number of rows that is a multiple of 4. As many sums at once
  /// as hide the time that an addition takes.
  KOKKOS_FUNCTION static void products(const V* x, const V* y, int rows, V* product) {
    constexpr int sums = 8 / parts, columns = width < sums ? width : sums, chains = sums / columns;
    for (int c = 0; c < width; ++c) product[c] = V(R(0));
    for (int first = 0; first < rows; first += sum_rows) {
      const int last = least(first + sum_rows, rows);
      for (int from = 0; from < width; from += columns) {
        V sum[chains][columns];
        SHOAL_UNROLL
        for (int k = 0; k < chains; ++k) {
          SHOAL_UNROLL
          for (int c = 0; c < columns; ++c) sum[k][c] = V(R(0));
        }
        SHOAL_DO_NOT_UNROLL
        for (int i = first; i < last; i += chains) {
          SHOAL_UNROLL
          for (int k = 0; k < chains; ++k) {
            const V row = y[i + k];
            SHOAL_UNROLL
            for (int c = 0; c < columns; ++c)
              sum[k][c] = conj_multiply_add(spread_slot(x[i + k], from + c), row, sum[k][c]);
          }
        }
        SHOAL_UNROLL
        for (int c = 0; c < columns; ++c) {
          SHOAL_UNROLL
          for (int k = 1; k < chains; ++k) sum[0][c] += sum[k][c];
          product[from + c] += sum[0][c];
        }
      }
    }
  }

  /// Y -= X F, F row by row.
  KOKKOS_FUNCTION static void subtract_product(V* y, const V* x, const V* f, int rows) {
    SHOAL_DO_NOT_UNROLL
    for (int i = 0; i < rows; ++i) {
      V sum = y[i];
      SHOAL_UNROLL
      for (int c = 0; c < width; ++c) sum = multiply_add(-spread_slot(x[i], c), f[c], sum);
      y[i] = sum;
    }
  }

  /// (X Y) := (X Y) F, for a number of rows that is a multiple of 4.
  KOKKOS_FUNCTION static void turn(V* x, V* y, const V (*f)[2], int rows) {
    constexpr int at_once = 4 / parts;
    SHOAL_DO_NOT_UNROLL
    for (int i = 0; i < rows; i += at_once) {
      V sum[at_once][2];
      SHOAL_UNROLL
      for (int k = 0; k < at_once; ++k) sum[k][0] = sum[k][1] = V(R(0));
      const auto add = [&](const V* z, const V(*half)[2]) {
        SHOAL_DO_NOT_UNROLL
        for (int c = 0; c < width; ++c) {
          const V first = half[c][0], second = half[c][1];
          SHOAL_UNROLL
          for (int k = 0; k < at_once; ++k) {
            const V entry = spread_slot(z[i + k], c);
            sum[k][0] = multiply_add(entry, first, sum[k][0]);
            sum[k][1] = multiply_add(entry, second, sum[k][1]);
          }
        }
      };
      add(x, f);
      add(y, f + width);
      SHOAL_UNROLL
      for (int k = 0; k < at_once; ++k) {
        x[i + k] = sum[k][0];
        y[i + k] = sum[k][1];
      }
    }
  }

  // --- QR ---------------------------------------------------------------------------------------

  /// Copies A, scaled by columns. Returns 0, or NaN where an entry is not finite.
  KOKKOS_FUNCTION Number load(const MatrixRef<const T>& a) {
    R bad(Number(0));
    for (int b = 0; b < m_blocks; ++b) {
      V* const x = a_block(b);
      const int cols = least(width, m_cols - b * width);
      for (int i = 0; i < m_rows; ++i) {
        if (cols < width) x[i] = V(R(0));
        for (int s = 0; s < cols; ++s) set_slot(x[i], s, a(i, b * width + s));
      }
      for (int i = m_rows; i < m_chunks * width; ++i) x[i] = V(R(0));
      m_scale[b] = I(0);
      rescale(x, 0, m_rows, columns_of(b) < I(m_cols), m_scale[b], &bad);
      m_norm[b] = norms(x, 0, m_rows);
    }
    for (int j = 0; j < m_cols; ++j) m_column[j] = j;
    Number sum(0);
    for (int s = 0; s < width; ++s) sum += get_slot(bad, s);
    return sum;
  }

  /// Brings the largest entry of rows [from, to) of the columns where `where` holds near 1, and
  /// adds the exponents taken out to e. Also adds what poisons the columns to *bad.
  KOKKOS_FUNCTION static void rescale(V* x, int from, int to, const mask_t<V>& where, I& e,
                                      R* bad = nullptr) {
    R top(Number(0));
    for (int i = from; i < to; ++i) {
      if (bad) *bad += poison(x[i]);
      top = maximum(top, max_part(x[i]));
    }
    const I d = select(where, lane::detail::exponent_to_take<V>(top), I(0));
    const R factor = power_of_two<R>(I(0) - d);
    for (int i = from; i < to; ++i) x[i] = factor * x[i];
    e = e + d;
  }

  /// See lane::detail::PivotedQr::factor.
  KOKKOS_FUNCTION void factor() {
    const std::size_t l_size = static_cast<std::size_t>(m_l_blocks) * m_l_pitch;
    for (std::size_t i = 0; i < l_size; ++i) m_l[i] = V(R(0));
    for (int b = 0; b < m_l_blocks; ++b) {
      m_exponent[b] = I(0);
      for (int s = 0; s < width; ++s) m_tau[b * width + s] = Number(0);
    }
    for (int k = 0; k < m_cols; ++k) {
      for (int b = k / width; b < m_blocks; ++b) refresh_norms(b, k);
      pivot_column(k);
      const bool zero = number(m_norm, k) == Number(0);
      V diagonal;
      if (k + 1 < m_rows) diagonal = reflect(k);
      else {
        m_row[k] = k;
        diagonal = spread_slot(a_block(k / width)[k], k % width);
        set_reflector_column(k, [&](int i) { return Scalar(i == k ? 1 : 0); });
      }
      store_row(k, diagonal, zero);
    }
  }

  KOKKOS_FUNCTION void refresh_norms(int b, int k) {
    const I index = columns_of(b);
    const auto in_work = index > I(k - 1) && index < I(m_cols);
    const auto low = m_norm[b] < R(lane::detail::rescale_below<V>) && in_work;
    if (any_of(low)) {
      rescale(a_block(b), k, m_rows, low, m_scale[b]);
      m_norm[b] = select(low, norms(a_block(b), k, m_rows), m_norm[b]);
    }
    m_norm[b] = select(m_scale[b] < I(lane::detail::least_exponent<V>), R(0), m_norm[b]);
  }

  KOKKOS_FUNCTION void pivot_column(int k) {
    int best = k;
    Index best_key = magnitude_key(number(m_norm, k), number(m_scale, k));
    for (int j = k + 1; j < m_cols; ++j) {
      const Index key = magnitude_key(number(m_norm, j), number(m_scale, j));
      if (key > best_key) {
        best_key = key;
        best = j;
      }
    }
    if (best == k) return;
    V *const x = a_block(k / width), *const y = a_block(best / width);
    const int p = k % width, q = best % width;
    for (int i = k; i < m_rows; ++i) {
      const auto t = get_slot(x[i], p);
      set_slot(x[i], p, get_slot(y[i], q));
      set_slot(y[i], q, t);
    }
    for (int b = 0; b * width < k; ++b) exchange(l_block(b)[k], l_block(b)[best]);
    exchange(number(m_norm, k), number(m_norm, best));
    exchange(number(m_scale, k), number(m_scale, best));
    exchange(m_column[k], m_column[best]);
  }

  /// Column k of the reflectors: entry(i) from row k on, zero above.
  template <class Entry>
  KOKKOS_FUNCTION void set_reflector_column(int k, const Entry& entry) {
    V* const x = a_block(k / width);
    for (int i = k / width * width; i < k; ++i) set_slot(x[i], k % width, Scalar(0));
    for (int i = k; i < m_rows; ++i) set_slot(x[i], k % width, entry(i));
  }

  /// See lane::detail::PivotedQr::reflect. Returns R(k, k).
  KOKKOS_FUNCTION V reflect(int k) {
    V* const x = a_block(k / width);
    V* const v = m_reflector;
    const int slot = k % width, first = k / width;
    const I row = columns_of(0);
    I best(k);
    R best_size(Number(-1));
    for (int c = first; c < m_chunks; ++c) {
      SHOAL_UNROLL
      for (int r = 0; r < width; ++r) set_slot(v[c], r, get_slot(x[c * width + r], slot));
      const I at = row + I(c * width);
      if (c == first) v[c] = select(at < I(k), V(R(0)), v[c]);
      const R size = norm_squared(v[c]);
      const auto better = size > best_size && at > I(k - 1);
      best = select(better, at, best);
      best_size = select(better, size, best_size);
    }
    // The first of the largest: slots keep the first of their own rows.
    int pivot = k;
    Number pivot_size(-1);
    for (int s = 0; s < width; ++s) {
      const auto at = static_cast<int>(get_slot(best, s));
      const Number size = get_slot(best_size, s);
      if (size > pivot_size || (size == pivot_size && at < pivot)) {
        pivot = at;
        pivot_size = size;
      }
    }
    m_row[k] = pivot;
    if (pivot != k) {
      for (int b = 0; b < m_blocks; ++b) exchange(a_block(b)[k], a_block(b)[pivot]);
      const auto t = get_slot(v[k / width], slot);
      set_slot(v[k / width], slot, get_slot(v[pivot / width], pivot % width));
      set_slot(v[pivot / width], pivot % width, t);
    }

    const R norm(number(m_norm, k));
    const auto zero = norm == R(0);
    const V alpha = spread_slot(v[first], slot);
    const V beta = -(square_root(norm) * phase_of(alpha));
    const V inverse = reciprocal(select(zero, V(R(1)), alpha - beta));
    for (int c = first; c < m_chunks; ++c) v[c] = v[c] * inverse;
    set_slot(v[first], slot, Scalar(0));
    R tails = norms(v, first, m_chunks);
    Number tail(0);
    for (int s = 0; s < width; ++s) tail += get_slot(tails, s);
    set_slot(v[first], slot, Scalar(1));
    const Number tau = zero[0] ? Number(0) : Number(2) / (Number(1) + tail);
    m_tau[k] = tau;
    for (int b = first; b < m_blocks; ++b) reflect_block(b, k, R(tau));
    set_reflector_column(k, [&](int i) { return get_slot(v[i / width], i % width); });
    return beta;
  }

  /// The columns after k of block b := (I - tau v v^H) times them, and their norms below row k.
  KOKKOS_FUNCTION void reflect_block(int b, int k, const R& tau) {
    constexpr int at_once = 4; // chunks summed before they are added to the total
    V* const x = a_block(b);
    const V* const v = m_reflector;
    V w(R(0));
    for (int first = k / width; first < m_chunks; first += at_once) {
      const int last = least(first + at_once, m_chunks);
      V part[4] = {V(R(0)), V(R(0)), V(R(0)), V(R(0))};
      for (int c = first; c < last; ++c) {
        SHOAL_UNROLL
        for (int r = 0; r < width; ++r)
          part[r % 4] = conj_multiply_add(spread_slot(v[c], r), x[c * width + r], part[r % 4]);
      }
      w += (part[0] + part[1]) + (part[2] + part[3]);
    }
    w = select(columns_of(b) > I(k), -(tau * w), V(R(0)));
    const auto update = [&](int c, int r) {
      V& entry = x[c * width + r];
      entry = multiply_add(spread_slot(v[c], r), w, entry);
      return norm_squared(entry);
    };
    R norm(Number(0));
    const int chunk = k / width;
    SHOAL_DO_NOT_UNROLL
    for (int r = 0; r < width; ++r) {
      const R square = update(chunk, r);
      if (chunk * width + r > k) norm += square;
    }
    for (int first = chunk + 1; first < m_chunks; first += at_once) {
      const int last = least(first + at_once, m_chunks);
      R part[4] = {R(0), R(0), R(0), R(0)};
      for (int c = first; c < last; ++c) {
        SHOAL_UNROLL
        for (int r = 0; r < width; ++r) part[r % 4] += update(c, r);
      }
      norm += (part[0] + part[1]) + (part[2] + part[3]);
    }
    m_norm[b] = norm;
  }

  /// See lane::detail::PivotedQr::store_row.
  KOKKOS_FUNCTION void store_row(int k, const V& diagonal, bool zero) {
    V* const column = l_block(k / width);
    const int slot = k % width;
    if (zero) {
      set_slot(column[k], slot, Scalar(1));
      number(m_exponent, k) = get_slot(lane::detail::dependent_exponent<V>(), 0);
      return;
    }
    const I own = exponent(max_part(diagonal));
    const I e(number(m_scale, k));
    number(m_exponent, k) = get_slot(e + own, 0);
    for (int b = k / width; b < m_blocks; ++b) {
      const V row = power_of_two<R>(m_scale[b] - e - own) * conjugate(a_block(b)[k]);
      for (int s = 0; s < width; ++s)
        if (b * width + s > k) set_slot(column[b * width + s], slot, get_slot(row, s));
    }
    set_slot(column[k], slot, get_slot(power_of_two<R>(I(0) - own) * conjugate(diagonal), 0));
  }

  // --- Jacobi -----------------------------------------------------------------------------------

  /// The columns of two blocks, p in the first half against q in the second half. gram[c] is column
  /// c of their Gram matrix in two halves, and product[r] row r of the product of the rotations.
  /// Each round turns the pairs that stand in the same slot, the smaller number in the first half;
  /// flips of the second half bring all pairs of the two halves together, and trades between the
  /// halves those within.
  struct Frame {
    V gram[frame][2];
    V product[frame][2];
    I exponent[2];
  };

  KOKKOS_FUNCTION int jacobi(int max_sweeps, bool& converged) {
    if (m_left) {
      const std::size_t size = static_cast<std::size_t>(m_l_blocks) * m_l_pitch;
      for (std::size_t i = 0; i < size; ++i) m_j[i] = V(R(0));
      for (int k = 0; k < m_cols; ++k) set_slot(j_block(k / width)[k], k % width, Scalar(1));
    }
    int sweep = 0;
    converged = m_cols <= 1;
    while (sweep < max_sweeps && !converged) {
      converged = true;
      for (int b = 0; b < m_l_blocks; ++b) refresh_gram(b);
      for (int p = 0; p < m_l_blocks; ++p)
        for (int q = p + 1; q < m_l_blocks; ++q)
          if (turn_blocks(p, q)) converged = false;
      ++sweep;
    }
    return sweep;
  }

  KOKKOS_FUNCTION int rows_of_l() const { return (m_cols + 3) / 4 * 4; }

  /// X^H X of block b of L, row by row, once none of its columns is too small.
  KOKKOS_FUNCTION void refresh_gram(int b) const {
    V *const x = l_block(b), *const gram = gram_block(b);
    products(x, x, rows_of_l(), gram);
    const auto low =
        diagonal(gram) < R(lane::detail::rescale_below<V>) && columns_of(b) < I(m_cols);
    if (!any_of(low)) return;
    rescale(x, 0, m_cols, low, m_exponent[b]);
    products(x, x, rows_of_l(), gram);
  }

  /// The real parts of the diagonal of rows (or columns) of lane values, `step` apart.
  template <int Step = 1>
  KOKKOS_FUNCTION static R diagonal(const V* g) {
    return real_part(gather_diagonal<Step, 0>(g, g[0]));
  }
  template <int Step, int Slot>
  KOKKOS_FUNCTION static V gather_diagonal(const V* g, V x) {
    if constexpr (Slot == width) {
      return x;
    } else {
      put_slot<Slot>(x, g[Slot * Step]);
      return gather_diagonal<Step, Slot + 1>(g, x);
    }
  }

  /// Whether a column of block p and one of block q > p are to be turned, cross[r] being row r of
  /// the products.
  KOKKOS_FUNCTION bool needs_rotation(int p, int q, const V* cross) const {
    const R p2 = diagonal(gram_block(p)), q2 = diagonal(gram_block(q));
    auto found = mask_t<V>(false);
    SHOAL_DO_NOT_UNROLL
    for (int r = 0; r < width; ++r) {
      const R d = power_of_two<R>(m_exponent[q] - spread_slot(m_exponent[p], r));
      found = found || lane::detail::needs_rotation(spread_slot(p2, r), q2, cross[r], d,
                                                    m_tolerance_squared);
    }
    return any_of(found);
  }
  /// Whether two columns of block b are to be turned. Of a pair it reads the number that the round
  /// reads, in row q: rounding may have made the one in row p another, and what is found here must
  /// be turned there.
  KOKKOS_FUNCTION bool needs_rotation(int b) const {
    const V* const gram = gram_block(b);
    const R p2 = diagonal(gram);
    const I index = columns_of(0);
    auto found = mask_t<V>(false);
    SHOAL_DO_NOT_UNROLL
    for (int q = 1; q < width; ++q) {
      const R d = power_of_two<R>(spread_slot(m_exponent[b], q) - m_exponent[b]);
      found = found || (lane::detail::needs_rotation(p2, spread_slot(p2, q), gram[q], d,
                                                     m_tolerance_squared) &&
                        index < I(q));
    }
    return any_of(found);
  }

  /// Makes the columns of blocks p < q of L orthogonal to those of the other, and of blocks side by
  /// side also to those of their own, up to what later rotations do. Returns whether there was
  /// anything to do.
  KOKKOS_FUNCTION bool turn_blocks(int p, int q) {
    V cross[width];
    V *const of_p = gram_block(p), *const of_q = gram_block(q);
    products(l_block(p), l_block(q), rows_of_l(), cross);
    const bool within = q == p + 1;
    if (!needs_rotation(p, q, cross) && !(within && (needs_rotation(p) || needs_rotation(q))))
      return false;
    Frame f;
    for (int c = 0; c < width; ++c) {
      f.gram[c][0] = conjugate(of_p[c]);
      f.gram[c][1] = conjugate(cross[c]);
      for (int r = 0; r < width; ++r) set_slot(f.gram[width + c][0], r, get_slot(cross[r], c));
      f.gram[width + c][1] = conjugate(of_q[c]);
      f.product[c][0] = f.product[c][1] = f.product[width + c][0] = f.product[width + c][1] =
          V(R(0));
      set_slot(f.product[c][0], c, Scalar(1));
      set_slot(f.product[width + c][1], c, Scalar(1));
    }
    f.exponent[0] = m_exponent[p];
    f.exponent[1] = m_exponent[q];
    rotate_across<width>(f);
    if (within) rotate_within<width / 2>(f);
    turn(l_block(p), l_block(q), f.product, rows_of_l());
    if (m_left) {
      // The columns of J carry no scale.
      for (int c = 0; c < frame; ++c) {
        const I e = spread_slot(m_exponent[c < width ? p : q], c % width);
        f.product[c][0] = power_of_two<R>(m_exponent[p] - e) * f.product[c][0];
        f.product[c][1] = power_of_two<R>(m_exponent[q] - e) * f.product[c][1];
      }
      turn(j_block(p), j_block(q), f.product, rows_of_l());
    }
    keep_gram(p, &f.gram[0][0]);
    keep_gram(q, &f.gram[width][1]);
    return true;
  }

  /// The Gram matrix of block b as the rotations have left it; anew from the columns where one of
  /// them has become so small that it is mostly rounding.
  KOKKOS_FUNCTION void keep_gram(int b, const V* columns) const {
    V* const gram = gram_block(b);
    const auto doubtful = diagonal<2>(columns) < R(Number(0x1p-10)) * diagonal(gram);
    if (any_of(doubtful)) return refresh_gram(b);
    for (int c = 0; c < width; ++c) gram[c] = conjugate(columns[2 * c]);
  }

  /// All pairs of a column of the first half with one of the second, whose slots stand in groups
  /// of `Slots`: rounds in the order of a Gray code, so that one flip of a bit leads to the next
  /// and the last one back.
  template <int Slots>
  KOKKOS_FUNCTION void rotate_across(Frame& f) const {
    rounds<Slots, Slots / 2>(f);
  }
  template <int Slots, int Last>
  KOKKOS_FUNCTION void rounds(Frame& f) const {
    if constexpr (Slots == 1) {
      round<Last>(f);
    } else {
      rounds<Slots / 2, Slots / 2>(f);
      rounds<Slots / 2, Last>(f);
    }
  }
  /// The pairs within a half: those whose numbers differ in bit Bit and, may be, in lower ones.
  template <int Bit>
  KOKKOS_FUNCTION void rotate_within(Frame& f) const {
    if constexpr (Bit > 0) {
      trade<Bit>(f);
      rotate_across<Bit>(f);
      rotate_within<Bit / 2>(f);
      trade<Bit>(f);
    }
  }

  template <int Bit>
  KOKKOS_FUNCTION static void trade(Frame& f) {
    SHOAL_UNROLL
    for (int c = 0; c < width; ++c) {
      if (!(c & Bit)) continue;
      exchange(f.gram[c][0], f.gram[width + (c ^ Bit)][0]);
      exchange(f.gram[c][1], f.gram[width + (c ^ Bit)][1]);
    }
    SHOAL_UNROLL
    for (int c = 0; c < frame; ++c) {
      trade_slots<Bit>(f.gram[c][0], f.gram[c][1]);
      trade_slots<Bit>(f.product[c][0], f.product[c][1]);
    }
    trade_slots<Bit>(f.exponent[0], f.exponent[1]);
  }

  /// Turns the pairs of columns that stand in the same slot, then flips the second half.
  template <int Flip>
  KOKKOS_FUNCTION void round(Frame& f) const {
    const R app = diagonal<2>(&f.gram[0][0]), aqq = diagonal<2>(&f.gram[width][1]);
    const V apq = gather_diagonal<2, 0>(&f.gram[width][0], f.gram[width][0]);
    const R d = power_of_two<R>(f.exponent[1] - f.exponent[0]);
    const auto active = lane::detail::needs_rotation(app, aqq, apq, d, m_tolerance_squared);
    if (any_of(active)) {
      const lane::detail::Rotation<V> rotation(active, app, aqq, apq, d,
                                               power_of_two<R>(f.exponent[0] - f.exponent[1]));
      // The phase is taken out of q again: small turns are then near the identity and add next to
      // no rounding, however many are multiplied.
      const R pp = rotation.pp, qq = rotation.qq;
      const V pq = rotation.pq * rotation.phase, qp = rotation.qp * conjugate(rotation.phase);
      // Columns c and c ^ Flip together, since the second halves exchange their places.
      constexpr int together = Flip > 0 ? 2 : 1;
      SHOAL_DO_NOT_UNROLL
      for (int first = 0; first < width; ++first) {
        if (first & Flip) continue;
        V second[together][2];
        SHOAL_UNROLL
        for (int k = 0; k < together; ++k) {
          const int c = first ^ (k * Flip);
          V(&x)[2] = f.gram[c];
          V(&y)[2] = second[k];
          SHOAL_UNROLL
          for (int h = 0; h < 2; ++h) {
            const V of_x = x[h], of_y = f.gram[width + c][h];
            x[h] = spread_slot(pp, c) * of_x + spread_slot(pq, c) * of_y;
            y[h] = spread_slot(qp, c) * of_x + spread_slot(qq, c) * of_y;
          }
          for (V(*column)[2] : {&x, &y}) {
            const V of_p = (*column)[0], of_q = (*column)[1];
            (*column)[0] = pp * of_p + conjugate(pq) * of_q;
            (*column)[1] = flip_slots<Flip>(conjugate(qp) * of_p + qq * of_q);
          }
        }
        SHOAL_UNROLL
        for (int k = 0; k < together; ++k) {
          f.gram[width + (first ^ (k * Flip))][0] = second[together - 1 - k][0];
          f.gram[width + (first ^ (k * Flip))][1] = second[together - 1 - k][1];
        }
      }
      SHOAL_DO_NOT_UNROLL
      for (int r = 0; r < frame; ++r) {
        const V of_p = f.product[r][0], of_q = f.product[r][1];
        f.product[r][0] = pp * of_p + pq * of_q;
        f.product[r][1] = flip_slots<Flip>(qp * of_p + qq * of_q);
      }
    } else if constexpr (Flip > 0) {
      for (int i = 0; i < width; ++i) {
        if (i & Flip) continue;
        exchange(f.gram[width + i][0], f.gram[width + (i ^ Flip)][0]);
        exchange(f.gram[width + i][1], f.gram[width + (i ^ Flip)][1]);
      }
      for (int c = 0; c < frame; ++c) {
        f.gram[c][1] = flip_slots<Flip>(f.gram[c][1]);
        f.product[c][1] = flip_slots<Flip>(f.product[c][1]);
      }
    }
    if constexpr (Flip > 0) f.exponent[1] = flip_slots<Flip>(f.exponent[1]);
  }

  // --- vectors and values -----------------------------------------------------------------------

  /// See lane::detail::reorthogonalise: the same block by block.
  KOKKOS_FUNCTION void reorthogonalise() const {
    V f[width];
    const int rows = rows_of_l();
    for (int q = 0; q < m_blocks; ++q) {
      V* const y = j_block(q);
      for (int p = 0; p < q; ++p) {
        products(j_block(p), y, rows, f);
        subtract_product(y, j_block(p), f, rows);
      }
      products(y, y, rows, f);
      const I index = columns_of(0);
      for (int r = 0; r < width; ++r) {
        const V half = R(Number(0.5)) * (f[r] - V(R(1)));
        f[r] = select(index == I(r), half, select(index > I(r), f[r], V(R(0))));
      }
      subtract_product(y, y, f, rows);
    }
  }

  /// Makes the largest entry of each column of L real and positive; the columns of J follow.
  KOKKOS_FUNCTION void fix_right_signs() const {
    for (int b = 0; b < m_blocks; ++b) {
      lane::detail::Largest<V> largest;
      V* const x = l_block(b);
      for (int i = 0; i < m_cols; ++i) largest.see(x[i], norm_squared(x[i]));
      const V phase = conjugate(phase_of(largest.value));
      for (int i = 0; i < m_cols; ++i) {
        x[i] = phase * x[i];
        if (m_left) j_block(b)[i] = phase * j_block(b)[i];
      }
    }
  }

  KOKKOS_FUNCTION V* t_block(int b) const { return m_t + b * width; }

  /// T of each block of reflectors, row by row: H_0 H_1 ... = I - V T V^H (R. Schreiber and C. Van
  /// Loan, A storage-efficient WY representation for products of Householder transformations,
  /// 1989).
  KOKKOS_FUNCTION void form_t() const {
    for (int b = 0; b < m_blocks; ++b) {
      V g[width];
      V* const t = t_block(b);
      const V* const v = a_block(b) + b * width;
      products(v, v, (m_chunks - b) * width, g);
      for (int r = 0; r < width; ++r) t[r] = V(R(0));
      for (int c = 0; c < width; ++c) {
        const Number tau = m_tau[b * width + c];
        for (int r = 0; r < c; ++r) {
          auto sum = to_number(Scalar(0));
          for (int k = r; k < c; ++k)
            sum = multiply_add(to_number(get_slot(t[r], k)), to_number(get_slot(g[k], c)), sum);
          set_slot(t[r], c, to_scalar(-(tau * sum)));
        }
        set_slot(t[c], c, Scalar(tau));
      }
    }
  }
  KOKKOS_FUNCTION static lane_value_t<T, 1> to_number(const Scalar& x) {
    lane_value_t<T, 1> v;
    set_slot(v, 0, x);
    return v;
  }
  KOKKOS_FUNCTION static Scalar to_scalar(const lane_value_t<T, 1>& x) { return get_slot(x, 0); }

  /// U = Q J and the columns that complete it, a block at a time.
  KOKKOS_FUNCTION void store_left_vectors(const MatrixRef<T>& u, int u_cols, bool fix_signs,
                                          Number not_finite) const {
    V f[width], tf[width];
    for (int b = 0; b * width < u_cols; ++b) {
      V* const x = m_u;
      for (int i = 0; i < m_chunks * width; ++i)
        x[i] = b < m_blocks && i < m_cols ? j_block(b)[i] : V(R(0));
      for (int s = 0; s < width; ++s) {
        const int c = b * width + s;
        if (c >= m_cols && c < m_rows) set_slot(x[c], s, Scalar(1));
      }
      for (int h = m_blocks - 1; h >= 0; --h) {
        const V* const v = a_block(h) + h * width;
        const V* const t = t_block(h);
        const int rows = (m_chunks - h) * width;
        products(v, x + h * width, rows, f);
        for (int r = 0; r < width; ++r) {
          tf[r] = V(R(0));
          for (int c = r; c < width; ++c) tf[r] = multiply_add(spread_slot(t[r], c), f[c], tf[r]);
        }
        subtract_product(x + h * width, v, tf, rows);
      }
      for (int k = m_cols - 1; k >= 0; --k) exchange(x[k], x[m_row[k]]);
      V phase(R(1));
      if (fix_signs && b < m_blocks) {
        lane::detail::Largest<V> largest;
        for (int i = 0; i < m_rows; ++i) largest.see(x[i], norm_squared(x[i]));
        phase = select(columns_of(b) < I(m_cols), conjugate(phase_of(largest.value)), V(R(1)));
        for (int i = 0; i < m_cols; ++i) l_block(b)[i] = phase * l_block(b)[i];
      }
      // To length 1, as unit_length does.
      const R size2 = norms(x, 0, m_rows) * norm_squared(phase);
      const V factor = (R(1) + R(Number(0.5)) * (R(1) - size2)) * phase;
      const int cols = least(width, u_cols - b * width);
      for (int i = 0; i < m_rows; ++i) {
        const V row = factor * x[i] + V(R(not_finite));
        for (int s = 0; s < cols; ++s) u(i, b * width + s) = static_cast<T>(get_slot(row, s));
      }
    }
  }

  KOKKOS_FUNCTION void store_right_vectors(const MatrixRef<T>& vt, int vt_rows,
                                           Number not_finite) const {
    for (int b = 0; b * width < vt_rows; ++b) {
      const V* const x = l_block(b);
      const R inverse = R(1) / square_root(norms(x, 0, m_cols));
      const int rows = least(width, vt_rows - b * width);
      for (int i = 0; i < m_cols; ++i) {
        const V row = inverse * conjugate(x[i]) + V(R(not_finite));
        for (int s = 0; s < rows; ++s)
          vt(b * width + s, m_column[i]) = static_cast<T>(get_slot(row, s));
      }
    }
  }

  /// See lane::detail::off_norm_squared.
  KOKKOS_FUNCTION Number off_norm_squared() const {
    R largest(Number(0));
    V product[width];
    for (int b = 0; b < m_blocks; ++b) m_norm[b] = norms(l_block(b), 0, m_cols);
    for (int p = 0; p < m_blocks; ++p)
      for (int q = p; q < m_blocks; ++q) {
        products(l_block(p), l_block(q), rows_of_l(), product);
        const I index = columns_of(q);
        for (int r = 0; r < width; ++r) {
          const R square = norm_squared(product[r]) / (spread_slot(m_norm[p], r) * m_norm[q]);
          const auto counts = index > I(p * width + r) && index < I(m_cols) && square > largest;
          largest = select(counts, square, largest);
        }
      }
    Number most(0);
    for (int s = 0; s < width; ++s) most = Kokkos::max(most, get_slot(largest, s));
    return most;
  }

  /// Returns the rank.
  KOKKOS_FUNCTION int store_values(const MatrixRef<Number>& s, const lane::SvdRequest& request,
                                   Number not_finite) const {
    for (int b = 0; b < m_blocks; ++b)
      m_norm[b] = scale_by_power_of_two(square_root(norms(l_block(b), 0, m_cols)), m_exponent[b]);
    Number previous = m_cols > 0 ? number(m_norm, 0) : Number(0);
    const Number cutoff = static_cast<Number>(request.tolerance) * previous;
    const Number rank_cutoff = lane::detail::rank_tolerance<V>(request, m_rows) * previous;
    int rank = 0;
    for (int k = 0; k < m_cols; ++k) {
      if (number(m_norm, k) < previous) previous = number(m_norm, k);
      if (k < s.rows) s(k, 0) = (previous <= cutoff ? Number(0) : previous) + not_finite;
      if (previous > rank_cutoff) ++rank;
    }
    return rank;
  }
};

} // namespace shoal::detail

#endif
