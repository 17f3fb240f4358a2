// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_FAMILIES_HPP
#define SHOAL_TESTS_SUPPORT_FAMILIES_HPP

#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

/// \file
/// Families of matrices that decompositions find hard, for any m and n.
namespace shoal::test {

/// Named matrices of one shape.
template <class T>
struct Family {
  HostBatch<T> matrices;
  std::vector<std::string> names;
  /// Whether the smallest values are determined to a relative accuracy of about u kappa(B), kappa
  /// <= 10.
  std::vector<bool> relative;
};

/// Makes every family at one shape. The entries are computed wide and rounded to T.
template <class T>
class FamilyMaker {
public:
  using W = Wide<T>;
  using Matrix = WideMatrix<W>;
  using Limits = std::numeric_limits<Part<T>>;

  FamilyMaker(std::int64_t m, std::int64_t n, std::uint64_t seed)
      : m_rows(m), m_cols(n), m_least(std::min(m, n)), m_random(seed),
        m_left(orthonormal(m, m_least)), m_right(orthonormal(n, m_least)) {}

  Family<T> all() {
    const std::int64_t m = m_rows, n = m_cols, k = m_least;
    const bool tall = m >= n, wide = m <= n;
    const long double u = unit_roundoff<T>;
    const auto index = [](std::int64_t i) { return static_cast<long double>(i); };

    add("random", random(m, n));
    add("uniform", entries([&](auto, auto) { return W(m_random.uniform()); }));
    add("zero", Matrix(m, n));
    add("one_entry", entries([&](auto i, auto j) { return W(i == m - 1 && j == n / 2 ? -3 : 0); }));
    add("ones", entries([](auto, auto) { return W(1); }));
    add("three_identity", entries([](auto i, auto j) { return W(i == j ? 3 : 0); }));
    add("exchange", entries([&](auto i, auto j) { return W(i + j == k - 1 ? -1 : 0); }));
    add("ascending_diagonal",
        entries([&](auto i, auto j) { return W(i == j ? index(i + 1) : 0); }));
    add("equal_norms", entries([](auto i, auto j) { return W(i == j ? 2 : 1); }));
    add("hilbert", entries([&](auto i, auto j) { return W(1 / index(i + j + 1)); }));
    add("kahan", kahan());
    add("jordan", entries([](auto i, auto j) { return i == j ? W(0.5L) : W(j == i + 1 ? 1 : 0); }));
    add("integer_rank_2", entries([&](auto i, auto j) {
          return W(index((i % 5 - 2) * (j % 7 + 1) + (i % 3) * (j % 4 - 1)));
        }));

    add("rotation", with_values([](auto) { return 1.0L; }));
    add("reflection", reflection());
    add("repeated", with_values([](auto i) { return i % 3 == 0 ? 1.0L : 0.5L; }));
    add("clustered", with_values([&](auto i) { return 1 + 8 * u * index(i); }));
    add("ill_conditioned", with_values([&](auto i) { return std::pow(u, index(i) / index(k)); }));
    add("geometric", with_values([&](auto i) { return std::pow(10.0L, -index(i)); }));
    add("rank_1", with_values([](auto i) { return i == 0 ? 1.0L : 0; }));
    add("rank_half", with_values([&](auto i) { return i < k / 2 ? 1 / index(i + 1) : 0; }));
    add("rank_less_1", with_values([&](auto i) { return i < k - 1 ? index(i + 1) : 0; }));
    add("near_parallel", near_parallel(4 * std::sqrt(u)));
    add("duplicates", duplicates());
    add("zero_column", with_zero(n / 2, -1));
    add("zero_first_column", with_zero(0, -1));
    add("zero_row", with_zero(-1, m / 2));
    add("gram_loses_half", lauchli(std::sqrt(u) / 2));

    // Scales: the largest value stays a finite number of T.
    const auto largest = std::ldexp(1.0L, Limits::max_exponent - 8) / std::sqrt(index(m * n));
    add("huge", scaled(random(m, n), largest));
    add("tiny", scaled(random(m, n), 16 * static_cast<long double>(Limits::min())));
    add("subnormal", scaled(random(m, n), 4096 * static_cast<long double>(Limits::denorm_min())));
    add("least", entries([&](auto i, auto j) {
          return W(static_cast<long double>(Limits::denorm_min()) * index((i + 2 * j) % 3));
        }));
    const int wild = Limits::max_exponent / 2;
    add("mixed_scale", entries([&](auto, auto) {
          return m_random.template unit<W>() * W(std::exp2(m_random.uniform(-wild, wild) * 0.9L));
        }));
    add("huge_beside_tiny", entries([&](auto, auto j) {
          const long double scale = j % 2 ? largest : 64 * static_cast<long double>(Limits::min());
          return scale * bounded();
        }));

    // Diagonal scalings of a well-conditioned B: relative accuracy holds for A = B D with no more
    // columns than rows, and for A = D B with no more rows than columns.
    const int decades = Limits::min_exponent10 < -12 ? 12 : 3; // nothing becomes subnormal
    const auto graded = [&](std::int64_t i, std::int64_t of) {
      return std::pow(10.0L,
                      -decades * index((i * 7) % of) / index(std::max<std::int64_t>(of - 1, 1)));
    };
    const auto wild_scale = [&](std::int64_t i, std::int64_t of) {
      return std::exp2(0.8L * wild * (2 * index((i * 5 + 1) % of) / index(of) - 1));
    };
    add("column_graded", scaled_columns(well_conditioned(), [&](auto j) { return graded(j, n); }),
        tall);
    add("row_graded", scaled_rows(well_conditioned(), [&](auto i) { return graded(i, m); }), wide);
    add("column_wild", scaled_columns(well_conditioned(), [&](auto j) { return wild_scale(j, n); }),
        tall);
    add("row_wild", scaled_rows(well_conditioned(), [&](auto i) { return wild_scale(i, m); }),
        wide);
    return finish();
  }

private:
  std::int64_t m_rows, m_cols, m_least;
  Random m_random;
  Matrix m_left, m_right; ///< orthonormal columns
  std::vector<Matrix> m_matrices;
  std::vector<std::string> m_names;
  std::vector<bool> m_relative;

