// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BENCHMARKS_ACCURACY_HPP
#define SHOAL_BENCHMARKS_ACCURACY_HPP

#include "benchmarks/rivals/rival.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

/// \file
/// How right a result is, in units of rounding. Computed in long double on the host from sampled
/// matrices, which are row-major and one after another. Judges shoal and its rivals alike.
namespace bench {

template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;

inline long double conjugate(long double x) { return x; }
inline std::complex<long double> conjugate(const std::complex<long double>& x) {
  return std::conj(x);
}
inline long double squared(long double x) { return x * x; }
inline long double squared(const std::complex<long double>& x) { return std::norm(x); }

template <class T>
long double unit_roundoff() {
  return std::numeric_limits<Real<T>>::epsilon() / 2.0L;
}

/// The worst of the sampled matrices; NaN stays NaN.
inline void keep_worst(double& worst, long double x) {
  if (!(x <= worst)) worst = static_cast<double>(x);
}

/// Everything but the residual of gemm is in units of u max(m, n), shoal's contract being 5.
struct SvdAccuracy {
  double residual = 0;        ///< ||A - U S V^H||_F / ||A||_F
  double orthogonality_u = 0; ///< ||U^H U - I||_F
  double orthogonality_v = 0;
  double values = 0;          ///< max |s_j - exact| / exact_0
  double values_relative = 0; ///< max |s_j - exact| / exact_j: of use where columns are graded
  std::int64_t samples = 0, value_samples = 0;
};

/// The largest error of an element in units of gamma_(k+2) (|A| |B|)_ij, shoal's contract being 1.
struct GemmAccuracy {
  double error = 0;
  std::int64_t samples = 0;
};

/// Singular values by one-sided Jacobi in long double, largest first: no library's answer, so that
/// LAPACK's error is measured as everyone's. a is row-major, m x n.
template <class T>
std::vector<long double> exact_values(const T* a, int m, int n) {
  const int rows = std::max(m, n), cols = std::min(m, n);
  std::vector<std::vector<Wide<T>>> x(static_cast<std::size_t>(cols),
                                      std::vector<Wide<T>>(static_cast<std::size_t>(rows)));
  for (int c = 0; c < cols; ++c)
    for (int r = 0; r < rows; ++r) x[c][r] = Wide<T>(m >= n ? a[r * n + c] : a[c * n + r]);
  const auto norm = [&](int c) {
    long double sum = 0;
    for (const auto& element : x[c]) sum += squared(element);
    return sum;
  };
  bool rotated = true;
  for (int sweep = 0; sweep < 60 && rotated; ++sweep) {
    rotated = false;
    for (int p = 0; p < cols; ++p)
      for (int q = p + 1; q < cols; ++q) {
        const long double pp = norm(p), qq = norm(q);
        Wide<T> pq = 0;
        for (int r = 0; r < rows; ++r) pq += conjugate(x[p][r]) * x[q][r];
        const long double size = std::abs(pq);
        if (!(size > 4 * std::numeric_limits<long double>::epsilon() * std::sqrt(pp * qq)))
          continue;
        rotated = true;
        const Wide<T> phase = conjugate(pq) / size;
        const long double zeta = (qq - pp) / (2 * size);
        const long double t = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(zeta, 1.0L));
        const long double c = 1 / std::hypot(t, 1.0L), s = c * t;
        for (int r = 0; r < rows; ++r) {
          const Wide<T> first = x[p][r], second = phase * x[q][r];
          x[p][r] = c * first - s * second;
          x[q][r] = s * first + c * second;
        }
      }
  }
  std::vector<long double> values;
  for (int c = 0; c < cols; ++c) values.push_back(std::sqrt(norm(c)));
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

/// ||X^H X - I||_F of the columns of X, which is rows x cols with the given strides.
template <class T>
long double orthogonality(const T* x, int rows, int cols, int row_stride, int col_stride) {
  long double sum = 0;
  for (int p = 0; p < cols; ++p)
    for (int q = p; q < cols; ++q) {
      Wide<T> dot = p == q ? -1 : 0;
      for (int r = 0; r < rows; ++r)
        dot += conjugate(Wide<T>(x[r * row_stride + p * col_stride])) *
               Wide<T>(x[r * row_stride + q * col_stride]);
      sum += (p == q ? 1 : 2) * squared(dot);
    }
  return std::sqrt(sum);
}

/// ||A - U S Vt||_F / ||A||_F of one matrix.
template <class T>
long double residual(const T* a, const T* u, const Real<T>* s, const T* vt, int m, int n) {
  const int k = std::min(m, n);
  long double difference = 0, size = 0;
  for (int r = 0; r < m; ++r)
    for (int c = 0; c < n; ++c) {
      Wide<T> sum = Wide<T>(a[r * n + c]);
      size += squared(sum);
      for (int j = 0; j < k; ++j)
        sum -= Wide<T>(u[r * k + j]) * static_cast<long double>(s[j]) * Wide<T>(vt[j * n + c]);
      difference += squared(sum);
    }
  return std::sqrt(difference / size);
}

/// u and vt are empty where only values were wanted. exact(i) gives the values of sample i, or none
/// where that would take too long.
template <class T>
SvdAccuracy
svd_accuracy(int m, int n, const std::vector<T>& a, const std::vector<T>& u,
             const std::vector<Real<T>>& s, const std::vector<T>& vt, std::int64_t samples,
             const std::function<const std::vector<long double>*(std::int64_t)>& exact) {
  const std::int64_t k = std::min(m, n);
  const long double unit = unit_roundoff<T>() * std::max(m, n);
  SvdAccuracy worst;
  worst.samples = samples;
  for (std::int64_t i = 0; i < samples; ++i) {
    const T* const ai = a.data() + i * m * n;
    const Real<T>* const si = s.data() + i * k;
    if (!u.empty()) {
      const T *const ui = u.data() + i * m * k, *const vti = vt.data() + i * k * n;
      keep_worst(worst.residual, residual(ai, ui, si, vti, m, n) / unit);
      keep_worst(worst.orthogonality_u,
                 orthogonality(ui, m, static_cast<int>(k), static_cast<int>(k), 1) / unit);
      keep_worst(worst.orthogonality_v, orthogonality(vti, n, static_cast<int>(k), 1, n) / unit);
    }
    const auto* const right = exact(i);
    if (!right) continue;
    ++worst.value_samples;
    for (std::int64_t j = 0; j < k; ++j) {
      const long double exact_j = (*right)[static_cast<std::size_t>(j)];
      const long double error = std::abs(si[j] - exact_j);
      keep_worst(worst.values, error / (unit * right->front()));
      keep_worst(worst.values_relative, error / (unit * exact_j));
    }
  }
  return worst;
}

/// Of large matrices some elements only, evenly spread.
template <class T>
GemmAccuracy gemm_accuracy(const GemmShape& shape, const std::vector<T>& a, const std::vector<T>& b,
                           const std::vector<T>& c, std::int64_t samples) {
  const std::int64_t m = shape.m, n = shape.n, k = shape.k;
  const long double ku = (k + 2) * unit_roundoff<T>(), gamma = ku / (1 - ku);
  const std::int64_t step = std::max<std::int64_t>(1, m * n / 1500);
  GemmAccuracy worst;
  worst.samples = samples;
  for (std::int64_t i = 0; i < samples; ++i)
    for (std::int64_t e = 0; e < m * n; e += step) {
      Wide<T> sum = 0;
      long double bound = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const Wide<T> x(a[(i * m + e / n) * k + l]), y(b[(i * k + l) * n + e % n]);
        sum += x * y;
        bound += std::abs(x) * std::abs(y);
      }
      keep_worst(worst.error, std::abs(Wide<T>(c[i * m * n + e]) - sum) / (gamma * bound));
    }
  return worst;
}

} // namespace bench

#endif
