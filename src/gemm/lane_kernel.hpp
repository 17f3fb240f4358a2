// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_GEMM_LANE_KERNEL_HPP
#define SHOAL_SRC_GEMM_LANE_KERNEL_HPP

#include "src/backend_traits.hpp"
#include "src/gemm/problem.hpp"
#include "src/lane_tile.hpp"

#include <shoal/lane/gemm.hpp>
#include <shoal/plan.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace shoal::detail {

/// One product a lane, m, n, k <= N. A team walks over its share of the batch in runs of as many
/// matrices as it has lanes; scratch holds the tiles of A, B and C, one after another. Two barriers
/// a run: after the operands have come in, and before C goes out.
template <class Exec, class T, int N>
class LaneGemmKernel {
public:
  using Traits = backend_traits<Exec>;
  using Tile = typename Traits::template LaneTile<T>;
  using V = typename Tile::Value;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int width = lane_width<V>;

  LaneGemmKernel(const GemmPlan& plan, const GemmProblem<T>& problem)
      : m_problem(problem), m_per_team(plan.matrices_per_team), m_lanes(plan.team_size * width),
        m_b_offset(tile_bytes(problem.m() * problem.k(), m_lanes, sizeof(arithmetic_t<T>),
                              Tile::bank_bytes)),
        m_c_offset(m_b_offset + tile_bytes(problem.k() * problem.n(), m_lanes,
                                           sizeof(arithmetic_t<T>), Tile::bank_bytes)),
        m_bytes(plan.scratch_bytes) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    char* const scratch = team_scratch<Exec>(member, m_bytes);
    const std::int64_t batch = m_problem.c.batch;
    const std::int64_t begin = static_cast<std::int64_t>(member.league_rank()) * m_per_team;
    const std::int64_t end = begin + m_per_team < batch ? begin + m_per_team : batch;
    for (std::int64_t first = begin; first < end; first += m_lanes)
      multiply_run(member, scratch, first,
                   static_cast<int>(end - first < m_lanes ? end - first : m_lanes));
  }

private:
  GemmProblem<T> m_problem;
  int m_per_team, m_lanes;
  std::size_t m_b_offset, m_c_offset, m_bytes;

  template <class Matrix>
  struct Operand {
    Matrix matrix;
    bool conj;
    KOKKOS_FUNCTION V get(int i, int j) const {
      const V x = matrix.get(i, j);
      return conj ? conjugate(x) : x;
    }
  };

  template <class U>
  KOKKOS_FUNCTION static Tile tile_of(char* scratch, const BatchRef<U>& batch) {
    const int rows = static_cast<int>(batch.rows), cols = static_cast<int>(batch.cols);
    return Tile(scratch, rows, cols, tile_strides(batch, rows, cols));
  }

  KOKKOS_FUNCTION void multiply_run(const Member& member, char* scratch, std::int64_t first,
                                    int count) const {
    const Tile a = tile_of(scratch, m_problem.a);
    const Tile b = tile_of(scratch + m_b_offset, m_problem.b);
    const Tile c = tile_of(scratch + m_c_offset, m_problem.c);
    a.load(member, m_problem.a, first, count);
    b.load(member, m_problem.b, first, count);
    if (m_problem.reads_c()) c.load(member, m_problem.c, first, count);
    member.team_barrier();
    const int lane = member.team_rank();
    if (lane * width < count) {
      using Matrix = typename Tile::Matrix;
      const Matrix result = c.matrix(lane);
      lane::gemm<N>(static_cast<int>(m_problem.m()), static_cast<int>(m_problem.n()),
                    static_cast<int>(m_problem.k()), broadcast<V>(m_problem.alpha),
                    Operand<Matrix>{a.matrix(lane), m_problem.conj_a},
                    Operand<Matrix>{b.matrix(lane), m_problem.conj_b}, broadcast<V>(m_problem.beta),
                    m_problem.reads_c(), result,
                    [&](int i, int j, const V& x) { result.set(i, j, x); });
    }
    member.team_barrier();
    c.store(member, m_problem.c, first, count);
    if (m_per_team > m_lanes) member.team_barrier(); // the next run overwrites the tiles
  }
};

} // namespace shoal::detail

#endif
