// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_KOKKOS_KERNELS_HPP
#define SHOAL_KOKKOS_KERNELS_HPP

#include <shoal/batch_view.hpp>
#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/gemm/epilogue.hpp>
#include <shoal/gemm.hpp>
#include <shoal/half.hpp>
#include <shoal/team/gemm.hpp>
#include <shoal/team/svd.hpp>
#include <shoal/types.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

/// \file
/// Kokkos Kernels' names for what shoal has too, so that code written for them is tried with one
/// line and without Kokkos Kernels:
///
///     namespace KokkosBatched = shoal::kokkos_batched;
///
/// BatchedGemm, SerialGemm, TeamGemm, TeamVectorGemm, Gemm and SerialSVD, with their tags. Results
/// are shoal's: its accuracy, any shape, conjugate transposes, complex scalars. What differs:
///  - algorithms (ArgAlgo, the handle's arguments) are accepted and not looked at: the plan
///  chooses;
///  - BatchedGemm throws shoal::invalid_argument where Kokkos Kernels returns a status or throws
///    std::runtime_error; it takes any strides with either BatchLayout; views of SIMD vectors are
///    refused by the compiler: plain interleaved views (LayoutLeft, batch first) do the same;
///  - matrices of the functors are rank-2 views, not scalars or vectors;
///  - TeamGemm uses vector lanes too: all threads of the team call it, outside of nested ranges;
///  - SerialSVD preserves A; needs more work space, \ref serial_svd_work_size elements, and reports
///    too little of it; takes thin U and Vt as well as full ones; does not look at tol, since it
///    always converges to rounding; counts sweeps, not steps, in max_iters, of 30 at most; and
///    returns > 0 where they did not suffice, < 0 for NaN or Inf in A.
namespace shoal::kokkos_batched {

struct Trans {
  struct NoTranspose {};
  struct Transpose {};
  struct ConjTranspose {};
};
/// Where the index of the matrix stands among the three of a view.
struct BatchLayout {
  struct Left {};
  struct Right {};
};
struct Mode {
  struct Serial {};
  struct Team {};
  struct TeamVector {};
};
struct Algo {
  struct Gemm {
    struct Unblocked {};
    struct Blocked {};
  };
};
struct SVD_USV_Tag {};
struct SVD_S_Tag {};

namespace BaseHeuristicAlgos {
enum : int { SQUARE, TALL, WIDE };
}
class BatchedGemmHandle {
public:
  explicit BatchedGemmHandle(int /*algorithm*/ = BaseHeuristicAlgos::SQUARE, int /*team*/ = 0,
                             int /*vector*/ = 0) {}
};

namespace detail {

template <class Tag>
KOKKOS_FUNCTION constexpr Op op_of() {
  static_assert(std::is_same_v<Tag, Trans::NoTranspose> || std::is_same_v<Tag, Trans::Transpose> ||
                    std::is_same_v<Tag, Trans::ConjTranspose>,
                "shoal::kokkos_batched: an op is Trans::NoTranspose, Transpose or ConjTranspose");
  return std::is_same_v<Tag, Trans::NoTranspose> ? Op::none
         : std::is_same_v<Tag, Trans::Transpose> ? Op::transpose
                                                 : Op::conj_transpose;
}

/// A view with its matrix index in front.
template <class Where, class View>
auto batch_first(const View& v) {
  static_assert(Kokkos::is_view_v<View> && View::rank() == 3,
                "shoal::kokkos_batched::BatchedGemm: A, B and C must be rank-3 views");
  static_assert(std::is_same_v<Where, BatchLayout::Left> ||
                    std::is_same_v<Where, BatchLayout::Right>,
                "shoal::kokkos_batched::BatchedGemm: the batch is BatchLayout::Left or Right");
  if constexpr (std::is_same_v<Where, BatchLayout::Left>) {
    return v;
  } else {
    const auto extent = [&](int r) { return static_cast<std::int64_t>(v.extent(r)); };
    const auto stride = [&](int r) { return static_cast<std::int64_t>(v.stride(r)); };
    return strided_batch<typename View::memory_space>(v.data(), extent(2), extent(0), extent(1),
                                                      stride(2), stride(0), stride(1));
  }
}

} // namespace detail

/// C := alpha op(A) op(B) + beta C of every matrix of a batch, queued on the default instance of
/// C's execution space: \ref shoal::gemm. Returns 0.
template <class ArgTransA, class ArgTransB, class ArgBatchSzDim, class Scalar, class ViewA,
          class ViewB, class ViewC>
int BatchedGemm(BatchedGemmHandle*, const Scalar& alpha, const ViewA& a, const ViewB& b,
                const Scalar& beta, const ViewC& c) {
  using T = arithmetic_t<typename ViewC::non_const_value_type>;
  GemmOptions options;
  options.op_a = detail::op_of<ArgTransA>();
  options.op_b = detail::op_of<ArgTransB>();
  gemm(typename ViewC::execution_space(), T(alpha), detail::batch_first<ArgBatchSzDim>(a),
       detail::batch_first<ArgBatchSzDim>(b), T(beta), detail::batch_first<ArgBatchSzDim>(c),
       options);
  return 0;
}

/// The product of one pair of matrices by one thread, of any run-time size.
template <class ArgTransA, class ArgTransB, class ArgAlgo>
struct SerialGemm {
  template <class Scalar, class ViewA, class ViewB, class ViewC>
  KOKKOS_FUNCTION static int invoke(const Scalar& alpha, const ViewA& a, const ViewB& b,
                                    const Scalar& beta, const ViewC& c) {
    using T = arithmetic_t<typename ViewC::non_const_value_type>;
    const shoal::detail::NoEpilogue none;
    const team::detail::TiledProduct<T, ViewA, ViewB, ViewC, shoal::detail::NoEpilogue> product(
        detail::op_of<ArgTransA>(), detail::op_of<ArgTransB>(), T(alpha), a, b, T(beta), c, none);
    for (int t = 0; t < product.tiles(); ++t) product(t);
    return 0;
  }
};

/// \ref shoal::team::gemm.
template <class Member, class ArgTransA, class ArgTransB, class ArgAlgo>
struct TeamVectorGemm {
  template <class Scalar, class ViewA, class ViewB, class ViewC>
  KOKKOS_FUNCTION static int invoke(const Member& member, const Scalar& alpha, const ViewA& a,
                                    const ViewB& b, const Scalar& beta, const ViewC& c) {
    using T = arithmetic_t<typename ViewC::non_const_value_type>;
    team::gemm(member, detail::op_of<ArgTransA>(), detail::op_of<ArgTransB>(), T(alpha), a, b,
               T(beta), c);
    return 0;
  }
};
template <class Member, class ArgTransA, class ArgTransB, class ArgAlgo>
struct TeamGemm : TeamVectorGemm<Member, ArgTransA, ArgTransB, ArgAlgo> {};

/// One of the three by a tag.
template <class Member, class ArgTransA, class ArgTransB, class ArgMode, class ArgAlgo>
struct Gemm {
  template <class Scalar, class ViewA, class ViewB, class ViewC>
  KOKKOS_FUNCTION static int invoke([[maybe_unused]] const Member& member, const Scalar& alpha,
                                    const ViewA& a, const ViewB& b, const Scalar& beta,
                                    const ViewC& c) {
    if constexpr (std::is_same_v<ArgMode, Mode::Serial>)
      return SerialGemm<ArgTransA, ArgTransB, ArgAlgo>::invoke(alpha, a, b, beta, c);
    else
      return TeamVectorGemm<Member, ArgTransA, ArgTransB, ArgAlgo>::invoke(member, alpha, a, b,
                                                                           beta, c);
  }
};

/// Elements of W that \ref SerialSVD needs for m x n matrices of T, with vectors or without.
template <class T>
KOKKOS_FUNCTION std::size_t serial_svd_work_size(std::int64_t m, std::int64_t n,
                                                 bool vectors = true) {
  const Vectors wanted = vectors ? Vectors::full : Vectors::none;
  constexpr std::size_t alignment = 16;
  return (team::svd_scratch_bytes<T>(m, n, wanted, wanted) + alignment + sizeof(T) - 1) / sizeof(T);
}

/// A = U diag(s) Vt of one matrix by one thread; \ref shoal::team::svd has the contract. W: rank-1,
/// contiguous, of \ref serial_svd_work_size elements. If it is shorter, s is filled with NaN and
/// the result is work_too_short.
struct SerialSVD {
  static constexpr int work_too_short = std::numeric_limits<int>::min();

