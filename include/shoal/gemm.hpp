// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_GEMM_HPP
#define SHOAL_GEMM_HPP

#include <shoal/batch_view.hpp>
#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/blas_form.hpp>
#include <shoal/detail/checks.hpp>
#include <shoal/detail/coefficient.hpp>
#include <shoal/detail/concepts.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/error.hpp>
#include <shoal/options.hpp>
#include <shoal/plan.hpp>

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <type_traits>

namespace shoal {

namespace detail {

template <class Exec, class A, class B, class C>
constexpr void require_gemm_arguments() {
  static_assert(is_supported_space<Exec>,
                "shoal::gemm: the execution space is none of this build's backends");
  static_assert(is_batch<A> && is_batch<B> && is_batch<C>,
                "shoal::gemm: A, B and C must be rank-3 views (matrix, row, column) or batches");
  static_assert(is_supported_scalar<scalar_of<C>>,
                "shoal::gemm: the scalar must be float, double, complex<float>, complex<double>, "
                "shoal::half or shoal::bfloat16");
  static_assert(std::is_same_v<scalar_of<A>, scalar_of<C>> &&
                    std::is_same_v<scalar_of<B>, scalar_of<C>>,
                "shoal::gemm: A, B and C must have one scalar type");
  static_assert(is_writable<C>, "shoal::gemm: C must not be const");
  static_assert(are_accessible<Exec, A, B, C>,
                "shoal::gemm: the execution space cannot reach the memory of A, B or C");
}

template <class Exec, class Scalar, class X>
constexpr void require_coefficient() {
  if constexpr (is_coefficient_view<X>) {
    static_assert(std::is_same_v<scalar_of<X>, arithmetic_t<Scalar>>,
                  "shoal::gemm: a view of alpha or beta must hold the scalar of A, B and C "
                  "(float for 16-bit ones)");
    static_assert(are_accessible<Exec, X>,
                  "shoal::gemm: the execution space cannot reach the memory of alpha or beta");
  } else {
    static_assert(std::is_convertible_v<X, arithmetic_t<Scalar>>,
                  "shoal::gemm: alpha and beta must be numbers, or views of rank 0 or 1");
  }
}

/// Why a BLAS cannot be told of these products, null: it can.
template <class T>
const char* vendor_obstacle(const Coefficient<T>& alpha, const BatchRef<const T>& a,
                            const BatchRef<const T>& b, const Coefficient<T>& beta,
                            const BatchRef<T>& c, const GemmOptions& options) {
  if (a.sizes_differ() || b.sizes_differ() || c.sizes_differ()) return "sizes differ";
  if (!a.pointers != !c.pointers || !b.pointers != !c.pointers)
    return "some matrices are given by pointers and some by strides";
  if (std::min({a.batch_stride, b.batch_stride, c.batch_stride}) < 0)
    return "a batch stride is negative";
  if (alpha.data || beta.data) return "alpha or beta is in memory";
  // BLAS does not look at A and B then, and NaN in them would not spread.
  if (alpha.value == arithmetic_t<T>(0)) return "alpha is 0";
  const bool plain_a = options.op_a == Op::none, plain_b = options.op_b == Op::none;
  const BatchRef<const T> left = plain_a ? a : a.transposed(), right = plain_b ? b : b.transposed();
  if (left.cols == 0) return "k is 0";
  const BlasForm form = blas_form(left, options.op_a == Op::conj_transpose, right,
                                  options.op_b == Op::conj_transpose, c);
  return form.possible() ? nullptr : "its layout is not BLAS's";
}

/// Throws where the arguments do not agree.
template <class Exec, class Alpha, class A, class B, class Beta, class C>
GemmShape checked_gemm_shape(const Alpha& alpha, const A& a, const B& b, const Beta& beta,
                             const C& c, const GemmOptions& options) {
  require_gemm_arguments<Exec, A, B, C>();
  using Scalar = scalar_of<C>;
  require_coefficient<Exec, Scalar, Alpha>();
  require_coefficient<Exec, Scalar, Beta>();
  const BatchShape sa = shape_of("A", batch_ref(a)), sb = shape_of("B", batch_ref(b)),
                   sc = shape_of("C", batch_ref(c));
  check_gemm(coefficient_shape("alpha", alpha), sa, sb, coefficient_shape("beta", beta), sc,
             options);
  GemmShape shape{sc.extent[0], sc.extent[1], sc.extent[2],
                  options.op_a == Op::none ? sa.extent[2] : sa.extent[1]};
  shape.sizes_differ = sa.sizes_differ || sb.sizes_differ || sc.sizes_differ;
  shape.vendor_obstacle =
      vendor_obstacle<Scalar>(coefficient<Scalar>(alpha), batch_ref(a), batch_ref(b),
                              coefficient<Scalar>(beta), batch_ref(c), options);
  return shape;
}

template <class Exec, class Alpha, class A, class B, class Beta, class C>
GemmPlan checked_gemm_plan(const Exec& exec, const Alpha& alpha, const A& a, const B& b,
                           const Beta& beta, const C& c, const GemmOptions& options) {
  const GemmShape shape = checked_gemm_shape<Exec>(alpha, a, b, beta, c, options);
  return plan_gemm(shape, scalar_size<scalar_of<C>>(), backend_limits(exec), options);
}

} // namespace detail

/// How \ref gemm with these arguments will run. Throws as \ref gemm does.
template <class Exec, class Alpha, class A, class B, class Beta, class C>
  requires detail::is_batch<C>
GemmPlan gemm_plan(const Exec& exec, const Alpha& alpha, const A& a, const B& b, const Beta& beta,
                   const C& c, const GemmOptions& options = {}) {
  return detail::checked_gemm_plan(exec, alpha, a, b, beta, c, options);
}

/// The same where alpha is 1 and beta 0.
template <class Exec, class A, class B, class C>
GemmPlan gemm_plan(const Exec& exec, const A& a, const B& b, const C& c,
                   const GemmOptions& options = {}) {
  return detail::checked_gemm_plan(exec, 1, a, b, 0, c, options);
}

/// C_i := alpha op(A_i) op(B_i) + beta C_i for every matrix i of the batch.
///
/// \param[in] exec     the execution space instance that the work is queued on
/// \param[in] alpha    factor of the product: a number; or a view of rank 0 or 1, read when the
/// work
///                     runs: one number for all matrices, or one for each
/// \param[in] a        (batch, m, k), or (batch, k, m) where op_a transposes
/// \param[in] b        (batch, k, n), or (batch, n, k) where op_b transposes
/// \param[in] beta     factor of C, as alpha; where it is 0 C is not read, so that NaN in it does
/// not
///                     spread
/// \param[in,out] c    (batch, m, n); must not overlap a or b
/// \param[in] options  op_a, op_b, and the kernel if not the plan's choice
///
/// Views may have any layout and strides; a batch stride of 0 in a or b repeats one matrix for all.
/// float, double, Kokkos::complex of both, \ref half, \ref bfloat16; one scalar type a call. Of the
/// 16-bit types alpha and beta are float, sums are float, and C is rounded once. Zero extents are
/// fine: k = 0 gives C := beta C.
///
/// Larger products (\ref GemmPath::vendor) are handed to cuBLAS, a batch in one call, or to a CBLAS
/// where shoal was built with it and it can be told of them: a, b and c row-major or column-major,
/// with any padding, all by strides or all by pointers; alpha and beta numbers, alpha not 0.
/// gemm_plan tells; options.path demands or avoids it. The last bits may then depend on the batch,
/// the layout, the alignment and the number of threads (docs/accuracy.md).
///
/// Any of a, b and c may be a \ref VariableBatch: matrices of different sizes, also of zero
/// extents. A matrix C_i whose sizes do not agree with those of A_i and B_i, or exceed the maxima,
/// is filled with NaN and its neighbours are right.
///
/// *Accuracy* |C - exact| <= gamma_(k+2) (|alpha| |A| |B| + |beta| |C|), element by element; of the
/// 16-bit types with float's u, and u |C| of the type's own for the last rounding.
///
/// *Errors* throws shoal::invalid_argument, before anything is written, when extents disagree, data
/// are null, C overlaps an operand or repeats an element, or the named path cannot take the shape.
///
/// *Asynchrony* returns once the work is queued on exec; neither fences nor allocates, but for the
/// vendor's library, which sets itself up at its first call on a stream.
///
/// *Cost* 2 m n k operations a matrix; device memory is read and written once for m, n, k up to
/// what scratch holds.
template <class Exec, class Alpha, class A, class B, class Beta, class C>
void gemm(const Exec& exec, const Alpha& alpha, const A& a, const B& b, const Beta& beta,
          const C& c, const GemmOptions& options = {}) {
  Kokkos::Profiling::ScopedRegion region("shoal::gemm");
  using Scalar = detail::scalar_of<C>;
  const GemmPlan plan = detail::checked_gemm_plan(exec, alpha, a, b, beta, c, options);
  detail::run_gemm<Exec, Scalar>(exec, plan, options, detail::coefficient<Scalar>(alpha),
                                 detail::batch_ref(a), detail::batch_ref(b),
                                 detail::coefficient<Scalar>(beta), detail::batch_ref(c));
}

} // namespace shoal

#endif
