// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/shoal.hpp>

void f(const Kokkos::View<Kokkos::complex<float>***>& a,
       const Kokkos::View<Kokkos::complex<float>**>& s) {
  shoal::svd_values(Kokkos::DefaultExecutionSpace(), a, s);
}
