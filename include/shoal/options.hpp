// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_OPTIONS_HPP
#define SHOAL_OPTIONS_HPP

#include <shoal/types.hpp>

namespace shoal {

/// Options of \ref gemm. The defaults give C := alpha A B + beta C on the kernel that the plan
/// chooses.
struct GemmOptions {
  Op op_a = Op::none;
  Op op_b = Op::none;
  GemmPath path = GemmPath::automatic;
};

/// Options of \ref svd.
struct SvdOptions {
  Vectors left = Vectors::thin;  ///< which left singular vectors (columns of U)
  Vectors right = Vectors::thin; ///< which right singular vectors (rows of Vt)
  /// Singular values s_i <= tolerance * s_0 are returned as zero. Dimensionless, in [0, 1). Their
  /// vectors are returned all the same, so that U and Vt stay orthonormal.
  double tolerance = 0;
  /// Make the entry of largest magnitude of each left vector real and positive (the first such
  /// entry where several tie). Needs left vectors.
  bool fix_signs = false;
  /// The bound on Jacobi sweeps; a matrix that needs more is reported by info > 0. At least 1.
  int max_sweeps = 30;
  SvdPath path = SvdPath::automatic; ///< team and vector take sizes that differ
};

} // namespace shoal

#endif
