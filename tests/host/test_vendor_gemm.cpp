// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/gemm_run.hpp"
#include "tests/support/matrix_list.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/settings.hpp"

#include <gtest/gtest.h>
#include <utility>

/// \file
/// Products that are handed to cuBLAS or a CBLAS: which, by which words, and with the same meaning.
/// Where shoal was built without, that it says so.
namespace shoal::test {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;

template <class T>
class VendorGemm : public ::testing::Test {};
TYPED_TEST_SUITE(VendorGemm, Scalars, ScalarNames);

TYPED_TEST(VendorGemm, LargeProductsGoThereBySize) {
  using T = TypeParam;
  const Exec exec;
  const auto path_of = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const Kokkos::View<T***, Kokkos::LayoutRight, Memory> a("a", 1, m, k), b("b", 1, k, n),
        c("c", 1, m, n);
    return gemm_plan(exec, a, b, c).path;
  };
  EXPECT_EQ(path_of(520, 530, 540) == GemmPath::vendor, has_vendor<T>());
  EXPECT_NE(path_of(20, 20, 20), GemmPath::vendor);
  EXPECT_NE(path_of(4000, 3, 4000), GemmPath::vendor);
}

/// A CBLAS is called for each matrix, cuBLAS once.
TYPED_TEST(VendorGemm, WholeBatchesGoToCublasInOneCall) {
  using T = TypeParam;
  if (!has_vendor<T>() || on_host) GTEST_SKIP() << "built without, or on a CPU";
  const std::int64_t batch = 70000, n = 64;
  const DeviceBatch<T> one(Layout::right, 1, n, n);
  // Nothing is launched.
  const auto many =
      shoal::strided_batch<Memory>(one.right().data(), batch, n, n, n * n, n, std::int64_t(1));
  const auto repeated =
      shoal::strided_batch<Memory>(one.right().data(), batch, n, n, 0, n, std::int64_t(1));
  const auto far = shoal::strided_batch<Memory>(one.right().data() + batch * n * n, batch, n, n,
                                                n * n, n, std::int64_t(1));
  for (const GemmPlan& plan :
       {gemm_plan(Exec(), many, many, far), gemm_plan(Exec(), many, repeated, far)}) {
    EXPECT_EQ(plan.path, GemmPath::vendor) << plan;
    EXPECT_EQ(plan.league_size, 1) << plan;
    EXPECT_EQ(plan.matrices_per_team, batch) << plan;
  }
}

/// Large enough that C is dealt out in blocks.
TYPED_TEST(VendorGemm, LargeProductsAreRight) {
  using T = TypeParam;
  if (!has_vendor<T>()) GTEST_SKIP() << "built without";
  Random random(seed());
  Worst worst;
  for (const Layout layout : {Layout::right, Layout::padded_cols}) {
    const auto p = make_case<T>(random, 2, {270, 261, 256}, Op::transpose, Op::none, T(-1), T(2));
    expect_case(p, {layout, layout, layout, GemmPath::vendor}, worst);
  }
  print_figure(scalar_name<T>() + std::string(": error / bound"), worst);
}

/// BLAS has no conjugation without a transpose: an operand that is to be conjugated must lie in the
/// order of C.
TYPED_TEST(VendorGemm, TakesEveryOpInEveryPackedOrPaddedLayout) {
  using T = TypeParam;
  if (!has_vendor<T>()) GTEST_SKIP() << "built without";
  Random random(seed());
  Worst worst;
  const Layout layouts[] = {Layout::right, Layout::column_major, Layout::padded_rows,
                            Layout::padded_cols, Layout::pointers};
  const auto by_rows = [](Layout layout) {
    return layout != Layout::column_major && layout != Layout::padded_cols;
  };
  const auto by_pointers = [](Layout layout) { return layout == Layout::pointers; };
  for (const Layout a : layouts)
    for (const Layout b : layouts)
      for (const Layout c : layouts)
        for (const Op op_a : all_ops)
          for (const Op op_b : all_ops) {
            const Shape s{random.integer(2, 20), random.integer(2, 20), random.integer(2, 20)};
            const auto p = make_case<T>(random, 3, s, op_a, op_b, T(2), random_factor<T>(random));
            const auto can_be_told = [&](Layout layout, Op op) {
              return !is_complex<T> || op != Op::conj_transpose || by_rows(layout) == by_rows(c);
            };
            const Where w{a, b, c, GemmPath::vendor};
            EXPECT_EQ(expect_case(p, w, worst).has_value(),
                      can_be_told(a, op_a) && can_be_told(b, op_b) &&
                          by_pointers(a) == by_pointers(c) && by_pointers(b) == by_pointers(c))
                << describe(p, w);
            if (this->HasFailure()) return;
          }
  print_figure(scalar_name<T>() + std::string(": error / bound"), worst);
}

/// Vectors, single numbers, and one matrix for all.
TYPED_TEST(VendorGemm, TakesThinAndRepeatedMatrices) {
  using T = TypeParam;
  if (!has_vendor<T>()) GTEST_SKIP() << "built without";
  Random random(seed());
  Worst worst;
  for (const Shape& s : {Shape{1, 1, 1}, Shape{1, 9, 5}, Shape{9, 1, 5}, Shape{9, 5, 1},
                         Shape{1, 1, 300}, Shape{300, 1, 1}, Shape{7, 200, 3}})
    for (const Layout layout : {Layout::right, Layout::column_major, Layout::padded_rows})
      for (const int repeat : {0, 1, 2, 3}) {
        auto p = make_case<T>(random, 4, s, Op::none, Op::none, T(-1), T(0));
        p.repeat_a = repeat & 1;
        p.repeat_b = repeat & 2;
        const Where w{p.repeat_a ? Layout::repeated : layout,
                      p.repeat_b ? Layout::repeated : layout, layout, GemmPath::vendor};
        EXPECT_TRUE(expect_case(p, w, worst)) << describe(p, w);
      }
}

