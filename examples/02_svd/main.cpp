// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The example of the README.
#include <cstdio>
#include <shoal/shoal.hpp>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  Kokkos::View<double***> A("A", 1000, 15, 3), U("U", 1000, 15, 3), Vt("Vt", 1000, 3, 3);
  Kokkos::View<double**> S("S", 1000, 3);
  Kokkos::deep_copy(A, 2.0);
  Kokkos::DefaultExecutionSpace exec;
  shoal::svd(exec, A, U, S, Vt); // queued on exec
  auto s = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), S);
  std::printf("first matrix: %.15g %.15g %.15g\n", s(0, 0), s(0, 1), s(0, 2));
}
