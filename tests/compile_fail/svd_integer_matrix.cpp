// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/shoal.hpp>

void f(const Kokkos::View<int***>& a, const Kokkos::View<int**>& s) {
  shoal::svd_values(Kokkos::DefaultExecutionSpace(), a, s);
}
