// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/shoal.hpp>

void f(const Kokkos::View<float**>& x) {
  shoal::gemm(Kokkos::DefaultExecutionSpace(), 1, x, x, 0, x);
}
