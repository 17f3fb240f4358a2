// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sweeps the numbers by which plans choose kernels, and prints rows for
// detail/backends/<b>/tuning.hpp.
#include "benchmarks/cases.hpp"
#include "benchmarks/device.hpp"
#include "benchmarks/measure.hpp"
#include "benchmarks/rivals/shoal.hpp"

#include <shoal/detail/dispatch.hpp>
#include <shoal/shoal.hpp>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <functional>
#include <limits>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace bench;
using Limits = shoal::detail::BackendLimits;

constexpr bool on_gpu =
    !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Exec::memory_space>::accessible;

struct Options {
  bool tiny = false, list = false;
  std::string filter;
  double seconds = 0.3, gain = 0.03;
  int rounds = 5;
};

/// A value of tuning.hpp, mostly a member of BackendLimits of the same name.
struct Knob {
  std::string name, type; ///< no type: a table there, of which only a part may be worth keeping
  std::function<std::int64_t(const Limits&)> get;
  std::function<void(Limits&, std::int64_t)> set;
  std::vector<std::int64_t> candidates;
  std::vector<Case> cases;
};

template <class Member>
Knob knob(const std::string& name, Member Limits::* member, std::vector<std::int64_t> candidates,
          const std::vector<Case>& cases) {
  return {name,
          std::is_same_v<Member, int> ? "int" : "std::size_t",
          [member](const Limits& limits) { return static_cast<std::int64_t>(limits.*member); },
          [member](Limits& limits, std::int64_t x) { limits.*member = static_cast<Member>(x); },
          std::move(candidates),
          cases};
}

/// Of the instances of the group SVD, which stand in the order of their columns, those up to x
/// columns.
Knob group_columns(std::vector<std::int64_t> candidates, const std::vector<Case>& cases) {
  return {"group_columns",
          "",
          [](const Limits& l) {
            return l.group_shapes.empty() ? 0 : std::int64_t(l.group_shapes.back().columns);
          },
          [](Limits& l, std::int64_t x) {
            const auto kept = [x](const shoal::detail::GroupShape& s) { return s.columns <= x; };
            l.group_shapes = l.group_shapes.first(static_cast<std::size_t>(
                std::count_if(l.group_shapes.begin(), l.group_shapes.end(), kept)));
          },
          std::move(candidates),
          cases};
}

/// The same where the vendor's library takes no products.
Knob of_own_kernel(Knob knob) {
  knob.set = [set = knob.set](Limits& l, std::int64_t x) {
    l.vendor.found = false;
    set(l, x);
  };
  return knob;
}

/// The vendor's library for products of at least x rows, columns and terms, full tiles or not; 0:
/// as the table has it.
Knob vendor_start(std::vector<std::int64_t> candidates, const std::vector<Case>& cases) {
  return {"vendor_start",
          "",
          [](const Limits&) { return 0; },
          [](Limits& l, std::int64_t x) {
            const shoal::detail::VendorStart start = {x};
            if (x > 0) l.vendor.starts = {start, start, start, start};
          },
          std::move(candidates),
          cases};
}

/// 1 on a CPU.
template <class Space>
int multiprocessors(const Space& exec) {
  if constexpr (requires { exec.cuda_device_prop(); })
    return exec.cuda_device_prop().multiProcessorCount;
  else return 1;
}

Knob teams_per_multiprocessor(std::vector<std::int64_t> candidates,
                              const std::vector<Case>& cases) {
  const int count = multiprocessors(Exec());
  return {"teams_per_multiprocessor",
          "int",
          [count](const Limits& l) { return l.teams_at_once / count; },
          [count](Limits& l, std::int64_t x) { l.teams_at_once = x * count; },
          std::move(candidates),
          cases};
}

