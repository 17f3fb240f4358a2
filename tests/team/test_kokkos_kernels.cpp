// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/families.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"

#include <shoal/kokkos_kernels.hpp>

#include <gtest/gtest.h>

/// \file
/// Calls written for Kokkos Kernels, which give what shoal promises.
namespace shoal::test {
namespace {

namespace KokkosBatched = shoal::kokkos_batched; // the line that users write
using KokkosBatched::Trans;
using Algorithm = KokkosBatched::Algo::Gemm::Blocked;

template <class T>
class KokkosKernels : public ::testing::Test {};
TYPED_TEST_SUITE(KokkosKernels, Scalars, ScalarNames);

using Policy = Kokkos::TeamPolicy<Exec>;
using Member = Policy::member_type;
template <class T>
using Batch = shoal::StridedBatch<T, Memory>;

template <class View>
KOKKOS_FUNCTION auto matrix(const View& batch, int i) {
  return Kokkos::subview(batch, i, Kokkos::ALL, Kokkos::ALL);
}

// --- gemm

/// A random product with these ops; C is poisoned where beta is 0.
template <class T>
GemmCase<T> random_case(Random& random, Op op_a, Op op_b, int m, int n, int k, bool reads_c) {
  GemmCase<T> p;
  p.op_a = op_a;
  p.op_b = op_b;
  p.alpha = random.normal_scalar<arithmetic_t<T>>();
  p.beta = reads_c ? random.normal_scalar<arithmetic_t<T>>() : arithmetic_t<T>(0);
  p.a = op_a == Op::none ? random_batch<T>(random, 6, m, k) : random_batch<T>(random, 6, k, m);
  p.b = op_b == Op::none ? random_batch<T>(random, 6, k, n) : random_batch<T>(random, 6, n, k);
  p.c = reads_c ? random_batch<T>(random, 6, m, n) : HostBatch<T>(6, m, n, poison<T>());
  return p;
}

/// The three functors through the one that takes a mode; the two of a team by their own names.
template <class T, class TransA, class TransB, class Mode>
struct GemmKernel {
  arithmetic_t<T> alpha, beta;
  Batch<const T> a, b;
  Batch<T> c;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int i = member.league_rank();
    if constexpr (std::is_same_v<Mode, KokkosBatched::Mode::Serial>) {
      Kokkos::single(Kokkos::PerTeam(member), [&] {
        KokkosBatched::Gemm<Member, TransA, TransB, Mode, Algorithm>::invoke(
            member, alpha, matrix(a, i), matrix(b, i), beta, matrix(c, i));
      });
    } else if constexpr (std::is_same_v<Mode, KokkosBatched::Mode::Team>) {
      KokkosBatched::TeamGemm<Member, TransA, TransB, Algorithm>::invoke(
          member, alpha, matrix(a, i), matrix(b, i), beta, matrix(c, i));
    } else {
      KokkosBatched::TeamVectorGemm<Member, TransA, TransB, Algorithm>::invoke(
          member, alpha, matrix(a, i), matrix(b, i), beta, matrix(c, i));
    }
  }
};

/// A view of the same memory with the matrix index last.
template <class T>
auto batch_last(const Batch<T>& x) {
  return Kokkos::View<T***, Kokkos::LayoutStride, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      x.data(), Kokkos::LayoutStride(x.extent(1), x.stride(1), x.extent(2), x.stride(2),
                                     x.extent(0), x.stride(0)));
}

template <class T, class TransA, class TransB>
void check_products(Op op_a, Op op_b) {
  Random random(seed());
  int turn = 0;
  for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{
           {1, 1, 1}, {3, 3, 3}, {5, 7, 3}, {17, 2, 9}, {2, 2, 0}}) {
    const GemmCase<T> p = random_case<T>(random, op_a, op_b, m, n, k, turn++ % 2 == 0);
    const auto check = [&](Layout layout, const std::string& who, const auto& call) {
      const DeviceBatch<T> a(layout, p.a), b(layout, p.b), c(layout, p.c);
      call(a.const_strided(), b.const_strided(), c.strided());
      Kokkos::fence();
      EXPECT_LE(gemm_error(p, c.get()), gemm_limit<T>) << who << " " << m << " " << n << " " << k;
      EXPECT_TRUE(c.guards_intact() && a.untouched() && b.untouched()) << who;
    };
    const auto kernel = [&]<class Mode>(Mode, int team) {
      check(Layout::padded_rows, "functor", [&](const auto& a, const auto& b, const auto& c) {
        Kokkos::parallel_for("test", Policy(6, team),
                             GemmKernel<T, TransA, TransB, Mode>{p.alpha, p.beta, a, b, c});
      });
    };
    const int threads = Exec().concurrency() >= 4 ? 4 : 1;
    kernel(KokkosBatched::Mode::Serial(), 1);
    kernel(KokkosBatched::Mode::Team(), threads);
    kernel(KokkosBatched::Mode::TeamVector(), threads);

    KokkosBatched::BatchedGemmHandle handle(KokkosBatched::BaseHeuristicAlgos::SQUARE);
    check(Layout::right, "batch first", [&](const auto& a, const auto& b, const auto& c) {
      EXPECT_EQ((KokkosBatched::BatchedGemm<TransA, TransB, KokkosBatched::BatchLayout::Left>(
                    &handle, p.alpha, a, b, p.beta, c)),
                0);
    });
    check(Layout::padded_cols, "batch last", [&](const auto& a, const auto& b, const auto& c) {
      EXPECT_EQ((KokkosBatched::BatchedGemm<TransA, TransB, KokkosBatched::BatchLayout::Right>(
                    &handle, p.alpha, batch_last(a), batch_last(b), p.beta, batch_last(c))),
                0);
    });
  }
}

