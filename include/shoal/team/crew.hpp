// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TEAM_CREW_HPP
#define SHOAL_TEAM_CREW_HPP

#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

/// \file
/// Who works on one matrix: a whole team, or one thread.
/// The algorithms are written for columns that are spread over workers and rows that one worker
/// walks through, alone or with its vector lanes; a crew says what that means. Each offers
///  - for_columns(begin, end, f): f(j), the columns spread over the workers;
///  - for_rows(begin, end, f), sum, max, argmax: inside f, over the rows of one column;
///  - for_all, sum_together, argmax_together: outside of for_columns, over all workers at once,
///  with
///    the result in each;
///  - once(f) outside and once_a_column(f) inside of for_columns;
///  - barrier(): all that the workers have written is seen by all of them after it.

template <class R>
struct Kokkos::reduction_identity<shoal::detail::Complex<R>> {
  KOKKOS_FUNCTION static shoal::detail::Complex<R> sum() { return {R(0), R(0)}; }
};

namespace shoal::team::detail {

using namespace shoal::detail;

/// f(begin) + ... + f(end - 1) in eight independent chains, because a compiler may not reorder
/// floating-point sums into vector registers by itself.
template <class V, class F>
KOKKOS_FUNCTION V sum_in_chains(int begin, int end, const F& f) {
  constexpr int chains = 8;
  V sum[chains];
  for (int c = 0; c < chains; ++c) sum[c] = V(real_t<V>(0));
  int i = begin;
  for (; i + chains <= end; i += chains)
    for (int c = 0; c < chains; ++c) sum[c] += f(i + c);
  for (int c = 0; i < end; ++i, ++c) sum[c] += f(i);
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

/// The same over the vector lanes of one thread. The lanes of a GPU sum by shuffles; either order
/// depends on the length alone.
template <class V, class Member, class F>
KOKKOS_FUNCTION V vector_sum(const Member& member, int begin, int end, const F& f) {
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<typename Member::execution_space, Kokkos::HostSpace>::accessible;
  if constexpr (on_host) {
    return sum_in_chains<V>(begin, end, f);
  } else {
    V sum(real_t<V>(0));
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, begin, end), [&](int i, V& partial) { partial += f(i); },
        sum);
    return sum;
  }
}

/// The largest of 0 and f(begin), ..., f(end - 1), by one worker.
template <class R, class F>
KOKKOS_FUNCTION R serial_max(int begin, int end, const F& f) {
  R largest(0);
  for (int i = begin; i < end; ++i) {
    const R x = f(i);
    if (x > largest) largest = x;
  }
  return largest;
}

/// The first index of the largest of key(begin), ..., key(end - 1), by one worker; begin < end.
template <class Key, class F>
KOKKOS_FUNCTION int serial_argmax(int begin, int end, const F& key) {
  int best = begin;
  Key largest = key(begin);
  for (int i = begin + 1; i < end; ++i) {
    const Key x = key(i);
    if (x > largest) {
      largest = x;
      best = i;
    }
  }
  return best;
}

/// The largest of key(begin), ..., key(end - 1), and the first index that has it; begin < end.
template <class Key, class Member, class F>
KOKKOS_FUNCTION int vector_argmax(const Member& member, int begin, int end, const F& key) {
  Key largest;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(member, begin, end),
      [&](int i, Key& k) {
        const Key x = key(i);
        if (x > k) k = x;
      },
      Kokkos::Max<Key>(largest));
  int first;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(member, begin, end),
      [&](int i, int& f) {
        if (key(i) == largest && i < f) f = i;
      },
      Kokkos::Min<int>(first));
  // No key equals the largest where keys are NaN; any index will do then.
  return first < end ? first : begin;
}

/// All threads of a team: columns over threads, rows over their vector lanes.
template <class Member>
struct TeamCrew {
  using Offset = std::int64_t; ///< of an entry of the working set, which may be any large

  const Member& member;

  template <class F>
  KOKKOS_FUNCTION void for_columns(int begin, int end, const F& f) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin, end), f);
  }
  template <class F>
  KOKKOS_FUNCTION void for_rows(int begin, int end, const F& f) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, begin, end), f);
  }
  template <class F>
  KOKKOS_FUNCTION void for_all(int begin, int end, const F& f) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, begin, end), f);
  }
  template <class F>
  KOKKOS_FUNCTION void once(const F& f) const {
    Kokkos::single(Kokkos::PerTeam(member), f);
  }
  template <class F>
  KOKKOS_FUNCTION void once_a_column(const F& f) const {
    Kokkos::single(Kokkos::PerThread(member), f);
  }
  KOKKOS_FUNCTION void barrier() const { member.team_barrier(); }
  KOKKOS_FUNCTION int rank() const { return member.team_rank(); }

  template <class V, class F>
  KOKKOS_FUNCTION V sum(int begin, int end, const F& f) const {
    return vector_sum<V>(member, begin, end, f);
  }
  template <class V, class F>
  KOKKOS_FUNCTION V sum_together(int begin, int end, const F& f) const {
    return vector_sum<V>(member, begin, end, f); // every thread for itself: no barrier
  }
  template <class R, class F>
  KOKKOS_FUNCTION R max(int begin, int end, const F& f) const {
    R largest;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, begin, end),
        [&](int i, R& k) {
          const R x = f(i);
          if (x > k) k = x;
        },
        Kokkos::Max<R>(largest));
    return begin < end ? largest : R(0);
  }
  template <class Key, class F>
  KOKKOS_FUNCTION int argmax(int begin, int end, const F& key) const {
    return vector_argmax<Key>(member, begin, end, key);
  }
  template <class Key, class F>
  KOKKOS_FUNCTION int argmax_together(int begin, int end, const F& key) const {
    return vector_argmax<Key>(member, begin, end, key);
  }
};

/// One thread alone.
struct LoneCrew {
  using Offset = std::int64_t;

  template <class F>
  KOKKOS_FUNCTION void for_columns(int begin, int end, const F& f) const {
    for (int i = begin; i < end; ++i) f(i);
  }
  template <class F>
  KOKKOS_FUNCTION void for_rows(int begin, int end, const F& f) const {
    for_columns(begin, end, f);
  }
  template <class F>
  KOKKOS_FUNCTION void for_all(int begin, int end, const F& f) const {
    for_columns(begin, end, f);
  }
  template <class F>
  KOKKOS_FUNCTION void once(const F& f) const {
    f();
  }
  template <class F>
  KOKKOS_FUNCTION void once_a_column(const F& f) const {
    f();
  }
  KOKKOS_FUNCTION void barrier() const {}

  template <class V, class F>
  KOKKOS_FUNCTION V sum(int begin, int end, const F& f) const {
    return sum_in_chains<V>(begin, end, f);
  }
  template <class V, class F>
  KOKKOS_FUNCTION V sum_together(int begin, int end, const F& f) const {
    return sum_in_chains<V>(begin, end, f);
  }
  template <class R, class F>
  KOKKOS_FUNCTION R max(int begin, int end, const F& f) const {
    return serial_max<R>(begin, end, f);
  }
  template <class Key, class F>
  KOKKOS_FUNCTION int argmax(int begin, int end, const F& key) const {
    return serial_argmax<Key>(begin, end, key);
  }
  template <class Key, class F>
  KOKKOS_FUNCTION int argmax_together(int begin, int end, const F& key) const {
    return argmax<Key>(begin, end, key);
  }
};

} // namespace shoal::team::detail

#endif
