// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/detail/gemm/problem.hpp>
#include <shoal/detail/panel.hpp>
#include <shoal/detail/plan_support.hpp>
#include <shoal/error.hpp>
#include <shoal/plan.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <string>

namespace shoal::detail {

namespace {

/// The largest multiple of `step` not above `most` that divides x into as few parts, or x itself.
std::int64_t even_part(std::int64_t x, std::int64_t most, std::int64_t step) {
  if (x <= most) return x;
  return divide_up(divide_up(x, divide_up(x, most)), step) * step;
}

/// Scratch of the tile kernel: panels of A and B, twice where one pair is fetched while the other
/// is multiplied; C takes their place.
std::size_t tile_scratch(const GemmPlan& plan, std::int64_t k, ScalarSize scalar,
                         const BackendLimits& limits) {
  const auto panel = [&](int rows, int cols) {
    return panel_elements(rows, cols, plan.matrices_per_team,
                          static_cast<int>(scalar.stored_bytes));
  };
  const std::size_t operands =
      (panel(plan.block_m, plan.block_k) + panel(plan.block_k, plan.block_n)) * scalar.stored_bytes;
  const std::size_t result = panel(plan.block_m, plan.block_n) * scalar.bytes;
  // Past the last matrix of B up to tile - 1 further columns of it are read.
  const int reach = plan.block_k + panel_unit_bytes;
  const std::size_t slack = static_cast<std::size_t>((plan.tile - 1) * reach) * scalar.stored_bytes;
  const std::size_t bytes = (plan.block_k < k ? 2 * operands : operands) + slack;
  // A result that does not fit is written from registers.
  return result <= limits.tile_scratch_bytes ? std::max(bytes, result) : bytes;
}

/// A league is an int.
constexpr std::int64_t most_teams = std::numeric_limits<int>::max() / 2;

constexpr int tile_sizes[] = {2, 3, 4, 5, 6, 8};
constexpr int largest_complex_tile = 5;

/// False where scratch does not hold the panels of a block for that many threads.
bool plan_tile(GemmPlan& plan, const GemmShape& s, ScalarSize scalar, const BackendLimits& limits,
               int tile, std::int64_t threads) {
  plan = {};
  plan.path = GemmPath::tile;
  plan.tile = tile;
  // The block of C: all of it, or as square as the shape allows.
  const auto tiles = [&](std::int64_t x) { return divide_up(x, tile); };
  std::int64_t edge = 1;
  while ((edge + 1) * (edge + 1) <= threads) ++edge;
  const std::int64_t n_tiles =
      std::min(tiles(s.n), std::max(edge, threads / std::min(tiles(s.m), edge)));
  const std::int64_t m_tiles = std::min(tiles(s.m), threads / n_tiles);
  plan.block_m = static_cast<int>(even_part(s.m, m_tiles * tile, tile));
  plan.block_n = static_cast<int>(even_part(s.n, n_tiles * tile, tile));

  // Threads read up to the next multiple of the tile: inside a matrix's own panel where the next is
  // being fetched, inside the scratch in any case.
  const auto whole_tiles = [&](std::int64_t x) { return static_cast<int>(tiles(x) * tile); };
  // All of k at once, or in the largest panels that fit.
  constexpr int largest_panel = 64, smallest_panel = 4;
  plan.matrices_per_team = 1;
  const auto fits = [&] {
    plan.scratch_bytes = tile_scratch(plan, s.k, scalar, limits);
    return plan.scratch_bytes <= limits.tile_scratch_bytes;
  };
  plan.block_k = static_cast<int>(std::clamp<std::int64_t>(s.k, 1, 1 << 12));
  if (!fits() || plan.block_k < s.k) {
    plan.block_m = whole_tiles(plan.block_m);
    plan.block_n = whole_tiles(plan.block_n);
    for (plan.block_k = largest_panel; !fits() && plan.block_k > smallest_panel;) plan.block_k /= 2;
  }
  if (!fits()) return false;

  // As many matrices as threads and scratch allow, in whole 16-byte units of memory.
  const std::int64_t blocks = divide_up(s.m, plan.block_m) * divide_up(s.n, plan.block_n);
  const std::int64_t items = tiles(plan.block_m) * tiles(plan.block_n);
  const int unit = panel_unit(static_cast<int>(scalar.stored_bytes));
  if (blocks == 1) {
    const std::int64_t most = std::min(threads / items, std::max<std::int64_t>(1, s.batch));
    while (plan.matrices_per_team < most && fits()) ++plan.matrices_per_team;
    if (!fits()) --plan.matrices_per_team;
    // A batch that does not fill the device is spread over more teams.
    while (plan.matrices_per_team > unit &&
           divide_up(s.batch, plan.matrices_per_team) < limits.teams_at_once)
      plan.matrices_per_team /= 2;
    if (plan.matrices_per_team > unit) plan.matrices_per_team -= plan.matrices_per_team % unit;
    fits();
  }
  constexpr int threads_of_a_warp = 32;
  plan.team_size = static_cast<int>(std::min(
      threads, divide_up(items * plan.matrices_per_team, threads_of_a_warp) * threads_of_a_warp));
  const std::int64_t groups = divide_up(s.batch, plan.matrices_per_team);
  if (groups > std::numeric_limits<int>::max() / blocks) return false; // a league is an int
  plan.league_size = groups * blocks;
  return true;
}

/// The plan of the tile that does the least work, or of the one that the limits name.
bool plan_tile(GemmPlan& plan, const GemmShape& s, ScalarSize scalar, const BackendLimits& limits) {
  bool found = false;
  double least_cost = 0;
  for (const int tile : tile_sizes) {
    if (scalar.is_complex && tile > largest_complex_tile) continue;
    if (limits.tile && tile != limits.tile) continue;
    GemmPlan candidate;
    std::int64_t threads = limits.tile_team_size;
    while (threads > 0 && !plan_tile(candidate, s, scalar, limits, tile, threads)) threads /= 2;
    if (threads == 0) continue;
    const auto tiles = [&](std::int64_t x) { return static_cast<double>(divide_up(x, tile)); };
    // Multiplications, operands and loop of one step along k.
    const double step = (tile + 2.) * tile + 6;
    const double cost =
        tiles(s.m) * tiles(s.n) * step * std::max(1., std::sqrt(128. / candidate.team_size));
    if (found && cost >= least_cost) continue;
    found = true;
    least_cost = cost;
    plan = candidate;
  }
  return found;
}

/// A whole matrix a thread, or blocks of one that is large enough for several teams. Scratch holds
/// a panel of B and, where k takes several panels, the sums of a strip of C.
void plan_vector(GemmPlan& plan, const GemmShape& s, ScalarSize scalar,
                 const BackendLimits& limits) {
  plan = {};
  plan.path = GemmPath::vector;
  plan.team_size = 1;
  const auto block = [&](std::int64_t x) {
    return static_cast<int>(divide_up(x, divide_up(x, limits.vector_block)));
  };
  plan.block_m = block(s.m);
  plan.block_n = block(s.n);
  const std::int64_t blocks = divide_up(s.m, plan.block_m) * divide_up(s.n, plan.block_n);
  const std::size_t strip_bytes =
      static_cast<std::size_t>(vector_gemm_strip * limits.gemm_vector_bytes);
  plan.block_k = static_cast<int>(std::clamp<std::int64_t>(
      s.k, 1, static_cast<std::int64_t>(limits.vector_panel_bytes / strip_bytes)));
  plan.stages_b = static_cast<std::size_t>(s.k * s.n) * scalar.bytes >= limits.vector_staged_bytes;
  const std::int64_t rows = std::max(plan.block_m, plan.block_n) * (scalar.is_complex ? 2 : 1);
  if (scalar.stored_bytes == scalar.bytes) {
    plan.scratch_bytes =
        static_cast<std::size_t>(plan.block_k + (plan.block_k < s.k ? rows : 0)) * strip_bytes;
  } else { // converted parts of A, B and C too, of several matrices where they are small
    plan.scratch_bytes =
        std::max(limits.vector_panel_bytes,
                 static_cast<std::size_t>(rows * plan.block_k) * scalar.bytes +
                     static_cast<std::size_t>(plan.block_k + 2 * rows) * strip_bytes);
  }
  // Enough matrices that a team's start costs nothing, few enough that all threads have some and
  // that a league is an int.
  const double bytes =
      static_cast<double>(s.m * s.k + s.k * s.n + s.m * s.n) * static_cast<double>(scalar.bytes);
  const auto by_bytes =
      static_cast<std::int64_t>(static_cast<double>(limits.vector_team_bytes) / bytes);
  const std::int64_t by_threads = divide_up(s.batch, limits.teams_at_once);
  const std::int64_t most_groups = std::max<std::int64_t>(1, most_teams / blocks);
  const std::int64_t by_league = divide_up(s.batch, most_groups);
  plan.matrices_per_team =
      static_cast<int>(std::max({std::int64_t(1), std::min(by_bytes, by_threads), by_league}));
  plan.league_size = divide_up(s.batch, plan.matrices_per_team) * blocks;
}

/// What stands against the vendor's library, null: nothing.
const char* vendor_obstacle(const GemmShape& s, ScalarSize scalar, const BackendLimits& limits) {
  if (!limits.vendor.found) return "shoal was built without the vendor's library";
  if (scalar.stored_bytes != scalar.bytes) return "the vendor's library takes no 16-bit scalars";
  return s.vendor_obstacle;
}

/// By the shape and the scalar alone: a batch and each of its matrices take the same path.
bool vendor_preferred(const GemmShape& s, ScalarSize scalar, const BackendLimits& limits) {
  const VendorStart& start = limits.vendor.starts.of(scalar);
  const std::int64_t tile = limits.vendor.tile;
  const auto fill = [&](std::int64_t x) {
    return static_cast<double>(x) / static_cast<double>(divide_up(x, tile) * tile);
  };
  return std::min({s.m, s.n, s.k}) >= start.extent && fill(s.m) * fill(s.n) >= start.fill &&
         static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) >=
             start.work;
}

/// Blocks of C for all callers, whatever the batch; on request also of products that are too small
/// to be dealt out.
void plan_vendor(GemmPlan& plan, const GemmShape& s, ScalarSize scalar,
                 const BackendLimits& limits) {
  plan = {};
  plan.path = GemmPath::vendor;
  plan.team_size = 1;
  std::int64_t block_m = s.m, block_n = s.n;
  const std::int64_t callers = limits.vendor.callers;
  if (vendor_preferred(s, scalar, limits)) {
    const auto block = [&](std::int64_t x, std::int64_t parts) {
      return divide_up(divide_up(x, parts), limits.vendor.block_step) * limits.vendor.block_step;
    };
    double least_cost = std::numeric_limits<double>::max();
    for (std::int64_t parts = 1; parts <= callers; ++parts) {
      const std::int64_t rows = std::min(s.m, block(s.m, parts)),
                         cols = std::min(s.n, block(s.n, callers / parts));
      const auto r = static_cast<double>(rows), c = static_cast<double>(cols);
      const double cost = r * c + limits.vendor.block_overhead * (r + c);
      if (cost > least_cost) continue; // of equals the one with more cuts of the rows
      least_cost = cost;
      block_m = rows;
      block_n = cols;
    }
  }
  plan.block_m = static_cast<int>(block_m);
  plan.block_n = static_cast<int>(block_n);
  const std::int64_t blocks = divide_up(s.m, block_m) * divide_up(s.n, block_n);
  // As few calls as it can be told in, of about as many matrices each; a league is an int.
  const std::int64_t calls = std::clamp<std::int64_t>(
      divide_up(s.batch, limits.vendor.matrices_per_call), 1, most_teams / blocks);
  plan.matrices_per_team = static_cast<int>(std::max<std::int64_t>(1, divide_up(s.batch, calls)));
  plan.league_size = divide_up(s.batch, plan.matrices_per_team) * blocks;
}

void plan_team(GemmPlan& plan, const GemmShape& s, const BackendLimits& limits) {
  plan = {};
  plan.path = GemmPath::team;
  plan.vector_length = limits.vector_length;
  const std::int64_t tiles = divide_up(s.m, 4) * divide_up(s.n, 4);
  plan.team_size = static_cast<int>(
      std::clamp<std::int64_t>(divide_up(tiles, limits.vector_length), 1, limits.team_size));
  // A league is an int: enough matrices a team that any batch fits, and no fewer than fill a few
  // tiles.
  plan.matrices_per_team =
      static_cast<int>(std::max<std::int64_t>(divide_up(s.batch, most_teams), tiles < 4 ? 4 : 1));
  plan.league_size = divide_up(s.batch, plan.matrices_per_team);
}

} // namespace