  void add(const char* name, Matrix matrix, bool relative = false) {
    m_matrices.push_back(std::move(matrix));
    m_names.push_back(name);
    m_relative.push_back(relative);
  }

  Family<T> finish() {
    Family<T> family;
    family.names = m_names;
    family.relative = m_relative;
    family.matrices = HostBatch<T>(static_cast<std::int64_t>(m_matrices.size()), m_rows, m_cols);
    for (std::size_t b = 0; b < m_matrices.size(); ++b)
      for (std::int64_t i = 0; i < m_rows; ++i)
        for (std::int64_t j = 0; j < m_cols; ++j)
          family.matrices(static_cast<std::int64_t>(b), i, j) = narrow<T>(m_matrices[b](i, j));
    return family;
  }

  template <class F>
  Matrix entries(const F& f) {
    Matrix x(m_rows, m_cols);
    for (std::int64_t i = 0; i < m_rows; ++i)
      for (std::int64_t j = 0; j < m_cols; ++j) x(i, j) = f(i, j);
    return x;
  }
  Matrix random(std::int64_t rows, std::int64_t cols) {
    Matrix x(rows, cols);
    for (W& v : x.values) v = m_random.template normal_wide<W>();
    return x;
  }
  /// Of size between 1/2 and 1.
  W bounded() { return W(m_random.uniform(0.5, 1)) * m_random.template unit<W>(); }

  /// Columns orthonormal to long double: Gram-Schmidt, twice.
  Matrix orthonormal(std::int64_t rows, std::int64_t cols) {
    Matrix q = random(rows, cols);
    for (std::int64_t j = 0; j < cols; ++j) {
      for (int pass = 0; pass < 2; ++pass)
        for (std::int64_t p = 0; p < j; ++p) {
          W dot = 0;
          for (std::int64_t i = 0; i < rows; ++i) dot += conjugate(q(i, p)) * q(i, j);
          for (std::int64_t i = 0; i < rows; ++i) q(i, j) -= dot * q(i, p);
        }
      long double norm = 0;
      for (std::int64_t i = 0; i < rows; ++i) norm += abs_squared(q(i, j));
      for (std::int64_t i = 0; i < rows; ++i) q(i, j) = (1 / std::sqrt(norm)) * q(i, j);
    }
    return q;
  }

