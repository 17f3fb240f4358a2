// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "src/gemm/vendor.hpp"

#include <shoal/detail/backends/cuda/traits.hpp>
#include <shoal/error.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

/// \file
/// Products by cuBLAS, a whole batch in one call on the instance's stream.
namespace shoal::detail {

namespace {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw backend_error(std::string("shoal::gemm: ") + call + ": " + cublasGetStatusString(status));
}
void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess)
    throw backend_error(std::string("shoal::gemm: ") + call + ": " + cudaGetErrorString(status));
}

/// The device of an instance is the current one while this lives.
class CurrentDevice {
public:
  explicit CurrentDevice(int device) {
    check(cudaGetDevice(&m_before), "cudaGetDevice");
    if (m_before != device) check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~CurrentDevice() { cudaSetDevice(m_before); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
  int m_before = 0;
};

/// Memory may be allocated while this lives, also where the stream's calls are being recorded.
class AllocationInCapture {
public:
  AllocationInCapture() { cudaThreadExchangeStreamCaptureMode(&m_mode); }
  ~AllocationInCapture() { cudaThreadExchangeStreamCaptureMode(&m_mode); }
  AllocationInCapture(const AllocationInCapture&) = delete;
  AllocationInCapture& operator=(const AllocationInCapture&) = delete;

private:
  cudaStreamCaptureMode m_mode = cudaStreamCaptureModeRelaxed;
};

/// cuBLAS for one stream. The work space is the stream's own: from cuBLAS's pool work of two
/// streams could share it, and a recorded graph could not be replayed beside other work.
struct Library {
  cublasHandle_t handle = nullptr;
  void* workspace = nullptr;
  std::mutex mutex; ///< a handle is for one thread at a time

  Library() {
    const AllocationInCapture allocation;
    check(cublasCreate(&handle), "cublasCreate");
    check(cudaMalloc(&workspace, cuda_tuning::vendor_workspace_bytes), "cudaMalloc");
    // Sums in the type of the computation throughout, also where they are split.
    check(cublasSetMathMode(
              handle, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
          "cublasSetMathMode");
  }
  ~Library() {
    if (workspace) cudaFree(workspace);
    if (handle) cublasDestroy(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

/// That of an instance, made at its first call and kept until Kokkos ends.
Library& library_of(const Kokkos::Cuda& exec) {
  static std::mutex mutex;
  static std::map<std::pair<int, cudaStream_t>, std::unique_ptr<Library>> libraries;
  const std::lock_guard lock(mutex);
  if (libraries.empty()) Kokkos::push_finalize_hook([] { libraries.clear(); });
  auto& library = libraries[{exec.cuda_device(), exec.cuda_stream()}];
  if (!library) library = std::make_unique<Library>();
  return *library;
}

cublasOperation_t letter(Op op) {
  return op == Op::none ? CUBLAS_OP_N : op == Op::transpose ? CUBLAS_OP_T : CUBLAS_OP_C;
}

template <class T>
constexpr cudaDataType type_of = std::is_same_v<T, float>                    ? CUDA_R_32F
                                 : std::is_same_v<T, double>                 ? CUDA_R_64F
                                 : std::is_same_v<T, Kokkos::complex<float>> ? CUDA_C_32F
                                                                             : CUDA_C_64F;

template <class T>
constexpr cublasComputeType_t compute_type =
    sizeof(number_t<T>) == sizeof(double) ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;

/// Matrices [first, first + count). A single one has calls of its own, by which large products are
/// split between multiprocessors; arrays of pointers stay where they are.
template <class T>
void call(cublasHandle_t handle, const BlasForm& form, const GemmProblem<T>& problem,
          std::int64_t first, int count) {
  const auto op_a = letter(form.a.op), op_b = letter(form.b.op);
  const auto m = static_cast<int>(problem.m()), n = static_cast<int>(problem.n()),
             k = static_cast<int>(problem.k());
  const auto lda = static_cast<int>(form.a.ld), ldb = static_cast<int>(form.b.ld),
             ldc = static_cast<int>(form.c.ld);
  const auto& [a, b, c] = std::tie(problem.a, problem.b, problem.c);
  const T *const alpha = &problem.alpha.value, *const beta = &problem.beta.value;
  if (c.pointers) {
    const auto table = [&](const auto& x) {
      return reinterpret_cast<const void* const*>(x.pointers + first);
    };
    check(cublasGemmBatchedEx(handle, op_a, op_b, m, n, k, alpha, table(a), type_of<T>, lda,
                              table(b), type_of<T>, ldb, beta,
                              reinterpret_cast<void* const*>(c.pointers + first), type_of<T>, ldc,
                              count, compute_type<T>, CUBLAS_GEMM_DEFAULT),
          "cublasGemmBatchedEx");
  } else if (count == 1) {
    check(cublasGemmEx(handle, op_a, op_b, m, n, k, alpha, a.matrix_data(first), type_of<T>, lda,
                       b.matrix_data(first), type_of<T>, ldb, beta, c.matrix_data(first),
                       type_of<T>, ldc, compute_type<T>, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  } else {
    check(cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a.matrix_data(first),
                                     type_of<T>, lda, a.batch_stride, b.matrix_data(first),
                                     type_of<T>, ldb, b.batch_stride, beta, c.matrix_data(first),
                                     type_of<T>, ldc, c.batch_stride, count, compute_type<T>,
                                     CUBLAS_GEMM_DEFAULT),
          "cublasGemmStridedBatchedEx");
  }
}

} // namespace

template <class Exec, class T>
void vendor_gemm(const Exec& exec, const GemmPlan& plan, const GemmProblem<T>& given) {
  const BlasForm form = blas_form(given.a, given.conj_a, given.b, given.conj_b, given.c);
  const GemmProblem<T> problem = form.transposed ? given.transposed() : given;

  const CurrentDevice device(exec.cuda_device());
  Library& library = library_of(exec);
  const std::lock_guard lock(library.mutex);
  // Both each time: an address may have become another stream's, and a new stream takes the work
  // space away.
  check(cublasSetStream(library.handle, exec.cuda_stream()), "cublasSetStream");
  check(cublasSetWorkspace(library.handle, library.workspace, cuda_tuning::vendor_workspace_bytes),
        "cublasSetWorkspace");
  std::uint64_t kernel = 0; // Kokkos' tools see what runs
  if (Kokkos::Tools::profileLibraryLoaded())
    Kokkos::Tools::beginParallelFor("shoal::gemm::vendor",
                                    Kokkos::Tools::Experimental::device_id(exec), &kernel);
  const std::int64_t batch = problem.c.batch, most = plan.matrices_per_team;
  for (std::int64_t first = 0; first < batch; first += most)
    call(library.handle, form, problem, first, static_cast<int>(std::min(most, batch - first)));
  if (Kokkos::Tools::profileLibraryLoaded()) Kokkos::Tools::endParallelFor(kernel);
}

#define SHOAL_VENDOR_GEMM(T)                                                                       \
  template void vendor_gemm(const Kokkos::Cuda&, const GemmPlan&, const GemmProblem<T>&);
SHOAL_VENDOR_GEMM(float)
SHOAL_VENDOR_GEMM(double)
SHOAL_VENDOR_GEMM(Kokkos::complex<float>)
SHOAL_VENDOR_GEMM(Kokkos::complex<double>)

} // namespace shoal::detail
