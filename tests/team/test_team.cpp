// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/families.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"

#include <shoal/batch_view.hpp>
#include <shoal/team/gemm.hpp>
#include <shoal/team/svd.hpp>

#include <gtest/gtest.h>

/// \file
/// The team primitives inside a user's own kernel, with several threads in a team so that a missing
/// barrier shows, and with the results used in the same kernel.
namespace shoal::test {
namespace {

template <class T>
class Team : public ::testing::Test {};
TYPED_TEST_SUITE(Team, Scalars, ScalarNames);

/// An instance with room for teams of 4 threads.
template <class E>
E wide_instance() {
  if constexpr (Kokkos::SpaceAccessibility<E, Kokkos::HostSpace>::accessible) {
    return E().concurrency() >= 4 ? E() : E(4);
  } else {
    return E();
  }
}
constexpr bool on_host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

struct TeamShape {
  int size, vector;
};
std::vector<TeamShape> team_shapes() {
  if (on_host) return {{1, 1}, {2, 1}, {4, 1}};
  return {{1, 1}, {1, 32}, {2, 16}, {4, 8}, {4, 32}, {8, 32}};
}

using Policy = Kokkos::TeamPolicy<Exec>;
using Member = Policy::member_type;

template <class T>
using Batch = shoal::StridedBatch<T, Memory>;

// --- gemm
// -----------------------------------------------------------------------------------------------

template <class T>
struct GemmKernel {
  Op op_a, op_b;
  arithmetic_t<T> alpha, beta;
  Batch<const T> a, b;
  Batch<T> c;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int i = member.league_rank();
    team::gemm(member, op_a, op_b, alpha, Kokkos::subview(a, i, Kokkos::ALL, Kokkos::ALL),
               Kokkos::subview(b, i, Kokkos::ALL, Kokkos::ALL), beta,
               Kokkos::subview(c, i, Kokkos::ALL, Kokkos::ALL));
  }
};

TYPED_TEST(Team, Gemm) {
  using T = TypeParam;
  Random random(seed());
  Worst worst;
  const Exec exec = wide_instance<Exec>();
  const Op ops[] = {Op::none, Op::transpose, Op::conj_transpose};
  int turn = 0;
  for (const TeamShape& team : team_shapes())
    for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{{1, 1, 1},
                                                                        {2, 3, 4},
                                                                        {4, 4, 4},
                                                                        {5, 7, 3},
                                                                        {17, 19, 23},
                                                                        {33, 1, 8},
                                                                        {1, 33, 8},
                                                                        {3, 3, 0},
                                                                        {64, 48, 70}})
      for (const Op op_a : ops)
        for (const Op op_b : ops) {
          GemmCase<T> p;
          p.op_a = op_a;
          p.op_b = op_b;
          p.alpha = random.normal_scalar<arithmetic_t<T>>();
          p.beta = turn % 2 ? random.normal_scalar<arithmetic_t<T>>() : arithmetic_t<T>(0);
          p.a = op_a == Op::none ? random_batch<T>(random, 6, m, k)
                                 : random_batch<T>(random, 6, k, m);
          p.b = op_b == Op::none ? random_batch<T>(random, 6, k, n)
                                 : random_batch<T>(random, 6, n, k);
          p.c = turn % 2 ? random_batch<T>(random, 6, m, n) : HostBatch<T>(6, m, n, poison<T>());
          const Layout layout = turn++ % 3 ? Layout::padded_rows : Layout::padded_cols;
          const DeviceBatch<T> a(layout, p.a), b(layout, p.b), c(layout, p.c);
          Kokkos::parallel_for(
              "test", Policy(exec, 6, team.size, team.vector),
              GemmKernel<T>{op_a, op_b, p.alpha, p.beta, a.strided(), b.strided(), c.strided()});
          exec.fence();
          const long double error = gemm_error(p, c.get());
          const std::string where = std::to_string(m) + " " + std::to_string(n) + " " +
                                    std::to_string(k) + ", team " + std::to_string(team.size) +
                                    " x " + std::to_string(team.vector);
          worst.see(error, where);
          EXPECT_LE(error, gemm_limit<T>) << where;
          EXPECT_TRUE(c.guards_intact() && a.untouched() && b.untouched()) << where;
        }
  print_figure(scalar_name<T>() + std::string(": team::gemm error / bound"), worst);
}

