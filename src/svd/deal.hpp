// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_DEAL_HPP
#define SHOAL_SRC_SVD_DEAL_HPP

#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>

#include <Kokkos_Core.hpp>

/// \file
/// What lanes of a group combine: one value, or several at once. For several the lanes exchange
/// halves of what they hold, so that each ends with the totals of its own few: about one exchange a
/// value instead of one for each doubling of the lanes.
namespace shoal::detail {

/// Values left to each lane when Count of them have been summed over Lanes lanes and dealt out by
/// halves; a count that is no longer even stays with all lanes that hold it.
template <int Count, int Lanes>
constexpr int dealt_values() {
  int held = Count;
  for (int distance = Lanes / 2; distance > 0; distance /= 2)
    if (held % 2 == 0) held /= 2;
  return held;
}
/// The first of the values that are left to lane `rank`.
template <int Count, int Lanes>
KOKKOS_FUNCTION int first_dealt_value(int rank) {
  int held = Count, first = 0;
  SHOAL_UNROLL
  for (int distance = Lanes / 2; distance > 0; distance /= 2) {
    if (held % 2 != 0) continue;
    held /= 2;
    if (rank & distance) first += held;
  }
  return first;
}

/// The first lane that value `i` is left to, for a power of two of values.
template <int Count, int Lanes>
KOKKOS_FUNCTION constexpr int first_holder(int i) {
  static_assert((Count & (Count - 1)) == 0);
  constexpr int held = dealt_values<Count, Lanes>(), holders = Count / held;
  return i / held * (Lanes / holders);
}

/// Whether lane `rank` is the first of those that the same values are left to.
template <int Count, int Lanes>
KOKKOS_FUNCTION bool is_first_holder(int rank) {
  int held = Count, shared = 0;
  SHOAL_UNROLL
  for (int distance = Lanes / 2; distance > 0; distance /= 2) {
    if (held % 2 == 0) held /= 2;
    else shared |= distance;
  }
  return (rank & shared) == 0;
}

/// Combines x[i] over all lanes of the group for each i, and leaves the results from
/// first_dealt_value on in x[0], x[1], ...: about one exchange a value instead of one for each
/// doubling of the lanes.
template <class Group, int Distance, int Count, class X, class Combine>
KOKKOS_FUNCTION void deal(X* x, const Combine& combine) {
  if constexpr (Distance > 0) {
    if constexpr (Count % 2 == 0) {
      constexpr int half = Count / 2;
      const bool upper = (Group::rank() & Distance) != 0;
      SHOAL_UNROLL
      for (int i = 0; i < half; ++i) {
        const X give = upper ? x[i] : x[i + half], keep = upper ? x[i + half] : x[i];
        x[i] = combine(keep, Group::exchanged(give, Distance));
      }
      deal<Group, Distance / 2, half>(x, combine);
    } else {
      SHOAL_UNROLL
      for (int i = 0; i < Count; ++i) x[i] = combine(x[i], Group::exchanged(x[i], Distance));
      deal<Group, Distance / 2, Count>(x, combine);
    }
  }
}
template <class Group, int Count, class X, class Combine>
KOKKOS_FUNCTION void deal(X (&x)[Count], const Combine& combine) {
  deal<Group, Group::lanes / 2, Count>(&x[0], combine);
}
struct Sum {
  template <class X>
  KOKKOS_FUNCTION X operator()(const X& a, const X& b) const {
    return a + b;
  }
};
struct Maximum {
  template <class X>
  KOKKOS_FUNCTION X operator()(const X& a, const X& b) const {
    return maximum(a, b);
  }
};

/// x of all lanes combined, in each of them.
template <class Group, class X, class Combine>
KOKKOS_FUNCTION X over_lanes(X x, const Combine& combine) {
  SHOAL_UNROLL
  for (int distance = Group::lanes / 2; distance > 0; distance /= 2)
    x = combine(x, Group::exchanged(x, distance));
  return x;
}

/// A candidate for the largest of some keys, the first of those that are equal.
template <class Key>
struct Candidate {
  Key key;
  int index;

  KOKKOS_FUNCTION friend Candidate better(const Candidate& a, const Candidate& b) {
    return a.key > b.key || (a.key == b.key && a.index <= b.index) ? a : b;
  }
  template <class Group>
  KOKKOS_FUNCTION Candidate of_lane(int distance) const {
    return {Group::exchanged(key, distance), Group::exchanged(index, distance)};
  }
};

/// The index of the best candidate of all lanes, in each of them; it may differ where keys are NaN.
template <class Group, class Key>
KOKKOS_FUNCTION int best_over_lanes(Candidate<Key> best) {
  SHOAL_UNROLL
  for (int distance = Group::lanes / 2; distance > 0; distance /= 2)
    best = better(best, best.template of_lane<Group>(distance));
  return best.index;
}

} // namespace shoal::detail

#endif