/// What each knob is swept over, and the shapes on which it matters.
std::vector<Knob> list_knobs(bool tiny, int threads) {
  using Shape = std::pair<int, int>;
  const Scope scope = tiny ? Scope::tiny : Scope::selection;
  const auto svds = [&](const std::vector<Shape>& shapes) {
    CaseList list(scope, on_gpu, threads);
    for (const Scalar s : {Scalar::f32, Scalar::f64})
      for (const auto& [m, n] : shapes) list.svd(s, m, n);
    return list.cases();
  };
  const auto gemms = [&](const std::vector<int>& sizes) {
    CaseList list(scope, on_gpu, threads);
    for (const Scalar s : {Scalar::f32, Scalar::f64})
      for (const int n : sizes) list.gemm(s, n, n, n);
    return list.cases();
  };
  const auto squares = [&](const std::vector<int>& sizes) {
    std::vector<Shape> shapes;
    for (const int n : sizes) shapes.emplace_back(n, n);
    return svds(shapes);
  };
  constexpr std::int64_t kib = 1024;
  const auto lane_svds = svds({{2, 2}, {3, 3}, {4, 4}, {15, 3}, {8, 8}});
  if (on_gpu) {
    // Values above those in tuning.hpp need another build: kernels are compiled for that many
    // threads.
    const auto small_svds = squares({5, 6, 7, 8, 12});
    const auto tall_svds = svds({{64, 3}, {128, 4}, {200, 6}});
    const auto group_svds = svds({{8, 8}, {16, 16}, {24, 24}, {32, 32}, {64, 8}, {128, 32}});
    const auto large_groups = squares({12, 16, 20, 24, 28, 32, 36, 40});
    const auto team_svds = squares({48, 64, 96, 128});
    const auto tiles = gemms({2, 3, 4, 5, 8, 12, 16, 24, 32, 33, 48, 64});
    CaseList products(scope, on_gpu, threads);
    for (const Scalar s : {Scalar::f32, Scalar::f64, Scalar::c64, Scalar::c128})
      for (const int n :
           {16, 20, 24, 28, 30, 31, 32, 33, 36, 40,  41,  44,  47,  48,  52,  56,  60, 63,
            64, 65, 68, 72, 80, 88, 95, 96, 97, 100, 112, 127, 128, 129, 160, 200, 256})
        products.gemm(s, n, n, n);
    const std::vector<std::int64_t> scratch = {23 * kib, 46 * kib, 74 * kib, 100 * kib};
    return {knob("lane_team_size", &Limits::lane_team_size, {32, 64, 128}, lane_svds),
            knob("lane_team_size_least", &Limits::lane_team_size_least, {16, 32, 64}, tall_svds),
            knob("lane_scratch_bytes", &Limits::lane_scratch_bytes, scratch, lane_svds),
            knob("lane_columns", &Limits::lane_columns, {4, 5, 6, 7}, small_svds),
            knob("lane_matrix_bytes", &Limits::lane_matrix_bytes, {128, 200, 288}, small_svds),
            knob("group_lanes", &Limits::group_lanes, {32, 64, 128}, group_svds),
            knob("group_scratch_bytes", &Limits::group_scratch_bytes, scratch, group_svds),
            group_columns({8, 12, 16, 20, 24, 28, 32, 40}, large_groups),
            knob("team_size", &Limits::team_size, {2, 4, 8, 16}, team_svds),
            teams_per_multiprocessor({2, 4, 8, 16}, team_svds),
            of_own_kernel(knob("tile_team_size", &Limits::tile_team_size, {64, 128, 256}, tiles)),
            of_own_kernel(knob("tile_scratch_bytes", &Limits::tile_scratch_bytes, scratch, tiles)),
            vendor_start({1, 100000}, products.cases())};
  }
  const auto lane_or_vector = squares({5, 6, 8, 10, 12, 14, 16, 20});
  return {
      knob("lane_runs", &Limits::lane_runs, {2, 4, 8, 16, 32, 64}, lane_svds),
      // Kernels are compiled for up to that many columns and bytes.
      knob("lane_columns", &Limits::lane_columns, {4, 8, 12, 16, 20}, lane_or_vector),
      knob("lane_matrix_bytes", &Limits::lane_matrix_bytes, {200, 512, 1152, 1600}, lane_or_vector),
      knob("lane_scratch_bytes", &Limits::lane_scratch_bytes,
           {14 * kib, 28 * kib, 56 * kib, 112 * kib, 256 * kib},
           svds({{16, 16}, {20, 20}, {64, 8}, {100, 16}, {200, 4}, {1000, 3}})),
      knob("vector_team_bytes", &Limits::vector_team_bytes,
           {16 * kib, 64 * kib, 128 * kib, 256 * kib, 512 * kib, 1024 * kib, 4096 * kib},
           gemms({2, 3, 4, 8, 16, 32, 64})),
      knob("vector_panel_bytes", &Limits::vector_panel_bytes,
           {8 * kib, 16 * kib, 24 * kib, 32 * kib, 48 * kib, 96 * kib},
           gemms({64, 128, 256, 480, 720})),
      knob("vector_staged_bytes", &Limits::vector_staged_bytes,
           {8 * kib, 16 * kib, 24 * kib, 48 * kib, 96 * kib, 192 * kib, 1024 * kib},
           gemms({32, 48, 64, 80, 96, 128, 160})),
      knob("vector_block", &Limits::vector_block, {96, 120, 240, 480, 960},
           gemms({128, 240, 256, 480, 720}))};
}

