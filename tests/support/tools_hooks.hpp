// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_TOOLS_HOOKS_HPP
#define SHOAL_TESTS_SUPPORT_TOOLS_HOOKS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <vector>

/// \file
/// What Kokkos does on behalf of a call: its tools callbacks, written down.
namespace shoal::test {

/// Records every kernel, fence, allocation and copy from construction to stop() or destruction. One
/// at a time.
class ToolsRecord {
public:
  struct Kernel {
    std::string label;
    std::uint32_t device;
  };
  std::vector<Kernel> kernels;
  std::vector<std::string> fences, allocations, copies, regions;

  ToolsRecord() {
    namespace tools = Kokkos::Tools::Experimental;
    active() = this;
    m_before = tools::get_callbacks();
    tools::set_begin_parallel_for_callback(begin_kernel);
    tools::set_begin_parallel_reduce_callback(begin_kernel);
    tools::set_begin_parallel_scan_callback(begin_kernel);
    tools::set_begin_fence_callback([](const char* name, const std::uint32_t, std::uint64_t* id) {
      *id = 0;
      // Kokkos fences for the tools' sake around what it reports to them.
      const bool of_tools = std::string(name).find("Profile Tool Fence") != std::string::npos;
      if (active() && !of_tools) active()->fences.emplace_back(name);
    });
    tools::set_allocate_data_callback([](const Kokkos::Tools::SpaceHandle space, const char* label,
                                         const void* const, const std::uint64_t bytes) {
      // Kokkos asks CUDA for 0 bytes with each team kernel that uses no scratch in device memory.
      if (active() && bytes > 0)
        active()->allocations.push_back(std::string(space.name) + ": " + label + ", " +
                                        std::to_string(bytes) + " bytes");
    });
    tools::set_begin_deep_copy_callback([](Kokkos::Tools::SpaceHandle, const char* to, const void*,
                                           Kokkos::Tools::SpaceHandle, const char* from,
                                           const void*, std::uint64_t) {
      if (active()) active()->copies.push_back(std::string(from) + " to " + to);
    });
    tools::set_push_region_callback([](const char* name) {
      if (active()) active()->regions.emplace_back(name);
    });
  }
  ~ToolsRecord() { stop(); }
  ToolsRecord(const ToolsRecord&) = delete;
  ToolsRecord& operator=(const ToolsRecord&) = delete;

  void stop() {
    if (active() != this) return;
    Kokkos::Tools::Experimental::set_callbacks(m_before);
    active() = nullptr;
  }

private:
  Kokkos::Tools::Experimental::EventSet m_before;

  static ToolsRecord*& active() {
    static ToolsRecord* record = nullptr;
    return record;
  }
  static void begin_kernel(const char* name, const std::uint32_t device, std::uint64_t* id) {
    *id = 0;
    if (active()) active()->kernels.push_back({name, device});
  }
};

} // namespace shoal::test

#endif
