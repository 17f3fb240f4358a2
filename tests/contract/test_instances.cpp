// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/matrix_list.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"
#include "tests/support/tools_hooks.hpp"

#include <shoal/gemm.hpp>
#include <shoal/svd.hpp>

#include <gtest/gtest.h>

/// \file
/// How the host calls behave towards the program around them: no fence, no allocation where a
/// workspace is given, kernels under shoal's own labels, on the instance that was passed and no
/// other.
namespace shoal::test {
namespace {

template <class T>
class Instances : public ::testing::Test {};
TYPED_TEST_SUITE(Instances, Scalars, ScalarNames);

/// More instances of the space under test.
template <class E>
std::vector<E> more_instances() {
  if constexpr (Kokkos::SpaceAccessibility<E, Kokkos::HostSpace>::accessible) {
    return {E(1), E(1)};
  } else {
    const auto made = Kokkos::Experimental::partition_space(E(), 1, 1);
    return {made[0], made[1]};
  }
}

/// Everything that a call touches, made before it.
template <class T>
struct Decomposition {
  DeviceBatch<T> a, u, vt;
  DeviceBatch<Real<T>> s;
  DeviceBatch<int> info;
  Kokkos::View<char*, Memory> workspace;

  Decomposition(const HostBatch<T>& x, const Exec& exec)
      : a(Layout::right, x), u(Layout::right, x.batch, x.rows, least(x)),
        vt(Layout::right, x.batch, least(x), x.cols), s(Layout::right, x.batch, least(x), 1),
        info(Layout::right, x.batch, 1, 1) {
    const std::size_t bytes =
        svd_workspace_size(exec, a.right(), u.right(), s.vectors(), vt.right(), info.entries());
    workspace = Kokkos::View<char*, Memory>("workspace", bytes + 1);
  }
  static std::int64_t least(const HostBatch<T>& x) { return std::min(x.rows, x.cols); }

