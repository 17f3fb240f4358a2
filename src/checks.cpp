// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/detail/checks.hpp>
#include <shoal/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace shoal::detail {

namespace {

using std::to_string;

/// The checks of one call; every message names the function and the argument.
class Checker {
public:
  explicit Checker(const char* function) : m_function(function) {}

  [[noreturn]] void refuse(const std::string& argument, const std::string& problem) const {
    throw invalid_argument(m_function, argument, problem);
  }

  /// Rows and columns of batches whose sizes differ are known to the kernels only.
  void expect_extent(const BatchShape& x, int dimension, std::int64_t expected,
                     const std::string& meaning) const {
    if (dimension > 0 && x.sizes_differ) return;
    if (x.extent[dimension] != expected)
      refuse(x.name, "extent " + to_string(dimension) + " is " + to_string(x.extent[dimension]) +
                         ", expected " + to_string(expected) + " (" + meaning + ")");
  }

  template <class Path>
  void expect_path(Path path) const {
    if (std::strcmp(shoal::to_string(path), "invalid") == 0)
      refuse("options.path", "is " + to_string(static_cast<int>(path)) + ", expected a named path");
  }

  void expect_data(const BatchShape& x) const {
    if (size(x) > 0 && !x.data && !x.pointers)
      refuse(x.name, "data is null, expected memory for " + to_string(size(x)) + " elements");
    if (x.sizes_differ && x.extent[0] > 0 && !(x.rows && (x.cols || x.vectors)))
      refuse(x.name, std::string(x.vectors ? "sizes"
                                 : x.rows  ? "cols"
                                           : "rows") +
                         " is null, expected an array of " + to_string(x.extent[0]) + " sizes");
  }

  /// Kernels index the rows and columns of one matrix with int.
  void expect_int_extents(const BatchShape& x) const {
    constexpr std::int64_t most = 2147483647 - 1024;
    for (int d = 0; d < 3; ++d)
      if (x.extent[d] < 0)
        refuse(x.name, "extent " + to_string(d) + " is " + to_string(x.extent[d]) +
                           ", expected at least 0");
    for (int d = 1; d < 3; ++d)
      if (x.extent[d] > most)
        refuse(x.name, "extent " + to_string(d) + " is " + to_string(x.extent[d]) +
                           ", expected at most " + to_string(most));
  }

  /// An output must not hold one element at two indices.
  void expect_distinct_elements(const BatchShape& x) const {
    // Strides of views without elements are 0; those of matrices whose sizes differ are not known.
    if (size(x) == 0 || x.sizes_differ) return;
    for (int d = 0; d < 3; ++d)
      if (x.extent[d] > 1 && x.stride[d] == 0 && !(d == 0 && x.pointers))
        refuse(x.name, "stride " + to_string(d) + " is 0 with extent " + to_string(x.extent[d]) +
                           ", expected an output whose elements are distinct");
  }

  /// Ranges are compared by their end points: interleaved but disjoint outputs and inputs of one
  /// allocation are told apart only when one lies wholly before the other or both are lattices with
  /// the same strides.
  void expect_no_overlap(const BatchShape& output, const BatchShape& other) const {
    if (output.pointers || other.pointers || size(output) == 0 || size(other) == 0) return;
    const Range x = range(output), y = range(other);
    if (x.end <= y.begin || y.end <= x.begin || disjoint_lattices(output, other)) return;
    refuse(output.name, "overlaps " + std::string(other.name) + ": bytes " + to_string(x.begin) +
                            " to " + to_string(x.end) + " and " + to_string(y.begin) + " to " +
                            to_string(y.end) + ", expected separate memory");
  }

private:
  const char* m_function;

  struct Range {
    std::uintptr_t begin, end;
  };

  static std::int64_t size(const BatchShape& x) { return x.extent[0] * x.extent[1] * x.extent[2]; }

  static Range range(const BatchShape& x) {
    const auto data = reinterpret_cast<std::uintptr_t>(x.data);
    std::int64_t low = 0, high = 0;
    for (int d = 0; d < 3; ++d) {
      const std::int64_t reach = (x.extent[d] - 1) * x.stride[d] * x.element_size;
      (reach < 0 ? low : high) += reach;
    }
    return {data + static_cast<std::uintptr_t>(low),
            data + static_cast<std::uintptr_t>(high + x.element_size)};
  }

  /// Two sub-views of one parent, such as columns [0, 2) and [2, 4) of the same batch: equal
  /// strides, and an offset between their first elements that no pair of indices bridges.
  static bool disjoint_lattices(const BatchShape& a, const BatchShape& b) {
    if (a.element_size != b.element_size) return false;
    int order[3] = {0, 1, 2};
    for (int d = 0; d < 3; ++d)
      if (a.stride[d] != b.stride[d] || a.stride[d] <= 0) return false;
    std::sort(order, order + 3, [&](int x, int y) { return a.stride[x] > a.stride[y]; });
    const auto bytes = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(b.data) -
                                                 reinterpret_cast<std::uintptr_t>(a.data));
    if (bytes % a.element_size != 0) return false;
    // The offset as whole strides from the largest down, each digit taken with either rounding.
    return !bridged(a, b, order, 0, bytes / a.element_size);
  }

