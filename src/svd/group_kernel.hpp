// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_GROUP_KERNEL_HPP
#define SHOAL_SRC_SVD_GROUP_KERNEL_HPP

#include "src/svd/group_svd.hpp"
#include "src/svd/problem.hpp"

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/detail/lane_tile.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace shoal::detail {

/// One matrix the vector lanes of a thread; m >= n. In scratch, one after another: the working sets
/// of the team's matrices. Nothing waits for the team; the groups of a warp go in step.
///
/// \tparam Cols   most columns
/// \tparam Lanes  vector lanes of a thread
template <class Exec, class T, int Cols, int Lanes>
class GroupSvdKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Group = typename backend_traits<Exec>::template Group<Lanes>;

  GroupSvdKernel(const SvdPlan& plan, const SvdArguments<T>& arguments, const SvdOptions& options)
      : m_args(arguments), m_scratch_bytes(plan.scratch_bytes),
        m_request(svd_request(plan, arguments, options)), m_left(arguments.u.present()),
        m_size(arguments.a.rows, arguments.a.cols, {Cols, Lanes}, sizeof(arithmetic_t<T>),
               sizeof(typename real_of<T>::type), arguments.u.cols > arguments.a.cols) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    char* const tile = team_scratch<Exec>(member, m_scratch_bytes) +
                       static_cast<std::size_t>(member.team_rank()) * m_size.total();
    char* const square = tile + m_size.tile;
    const std::int64_t step = static_cast<std::int64_t>(member.league_size()) * member.team_size();
    for (std::int64_t first = static_cast<std::int64_t>(member.league_rank()) * member.team_size();
         first < m_args.a.batch; first += step) {
      const bool present = first + member.team_rank() < m_args.a.batch;
      const std::int64_t b = present ? first + member.team_rank() : 0;
      GroupSvd<T, Group, Cols> svd(tile, square, square + m_size.square,
                                   static_cast<int>(m_args.a.rows), static_cast<int>(m_args.a.cols),
                                   m_left);
      const int info = svd.decompose(present, m_args, b, m_request);
      if (m_args.info.data && present && Group::rank() == 0) *m_args.info.matrix_data(b) = info;
      Group::sync();
    }
  }

private:
  SvdArguments<T> m_args;
  std::size_t m_scratch_bytes;
  lane::SvdRequest m_request;
  bool m_left;
  GroupSvdSize m_size;
};

} // namespace shoal::detail

#endif