  void poison_outputs() {
    u.fill(poison<T>());
    vt.fill(poison<T>());
    s.fill(poison<Real<T>>());
    info.fill(poison<int>());
    Kokkos::fence();
  }
  void run(const Exec& exec, const SvdOptions& options = {}) const {
    svd(exec, a.right(), u.right(), s.vectors(), vt.right(), info.entries(), options,
        Workspace{workspace.data(), workspace.size()});
  }
};

template <class Items>
std::string list(const Items& items) {
  std::string all;
  for (const auto& item : items) all += "\n  " + item;
  return all;
}

void expect_quiet(const ToolsRecord& record, const Exec& exec, const std::string& operation) {
  EXPECT_TRUE(record.fences.empty()) << operation << " fences:" << list(record.fences);
  EXPECT_TRUE(record.allocations.empty()) << operation << " allocates:" << list(record.allocations);
  EXPECT_TRUE(record.copies.empty()) << operation << " copies:" << list(record.copies);
  EXPECT_FALSE(record.kernels.empty()) << operation << " ran nothing that Kokkos knows of";
  for (const auto& kernel : record.kernels) {
    EXPECT_EQ(kernel.label.rfind("shoal::", 0), 0u) << kernel.label;
    EXPECT_EQ(kernel.device, Kokkos::Tools::Experimental::device_id(exec)) << kernel.label;
  }
  bool named = false;
  for (const std::string& region : record.regions) named = named || region == "shoal::" + operation;
  EXPECT_TRUE(named) << "no region shoal::" << operation << " among:" << list(record.regions);
}

const std::vector<std::pair<std::int64_t, std::int64_t>> shapes{{2, 2}, {15, 3},  {3, 15},
                                                                {8, 8}, {40, 33}, {70, 70}};

TYPED_TEST(Instances, CallsNeitherFenceNorAllocate) {
  using T = TypeParam;
  Random random(seed());
  const Exec exec;
  auto with_workspace = shapes;
  if (std::is_same_v<T, double>) with_workspace.push_back({300, 280});
  for (const auto& [m, n] : with_workspace) {
    const std::int64_t batch = m > 30 ? 2 : 200;
    Decomposition<T> work(random_batch<T>(random, batch, m, n), exec);
    const DeviceBatch<T> b(Layout::right, random_batch<T>(random, batch, n, m));
    const DeviceBatch<T> c(Layout::right, batch, m, m);
    const auto product = [&] { gemm(exec, T(1), work.a.right(), b.right(), T(0), c.right()); };
    // Kokkos itself grows its scratch on first use.
    work.run(exec);
    product();
    Kokkos::fence();
    {
      ToolsRecord record;
      work.run(exec);
      record.stop();
      expect_quiet(record, exec, "svd");
    }
    {
      ToolsRecord record;
      product();
      record.stop();
      expect_quiet(record, exec, "gemm");
    }
    {
      ToolsRecord record;
      (void)svd_workspace_size(exec, work.a.right(), work.u.right(), work.s.vectors(),
                               work.vt.right());
      (void)gemm_plan(exec, work.a.right(), b.right(), c.right());
      record.stop();
      EXPECT_TRUE(record.fences.empty() && record.allocations.empty() && record.kernels.empty());
    }
    Kokkos::fence();
  }
}

/// Sizes that differ: the start of the counter, then the kernel of the plan.
TYPED_TEST(Instances, CallsWithSizesThatDifferNeitherFenceNorAllocate) {
  using T = TypeParam;
  Random random(seed());
  const Exec exec;
  for (const std::int64_t most : {9, 70}) {
    std::vector<HostBatch<T>> a, u, vt;
    for (int i = 0; i < 20; ++i) {
      const std::int64_t m = random.integer(0, most), n = random.integer(0, most);
      a.push_back(random_batch<T>(random, 1, m, n));
      u.emplace_back(1, m, std::min(m, n));
      vt.emplace_back(1, std::min(m, n), n);
    }
    const MatrixList<T> la(a, true), lu(u, false), lvt(vt, true);
    const DeviceBatch<Real<T>> s(Layout::right, 20, most, 1);
    const DeviceBatch<int> info(Layout::right, 20, 1, 1);
    auto all = la.const_batch();
    all.max_rows = all.max_cols = most;
    const auto bytes = svd_workspace_size(exec, all, lu.batch(), s.vectors(), lvt.batch());
    const Kokkos::View<char*, Memory> workspace("workspace", bytes);
    const auto run = [&] {
      svd(exec, all, lu.batch(), s.vectors(), lvt.batch(), info.entries(), {},
          Workspace{workspace.data(), workspace.size()});
    };
    run();
    Kokkos::fence();
    ToolsRecord record;
    run();
    record.stop();
    expect_quiet(record, exec, "svd");
    ASSERT_EQ(record.kernels.size(), 2u);
    EXPECT_EQ(record.kernels[0].label, "shoal::svd::reset");
    const SvdPlan plan = svd_plan(exec, all, lu.batch(), s.vectors(), lvt.batch());
    EXPECT_EQ(record.kernels[1].label, std::string("shoal::svd::") + to_string(plan.path));
    Kokkos::fence();
  }
}

TYPED_TEST(Instances, WorkRunsOnTheInstanceThatIsPassed) {
  using T = TypeParam;
  Random random(seed());
  for (const Exec& exec : more_instances<Exec>())
    for (const auto& [m, n] : shapes) {
      const std::int64_t batch = m > 30 ? 2 : 50;
      Decomposition<T> work(random_batch<T>(random, batch, m, n), exec);
      const DeviceBatch<T> b(Layout::right, random_batch<T>(random, batch, n, m));
      const DeviceBatch<T> c(Layout::right, batch, m, m);
      ToolsRecord record;
      work.run(exec);
      gemm(exec, T(1), work.a.right(), b.right(), T(0), c.right());
      record.stop();
      exec.fence();
      for (const auto& kernel : record.kernels) {
        EXPECT_EQ(kernel.device, Kokkos::Tools::Experimental::device_id(exec)) << kernel.label;
      }
      EXPECT_EQ(record.kernels.size(), 2u);
    }
}

/// Two instances at once, each with its own workspace, batch sizes alternating: the results are
/// those of one instance alone.
TYPED_TEST(Instances, TwoInstancesAtOnce) {
  using T = TypeParam;
  Random random(seed());
  const auto instances = more_instances<Exec>();
  for (const auto& [m, n] : shapes) {
    const std::int64_t large = m > 30 ? 3 : 300, small = m > 30 ? 1 : 7;
    const HostBatch<T> x = random_batch<T>(random, large, m, n),
                       y = random_batch<T>(random, small, m, n);
    Decomposition<T> alone_x(x, Exec()), alone_y(y, Exec());
    alone_x.poison_outputs();
    alone_y.poison_outputs();
    alone_x.run(Exec());
    alone_y.run(Exec());
    Kokkos::fence();
    Decomposition<T> on_first(x, instances[0]), on_second(y, instances[1]);
    on_first.poison_outputs();
    on_second.poison_outputs();
    for (int turn = 0; turn < 3; ++turn) {
      on_first.run(instances[0]);
      on_second.run(instances[1]);
    }
    Kokkos::fence();
    EXPECT_TRUE(on_first.u.get().same(alone_x.u.get()) && on_first.s.get().same(alone_x.s.get()) &&
                on_first.vt.get().same(alone_x.vt.get()) &&
                on_first.info.get().same(alone_x.info.get()))
        << m << " x " << n;
    EXPECT_TRUE(
        on_second.u.get().same(alone_y.u.get()) && on_second.s.get().same(alone_y.s.get()) &&
        on_second.vt.get().same(alone_y.vt.get()) && on_second.info.get().same(alone_y.info.get()))
        << m << " x " << n;
  }
}

/// Calls with batches of many sizes one after another on one instance, without a fence between.
TYPED_TEST(Instances, AlternatingBatchSizes) {
  using T = TypeParam;
  Random random(seed());
  const Exec exec;
  for (const std::int64_t n : {2, 4, 9}) {
    const std::int64_t sizes[] = {1, 500, 3, 129, 1000, 2};
    std::vector<DeviceBatch<T>> a, c;
    std::vector<GemmCase<T>> cases;
    for (const std::int64_t batch : sizes) {
      GemmCase<T> p;
      p.a = p.b = random_batch<T>(random, batch, n, n);
      p.c = HostBatch<T>(batch, n, n, poison<T>());
      a.emplace_back(Layout::right, p.a);
      c.emplace_back(Layout::right, p.c);
      cases.push_back(p);
    }
    Kokkos::fence();
    for (std::size_t i = 0; i < cases.size(); ++i)
      gemm(exec, T(1), a[i].right(), a[i].right(), T(0), c[i].right());
    exec.fence();
    for (std::size_t i = 0; i < cases.size(); ++i)
      EXPECT_LE(gemm_error(cases[i], c[i].get()), gemm_limit<T>);
  }
}

/// One kernel a call, named after the path of the plan; none where there is nothing to do.
TYPED_TEST(Instances, ThePlanIsWhatRuns) {
  using T = TypeParam;
  Random random(seed());
  const Exec exec;
  for (const std::int64_t batch : {0, 40})
    for (const std::int64_t n : {0, 3, 9}) {
      const DeviceBatch<T> a(Layout::right, random_batch<T>(random, batch, n, n));
      const DeviceBatch<T> c(Layout::right, batch, n, n);
      const DeviceBatch<Real<T>> s(Layout::right, batch, n, 1);
      for (const GemmPath path : every_path<GemmPath>()) {
        GemmOptions options;
        options.path = path;
        GemmPlan plan;
        try {
          plan = gemm_plan(exec, a.right(), a.right(), c.right(), options);
        } catch (const shoal::invalid_argument&) {
          continue;
        }
        ToolsRecord record;
        gemm(exec, T(1), a.right(), a.right(), T(0), c.right(), options);
        record.stop();
        ASSERT_EQ(record.kernels.size(), batch > 0 && n > 0 ? 1u : 0u) << plan;
        if (!record.kernels.empty()) {
          EXPECT_EQ(record.kernels[0].label, std::string("shoal::gemm::") + to_string(plan.path));
        }
      }
      for (const SvdPath path : every_path<SvdPath>()) {
        SvdOptions options;
        options.path = path;
        SvdPlan plan;
        try {
          plan = svd_plan(exec, a.right(), unwanted, s.vectors(), unwanted, unwanted, options);
        } catch (const shoal::invalid_argument&) {
          continue;
        }
        ToolsRecord record;
        svd_values(exec, a.right(), s.vectors(), unwanted, options);
        record.stop();
        ASSERT_LE(record.kernels.size(), 1u) << plan;
        if (batch == 0) {
          EXPECT_TRUE(record.kernels.empty()) << plan;
        } else if (n > 0) {
          ASSERT_EQ(record.kernels.size(), 1u) << plan;
          EXPECT_EQ(record.kernels[0].label, std::string("shoal::svd::") + to_string(plan.path));
        }
      }
    }
  Kokkos::fence();
}

} // namespace
} // namespace shoal::test
