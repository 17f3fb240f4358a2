// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_TEAM_KERNEL_HPP
#define SHOAL_SRC_SVD_TEAM_KERNEL_HPP

#include "src/backend_traits.hpp"
#include "src/lane_tile.hpp"
#include "src/svd/block_jacobi.hpp"
#include "src/svd/problem.hpp"

#include <shoal/detail/dispatch.hpp>
#include <shoal/team/svd.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace shoal::detail {

/// One matrix a team, any m >= n. The teams are as many as the device runs at once and take every
/// league_size-th matrix, so that the workspace is bounded whatever the batch. The parts of the
/// working set go to scratch as long as they fit, the smallest first, and the rest to the team's
/// share of the workspace; see src/svd/plan.cpp. What the threads of block Jacobi need for
/// themselves comes first and is always in scratch.
template <class Exec, class T, int Width = 0, int Rows = 0>
class TeamSvdKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  TeamSvdKernel(const SvdPlan& plan, const SvdArguments<T>& arguments, const SvdOptions& options,
                char* workspace)
      : m_args(arguments), m_workspace(workspace), m_scratch_bytes(plan.scratch_bytes),
        m_workspace_bytes(plan.workspace_bytes_per_team),
        m_request(svd_request(plan, arguments, options)), m_left(arguments.u.present()),
        m_size(svd_work_size(arguments)) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    char* scratch = team_scratch<Exec>(member, m_scratch_bytes);
    char* workspace = m_workspace + member.league_rank() * m_workspace_bytes;
    std::size_t left = m_scratch_bytes;
    const auto place = [&](std::size_t bytes) {
      char*& from = bytes <= left ? scratch : workspace;
      if (bytes <= left) left -= bytes;
      else left = 0; // larger parts come later, and the plan puts them all in the workspace
      char* const here = from;
      from += bytes;
      return here;
    };
    using Crew = team::detail::TeamCrew<Member>;
    using Svd = team::detail::Svd<T, Crew>;
    char* const own = Width > 0 ? place(own_bytes() * member.team_size()) : nullptr;
    const team::detail::SvdWork work(m_size, place);
    const auto m = static_cast<int>(m_args.a.rows), n = static_cast<int>(m_args.a.cols);
    for (std::int64_t b = member.league_rank(); b < m_args.a.batch; b += member.league_size()) {
      Svd svd({member}, m, n, m_left, work);
      const auto s = m_args.s.matrix(b);
      const auto decompose = [&](const auto&... jacobi) {
        return svd.decompose(
            m_args.a.matrix(b), m_args.u.matrix(b), [&](int k) -> auto& { return s(k, 0); },
            m_args.vt.matrix(b), static_cast<int>(m_args.u.cols), static_cast<int>(s.rows),
            static_cast<int>(m_args.vt.rows), m_request, jacobi...);
      };
      int info;
      if constexpr (Width == 0) {
        info = decompose();
      } else {
        using V = typename Svd::V;
        using Group = typename backend_traits<Exec>::template Group<lanes>;
        info =
            decompose([&](const typename Svd::Problem& problem, int max_sweeps, bool& converged) {
              return BlockJacobi<V, Crew, Group, Width, Rows>({member}, problem, own)
                  .run(max_sweeps, converged);
            });
      }
      if (m_args.info.data)
        Kokkos::single(Kokkos::PerTeam(member), [&] { *m_args.info.matrix_data(b) = info; });
      member.team_barrier();
    }
  }

private:
  static constexpr int lanes = backend_traits<Exec>::block_lanes;
  KOKKOS_FUNCTION static constexpr std::size_t own_bytes() {
    return block_jacobi_bytes(Width, sizeof(arithmetic_t<T>), sizeof(typename real_of<T>::type));
  }

  SvdArguments<T> m_args;
  char* m_workspace;
  std::size_t m_scratch_bytes, m_workspace_bytes;
  lane::SvdRequest m_request;
  bool m_left;
  team::detail::SvdWorkSize m_size;
};

} // namespace shoal::detail

#endif
