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

/// Whether there is a vendor's library for products of T: 16-bit ones are handed to none.
template <class T>
bool has_vendor() {
  constexpr bool on_host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;
  return (on_host ? SHOAL_ENABLE_CBLAS : SHOAL_ENABLE_CUBLAS) && !is_converted<T>;
}

/// CPUs alone have the vector kernels; the triangles of 16-bit matrices are none.
template <class T, class Path>
bool runs_here(Path path) {
  if constexpr (std::is_same_v<Path, GemmPath>)
    if (path == GemmPath::vendor) return has_vendor<T>();
  if constexpr (std::is_same_v<Path, SvdPath>)
    if (path == SvdPath::tall) return !is_converted<T>;
  return path != Path::vector || Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;
}

/// Every path that the execution space has for T was seen.
template <class T, class Path>
void expect_every_path(const PathCount<Path>& paths) {
  for (const Path path : every_path<Path>()) {
    if (path == Path::automatic || !runs_here<T>(path)) continue;
    EXPECT_GT(paths.count(path), 0) << shoal::to_string(path) << " never ran";
  }
}

} // namespace shoal::test

#endif
