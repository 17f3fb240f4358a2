// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/shoal/check.hpp"
#include "tools/shoal/commands.hpp"
#include "tools/shoal/errors.hpp"
#include "tools/shoal/output.hpp"
#include "tools/shoal/progress.hpp"

#include <shoal/shoal.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <vector>

namespace shoal_cli {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

std::int64_t product(const std::vector<std::int64_t>& shape, std::size_t count) {
  std::int64_t n = 1;
  for (std::size_t d = 0; d < count; ++d) n *= shape[d];
  return n;
}

/// Where matrix b of an array with any leading dimensions starts, in elements.
std::int64_t matrix_offset(const NpyFile& file, const std::vector<std::int64_t>& strides,
                           std::int64_t b) {
  std::int64_t offset = 0;
  for (std::size_t d = file.shape().size() - 2; d-- > 0;) {
    offset += b % file.shape()[d] * strides[d];
    b /= file.shape()[d];
  }
  return offset;
}

/// The indices of matrices whose info is not 0, for the report.
struct Failures {
  std::vector<std::int64_t> not_finite, not_converged;

  void report() const {
    list(not_finite, "hold NaN or Inf; their results are NaN");
    list(not_converged, "did not converge; their results are the best so far");
  }
  bool any() const { return !not_finite.empty() || !not_converged.empty(); }

private:
  static void list(const std::vector<std::int64_t>& indices, const char* what) {
    if (indices.empty()) return;
    constexpr std::size_t most = 20;
    std::fprintf(stderr, "shoal: %zu matrices %s:", indices.size(), what);
    for (std::size_t i = 0; i < std::min(most, indices.size()); ++i)
      std::fprintf(stderr, " %lld", static_cast<long long>(indices[i]));
    std::fprintf(stderr, indices.size() > most ? " ...\n" : "\n");
  }
};

template <class T>
int decompose(const SvdRequest& request, const NpyFile& file) {
  using R = typename shoal::detail::real_of<T>::type;
  using shoal::Vectors;
  const std::vector<std::int64_t>& shape = file.shape();
  const std::size_t leading = shape.size() - 2;
  const std::int64_t batch = product(shape, leading), m = shape[leading], n = shape[leading + 1];
  const std::int64_t k = request.rank < 0 ? std::min(m, n) : std::min({request.rank, m, n});
  const bool vectors = request.vectors != Vectors::none;
  const std::int64_t u_cols = !vectors ? 0 : request.vectors == Vectors::full ? m : k;
  const std::int64_t vt_rows = !vectors ? 0 : request.vectors == Vectors::full ? n : k;

  const auto with = [&](std::initializer_list<std::int64_t> last) {
    std::vector<std::int64_t> s(shape.begin(),
                                shape.begin() + static_cast<std::ptrdiff_t>(leading));
    s.insert(s.end(), last);
    return s;
  };
  const bool is_double = sizeof(R) == 8;
  NpzWriter npz(request.output);
  PendingFile* const u_file = vectors ? &npz.add("U", file.scalar(), with({m, u_cols})) : nullptr;
  PendingFile& s_file = npz.add("S", is_double ? Scalar::f8 : Scalar::f4, with({k}));
  PendingFile* const vt_file =
      vectors ? &npz.add("Vt", file.scalar(), with({vt_rows, n})) : nullptr;

  const std::int64_t per_matrix =
      static_cast<std::int64_t>(sizeof(T)) * (m * n + m * u_cols + vt_rows * n) +
      static_cast<std::int64_t>(sizeof(R)) * k + 4;
  const auto budget = static_cast<std::int64_t>(request.chunk_megabytes * 1e6);
  const std::int64_t chunk =
      std::clamp<std::int64_t>(budget / per_matrix, 1, std::max<std::int64_t>(batch, 1));

  using Matrices = Kokkos::View<T***, Kokkos::LayoutRight, Exec>;
  const auto make = [&](const std::string& label, std::int64_t rows, std::int64_t cols) {
    return Matrices(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), chunk, rows, cols);
  };
  const Matrices a = make("shoal::cli::A", m, n), u = make("shoal::cli::U", m, u_cols),
                 vt = make("shoal::cli::Vt", vt_rows, n);
  const Kokkos::View<R**, Kokkos::LayoutRight, Exec> s("shoal::cli::S", chunk, k);
  const Kokkos::View<int*, Exec> info("shoal::cli::info", chunk);
  const auto host_a = Kokkos::create_mirror_view(a), host_u = Kokkos::create_mirror_view(u),
             host_vt = Kokkos::create_mirror_view(vt);
  const auto host_s = Kokkos::create_mirror_view(s);
  const auto host_info = Kokkos::create_mirror_view(info);

