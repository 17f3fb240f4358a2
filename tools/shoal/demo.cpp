// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/shoal/check.hpp"
#include "tools/shoal/commands.hpp"
#include "tools/shoal/errors.hpp"
#include "tools/shoal/lapack_loop.hpp"
#include "tools/shoal/npy.hpp"

#include <shoal/shoal.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <unistd.h>
#include <vector>

namespace shoal_cli {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Host = Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace>;
using HostValues = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// The median of the seconds that f takes over several runs, after one to warm up.
template <class F>
double median_seconds(const F& f) {
  constexpr int runs = 9;
  std::vector<double> seconds;
  for (int run = -1; run < runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    const auto end = std::chrono::steady_clock::now();
    if (run >= 0) seconds.push_back(std::chrono::duration<double>(end - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  return seconds[runs / 2];
}

Accuracy accuracy_of_batch(const Host& a, const Host& u, const HostValues& s, const Host& vt) {
  Accuracy worst;
  for (int b = 0; b < static_cast<int>(a.extent(0)); ++b) worst.merge(accuracy_of(a, u, s, vt, b));
  return worst;
}

void print_row(const char* name, const char* with, double seconds, std::size_t batch,
               const Accuracy& accuracy, double ratio) {
  std::printf("%-34s %-14s %9.3f ms %12.0f /s %9.2f %14.2f", name, with, seconds * 1e3,
              static_cast<double>(batch) / seconds, accuracy.residual, accuracy.orthogonality);
  if (ratio > 0) std::printf("   %.1f x LAPACK", ratio);
  std::printf("\n");
}

/// One row for shoal and one for LAPACK on the same matrices. Returns whether shoal kept its
/// contract.
bool demonstrate(const char* name, const Host& a) {
  const std::size_t batch = a.extent(0), m = a.extent(1), n = a.extent(2), k = std::min(m, n);
  using Matrices = Kokkos::View<float***, Kokkos::LayoutRight, Exec>;
  const Matrices da("shoal::demo::A", batch, m, n), du("shoal::demo::U", batch, m, k),
      dvt("shoal::demo::Vt", batch, k, n);
  const Kokkos::View<float**, Kokkos::LayoutRight, Exec> ds("shoal::demo::S", batch, k);
  Kokkos::deep_copy(da, a);
  const Exec exec;
  const double seconds = median_seconds([&] {
    shoal::svd(exec, da, du, ds, dvt);
    exec.fence();
  });
  const Host u("shoal::demo::U", batch, m, k), vt("shoal::demo::Vt", batch, k, n),
      copy("shoal::demo::A", batch, m, n);
  const HostValues s("shoal::demo::S", batch, k);
  Kokkos::deep_copy(u, du);
  Kokkos::deep_copy(vt, dvt);
  Kokkos::deep_copy(s, ds);
  const Accuracy accuracy = accuracy_of_batch(a, u, s, vt);

  if (!lapack_available()) {
    print_row(name, Exec::name(), seconds, batch, accuracy, 0);
    return accuracy.within_contract();
  }
  double copying = median_seconds([&] { Kokkos::deep_copy(copy, a); });
  bool ok = true;
  const double lapack =
      median_seconds([&] {
        Kokkos::deep_copy(copy, a); // gesdd overwrites its input
        ok = lapack_loop(static_cast<std::int64_t>(batch), static_cast<int>(m), static_cast<int>(n),
                         copy.data(), u.data(), s.data(), vt.data());
      }) -
      copying;
  print_row(name, Exec::name(), seconds, batch, accuracy, lapack / seconds);
  if (ok) print_row("", "LAPACK gesdd", lapack, batch, accuracy_of_batch(a, u, s, vt), 0);
  else std::printf("%-34s LAPACK gesdd failed\n", "");
  return accuracy.within_contract();
}

Host random_batch(int batch, int m, int n) {
  const Host a("shoal::demo::A", batch, m, n);
  std::mt19937 engine(20261201);
  std::normal_distribution<float> normal;
  for (std::size_t i = 0; i < a.size(); ++i) a.data()[i] = normal(engine);
  return a;
}

Host digits() {
  const NpyFile file(::access(SHOAL_DIGITS_SOURCE, R_OK) == 0 ? SHOAL_DIGITS_SOURCE
                                                              : SHOAL_DIGITS_INSTALLED);
  const Host a("shoal::demo::A", file.shape().at(0), file.shape().at(1), file.shape().at(2));
  file.read(0, static_cast<std::int64_t>(a.extent(0)),
            static_cast<std::int64_t>(a.extent(1) * a.extent(2)),
            static_cast<std::int64_t>(a.extent(1) * a.extent(2)), 1, a.data());
  return a;
}

} // namespace

int demo_command() {
  std::printf(
      "Thin singular value decompositions, float, %s with concurrency %d. Medians of 9 runs.\n",
      Exec::name(), Exec().concurrency());
  std::printf("Residual and orthogonality: the worst of the batch, in units of u max(m, n); shoal "
              "promises 5.\n\n");
  std::printf("%-34s %-14s %12s %15s %9s %14s\n", "", "", "time", "matrices", "residual",
              "orthogonality");
  const bool random = demonstrate("8,000 random matrices of 15 x 3", random_batch(8000, 15, 3));
  const bool real = demonstrate("1,797 images of digits, 8 x 8", digits());
  return random && real ? exit_ok : exit_some_failed;
}

} // namespace shoal_cli
