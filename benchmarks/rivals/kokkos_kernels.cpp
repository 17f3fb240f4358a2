// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kokkos Kernels: its host call BatchedGemm, its functors SerialGemm, TeamGemm and TeamVectorGemm
// inside a Kokkos kernel as their users write one, and SerialSVD, the only SVD that it has for
// batches. All of them on row-major matrices, and on the default instance of the execution space,
// which is the one that is timed: BatchedGemm takes no other.
#include "benchmarks/rivals/rival.hpp"

#include <KokkosBatched_Gemm_Decl.hpp>
#include <KokkosBatched_HostLevel_Gemm.hpp>
#include <KokkosBatched_SVD_Decl.hpp>
#include <KokkosKernels_config.h>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <type_traits>

namespace bench {

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Member = Kokkos::TeamPolicy<Space>::member_type;
using KokkosBatched::Algo;
using KokkosBatched::Trans;

constexpr bool on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

template <class T>
using KokkosScalar = std::conditional_t<is_complex<T>, Kokkos::complex<Real<T>>, T>;
template <class S>
using Batch = Kokkos::View<S***, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>;
template <class S>
using Rows = Kokkos::View<S**, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>;

using Info = Kokkos::View<int*, Space, Kokkos::MemoryUnmanaged>;

template <class View>
KOKKOS_FUNCTION auto matrix(const View& batch, std::int64_t i) {
  return Kokkos::subview(batch, i, Kokkos::ALL, Kokkos::ALL);
}

template <class S>
struct Product {
  Batch<const S> a, b;
  Batch<S> c;
};

/// An array as a batch, in Kokkos' own scalar.
template <class T>
auto batch_of(T* data, std::int64_t batch, int rows, int cols) {
  using Plain = KokkosScalar<std::remove_const_t<T>>;
  using S = std::conditional_t<std::is_const_v<T>, const Plain, Plain>;
  return Batch<S>(reinterpret_cast<S*>(data), batch, rows, cols);
}

template <class T>
Product<KokkosScalar<T>> product_of(const GemmShape& s, const GemmArrays<T>& x) {
  return {batch_of(x.a, s.batch, s.m, s.k), batch_of(x.b, s.batch, s.k, s.n),
          batch_of(x.c, s.batch, s.m, s.n)};
}

/// What BatchedGemm chooses by itself.
struct HostCall {
  static constexpr const char* name = "BatchedGemm";
  template <class S>
  static void run(const Product<S>& p) {
    KokkosBatched::BatchedGemmHandle handle(KokkosBatched::BaseHeuristicAlgos::SQUARE);
    const int status = KokkosBatched::BatchedGemm<Trans::NoTranspose, Trans::NoTranspose,
                                                  KokkosBatched::BatchLayout::Left>(
        &handle, S(1), p.a, p.b, S(0), p.c);
    if (status != 0) throw std::runtime_error("BatchedGemm: status " + std::to_string(status));
  }
};

template <class S>
struct SerialKernel {
  Product<S> p;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    KokkosBatched::SerialGemm<Trans::NoTranspose, Trans::NoTranspose, Algo::Gemm::Blocked>::invoke(
        S(1), matrix(p.a, i), matrix(p.b, i), S(0), matrix(p.c, i));
  }
};
struct OneThread {
  static constexpr const char* name = "SerialGemm";
  template <class S>
  static void run(const Product<S>& p) {
    Kokkos::parallel_for(
        "bench::SerialGemm",
        Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, p.c.extent_int(0)),
        SerialKernel<S>{p});
  }
};

template <class S, class Gemm>
struct TeamKernel {
  Product<S> p;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int i = member.league_rank();
    Gemm::invoke(member, S(1), matrix(p.a, i), matrix(p.b, i), S(0), matrix(p.c, i));
  }
};
struct OneTeam {
  static constexpr const char* name = "TeamGemm";
  template <class S>
  static void run(const Product<S>& p) {
    using Gemm = KokkosBatched::TeamGemm<Member, Trans::NoTranspose, Trans::NoTranspose,
                                         Algo::Gemm::Blocked>;
    Kokkos::parallel_for("bench::TeamGemm",
                         Kokkos::TeamPolicy<Space>(p.c.extent_int(0), Kokkos::AUTO),
                         TeamKernel<S, Gemm>{p});
  }
};
struct OneTeamOfVectors {
  static constexpr const char* name = "TeamVectorGemm";
  template <class S>
  static void run(const Product<S>& p) {
    using Gemm = KokkosBatched::TeamVectorGemm<Member, Trans::NoTranspose, Trans::NoTranspose,
                                               Algo::Gemm::Unblocked>; // has no other
    Kokkos::parallel_for("bench::TeamVectorGemm",
                         Kokkos::TeamPolicy<Space>(p.c.extent_int(0), Kokkos::AUTO, Kokkos::AUTO),
                         TeamKernel<S, Gemm>{p});
  }
};

