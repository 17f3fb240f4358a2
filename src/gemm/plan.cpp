// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "src/lane_tile.hpp"
#include "src/plan_support.hpp"

#include <shoal/error.hpp>
#include <shoal/plan.hpp>

#include <algorithm>
#include <limits>
#include <ostream>
#include <string>

namespace shoal::detail {

namespace {

constexpr int lane_size = 4; // the largest instance of the lane kernel

bool lane_takes(const GemmShape& s) { return std::max({s.m, s.n, s.k}) <= lane_size; }

void plan_lane(GemmPlan& plan, const GemmShape& s, ScalarSize scalar, const BackendLimits& limits) {
  plan.path = GemmPath::lane;
  const int width = limits.lane_width(scalar.real_bytes());
  const auto scratch = [&](int team_size) {
    std::size_t bytes = 0;
    for (const std::int64_t elements : {s.m * s.k, s.k * s.n, s.m * s.n})
      bytes += tile_bytes(elements, team_size * width, scalar.bytes, limits.bank_bytes);
    return bytes;
  };
  plan.team_size = limits.lane_team_size;
  while (scratch(plan.team_size) > limits.lane_scratch_bytes &&
         plan.team_size > limits.lane_team_size_least)
    plan.team_size /= 2;
  plan.matrices_per_team = plan.team_size * width * limits.lane_runs;
  plan.league_size = divide_up(s.batch, plan.matrices_per_team);
  plan.scratch_bytes = scratch(plan.team_size);
}

void plan_team(GemmPlan& plan, const GemmShape& s, const BackendLimits& limits) {
  plan.path = GemmPath::team;
  plan.vector_length = limits.vector_length;
  const std::int64_t tiles = divide_up(s.m, 4) * divide_up(s.n, 4);
  plan.team_size = static_cast<int>(
      std::clamp<std::int64_t>(divide_up(tiles, limits.vector_length), 1, limits.team_size));
  // A league is an int: enough matrices a team that any batch fits, and no fewer than fill a few
  // tiles.
  plan.matrices_per_team = static_cast<int>(std::max<std::int64_t>(
      divide_up(s.batch, std::numeric_limits<int>::max() / 2), tiles < 4 ? 4 : 1));
  plan.league_size = divide_up(s.batch, plan.matrices_per_team);
}

} // namespace

GemmPlan plan_gemm(const GemmShape& shape, ScalarSize scalar, const BackendLimits& limits,
                   const GemmOptions& options) {
  GemmPlan plan;
  const bool lane = lane_takes(shape);
  if (options.path == GemmPath::lane && !lane)
    throw invalid_argument("shoal::gemm", "options.path",
                           "lane does not take m, n, k = " + std::to_string(shape.m) + ", " +
                               std::to_string(shape.n) + ", " + std::to_string(shape.k) +
                               ": it needs each to be at most " + std::to_string(lane_size));
  if (shape.m == 0 || shape.n == 0) {
    plan.path = options.path == GemmPath::automatic ? GemmPath::team : options.path;
    return plan; // nothing to compute: no teams
  }
  if (lane && options.path != GemmPath::team) plan_lane(plan, shape, scalar, limits);
  else plan_team(plan, shape, limits);
  return plan;
}

} // namespace shoal::detail

std::ostream& shoal::operator<<(std::ostream& out, const GemmPlan& plan) {
  return out << "gemm plan: path " << to_string(plan.path) << ", league " << plan.league_size
             << ", team " << plan.team_size << " x " << plan.vector_length << ", "
             << plan.matrices_per_team << " matrices a team, scratch " << plan.scratch_bytes
             << " B";
}
