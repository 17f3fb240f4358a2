// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_LAUNCH_HPP
#define SHOAL_DETAIL_LAUNCH_HPP

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/lane_tile.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace shoal::detail {

/// Queues a team kernel with the plan's league, team and scratch. MaxThreads bounds the threads of
/// a team for the compiler's register allocation, so that MinTeams of them fit at once; 0 leaves
/// that to Kokkos.
template <int MaxThreads, int MinTeams = 1, class Exec, class Plan, class Functor>
void launch(const char* label, const Exec& exec, const Plan& plan, const Functor& functor) {
  const auto run = [&](auto policy) {
    if (plan.scratch_bytes > 0) // room to align the start
      policy.set_scratch_size(
          backend_traits<Exec>::scratch_level,
          Kokkos::PerTeam(static_cast<int>(plan.scratch_bytes + scratch_alignment)));
    // The hint passes the functor as a kernel argument: other ways of passing it wait for the
    // device.
    Kokkos::parallel_for(label,
                         Kokkos::Experimental::require(
                             policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                         functor);
  };
  const auto league = static_cast<int>(plan.league_size);
  if constexpr (MaxThreads > 0)
    run(Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<MaxThreads, MinTeams>>(
        exec, league, plan.team_size, plan.vector_length));
  else run(Kokkos::TeamPolicy<Exec>(exec, league, plan.team_size, plan.vector_length));
}

/// Queues functor(0), ..., functor(count - 1).
template <class Exec, class Functor>
void launch_range(const char* label, const Exec& exec, std::int64_t count, const Functor& functor) {
  Kokkos::parallel_for(
      label,
      Kokkos::Experimental::require(
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count),
          Kokkos::Experimental::WorkItemProperty::HintLightWeight),
      functor);
}

/// Memory from the backend's stream-ordered pool: usable by work queued after the constructor,
/// given back once the work queued before the destructor is done.
template <class Exec>
class PoolWorkspace {
public:
  PoolWorkspace(const Exec& exec, std::size_t bytes)
      : m_exec(exec), m_data(bytes ? backend_traits<Exec>::allocate(exec, bytes) : nullptr) {}
  ~PoolWorkspace() {
    if (m_data) backend_traits<Exec>::release(m_exec, m_data);
  }
  PoolWorkspace(const PoolWorkspace&) = delete;
  PoolWorkspace& operator=(const PoolWorkspace&) = delete;

  void* data() const { return m_data; }

private:
  const Exec& m_exec;
  void* m_data;
};

} // namespace shoal::detail

#endif