  template <class ViewA, class ViewU, class ViewVt, class ViewS, class ViewW>
  KOKKOS_FUNCTION static int invoke(SVD_USV_Tag, const ViewA& a, const ViewU& u, const ViewS& s,
                                    const ViewVt& vt, const ViewW& w, double /*tol*/ = 0,
                                    int max_iters = most_sweeps) {
    return run(true, a, u, s, vt, w, max_iters);
  }
  template <class ViewA, class ViewS, class ViewW>
  KOKKOS_FUNCTION static int invoke(SVD_S_Tag, const ViewA& a, const ViewS& s, const ViewW& w,
                                    double /*tol*/ = 0, int max_iters = most_sweeps) {
    const shoal::detail::MatrixRef<typename ViewA::non_const_value_type> nothing{};
    return run(false, a, nothing, s, nothing, w, max_iters);
  }

private:
  static constexpr int most_sweeps = 30;

  template <class ViewA, class ViewU, class ViewVt, class ViewS, class ViewW>
  KOKKOS_FUNCTION static int run(bool vectors, const ViewA& a, const ViewU& u, const ViewS& s,
                                 const ViewVt& vt, const ViewW& w, int max_iters) {
    using T = typename ViewA::non_const_value_type;
    using R = typename ViewS::non_const_value_type;
    static_assert(ViewW::rank() == 1 && std::is_same_v<typename ViewW::value_type, T>,
                  "shoal::kokkos_batched::SerialSVD: W must be a rank-1 view of A's scalar");
    const auto m = static_cast<std::int64_t>(a.extent(0)),
               n = static_cast<std::int64_t>(a.extent(1));
    if (w.extent(0) < serial_svd_work_size<T>(m, n, vectors)) {
      for (int k = 0; k < static_cast<int>(s.extent(0)); ++k)
        s(k) = Kokkos::Experimental::quiet_NaN_v<R>;
      return work_too_short;
    }
    SvdOptions options;
    options.left = options.right = vectors ? Vectors::full : Vectors::none; // extents say how many
    options.max_sweeps = max_iters < 1 ? 1 : max_iters > most_sweeps ? most_sweeps : max_iters;
    const auto start = reinterpret_cast<std::uintptr_t>(w.data());
    void* const scratch = reinterpret_cast<void*>((start + 15) / 16 * 16);
    return team::detail::decompose(team::detail::LoneCrew{}, a, u, s, vt, scratch, options);
  }
};

} // namespace shoal::kokkos_batched

#endif
