// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_PROBLEM_HPP
#define SHOAL_SRC_SVD_PROBLEM_HPP

#include <shoal/detail/dispatch.hpp>
#include <shoal/lane/svd.hpp>
#include <shoal/team/svd.hpp>

/// \file
/// What all kernels of svd read from the arguments of a call.
namespace shoal::detail {

template <class T>
lane::SvdRequest svd_request(const SvdPlan& plan, const SvdArguments<T>& arguments,
                             const SvdOptions& options) {
  return {arguments.vt.present(), lane::sign_rule(options.fix_signs, plan.transposed),
          options.tolerance, options.max_sweeps};
}

/// The working set of team::detail::Svd for each matrix.
template <class T>
team::detail::SvdWorkSize svd_work_size(const SvdArguments<T>& arguments) {
  return team::detail::svd_work_size(
      arguments.a.rows, arguments.a.cols, sizeof(arithmetic_t<T>),
      sizeof(typename real_of<T>::type), arguments.u.present(),
      team::detail::svd_built_columns<T>(arguments.a.cols, arguments.u.cols));
}

} // namespace shoal::detail

#endif
