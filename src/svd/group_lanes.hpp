// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_GROUP_LANES_HPP
#define SHOAL_SRC_SVD_GROUP_LANES_HPP

#include "src/svd/deal.hpp"

#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>
#include <shoal/team/crew.hpp>

#include <Kokkos_Core.hpp>

namespace shoal::detail {

/// The vector lanes of a crew's workers where their number is known at compile time: see
/// team/crew.hpp. All lanes get the same results, bit by bit: they branch on them together.
/// \tparam Group  see detail/backend_traits.hpp
template <class Group>
struct GroupLanes {
  using Columns = team::detail::ColumnBlock<4>;

  template <class Member>
  KOKKOS_FUNCTION explicit GroupLanes(const Member&) {}

  template <class F>
  KOKKOS_FUNCTION void for_rows(int begin, int end, const F& f) const {
    for_own(begin, end, f);
    Group::sync();
  }
  template <class F>
  KOKKOS_FUNCTION void once_a_column(const F& f) const {
    if (Group::rank() == 0) f();
    Group::sync();
  }
  KOKKOS_FUNCTION void sync() const { Group::sync(); }
  template <class V, class F>
  KOKKOS_FUNCTION V sum(int begin, int end, const F& f) const {
    V total(real_t<V>(0));
    for_own(begin, end, [&](int i) { f(i, total); });
    return over_lanes<Group>(total, Sum());
  }
  template <class R, class F>
  KOKKOS_FUNCTION R max(int begin, int end, const F& f) const {
    R largest(0);
    for_own(begin, end, [&](int i) {
      const R x = f(i);
      if (x > largest) largest = x;
    });
    return Group::from(over_lanes<Group>(largest, Maximum()), 0);
  }
  template <class Key, class F>
  KOKKOS_FUNCTION int argmax(int begin, int end, const F& key) const {
    Candidate<Key> best{key(begin), begin};
    for_own(begin, end, [&](int i) { best = better(best, Candidate<Key>{key(i), i}); });
    return Group::from(best_over_lanes<Group>(best), 0);
  }
  template <class V, class F>
  KOKKOS_FUNCTION void sums(int begin, int end, const Columns& columns, V (&x)[Columns::most],
                            const F& f) const {
    constexpr int count = Columns::most;
    V part[count];
    team::detail::for_most<count>([&](int c) { part[c] = V(real_t<V>(0)); });
    for_own(begin, end, [&](int i) { for_each(columns, [&](int c) { f(c, i, part[c]); }); });
    deal<Group>(part, Sum());
    team::detail::for_most<count>([&](int c) {
      constexpr int held = dealt_values<count, Group::lanes>();
      x[c] = Group::from(part[c % held], first_holder<count, Group::lanes>(c));
    });
  }
  template <class F>
  KOKKOS_FUNCTION void for_entries(int begin, int end, const Columns& columns, const F& f) const {
    for_rows(begin, end, [&](int i) { for_each(columns, [&](int c) { f(c, i); }); });
  }

private:
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION static void for_own(int begin, int end, const F& f) {
    SHOAL_DO_NOT_UNROLL
    for (int i = begin + Group::rank(); i < end; i += Group::lanes) f(i);
  }
};

} // namespace shoal::detail

#endif
