// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TOOLS_ERRORS_HPP
#define SHOAL_TOOLS_ERRORS_HPP

#include <stdexcept>

namespace shoal_cli {

/// What the program returns.
enum ExitCode : int {
  exit_ok = 0,
  exit_bad_input = 1,
  exit_usage = 2,
  exit_some_failed = 3,
  exit_interrupted = 130
};

/// An input that cannot be used; the message is one line: the file, what was found, what is needed.
class BadInput : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// SIGINT or SIGTERM arrived.
class Interrupted : public std::runtime_error {
public:
  Interrupted() : std::runtime_error("interrupted; no output was written") {}
};

} // namespace shoal_cli

#endif
