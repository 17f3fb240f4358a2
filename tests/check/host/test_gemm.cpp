// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gemm against long double, element by element, over shapes, ops, layouts, factors and paths.
#include "tests/check/support/families.hpp"
#include "tests/check/support/reference.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <map>

namespace {

using namespace shoal_test;
using shoal::GemmOptions;
using shoal::GemmPath;
using shoal::Op;

constexpr Op ops[] = {Op::none, Op::transpose, Op::conj_transpose};
constexpr GemmPath paths[] = {GemmPath::automatic, GemmPath::lane, GemmPath::team};

template <class T>
class Gemm : public testing::Test {
protected:
  Random random{20261201};
  std::map<std::string, int> hits;

  T factor(int kind) {
    const T values[] = {T(0), T(1), T(-1), random.template scalar<T>()};
    return values[kind];
  }
  static HostBatch<T> operand(int batch, int rows, int cols, Op op) {
    return op == Op::none ? HostBatch<T>(batch, rows, cols) : HostBatch<T>(batch, cols, rows);
  }

  /// Runs one product and checks it; a path that refuses the shape must say so.
  void check(int batch, int m, int n, int k, const GemmOptions& options, T alpha, T beta,
             const Layout (&layouts)[3]) {
    HostBatch<T> a = operand(batch, m, k, options.op_a), b = operand(batch, k, n, options.op_b),
                 c(batch, m, n);
    fill_random(a, random);
    fill_random(b, random);
    fill_random(c, random);
    if (beta == T(0))
      for (T& x : c.data) x = not_a_number<T>();
    const DeviceBatch<T> da(a, layouts[0]), db(b, layouts[1]), dc(c, layouts[2]);
    const Space exec;
    shoal::GemmPlan plan;
    try {
      plan = shoal::gemm_plan(exec, da.view(), db.view(), dc.view(), options);
    } catch (const shoal::invalid_argument& error) {
      ASSERT_EQ(error.argument(), "options.path");
      ASSERT_NE(options.path, GemmPath::automatic);
      ASSERT_NE(options.path, GemmPath::team) << "the team path takes every shape";
      return;
    }
    ++hits[shoal::to_string(plan.path)];
    shoal::gemm(exec, alpha, da.view(), db.view(), beta, dc.view(), options);
    exec.fence();
    const double worst =
        check_gemm(options.op_a, options.op_b, alpha, a, b, beta, c, dc.read());
    ASSERT_LE(worst, 1) << m << " x " << n << " x " << k << ", batch " << batch << ", op_a "
                        << shoal::to_string(options.op_a) << ", op_b "
                        << shoal::to_string(options.op_b) << ", layouts " << name_of(layouts[0])
                        << ", " << name_of(layouts[1]) << ", " << name_of(layouts[2]) << ", alpha "
                        << wide(alpha) << ", beta " << wide(beta) << ", " << plan;
    ASSERT_TRUE(dc.guards_intact()) << plan;
    ASSERT_TRUE(da.untouched() && db.untouched());
  }
};
using Scalars =
    testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Gemm, Scalars);

TYPED_TEST(Gemm, agrees_for_all_small_shapes) {
  for (int m = 0; m <= 6; ++m)
    for (int n = 0; n <= 6; ++n)
      for (int k = 0; k <= 6; ++k)
        this->check(5, m, n, k, {}, TypeParam(2), TypeParam(-1),
                    {Layout::right, Layout::column, Layout::right});
}

TYPED_TEST(Gemm, agrees_for_odd_and_rectangular_shapes) {
  const int shapes[][3] = {{15, 3, 3},   {3, 3, 15},   {64, 8, 8},   {8, 8, 64},   {8, 64, 8},
                           {2, 2, 300},  {9, 1, 4},    {17, 19, 23}, {33, 33, 33}, {64, 64, 64},
                           {70, 90, 5},  {1, 1, 1000}, {1, 200, 1},  {31, 32, 33}};
  for (const auto& s : shapes)
    for (const Op op : ops) {
      GemmOptions options;
      options.op_a = op;
      this->check(3, s[0], s[1], s[2], options, TypeParam(1), TypeParam(0),
                  {Layout::right, Layout::left, Layout::column});
    }
}

