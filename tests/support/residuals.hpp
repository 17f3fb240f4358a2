// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_RESIDUALS_HPP
#define SHOAL_TESTS_SUPPORT_RESIDUALS_HPP

#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

/// \file
/// How good a decomposition is, in the contract's units: the unit roundoff of the type times max(m,
/// n). Everything is computed in long double from the stored numbers. NaN in a result gives NaN,
/// which is not at most the limit.
namespace shoal::test {

/// The contract's limit for residual, orthogonality and the error of a value.
inline constexpr long double contract_limit = 5;

/// The larger of two, NaN where one is.
inline long double worse(long double a, long double b) { return !(b <= a) ? b : a; }

template <class T>
long double contract_unit(std::int64_t m, std::int64_t n) {
  return unit_roundoff<T> * static_cast<long double>(std::max<std::int64_t>({m, n, 1}));
}

/// What rounding to the subnormal grid of T may add to each of `entries` numbers, as a norm.
template <class T>
long double granularity(std::int64_t entries) {
  return widen(std::numeric_limits<Part<T>>::denorm_min()) *
         std::sqrt(static_cast<long double>(entries));
}

template <class T>
long double frobenius_norm(const HostBatch<T>& x, std::int64_t b) {
  long double sum = 0;
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < x.cols; ++j) sum += abs_squared(widen(x(b, i, j)));
  return std::sqrt(sum);
}

/// ||A - U diag(S) Vt||_F / (u max(m, n) ||A||_F). With fewer values than min(m, n) (a truncated
/// decomposition): the same of A Vt^H - U diag(S).
template <class T>
long double residual(const HostBatch<T>& a, const HostBatch<T>& u, const HostBatch<Real<T>>& s,
                     const HostBatch<T>& vt, std::int64_t b) {
  const std::int64_t m = a.rows, n = a.cols, k = s.rows;
  const bool whole = k == std::min(m, n);
  std::vector<Wide<T>> x;
  if (whole) {
    x.resize(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        x[static_cast<std::size_t>(i * n + j)] = widen(a(b, i, j));
    for (std::int64_t p = 0; p < k; ++p) {
      const long double sigma = widen(s(b, p, 0));
      for (std::int64_t i = 0; i < m; ++i) {
        const Wide<T> us = sigma * widen(u(b, i, p));
        for (std::int64_t j = 0; j < n; ++j)
          x[static_cast<std::size_t>(i * n + j)] -= us * widen(vt(b, p, j));
      }
    }
  } else {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t p = 0; p < k; ++p) {
        Wide<T> y = -(widen(s(b, p, 0)) * widen(u(b, i, p)));
        for (std::int64_t j = 0; j < n; ++j) y += widen(a(b, i, j)) * conjugate(widen(vt(b, p, j)));
        x.push_back(y);
      }
  }
  long double sum = 0;
  for (const Wide<T>& e : x) sum += abs_squared(e);
  const long double error = std::sqrt(sum) - granularity<Real<T>>(k), norm = frobenius_norm(a, b);
  if (error <= 0) return 0;
  return error / (contract_unit<T>(m, n) * norm);
}

/// ||U^H U - I||_F / (u max(m, n)); m, n are A's.
template <class T>
long double column_orthogonality(const HostBatch<T>& u, std::int64_t b, std::int64_t m,
                                 std::int64_t n) {
  long double sum = 0;
  for (std::int64_t p = 0; p < u.cols; ++p)
    for (std::int64_t q = p; q < u.cols; ++q) {
      Wide<T> dot = p == q ? -1 : 0;
      for (std::int64_t i = 0; i < u.rows; ++i)
        dot += conjugate(widen(u(b, i, p))) * widen(u(b, i, q));
      sum += (p == q ? 1 : 2) * abs_squared(dot);
    }
  return std::sqrt(sum) / contract_unit<T>(m, n);
}

