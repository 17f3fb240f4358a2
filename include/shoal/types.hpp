// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TYPES_HPP
#define SHOAL_TYPES_HPP

namespace shoal {

/// How a matrix enters a product. The values are BLAS's letters.
enum class Op : char {
  none = 'N',           ///< the matrix itself
  transpose = 'T',      ///< its transpose
  conj_transpose = 'C', ///< its conjugate transpose
};

/// Which singular vectors of one side are computed. The values are the job letters of LAPACK's
/// xGESVD.
enum class Vectors : char {
  none = 'N', ///< none: the view for them is not looked at
  thin = 'S', ///< the first min(m, n)
  full = 'A', ///< all m (left) or n (right), completed to an orthonormal basis
};

/// The kernel that a product runs on. `automatic` takes every legal shape; a named path that cannot
/// take a shape is an invalid argument.
enum class GemmPath {
  automatic, ///< chosen by the plan
  team,      ///< one team a matrix, operands read from device memory: every shape
  tile,      ///< blocks of one or many matrices a team, staged through scratch: every shape of one
             ///< size
  vector,    ///< CPUs: one matrix a thread at a time, C in vector registers: every shape
  vendor,    ///< cuBLAS or a CBLAS, where shoal was built with it: what those can be told of
};

/// The kernel that a decomposition runs on; see \ref GemmPath.
enum class SvdPath {
  automatic, ///< chosen by the plan
  lane,      ///< one matrix a lane: few columns, and no more rows than scratch holds
  team,      ///< one team a matrix: every shape
  group,     ///< one matrix a few vector lanes: where the working set of a few fits in scratch
  block,     ///< one team a matrix, blocks of columns in registers: up to some hundred columns
  tall,      ///< QR of blocks of rows, then their triangles on another path: few columns, more rows
  vector,    ///< CPUs: one matrix a thread at a time, columns side by side in vector registers
};

/// What info holds of a matrix that \ref svd could not decompose: it has NaN or Inf; or its sizes
/// exceed the maxima of its batch, are negative, or disagree with those of its results.
inline constexpr int svd_not_finite = -1, svd_wrong_sizes = -2;

const char* to_string(Op op);
const char* to_string(Vectors vectors);
const char* to_string(GemmPath path);
const char* to_string(SvdPath path);

} // namespace shoal

#endif
