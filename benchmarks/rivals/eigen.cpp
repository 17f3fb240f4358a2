// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over Eigen: matrices whose size the compiler knows where that is worth it, dynamic ones
// otherwise.
#include "benchmarks/rivals/rival.hpp"

#include <Eigen/Core>
#include <Eigen/SVD>
#include <algorithm>

namespace bench {

namespace {

using Eigen::Dynamic;

template <class T, int M, int N, int K>
void multiply(const GemmShape& shape, const GemmArrays<T>& x) {
  const std::int64_t m = shape.m, n = shape.n, k = shape.k;
  const auto one = [&](std::int64_t j) {
    const Eigen::Map<const Eigen::Matrix<T, M, K>> a(x.a + j * m * k, shape.m, shape.k);
    const Eigen::Map<const Eigen::Matrix<T, K, N>> b(x.b + j * k * n, shape.k, shape.n);
    Eigen::Map<Eigen::Matrix<T, M, N>> c(x.c + j * m * n, shape.m, shape.n);
    c.noalias() = a * b;
  };
  if (shape.batch == 1) return one(0); // Eigen's own threads
#pragma omp parallel for
  for (std::int64_t j = 0; j < shape.batch; ++j) one(j);
}

template <class T>
using Multiply = void (*)(const GemmShape&, const GemmArrays<T>&);

/// The first of the fixed sizes that is the shape, or else the dynamic one.
template <class T, int N, int... Ns>
Multiply<T> square(const GemmShape& s) {
  if (s.m == N && s.n == N && s.k == N) return multiply<T, N, N, N>;
  if constexpr (sizeof...(Ns) > 0) return square<T, Ns...>(s);
  else return multiply<T, Dynamic, Dynamic, Dynamic>;
}
template <class T>
Multiply<T> chosen(const GemmShape& s) {
  if (s.m == 15 && s.n == 3 && s.k == 3) return multiply<T, 15, 3, 3>;
  if (s.m == 3 && s.n == 3 && s.k == 15) return multiply<T, 3, 3, 15>;
  if constexpr (is_complex<T>) return square<T, 2, 3, 4>(s);
  else return square<T, 2, 3, 4, 5, 6, 7, 8, 12, 16>(s);
}

/// Most bounds m and n, so that nothing is allocated; Dynamic for any size.
template <class T, int Most>
void decompose(const SvdShape& shape, const SvdArrays<T>& x) {
  using Matrix = Eigen::Matrix<T, Dynamic, Dynamic, Eigen::ColMajor, Most, Most>;
  using Any = Eigen::Matrix<T, Dynamic, Dynamic>;
  const std::int64_t m = shape.m, n = shape.n, k = std::min(m, n);
  const unsigned wanted = shape.vectors ? Eigen::ComputeThinU | Eigen::ComputeThinV : 0;
#pragma omp parallel
  {
    Eigen::JacobiSVD<Matrix> svd(shape.m, shape.n, wanted);
#pragma omp for
    for (std::int64_t j = 0; j < shape.batch; ++j) {
      svd.compute(Eigen::Map<const Any>(x.a + j * m * n, m, n));
      Eigen::Map<Eigen::Matrix<Real<T>, Dynamic, 1>>(x.s + j * k, k) = svd.singularValues();
      if (shape.vectors) {
        Eigen::Map<Any>(x.u + j * m * k, m, k) = svd.matrixU();
        Eigen::Map<Any>(x.right + j * n * k, n, k) = svd.matrixV();
      }
      x.info[j] = svd.info() == Eigen::Success ? 0 : 1;
    }
  }
}

template <class T>
using Decompose = void (*)(const SvdShape&, const SvdArrays<T>&);

template <class T>
Decompose<T> chosen(const SvdShape& s) {
  return std::max(s.m, s.n) <= 16 ? decompose<T, 16> : decompose<T, Dynamic>;
}

} // namespace

template <class T>
void add_eigen(Rivals<T>& rivals, void*) {
  const std::string version = std::to_string(EIGEN_WORLD_VERSION) + "." +
                              std::to_string(EIGEN_MAJOR_VERSION) + "." +
                              std::to_string(EIGEN_MINOR_VERSION);
  GemmRival<T> product;
  product.name = "Eigen product, loop";
  product.version = version;
  product.prepare = [](const GemmShape& shape, const std::vector<GemmArrays<T>>& sets) {
    return [shape, &sets, f = chosen<T>(shape)](int i) {
      f(shape, sets[static_cast<std::size_t>(i)]);
    };
  };
  rivals.gemm.push_back(product);

  SvdRival<T> svd;
  svd.name = "Eigen JacobiSVD, loop";
  svd.version = version;
  svd.tolerance = "Eigen's own (2 eps)";
  svd.returns_v = true;
  svd.prepare = [](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
    return [shape, &sets, f = chosen<T>(shape)](int i) {
      f(shape, sets[static_cast<std::size_t>(i)]);
    };
  };
  rivals.svd.push_back(svd);
}

SHOAL_BENCH_INSTANTIATE(add_eigen);

} // namespace bench
