// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_DISPATCH_HPP
#define SHOAL_SRC_SVD_DISPATCH_HPP

#include "src/launch.hpp"
#include "src/svd/group_kernel.hpp"
#include "src/svd/lane_kernel.hpp"
#include "src/svd/team_kernel.hpp"
#include "src/svd/vector_kernel.hpp"

#include <shoal/detail/dispatch.hpp>

namespace shoal::detail {

/// A^T = (Vt)^T diag(S) U^T: the problem with rows and columns exchanged, in the same memory.
template <class T>
SvdArguments<T> transposed(const SvdArguments<T>& a) {
  return {a.a.transposed(), a.vt.transposed(), a.s, a.u.transposed(), a.info};
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

/// Instances for each of the 6 scalars: up to 4 columns x (square, tall) x (with, without left
/// vectors) of the lane kernel; 5 to 8 columns x (with, without) and run-time columns x (with,
/// without) where the backend has them; 1 of the group and 1 of the team kernel; 1 of the vector
/// kernel where the backend has it.
template <class Exec, class T>
void run_svd(const Exec& exec, const SvdPlan& plan, const SvdOptions& options,
             const SvdArguments<T>& given, void* workspace) {
  if (plan.league_size == 0) return;
  const SvdArguments<T> arguments = plan.transposed ? transposed(given) : given;
  const PoolWorkspace<Exec> pool(exec, workspace ? 0 : plan.workspace_bytes());
  auto* const memory = static_cast<char*>(workspace ? workspace : pool.data());
  if (plan.path == SvdPath::team)
    return launch<0>("shoal::svd::team", exec, plan,
                     TeamSvdKernel<Exec, T>(plan, arguments, options, memory));
  if constexpr (backend_traits<Exec>::svd_vector_bytes > 0)
    if (plan.path == SvdPath::vector)
      return launch<0>("shoal::svd::vector", exec, plan,
                       VectorSvdKernel<Exec, T>(plan, arguments, options, memory));
  if (plan.path == SvdPath::group)
    return launch<backend_traits<Exec>::group_lanes>(
        "shoal::svd::group", exec, plan, GroupSvdKernel<Exec, T>(plan, arguments, options));
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
    case 8: return run_lane_svd<8>(exec, plan, options, arguments);
    default: break;
    }
  }
  if constexpr (backend_traits<Exec>::run_time_columns > 0)
    return run_lane_svd<0, false>(exec, plan, options, arguments);
}

} // namespace shoal::detail

#endif