template <class Way, class T>
GemmRival<T> gemm_rival(const std::string& version) {
  GemmRival<T> rival;
  rival.name = std::string("Kokkos Kernels ") + Way::name;
  rival.version = version;
  rival.layout = Layout::row_major;
  rival.refusal = [](const GemmShape& s) -> std::string {
    if (std::is_same_v<Way, HostCall> && s.m != s.n)
      return "its heuristic throws where C is not square";
    if (s.batch == 1 && (on_host || !std::is_same_v<Way, HostCall>))
      return "not run: a single product would be the work of one thread or one team";
    return s.batch > std::numeric_limits<int>::max() ? "takes fewer than 2^31 matrices" : "";
  };
  rival.prepare = [](const GemmShape& shape, const std::vector<GemmArrays<T>>& sets) {
    return
        [shape, &sets](int i) { Way::run(product_of(shape, sets[static_cast<std::size_t>(i)])); };
  };
  return rival;
}

/// Its default bound is a milliard of steps, which is what users see as a hang.
int most_steps(const SvdShape& s) { return 30 * std::min(s.m, s.n); }

template <class R>
struct SvdKernel {
  Batch<R> a, u;
  Rows<R> s;
  Batch<R> vt;
  Rows<R> work;
  Info info;
  bool vectors;
  int most;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto si = Kokkos::subview(s, i, Kokkos::ALL);
    const auto wi = Kokkos::subview(work, i, Kokkos::ALL);
    info(i) =
        vectors ? KokkosBatched::SerialSVD::invoke(KokkosBatched::SVD_USV_Tag(), matrix(a, i),
                                                   matrix(u, i), si, matrix(vt, i), wi, R(0), most)
                : KokkosBatched::SerialSVD::invoke(KokkosBatched::SVD_S_Tag(), matrix(a, i), si, wi,
                                                   R(0), most);
  }
};

template <class T>
SvdRival<T> serial_svd(const std::string& version) {
  SvdRival<T> rival;
  rival.name = "Kokkos Kernels SerialSVD";
  rival.version = version;
  rival.layout = Layout::row_major;
  if constexpr (is_complex<T>) {
    rival.refusal = [](const SvdShape&) { return "has no complex decompositions"; };
  } else {
    rival.tolerance = "its own (eps), 30 min(m, n) steps at most";
    rival.overwrites_input = true;
    rival.full_vectors = true; // it has no thin form
    rival.refusal = [](const SvdShape& s) {
      const double gigabytes =
          1e-9 * sizeof(T) * static_cast<double>(s.batch) * std::max(s.m, s.n) * std::max(s.m, s.n);
      return gigabytes > 4 ? "would store " + std::to_string(static_cast<int>(gigabytes)) +
                                 " GB of full vectors: it has no thin form"
                           : std::string();
    };
    if (!on_host)
      rival.hazard = "ended in an illegal address on an H200 (4.7.99), and with it the whole run";
    rival.prepare = [](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
      const int m = shape.m, n = shape.n, k = std::min(m, n);
      const std::int64_t batch = shape.batch;
      const Kokkos::View<T**, Kokkos::LayoutRight, Space> work("bench::work", batch,
                                                               std::max(m, n));
      return [=, &sets](int i) {
        const auto& x = sets[static_cast<std::size_t>(i)];
        Kokkos::parallel_for("bench::SerialSVD",
                             Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, batch),
                             SvdKernel<T>{batch_of(x.a, batch, m, n), batch_of(x.u, batch, m, m),
                                          Rows<T>(x.s, batch, k), batch_of(x.right, batch, n, n),
                                          work, Info(x.info, batch), shape.vectors,
                                          most_steps(shape)});
      };
    };
  }
  return rival;
}

} // namespace

template <class T>
void add_kokkos_kernels(Rivals<T>& rivals, void*) {
  const std::string version = std::to_string(KOKKOSKERNELS_VERSION / 10000) + "." +
                              std::to_string(KOKKOSKERNELS_VERSION / 100 % 100) + "." +
                              std::to_string(KOKKOSKERNELS_VERSION % 100);
  rivals.gemm.push_back(gemm_rival<HostCall, T>(version));
  rivals.gemm.push_back(gemm_rival<OneThread, T>(version));
  rivals.gemm.push_back(gemm_rival<OneTeam, T>(version));
  rivals.gemm.push_back(gemm_rival<OneTeamOfVectors, T>(version));
  rivals.svd.push_back(serial_svd<T>(version));
}

SHOAL_BENCH_INSTANTIATE(add_kokkos_kernels);

} // namespace bench