/// C := (A B) A in one kernel: the second product reads what other threads of the team have
/// written.
template <class T>
struct ChainKernel {
  Batch<const T> a, b;
  Batch<T> product, c;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int i = member.league_rank();
    const auto x = Kokkos::subview(a, i, Kokkos::ALL, Kokkos::ALL);
    const auto between = Kokkos::subview(product, i, Kokkos::ALL, Kokkos::ALL);
    team::gemm(member, Op::none, Op::none, T(1), x, Kokkos::subview(b, i, Kokkos::ALL, Kokkos::ALL),
               T(0), between);
    member.team_barrier();
    team::gemm(member, Op::none, Op::none, T(1), between, x, T(0),
               Kokkos::subview(c, i, Kokkos::ALL, Kokkos::ALL));
  }
};

TYPED_TEST(Team, GemmAfterGemm) {
  using T = TypeParam;
  Random random(seed());
  const Exec exec = wide_instance<Exec>();
  for (const TeamShape& team : team_shapes()) {
    constexpr std::int64_t n = 24, batch = 20;
    // Small integers: the first product is exact in every type, the second in all but the 16-bit.
    HostBatch<T> x(batch, n, n), y(batch, n, n);
    for (T& v : x.values) v = T(static_cast<Real<T>>(random.integer(-3, 3)));
    for (T& v : y.values) v = T(static_cast<Real<T>>(random.integer(-3, 3)));
    const DeviceBatch<T> a(Layout::right, x), b(Layout::right, y);
    DeviceBatch<T> product(Layout::right, batch, n, n), c(Layout::right, batch, n, n);
    product.fill(poison<T>());
    c.fill(poison<T>());
    Kokkos::parallel_for("test", Policy(exec, batch, team.size, team.vector),
                         ChainKernel<T>{a.strided(), b.strided(), product.strided(), c.strided()});
    exec.fence();
    GemmCase<T> first;
    first.a = x;
    first.b = y;
    first.c = HostBatch<T>(batch, n, n);
    EXPECT_EQ(gemm_error(first, product.get()), 0);
    GemmCase<T> second = first;
    second.a = product.get();
    second.b = x;
    EXPECT_LE(gemm_error(second, c.get()), is_converted<T> ? gemm_limit<T> : 0)
        << "team " << team.size;
  }
}

// --- svd
// ------------------------------------------------------------------------------------------------

template <class T>
struct SvdKernel {
  Batch<const T> a;
  Batch<T> u, vt;
  Kokkos::View<Real<T>**, Kokkos::LayoutStride, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> s;
  Kokkos::View<int*, Kokkos::LayoutStride, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> info;
  SvdOptions options;
  std::size_t bytes;
  Kokkos::View<int*, Memory> disagree; ///< threads of a team that got another info

  /// A team works through several matrices with the same scratch.
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    void* const scratch = member.team_scratch(1).get_shmem_aligned(bytes, 16);
    for (int i = member.league_rank(); i < static_cast<int>(a.extent(0));
         i += member.league_size()) {
      const int result = team::svd(
          member, Kokkos::subview(a, i, Kokkos::ALL, Kokkos::ALL),
          Kokkos::subview(u, i, Kokkos::ALL, Kokkos::ALL), Kokkos::subview(s, i, Kokkos::ALL),
          Kokkos::subview(vt, i, Kokkos::ALL, Kokkos::ALL), scratch, options);
      Kokkos::single(Kokkos::PerTeam(member), [&] { info(i) = result; });
      member.team_barrier();
      if (info(i) != result) Kokkos::atomic_add(&disagree(0), 1);
      member.team_barrier();
    }
  }
};

