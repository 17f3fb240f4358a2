// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/shoal/commands.hpp"
#include "tools/shoal/errors.hpp"
#include "tools/shoal/output.hpp"
#include "tools/shoal/progress.hpp"

#include <shoal/shoal.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <vector>

namespace shoal_cli {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Shape = std::vector<std::int64_t>;

std::string text_of(const Shape& shape) {
  std::string s = "(";
  for (const std::int64_t n : shape) s += std::to_string(n) + ", ";
  if (shape.size() > 1) s.resize(s.size() - 2);
  return s + ")";
}

/// One operand of a product as numpy.matmul sees it: a stack of matrices over broadcast dimensions.
struct Operand {
  const NpyFile& file;
  shoal::Op op;
  Shape shape, strides; ///< leading dimensions, then rows and columns as stored

  Operand(const NpyFile& f, shoal::Op o, bool is_left)
      : file(f), op(o), shape(f.shape()), strides(f.strides()) {
    if (shape.empty())
      throw BadInput(f.path() + ": a single number found, at least 1 dimension is needed");
    if (shape.size() == 1) { // a vector is a row on the left and a column on the right
      const std::ptrdiff_t where = is_left ? 0 : 1;
      shape.insert(shape.begin() + where, 1);
      strides.insert(strides.begin() + where, 0);
    }
  }
  std::size_t leading() const { return shape.size() - 2; }
  std::int64_t stored_rows() const { return shape[leading()]; }
  std::int64_t stored_cols() const { return shape[leading() + 1]; }
  std::int64_t rows() const { return op == shoal::Op::none ? stored_rows() : stored_cols(); }
  std::int64_t cols() const { return op == shoal::Op::none ? stored_cols() : stored_rows(); }
  std::int64_t matrices() const {
    std::int64_t n = 1;
    for (std::size_t d = 0; d < leading(); ++d) n *= shape[d];
    return n;
  }
  /// Where the matrix for index b of the broadcast shape starts: extents of 1 repeat.
  std::int64_t offset(const Shape& broadcast, std::int64_t b) const {
    std::int64_t at = 0;
    for (std::size_t d = broadcast.size(); d-- > 0;) {
      const std::int64_t i = b % broadcast[d];
      b /= broadcast[d];
      const std::size_t missing = broadcast.size() - leading();
      if (d >= missing && shape[d - missing] > 1) at += i * strides[d - missing];
    }
    return at;
  }
};

Shape broadcast(const Operand& a, const Operand& b) {
  Shape result(std::max(a.leading(), b.leading()));
  for (std::size_t x = 0; x < result.size(); ++x) {
    const auto extent = [&](const Operand& o) {
      return x < o.leading() ? o.shape[o.leading() - 1 - x] : 1;
    };
    const std::int64_t p = extent(a), q = extent(b);
    if (p != q && p != 1 && q != 1)
      throw BadInput(b.file.path() + ": shape " + text_of(b.file.shape()) +
                     " found, leading dimensions that broadcast with " + text_of(a.file.shape()) +
                     " of " + a.file.path() + " are needed");
    result[result.size() - 1 - x] = p == 1 ? q : p;
  }
  return result;
}

template <class T>
int multiply(const GemmRequest& request, const Operand& a, const Operand& b, Scalar scalar) {
  const Shape leading = broadcast(a, b);
  std::int64_t batch = 1;
  for (const std::int64_t n : leading) batch *= n;
  const std::int64_t m = a.rows(), k = a.cols(), n = b.cols();
  Shape out = leading;
  if (a.file.shape().size() > 1) out.push_back(m);
  if (b.file.shape().size() > 1) out.push_back(n);

  PendingFile output(request.output);
  const std::string header = npy_header(scalar, out);
  output.write(header.data(), header.size());

  // An operand that is one matrix for all is read once and repeated by a batch stride of 0.
  const bool one_a = a.matrices() == 1, one_b = b.matrices() == 1;
  const std::int64_t per_matrix =
      static_cast<std::int64_t>(sizeof(T)) * ((one_a ? 0 : m * k) + (one_b ? 0 : k * n) + m * n) +
      1;
  const std::int64_t chunk = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(request.chunk_megabytes * 1e6) / per_matrix, 1,
      std::max<std::int64_t>(batch, 1));
  using Matrices = Kokkos::View<T***, Kokkos::LayoutRight, Exec>;
  const Matrices device_a("shoal::cli::A", one_a ? 1 : chunk, a.stored_rows(), a.stored_cols());
  const Matrices device_b("shoal::cli::B", one_b ? 1 : chunk, b.stored_rows(), b.stored_cols());
  const Matrices device_c("shoal::cli::C", chunk, m, n);
  const auto host_a = Kokkos::create_mirror_view(device_a),
             host_b = Kokkos::create_mirror_view(device_b),
             host_c = Kokkos::create_mirror_view(device_c);
  const auto load = [&](const Operand& o, const auto& host, std::int64_t first,
                        std::int64_t count) {
    for (std::int64_t x = 0; x < count; ++x)
      o.file.read(o.offset(leading, first + x), o.stored_rows(), o.stored_cols(),
                  o.strides[o.leading()], o.strides[o.leading() + 1],
                  host.data() + x * o.stored_rows() * o.stored_cols());
  };
  const auto repeated = [&](const Matrices& x, bool one, std::int64_t count) {
    const auto rows = static_cast<std::int64_t>(x.extent(1)),
               cols = static_cast<std::int64_t>(x.extent(2));
    return shoal::strided_batch<typename Exec::memory_space>(x.data(), count, rows, cols,
                                                             one ? 0 : rows * cols, cols, 1);
  };
  const Exec exec;
  if (one_a) load(a, host_a, 0, batch > 0 ? 1 : 0);
  if (one_b) load(b, host_b, 0, batch > 0 ? 1 : 0);
  Progress progress(batch);
  const shoal::GemmOptions options{request.op_a, request.op_b};
  for (std::int64_t first = 0; first < batch; first += chunk) {
    stop_if_interrupted();
    progress.show(first);
    const std::int64_t count = std::min(chunk, batch - first);
    if (!one_a) load(a, host_a, first, count);
    if (!one_b) load(b, host_b, first, count);
    // Broadcast operands may be read again: only pages that no later matrix needs could be dropped,
    // and dropping more costs a read from disk, not correctness.
    a.file.forget(a.offset(leading, first));
    b.file.forget(b.offset(leading, first));
    Kokkos::deep_copy(exec, device_a, host_a);
    Kokkos::deep_copy(exec, device_b, host_b);
    shoal::gemm(exec, T(static_cast<typename shoal::detail::real_of<T>::type>(request.alpha)),
                repeated(device_a, one_a, count), repeated(device_b, one_b, count), T(0),
                repeated(device_c, false, count), options);
    Kokkos::deep_copy(exec, host_c, device_c);
    exec.fence();
    output.write(host_c.data(), static_cast<std::size_t>(count * m * n) * sizeof(T));
  }
  stop_if_interrupted();
  output.commit();
  return exit_ok;
}

} // namespace

int gemm_command(const GemmRequest& request) {
  const NpyFile file_a(request.a), file_b(request.b);
  const Operand a(file_a, request.op_a, true), b(file_b, request.op_b, false);
  if (a.cols() != b.rows())
    throw BadInput(request.b + ": shape " + text_of(file_b.shape()) + " found, " +
                   std::to_string(a.cols()) + " rows are needed for " + text_of(file_a.shape()) +
                   " of " + request.a);
  note_conversion(file_a);
  note_conversion(file_b);
  const Scalar scalar = promote(file_a.scalar(), file_b.scalar());
  switch (scalar) {
  case Scalar::f4: return multiply<float>(request, a, b, scalar);
  case Scalar::f8: return multiply<double>(request, a, b, scalar);
  case Scalar::c8: return multiply<Kokkos::complex<float>>(request, a, b, scalar);
  case Scalar::c16: return multiply<Kokkos::complex<double>>(request, a, b, scalar);
  }
  return exit_bad_input;
}

} // namespace shoal_cli
