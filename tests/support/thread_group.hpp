// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_THREAD_GROUP_HPP
#define SHOAL_TESTS_SUPPORT_THREAD_GROUP_HPP

#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

/// \file
/// Code for the lanes of a GPU's warps, on a CPU: each lane is a thread, which waits where lanes
/// exchange. A lane that leaves out an exchange that others make, or makes one more, breaks the
/// count of exchanges; a missing sync shows as a wrong result or to a thread sanitizer.
namespace shoal::test {

inline constexpr int warp_lanes = 32;

struct Warp {
  std::barrier<> barrier{warp_lanes};
  std::array<std::array<char, 32>, warp_lanes> slot{};
  std::array<std::atomic<bool>, warp_lanes> flag{};
};
inline thread_local Warp* this_warp = nullptr;
inline thread_local int this_lane = 0;

/// A Group of detail/backend_traits.hpp.
template <int Lanes>
struct ThreadGroup {
  static constexpr int lanes = Lanes;
  template <class>
  static constexpr std::size_t register_bytes = 600; // J of 40 columns is in scratch

  static int rank() { return this_lane % Lanes; }
  static void sync() { this_warp->barrier.arrive_and_wait(); }
  template <class X>
  static X exchanged(const X& x, int distance) {
    return of_lane(x, this_lane ^ distance);
  }
  template <class X>
  static X from(const X& x, int lane) {
    return of_lane(x, this_lane / Lanes * Lanes + lane);
  }
  static bool any_of_warp(bool x) { return any_between(x, 0, warp_lanes); }
  static bool any(bool x) {
    const int first = this_lane / Lanes * Lanes;
    return any_between(x, first, first + Lanes);
  }

private:
  template <class X>
  static X of_lane(const X& x, int lane) {
    const auto at = [](int i) { return this_warp->slot[static_cast<std::size_t>(i)].data(); };
    std::memcpy(at(this_lane), &x, sizeof(X));
    sync();
    X y = x;
    std::memcpy(static_cast<void*>(&y), at(lane), sizeof(X));
    sync();
    return y;
  }
  static bool any_between(bool x, int from, int to) {
    this_warp->flag[static_cast<std::size_t>(this_lane)] = x;
    sync();
    bool any = false;
    for (int i = from; i < to; ++i) any = any || this_warp->flag[static_cast<std::size_t>(i)];
    sync();
    return any;
  }
};

/// f(warp, lane) by all lanes of some warps.
template <class F>
void run_warps(int count, const F& f) {
  std::vector<std::unique_ptr<Warp>> warps;
  for (int w = 0; w < count; ++w) warps.push_back(std::make_unique<Warp>());
  std::vector<std::thread> threads;
  for (int w = 0; w < count; ++w)
    for (int lane = 0; lane < warp_lanes; ++lane)
      threads.emplace_back([&, w, lane] {
        this_warp = warps[static_cast<std::size_t>(w)].get();
        this_lane = lane;
        f(w, lane);
      });
  for (std::thread& thread : threads) thread.join();
}

} // namespace shoal::test

#endif
