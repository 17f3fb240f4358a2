// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What shows only in the data: NaN, Inf, too few sweeps. Reported for that matrix alone.
#include "tests/check/support/families.hpp"
#include "tests/check/support/reference.hpp"
#include "tests/check/support/run.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace {

using namespace shoal_test;

template <class T>
class SvdFailures : public testing::Test {};
using Scalars =
    testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(SvdFailures, Scalars);

template <class T>
bool is_nan(const T& x) {
  return !(x == x);
}

TYPED_TEST(SvdFailures, NaN_and_Inf_stay_in_their_matrix) {
  using T = TypeParam;
  using R = RealOf<T>;
  Random random(3);
  const int batch = 37, bad = 21;
  for (const auto& [m, n] : {std::pair{1, 1}, {2, 2}, {3, 3}, {4, 4}, {15, 3}, {3, 6}, {7, 7}, {40, 34}}) {
    HostBatch<T> a(batch, m, n);
    fill_random(a, random);
    const SvdResult<T> good = run_svd(a);
    // Every position of the small ones, a few of the large ones.
    const int step = m * n > 60 ? m * n / 5 : 1;
    for (int place = 0; place < m * n; place += step)
      for (const R value : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity(),
                            -std::numeric_limits<R>::infinity()}) {
        HostBatch<T> spoiled = a;
        spoiled(bad, place / n, place % n) = T(value);
        const SvdResult<T> r = run_svd(spoiled);
        ASSERT_TRUE(r.guards_intact);
        for (int b = 0; b < batch; ++b) {
          if (b == bad) {
            ASSERT_LT(r.info(b, 0, 0), 0) << m << " x " << n << ", place " << place;
            for (int k = 0; k < r.s.rows; ++k) ASSERT_TRUE(is_nan(r.s(b, k, 0)));
            for (int i = 0; i < m; ++i)
              for (int k = 0; k < r.u.cols; ++k) ASSERT_TRUE(is_nan(r.u(b, i, k)));
            for (int k = 0; k < r.vt.rows; ++k)
              for (int j = 0; j < n; ++j) ASSERT_TRUE(is_nan(r.vt(b, k, j)));
          } else {
            ASSERT_EQ(r.info(b, 0, 0), 0);
            for (int k = 0; k < r.s.rows; ++k) ASSERT_EQ(r.s(b, k, 0), good.s(b, k, 0));
            for (int i = 0; i < m; ++i)
              for (int k = 0; k < r.u.cols; ++k) ASSERT_TRUE(r.u(b, i, k) == good.u(b, i, k));
            for (int k = 0; k < r.vt.rows; ++k)
              for (int j = 0; j < n; ++j) ASSERT_TRUE(r.vt(b, k, j) == good.vt(b, k, j));
          }
        }
      }
  }
}

TYPED_TEST(SvdFailures, full_vectors_of_a_bad_matrix_are_NaN_too) {
  using T = TypeParam;
  HostBatch<T> a(3, 5, 2, T(1));
  a(1, 4, 1) = not_a_number<T>();
  shoal::SvdOptions options;
  options.left = options.right = shoal::Vectors::full;
  const SvdResult<T> r = run_svd(a, options);
  EXPECT_LT(r.info(1, 0, 0), 0);
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k < 5; ++k) {
      EXPECT_TRUE(is_nan(r.u(1, i, k)));
      EXPECT_FALSE(is_nan(r.u(0, i, k)));
    }
}

TYPED_TEST(SvdFailures, one_sweep_ends_and_says_that_it_was_too_few) {
  using T = TypeParam;
  Random random(4);
  for (const int n : {3, 4, 12, 40}) {
    HostBatch<T> a(20, n, n);
    fill_random(a, random);
    for (const auto path : {shoal::SvdPath::automatic, shoal::SvdPath::team}) {
      shoal::SvdOptions options;
      options.max_sweeps = 1;
      options.path = path;
      const SvdResult<T> r = run_svd(a, options);
      for (int b = 0; b < a.batch; ++b) {
        EXPECT_EQ(r.info(b, 0, 0), 1);
        // Not yet diagonal, but a product of orthogonal transformations all the same.
        EXPECT_LE(check_svd(a, b, r.u, r.s, r.vt).left, contract_limit);
      }
    }
  }
}

TYPED_TEST(SvdFailures, info_may_be_left_out) {
  using T = TypeParam;
  HostBatch<T> a(10, 3, 3, T(2));
  const DeviceBatch<T> device(a, Layout::right);
  Kokkos::View<RealOf<T>**, Kokkos::LayoutRight, Space> s("test::s", 10, 3);
  const Space exec;
  shoal::svd_values(exec, device.view(), s);
  exec.fence();
  const auto host = Kokkos::create_mirror(s);
  Kokkos::deep_copy(host, s);
  EXPECT_NEAR(host(9, 0), 6, 1e-5);
}

} // namespace
