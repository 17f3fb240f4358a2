// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_GEMM_PROBLEM_HPP
#define SHOAL_DETAIL_GEMM_PROBLEM_HPP

#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/coefficient.hpp>
#include <shoal/detail/scalar.hpp>
#include <shoal/options.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace shoal::detail {

/// Most vectors of a strip of columns of the vector kernel.
inline constexpr int vector_gemm_strip = 3;

/// A batched product as the kernels see it: a is m x k and b is k x n whatever the ops were, since
/// a transpose is an exchange of strides; only the conjugation is left.
template <class T>
struct GemmProblem {
  BatchRef<const T> a;
  BatchRef<const T> b;
  BatchRef<T> c;
  Coefficient<T> alpha;
  Coefficient<T> beta;
  bool conj_a;
  bool conj_b;

  KOKKOS_FUNCTION std::int64_t m() const { return c.rows; }
  KOKKOS_FUNCTION std::int64_t n() const { return c.cols; }
  KOKKOS_FUNCTION std::int64_t k() const { return a.cols; }

  /// Whether sizes are known to the kernels only.
  bool sizes_differ() const { return a.sizes_differ() || b.sizes_differ() || c.sizes_differ(); }
  /// Whether coefficients are.
  bool coefficients_in_memory() const { return alpha.data || beta.data; }

  /// The same product, of which C^T = B^T A^T is computed.
  GemmProblem transposed() const {
    return {b.transposed(), a.transposed(), c.transposed(), alpha, beta, conj_b, conj_a};
  }

  /// The product of matrices i alone, with its sizes and coefficients.
  KOKKOS_FUNCTION GemmProblem one(std::int64_t i) const {
    return {a.one(i), b.one(i), c.one(i), {alpha.of(i)}, {beta.of(i)}, conj_a, conj_b};
  }
  /// Whether the sizes of a single product agree with each other and with the maxima of the batch.
  KOKKOS_FUNCTION bool fits(const GemmProblem& batch) const {
    return c.rows >= 0 && c.cols >= 0 && a.cols >= 0 && a.rows == c.rows && b.cols == c.cols &&
           b.rows == a.cols && c.rows <= batch.c.rows && c.cols <= batch.c.cols &&
           a.cols <= batch.a.cols;
  }
};

template <class T>
GemmProblem<T> make_problem(const GemmOptions& options, const Coefficient<T>& alpha,
                            const BatchRef<const T>& a, const BatchRef<const T>& b,
                            const Coefficient<T>& beta, const BatchRef<T>& c) {
  return {options.op_a == Op::none ? a : a.transposed(),
          options.op_b == Op::none ? b : b.transposed(),
          c,
          alpha,
          beta,
          options.op_a == Op::conj_transpose,
          options.op_b == Op::conj_transpose};
}

} // namespace shoal::detail

#endif
