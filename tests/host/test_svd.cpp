// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/families.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"

#include <shoal/svd.hpp>

#include <gtest/gtest.h>
#include <optional>

/// \file
/// shoal::svd against the contract: every family of hard matrices at every kind of shape, every
/// choice of vectors, layout, option and kernel.
namespace shoal::test {
namespace {

template <class T>
class Svd : public ::testing::Test {};
TYPED_TEST_SUITE(Svd, Scalars, ScalarNames);

using Shapes = std::vector<std::pair<std::int64_t, std::int64_t>>;

template <class T>
std::vector<std::vector<long double>> references(const HostBatch<T>& a) {
  std::vector<std::vector<long double>> sigma;
  for (std::int64_t b = 0; b < a.batch; ++b) sigma.push_back(reference_values(a, b));
  return sigma;
}

/// Runs a job on a family and holds every matrix to the contract.
template <class T>
SvdResult<T> expect_family(const Family<T>& family,
                           const std::vector<std::vector<long double>>& sigma, const SvdJob& job,
                           SvdFigures& figures) {
  const HostBatch<T>& a = family.matrices;
  SvdResult<T> r = run_svd(a, job);
  EXPECT_TRUE(r.guards_intact) << job.describe(a.batch, a.rows, a.cols);
  EXPECT_TRUE(r.a_untouched) << job.describe(a.batch, a.rows, a.cols);
  for (std::int64_t b = 0; b < a.batch; ++b) {
    const auto i = static_cast<std::size_t>(b);
    expect_contract(a, job, r, b, sigma[i], family.names[i], figures);
    if (family.relative[i]) {
      const std::string where = family.names[i] + " in " + job.describe(a.batch, a.rows, a.cols);
      const long double relative = relative_value_error<T>(r.s, b, sigma[i]);
      figures.relative.see(relative, where);
      figures.expect(relative <= 100,
                     "relative value error is " + std::to_string(relative) + " of " + where);
    }
  }
  return r;
}

/// A named path may refuse a shape; it then says so, and nothing else may go wrong.
template <class T>
std::optional<SvdResult<T>> try_svd(const HostBatch<T>& a, const SvdJob& job) {
  try {
    return run_svd(a, job);
  } catch (const shoal::invalid_argument& e) {
    EXPECT_EQ(e.argument(), "options.path") << e.what();
    EXPECT_NE(job.options.path, SvdPath::automatic) << e.what();
    EXPECT_NE(job.options.path, SvdPath::team) << e.what();
    return std::nullopt;
  }
}

TYPED_TEST(Svd, MeetsTheContractOnEveryFamilyAndShape) {
  using T = TypeParam;
  SvdFigures figures;
  PathCount<SvdPath> paths;
  std::size_t turn = 0;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 17, 32, 33, 40})
    for (const std::int64_t m : {n, n + 1, 2 * n, std::int64_t(15), std::int64_t(100)}) {
      if (n > 10 && m == 15) continue; // 15 x 16 and the like come by the wide shapes
      if (n > 16 && m == (n % 2 ? 100 : 2 * n)) continue; // time
      for (const bool wide : {false, true}) {
        if (wide && m == n) continue;
        const Family<T> family = wide ? families<T>(n, m) : families<T>(m, n);
        const auto sigma = references(family.matrices);
        const Layout layout = output_layouts[turn++ % std::size(output_layouts)];
        paths.see(expect_family(family, sigma, SvdJob::thin(layout), figures).plan.path);
        expect_family(family, sigma, SvdJob::of(Vectors::none, Vectors::none, layout), figures);
        if (m <= 20 || n <= 4)
          paths.see(expect_family(family, sigma, SvdJob::of(Vectors::full, Vectors::full, layout),
                                  figures)
                        .plan.path);
      }
    }
  figures.print(scalar_name<T>());
  figures.print_relative(scalar_name<T>());
  paths.print(scalar_name<T>());
}

