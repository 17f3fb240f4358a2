// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/device.hpp"

#include <chrono>
#include <fstream>
#include <string>
#include <unistd.h>

namespace bench {

struct Stopwatch::State {
  std::chrono::steady_clock::time_point begin;
};

Stopwatch::Stopwatch(void*) : m_state(std::make_unique<State>()) {}
Stopwatch::~Stopwatch() = default;

void Stopwatch::start() { m_state->begin = std::chrono::steady_clock::now(); }

double Stopwatch::stop() { // the work is done when the calls return
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_state->begin).count();
}

std::string clocks_now() { // of the first core
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("cpu MHz", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2) + " MHz";
  return "";
}

Machine describe_machine() {
  Machine machine;
  machine.device = cpu_name();
  machine.cache_bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  machine.details.emplace_back("logical cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN)));
  machine.details.emplace_back("last-level cache",
                               std::to_string(machine.cache_bytes >> 20) + " MiB");
  return machine;
}

} // namespace bench
