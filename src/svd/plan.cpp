// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "src/svd/block_jacobi.hpp"
#include "src/svd/group_svd.hpp"
#include "src/svd/matrix_queue.hpp"
#include "src/svd/tall_kernel.hpp"
#include "src/svd/vector_svd.hpp"

#include <shoal/detail/lane_tile.hpp>
#include <shoal/detail/plan_support.hpp>
#include <shoal/error.hpp>
#include <shoal/plan.hpp>
#include <shoal/team/svd.hpp>

#include <algorithm>
#include <limits>
#include <ostream>
#include <utility>

namespace shoal::detail {

namespace {

struct Problem {
  std::int64_t batch, m, n; // m >= n
  bool left, right;         // vectors of the tall side, of the wide side
  bool completed;           // more left vectors than columns
  ScalarSize scalar;

  team::detail::SvdWorkSize work_size() const {
    const bool built = completed && scalar.stored_bytes != scalar.bytes; // svd_built_columns
    return team::detail::svd_work_size(m, n, scalar.bytes, scalar.real_bytes(), left,
                                       built ? m - n : 0);
  }
};

/// Scratch of the lane kernel: src/svd/lane_kernel.hpp lists the parts.
std::size_t lane_scratch(const Problem& p, const BackendLimits& limits, int team_size) {
  const int lanes = team_size * limits.lane_width(p.scalar.real_bytes());
  const auto tile = [&](std::int64_t elements, std::size_t bytes) {
    return tile_bytes(elements, lanes, bytes, limits.odd_tiles);
  };
  std::size_t bytes = tile(p.m * p.n, p.scalar.bytes) + tile(p.n, p.scalar.real_bytes());
  if (p.right) bytes += tile(p.n * p.n, p.scalar.bytes);
  const std::size_t square = p.scalar.bytes * static_cast<std::size_t>(p.n * p.n);
  if (p.n > limits.register_columns || square > limits.lane_register_bytes)
    bytes += (p.left ? 2 : 1) * tile(p.n * p.n, p.scalar.bytes);
  return bytes;
}

/// Whether the lane kernel takes the shape, and with how many threads: as many as fit.
int lane_team_size(const Problem& p, const BackendLimits& limits) {
  if (p.n < 1 || p.n > limits.lane_columns || p.completed ||
      p.scalar.bytes * static_cast<std::size_t>(p.n * p.n) > limits.lane_matrix_bytes ||
      p.m > static_cast<std::int64_t>(limits.scratch_bytes))
    return 0;
  for (int size = limits.lane_team_size; size >= limits.lane_team_size_least; size /= 2)
    if (lane_scratch(p, limits, size) <= limits.lane_scratch_bytes) return size;
  return 0;
}

void plan_lane(SvdPlan& plan, const Problem& p, const BackendLimits& limits, int team_size) {
  plan.path = SvdPath::lane;
  // A batch that does not fill the device is spread over more and smaller teams, of a warp at
  // least.
  const int width = limits.lane_width(p.scalar.real_bytes());
  while (team_size > limits.vector_length &&
         divide_up(p.batch, team_size * width) < limits.teams_at_once)
    team_size /= 2;
  plan.team_size = team_size;
  plan.vector_length = 1;
  const int lanes = team_size * width;
  plan.matrices_per_team = lanes * limits.lane_runs;
  plan.league_size = divide_up(p.batch, plan.matrices_per_team);
  plan.scratch_bytes = lane_scratch(p, limits, team_size);
}

/// False where there is no instance for the shape, or no warp's matrices fit in scratch.
bool plan_group(SvdPlan& plan, const Problem& p, const BackendLimits& limits) {
  for (const GroupShape& shape : limits.group_shapes) {
    const int lanes = shape.lanes(p.scalar.bytes);
    if (shape.columns < p.n || lanes == 0) continue;
    const std::size_t each = GroupSvdSize(p.m, p.n, {shape.columns, lanes}, p.scalar.bytes,
                                          p.scalar.real_bytes(), p.completed)
                                 .total();
    const int of_a_warp = std::max(1, limits.vector_length / lanes);
    const auto fit =
        static_cast<int>(std::min<std::size_t>(limits.group_scratch_bytes / each, 1024));
    if (fit < of_a_warp) continue;
    plan.path = SvdPath::group;
    plan.vector_length = lanes;
    plan.instance_columns = shape.columns;
    plan.team_size = std::clamp(limits.group_lanes / lanes, 1, fit) / of_a_warp * of_a_warp;
    while (plan.team_size % (2 * of_a_warp) == 0 &&
           divide_up(p.batch, plan.team_size) < limits.teams_at_once)
      plan.team_size /= 2;
    plan.matrices_per_team = plan.team_size;
    plan.league_size =
        std::min<std::int64_t>(divide_up(p.batch, plan.team_size), std::numeric_limits<int>::max());
    plan.scratch_bytes = each * static_cast<std::size_t>(plan.team_size);
    return true;
  }
  return false;
}

/// The parts of the working set, smallest first; once one does not fit in scratch, it and the
/// larger ones go to the workspace.
void place_parts(SvdPlan& plan, const Problem& p, const BackendLimits& limits) {
  const auto size = p.work_size();
  for (const std::size_t part : {size.small, size.l, size.j, size.tall}) {
    if (plan.workspace_bytes_per_team == 0 && plan.scratch_bytes + part <= limits.scratch_bytes)
      plan.scratch_bytes += part;
    else plan.workspace_bytes_per_team += part;
  }
}

void plan_team(SvdPlan& plan, const Problem& p, const BackendLimits& limits) {
  plan.path = SvdPath::team;
  plan.vector_length = limits.vector_length;
  // A thread works on one pair of columns at a time: more threads than pairs would idle.
  plan.team_size = static_cast<int>(
      std::clamp<std::int64_t>(divide_up(p.n, 2), 1, std::max(1, limits.team_size)));
  plan.matrices_per_team = 1;
  plan.league_size = std::min(p.batch, limits.teams_at_once);
  place_parts(plan, p, limits);
}

/// False where there is no instance for the shape.
bool plan_block(SvdPlan& plan, const Problem& p, const BackendLimits& limits) {
  for (const BlockShape& shape : limits.block_shapes) {
    const BlockInstance& block = shape.instance(p.scalar.bytes);
    if (shape.columns < p.n || block.width == 0) continue;
    plan.path = SvdPath::block;
    plan.vector_length = limits.vector_length;
    plan.instance_columns = shape.columns;
    // A thread works on two blocks at a time.
    plan.team_size = static_cast<int>(std::clamp<std::int64_t>(
        divide_up(p.n, 2 * block.width), 1, std::max(1, block.threads / limits.vector_length)));
    plan.matrices_per_team = 1;
    plan.league_size = std::min(p.batch, limits.teams_at_once);
    plan.scratch_bytes = block_jacobi_bytes(block.width, p.scalar.bytes, p.scalar.real_bytes()) *
                         static_cast<std::size_t>(plan.team_size);
    place_parts(plan, p, limits);
    return true;
  }
  return false;
}

/// False where there is no instance for the shape, or blocks would not have half as many rows left.
bool plan_tall(SvdPlan& plan, const Problem& p, const BackendLimits& limits,
               const SvdOptions& options) {
  // The rounding of two factorizations has to stay within bounds that grow with the rows.
  constexpr std::int64_t least_rows = 16;
  if (p.completed || p.scalar.stored_bytes != p.scalar.bytes || p.n < 1) return false;
  if (p.m <= p.n || p.m < least_rows) return false;
  for (const TallShape& shape : limits.tall_shapes) {
    const std::int64_t most_rows =
        static_cast<std::int64_t>(shape.rows(p.scalar.bytes)) * limits.vector_length;
    if (shape.columns < p.n || most_rows < 2 * p.n) continue;
    const std::size_t each = tall_scratch_bytes(shape.columns, limits.vector_length, p.scalar.bytes,
                                                p.scalar.real_bytes());
    if (each > limits.scratch_bytes) continue;
    plan.path = SvdPath::tall;
    plan.vector_length = limits.vector_length;
    plan.instance_columns = shape.columns;
    plan.row_blocks = divide_up(p.m, most_rows);
    plan.matrices_per_team = 1;
    plan.team_size = std::clamp(limits.tall_lanes / limits.vector_length, 1,
                                static_cast<int>(limits.scratch_bytes / each));
    const std::int64_t blocks = p.batch * plan.row_blocks;
    while (plan.team_size > 1 && divide_up(blocks, plan.team_size) < limits.teams_at_once)
      plan.team_size /= 2;
    plan.league_size =
        std::min<std::int64_t>(divide_up(blocks, plan.team_size), std::numeric_limits<int>::max());
    plan.scratch_bytes = each * static_cast<std::size_t>(plan.team_size);
    const SvdPlan triangles = plan_svd({p.batch, plan.row_blocks * p.n, p.n}, p.scalar, limits,
                                       options_of_triangles(plan.transposed, options));
    plan.workspace_bytes_shared =
        TallLayout(p.batch, p.m, p.n, plan.row_blocks, limits.vector_length, p.scalar.bytes, p.left)
            .total +
        scratch_alignment + triangles.workspace_bytes();
    return true;
  }
  return false;
}

void plan_vector(SvdPlan& plan, const Problem& p, const BackendLimits& limits) {
  plan.path = SvdPath::vector;
  plan.team_size = plan.vector_length = plan.matrices_per_team = 1;
  plan.league_size = std::min(p.batch, limits.teams_at_once);
  const int width = limits.lane_width(p.scalar.real_bytes());
  const std::size_t bytes = VectorSvdSize(p.m, p.n, width, p.left).lane_values() * p.scalar.bytes *
                            static_cast<std::size_t>(width);
  if (bytes <= limits.scratch_bytes) plan.scratch_bytes = bytes;
  else plan.workspace_bytes_per_team = bytes + scratch_alignment; // workspaces start anywhere
}

/// Matrices of different sizes, the largest of which is p. Teams take runs of them from a counter
/// that they share: short ones, so that all end at about the same time.
void plan_variable(SvdPlan& plan, const Problem& p, const BackendLimits& limits, bool vector) {
  constexpr std::int64_t least_runs = 32, longest_run = 8;
  if (vector) {
    plan_vector(plan, p, limits);
  } else {
    plan_team(plan, p, limits);
    // Room for all of a small matrix, though the largest leaves its large parts in the workspace.
    const std::size_t all_of_small = std::min(limits.group_scratch_bytes, p.work_size().total());
    plan.scratch_bytes = std::max(plan.scratch_bytes, all_of_small);
  }
  plan.matrices_per_team = static_cast<int>(
      std::clamp<std::int64_t>(p.batch / (least_runs * limits.teams_at_once), 1, longest_run));
  plan.workspace_bytes_shared = p.batch > 0 ? svd_shared_bytes : 0;
}

} // namespace

SvdPlan plan_svd(const SvdShape& shape, ScalarSize scalar, const BackendLimits& limits,
                 const SvdOptions& options) {
  SvdPlan plan;
  plan.transposed = shape.m < shape.n && !shape.sizes_differ;
  const auto [m, n] = std::minmax(shape.n, shape.m, std::greater<>());
  const Vectors tall = plan.transposed ? options.right : options.left;
  const Vectors wide = plan.transposed ? options.left : options.right;
  const Problem problem{shape.batch,
                        m,
                        n,
                        tall != Vectors::none,
                        wide != Vectors::none,
                        tall == Vectors::full && m > n,
                        scalar};
  const auto refuse = [&](const std::string& needs) {
    throw invalid_argument("shoal::svd", "options.path",
                           std::string(to_string(options.path)) + " does not take this shape (" +
                               std::to_string(shape.m) + " x " + std::to_string(shape.n) +
                               "): it needs " + needs);
  };
  if (shape.sizes_differ) {
    const bool left = options.left != Vectors::none, right = options.right != Vectors::none;
    const bool full = options.left == Vectors::full || options.right == Vectors::full;
    const Problem largest{shape.batch, m, n, left || right, left || right, full && m > n, scalar};
    switch (options.path) {
    case SvdPath::automatic: plan_variable(plan, largest, limits, limits.vector_preferred); break;
    case SvdPath::team: plan_variable(plan, largest, limits, false); break;
    case SvdPath::vector:
      if (!limits.vector_preferred) refuse("a CPU");
      plan_variable(plan, largest, limits, true);
      break;
    default: refuse("matrices of one size");
    }
    return plan;
  }
  const int lane_team = lane_team_size(problem, limits);
  switch (options.path) {
  case SvdPath::lane:
    if (lane_team == 0)
      refuse("1 to " + std::to_string(limits.lane_columns) +
             " columns, no completed vectors, and rows that fit in scratch");
    plan_lane(plan, problem, limits, lane_team);
    break;
  case SvdPath::group:
    if (!plan_group(plan, problem, limits))
      refuse("an instance for its columns and scalar, and a warp's matrices in " +
             std::to_string(limits.group_scratch_bytes) + " bytes, the scratch of a team");
    break;
  case SvdPath::block:
    if (!plan_block(plan, problem, limits)) refuse("an instance for its columns and scalar");
    break;
  case SvdPath::tall:
    if (!plan_tall(plan, problem, limits, options))
      refuse("more rows than columns and at least 16, an instance for its columns and scalar, and "
             "no completed vectors");
    break;
  case SvdPath::team: plan_team(plan, problem, limits); break;
  case SvdPath::vector:
    if (!limits.vector_preferred) refuse("a CPU");
    plan_vector(plan, problem, limits);
    break;
  case SvdPath::automatic:
    if (lane_team > 0) plan_lane(plan, problem, limits, lane_team);
    else if (limits.tall_least_ratio > 0 && m >= limits.tall_least_ratio * n &&
             plan_tall(plan, problem, limits, options))
      break;
    else if (limits.vector_preferred) plan_vector(plan, problem, limits);
    else if ((!limits.group_preferred || !plan_group(plan, problem, limits)) &&
             (!limits.block_preferred || !plan_block(plan, problem, limits)))
      plan_team(plan, problem, limits);
    break;
  }
  return plan;
}

SvdOptions options_of_triangles(bool transposed, const SvdOptions& options) {
  SvdOptions triangles = options;
  const Vectors tall = transposed ? options.right : options.left;
  triangles.right = transposed ? options.left : options.right;
  triangles.left = tall == Vectors::none ? Vectors::none : Vectors::thin;
  triangles.fix_signs = false; // the largest entry may be in any block
  triangles.path = SvdPath::automatic;
  return triangles;
}

} // namespace shoal::detail

std::ostream& shoal::operator<<(std::ostream& out, const SvdPlan& plan) {
  return out << "svd plan: path " << to_string(plan.path)
             << (plan.transposed ? " (transposed)" : "") << ", league " << plan.league_size
             << ", team " << plan.team_size << " x " << plan.vector_length << ", "
             << plan.matrices_per_team << " matrices a team, scratch " << plan.scratch_bytes
             << " B, workspace " << plan.workspace_bytes() << " B";
}