/// More matrices than a grid has blocks in its second and third dimension.
TYPED_TEST(VendorGemm, TakesManyMatrices) {
  using T = TypeParam;
  if (!has_vendor<T>()) GTEST_SKIP() << "built without";
  Random random(seed());
  Worst worst;
  for (const auto& [batch, s] : {std::pair{65537, Shape{3, 4, 5}}, {70001, Shape{2, 2, 2}}})
    for (const Layout layout : {Layout::right, Layout::padded_cols, Layout::pointers}) {
      const auto p = make_case<T>(random, batch, s, Op::none, Op::none, T(-1), T(0));
      EXPECT_TRUE(expect_case(p, {layout, layout, layout, GemmPath::vendor}, worst));
    }
}

/// Those of a CBLAS do not depend on the batch either.
TYPED_TEST(VendorGemm, BitsAreTheSameOnEveryRun) {
  using T = TypeParam;
  if (!has_vendor<T>()) GTEST_SKIP() << "built without";
  Random random(seed());
  for (const Shape& s : {Shape{23, 31, 70}, Shape{264, 280, 256}}) {
    const auto all = make_case<T>(random, 3, s, Op::none, Op::none, T(3), T(0));
    const Where w{Layout::right, Layout::right, Layout::right, GemmPath::vendor};
    const HostBatch<T> together = run_gemm(all, w);
    EXPECT_TRUE(together.same(run_gemm(all, w)));
    for (std::int64_t b = 0; on_host && b < 3; ++b) {
      const auto one = [&](const HostBatch<T>& x) {
        HostBatch<T> y(1, x.rows, x.cols);
        for (std::int64_t i = 0; i < x.rows; ++i)
          for (std::int64_t j = 0; j < x.cols; ++j) y(0, i, j) = x(b, i, j);
        return y;
      };
      auto alone = all;
      alone.a = one(all.a);
      alone.b = one(all.b);
      alone.c = one(all.c);
      EXPECT_TRUE(together.same_matrix(b, run_gemm(alone, w), 0)) << b;
    }
  }
}

/// What it cannot be told of is refused by name, and chosen for nobody.
TYPED_TEST(VendorGemm, ObstaclesAreNamed) {
  using T = TypeParam;
  using Number = arithmetic_t<T>;
  const std::int64_t n = 20;
  const DeviceBatch<T> x(Layout::right, HostBatch<T>(2, n, n, T(1)));
  const DeviceBatch<T> left(Layout::left, HostBatch<T>(2, n, n, T(1)));
  const DeviceBatch<T> pointers(Layout::pointers, HostBatch<T>(2, n, n, T(1)));
  const DeviceBatch<T> c(Layout::right, HostBatch<T>(2, n, n, T(1)));
  const DeviceBatch<T> flat(Layout::right, 2, n, 0);
  const DeviceBatch<Number> two(Layout::right, HostBatch<Number>(2, 1, 1, Number(2)));
  const MatrixList<T> list(
      std::vector<HostBatch<T>>{HostBatch<T>(1, n, n, T(1)), HostBatch<T>(1, 3, n, T(1))}, false);
  GemmOptions options;
  options.path = GemmPath::vendor;
  const auto refused = [&](const char* why, const auto& alpha, const auto& a, const auto& b,
                           const auto& beta) {
    const char* const expected = has_vendor<T>() ? why
                                 : is_converted<T> && has_vendor<float>()
                                     ? "takes no 16-bit scalars"
                                     : "built without the vendor's library";
    try {
      gemm(Exec(), alpha, a, b, beta, c.right(), options);
      ADD_FAILURE() << "not refused: " << expected;
    } catch (const shoal::invalid_argument& e) {
      EXPECT_EQ(e.argument(), "options.path");
      EXPECT_NE(std::string(e.what()).find(expected), std::string::npos) << e.what();
    }
    EXPECT_NE(gemm_plan(Exec(), alpha, a, b, beta, c.right()).path, GemmPath::vendor);
  };
  refused("its layout is not BLAS's", 1, left.left(), x.right(), 0);
  refused("some matrices are given by pointers", 1, x.right(), pointers.pointers(), 0);
  refused("a batch stride is negative", 1,
          shoal::strided_batch<Memory>(x.right().data() + n * n, 2, n, n, -n * n, n, 1), x.right(),
          0);
  refused("alpha or beta is in memory", two.entries(), x.right(), x.right(), 0);
  refused("alpha or beta is in memory", 1, x.right(), x.right(), two.entries());
  refused("alpha is 0", 0, x.right(), x.right(), 1);
  refused("k is 0", 1, flat.right(),
          shoal::strided_batch<Memory>(x.right().data(), 2, 0, n, 0, n, 1), 1);
  refused("sizes differ", 1, list.batch(), x.right(), 0);
  EXPECT_TRUE(c.untouched());
}

} // namespace
} // namespace shoal::test
