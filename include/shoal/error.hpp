// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_ERROR_HPP
#define SHOAL_ERROR_HPP

#include <stdexcept>
#include <string>

namespace shoal {

/// Thrown by host calls before anything is launched or written, when the arguments cannot be right.
/// what() reads "shoal::svd: U: extent 1 is 4, expected 5 (rows of A)": the function, the argument,
/// what came and what was expected.
class invalid_argument : public std::invalid_argument {
public:
  invalid_argument(const std::string& function, const std::string& argument,
                   const std::string& problem)
      : std::invalid_argument(function + ": " + argument + ": " + problem), m_function(function),
        m_argument(argument) {}

  /// The public function that refused, such as "shoal::gemm".
  const std::string& function() const noexcept { return m_function; }
  /// The argument that it refused, such as "C".
  const std::string& argument() const noexcept { return m_argument; }

private:
  std::string m_function;
  std::string m_argument;
};

/// Thrown when the backend itself fails: an allocation from its pool, a vendor library's status.
class backend_error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace shoal

#endif
