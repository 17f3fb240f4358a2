// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/detail/backends/cuda/traits.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/error.hpp>

#include <algorithm>
#include <cuda_runtime_api.h>
#include <string>

namespace shoal::detail {

template <>
BackendLimits backend_limits<Kokkos::Cuda>(const Kokkos::Cuda& exec) {
  using namespace cuda_tuning;
  const cudaDeviceProp& device = exec.cuda_device_prop();
  // What Kokkos grants differs by version: 48 KiB before 5, what the device allows after.
  const auto granted =
      static_cast<std::size_t>(Kokkos::TeamPolicy<Kokkos::Cuda>::scratch_size_max(0));
  BackendLimits limits;
  limits.odd_tiles = backend_traits<Kokkos::Cuda>::LaneTile<float, 1>::odd;
  limits.lane_team_size = lane_team_size;
  limits.lane_team_size_least = lane_team_size_least;
  limits.lane_register_bytes = lane_register_bytes;
  limits.register_columns = register_columns;
  limits.lane_columns = lane_columns;
  limits.lane_matrix_bytes = lane_matrix_bytes;
  limits.scratch_bytes = granted - reserved_scratch_bytes;
  limits.lane_scratch_bytes = std::min(lane_scratch_bytes, limits.scratch_bytes);
  limits.group_shapes = group_shapes;
  limits.group_preferred = true;
  limits.block_preferred = true;
  limits.group_lanes = group_lanes;
  limits.group_scratch_bytes = std::min(group_scratch_bytes, limits.scratch_bytes);
  limits.block_shapes = block_shapes;
  limits.tall_shapes = tall_shapes;
  limits.tall_lanes = tall_lanes;
  limits.tall_least_ratio = tall_least_ratio;
  limits.team_size = team_size;
  limits.vector_length = vector_length;
  limits.tile_preferred = true;
  limits.tile_team_size = tile_team_size;
  limits.tile_scratch_bytes = std::min(tile_scratch_bytes, limits.scratch_bytes);
  limits.vendor.found = backend_traits<Kokkos::Cuda>::vendor_takes<double>;
  limits.vendor.starts = vendor_starts;
  limits.vendor.tile = vendor_tile;
  limits.vendor.matrices_per_call = vendor_matrices_per_call;
  limits.teams_at_once =
      static_cast<std::int64_t>(device.multiProcessorCount) * teams_per_multiprocessor;
  return limits;
}

void* backend_traits<Kokkos::Cuda>::allocate(const Kokkos::Cuda& exec, std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMallocAsync(&data, bytes, exec.cuda_stream());
  if (status != cudaSuccess)
    throw backend_error("shoal: cudaMallocAsync of " + std::to_string(bytes) +
                        " bytes: " + cudaGetErrorString(status));
  return data;
}

void backend_traits<Kokkos::Cuda>::release(const Kokkos::Cuda& exec, void* data) {
  cudaFreeAsync(data, exec.cuda_stream());
}

} // namespace shoal::detail
