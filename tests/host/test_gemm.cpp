// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/gemm_run.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/residuals.hpp"
#include "tests/support/settings.hpp"

#include <gtest/gtest.h>

/// \file
/// shoal::gemm against a long double reference within the contract's bound for each element: every
/// small shape, odd ones, every op, layout, path, and the special values of alpha, beta and the
/// data.
namespace shoal::test {
namespace {

template <class T>
class Gemm : public ::testing::Test {};
TYPED_TEST_SUITE(Gemm, Scalars, ScalarNames);

constexpr Shape odd_shapes[] = {{15, 3, 3},  {3, 15, 3},   {64, 8, 8},   {2, 2, 300},
                                {9, 4, 1},   {17, 19, 23}, {33, 33, 33}, {64, 64, 64},
                                {70, 5, 90}, {1, 1, 1000}, {1, 100, 1},  {100, 1, 1},
                                {5, 1, 7},   {1, 7, 5},    {250, 7, 3},  {5, 250, 300}};

TYPED_TEST(Gemm, EverySmallShapeOnEveryPath) {
  using T = TypeParam;
  Random random(seed());
  Worst worst;
  std::size_t turn = 0;
  for (std::int64_t m = 0; m <= 6; ++m)
    for (std::int64_t n = 0; n <= 6; ++n)
      for (std::int64_t k = 0; k <= 6; ++k)
        for (const GemmPath path : every_path<GemmPath>()) {
          const std::size_t t = turn++;
          const auto p =
              make_case<T>(random, 3 + 30 * (t % 2), {m, n, k}, all_ops[t % 3], all_ops[t / 3 % 3],
                           2, t % 4 ? random.normal_scalar<arithmetic_t<T>>() : 0);
          const Layout layout = output_layouts[t % std::size(output_layouts)];
          expect_case(p, {layout, layout, layout, path}, worst);
          if (this->HasFailure()) return;
        }
  print_figure(scalar_name<T>() + std::string(": error / bound"), worst);
}

TYPED_TEST(Gemm, OddShapesOpsAndFactors) {
  using T = TypeParam;
  Random random(seed());
  Worst worst;
  for (const Shape& s : odd_shapes)
    for (const Op op_a : all_ops)
      for (const Op op_b : all_ops)
        for (const GemmPath path : every_path<GemmPath>()) {
          const auto p = make_case<T>(random, 2, s, op_a, op_b, random_factor<T>(random),
                                      random_factor<T>(random));
          Where w;
          w.a = random.one_of(output_layouts);
          w.b = random.one_of(output_layouts);
          w.c = random.one_of(output_layouts);
          w.path = path;
          expect_case(p, w, worst);
          if (this->HasFailure()) return;
        }
  print_figure(scalar_name<T>() + std::string(": error / bound"), worst);
}

TYPED_TEST(Gemm, EveryMixOfLayouts) {
  using T = TypeParam;
  Random random(seed());
  Worst worst;
  for (const Shape& s : {Shape{3, 4, 2}, Shape{6, 5, 9}})
    for (const Layout a : output_layouts)
      for (const Layout b : output_layouts)
        for (const Layout c : output_layouts) {
          const auto p = make_case<T>(random, 21, s, random.one_of(all_ops), random.one_of(all_ops),
                                      T(1), T(-1));
          expect_case(p, {a, b, c, GemmPath::automatic}, worst);
          if (this->HasFailure()) return;
        }
}

TYPED_TEST(Gemm, BatchSizes) {
  using T = TypeParam;
  Random random(seed());
  Worst worst;
  for (const std::int64_t batch : {0, 1, 2, 31, 33, 129, 1000})
    for (const Shape& s :
         {Shape{1, 1, 1}, Shape{2, 2, 2}, Shape{4, 3, 4}, Shape{5, 5, 5}, Shape{8, 2, 7}})
      for (const Layout layout :
           {Layout::right, Layout::left, Layout::column_major, Layout::pointers}) {
        const auto p = make_case<T>(random, batch, s, Op::none, Op::transpose, T(-1), T(1));
        expect_case(p, {layout, layout, layout, GemmPath::automatic}, worst);
        if (this->HasFailure()) return;
      }
}

TYPED_TEST(Gemm, OneOperandForAllMatrices) {
  using T = TypeParam;
  Random random(seed());
  Worst worst;
  for (const Shape& s :
       {Shape{1, 1, 1}, Shape{3, 3, 3}, Shape{4, 2, 3}, Shape{9, 6, 11}, Shape{16, 16, 16}})
    for (const GemmPath path : every_path<GemmPath>())
      for (const int which : {1, 2, 3}) {
        auto p =
            make_case<T>(random, 37, s, random.one_of(all_ops), random.one_of(all_ops), T(1), T(1));
        p.repeat_a = which & 1;
        p.repeat_b = which & 2;
        Where w{Layout::padded_rows, Layout::column_major, Layout::right, path};
        if (p.repeat_a) w.a = Layout::repeated;
        if (p.repeat_b) w.b = Layout::repeated;
        expect_case(p, w, worst);
        if (this->HasFailure()) return;
      }
}

TYPED_TEST(Gemm, NanInOneMatrixSpreadsOnlyThere) {
  using T = TypeParam;
  Random random(seed());
  for (const Shape& s : {Shape{2, 2, 2}, Shape{4, 3, 4}, Shape{7, 6, 5}})
    for (const GemmPath path : every_path<GemmPath>())
      for (const bool in_a : {true, false}) {
        auto p = make_case<T>(random, 19, s, Op::none, Op::none, T(2), T(1));
        const Where w{Layout::right, Layout::right, Layout::right, path};
        HostBatch<T> clean;
        try {
          clean = run_gemm(p, w);
        } catch (const shoal::invalid_argument&) {
          continue;
        }
        const std::int64_t bad = 6, row = s.m - 1, col = s.n / 2;
        if (in_a) p.a(bad, row, 1) = poison<T>();
        else p.b(bad, 1, col) = poison<T>();
        const HostBatch<T> result = run_gemm(p, w);
        for (std::int64_t b = 0; b < p.c.batch; ++b)
          for (std::int64_t i = 0; i < s.m; ++i)
            for (std::int64_t j = 0; j < s.n; ++j) {
              const bool reached = b == bad && (in_a ? i == row : j == col);
              if (reached) {
                EXPECT_TRUE(is_nan(result(b, i, j))) << describe(p, w);
              } else {
                EXPECT_TRUE(same_bits(result(b, i, j), clean(b, i, j)))
                    << describe(p, w) << " at " << b;
              }
            }
      }
}

TYPED_TEST(Gemm, ZeroTimesNanIsNanAndBetaZeroIsNotATimes) {
  using T = TypeParam;
  Random random(seed());
  for (const Shape& s : {Shape{3, 3, 3}, Shape{6, 6, 6}})
    for (const GemmPath path : every_path<GemmPath>()) {
      // alpha = 0 does not hide NaN in A; beta = 0 hides NaN in C.
      auto p = make_case<T>(random, 5, s, Op::none, Op::none, T(0), T(0));
      p.a(2, 0, 0) = poison<T>();
      const Where w{Layout::right, Layout::right, Layout::right, path};
      try {
        const HostBatch<T> result = run_gemm(p, w);
        for (std::int64_t b = 0; b < 5; ++b)
          for (std::int64_t i = 0; i < s.m; ++i)
            for (std::int64_t j = 0; j < s.n; ++j)
              EXPECT_EQ(is_nan(result(b, i, j)), b == 2 && i == 0) << describe(p, w);
        // A beta other than zero shows it.
        p = make_case<T>(random, 5, s, Op::none, Op::none, T(1), T(1));
        p.c(3, 1, 1) = poison<T>();
        const HostBatch<T> read = run_gemm(p, w);
        for (std::int64_t b = 0; b < 5; ++b)
          for (std::int64_t i = 0; i < s.m; ++i)
            for (std::int64_t j = 0; j < s.n; ++j)
              EXPECT_EQ(is_nan(read(b, i, j)), b == 3 && i == 1 && j == 1) << describe(p, w);
      } catch (const shoal::invalid_argument&) {
        continue;
      }
    }
}

TYPED_TEST(Gemm, RandomDrawsReachEveryPath) {
  using T = TypeParam;
  Random random(seed());
  Worst worst;
  PathCount<GemmPath> paths;
  const auto all_paths = every_path<GemmPath>();
  const std::int64_t count = draws(3400); // of each of 6 scalars: 20,400
  for (std::int64_t draw = 0; draw < count; ++draw) {
    const std::int64_t most = random.one_of(std::vector<std::int64_t>{4, 4, 8, 16, 40});
    Shape s{random.integer(0, most), random.integer(0, most), random.integer(0, most)};
    if (random.integer(0, 9) == 0) // long in one direction
      (most == 4 ? s.m : most == 8 ? s.n : s.k) = random.integer(0, 300);
    const std::int64_t work = std::max<std::int64_t>(1, s.m * s.n * std::max<std::int64_t>(1, s.k));
    const std::int64_t batch = std::min<std::int64_t>(
        random.one_of(std::vector<std::int64_t>{0, 1, 2, 31, 33, 129, 1000}), 1 + 40000 / work);
    auto p = make_case<T>(random, batch, s, random.one_of(all_ops), random.one_of(all_ops),
                          random_factor<T>(random), random_factor<T>(random));
    Where w{random.one_of(output_layouts), random.one_of(output_layouts),
            random.one_of(output_layouts), random.one_of(all_paths)};
    if (random.integer(0, 7) == 0) {
      p.repeat_a = true;
      w.a = Layout::repeated;
    }
    if (random.integer(0, 7) == 0) {
      p.repeat_b = true;
      w.b = Layout::repeated;
    }
    const auto plan = expect_case(p, w, worst);
    if (plan && plan->league_size > 0) paths.see(plan->path);
    if (this->HasFailure()) FAIL() << "at draw " << draw << " of seed " << seed();
  }
  print_figure(scalar_name<T>() + std::string(": error / bound"), worst);
  paths.print(scalar_name<T>() + std::string(", ") + std::to_string(count) + " draws");
  expect_every_path<T>(paths);
}

// --- what only 16-bit scalars do
// ---------------------------------------------------------------------------

template <class T>
class Gemm16 : public ::testing::Test {};
TYPED_TEST_SUITE(Gemm16, Scalars16, ScalarNames);

/// Products and sums may be beyond the range of C's scalar; what is stored beyond it is Inf.
TYPED_TEST(Gemm16, OverflowHappensWhereCIsStoredAndNotBefore) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  Worst worst;
  for (const std::int64_t n : {2, 4, 8, 40})
    for (const GemmPath path : every_path<GemmPath>())
      for (const Layout layout : {Layout::right, Layout::left, Layout::scattered}) {
        GemmCase<T> p;
        p.a = HostBatch<T>(3, n, n, T(0));
        for (std::int64_t i = 0; i < n; ++i) p.a(0, i, i) = p.a(1, i, i) = T(1);
        p.b = HostBatch<T>(3, n, n, L::max());
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) p.b(1, i, j) = L::lowest();
        if (L::max_exponent < std::numeric_limits<float>::max_exponent)
          for (std::int64_t i = 0; i < n; ++i) // sums that go up and come back
            for (std::int64_t j = 0; j < n; ++j) {
              p.a(2, i, j) = T(64);
              p.b(2, i, j) = i < n / 2 ? L::max() : L::lowest();
            }
        p.c = HostBatch<T>(3, n, n, L::max());
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) p.c(1, i, j) = L::lowest();
        p.alpha = 1.003f; // beyond the largest number by more than half of its last place
        const Where where{layout, layout, layout, path};
        try {
          const HostBatch<T> product = run_gemm(p, where);
          for (std::int64_t i = 0; i < n; ++i) {
            EXPECT_TRUE(same_bits(product(0, i, i), L::infinity())) << describe(p, where);
            EXPECT_TRUE(same_bits(product(1, i, i), T(-HUGE_VALF))) << describe(p, where);
            EXPECT_EQ(static_cast<float>(product(2, i, i)), 0) << describe(p, where);
          }
        } catch (const shoal::invalid_argument&) {
          continue;
        }
        p.beta = -1; // back into the range
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            if (i != j) p.b(0, i, j) = p.b(1, i, j) = T(0);
        expect_case(p, where, worst);
      }
  print_figure(scalar_name<T>() + std::string(" at the end of the range: error / bound"), worst);
}

} // namespace
} // namespace shoal::test
