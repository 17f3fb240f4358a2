// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/shoal.hpp>

using Exec = Kokkos::DefaultExecutionSpace;

void f(const shoal::VariableBatch<float, Exec::memory_space>& a, const Kokkos::View<float***>& u,
       const Kokkos::View<float**>& s) {
  shoal::svd(Exec(), a, u, s, shoal::unwanted);
}