TYPED_TEST(Gemm, agrees_for_random_draws) {
  const char* wanted = std::getenv("SHOAL_TEST_DRAWS");
  const int draws = wanted ? std::atoi(wanted) : 1000;
  const int batches[] = {0, 1, 2, 31, 33, 129, 300};
  for (int d = 0; d < draws && !this->HasFatalFailure(); ++d) {
    Random& r = this->random;
    const bool small = r.integer(0, 1);
    const int top = small ? 4 : 24;
    GemmOptions options{ops[r.integer(0, 2)], ops[r.integer(0, 2)], paths[r.integer(0, 2)]};
    this->check(batches[r.integer(0, small ? 6 : 3)], r.integer(0, top), r.integer(0, top),
                r.integer(0, top), options, this->factor(r.integer(0, 3)), this->factor(r.integer(0, 3)),
                {all_layouts[r.integer(0, 4)], all_layouts[r.integer(0, 4)],
                 all_layouts[r.integer(0, 4)]});
  }
  for (const GemmPath path : paths) {
    if (path == GemmPath::automatic) continue;
    EXPECT_GT(this->hits[shoal::to_string(path)], 0) << shoal::to_string(path) << " was never taken";
    std::cout << "  " << shoal::to_string(path) << ": " << this->hits[shoal::to_string(path)]
              << " draws\n";
  }
}

TYPED_TEST(Gemm, repeats_an_operand_with_batch_stride_0) {
  using T = TypeParam;
  for (const int size : {2, 3, 4, 7}) {
    HostBatch<T> a(1, size, size), b(200, size, size), c(200, size, size);
    fill_random(a, this->random);
    fill_random(b, this->random);
    const DeviceBatch<T> da(a, Layout::right), db(b, Layout::right), dc(c, Layout::right, true);
    const auto repeated = shoal::strided_batch<typename Space::memory_space>(
        da.view().data(), 200, size, size, 0, size, 1);
    const Space exec;
    shoal::gemm(exec, T(1), repeated, db.view(), T(0), dc.view());
    exec.fence();
    EXPECT_LE(check_gemm(Op::none, Op::none, T(1), a, b, T(0), c, dc.read()), 1);
    shoal::gemm(exec, T(1), db.view(), repeated, T(0), dc.view());
    exec.fence();
    EXPECT_LE(check_gemm(Op::none, Op::none, T(1), b, a, T(0), c, dc.read()), 1);
  }
}

TYPED_TEST(Gemm, takes_arrays_of_pointers) {
  using T = TypeParam;
  for (const int size : {3, 9}) {
    HostBatch<T> a(50, size, size), b(50, size, size), c(50, size, size);
    fill_random(a, this->random);
    fill_random(b, this->random);
    const DeviceBatch<T> da(a, Layout::right), db(b, Layout::right), dc(c, Layout::right, true);
    Kokkos::View<std::uintptr_t*, Space> pointers("test::pointers", 50);
    const auto host = Kokkos::create_mirror(pointers);
    // Back to front, so that the order of the table matters.
    for (int q = 0; q < 50; ++q)
      host(q) = reinterpret_cast<std::uintptr_t>(da.view().data() + (49 - q) * size * size);
    Kokkos::deep_copy(pointers, host);
    const shoal::PointerBatch<T, typename Space::memory_space> batch{
        reinterpret_cast<T* const*>(pointers.data()), 50, size, size, size, 1};
    const Space exec;
    shoal::gemm(exec, T(1), batch, db.view(), T(0), dc.view());
    exec.fence();
    HostBatch<T> reversed(50, size, size);
    for (int q = 0; q < 50; ++q)
      for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) reversed(q, i, j) = a(49 - q, i, j);
    EXPECT_LE(check_gemm(Op::none, Op::none, T(1), reversed, b, T(0), c, dc.read()), 1);
  }
}

TYPED_TEST(Gemm, keeps_NaN_in_its_own_matrix) {
  using T = TypeParam;
  for (const int size : {2, 6}) {
    HostBatch<T> a(70, size, size), b(70, size, size), c(70, size, size);
    fill_random(a, this->random);
    fill_random(b, this->random);
    const DeviceBatch<T> clean_a(a, Layout::right), db(b, Layout::right),
        clean_c(c, Layout::right, true), bad_c(c, Layout::right, true);
    a(40, 0, 1) = not_a_number<T>();
    const DeviceBatch<T> bad_a(a, Layout::right);
    const Space exec;
    shoal::gemm(exec, T(1), clean_a.view(), db.view(), T(0), clean_c.view());
    shoal::gemm(exec, T(1), bad_a.view(), db.view(), T(0), bad_c.view());
    exec.fence();
    const HostBatch<T> good = clean_c.read(), bad = bad_c.read();
    for (int q = 0; q < 70; ++q)
      for (int i = 0; i < size; ++i)
        for (int j = 0; j < size; ++j) {
          if (q == 40 && i == 0) EXPECT_FALSE(bad(q, i, j) == bad(q, i, j)) << "NaN was lost";
          else EXPECT_TRUE(bad(q, i, j) == good(q, i, j)) << q << " " << i << " " << j;
        }
  }
}

} // namespace
