// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "src/svd/block_jacobi.hpp"
#include "tests/support/scalar.hpp"
#include "tests/support/settings.hpp"

#include <shoal/error.hpp>
#include <shoal/plan.hpp>
#include <shoal/team/svd.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>
#include <vector>

/// \file
/// Plans are host arithmetic: tried here with limits of devices that this machine need not have.
namespace shoal::test {
namespace {

using detail::BackendLimits;
using detail::GemmShape;
using detail::ScalarSize;
using detail::SvdShape;

constexpr ScalarSize scalars[] = {{4, false}, {8, false}, {8, true}, {16, true}, {4, false, 2}};

/// Like a GPU: a lane is a thread, teams have many, scratch is scarce.
BackendLimits gpu() {
  BackendLimits x;
  x.odd_tiles = true;
  x.lane_team_size = 256;
  x.lane_team_size_least = 32;
  x.register_columns = 4;
  x.lane_columns = 4;
  x.lane_scratch_bytes = 48 << 10;
  x.team_size = 16;
  x.vector_length = 32;
  x.teams_at_once = 2112;
  x.scratch_bytes = 100 << 10;
  static constexpr detail::GroupShape groups[] = {{8, 4, 4, 8}, {8, 32, 32, 32}, {32, 16, 32, 0}};
  x.group_shapes = groups;
  x.group_preferred = true;
  static constexpr detail::BlockShape blocks[] = {{64, {8, 128, 5}, {8, 128, 4}, {4, 256, 2}},
                                                  {256, {4, 512, 1}, {4, 256, 1}, {}}};
  x.block_shapes = blocks;
  x.block_preferred = true;
  static constexpr detail::TallShape talls[] = {{8, 16, 8, 4}, {32, 4, 2, 1}};
  x.tall_shapes = talls;
  x.tall_lanes = 128;
  x.group_lanes = 256;
  x.group_scratch_bytes = 46 << 10;
  x.tile_preferred = true;
  x.tile_team_size = 256;
  x.tile_scratch_bytes = 46 << 10;
  return x;
}
/// Like a CPU: a team is a thread, a lane a slot of a vector register.
BackendLimits cpu() {
  BackendLimits x;
  x.vector_bytes = 32;
  x.lane_runs = 16;
  x.lane_columns = 20;
  x.lane_matrix_bytes = 1600;
  x.lane_scratch_bytes = 56 << 10;
  x.teams_at_once = 8;
  x.scratch_bytes = 1 << 20;
  static constexpr detail::GroupShape groups[] = {{32, 1, 1, 1}};
  x.group_shapes = groups;
  x.group_scratch_bytes = 1 << 20;
  x.tile_team_size = 4;
  x.tile_scratch_bytes = 1 << 20;
  x.vector_preferred = true;
  x.gemm_vector_bytes = 32;
  x.vector_team_bytes = 256 << 10;
  x.vector_panel_bytes = 24 << 10;
  x.vector_staged_bytes = 48 << 10;
  x.vector_block = 240;
  return x;
}
/// Hardly anything.
BackendLimits least() {
  BackendLimits x;
  x.lane_runs = 8;
  x.lane_scratch_bytes = 1024;
  x.scratch_bytes = 256;
  return x;
}
std::vector<BackendLimits> all_limits() { return {gpu(), cpu(), least()}; }

const std::int64_t batches[] = {
    0, 1, 2, 31, 33, 1000, 65535, 65536, 1000003, 100000000, std::int64_t(1) << 33};
const std::int64_t extents[] = {0, 1, 2, 3, 4, 5, 8, 15, 16, 33, 100, 1000, 70000};

TEST(GemmPlan, EveryShapeGetsAPathThatCoversTheBatch) {
  for (const BackendLimits& limits : all_limits())
    for (const ScalarSize& scalar : scalars)
      for (const std::int64_t batch : batches)
        for (const std::int64_t m : extents)
          for (const std::int64_t n : extents)
            for (const std::int64_t k : {0, 1, 4, 5, 3000}) {
              const GemmPlan plan = plan_gemm({batch, m, n, k}, scalar, limits, {});
              SCOPED_TRACE(::testing::Message()
                           << plan << " for " << batch << ", " << m << " " << n << " " << k);
              ASSERT_NE(plan.path, GemmPath::automatic);
              if (batch == 0 || m == 0 || n == 0) {
                ASSERT_EQ(plan.league_size, 0);
                continue;
              }
              ASSERT_GE(plan.team_size, 1);
              ASSERT_GE(plan.vector_length, 1);
              ASSERT_GE(plan.matrices_per_team, 1);
              const bool tile = plan.path == GemmPath::tile;
              const bool in_blocks = tile || plan.path == GemmPath::vector;
              const std::int64_t blocks = in_blocks ? ((m + plan.block_m - 1) / plan.block_m) *
                                                          ((n + plan.block_n - 1) / plan.block_n)
                                                    : 1;
              ASSERT_GE(plan.league_size * plan.matrices_per_team, batch * blocks);
              ASSERT_LT((plan.league_size / blocks - 1) * plan.matrices_per_team, batch)
                  << "teams without work";
              ASSERT_LE(plan.league_size, std::numeric_limits<int>::max());
              ASSERT_LE(plan.scratch_bytes,
                        tile ? limits.tile_scratch_bytes : limits.scratch_bytes);
              ASSERT_LE(plan.team_size, tile ? limits.tile_team_size
                                             : std::max(limits.team_size, limits.lane_team_size));
            }
}

TEST(GemmPlan, EveryTileStagesWhatItsThreadsHold) {
  for (const ScalarSize& scalar : scalars)
    for (const int tile : {2, 3, 4, 5, 6, 8})
      for (const std::int64_t m : extents)
        for (const std::int64_t n : extents)
          for (const std::int64_t k : {1, 4, 5, 64, 3000}) {
            if (m == 0 || n == 0) continue;
            BackendLimits limits = gpu();
            limits.tile = tile;
            GemmOptions options;
            options.path = GemmPath::tile;
            GemmPlan plan;
            try {
              plan = plan_gemm({1000, m, n, k}, scalar, limits, options);
            } catch (const shoal::invalid_argument&) {
              // A thousand of the largest need more teams than a league has where tiles are small.
              EXPECT_TRUE((scalar.is_complex && tile > 5) || m * n > 1000000000)
                  << m << " " << n << ", tile " << tile;
              continue;
            }
            SCOPED_TRACE(::testing::Message() << plan << " for " << m << " " << n << " " << k);
            ASSERT_EQ(plan.tile, tile);
            const auto up = [&](int x) { return (x + tile - 1) / tile; };
            ASSERT_LE(up(plan.block_m) * up(plan.block_n) * plan.matrices_per_team, plan.team_size);
            ASSERT_LE(plan.team_size, limits.tile_team_size);
            const std::size_t one_panel =
                scalar.stored_bytes * static_cast<std::size_t>(plan.matrices_per_team) *
                static_cast<std::size_t>((plan.block_m + plan.block_n) * plan.block_k);
            ASSERT_GE(plan.scratch_bytes, plan.block_k < k ? 2 * one_panel : one_panel);
            if (plan.matrices_per_team > 1) {
              ASSERT_GE(plan.block_m, m) << "only whole matrices go side by side";
              ASSERT_GE(plan.block_n, n);
            }
          }
}

TEST(GemmPlan, NamedPathsAreTakenOrRefused) {
  for (const GemmPath path : every_path<GemmPath>())
    for (const std::int64_t n : extents) {
      GemmOptions options;
      options.path = path;
      try {
        const GemmPlan plan = plan_gemm({1000, n, n, n}, scalars[1], gpu(), options);
        if (path != GemmPath::automatic) {
          EXPECT_EQ(plan.path, path);
        }
      } catch (const shoal::invalid_argument& e) {
        EXPECT_EQ(e.function(), "shoal::gemm");
        EXPECT_EQ(e.argument(), "options.path");
        // A GPU has no such kernel, and this one no vendor.
        EXPECT_TRUE(path == GemmPath::vector || path == GemmPath::vendor) << e.what();
      }
    }
}

TEST(GemmPlan, SizesThatDifferAreForKernelsThatTakeThem) {
  for (const GemmPath path : every_path<GemmPath>())
    for (const BackendLimits& limits : all_limits()) {
      GemmOptions options;
      options.path = path;
      try {
        const GemmPlan plan = plan_gemm({1000, 8, 8, 8, true}, scalars[1], limits, options);
        EXPECT_NE(plan.path, GemmPath::tile);
        EXPECT_EQ(plan.path == GemmPath::vector, limits.vector_preferred && path != GemmPath::team);
      } catch (const shoal::invalid_argument& e) {
        EXPECT_EQ(e.argument(), "options.path");
        EXPECT_TRUE(path != GemmPath::automatic && path != GemmPath::team) << e.what();
      }
    }
}

TEST(GemmPlan, TheVectorKernelIsForCpus) {
  GemmOptions options;
  options.path = GemmPath::vector;
  for (const ScalarSize& scalar : scalars)
    for (const std::int64_t n : {1, 2, 16, 100}) {
      EXPECT_EQ(plan_gemm({1000, n, n, n}, scalar, cpu(), {}).path, GemmPath::vector);
      EXPECT_EQ(plan_gemm({1000, n, n, n}, scalar, cpu(), options).path, GemmPath::vector);
      EXPECT_THROW(plan_gemm({1000, n, n, n}, scalar, gpu(), options), shoal::invalid_argument);
    }
}

BackendLimits with_vendor(BackendLimits limits) {
  limits.vendor.found = true;
  const detail::VendorStart start = {16, 256. * 256 * 256};
  limits.vendor.starts = {start, start, start, start};
  return limits;
}

TEST(GemmPlan, TheVendorTakesLargeProductsThatItCanBeToldOf) {
  for (const BackendLimits& without : {gpu(), cpu()}) {
    const BackendLimits with = with_vendor(without);
    const auto path = [](const GemmShape& shape, const BackendLimits& limits) {
      return plan_gemm(shape, scalars[1], limits, {}).path;
    };
    for (const std::int64_t batch : {1, 1000}) {
      EXPECT_EQ(path({batch, 256, 256, 256}, with), GemmPath::vendor);
      EXPECT_EQ(path({batch, 16, 1024, 1024}, with), GemmPath::vendor);
      EXPECT_NE(path({batch, 255, 256, 256}, with), GemmPath::vendor) << "too little work";
      EXPECT_NE(path({batch, 15, 2048, 2048}, with), GemmPath::vendor) << "too thin";
      EXPECT_NE(path({batch, 256, 256, 256}, without), GemmPath::vendor);
      EXPECT_NE(path({batch, 256, 256, 256, false, "a reason"}, with), GemmPath::vendor);
    }
    // Of a named path the reason is told.
    GemmOptions options;
    options.path = GemmPath::vendor;
    const auto refusal = [&](const GemmShape& shape, ScalarSize scalar,
                             const BackendLimits& limits) -> std::string {
      try {
        plan_gemm(shape, scalar, limits, options);
      } catch (const shoal::invalid_argument& e) {
        EXPECT_EQ(e.argument(), "options.path");
        return e.what();
      }
      return "";
    };
    const auto contains = [](const std::string& text, const char* part) {
      return text.find(part) != std::string::npos;
    };
    EXPECT_EQ(refusal({1, 2, 2, 2}, scalars[0], with), "");
    EXPECT_TRUE(contains(refusal({1, 2, 2, 2}, scalars[0], without), "built without"));
    EXPECT_TRUE(contains(refusal({1, 2, 2, 2, false, "a reason"}, scalars[0], with), "a reason"));
    EXPECT_TRUE(contains(refusal({1, 2, 2, 2}, scalars[4], with), "16-bit"));
  }
}

TEST(GemmPlan, TheVendorStartsWhereItsTilesAreFullAndByScalar) {
  BackendLimits limits = gpu();
  limits.vendor.found = true;
  limits.vendor.tile = 32;
  limits.vendor.starts = {{48, 0, 0.5}, {31, 0, 0.5}, {24, 0, 0.5}, {16, 0, 0.5}};
  const auto taken = [&](std::int64_t m, std::int64_t n, std::int64_t k, int scalar) {
    return plan_gemm({1000, m, n, k}, scalars[scalar], limits, {}).path == GemmPath::vendor;
  };
  const int least[] = {48, 31, 24, 24}; // 16 x 16 is a quarter of a tile
  for (int scalar = 0; scalar < 4; ++scalar) {
    EXPECT_TRUE(taken(least[scalar], least[scalar], least[scalar], scalar));
    EXPECT_FALSE(taken(least[scalar] - 1, least[scalar], least[scalar], scalar) && scalar < 3);
    EXPECT_FALSE(taken(33, 33, 33, scalar));
    EXPECT_TRUE(taken(63, 64, 65, scalar)) << "k has no tiles";
    EXPECT_FALSE(taken(65, 65, 64, scalar));
    EXPECT_TRUE(taken(512, 1000, 48, scalar));
    EXPECT_FALSE(taken(1000, 1000, 8, scalar));
  }
  EXPECT_FALSE(taken(64, 64, 64, 4)) << "16-bit";
}

TEST(GemmPlan, TheVendorIsToldOfAsManyMatricesAsACallTakes) {
  GemmOptions options;
  options.path = GemmPath::vendor;
  BackendLimits limits = with_vendor(gpu());
  const auto plan = [&](std::int64_t batch) {
    return plan_gemm({batch, 300, 20, 30}, scalars[0], limits, options);
  };
  for (const std::int64_t most :
       {std::int64_t(1), std::int64_t(1000), std::int64_t(std::numeric_limits<int>::max())}) {
    limits.vendor.matrices_per_call = most;
    for (const std::int64_t batch : batches) {
      const GemmPlan p = plan(batch);
      const std::int64_t calls = (batch + most - 1) / most; // a league is an int
      SCOPED_TRACE(::testing::Message() << p << " for " << batch << ", a call takes " << most);
      EXPECT_EQ(p.block_m, 300);
      EXPECT_EQ(p.block_n, 20);
      EXPECT_LE(p.league_size, std::min<std::int64_t>(calls, std::numeric_limits<int>::max()));
      EXPECT_GE(p.league_size * p.matrices_per_team, batch);
      if (most > 1) {
        EXPECT_LE(p.matrices_per_team, most);
      }
    }
  }
  EXPECT_EQ(plan(0).league_size, 0);
  EXPECT_EQ(plan(100000000).league_size, 1);
  EXPECT_EQ(plan(std::int64_t(1) << 33).league_size, 5);
}

/// A matrix has a CBLAS's bits in any batch: its blocks may not depend on the batch.
TEST(GemmPlan, TheVendorsBlocksCoverCWhateverTheBatch) {
  GemmOptions options;
  options.path = GemmPath::vendor;
  for (const int callers : {1, 2, 3, 7, 64})
    for (const std::int64_t m : {1, 3, 16, 250, 256, 1000, 5000})
      for (const std::int64_t n : {1, 16, 100, 256, 999, 70000}) {
        BackendLimits limits = with_vendor(cpu());
        limits.vendor.callers = callers;
        limits.vendor.block_step = 8;
        limits.vendor.block_overhead = 42;
        const GemmPlan one = plan_gemm({1, m, n, 256}, scalars[1], limits, options);
        const std::int64_t blocks =
            ((m + one.block_m - 1) / one.block_m) * ((n + one.block_n - 1) / one.block_n);
        SCOPED_TRACE(::testing::Message() << one << " for " << m << " x " << n);
        EXPECT_EQ(one.league_size, blocks);
        EXPECT_LE(blocks, std::max(1, callers));
        EXPECT_TRUE(one.block_m == m || one.block_m % 8 == 0);
        EXPECT_TRUE(one.block_n == n || one.block_n % 8 == 0);
        if (m == 1000 && n == 999) {
          EXPECT_GT(2 * blocks, callers) << "callers without work";
        }
        for (const std::int64_t batch : {2, 1000, 100000000}) {
          const GemmPlan many = plan_gemm({batch, m, n, 256}, scalars[1], limits, options);
          EXPECT_EQ(many.block_m, one.block_m);
          EXPECT_EQ(many.block_n, one.block_n);
          EXPECT_GE(many.league_size / blocks * many.matrices_per_team, batch);
          EXPECT_LE(many.league_size, std::numeric_limits<int>::max());
        }
      }
}

std::vector<SvdOptions> vector_choices() {
  std::vector<SvdOptions> all;
  for (const Vectors left : {Vectors::none, Vectors::thin, Vectors::full})
    for (const Vectors right : {Vectors::none, Vectors::thin, Vectors::full}) {
      SvdOptions options;
      options.left = left;
      options.right = right;
      all.push_back(options);
    }
  return all;
}

TEST(SvdPlan, EveryShapeGetsAPathWithinTheLimits) {
  for (const BackendLimits& limits : all_limits())
    for (const ScalarSize& scalar : scalars)
      for (const SvdOptions& options : vector_choices())
        for (const std::int64_t batch : batches)
          for (const std::int64_t m : extents)
            for (const std::int64_t n : extents) {
              const SvdPlan plan = plan_svd({batch, m, n}, scalar, limits, options);
              SCOPED_TRACE(::testing::Message()
                           << plan << " for " << batch << ", " << m << " x " << n);
              ASSERT_NE(plan.path, SvdPath::automatic);
              ASSERT_EQ(plan.transposed, m < n);
              ASSERT_LE(plan.league_size, std::numeric_limits<int>::max());
              if (batch == 0) {
                ASSERT_EQ(plan.league_size, 0);
                ASSERT_EQ(plan.workspace_bytes(), 0u);
                continue;
              }
              ASSERT_GE(plan.league_size, 1);
              ASSERT_GE(plan.team_size, 1);
              ASSERT_GE(plan.vector_length, 1);
              ASSERT_GE(plan.matrices_per_team, 1);
              if (plan.path == SvdPath::lane) {
                ASSERT_GE(plan.league_size * plan.matrices_per_team, batch);
                ASSERT_LT((plan.league_size - 1) * plan.matrices_per_team, batch);
                ASSERT_LE(plan.scratch_bytes, limits.lane_scratch_bytes);
                ASSERT_EQ(plan.workspace_bytes(), 0u);
                ASSERT_GE(plan.team_size, limits.lane_team_size_least);
                ASSERT_LE(plan.team_size, limits.lane_team_size);
                ASSERT_LE(std::min(m, n), limits.lane_columns);
              } else if (plan.path == SvdPath::group) {
                // Teams walk on where the batch needs more of them than a league can have.
                const std::int64_t teams =
                    (batch + plan.matrices_per_team - 1) / plan.matrices_per_team;
                ASSERT_EQ(plan.league_size,
                          std::min<std::int64_t>(teams, std::numeric_limits<int>::max()));
                ASSERT_LE(plan.scratch_bytes, limits.group_scratch_bytes);
                ASSERT_EQ(plan.workspace_bytes(), 0u);
                ASSERT_LE(plan.team_size * plan.vector_length, limits.group_lanes);
                ASSERT_LE(std::min(m, n), plan.instance_columns);
                // Whole warps.
                ASSERT_EQ(plan.team_size * plan.vector_length % limits.vector_length, 0);
              } else if (plan.path == SvdPath::vector) {
                ASSERT_TRUE(limits.vector_preferred);
                ASSERT_LE(plan.scratch_bytes, limits.scratch_bytes);
                ASSERT_LE(plan.league_size, limits.teams_at_once);
                ASSERT_EQ(plan.team_size, 1);
                // A, L and, with left vectors, J at least, in one or the other.
                const bool tall_vectors = (m < n ? options.right : options.left) != Vectors::none;
                const auto tall = static_cast<std::size_t>(std::max(m, n));
                const auto wide = static_cast<std::size_t>(std::min(m, n));
                ASSERT_EQ(plan.scratch_bytes == 0, plan.workspace_bytes_per_team > 0);
                ASSERT_GE(plan.scratch_bytes + plan.workspace_bytes_per_team,
                          scalar.bytes * wide * (tall + (tall_vectors ? 2 : 1) * wide));
              } else {
                ASSERT_TRUE(plan.path == SvdPath::team || plan.path == SvdPath::block);
                ASSERT_FALSE(limits.vector_preferred);
                ASSERT_LE(plan.scratch_bytes, limits.scratch_bytes);
                ASSERT_LE(plan.league_size, limits.teams_at_once);
                // Scratch and workspace together hold the working set, and not more.
                const Vectors tall_vectors = m < n ? options.right : options.left;
                const std::int64_t built =
                    tall_vectors == Vectors::full && scalar.stored_bytes < scalar.bytes
                        ? std::abs(m - n)
                        : 0;
                const std::size_t working_set =
                    team::detail::svd_work_size(std::max(m, n), std::min(m, n), scalar.bytes,
                                                scalar.real_bytes(), tall_vectors != Vectors::none,
                                                built)
                        .total();
                std::size_t threads_own = 0;
                if (plan.path == SvdPath::block) {
                  const auto shape = std::find_if(
                      limits.block_shapes.begin(), limits.block_shapes.end(),
                      [&](const auto& s) { return s.columns == plan.instance_columns; });
                  const detail::BlockInstance& block = shape->instance(scalar.bytes);
                  ASSERT_LE(std::min(m, n), shape->columns);
                  ASSERT_LE(plan.team_size * plan.vector_length, block.threads);
                  threads_own =
                      static_cast<std::size_t>(plan.team_size) *
                      detail::block_jacobi_bytes(block.width, scalar.bytes, scalar.real_bytes());
                  ASSERT_LE(threads_own, plan.scratch_bytes);
                }
                ASSERT_EQ(plan.scratch_bytes + plan.workspace_bytes_per_team,
                          working_set + threads_own);
              }
            }
}

TEST(SvdPlan, WorkspaceIsBoundedWhateverTheBatch) {
  for (const BackendLimits& limits : all_limits())
    for (const std::int64_t n : {5, 64, 300, 1000}) {
      const SvdOptions options;
      const auto bytes = [&](std::int64_t batch) {
        return plan_svd({batch, 2 * n, n}, scalars[3], limits, options).workspace_bytes();
      };
      const auto teams = static_cast<std::size_t>(limits.teams_at_once);
      for (const std::int64_t batch : batches)
        EXPECT_LE(bytes(batch), teams * bytes(1)) << batch << ", n " << n;
      EXPECT_EQ(bytes(100000000), bytes(std::int64_t(1) << 33));
    }
}

/// The working set of every matrix that keeps to the maxima fits in what the plan asks for.
TEST(SvdPlan, SizesThatDifferAreForKernelsThatTakeThem) {
  for (const BackendLimits& limits : all_limits())
    for (const ScalarSize& scalar : scalars)
      for (const SvdPath path : every_path<SvdPath>())
        for (SvdOptions options : vector_choices())
          for (const SvdShape& shape :
               {SvdShape{1000, 8, 8, true}, SvdShape{7, 40, 300, true}, SvdShape{0, 5, 5, true},
                SvdShape{std::int64_t(1) << 33, 1000, 200, true}, SvdShape{10, 0, 4, true}}) {
            options.path = path;
            SvdPlan plan;
            try {
              plan = plan_svd(shape, scalar, limits, options);
            } catch (const shoal::invalid_argument& e) {
              EXPECT_EQ(e.argument(), "options.path");
              EXPECT_TRUE(path != SvdPath::automatic && path != SvdPath::team) << e.what();
              EXPECT_FALSE(path == SvdPath::vector && limits.vector_preferred) << e.what();
              continue;
            }
            SCOPED_TRACE(::testing::Message() << plan);
            EXPECT_EQ(plan.path == SvdPath::vector,
                      limits.vector_preferred && path != SvdPath::team);
            EXPECT_TRUE(plan.path == SvdPath::vector || plan.path == SvdPath::team);
            EXPECT_FALSE(plan.transposed);
            EXPECT_EQ(plan.workspace_bytes() > 0, shape.batch > 0);
            EXPECT_LE(plan.league_size, limits.teams_at_once);
            if (shape.batch == 0) continue;
            EXPECT_GE(plan.matrices_per_team, 1);
            EXPECT_GE(plan.workspace_bytes_shared, sizeof(std::int64_t));
            const bool any = options.left != Vectors::none || options.right != Vectors::none;
            const std::size_t room = plan.scratch_bytes + plan.workspace_bytes_per_team;
            for (const auto& [m, n] : {std::pair{shape.m, shape.n}, {shape.m / 2, shape.n}}) {
              const auto set = team::detail::svd_work_size(std::max(m, n), std::min(m, n),
                                                           scalar.bytes, scalar.real_bytes(), any);
              EXPECT_GE(room, plan.path == SvdPath::team ? set.total() : set.tall + set.l + set.j);
            }
          }
}

TEST(SvdPlan, NamedPathsAreTakenOrRefused) {
  for (const BackendLimits& limits : all_limits())
    for (const SvdPath path : every_path<SvdPath>())
      for (const std::int64_t m : extents)
        for (const std::int64_t n : extents)
          for (SvdOptions options : vector_choices()) {
            options.path = path;
            try {
              const SvdPlan plan = plan_svd({1000, m, n}, scalars[0], limits, options);
              if (path != SvdPath::automatic) {
                EXPECT_EQ(plan.path, path);
              }
            } catch (const shoal::invalid_argument& e) {
              EXPECT_EQ(e.function(), "shoal::svd");
              EXPECT_EQ(e.argument(), "options.path");
              EXPECT_FALSE(path == SvdPath::automatic || path == SvdPath::team) << e.what();
              EXPECT_NE(std::string(e.what()).find(std::to_string(m)), std::string::npos)
                  << e.what();
            }
          }
}

/// Two factorizations round more than the bounds of very few rows allow.
TEST(SvdPlan, TheTallPathNeedsSixteenRows) {
  SvdOptions options;
  options.path = SvdPath::tall;
  for (const ScalarSize scalar : {scalars[0], scalars[3]}) {
    const auto plan = [&](std::int64_t m, std::int64_t n) {
      return plan_svd({1000, m, n}, scalar, gpu(), options);
    };
    EXPECT_THROW(plan(15, 4), shoal::invalid_argument);
    EXPECT_THROW(plan(4, 15), shoal::invalid_argument);
    EXPECT_EQ(plan(16, 4).path, SvdPath::tall);
    EXPECT_EQ(plan(4, 16).path, SvdPath::tall);
  }
}

TEST(SvdPlan, TheMainCaseRunsOnTheLaneKernel) {
  for (const ScalarSize& scalar : scalars) {
    EXPECT_EQ(plan_svd({8000, 15, 3}, scalar, gpu(), {}).path, SvdPath::lane);
    EXPECT_EQ(plan_svd({8000, 15, 3}, scalar, cpu(), {}).path, SvdPath::lane);
    EXPECT_EQ(plan_svd({8000, 3, 15}, scalar, gpu(), {}).path, SvdPath::lane);
  }
}

TEST(SvdPlan, LargerMatricesRunOnTheVectorKernelWhereThereIsOne) {
  for (const ScalarSize& scalar : scalars)
    for (const SvdShape& shape : {SvdShape{1000, 32, 32}, SvdShape{1000, 21, 500},
                                  SvdShape{1000, 512, 8}, SvdShape{1000, 300, 300}}) {
      EXPECT_EQ(plan_svd(shape, scalar, cpu(), {}).path, SvdPath::vector);
      SvdOptions options;
      options.path = SvdPath::vector;
      EXPECT_THROW(plan_svd(shape, scalar, gpu(), options), shoal::invalid_argument);
    }
}

TEST(Plans, CompareAndPrint) {
  const GemmPlan gemm = plan_gemm({1000, 3, 3, 3}, scalars[0], gpu(), {});
  EXPECT_EQ(gemm, plan_gemm({1000, 3, 3, 3}, scalars[0], gpu(), {}));
  EXPECT_FALSE(gemm == plan_gemm({1000, 30, 3, 3}, scalars[0], gpu(), {}));
  std::ostringstream text;
  text << gemm;
  EXPECT_NE(text.str().find(to_string(gemm.path)), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(std::to_string(gemm.league_size)), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(std::to_string(gemm.scratch_bytes)), std::string::npos) << text.str();

  const SvdPlan svd = plan_svd({7, 30, 400}, scalars[3], gpu(), {});
  EXPECT_EQ(svd, plan_svd({7, 30, 400}, scalars[3], gpu(), {}));
  EXPECT_FALSE(svd == plan_svd({7, 400, 30}, scalars[3], gpu(), {}));
  text.str("");
  text << svd;
  EXPECT_NE(text.str().find("transposed"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(to_string(svd.path)), std::string::npos) << text.str();
}

} // namespace
} // namespace shoal::test
