// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"

#include <shoal/gemm.hpp>

#include <gtest/gtest.h>

/// \file
/// Batches beyond what 16-bit grids and 32-bit offsets hold.
namespace shoal::test {
namespace {

template <class T>
class Large : public ::testing::Test {};
TYPED_TEST_SUITE(Large, WideScalars, ScalarNames);

constexpr bool on_host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;
constexpr std::int64_t sizes[] = {65535, 65536, 65537, 1000003};

/// The same small set of matrices over and over: every one of a large batch is compared with the
/// result of the set alone.
template <class T>
HostBatch<T> repeat(const HostBatch<T>& pool, std::int64_t batch) {
  HostBatch<T> x(batch, pool.rows, pool.cols);
  const std::int64_t size = pool.rows * pool.cols;
  for (std::int64_t b = 0; b < batch; ++b)
    std::copy_n(pool.values.begin() + b % pool.batch * size, size, x.values.begin() + b * size);
  return x;
}

TYPED_TEST(Large, GemmOfManyMatrices) {
  using T = TypeParam;
  Random random(seed());
  const Exec exec;
  for (const std::int64_t n : {1, 2, 5}) {
    const HostBatch<T> a = random_batch<T>(random, 101, n, n),
                       b = random_batch<T>(random, 101, n, n);
    HostBatch<T> expected;
    const auto product = [&](const HostBatch<T>& x, const HostBatch<T>& y, Layout layout,
                             GemmPath path) {
      const DeviceBatch<T> da(layout, x), db(layout, y);
      DeviceBatch<T> dc(layout, x.batch, n, n);
      dc.fill(poison<T>());
      GemmOptions options;
      options.path = path;
      gemm(exec, T(2), da.strided(), db.strided(), T(0), dc.strided(), options);
      exec.fence();
      EXPECT_TRUE(dc.guards_intact());
      return dc.get();
    };
    for (const GemmPath path : every_path<GemmPath>()) {
      try {
        expected = product(a, b, Layout::right, path);
      } catch (const shoal::invalid_argument&) {
        continue;
      }
      for (const std::int64_t batch : sizes) {
        if (batch > 100000 && (n != 2 || sizeof(T) > 8)) continue; // time
        // Teams of several threads, which a CPU runs by request only, wait for each other at
        // length.
        if (path == GemmPath::tile && on_host) continue;
        // A CBLAS has a call for each matrix; cuBLAS's bits may depend on the batch
        // (test_vendor_gemm.cpp).
        if (path == GemmPath::vendor && (!on_host || batch != 65536)) continue;
        for (const Layout layout : {Layout::right, Layout::left}) {
          if (path == GemmPath::vendor && layout == Layout::left) continue; // not BLAS's
          const HostBatch<T> c = product(repeat(a, batch), repeat(b, batch), layout, path);
          std::int64_t wrong = 0;
          for (std::int64_t i = 0; i < batch; ++i) wrong += !c.same_matrix(i, expected, i % 101);
          EXPECT_EQ(wrong, 0) << "of " << batch << ", n " << n << ", path " << to_string(path)
                              << ", layout " << layout;
        }
      }
    }
  }
}

TYPED_TEST(Large, SvdOfManyMatrices) {
  using T = TypeParam;
  Random random(seed());
  for (const auto& [m, n] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {2, 2}, {2, 1}, {1, 2}}) {
    const HostBatch<T> pool = random_batch<T>(random, 101, m, n);
    for (const SvdPath path : every_path<SvdPath>())
      for (const std::int64_t batch : sizes) {
        // Time: the general kernel starts slowly, and a million matrices of one type are enough.
        if (path == SvdPath::team && (batch != 65536 || m + n < 4)) continue;
        if (batch > 100000 && (path != SvdPath::automatic || sizeof(T) > 4)) continue;
        const Layout layout = batch % 2 ? Layout::right : Layout::left;
        const SvdJob job = SvdJob::of(Vectors::thin, Vectors::thin, layout, path);
        SvdResult<T> expected;
        try {
          expected = run_svd(pool, job);
        } catch (const shoal::invalid_argument&) {
          continue;
        }
        const SvdResult<T> r = run_svd(repeat(pool, batch), job);
        std::int64_t wrong = 0;
        for (std::int64_t b = 0; b < batch; ++b) wrong += !r.same_matrix(b, expected, b % 101);
        EXPECT_EQ(wrong, 0) << "of " << batch << ", " << job.describe(batch, m, n);
        EXPECT_TRUE(r.guards_intact);
      }
  }
}

/// More than 2^31 elements: on devices with the memory for it.
class Beyond32Bits : public ::testing::Test {
protected:
  static constexpr std::int64_t elements = (std::int64_t(1) << 31) + (std::int64_t(1) << 20);

