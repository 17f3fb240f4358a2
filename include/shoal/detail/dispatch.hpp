// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_DISPATCH_HPP
#define SHOAL_DETAIL_DISPATCH_HPP

#include <shoal/config.hpp>
#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/coefficient.hpp>
#include <shoal/detail/concepts.hpp>
#include <shoal/options.hpp>
#include <shoal/plan.hpp>

#include <Kokkos_Core.hpp>

/// \file
/// The seam between the headers and the compiled library: everything below is defined in src/ and
/// instantiated once for each backend and scalar in backends/<b>/.
namespace shoal::detail {

template <class Exec>
BackendLimits backend_limits(const Exec& exec);

template <class T>
constexpr ScalarSize scalar_size() {
  return {sizeof(arithmetic_t<T>), is_complex_scalar<T>, sizeof(T)};
}

template <class Exec, class T>
void run_gemm(const Exec& exec, const GemmPlan& plan, const GemmOptions& options,
              const Coefficient<T>& alpha, const BatchRef<const T>& a, const BatchRef<const T>& b,
              const Coefficient<T>& beta, const BatchRef<T>& c);

/// Where the details of shoal::SvdDetails go.
template <class Real>
struct SvdDetailRefs {
  EntryRef<int> sweeps;
  EntryRef<Real> off_norm;
  EntryRef<int> rank;
  int rank_rows = 0; ///< see lane::SvdRequest

  KOKKOS_FUNCTION bool wanted() const { return sweeps.data || off_norm.data || rank.data; }
  KOKKOS_FUNCTION void store(std::int64_t b, int its_sweeps, const Real& its_off_norm,
                             int its_rank) const {
    sweeps.store(b, its_sweeps);
    off_norm.store(b, its_off_norm);
    rank.store(b, its_rank);
  }
};

/// The arguments of one decomposition. u, vt: null data where that side has no vectors.
template <class T>
struct SvdArguments {
  using Real = typename real_of<T>::type;
  BatchRef<const T> a;
  BatchRef<T> u;
  BatchRef<Real> s;
  BatchRef<T> vt;
  BatchRef<int> info; ///< null data: not wanted
  SvdDetailRefs<Real> details;
};

/// workspace: plan.workspace_bytes() of device memory, or null: taken from the stream-ordered pool.
template <class Exec, class T>
void run_svd(const Exec& exec, const SvdPlan& plan, const SvdOptions& options,
             const SvdArguments<T>& arguments, void* workspace);

#define SHOAL_FOR_EACH_SCALAR(X, EXEC)                                                             \
  X(EXEC, float)                                                                                   \
  X(EXEC, double)                                                                                  \
  X(EXEC, Kokkos::complex<float>)                                                                  \
  X(EXEC, Kokkos::complex<double>)                                                                 \
  X(EXEC, half)                                                                                    \
  X(EXEC, bfloat16)

#define SHOAL_EXTERN_DISPATCH(EXEC, T)                                                             \
  extern template void run_gemm<EXEC, T>(const EXEC&, const GemmPlan&, const GemmOptions&,         \
                                         const Coefficient<T>&, const BatchRef<const T>&,          \
                                         const BatchRef<const T>&, const Coefficient<T>&,          \
                                         const BatchRef<T>&);                                      \
  extern template void run_svd<EXEC, T>(const EXEC&, const SvdPlan&, const SvdOptions&,            \
                                        const SvdArguments<T>&, void*);

#if SHOAL_ENABLE_CUDA
template <>
BackendLimits backend_limits<Kokkos::Cuda>(const Kokkos::Cuda&);
SHOAL_FOR_EACH_SCALAR(SHOAL_EXTERN_DISPATCH, Kokkos::Cuda)
#endif
#if SHOAL_ENABLE_OPENMP
template <>
BackendLimits backend_limits<Kokkos::OpenMP>(const Kokkos::OpenMP&);
SHOAL_FOR_EACH_SCALAR(SHOAL_EXTERN_DISPATCH, Kokkos::OpenMP)
#endif
#undef SHOAL_EXTERN_DISPATCH

} // namespace shoal::detail

#endif
