// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_CHECK_SUPPORT_REFERENCE_HPP
#define SHOAL_TESTS_CHECK_SUPPORT_REFERENCE_HPP

#include "tests/check/support/batch.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

/// \file
/// What results are compared with, in long double, and how far off they are in the contract's units.
namespace shoal_test {

using Wide = std::complex<long double>;

template <class T>
Wide wide(const T& x) {
  if constexpr (shoal::detail::is_complex_scalar<T>) return {x.real(), x.imag()};
  else return {x, 0};
}

template <class T>
inline constexpr long double unit = std::numeric_limits<RealOf<T>>::epsilon() / 2.0L;

/// The contract's limit, in units of u max(m, n).
inline constexpr double contract_limit = 5;

/// How far one decomposition is off, each in units of u max(m, n); NaN counts as infinite.
struct Figures {
  double residual = 0, left = 0, right = 0, values = 0;

  static double larger(double a, double b) {
    return std::isnan(b) ? std::numeric_limits<double>::infinity() : std::max(a, b);
  }
  void merge(const Figures& f) {
    residual = larger(residual, f.residual);
    left = larger(left, f.left);
    right = larger(right, f.right);
    values = larger(values, f.values);
  }
  double worst() const { return std::max({residual, left, right, values}); }
};

/// ||X^H X - I||_F of the columns of matrix b, or of its rows.
template <class T>
long double orthogonality(const HostBatch<T>& x, int b, bool columns) {
  const int count = columns ? x.cols : x.rows, length = columns ? x.rows : x.cols;
  long double sum = 0;
  for (int p = 0; p < count; ++p)
    for (int q = 0; q < count; ++q) {
      Wide dot = p == q ? -1 : 0;
      for (int i = 0; i < length; ++i)
        dot += columns ? std::conj(wide(x(b, i, p))) * wide(x(b, i, q))
                       : wide(x(b, p, i)) * std::conj(wide(x(b, q, i)));
      sum += std::norm(dot);
    }
  return std::sqrt(sum);
}

/// Compares A with U diag(S) Vt. Vectors that were not computed have no columns or rows. S must be
/// sorted and non-negative, or the residual is infinite. `sigma`: reference values, may be empty.
template <class T>
Figures check_svd(const HostBatch<T>& a, int b, const HostBatch<T>& u, const HostBatch<RealOf<T>>& s,
                  const HostBatch<T>& vt, const std::vector<long double>& sigma = {}) {
  Figures f;
  const int m = a.rows, n = a.cols, k = s.rows;
  const long double bound = unit<T> * std::max({m, n, 1});
  for (int i = 0; i < k; ++i)
    if (!(s(b, i, 0) >= 0) || (i > 0 && !(s(b, i, 0) <= s(b, i - 1, 0))))
      f.residual = std::numeric_limits<double>::infinity();
  // Scaled, so that squares of extreme entries stay in range.
  long double largest = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) largest = std::max(largest, std::abs(wide(a(b, i, j))));
  const long double scale = largest > 0 ? 1 / largest : 1;
  if (u.cols >= k && vt.rows >= k && k == std::min(m, n)) {
    long double residual = 0, norm = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        Wide x = -wide(a(b, i, j)) * scale;
        norm += std::norm(x);
        for (int p = 0; p < k; ++p)
          x += wide(u(b, i, p)) * (s(b, p, 0) * scale) * wide(vt(b, p, j));
        residual += std::norm(x);
      }
    // Results near the underflow limit are rounded to the grid of subnormal numbers.
    const long double grid = std::numeric_limits<RealOf<T>>::denorm_min() * scale * std::sqrt(1.0L * k);
    const long double off = std::isnan(residual) ? residual : std::max(std::sqrt(residual) - grid, 0.0L);
    f.residual = Figures::larger(f.residual,
                                 static_cast<double>(off / (norm > 0 ? std::sqrt(norm) : 1) / bound));
  }
  if (u.cols > 0) f.left = static_cast<double>(orthogonality(u, b, true) / bound);
  if (vt.rows > 0) f.right = static_cast<double>(orthogonality(vt, b, false) / bound);
  for (int i = 0; i < k && !sigma.empty(); ++i) {
    const long double difference = std::abs(s(b, i, 0) - sigma[i]);
    const long double grid = std::numeric_limits<RealOf<T>>::denorm_min();
    const long double off = difference <= grid ? 0 : difference; // NaN stays
    const long double unit_of = sigma[0] > 0 ? sigma[0] : 1;
    f.values = Figures::larger(f.values, static_cast<double>(off / unit_of / bound));
  }
  return f;
}

