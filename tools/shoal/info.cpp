// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/shoal/commands.hpp"
#include "tools/shoal/errors.hpp"
#include "tools/shoal/lapack_loop.hpp"

#include <shoal/config.hpp>
#include <shoal/version.hpp>

#include <Kokkos_Core.hpp>
#include <cstdio>

namespace shoal_cli {

int info_command() {
  std::printf("shoal %s\n", SHOAL_VERSION_STRING);
  std::printf("backends:      %s%s\n", SHOAL_ENABLE_CUDA ? "cuda " : "",
              SHOAL_ENABLE_OPENMP ? "openmp" : "");
  std::printf("default:       %s, concurrency %d\n", Kokkos::DefaultExecutionSpace::name(),
              Kokkos::DefaultExecutionSpace().concurrency());
#if SHOAL_ENABLE_CUDA
  std::printf("device:        %s\n", Kokkos::Cuda().cuda_device_prop().name);
#endif
  std::printf("Kokkos:        %d.%d.%d\n", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
              KOKKOS_VERSION % 100);
  std::printf("large products: %s\n", SHOAL_ENABLE_CUBLAS && SHOAL_ENABLE_CBLAS ? "cuBLAS, CBLAS"
                                      : SHOAL_ENABLE_CUBLAS                     ? "cuBLAS"
                                      : SHOAL_ENABLE_CBLAS                      ? "CBLAS"
                                                                                : "own kernels");
  std::printf("LAPACK:        %s (for comparison in the demonstration)\n",
              lapack_available() ? "yes" : "no");
#if defined(__VERSION__)
  std::printf("compiler:      %s\n", __VERSION__);
#endif
  return exit_ok;
}

} // namespace shoal_cli