  /// U diag(value(0), value(1), ...) V^H.
  template <class F>
  Matrix with_values(const F& value) {
    Matrix x(m_rows, m_cols);
    for (std::int64_t p = 0; p < m_least; ++p)
      for (std::int64_t j = 0; j < m_cols; ++j) {
        const W f = static_cast<long double>(value(p)) * conjugate(m_right(j, p));
        for (std::int64_t i = 0; i < m_rows; ++i) x(i, j) += m_left(i, p) * f;
      }
    return x;
  }
  Matrix well_conditioned() {
    return with_values(
        [](std::int64_t i) { return 1 / static_cast<long double>(1 + (i * 3) % 8); });
  }

  Matrix kahan() {
    const long double c = std::cos(1.2L), s = std::sin(1.2L);
    return entries([&](std::int64_t i, std::int64_t j) {
      const long double scale = std::pow(s, static_cast<long double>(i));
      return W(i == j ? scale : i < j ? -c * scale : 0);
    });
  }
  Matrix reflection() {
    long double norm = 0;
    for (std::int64_t i = 0; i < m_least; ++i) norm += abs_squared(m_left(i, 0));
    return entries([&](std::int64_t i, std::int64_t j) {
      W x = W(i == j ? 1 : 0);
      if (i < m_least && j < m_least) x -= (2 / norm) * (m_left(i, 0) * conjugate(m_left(j, 0)));
      return x;
    });
  }
  Matrix near_parallel(long double distance) {
    Matrix x = random(m_rows, m_cols);
    for (std::int64_t j = 1; j < m_cols; ++j)
      for (std::int64_t i = 0; i < m_rows; ++i) x(i, j) = x(i, 0) + distance * x(i, j);
    return x;
  }
  Matrix duplicates() {
    Matrix x = random(m_rows, m_cols);
    for (std::int64_t j = 1; j < m_cols; j += 2)
      for (std::int64_t i = 0; i < m_rows; ++i) x(i, j) = x(i, j - 1);
    return x;
  }
  Matrix with_zero(std::int64_t column, std::int64_t row) {
    Matrix x = random(m_rows, m_cols);
    for (std::int64_t i = 0; i < m_rows; ++i)
      for (std::int64_t j = 0; j < m_cols; ++j)
        if (i == row || j == column) x(i, j) = W(0);
    return x;
  }
  /// A row of ones over small_value I: A^H A is singular in T.
  Matrix lauchli(long double small_value) {
    return entries([&](std::int64_t i, std::int64_t j) {
      return i == 0 ? W(1) : W(i == j + 1 ? small_value : 0);
    });
  }

  static Matrix scaled(Matrix x, long double largest) {
    long double top = 0;
    for (const W& v : x.values) top = std::max(top, magnitude(v));
    for (W& v : x.values) v = (largest / top) * v;
    return x;
  }
  template <class F>
  static Matrix scaled_columns(Matrix x, const F& scale) {
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t j = 0; j < x.cols; ++j)
        x(i, j) = static_cast<long double>(scale(j)) * x(i, j);
    return x;
  }
  template <class F>
  static Matrix scaled_rows(Matrix x, const F& scale) {
    for (std::int64_t i = 0; i < x.rows; ++i)
      for (std::int64_t j = 0; j < x.cols; ++j)
        x(i, j) = static_cast<long double>(scale(i)) * x(i, j);
    return x;
  }
};

template <class T>
Family<T> families(std::int64_t m, std::int64_t n, std::uint64_t seed = 1) {
  return FamilyMaker<T>(m, n, seed).all();
}

} // namespace shoal::test

#endif
