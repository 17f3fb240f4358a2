// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TEAM_VECTOR_HPP
#define SHOAL_TEAM_VECTOR_HPP

#include <shoal/detail/scalar.hpp>

#include <Kokkos_Core.hpp>

/// \file
/// Sums and maxima over the vector lanes of one team thread, with the result in every lane.

template <class R>
struct Kokkos::reduction_identity<shoal::detail::Complex<R>> {
  KOKKOS_FUNCTION static shoal::detail::Complex<R> sum() { return {R(0), R(0)}; }
};

namespace shoal::team::detail {

using namespace shoal::detail;

template <class Member>
inline constexpr bool is_host_member =
    Kokkos::SpaceAccessibility<typename Member::execution_space, Kokkos::HostSpace>::accessible;

/// f(begin) + ... + f(end - 1). A CPU sums in eight independent chains, because the compiler may
/// not reorder floating-point sums into vector registers by itself; a GPU sums by shuffles. Either
/// order depends on the length alone.
template <class V, class Member, class F>
KOKKOS_FUNCTION V vector_sum(const Member& member, int begin, int end, const F& f) {
  if constexpr (is_host_member<Member>) {
    constexpr int chains = 8;
    V sum[chains];
    for (int c = 0; c < chains; ++c) sum[c] = V(real_t<V>(0));
    int i = begin;
    for (; i + chains <= end; i += chains)
      for (int c = 0; c < chains; ++c) sum[c] += f(i + c);
    for (int c = 0; i < end; ++i, ++c) sum[c] += f(i);
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
  } else {
    V sum(real_t<V>(0));
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, begin, end), [&](int i, V& partial) { partial += f(i); },
        sum);
    return sum;
  }
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

template <class R, class Member, class F>
KOKKOS_FUNCTION R vector_max(const Member& member, int begin, int end, const F& f) {
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

} // namespace shoal::team::detail

#endif
