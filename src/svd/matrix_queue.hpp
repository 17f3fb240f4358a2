// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_MATRIX_QUEUE_HPP
#define SHOAL_SRC_SVD_MATRIX_QUEUE_HPP

#include <shoal/detail/launch.hpp>
#include <shoal/plan.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace shoal::detail {

/// The part of the workspace that holds the queue's counter, at its end.
inline constexpr std::size_t svd_shared_bytes = 16;

struct ResetQueue {
  std::int64_t* next;
  KOKKOS_FUNCTION void operator()(std::int64_t) const { *next = 0; }
};

/// Deals the matrices of a batch out to teams that work on one after another:
///
///     for (auto b = queue.first(member); b < batch; b = queue.next(member, b))
///
/// by all threads of a team. Where all matrices cost the same a team takes every league_size-th;
/// where their sizes differ it takes the next run of them from a counter in memory, so that none
/// waits for one that has got the large ones.
class MatrixQueue {
public:
  /// `workspace` is that of all teams, plan.workspace_bytes() of it.
  MatrixQueue(const SvdPlan& plan, char* workspace) : m_run(plan.matrices_per_team) {
    if (plan.workspace_bytes_shared > 0)
      m_next = reinterpret_cast<std::int64_t*>(workspace + plan.workspace_bytes() -
                                               plan.workspace_bytes_shared);
  }

  /// Queues the start of the counter before the kernel that reads it.
  template <class Exec>
  void reset(const Exec& exec) const {
    if (m_next) launch_range("shoal::svd::reset", exec, 1, ResetQueue{m_next});
  }

  template <class Member>
  KOKKOS_FUNCTION std::int64_t first(const Member& member) const {
    return m_next ? take(member) : member.league_rank();
  }
  template <class Member>
  KOKKOS_FUNCTION std::int64_t next(const Member& member, std::int64_t b) const {
    if (!m_next) return b + member.league_size();
    return (b + 1) % m_run != 0 ? b + 1 : take(member); // runs start at multiples of their length
  }

private:
  std::int64_t* m_next = nullptr; ///< null: all matrices cost the same
  std::int64_t m_run;

  template <class Member>
  KOKKOS_FUNCTION std::int64_t take(const Member& member) const {
    std::int64_t first = 0;
    Kokkos::single(
        Kokkos::PerTeam(member),
        [&](std::int64_t& x) { x = Kokkos::atomic_fetch_add(m_next, m_run); }, first);
    return first;
  }
};

} // namespace shoal::detail

#endif
