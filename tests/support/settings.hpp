// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_SETTINGS_HPP
#define SHOAL_TESTS_SUPPORT_SETTINGS_HPP

#include <shoal/types.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

/// \file
/// What a test run can be told from outside, and what the library's enumerations hold.
namespace shoal::test {

/// How many random cases a test draws: SHOAL_TEST_DRAWS, or what the test thinks enough.
inline std::int64_t draws(std::int64_t by_default) {
  const char* const text = std::getenv("SHOAL_TEST_DRAWS");
  return text ? std::atoll(text) : by_default;
}
/// The seed of the random cases: SHOAL_TEST_SEED, or always the same.
inline std::uint64_t seed() {
  const char* const text = std::getenv("SHOAL_TEST_SEED");
  return text ? std::strtoull(text, nullptr, 0) : 20240229;
}

/// Sanitizers take ten times as long. Of the cases of a long loop one in so many is enough for
/// them: the optimised build sees all. No factor of 2 or 3, which other settings of such loops
/// alternate with.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int case_step = 5;
#else
inline constexpr int case_step = 1;
#endif

/// A file of tests/data. SHOAL_TEST_DATA names the folder where the executable runs on another
/// machine than it was built on.
inline std::string data_file(const std::string& name) {
  const char* const folder = std::getenv("SHOAL_TEST_DATA");
#ifdef SHOAL_TEST_DATA_DIR
  return std::string(folder ? folder : SHOAL_TEST_DATA_DIR) + "/" + name;
#else
  return std::string(folder ? folder : ".") + "/" + name;
#endif
}

/// Every enumerator of GemmPath or SvdPath, `automatic` first: a path that is added later is tested
/// without a change here.
template <class Path>
std::vector<Path> every_path() {
  std::vector<Path> paths;
  for (int i = 0; std::string(shoal::to_string(static_cast<Path>(i))) != "invalid"; ++i)
    paths.push_back(static_cast<Path>(i));
  return paths;
}

/// Counts how often each path ran.
template <class Path>
class PathCount {
public:
  void see(Path path) { ++m_count[path]; }
  std::int64_t count(Path path) const {
    const auto found = m_count.find(path);
    return found == m_count.end() ? 0 : found->second;
  }
  void print(const std::string& name) const {
    for (const auto& [path, count] : m_count)
      std::printf("[ PATHS    ] %s: %s ran %lld times\n", name.c_str(), shoal::to_string(path),
                  static_cast<long long>(count));
    std::fflush(stdout);
  }

private:
  std::map<Path, std::int64_t> m_count;
};

} // namespace shoal::test

#endif
