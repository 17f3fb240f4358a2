// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "src/svd/tall_qr.hpp"

#include "tests/support/layouts.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/residuals.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/thread_group.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <type_traits>
#include <vector>

/// \file
/// The tall QR with the lanes of a warp, on a CPU; see tests/support/thread_group.hpp.
namespace shoal::test {
namespace {

/// A = Q R of one block of rows, and what Q makes of X.
template <class T>
struct Factors {
  HostBatch<T> r, qx;
  int exponent;
};

template <class T>
detail::MatrixRef<T> by_rows(HostBatch<std::remove_const_t<T>>& x) {
  return {x.values.data(), x.rows, x.cols, x.cols, 1};
}
template <class T>
detail::MatrixRef<T> by_columns(HostBatch<std::remove_const_t<T>>& x) {
  return {x.values.data(), x.rows, x.cols, 1, x.rows};
}

/// `right` by rows; Q right comes by rows, too, or by columns.
template <int Cols, int Rows, class T>
Factors<T> factor(HostBatch<T> a, HostBatch<T> right, bool columns = false) {
  using Qr = detail::TallQr<T, ThreadGroup<warp_lanes>, Cols, Rows>;
  using V = typename Qr::V;
  const std::int64_t m = a.rows, n = a.cols;
  const std::size_t padded = static_cast<std::size_t>((m + 31) / 32 * 32);
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> scratch(
      detail::tall_scratch_bytes(Cols, warp_lanes, sizeof(T), sizeof(Real<T>)) / sizeof(Line) + 1);
  std::vector<V> reflectors(padded * static_cast<std::size_t>(n)),
      square(static_cast<std::size_t>(n * n));
  std::vector<unsigned char> steps(padded, 99);
  Factors<T> f{HostBatch<T>(1, n, n, poison<T>()), HostBatch<T>(1, m, right.cols, poison<T>()), -9};
  const detail::TallBlock<V> block{reflectors.data(), steps.data(), square.data(), &f.exponent};
  run_warps(1, [&](int, int) {
    const Qr qr(scratch.front().bytes, static_cast<int>(n));
    qr.factor(by_rows<const T>(a), by_rows<T>(f.r), true, block);
    qr.apply(block, by_rows<const T>(right), columns ? by_columns<T>(f.qx) : by_rows<T>(f.qx),
             detail::FastDivide(static_cast<int>(right.cols)));
  });
  if (columns) {
    const HostBatch<T> turned = f.qx;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < right.cols; ++j)
        f.qx(0, i, j) = turned.values[static_cast<std::size_t>(j * m + i)];
  }
  return f;
}

template <class T>
HostBatch<T> identity(std::int64_t n) {
  HostBatch<T> x(1, n, n);
  for (std::int64_t i = 0; i < n; ++i) x(0, i, i) = T(1);
  return x;
}

/// |A_i - (Q R 2^e)_i| over the size of row i (of all of A if not `by_row`), in contract units; and
/// how far Q is from orthonormal.
template <class T>
void expect_factors(const HostBatch<T>& a, const Factors<T>& f, bool by_row,
                    const std::string& what) {
  const std::int64_t m = a.rows, n = a.cols;
  const long double scale = std::ldexp(1.0L, f.exponent), unit = contract_unit<T>(m, n);
  long double whole = 0, error = 0, worst_row = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    long double size2 = 0, error2 = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      Wide<T> sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += widen(f.qx(0, i, k)) * widen(f.r(0, k, j));
      const Wide<T> difference = widen(a(0, i, j)) - scale * sum;
      size2 += abs_squared(widen(a(0, i, j)));
      error2 += abs_squared(difference);
    }
    whole += size2;
    error += error2;
    if (size2 > 0) worst_row = worse(worst_row, std::sqrt(error2 / size2));
  }
  EXPECT_LE(std::sqrt(error), contract_limit * unit * std::sqrt(whole)) << what;
  if (by_row) {
    EXPECT_LE(worst_row, contract_limit * unit) << what;
  }
  EXPECT_LE(column_orthogonality<T>(f.qx, 0, m, n), contract_limit) << what;
}

template <class T>
HostBatch<T> with_rows_scaled(HostBatch<T> a) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.cols; ++j)
      a(0, i, j) *= static_cast<Real<T>>(std::ldexp(1.0, static_cast<int>(-(i * 7 % 60))));
  return a;
}

template <class T, int Cols, int Rows>
void check(std::int64_t m, std::int64_t n) {
  const std::string what = std::to_string(m) + " x " + std::to_string(n);
  Random random(seed());
  const HostBatch<T> whole = identity<T>(n);
  HostBatch<T> a = random_batch<T>(random, 1, m, n);
  expect_factors(a, factor<Cols, Rows>(a, whole), false, what + ", random");
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) a(0, i, j) = j % 2 ? a(0, i, 0) : T(Real<T>(1));
  expect_factors(a, factor<Cols, Rows>(a, whole), false, what + ", low rank");
}

TEST(TallQr, OfABlockOfRows) {
  check<float, 8, 4>(128, 5);
  check<double, 16, 2>(45, 11);
  check<Kokkos::complex<float>, 16, 2>(37, 16);
  check<Kokkos::complex<double>, 8, 1>(32, 1);
  check<double, 32, 2>(64, 32);
}

TEST(TallQr, TimesSomeVectorsByRowsOrByColumns) {
  Random random(seed());
  const HostBatch<float> a = random_batch<float>(random, 1, 50, 6),
                         part = random_batch<float>(random, 1, 6, 4);
  const Factors<float> all = factor<8, 2>(a, identity<float>(6)), some = factor<8, 2>(a, part),
                       by_columns = factor<8, 2>(a, part, true);
  EXPECT_TRUE(some.qx.same(by_columns.qx));
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < part.cols; ++j) {
      long double sum = 0;
      for (std::int64_t k = 0; k < a.cols; ++k)
        sum += widen(all.qx(0, i, k)) * widen(part(0, k, j));
      EXPECT_LE(std::fabs(sum - some.qx(0, i, j)), 5 * contract_unit<float>(50, 6));
    }
}

TEST(TallQr, EveryRowToItsOwnSize) {
  Random random(seed());
  const auto check_rows = [&]<class T>(T, auto cols) {
    const HostBatch<T> a = with_rows_scaled(random_batch<T>(random, 1, 61, 7));
    expect_factors(a, factor<cols, 2>(a, identity<T>(7)), true, scalar_name<T>());
  };
  check_rows(float(), std::integral_constant<int, 8>());
  check_rows(Kokkos::complex<double>(), std::integral_constant<int, 8>());
}

TEST(TallQr, ColumnsOfAnyScaleZerosAndNaN) {
  Random random(seed());
  HostBatch<float> a = random_batch<float>(random, 1, 40, 8);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.cols; ++j) a(0, i, j) *= std::ldexp(1.0f, j % 2 ? 100 : -20);
  expect_factors(a, factor<8, 2>(a, identity<float>(8)), false, "graded columns");
  const HostBatch<float> zero(1, 40, 8);
  const Factors<float> of_zero = factor<8, 2>(zero, identity<float>(8));
  EXPECT_LE(column_orthogonality<float>(of_zero.qx, 0, 40, 8), contract_limit);
  for (const float x : of_zero.r.values) EXPECT_EQ(x, 0);
  a(0, 39, 4) = poison<float>();
  EXPECT_TRUE((factor<8, 2>(a, identity<float>(8)).r.all_nan(0)));
}

} // namespace
} // namespace shoal::test
