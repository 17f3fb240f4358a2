// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/matrix_list.hpp"
#include "tests/support/reference.hpp"
#include "tests/support/residuals.hpp"
#include "tests/support/settings.hpp"

#include <shoal/gemm.hpp>

#include <gtest/gtest.h>
#include <vector>

/// \file
/// What differs from matrix to matrix of one call of shoal::gemm: sizes, and alpha and beta.
namespace shoal::test {
namespace {

template <class T>
class GemmVariable : public ::testing::Test {};
TYPED_TEST_SUITE(GemmVariable, Scalars, ScalarNames);

constexpr Op all_ops[] = {Op::none, Op::transpose, Op::conj_transpose};

template <class T>
GemmCase<T> random_product(Random& random, std::int64_t m, std::int64_t n, std::int64_t k, Op op_a,
                           Op op_b, arithmetic_t<T> alpha, arithmetic_t<T> beta) {
  GemmCase<T> p;
  p.op_a = op_a;
  p.op_b = op_b;
  p.alpha = alpha;
  p.beta = beta;
  p.a = op_a == Op::none ? random_batch<T>(random, 1, m, k) : random_batch<T>(random, 1, k, m);
  p.b = op_b == Op::none ? random_batch<T>(random, 1, k, n) : random_batch<T>(random, 1, n, k);
  p.c = beta == arithmetic_t<T>(0) ? HostBatch<T>(1, m, n, poison<T>())
                                   : random_batch<T>(random, 1, m, n);
  return p;
}

template <class T, HostBatch<T> GemmCase<T>::* Which>
std::vector<HostBatch<T>> all_of(const std::vector<GemmCase<T>>& products) {
  std::vector<HostBatch<T>> list;
  for (const GemmCase<T>& p : products) list.push_back(p.*Which);
  return list;
}

template <class T>
struct Lists {
  MatrixList<T> a, b, c;
  Lists(const std::vector<GemmCase<T>>& products, Random& random)
      : a(all_of<T, &GemmCase<T>::a>(products), random.integer(0, 1)),
        b(all_of<T, &GemmCase<T>::b>(products), random.integer(0, 1)),
        c(all_of<T, &GemmCase<T>::c>(products), random.integer(0, 1)) {}
};

TYPED_TEST(GemmVariable, EveryMatrixWithItsOwnSizes) {
  using T = TypeParam;
  Random random(seed());
  Worst worst;
  for (const std::int64_t most : {3, 8, 40, 300})
    for (const Op op_a : all_ops)
      for (const Op op_b : all_ops)
        for (const GemmPath path : every_path<GemmPath>()) {
          const arithmetic_t<T> beta = random.integer(0, 1) ? 0 : -2;
          std::vector<GemmCase<T>> products;
          for (std::int64_t b = 0; b < (most == 300 ? 5 : 70); ++b)
            products.push_back(random_product<T>(
                random, random.integer(0, most), random.integer(0, most),
                random.integer(0, std::min<std::int64_t>(most, 50)), op_a, op_b, 3, beta));
          const Lists<T> lists(products, random);
          GemmOptions options;
          options.op_a = op_a;
          options.op_b = op_b;
          options.path = path;
          const Exec exec;
          Kokkos::fence();
          try {
            gemm(exec, 3, lists.a.const_batch(), lists.b.const_batch(), beta, lists.c.batch(),
                 options);
          } catch (const shoal::invalid_argument& e) {
            EXPECT_EQ(e.argument(), "options.path");
            EXPECT_TRUE(path != GemmPath::automatic && path != GemmPath::team) << e.what();
            continue;
          }
          exec.fence();
          const auto results = lists.c.get();
          for (std::size_t b = 0; b < products.size(); ++b) {
            const long double error = gemm_error(products[b], results[b]);
            worst.see(error, scalar_name<T>());
            ASSERT_LE(error, gemm_limit<T>)
                << b << ": " << products[b].c.rows << " x " << products[b].c.cols << " x "
                << products[b].k() << ", path " << to_string(path);
          }
          ASSERT_TRUE(lists.c.guards_intact() && lists.a.untouched() && lists.b.untouched());
        }
  print_figure(scalar_name<T>() + std::string(": error / bound"), worst);
}

TYPED_TEST(GemmVariable, SizesThatDisagreeGiveNanThereOnly) {
  using T = TypeParam;
  Random random(seed());
  for (const GemmPath path : {GemmPath::automatic, GemmPath::team})
    for (const int wrong : {0, 1, 2}) {
      std::vector<GemmCase<T>> products;
      for (int b = 0; b < 9; ++b)
        products.push_back(random_product<T>(random, 2 + b, 3, 4, Op::none, Op::none, 1, 1));
      constexpr std::size_t bad = 4;
      auto& p = products[bad];
      if (wrong == 0) p.a = random_batch<T>(random, 1, p.a.rows + 1, p.a.cols);
      if (wrong == 1) p.b = random_batch<T>(random, 1, p.b.rows, p.b.cols - 1);
      if (wrong == 2) p.b = random_batch<T>(random, 1, p.b.rows + 1, p.b.cols);
      const Lists<T> lists(products, random);
      GemmOptions options;
      options.path = path;
      const Exec exec;
      Kokkos::fence();
      gemm(exec, 1, lists.a.batch(), lists.b.batch(), 1, lists.c.batch(), options);
      exec.fence();
      const auto results = lists.c.get();
      for (std::size_t b = 0; b < products.size(); ++b) {
        if (b == bad) EXPECT_TRUE(results[b].all_nan(0)) << wrong;
        else EXPECT_LE(gemm_error(products[b], results[b]), gemm_limit<T>) << b;
      }
      EXPECT_TRUE(lists.c.guards_intact());
    }
}

TYPED_TEST(GemmVariable, SizesAboveTheMaximaGiveNanThereOnly) {
  using T = TypeParam;
  Random random(seed());
  std::vector<GemmCase<T>> products;
  for (int b = 0; b < 7; ++b)
    products.push_back(random_product<T>(random, b == 3 ? 9 : 5, 4, 6, Op::none, Op::none, 1, 1));
  const Lists<T> lists(products, random);
  auto c = lists.c.batch();
  c.max_rows = 5;
  const Exec exec;
  Kokkos::fence();
  gemm(exec, 1, lists.a.batch(), lists.b.batch(), 1, c);
  exec.fence();
  const auto results = lists.c.get();
  for (std::size_t b = 0; b < products.size(); ++b) {
    if (b == 3) EXPECT_TRUE(results[b].all_nan(0));
    else EXPECT_LE(gemm_error(products[b], results[b]), gemm_limit<T>) << b;
  }
}

TYPED_TEST(GemmVariable, UniformBatchesMayTakePart) {
  using T = TypeParam;
  Random random(seed());
  // One B for all; A and C of different heights.
  const HostBatch<T> b = random_batch<T>(random, 1, 4, 3);
  std::vector<GemmCase<T>> products;
  for (int i = 0; i < 20; ++i) {
    products.push_back(random_product<T>(random, i, 3, 4, Op::none, Op::none, 1, 0));
    products.back().b = b;
  }
  const Lists<T> lists(products, random);
  DeviceBatch<T> one(Layout::repeated, 20, 4, 3);
  HostBatch<T> all(20, 4, 3);
  for (std::int64_t m = 0; m < 20; ++m)
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 3; ++j) all(m, i, j) = b(0, i, j);
  one.put(all);
  const Exec exec;
  Kokkos::fence();
  gemm(exec, 1, lists.a.batch(), one.const_strided(), 0, lists.c.batch());
  exec.fence();
  const auto results = lists.c.get();
  for (std::size_t i = 0; i < products.size(); ++i)
    EXPECT_LE(gemm_error(products[i], results[i]), gemm_limit<T>) << i;
}

TYPED_TEST(GemmVariable, SizesAreAsked) {
  using T = TypeParam;
  Random random(seed());
  const std::vector<GemmCase<T>> products(
      3, random_product<T>(random, 2, 2, 2, Op::none, Op::none, 1, 1));
  const Lists<T> lists(products, random);
  for (const bool rows : {true, false}) {
    auto a = lists.a.batch();
    (rows ? a.rows : a.cols) = nullptr;
    try {
      gemm(Exec(), 1, a, lists.b.batch(), 1, lists.c.batch());
      FAIL() << "not refused";
    } catch (const shoal::invalid_argument& e) {
      EXPECT_EQ(e.argument(), "A");
      EXPECT_NE(std::string(e.what()).find(rows ? "rows is null" : "cols is null"),
                std::string::npos)
          << e.what();
    }
  }
  EXPECT_TRUE(lists.c.untouched());
}

/// Coefficients in memory: one for all, and one for each.
TYPED_TEST(GemmVariable, CoefficientsInMemory) {
  using T = TypeParam;
  using Number = arithmetic_t<T>;
  Random random(seed());
  Worst worst;
  for (const std::int64_t n : {1, 2, 5, 16, 33})
    for (const Layout layout : output_layouts)
      for (const GemmPath path : every_path<GemmPath>())
        for (const bool each : {false, true}) {
          constexpr std::int64_t batch = 45;
          GemmCase<T> p;
          p.a = random_batch<T>(random, batch, n, n);
          p.b = random_batch<T>(random, batch, n, n);
          p.c = random_batch<T>(random, batch, n, n);
          // Every third beta is zero, and C is NaN there.
          HostBatch<Number> alpha(batch, 1, 1), beta(batch, 1, 1);
          for (std::int64_t i = 0; i < batch; ++i) {
            alpha(i, 0, 0) = random.normal_scalar<Number>();
            beta(i, 0, 0) = i % 3 ? random.normal_scalar<Number>() : Number(0);
            if (each && i % 3 == 0)
              for (std::int64_t r = 0; r < n; ++r)
                for (std::int64_t s = 0; s < n; ++s) p.c(i, r, s) = poison<T>();
          }
          const DeviceBatch<T> a(Layout::right, p.a), b(Layout::left, p.b), c(layout, p.c);
          const DeviceBatch<Number> da(Layout::scattered, alpha), db(Layout::right, beta);
          GemmOptions options;
          options.path = path;
          const Exec exec;
          Kokkos::fence();
          constexpr std::int64_t chosen = 4; // of the single ones
          const auto call = [&](const auto& vc) {
            if (each) gemm(exec, da.entries(), a.right(), b.left(), db.entries(), vc, options);
            else
              gemm(exec, Kokkos::subview(da.entries(), chosen), a.right(), b.left(),
                   Kokkos::subview(db.entries(), chosen), vc, options);
          };
          try {
            if (layout == Layout::pointers) call(c.pointers());
            else call(c.strided());
          } catch (const shoal::invalid_argument& e) {
            EXPECT_EQ(e.argument(), "options.path") << e.what();
            EXPECT_TRUE(path == GemmPath::vector || path == GemmPath::vendor) << e.what();
            continue;
          }
          exec.fence();
          EXPECT_TRUE(c.guards_intact());
          const HostBatch<T> result = c.get();
          const auto one = [&](const HostBatch<T>& x, std::int64_t i) {
            HostBatch<T> y(1, n, n);
            for (std::int64_t r = 0; r < n; ++r)
              for (std::int64_t s = 0; s < n; ++s) y(0, r, s) = x(i, r, s);
            return y;
          };
          for (std::int64_t i = 0; i < batch; ++i) {
            GemmCase<T> q;
            q.a = one(p.a, i);
            q.b = one(p.b, i);
            q.c = one(p.c, i);
            q.alpha = alpha(each ? i : chosen, 0, 0);
            q.beta = beta(each ? i : chosen, 0, 0);
            const long double error = gemm_error(q, one(result, i));
            worst.see(error, scalar_name<T>());
            ASSERT_LE(error, gemm_limit<T>) << "n " << n << ", matrix " << i << ", " << layout
                                            << ", path " << to_string(path) << ", each " << each;
          }
        }
  print_figure(scalar_name<T>() + std::string(": error / bound"), worst);
}

TYPED_TEST(GemmVariable, CoefficientsAreChecked) {
  using T = TypeParam;
  const DeviceBatch<T> x(Layout::right, HostBatch<T>(4, 2, 2, T(1)));
  const DeviceBatch<T> c(Layout::right, HostBatch<T>(4, 2, 2, T(1)));
  const DeviceBatch<arithmetic_t<T>> three(Layout::right, HostBatch<arithmetic_t<T>>(3, 1, 1, 1));
  const auto refused = [&](const char* argument, const auto& call) {
    try {
      call();
      ADD_FAILURE() << "not refused";
    } catch (const shoal::invalid_argument& e) {
      EXPECT_EQ(e.argument(), argument) << e.what();
    }
  };
  refused("alpha", [&] { gemm(Exec(), three.entries(), x.right(), x.right(), 0, c.right()); });
  refused("beta", [&] { gemm(Exec(), 1, x.right(), x.right(), three.entries(), c.right()); });
  if constexpr (!is_converted<T>)
    refused("C", [&] { gemm(Exec(), 1, x.right(), x.right(), c.entries(), c.right()); });
  refused("alpha", [&] {
    gemm(Exec(), Kokkos::View<arithmetic_t<T>, Memory>(), x.right(), x.right(), 0, c.right());
  });
  EXPECT_TRUE(c.untouched());
}

} // namespace
} // namespace shoal::test
