// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_GEMM_DISPATCH_HPP
#define SHOAL_SRC_GEMM_DISPATCH_HPP

#include "src/gemm/team_kernel.hpp"
#include "src/gemm/tile_kernel.hpp"
#include "src/gemm/vector_kernel.hpp"
#include "src/gemm/vendor.hpp"
#include "src/launch.hpp"

#include <shoal/detail/dispatch.hpp>

#include <type_traits>

namespace shoal::detail {

/// Instances for each of the 6 scalars: 4 (complex) or 6 of the tile kernel, 1 of the team kernel,
/// and 2 of the vector kernel where the backend has it.
template <class Exec, class T>
void run_gemm(const Exec& exec, const GemmPlan& plan, const GemmOptions& options,
              const Coefficient<T>& alpha, const BatchRef<const T>& a, const BatchRef<const T>& b,
              const Coefficient<T>& beta, const BatchRef<T>& c) {
  if (plan.league_size == 0) return;
  using Traits = backend_traits<Exec>;
  const GemmProblem<T> problem = make_problem(options, alpha, a, b, beta, c);
  const auto tile = [&]<int Size>(std::integral_constant<int, Size>) {
    launch<Traits::tile_threads, Traits::template tile_teams<T, Size>>(
        "shoal::gemm::tile", exec, plan, TileGemmKernel<Exec, T, Size>(plan, problem));
  };
  if constexpr (Traits::gemm_vector_bytes > 0) {
    if (plan.path == GemmPath::vector) {
      if (problem.sizes_differ() || problem.coefficients_in_memory())
        launch<0>("shoal::gemm::vector", exec, plan, EachVectorGemmKernel<Exec, T>(plan, problem));
      else launch<0>("shoal::gemm::vector", exec, plan, VectorGemmKernel<Exec, T>(plan, problem));
      return;
    }
  }
  if constexpr (Traits::template vendor_takes<T>) {
    if (plan.path == GemmPath::vendor) return vendor_gemm(exec, plan, problem);
  }
  if (plan.path == GemmPath::team)
    return launch<0>("shoal::gemm::team", exec, plan, TeamGemmKernel<Exec, T>(plan, problem));
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
