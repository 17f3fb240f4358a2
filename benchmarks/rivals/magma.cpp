// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MAGMA 2.10 or later: gesvj_batched_strided (one-sided Jacobi) and gesvj_qr_batched (after a QR),
// both through their expert interface with workspace outside the timing, and gemm_batched_strided.
#include "benchmarks/rivals/cuda_support.hpp"

#include <magma_v2.h>

namespace bench {

namespace {

void check(magma_int_t status, const char* call) {
  if (status != 0)
    throw std::runtime_error(std::string(call) + ": status " + std::to_string(status));
}

/// The functions of one scalar.
template <class T>
struct Api;
#define SHOAL_BENCH_MAGMA_API(type, letter)                                                        \
  template <>                                                                                      \
  struct Api<type> {                                                                               \
    static constexpr auto jacobi = magma_##letter##gesvj_expert_batched_strided;                   \
    static constexpr auto jacobi_qr = magma_##letter##gesvj_qr_expert_batched;                     \
    static constexpr auto gemm = magmablas_##letter##gemm_batched_strided;                         \
  }
SHOAL_BENCH_MAGMA_API(float, s);
SHOAL_BENCH_MAGMA_API(double, d);
SHOAL_BENCH_MAGMA_API(std::complex<float>, c);
SHOAL_BENCH_MAGMA_API(std::complex<double>, z);
#undef SHOAL_BENCH_MAGMA_API

using Queue = std::shared_ptr<std::remove_pointer_t<magma_queue_t>>;

Queue make_queue(void* stream) {
  check(magma_init(), "magma_init");
  magma_device_t device;
  magma_getdevice(&device);
  magma_queue_t queue;
  magma_queue_create_from_cuda(device, static_cast<cudaStream_t>(stream), nullptr, nullptr, &queue);
  return {queue, [](magma_queue_t q) { magma_queue_destroy(q); }};
}

/// What the library asks for; its own arithmetic may overflow, and then it asks for less than none.
std::shared_ptr<char> workspace(std::int64_t bytes) {
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  if (bytes < 0 || static_cast<std::size_t>(bytes) > free)
    throw std::runtime_error("asks for " + std::to_string(bytes / 1'000'000) + " MB of workspace");
  return device_memory<char>(static_cast<std::size_t>(bytes));
}

magma_vec_t job(const SvdShape& shape) { return shape.vectors ? MagmaSomeVec : MagmaNoVec; }

/// Offsets into its arrays are ints.
std::string too_large(std::int64_t elements) {
  return elements > std::numeric_limits<int>::max() ? "takes arrays of fewer than 2^31 elements"
                                                    : "";
}

template <class T>
SvdRival<T> svd_rival(const std::string& name, const std::string& version) {
  SvdRival<T> rival;
  rival.name = "MAGMA " + name;
  rival.version = version;
  rival.tolerance = "30 eps, 100 sweeps at most";
  rival.returns_v = true;
  rival.refusal = [](const SvdShape& s) { return too_large(s.batch * s.m * s.n); };
  return rival;
}

template <class T>
SvdRival<T> jacobi(const Queue& queue, const std::string& version) {
  SvdRival<T> rival = svd_rival<T>("gesvj_batched", version);
  rival.prepare = [queue](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
    const int m = shape.m, n = shape.n, k = std::min(m, n), batch = static_cast<int>(shape.batch);
    const auto call = [=](const SvdArrays<T>& x, void* work, std::int64_t* lwork) {
      check(Api<T>::jacobi(job(shape), job(shape), m, n, cuda(x.a), m, m * n, x.s, k, cuda(x.u), m,
                           m * k, cuda(x.right), n, n * k, x.info, work, lwork, batch, queue.get()),
            "gesvj_expert_batched_strided");
    };
    std::int64_t lwork = -1;
    call(sets.front(), nullptr, &lwork);
    const auto work = workspace(lwork);
    return [=, &sets](int i) {
      std::int64_t size = lwork;
      call(sets[static_cast<std::size_t>(i)], work.get(), &size);
    };
  };
  return rival;
}

/// Arrays of pointers to the matrices of each set.
template <class T>
std::shared_ptr<T*> pointers(const std::vector<T*>& first, std::int64_t batch,
                             std::int64_t stride) {
  std::vector<T*> host;
  for (T* const p : first)
    for (std::int64_t j = 0; j < batch; ++j) host.push_back(p ? p + j * stride : nullptr);
  return on_device(host);
}

template <class T>
SvdRival<T> jacobi_after_qr(const Queue& queue, const std::string& version) {
  using S = CudaScalar<T>;
  SvdRival<T> rival = svd_rival<T>("gesvj_qr_batched", version);
  rival.prepare = [queue](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
    const std::int64_t m = shape.m, n = shape.n, k = std::min(m, n), batch = shape.batch;
    std::vector<S*> first_a, first_u, first_v;
    std::vector<Real<T>*> first_s;
    for (const auto& x : sets) {
      first_a.push_back(cuda(x.a));
      first_s.push_back(x.s);
      first_u.push_back(cuda(x.u));
      first_v.push_back(cuda(x.right));
    }
    const auto a = pointers(first_a, batch, m * n), u = pointers(first_u, batch, m * k),
               v = pointers(first_v, batch, n * k);
    const auto s = pointers(first_s, batch, k);
    const auto call = [=, &sets](int i, void* work, std::int64_t* lwork) {
      check(Api<T>::jacobi_qr(job(shape), job(shape), shape.m, shape.n, a.get() + i * batch,
                              shape.m, s.get() + i * batch, u.get() + i * batch, shape.m,
                              v.get() + i * batch, shape.n, sets[static_cast<std::size_t>(i)].info,
                              work, lwork, static_cast<int>(batch), queue.get()),
            "gesvj_qr_expert_batched");
    };
    std::int64_t lwork = -1;
    call(0, nullptr, &lwork);
    const auto work = workspace(lwork);
    return [=](int i) {
      std::int64_t size = lwork;
      call(i, work.get(), &size);
    };
  };
  return rival;
}

template <class T>
GemmRival<T> gemm(const Queue& queue, const std::string& version) {
  GemmRival<T> rival;
  rival.name = "MAGMA gemm_batched";
  rival.version = version;
  rival.refusal = [](const GemmShape& s) {
    return too_large(s.batch * std::max({s.m * s.k, s.k * s.n, s.m * s.n}));
  };
  rival.prepare = [queue](const GemmShape& shape, const std::vector<GemmArrays<T>>& sets) {
    return [queue, shape, &sets](int i) {
      const auto& x = sets[static_cast<std::size_t>(i)];
      const int m = shape.m, n = shape.n, k = shape.k;
      const T one = 1, zero = 0;
      Api<T>::gemm(MagmaNoTrans, MagmaNoTrans, m, n, k, *cuda(&one), cuda(x.a), m, m * k, cuda(x.b),
                   k, k * n, *cuda(&zero), cuda(x.c), m, m * n, static_cast<int>(shape.batch),
                   queue.get());
    };
  };
  return rival;
}

} // namespace

template <class T>
void add_magma(Rivals<T>& rivals, void* stream) {
  const Queue queue = make_queue(stream);
  const std::string version = std::to_string(MAGMA_VERSION_MAJOR) + "." +
                              std::to_string(MAGMA_VERSION_MINOR) + "." +
                              std::to_string(MAGMA_VERSION_MICRO);
  rivals.gemm.push_back(gemm<T>(queue, version));
  rivals.svd.push_back(jacobi<T>(queue, version));
  rivals.svd.push_back(jacobi_after_qr<T>(queue, version));
}

SHOAL_BENCH_INSTANTIATE(add_magma);

} // namespace bench
