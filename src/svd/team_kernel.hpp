// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_TEAM_KERNEL_HPP
#define SHOAL_SRC_SVD_TEAM_KERNEL_HPP

#include "src/backend_traits.hpp"
#include "src/lane_tile.hpp"
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
/// share of the workspace; see src/svd/plan.cpp.
template <class Exec, class T>
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
    char* const small = place(m_size.small);
    char* const square = place(m_size.square);
    char* const tall = place(m_size.tall);
    const auto m = static_cast<int>(m_args.a.rows), n = static_cast<int>(m_args.a.cols);
    for (std::int64_t b = member.league_rank(); b < m_args.a.batch; b += member.league_size()) {
      using Crew = team::detail::TeamCrew<Member>;
      team::detail::Svd<T, Crew> svd({member}, m, n, m_left, small, square, tall);
      const auto s = m_args.s.matrix(b);
      const int info = svd.decompose(
          m_args.a.matrix(b), m_args.u.matrix(b), [&](int k) -> auto& { return s(k, 0); },
          m_args.vt.matrix(b), static_cast<int>(m_args.u.cols), static_cast<int>(s.rows),
          static_cast<int>(m_args.vt.rows), m_request);
      if (m_args.info.data)
        Kokkos::single(Kokkos::PerTeam(member), [&] { *m_args.info.matrix_data(b) = info; });
      member.team_barrier();
    }
  }

private:
  SvdArguments<T> m_args;
  char* m_workspace;
  std::size_t m_scratch_bytes, m_workspace_bytes;
  lane::SvdRequest m_request;
  bool m_left;
  team::detail::SvdWorkSize m_size;
};

} // namespace shoal::detail

#endif