TYPED_TEST(Svd, EachSideIsChosenByItselfOnEveryPath) {
  using T = TypeParam;
  SvdFigures figures;
  PathCount<SvdPath> paths;
  const Vectors choices[] = {Vectors::none, Vectors::thin, Vectors::full};
  std::size_t turn = 0;
  for (const auto& [m, n] : Shapes{{1, 1},
                                   {2, 2},
                                   {3, 3},
                                   {4, 4},
                                   {3, 2},
                                   {2, 3},
                                   {15, 3},
                                   {3, 15},
                                   {5, 4},
                                   {4, 5},
                                   {7, 7},
                                   {12, 5},
                                   {5, 12},
                                   {18, 1},
                                   {1, 18}}) {
    const Family<T> family = families<T>(m, n, 2);
    const auto sigma = references(family.matrices);
    for (const SvdPath path : every_path<SvdPath>())
      for (const Vectors left : choices)
        for (const Vectors right : choices) {
          const Layout layout = output_layouts[turn++ % std::size(output_layouts)];
          const SvdJob job = SvdJob::of(left, right, layout, path);
          if (!try_svd(family.matrices, job)) continue;
          const SvdResult<T> r = expect_family(family, sigma, job, figures);
          if (path != SvdPath::automatic) {
            EXPECT_EQ(r.plan.path, path);
          }
          paths.see(r.plan.path);
        }
  }
  figures.print(scalar_name<T>());
  paths.print(scalar_name<T>());
  expect_every_path<T>(paths);
}

TYPED_TEST(Svd, MixesLayouts) {
  using T = TypeParam;
  SvdFigures figures;
  Random random(seed());
  for (const auto& [m, n] : Shapes{{3, 3}, {15, 3}, {4, 9}, {10, 10}, {1, 5}}) {
    const Family<T> family = families<T>(m, n, 3);
    const auto sigma = references(family.matrices);
    for (int i = 0; i < 12; ++i) {
      SvdJob job =
          SvdJob::of(i % 3 ? Vectors::thin : Vectors::full, i % 2 ? Vectors::thin : Vectors::full);
      for (Layout* layout : {&job.a, &job.u, &job.s, &job.vt}) do
          *layout = random.one_of(output_layouts);
        while (*layout == Layout::pointers);
      expect_family(family, sigma, job, figures);
    }
  }
}

TYPED_TEST(Svd, KeepsTheLargestValuesWhereSIsShorter) {
  using T = TypeParam;
  SvdFigures figures;
  for (const auto& [m, n] :
       Shapes{{2, 2}, {4, 4}, {15, 3}, {3, 15}, {9, 6}, {6, 9}, {20, 20}, {40, 34}}) {
    const Family<T> family = families<T>(m, n, 4);
    const auto sigma = references(family.matrices);
    const std::int64_t k = std::min(m, n);
    for (const SvdPath path : every_path<SvdPath>())
      for (const std::int64_t rank : {std::int64_t(0), std::int64_t(1), k / 2, k - 1}) {
        for (const Layout layout : {Layout::right, Layout::left, Layout::padded_cols}) {
          if (n > 30 && (layout != Layout::right || rank < k / 2)) continue; // time
          SvdJob job = SvdJob::of(Vectors::thin, Vectors::thin, layout, path);
          job.rank = rank;
          if (!try_svd(family.matrices, job)) continue;
          expect_family(family, sigma, job, figures);
        }
        SvdJob job = SvdJob::of(Vectors::full, Vectors::full, Layout::column_major, path);
        job.rank = rank;
        if (!try_svd(family.matrices, job)) continue;
        // The full bases stay complete though few values are stored.
        const SvdResult<T> r = run_svd(family.matrices, job);
        for (std::int64_t b = 0; b < r.u.batch; ++b) {
          EXPECT_LE(column_orthogonality<T>(r.u, b, m, n), contract_limit)
              << job.describe(r.u.batch, m, n);
          EXPECT_LE(row_orthogonality<T>(r.vt, b, m, n), contract_limit)
              << job.describe(r.u.batch, m, n);
          EXPECT_LE(value_error<T>(r.s, b, sigma[static_cast<std::size_t>(b)], m, n),
                    contract_limit);
        }
      }
  }
  figures.print(scalar_name<T>() + std::string(" truncated"));
}

