// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_BACKENDS_CUDA_TRAITS_HPP
#define SHOAL_DETAIL_BACKENDS_CUDA_TRAITS_HPP

#include <shoal/config.hpp>
#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/backends/cuda/tuning.hpp>
#include <shoal/detail/lane_tile.hpp>
#include <shoal/detail/scalar.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cuda_pipeline_primitives.h>
#include <type_traits>

namespace shoal::detail {

template <>
struct backend_traits<Kokkos::Cuda> {
  template <class T, int Cols>
  using LaneTile = ThreadTile<T, Cols>;
  static constexpr std::size_t lane_register_bytes = cuda_tuning::lane_register_bytes;
  static constexpr int register_columns = cuda_tuning::register_columns;
  static constexpr int constant_columns = cuda_tuning::lane_columns;
  static constexpr std::size_t lane_matrix_bytes = cuda_tuning::lane_matrix_bytes;
  static constexpr int run_time_columns = 0;
  static constexpr int scratch_level = 0;
  static constexpr int lane_threads = cuda_tuning::lane_team_size;

  static constexpr auto& group_shapes = cuda_tuning::group_shapes;
  static constexpr int group_lanes = cuda_tuning::group_lanes;
  /// By L and J of a lane.
  template <class T, int Columns, int Lanes>
  static constexpr int group_teams = cuda_tuning::group_teams(
      2 * Columns * ((Columns + Lanes - 1) / Lanes) * sizeof(T), sizeof(T));
  static constexpr auto& block_shapes = cuda_tuning::block_shapes;
  static constexpr auto& tall_shapes = cuda_tuning::tall_shapes;
  static constexpr int tall_lanes = cuda_tuning::tall_lanes;
  static constexpr int tall_teams = cuda_tuning::tall_teams;
  static constexpr int block_lanes = cuda_tuning::vector_length;
  static constexpr int team_threads = cuda_tuning::team_size * cuda_tuning::vector_length;
  static constexpr int svd_teams = cuda_tuning::svd_teams;
  static constexpr int tile_threads = cuda_tuning::tile_team_size;
  static constexpr int svd_vector_bytes = 0;
  static constexpr int gemm_vector_bytes = 0;
  static constexpr int gemm_registers = 0;
  template <class T>
  static constexpr bool vendor_takes = SHOAL_ENABLE_CUBLAS && !is_converted<T>;
  template <class T, int Tile>
  static constexpr int tile_teams = cuda_tuning::tile_teams(Tile * Tile * sizeof(arithmetic_t<T>));

  template <int Lanes>
  struct Group {
    static constexpr int lanes = Lanes;
    template <class T>
    static constexpr std::size_t register_bytes = cuda_tuning::group_register_bytes(sizeof(T));
    static constexpr unsigned warp = ~0u;

    KOKKOS_FUNCTION static int rank() {
      KOKKOS_IF_ON_DEVICE((return static_cast<int>(threadIdx.x);))
      KOKKOS_IF_ON_HOST((return 0;))
    }
    template <class X>
    KOKKOS_FUNCTION static X exchanged(const X& x, [[maybe_unused]] int distance) {
      if constexpr (std::is_arithmetic_v<X>) {
        KOKKOS_IF_ON_DEVICE((return __shfl_xor_sync(warp, x, distance, Lanes);))
        KOKKOS_IF_ON_HOST((return x;))
      } else {
        return X(exchanged(x.re, distance), exchanged(x.im, distance));
      }
    }
    template <class X>
    KOKKOS_FUNCTION static X from(const X& x, [[maybe_unused]] int lane) {
      if constexpr (std::is_arithmetic_v<X>) {
        KOKKOS_IF_ON_DEVICE((return __shfl_sync(warp, x, lane, Lanes);))
        KOKKOS_IF_ON_HOST((return x;))
      } else {
        return X(from(x.re, lane), from(x.im, lane));
      }
    }
    KOKKOS_FUNCTION static bool any_of_warp(bool x) {
      KOKKOS_IF_ON_DEVICE((return __any_sync(warp, x) != 0;))
      KOKKOS_IF_ON_HOST((return x;))
    }
    KOKKOS_FUNCTION static bool any(bool x) {
      KOKKOS_IF_ON_DEVICE((constexpr unsigned group = Lanes == 32 ? warp : (1u << Lanes % 32) - 1;
                           const unsigned first = threadIdx.y * Lanes % 32;
                           return (__ballot_sync(warp, x) >> first & group) != 0;))
      KOKKOS_IF_ON_HOST((return x;))
    }
    KOKKOS_FUNCTION static void sync() { KOKKOS_IF_ON_DEVICE((__syncwarp();)) }
  };

  /// Starts a copy of 4, 8 or 16 bytes from device memory to scratch, past the registers. There is
  /// no such instruction for 2 bytes.
  template <class Unit>
  KOKKOS_FUNCTION static void copy_async(Unit* scratch, const Unit* memory) {
    if constexpr (sizeof(Unit) < 4) {
      *scratch = *memory;
    } else {
      KOKKOS_IF_ON_DEVICE((__pipeline_memcpy_async(scratch, memory, sizeof(Unit));))
      KOKKOS_IF_ON_HOST((*scratch = *memory;))
    }
  }
  KOKKOS_FUNCTION static void commit_copies() { KOKKOS_IF_ON_DEVICE((__pipeline_commit();)) }
  /// Until this thread's copies are done, but for those after the last commit but one.
  KOKKOS_FUNCTION static void wait_for_copies([[maybe_unused]] bool all_but_latest) {
    KOKKOS_IF_ON_DEVICE(
        (if (all_but_latest) __pipeline_wait_prior(1); else __pipeline_wait_prior(0);))
  }

  /// From the device's default memory pool, in stream order.
  static void* allocate(const Kokkos::Cuda& exec, std::size_t bytes);
  static void release(const Kokkos::Cuda& exec, void* data);
};

} // namespace shoal::detail

#endif
