// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/gemm_run.hpp"
#include "tests/support/matrix_list.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/settings.hpp"

#include <shoal/gemm_epilogue.hpp>

#include <gtest/gtest.h>

/// \file
/// shoal::gemm with a function of each element: on every path, with the right element and its right
/// place, before the value is rounded or stored.
namespace shoal::test {
namespace {

/// A power of two and a sign by the place, so that a value given to the wrong place shows and no
/// rounding is added.
KOKKOS_INLINE_FUNCTION float factor_of(std::int64_t matrix, std::int64_t row, std::int64_t col) {
  constexpr float factors[] = {1, -0.5f, 4, -1, 2, 0.25f, -2};
  return factors[(matrix * 5 + row * 3 + col) % 7];
}
template <class T>
struct ScaleByPlace {
  using Number = arithmetic_t<T>;
  KOKKOS_FUNCTION Number operator()(const Number& value, std::int64_t matrix, std::int64_t row,
                                    std::int64_t col) const {
    return value * Real<T>(factor_of(matrix, row, col));
  }
};

template <class T>
long double scaled_error(const GemmCase<T>& p, const HostBatch<T>& result, std::int64_t first = 0) {
  long double worst = 0;
  for_each_exact(p, [&](std::int64_t b, std::int64_t i, std::int64_t j, const Wide<T>& exact,
                        long double bound) {
    const long double factor = factor_of(first + b, i, j);
    worst = worse(worst, element_error(result(b, i, j), factor * exact, std::fabs(factor) * bound));
  });
  return worst;
}

template <class T>
class Epilogue : public ::testing::Test {};
/// A real, a complex and a converted one: what kernels do differently.
using EpilogueScalars = ::testing::Types<float, Kokkos::complex<double>, half>;
TYPED_TEST_SUITE(Epilogue, EpilogueScalars, ScalarNames);

constexpr Shape shapes[] = {{1, 1, 1},     {2, 2, 2},  {3, 4, 2},   {15, 3, 3},
                            {3, 15, 3},    {8, 8, 8},  {9, 9, 0},   {17, 19, 23},
                            {40, 33, 300}, {64, 8, 8}, {250, 7, 3}, {5, 250, 7}};

TYPED_TEST(Epilogue, SeesEveryElementWithItsPlaceOnEveryPath) {
  using T = TypeParam;
  Random random(seed());
  Worst worst;
  PathCount<GemmPath> paths;
  for (const Shape& s : shapes)
    for (const GemmPath path : every_path<GemmPath>())
      for (const Layout layout : output_layouts) {
        const auto p = make_case<T>(random, s.m * s.n > 100 ? 3 : 37, s, random.one_of(all_ops),
                                    random.one_of(all_ops), random_factor<T>(random),
                                    random_factor<T>(random));
        const Where w{random.one_of(output_layouts), random.one_of(output_layouts), layout, path};
        GemmPlan plan;
        HostBatch<T> result;
        try {
          result = run_gemm(p, w, &plan, ScaleByPlace<T>());
        } catch (const shoal::invalid_argument& e) {
          EXPECT_EQ(e.argument(), "options.path") << e.what();
          EXPECT_TRUE(path == GemmPath::vendor || !runs_here<T>(path)) << e.what();
          continue;
        }
        paths.see(plan.path);
        const long double error = scaled_error(p, result);
        worst.see(error, describe(p, w));
        ASSERT_LE(error, gemm_limit<T>) << describe(p, w);
      }
  print_figure(scalar_name<T>() + std::string(": error / bound"), worst);
  paths.print(scalar_name<T>());
  EXPECT_EQ(paths.count(GemmPath::vendor), 0);
  for (const GemmPath path : {GemmPath::team, GemmPath::tile, GemmPath::vector})
    EXPECT_EQ(paths.count(path) > 0, runs_here<T>(path)) << to_string(path);
}

TYPED_TEST(Epilogue, OfDifferentSizes) {
  using T = TypeParam;
  Random random(seed());
  std::vector<GemmCase<T>> products;
  std::vector<HostBatch<T>> a, b, c;
  for (int i = 0; i < 30; ++i) {
    const Shape s{random.integer(0, 20), random.integer(0, 20), random.integer(0, 9)};
    products.push_back(make_case<T>(random, 1, s, Op::none, Op::none, 1, -1));
    a.push_back(products.back().a);
    b.push_back(products.back().b);
    c.push_back(products.back().c);
  }
  for (const bool by_rows : {true, false}) {
    const MatrixList<T> da(a, true), db(b, false), dc(c, by_rows);
    const Exec exec;
    Kokkos::fence();
    gemm(exec, 1, da.const_batch(), db.const_batch(), -1, dc.batch(), {}, ScaleByPlace<T>());
    exec.fence();
    const auto results = dc.get();
    for (std::size_t i = 0; i < products.size(); ++i)
      EXPECT_LE(scaled_error(products[i], results[i], static_cast<std::int64_t>(i)), gemm_limit<T>);
    EXPECT_TRUE(dc.guards_intact());
  }
}

TYPED_TEST(Epilogue, WithABetaForEachMatrix) {
  using T = TypeParam;
  using Number = arithmetic_t<T>;
  Random random(seed());
  for (const Layout layout : {Layout::right, Layout::left, Layout::column_major}) {
    auto p = make_case<T>(random, 20, {5, 6, 7}, Op::none, Op::none, 1, 1);
    HostBatch<Number> beta(20, 1, 1, Number(-2));
    p.beta = -2;
    const DeviceBatch<T> a(layout, p.a), b(Layout::right, p.b), c(layout, p.c);
    const DeviceBatch<Number> betas(Layout::right, beta);
    const Exec exec;
    Kokkos::fence();
    gemm(exec, 1, a.strided(), b.strided(), betas.entries(), c.strided(), {}, ScaleByPlace<T>());
    exec.fence();
    EXPECT_LE(scaled_error(p, c.get()), gemm_limit<T>) << layout;
  }
}

/// A bias by column, no negative values, and the result in another type as well.
struct BiasAndConvert {
  Kokkos::View<const float*, Memory> bias;
  Kokkos::View<float***, Memory> converted;
  KOKKOS_FUNCTION float operator()(float value, std::int64_t matrix, std::int64_t row,
                                   std::int64_t col) const {
    value += bias(col);
    if (value < 0) value = 0;
    converted(matrix, row, col) = value;
    return value;
  }
};

BiasAndConvert with_bias(const GemmCase<half>& p, const std::vector<float>& bias) {
  const auto extent = [](std::int64_t x) { return static_cast<std::size_t>(x); };
  using Converted = decltype(BiasAndConvert::converted);
  return {upload(bias),
          Converted("converted", extent(p.c.batch), extent(p.c.rows), extent(p.c.cols))};
}

TEST(EpilogueOfViews, ReadsABiasAndWritesAnotherType) {
  Random random(seed());
  for (const Shape& s : shapes) {
    const auto p = make_case<half>(random, 11, s, Op::none, Op::transpose, 1, 0);
    std::vector<float> bias(static_cast<std::size_t>(s.n));
    for (float& x : bias) x = random.normal_scalar<float>();
    const BiasAndConvert epilogue = with_bias(p, bias);
    const HostBatch<half> result =
        run_gemm(p, {Layout::right, Layout::left, Layout::right}, nullptr, epilogue);
    const auto converted =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), epilogue.converted);
    for_each_exact(p, [&](std::int64_t b, std::int64_t i, std::int64_t j, long double exact,
                          long double bound) {
      exact += bias[static_cast<std::size_t>(j)];
      bound += unit_roundoff<float> * (std::fabs(exact) + bound);
      const long double expected = exact > 0 ? exact : 0;
      ASSERT_LE(std::fabs(converted(b, i, j) - expected), bound);
      ASSERT_TRUE(same_bits(result(b, i, j), half(converted(b, i, j))));
    });
  }
}

