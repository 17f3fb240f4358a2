// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/families.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"

#include <gtest/gtest.h>
#include <limits>

/// \file
/// What shows only in the data: NaN and Inf, and matrices that need more sweeps than allowed, are
/// reported for the matrix that has them and touch no other.
namespace shoal::test {
namespace {

template <class T>
class SvdFailures : public ::testing::Test {};
TYPED_TEST_SUITE(SvdFailures, Scalars, ScalarNames);

template <class T>
std::vector<T> bad_numbers() {
  using R = Real<T>;
  const R nan = std::numeric_limits<R>::quiet_NaN(), inf = std::numeric_limits<R>::infinity();
  if constexpr (is_complex<T>)
    return {T(nan, nan), T(nan, 1), T(0, nan), T(inf, 0), T(1, -inf), T(inf, nan)};
  else return {T(nan), T(-nan), T(inf), T(-inf)};
}

TYPED_TEST(SvdFailures, NotFiniteEntriesAreReportedAtEveryPositionAndTouchNoNeighbour) {
  using T = TypeParam;
  Random random(seed());
  const auto bad = bad_numbers<T>();
  std::size_t turn = 0;
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                                               {2, 2},
                                                                               {3, 3},
                                                                               {4, 4},
                                                                               {5, 3},
                                                                               {3, 5},
                                                                               {15, 3},
                                                                               {6, 6},
                                                                               {9, 7},
                                                                               {7, 9},
                                                                               {70, 66}}) {
    const HostBatch<T> good = random_batch<T>(random, n > 40 ? 3 : 21, m, n);
    for (const SvdPath path : every_path<SvdPath>())
      for (const Vectors vectors : {Vectors::thin, Vectors::full, Vectors::none}) {
        SvdJob job = SvdJob::of(vectors, vectors, Layout::right, path);
        job.options.fix_signs = vectors != Vectors::none && turn % 2 == 1;
        if (path != SvdPath::automatic && refused(good, job)) continue;
        const SvdResult<T> clean = run_svd(good, job);
        const std::int64_t step = (n > 40 ? 997 : m * n > 30 ? 7 : 1) * case_step;
        for (std::int64_t at = 0; at < m * n; at += step) {
          HostBatch<T> a = good;
          const std::int64_t b = (at * 5 + 2) % a.batch;
          a(b, at / n, at % n) = bad[turn++ % bad.size()];
          const SvdResult<T> r = run_svd(a, job);
          const std::string where = job.describe(a.batch, m, n) + ", entry " + std::to_string(at) +
                                    " of matrix " + std::to_string(b);
          EXPECT_LT(r.info[static_cast<std::size_t>(b)], 0) << where;
          EXPECT_NE(r.info[static_cast<std::size_t>(b)], poison<int>()) << where;
          EXPECT_TRUE(r.s.all_nan(b)) << where;
          EXPECT_TRUE(r.u.all_nan(b)) << where;
          EXPECT_TRUE(r.vt.all_nan(b)) << where;
          EXPECT_TRUE(r.guards_intact) << where;
          for (std::int64_t other = 0; other < a.batch; ++other)
            if (other != b) {
              EXPECT_TRUE(r.same_matrix(other, clean, other)) << where << ", neighbour " << other;
            }
          if (this->HasFailure()) return;
        }
      }
  }
}

TYPED_TEST(SvdFailures, EveryMatrixMayBeBad) {
  using T = TypeParam;
  for (const auto& [m, n] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 2}, {15, 3}, {8, 8}, {70, 66}})
    for (const SvdPath path : every_path<SvdPath>()) {
      const HostBatch<T> a(9, m, n, bad_numbers<T>()[0]);
      const SvdJob job = SvdJob::of(Vectors::thin, Vectors::thin, Layout::right, path);
      if (path != SvdPath::automatic && refused(a, job)) continue;
      const SvdResult<T> r = run_svd(a, job);
      for (std::int64_t b = 0; b < a.batch; ++b) {
        EXPECT_LT(r.info[static_cast<std::size_t>(b)], 0);
        EXPECT_NE(r.info[static_cast<std::size_t>(b)], poison<int>());
        EXPECT_TRUE(r.s.all_nan(b) && r.u.all_nan(b) && r.vt.all_nan(b));
      }
    }
}

