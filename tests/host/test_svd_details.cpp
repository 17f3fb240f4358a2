// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/families.hpp"
#include "tests/support/matrix_list.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/residuals.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"

#include <shoal/svd.hpp>

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

/// \file
/// What shoal::svd tells of each matrix on request: sweeps, off-diagonal norm, numerical rank.
namespace shoal::test {
namespace {

template <class T>
class Details : public ::testing::Test {};
TYPED_TEST_SUITE(Details, Scalars, ScalarNames);

using Shapes = std::vector<std::pair<std::int64_t, std::int64_t>>;
const Shapes shapes{{1, 1}, {5, 1},   {2, 2},   {3, 3},   {15, 3},  {3, 15}, {4, 4},
                    {6, 5}, {12, 12}, {20, 40}, {33, 21}, {70, 66}, {100, 8}};

/// A call with all details.
template <class T>
struct Detailed {
  DeviceBatch<T> a, u, vt;
  DeviceBatch<Real<T>> s, off_norm;
  DeviceBatch<int> info, sweeps, rank;

  explicit Detailed(const HostBatch<T>& x, std::int64_t values = -1)
      : Detailed(x, std::min(x.rows, x.cols), values) {}

  auto details() const { return SvdDetails{sweeps.entries(), off_norm.entries(), rank.entries()}; }

