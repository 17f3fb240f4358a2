// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a call does behind the scenes: names, no fences, no allocations, the instance it was given.
#include "tests/check/support/batch.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace {

using namespace shoal_test;

struct Log {
  std::vector<std::string> kernels, fences, allocations, regions;
};
Log* recording = nullptr;

void on_kernel(const char* name, uint32_t, uint64_t*) {
  if (recording) recording->kernels.emplace_back(name);
}
void on_fence(const char* name, uint32_t, uint64_t*) {
  // Kokkos fences around every callback that is set; those are the test's own.
  if (recording && std::string(name).find("Profile Tool Fence") == std::string::npos)
    recording->fences.emplace_back(name);
}
void on_allocation(Kokkos::Tools::SpaceHandle, const char* name, const void*, uint64_t) {
  if (recording) recording->allocations.emplace_back(name);
}
void on_region(const char* name) {
  if (recording) recording->regions.emplace_back(name);
}

/// Records what Kokkos reports while f runs.
template <class F>
Log record(const F& f) {
  namespace Tools = Kokkos::Tools::Experimental;
  Tools::set_begin_parallel_for_callback(on_kernel);
  Tools::set_begin_fence_callback(on_fence);
  Tools::set_allocate_data_callback(on_allocation);
  Tools::set_push_region_callback(on_region);
  Log log;
  recording = &log;
  f();
  recording = nullptr;
  Tools::set_begin_parallel_for_callback(nullptr);
  Tools::set_begin_fence_callback(nullptr);
  Tools::set_allocate_data_callback(nullptr);
  Tools::set_push_region_callback(nullptr);
  return log;
}

void expect_quiet(const Log& log, const std::string& region, const std::string& kernel) {
  EXPECT_EQ(log.regions, std::vector<std::string>{region});
  EXPECT_EQ(log.kernels, std::vector<std::string>{kernel});
  EXPECT_TRUE(log.allocations.empty()) << log.allocations.front();
  for (const std::string& fence : log.fences) ADD_FAILURE() << "fence: " << fence;
}

template <class T>
using Matrices = Kokkos::View<T***, Kokkos::LayoutRight, Space>;

TEST(Promises, a_call_neither_fences_nor_allocates) {
  for (const int n : {3, 80}) {
    const Matrices<double> a("test::a", 100, n, n), b("test::b", 100, n, n), u("test::u", 100, n, n),
        vt("test::vt", 100, n, n);
    const Kokkos::View<double**, Kokkos::LayoutRight, Space> s("test::s", 100, n);
    Kokkos::deep_copy(a, 1.0);
    const Space exec;
    const std::size_t bytes = shoal::svd_workspace_size(exec, a, u, s, vt);
    const Kokkos::View<char*, Space> workspace("test::workspace", bytes);
    const auto call = [&] {
      shoal::svd(exec, a, u, s, vt, shoal::unwanted, {}, {workspace.data(), bytes});
    };
    const auto product = [&] { shoal::gemm(exec, 1.0, a, a, 0.0, b); };
    call(); // Kokkos may set up its own scratch the first time
    product();
    exec.fence();
    const std::string path = n <= 4 ? "lane" : "team";
    expect_quiet(record(call), "shoal::svd", "shoal::svd::" + path);
    expect_quiet(record(product), "shoal::gemm", "shoal::gemm::" + path);
    exec.fence();
  }
}

TEST(Promises, without_a_workspace_the_pool_serves) {
  const Matrices<float> a("test::a", 10, 700, 90);
  Kokkos::deep_copy(a, 1.0f);
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> s("test::s", 10, 90);
  const Space exec;
  ASSERT_GE(shoal::svd_workspace_size(exec, a, shoal::unwanted, s, shoal::unwanted), 0u);
  for (int i = 0; i < 20; ++i) shoal::svd_values(exec, a, s);
  exec.fence();
  const auto host = Kokkos::create_mirror(s);
  Kokkos::deep_copy(host, s);
  EXPECT_NEAR(host(9, 0), std::sqrt(700.0 * 90.0), 1e-3);
  EXPECT_LE(host(9, 1), 1e-3);
}

TEST(Promises, a_plan_is_what_runs) {
  const Matrices<float> a("test::a", 10, 3, 3), c("test::c", 10, 3, 3);
  const Space exec;
  for (const auto path : {shoal::GemmPath::lane, shoal::GemmPath::team}) {
    shoal::GemmOptions options;
    options.path = path;
    EXPECT_EQ(shoal::gemm_plan(exec, a, a, c, options).path, path);
    const Log log = record([&] { shoal::gemm(exec, 1.0f, a, a, 0.0f, c, options); });
    ASSERT_EQ(log.kernels.size(), 1u);
    EXPECT_EQ(log.kernels[0], std::string("shoal::gemm::") + shoal::to_string(path));
  }
}

TEST(Promises, empty_batches_launch_nothing) {
  const Matrices<float> a("test::a", 0, 3, 3), c("test::c", 0, 3, 3);
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> s("test::s", 0, 3);
  const Space exec;
  const Log log = record([&] {
    shoal::gemm(exec, 1.0f, a, a, 0.0f, c);
    shoal::svd_values(exec, a, s);
  });
  EXPECT_TRUE(log.kernels.empty());
}

} // namespace
