// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every argument that can be refused before a launch is refused by name, with both values, and nothing is
// written.
#include "tests/check/support/batch.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace {

using namespace shoal_test;
using Batch = DeviceBatch<double>;
using Host = HostBatch<double>;
using shoal::GemmOptions;
using shoal::Op;
using shoal::SvdOptions;
using shoal::Vectors;

/// Runs f, which must throw about `argument` with a message that holds every one of `parts`.
void expect_refused(const std::function<void()>& f, const std::string& argument,
                    std::initializer_list<const char*> parts) {
  try {
    f();
    ADD_FAILURE() << argument << " was accepted";
  } catch (const shoal::invalid_argument& error) {
    EXPECT_EQ(error.argument(), argument) << error.what();
    EXPECT_EQ(error.function().rfind("shoal::", 0), 0u);
    for (const char* part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is not in: " << error.what();
  }
}

class GemmArguments : public testing::Test {
protected:
  Space exec;
  Batch a{Host(4, 2, 3, 1), Layout::right};
  Batch b{Host(4, 3, 5, 1), Layout::right};
  Batch c{Host(4, 2, 5, 1), Layout::right, true};

  void expect(const Batch& a, const Batch& b, const Batch& c, const GemmOptions& options,
              const std::string& argument, std::initializer_list<const char*> parts) {
    expect_refused([&] { shoal::gemm(exec, 1, a.view(), b.view(), 0, c.view(), options); }, argument,
                   parts);
    EXPECT_TRUE(c.untouched());
  }
};

TEST_F(GemmArguments, extents_that_disagree) {
  expect(Batch(Host(3, 2, 3), Layout::right), b, c, {}, "A", {"extent 0 is 3", "expected 4"});
  expect(a, Batch(Host(5, 3, 5), Layout::right), c, {}, "B", {"extent 0 is 5", "expected 4"});
  expect(Batch(Host(4, 9, 3), Layout::right), b, c, {}, "A", {"extent 1 is 9", "expected 2"});
  expect(a, Batch(Host(4, 3, 6), Layout::right), c, {}, "B", {"extent 2 is 6", "expected 5"});
  expect(a, Batch(Host(4, 4, 5), Layout::right), c, {}, "B", {"extent 1 is 4", "expected 3"});
  expect(a, b, c, {Op::transpose, Op::none}, "A", {"extent 2 is 3", "expected 2"});
  expect(a, b, c, {Op::none, Op::conj_transpose}, "B", {"extent 1 is 3", "expected 5"});
}

TEST_F(GemmArguments, options_out_of_range) {
  expect(a, b, c, {static_cast<Op>('X'), Op::none}, "options.op_a", {"88"});
  expect(a, b, c, {Op::none, static_cast<Op>('Y')}, "options.op_b", {"89"});
  expect(a, b, c, {Op::none, Op::none, shoal::GemmPath::lane}, "options.path", {"2, 5, 3"});
}

TEST_F(GemmArguments, null_data_and_overlap) {
  using View = Batch::View;
  const View null(nullptr, Kokkos::LayoutStride(4, 6, 2, 3, 3, 1));
  expect_refused([&] { shoal::gemm(exec, 1, null, b.view(), 0, c.view()); }, "A", {"null", "24"});
  Batch square(Host(4, 3, 3, 1), Layout::right);
  expect_refused([&] { shoal::gemm(exec, 1, square.view(), square.view(), 0, square.view()); }, "C",
                 {"overlaps A"});
  const View repeated(c.view().data(), Kokkos::LayoutStride(4, 0, 2, 5, 5, 1));
  expect_refused([&] { shoal::gemm(exec, 1, a.view(), b.view(), 0, repeated); }, "C",
                 {"stride 0 is 0", "extent 4"});
  EXPECT_TRUE(c.untouched());
}

TEST_F(GemmArguments, disjoint_parts_of_one_allocation_are_no_overlap) {
  // Columns [0, 3), [3, 6) and [6, 9) of one batch of 3 x 9 matrices.
  const Batch whole(Host(4, 3, 9, 1), Layout::right);
  const auto part = [&](int first) {
    return Kokkos::subview(whole.view(), Kokkos::ALL, Kokkos::ALL, std::pair{first, first + 3});
  };
  EXPECT_NO_THROW(shoal::gemm(exec, 1, part(0), part(3), 0, part(6)));
  exec.fence();
  EXPECT_EQ(whole.read()(3, 2, 8), 3);
  EXPECT_EQ(whole.read()(3, 2, 5), 1);
  expect_refused([&] { shoal::gemm(exec, 1, part(0), part(3), 0, part(5)); }, "C", {"overlaps B"});
}

class SvdArguments : public testing::Test {
protected:
  Space exec;
  Batch a{Host(4, 5, 3, 1), Layout::right};
  Batch u{Host(4, 5, 3), Layout::right, true};
  Batch s{Host(4, 3, 1), Layout::right, true};
  Batch vt{Host(4, 3, 3), Layout::right, true};

  static auto values(const Batch& s) {
    return Kokkos::subview(s.view(), Kokkos::ALL, Kokkos::ALL, 0);
  }
  void expect(const Batch& u, const Batch& s, const Batch& vt, const SvdOptions& options,
              const std::string& argument, std::initializer_list<const char*> parts, int infos = 4) {
    const Kokkos::View<int*, Space> info("test::info", infos);
    expect_refused(
        [&] { shoal::svd(exec, a.view(), u.view(), values(s), vt.view(), info, options); }, argument,
        parts);
    EXPECT_TRUE(u.untouched() && s.untouched() && vt.untouched());
  }
};

TEST_F(SvdArguments, extents_that_disagree) {
  expect(Batch(Host(4, 6, 3), Layout::right, true), s, vt, {}, "U", {"extent 1 is 6", "expected 5"});
  expect(Batch(Host(4, 5, 2), Layout::right, true), s, vt, {}, "U", {"extent 2 is 2", "expected 3"});
  expect(Batch(Host(3, 5, 3), Layout::right, true), s, vt, {}, "U", {"extent 0 is 3", "expected 4"});
  expect(u, Batch(Host(4, 4, 1), Layout::right, true), vt, {}, "S", {"extent 1 is 4", "at most 3"});
  expect(u, Batch(Host(2, 3, 1), Layout::right, true), vt, {}, "S", {"extent 0 is 2", "expected 4"});
  expect(u, s, Batch(Host(4, 3, 4), Layout::right, true), {}, "Vt", {"extent 2 is 4", "expected 3"});
  expect(u, s, Batch(Host(4, 2, 3), Layout::right, true), {}, "Vt", {"extent 1 is 2", "expected 3"});
  expect(u, s, vt, {}, "info", {"extent 0 is 9", "expected 4"}, 9);
  SvdOptions full;
  full.left = Vectors::full;
  expect(u, s, vt, full, "U", {"extent 2 is 3", "expected 5"});
}

TEST_F(SvdArguments, options_out_of_range) {
  SvdOptions options;
  options.max_sweeps = 0;
  expect(u, s, vt, options, "options.max_sweeps", {"is 0", "at least 1"});
  options = {};
  options.tolerance = -0.5;
  expect(u, s, vt, options, "options.tolerance", {"-0.5"});
  options.tolerance = std::numeric_limits<double>::quiet_NaN();
  expect(u, s, vt, options, "options.tolerance", {"nan"});
  options.tolerance = 1;
  expect(u, s, vt, options, "options.tolerance", {"less than 1"});
  options = {};
  options.left = static_cast<Vectors>('?');
  expect(u, s, vt, options, "options.left", {"63"});
  options = {};
  options.right = static_cast<Vectors>('?');
  expect(u, s, vt, options, "options.right", {"63"});
  options = {};
  options.left = Vectors::none;
  options.fix_signs = true;
  expect(u, s, vt, options, "options.fix_signs", {"left vectors"});
}

TEST_F(SvdArguments, overlap_null_data_and_workspace) {
  expect_refused([&] { shoal::svd(exec, a.view(), a.view(), values(s), vt.view()); }, "U",
                 {"overlaps A"});
  const Batch::View null(nullptr, Kokkos::LayoutStride(4, 15, 5, 3, 3, 1));
  expect_refused([&] { shoal::svd(exec, null, u.view(), values(s), vt.view()); }, "A", {"null"});
  expect_refused([&] { shoal::svd(exec, a.view(), null, values(s), vt.view()); }, "U", {"null"});
  const Batch big(Host(2, 600, 500), Layout::right), big_s(Host(2, 500, 1), Layout::right, true);
  const std::size_t needed = shoal::svd_workspace_size(exec, big.view(), shoal::unwanted,
                                                       values(big_s), shoal::unwanted);
  ASSERT_GT(needed, 16u);
  const Kokkos::View<char*, Space> memory("test::workspace", needed + 16);
  expect_refused(
      [&] {
        shoal::svd_values(exec, big.view(), values(big_s), shoal::unwanted, {},
                          {memory.data(), needed - 1});
      },
      "workspace", {std::to_string(needed).c_str(), std::to_string(needed - 1).c_str()});
  expect_refused(
      [&] {
        shoal::svd_values(exec, big.view(), values(big_s), shoal::unwanted, {},
                          {memory.data() + 1, needed});
      },
      "workspace", {"multiple of 16"});
  EXPECT_TRUE(big_s.untouched() && u.untouched() && s.untouched() && vt.untouched());
}

} // namespace
