// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuBLAS: strided batches, arrays of pointers and groups, in the default math mode (float without
// TF32).
#include "benchmarks/rivals/cuda_support.hpp"

#include <cublas_v2.h>

namespace bench {

namespace {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

/// The functions of one scalar.
template <class T>
struct Api;
template <>
struct Api<float> {
  static constexpr auto single = cublasSgemm;
  static constexpr auto strided = cublasSgemmStridedBatched;
  static constexpr auto pointers = cublasSgemmBatched;
};
template <>
struct Api<double> {
  static constexpr auto single = cublasDgemm;
  static constexpr auto strided = cublasDgemmStridedBatched;
  static constexpr auto pointers = cublasDgemmBatched;
};
template <>
struct Api<std::complex<float>> {
  static constexpr auto single = cublasCgemm;
  static constexpr auto strided = cublasCgemmStridedBatched;
  static constexpr auto pointers = cublasCgemmBatched;
};
template <>
struct Api<std::complex<double>> {
  static constexpr auto single = cublasZgemm;
  static constexpr auto strided = cublasZgemmStridedBatched;
  static constexpr auto pointers = cublasZgemmBatched;
};

/// Groups have no complex form.
cublasStatus_t grouped(cublasHandle_t h, const cublasOperation_t* op, const int* m, const int* n,
                       const int* k, const float* alpha, const float* const* a,
                       const float* const* b, const float* beta, float* const* c, const int* size) {
  return cublasSgemmGroupedBatched(h, op, op, m, n, k, alpha, a, m, b, k, beta, c, m, 1, size);
}
cublasStatus_t grouped(cublasHandle_t h, const cublasOperation_t* op, const int* m, const int* n,
                       const int* k, const double* alpha, const double* const* a,
                       const double* const* b, const double* beta, double* const* c,
                       const int* size) {
  return cublasDgemmGroupedBatched(h, op, op, m, n, k, alpha, a, m, b, k, beta, c, m, 1, size);
}

using Handle = std::shared_ptr<cublasContext>;

Handle make_handle(void* stream) {
  cublasHandle_t handle;
  check(cublasCreate(&handle), "cublasCreate");
  check(cublasSetStream(handle, static_cast<cudaStream_t>(stream)), "cublasSetStream");
  return {handle, [](cublasHandle_t h) { cublasDestroy(h); }};
}

template <class T>
GemmRival<T> strided(const Handle& handle, const std::string& version) {
  GemmRival<T> rival;
  rival.name = "cuBLAS strided";
  rival.version = version;
  rival.refusal = [](const GemmShape& shape) { return too_many(shape.batch); };
  rival.prepare = [handle](const GemmShape& shape, const std::vector<GemmArrays<T>>& sets) {
    return [handle, shape, &sets](int i) {
      const auto& x = sets[static_cast<std::size_t>(i)];
      const int m = shape.m, n = shape.n, k = shape.k;
      const T one = 1, zero = 0;
      if (shape.batch == 1)
        check(Api<T>::single(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, cuda(&one), cuda(x.a),
                             m, cuda(x.b), k, cuda(&zero), cuda(x.c), m),
              "cublas gemm");
      else
        check(Api<T>::strided(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, cuda(&one),
                              cuda(x.a), m, std::int64_t(m) * k, cuda(x.b), k, std::int64_t(k) * n,
                              cuda(&zero), cuda(x.c), m, std::int64_t(m) * n,
                              static_cast<int>(shape.batch)),
              "cublas gemmStridedBatched");
    };
  };
  return rival;
}

/// For each set the pointers to A, to B and to C.
template <class T>
std::shared_ptr<CudaScalar<T>*> pointers_of(const GemmShape& shape,
                                            const std::vector<GemmArrays<T>>& sets) {
  const std::int64_t batch = shape.batch, m = shape.m, n = shape.n, k = shape.k;
  std::vector<CudaScalar<T>*> host;
  host.reserve(3 * sets.size() * static_cast<std::size_t>(batch)); // hundreds of millions
  const auto add = [&](const T* first, std::int64_t stride) {
    for (std::int64_t j = 0; j < batch; ++j)
      host.push_back(cuda(const_cast<T*>(first + j * stride)));
  };
  for (const auto& x : sets) {
    add(x.a, m * k);
    add(x.b, k * n);
    add(x.c, m * n);
  }
  return on_device(host);
}

template <class T>
GemmRival<T> pointers(const Handle& handle, const std::string& version) {
  GemmRival<T> rival;
  rival.name = "cuBLAS pointers";
  rival.version = version;
  rival.refusal = [](const GemmShape& shape) { return too_many(shape.batch); };
  rival.prepare = [handle](const GemmShape& shape, const std::vector<GemmArrays<T>>& sets) {
    const auto device = pointers_of(shape, sets);
    return [handle, shape, device](int i) {
      const T one = 1, zero = 0;
      CudaScalar<T>** const a = device.get() + 3 * shape.batch * i;
      check(Api<T>::pointers(handle.get(), CUBLAS_OP_N, CUBLAS_OP_N, shape.m, shape.n, shape.k,
                             cuda(&one), a, shape.m, a + shape.batch, shape.k, cuda(&zero),
                             a + 2 * shape.batch, shape.m, static_cast<int>(shape.batch)),
            "cublas gemmBatched");
    };
  };
  return rival;
}

/// The whole batch as one group.
template <class T>
GemmRival<T> groups(const Handle& handle, const std::string& version) {
  GemmRival<T> rival;
  rival.name = "cuBLAS grouped";
  rival.version = version;
  rival.refusal = [](const GemmShape& shape) { return too_many(shape.batch); };
  if constexpr (is_complex<T>)
    rival.refusal = [](const GemmShape&) { return "has no complex groups"; };
  else
    rival.prepare = [handle](const GemmShape& shape, const std::vector<GemmArrays<T>>& sets) {
      const auto device = pointers_of(shape, sets);
      return [handle, shape, device](int i) {
        const T one = 1, zero = 0;
        const cublasOperation_t op = CUBLAS_OP_N;
        const int size = static_cast<int>(shape.batch);
        T** const a = device.get() + 3 * shape.batch * i;
        check(grouped(handle.get(), &op, &shape.m, &shape.n, &shape.k, &one, a, a + shape.batch,
                      &zero, a + 2 * shape.batch, &size),
              "cublas gemmGroupedBatched");
      };
    };
  return rival;
}

} // namespace

template <class T>
void add_cublas(Rivals<T>& rivals, void* stream) {
  const Handle handle = make_handle(stream);
  int number = 0;
  check(cublasGetVersion(handle.get(), &number), "cublasGetVersion");
  const std::string version = std::to_string(number / 10000) + "." +
                              std::to_string(number / 100 % 100) + "." +
                              std::to_string(number % 100);
  rivals.gemm.push_back(strided<T>(handle, version));
  rivals.gemm.push_back(pointers<T>(handle, version));
  rivals.gemm.push_back(groups<T>(handle, version));
}

SHOAL_BENCH_INSTANTIATE(add_cublas);

} // namespace bench
