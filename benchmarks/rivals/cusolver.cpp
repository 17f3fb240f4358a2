// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuSOLVER: gesvdjBatched, gesvdaStridedBatched, and loops over gesvdj and gesvd.
#include "benchmarks/rivals/cuda_support.hpp"

#include <cusolverDn.h>

namespace bench {

namespace {

void check(cusolverStatus_t status, const char* call) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + ": status " + std::to_string(status));
}

/// The functions of one scalar.
template <class T>
struct Api;
#define SHOAL_BENCH_CUSOLVER_API(type, letter)                                                     \
  template <>                                                                                      \
  struct Api<type> {                                                                               \
    static constexpr auto jacobi_batched = cusolverDn##letter##gesvdjBatched;                      \
    static constexpr auto jacobi_batched_size = cusolverDn##letter##gesvdjBatched_bufferSize;      \
    static constexpr auto approximate = cusolverDn##letter##gesvdaStridedBatched;                  \
    static constexpr auto approximate_size = cusolverDn##letter##gesvdaStridedBatched_bufferSize;  \
    static constexpr auto jacobi = cusolverDn##letter##gesvdj;                                     \
    static constexpr auto jacobi_size = cusolverDn##letter##gesvdj_bufferSize;                     \
    static constexpr auto qr = cusolverDn##letter##gesvd;                                          \
    static constexpr auto qr_size = cusolverDn##letter##gesvd_bufferSize;                          \
  }
SHOAL_BENCH_CUSOLVER_API(float, S);
SHOAL_BENCH_CUSOLVER_API(double, D);
SHOAL_BENCH_CUSOLVER_API(std::complex<float>, C);
SHOAL_BENCH_CUSOLVER_API(std::complex<double>, Z);
#undef SHOAL_BENCH_CUSOLVER_API

/// What all calls share.
struct Context {
  std::shared_ptr<cusolverDnContext> handle;
  std::shared_ptr<gesvdjInfo> jacobi; ///< default tolerance and sweeps, sorted values
  std::string version;
};

Context make_context(void* stream) {
  Context c;
  cusolverDnHandle_t handle;
  check(cusolverDnCreate(&handle), "cusolverDnCreate");
  c.handle = {handle, [](cusolverDnHandle_t h) { cusolverDnDestroy(h); }};
  check(cusolverDnSetStream(handle, static_cast<cudaStream_t>(stream)), "cusolverDnSetStream");
  gesvdjInfo_t info;
  check(cusolverDnCreateGesvdjInfo(&info), "cusolverDnCreateGesvdjInfo");
  c.jacobi = {info, [](gesvdjInfo_t i) { cusolverDnDestroyGesvdjInfo(i); }};
  for (const auto part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int value = 0;
    check(cusolverGetProperty(part, &value), "cusolverGetProperty");
    c.version += (c.version.empty() ? "" : ".") + std::to_string(value);
  }
  return c;
}

cusolverEigMode_t mode(const SvdShape& shape) {
  return shape.vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
}

std::string tall_only(const SvdShape& shape) {
  return shape.m < shape.n ? "takes m >= n only" : too_many(shape.batch);
}

template <class T>
SvdRival<T> rival_of(const Context& context, const std::string& name) {
  SvdRival<T> rival;
  rival.name = "cuSOLVER " + name;
  rival.version = context.version;
  rival.overwrites_input = true;
  rival.returns_v = true;
  rival.always_vectors = true;
  return rival;
}

template <class T>
SvdRival<T> jacobi_batched(const Context& context) {
  SvdRival<T> rival = rival_of<T>(context, "gesvdjBatched");
  rival.tolerance = "default (eps), 100 sweeps at most";
  rival.full_vectors = true; // it has no thin form
  rival.refusal = [](const SvdShape& shape) {
    return shape.m > 32 || shape.n > 32 ? "takes m, n <= 32 only" : too_many(shape.batch);
  };
  rival.prepare = [context](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
    const int m = shape.m, n = shape.n, batch = static_cast<int>(shape.batch);
    int lwork = 0;
    const auto& x = sets.front();
    check(Api<T>::jacobi_batched_size(context.handle.get(), mode(shape), m, n, cuda(x.a), m, x.s,
                                      cuda(x.u), m, cuda(x.right), n, &lwork, context.jacobi.get(),
                                      batch),
          "gesvdjBatched_bufferSize");
    const auto work = device_memory<CudaScalar<T>>(static_cast<std::size_t>(lwork));
    return [=, &sets](int i) {
      const auto& y = sets[static_cast<std::size_t>(i)];
      check(Api<T>::jacobi_batched(context.handle.get(), mode(shape), m, n, cuda(y.a), m, y.s,
                                   cuda(y.u), m, cuda(y.right), n, work.get(), lwork, y.info,
                                   context.jacobi.get(), batch),
            "gesvdjBatched");
    };
  };
  return rival;
}

