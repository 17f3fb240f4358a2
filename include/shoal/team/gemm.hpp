// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TEAM_GEMM_HPP
#define SHOAL_TEAM_GEMM_HPP

#include <shoal/detail/gemm/epilogue.hpp>
#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>
#include <shoal/types.hpp>

#include <Kokkos_Core.hpp>
#include <type_traits>
#include <utility>

/// \file
/// The product of one pair of matrices by one team, for any run-time size and any strides.
namespace shoal::team {

namespace detail {

using namespace shoal::detail;

/// op(matrix) as lane values.
template <class Matrix>
struct Operand {
  using Scalar = std::remove_cvref_t<decltype(std::declval<const Matrix&>()(0, 0))>;
  using V = lane_value_t<Scalar, 1>;
  const Matrix& matrix;
  Op op;

  KOKKOS_FUNCTION V operator()(int i, int j) const {
    V v;
    set_slot(v, 0, op == Op::none ? matrix(i, j) : matrix(j, i));
    return op == Op::conj_transpose ? conjugate(v) : v;
  }
  KOKKOS_FUNCTION int rows() const {
    return static_cast<int>(matrix.extent(op == Op::none ? 0 : 1));
  }
  KOKKOS_FUNCTION int cols() const {
    return static_cast<int>(matrix.extent(op == Op::none ? 1 : 0));
  }
};

/// C := epilogue(alpha A B + beta C) on the tile of C whose first entry is (row, col).
template <int Rows, int Cols, class A, class B, class C, class V, class Epilogue>
KOKKOS_FUNCTION void gemm_tile(const V& alpha, const A& a, const B& b, const V& beta, const C& c,
                               const Epilogue& epilogue, int row, int col, int m, int n, int k) {
  using T = std::remove_cvref_t<decltype(c(0, 0))>;
  V sum[Rows][Cols];
  SHOAL_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SHOAL_UNROLL
    for (int j = 0; j < Cols; ++j) sum[i][j] = V(real_t<V>(0));
  }
  // Past the edge the last row and column are read again: in range, and not stored.
  for (int p = 0; p < k; ++p) {
    V x[Rows], y[Cols];
    SHOAL_UNROLL
    for (int i = 0; i < Rows; ++i) x[i] = a(row + i < m ? row + i : m - 1, p);
    SHOAL_UNROLL
    for (int j = 0; j < Cols; ++j) y[j] = b(p, col + j < n ? col + j : n - 1);
    SHOAL_UNROLL
    for (int i = 0; i < Rows; ++i) {
      SHOAL_UNROLL
      for (int j = 0; j < Cols; ++j) sum[i][j] = multiply_add(x[i], y[j], sum[i][j]);
    }
  }
  const bool reads_c = !is_zero(beta);
  SHOAL_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SHOAL_UNROLL
    for (int j = 0; j < Cols; ++j) {
      if (row + i >= m || col + j >= n) continue;
      V v = alpha * sum[i][j];
      if (reads_c) {
        V old;
        set_slot(old, 0, c(row + i, col + j));
        v = multiply_add(beta, old, v);
      }
      c(row + i, col + j) = static_cast<T>(finished(epilogue, get_slot(v, 0), row + i, col + j));
    }
  }
}

/// The whole product as tiles of C, in any order by anybody.
template <class Scalar, class MatrixA, class MatrixB, class MatrixC, class Epilogue>
struct TiledProduct {
  using V = lane_value_t<Scalar, 1>;
  static constexpr int tile = 4;
  Operand<MatrixA> a;
  Operand<MatrixB> b;
  const MatrixC& c;
  const Epilogue& epilogue;
  V alpha, beta;
  int m, n, k, tile_cols;

  KOKKOS_FUNCTION TiledProduct(Op op_a, Op op_b, const Scalar& factor, const MatrixA& matrix_a,
                               const MatrixB& matrix_b, const Scalar& factor_c,
                               const MatrixC& matrix_c, const Epilogue& entry_epilogue)
      : a{matrix_a, op_a}, b{matrix_b, op_b}, c(matrix_c), epilogue(entry_epilogue),
        m(static_cast<int>(c.extent(0))), n(static_cast<int>(c.extent(1))), k(a.cols()),
        tile_cols((n + tile - 1) / tile) {
    set_slot(alpha, 0, factor);
    set_slot(beta, 0, factor_c);
  }
  KOKKOS_FUNCTION int tiles() const { return (m + tile - 1) / tile * tile_cols; }
  KOKKOS_FUNCTION void operator()(int t) const {
    gemm_tile<tile, tile>(alpha, a, b, beta, c, epilogue, t / tile_cols * tile,
                          t % tile_cols * tile, m, n, k);
  }
};

} // namespace detail

/// C := alpha op(A) op(B) + beta C of one pair of matrices, by all threads of a team; to be called
/// by all of them.
///
/// \param[in] alpha, beta  of the type that is computed with: float for half and bfloat16
/// \param[in] a, b    any types with x(i, j) and extent(r): rank-2 views or subviews
/// \param[in,out] c   m x n; must not overlap a or b; not read where beta is 0
/// \param[in] epilogue  C(i, j) := epilogue(its value, i, j), while that is in a register
///
/// C may be read by other threads of the team after the next team barrier. No scratch. Accuracy as
/// \ref shoal::gemm.
template <class Member, class Scalar, class MatrixA, class MatrixB, class MatrixC,
          class Epilogue = detail::NoEpilogue>
KOKKOS_FUNCTION void gemm(const Member& member, Op op_a, Op op_b, const Scalar& alpha,
                          const MatrixA& a, const MatrixB& b, const Scalar& beta, const MatrixC& c,
                          const Epilogue& epilogue = {}) {
  const detail::TiledProduct<Scalar, MatrixA, MatrixB, MatrixC, Epilogue> product(
      op_a, op_b, alpha, a, b, beta, c, epilogue);
  Kokkos::parallel_for(Kokkos::TeamVectorRange(member, product.tiles()), product);
}

} // namespace shoal::team

#endif
