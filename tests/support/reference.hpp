// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_REFERENCE_HPP
#define SHOAL_TESTS_SUPPORT_REFERENCE_HPP

#include "layouts.hpp"
#include "scalar.hpp"

#include <shoal/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

/// \file
/// What is right: products and singular values in long double, by plain code that shares nothing
/// with the library.
namespace shoal::test {

// --- products
// -------------------------------------------------------------------------------------------

template <class T>
struct GemmCase {
  Op op_a = Op::none, op_b = Op::none;
  arithmetic_t<T> alpha = 1, beta = 0;
  HostBatch<T> a, b, c;                    ///< c as it was before the call
  bool repeat_a = false, repeat_b = false; ///< matrix 0 stands for all

  std::int64_t k() const { return op_a == Op::none ? a.cols : a.rows; }
};

/// f(b, i, j, exact, bound) for every element of a product: its value, and the contract's bound for
/// what is computed, gamma_(k+2) (|alpha| |A| |B| + |beta| |C|).
template <class T, class F>
void for_each_exact(const GemmCase<T>& p, const F& f) {
  const long double u = unit_roundoff<arithmetic_t<T>>;
  const auto terms = static_cast<long double>(p.k() + 2);
  const long double gamma = terms * u / (1 - terms * u);
  const auto operand = [](const HostBatch<T>& x, Op op, std::int64_t b, std::int64_t i,
                          std::int64_t j) {
    const Wide<T> v = widen(op == Op::none ? x(b, i, j) : x(b, j, i));
    return op == Op::conj_transpose ? conjugate(v) : v;
  };
  const Wide<T> alpha = widen(p.alpha), beta = widen(p.beta);
  const bool reads_c = !(p.beta == arithmetic_t<T>(0));
  for (std::int64_t b = 0; b < p.c.batch; ++b)
    for (std::int64_t i = 0; i < p.c.rows; ++i)
      for (std::int64_t j = 0; j < p.c.cols; ++j) {
        Wide<T> sum = 0;
        long double sizes = 0;
        for (std::int64_t l = 0; l < p.k(); ++l) {
          const Wide<T> x = operand(p.a, p.op_a, p.repeat_a ? 0 : b, i, l);
          const Wide<T> y = operand(p.b, p.op_b, p.repeat_b ? 0 : b, l, j);
          sum += x * y;
          if constexpr (is_complex<T>) sizes += std::sqrt(abs_squared(x) * abs_squared(y));
          else sizes += std::fabs(x * y);
        }
        Wide<T> exact = alpha * sum;
        long double bound = magnitude(alpha) * sizes;
        if (reads_c) {
          exact += beta * widen(p.c(b, i, j));
          bound += magnitude(beta) * magnitude(widen(p.c(b, i, j)));
        }
        f(b, i, j, exact, gamma * bound);
      }
}

/// |result - exact| in units of `bound`, and for 16-bit types of one rounding to them too. NaN
/// where the result is.
template <class T>
long double element_error(const T& result, const Wide<T>& exact, long double bound) {
  const long double error = magnitude(exact - widen(result));
  if (error == 0) return 0;
  if constexpr (is_converted<T>) // of the computed number, which bound may be off
    bound += unit_roundoff<T> * (magnitude(exact) + bound) +
             widen(std::numeric_limits<T>::denorm_min()) / 2;
  return error / bound;
}

/// How far a product is from exact; the worst element.
template <class T>
long double gemm_error(const GemmCase<T>& p, const HostBatch<T>& result) {
  long double worst = 0;
  for_each_exact(p, [&](std::int64_t b, std::int64_t i, std::int64_t j, const Wide<T>& exact,
                        long double bound) {
    const long double error = element_error(result(b, i, j), exact, bound);
    if (!(error <= worst) && worst == worst) worst = error;
  });
  return worst;
}

/// What gemm_error may be. The contract's bound counts one rounding for each operation; a complex
/// product is off by up to sqrt(5) of them (R. Brent, C. Percival, P. Zimmermann, Error bounds on
/// complex floating-point multiplication, 2007).
template <class T>
inline constexpr long double gemm_limit = is_complex<T> ? 2.2360679774997896964L : 1.0L;

// --- singular values
// ------------------------------------------------------------------------------------

/// A matrix of wide numbers, column-major.
template <class W>
struct WideMatrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<W> values;

  WideMatrix() = default;
  WideMatrix(std::int64_t r, std::int64_t c)
      : rows(r), cols(c), values(static_cast<std::size_t>(r * c), W(0)) {}
  W& operator()(std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>(i + j * rows)];
  }
  const W& operator()(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i + j * rows)];
  }
  W* column(std::int64_t j) { return values.data() + j * rows; }

  WideMatrix conjugate_transposed() const {
    WideMatrix t(cols, rows);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j) t(j, i) = conjugate((*this)(i, j));
    return t;
  }
};

template <class T>
WideMatrix<Wide<T>> widen(const HostBatch<T>& x, std::int64_t b) {
  WideMatrix<Wide<T>> w(x.rows, x.cols);
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.cols; ++j) w(i, j) = widen(x(b, i, j));
  return w;
}

