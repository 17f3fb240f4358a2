// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The primitives inside a user's kernel, with explicit team sizes, so that barriers are exercised.
#include "tests/check/support/families.hpp"
#include "tests/check/support/reference.hpp"

#include <gtest/gtest.h>

namespace {

using namespace shoal_test;
using shoal::Op;

template <class T>
using Matrices = Kokkos::View<T***, Kokkos::LayoutRight, Space>;
template <class T>
using Values = Kokkos::View<RealOf<T>**, Kokkos::LayoutRight, Space>;
using Policy = Kokkos::TeamPolicy<Space>;

template <class T>
struct SvdKernel {
  Matrices<T> a, u, vt;
  Values<T> s;
  Kokkos::View<int*, Space> info;
  std::size_t bytes;
  shoal::SvdOptions options;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const int b = member.league_rank();
    const int level = 1;
    void* const scratch = member.team_scratch(level).get_shmem_aligned(bytes, 16);
    const auto of = [&](const Matrices<T>& x) {
      return Kokkos::subview(x, b, Kokkos::ALL, Kokkos::ALL);
    };
    const int result = shoal::team::svd(member, of(a), of(u), Kokkos::subview(s, b, Kokkos::ALL),
                                        of(vt), scratch, options);
    Kokkos::single(Kokkos::PerTeam(member), [&] { info(b) = result; });
  }
};

template <class T>
struct GemmKernel {
  Matrices<T> a, b, c;
  Op op_a, op_b;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const int i = member.league_rank();
    const auto of = [&](const Matrices<T>& x) {
      return Kokkos::subview(x, i, Kokkos::ALL, Kokkos::ALL);
    };
    shoal::team::gemm(member, op_a, op_b, T(2), of(a), of(b), T(-1), of(c));
  }
};

template <class T>
Matrices<T> to_device(const HostBatch<T>& x) {
  const Matrices<T> view("test::matrices", x.batch, x.rows, x.cols);
  const auto host = Kokkos::create_mirror(view);
  for (int b = 0; b < x.batch; ++b)
    for (int i = 0; i < x.rows; ++i)
      for (int j = 0; j < x.cols; ++j) host(b, i, j) = x(b, i, j);
  Kokkos::deep_copy(view, host);
  return view;
}
template <class T>
HostBatch<T> to_host(const Matrices<T>& x) {
  const auto host = Kokkos::create_mirror(x);
  Kokkos::deep_copy(host, x);
  HostBatch<T> r(x.extent(0), x.extent(1), x.extent(2));
  for (int b = 0; b < r.batch; ++b)
    for (int i = 0; i < r.rows; ++i)
      for (int j = 0; j < r.cols; ++j) r(b, i, j) = host(b, i, j);
  return r;
}

template <class T>
class Team : public testing::Test {};
using Scalars =
    testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Team, Scalars);

/// Team sizes that the space can run: the concurrency bounds them on a CPU.
std::vector<int> team_sizes() {
  std::vector<int> sizes;
  for (const int size : {1, 2, 4})
    if (!Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible ||
        size <= Space().concurrency())
      sizes.push_back(size);
  return sizes;
}