  void SetUp() override {
    if (Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible &&
        !std::getenv("SHOAL_TEST_LARGE"))
      GTEST_SKIP() << "needs tens of GB: set SHOAL_TEST_LARGE to run it on a CPU";
  }
};

struct FillFrom {
  using View = Kokkos::View<float***, Kokkos::LayoutRight, Memory>;
  View x;
  KOKKOS_FUNCTION void operator()(std::int64_t b) const {
    for (int i = 0; i < static_cast<int>(x.extent(1)); ++i)
      for (int j = 0; j < static_cast<int>(x.extent(2)); ++j)
        x(b, i, j) = static_cast<float>((b * 7 + i * 3 + j) % 13) - 6.0f;
  }
};
/// Counts the entries of C that are not the exact product of small integers.
struct CountWrong {
  FillFrom::View a, c;
  KOKKOS_FUNCTION void operator()(std::int64_t b, std::int64_t& wrong) const {
    const int n = static_cast<int>(a.extent(1));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int k = 0; k < n; ++k) sum += a(b, i, k) * a(b, j, k);
        if (!(c(b, i, j) == sum)) ++wrong;
      }
  }
};

TEST_F(Beyond32Bits, Gemm) {
  const Exec exec;
  for (const int n : {2, 16}) {
    const std::int64_t batch = elements / (n * n);
    const FillFrom::View a(Kokkos::view_alloc("a", Kokkos::WithoutInitializing), batch, n, n);
    const FillFrom::View c(Kokkos::view_alloc("c", Kokkos::WithoutInitializing), batch, n, n);
    Kokkos::parallel_for("fill",
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, batch),
                         FillFrom{a});
    GemmOptions options;
    options.op_b = Op::transpose;
    gemm(exec, 1.0f, a, a, 0.0f, c, options);
    std::int64_t wrong = 0;
    Kokkos::parallel_reduce(
        "check", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, batch),
        CountWrong{a, c}, wrong);
    EXPECT_EQ(wrong, 0) << "n " << n;
  }
}

struct CountWrongValues {
  FillFrom::View a;
  Kokkos::View<float**, Kokkos::LayoutRight, Memory> s;
  KOKKOS_FUNCTION void operator()(std::int64_t b, std::int64_t& wrong) const {
    float norm = 0, sum = 0;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) norm += a(b, i, j) * a(b, i, j);
      sum += s(b, i) * s(b, i);
    }
    if (!(sum <= norm * 1.00001f && sum >= norm * 0.99999f)) ++wrong;
  }
};

TEST_F(Beyond32Bits, Svd) {
  const Exec exec;
  const std::int64_t batch = elements / 4;
  const FillFrom::View a(Kokkos::view_alloc("a", Kokkos::WithoutInitializing), batch, 2, 2);
  const Kokkos::View<float**, Kokkos::LayoutRight, Memory> s(
      Kokkos::view_alloc("s", Kokkos::WithoutInitializing), batch, 2);
  Kokkos::parallel_for("fill",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, batch),
                       FillFrom{a});
  svd_values(exec, a, s);
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "check", Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, batch),
      CountWrongValues{a, s}, wrong);
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace shoal::test
