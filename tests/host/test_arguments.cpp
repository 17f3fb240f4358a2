// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/layouts.hpp"
#include "tests/support/settings.hpp"

#include <shoal/gemm.hpp>
#include <shoal/svd.hpp>

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

/// \file
/// What can be checked before a launch is: the call throws invalid_argument that names the
/// function, the argument, what came and what was expected, and has written nothing.
namespace shoal::test {
namespace {

template <class T>
class Arguments : public ::testing::Test {};
TYPED_TEST_SUITE(Arguments, Scalars, ScalarNames);

/// The call refuses `argument`, and its message holds every one of `parts`.
template <class Call>
void expect_refusal(const std::string& function, const std::string& argument,
                    const std::vector<std::string>& parts, const Call& call) {
  try {
    call();
  } catch (const shoal::invalid_argument& e) {
    const std::string text = e.what();
    EXPECT_EQ(e.function(), function) << text;
    EXPECT_EQ(e.argument(), argument) << text;
    EXPECT_EQ(text.rfind(function + ": " + argument + ": ", 0), 0u) << text;
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
    const std::invalid_argument* const base = &e; // users may catch the standard's class
    EXPECT_NE(base, nullptr);
    Exec().fence();
    return;
  }
  ADD_FAILURE() << function << " accepted a wrong " << argument;
  Exec().fence();
}

TYPED_TEST(Arguments, GemmExtentsThatDisagree) {
  using T = TypeParam;
  constexpr std::int64_t batch = 5, m = 3, n = 4, k = 6;
  struct Case {
    std::int64_t a[3], b[3], c[3];
    Op op_a, op_b;
    const char* argument;
    std::vector<std::string> parts;
  };
  const Case cases[] = {
      {{9, m, k}, {batch, k, n}, {batch, m, n}, Op::none, Op::none, "A", {"extent 0", "9", "5"}},
      {{batch, m, k}, {9, k, n}, {batch, m, n}, Op::none, Op::none, "B", {"extent 0", "9", "5"}},
      {{batch, 9, k},
       {batch, k, n},
       {batch, m, n},
       Op::none,
       Op::none,
       "A",
       {"extent 1", "9", "3"}},
      {{batch, m, k},
       {batch, k, 9},
       {batch, m, n},
       Op::none,
       Op::none,
       "B",
       {"extent 2", "9", "4"}},
      {{batch, m, k},
       {batch, 9, n},
       {batch, m, n},
       Op::none,
       Op::none,
       "B",
       {"extent 1", "9", "6"}},
      {{batch, m, k},
       {batch, k, n},
       {batch, m, n},
       Op::transpose,
       Op::none,
       "A",
       {"extent 2", "6", "3"}},
      {{batch, k, m},
       {batch, k, n},
       {batch, m, n},
       Op::none,
       Op::none,
       "A",
       {"extent 1", "6", "3"}},
      {{batch, m, k},
       {batch, k, n},
       {batch, m, n},
       Op::none,
       Op::conj_transpose,
       "B",
       {"extent 1", "6", "4"}},
      {{batch, k, m},
       {batch, n, 9},
       {batch, m, n},
       Op::conj_transpose,
       Op::transpose,
       "B",
       {"extent 2", "9", "6"}},
      {{1, m, k}, {batch, k, n}, {batch, m, n}, Op::none, Op::none, "A", {"extent 0", "1", "5"}},
  };
  for (const Case& x : cases) {
    const DeviceBatch<T> a(Layout::right, HostBatch<T>(x.a[0], x.a[1], x.a[2], T(1)));
    const DeviceBatch<T> b(Layout::right, HostBatch<T>(x.b[0], x.b[1], x.b[2], T(1)));
    DeviceBatch<T> c(Layout::right, x.c[0], x.c[1], x.c[2]);
    c.fill(poison<T>());
    GemmOptions options;
    options.op_a = x.op_a;
    options.op_b = x.op_b;
    expect_refusal("shoal::gemm", x.argument, x.parts,
                   [&] { gemm(Exec(), T(1), a.right(), b.right(), T(0), c.right(), options); });
    expect_refusal("shoal::gemm", x.argument, x.parts,
                   [&] { gemm_plan(Exec(), a.right(), b.right(), c.right(), options); });
    EXPECT_TRUE(c.untouched() && a.untouched() && b.untouched());
  }
}

TYPED_TEST(Arguments, GemmNullData) {
  using T = TypeParam;
  const DeviceBatch<T> good(Layout::right, HostBatch<T>(4, 3, 3, T(1)));
  DeviceBatch<T> c(Layout::right, 4, 3, 3);
  c.fill(poison<T>());
  using View = typename DeviceBatch<T>::Right;
  const View null(static_cast<T*>(nullptr), 4, 3, 3);
  expect_refusal("shoal::gemm", "A", {"null", "36"},
                 [&] { gemm(Exec(), T(1), null, good.right(), T(0), c.right()); });
  expect_refusal("shoal::gemm", "B", {"null", "36"},
                 [&] { gemm(Exec(), T(1), good.right(), null, T(0), c.right()); });
  expect_refusal("shoal::gemm", "C", {"null", "36"},
                 [&] { gemm(Exec(), T(1), good.right(), good.right(), T(0), null); });
  const PointerBatch<T, Memory> no_pointers{nullptr, 4, 3, 3, 3, 1};
  expect_refusal("shoal::gemm", "A", {"null"},
                 [&] { gemm(Exec(), T(1), no_pointers, good.right(), T(0), c.right()); });
  EXPECT_TRUE(c.untouched());
}

TYPED_TEST(Arguments, GemmOverlap) {
  using T = TypeParam;
  HostBatch<T> values(8, 6, 6, T(1));
  const DeviceBatch<T> memory(Layout::right, values);
  const auto all = memory.right();
  const DeviceBatch<T> other(Layout::right, HostBatch<T>(4, 6, 6, T(1)));
  T* const data = all.data();
  const auto part = [&](std::int64_t offset) {
    return strided_batch<Memory>(data + offset, 4, 6, 6, 36, 6, 1);
  };
  for (const std::int64_t offset : {0, 1, 35, 36, 143})
    for (const bool swap : {false, true}) {
      const auto x = part(swap ? offset : 0), c = part(swap ? 0 : offset);
      expect_refusal("shoal::gemm", "C", {"overlap", "A"},
                     [&] { gemm(Exec(), T(1), x, other.right(), T(0), c); });
      expect_refusal("shoal::gemm", "C", {"overlap", "B"},
                     [&] { gemm(Exec(), T(1), other.right(), x, T(0), c); });
    }
  EXPECT_TRUE(memory.untouched());

  // Side by side is no overlap, whether in blocks, rows, columns or matrices.
  EXPECT_NO_THROW(gemm(Exec(), T(1), part(0), other.right(), T(0), part(144)));
  Exec().fence();
  const auto columns = [&](std::int64_t first) {
    return strided_batch<Memory>(data + first, 4, 6, 3, 36, 6, 1);
  };
  const DeviceBatch<T> square(Layout::right, HostBatch<T>(4, 3, 3, T(1)));
  EXPECT_NO_THROW(gemm(Exec(), T(1), columns(0), square.right(), T(0), columns(3)));
  EXPECT_NO_THROW(gemm(Exec(), T(1), columns(3), square.right(), T(0), columns(0)));
  const auto rows = [&](std::int64_t first) {
    return strided_batch<Memory>(data + 6 * first, 4, 3, 6, 36, 6, 1);
  };
  EXPECT_NO_THROW(gemm(Exec(), T(1), square.right(), rows(0), T(0), rows(3)));
  const auto alternate = [&](std::int64_t first) {
    return strided_batch<Memory>(data + 36 * first, 4, 6, 6, 72, 6, 1);
  };
  EXPECT_NO_THROW(gemm(Exec(), T(1), alternate(0), other.right(), T(0), alternate(1)));
  expect_refusal("shoal::gemm", "C", {"overlap"},
                 [&] { gemm(Exec(), T(1), columns(0), square.right(), T(0), columns(2)); });
  // A and B may be the same.
  const DeviceBatch<T> c(Layout::right, 4, 6, 6);
  EXPECT_NO_THROW(gemm(Exec(), T(1), part(0), part(0), T(0), c.right()));
  Exec().fence();
}

TYPED_TEST(Arguments, OutputsThatRepeatAnElement) {
  using T = TypeParam;
  const DeviceBatch<T> a(Layout::right, HostBatch<T>(4, 3, 3, T(1)));
  const DeviceBatch<T> c(Layout::repeated, HostBatch<T>(4, 3, 3, T(2)));
  expect_refusal("shoal::gemm", "C", {"stride 0"},
                 [&] { gemm(Exec(), T(1), a.right(), a.right(), T(0), c.strided()); });
  const DeviceBatch<T> u(Layout::right, HostBatch<T>(4, 3, 3));
  const DeviceBatch<Real<T>> s(Layout::right, HostBatch<Real<T>>(4, 3, 1));
  expect_refusal("shoal::svd", "U", {"stride 0"},
                 [&] { svd(Exec(), a.right(), c.strided(), s.vectors(), u.right()); });
  expect_refusal("shoal::svd", "Vt", {"stride 0"},
                 [&] { svd(Exec(), a.right(), u.right(), s.vectors(), c.strided()); });
  EXPECT_TRUE(c.untouched() && u.untouched() && s.untouched());
}

TYPED_TEST(Arguments, GemmOptionsOutOfRange) {
  using T = TypeParam;
  const DeviceBatch<T> a(Layout::right, HostBatch<T>(4, 5, 5, T(1)));
  const DeviceBatch<T> c(Layout::right, HostBatch<T>(4, 5, 5));
  const auto call = [&](const GemmOptions& options) {
    return [&, options] { gemm(Exec(), T(1), a.right(), a.right(), T(0), c.right(), options); };
  };
  GemmOptions options;
  options.op_a = static_cast<Op>('X');
  expect_refusal("shoal::gemm", "options.op_a", {"88", "none, transpose or conj_transpose"},
                 call(options));
  options = {};
  options.op_b = static_cast<Op>(0);
  expect_refusal("shoal::gemm", "options.op_b", {"0", "none, transpose or conj_transpose"},
                 call(options));
  options = {};
  options.path = static_cast<GemmPath>(99);
  expect_refusal("shoal::gemm", "options.path", {"99"}, call(options));
  EXPECT_TRUE(c.untouched());
}

/// The outputs of one decomposition, any of them of a wrong shape.
template <class T>
struct Outputs {
  DeviceBatch<T> u, vt;
  DeviceBatch<Real<T>> s;
  DeviceBatch<int> info;