template <class T>
SvdResult<T> run_team_svd(const HostBatch<T>& x, const SvdJob& job, const TeamShape& team,
                          int league) {
  const Exec exec = wide_instance<Exec>();
  const std::int64_t m = x.rows, n = x.cols, k = job.rank < 0 ? std::min(m, n) : job.rank;
  const auto size = [&](Vectors v, std::int64_t whole) {
    return v == Vectors::none ? 0 : v == Vectors::full ? whole : k;
  };
  const DeviceBatch<T> a(job.a, x);
  DeviceBatch<T> u(job.u, x.batch, m, size(job.options.left, m)),
      vt(job.vt, x.batch, size(job.options.right, n), n);
  DeviceBatch<Real<T>> s(Layout::padded_rows, x.batch, k, 1);
  DeviceBatch<int> info(Layout::scattered, x.batch, 1, 1);
  u.fill(poison<T>());
  vt.fill(poison<T>());
  s.fill(poison<Real<T>>());
  info.fill(poison<int>());
  const Kokkos::View<int*, Memory> disagree("disagree", 1);
  const std::size_t bytes = team::svd_scratch_bytes<T>(m, n, job.options.left, job.options.right);
  Policy policy(exec, league, team.size, team.vector);
  policy.set_scratch_size(1, Kokkos::PerTeam(static_cast<int>(bytes) + 32));
  Kokkos::fence();
  Kokkos::parallel_for("test", policy,
                       SvdKernel<T>{a.strided(), u.strided(), vt.strided(), s.vectors(),
                                    info.entries(), job.options, bytes, disagree});
  exec.fence();
  int wrong = 0;
  Kokkos::deep_copy(
      Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(&wrong, 1),
      disagree);
  EXPECT_EQ(wrong, 0) << "threads of a team got different infos";
  SvdResult<T> r;
  r.take(a, u, s, vt, info);
  return r;
}

/// Every step-th matrix of a family.
template <class T>
Family<T> every(std::int64_t step, const Family<T>& all) {
  Family<T> some;
  const std::int64_t m = all.matrices.rows, n = all.matrices.cols;
  some.matrices = HostBatch<T>((all.matrices.batch + step - 1) / step, m, n);
  for (std::int64_t b = 0; b < some.matrices.batch; ++b) {
    const auto from = static_cast<std::size_t>(b * step);
    some.names.push_back(all.names[from]);
    some.relative.push_back(all.relative[from]);
    std::copy_n(all.matrices.values.begin() + b * step * m * n, m * n,
                some.matrices.values.begin() + b * m * n);
  }
  return some;
}

TYPED_TEST(Team, SvdMeetsTheContractWithEveryTeamSize) {
  using T = TypeParam;
  SvdFigures figures;
  int turn = 0;
  for (const auto& [m, n] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1},
                                                                               {2, 2},
                                                                               {3, 3},
                                                                               {4, 3},
                                                                               {3, 4},
                                                                               {15, 3},
                                                                               {3, 15},
                                                                               {8, 8},
                                                                               {9, 9},
                                                                               {20, 11},
                                                                               {11, 20},
                                                                               {24, 24}}) {
    // Time: a team barrier is slow where there are more threads than cores.
    const Family<T> family = every(m * n > 40 ? 5 : 1, families<T>(m, n, 31));
    std::vector<std::vector<long double>> sigma;
    for (std::int64_t b = 0; b < family.matrices.batch; ++b)
      sigma.push_back(reference_values(family.matrices, b));
    std::vector<SvdResult<T>> thin;
    for (const TeamShape& team : team_shapes())
      for (const Vectors left : {Vectors::thin, Vectors::full, Vectors::none})
        for (const Vectors right : {Vectors::thin, Vectors::full, Vectors::none}) {
          if (left != right && m * n > 12) continue; // time
          if (left != Vectors::thin && m * n > 50) continue;
          if (team.size == 1 && m * n > 200) continue;
          SvdJob job = SvdJob::of(left, right, turn++ % 2 ? Layout::right : Layout::padded_cols);
          const SvdResult<T> r = run_team_svd(family.matrices, job, team, 5);
          EXPECT_TRUE(r.guards_intact && r.a_untouched) << job.describe(r.u.batch, m, n);
          for (std::int64_t b = 0; b < family.matrices.batch; ++b) {
            const auto i = static_cast<std::size_t>(b);
            expect_contract(family.matrices, job, r, b, sigma[i],
                            family.names[i] + " by teams of " + std::to_string(team.size), figures);
          }
          if (left == Vectors::thin && right == Vectors::thin) thin.push_back(r);
        }
    if (!on_host) continue;
    // A CPU's results do not depend on the number of threads.
    for (const SvdResult<T>& r : thin)
      for (std::int64_t b = 0; b < r.u.batch; ++b)
        EXPECT_TRUE(r.same_matrix(b, thin[0], b))
            << family.names[static_cast<std::size_t>(b)] << ", " << m << " x " << n;
  }
  figures.print(scalar_name<T>() + std::string(": team::svd"));
}

