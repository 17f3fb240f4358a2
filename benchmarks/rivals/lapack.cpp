// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over LAPACK's gesdd (divide and conquer) and gesvj (one-sided Jacobi), one matrix a thread,
// with workspace that is allocated once.
#include "benchmarks/rivals/rival.hpp"

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <algorithm>
#include <cblas.h>
#include <lapacke.h>
#include <omp.h>
#include <type_traits>

namespace bench {

namespace {

/// One thread's memory.
template <class T>
struct Scratch {
  std::vector<T> a, work;
  std::vector<Real<T>> real_work;
  std::vector<int> int_work;
};

/// lwork of -1 stores the size that is wanted in scratch.work[0].
template <class T>
int gesdd(char job, const SvdShape& shape, T* a, Real<T>* s, T* u, T* vt, Scratch<T>& x,
          int lwork) {
  const int m = shape.m, n = shape.n, k = std::min(m, n);
  if constexpr (std::is_same_v<T, float>)
    return LAPACKE_sgesdd_work(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, m, vt, k, x.work.data(),
                               lwork, x.int_work.data());
  else if constexpr (std::is_same_v<T, double>)
    return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, m, vt, k, x.work.data(),
                               lwork, x.int_work.data());
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return LAPACKE_cgesdd_work(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, m, vt, k, x.work.data(),
                               lwork, x.real_work.data(), x.int_work.data());
  else
    return LAPACKE_zgesdd_work(LAPACK_COL_MAJOR, job, m, n, a, m, s, u, m, vt, k, x.work.data(),
                               lwork, x.real_work.data(), x.int_work.data());
}

/// U takes the place of A. job: 'U' and 'V' for vectors, 'N' and 'N' without.
template <class T>
int gesvj(const SvdShape& shape, T* a, Real<T>* s, T* v, Scratch<T>& x) {
  const int m = shape.m, n = shape.n;
  const char u_job = shape.vectors ? 'U' : 'N', v_job = shape.vectors ? 'V' : 'N';
  const int lwork = static_cast<int>(x.work.size());
  [[maybe_unused]] const int lrwork = static_cast<int>(x.real_work.size());
  int info;
  Real<T> scale;
  if constexpr (std::is_same_v<T, float>)
    info = LAPACKE_sgesvj_work(LAPACK_COL_MAJOR, 'G', u_job, v_job, m, n, a, m, s, 0, v, n,
                               x.work.data(), lwork);
  else if constexpr (std::is_same_v<T, double>)
    info = LAPACKE_dgesvj_work(LAPACK_COL_MAJOR, 'G', u_job, v_job, m, n, a, m, s, 0, v, n,
                               x.work.data(), lwork);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    info = LAPACKE_cgesvj_work(LAPACK_COL_MAJOR, 'G', u_job, v_job, m, n, a, m, s, 0, v, n,
                               x.work.data(), lwork, x.real_work.data(), lrwork);
  else
    info = LAPACKE_zgesvj_work(LAPACK_COL_MAJOR, 'G', u_job, v_job, m, n, a, m, s, 0, v, n,
                               x.work.data(), lwork, x.real_work.data(), lrwork);
  if constexpr (is_complex<T>) scale = x.real_work[0];
  else scale = x.work[0];
  if (scale != 1)
    for (int j = 0; j < n; ++j) s[j] *= scale;
  return info;
}

template <class T>
Scratch<T> gesdd_scratch(const SvdShape& shape) {
  const std::size_t m = static_cast<std::size_t>(shape.m), n = static_cast<std::size_t>(shape.n),
                    k = std::min(m, n), l = std::max(m, n);
  Scratch<T> x;
  x.a.resize(m * n);
  x.int_work.resize(8 * k);
  x.real_work.resize(is_complex<T> ? std::max(5 * k * k + 5 * k, 2 * l * k + 2 * k * k + k) : 1);
  x.work.resize(1);
  gesdd<T>(shape.vectors ? 'S' : 'N', shape, x.a.data(), nullptr, nullptr, nullptr, x, -1);
  x.work.resize(static_cast<std::size_t>(std::real(x.work[0])) + 1);
  return x;
}

template <class T>
Scratch<T> gesvj_scratch(const SvdShape& shape) {
  const std::size_t m = static_cast<std::size_t>(shape.m), n = static_cast<std::size_t>(shape.n);
  Scratch<T> x;
  x.a.resize(m * n);
  x.work.resize(std::max<std::size_t>(6, m + n));
  x.real_work.resize(std::max<std::size_t>(6, m + n));
  return x;
}

} // namespace

template <class T>
void add_lapack(Rivals<T>& rivals, void*) {
  openblas_set_num_threads(1);
  const auto threads = [] { return static_cast<std::size_t>(omp_get_max_threads()); };

  SvdRival<T> dd;
  dd.name = "LAPACK gesdd, loop";
  dd.version = openblas_get_config();
  dd.tolerance = "LAPACK's own (u)";
  dd.prepare = [threads](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
    std::vector<Scratch<T>> scratch(threads(), gesdd_scratch<T>(shape));
    return [shape, &sets, scratch](int i) mutable {
      const SvdArrays<T>& x = sets[static_cast<std::size_t>(i)];
      const std::int64_t m = shape.m, n = shape.n, k = std::min(m, n);
#pragma omp parallel for
      for (std::int64_t j = 0; j < shape.batch; ++j) {
        Scratch<T>& mine = scratch[static_cast<std::size_t>(omp_get_thread_num())];
        std::copy_n(x.a + j * m * n, m * n, mine.a.data()); // gesdd overwrites it
        x.info[j] = gesdd<T>(shape.vectors ? 'S' : 'N', shape, mine.a.data(), x.s + j * k,
                             shape.vectors ? x.u + j * m * k : nullptr,
                             shape.vectors ? x.right + j * k * n : nullptr, mine,
                             static_cast<int>(mine.work.size()));
      }
    };
  };
  rivals.svd.push_back(dd);

  SvdRival<T> vj;
  vj.name = "LAPACK gesvj, loop";
  vj.version = dd.version;
  vj.tolerance = dd.tolerance;
  vj.returns_v = true;
  vj.refusal = [](const SvdShape& shape) {
    return shape.m < shape.n ? std::string("takes m >= n only") : std::string();
  };
  vj.prepare = [threads](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
    std::vector<Scratch<T>> scratch(threads(), gesvj_scratch<T>(shape));
    return [shape, &sets, scratch](int i) mutable {
      const SvdArrays<T>& x = sets[static_cast<std::size_t>(i)];
      const std::int64_t m = shape.m, n = shape.n;
#pragma omp parallel for
      for (std::int64_t j = 0; j < shape.batch; ++j) {
        Scratch<T>& mine = scratch[static_cast<std::size_t>(omp_get_thread_num())];
        T* const a = shape.vectors ? x.u + j * m * n : mine.a.data();
        std::copy_n(x.a + j * m * n, m * n, a);
        x.info[j] =
            gesvj<T>(shape, a, x.s + j * n, shape.vectors ? x.right + j * n * n : nullptr, mine);
      }
    };
  };
  rivals.svd.push_back(vj);
}

SHOAL_BENCH_INSTANTIATE(add_lapack);

} // namespace bench