  Outputs(std::vector<std::int64_t> eu, std::vector<std::int64_t> es, std::vector<std::int64_t> evt,
          std::int64_t einfo)
      : u(Layout::right, eu[0], eu[1], eu[2]), vt(Layout::right, evt[0], evt[1], evt[2]),
        s(Layout::right, es[0], es[1], 1), info(Layout::right, einfo, 1, 1) {
    u.fill(poison<T>());
    vt.fill(poison<T>());
    s.fill(poison<Real<T>>());
    info.fill(poison<int>());
  }
  bool untouched() const {
    return u.untouched() && vt.untouched() && s.untouched() && info.untouched();
  }
};

TYPED_TEST(Arguments, SvdExtentsThatDisagree) {
  using T = TypeParam;
  constexpr std::int64_t batch = 5;
  using Extents = std::vector<std::int64_t>;
  struct Case {
    std::int64_t m, n;
    Extents u, s, vt;
    std::int64_t info;
    Vectors left, right;
    const char* argument;
    std::vector<std::string> parts;
  };
  const auto thin = Vectors::thin, full = Vectors::full, none = Vectors::none;
  const Case cases[] = {
      {7, 3, {9, 7, 3}, {5, 3}, {5, 3, 3}, 5, thin, thin, "U", {"extent 0", "9", "5"}},
      {7, 3, {5, 9, 3}, {5, 3}, {5, 3, 3}, 5, thin, thin, "U", {"extent 1", "9", "7"}},
      {7, 3, {5, 7, 9}, {5, 3}, {5, 3, 3}, 5, thin, thin, "U", {"extent 2", "9", "3"}},
      {7, 3, {5, 7, 3}, {5, 3}, {5, 3, 3}, 5, full, thin, "U", {"extent 2", "3", "7"}},
      {7, 3, {5, 7, 7}, {5, 3}, {5, 3, 3}, 5, thin, thin, "U", {"extent 2", "7", "3"}},
      {7, 3, {5, 7, 3}, {9, 3}, {5, 3, 3}, 5, thin, thin, "S", {"extent 0", "9", "5"}},
      {7, 3, {5, 7, 3}, {5, 4}, {5, 3, 3}, 5, none, none, "S", {"extent 1", "4", "3"}},
      {7, 3, {5, 7, 3}, {5, 2}, {5, 2, 3}, 5, thin, thin, "U", {"extent 2", "3", "2"}},
      {7, 3, {5, 7, 3}, {5, 3}, {9, 3, 3}, 5, thin, thin, "Vt", {"extent 0", "9", "5"}},
      {7, 3, {5, 7, 3}, {5, 3}, {5, 2, 3}, 5, thin, thin, "Vt", {"extent 1", "2", "3"}},
      {7, 3, {5, 7, 3}, {5, 3}, {5, 3, 7}, 5, thin, thin, "Vt", {"extent 2", "7", "3"}},
      {3, 7, {5, 3, 3}, {5, 3}, {5, 3, 7}, 5, thin, full, "Vt", {"extent 1", "3", "7"}},
      {3, 7, {5, 3, 3}, {5, 3}, {5, 7, 7}, 5, thin, thin, "Vt", {"extent 1", "7", "3"}},
      {7, 3, {5, 7, 3}, {5, 3}, {5, 3, 3}, 9, thin, thin, "info", {"extent 0", "9", "5"}},
      {7, 3, {5, 7, 3}, {5, 3}, {5, 3, 3}, 0, thin, thin, "info", {"extent 0", "0", "5"}},
  };
  for (const Case& x : cases) {
    const DeviceBatch<T> a(Layout::right, HostBatch<T>(batch, x.m, x.n, T(1)));
    const Outputs<T> o(x.u, x.s, x.vt, x.info);
    SvdOptions options;
    options.left = x.left;
    options.right = x.right;
    expect_refusal("shoal::svd", x.argument, x.parts, [&] {
      svd(Exec(), a.right(), o.u.right(), o.s.vectors(), o.vt.right(), o.info.entries(), options);
    });
    expect_refusal("shoal::svd", x.argument, x.parts, [&] {
      svd_plan(Exec(), a.right(), o.u.right(), o.s.vectors(), o.vt.right(), o.info.entries(),
               options);
    });
    EXPECT_TRUE(o.untouched() && a.untouched());
  }
}

TYPED_TEST(Arguments, SvdOptionsOutOfRange) {
  using T = TypeParam;
  const DeviceBatch<T> a(Layout::right, HostBatch<T>(5, 7, 3, T(1)));
  const Outputs<T> o({5, 7, 3}, {5, 3}, {5, 3, 3}, 5);
  const auto expect = [&](const SvdOptions& options, const char* argument,
                          const std::vector<std::string>& parts) {
    expect_refusal("shoal::svd", argument, parts, [&] {
      svd(Exec(), a.right(), o.u.right(), o.s.vectors(), o.vt.right(), o.info.entries(), options);
    });
  };
  SvdOptions options;
  for (const double tolerance : {-0.25, 1.0, 2.5}) {
    options = {};
    options.tolerance = tolerance;
    expect(options, "options.tolerance", {std::to_string(tolerance), "at least 0", "less than 1"});
  }
  options = {};
  options.tolerance = std::numeric_limits<double>::quiet_NaN();
  expect(options, "options.tolerance", {"nan"});
  for (const int sweeps : {0, -7}) {
    options = {};
    options.max_sweeps = sweeps;
    expect(options, "options.max_sweeps", {std::to_string(sweeps), "at least 1"});
  }
  options = {};
  options.left = static_cast<Vectors>('Q');
  expect(options, "options.left", {"81", "none, thin or full"});
  options = {};
  options.right = static_cast<Vectors>(0);
  expect(options, "options.right", {"0", "none, thin or full"});
  options = {};
  options.left = Vectors::none;
  options.fix_signs = true;
  expect(options, "options.fix_signs", {"left vectors"});
  options = {};
  options.path = static_cast<SvdPath>(99);
  expect(options, "options.path", {"99"});
  EXPECT_TRUE(o.untouched());
}

TYPED_TEST(Arguments, SvdNullDataAndOverlap) {
  using T = TypeParam;
  const DeviceBatch<T> a(Layout::right, HostBatch<T>(5, 3, 3, T(1)));
  const Outputs<T> o({5, 3, 3}, {5, 3}, {5, 3, 3}, 5);
  using View = typename DeviceBatch<T>::Right;
  const View null(static_cast<T*>(nullptr), 5, 3, 3);
  const auto run = [&](const auto& va, const auto& vu, const auto& vs, const auto& vvt,
                       const auto& vinfo) { svd(Exec(), va, vu, vs, vvt, vinfo); };
  const auto u = o.u.right(), vt = o.vt.right();
  const auto s = o.s.vectors();
  const auto info = o.info.entries();
  const decltype(o.s.vectors()) null_s(nullptr, Kokkos::LayoutStride(5, 3, 3, 1));
  const decltype(o.info.entries()) null_info(nullptr, Kokkos::LayoutStride(5, 1));
  expect_refusal("shoal::svd", "A", {"null", "45"}, [&] { run(null, u, s, vt, info); });
  expect_refusal("shoal::svd", "U", {"null", "45"}, [&] { run(a.right(), null, s, vt, info); });
  expect_refusal("shoal::svd", "S", {"null", "15"}, [&] { run(a.right(), u, null_s, vt, info); });
  expect_refusal("shoal::svd", "Vt", {"null", "45"}, [&] { run(a.right(), u, s, null, info); });
  expect_refusal("shoal::svd", "info", {"null", "5"}, [&] { run(a.right(), u, s, vt, null_info); });

  expect_refusal("shoal::svd", "U", {"overlap", "A"},
                 [&] { run(a.right(), a.right(), s, vt, info); });
  expect_refusal("shoal::svd", "Vt", {"overlap", "A"},
                 [&] { run(a.right(), u, s, a.right(), info); });
  try {
    run(a.right(), u, s, u, info);
    ADD_FAILURE() << "U and Vt in one memory accepted";
  } catch (const shoal::invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("overlap"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(o.untouched() && a.untouched());
}

TYPED_TEST(Arguments, SvdWorkspaceTooSmall) {
  using T = TypeParam;
  const std::int64_t n = 300;
  const DeviceBatch<T> a(Layout::right, HostBatch<T>(2, n, n, T(1)));
  const Outputs<T> o({2, n, n}, {2, n}, {2, n, n}, 2);
  const std::size_t needed = svd_workspace_size(Exec(), a.right(), o.u.right(), o.s.vectors(),
                                                o.vt.right(), o.info.entries());
  ASSERT_GT(needed, 0u) << "a larger matrix is needed for this test";
  const Kokkos::View<char*, Memory> memory("workspace", needed + 16);
  const auto call = [&](Workspace workspace) {
    return [&, workspace] {
      svd(Exec(), a.right(), o.u.right(), o.s.vectors(), o.vt.right(), o.info.entries(), {},
          workspace);
    };
  };
  expect_refusal("shoal::svd", "workspace", {std::to_string(needed - 1), std::to_string(needed)},
                 call({memory.data(), needed - 1}));
  expect_refusal("shoal::svd", "workspace", {"aligned", "16"}, call({memory.data() + 4, needed}));
  EXPECT_TRUE(o.untouched());
}

} // namespace
} // namespace shoal::test
