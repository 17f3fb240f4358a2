// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_HARD_CASES_HPP
#define SHOAL_TESTS_SUPPORT_HARD_CASES_HPP

#include "tests/support/settings.hpp"

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace shoal::test {

/// One case of data/svd_hard.txt: a matrix, exact in its type, and its singular values to 25
/// digits.
struct HardCase {
  std::string name, note;
  bool is_double = false;
  std::int64_t rows = 0, cols = 0;
  std::vector<double> entries; ///< row by row
  std::vector<long double> sigma;
};

/// Reads the cases; empty where the file is not found.
inline std::vector<HardCase> hard_cases() {
  std::ifstream file(data_file("svd_hard.txt"));
  std::vector<HardCase> cases;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "case") {
      HardCase c;
      std::string type;
      words >> c.name >> c.rows >> c.cols >> type;
      std::getline(words >> std::ws, c.note);
      c.is_double = type == "f64";
      cases.push_back(c);
    } else if (word == "sigma") {
      while (words >> word) cases.back().sigma.push_back(std::strtold(word.c_str(), nullptr));
    } else if (!cases.empty() && !word.empty() && word[0] != '#') {
      do cases.back().entries.push_back(std::strtod(word.c_str(), nullptr));
      while (words >> word);
    }
  }
  return cases;
}

} // namespace shoal::test

#endif
