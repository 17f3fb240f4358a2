// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix gives the same bits at any position, in any batch size, layout and run, by any number of threads.
#include "tests/check/support/families.hpp"
#include "tests/check/support/run.hpp"

#include <gtest/gtest.h>

namespace {

using namespace shoal_test;

template <class T>
class SvdBits : public testing::Test {};
using Scalars =
    testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(SvdBits, Scalars);

template <class T>
void expect_same(const SvdResult<T>& x, int bx, const SvdResult<T>& y, int by, const char* what) {
  for (int k = 0; k < x.s.rows; ++k) ASSERT_EQ(x.s(bx, k, 0), y.s(by, k, 0)) << what;
  for (int i = 0; i < x.u.rows; ++i)
    for (int k = 0; k < x.u.cols; ++k) ASSERT_TRUE(x.u(bx, i, k) == y.u(by, i, k)) << what;
  for (int k = 0; k < x.vt.rows; ++k)
    for (int j = 0; j < x.vt.cols; ++j) ASSERT_TRUE(x.vt(bx, k, j) == y.vt(by, k, j)) << what;
}

TYPED_TEST(SvdBits, depend_on_the_matrix_alone) {
  using T = TypeParam;
  Random random(11);
  for (const auto& [m, n] : {std::pair{1, 1}, {2, 2}, {3, 3}, {4, 4}, {15, 3}, {3, 15}, {9, 8}, {20, 17}, {70, 66}}) {
    HostBatch<T> one(1, m, n);
    fill_random(one, random);
    const SvdResult<T> alone = run_svd(one);
    for (const int batch : {1, 7, 64, 300}) {
      if (m * n > 1000 && batch > 7) continue;
      HostBatch<T> many(batch, m, n);
      // Neighbours that need more sweeps, fewer, and none.
      for (int b = 0; b < batch; ++b)
        fill(many, b, all_families[b % std::size(all_families)], random);
      for (const int position : {0, batch / 2, batch - 1})
        for (int i = 0; i < m; ++i)
          for (int j = 0; j < n; ++j) many(position, i, j) = one(0, i, j);
      for (const Layout layout : all_layouts) {
        const SvdResult<T> r = run_svd(many, {}, layout);
        for (const int position : {0, batch / 2, batch - 1})
          expect_same(r, position, alone, 0, name_of(layout));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(SvdBits, are_the_same_in_every_run) {
  using T = TypeParam;
  Random random(12);
  HostBatch<T> a(50, 20, 18);
  fill_random(a, random);
  shoal::SvdOptions options;
  options.path = shoal::SvdPath::team;
  const SvdResult<T> first = run_svd(a, options);
  for (int run = 0; run < 3; ++run) {
    const SvdResult<T> again = run_svd(a, options);
    for (int b = 0; b < a.batch; ++b) expect_same(again, b, first, b, "run");
  }
}

} // namespace
