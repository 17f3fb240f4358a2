// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "src/svd/block_jacobi.hpp"
#include "src/svd/group_lanes.hpp"

#include "tests/support/layouts.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/residuals.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/thread_group.hpp"

#include <shoal/detail/batch_ref.hpp>
#include <shoal/team/svd.hpp>

#include <barrier>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

/// \file
/// The SVD by a team of warps, with block Jacobi, on a CPU; see tests/support/thread_group.hpp.
namespace shoal::test {
namespace {

using Group = ThreadGroup<warp_lanes>;

/// A crew whose workers are warps; see team/crew.hpp.
struct WarpCrew : detail::GroupLanes<Group> {
  using Offset = std::int64_t;
  int worker, workers;
  std::barrier<>& all;

  WarpCrew(int its_worker, int its_workers, std::barrier<>& its_barrier)
      : GroupLanes(its_worker), worker(its_worker), workers(its_workers), all(its_barrier) {}

  template <class F>
  void for_columns(int begin, int end, const F& f) const {
    for (int j = begin + worker; j < end; j += workers) f(j);
  }
  template <class F>
  void for_column_blocks(int begin, int end, const F& f) const {
    team::detail::for_own_blocks<Columns::most>(begin, end, worker, workers, f);
  }
  template <class F>
  void for_all(int begin, int end, const F& f) const {
    for (int i = begin + worker * warp_lanes + this_lane; i < end; i += workers * warp_lanes) f(i);
    Group::sync();
  }
  template <class F>
  void once(const F& f) const {
    if (worker == 0 && this_lane == 0) f();
    Group::sync();
  }
  void barrier() const { all.arrive_and_wait(); }
  int rank() const { return worker; }
};

template <class T>
struct Result {
  HostBatch<T> u, vt;
  HostBatch<Real<T>> s;
  int info = -7;
};

/// One matrix by `warps` warps. Width 0: Jacobi pair by pair.
template <int Width, int Rows, class T>
Result<T> decompose(const HostBatch<T>& a, int warps, lane::SignRule signs, bool full) {
  const std::int64_t m = a.rows, n = a.cols, u_cols = full ? m : n;
  Result<T> r{HostBatch<T>(1, m, u_cols, poison<T>()), HostBatch<T>(1, n, n, poison<T>()),
              HostBatch<Real<T>>(1, n, 1, poison<Real<T>>())};
  struct alignas(64) Line {
    char bytes[64];
  };
  const auto lines = [](std::size_t bytes) {
    return std::vector<Line>(bytes / sizeof(Line) + 1, Line{{0x7f}});
  };
  const auto size = team::detail::svd_work_size(m, n, sizeof(T), sizeof(Real<T>), true);
  auto memory = lines(size.total());
  auto own = lines(static_cast<std::size_t>(warps) *
                   detail::block_jacobi_bytes(Width, sizeof(T), sizeof(Real<T>)));
  std::barrier<> all(warps * warp_lanes);
  run_warps(warps, [&](int warp, int lane) {
    using Svd = team::detail::Svd<T, WarpCrew>;
    const WarpCrew crew(warp, warps, all);
    Svd svd(crew, static_cast<int>(m), static_cast<int>(n), true,
            team::detail::SvdWork(size, memory.front().bytes));
    const auto run = [&](const auto&... jacobi) {
      return svd.decompose([&](int i, int j) { return a(0, i, j); },
                           detail::MatrixRef<T>{r.u.values.data(), m, u_cols, u_cols, 1},
                           [&](int k) -> auto& { return r.s(0, k, 0); },
                           detail::MatrixRef<T>{r.vt.values.data(), n, n, n, 1},
                           static_cast<int>(u_cols), static_cast<int>(n), static_cast<int>(n),
                           {true, signs, 0, 30}, [](auto...) {}, jacobi...);
    };
    int info = 0;
    if constexpr (Width == 0) {
      info = run();
    } else {
      info = run([&](const typename Svd::Problem& problem, int max_sweeps, bool& converged) {
        return detail::BlockJacobi<typename Svd::V, WarpCrew, Group, Width, Rows>(crew, problem,
                                                                                  own.front().bytes)
            .run(max_sweeps, converged);
      });
    }
    if (warp == 0 && lane == 0) r.info = info;
  });
  return r;
}

template <class T, int Width, int Rows>
void check(std::int64_t m, std::int64_t n, int warps, bool full = false,
           lane::SignRule signs = lane::SignRule::none) {
  const std::string what =
      std::to_string(m) + " x " + std::to_string(n) + " by " + std::to_string(warps) + " warps";
  Random random(seed());
  HostBatch<T> a = random_batch<T>(random, 1, m, n);
  for (const char* kind : {"random", "rank 1", "NaN"}) {
    if (kind == std::string("rank 1"))
      for (T& x : a.values) x = T(1);
    if (kind == std::string("NaN")) a(0, m - 1, n - 1) = poison<T>();
    const Result<T> r = decompose<Width, Rows>(a, warps, signs, full);
    if (kind == std::string("NaN")) {
      EXPECT_EQ(r.info, -1) << what;
      continue;
    }
    EXPECT_EQ(r.info, 0) << what << ", " << kind;
    HostBatch<T> thin(1, m, n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t k = 0; k < n; ++k) thin(0, i, k) = r.u(0, i, k);
    EXPECT_LE(residual<T>(a, thin, r.s, r.vt, 0), contract_limit) << what << ", " << kind;
    EXPECT_LE(column_orthogonality<T>(r.u, 0, m, n), contract_limit) << what << ", " << kind;
    EXPECT_LE(row_orthogonality<T>(r.vt, 0, m, n), contract_limit) << what << ", " << kind;
  }
}

TEST(BlockSvd, PairByPair) {
  check<double, 0, 0>(12, 9, 1);
  check<Kokkos::complex<float>, 0, 0>(7, 7, 2, false, lane::SignRule::left);
  check<double, 0, 0>(11, 6, 2, true);
}

TEST(BlockSvd, BlocksInRegisters) {
  check<float, 4, 1>(20, 17, 2);
  check<double, 4, 2>(36, 35, 3, false, lane::SignRule::right);
  check<Kokkos::complex<double>, 2, 1>(9, 9, 2);
}

} // namespace
} // namespace shoal::test
