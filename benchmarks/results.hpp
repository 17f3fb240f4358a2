// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BENCHMARKS_RESULTS_HPP
#define SHOAL_BENCHMARKS_RESULTS_HPP

#include "benchmarks/accuracy.hpp"
#include "benchmarks/device.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// \file
/// What was measured, as a table for people and as JSON for report.py.
namespace bench {

/// Seconds of one call. `low` and `high` are the quartiles.
struct Timing {
  double median = 0, low = 0, high = 0, least = 0;
  int repetitions = 0;
};

/// What one implementation did on one row.
struct Entry {
  std::string name, version, tolerance, layout;
  std::string failure;    ///< empty where it worked
  std::int64_t batch = 0; ///< matrices that were measured; the time is scaled to the row's batch
  std::optional<Timing> timing;
  std::optional<SvdAccuracy> svd;
  std::optional<GemmAccuracy> gemm;
  std::int64_t info_count = 0; ///< matrices whose info is not 0
  std::int64_t non_finite = 0; ///< elements of the results that are NaN or Inf
};

struct Row {
  std::string name, operation, scalar, mode;
  std::int64_t batch = 0;
  int m = 0, n = 0, k = 0; ///< k of gemm
  bool vectors = false;
  double condition = 1; ///< by graded columns
  int calls = 1;        ///< queued one after another within the time
  double bytes = 0;     ///< of one matrix's arrays, each counted once
  double flops = 0;     ///< of one matrix; of svd nominal, the same for every algorithm
  std::vector<Entry> entries;
};

struct Run {
  Machine machine;
  std::string space;
  std::string date;
  int threads = 0;
  double load = 0;     ///< of the host before the run: others that work disturb a CPU's figures
  std::string command; ///< that measures it again
  std::string scope;   ///< tiny, selection or full
  double copy_bytes_per_second = 0;
  std::vector<Row> rows;
};

/// The date and time, in UTC.
std::string now();

void print_heading(const Run& run);
void print_row(const Run& run, const Row& row);
void write_json(const Run& run, const std::string& file);

} // namespace bench

#endif
