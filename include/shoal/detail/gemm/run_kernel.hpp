// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_GEMM_RUN_KERNEL_HPP
#define SHOAL_DETAIL_GEMM_RUN_KERNEL_HPP

#include <shoal/detail/gemm/epilogue.hpp>
#include <shoal/detail/gemm/problem.hpp>
#include <shoal/detail/gemm/team_kernel.hpp>
#include <shoal/detail/gemm/tile_kernel.hpp>
#include <shoal/detail/gemm/vector_kernel.hpp>
#include <shoal/detail/launch.hpp>
#include <shoal/plan.hpp>

#include <type_traits>

namespace shoal::detail {

/// Queues the kernel of a plan. Instances for a scalar and an epilogue: 4 (complex) or 6 of the
/// tile kernel, 1 of the team kernel, and 2 of the vector kernel where the backend has it.
template <class Exec, class T, class Epilogue>
void run_gemm_kernel(const Exec& exec, const GemmPlan& plan, const GemmProblem<T>& problem,
                     const Epilogue& epilogue) {
  if (plan.league_size == 0) return;
  using Traits = backend_traits<Exec>;
  const auto tile = [&]<int Size>(std::integral_constant<int, Size>) {
    launch<Traits::tile_threads, Traits::template tile_teams<T, Size>>(
        "shoal::gemm::tile", exec, plan,
        TileGemmKernel<Exec, T, Size, Epilogue>(plan, problem, epilogue));
  };
  if constexpr (Traits::gemm_vector_bytes > 0) {
    if (plan.path == GemmPath::vector) {
      const auto vector = [&](const auto& kernel) {
        launch<0>("shoal::gemm::vector", exec, plan, kernel);
      };
      if (problem.sizes_differ() || problem.coefficients_in_memory())
        vector(EachVectorGemmKernel<Exec, T, Epilogue>(plan, problem, epilogue));
      else vector(VectorGemmKernel<Exec, T, Epilogue>(plan, problem, epilogue));
      return;
    }
  }
  if (plan.path == GemmPath::team)
    return launch<0>("shoal::gemm::team", exec, plan,
                     TeamGemmKernel<Exec, T, Epilogue>(plan, problem, epilogue));
  switch (plan.tile) {
  case 2: return tile(std::integral_constant<int, 2>());
  case 3: return tile(std::integral_constant<int, 3>());
  case 4: return tile(std::integral_constant<int, 4>());
  case 5: return tile(std::integral_constant<int, 5>());
  }
  if constexpr (!is_complex_v<T>) {
    if (plan.tile == 6) return tile(std::integral_constant<int, 6>());
    return tile(std::integral_constant<int, 8>());
  }
}

} // namespace shoal::detail

#endif