  /// Whether a(i) and b(j) coincide for some indices: offset = sum of (i_d - j_d) stride_d.
  static bool bridged(const BatchShape& a, const BatchShape& b, const int (&order)[3], int level,
                      std::int64_t offset) {
    if (level == 3) return offset == 0;
    const int d = order[level];
    std::int64_t rest = 0; // what the smaller strides can bridge, either way
    for (int l = level + 1; l < 3; ++l)
      rest += (std::max(a.extent[order[l]], b.extent[order[l]]) - 1) * a.stride[order[l]];
    const std::int64_t least = -(b.extent[d] - 1), most = a.extent[d] - 1;
    const std::int64_t about = offset / a.stride[d], reach = rest / a.stride[d] + 1;
    for (std::int64_t x = std::max(least, about - reach); x <= std::min(most, about + reach); ++x)
      if (bridged(a, b, order, level + 1, offset - x * a.stride[d])) return true;
    return false;
  }
};

} // namespace

void check_gemm(const BatchShape& alpha, const BatchShape& a, const BatchShape& b,
                const BatchShape& beta, const BatchShape& c, const GemmOptions& options) {
  const Checker check("shoal::gemm");
  for (const auto& [name, op] :
       {std::pair{"options.op_a", options.op_a}, {"options.op_b", options.op_b}})
    if (op != Op::none && op != Op::transpose && op != Op::conj_transpose)
      check.refuse(name, "is " + to_string(static_cast<int>(op)) +
                             ", expected none, transpose or conj_transpose");
  check.expect_path(options.path);
  const int a_rows = options.op_a == Op::none ? 1 : 2, b_rows = options.op_b == Op::none ? 1 : 2;
  const int a_cols = 3 - a_rows, b_cols = 3 - b_rows;
  check.expect_extent(a, 0, c.extent[0], "matrices of C");
  check.expect_extent(b, 0, c.extent[0], "matrices of C");
  if (!c.sizes_differ) {
    check.expect_extent(a, a_rows, c.extent[1], "rows of C");
    check.expect_extent(b, b_cols, c.extent[2], "columns of C");
  }
  if (!a.sizes_differ) check.expect_extent(b, b_rows, a.extent[a_cols], "columns of op(A)");
  for (const BatchShape* x : {&a, &b, &c}) {
    check.expect_int_extents(*x);
    check.expect_data(*x);
  }
  check.expect_distinct_elements(c);
  check.expect_no_overlap(c, a);
  check.expect_no_overlap(c, b);
  for (const BatchShape* x : {&alpha, &beta}) {
    if (!x->present) continue;
    if (x->stride[0] != 0 || x->extent[0] != 1)
      check.expect_extent(*x, 0, c.extent[0], "matrices of C");
    check.expect_data(*x);
    check.expect_no_overlap(c, *x);
  }
}

void check_svd(const BatchShape& a, const BatchShape& u, const BatchShape& s, const BatchShape& vt,
               const std::array<BatchShape, 4>& reports, const SvdOptions& options) {
  const Checker check("shoal::svd");
  for (const auto& [name, vectors] :
       {std::pair{"options.left", options.left}, {"options.right", options.right}})
    if (vectors != Vectors::none && vectors != Vectors::thin && vectors != Vectors::full)
      check.refuse(name,
                   "is " + to_string(static_cast<int>(vectors)) + ", expected none, thin or full");
  check.expect_path(options.path);
  if (!(options.tolerance >= 0 && options.tolerance < 1))
    check.refuse("options.tolerance",
                 "is " + to_string(options.tolerance) + ", expected at least 0 and less than 1");
  if (options.max_sweeps < 1)
    check.refuse("options.max_sweeps",
                 "is " + to_string(options.max_sweeps) + ", expected at least 1");
  const bool left = options.left != Vectors::none, right = options.right != Vectors::none;
  if (options.fix_signs && !left)
    check.refuse("options.fix_signs", "is true without left vectors, expected U");

  const std::int64_t batch = a.extent[0], m = a.extent[1], n = a.extent[2], k = std::min(m, n);
  check.expect_extent(s, 0, batch, "matrices of A");
  const std::int64_t rank = s.extent[1];
  if (rank > k)
    check.refuse("S", "extent 1 is " + to_string(rank) + ", expected at most " + to_string(k) +
                          " (the smaller extent of A)");
  if (left) {
    check.expect_extent(u, 0, batch, "matrices of A");
    check.expect_extent(u, 1, m, "rows of A");
    check.expect_extent(u, 2, options.left == Vectors::full ? m : rank,
                        options.left == Vectors::full ? "rows of A" : "values in S");
  }
  if (right) {
    check.expect_extent(vt, 0, batch, "matrices of A");
    check.expect_extent(vt, 1, options.right == Vectors::full ? n : rank,
                        options.right == Vectors::full ? "columns of A" : "values in S");
    check.expect_extent(vt, 2, n, "columns of A");
  }
  std::vector<const BatchShape*> outputs{left ? &u : nullptr, &s, right ? &vt : nullptr};
  for (const BatchShape& x : reports) {
    if (!x.present) continue;
    check.expect_extent(x, 0, batch, "matrices of A");
    outputs.push_back(&x);
  }
  check.expect_int_extents(a);
  check.expect_data(a);
  for (const BatchShape* x : outputs) {
    if (!x) continue;
    check.expect_int_extents(*x);
    check.expect_data(*x);
    check.expect_distinct_elements(*x);
    check.expect_no_overlap(*x, a);
    for (const BatchShape* y : outputs) {
      if (y == x) break;
      if (y) check.expect_no_overlap(*x, *y);
    }
  }
}

void check_workspace(const char* function, const void* data, std::size_t bytes,
                     std::size_t needed) {
  const Checker check(function);
  if (bytes < needed)
    check.refuse("workspace",
                 "has " + to_string(bytes) + " bytes, expected at least " + to_string(needed));
  if (reinterpret_cast<std::uintptr_t>(data) % 16 != 0)
    check.refuse("workspace", "address " + to_string(reinterpret_cast<std::uintptr_t>(data)) +
                                  " is not aligned, expected a multiple of 16");
}

} // namespace shoal::detail
