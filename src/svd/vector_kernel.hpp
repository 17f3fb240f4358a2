// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_VECTOR_KERNEL_HPP
#define SHOAL_SRC_SVD_VECTOR_KERNEL_HPP

#include "src/backend_traits.hpp"
#include "src/lane_tile.hpp"
#include "src/svd/problem.hpp"
#include "src/svd/vector_svd.hpp"

#include <shoal/detail/dispatch.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace shoal::detail {

/// One matrix a thread at a time, for CPUs; m >= n. The threads take every league_size-th matrix,
/// so that the workspace is bounded whatever the batch. The working set is in scratch where it fits
/// and else in the team's share of the workspace.
template <class Exec, class T>
class VectorSvdKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Svd = VectorSvd<T, backend_traits<Exec>::svd_vector_bytes>;

  VectorSvdKernel(const SvdPlan& plan, const SvdArguments<T>& arguments, const SvdOptions& options,
                  char* workspace)
      : m_args(arguments), m_workspace(workspace), m_scratch_bytes(plan.scratch_bytes),
        m_workspace_bytes(plan.workspace_bytes_per_team),
        m_request(svd_request(plan, arguments, options)), m_left(arguments.u.present()) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    char* memory = m_scratch_bytes > 0 ? team_scratch<Exec>(member, m_scratch_bytes)
                                       : m_workspace + member.league_rank() * m_workspace_bytes;
    const auto misaligned = reinterpret_cast<std::uintptr_t>(memory) % scratch_alignment;
    if (misaligned > 0) memory += scratch_alignment - misaligned; // the plan has room for that
    Svd svd(static_cast<int>(m_args.a.rows), static_cast<int>(m_args.a.cols), m_left, memory);
    for (std::int64_t b = member.league_rank(); b < m_args.a.batch; b += member.league_size()) {
      const int info = svd.decompose(
          m_args.a.matrix(b), m_args.u.matrix(b), static_cast<int>(m_args.u.cols),
          m_args.s.matrix(b), m_args.vt.matrix(b), static_cast<int>(m_args.vt.rows), m_request);
      if (m_args.info.data) *m_args.info.matrix_data(b) = info;
    }
  }

private:
  SvdArguments<T> m_args;
  char* m_workspace;
  std::size_t m_scratch_bytes, m_workspace_bytes;
  lane::SvdRequest m_request;
  bool m_left;
};

} // namespace shoal::detail

#endif
