// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BENCHMARKS_CASES_HPP
#define SHOAL_BENCHMARKS_CASES_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

/// \file
/// What is measured.
namespace bench {

enum class Operation { svd, gemm };
enum class Scalar { f32, f64, c64, c128 };

enum class Mode {
  device,        ///< the matrices are in the execution space's memory
  host_to_host,  ///< they come from the host's memory, and the results go there
  five_in_a_row, ///< five calls, one wait
};

enum class Scope { tiny, selection, full };

struct Case {
  Operation operation;
  Scalar scalar;
  std::int64_t batch;
  int m, n, k; ///< gemm: m x k by k x n; svd: m x n, k unused
  bool vectors = true;
  Mode mode = Mode::device;
  double condition = 1;
};

inline std::string name_of(Scalar s) {
  constexpr const char* names[] = {"f32", "f64", "c64", "c128"};
  return names[static_cast<int>(s)];
}
inline int size_of(Scalar s) {
  constexpr int sizes[] = {4, 8, 8, 16};
  return sizes[static_cast<int>(s)];
}
inline std::string name_of(Mode mode) {
  return mode == Mode::device ? "device" : mode == Mode::host_to_host ? "host-to-host" : "five";
}

/// Such as svd/thin/f32/15x3/8000 and gemm/f64/1000x1000x1000/1/five.
inline std::string name_of(const Case& c) {
  const auto x = [](int i) { return std::to_string(i); };
  std::string name = c.operation == Operation::svd
                         ? std::string("svd/") + (c.vectors ? "thin/" : "values/")
                         : std::string("gemm/");
  name += name_of(c.scalar) + "/" + x(c.m) + "x" + x(c.n);
  if (c.operation == Operation::gemm) name += "x" + x(c.k);
  name += "/" + std::to_string(c.batch);
  if (c.condition != 1)
    name += "/cond1e" + x(static_cast<int>(std::lround(std::log10(c.condition))));
  if (c.mode != Mode::device) name += "/" + name_of(c.mode);
  return name;
}

/// Matrices that keep a GPU busy and fit in its memory beside every rival's workspace.
inline std::int64_t svd_batch(int m, int n) {
  const int k = std::min(m, n), size = std::max(m, n);
  if (k <= 4) return size <= 4 ? 4'000'000 : 1'000'000;
  if (k <= 8) return size <= 32 ? 1'000'000 : 20'000;
  if (k <= 16) return 200'000;
  if (k <= 33) return size <= 64 ? 50'000 : size <= 256 ? 10'000 : 1'000;
  if (k <= 64) return 10'000;
  return k <= 128 ? 2'000 : k <= 256 ? 200 : 20;
}

class CaseList {
public:
  /// gpu: sizes for a GPU; otherwise a share of them that a CPU does in a reasonable time.
  CaseList(Scope scope, bool gpu, int threads) : m_scope(scope), m_gpu(gpu), m_threads(threads) {}

