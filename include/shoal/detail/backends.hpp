// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_BACKENDS_HPP
#define SHOAL_DETAIL_BACKENDS_HPP

#include <shoal/config.hpp>

/// \file
/// backend_traits of every backend of this build, for kernels that are compiled in users' code.

#if SHOAL_ENABLE_CUDA
#include <shoal/detail/backends/cuda/traits.hpp>
#endif
#if SHOAL_ENABLE_OPENMP
#include <shoal/detail/backends/openmp/traits.hpp>
#endif

#endif