TYPED_TEST(SvdFailures, TooFewSweepsAreReportedAndStillGiveADecomposition) {
  using T = TypeParam;
  Random random(seed());
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {2, 2}, {3, 3}, {15, 3}, {4, 9}, {12, 12}, {40, 40}, {70, 70}}) {
    const HostBatch<T> a = random_batch<T>(random, 25, m, n);
    for (const SvdPath path : every_path<SvdPath>()) {
      SvdJob job = SvdJob::of(Vectors::thin, Vectors::thin, Layout::right, path);
      if (path != SvdPath::automatic && refused(a, job)) continue;
      job.options.max_sweeps = 1;
      const SvdResult<T> r = run_svd(a, job);
      int missed = 0;
      for (std::int64_t b = 0; b < a.batch; ++b) {
        const int info = r.info[static_cast<std::size_t>(b)];
        EXPECT_TRUE(info == 0 || info == 1) << info << " in " << job.describe(a.batch, m, n);
        missed += info > 0;
        EXPECT_TRUE(descending(r.s, b)) << job.describe(a.batch, m, n);
        // The best so far: one sweep of Jacobi comes this near, and a wrong product does not.
        EXPECT_LE(residual(a, r.u, r.s, r.vt, b) * contract_unit<T>(m, n), 0.25)
            << job.describe(a.batch, m, n);
      }
      if (std::min(m, n) >= 4) {
        EXPECT_EQ(missed, a.batch) << "one sweep cannot be enough: " << job.describe(a.batch, m, n);
      }
    }
  }
}

TYPED_TEST(SvdFailures, NoInputNeedsManySweepsAndNoneHangs) {
  using T = TypeParam;
  for (const auto& [m, n] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 3}, {15, 3}, {10, 10}, {24, 20}}) {
    const Family<T> family = families<T>(m, n, 11);
    for (const SvdPath path : every_path<SvdPath>())
      for (const int sweeps : {1, 2, 5, 1000000}) {
        SvdJob job = SvdJob::of(Vectors::thin, Vectors::thin, Layout::right, path);
        if (path != SvdPath::automatic && refused(family.matrices, job)) continue;
        job.options.max_sweeps = sweeps;
        const SvdResult<T> r = run_svd(family.matrices, job); // ends
        for (std::size_t b = 0; b < r.info.size(); ++b) {
          EXPECT_GE(r.info[b], 0) << family.names[b];
          EXPECT_LE(r.info[b], sweeps) << family.names[b];
          if (sweeps > 100) {
            EXPECT_EQ(r.info[b], 0) << family.names[b];
          }
        }
      }
  }
}

TYPED_TEST(SvdFailures, InfoMayBeLeftOut) {
  using T = TypeParam;
  Random random(seed());
  for (const std::int64_t n : {3, 9}) {
    HostBatch<T> a = random_batch<T>(random, 11, n, n);
    a(4, 0, 0) = bad_numbers<T>()[0];
    const SvdResult<T> r = run_svd(a, SvdJob::thin());
    const DeviceBatch<T> da(Layout::right, a);
    DeviceBatch<T> du(Layout::right, 11, n, n), dvt(Layout::right, 11, n, n);
    DeviceBatch<Real<T>> ds(Layout::right, 11, n, 1);
    const Exec exec;
    svd(exec, da.right(), du.right(), ds.vectors(), dvt.right());
    exec.fence();
    EXPECT_TRUE(du.get().all_nan(4) && ds.get().all_nan(4) && dvt.get().all_nan(4));
    for (std::int64_t b = 0; b < 11; ++b)
      if (b != 4) {
        EXPECT_TRUE(du.get().same_matrix(b, r.u, b) && ds.get().same_matrix(b, r.s, b) &&
                    dvt.get().same_matrix(b, r.vt, b));
      }
  }
}

} // namespace
} // namespace shoal::test
