// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/families.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"

#include <cinttypes>
#include <gtest/gtest.h>

/// \file
/// A matrix gives the same bits wherever it stands: at any position, in any batch size and layout,
/// on every run, with any number of threads.
namespace shoal::test {
namespace {

template <class T>
class SvdBits : public ::testing::Test {};
TYPED_TEST_SUITE(SvdBits, Scalars, ScalarNames);

using Shapes = std::vector<std::pair<std::int64_t, std::int64_t>>;
const Shapes shapes{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {15, 3},  {3, 15},
                    {4, 3}, {7, 5}, {5, 7}, {9, 9}, {33, 20}, {70, 66}};

/// Every matrix of `pool` must come out as in a batch of its own.
template <class T>
std::vector<SvdResult<T>> alone(const HostBatch<T>& pool, const SvdJob& job) {
  std::vector<SvdResult<T>> results;
  for (std::int64_t b = 0; b < pool.batch; ++b) {
    HostBatch<T> one(1, pool.rows, pool.cols);
    std::copy_n(pool.values.begin() + b * pool.rows * pool.cols, pool.rows * pool.cols,
                one.values.begin());
    results.push_back(run_svd(one, job));
  }
  return results;
}

TYPED_TEST(SvdBits, DoNotDependOnPositionOrBatchSize) {
  using T = TypeParam;
  for (const auto& [m, n] : shapes) {
    const HostBatch<T> pool = families<T>(m, n, 21).matrices;
    for (const SvdPath path : every_path<SvdPath>()) {
      if (n > 40 && path != SvdPath::automatic) continue;
      const SvdJob job = SvdJob::of(Vectors::thin, Vectors::thin, Layout::right, path);
      if (path != SvdPath::automatic && refused(pool, job)) continue;
      const auto expected = alone(pool, job);
      for (const std::int64_t batch : {7, 64, 1000}) {
        if (batch * m * n > 200000) continue;
        HostBatch<T> a(batch, m, n);
        const auto source = [&](std::int64_t b) { return (b * 11 + batch) % pool.batch; };
        for (std::int64_t b = 0; b < batch; ++b)
          std::copy_n(pool.values.begin() + source(b) * m * n, m * n, a.values.begin() + b * m * n);
        const SvdResult<T> r = run_svd(a, job);
        for (std::int64_t b = 0; b < batch; ++b)
          ASSERT_TRUE(r.same_matrix(b, expected[static_cast<std::size_t>(source(b))], 0))
              << "matrix " << source(b) << " at " << b << " in " << job.describe(batch, m, n);
      }
    }
  }
}

TYPED_TEST(SvdBits, DoNotDependOnLayoutOrRun) {
  using T = TypeParam;
  for (const auto& [m, n] : shapes) {
    const HostBatch<T> a = families<T>(m, n, 22).matrices;
    for (const Vectors vectors : {Vectors::thin, Vectors::full, Vectors::none}) {
      if (n > 40 && vectors != Vectors::thin) continue;
      const SvdResult<T> expected = run_svd(a, SvdJob::of(vectors, vectors));
      for (const Layout layout : output_layouts)
        for (int run = 0; run < 2; ++run) {
          const SvdJob job = SvdJob::of(vectors, vectors, layout);
          const SvdResult<T> r = run_svd(a, job);
          int different = 0;
          for (std::int64_t b = 0; b < a.batch; ++b) different += !r.same_matrix(b, expected, b);
          EXPECT_EQ(different, 0) << "matrices differ from layout right in "
                                  << job.describe(a.batch, m, n);
        }
    }
  }
}

/// Instances with 1 to all threads of the default one on a CPU; several instances elsewhere.
template <class E>
std::vector<E> instances() {
  std::vector<E> all;
  if constexpr (Kokkos::SpaceAccessibility<E, Kokkos::HostSpace>::accessible) {
    for (int threads = 1; threads <= E().concurrency(); ++threads) all.push_back(E(threads));
  } else {
    for (const E& exec : Kokkos::Experimental::partition_space(E(), 1, 1)) all.push_back(exec);
  }
  return all;
}

TYPED_TEST(SvdBits, DoNotDependOnThreadsOrInstance) {
  using T = TypeParam;
  const auto all = instances<Exec>();
  for (const auto& [m, n] : shapes) {
    const HostBatch<T> a = families<T>(m, n, 23).matrices;
    for (const SvdPath path : every_path<SvdPath>()) {
      if (m * n > 300 && path != SvdPath::automatic) continue; // time
      const SvdJob job = SvdJob::of(Vectors::thin, Vectors::thin, Layout::right, path);
      if (path != SvdPath::automatic && refused(a, job)) continue;
      const SvdResult<T> expected = run_svd(a, job);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const SvdResult<T> r = run_svd(a, job, all[i]);
        for (std::int64_t b = 0; b < a.batch; ++b)
          ASSERT_TRUE(r.same_matrix(b, expected, b))
              << "matrix " << b << ", " << job.describe(a.batch, m, n) << ", instance " << i
              << " of concurrency " << all[i].concurrency();
      }
    }
  }
}

/// A number over all bits of many decompositions. Run with several values of OMP_NUM_THREADS, it
/// must be the same: SHOAL_TEST_BITS holds the one to compare with.
TEST(SvdBitsOfAll, HashIsPrinted) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i)
      hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
  };
  const auto of = [&](auto zero) {
    using T = decltype(zero);
    for (const auto& [m, n] : shapes) {
      const SvdResult<T> r = run_svd(families<T>(m, n, 24).matrices, SvdJob::thin());
      add(r.u.values.data(), r.u.values.size() * sizeof(T));
      add(r.s.values.data(), r.s.values.size() * sizeof(Real<T>));
      add(r.vt.values.data(), r.vt.values.size() * sizeof(T));
      add(r.info.data(), r.info.size() * sizeof(int));
    }
  };
  of(float());
  of(double());
  of(Kokkos::complex<float>());
  of(Kokkos::complex<double>());
  of(half());
  of(bfloat16());
  std::printf("[ BITS     ] %016" PRIx64 " with concurrency %d\n", hash,
              static_cast<int>(Exec().concurrency()));
  if (const char* const expected = std::getenv("SHOAL_TEST_BITS")) {
    EXPECT_EQ(hash, std::strtoull(expected, nullptr, 16));
  }
}

} // namespace
} // namespace shoal::test
