// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BENCHMARKS_CUDA_SUPPORT_HPP
#define SHOAL_BENCHMARKS_CUDA_SUPPORT_HPP

#include "benchmarks/rivals/rival.hpp"

#include <algorithm>
#include <cstddef>
#include <cuComplex.h>
#include <cuda_runtime.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {

inline void check_cuda(cudaError_t status, const char* call) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

/// The vendor's own name of a scalar.
template <class T>
using CudaScalar = std::conditional_t<
    std::is_same_v<T, std::complex<float>>, cuComplex,
    std::conditional_t<std::is_same_v<T, std::complex<double>>, cuDoubleComplex, T>>;

template <class T>
CudaScalar<T>* cuda(T* p) {
  return reinterpret_cast<CudaScalar<T>*>(p);
}
template <class T>
const CudaScalar<T>* cuda(const T* p) {
  return reinterpret_cast<const CudaScalar<T>*>(p);
}

/// Device memory that goes when the last copy of the pointer goes.
template <class T>
std::shared_ptr<T> device_memory(std::size_t count) {
  void* memory = nullptr;
  check_cuda(cudaMalloc(&memory, std::max<std::size_t>(1, count) * sizeof(T)),
             "cudaMalloc of workspace");
  return {static_cast<T*>(memory), [](T* p) { cudaFree(p); }};
}

/// The same filled with what stands in a vector.
template <class T>
std::shared_ptr<T> on_device(const std::vector<T>& host) {
  const auto device = device_memory<T>(host.size());
  check_cuda(cudaMemcpy(device.get(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
             "cudaMemcpy");
  return device;
}

/// Bounds of the vendor's int arguments.
inline std::string too_many(std::int64_t batch) {
  return batch > std::numeric_limits<int>::max() ? "takes fewer than 2^31 matrices" : std::string();
}

} // namespace bench

#endif
