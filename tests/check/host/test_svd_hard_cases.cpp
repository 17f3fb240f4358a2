// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The 140 hard inputs of tests/data/svd_hard.txt, whose singular values are known to 25 digits.
#include "tests/check/support/reference.hpp"
#include "tests/check/support/run.hpp"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace shoal_test;

struct Case {
  std::string name, type, note;
  int rows = 0, cols = 0;
  std::vector<double> entries;
  std::vector<long double> sigma;
};

std::vector<Case> read_cases() {
  const char* folder = std::getenv("SHOAL_TEST_DATA");
  std::ifstream file(std::string(folder ? folder : SHOAL_TEST_DATA_DIR) + "/svd_hard.txt");
  std::vector<Case> cases;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != "case") continue;
    Case c;
    words >> c.name >> c.rows >> c.cols >> c.type >> c.note;
    for (int i = 0; i < c.rows; ++i) {
      std::getline(file, line);
      std::istringstream row(line);
      while (row >> word) c.entries.push_back(std::strtod(word.c_str(), nullptr));
    }
    std::getline(file, line);
    std::istringstream values(line.substr(5));
    while (values >> word) c.sigma.push_back(std::strtold(word.c_str(), nullptr));
    cases.push_back(c);
  }
  return cases;
}

template <class T>
HostBatch<T> matrix_of(const Case& c, bool transposed, T phase) {
  HostBatch<T> a(1, transposed ? c.cols : c.rows, transposed ? c.rows : c.cols);
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.cols; ++j)
      a(0, transposed ? j : i, transposed ? i : j) = phase * RealOf<T>(c.entries[i * c.cols + j]);
  return a;
}

/// Small values that the data determine to their own size: relative to each, in u.
bool well_determined(const Case& c) {
  return c.note == "small_values_well_determined" || c.note == "graded_triangular";
}

template <class T>
class HardCases : public testing::Test {};
using Scalars =
    testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(HardCases, Scalars);

TYPED_TEST(HardCases, meet_the_contract) {
  using T = TypeParam;
  const bool single = std::is_same_v<RealOf<T>, float>;
  const std::vector<Case> cases = read_cases();
  ASSERT_EQ(cases.size(), 140u);
  Figures worst;
  double relative = 0;
  int done = 0;
  for (const Case& c : cases) {
    if (single && c.type == "f64") continue; // the entries are exact in double only
    ++done;
    T phase(1);
    if constexpr (shoal::detail::is_complex_scalar<T>) phase = T(0, 1); // exact
    for (const bool transposed : {false, true})
      for (const auto path : {shoal::SvdPath::automatic, shoal::SvdPath::team}) {
        shoal::SvdOptions options;
        options.path = path;
        const HostBatch<T> a = matrix_of<T>(c, transposed, phase);
        const SvdResult<T> r = run_svd(a, options);
        EXPECT_EQ(r.info(0, 0, 0), 0) << c.name;
        EXPECT_TRUE(r.guards_intact) << c.name;

        const Figures f = check_svd(a, 0, r.u, r.s, r.vt, c.sigma);
        worst.merge(f);
        EXPECT_LE(f.worst(), contract_limit)
            << c.name << (transposed ? " transposed" : "") << ", path " << shoal::to_string(path)
            << ": residual " << f.residual << ", left " << f.left << ", right " << f.right
            << ", values " << f.values;
        for (std::size_t k = 0; well_determined(c) && k < c.sigma.size(); ++k) {
          const double off = static_cast<double>(
              std::abs(r.s(0, static_cast<int>(k), 0) - c.sigma[k]) / c.sigma[k] / unit<T>);
          relative = std::max(relative, off);
          EXPECT_LE(off, 100) << c.name << ", value " << k;
        }
      }
  }
  EXPECT_EQ(done, single ? 26 : 140);
  std::cout << "  " << done << " cases, worst in u max(m, n): residual " << worst.residual
            << ", left " << worst.left << ", right " << worst.right << ", values " << worst.values
            << "; small values, relative: " << relative << " u\n";
}

} // namespace
