// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SHOAL_HPP
#define SHOAL_SHOAL_HPP

/// \file
/// Everything: the host calls, and the primitives for use inside kernels; but gemm_epilogue.hpp and
/// kokkos_kernels.hpp, which are included where they are used.
#include <shoal/batch_view.hpp>
#include <shoal/error.hpp>
#include <shoal/gemm.hpp>
#include <shoal/half.hpp>
#include <shoal/lane/gemm.hpp>
#include <shoal/lane/svd.hpp>
#include <shoal/options.hpp>
#include <shoal/plan.hpp>
#include <shoal/svd.hpp>
#include <shoal/team/gemm.hpp>
#include <shoal/team/svd.hpp>
#include <shoal/types.hpp>
#include <shoal/version.hpp>

#endif