TYPED_TEST(Team, SvdTruncatesFixesSignsAndReportsNan) {
  using T = TypeParam;
  SvdFigures figures;
  for (const auto& [m, n] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{6, 6}, {15, 3}, {3, 15}, {12, 7}}) {
    Random random(seed());
    HostBatch<T> a = random_batch<T>(random, 9, m, n);
    a(4, m - 1, n - 1) = poison<T>();
    for (const TeamShape& team : team_shapes()) {
      SvdJob job = SvdJob::thin();
      job.rank = 2;
      job.options.fix_signs = true;
      const SvdResult<T> r = run_team_svd(a, job, team, 4);
      for (std::int64_t b = 0; b < a.batch; ++b) {
        if (b == 4) {
          EXPECT_LT(r.info[4], 0);
          EXPECT_NE(r.info[4], poison<int>());
          EXPECT_TRUE(r.u.all_nan(4) && r.s.all_nan(4) && r.vt.all_nan(4));
        } else {
          expect_contract(a, job, r, b, reference_values(a, b), "random", figures);
        }
      }
    }
  }
}

/// U diag(S) Vt put together again in the same kernel is A.
template <class T>
struct RoundTrip {
  SvdKernel<T> svd;
  Batch<T> again;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int i = member.league_rank();
    void* const scratch = member.team_scratch(1).get_shmem_aligned(svd.bytes, 16);
    const auto u = Kokkos::subview(svd.u, i, Kokkos::ALL, Kokkos::ALL);
    const auto vt = Kokkos::subview(svd.vt, i, Kokkos::ALL, Kokkos::ALL);
    const auto s = Kokkos::subview(svd.s, i, Kokkos::ALL);
    svd.info(i) = team::svd(member, Kokkos::subview(svd.a, i, Kokkos::ALL, Kokkos::ALL), u, s, vt,
                            scratch, svd.options);
    member.team_barrier();
    const int n = static_cast<int>(u.extent(1));
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, n), [&](int k) {
      Kokkos::single(Kokkos::PerThread(member), [&] {
        for (int j = 0; j < n; ++j) u(j, k) = T(u(j, k) * s(k));
      });
    });
    member.team_barrier();
    team::gemm(member, Op::none, Op::none, T(1), u, vt, T(0),
               Kokkos::subview(again, i, Kokkos::ALL, Kokkos::ALL));
  }
};

TYPED_TEST(Team, SvdThenGemmGivesTheMatrixAgain) {
  using T = TypeParam;
  Random random(seed());
  const Exec exec = wide_instance<Exec>();
  constexpr std::int64_t n = 10, batch = 25;
  const HostBatch<T> x = random_batch<T>(random, batch, n, n);
  for (const TeamShape& team : team_shapes()) {
    const DeviceBatch<T> a(Layout::right, x);
    DeviceBatch<T> u(Layout::right, batch, n, n), vt(Layout::right, batch, n, n),
        again(Layout::right, batch, n, n);
    DeviceBatch<Real<T>> s(Layout::right, batch, n, 1);
    DeviceBatch<int> info(Layout::right, batch, 1, 1);
    for (auto* o : {&u, &vt, &again}) o->fill(poison<T>());
    s.fill(poison<Real<T>>());
    info.fill(poison<int>());
    const std::size_t bytes = team::svd_scratch_bytes<T>(n, n);
    Policy policy(exec, batch, team.size, team.vector);
    policy.set_scratch_size(1, Kokkos::PerTeam(static_cast<int>(bytes) + 32));
    Kokkos::parallel_for(
        "test", policy,
        RoundTrip<T>{
            {a.strided(), u.strided(), vt.strided(), s.vectors(), info.entries(), {}, bytes, {}},
            again.strided()});
    exec.fence();
    const HostBatch<T> y = again.get();
    for (std::size_t i = 0; i < x.values.size(); ++i)
      ASSERT_LE(magnitude(widen(x.values[i]) - widen(y.values[i])), 100 * n * unit_roundoff<T>)
          << "team " << team.size;
  }
}

} // namespace
} // namespace shoal::test
