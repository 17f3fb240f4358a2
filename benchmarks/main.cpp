// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures shoal beside every rival that was found, on the same matrices and in the same run.
#include "benchmarks/cases.hpp"
#include "benchmarks/device.hpp"
#include "benchmarks/measure.hpp"
#include "benchmarks/results.hpp"
#include "benchmarks/rivals/found.hpp"
#include "benchmarks/rivals/shoal.hpp"

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <complex>
#include <cstdio>
#include <functional>
#include <regex>
#include <string>

namespace {

using namespace bench;

struct Options {
  bool tiny = false, full = false, list = false, hazards = false;
  std::string filter, rivals, json, command = "shoal_bench";
  double seconds = 0.25;

  Scope scope() const { return tiny ? Scope::tiny : full ? Scope::full : Scope::selection; }
};

/// Whether a name holds a match of a regular expression; an empty one matches all.
bool matches(const std::string& name, const std::string& regex) {
  return regex.empty() || std::regex_search(name, std::regex(regex));
}

/// An argument as a shell takes it.
std::string quoted(const std::string& argument) {
  return matches(argument, "[^-A-Za-z0-9_./=]") ? "'" + argument + "'" : argument;
}

/// What it was built with and does not tell itself.
void add_versions(Machine& machine) {
  const auto version = [](int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  };
  machine.details.emplace_back(
      "Kokkos", version(KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100));
#ifdef __CUDACC__
  machine.details.emplace_back(
      "nvcc", version(__CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__));
#endif
}

void add_clocks(Machine& machine, const std::string& when) {
  if (const std::string clocks = clocks_now(); !clocks.empty())
    machine.details.emplace_back("clocks " + when, clocks);
}

Row row_of(const Case& c) {
  Row row;
  row.name = name_of(c);
  row.operation = c.operation == Operation::svd ? "svd" : "gemm";
  row.scalar = name_of(c.scalar);
  row.mode = name_of(c.mode);
  row.batch = c.batch;
  row.m = c.m;
  row.n = c.n;
  row.k = c.k;
  row.vectors = c.vectors;
  row.condition = c.condition;
  row.calls = c.mode == Mode::five_in_a_row ? 5 : 1;
  const double m = c.m, n = c.n, k = c.k, size = size_of(c.scalar);
  const bool complex = c.scalar == Scalar::c64 || c.scalar == Scalar::c128;
  if (c.operation == Operation::gemm) {
    row.bytes = size * (m * k + k * n + m * n);
    row.flops = (complex ? 8 : 2) * m * n * k;
  } else {
    const double values = std::min(m, n), longer = std::max(m, n);
    // What Golub and Kahan's algorithm takes (Golub and Van Loan, Matrix Computations, 8.6.3).
    row.flops = (complex ? 4 : 1) *
                (c.vectors ? 14 * longer * values * values + 8 * values * values * values
                           : 4 * longer * values * values - 4. / 3 * values * values * values);
    row.bytes = size * (m * n + (c.vectors ? m * values + values * n : 0)) +
                size / (complex ? 2 : 1) * values;
  }
  return row;
}

template <class T>
Row measure(Meter& meter, const Rivals<T>& rivals, const Options& options, const Case& c) {
  Row row = row_of(c);
  if (c.operation == Operation::gemm) {
    for (const auto& rival : rivals.gemm)
      if (matches(rival.name, options.rivals)) row.entries.push_back(gemm_trial(meter, rival, c));
    return row;
  }
  ExactValues<T> exact(c.m, c.n);
  for (const auto& rival : rivals.svd)
    if (matches(rival.name, options.rivals))
      row.entries.push_back(SvdTrial<T>(meter, rival, c, exact).run());
  return row;
}

template <class T>
Rivals<T> all_rivals(const Exec& exec, Scope scope) {
  Rivals<T> rivals;
  add_shoal(rivals, exec, scope != Scope::selection);
  add_found_rivals(rivals, stream_of(exec));
  return rivals;
}

/// Returns whether shoal worked on every row.
bool run(const Options& options) {
  const Exec exec;
  constexpr bool separate_memory =
      !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Exec::memory_space>::accessible;
  Run result;
  result.machine = describe_machine();
  add_versions(result.machine);
  result.space = Exec::name();
  result.threads = exec.concurrency();
  result.command = options.command;
  result.date = now();
  result.load = load_average();
  result.scope = options.tiny ? "tiny" : options.full ? "full" : "selection";
  const auto cases =
      list_cases(options.scope(), result.machine.is_gpu, separate_memory, exec.concurrency());
  if (options.list) {
    for (const Case& c : cases)
      if (matches(name_of(c), options.filter)) std::printf("%s\n", name_of(c).c_str());
    return true;
  }

  Settings settings;
  settings.seconds = options.seconds;
  settings.timed_once = options.tiny;
  settings.hazards = options.hazards;
  // Twice a GPU's cache. A CPU's last level may be shared with others and larger than it is of use
  // to go round.
  settings.rotation_bytes =
      options.tiny ? 1
                   : std::clamp(2.0 * static_cast<double>(result.machine.cache_bytes), 64e6, 512e6);
  Meter meter(exec, settings);
  result.copy_bytes_per_second = meter.copy_rate(options.tiny            ? 1e6
                                                 : result.machine.is_gpu ? 4e9
                                                                         : 1e9);
  add_clocks(result.machine, "after the copy");
  print_heading(result);

  const auto f32 = all_rivals<float>(exec, options.scope());
  const auto f64 = all_rivals<double>(exec, options.scope());
  const auto c64 = all_rivals<std::complex<float>>(exec, options.scope());
  const auto c128 = all_rivals<std::complex<double>>(exec, options.scope());
  bool ok = true;
  for (const Case& c : cases) {
    if (!matches(name_of(c), options.filter)) continue;
    switch (c.scalar) {
    case Scalar::f32: result.rows.push_back(measure(meter, f32, options, c)); break;
    case Scalar::f64: result.rows.push_back(measure(meter, f64, options, c)); break;
    case Scalar::c64: result.rows.push_back(measure(meter, c64, options, c)); break;
    case Scalar::c128: result.rows.push_back(measure(meter, c128, options, c)); break;
    }
    print_row(result, result.rows.back());
    for (const Entry& entry : result.rows.back().entries)
      ok = ok && (entry.name.rfind("shoal", 0) != 0 || entry.failure.empty());
    if (!options.json.empty()) write_json(result, options.json); // also if a later row ends the run
  }
  add_clocks(result.machine, "after the last row");
  if (!options.json.empty()) write_json(result, options.json);
  if (!ok) std::printf("\nshoal failed on some rows.\n");
  return ok;
}

} // namespace

int main(int argc, char* argv[]) {
  CLI::App app("Measures shoal beside every rival that was found when it was built.");
  Options options;
  app.add_flag("--tiny", options.tiny, "Every row on tiny inputs, once: does everything run?");
  app.add_flag("--full", options.full, "Every size, not a selection for ten minutes");
  app.add_flag("--list", options.list, "Print the names of the rows");
  app.add_option("--filter", options.filter, "Rows whose name matches this regular expression");
  app.add_option("--rivals", options.rivals, "Implementations whose name matches this one");
  app.add_flag("--hazards", options.hazards, "Run also rivals that could end the whole run");
  app.add_option("--json", options.json, "Write everything to this file too");
  app.add_option("--seconds", options.seconds, "Timed seconds for each implementation and row")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  for (int i = 1; i < argc; ++i) options.command += " " + quoted(argv[i]);

  const Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  try {
    return run(options) ? 0 : 3;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shoal_bench: %s\n", error.what());
    return 1;
  }
}
