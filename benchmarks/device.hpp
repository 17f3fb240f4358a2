// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BENCHMARKS_DEVICE_HPP
#define SHOAL_BENCHMARKS_DEVICE_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// \file
/// What differs between devices: device_cuda.cpp or device_openmp.cpp is compiled.
namespace bench {

/// Seconds that work queued on a stream takes on the device. On a GPU: device events, after a
/// memset that is larger than the cache. It lets the host queue the work before the device comes to
/// it, so that what is measured is the device's time and not the host's, and leaves nothing of use
/// in the cache. On a CPU: a steady clock.
class Stopwatch {
public:
  explicit Stopwatch(void* stream);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void start();
  double stop(); ///< waits for the work

private:
  struct State;
  std::unique_ptr<State> m_state;
};

struct Machine {
  std::string device;
  /// Driver, runtime, clocks: what a reader needs to judge a figure.
  std::vector<std::pair<std::string, std::string>> details;
  std::int64_t cache_bytes = 0; ///< of the last level
  bool is_gpu = false;
};

Machine describe_machine();

/// The clocks of the device while it works or just after, as the system tells them; empty where it
/// does not.
std::string clocks_now();

/// The CPU's name, as the system tells it.
std::string cpu_name();

/// Processes that ran or waited to run in the last minute, on average.
double load_average();

} // namespace bench

#endif
