// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "src/svd/group_svd.hpp"

#include "tests/support/layouts.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/residuals.hpp"
#include "tests/support/settings.hpp"

#include <array>
#include <atomic>
#include <barrier>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

/// \file
/// The group SVD with several lanes, on a CPU: each lane of a warp is a thread, which waits where
/// lanes exchange. A lane that leaves out an exchange that others make, or makes one more, breaks
/// the count of exchanges; a missing sync shows as a wrong result or to a thread sanitizer.
namespace shoal::test {
namespace {

constexpr int warp_lanes = 32;

struct Warp {
  std::barrier<> barrier{warp_lanes};
  std::array<std::array<char, 32>, warp_lanes> slot{};
  std::array<std::atomic<bool>, warp_lanes> flag{};
};
Warp the_warp;
thread_local int this_lane;

template <int Lanes>
struct ThreadGroup {
  static constexpr int lanes = Lanes;
  template <class>
  static constexpr std::size_t register_bytes = 600; // J of 40 columns is in scratch

  static int rank() { return this_lane % Lanes; }
  static void sync() { the_warp.barrier.arrive_and_wait(); }
  template <class X>
  static X exchanged(const X& x, int distance) {
    const auto at = [](int i) { return the_warp.slot[static_cast<std::size_t>(i)].data(); };
    std::memcpy(at(this_lane), &x, sizeof(X));
    sync();
    X y = x;
    std::memcpy(static_cast<void*>(&y), at(this_lane ^ distance), sizeof(X));
    sync();
    return y;
  }
  static bool any_of_warp(bool x) { return any_between(x, 0, warp_lanes); }
  static bool any(bool x) {
    const int first = this_lane / Lanes * Lanes;
    return any_between(x, first, first + Lanes);
  }
  static bool any_between(bool x, int from, int to) {
    the_warp.flag[static_cast<std::size_t>(this_lane)] = x;
    sync();
    bool any = false;
    for (int i = from; i < to; ++i) any = any || the_warp.flag[static_cast<std::size_t>(i)];
    sync();
    return any;
  }
};

template <class T>
struct Result {
  HostBatch<T> u, vt;
  HostBatch<Real<T>> s;
  std::vector<int> info, sweeps, rank;
  std::vector<Real<T>> off_norm;
};

template <class T>
detail::BatchRef<T> by_rows(T* data, std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  return {data, nullptr, batch, rows, cols, rows * cols, cols, 1};
}

/// The matrices of one warp; groups past them have none.
template <int Cols, int Lanes, class T>
Result<T> decompose(const HostBatch<T>& a, lane::SignRule signs, bool full, bool details = false,
                    int max_sweeps = 30) {
  const std::int64_t m = a.rows, n = a.cols, u_cols = full ? m : n;
  Result<T> r{HostBatch<T>(a.batch, m, u_cols, poison<T>()),
              HostBatch<T>(a.batch, n, n, poison<T>()),
              HostBatch<Real<T>>(a.batch, n, 1, poison<Real<T>>()),
              std::vector<int>(static_cast<std::size_t>(a.batch), -7),
              std::vector<int>(static_cast<std::size_t>(a.batch), -7),
              std::vector<int>(static_cast<std::size_t>(a.batch), -7),
              std::vector<Real<T>>(static_cast<std::size_t>(a.batch), poison<Real<T>>())};
  detail::SvdArguments<T> x;
  x.a = by_rows<const T>(a.values.data(), a.batch, m, n);
  x.u = by_rows(r.u.values.data(), a.batch, m, u_cols);
  x.s = by_rows(r.s.values.data(), a.batch, n, 1);
  x.vt = by_rows(r.vt.values.data(), a.batch, n, n);
  if (details) x.details = {{r.sweeps.data(), 1}, {r.off_norm.data(), 1}, {r.rank.data(), 1}};
  const detail::GroupSvdSize size(m, n, {Cols, Lanes}, sizeof(T), sizeof(Real<T>), u_cols > n);
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> scratch(size.total() * (warp_lanes / Lanes) / sizeof(Line) + 1);
  std::memset(static_cast<void*>(scratch.data()), 0x7f, scratch.size() * sizeof(Line));

  const auto work = [&](int lane) {
    this_lane = lane;
    const int group = lane / Lanes;
    char* const tile = scratch.front().bytes + static_cast<std::size_t>(group) * size.total();
    char* const square = tile + size.tile;
    detail::GroupSvd<T, ThreadGroup<Lanes>, Cols> svd(
        tile, square, square + size.square, static_cast<int>(m), static_cast<int>(n), true);
    const bool present = group < a.batch;
    const int info = svd.decompose(present, x, present ? group : 0,
                                   {true, signs, 0, max_sweeps, details, details});
    if (present && lane % Lanes == 0) r.info[static_cast<std::size_t>(group)] = info;
  };
  std::vector<std::thread> threads;
  for (int lane = 0; lane < warp_lanes; ++lane) threads.emplace_back(work, lane);
  for (std::thread& thread : threads) thread.join();
  return r;
}

template <class T>
void expect_contract(const HostBatch<T>& a, const Result<T>& r, std::int64_t b,
                     const std::string& what) {
  EXPECT_EQ(r.info[static_cast<std::size_t>(b)], 0) << what;
  HostBatch<T> thin(a.batch, a.rows, a.cols);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = 0; k < a.cols; ++k) thin(b, i, k) = r.u(b, i, k);
  EXPECT_LE(residual<T>(a, thin, r.s, r.vt, b), contract_limit) << what;
  EXPECT_LE(column_orthogonality<T>(r.u, b, a.rows, a.cols), contract_limit) << what;
  EXPECT_LE(row_orthogonality<T>(r.vt, b, a.rows, a.cols), contract_limit) << what;
}

/// Random matrices beside a zero one, one of rank 1, one with NaN, and groups without a matrix.
template <class T, int Cols, int Lanes>
void check(std::int64_t m, std::int64_t n, lane::SignRule signs = lane::SignRule::none,
           bool full = false) {
  constexpr std::int64_t groups = warp_lanes / Lanes;
  Random random(seed());
  HostBatch<T> a = random_batch<T>(random, groups > 4 ? groups - 1 : groups, m, n);
  const std::string what = std::to_string(m) + " x " + std::to_string(n) + " in " +
                           std::to_string(Cols) + " columns, " + std::to_string(Lanes) + " lanes";
  const Result<T> good = decompose<Cols, Lanes>(a, signs, full);
  for (std::int64_t b = 0; b < a.batch; ++b)
    expect_contract(a, good, b, what + ", matrix " + std::to_string(b));
  if (groups < 4) return;

  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      a(1, i, j) = T(0);
      a(2, i, j) = T(1);
    }
  a(3, m - 1, n - 1) = poison<T>();
  const Result<T> mixed = decompose<Cols, Lanes>(a, signs, full);
  EXPECT_EQ(mixed.info[3], -1) << what;
  expect_contract(a, mixed, 2, what + ", rank 1");
  EXPECT_LE(column_orthogonality<T>(mixed.u, 1, m, n), contract_limit) << what;
  for (std::int64_t b = 0; b < a.batch; ++b) {
    if (b >= 1 && b <= 3) continue;
    const auto same = [&](const auto& x, const auto& y) {
      const auto size = static_cast<std::size_t>(x.rows * x.cols);
      const auto from = static_cast<std::size_t>(b) * size;
      return std::memcmp(&x.values[from], &y.values[from], size * sizeof(x.values[0])) == 0;
    };
    EXPECT_TRUE(same(good.u, mixed.u) && same(good.s, mixed.s) && same(good.vt, mixed.vt))
        << what << ": matrix " << b << " depends on its neighbours";
  }
}

