// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/results.hpp"

#include <shoal/version.hpp>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace bench {

namespace {

using nlohmann::json;

std::string compiler() {
  const std::string arch = SHOAL_BENCH_HOST_ARCH;
  return std::string(__VERSION__) + (arch.empty() ? "" : ", -march=" + arch);
}

/// The rates that follow from a time.
struct Rates {
  double matrices, bytes, flops; ///< a second
};
Rates rates(const Row& row, double seconds) {
  const double matrices = static_cast<double>(row.batch) * row.calls / seconds;
  return {matrices, matrices * row.bytes, matrices * row.flops};
}

/// The first entry, which everyone is compared with: shoal, if it was not left out or failed.
const Entry* reference(const Row& row) {
  for (const Entry& entry : row.entries)
    if (entry.name == "shoal" && entry.timing) return &entry;
  return nullptr;
}

std::string with_unit(double x, const char* unit) { // 12.3 M/s
  const char* const prefixes[] = {"", "k", "M", "G", "T"};
  int i = 0;
  for (; i < 4 && x >= 999.5; ++i) x /= 1000;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f %s%s",
                x < 9.995   ? 2
                : x < 99.95 ? 1
                            : 0,
                x, prefixes[i], unit);
  return text;
}

std::string as_time(double seconds) {
  const char* const units[] = {"s", "ms", "us", "ns"};
  int i = 0;
  for (; i < 3 && seconds < 1; ++i) seconds *= 1000;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s",
                seconds < 9.995   ? 2
                : seconds < 99.95 ? 1
                                  : 0,
                seconds, units[i]);
  return text;
}

std::string units(double x) { // accuracy
  char text[32];
  std::snprintf(text, sizeof text, x < 1000 ? "%.2f" : "%.0e", x);
  return text;
}

std::string accuracy_text(const Row& row, const Entry& entry) {
  if (entry.gemm) return units(entry.gemm->error) + " gamma";
  if (!entry.svd) return "";
  const SvdAccuracy& x = *entry.svd;
  std::string text;
  if (row.vectors)
    text = "res " + units(x.residual) + "  orth " + units(x.orthogonality_u) + " " +
           units(x.orthogonality_v) + "  ";
  if (x.value_samples > 0) {
    text += "val " + units(x.values);
    if (row.condition != 1) text += " (relative " + units(x.values_relative) + ")";
  }
  return text;
}

/// NaN and Inf have no JSON number.
json number(double x) { return std::isfinite(x) ? json(x) : json(nullptr); }

json accuracy_json(const Row& row, const Entry& entry) {
  if (entry.gemm)
    return {{"gemm_error", number(entry.gemm->error)}, {"samples", entry.gemm->samples}};
  if (!entry.svd) return nullptr;
  const SvdAccuracy& x = *entry.svd;
  json out = {{"samples", x.samples}, {"value_samples", x.value_samples}};
  if (row.vectors) {
    out["residual"] = number(x.residual);
    out["orthogonality_u"] = number(x.orthogonality_u);
    out["orthogonality_v"] = number(x.orthogonality_v);
  }
  if (x.value_samples > 0) {
    out["values"] = number(x.values);
    out["values_relative"] = number(x.values_relative);
  }
  return out;
}

json entry_json(const Run& run, const Row& row, const Entry& entry) {
  json out = {{"name", entry.name},
              {"version", entry.version},
              {"tolerance", entry.tolerance},
              {"layout", entry.layout},
              {"failure", entry.failure.empty() ? json(nullptr) : json(entry.failure)},
              {"measured_matrices", entry.batch},
              {"info_nonzero", entry.info_count},
              {"non_finite", entry.non_finite},
              {"accuracy", accuracy_json(row, entry)}};
  if (!entry.timing) return out;
  const Timing& t = *entry.timing;
  const Rates r = rates(row, t.median);
  out["seconds"] = {{"median", t.median},
                    {"low", t.low},
                    {"high", t.high},
                    {"least", t.least},
                    {"repetitions", t.repetitions}};
  out["matrices_per_s"] = r.matrices;
  out["gb_per_s"] = r.bytes * 1e-9;
  out["copy_fraction"] = r.bytes / run.copy_bytes_per_second;
  out["gflop_per_s"] = r.flops * 1e-9;
  if (const Entry* const shoal = reference(row))
    out["time_over_shoal"] = t.median / shoal->timing->median;
  return out;
}

} // namespace

