// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/device.hpp"

#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <fstream>
#include <stdexcept>

namespace bench {

namespace {

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
}

std::string version(int number) { // 13000 is 13.0
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

std::string driver_module() { // the driver's own version, such as 580.159
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line.empty() ? "unknown" : line.substr(line.find(':') + 1);
}

} // namespace

struct Stopwatch::State {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  void* flushed;
  std::size_t flushed_bytes;
};

Stopwatch::Stopwatch(void* stream) : m_state(std::make_unique<State>()) {
  State& s = *m_state;
  s.stream = static_cast<cudaStream_t>(stream);
  s.flushed_bytes = 2 * std::max<std::size_t>(
                            64 << 20, static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize)));
  check(cudaEventCreate(&s.begin), "cudaEventCreate");
  check(cudaEventCreate(&s.end), "cudaEventCreate");
  check(cudaMalloc(&s.flushed, s.flushed_bytes), "cudaMalloc");
}

Stopwatch::~Stopwatch() {
  cudaFree(m_state->flushed);
  cudaEventDestroy(m_state->begin);
  cudaEventDestroy(m_state->end);
}

void Stopwatch::start() {
  State& s = *m_state;
  check(cudaMemsetAsync(s.flushed, 0, s.flushed_bytes, s.stream), "cudaMemsetAsync");
  check(cudaEventRecord(s.begin, s.stream), "cudaEventRecord");
}

double Stopwatch::stop() {
  State& s = *m_state;
  check(cudaEventRecord(s.end, s.stream), "cudaEventRecord");
  check(cudaEventSynchronize(s.end), "cudaEventSynchronize");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, s.begin, s.end), "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

std::string clocks_now() { // the runtime knows the highest clocks only
  int device = 0;
  char bus[32] = "", text[256] = "";
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetPCIBusId(bus, sizeof bus, device), "cudaDeviceGetPCIBusId");
  const std::string command = std::string("nvidia-smi -i ") + bus +
                              " --query-gpu=clocks.sm,clocks.mem,power.limit"
                              " --format=csv,noheader 2>/dev/null";
  if (std::FILE* const pipe = popen(command.c_str(), "r")) {
    if (!std::fgets(text, sizeof text, pipe)) text[0] = 0;
    pclose(pipe);
  }
  std::string answer(text);
  while (!answer.empty() && answer.back() == '\n') answer.pop_back();
  return answer.empty() ? "" : answer + " (multiprocessors, memory, power limit)";
}

Machine describe_machine() {
  int device = 0, driver = 0, runtime = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  Machine machine;
  machine.is_gpu = true;
  machine.device = properties.name;
  machine.cache_bytes = properties.l2CacheSize;
  machine.details = {
      {"host CPU", cpu_name()},
      {"driver", driver_module()},
      {"CUDA of the driver", version(driver)},
      {"CUDA runtime", version(runtime)},
      {"multiprocessors", std::to_string(properties.multiProcessorCount)},
      {"clock, highest", std::to_string(attribute(cudaDevAttrClockRate) / 1000) + " MHz"},
      {"memory clock", std::to_string(attribute(cudaDevAttrMemoryClockRate) / 1000) + " MHz"},
      {"L2 cache", std::to_string(machine.cache_bytes >> 20) + " MiB"},
      {"device memory", std::to_string(properties.totalGlobalMem >> 30) + " GiB"}};
  return machine;
}

} // namespace bench