TEST(GroupSvd, GroupsOfAWarpGoInStep) {
  check<float, 8, 4>(2, 2);
  check<float, 8, 4>(15, 7);
  check<double, 12, 8>(12, 11);
  check<Kokkos::complex<float>, 16, 8>(16, 13);
}

TEST(GroupSvd, AMatrixOfAWholeWarp) {
  check<double, 8, 32>(40, 5);
  check<float, 40, 32>(40, 33); // J in scratch
}

/// The off-diagonal norm is that of the rows of V^H, also where the sweeps were too few, and asking
/// for it changes nothing.
template <class T, int Cols, int Lanes>
void check_details(std::int64_t m, std::int64_t n) {
  Random random(seed());
  const HostBatch<T> a = random_batch<T>(random, warp_lanes / Lanes, m, n);
  for (const int max_sweeps : {1, 30}) {
    const auto none = lane::SignRule::none;
    const Result<T> plain = decompose<Cols, Lanes>(a, none, false, false, max_sweeps),
                    r = decompose<Cols, Lanes>(a, none, false, true, max_sweeps);
    EXPECT_TRUE(r.s.same(plain.s));
    EXPECT_EQ(r.info, plain.info);
    for (std::int64_t b = 0; b < a.batch; ++b) {
      const auto at = static_cast<std::size_t>(b);
      EXPECT_EQ(r.rank[at], n);
      EXPECT_GE(r.sweeps[at], 1);
      if (r.info[at] > 0) {
        EXPECT_EQ(r.sweeps[at], r.info[at]);
      }
      long double largest = 0;
      for (std::int64_t p = 0; p < n; ++p)
        for (std::int64_t q = p + 1; q < n; ++q) {
          Wide<T> dot = 0;
          for (std::int64_t i = 0; i < n; ++i)
            dot += conjugate(widen(r.vt(b, p, i))) * widen(r.vt(b, q, i));
          largest = worse(largest, std::sqrt(abs_squared(dot)));
        }
      EXPECT_LE(std::fabs(r.off_norm[at] - largest), 0.02L * largest + 4 * contract_unit<T>(m, n))
          << max_sweeps << " sweeps";
    }
  }
}

TEST(GroupSvd, Details) {
  check_details<float, 8, 4>(15, 7);
  check_details<double, 12, 8>(11, 11);
  check_details<float, 40, 32>(40, 33); // J in scratch
}

TEST(GroupSvd, SignsAndCompletedVectors) {
  check<double, 8, 4>(9, 6, lane::SignRule::left);
  check<float, 40, 32>(36, 35, lane::SignRule::right);
  check<double, 12, 8>(23, 9, lane::SignRule::right, true);
}

} // namespace
} // namespace shoal::test
