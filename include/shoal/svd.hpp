// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SVD_HPP
#define SHOAL_SVD_HPP

#include <shoal/batch_view.hpp>
#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/checks.hpp>
#include <shoal/detail/concepts.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/error.hpp>
#include <shoal/options.hpp>
#include <shoal/plan.hpp>

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstddef>
#include <type_traits>

namespace shoal {

/// Memory that a call may use while it runs: `bytes` at `data`, reachable from the execution space
/// and aligned to 16 bytes. Default: the call takes what it needs from the backend's stream-ordered
/// pool.
struct Workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Stands for an output that is not wanted.
struct Unwanted {};
inline constexpr Unwanted unwanted{};

/// What \ref svd tells of each matrix on request, beside info: each a rank-1 view (matrix), or
/// shoal::unwanted, which costs nothing. `SvdDetails{sweeps, off_norm, rank}`, in which trailing
/// ones may be left out. With n the smaller extent and k = n values s of the matrix:
///  - sweeps (int): Jacobi sweeps done; where the matrix converged the last of them found nothing
///  to
///    turn. 0 for n < 2.
///  - off_norm (the type of S): the largest |x_i^H x_j| / (|x_i| |x_j|), i < j, of the columns x_i
///  =
///    A^H u_i, or A v_i where A is wide, that the sweeps make orthogonal, as they leave them: how
///    far the decomposition is from its end. About 2 u n^(1/4) or less where the matrix converged,
///    else up to 1; 0 for n < 2.
///  - rank (int): how many s_i > max(options.tolerance, 2 u max(m, n)) s_0, with u of the type of
///  S,
///    of all values, stored or not: numpy.linalg.matrix_rank's default where the tolerance is 0.
///
/// Where info is negative sweeps and rank are 0 and off_norm is NaN. off_norm takes about the time
/// of a sweep.
template <class Sweeps = Unwanted, class OffNorm = Unwanted, class Rank = Unwanted>
struct SvdDetails {
  Sweeps sweeps = {};
  OffNorm off_norm = {};
  Rank rank = {};
};
template <class Sweeps>
SvdDetails(Sweeps) -> SvdDetails<Sweeps>;
template <class Sweeps, class OffNorm>
SvdDetails(Sweeps, OffNorm) -> SvdDetails<Sweeps, OffNorm>;
template <class Sweeps, class OffNorm, class Rank>
SvdDetails(Sweeps, OffNorm, Rank) -> SvdDetails<Sweeps, OffNorm, Rank>;

namespace detail {

template <class Exec, class View, class Value>
constexpr bool is_detail() {
  if constexpr (std::is_same_v<View, Unwanted>) return true;
  else if constexpr (!is_view_of_rank<View, 1>()) return false;
  else return std::is_same_v<typename View::value_type, Value> && are_accessible<Exec, View>;
}

template <class Exec, class A, class Sweeps, class OffNorm, class Rank>
constexpr void require_svd_details(const SvdDetails<Sweeps, OffNorm, Rank>&) {
  static_assert(is_detail<Exec, Sweeps, int>() && is_detail<Exec, Rank, int>() &&
                    is_detail<Exec, OffNorm, real_scalar_of<A>>(),
                "shoal::svd: sweeps and rank of the details must be rank-1 views (matrix) of int, "
                "off_norm one of the real type that S holds, in memory that the execution space "
                "reaches, or unwanted");
}

template <class Exec, class A, class U, class S, class Vt, class Info>
constexpr void require_svd_arguments() {
  static_assert(is_supported_space<Exec>,
                "shoal::svd: the execution space is none of this build's backends");
  static_assert(is_batch<A>,
                "shoal::svd: A must be a rank-3 view (matrix, row, column) or a batch");
  static_assert(is_supported_scalar<scalar_of<A>>,
                "shoal::svd: the scalar must be float, double, complex<float>, complex<double>, "
                "shoal::half or shoal::bfloat16");
  static_assert(
      is_view_of_rank<S, 2>() || (is_variable_batch<A> && is_variable_vectors<S>),
      "shoal::svd: S must be a rank-2 view (matrix, value), or VariableVectors where A is a "
      "VariableBatch");
  static_assert(
      std::is_same_v<typename S::value_type, real_scalar_of<A>>,
      "shoal::svd: S must hold the real type of A's scalar, float for 16-bit ones, not const");
  static_assert(are_accessible<Exec, A, S>,
                "shoal::svd: the execution space cannot reach the memory of A or S");
  if constexpr (!std::is_same_v<U, Unwanted>) {
    static_assert(is_batch<U> && is_variable_batch<U> == is_variable_batch<A>,
                  "shoal::svd: U must be a rank-3 view (matrix, row, column) or a batch, and a "
                  "VariableBatch where A is one");
    static_assert(std::is_same_v<typename U::value_type, scalar_of<A>>,
                  "shoal::svd: U must hold A's scalar, not const");
    static_assert(are_accessible<Exec, U>,
                  "shoal::svd: the execution space cannot reach the memory of U");
  }
  if constexpr (!std::is_same_v<Vt, Unwanted>) {
    static_assert(is_batch<Vt> && is_variable_batch<Vt> == is_variable_batch<A>,
                  "shoal::svd: Vt must be a rank-3 view (matrix, row, column) or a batch, and a "
                  "VariableBatch where A is one");
    static_assert(std::is_same_v<typename Vt::value_type, scalar_of<A>>,
                  "shoal::svd: Vt must hold A's scalar, not const");
    static_assert(are_accessible<Exec, Vt>,
                  "shoal::svd: the execution space cannot reach the memory of Vt");
  }
  if constexpr (!std::is_same_v<Info, Unwanted>) {
    static_assert(is_view_of_rank<Info, 1>(), "shoal::svd: info must be a rank-1 view (matrix)");
    static_assert(std::is_same_v<typename Info::value_type, int>,
                  "shoal::svd: info must hold int, not const");
    static_assert(are_accessible<Exec, Info>,
                  "shoal::svd: the execution space cannot reach the memory of info");
  }
}

template <class T, class View>
BatchRef<T> optional_ref(const View& v) {
  if constexpr (std::is_same_v<View, Unwanted>) return {};
  else return batch_ref(v);
}

template <class T, class View>
BatchShape optional_shape(const char* name, const View& v) {
  BatchShape s = shape_of(name, optional_ref<T>(v));
  s.present = !std::is_same_v<View, Unwanted>;
  return s;
}

template <class X, class View>
EntryRef<X> entry_ref(const View& v) {
  if constexpr (std::is_same_v<View, Unwanted>) return {};
  else return {v.data(), static_cast<std::int64_t>(v.stride(0))};
}

/// Which vectors a call computes: leaving U or Vt out is asking for none.
template <class U, class Vt>
SvdOptions effective(SvdOptions options) {
  if constexpr (std::is_same_v<U, Unwanted>) options.left = Vectors::none;
  if constexpr (std::is_same_v<Vt, Unwanted>) options.right = Vectors::none;
  return options;
}

template <class Exec, class A, class U, class S, class Vt, class Info, class Details>
SvdPlan checked_svd_plan(const Exec& exec, const A& a, const U& u, const S& s, const Vt& vt,
                         const Info& info, const SvdOptions& options, const Details& details) {
  using Scalar = detail::scalar_of<A>;
  require_svd_arguments<Exec, A, U, S, Vt, Info>();
  require_svd_details<Exec, A>(details);
  const SvdOptions wanted = effective<U, Vt>(options);
  const auto shape = shape_of("A", batch_ref(a));
  check_svd(
      shape, optional_shape<Scalar>("U", u), shape_of("S", batch_ref(s)),
      optional_shape<Scalar>("Vt", vt),
      {{optional_shape<int>("info", info), optional_shape<int>("details.sweeps", details.sweeps),
        optional_shape<real_scalar_of<A>>("details.off_norm", details.off_norm),
        optional_shape<int>("details.rank", details.rank)}},
      wanted);
  return plan_svd({shape.extent[0], shape.extent[1], shape.extent[2], shape.sizes_differ},
                  scalar_size<Scalar>(), backend_limits(exec), wanted);
}

} // namespace detail

/// How \ref svd with these arguments will run. Throws as \ref svd does.
template <class Exec, class A, class U, class S, class Vt, class Info = Unwanted>
SvdPlan svd_plan(const Exec& exec, const A& a, const U& u, const S& s, const Vt& vt,
                 const Info& info = {}, const SvdOptions& options = {}) {
  return detail::checked_svd_plan(exec, a, u, s, vt, info, options, SvdDetails<>());
}

/// Bytes of workspace that \ref svd with these arguments uses; 0 where everything fits in scratch.
/// Bounded by a multiple of what the device runs at once, whatever the batch: docs/memory.md has
/// the formula.
template <class Exec, class A, class U, class S, class Vt, class Info = Unwanted>
std::size_t svd_workspace_size(const Exec& exec, const A& a, const U& u, const S& s, const Vt& vt,
                               const Info& info = {}, const SvdOptions& options = {}) {
  return svd_plan(exec, a, u, s, vt, info, options).workspace_bytes();
}

/// A_i = U_i diag(S_i) Vt_i for every matrix i of the batch: the singular value decomposition.
///
/// With k = min(m, n):
/// \param[in]  exec  the execution space instance that the work is queued on
/// \param[in]  a     (batch, m, n); preserved
/// \param[out] u     left singular vectors in columns: (batch, m, k) thin, (batch, m, m) full, or
///                   shoal::unwanted
/// \param[out] s     (batch, k), non-negative, largest first; (batch, r) with r < k keeps the r
/// largest,
///                   and then thin U is (batch, m, r) and thin Vt (batch, r, n)
/// \param[out] vt    conjugate-transposed right singular vectors in rows: (batch, k, n) thin,
///                   (batch, n, n) full, or shoal::unwanted
/// \param[out] info  (batch), or shoal::unwanted: 0 converged; > 0 not converged in that many
/// sweeps (the
///                   best decomposition so far is stored); \ref svd_not_finite the matrix holds NaN
///                   or Inf (its S, U, Vt are NaN then, and its neighbours are not touched);
///                   \ref svd_wrong_sizes see below. Both are negative
/// \param[in] options    thin or full, sign rule, tolerance, bound on sweeps
/// \param[in] workspace  at least \ref svd_workspace_size bytes, free to overwrite until the work
/// is done
/// \param[out] details   sweeps, off-diagonal norm and numerical rank of each: \ref SvdDetails
///
/// Views may have any layout and strides; wide matrices (m < n) are decomposed through their
/// strides without a copy. float, double, Kokkos::complex of both, \ref half, \ref bfloat16. Of the
/// 16-bit types S is float, everything is computed in float, and U and Vt are rounded where they
/// are stored. Zero extents are fine: full vectors of an empty matrix are the identity.
///
/// Matrices of different sizes, of zero extents too, come as a \ref VariableBatch in a; u and vt
/// are one then, or unwanted, and s is a \ref VariableVectors with room for up to min(m_i, n_i)
/// values of matrix i, or a view (batch, r), of whose row i the first min(m_i, n_i, r) are written.
/// A matrix whose sizes are negative, exceed the maxima, or disagree with those of its results is
/// not read: its info is \ref svd_wrong_sizes, those of its results that keep to the maxima of
/// their own are filled with NaN, and its neighbours are right. The work is dealt out as it is
/// done, so that the time is that of all matrices together, however their sizes differ.
///
/// *Accuracy* with u the unit roundoff: ||A - U S Vt||_F <= 5 u max(m, n) ||A||_F; U and Vt
/// orthonormal to 5 u max(m, n) in the Frobenius norm, for any rank; each value right to 5 u max(m,
/// n) s_0, and small values of column- or row-scaled matrices right to their own size
/// (docs/accuracy.md). Any finite scale. Of the 16-bit types u is the type's own for U and Vt, and
/// float's for S.
///
/// *Errors* throws shoal::invalid_argument, before anything is written, when extents disagree, data
/// are null, an output overlaps A or another output, an option is out of range, or the workspace is
/// too small.
///
/// *Asynchrony* returns once the work is queued on exec; never fences. Without a workspace argument
/// it allocates from the stream-ordered pool, if it needs any.
///
/// *Algorithm* Householder QR with column pivoting and row exchanges, then one-sided Jacobi on R^H:
/// Z. Drmac and K. Veselic, New fast and accurate Jacobi SVD algorithm I, II, 2008.
template <class Exec, class A, class U, class S, class Vt, class Info = Unwanted,
          class Details = SvdDetails<>>
void svd(const Exec& exec, const A& a, const U& u, const S& s, const Vt& vt, const Info& info = {},
         const SvdOptions& options = {}, const Workspace& workspace = {},
         const Details& details = {}) {
  using Scalar = detail::scalar_of<A>;
  Kokkos::Profiling::ScopedRegion region("shoal::svd");
  const SvdPlan plan = detail::checked_svd_plan(exec, a, u, s, vt, info, options, details);
  if (workspace.data)
    detail::check_workspace("shoal::svd", workspace.data, workspace.bytes, plan.workspace_bytes());
  const SvdOptions effective = detail::effective<U, Vt>(options);
  detail::SvdArguments<Scalar> arguments;
  arguments.a = detail::batch_ref(a);
  if (effective.left != Vectors::none) arguments.u = detail::optional_ref<Scalar>(u);
  arguments.s = detail::batch_ref(s);
  if (effective.right != Vectors::none) arguments.vt = detail::optional_ref<Scalar>(vt);
  arguments.info = detail::optional_ref<int>(info);
  arguments.details.sweeps = detail::entry_ref<int>(details.sweeps);
  arguments.details.off_norm = detail::entry_ref<detail::real_scalar_of<A>>(details.off_norm);
  arguments.details.rank = detail::entry_ref<int>(details.rank);
  detail::run_svd<Exec, Scalar>(exec, plan, effective, arguments, workspace.data);
}

/// The singular values alone: \ref svd without vectors, which is faster.
template <class Exec, class A, class S, class Info = Unwanted, class Details = SvdDetails<>>
void svd_values(const Exec& exec, const A& a, const S& s, const Info& info = {},
                const SvdOptions& options = {}, const Workspace& workspace = {},
                const Details& details = {}) {
  svd(exec, a, unwanted, s, unwanted, info, options, workspace, details);
}

} // namespace shoal

#endif
