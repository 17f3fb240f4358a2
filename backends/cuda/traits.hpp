// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BACKENDS_CUDA_TRAITS_HPP
#define SHOAL_BACKENDS_CUDA_TRAITS_HPP

#include "backends/cuda/tuning.hpp"
#include "src/backend_traits.hpp"
#include "src/lane_tile.hpp"

#include <Kokkos_Core.hpp>
#include <cstddef>

namespace shoal::detail {

template <>
struct backend_traits<Kokkos::Cuda> {
  template <class T>
  using LaneTile = ThreadTile<T, cuda_tuning::bank_bytes>;
  static constexpr std::size_t lane_register_bytes = cuda_tuning::lane_register_bytes;
  static constexpr int run_time_columns = 0;
  static constexpr int scratch_level = 0;
  static constexpr int lane_threads = cuda_tuning::lane_team_size;

  /// From the device's default memory pool, in stream order.
  static void* allocate(const Kokkos::Cuda& exec, std::size_t bytes);
  static void release(const Kokkos::Cuda& exec, void* data);
};

} // namespace shoal::detail

#endif
