// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "src/gemm/vendor.hpp"

#include <shoal/detail/backends/openmp/traits.hpp>
#include <shoal/detail/launch.hpp>

#include <algorithm>
#include <cblas.h>
#include <cstdint>
#include <mutex>

/// \file
/// Products by a CBLAS, on the threads of the Kokkos instance: each calls it for blocks of C or for
/// whole matrices, and the library uses no threads of its own. Threads of its own would be a second
/// pool beside OpenMP's on the same cores, of another size than the instance, and on one core where
/// OpenMP binds its threads before the pool starts.
namespace shoal::detail {

namespace {

/// While one of these lives OpenBLAS works on the thread that calls it. Its number of threads is a
/// setting of the whole process: the last call that ends gives it back.
class NoThreadsOfItsOwn {
public:
#if SHOAL_CBLAS_IS_OPENBLAS
  NoThreadsOfItsOwn() {
    const std::lock_guard lock(s_mutex);
    if (s_calls++ == 0) {
      s_before = openblas_get_num_threads();
      openblas_set_num_threads(1);
    }
  }
  ~NoThreadsOfItsOwn() {
    const std::lock_guard lock(s_mutex);
    if (--s_calls == 0) openblas_set_num_threads(s_before);
  }
  NoThreadsOfItsOwn(const NoThreadsOfItsOwn&) = delete;
  NoThreadsOfItsOwn& operator=(const NoThreadsOfItsOwn&) = delete;

private:
  static inline std::mutex s_mutex;
  static inline int s_calls = 0, s_before = 1;
#else
  NoThreadsOfItsOwn() {} // others have none inside a parallel region
#endif
};

CBLAS_TRANSPOSE letter(Op op) {
  return op == Op::none ? CblasNoTrans : op == Op::transpose ? CblasTrans : CblasConjTrans;
}

/// cblas_?gemm by the type of its arguments.
template <class T>
void call(Op op_a, Op op_b, int m, int n, int k, const T& alpha, const T* a, int lda, const T* b,
          int ldb, const T& beta, T* c, int ldc) {
  const auto with = [&](const auto& gemm, const auto& x, const auto& y) {
    gemm(CblasColMajor, letter(op_a), letter(op_b), m, n, k, x, a, lda, b, ldb, y, c, ldc);
  };
  if constexpr (std::is_same_v<T, float>) with(cblas_sgemm, alpha, beta);
  else if constexpr (std::is_same_v<T, double>) with(cblas_dgemm, alpha, beta);
  else if constexpr (std::is_same_v<T, Kokkos::complex<float>>) with(cblas_cgemm, &alpha, &beta);
  else with(cblas_zgemm, &alpha, &beta);
}

/// One block of C of each matrix of a team's share.
template <class T>
class CblasKernel {
public:
  using Member = Kokkos::TeamPolicy<Kokkos::OpenMP>::member_type;

  CblasKernel(const GemmPlan& plan, const GemmProblem<T>& problem)
      : m_form(blas_form(problem.a, problem.conj_a, problem.b, problem.conj_b, problem.c)),
        m_problem(m_form.transposed ? problem.transposed() : problem),
        m_per_team(plan.matrices_per_team), m_rows(m_form.transposed ? plan.block_n : plan.block_m),
        m_cols(m_form.transposed ? plan.block_m : plan.block_n),
        m_row_blocks((m_problem.m() + m_rows - 1) / m_rows),
        m_blocks(m_row_blocks * ((m_problem.n() + m_cols - 1) / m_cols)) {}

  void operator()(const Member& member) const {
    const std::int64_t group = member.league_rank() / m_blocks,
                       block = member.league_rank() % m_blocks;
    const std::int64_t row = block % m_row_blocks * m_rows, col = block / m_row_blocks * m_cols;
    const auto rows = static_cast<int>(std::min(m_rows, m_problem.m() - row)),
               cols = static_cast<int>(std::min(m_cols, m_problem.n() - col));
    const auto& [a, b, c] = std::tie(m_problem.a, m_problem.b, m_problem.c);
    const std::int64_t end = std::min(c.batch, (group + 1) * m_per_team);
    for (std::int64_t i = group * m_per_team; i < end; ++i)
      call(m_form.a.op, m_form.b.op, rows, cols, static_cast<int>(m_problem.k()),
           m_problem.alpha.value, a.matrix_data(i) + row * a.row_stride,
           static_cast<int>(m_form.a.ld), b.matrix_data(i) + col * b.col_stride,
           static_cast<int>(m_form.b.ld), m_problem.beta.value,
           c.matrix_data(i) + row * c.row_stride + col * c.col_stride,
           static_cast<int>(m_form.c.ld));
  }

private:
  BlasForm m_form;
  GemmProblem<T> m_problem;
  std::int64_t m_per_team, m_rows, m_cols, m_row_blocks, m_blocks;
};

} // namespace

template <class Exec, class T>
void vendor_gemm(const Exec& exec, const GemmPlan& plan, const GemmProblem<T>& problem) {
  const NoThreadsOfItsOwn quiet;
  launch<0>("shoal::gemm::vendor", exec, plan, CblasKernel<T>(plan, problem));
}

#define SHOAL_VENDOR_GEMM(T)                                                                       \
  template void vendor_gemm(const Kokkos::OpenMP&, const GemmPlan&, const GemmProblem<T>&);
SHOAL_VENDOR_GEMM(float)
SHOAL_VENDOR_GEMM(double)
SHOAL_VENDOR_GEMM(Kokkos::complex<float>)
SHOAL_VENDOR_GEMM(Kokkos::complex<double>)

} // namespace shoal::detail
