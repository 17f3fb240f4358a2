// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_BACKENDS_OPENMP_TRAITS_HPP
#define SHOAL_DETAIL_BACKENDS_OPENMP_TRAITS_HPP

#include <shoal/config.hpp>
#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/backends/openmp/tuning.hpp>
#include <shoal/detail/lane_tile.hpp>
#include <shoal/detail/scalar.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>

namespace shoal::detail {

template <>
struct backend_traits<Kokkos::OpenMP> {
  template <class T, int>
  using LaneTile = PackTile<T, openmp_tuning::vector_bytes>;
  static constexpr std::size_t lane_register_bytes = ~std::size_t(0); // the stack takes the rest
  static constexpr int register_columns = openmp_tuning::register_columns;
  static constexpr int constant_columns = openmp_tuning::register_columns;
  static constexpr std::size_t lane_matrix_bytes = openmp_tuning::lane_matrix_bytes;
  static constexpr int run_time_columns = openmp_tuning::lane_columns;
  /// Level 0 is 32 KiB there, whatever the caches are.
  static constexpr int scratch_level = 1;
  static constexpr int lane_threads = 0;

  static constexpr auto& group_shapes = openmp_tuning::group_shapes;
  static constexpr int group_lanes = 0;
  template <class, int, int>
  static constexpr int group_teams = 1;
  template <int Lanes>
  struct Group {
    static_assert(Lanes == 1);
    static constexpr int lanes = 1;
    template <class>
    static constexpr std::size_t register_bytes = openmp_tuning::group_register_bytes;
    static int rank() { return 0; }
    template <class X>
    static X exchanged(const X& x, int) {
      return x;
    }
    template <class X>
    static X from(const X& x, int) {
      return x;
    }
    static bool any_of_warp(bool x) { return x; }
    static bool any(bool x) { return x; }
    static void sync() {}
  };
  static constexpr auto& block_shapes = openmp_tuning::block_shapes;
  static constexpr auto& tall_shapes = openmp_tuning::tall_shapes;
  static constexpr int tall_lanes = 0;
  static constexpr int tall_teams = 1;
  static constexpr int block_lanes = 1;
  static constexpr int team_threads = 0;
  static constexpr int svd_teams = 1;
  static constexpr int tile_threads = 0;
  static constexpr int svd_vector_bytes = openmp_tuning::vector_bytes;
  static constexpr int gemm_vector_bytes = openmp_tuning::gemm_vector_bytes;
  static constexpr int gemm_registers = openmp_tuning::gemm_registers;
  template <class T>
  static constexpr bool vendor_takes = SHOAL_ENABLE_CBLAS && !is_converted<T>;
  template <class, int>
  static constexpr int tile_teams = 1;

  template <class Unit>
  static void copy_async(Unit* scratch, const Unit* memory) {
    *scratch = *memory;
  }
  static void commit_copies() {}
  static void wait_for_copies(bool) {}

  static void* allocate(const Kokkos::OpenMP&, std::size_t bytes) {
    return Kokkos::kokkos_malloc<Kokkos::HostSpace>("shoal::workspace", bytes);
  }
  /// Kernels of this backend have ended when their launch returns.
  static void release(const Kokkos::OpenMP&, void* data) {
    Kokkos::kokkos_free<Kokkos::HostSpace>(data);
  }
};

} // namespace shoal::detail

#endif
