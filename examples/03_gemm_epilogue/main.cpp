// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A layer of each of a thousand small networks, max(0, X W + bias), in one pass over memory.
#include <cstdio>
#include <shoal/gemm_epilogue.hpp>

struct BiasAndRelu {
  Kokkos::View<const float**> bias; // (network, column)

  KOKKOS_FUNCTION float operator()(float x, std::int64_t network, std::int64_t,
                                   std::int64_t col) const {
    x += bias(network, col);
    return x > 0 ? x : 0;
  }
};

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const int networks = 1000;
  Kokkos::View<float***> inputs("inputs", networks, 32, 16), weights("weights", networks, 16, 8),
      outputs("outputs", networks, 32, 8);
  Kokkos::View<float**> bias("bias", networks, 8);
  Kokkos::deep_copy(inputs, 1);
  Kokkos::deep_copy(weights, 0.25f);
  Kokkos::deep_copy(Kokkos::subview(bias, Kokkos::ALL, 0), -5);

  const Kokkos::DefaultExecutionSpace exec;
  shoal::gemm(exec, 1, inputs, weights, 0, outputs, {}, BiasAndRelu{bias});
  exec.fence();
  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), outputs);
  std::printf("outputs: %g %g\n", result(0, 0, 0), result(0, 0, 1));
}
