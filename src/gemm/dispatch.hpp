// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_GEMM_DISPATCH_HPP
#define SHOAL_SRC_GEMM_DISPATCH_HPP

#include "src/gemm/vendor.hpp"

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/detail/gemm/run_kernel.hpp>

namespace shoal::detail {

/// Instances for each of the 6 scalars.
template <class Exec, class T>
void run_gemm(const Exec& exec, const GemmPlan& plan, const GemmOptions& options,
              const Coefficient<T>& alpha, const BatchRef<const T>& a, const BatchRef<const T>& b,
              const Coefficient<T>& beta, const BatchRef<T>& c) {
  const GemmProblem<T> problem = make_problem(options, alpha, a, b, beta, c);
  if constexpr (backend_traits<Exec>::template vendor_takes<T>) {
    if (plan.path == GemmPath::vendor && plan.league_size > 0)
      return vendor_gemm(exec, plan, problem);
  }
  run_gemm_kernel(exec, plan, problem, NoEpilogue());
}

} // namespace shoal::detail

#endif