/// ||Vt Vt^H - I||_F / (u max(m, n)); m, n are A's.
template <class T>
long double row_orthogonality(const HostBatch<T>& vt, std::int64_t b, std::int64_t m,
                              std::int64_t n) {
  long double sum = 0;
  for (std::int64_t p = 0; p < vt.rows; ++p)
    for (std::int64_t q = p; q < vt.rows; ++q) {
      Wide<T> dot = p == q ? -1 : 0;
      for (std::int64_t i = 0; i < vt.cols; ++i)
        dot += widen(vt(b, p, i)) * conjugate(widen(vt(b, q, i)));
      sum += (p == q ? 1 : 2) * abs_squared(dot);
    }
  return std::sqrt(sum) / contract_unit<T>(m, n);
}

/// max |s_k - sigma_k| / (u max(m, n) sigma_0) over the stored values; u is that of their type.
template <class T>
long double value_error(const HostBatch<Real<T>>& s, std::int64_t b,
                        const std::vector<long double>& sigma, std::int64_t m, std::int64_t n) {
  long double worst = 0;
  for (std::int64_t k = 0; k < s.rows; ++k) {
    const long double error =
        std::fabs(widen(s(b, k, 0)) - sigma[static_cast<std::size_t>(k)]) - granularity<Real<T>>(1);
    if (error <= 0) continue;
    worst = worse(worst, error / (contract_unit<Real<T>>(m, n) * sigma[0]));
  }
  return worst;
}

/// max |s_k - sigma_k| / (u sigma_k): the relative error of each value for itself, in roundings.
/// Values below the normal numbers count as right to the spacing there.
template <class T>
long double relative_value_error(const HostBatch<Real<T>>& s, std::int64_t b,
                                 const std::vector<long double>& sigma) {
  long double worst = 0;
  for (std::int64_t k = 0; k < s.rows; ++k) {
    const long double exact = sigma[static_cast<std::size_t>(k)];
    const long double error = std::fabs(widen(s(b, k, 0)) - exact) - granularity<Real<T>>(1);
    if (error <= 0) continue;
    worst = worse(worst, error / (unit_roundoff<Real<T>> * exact));
  }
  return worst;
}

/// Whether the values are non-negative and largest first (false where one is NaN).
template <class R>
bool descending(const HostBatch<R>& s, std::int64_t b) {
  for (std::int64_t k = 0; k < s.rows; ++k)
    if (!(s(b, k, 0) >= 0) || std::signbit(s(b, k, 0)) ||
        (k > 0 && !(s(b, k, 0) <= s(b, k - 1, 0))))
      return false;
  return true;
}

/// Whether each column's largest entry is real and positive; entries within rounding of the largest
/// count as such.
template <class T>
bool signs_fixed(const HostBatch<T>& u, std::int64_t b, std::int64_t columns) {
  for (std::int64_t k = 0; k < columns; ++k) {
    long double top = 0;
    for (std::int64_t i = 0; i < u.rows; ++i) top = std::max(top, magnitude(widen(u(b, i, k))));
    bool found = u.rows == 0;
    for (std::int64_t i = 0; i < u.rows; ++i) {
      const WideComplex x = widen(u(b, i, k));
      const long double slack = 16 * unit_roundoff<T> * top;
      if (x.re >= top - slack && std::fabs(x.im) <= slack) found = true;
    }
    if (!found) return false;
  }
  return true;
}

/// The worst figures that a test met, and where.
struct Worst {
  long double value = 0;
  std::string where = "nowhere";

  /// NaN is the worst of all.
  void see(long double v, const std::string& place) {
    if (value == value && !(v <= value)) {
      value = v;
      where = place;
    }
  }
};

/// Prints a figure so that it stands out in a test's log.
inline void print_figure(const std::string& what, const Worst& worst) {
  std::printf("[ FIGURE   ] %s: %.3Lf (%s)\n", what.c_str(), worst.value, worst.where.c_str());
  std::fflush(stdout);
}

} // namespace shoal::test

#endif