TYPED_TEST(Svd, ToleranceZeroesSmallValuesAndNothingElse) {
  using T = TypeParam;
  for (const auto& [m, n] : Shapes{{3, 3}, {15, 3}, {3, 8}, {12, 9}, {70, 66}}) {
    const Family<T> family = families<T>(m, n, 5);
    for (const SvdPath path : every_path<SvdPath>())
      for (const double tolerance : {1e-3, 0.3, 0.75}) {
        if (n > 60 && (path != SvdPath::automatic || tolerance != 0.3)) continue; // time
        SvdJob job = SvdJob::of(Vectors::thin, Vectors::thin, Layout::right, path);
        const auto whole = try_svd(family.matrices, job);
        job.options.tolerance = tolerance;
        const auto cut = try_svd(family.matrices, job);
        ASSERT_EQ(whole.has_value(), cut.has_value());
        if (!cut) continue;
        EXPECT_TRUE(whole->u.same(cut->u));
        EXPECT_TRUE(whole->vt.same(cut->vt));
        for (std::int64_t b = 0; b < family.matrices.batch; ++b)
          for (std::int64_t k = 0; k < std::min(m, n); ++k) {
            const long double all = whole->s(b, k, 0), kept = cut->s(b, k, 0);
            const long double limit = static_cast<long double>(tolerance) * whole->s(b, 0, 0);
            const long double slack = 4 * unit_roundoff<Real<T>> * limit + granularity<Real<T>>(1);
            const std::string where = family.names[static_cast<std::size_t>(b)] + " in " +
                                      job.describe(family.matrices.batch, m, n);
            if (all > limit + slack) {
              EXPECT_EQ(kept, all) << where;
            } else if (all < limit - slack) {
              EXPECT_EQ(kept, 0) << where;
            } else {
              EXPECT_TRUE(kept == all || kept == 0) << where;
            }
          }
      }
  }
}

TYPED_TEST(Svd, SignRuleMakesTheLargestEntryOfEachLeftVectorPositive) {
  using T = TypeParam;
  SvdFigures figures;
  for (const auto& [m, n] : Shapes{
           {1, 1}, {2, 2}, {3, 3}, {4, 4}, {15, 3}, {3, 15}, {9, 9}, {20, 6}, {6, 20}, {66, 65}}) {
    const Family<T> family = families<T>(m, n, 6);
    const auto sigma = references(family.matrices);
    for (const SvdPath path : every_path<SvdPath>())
      for (const Vectors right : {Vectors::none, Vectors::thin}) {
        if (n > 60 && (path != SvdPath::automatic || right == Vectors::none)) continue; // time
        SvdJob job = SvdJob::of(Vectors::thin, right, Layout::right, path);
        job.options.fix_signs = true;
        if (!try_svd(family.matrices, job)) continue;
        expect_family(family, sigma, job, figures);
      }
  }
  figures.print(scalar_name<T>() + std::string(" with fixed signs"));
}

TYPED_TEST(Svd, LeavesOutWhatIsUnwanted) {
  using T = TypeParam;
  for (const auto& [m, n] : Shapes{{3, 3}, {15, 3}, {4, 6}, {12, 10}}) {
    const Family<T> family = families<T>(m, n, 7);
    const HostBatch<T>& a = family.matrices;
    const std::int64_t k = std::min(m, n);
    const DeviceBatch<T> da(Layout::right, a);
    DeviceBatch<T> du(Layout::right, a.batch, m, k), dvt(Layout::right, a.batch, k, n);
    DeviceBatch<Real<T>> ds(Layout::right, a.batch, k, 1);
    const Exec exec;
    const auto poison_all = [&] {
      du.fill(poison<T>());
      dvt.fill(poison<T>());
      ds.fill(poison<Real<T>>());
      Kokkos::fence();
    };
    const auto job = [&](Vectors left, Vectors right) {
      return run_svd(a, SvdJob::of(left, right));
    };

    poison_all();
    svd(exec, da.right(), du.right(), ds.vectors(), dvt.right());
    exec.fence();
    const SvdResult<T> both = job(Vectors::thin, Vectors::thin);
    EXPECT_TRUE(du.get().same(both.u) && ds.get().same(both.s) && dvt.get().same(both.vt));

    poison_all();
    svd(exec, da.right(), unwanted, ds.vectors(), dvt.right());
    exec.fence();
    const SvdResult<T> right = job(Vectors::none, Vectors::thin);
    EXPECT_TRUE(ds.get().same(right.s) && dvt.get().same(right.vt));
    EXPECT_TRUE(du.untouched());

    poison_all();
    svd(exec, da.right(), du.right(), ds.vectors(), unwanted);
    exec.fence();
    const SvdResult<T> left = job(Vectors::thin, Vectors::none);
    EXPECT_TRUE(du.get().same(left.u) && ds.get().same(left.s));
    EXPECT_TRUE(dvt.untouched());

    poison_all();
    svd_values(exec, da.right(), ds.vectors());
    exec.fence();
    const SvdResult<T> values = job(Vectors::none, Vectors::none);
    EXPECT_TRUE(ds.get().same(values.s));
    EXPECT_TRUE(du.untouched() && dvt.untouched());

    // Views that are passed without being wanted are not written either.
    poison_all();
    SvdOptions none;
    none.left = none.right = Vectors::none;
    svd(exec, da.right(), du.right(), ds.vectors(), dvt.right(), unwanted, none);
    exec.fence();
    EXPECT_TRUE(ds.get().same(values.s));
    EXPECT_TRUE(du.untouched() && dvt.untouched());
  }
}