TYPED_TEST(Team, svd_meets_the_contract_for_every_team_size) {
  using T = TypeParam;
  Random random(5);
  for (const auto& [m, n] : {std::pair{1, 1}, {3, 3}, {9, 5}, {5, 9}, {16, 16}, {33, 20}})
    for (const auto vectors : {shoal::Vectors::thin, shoal::Vectors::full}) {
      HostBatch<T> host(6, m, n);
      fill_random(host, random);
      fill(host, 2, Family::rank_one, random);
      const int k = std::min(m, n);
      const bool full = vectors == shoal::Vectors::full;
      HostBatch<RealOf<T>> first(6, k, 1);
      for (const int team_size : team_sizes()) {
        const SvdKernel<T> kernel{
            to_device(host),
            to_device(HostBatch<T>(6, m, full ? m : k, not_a_number<T>())),
            to_device(HostBatch<T>(6, full ? n : k, n, not_a_number<T>())),
            Values<T>("test::s", 6, k),
            Kokkos::View<int*, Space>("test::info", 6),
            shoal::team::svd_scratch_bytes<T>(m, n, vectors, vectors),
            {vectors, vectors}};
        Policy policy(6, team_size, 1);
        policy.set_scratch_size(1, Kokkos::PerTeam(static_cast<int>(kernel.bytes) + 16));
        Kokkos::parallel_for("test::team_svd", policy, kernel);
        Kokkos::fence();
        const auto s = Kokkos::create_mirror(kernel.s);
        Kokkos::deep_copy(s, kernel.s);
        const auto info = Kokkos::create_mirror(kernel.info);
        Kokkos::deep_copy(info, kernel.info);
        HostBatch<RealOf<T>> values(6, k, 1);
        for (int b = 0; b < 6; ++b)
          for (int i = 0; i < k; ++i) values(b, i, 0) = s(b, i);
        if (team_size == 1) first = values;
        const HostBatch<T> u = to_host(kernel.u), vt = to_host(kernel.vt);
        for (int b = 0; b < 6; ++b) {
          ASSERT_EQ(info(b), 0);
          ASSERT_LE(check_svd(host, b, u, values, vt, reference_values(host, b)).worst(),
                    contract_limit)
              << m << " x " << n << ", team size " << team_size;
          for (int i = 0; i < k; ++i)
            ASSERT_EQ(values(b, i, 0), first(b, i, 0)) << "bits depend on the team size";
        }
      }
    }
}

TYPED_TEST(Team, gemm_agrees_for_every_team_size) {
  using T = TypeParam;
  Random random(6);
  for (const Op op : {Op::none, Op::transpose, Op::conj_transpose})
    for (const int team_size : team_sizes()) {
      HostBatch<T> a(4, op == Op::none ? 7 : 11, op == Op::none ? 11 : 7), b(4, 11, 9), c(4, 7, 9);
      fill_random(a, random);
      fill_random(b, random);
      fill_random(c, random);
      const GemmKernel<T> kernel{to_device(a), to_device(b), to_device(c), op, Op::none};
      Kokkos::parallel_for("test::team_gemm", Policy(4, team_size, 1), kernel);
      Kokkos::fence();
      ASSERT_LE(check_gemm(op, Op::none, T(2), a, b, T(-1), c, to_host(kernel.c)), 1);
    }
}

/// One lane a matrix, in registers, in a plain range.
template <class T>
struct LaneKernel {
  Matrices<T> a, u, vt;
  Values<T> s;
  Kokkos::View<int*, Space> info;

  KOKKOS_FUNCTION void operator()(int b) const {
    using V = shoal::detail::lane_value_t<T, 1>;
    constexpr std::integral_constant<int, 3> n{};
    shoal::lane::RegisterMatrix<V, 3, 3> x, l, j;
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) {
        V v;
        shoal::detail::set_slot(v, 0, a(b, i, k));
        x.set(i, k, v);
      }
    info(b) = static_cast<int>(shoal::lane::svd<true, 3>(
        x, l, j, n, n, {}, [&](int k, const auto& v) { s(b, k) = v; },
        [&](int i, int k, const V& v) { u(b, i, k) = shoal::detail::get_slot(v, 0); },
        [&](int k, auto column, const V& v) {
          vt(b, k, static_cast<int>(column)) = shoal::detail::get_slot(v, 0);
        }));
  }
};

TYPED_TEST(Team, lane_svd_works_inside_a_users_kernel) {
  using T = TypeParam;
  Random random(8);
  HostBatch<T> host(40, 3, 3);
  fill_random(host, random);
  const HostBatch<T> poison(40, 3, 3, not_a_number<T>());
  const LaneKernel<T> kernel{to_device(host), to_device(poison), to_device(poison),
                             Values<T>("test::s", 40, 3), Kokkos::View<int*, Space>("test::info", 40)};
  Kokkos::parallel_for("test::lane_svd", Kokkos::RangePolicy<Space>(0, 40), kernel);
  Kokkos::fence();
  const auto s = Kokkos::create_mirror(kernel.s);
  Kokkos::deep_copy(s, kernel.s);
  HostBatch<RealOf<T>> values(40, 3, 1);
  for (int b = 0; b < 40; ++b)
    for (int i = 0; i < 3; ++i) values(b, i, 0) = s(b, i);
  for (int b = 0; b < 40; ++b)
    ASSERT_LE(check_svd(host, b, to_host(kernel.u), values, to_host(kernel.vt)).worst(),
              contract_limit);
}

} // namespace
