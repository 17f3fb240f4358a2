// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// svd against the contract: families of hard matrices, shapes, vectors, layouts, paths.
#include "tests/check/support/families.hpp"
#include "tests/check/support/reference.hpp"
#include "tests/check/support/run.hpp"

#include <gtest/gtest.h>
#include <iostream>

namespace {

using namespace shoal_test;
using shoal::SvdOptions;
using shoal::SvdPath;
using shoal::Vectors;

template <class T>
class Svd : public testing::Test {
protected:
  Random random{7};
  Figures worst;

  void TearDown() override {
    if (worst.worst() > 0)
      std::cout << "  worst, in u max(m, n): residual " << worst.residual << ", left " << worst.left
                << ", right " << worst.right << ", values " << worst.values << "\n";
  }
  /// Every matrix of the batch is converged and within the contract.
  void check(const HostBatch<T>& a, const SvdResult<T>& r, const std::string& what,
             bool with_values = true) {
    ASSERT_TRUE(r.guards_intact) << what;
    for (int b = 0; b < a.batch; ++b) {
      ASSERT_EQ(r.info(b, 0, 0), 0) << what << ", matrix " << b;
      const Figures f = check_svd(a, b, r.u, r.s, r.vt,
                                  with_values ? reference_values(a, b) : std::vector<long double>());
      worst.merge(f);
      ASSERT_LE(f.worst(), contract_limit)
          << what << ", " << a.rows << " x " << a.cols << ", matrix " << b << ": residual "
          << f.residual << ", left " << f.left << ", right " << f.right << ", values " << f.values;
    }
  }
};
using Scalars =
    testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Svd, Scalars);

TYPED_TEST(Svd, meets_the_contract_for_all_families) {
  using T = TypeParam;
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 32, 33, 40})
    for (const int m : {n, n + 1, 2 * n, 15, 100}) {
      if (m < n || (n > 17 && m > 2 * n)) continue;
      for (const bool wide_way : {false, true}) {
        constexpr int count = std::size(all_families);
        HostBatch<T> a(count, wide_way ? n : m, wide_way ? m : n);
        for (int f = 0; f < count; ++f) fill(a, f, all_families[f], this->random);
        this->check(a, run_svd(a), "families", n <= 17 && m <= 34);
        if (this->HasFatalFailure()) return;
      }
    }
}

TYPED_TEST(Svd, meets_the_contract_beyond_scratch) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair{70, 65}, {150, 128}, {65, 200}, {3000, 3}, {1000, 40}}) {
    HostBatch<T> a(3, m, n);
    fill_random(a, this->random);
    fill(a, 1, Family::half_rank, this->random);
    this->check(a, run_svd(a), "large", false);
  }
}

TYPED_TEST(Svd, agrees_on_every_path_and_layout) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair{1, 1}, {2, 2}, {3, 3}, {4, 4}, {15, 3}, {3, 15}, {9, 6}})
    for (const SvdPath path : {SvdPath::automatic, SvdPath::lane, SvdPath::team})
      for (const Layout layout : all_layouts) {
        SvdOptions options;
        options.path = path;
        HostBatch<T> a(75, m, n);
        fill_random(a, this->random);
        try {
          this->check(a, run_svd(a, options, layout),
                      std::string(shoal::to_string(path)) + ", " + name_of(layout));
        } catch (const shoal::invalid_argument& error) {
          ASSERT_EQ(error.argument(), "options.path");
          ASSERT_EQ(path, SvdPath::lane);
          ASSERT_GT(std::min(m, n), 4) << "the lane path takes few columns everywhere";
        }
      }
}

TYPED_TEST(Svd, gives_each_side_as_asked) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair{2, 2}, {4, 3}, {3, 4}, {15, 3}, {6, 20}, {0, 3}, {3, 0}, {0, 0}})
    for (const Vectors left : {Vectors::none, Vectors::thin, Vectors::full})
      for (const Vectors right : {Vectors::none, Vectors::thin, Vectors::full})
        for (const Family family : {Family::random, Family::rank_one, Family::zero}) {
          SvdOptions options;
          options.left = left;
          options.right = right;
          HostBatch<T> a(9, m, n);
          for (int b = 0; b < a.batch; ++b) fill(a, b, family, this->random);
          this->check(a, run_svd(a, options),
                      std::string("left ") + shoal::to_string(left) + ", right " +
                          shoal::to_string(right));
        }
}

TYPED_TEST(Svd, keeps_the_largest_values_when_S_is_short) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair{4, 4}, {15, 3}, {3, 15}, {9, 7}, {70, 66}}) {
    HostBatch<T> a(40, m, n);
    fill_random(a, this->random);
    const SvdResult<T> whole = run_svd(a);
    for (const Layout layout : {Layout::right, Layout::column, Layout::left}) {
      const SvdResult<T> part = run_svd(a, {}, layout, 2);
      ASSERT_TRUE(part.guards_intact);
      for (int b = 0; b < a.batch; ++b)
        for (int k = 0; k < 2; ++k) {
          ASSERT_EQ(part.s(b, k, 0), whole.s(b, k, 0));
          for (int i = 0; i < m; ++i) ASSERT_TRUE(part.u(b, i, k) == whole.u(b, i, k));
          for (int j = 0; j < n; ++j) ASSERT_TRUE(part.vt(b, k, j) == whole.vt(b, k, j));
        }
    }
  }
}

