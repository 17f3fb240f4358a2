// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_GEMM_TEAM_KERNEL_HPP
#define SHOAL_DETAIL_GEMM_TEAM_KERNEL_HPP

#include <shoal/detail/gemm/epilogue.hpp>
#include <shoal/detail/gemm/problem.hpp>
#include <shoal/plan.hpp>
#include <shoal/team/gemm.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace shoal::detail {

/// One product a team at a time, operands read from device memory: every shape, also batches whose
/// sizes differ. A product whose sizes do not agree gives NaN.
template <class Exec, class T, class Epilogue>
class TeamGemmKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  TeamGemmKernel(const GemmPlan& plan, const GemmProblem<T>& problem, const Epilogue& epilogue)
      : m_problem(problem), m_per_team(plan.matrices_per_team), m_epilogue(epilogue) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const std::int64_t begin = static_cast<std::int64_t>(member.league_rank()) * m_per_team;
    for (std::int64_t i = begin; i < begin + m_per_team && i < m_problem.c.batch; ++i) {
      const GemmProblem<T> product = m_problem.one(i);
      const MatrixRef<T> c = product.c.matrix(0);
      if (product.fits(m_problem)) {
        const auto multiply = [&](const auto& epilogue) {
          team::gemm(member, product.conj_a ? Op::conj_transpose : Op::none,
                     product.conj_b ? Op::conj_transpose : Op::none, product.alpha.value,
                     operand(product.a, product.conj_a), operand(product.b, product.conj_b),
                     product.beta.value, c, epilogue);
        };
        if constexpr (has_epilogue<Epilogue>)
          multiply([&](const arithmetic_t<T>& value, int row, int col) {
            return finished(m_epilogue, value, i, std::int64_t(row), std::int64_t(col));
          });
        else multiply(m_epilogue);
      } else {
        Kokkos::parallel_for(Kokkos::TeamVectorRange(member, c.rows > 0 ? c.rows : 0),
                             [&](int row) {
                               for (int col = 0; col < c.cols; ++col)
                                 c(row, col) = not_a_number<T>();
                             });
      }
    }
  }

private:
  GemmProblem<T> m_problem;
  std::int64_t m_per_team;
  Epilogue m_epilogue;

  /// The problem has transposed already; team::gemm knows conjugation only together with a
  /// transpose.
  KOKKOS_FUNCTION static MatrixRef<const T> operand(const BatchRef<const T>& batch,
                                                    bool transpose_back) {
    const MatrixRef<const T> x = batch.matrix(0);
    if (!transpose_back) return x;
    return {x.data, x.cols, x.rows, x.col_stride, x.row_stride};
  }
};

} // namespace shoal::detail

#endif
