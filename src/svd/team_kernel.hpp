// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_TEAM_KERNEL_HPP
#define SHOAL_SRC_SVD_TEAM_KERNEL_HPP

#include "src/svd/block_jacobi.hpp"
#include "src/svd/group_lanes.hpp"
#include "src/svd/matrix_queue.hpp"
#include "src/svd/problem.hpp"

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/detail/lane_tile.hpp>
#include <shoal/team/svd.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace shoal::detail {

/// One matrix a team at a time, any sizes. The teams are as many as the device runs at once, so
/// that the workspace is bounded whatever the batch; see MatrixQueue. The parts of a matrix's
/// working set go to scratch as long as they fit, the smallest first, and the rest to the team's
/// share of the workspace; see src/svd/plan.cpp. What the threads of block Jacobi need for
/// themselves comes first and is always in scratch.
template <class Exec, class T, int Width = 0, int Rows = 0>
class TeamSvdKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int lanes = backend_traits<Exec>::block_lanes;
  using Group = typename backend_traits<Exec>::template Group<lanes>;
  using Crew = team::detail::TeamCrew<
      Member, std::conditional_t<lanes == 1, team::detail::NoLanes, GroupLanes<Group>>>;
  using Svd = team::detail::Svd<T, Crew>;

  TeamSvdKernel(const SvdPlan& plan, const SvdBatch<T>& batch, const MatrixQueue& queue,
                char* workspace)
      : m_batch(batch), m_queue(queue), m_workspace(workspace), m_scratch_bytes(plan.scratch_bytes),
        m_workspace_bytes(plan.workspace_bytes_per_team) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    char* const scratch = team_scratch<Exec>(member, m_scratch_bytes);
    char* const workspace = m_workspace + member.league_rank() * m_workspace_bytes;
    for (std::int64_t b = m_queue.first(member); b < m_batch.size(); b = m_queue.next(member, b)) {
      const SvdItem<T> x = m_batch.item(b);
      int info = svd_wrong_sizes;
      if (x.fits) info = decompose(member, x, b, scratch, workspace);
      else m_batch.fill_with_nan(Crew(member), b);
      Kokkos::single(Kokkos::PerTeam(member), [&] { m_batch.store_info(b, info); });
      member.team_barrier();
    }
  }

private:
  SvdBatch<T> m_batch;
  MatrixQueue m_queue;
  char* m_workspace;
  std::size_t m_scratch_bytes, m_workspace_bytes;

  KOKKOS_FUNCTION static constexpr std::size_t own_bytes() {
    return block_jacobi_bytes(Width, sizeof(arithmetic_t<T>), sizeof(typename real_of<T>::type));
  }
  KOKKOS_FUNCTION int decompose(const Member& member, const SvdItem<T>& x, std::int64_t b,
                                char* scratch, char* workspace) const {
    std::size_t left = m_scratch_bytes;
    const auto place = [&](std::size_t bytes) {
      char*& from = bytes <= left ? scratch : workspace;
      if (bytes <= left) left -= bytes;
      else left = 0; // larger parts come later, and the plan puts them all in the workspace
      char* const here = from;
      from += bytes;
      return here;
    };
    char* const own = Width > 0 ? place(own_bytes() * member.team_size()) : nullptr;
    const auto size = team::detail::svd_work_size(
        x.a.rows, x.a.cols, sizeof(arithmetic_t<T>), sizeof(typename real_of<T>::type), x.left,
        team::detail::svd_built_columns<T>(x.a.cols, x.u.cols));
    Svd svd(Crew(member), x.rows(), x.cols(), x.left, team::detail::SvdWork(size, place));
    const auto run = [&](const auto&... jacobi) {
      return svd.decompose(
          x.a, x.u, [&](int k) -> auto& { return x.s(k, 0); }, x.vt, static_cast<int>(x.u.cols),
          static_cast<int>(x.s.rows), static_cast<int>(x.vt.rows), x.request,
          [&](auto... details) { m_batch.store_details(b, details...); }, jacobi...);
    };
    if constexpr (Width == 0) {
      return run();
    } else {
      return run([&](const typename Svd::Problem& problem, int max_sweeps, bool& converged) {
        return BlockJacobi<typename Svd::V, Crew, Group, Width, Rows>(Crew(member), problem, own)
            .run(max_sweeps, converged);
      });
    }
  }
};

} // namespace shoal::detail

#endif