  shoal::SvdOptions options;
  options.left = options.right = request.vectors;
  options.tolerance = request.tolerance;
  options.fix_signs = request.fix_signs;

  const std::vector<std::int64_t> strides = file.strides();
  const Exec exec;
  Progress progress(batch);
  Accuracy accuracy;
  Failures failures;
  for (std::int64_t first = 0; first < batch; first += chunk) {
    stop_if_interrupted();
    progress.show(first);
    const std::int64_t count = std::min(chunk, batch - first);
    for (std::int64_t b = 0; b < count; ++b)
      file.read(matrix_offset(file, strides, first + b), m, n, strides[leading],
                strides[leading + 1], host_a.data() + b * m * n);
    file.forget((first + count) * m * n);
    Kokkos::deep_copy(exec, a, host_a);
    const auto part = [&](const Matrices& x) {
      return Kokkos::subview(x, std::pair<std::int64_t, std::int64_t>(0, count), Kokkos::ALL,
                             Kokkos::ALL);
    };
    const auto part_s =
        Kokkos::subview(s, std::pair<std::int64_t, std::int64_t>(0, count), Kokkos::ALL);
    const auto part_info = Kokkos::subview(info, std::pair<std::int64_t, std::int64_t>(0, count));
    shoal::svd(exec, part(a), part(u), part_s, part(vt), part_info, options);
    Kokkos::deep_copy(exec, host_u, u);
    Kokkos::deep_copy(exec, host_s, s);
    Kokkos::deep_copy(exec, host_vt, vt);
    Kokkos::deep_copy(exec, host_info, info);
    exec.fence();
    if (u_file)
      u_file->write(host_u.data(), static_cast<std::size_t>(count * m * u_cols) * sizeof(T));
    s_file.write(host_s.data(), static_cast<std::size_t>(count * k) * sizeof(R));
    if (vt_file)
      vt_file->write(host_vt.data(), static_cast<std::size_t>(count * vt_rows * n) * sizeof(T));
    for (std::int64_t b = 0; b < count; ++b) {
      const int status = host_info(b);
      if (status < 0) failures.not_finite.push_back(first + b);
      if (status > 0) failures.not_converged.push_back(first + b);
      if (request.check && status == 0)
        accuracy.merge(accuracy_of(host_a, host_u, host_s, host_vt, static_cast<int>(b)));
    }
  }
  stop_if_interrupted();
  npz.commit();
  failures.report();
  if (request.check)
    std::printf("%lld matrices of %lld x %lld: worst residual %.2f, worst orthogonality %.2f, in "
                "units of u max(m, n) (at most 5)\n",
                static_cast<long long>(batch), static_cast<long long>(m), static_cast<long long>(n),
                accuracy.residual, accuracy.orthogonality);
  return failures.any() || (request.check && !accuracy.within_contract()) ? exit_some_failed
                                                                          : exit_ok;
}

} // namespace

void note_conversion(const NpyFile& file) {
  if (!file.converted_from().empty())
    std::fprintf(stderr, "shoal: note: %s: %s converted to %s\n", file.path().c_str(),
                 file.converted_from().c_str(), numpy_name(file.scalar()));
}

int svd_command(const SvdRequest& request) {
  const NpyFile file(request.input);
  if (file.shape().size() < 2)
    throw BadInput(request.input + ": " + std::to_string(file.shape().size()) +
                   " dimensions found, at least 2 are needed (..., rows, columns)");
  note_conversion(file);
  switch (file.scalar()) {
  case Scalar::f4: return decompose<float>(request, file);
  case Scalar::f8: return decompose<double>(request, file);
  case Scalar::c8: return decompose<Kokkos::complex<float>>(request, file);
  case Scalar::c16: return decompose<Kokkos::complex<double>>(request, file);
  }
  return exit_bad_input;
}

} // namespace shoal_cli
