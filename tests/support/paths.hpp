// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_PATHS_HPP
#define SHOAL_TESTS_SUPPORT_PATHS_HPP

#include "scalar.hpp"
#include "settings.hpp"

#include <shoal/config.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <type_traits>

namespace shoal::test {

/// CPUs alone have the vector kernels; the vendor's library is there where shoal was built with it.
template <class Path>
bool runs_here(Path path) {
  constexpr bool on_host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;
  if constexpr (std::is_same_v<Path, GemmPath>)
    if (path == GemmPath::vendor) return on_host ? SHOAL_ENABLE_CBLAS : SHOAL_ENABLE_CUBLAS;
  return path != Path::vector || on_host;
}

/// Every path that the execution space has was seen.
template <class Path>
void expect_every_path(const PathCount<Path>& paths) {
  for (const Path path : every_path<Path>()) {
    if (path == Path::automatic || !runs_here(path)) continue;
    EXPECT_GT(paths.count(path), 0) << shoal::to_string(path) << " never ran";
  }
}

} // namespace shoal::test

#endif