/// R of the QR of a (rows >= cols): rows sorted by their largest entry and columns pivoted, so that
/// both row and column scales keep their relative accuracy. The range of long double leaves room
/// for the squares of any double.
template <class W>
WideMatrix<W> pivoted_triangle(WideMatrix<W> a) {
  const std::int64_t m = a.rows, n = a.cols;
  std::vector<std::int64_t> order(static_cast<std::size_t>(m));
  std::iota(order.begin(), order.end(), 0);
  const auto row_size = [&](std::int64_t i) {
    long double top = 0;
    for (std::int64_t j = 0; j < n; ++j) top = std::max(top, magnitude(a(i, j)));
    return top;
  };
  std::vector<long double> sizes;
  for (std::int64_t i = 0; i < m; ++i) sizes.push_back(row_size(i));
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) {
    return sizes[static_cast<std::size_t>(x)] > sizes[static_cast<std::size_t>(y)];
  });
  WideMatrix<W> x(m, n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) x(i, j) = a(order[static_cast<std::size_t>(i)], j);

  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t best = k;
    long double best_norm = -1;
    for (std::int64_t j = k; j < n; ++j) {
      long double norm = 0;
      for (std::int64_t i = k; i < m; ++i) norm += abs_squared(x(i, j));
      if (norm > best_norm) {
        best_norm = norm;
        best = j;
      }
    }
    if (best != k) std::swap_ranges(x.column(k), x.column(k) + m, x.column(best));
    if (best_norm == 0) break;
    std::int64_t top = k; // the largest entry of the pivot column comes to the diagonal
    for (std::int64_t i = k; i < m; ++i)
      if (abs_squared(x(i, k)) > abs_squared(x(top, k))) top = i;
    if (top != k)
      for (std::int64_t j = k; j < n; ++j) std::swap(x(k, j), x(top, j));
    const W alpha = x(k, k);
    const W beta = -(std::sqrt(best_norm) * phase(alpha));
    std::vector<W> v(static_cast<std::size_t>(m - k));
    v[0] = alpha - beta;
    for (std::int64_t i = k + 1; i < m; ++i) v[static_cast<std::size_t>(i - k)] = x(i, k);
    long double v2 = 0;
    for (const W& e : v) v2 += abs_squared(e);
    for (std::int64_t j = k + 1; j < n; ++j) {
      W dot = 0;
      for (std::int64_t i = k; i < m; ++i)
        dot += conjugate(v[static_cast<std::size_t>(i - k)]) * x(i, j);
      dot = (2 / v2) * dot;
      for (std::int64_t i = k; i < m; ++i) x(i, j) -= v[static_cast<std::size_t>(i - k)] * dot;
    }
    x(k, k) = beta;
    for (std::int64_t i = k + 1; i < m; ++i) x(i, k) = W(0);
  }
  WideMatrix<W> r(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i; j < n; ++j) r(i, j) = x(i, j);
  return r;
}

/// The singular values, largest first: pivoted QR, then one-sided Jacobi on the rows of R. Right to
/// a few roundings of long double times the condition that scaling of rows and columns cannot
/// remove.
template <class W>
std::vector<long double> reference_values(const WideMatrix<W>& a) {
  const bool tall = a.rows >= a.cols;
  WideMatrix<W> l = pivoted_triangle(tall ? a : a.conjugate_transposed()).conjugate_transposed();
  const std::int64_t n = l.cols;
  constexpr long double tolerance = 4 * std::numeric_limits<long double>::epsilon();
  for (int sweep = 0; sweep < 60; ++sweep) {
    bool turned = false;
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) {
        W* const x = l.column(p);
        W* const y = l.column(q);
        long double xx = 0, yy = 0;
        W xy = 0;
        for (std::int64_t i = 0; i < n; ++i) {
          xx += abs_squared(x[i]);
          yy += abs_squared(y[i]);
          xy += conjugate(x[i]) * y[i];
        }
        const long double size = magnitude(xy);
        if (size == 0 || size <= tolerance * std::sqrt(xx) * std::sqrt(yy)) continue;
        turned = true;
        const W w = conjugate(phase(xy));
        const long double zeta = (yy - xx) / (2 * size);
        const long double t = (zeta < 0 ? -1 : 1) / (std::fabs(zeta) + std::sqrt(1 + zeta * zeta));
        const long double c = 1 / std::sqrt(1 + t * t), s = c * t;
        for (std::int64_t i = 0; i < n; ++i) {
          const W f = x[i], g = w * y[i];
          x[i] = c * f - s * g;
          y[i] = s * f + c * g;
        }
      }
    if (!turned) break;
  }
  std::vector<long double> sigma;
  for (std::int64_t j = 0; j < n; ++j) {
    long double norm = 0;
    for (std::int64_t i = 0; i < n; ++i) norm += abs_squared(l(i, j));
    sigma.push_back(std::sqrt(norm));
  }
  std::sort(sigma.rbegin(), sigma.rend());
  return sigma;
}

template <class T>
std::vector<long double> reference_values(const HostBatch<T>& a, std::int64_t b) {
  return reference_values(widen(a, b));
}

} // namespace shoal::test

#endif
