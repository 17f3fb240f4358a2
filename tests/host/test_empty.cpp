// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"

#include <shoal/gemm.hpp>

#include <gtest/gtest.h>

/// \file
/// Batches of no matrices and matrices without rows or columns are ordinary inputs with a defined
/// result.
namespace shoal::test {
namespace {

template <class T>
class Empty : public ::testing::Test {};
TYPED_TEST_SUITE(Empty, Scalars, ScalarNames);

TYPED_TEST(Empty, GemmWithoutInnerExtentScalesC) {
  using T = TypeParam;
  Random random(seed());
  const Exec exec;
  for (const GemmPath path : every_path<GemmPath>())
    for (const Layout layout : {Layout::right, Layout::left, Layout::padded_cols})
      for (const std::int64_t n : {1, 3, 4, 7, 20}) {
        GemmOptions options;
        options.path = path;
        const DeviceBatch<T> a(layout, 9, n, 0), b(layout, 9, 0, n);
        const HostBatch<T> before = random_batch<T>(random, 9, n, n);
        DeviceBatch<T> c(layout, before);
        try {
          gemm(exec, T(3), a.const_strided(), b.const_strided(), T(-2), c.strided(), options);
        } catch (const shoal::invalid_argument& e) {
          EXPECT_EQ(e.argument(), "options.path");
          EXPECT_TRUE(path != GemmPath::automatic && path != GemmPath::team) << e.what();
          continue;
        }
        exec.fence();
        HostBatch<T> after = c.get();
        for (std::size_t i = 0; i < before.values.size(); ++i)
          ASSERT_TRUE(after.values[i] == T(-2) * before.values[i]) << to_string(path);
        EXPECT_TRUE(c.guards_intact());

        c.fill(poison<T>());
        gemm(exec, T(3), a.const_strided(), b.const_strided(), T(0), c.strided(), options);
        exec.fence();
        after = c.get();
        for (const T& x : after.values) ASSERT_TRUE(x == T(0)) << "beta 0, " << to_string(path);
        EXPECT_TRUE(c.guards_intact());
      }
}

TYPED_TEST(Empty, GemmWithoutElementsTouchesNothing) {
  using T = TypeParam;
  const Exec exec;
  struct Shape {
    std::int64_t batch, m, n, k;
  };
  for (const auto& s :
       {Shape{0, 3, 4, 5}, Shape{0, 70, 70, 70}, Shape{7, 0, 4, 5}, Shape{7, 3, 0, 5},
        Shape{7, 0, 0, 5}, Shape{7, 0, 4, 0}, Shape{0, 0, 0, 0}, Shape{7, 0, 0, 0}})
    for (const GemmPath path : {GemmPath::automatic, GemmPath::team})
      for (const Layout layout : output_layouts) {
        GemmOptions options;
        options.path = path;
        DeviceBatch<T> a(layout, s.batch, s.m, s.k), b(layout, s.batch, s.k, s.n),
            c(layout, s.batch, s.m, s.n);
        if (layout == Layout::pointers)
          EXPECT_NO_THROW(
              gemm(exec, T(1), a.pointers(), b.pointers(), T(1), c.pointers(), options));
        else
          EXPECT_NO_THROW(gemm(exec, T(1), a.strided(), b.strided(), T(1), c.strided(), options));
        if (layout == Layout::right) {
          EXPECT_NO_THROW(gemm(exec, T(1), a.right(), b.right(), T(1), c.right(), options));
        }
        if (layout == Layout::left) {
          EXPECT_NO_THROW(gemm(exec, T(1), a.left(), b.left(), T(1), c.left(), options));
        }
        exec.fence();
        EXPECT_TRUE(c.untouched());
      }
}

/// Views without memory, as default-constructed and as allocated with extents of zero.
TYPED_TEST(Empty, ViewsWithoutMemoryAreAccepted) {
  using T = TypeParam;
  const Exec exec;
  using View = Kokkos::View<T***, Memory>;
  const View a("a", 0, 3, 3), none;
  EXPECT_NO_THROW(gemm(exec, T(1), a, a, T(0), a));
  EXPECT_NO_THROW(gemm(exec, T(1), none, none, T(0), none));
  const Kokkos::View<Real<T>**, Memory> s("s", 0, 3), no_s;
  const Kokkos::View<int*, Memory> info("info", 0);
  EXPECT_NO_THROW(svd(exec, a, a, s, a, info));
  EXPECT_NO_THROW(svd(exec, none, none, no_s, none));
  EXPECT_NO_THROW(svd_values(exec, a, s));
  EXPECT_EQ(svd_workspace_size(exec, a, a, s, a), 0u);
  exec.fence();
}

template <class T>
void expect_identity(const HostBatch<T>& x, std::int64_t order, const std::string& where) {
  ASSERT_EQ(x.rows, order) << where;
  ASSERT_EQ(x.cols, order) << where;
  for (std::int64_t b = 0; b < x.batch; ++b)
    for (std::int64_t i = 0; i < order; ++i)
      for (std::int64_t j = 0; j < order; ++j)
        ASSERT_TRUE(x(b, i, j) == T(static_cast<Real<T>>(i == j)))
            << where << " at " << i << ", " << j;
}

TYPED_TEST(Empty, FullVectorsOfAMatrixWithoutEntriesAreTheIdentity) {
  using T = TypeParam;
  for (const std::int64_t batch : {1, 5, 100})
    for (const std::int64_t size : {0, 1, 2, 3, 5, 8, 70})
      for (const bool no_rows : {false, true})
        for (const SvdPath path : every_path<SvdPath>())
          for (const Layout layout : output_layouts) {
            const HostBatch<T> a(batch, no_rows ? 0 : size, no_rows ? size : 0);
            const SvdJob job = SvdJob::of(Vectors::full, Vectors::full, layout, path);
            if (path != SvdPath::automatic && refused(a, job)) continue;
            const std::string where = job.describe(batch, a.rows, a.cols);
            SvdResult<T> r;
            ASSERT_NO_THROW(r = run_svd(a, job)) << where;
            expect_identity(r.u, a.rows, "U of " + where);
            expect_identity(r.vt, a.cols, "Vt of " + where);
            for (const int info : r.info) ASSERT_EQ(info, 0) << where;
            EXPECT_TRUE(r.guards_intact) << where;
          }
}

TYPED_TEST(Empty, ThinVectorsOfAMatrixWithoutEntriesAreNone) {
  using T = TypeParam;
  for (const auto& [m, n] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {0, 4}, {4, 0}, {90, 0}, {0, 90}})
    for (const Layout layout : output_layouts) {
      const HostBatch<T> a(6, m, n);
      for (const Vectors vectors : {Vectors::thin, Vectors::none}) {
        const SvdJob job = SvdJob::of(vectors, vectors, layout);
        SvdResult<T> r;
        ASSERT_NO_THROW(r = run_svd(a, job)) << job.describe(6, m, n);
        for (const int info : r.info) EXPECT_EQ(info, 0) << job.describe(6, m, n);
        EXPECT_TRUE(r.guards_intact);
      }
    }
}

TYPED_TEST(Empty, SvdOfNoMatricesDoesNothing) {
  using T = TypeParam;
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {3, 3}, {15, 3}, {3, 15}, {90, 90}, {0, 3}})
    for (const Layout layout : output_layouts)
      for (const Vectors vectors : {Vectors::none, Vectors::thin, Vectors::full}) {
        const SvdJob job = SvdJob::of(vectors, vectors, layout);
        SvdResult<T> r;
        ASSERT_NO_THROW(r = run_svd(HostBatch<T>(0, m, n), job)) << job.describe(0, m, n);
        EXPECT_TRUE(r.guards_intact);
      }
}

/// S with no entries: vectors are asked for, values are not.
TYPED_TEST(Empty, RankZeroOfAMatrixWithEntries) {
  using T = TypeParam;
  Random random(seed());
  for (const auto& [m, n] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 3}, {15, 3}, {3, 15}, {12, 9}}) {
    const HostBatch<T> a = random_batch<T>(random, 10, m, n);
    SvdJob job = SvdJob::of(Vectors::full, Vectors::full);
    job.rank = 0;
    const SvdResult<T> r = run_svd(a, job);
    for (std::int64_t b = 0; b < 10; ++b) {
      EXPECT_EQ(r.info[static_cast<std::size_t>(b)], 0);
      EXPECT_LE(column_orthogonality<T>(r.u, b, m, n), contract_limit);
      EXPECT_LE(row_orthogonality<T>(r.vt, b, m, n), contract_limit);
    }
    job.options.left = job.options.right = Vectors::none;
    const SvdResult<T> nothing = run_svd(a, job);
    for (const int info : nothing.info) EXPECT_EQ(info, 0);
  }
}

} // namespace
} // namespace shoal::test
