// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_GROUP_KERNEL_HPP
#define SHOAL_SRC_SVD_GROUP_KERNEL_HPP

#include "src/backend_traits.hpp"
#include "src/lane_tile.hpp"
#include "src/svd/problem.hpp"

#include <shoal/detail/dispatch.hpp>
#include <shoal/team/svd.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace shoal::detail {

/// One matrix a thread, its column pairs over the vector lanes of that thread: several matrices
/// share a warp and nothing waits for the team. The whole working set is in scratch, one matrix
/// after another.
template <class Exec, class T>
class GroupSvdKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Crew = team::detail::VectorCrew<Member>;

  GroupSvdKernel(const SvdPlan& plan, const SvdArguments<T>& arguments, const SvdOptions& options)
      : m_args(arguments), m_scratch_bytes(plan.scratch_bytes),
        m_request(svd_request(plan, arguments, options)), m_left(arguments.u.present()),
        m_size(svd_work_size(arguments)) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    char* const small = team_scratch<Exec>(member, m_scratch_bytes) +
                        static_cast<std::size_t>(member.team_rank()) * m_size.total();
    const auto m = static_cast<int>(m_args.a.rows), n = static_cast<int>(m_args.a.cols);
    const std::int64_t step = static_cast<std::int64_t>(member.league_size()) * member.team_size();
    for (std::int64_t b = static_cast<std::int64_t>(member.league_rank()) * member.team_size() +
                          member.team_rank();
         b < m_args.a.batch; b += step) {
      const Crew crew{member};
      team::detail::Svd<T, Crew> svd(crew, m, n, m_left, small, small + m_size.small,
                                     small + m_size.small + m_size.square);
      const auto s = m_args.s.matrix(b);
      const int info = svd.decompose(
          m_args.a.matrix(b), m_args.u.matrix(b), [&](int k) -> auto& { return s(k, 0); },
          m_args.vt.matrix(b), static_cast<int>(m_args.u.cols), static_cast<int>(s.rows),
          static_cast<int>(m_args.vt.rows), m_request);
      if (m_args.info.data) crew.once([&] { *m_args.info.matrix_data(b) = info; });
      crew.barrier();
    }
  }

private:
  SvdArguments<T> m_args;
  std::size_t m_scratch_bytes;
  lane::SvdRequest m_request;
  bool m_left;
  team::detail::SvdWorkSize m_size;
};

} // namespace shoal::detail

#endif
