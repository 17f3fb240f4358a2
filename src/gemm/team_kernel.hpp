// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_GEMM_TEAM_KERNEL_HPP
#define SHOAL_SRC_GEMM_TEAM_KERNEL_HPP

#include "src/gemm/problem.hpp"

#include <shoal/plan.hpp>
#include <shoal/team/gemm.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace shoal::detail {

/// One product a team at a time, operands read from device memory: every shape.
template <class Exec, class T>
class TeamGemmKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  TeamGemmKernel(const GemmPlan& plan, const GemmProblem<T>& problem)
      : m_problem(problem), m_per_team(plan.matrices_per_team) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const std::int64_t begin = static_cast<std::int64_t>(member.league_rank()) * m_per_team;
    for (std::int64_t b = begin; b < begin + m_per_team && b < m_problem.c.batch; ++b)
      team::gemm(member, m_problem.conj_a ? Op::conj_transpose : Op::none,
                 m_problem.conj_b ? Op::conj_transpose : Op::none, m_problem.alpha,
                 operand(m_problem.a, b, m_problem.conj_a),
                 operand(m_problem.b, b, m_problem.conj_b), m_problem.beta, m_problem.c.matrix(b));
  }

private:
  GemmProblem<T> m_problem;
  std::int64_t m_per_team;

  /// The problem has transposed already; team::gemm knows conjugation only together with a
  /// transpose.
  KOKKOS_FUNCTION static MatrixRef<const T> operand(const BatchRef<const T>& batch, std::int64_t b,
                                                    bool transpose_back) {
    const MatrixRef<const T> x = batch.matrix(b);
    if (!transpose_back) return x;
    return {x.data, x.cols, x.rows, x.col_stride, x.row_stride};
  }
};

} // namespace shoal::detail

#endif
