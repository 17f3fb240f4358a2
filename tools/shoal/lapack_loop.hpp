// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TOOLS_LAPACK_LOOP_HPP
#define SHOAL_TOOLS_LAPACK_LOOP_HPP

#include <cstdint>

namespace shoal_cli {

/// Whether this build has LAPACK to compare with.
bool lapack_available();

/// Thin decompositions of `batch` row-major m x n matrices by a parallel loop over LAPACK's sgesdd,
/// one matrix a call: what NumPy does, on all threads. a is overwritten. Returns false where a call
/// failed.
bool lapack_loop(std::int64_t batch, int m, int n, float* a, float* u, float* s, float* vt);

} // namespace shoal_cli

#endif