template <class T>
SvdRival<T> approximate(const Context& context) {
  SvdRival<T> rival = rival_of<T>(context, "gesvdaStridedBatched");
  rival.tolerance = "none (eigenvalues of A^H A)";
  rival.refusal = tall_only;
  rival.prepare = [context](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
    const int m = shape.m, n = shape.n;
    const std::int64_t mn = std::int64_t(m) * n, nn = std::int64_t(n) * n;
    const auto& x = sets.front();
    // It counts its work space in int and refuses batches whose own does not fit: then in parts.
    std::int64_t part = shape.batch;
    int lwork = 0;
    const auto size = [&] {
      return Api<T>::approximate_size(context.handle.get(), mode(shape), n, m, n, cuda(x.a), m, mn,
                                      x.s, n, cuda(x.u), m, mn, cuda(x.right), n, nn, &lwork,
                                      static_cast<int>(part));
    };
    cusolverStatus_t status = size();
    while (status == CUSOLVER_STATUS_INVALID_VALUE && part > 1) {
      part = (part + 1) / 2;
      status = size();
    }
    check(status, "gesvdaStridedBatched_bufferSize");
    const auto work = device_memory<CudaScalar<T>>(static_cast<std::size_t>(lwork));
    return [=, &sets](int i) {
      const auto& y = sets[static_cast<std::size_t>(i)];
      for (std::int64_t from = 0; from < shape.batch; from += part)
        check(Api<T>::approximate(context.handle.get(), mode(shape), n, m, n, cuda(y.a + from * mn),
                                  m, mn, y.s + from * n, n, cuda(y.u + from * mn), m, mn,
                                  cuda(y.right + from * nn), n, nn, work.get(), lwork,
                                  y.info + from, nullptr, // null: no residuals, which is faster
                                  static_cast<int>(std::min(part, shape.batch - from))),
              "gesvdaStridedBatched");
    };
  };
  return rival;
}

template <class T>
SvdRival<T> jacobi_loop(const Context& context) {
  SvdRival<T> rival = rival_of<T>(context, "gesvdj, loop");
  rival.tolerance = "default (eps), 100 sweeps at most";
  rival.most_matrices = 50;
  rival.prepare = [context](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
    const int m = shape.m, n = shape.n, k = std::min(m, n);
    int lwork = 0;
    const auto& x = sets.front();
    check(Api<T>::jacobi_size(context.handle.get(), mode(shape), 1, m, n, cuda(x.a), m, x.s,
                              cuda(x.u), m, cuda(x.right), n, &lwork, context.jacobi.get()),
          "gesvdj_bufferSize");
    const auto work = device_memory<CudaScalar<T>>(static_cast<std::size_t>(lwork));
    return [=, &sets](int i) {
      const auto& y = sets[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < shape.batch; ++j)
        check(Api<T>::jacobi(context.handle.get(), mode(shape), 1, m, n, cuda(y.a + j * m * n), m,
                             y.s + j * k, cuda(y.u + j * m * k), m, cuda(y.right + j * n * k), n,
                             work.get(), lwork, y.info + j, context.jacobi.get()),
              "gesvdj");
    };
  };
  return rival;
}

template <class T>
SvdRival<T> qr_loop(const Context& context) {
  SvdRival<T> rival = rival_of<T>(context, "gesvd, loop");
  rival.tolerance = "its own";
  rival.returns_v = false;
  rival.most_matrices = 50;
  rival.refusal = tall_only;
  rival.prepare = [context](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
    const int m = shape.m, n = shape.n;
    int lwork = 0;
    check(Api<T>::qr_size(context.handle.get(), m, n, &lwork), "gesvd_bufferSize");
    const auto work = device_memory<CudaScalar<T>>(static_cast<std::size_t>(lwork));
    const auto real_work = device_memory<Real<T>>(static_cast<std::size_t>(n));
    const signed char job = shape.vectors ? 'S' : 'N';
    return [=, &sets](int i) {
      const auto& y = sets[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < shape.batch; ++j)
        check(Api<T>::qr(context.handle.get(), job, job, m, n, cuda(y.a + j * m * n), m,
                         y.s + j * n, cuda(y.u + j * m * n), m, cuda(y.right + j * n * n), n,
                         work.get(), lwork, real_work.get(), y.info + j),
              "gesvd");
    };
  };
  return rival;
}

} // namespace

template <class T>
void add_cusolver(Rivals<T>& rivals, void* stream) {
  const Context context = make_context(stream);
  rivals.svd.push_back(jacobi_batched<T>(context));
  rivals.svd.push_back(approximate<T>(context));
  rivals.svd.push_back(jacobi_loop<T>(context));
  rivals.svd.push_back(qr_loop<T>(context));
}

SHOAL_BENCH_INSTANTIATE(add_cusolver);

} // namespace bench
