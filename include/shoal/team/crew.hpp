// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TEAM_CREW_HPP
#define SHOAL_TEAM_CREW_HPP

#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

/// \file
/// Who works on one matrix: a whole team, or one thread.
/// The algorithms are written for columns that are spread over workers and rows that one worker
/// walks through, alone or with its vector lanes; a crew says what that means. Each offers
///  - for_columns(begin, end, f): f(j), the columns spread over the workers;
///  - for_rows(begin, end, f), sum, max, argmax: inside f, over the rows of one column, where
///    f(i, sum) adds to a sum; outside,
///    every worker does the same by itself;
///  - for_all(begin, end, f): outside of for_columns, f(i), spread over everybody;
///  - sync(): the lanes of a worker wait for each other, as they do after for_rows and in sums;
///  - once(f) outside and once_a_column(f) inside of for_columns;
///  - barrier(): all that the workers have written is seen by all of them after it.

template <class R>
struct Kokkos::reduction_identity<shoal::detail::Complex<R>> {
  KOKKOS_FUNCTION static shoal::detail::Complex<R> sum() { return {R(0), R(0)}; }
};

namespace shoal::team::detail {

using namespace shoal::detail;

/// The sum to which f(begin, sum), ..., f(end - 1, sum) add, in eight independent chains, because a
/// compiler may not reorder floating-point sums into vector registers by itself.
template <class V, class F>
KOKKOS_FUNCTION V sum_in_chains(int begin, int end, const F& f) {
  constexpr int chains = 8;
  V sum[chains];
  for (int c = 0; c < chains; ++c) sum[c] = V(real_t<V>(0));
  int i = begin;
  for (; i + chains <= end; i += chains)
    for (int c = 0; c < chains; ++c) f(i + c, sum[c]);
  for (int c = 0; i < end; ++i, ++c) f(i, sum[c]);
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
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

/// Some columns that one worker works on together: number c of them, c < count, is column(c). From
/// count on it is the first again, so that unrolled code may read `most` of them.
template <int Most>
struct ColumnBlock {
  static constexpr int most = Most;
  int first, stride, count;
  KOKKOS_FUNCTION int column(int c) const { return first + (c < count ? c : 0) * stride; }
};

/// f(0), ..., f(Most - 1), unrolled.
template <int Most, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_most(const F& f) {
  SHOAL_UNROLL
  for (int c = 0; c < Most; ++c) f(c);
}
/// f(c) for the columns of a block, unrolled.
template <int Most, class F>
KOKKOS_FORCEINLINE_FUNCTION void for_each(const ColumnBlock<Most>& columns, const F& f) {
  for_most<Most>([&](int c) {
    if (c < columns.count) f(c);
  });
}

/// f(block) for those of the columns [begin, end) that belong to worker `rank` of `workers`: column
/// j is that of worker j % workers, whatever begin and end are.
template <int Most, class F>
KOKKOS_FUNCTION void for_own_blocks(int begin, int end, int rank, int workers, const F& f) {
  const int skipped = (rank - begin % workers + workers) % workers;
  for (int first = begin + skipped; first < end; first += Most * workers) {
    const int left = (end - first + workers - 1) / workers;
    f(ColumnBlock<Most>{first, workers, left < Most ? left : Most});
  }
}

/// The lanes of a worker that has none.
struct NoLanes {
  /// One: compilers round alike only where the code is the same, and a CPU's results do not depend
  /// on the number of workers.
  using Columns = ColumnBlock<1>;

  NoLanes() = default;
  template <class Member>
  KOKKOS_FUNCTION explicit NoLanes(const Member&) {}

  template <class F>
  KOKKOS_FUNCTION void for_rows(int begin, int end, const F& f) const {
    for (int i = begin; i < end; ++i) f(i);
  }
  template <class F>
  KOKKOS_FUNCTION void once_a_column(const F& f) const {
    f();
  }
  KOKKOS_FUNCTION void sync() const {}
  template <class V, class F>
  KOKKOS_FUNCTION V sum(int begin, int end, const F& f) const {
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
  template <class V, class F>
  KOKKOS_FUNCTION void sums(int begin, int end, const Columns&, V (&x)[1], const F& f) const {
    x[0] = sum_in_chains<V>(begin, end, [&](int i, V& sum) { f(0, i, sum); });
  }
  template <class F>
  KOKKOS_FUNCTION void for_entries(int begin, int end, const Columns&, const F& f) const {
    for (int i = begin; i < end; ++i) f(0, i);
  }
};

/// Several values that are summed over lanes at once.
template <class V, int Count>
struct ColumnSums {
  V x[Count];
  KOKKOS_FUNCTION ColumnSums() {
    for (auto& value : x) value = V(real_t<V>(0));
  }
  KOKKOS_FUNCTION ColumnSums& operator+=(const ColumnSums& other) {
    for (int c = 0; c < Count; ++c) x[c] += other.x[c];
    return *this;
  }
};

/// The vector lanes of a thread of any Kokkos team.
template <class Member>
class VectorLanes {
public:
  using Columns = ColumnBlock<4>;

  KOKKOS_FUNCTION explicit VectorLanes(const Member& member) : m_member(member) {}

  template <class F>
  KOKKOS_FUNCTION void for_rows(int begin, int end, const F& f) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(m_member, begin, end), f);
  }
  template <class F>
  KOKKOS_FUNCTION void once_a_column(const F& f) const {
    Kokkos::single(Kokkos::PerThread(m_member), f);
  }
  KOKKOS_FUNCTION void sync() const {
    once_a_column([] {});
  }
  template <class V, class F>
  KOKKOS_FUNCTION V sum(int begin, int end, const F& f) const {
    V sum(real_t<V>(0));
    Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(m_member, begin, end), f, sum);
    return sum;
  }
  template <class R, class F>
  KOKKOS_FUNCTION R max(int begin, int end, const F& f) const {
    R largest;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(m_member, begin, end),
        [&](int i, R& k) {
          const R x = f(i);
          if (x > k) k = x;
        },
        Kokkos::Max<R>(largest));
    return begin < end ? largest : R(0);
  }
  template <class Key, class F>
  KOKKOS_FUNCTION int argmax(int begin, int end, const F& key) const {
    Key largest;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(m_member, begin, end),
        [&](int i, Key& k) {
          const Key x = key(i);
          if (x > k) k = x;
        },
        Kokkos::Max<Key>(largest));
    int first;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(m_member, begin, end),
        [&](int i, int& f) {
          if (key(i) == largest && i < f) f = i;
        },
        Kokkos::Min<int>(first));
    // No key equals the largest where keys are NaN; any index will do then.
    return first < end ? first : begin;
  }
  template <class V, class F>
  KOKKOS_FUNCTION void sums(int begin, int end, const Columns& columns, V (&x)[Columns::most],
                            const F& f) const {
    ColumnSums<V, Columns::most> total;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(m_member, begin, end),
        [&](int i, ColumnSums<V, Columns::most>& partial) {
          for_each(columns, [&](int c) { f(c, i, partial.x[c]); });
        },
        total);
    for_most<Columns::most>([&](int c) { x[c] = total.x[c]; });
  }
  template <class F>
  KOKKOS_FUNCTION void for_entries(int begin, int end, const Columns& columns, const F& f) const {
    for_rows(begin, end, [&](int i) { for_each(columns, [&](int c) { f(c, i); }); });
  }

