// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TOOLS_PROGRESS_HPP
#define SHOAL_TOOLS_PROGRESS_HPP

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace shoal_cli {

/// A bar with rate and remaining time on stderr, where that is a terminal; silent elsewhere.
class Progress {
public:
  explicit Progress(std::int64_t total) : m_total(total), m_shown(::isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (m_drawn) std::fprintf(stderr, "\r\033[K");
  }

  void show(std::int64_t done) {
    if (!m_shown || m_total == 0) return;
    const double seconds = elapsed();
    if (m_drawn && done < m_total && seconds - m_last < 0.1) return;
    m_last = seconds;
    m_drawn = true;
    const double share = static_cast<double>(done) / static_cast<double>(m_total);
    const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
    const int filled = static_cast<int>(share * width);
    const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
    const long left =
        rate > 0 ? static_cast<long>(static_cast<double>(m_total - done) / rate + 0.5) : 0;
    std::fprintf(stderr, "\r[%s] %3.0f %%  %.3g matrices/s  %ld:%02ld left\033[K", bar.c_str(),
                 share * 100, rate, left / 60, left % 60);
    std::fflush(stderr);
  }

private:
  static constexpr int width = 30;
  std::int64_t m_total;
  bool m_shown, m_drawn = false;
  double m_last = 0;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();

  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }
};

} // namespace shoal_cli

#endif