std::string now() {
  char text[32];
  const std::time_t t = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&t, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

void print_heading(const Run& run) {
  std::printf("shoal %s, %s, concurrency %d, %s\n%s\n", SHOAL_VERSION_STRING, run.space.c_str(),
              run.threads, run.date.c_str(), run.machine.device.c_str());
  for (const auto& [name, value] : run.machine.details)
    std::printf("  %s: %s\n", name.c_str(), value.c_str());
  std::printf("  load of the host before the run: %.1f%s\n", run.load,
              run.load > 0.3 ? " (others are working; repeat when it is quiet)" : "");
  std::printf("A copy of large arrays moves %s, read and written together.\n\n",
              with_unit(run.copy_bytes_per_second, "B/s").c_str());
  std::printf(
      "%s",
      R"(Time: the median of a call, and half the distance of the quartiles in %. GB/s: every matrix counted once.
FLOP/s of svd: nominal, 14 m n^2 + 8 n^3 with vectors. x shoal: this time over shoal's. res, orth (U and V),
val: the worst of the sampled matrices, in units of u max(m, n); shoal promises 5. [...]: the tolerance that was
used. gamma: the largest error of an element over its bound; shoal promises 1.
)");
  std::fflush(stdout);
}

void print_row(const Run& run, const Row& row) {
  std::printf("\n%s\n", row.name.c_str());
  const Entry* const shoal = reference(row);
  for (const Entry& entry : row.entries) {
    std::printf("  %-26s ", entry.name.c_str());
    if (!entry.failure.empty()) {
      std::printf("FAILED: %s", entry.failure.c_str());
      const std::string accuracy = accuracy_text(row, entry);
      if (!accuracy.empty()) std::printf("  [%s]", accuracy.c_str());
    } else if (entry.timing) {
      const Timing& t = *entry.timing;
      const Rates r = rates(row, t.median);
      std::printf("%9s +-%3.0f%%  %10s  %8s %5.1f%% of copy", as_time(t.median).c_str(),
                  50 * (t.high - t.low) / t.median, with_unit(r.matrices, "/s").c_str(),
                  with_unit(r.bytes, "B/s").c_str(), 100 * r.bytes / run.copy_bytes_per_second);
      std::printf("  %11s", with_unit(r.flops, "FLOP/s").c_str());
      if (shoal) std::printf("  %7.2f x shoal", t.median / shoal->timing->median);
      std::printf("  %s", accuracy_text(row, entry).c_str());
      if (entry.batch != row.batch)
        std::printf("  (%lld matrices measured)", static_cast<long long>(entry.batch));
      if (row.operation == "svd") std::printf("  [%s]", entry.tolerance.c_str());
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

void write_json(const Run& run, const std::string& file) {
  json out = {{"program", "shoal_bench"}, {"shoal", SHOAL_VERSION_STRING},
              {"date", run.date},         {"command", run.command},
              {"scope", run.scope},       {"space", run.space},
              {"threads", run.threads},   {"load", run.load},
              {"compiler", compiler()},   {"copy_gb_per_s", run.copy_bytes_per_second * 1e-9}};
  out["machine"]["device"] = run.machine.device;
  out["machine"]["is_gpu"] = run.machine.is_gpu;
  for (const auto& [name, value] : run.machine.details) out["machine"]["details"][name] = value;
  out["rows"] = json::array();
  for (const Row& row : run.rows) {
    json r = {{"name", row.name},
              {"operation", row.operation},
              {"scalar", row.scalar},
              {"mode", row.mode},
              {"batch", row.batch},
              {"m", row.m},
              {"n", row.n},
              {"vectors", row.vectors},
              {"calls", row.calls},
              {"condition", row.condition},
              {"bytes_each", row.bytes},
              {"flops_each", row.flops}};
    if (row.operation == "gemm") r["k"] = row.k;
    r["entries"] = json::array();
    for (const Entry& entry : row.entries) r["entries"].push_back(entry_json(run, row, entry));
    out["rows"].push_back(std::move(r));
  }
  std::ofstream stream(file);
  stream << out.dump(1) << '\n';
  if (!stream) throw std::runtime_error("cannot write " + file);
}

} // namespace bench
