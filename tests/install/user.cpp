// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/shoal.hpp>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::View<double***> a("a", 10, 2, 2);
  const Kokkos::View<double**> s("s", 10, 2);
  Kokkos::deep_copy(a, 1.0);
  const Kokkos::DefaultExecutionSpace exec;
  shoal::svd_values(exec, a, s);
  exec.fence();
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s);
  return host(9, 0) > 1.999 && host(9, 0) < 2.001 && host(9, 1) < 1e-9 ? 0 : 1;
}