TYPED_TEST(Svd, zeroes_values_below_the_tolerance_and_keeps_the_vectors) {
  using T = TypeParam;
  for (const int n : {3, 6}) {
    HostBatch<T> a(1, n, n);
    for (int i = 0; i < n; ++i) a(0, i, i) = T(RealOf<T>(std::pow(0.1, i)));
    SvdOptions options;
    options.tolerance = 0.05;
    const SvdResult<T> r = run_svd(a, options);
    EXPECT_NEAR(r.s(0, 0, 0), 1, 1e-6);
    EXPECT_NEAR(r.s(0, 1, 0), 0.1, 1e-6);
    for (int i = 2; i < n; ++i) EXPECT_EQ(r.s(0, i, 0), 0) << i;
    EXPECT_LE(orthogonality(r.u, 0, true), contract_limit * n * unit<T>);
    EXPECT_LE(orthogonality(r.vt, 0, false), contract_limit * n * unit<T>);
  }
}

TYPED_TEST(Svd, fixes_signs_on_request) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair{3, 3}, {15, 3}, {3, 15}, {8, 8}, {40, 33}})
    for (const SvdPath path : {SvdPath::automatic, SvdPath::team}) {
      SvdOptions options;
      options.fix_signs = true;
      options.path = path;
      HostBatch<T> a(30, m, n);
      fill_random(a, this->random);
      const SvdResult<T> r = run_svd(a, options);
      this->check(a, r, "fixed signs", false);
      for (int b = 0; b < a.batch; ++b)
        for (int k = 0; k < r.u.cols; ++k) {
          int top = 0;
          for (int i = 1; i < m; ++i)
            if (std::abs(wide(r.u(b, i, k))) > std::abs(wide(r.u(b, top, k)))) top = i;
          ASSERT_GT(wide(r.u(b, top, k)).real(), 0) << m << " x " << n;
          ASSERT_LE(std::abs(wide(r.u(b, top, k)).imag()), 8 * unit<T>);
        }
    }
}

TYPED_TEST(Svd, values_alone_are_those_with_vectors) {
  using T = TypeParam;
  for (const auto& [m, n] : {std::pair{1, 1}, {4, 4}, {15, 3}, {3, 15}, {12, 12}, {40, 33}}) {
    HostBatch<T> a(30, m, n);
    fill_random(a, this->random);
    SvdOptions none;
    none.left = none.right = Vectors::none;
    const SvdResult<T> with = run_svd(a), without = run_svd(a, none);
    for (int b = 0; b < a.batch; ++b)
      for (int k = 0; k < with.s.rows; ++k)
        ASSERT_NEAR(without.s(b, k, 0), with.s(b, k, 0),
                    contract_limit * unit<T> * std::max(m, n) * with.s(b, 0, 0));
  }
}

/// B with orthogonal columns up to a perturbation: kappa(B) is small.
template <class T>
HostBatch<T> well_conditioned(int batch, int n, Random& random) {
  HostBatch<T> b(batch, n, n);
  for (int q = 0; q < batch; ++q)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        b(q, i, j) = T(RealOf<T>(i == j ? 2 : 0)) + random.scalar<T>() * RealOf<T>(0.4 / n);
  return b;
}

TYPED_TEST(Svd, is_right_to_its_own_size_for_scaled_matrices) {
  using T = TypeParam;
  using R = RealOf<T>;
  const double decades = 12;
  double worst = 0;
  for (const int n : {2, 3, 4, 6, 11, 33})
    for (const bool rows : {false, true}) {
      HostBatch<T> a = well_conditioned<T>(20, n, this->random);
      for (int q = 0; q < a.batch; ++q)
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) {
            // In no order, so that nothing is sorted to begin with.
            const int place = ((rows ? i : j) * 7 + q) % n;
            a(q, i, j) = a(q, i, j) * R(std::pow(10, -decades * place / n));
          }
      const SvdResult<T> r = run_svd(a);
      for (int q = 0; q < a.batch; ++q) {
        // The reference works on columns, so scaled rows are transposed for it.
        HostBatch<T> x(1, n, n);
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j) x(0, i, j) = rows ? a(q, j, i) : a(q, i, j);
        const auto sigma = reference_values(x, 0);
        for (int k = 0; k < n; ++k) {
          const double off =
              static_cast<double>(std::abs(r.s(q, k, 0) - sigma[k]) / sigma[k] / unit<T>);
          worst = std::max(worst, off);
          ASSERT_LE(off, 100) << "n " << n << (rows ? ", D B" : ", B D") << ", value " << k;
        }
      }
    }
  std::cout << "  worst relative error " << worst << " u\n";
}

} // namespace
