// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans are host arithmetic: every shape gets one, within the limits that were given.
#include <shoal/error.hpp>
#include <shoal/plan.hpp>

#include <gtest/gtest.h>
#include <sstream>

namespace {

using namespace shoal;
using detail::BackendLimits;

BackendLimits gpu_like() {
  BackendLimits l;
  l.bank_bytes = 128;
  l.lane_team_size = 128;
  l.lane_team_size_least = 32;
  l.lane_scratch_bytes = 46 * 1024;
  l.team_size = 8;
  l.vector_length = 32;
  l.teams_at_once = 528;
  l.scratch_bytes = 46 * 1024;
  return l;
}

BackendLimits cpu_like() {
  BackendLimits l;
  l.vector_bytes = 32;
  l.lane_runs = 16;
  l.lane_columns = 64;
  l.lane_scratch_bytes = 1 << 20;
  l.teams_at_once = 4;
  l.scratch_bytes = 1 << 20;
  return l;
}

const detail::ScalarSize scalars[] = {{4, false}, {8, false}, {8, true}, {16, true}};

TEST(SvdPlan, covers_every_shape_within_the_limits) {
  for (const BackendLimits& limits : {gpu_like(), cpu_like()})
    for (const auto& scalar : scalars)
      for (const std::int64_t batch : {0L, 1L, 1000L, 100000000L, 3000000000L})
        for (const std::int64_t m : {0, 1, 2, 4, 5, 15, 33, 200, 5000})
          for (const std::int64_t n : {0, 1, 2, 4, 5, 15, 33, 200, 600}) {
            const SvdPlan plan = detail::plan_svd({batch, m, n}, scalar, limits, {});
            EXPECT_NE(plan.path, SvdPath::automatic);
            EXPECT_EQ(plan.transposed, m < n);
            EXPECT_LE(plan.scratch_bytes, limits.scratch_bytes);
            if (plan.path == SvdPath::lane) {
              EXPECT_GE(plan.league_size * plan.matrices_per_team, batch);
              EXPECT_EQ(plan.workspace_bytes(), 0u);
            } else {
              EXPECT_EQ(plan.league_size, std::min(batch, limits.teams_at_once));
              // The documented bound: what the device runs at once, 3 copies of A and L, J.
              const auto k = static_cast<std::size_t>(std::min(m, n));
              const auto largest = static_cast<std::size_t>(std::max(m, n));
              EXPECT_LE(plan.workspace_bytes_per_team,
                        scalar.bytes * (largest * k + 2 * k * k) + 48 * k + 128);
            }
          }
}

TEST(SvdPlan, refuses_the_lane_path_where_it_does_not_fit) {
  SvdOptions options;
  options.path = SvdPath::lane;
  EXPECT_THROW(detail::plan_svd({10, 9, 9}, scalars[0], gpu_like(), options), invalid_argument);
  EXPECT_EQ(detail::plan_svd({10, 9, 9}, scalars[0], cpu_like(), options).path, SvdPath::lane);
  options.left = Vectors::full;
  EXPECT_THROW(detail::plan_svd({10, 4, 3}, scalars[0], gpu_like(), options), invalid_argument);
  options.path = SvdPath::team;
  EXPECT_EQ(detail::plan_svd({10, 2, 2}, scalars[0], gpu_like(), options).path, SvdPath::team);
}

TEST(GemmPlan, covers_every_shape_within_the_limits) {
  for (const BackendLimits& limits : {gpu_like(), cpu_like()})
    for (const auto& scalar : scalars)
      for (const std::int64_t batch : {0L, 1L, 1000L, 100000000L, 3000000000L})
        for (const std::int64_t m : {0, 1, 3, 8, 64, 1000})
          for (const std::int64_t n : {0, 1, 4, 9, 64})
            for (const std::int64_t k : {0, 1, 2, 16, 4096}) {
              const GemmPlan plan = detail::plan_gemm({batch, m, n, k}, scalar, limits, {});
              EXPECT_NE(plan.path, GemmPath::automatic);
              EXPECT_LE(plan.scratch_bytes, limits.scratch_bytes);
              EXPECT_LT(plan.league_size, 1L << 31);
              if (m > 0 && n > 0)
                EXPECT_GE(plan.league_size * plan.matrices_per_team, batch);
              else EXPECT_EQ(plan.league_size, 0);
            }
}

TEST(GemmPlan, refuses_the_lane_path_where_it_does_not_fit) {
  GemmOptions options;
  options.path = GemmPath::lane;
  EXPECT_THROW(detail::plan_gemm({10, 5, 1, 1}, scalars[0], gpu_like(), options), invalid_argument);
  EXPECT_EQ(detail::plan_gemm({10, 4, 4, 4}, scalars[0], gpu_like(), options).path, GemmPath::lane);
}

TEST(Plans, print_what_they_decided) {
  std::ostringstream out;
  out << detail::plan_gemm({10, 3, 3, 3}, scalars[0], gpu_like(), {}) << "\n"
      << detail::plan_svd({10, 3, 15}, scalars[0], gpu_like(), {});
  EXPECT_NE(out.str().find("gemm plan: path lane"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("svd plan: path lane (transposed)"), std::string::npos) << out.str();
}

} // namespace
