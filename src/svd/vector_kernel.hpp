// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_VECTOR_KERNEL_HPP
#define SHOAL_SRC_SVD_VECTOR_KERNEL_HPP

#include "src/svd/matrix_queue.hpp"
#include "src/svd/problem.hpp"
#include "src/svd/vector_svd.hpp"

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/detail/lane_tile.hpp>
#include <shoal/team/crew.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace shoal::detail {

/// One matrix a thread at a time, for CPUs, any sizes. The threads are as many as run at once, so
/// that the workspace is bounded whatever the batch; see MatrixQueue. The working set is in scratch
/// where that of the largest matrix fits and else in the team's share of the workspace.
template <class Exec, class T>
class VectorSvdKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Svd = VectorSvd<T, backend_traits<Exec>::svd_vector_bytes>;

  VectorSvdKernel(const SvdPlan& plan, const SvdBatch<T>& batch, const MatrixQueue& queue,
                  char* workspace)
      : m_batch(batch), m_queue(queue), m_workspace(workspace), m_scratch_bytes(plan.scratch_bytes),
        m_workspace_bytes(plan.workspace_bytes_per_team) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    char* memory = m_scratch_bytes > 0 ? team_scratch<Exec>(member, m_scratch_bytes)
                                       : m_workspace + member.league_rank() * m_workspace_bytes;
    const auto misaligned = reinterpret_cast<std::uintptr_t>(memory) % scratch_alignment;
    if (misaligned > 0) memory += scratch_alignment - misaligned; // the plan has room for that
    for (std::int64_t b = m_queue.first(member); b < m_batch.size(); b = m_queue.next(member, b)) {
      const SvdItem<T> x = m_batch.item(b);
      int info = svd_wrong_sizes;
      if (x.fits)
        info = Svd(x.rows(), x.cols(), x.left, memory)
                   .decompose(x.a, x.u, static_cast<int>(x.u.cols), x.s, x.vt,
                              static_cast<int>(x.vt.rows), x.request,
                              [&](auto... details) { m_batch.store_details(b, details...); });
      else m_batch.fill_with_nan(team::detail::LoneCrew(), b);
      m_batch.store_info(b, info);
    }
  }

private:
  SvdBatch<T> m_batch;
  MatrixQueue m_queue;
  char* m_workspace;
  std::size_t m_scratch_bytes, m_workspace_bytes;
};

} // namespace shoal::detail

#endif
