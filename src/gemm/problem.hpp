// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_GEMM_PROBLEM_HPP
#define SHOAL_SRC_GEMM_PROBLEM_HPP

#include <shoal/detail/batch_ref.hpp>
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
  arithmetic_t<T> alpha;
  arithmetic_t<T> beta;
  bool conj_a;
  bool conj_b;

  KOKKOS_FUNCTION std::int64_t m() const { return c.rows; }
  KOKKOS_FUNCTION std::int64_t n() const { return c.cols; }
  KOKKOS_FUNCTION std::int64_t k() const { return a.cols; }
  KOKKOS_FUNCTION bool reads_c() const { return beta != arithmetic_t<T>(0); }
};

template <class T>
GemmProblem<T> make_problem(const GemmOptions& options, const arithmetic_t<T>& alpha,
                            const BatchRef<const T>& a, const BatchRef<const T>& b,
                            const arithmetic_t<T>& beta, const BatchRef<T>& c) {
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