private:
  const Member& m_member;
};

template <class Member>
using lanes_of = std::conditional_t<
    Kokkos::SpaceAccessibility<typename Member::execution_space, Kokkos::HostSpace>::accessible,
    NoLanes, VectorLanes<Member>>;

/// All threads of a team: columns over threads, rows over their vector lanes.
template <class Member, class Lanes = lanes_of<Member>>
struct TeamCrew : Lanes {
  using Offset = std::int64_t; ///< of an entry of the working set, which may be any large

  const Member& member;

  KOKKOS_FUNCTION explicit TeamCrew(const Member& its_member)
      : Lanes(its_member), member(its_member) {}

  template <class F>
  KOKKOS_FUNCTION void for_columns(int begin, int end, const F& f) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin, end), f);
  }
  template <class F>
  KOKKOS_FUNCTION void for_column_blocks(int begin, int end, const F& f) const {
    for_own_blocks<Lanes::Columns::most>(begin, end, member.team_rank(), member.team_size(), f);
  }
  template <class F>
  KOKKOS_FUNCTION void for_all(int begin, int end, const F& f) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, begin, end), f);
  }
  template <class F>
  KOKKOS_FUNCTION void once(const F& f) const {
    Kokkos::single(Kokkos::PerTeam(member), f);
  }
  KOKKOS_FUNCTION void barrier() const { member.team_barrier(); }
  KOKKOS_FUNCTION int rank() const { return member.team_rank(); }
};

/// One thread alone.
struct LoneCrew : NoLanes {
  using Offset = std::int64_t;

  template <class F>
  KOKKOS_FUNCTION void for_columns(int begin, int end, const F& f) const {
    for_rows(begin, end, f);
  }
  template <class F>
  KOKKOS_FUNCTION void for_column_blocks(int begin, int end, const F& f) const {
    for_own_blocks<Columns::most>(begin, end, 0, 1, f);
  }
  template <class F>
  KOKKOS_FUNCTION void for_all(int begin, int end, const F& f) const {
    for_rows(begin, end, f);
  }
  template <class F>
  KOKKOS_FUNCTION void once(const F& f) const {
    f();
  }
  KOKKOS_FUNCTION void barrier() const {}
};

} // namespace shoal::team::detail

#endif