/// The least time of a call for each plan, NaN where it fails; equal plans are measured once. Plans
/// take turns, so that a disturbance meets all of them.
template <class Plan>
std::vector<double> least_seconds(Meter& meter, int rounds, const std::vector<Plan>& plans,
                                  int sets, const std::function<void(const Plan&, int)>& run,
                                  const std::function<bool()>& right) {
  std::vector<double> least(plans.size(), std::numeric_limits<double>::infinity());
  const auto first = [&](std::size_t i) {
    return static_cast<std::size_t>(std::find(plans.begin(), plans.end(), plans[i]) -
                                    plans.begin());
  };
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (first(i) != i || std::isnan(least[i])) continue;
      try {
        if (round == 0) {
          run(plans[i], 0);
          meter.exec().fence();
          if (!right()) throw std::runtime_error("wrong result");
        }
        const Timing t = meter.time(sets, [](int) {}, [&](int set) { run(plans[i], set); });
        least[i] = std::min(least[i], t.least);
      } catch (const std::exception&) { // a launch that the device refuses
        least[i] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  for (std::size_t i = 0; i < plans.size(); ++i) least[i] = least[first(i)];
  return least;
}

template <class T>
Matrices<T> row_major(T* data, std::int64_t batch, int rows, int cols) {
  return {data, batch, rows, cols, strides_of(Layout::row_major, batch, rows, cols)};
}
template <class T>
auto reference(T* data, std::int64_t batch, int rows, int cols) {
  return shoal::detail::batch_ref(shoal_batch(data, batch, rows, cols, Layout::row_major));
}

template <class T>
std::vector<double> time_gemm(Meter& meter, int rounds, const Case& c,
                              const std::vector<Limits>& limits) {
  using S = ShoalScalar<T>;
  using shoal::GemmPlan;
  const Exec& exec = meter.exec();
  const GemmShape shape{c.batch, c.m, c.n, c.k};
  const std::int64_t a_size = c.batch * c.m * c.k, b_size = c.batch * c.k * c.n,
                     c_size = c.batch * c.m * c.n;
  const int sets = meter.sets(static_cast<double>(a_size + b_size + c_size) * sizeof(T));
  const Operand<T> a("tune::A", sets, a_size), b("tune::B", sets, b_size),
      out("tune::C", sets, c_size);
  for (int i = 0; i < sets; ++i) {
    fill(exec, row_major(a.set(i), c.batch, c.m, c.k), 2 * static_cast<std::uint64_t>(i));
    fill(exec, row_major(b.set(i), c.batch, c.k, c.n), 2 * static_cast<std::uint64_t>(i) + 1);
    poison(exec, row_major(out.set(i), c.batch, c.m, c.n));
  }
  const std::int64_t samples = sample_count(c.batch, 10. * c.m * c.n * c.k);
  const auto sampled_a = sample(exec, row_major(a.set(0), c.batch, c.m, c.k), samples);
  const auto sampled_b = sample(exec, row_major(b.set(0), c.batch, c.k, c.n), samples);
  const auto right = [&] {
    const auto result = row_major(out.set(0), c.batch, c.m, c.n);
    const auto sampled = sample(exec, result, samples);
    const bool ok = count_non_finite(exec, result) == 0 &&
                    gemm_accuracy<T>(shape, sampled_a, sampled_b, sampled, samples).error <= 1;
    poison(exec, result); // for the next plan
    return ok;
  };
  std::vector<GemmPlan> plans;
  for (const Limits& l : limits)
    plans.push_back(plan_gemm({c.batch, c.m, c.n, c.k}, shoal::detail::scalar_size<S>(), l, {}));
  return least_seconds<GemmPlan>(
      meter, rounds, plans, sets,
      [&](const GemmPlan& plan, int i) {
        const shoal::detail::BatchRef<const S> ra = reference(a.set(i), c.batch, c.m, c.k),
                                               rb = reference(b.set(i), c.batch, c.k, c.n);
        shoal::detail::run_gemm<Exec, S>(exec, plan, {}, {S(1)}, ra, rb, {S(0)},
                                         reference(out.set(i), c.batch, c.m, c.n));
      },
      right);
}

template <class T>
std::vector<double> time_svd(Meter& meter, int rounds, const Case& c,
                             const std::vector<Limits>& limits) {
  using S = ShoalScalar<T>;
  using shoal::SvdPlan;
  const Exec& exec = meter.exec();
  const int k = std::min(c.m, c.n);
  const std::int64_t a_size = c.batch * c.m * c.n, u_size = c.batch * c.m * k,
                     v_size = c.batch * k * c.n;
  const int sets = meter.sets(static_cast<double>(a_size + u_size + v_size) * sizeof(T));
  const Operand<T> a("tune::A", sets, a_size), u("tune::U", sets, u_size),
      vt("tune::Vt", sets, v_size);
  const Operand<Real<T>> s("tune::S", sets, c.batch * k);
  for (int i = 0; i < sets; ++i) {
    fill(exec, row_major(a.set(i), c.batch, c.m, c.n), static_cast<std::uint64_t>(i));
    poison(exec, row_major(u.set(i), c.batch, c.m, k));
    poison(exec, row_major(vt.set(i), c.batch, k, c.n));
    poison(exec, row_major(s.set(i), c.batch, 1, k));
  }
  const std::int64_t samples = sample_count(c.batch, 10. * c.m * c.n * k);
  const auto sampled_a = sample(exec, row_major(a.set(0), c.batch, c.m, c.n), samples);
  const auto right = [&] {
    const auto ru = row_major(u.set(0), c.batch, c.m, k),
               rv = row_major(vt.set(0), c.batch, k, c.n);
    const auto rs = row_major(s.set(0), c.batch, 1, k);
    const bool finite =
        count_non_finite(exec, ru) + count_non_finite(exec, rv) + count_non_finite(exec, rs) == 0;
    const SvdAccuracy x =
        svd_accuracy<T>(c.m, c.n, sampled_a, sample(exec, ru, samples), sample(exec, rs, samples),
                        sample(exec, rv, samples), samples, [](std::int64_t) { return nullptr; });
    poison(exec, ru), poison(exec, rv), poison(exec, rs);
    return finite && std::max({x.residual, x.orthogonality_u, x.orthogonality_v}) <= 5;
  };
  std::vector<SvdPlan> plans;
  for (const Limits& l : limits)
    plans.push_back(plan_svd({c.batch, c.m, c.n}, shoal::detail::scalar_size<S>(), l, {}));
  return least_seconds<SvdPlan>(
      meter, rounds, plans, sets,
      [&](const SvdPlan& plan, int i) {
        shoal::detail::SvdArguments<S> x;
        x.a = reference(a.set(i), c.batch, c.m, c.n);
        x.u = reference(u.set(i), c.batch, c.m, k);
        x.s = reference(s.set(i), c.batch, k, 1);
        x.vt = reference(vt.set(i), c.batch, k, c.n);
        shoal::detail::run_svd<Exec, S>(exec, plan, {}, x, nullptr);
      },
      right);
}

std::vector<double> time_case(Meter& meter, int rounds, const Case& c,
                              const std::vector<Limits>& limits) {
  const bool svd = c.operation == Operation::svd;
  switch (c.scalar) {
  case Scalar::f32: return (svd ? time_svd<float> : time_gemm<float>)(meter, rounds, c, limits);
  case Scalar::f64: return (svd ? time_svd<double> : time_gemm<double>)(meter, rounds, c, limits);
  case Scalar::c64: return time_gemm<std::complex<float>>(meter, rounds, c, limits);
  case Scalar::c128: break;
  }
  return time_gemm<std::complex<double>>(meter, rounds, c, limits);
}

/// As it stands in source: 64u << 10.
std::string in_source(std::int64_t x, const std::string& type) {
  return type == "std::size_t" && x % 1024 == 0 && x > 0 ? std::to_string(x / 1024) + "u << 10"
                                                         : std::to_string(x);
}

/// As a comment in source, in lines of at most 100 characters.
std::string as_comment(const std::string& text) {
  std::string out, line = "///";
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > 100) {
      out += line + "\n";
      line = "///";
    }
    line += " " + word;
  }
  return out + line + "\n";
}

