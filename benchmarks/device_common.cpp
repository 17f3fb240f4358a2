// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/device.hpp"

#include <cstdlib>
#include <fstream>

namespace bench {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "unknown CPU";
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

} // namespace bench
