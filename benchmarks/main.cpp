// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rates of svd and gemm over shapes, beside a copy of the same size in the same run. Times are from
// queueing to the end of a fence on the default execution space; each counter counts every matrix's
// bytes once.
#include <shoal/shoal.hpp>

#include <Kokkos_Core.hpp>
#include <benchmark/benchmark.h>
#include <cstdint>
#include <string>
#include <type_traits>

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
template <class T>
using Matrices = Kokkos::View<T***, Kokkos::LayoutRight, Exec>;
template <class T>
using Real = typename shoal::detail::real_of<T>::type;

/// Bytes of all operands of one call: larger than the caches, and set smaller for a trial run.
double bytes_per_call = 64e6;

/// Sums of four uniform numbers, from the index alone: near enough to normal, and never zero
/// everywhere.
template <class R>
struct Fill {
  Kokkos::View<R*, Exec> x;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto state = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15ull + 1;
    R sum(-2);
    for (int k = 0; k < 4; ++k) {
      state ^= state >> 31;
      state *= 0xBF58476D1CE4E5B9ull;
      state ^= state >> 29;
      sum += static_cast<R>(state >> 40) / R(1 << 24);
    }
    x(i) = sum;
  }
};

template <class T>
Matrices<T> random_batch(std::int64_t batch, int m, int n) {
  const Matrices<T> a(Kokkos::view_alloc(std::string("bench"), Kokkos::WithoutInitializing), batch,
                      m, n);
  const Kokkos::View<Real<T>*, Exec> flat(reinterpret_cast<Real<T>*>(a.data()),
                                          a.size() * (sizeof(T) / sizeof(Real<T>)));
  Kokkos::parallel_for("bench::fill",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                           0, static_cast<std::int64_t>(flat.size())),
                       Fill<Real<T>>{flat});
  return a;
}

template <class T>
const char* type_name() {
  if (std::is_same_v<T, float>) return "f32";
  if (std::is_same_v<T, double>) return "f64";
  return std::is_same_v<T, Kokkos::complex<float>> ? "c64" : "c128";
}

void count(benchmark::State& state, std::int64_t batch, double bytes_each) {
  const auto calls = static_cast<double>(state.iterations());
  state.counters["matrices/s"] =
      benchmark::Counter(calls * static_cast<double>(batch), benchmark::Counter::kIsRate);
  state.counters["bytes/s"] = benchmark::Counter(calls * static_cast<double>(batch) * bytes_each,
                                                 benchmark::Counter::kIsRate);
}

void copy(benchmark::State& state) {
  const auto n = static_cast<std::int64_t>(bytes_per_call / 8);
  const Kokkos::View<float*, Exec> a("bench::a", n), b("bench::b", n);
  const Exec exec;
  for (auto _ : state) {
    Kokkos::deep_copy(exec, b, a);
    exec.fence();
  }
  count(state, n, 8);
}

template <class T>
void svd(benchmark::State& state, int m, int n, bool vectors) {
  const int k = std::min(m, n);
  const double each = sizeof(T) * (m * n + (vectors ? m * k + k * n : 0)) + sizeof(Real<T>) * k;
  const auto batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes_per_call / each));
  const Matrices<T> a = random_batch<T>(batch, m, n), u("bench::u", vectors ? batch : 0, m, k),
                    vt("bench::vt", vectors ? batch : 0, k, n);
  const Kokkos::View<Real<T>**, Kokkos::LayoutRight, Exec> s("bench::s", batch, k);
  const Exec exec;
  for (auto _ : state) {
    if (vectors) shoal::svd(exec, a, u, s, vt);
    else shoal::svd_values(exec, a, s);
    exec.fence();
  }
  count(state, batch, each);
}

template <class T>
void gemm(benchmark::State& state, int m, int n, int k) {
  const double each = sizeof(T) * (m * k + k * n + m * n);
  const auto batch = std::max<std::int64_t>(1, static_cast<std::int64_t>(bytes_per_call / each));
  const Matrices<T> a = random_batch<T>(batch, m, k), b = random_batch<T>(batch, k, n),
                    c("bench::c", batch, m, n);
  const Exec exec;
  for (auto _ : state) {
    shoal::gemm(exec, T(1), a, b, T(0), c);
    exec.fence();
  }
  count(state, batch, each);
}

template <class T>
void add() {
  const std::string type = type_name<T>();
  const auto shape = [](int m, int n) { return std::to_string(m) + "x" + std::to_string(n); };
  for (const auto& [m, n] :
       {std::pair{15, 3}, {2, 2}, {3, 3}, {4, 4}, {8, 8}, {16, 16}, {32, 32}, {64, 64}})
    for (const bool vectors : {true, false})
      benchmark::RegisterBenchmark(
          "svd/" + std::string(vectors ? "thin/" : "values/") + type + "/" + shape(m, n),
          [=, m = m, n = n](benchmark::State& s) { svd<T>(s, m, n, vectors); })
          ->UseRealTime();
  for (const int n : {2, 3, 4, 5, 8, 12, 16, 24, 32, 64})
    benchmark::RegisterBenchmark("gemm/" + type + "/" + shape(n, n), [=](benchmark::State& s) {
      gemm<T>(s, n, n, n);
    })->UseRealTime();
}

} // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  if (argc > 1 && std::string(argv[1]) == "--tiny") { // does everything run? for the tests
    bytes_per_call = 2e4;
    static char time[] = "--benchmark_min_time=1x";
    argv[1] = time;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("shoal_space", Exec::name());
  benchmark::AddCustomContext("shoal_concurrency", std::to_string(Exec().concurrency()));
  benchmark::RegisterBenchmark("copy", copy)->UseRealTime();
  add<float>();
  add<double>();
  add<Kokkos::complex<float>>();
  add<Kokkos::complex<double>>();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
