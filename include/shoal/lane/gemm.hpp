// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_LANE_GEMM_HPP
#define SHOAL_LANE_GEMM_HPP

#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>
#include <shoal/lane/matrix.hpp>

/// \file
/// The product of one pair of matrices by one lane, in registers.
namespace shoal::lane {

/// C := alpha A B + beta C of one pair of matrices a lane, m, n, k <= MaxSize.
///
/// \tparam MaxSize  a compile-time bound, so that everything stays in registers
/// \param  a, b     entries by get(i, p), get(p, j): RegisterMatrix, or anything alike that applies
/// an op
/// \param  c        entries by get(i, j), not called where beta is 0
/// \param  store    receives the new entries by store(i, j, value)
/// Products are summed in the order of p. Accuracy as \ref shoal::gemm.
template <int MaxSize, class A, class B, class C, class V, class Store>
KOKKOS_FUNCTION void gemm(int m, int n, int k, const V& alpha, const A& a, const B& b,
                          const V& beta, bool reads_c, const C& c, const Store& store) {
  using namespace shoal::detail;
  V right[MaxSize][MaxSize];
  SHOAL_UNROLL
  for (int p = 0; p < MaxSize; ++p) {
    SHOAL_UNROLL
    for (int j = 0; j < MaxSize; ++j) right[p][j] = p < k && j < n ? b.get(p, j) : V(real_t<V>(0));
  }
  SHOAL_UNROLL
  for (int i = 0; i < MaxSize; ++i) {
    if (i >= m) continue;
    V sum[MaxSize];
    SHOAL_UNROLL
    for (int j = 0; j < MaxSize; ++j) sum[j] = V(real_t<V>(0));
    SHOAL_UNROLL
    for (int p = 0; p < MaxSize; ++p) {
      if (p >= k) continue;
      const V left = a.get(i, p);
      SHOAL_UNROLL
      for (int j = 0; j < MaxSize; ++j) sum[j] = multiply_add(left, right[p][j], sum[j]);
    }
    SHOAL_UNROLL
    for (int j = 0; j < MaxSize; ++j) {
      if (j >= n) continue;
      V v = alpha * sum[j];
      if (reads_c) v = multiply_add(beta, c.get(i, j), v);
      store(i, j, v);
    }
  }
}

} // namespace shoal::lane

#endif
