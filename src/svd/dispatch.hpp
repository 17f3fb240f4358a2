// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_DISPATCH_HPP
#define SHOAL_SRC_SVD_DISPATCH_HPP

#include "src/svd/group_kernel.hpp"
#include "src/svd/lane_kernel.hpp"
#include "src/svd/tall_kernel.hpp"
#include "src/svd/team_kernel.hpp"
#include "src/svd/vector_kernel.hpp"

#include <shoal/detail/dispatch.hpp>
#include <shoal/detail/launch.hpp>
#include <shoal/detail/plan_support.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace shoal::detail {

/// A^T = (Vt)^T diag(S) U^T: the problem with rows and columns exchanged, in the same memory.
template <class T>
SvdArguments<T> transposed(const SvdArguments<T>& a) {
  return {a.a.transposed(), a.vt.transposed(), a.s, a.u.transposed(), a.info, a.details};
}

template <int N, bool Square, class Exec, class T>
void run_lane_svd(const Exec& exec, const SvdPlan& plan, const SvdOptions& options,
                  const SvdArguments<T>& arguments) {
  constexpr int threads = backend_traits<Exec>::lane_threads;
  if (arguments.u.present())
    launch<threads>("shoal::svd::lane", exec, plan,
                    LaneSvdKernel<Exec, T, N, Square, true>(plan, arguments, options));
  else
    launch<threads>("shoal::svd::lane", exec, plan,
                    LaneSvdKernel<Exec, T, N, Square, false>(plan, arguments, options));
}

template <int N, class Exec, class T>
void run_lane_svd(const Exec& exec, const SvdPlan& plan, const SvdOptions& options,
                  const SvdArguments<T>& arguments) {
  // A lane whose J does not fit in registers has no room for A either.
  using Traits = backend_traits<Exec>;
  constexpr std::size_t matrix_bytes = sizeof(arithmetic_t<T>) * N * N;
  constexpr bool fits =
      N <= Traits::register_columns && matrix_bytes <= Traits::lane_register_bytes;
  if constexpr (fits)
    if (arguments.a.rows == N) return run_lane_svd<N, true>(exec, plan, options, arguments);
  if constexpr (matrix_bytes <= Traits::lane_matrix_bytes)
    run_lane_svd<N, false>(exec, plan, options, arguments);
}

/// The instance number Shape of the group kernel that the plan names, or the next.
template <std::size_t Shape, class Exec, class T>
void run_group_svd(const Exec& exec, const SvdPlan& plan, const SvdOptions& options,
                   const SvdArguments<T>& arguments) {
  using Traits = backend_traits<Exec>;
  if constexpr (Shape < std::size(Traits::group_shapes)) {
    constexpr int columns = Traits::group_shapes[Shape].columns;
    constexpr int lanes = Traits::group_shapes[Shape].lanes(sizeof(arithmetic_t<T>));
    if constexpr (lanes > 0) {
      if (plan.instance_columns == columns && plan.vector_length == lanes)
        return launch<Traits::group_lanes,
                      Traits::template group_teams<arithmetic_t<T>, columns, lanes>>(
            "shoal::svd::group", exec, plan,
            GroupSvdKernel<Exec, T, columns, lanes>(plan, arguments, options));
    }
    run_group_svd<Shape + 1>(exec, plan, options, arguments);
  }
}

/// The instance number Shape of block Jacobi that the plan names, or the next.
template <std::size_t Shape, class Exec, class T>
void run_block_svd(const Exec& exec, const SvdPlan& plan, const SvdBatch<T>& batch,
                   const MatrixQueue& queue, char* workspace) {
  using Traits = backend_traits<Exec>;
  if constexpr (Shape < std::size(Traits::block_shapes)) {
    constexpr int columns = Traits::block_shapes[Shape].columns;
    constexpr BlockInstance block = Traits::block_shapes[Shape].instance(sizeof(arithmetic_t<T>));
    if constexpr (block.width > 0) {
      if (plan.instance_columns == columns)
        return launch<block.threads, block.teams>(
            "shoal::svd::block", exec, plan,
            TeamSvdKernel<Exec, T, block.width, columns / Traits::block_lanes>(plan, batch, queue,
                                                                               workspace));
    }
    run_block_svd<Shape + 1>(exec, plan, batch, queue, workspace);
  }
}