  void svd(Scalar s, int m, int n, bool vectors = true, double condition = 1) {
    const std::int64_t batch = svd_batch(m, n);
    add({Operation::svd, s,
         m_gpu ? batch : std::max<std::int64_t>(batch / 50, std::int64_t(2) * m_threads), m, n, 0,
         vectors, Mode::device, condition});
  }
  /// A, B and C of the whole batch together take 2 GB, or 64 MB.
  void gemm(Scalar s, int m, int n, int k) {
    const double each = static_cast<double>(size_of(s)) * (m * k + k * n + m * n);
    const auto batch = static_cast<std::int64_t>((m_gpu ? 2e9 : 64e6) / each);
    const auto power = static_cast<std::int64_t>(
        std::pow(10.0, std::max(0.0, std::floor(std::log10(static_cast<double>(batch))) - 1)));
    add({Operation::gemm, s, std::max<std::int64_t>(1, batch / power * power), m, n, k});
  }
  void add(Case c) {
    if (m_scope == Scope::tiny) {
      const std::int64_t elements = std::int64_t(c.m) * c.n * std::max(1, c.k);
      c.batch = std::min<std::int64_t>(c.batch, elements > 1000 ? 3 : 37);
      c.m = std::min(c.m, 160);
      c.n = std::min(c.n, 48);
      c.k = std::min(c.k, 64);
      for (const Case& other : m_cases)
        if (name_of(other) == name_of(c)) return;
    }
    m_cases.push_back(c);
  }
  const std::vector<Case>& cases() const { return m_cases; }

private:
  Scope m_scope;
  bool m_gpu;
  int m_threads;
  std::vector<Case> m_cases;
};

/// The rows of a run. separate_memory: the device does not work in the host's memory.
inline std::vector<Case> list_cases(Scope scope, bool gpu, bool separate_memory, int threads) {
  CaseList list(scope, gpu, threads);
  const bool full = scope == Scope::full;
  const auto reals = {Scalar::f32, Scalar::f64};
  const auto complexes = {Scalar::c64, Scalar::c128};

  // What shoal was asked for first.
  for (const Scalar s : reals) {
    list.add({Operation::svd, s, 8000, 15, 3, 0});
    if (separate_memory) list.add({Operation::svd, s, 8000, 15, 3, 0, true, Mode::host_to_host});
  }
  // On a CPU the larger ones take minutes.
  for (const Scalar s : reals)
    for (const int n :
         gpu || scope != Scope::selection ? std::vector{1000, 3000, 5000} : std::vector{1000})
      for (const Mode mode : {Mode::device, Mode::five_in_a_row})
        list.add({Operation::gemm, s, 1, n, n, n, true, mode});

  // Decompositions.
  std::vector<std::pair<int, int>> shapes = {{2, 2},   {3, 3},   {4, 4},   {8, 8},   {16, 16},
                                             {24, 24}, {32, 32}, {33, 33}, {48, 48}, {64, 64},
                                             {96, 96}, {15, 3},  {3, 15},  {64, 8},  {128, 32}};
  if (gpu || full) shapes.insert(shapes.end(), {{128, 128}, {256, 256}, {512, 8}, {1024, 32}});
  if (full) {
    shapes.insert(shapes.end(), {{512, 512}, {512, 64}, {8, 64}, {32, 128}});
    for (int n = 1; n <= 72; ++n) shapes.emplace_back(n, n);
  }
  std::stable_sort(shapes.begin(), shapes.end(), [](const auto& a, const auto& b) {
    const bool square_a = a.first == a.second, square_b = b.first == b.second;
    return square_a != square_b ? square_a : square_a && a.first < b.first;
  });
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  for (const Scalar s : reals)
    for (const auto& [m, n] : shapes) list.svd(s, m, n);
  for (const Scalar s : complexes)
    for (const int n : full ? std::vector{2, 3, 4, 8, 16, 32, 64} : std::vector{4, 16})
      list.svd(s, n, n);
  for (const Scalar s : reals)
    for (const auto& [m, n] : full ? shapes : std::vector<std::pair<int, int>>{{4, 4}, {32, 32}})
      list.svd(s, m, n, false);
  // Graded columns: the condition number as a power of ten.
  for (const Scalar s : reals)
    for (const double condition : {1e4, 1e8, 1e12})
      if (s == Scalar::f64 || condition < 1e12)
        for (const auto& [m, n] : {std::pair{15, 3}, {16, 16}}) list.svd(s, m, n, true, condition);

  // Products.
  std::vector<int> sizes = {2, 3, 4, 5, 8, 12, 16, 24, 32, 33, 48, 64, 128};
  if (full) {
    sizes = {96, 128};
    for (int n = 1; n <= 72; ++n) sizes.push_back(n);
    std::sort(sizes.begin(), sizes.end());
  }
  for (const Scalar s : reals) {
    for (const int n : sizes) list.gemm(s, n, n, n);
    list.gemm(s, 15, 3, 3);
    list.gemm(s, 3, 3, 15);
    list.gemm(s, 64, 8, 8);
    if (full) list.gemm(s, 8, 64, 8);
    if (full) list.gemm(s, 8, 8, 64);
  }
  for (const Scalar s : complexes)
    for (const int n : full ? std::vector{2, 3, 4, 8, 16, 32, 64} : std::vector{4, 16})
      list.gemm(s, n, n, n);
  return list.cases();
}

} // namespace bench

#endif
