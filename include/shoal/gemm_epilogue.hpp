// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_GEMM_EPILOGUE_HPP
#define SHOAL_GEMM_EPILOGUE_HPP

#include <shoal/detail/backends.hpp>
#include <shoal/detail/gemm/run_kernel.hpp>
#include <shoal/gemm.hpp>

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <type_traits>

/// \file
/// gemm with a function of each element of C: bias, scale, activation, conversion. The kernels are
/// templates on that function and are compiled here, in the file that calls them; so this header is
/// not a part of shoal.hpp.
namespace shoal {

namespace detail {

/// Whether F can be called with (value, matrix, row, column) of a batch of T and gives a value.
template <class F, class T>
inline constexpr bool is_epilogue =
    std::is_invocable_r_v<arithmetic_t<T>, const F&, const arithmetic_t<T>&, std::int64_t,
                          std::int64_t, std::int64_t>;

template <class Epilogue, class Exec, class Alpha, class A, class B, class Beta, class C>
GemmPlan checked_epilogue_plan(const Exec& exec, const Alpha& alpha, const A& a, const B& b,
                               const Beta& beta, const C& c, const GemmOptions& options) {
  GemmShape shape = checked_gemm_shape<Exec>(alpha, a, b, beta, c, options);
  using Scalar = scalar_of<C>;
  static_assert(
      is_epilogue<Epilogue, Scalar>,
      "shoal::gemm: the epilogue must take (value, matrix, row, column) and give a value");
  shape.vendor_obstacle = "the vendor's library applies no epilogue";
  // As the kernels here have them; the library may be compiled for another CPU.
  BackendLimits limits = backend_limits(exec);
  limits.gemm_vector_bytes = backend_traits<Exec>::gemm_vector_bytes;
  return plan_gemm(shape, scalar_size<Scalar>(), limits, options);
}

} // namespace detail

/// How \ref gemm with these arguments and an epilogue will run. Throws as \ref gemm does.
template <class Exec, class Alpha, class A, class B, class Beta, class C, class Epilogue>
GemmPlan gemm_plan(const Exec& exec, const Alpha& alpha, const A& a, const B& b, const Beta& beta,
                   const C& c, const GemmOptions& options, const Epilogue&) {
  return detail::checked_epilogue_plan<Epilogue>(exec, alpha, a, b, beta, c, options);
}

/// C_i(r, s) := epilogue((alpha op(A_i) op(B_i) + beta C_i)(r, s), i, r, s) for every element of
/// every matrix i of the batch, while it is still in a register.
///
/// \param[in] epilogue  a functor or KOKKOS_LAMBDA that takes (value, matrix, row, column) and
///                      returns what to store. value is of the type that is computed with: the
///                      scalar of C, or float for 16-bit ones, which is rounded after the epilogue
///                      and not before; the places are std::int64_t.
///
/// The epilogue is called at least once for each element, by any thread and in any order. It may
/// read views (a bias by column, a scale by matrix) and write the value elsewhere too, converted to
/// another type for instance; it must give the same at every call. Matrices of a
/// \ref VariableBatch that are filled with NaN do not see it.
///
/// Products with an epilogue are never handed to cuBLAS or a CBLAS: \ref GemmPath::vendor is
/// refused. The rest is as for \ref gemm without: formula, errors, asynchrony, accuracy of the
/// value that the epilogue is given.
///
/// *Cost* that of \ref gemm without; with CUDA and beta other than 0 C is read and written by
/// element, not by whole lines. On CPUs the function is called entry by entry, which for small
/// matrices in cache may take longer than a pass of its own. Compiling takes 10 to 30 s for each
/// epilogue and scalar.
template <class Exec, class Alpha, class A, class B, class Beta, class C, class Epilogue>
void gemm(const Exec& exec, const Alpha& alpha, const A& a, const B& b, const Beta& beta,
          const C& c, const GemmOptions& options, const Epilogue& epilogue) {
  Kokkos::Profiling::ScopedRegion region("shoal::gemm");
  using Scalar = detail::scalar_of<C>;
  const GemmPlan plan =
      detail::checked_epilogue_plan<Epilogue>(exec, alpha, a, b, beta, c, options);
  detail::run_gemm_kernel(exec, plan,
                          detail::make_problem<Scalar>(options, detail::coefficient<Scalar>(alpha),
                                                       detail::batch_ref(a), detail::batch_ref(b),
                                                       detail::coefficient<Scalar>(beta),
                                                       detail::batch_ref(c)),
                          epilogue);
}

} // namespace shoal

#endif