/// The instance number Shape of the tall path that the plan names, or the next.
template <std::size_t Shape, class Exec, class T>
void run_tall_svd(const Exec& exec, const SvdPlan& plan, const SvdOptions& options,
                  const SvdArguments<T>& arguments, char* workspace) {
  using Traits = backend_traits<Exec>;
  if constexpr (Shape < std::size(Traits::tall_shapes)) {
    constexpr int columns = Traits::tall_shapes[Shape].columns, lanes = Traits::block_lanes;
    constexpr int rows = Traits::tall_shapes[Shape].rows(sizeof(T));
    if constexpr (rows > 0) {
      if (plan.instance_columns == columns) {
        const auto address = reinterpret_cast<std::uintptr_t>(workspace);
        workspace += (scratch_alignment - address % scratch_alignment) % scratch_alignment;
        const bool left = arguments.u.present();
        const TallLayout layout(arguments.a.batch, arguments.a.rows, arguments.a.cols,
                                plan.row_blocks, lanes, sizeof(T), left);
        const TallWork<T> work(layout, workspace);
        launch<Traits::tall_lanes, Traits::tall_teams>(
            "shoal::svd::tall_qr", exec, plan,
            TallQrKernel<Exec, T, columns, rows, lanes>(plan, arguments.a, work));
        if (layout.blocks > 1)
          launch_range("shoal::svd::tall_equalise", exec, layout.batch * layout.blocks,
                       TallEqualise<T>(work));
        SvdArguments<T> triangles = arguments;
        triangles.a = work.stack();
        if (left) triangles.u = work.vectors(arguments.u.cols);
        triangles.details.rank_rows = static_cast<int>(layout.m);
        const SvdOptions its_options = options_of_triangles(plan.transposed, options);
        run_svd<Exec, T>(exec,
                         plan_svd({layout.batch, layout.stacked_rows(), layout.n}, scalar_size<T>(),
                                  backend_limits(exec), its_options),
                         its_options, triangles, workspace + layout.total);
        launch_range("shoal::svd::tall_scale", exec, layout.batch,
                     TallScaleValues<T>(arguments.s, work));
        if (left)
          launch<Traits::tall_lanes, Traits::tall_teams>(
              "shoal::svd::tall_apply", exec, plan,
              TallApplyKernel<Exec, T, columns, rows, lanes>(plan, arguments.u, work));
        if (options.fix_signs) {
          const auto right = arguments.vt.transposed();
          SvdPlan signs = plan;
          signs.scratch_bytes = 0;
          signs.league_size = divide_up(layout.batch, plan.team_size);
          launch<Traits::tall_lanes>("shoal::svd::signs", exec, signs,
                                     plan.transposed
                                         ? SignKernel<Exec, T, lanes>(right, arguments.u)
                                         : SignKernel<Exec, T, lanes>(arguments.u, right));
        }
        return;
      }
    }
    run_tall_svd<Shape + 1>(exec, plan, options, arguments, workspace);
  }
}

/// Instances for each of the 6 scalars: up to 4 columns x (square, tall) x (with, without left
/// vectors) of the lane kernel; 5 to 7 columns x (with, without) and run-time columns x (with,
/// without) where the backend has them; the backend's group_shapes of the group kernel and its
/// block_shapes of the team kernel with block Jacobi; 1 of the team kernel without; 1 of the vector
/// kernel where the backend has it. The last two take sizes that differ too.
template <class Exec, class T>
void run_svd(const Exec& exec, const SvdPlan& plan, const SvdOptions& options,
             const SvdArguments<T>& given, void* workspace) {
  if (plan.league_size == 0) return;
  const SvdArguments<T> arguments = plan.transposed ? transposed(given) : given;
  const PoolWorkspace<Exec> pool(exec, workspace ? 0 : plan.workspace_bytes());
  auto* const memory = static_cast<char*>(workspace ? workspace : pool.data());
  if constexpr (!is_converted<T>)
    if (plan.path == SvdPath::tall) return run_tall_svd<0>(exec, plan, options, arguments, memory);
  const SvdBatch<T> batch(plan, arguments, options);
  const MatrixQueue queue(plan, memory);
  queue.reset(exec);
  if (plan.path == SvdPath::team)
    return launch<backend_traits<Exec>::team_threads, backend_traits<Exec>::svd_teams>(
        "shoal::svd::team", exec, plan, TeamSvdKernel<Exec, T>(plan, batch, queue, memory));
  if constexpr (backend_traits<Exec>::svd_vector_bytes > 0)
    if (plan.path == SvdPath::vector)
      return launch<0>("shoal::svd::vector", exec, plan,
                       VectorSvdKernel<Exec, T>(plan, batch, queue, memory));
  if (plan.path == SvdPath::block) return run_block_svd<0>(exec, plan, batch, queue, memory);
  if (plan.path == SvdPath::group) return run_group_svd<0>(exec, plan, options, arguments);
  switch (arguments.a.cols) {
  case 1: return run_lane_svd<1>(exec, plan, options, arguments);
  case 2: return run_lane_svd<2>(exec, plan, options, arguments);
  case 3: return run_lane_svd<3>(exec, plan, options, arguments);
  case 4: return run_lane_svd<4>(exec, plan, options, arguments);
  default: break;
  }
  if constexpr (backend_traits<Exec>::constant_columns > 4) {
    switch (arguments.a.cols) {
    case 5: return run_lane_svd<5>(exec, plan, options, arguments);
    case 6: return run_lane_svd<6>(exec, plan, options, arguments);
    case 7: return run_lane_svd<7>(exec, plan, options, arguments);
    default: break;
    }
  }
  if constexpr (backend_traits<Exec>::run_time_columns > 0)
    return run_lane_svd<0, false>(exec, plan, options, arguments);
}

} // namespace shoal::detail

#endif