/// 16-bit scalars are rounded after the epilogue, not before: 1 + 2^-12 - 1.
TEST(EpilogueOfViews, ComesBeforeTheRounding) {
  GemmCase<half> p;
  p.a = HostBatch<half>(2, 6, 2, half(1));
  p.b = HostBatch<half>(2, 2, 5, half(1));
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t j = 0; j < 5; ++j) p.b(b, 1, j) = half(0x1p-12f);
  p.c = HostBatch<half>(2, 6, 5);
  const BiasAndConvert epilogue = with_bias(p, std::vector<float>(5, -1));
  for (const Layout layout : output_layouts) {
    const HostBatch<half> result = run_gemm(p, {layout, layout, layout}, nullptr, epilogue);
    for (const half& x : result.values) ASSERT_EQ(static_cast<float>(x), 0x1p-12f) << layout;
  }
}

TEST(EpilogueOfViews, IsNotForTheVendorsLibrary) {
  GemmOptions options;
  options.path = GemmPath::vendor;
  const DeviceBatch<float> x(Layout::right, HostBatch<float>(1, 300, 300, 1));
  const DeviceBatch<float> c(Layout::right, 1, 300, 300);
  EXPECT_NE(
      gemm_plan(Exec(), 1, x.right(), x.right(), 0, c.right(), {}, ScaleByPlace<float>()).path,
      GemmPath::vendor);
  try {
    gemm(Exec(), 1, x.right(), x.right(), 0, c.right(), options, ScaleByPlace<float>());
    FAIL() << "not refused";
  } catch (const shoal::invalid_argument& e) {
    EXPECT_EQ(e.argument(), "options.path");
    if (has_vendor<float>()) {
      EXPECT_NE(std::string(e.what()).find("applies no epilogue"), std::string::npos) << e.what();
    }
  }
}

} // namespace
} // namespace shoal::test
