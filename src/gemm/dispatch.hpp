// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_GEMM_DISPATCH_HPP
#define SHOAL_SRC_GEMM_DISPATCH_HPP

#include "src/gemm/lane_kernel.hpp"
#include "src/gemm/team_kernel.hpp"
#include "src/launch.hpp"

#include <shoal/detail/dispatch.hpp>

#include <algorithm>

namespace shoal::detail {

/// Instances for each scalar: 3 of the lane kernel, 1 of the team kernel.
template <class Exec, class T>
void run_gemm(const Exec& exec, const GemmPlan& plan, const GemmOptions& options, const T& alpha,
              const BatchRef<const T>& a, const BatchRef<const T>& b, const T& beta,
              const BatchRef<T>& c) {
  if (plan.league_size == 0) return;
  constexpr int threads = backend_traits<Exec>::lane_threads;
  const GemmProblem<T> problem = make_problem(options, alpha, a, b, beta, c);
  if (plan.path == GemmPath::team)
    return launch<0>("shoal::gemm::team", exec, plan, TeamGemmKernel<Exec, T>(plan, problem));
  switch (std::max({problem.m(), problem.n(), problem.k()})) {
  case 1:
  case 2:
    return launch<threads>("shoal::gemm::lane", exec, plan,
                           LaneGemmKernel<Exec, T, 2>(plan, problem));
  case 3:
    return launch<threads>("shoal::gemm::lane", exec, plan,
                           LaneGemmKernel<Exec, T, 3>(plan, problem));
  default:
    return launch<threads>("shoal::gemm::lane", exec, plan,
                           LaneGemmKernel<Exec, T, 4>(plan, problem));
  }
}

} // namespace shoal::detail

#endif