/// Singular values of matrix b by one-sided Jacobi in long double, largest first. Columns need no scaling:
/// long double's exponents take the squares of any double.
template <class T>
std::vector<long double> reference_values(const HostBatch<T>& a, int b) {
  const bool tall = a.rows >= a.cols;
  const int m = tall ? a.rows : a.cols, n = tall ? a.cols : a.rows;
  std::vector<std::vector<Wide>> x(n, std::vector<Wide>(m));
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) x[j][i] = tall ? wide(a(b, i, j)) : std::conj(wide(a(b, j, i)));
  bool turned = true;
  for (int sweep = 0; turned && sweep < 60; ++sweep) {
    turned = false;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        long double app = 0, aqq = 0;
        Wide apq = 0;
        for (int i = 0; i < m; ++i) {
          app += std::norm(x[p][i]);
          aqq += std::norm(x[q][i]);
          apq += std::conj(x[p][i]) * x[q][i];
        }
        const long double g = std::abs(apq);
        if (g == 0 || g <= 1e-18L * std::sqrt(app) * std::sqrt(aqq)) continue;
        turned = true;
        const Wide phase = std::conj(apq) / g;
        const long double zeta = (aqq - app) / (2 * g);
        const long double t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const long double c = 1 / std::sqrt(1 + t * t), s = c * t;
        for (int i = 0; i < m; ++i) {
          const Wide y = x[p][i], z = phase * x[q][i];
          x[p][i] = c * y - s * z;
          x[q][i] = s * y + c * z;
        }
      }
  }
  std::vector<long double> values(n);
  for (int j = 0; j < n; ++j) {
    long double sum = 0;
    for (const Wide& y : x[j]) sum += std::norm(y);
    values[j] = std::sqrt(sum);
  }
  std::sort(values.rbegin(), values.rend());
  return values;
}

/// The worst |C - exact| / bound over a batch, with the contract's elementwise bound.
template <class T>
double check_gemm(shoal::Op op_a, shoal::Op op_b, T alpha, const HostBatch<T>& a, const HostBatch<T>& b,
                  T beta, const HostBatch<T>& before, const HostBatch<T>& after) {
  const int k = op_a == shoal::Op::none ? a.cols : a.rows;
  // A complex product is two real ones: the constant of Higham's (3.13).
  const long double nu = (k + 2) * unit<T> * (shoal::detail::is_complex_scalar<T> ? 3 : 1);
  const long double gamma = nu / (1 - nu);
  const auto entry = [](const HostBatch<T>& x, shoal::Op op, int q, int i, int j) {
    const Wide v = wide(op == shoal::Op::none ? x(q, i, j) : x(q, j, i));
    return op == shoal::Op::conj_transpose ? std::conj(v) : v;
  };
  double worst = 0;
  for (int q = 0; q < after.batch; ++q)
    for (int i = 0; i < after.rows; ++i)
      for (int j = 0; j < after.cols; ++j) {
        Wide sum = 0;
        long double size = 0;
        for (int p = 0; p < k; ++p) {
          const Wide x = entry(a, op_a, a.batch == 1 ? 0 : q, i, p);
          const Wide y = entry(b, op_b, b.batch == 1 ? 0 : q, p, j);
          sum += x * y;
          size += std::abs(x) * std::abs(y);
        }
        Wide exact = wide(alpha) * sum;
        size *= std::abs(wide(alpha));
        if (!(beta == T(0))) {
          exact += wide(beta) * wide(before(q, i, j));
          size += std::abs(wide(beta) * wide(before(q, i, j)));
        }
        const long double off = std::abs(wide(after(q, i, j)) - exact);
        const double ratio = off == 0 ? 0 : static_cast<double>(off / (gamma * size));
        worst = Figures::larger(worst, ratio);
      }
  return worst;
}

} // namespace shoal_test

#endif