TYPED_TEST(Svd, TakesLargeMatrices) {
  using T = TypeParam;
  SvdFigures figures;
  Random random(seed());
  for (const auto& [m, n] : Shapes{{48, 48},
                                   {65, 64},
                                   {100, 96},
                                   {96, 128},
                                   {1024, 32},
                                   {230, 150},
                                   {120, 260},
                                   {3000, 3},
                                   {3, 3000},
                                   {1200, 66}}) {
    HostBatch<T> a = random_batch<T>(random, 3, m, n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 1; j < n; j += 2) a(1, i, j) = a(1, i, j - 1); // half the rank
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        a(2, i, j) =
            static_cast<T>(arithmetic_t<T>(a(2, i, j)) *
                           static_cast<Real<T>>(std::exp2(-(7 * j % 97)))); // columns of all scales
    const SvdJob job = SvdJob::thin();
    const SvdResult<T> r = run_svd(a, job);
    EXPECT_TRUE(r.guards_intact);
    for (std::int64_t b = 0; b < a.batch; ++b) {
      const std::string where = job.describe(a.batch, m, n);
      EXPECT_EQ(r.info[static_cast<std::size_t>(b)], 0) << where;
      EXPECT_TRUE(descending(r.s, b)) << where;
      const long double res = residual(a, r.u, r.s, r.vt, b);
      const long double left = column_orthogonality<T>(r.u, b, m, n);
      const long double right = row_orthogonality<T>(r.vt, b, m, n);
      figures.residual.see(res, where);
      figures.left.see(left, where);
      figures.right.see(right, where);
      EXPECT_LE(res, contract_limit) << where;
      EXPECT_LE(left, contract_limit) << where;
      EXPECT_LE(right, contract_limit) << where;
    }

    // The same bits with a workspace of the caller's, of exactly the size that was asked for.
    const std::int64_t k = std::min(m, n);
    const DeviceBatch<T> da(Layout::right, a);
    DeviceBatch<T> du(Layout::right, a.batch, m, k), dvt(Layout::right, a.batch, k, n);
    DeviceBatch<Real<T>> ds(Layout::right, a.batch, k, 1);
    du.fill(poison<T>());
    dvt.fill(poison<T>());
    ds.fill(poison<Real<T>>());
    const Exec exec;
    const std::size_t bytes =
        svd_workspace_size(exec, da.right(), du.right(), ds.vectors(), dvt.right());
    EXPECT_EQ(bytes, r.plan.workspace_bytes());
    constexpr std::size_t margin = 256;
    Kokkos::View<unsigned char*, Memory> memory("workspace", bytes + 2 * margin);
    Kokkos::deep_copy(memory, static_cast<unsigned char>(0xa7));
    svd(exec, da.right(), du.right(), ds.vectors(), dvt.right(), unwanted, {},
        Workspace{memory.data() + margin, bytes});
    exec.fence();
    EXPECT_TRUE(du.get().same(r.u) && ds.get().same(r.s) && dvt.get().same(r.vt));
    const auto image = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), memory);
    for (std::size_t i = 0; i < margin; ++i) {
      ASSERT_EQ(image(i), 0xa7) << "written before the workspace";
      ASSERT_EQ(image(margin + bytes + i), 0xa7) << "written past the workspace";
    }
  }
  figures.print(scalar_name<T>() + std::string(" beyond scratch"));
}

TYPED_TEST(Svd, RandomCasesMeetTheContract) {
  using T = TypeParam;
  SvdFigures figures;
  PathCount<SvdPath> paths;
  Random random(seed());
  const auto all_paths = every_path<SvdPath>();
  const Vectors choices[] = {Vectors::none, Vectors::thin, Vectors::full};
  const std::int64_t count = draws(250);
  for (std::int64_t draw = 0; draw < count; ++draw) {
    const std::int64_t m = random.integer(1, 20), n = random.integer(1, 20);
    HostBatch<T> a = random_batch<T>(
        random, random.integer(1, random.one_of(std::vector<std::int64_t>{3, 40})), m, n);
    for (T& x : a.values) // some exact zeros, and scales apart
      x = random.integer(0, 9) == 0 ? T(0)
                                    : T(x * static_cast<Real<T>>(std::exp2(random.integer(-9, 9))));
    SvdJob job = SvdJob::of(random.one_of(choices), random.one_of(choices),
                            random.one_of(output_layouts), random.one_of(all_paths));
    job.options.fix_signs = job.options.left != Vectors::none && random.integer(0, 1) == 1;
    if (job.options.left != Vectors::full && job.options.right != Vectors::full &&
        random.integer(0, 3) == 0)
      job.rank = random.integer(0, std::min(m, n));
    const auto r = try_svd(a, job);
    if (!r) continue;
    paths.see(r->plan.path);
    const std::string where = job.describe(a.batch, m, n);
    EXPECT_TRUE(r->guards_intact && r->a_untouched) << where;
    for (std::int64_t b = 0; b < a.batch; ++b)
      expect_contract(a, job, *r, b, reference_values(a, b), "draw " + std::to_string(draw),
                      figures);
    if (this->HasFailure()) FAIL() << "at draw " << draw << " of seed " << seed() << ": " << where;
  }
  figures.print(scalar_name<T>() + std::string(" random"));
  paths.print(scalar_name<T>());
  expect_every_path<T>(paths);
}