GemmPlan plan_gemm(const GemmShape& shape, ScalarSize scalar, const BackendLimits& limits,
                   const GemmOptions& options) {
  GemmPlan plan;
  if (shape.m == 0 || shape.n == 0) {
    plan.path = options.path == GemmPath::automatic ? GemmPath::team : options.path;
    return plan; // nothing to compute: no teams
  }
  const auto refuse = [&](const std::string& why) {
    throw invalid_argument("shoal::gemm", "options.path",
                           std::string(to_string(options.path)) + " does not take m, n, k = " +
                               std::to_string(shape.m) + ", " + std::to_string(shape.n) + ", " +
                               std::to_string(shape.k) + ": " + why);
  };
  switch (options.path) {
  case GemmPath::tile:
    if (shape.sizes_differ) refuse("it needs matrices of one size");
    if (!plan_tile(plan, shape, scalar, limits))
      refuse("its smallest block needs " + std::to_string(plan.scratch_bytes) +
             " bytes of scratch, and the backend has " + std::to_string(limits.tile_scratch_bytes));
    break;
  case GemmPath::team: plan_team(plan, shape, limits); break;
  case GemmPath::vector:
    if (!limits.vector_preferred) refuse("the backend has no such kernel");
    plan_vector(plan, shape, scalar, limits);
    break;
  case GemmPath::vendor:
    if (const char* const why = vendor_obstacle(shape, scalar, limits)) refuse(why);
    plan_vendor(plan, shape, scalar, limits);
    break;
  case GemmPath::automatic:
    if (!vendor_obstacle(shape, scalar, limits) && vendor_preferred(shape, scalar, limits)) {
      plan_vendor(plan, shape, scalar, limits);
      break;
    }
    if (limits.vector_preferred) {
      plan_vector(plan, shape, scalar, limits);
      break;
    }
    if (!shape.sizes_differ && limits.tile_preferred && plan_tile(plan, shape, scalar, limits))
      break;
    plan_team(plan, shape, limits);
    break;
  }
  return plan;
}

} // namespace shoal::detail

std::ostream& shoal::operator<<(std::ostream& out, const GemmPlan& plan) {
  return out << "gemm plan: path " << to_string(plan.path) << ", league " << plan.league_size
             << ", team " << plan.team_size << " x " << plan.vector_length << ", "
             << plan.matrices_per_team << " matrices a team, tile " << plan.tile << ", blocks "
             << plan.block_m << " x " << plan.block_n << " x " << plan.block_k
             << (plan.stages_b ? " with B staged" : "") << ", scratch " << plan.scratch_bytes
             << " B";
}
