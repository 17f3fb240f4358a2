// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/detail/backends/openmp/traits.hpp>
#include <shoal/detail/dispatch.hpp>

#include <algorithm>

namespace shoal::detail {

template <>
BackendLimits backend_limits<Kokkos::OpenMP>(const Kokkos::OpenMP& exec) {
  BackendLimits limits;
  limits.vector_bytes = openmp_tuning::vector_bytes;
  limits.lane_runs = openmp_tuning::lane_runs;
  limits.register_columns = openmp_tuning::register_columns;
  limits.lane_columns = openmp_tuning::lane_columns;
  limits.lane_matrix_bytes = openmp_tuning::lane_matrix_bytes;
  limits.lane_scratch_bytes = openmp_tuning::lane_scratch_bytes;
  limits.tile_team_size = std::min(exec.concurrency(), openmp_tuning::tile_team_size);
  limits.tile_scratch_bytes = openmp_tuning::scratch_bytes;
  limits.vector_preferred = true;
  limits.gemm_vector_bytes = openmp_tuning::gemm_vector_bytes;
  limits.vector_team_bytes = openmp_tuning::vector_team_bytes;
  limits.vector_panel_bytes = openmp_tuning::vector_panel_bytes;
  limits.vector_staged_bytes = openmp_tuning::vector_staged_bytes;
  limits.vector_block = openmp_tuning::vector_block;
  limits.vendor.found = backend_traits<Kokkos::OpenMP>::vendor_takes<double>;
  limits.vendor.starts = openmp_tuning::vendor_starts;
  limits.vendor.callers = exec.concurrency();
  limits.vendor.block_step = openmp_tuning::vendor_block_step;
  limits.vendor.block_overhead = openmp_tuning::vendor_block_overhead;
  limits.group_shapes = openmp_tuning::group_shapes;
  limits.group_scratch_bytes = openmp_tuning::scratch_bytes;
  limits.block_shapes = openmp_tuning::block_shapes;
  limits.tall_shapes = openmp_tuning::tall_shapes;
  limits.teams_at_once = exec.concurrency();
  limits.scratch_bytes = openmp_tuning::scratch_bytes;
  return limits;
}

} // namespace shoal::detail