TYPED_TEST(KokkosKernels, Products) {
  using T = TypeParam;
  check_products<T, Trans::NoTranspose, Trans::NoTranspose>(Op::none, Op::none);
  check_products<T, Trans::Transpose, Trans::NoTranspose>(Op::transpose, Op::none);
  check_products<T, Trans::NoTranspose, Trans::ConjTranspose>(Op::none, Op::conj_transpose);
}

TYPED_TEST(KokkosKernels, BatchedGemmRefusesWhatGemmRefuses) {
  using T = TypeParam;
  const DeviceBatch<T> a(Layout::right, HostBatch<T>(2, 3, 4)),
      b(Layout::right, HostBatch<T>(2, 5, 3)), c(Layout::right, HostBatch<T>(2, 3, 3));
  KokkosBatched::BatchedGemmHandle handle;
  EXPECT_THROW((KokkosBatched::BatchedGemm<Trans::NoTranspose, Trans::NoTranspose,
                                           KokkosBatched::BatchLayout::Left>(
                   &handle, T(1), a.const_strided(), b.const_strided(), T(0), c.strided())),
               shoal::invalid_argument);
}

// --- svd

template <class T>
struct SvdKernel {
  Batch<T> a, u, vt;
  Kokkos::View<Real<T>**, Kokkos::LayoutStride, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> s;
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> w;
  Kokkos::View<int*, Kokkos::LayoutStride, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> info;
  bool vectors;

  KOKKOS_FUNCTION void operator()(int i) const {
    const auto si = Kokkos::subview(s, i, Kokkos::ALL);
    const auto wi = Kokkos::subview(w, i, Kokkos::ALL);
    info(i) = vectors ? KokkosBatched::SerialSVD::invoke(KokkosBatched::SVD_USV_Tag(), matrix(a, i),
                                                         matrix(u, i), si, matrix(vt, i), wi)
                      : KokkosBatched::SerialSVD::invoke(KokkosBatched::SVD_S_Tag(), matrix(a, i),
                                                         si, wi);
  }
};

/// missing: elements that W is short of.
template <class T>
SvdResult<T> run_serial_svd(const HostBatch<T>& x, const SvdJob& job, std::size_t missing = 0) {
  const std::int64_t m = x.rows, n = x.cols, k = std::min(m, n);
  const bool vectors = job.options.left != Vectors::none;
  const auto size = [&](std::int64_t whole) {
    return !vectors ? 0 : job.options.left == Vectors::full ? whole : k;
  };
  const DeviceBatch<T> a(job.a, x);
  DeviceBatch<T> u(job.u, x.batch, m, size(m)), vt(job.vt, x.batch, size(n), n);
  DeviceBatch<Real<T>> s(Layout::padded_rows, x.batch, k, 1);
  DeviceBatch<int> info(Layout::scattered, x.batch, 1, 1);
  u.fill(poison<T>());
  vt.fill(poison<T>());
  s.fill(poison<Real<T>>());
  info.fill(poison<int>());
  const Kokkos::View<T**, Kokkos::LayoutRight, Memory> w(
      "W", x.batch, KokkosBatched::serial_svd_work_size<T>(m, n, vectors) - missing);
  Kokkos::fence();
  Kokkos::parallel_for("test", Kokkos::RangePolicy<Exec>(0, static_cast<int>(x.batch)),
                       SvdKernel<T>{a.strided(), u.strided(), vt.strided(), s.vectors(), w,
                                    info.entries(), vectors});
  Kokkos::fence();
  SvdResult<T> r;
  r.take(a, u, s, vt, info);
  return r;
}

TYPED_TEST(KokkosKernels, SerialSvdMeetsTheContract) {
  using T = TypeParam;
  SvdFigures figures;
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {2, 2}, {3, 3}, {15, 3}, {3, 15}, {9, 9}, {20, 11}}) {
    const Family<T> family = families<T>(m, n, 31);
    for (const Vectors wanted : {Vectors::full, Vectors::thin, Vectors::none}) {
      const SvdJob job = SvdJob::of(wanted, wanted, Layout::padded_rows);
      const SvdResult<T> r = run_serial_svd(family.matrices, job);
      EXPECT_TRUE(r.guards_intact && r.a_untouched) << job.describe(r.u.batch, m, n);
      for (std::int64_t b = 0; b < family.matrices.batch; ++b)
        expect_contract(family.matrices, job, r, b, reference_values(family.matrices, b),
                        family.names[static_cast<std::size_t>(b)], figures);
    }
  }
  figures.print(scalar_name<T>() + std::string(": SerialSVD"));
}

TYPED_TEST(KokkosKernels, SerialSvdReportsNanAndTooLittleWorkSpace) {
  using T = TypeParam;
  Random random(seed());
  HostBatch<T> a = random_batch<T>(random, 5, 6, 4);
  a(3, 5, 3) = poison<T>();
  const SvdResult<T> r = run_serial_svd(a, SvdJob::of(Vectors::full, Vectors::full));
  for (std::size_t b = 0; b < 5; ++b) EXPECT_EQ(r.info[b] < 0, b == 3);
  const SvdResult<T> refused = run_serial_svd(a, SvdJob::of(Vectors::full, Vectors::full), 1);
  for (std::size_t b = 0; b < 5; ++b) {
    EXPECT_EQ(refused.info[b], KokkosBatched::SerialSVD::work_too_short);
    EXPECT_TRUE(refused.s.all_nan(static_cast<std::int64_t>(b)));
  }
  EXPECT_TRUE(refused.guards_intact);
}

} // namespace
} // namespace shoal::test
