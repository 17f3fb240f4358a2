// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TOOLS_OUTPUT_HPP
#define SHOAL_TOOLS_OUTPUT_HPP

#include "tools/shoal/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

/// \file
/// Outputs appear whole or not at all: everything is written beside its final place and renamed at
/// the end; an error or a signal removes it.
namespace shoal_cli {

/// SIGINT and SIGTERM set a flag from now on; \ref stop_if_interrupted throws Interrupted where it
/// is set.
void watch_signals();
void stop_if_interrupted();

/// A file that is removed again unless it is committed.
class PendingFile {
public:
  explicit PendingFile(const std::string& final_path, const std::string& suffix = "");
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::string& path() const { return m_path; }
  void write(const void* data, std::size_t bytes);
  /// Closes the file; throws where the disk did not take everything.
  void close();
  /// Closes and renames to the final path.
  void commit();

private:
  std::string m_final, m_path;
  std::FILE* m_file = nullptr;
};

/// An .npz: members are streamed to files beside it and put together by \ref commit.
class NpzWriter {
public:
  explicit NpzWriter(const std::string& path) : m_path(path) {}
  /// A new member; its elements are written to the file returned, in C order.
  PendingFile& add(const std::string& name, Scalar scalar, const std::vector<std::int64_t>& shape);
  void commit();

private:
  std::string m_path;
  std::vector<std::string> m_names;
  std::vector<std::unique_ptr<PendingFile>> m_members;
};

} // namespace shoal_cli

#endif
