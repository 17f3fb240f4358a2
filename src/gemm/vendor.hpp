// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_GEMM_VENDOR_HPP
#define SHOAL_SRC_GEMM_VENDOR_HPP

#include <shoal/detail/blas_form.hpp>
#include <shoal/detail/gemm/problem.hpp>
#include <shoal/plan.hpp>

namespace shoal::detail {

/// The products by the vendor's library. Defined in backends/<b>/vendor_gemm.cpp for the scalars
/// that the backend's traits name.
template <class Exec, class T>
void vendor_gemm(const Exec& exec, const GemmPlan& plan, const GemmProblem<T>& problem);

} // namespace shoal::detail

#endif
