// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One rotation applied to a million point triples: a batch stride of 0 repeats a matrix.
#include <cstdio>
#include <shoal/shoal.hpp>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const int batch = 1000000;
  Kokkos::View<float***> points("points", batch, 3, 3), turned("turned", batch, 3, 3);
  Kokkos::View<float**, Kokkos::LayoutRight> rotation("rotation", 3, 3);
  Kokkos::deep_copy(points, 1.0f);
  const auto host = Kokkos::create_mirror_view(rotation);
  host(0, 1) = -1; // a quarter turn about z
  host(1, 0) = 1;
  host(2, 2) = 1;
  Kokkos::deep_copy(rotation, host);

  const Kokkos::DefaultExecutionSpace exec;
  shoal::gemm(exec, 1, shoal::strided_batch(rotation.data(), batch, 3, 3, 0, 3, 1), points, 0,
              turned);
  exec.fence();
  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), turned);
  std::printf("(1, 1, 1) turns to (%g, %g, %g)\n", result(0, 0, 0), result(0, 1, 0),
              result(0, 2, 0));
}