/// As it stands in tuning.hpp.
std::string row(const Knob& knob, std::int64_t value) {
  return knob.type.empty() ? "// of " + knob.name + ": " + std::to_string(value)
                           : "inline constexpr " + knob.type + " " + knob.name + " = " +
                                 in_source(value, knob.type) + ";";
}

/// One row of tuning.hpp, and the table that it comes from.
std::string sweep(Meter& meter, const Options& options, const Limits& given, const Knob& knob,
                  const std::string& where) {
  std::vector<std::int64_t> values = knob.candidates;
  const std::int64_t now = knob.get(given);
  values.push_back(now);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const auto current =
      static_cast<std::size_t>(std::find(values.begin(), values.end(), now) - values.begin());

  std::printf("\n%s, microseconds of %s and time over that\n%-34s %11s", knob.name.c_str(),
              in_source(now, knob.type).c_str(), "", "");
  for (const std::int64_t value : values) std::printf(" %11s", in_source(value, knob.type).c_str());
  std::printf("\n");
  std::vector<Limits> limits(values.size(), given);
  for (std::size_t i = 0; i < values.size(); ++i) knob.set(limits[i], values[i]);
  std::vector<double> mean(values.size(), 0);
  for (const Case& c : knob.cases) {
    const auto seconds = time_case(meter, options.rounds, c, limits);
    std::printf("%-34s %11.1f", name_of(c).c_str(), 1e6 * seconds[current]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::printf(" %11.3f", seconds[i] / seconds[current]);
      mean[i] += std::log(seconds[i] / seconds[current]) / static_cast<double>(knob.cases.size());
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  std::printf("%-34s %11s", "geometric mean", "");
  std::string measured;
  std::size_t best = current;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double ratio = std::exp(mean[i]);
    std::printf(" %11.3f", ratio);
    if (ratio < std::exp(mean[best])) best = i; // never a value that failed: NaN
    char text[64];
    std::snprintf(text, sizeof text, "%s%s: %.3f", measured.empty() ? "" : ", ",
                  in_source(values[i], knob.type).c_str(), ratio);
    measured += text;
  }
  std::printf("\n");
  if (std::exp(mean[best]) > 1 - options.gain) best = current;
  return as_comment(where + ", time over that of " + in_source(now, knob.type) + ", mean of " +
                    std::to_string(knob.cases.size()) + " cases from " +
                    name_of(knob.cases.front()) + " to " + name_of(knob.cases.back()) + ": " +
                    measured + ".") +
         row(knob, values[best]) + (best == current ? "" : " // was " + in_source(now, knob.type)) +
         "\n";
}

void run(const Options& options) {
  const Exec exec;
  const auto knobs = list_knobs(options.tiny, exec.concurrency());
  if (options.list) {
    for (const Knob& k : knobs) std::printf("%s\n", k.name.c_str());
    return;
  }
  Settings settings;
  settings.seconds = options.seconds / options.rounds;
  settings.timed_once = options.tiny;
  settings.rotation_bytes = options.tiny ? 1 : 64e6;
  Meter meter(exec, settings);
  const Machine machine = describe_machine();
  std::printf("%s, concurrency %d, load of the host before the run %.1f\n", machine.device.c_str(),
              exec.concurrency(), load_average());
  const Limits given = shoal::detail::backend_limits(exec);
  const std::string where = now().substr(0, 10) + ", " + machine.device + ", concurrency " +
                            std::to_string(exec.concurrency());
  std::string rows;
  for (const Knob& k : knobs)
    if (options.filter.empty() || std::regex_search(k.name, std::regex(options.filter)))
      rows += sweep(meter, options, given, k, where);
  std::printf("\nRows for tuning.hpp; a value changes where it saves %.0f %% or more:\n\n%s",
              100 * options.gain, rows.c_str());
}

} // namespace

int main(int argc, char* argv[]) {
  CLI::App app("Sweeps the numbers of tuning.hpp on this device and prints rows for it.");
  Options options;
  app.add_flag("--tiny", options.tiny, "Every value on tiny inputs, once: does everything run?");
  app.add_flag("--list", options.list, "Print the names of the values");
  app.add_option("--filter", options.filter, "Values whose name matches this regular expression");
  app.add_option("--seconds", options.seconds, "Timed seconds for each candidate and shape")
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "Turns that candidates take; the least time counts")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--gain", options.gain, "Part of the time that a change must save")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "shoal_tune: %s\n", error.what());
    return 1;
  }
  return 0;
}