// --- what only 16-bit scalars do
// ---------------------------------------------------------------------------

template <class T>
class Svd16 : public ::testing::Test {};
TYPED_TEST_SUITE(Svd16, Scalars16, ScalarNames);

/// S is float: values beyond the range of A's scalar, and far below its smallest number, are right.
TYPED_TEST(Svd16, ValuesMayLeaveTheRangeOfA) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  SvdFigures figures;
  Random random(seed());
  for (const auto& [m, n] : Shapes{{1, 1}, {3, 3}, {15, 3}, {4, 7}, {12, 12}, {50, 45}}) {
    HostBatch<T> a(4, m, n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const auto sign = static_cast<float>(random.integer(0, 1) * 2 - 1);
        a(0, i, j) = T(sign * static_cast<float>(L::max()) / (L::max_exponent > 16 ? 64 : 1));
        a(1, i, j) = T(sign * static_cast<float>(L::denorm_min()));
        a(2, i, j) = T(sign * static_cast<float>(j % 2 ? L::denorm_min() : L::max()) / 64);
        a(3, i, j) = T(static_cast<float>(1 + i + j));
      }
    for (const SvdPath path : every_path<SvdPath>()) {
      const SvdJob job = SvdJob::of(Vectors::thin, Vectors::thin, Layout::right, path);
      const auto r = try_svd(a, job);
      if (!r) continue;
      for (std::int64_t b = 0; b < a.batch; ++b)
        expect_contract(a, job, *r, b, reference_values(a, b), "matrix " + std::to_string(b),
                        figures);
      EXPECT_TRUE(L::max_exponent > 16 || m * n == 1 || r->s(0, 0, 0) > L::max());
    }
  }
  figures.print(scalar_name<T>() + std::string(" at the ends of the range"));
}

/// Nothing is rounded to 16 bits on the way: U and Vt are those that float has, rounded once.
TYPED_TEST(Svd16, VectorsAreThoseOfFloatRoundedOnce) {
  using T = TypeParam;
  Random random(seed());
  for (const auto& [m, n] : Shapes{{3, 3}, {15, 3}, {3, 15}, {9, 5}, {12, 12}, {60, 20}}) {
    const HostBatch<T> a = random_batch<T>(random, 20, m, n);
    HostBatch<float> wide(a.batch, m, n);
    std::copy(a.values.begin(), a.values.end(), wide.values.begin());
    for (const SvdPath path : every_path<SvdPath>())
      for (const Vectors vectors : {Vectors::thin, Vectors::full}) {
        // Not always the same path for both, or not there for T.
        if (path == SvdPath::automatic || path == SvdPath::tall) continue;
        const SvdJob job = SvdJob::of(vectors, vectors, Layout::right, path);
        const auto r = try_svd(a, job);
        const auto expected = try_svd(wide, job);
        ASSERT_EQ(r.has_value(), expected.has_value());
        if (!r) continue;
        const auto compare = [&](const HostBatch<T>& x, const HostBatch<float>& y) {
          for (std::size_t i = 0; i < y.values.size(); ++i) {
            // The compiler may fuse other operations of the two: a little room for that.
            const long double room = unit_roundoff<T> * std::fabs(y.values[i]) +
                                     widen(std::numeric_limits<T>::denorm_min()) / 2 +
                                     300 * unit_roundoff<float>;
            ASSERT_LE(std::fabs(widen(x.values[i]) - y.values[i]), room)
                << job.describe(a.batch, m, n);
          }
        };
        compare(r->u, expected->u);
        compare(r->vt, expected->vt);
      }
  }
}

} // namespace
} // namespace shoal::test
