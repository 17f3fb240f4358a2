// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/shoal/output.hpp"

#include "tools/shoal/errors.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <unistd.h>
#include <zip.h>

namespace shoal_cli {

namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free,
              "the handler may only touch what needs no lock");
extern "C" void on_signal(int) { interrupted = true; }

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw BadInput(path + ": cannot be written: " + what);
}

} // namespace

void watch_signals() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
}

void stop_if_interrupted() {
  if (interrupted) throw Interrupted();
}

PendingFile::PendingFile(const std::string& final_path, const std::string& suffix)
    : m_final(final_path), m_path(final_path + suffix + ".part" + std::to_string(::getpid())) {
  m_file = std::fopen(m_path.c_str(), "wb");
  if (!m_file) fail(final_path, std::strerror(errno));
}

PendingFile::~PendingFile() {
  if (m_file) std::fclose(m_file);
  if (!m_path.empty()) ::unlink(m_path.c_str());
}

void PendingFile::write(const void* data, std::size_t bytes) {
  if (bytes > 0 && std::fwrite(data, 1, bytes, m_file) != bytes)
    fail(m_final, std::strerror(errno));
}

void PendingFile::close() {
  std::FILE* const file = m_file;
  m_file = nullptr;
  if (file && std::fclose(file) != 0) fail(m_final, std::strerror(errno));
}

void PendingFile::commit() {
  close();
  if (std::rename(m_path.c_str(), m_final.c_str()) != 0) fail(m_final, std::strerror(errno));
  m_path.clear();
}

PendingFile& NpzWriter::add(const std::string& name, Scalar scalar,
                            const std::vector<std::int64_t>& shape) {
  m_names.push_back(name + ".npy");
  m_members.push_back(std::make_unique<PendingFile>(m_path, "." + name));
  const std::string header = npy_header(scalar, shape);
  m_members.back()->write(header.data(), header.size());
  return *m_members.back();
}

void NpzWriter::commit() {
  PendingFile whole(m_path);
  whole.close();
  int code = 0;
  zip_t* const zip = zip_open(whole.path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!zip) fail(m_path, "zip error " + std::to_string(code));
  const auto give_up = [&](const std::string& what) {
    zip_discard(zip);
    stop_if_interrupted();
    fail(m_path, what);
  };
  // NumPy stores members uncompressed too (numpy.savez); libzip uses zip64 where sizes need it.
  for (std::size_t i = 0; i < m_members.size(); ++i) {
    m_members[i]->close();
    zip_source_t* const source = zip_source_file(zip, m_members[i]->path().c_str(), 0, -1);
    const zip_int64_t index =
        source ? zip_file_add(zip, m_names[i].c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0 ||
        zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0)
      give_up(zip_strerror(zip));
  }
  zip_register_cancel_callback_with_state(
      zip, [](zip_t*, void*) { return interrupted.load() ? 1 : 0; }, nullptr, nullptr);
  if (zip_close(zip) != 0) give_up(zip_strerror(zip));
  m_members.clear();
  whole.commit();
}

} // namespace shoal_cli