  /// Throws what shoal::svd throws.
  template <class D>
  void run(const SvdOptions& options, const D& details) {
    for (DeviceBatch<T>* x : {&u, &vt}) x->fill(poison<T>());
    for (DeviceBatch<Real<T>>* x : {&s, &off_norm}) x->fill(poison<Real<T>>());
    for (DeviceBatch<int>* x : {&info, &sweeps, &rank}) x->fill(poison<int>());
    const Exec exec;
    Kokkos::fence();
    svd(exec, a.right(), u.right(), s.vectors(), vt.right(), info.entries(), options, {}, details);
    exec.fence();
  }
  bool guards_intact() const {
    return s.guards_intact() && off_norm.guards_intact() && sweeps.guards_intact() &&
           rank.guards_intact();
  }
  SvdResult<T> result() const {
    SvdResult<T> r;
    r.take(a, u, s, vt, info);
    return r;
  }

private:
  Detailed(const HostBatch<T>& x, std::int64_t k, std::int64_t values)
      : a(Layout::right, x), u(Layout::right, x.batch, x.rows, values < 0 ? k : values),
        vt(Layout::right, x.batch, values < 0 ? k : values, x.cols),
        s(Layout::right, x.batch, values < 0 ? k : values, 1),
        off_norm(Layout::scattered, x.batch, 1, 1), info(Layout::scattered, x.batch, 1, 1),
        sweeps(Layout::scattered, x.batch, 1, 1), rank(Layout::scattered, x.batch, 1, 1) {}
};

/// False where the path does not take the shape.
template <class T, class D>
bool runs(Detailed<T>& call, const SvdOptions& options, const D& details) {
  try {
    call.run(options, details);
    return true;
  } catch (const shoal::invalid_argument& e) {
    EXPECT_EQ(e.argument(), "options.path") << e.what();
    EXPECT_NE(options.path, SvdPath::automatic) << e.what();
    return false;
  }
}

/// The largest |cos| between two of the right vectors, or of the left ones of a wide matrix: those
/// that the sweeps make orthogonal.
template <class T>
long double largest_cosine(const HostBatch<T>& u, const HostBatch<T>& vt, std::int64_t b) {
  const bool tall = u.rows >= vt.cols;
  const std::int64_t k = vt.rows, length = tall ? vt.cols : u.rows;
  const auto entry = [&](std::int64_t p, std::int64_t i) {
    return tall ? widen(vt(b, p, i)) : conjugate(widen(u(b, i, p)));
  };
  long double largest = 0;
  for (std::int64_t p = 0; p < k; ++p)
    for (std::int64_t q = p + 1; q < k; ++q) {
      Wide<T> dot = 0;
      long double pp = 0, qq = 0;
      for (std::int64_t i = 0; i < length; ++i) {
        dot += conjugate(entry(p, i)) * entry(q, i);
        pp += abs_squared(entry(p, i));
        qq += abs_squared(entry(q, i));
      }
      largest = worse(largest, std::sqrt(abs_squared(dot) / (pp * qq)));
    }
  return largest;
}

template <class T>
int rank_of(const HostBatch<Real<T>>& s, std::int64_t b, std::int64_t m, std::int64_t n,
            double tolerance) {
  const auto least = static_cast<Real<T>>(std::max<long double>(
      tolerance, 2 * unit_roundoff<Real<T>> * static_cast<long double>(std::max(m, n))));
  int rank = 0;
  for (std::int64_t k = 0; k < s.rows; ++k) rank += s(b, k, 0) > least * s(b, 0, 0);
  return rank;
}

TYPED_TEST(Details, AreThoseOfTheResultOnEveryPath) {
  using T = TypeParam;
  PathCount<SvdPath> paths;
  Worst off_norms;
  int turn = 0;
  for (const auto& [m, n] : shapes) {
    const Family<T> family = families<T>(m, n, 31);
    const HostBatch<T>& x = family.matrices;
    const std::int64_t k = std::min(m, n);
    for (const SvdPath path : every_path<SvdPath>())
      for (const int max_sweeps : {30, 1}) {
        if (++turn % case_step != 0) continue;
        SvdOptions options;
        options.path = path;
        options.max_sweeps = max_sweeps;
        Detailed<T> plain(x), call(x);
        if (!runs(plain, options, SvdDetails<>())) continue;
        call.run(options, call.details());
        paths.see(path);
        const SvdResult<T> r = call.result(), expected = plain.result();
        const auto sweeps = call.sweeps.get(), rank = call.rank.get();
        const auto off_norm = call.off_norm.get();
        EXPECT_TRUE(call.guards_intact());
        for (std::int64_t b = 0; b < x.batch; ++b) {
          const std::string where = family.names[static_cast<std::size_t>(b)] + ", " +
                                    std::to_string(m) + " x " + std::to_string(n) + ", path " +
                                    to_string(path) + ", max_sweeps " + std::to_string(max_sweeps);
          const int info = r.info[static_cast<std::size_t>(b)];
          ASSERT_EQ(info, expected.info[static_cast<std::size_t>(b)]) << where;
          ASSERT_TRUE(r.s.same_matrix(b, expected.s, b)) << where;
          if (k < 2) {
            ASSERT_EQ(sweeps(b, 0, 0), 0) << where;
            ASSERT_EQ(off_norm(b, 0, 0), 0) << where;
          } else {
            ASSERT_GE(sweeps(b, 0, 0), 1) << where;
            ASSERT_LE(sweeps(b, 0, 0), max_sweeps) << where;
          }
          if (info > 0) {
            ASSERT_EQ(sweeps(b, 0, 0), info) << where;
          }
          const long double cosine = largest_cosine(r.u, r.vt, b), told = off_norm(b, 0, 0);
          ASSERT_LE(std::fabs(told - cosine),
                    0.02L * cosine + 4 * contract_unit<T>(m, n) + 4 * contract_unit<Real<T>>(m, n))
              << where << ": " << told << ", is " << cosine;
          if (info == 0) {
            const long double limit =
                2 * unit_roundoff<Real<T>> * std::pow(static_cast<long double>(k), 0.25L);
            off_norms.see(told / limit, where);
            ASSERT_LE(told, 2 * limit) << where;
          }
          ASSERT_EQ(rank(b, 0, 0), rank_of<T>(r.s, b, m, n, 0)) << where;
          if (family.names[static_cast<std::size_t>(b)] == "integer_rank_2") {
            ASSERT_LE(rank(b, 0, 0), 2) << where;
          }
        }
      }
  }
  expect_every_path<T>(paths);
  print_figure(scalar_name<T>() + std::string(": off_norm / (2 u n^(1/4))"), off_norms);
}

/// So many sweeps are enough for the matrix, and one less is not.
TYPED_TEST(Details, SweepsAreThoseThatAreNeeded) {
  using T = TypeParam;
  Random random(seed());
  for (const auto& [m, n] : Shapes{{3, 3}, {9, 15}, {24, 20}}) {
    const HostBatch<T> x = random_batch<T>(random, 4, m, n);
    for (const SvdPath path : every_path<SvdPath>()) {
      SvdOptions options;
      options.path = path;
      Detailed<T> call(x), again(x);
      if (!runs(call, options, call.details())) continue;
      const auto sweeps = call.sweeps.get();
      for (std::int64_t b = 0; b < x.batch; ++b) {
        const int needed = sweeps(b, 0, 0);
        options.max_sweeps = needed;
        again.run(options, SvdDetails<>());
        EXPECT_EQ(again.info.get()(b, 0, 0), 0) << to_string(path);
        if (needed < 2) continue;
        options.max_sweeps = needed - 1;
        again.run(options, SvdDetails<>());
        EXPECT_EQ(again.info.get()(b, 0, 0), needed - 1) << to_string(path);
      }
    }
  }
}

TYPED_TEST(Details, RankFollowsTheToleranceAndCountsAllValues) {
  using T = TypeParam;
  for (const auto& [m, n] : Shapes{{3, 3}, {15, 3}, {9, 12}, {30, 24}}) {
    const HostBatch<T> x = families<T>(m, n, 32).matrices;
    for (const SvdPath path : every_path<SvdPath>()) {
      SvdOptions options;
      options.path = path;
      Detailed<T> whole(x), cut(x, 1);
      if (!runs(whole, options, whole.details())) continue;
      const auto s = whole.s.get();
      for (const double tolerance : {0.0, 1e-3, 0.3}) {
        options.tolerance = tolerance;
        cut.run(options, cut.details());
        const auto rank = cut.rank.get();
        for (std::int64_t b = 0; b < x.batch; ++b) {
          // Values at the limit may fall on either side of it.
          const int least = rank_of<T>(s, b, m, n, tolerance * (1 + 1e-3)),
                    most = rank_of<T>(s, b, m, n, tolerance * (1 - 1e-3));
          EXPECT_GE(rank(b, 0, 0), least) << to_string(path) << ", matrix " << b;
          EXPECT_LE(rank(b, 0, 0), most) << to_string(path) << ", matrix " << b;
        }
      }
    }
  }
}

TYPED_TEST(Details, EachMayBeLeftOut) {
  using T = TypeParam;
  Random random(seed());
  for (const auto& [m, n] : Shapes{{3, 3}, {12, 12}, {30, 24}}) {
    const HostBatch<T> x = random_batch<T>(random, 21, m, n);
    for (const SvdPath path : every_path<SvdPath>()) {
      SvdOptions options;
      options.path = path;
      Detailed<T> all(x), some(x);
      if (!runs(all, options, all.details())) continue;
      some.run(options, SvdDetails{some.sweeps.entries()});
      EXPECT_TRUE(some.sweeps.get().same(all.sweeps.get()));
      EXPECT_TRUE(some.off_norm.untouched() && some.rank.untouched());
      some.run(options, SvdDetails{unwanted, some.off_norm.entries()});
      EXPECT_TRUE(some.off_norm.get().same(all.off_norm.get()));
      EXPECT_TRUE(some.sweeps.untouched() && some.rank.untouched());
      some.run(options, SvdDetails{unwanted, unwanted, some.rank.entries()});
      EXPECT_TRUE(some.rank.get().same(all.rank.get()));
      EXPECT_TRUE(some.sweeps.untouched() && some.off_norm.untouched());
    }
  }
}

/// Sweeps of the values alone, which are those of the thin decomposition on every path.
TYPED_TEST(Details, OfValuesAlone) {
  using T = TypeParam;
  Random random(seed());
  for (const auto& [m, n] : Shapes{{3, 3}, {4, 15}, {40, 30}}) {
    const HostBatch<T> x = random_batch<T>(random, 5, m, n);
    Detailed<T> thin(x), values(x);
    thin.run({}, thin.details());
    svd_values(Exec(), values.a.right(), values.s.vectors(), values.info.entries(), {}, {},
               values.details());
    Exec().fence();
    EXPECT_TRUE(values.sweeps.get().same(thin.sweeps.get()));
    EXPECT_TRUE(values.rank.get().same(thin.rank.get()));
    for (std::int64_t b = 0; b < x.batch; ++b)
      EXPECT_LE(values.off_norm.get()(b, 0, 0), 1e-2) << m << " x " << n;
  }
}

TYPED_TEST(Details, OfMatricesThatAreNotFinite) {
  using T = TypeParam;
  Random random(seed());
  for (const auto& [m, n] : Shapes{{1, 1}, {3, 3}, {15, 3}, {9, 12}, {30, 24}}) {
    HostBatch<T> x = random_batch<T>(random, 11, m, n);
    x(4, m - 1, n / 2) = poison<T>();
    for (const SvdPath path : every_path<SvdPath>()) {
      SvdOptions options;
      options.path = path;
      Detailed<T> call(x);
      if (!runs(call, options, call.details())) continue;
      EXPECT_EQ(call.info.get()(4, 0, 0), svd_not_finite);
      EXPECT_EQ(call.sweeps.get()(4, 0, 0), 0);
      EXPECT_EQ(call.rank.get()(4, 0, 0), 0);
      EXPECT_TRUE(is_nan(call.off_norm.get()(4, 0, 0)));
      for (const std::int64_t b : {3, 5}) {
        EXPECT_EQ(call.rank.get()(b, 0, 0), std::min(m, n)) << to_string(path);
        EXPECT_LE(call.off_norm.get()(b, 0, 0), 1e-2) << to_string(path);
      }
    }
  }
}

TYPED_TEST(Details, OfMatricesWhoseSizesDiffer) {
  using T = TypeParam;
  Random random(seed());
  std::vector<HostBatch<T>> matrices;
  for (int b = 0; b < 30; ++b)
    matrices.push_back(random_batch<T>(random, 1, random.integer(0, 12), random.integer(0, 12)));
  matrices[7] = random_batch<T>(random, 1, 13, 2);
  const MatrixList<T> list(matrices, true);
  auto a = list.const_batch();
  a.max_rows = a.max_cols = 12;
  for (const SvdPath path : {SvdPath::automatic, SvdPath::team}) {
    DeviceBatch<Real<T>> s(Layout::right, 30, 12, 1), off_norm(Layout::right, 30, 1, 1);
    DeviceBatch<int> info(Layout::right, 30, 1, 1), sweeps(Layout::right, 30, 1, 1),
        rank(Layout::right, 30, 1, 1);
    for (DeviceBatch<int>* x : {&info, &sweeps, &rank}) x->fill(poison<int>());
    off_norm.fill(poison<Real<T>>());
    SvdOptions options;
    options.path = path;
    const Exec exec;
    Kokkos::fence();
    svd_values(exec, a, s.vectors(), info.entries(), options, {},
               SvdDetails{sweeps.entries(), off_norm.entries(), rank.entries()});
    exec.fence();
    for (std::int64_t b = 0; b < 30; ++b) {
      const HostBatch<T>& x = matrices[static_cast<std::size_t>(b)];
      const std::int64_t k = std::min(x.rows, x.cols);
      const Real<T> off = off_norm.get()(b, 0, 0);
      if (b == 7) {
        EXPECT_EQ(info.get()(b, 0, 0), svd_wrong_sizes);
        EXPECT_EQ(sweeps.get()(b, 0, 0), 0);
        EXPECT_EQ(rank.get()(b, 0, 0), 0);
        EXPECT_TRUE(is_nan(off));
      } else {
        EXPECT_EQ(info.get()(b, 0, 0), 0) << b;
        EXPECT_EQ(sweeps.get()(b, 0, 0) > 0, k > 1) << b;
        EXPECT_EQ(rank.get()(b, 0, 0), k) << b;
        EXPECT_TRUE(k > 1 ? off >= 0 && off < 1e-2 : off == 0) << b;
      }
    }
  }
}

TYPED_TEST(Details, AreChecked) {
  using T = TypeParam;
  Detailed<T> call(HostBatch<T>(5, 3, 3, T(1)));
  const DeviceBatch<int> short_one(Layout::right, HostBatch<int>(4, 1, 1, 1));
  const DeviceBatch<Real<T>> short_norm(Layout::right, HostBatch<Real<T>>(4, 1, 1, 1));
  const auto refused = [&](const char* argument, const std::vector<std::string>& parts,
                           const auto& details) {
    try {
      call.run({}, details);
      ADD_FAILURE() << argument << " not refused";
    } catch (const shoal::invalid_argument& e) {
      EXPECT_EQ(e.argument(), argument) << e.what();
      for (const std::string& part : parts)
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
    EXPECT_TRUE(call.s.untouched() && call.info.untouched() && call.u.untouched());
  };
  const std::vector<std::string> extents{"extent 0 is 4", "expected 5"};
  refused("details.sweeps", extents, SvdDetails{short_one.entries()});
  refused("details.off_norm", extents, SvdDetails{unwanted, short_norm.entries()});
  refused("details.rank", extents, SvdDetails{unwanted, unwanted, short_one.entries()});
  refused("details.rank", {"overlaps info"}, SvdDetails{unwanted, unwanted, call.info.entries()});
  refused("details.sweeps", {"null", "5"},
          SvdDetails{decltype(call.sweeps.entries())(nullptr, Kokkos::LayoutStride(5, 1))});
}

} // namespace
} // namespace shoal::test
