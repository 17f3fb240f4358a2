// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop over OpenBLAS's gemm: one matrix a thread, and all threads on a single large product.
#include "benchmarks/rivals/rival.hpp"

#include <cblas.h>
#include <omp.h>

namespace bench {

namespace {

void gemm(int m, int n, int k, const float* a, const float* b, float* c) {
  cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, m, b, k, 0, c, m);
}
void gemm(int m, int n, int k, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, m, b, k, 0, c, m);
}
void gemm(int m, int n, int k, const std::complex<float>* a, const std::complex<float>* b,
          std::complex<float>* c) {
  const std::complex<float> one = 1, zero = 0;
  cblas_cgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, &one, a, m, b, k, &zero, c, m);
}
void gemm(int m, int n, int k, const std::complex<double>* a, const std::complex<double>* b,
          std::complex<double>* c) {
  const std::complex<double> one = 1, zero = 0;
  cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, &one, a, m, b, k, &zero, c, m);
}

} // namespace

template <class T>
void add_openblas(Rivals<T>& rivals, void*) {
  GemmRival<T> rival;
  rival.name = "OpenBLAS gemm, loop";
  rival.version = openblas_get_config();
  rival.prepare = [](const GemmShape& shape, const std::vector<GemmArrays<T>>& sets) {
    return [shape, &sets](int i) {
      const auto [a, b, c] = sets[static_cast<std::size_t>(i)];
      const std::int64_t m = shape.m, n = shape.n, k = shape.k;
      if (shape.batch == 1) {
        openblas_set_num_threads(omp_get_max_threads());
        gemm(shape.m, shape.n, shape.k, a, b, c);
        openblas_set_num_threads(1);
        return;
      }
#pragma omp parallel for
      for (std::int64_t j = 0; j < shape.batch; ++j)
        gemm(shape.m, shape.n, shape.k, a + j * m * k, b + j * k * n, c + j * m * n);
    };
  };
  openblas_set_num_threads(1);
  rivals.gemm.push_back(rival);
}

SHOAL_BENCH_INSTANTIATE(add_openblas);

} // namespace bench
