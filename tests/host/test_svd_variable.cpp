// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/matrix_list.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/residuals.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"

#include <shoal/svd.hpp>

#include <gtest/gtest.h>
#include <vector>

/// \file
/// shoal::svd of matrices whose sizes differ: each as in a call of its own.
namespace shoal::test {
namespace {

template <class T>
class SvdVariable : public ::testing::Test {};
TYPED_TEST_SUITE(SvdVariable, Scalars, ScalarNames);

/// Large matrices are smaller under sanitizers: see case_step.
constexpr std::int64_t shrink = case_step > 1 ? 2 : 1;

template <class T>
using Matrices = std::vector<HostBatch<T>>;

template <class T>
std::int64_t least(const HostBatch<T>& x) {
  return std::min(x.rows, x.cols);
}

/// Everything that one call touches, results poisoned.
template <class T>
struct Call {
  SvdOptions options;
  std::vector<std::int64_t> ranks; ///< values of each
  MatrixList<T> a, u, vt;
  MatrixList<Real<T>> s_list;  ///< values as vectors
  DeviceBatch<Real<T>> s_rows; ///< values as rows of a view
  DeviceBatch<int> info;
  bool rows_of_view;

  /// `most`: values of each matrix, at most.
  Call(const Matrices<T>& matrices, const SvdOptions& o, std::int64_t most, bool as_rows,
       Random& random)
      : options(o), ranks(ranks_of(matrices, most)), a(matrices, random.integer(0, 1)),
        u(left_of(matrices), random.integer(0, 1)), vt(right_of(matrices), random.integer(0, 1)),
        s_list(values_of(), random.integer(0, 1)),
        s_rows(Layout::scattered, std::ssize(matrices), longest(), 1),
        info(Layout::scattered, std::ssize(matrices), 1, 1), rows_of_view(as_rows) {
    s_rows.fill(poison<Real<T>>());
    info.fill(poison<int>());
    Kokkos::fence();
  }

  VariableVectors<Real<T>, Memory> values() const {
    const auto v = s_list.batch();
    return {v.pointers, v.rows, v.row_strides, v.batch, v.max_rows};
  }
  /// f(a, u, s, vt, info), with what is not wanted left out.
  template <class F>
  void with_operands(const F& f) const {
    const auto with_values = [&](const auto& vu, const auto& vvt) {
      if (rows_of_view) f(a.const_batch(), vu, s_rows.vectors(), vvt, info.entries());
      else f(a.const_batch(), vu, values(), vvt, info.entries());
    };
    const bool left = options.left != Vectors::none, right = options.right != Vectors::none;
    if (left && right) with_values(u.batch(), vt.batch());
    else if (left) with_values(u.batch(), unwanted);
    else if (right) with_values(unwanted, vt.batch());
    else with_values(unwanted, unwanted);
  }
  SvdPlan run(const Exec& exec = Exec()) const {
    SvdPlan plan;
    with_operands([&](const auto&... operands) {
      plan = svd_plan(exec, operands..., options);
      svd(exec, operands..., options);
    });
    exec.fence();
    return plan;
  }

  /// The results of each matrix, in the form that a call for it alone gives.
  std::vector<SvdResult<T>> get() const {
    const auto us = u.get(), vts = vt.get();
    const auto values = s_list.get();
    const auto rows = s_rows.get();
    const auto infos = info.get();
    std::vector<SvdResult<T>> all(us.size());
    for (std::size_t b = 0; b < all.size(); ++b) {
      SvdResult<T>& r = all[b];
      r.u = us[b];
      r.vt = vts[b];
      r.s = values[b];
      if (rows_of_view)
        for (std::int64_t k = 0; k < r.s.rows; ++k)
          r.s(0, k, 0) = rows(static_cast<std::int64_t>(b), k, 0);
      r.info = {infos.values[b]};
    }
    return all;
  }
  bool guards_intact() const {
    return u.guards_intact() && vt.guards_intact() && s_list.guards_intact() &&
           s_rows.guards_intact() && info.guards_intact() && a.untouched();
  }
  bool untouched() const {
    return u.untouched() && vt.untouched() && s_list.untouched() && s_rows.untouched() &&
           info.untouched();
  }

private:
  static std::vector<std::int64_t> ranks_of(const Matrices<T>& matrices, std::int64_t most) {
    std::vector<std::int64_t> ranks;
    for (const auto& x : matrices) ranks.push_back(std::min(least(x), most));
    return ranks;
  }
  std::int64_t longest() const {
    return ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end());
  }
  std::int64_t count(Vectors vectors, std::size_t b, std::int64_t whole) const {
    return vectors == Vectors::full ? whole : ranks[b];
  }
  Matrices<T> left_of(const Matrices<T>& matrices) const {
    Matrices<T> all;
    for (std::size_t b = 0; b < matrices.size(); ++b)
      all.emplace_back(1, matrices[b].rows, count(options.left, b, matrices[b].rows), poison<T>());
    return all;
  }
  Matrices<T> right_of(const Matrices<T>& matrices) const {
    Matrices<T> all;
    for (std::size_t b = 0; b < matrices.size(); ++b)
      all.emplace_back(1, count(options.right, b, matrices[b].cols), matrices[b].cols, poison<T>());
    return all;
  }
  Matrices<Real<T>> values_of() const {
    Matrices<Real<T>> all;
    for (const std::int64_t r : ranks) all.emplace_back(1, r, 1, poison<Real<T>>());
    return all;
  }
};

/// What a call for this matrix alone gives on the same path.
template <class T>
SvdResult<T> alone(const HostBatch<T>& x, std::int64_t rank, SvdOptions options, SvdPath path) {
  SvdJob job;
  job.options = options;
  job.options.path = path;
  job.rank = rank;
  return run_svd(x, job);
}

template <class T>
std::string describe(const HostBatch<T>& x, std::size_t b, const SvdOptions& options) {
  return "matrix " + std::to_string(b) + ", " +
         SvdJob::of(options.left, options.right, Layout::right, options.path)
             .describe(1, x.rows, x.cols);
}

/// Matrix b came out as it does alone.
template <class T>
void expect_as_alone(const HostBatch<T>& x, std::size_t b, const Call<T>& call,
                     const SvdResult<T>& r, SvdPath path) {
  const SvdOptions& o = call.options;
  SvdResult<T> expected = alone(x, call.ranks[b], o, path);
  const std::string where = describe(x, b, o);
  EXPECT_EQ(r.info[0], expected.info[0]) << where;
  EXPECT_TRUE(r.s.same_matrix(0, expected.s, 0)) << where;
  if (o.left != Vectors::none) {
    EXPECT_TRUE(r.u.same_matrix(0, expected.u, 0)) << where;
  }
  if (o.right != Vectors::none) {
    EXPECT_TRUE(r.vt.same_matrix(0, expected.vt, 0)) << where;
  }
}

template <class T>
Matrices<T> random_matrices(Random& random, std::int64_t count, std::int64_t most) {
  Matrices<T> all;
  for (std::int64_t b = 0; b < count; ++b)
    all.push_back(random_batch<T>(random, 1, random.integer(0, most), random.integer(0, most)));
  return all;
}

TYPED_TEST(SvdVariable, EveryMatrixWithItsOwnSizes) {
  using T = TypeParam;
  Random random(seed());
  SvdFigures figures;
  const Vectors choices[] = {Vectors::none, Vectors::thin, Vectors::full};
  int turn = 0;
  for (const std::int64_t most : {1, 4, 12, 40})
    for (const Vectors left : choices)
      for (const Vectors right : choices)
        for (const SvdPath path : every_path<SvdPath>()) {
          if (++turn % case_step != 0) continue;
          SvdOptions options;
          options.left = left;
          options.right = right;
          options.path = path;
          options.fix_signs = left != Vectors::none && turn % 3 == 0;
          const auto matrices = random_matrices<T>(random, most == 40 ? 9 : 60, most);
          const Call<T> call(matrices, options, turn % 4 == 3 ? most / 2 : most, turn % 2, random);
          SvdPath taken;
          try {
            taken = call.run().path;
          } catch (const shoal::invalid_argument& e) {
            EXPECT_EQ(e.argument(), "options.path") << e.what();
            EXPECT_FALSE(path == SvdPath::automatic || path == SvdPath::team) << e.what();
            EXPECT_TRUE(call.untouched());
            continue;
          }
          if (path != SvdPath::automatic) {
            EXPECT_EQ(taken, path);
          }
          const auto results = call.get();
          for (std::size_t b = 0; b < matrices.size(); ++b) {
            const HostBatch<T>& x = matrices[b];
            expect_as_alone(x, b, call, results[b], taken);
            if (left == Vectors::none || right == Vectors::none) continue;
            const std::string where = describe(x, b, options);
            const auto hold = [&](long double figure, Worst& worst) {
              EXPECT_LE(figure, contract_limit) << where;
              worst.see(figure, where);
            };
            hold(column_orthogonality<T>(results[b].u, 0, x.rows, x.cols), figures.left);
            hold(row_orthogonality<T>(results[b].vt, 0, x.rows, x.cols), figures.right);
            if (call.ranks[b] == least(x) && least(x) > 0)
              hold(residual(x, results[b].u, results[b].s, results[b].vt, 0), figures.residual);
          }
          ASSERT_TRUE(call.guards_intact()) << to_string(path) << " at most " << most;
          if (this->HasFailure()) return;
        }
  figures.print(scalar_name<T>());
}

/// A few large ones among many small, in an order that would give one team all the large ones; the
/// working set of the largest does not fit in scratch.
TYPED_TEST(SvdVariable, VeryUnequalSizes) {
  using T = TypeParam;
  Random random(seed());
  for (const SvdPath path : {SvdPath::automatic, SvdPath::team}) {
    Matrices<T> matrices;
    for (int b = 0; b < 80; ++b) {
      const std::int64_t m = b == 40 ? 300 / shrink : b % 16 == 0 ? 70 : random.integer(1, 6);
      matrices.push_back(
          random_batch<T>(random, 1, m, b == 40 ? 280 / shrink : random.integer(1, 90)));
    }
    SvdOptions options;
    options.path = path;
    const Call<T> call(matrices, options, 300, false, random);
    const SvdPath taken = call.run().path;
    const auto results = call.get();
    for (const std::size_t b : {0, 1, 15, 16, 39, 40, 41, 79})
      expect_as_alone(matrices[b], b, call, results[b], taken);
    for (std::size_t b = 0; b < matrices.size(); ++b) EXPECT_EQ(results[b].info[0], 0) << b;
    EXPECT_TRUE(call.guards_intact());
  }
}

TYPED_TEST(SvdVariable, NotFiniteEntriesAreReportedThereOnly) {
  using T = TypeParam;
  Random random(seed());
  for (const SvdPath path : {SvdPath::automatic, SvdPath::team}) {
    auto matrices = random_matrices<T>(random, 30, 9);
    matrices[7] = random_batch<T>(random, 1, 3, 8);
    matrices[7](0, 2, 5) = poison<T>();
    SvdOptions options;
    options.path = path;
    const Call<T> call(matrices, options, 9, true, random);
    const SvdPath taken = call.run().path;
    const auto results = call.get();
    EXPECT_EQ(results[7].info[0], svd_not_finite);
    EXPECT_TRUE(results[7].u.all_nan(0) && results[7].s.all_nan(0) && results[7].vt.all_nan(0));
    for (std::size_t b = 0; b < matrices.size(); ++b)
      if (b != 7) expect_as_alone(matrices[b], b, call, results[b], taken);
    EXPECT_TRUE(call.guards_intact());
  }
}

/// One matrix whose sizes are wrong in one way; the arrays are changed behind the operands.
TYPED_TEST(SvdVariable, WrongSizesAreReportedThereOnly) {
  using T = TypeParam;
  Random random(seed());
  constexpr std::size_t bad = 11;
  int turn = 0;
  enum Wrong { a_rows, a_cols, a_negative, s_size, s_negative, u_rows, u_cols, vt_rows, vt_cols };
  for (const SvdPath path : {SvdPath::automatic, SvdPath::team})
    for (const Vectors vectors : {Vectors::thin, Vectors::full})
      for (const Wrong wrong :
           {a_rows, a_cols, a_negative, s_size, s_negative, u_rows, u_cols, vt_rows, vt_cols}) {
        if (++turn % case_step != 0) continue;
        auto matrices = random_matrices<T>(random, 25, 9);
        matrices[bad] = random_batch<T>(random, 1, 5, 4);
        matrices[0] = random_batch<T>(random, 1, 9, 9); // the largest
        SvdOptions options;
        options.left = options.right = vectors;
        options.path = path;
        const Call<T> call(matrices, options, 9, false, random);
        const auto changed = [&](const int* sizes, int size) {
          Kokkos::View<int*, Memory> copy("sizes", 25);
          Kokkos::deep_copy(copy,
                            Kokkos::View<const int*, Memory, Kokkos::MemoryUnmanaged>(sizes, 25));
          Kokkos::deep_copy(Kokkos::subview(copy, bad), size);
          return copy;
        };
        auto a = call.a.const_batch();
        auto u = call.u.batch(), vt = call.vt.batch();
        auto s = call.values();
        const int* const target = wrong == a_rows || wrong == a_negative   ? a.rows
                                  : wrong == a_cols                        ? a.cols
                                  : wrong == s_size || wrong == s_negative ? s.sizes
                                  : wrong == u_rows                        ? u.rows
                                  : wrong == u_cols                        ? u.cols
                                  : wrong == vt_rows                       ? vt.rows
                                                                           : vt.cols;
        const int size = wrong == a_rows || wrong == a_cols           ? 1000000
                         : wrong == a_negative || wrong == s_negative ? -1
                         : wrong == s_size                            ? 5
                                                                      : 3;
        const auto sizes = changed(target, size);
        for (const int** const x :
             {&a.rows, &a.cols, &s.sizes, &u.rows, &u.cols, &vt.rows, &vt.cols})
          if (*x == target) *x = sizes.data();
        const Exec exec;
        Kokkos::fence();
        svd(exec, a, u, s, vt, call.info.entries(), options);
        exec.fence();
        SvdPlan plan = svd_plan(exec, a, u, s, vt, call.info.entries(), options);
        const auto results = call.get();
        EXPECT_EQ(results[bad].info[0], svd_wrong_sizes) << wrong;
        // Those whose own sizes are right are NaN as a whole.
        EXPECT_TRUE(results[bad].s.all_nan(0)) << wrong;
        EXPECT_TRUE(results[bad].u.all_nan(0)) << wrong;
        EXPECT_TRUE(results[bad].vt.all_nan(0)) << wrong;
        for (std::size_t b = 0; b < matrices.size(); ++b)
          if (b != bad) expect_as_alone(matrices[b], b, call, results[b], plan.path);
        if (wrong != s_size) { // it has the length that was asked for
          EXPECT_TRUE(call.guards_intact()) << wrong;
        }
        if (this->HasFailure()) return;
      }
}

TYPED_TEST(SvdVariable, AWorkspaceOfTheSizeThatIsAskedForIsEnough) {
  using T = TypeParam;
  Random random(seed());
  for (const SvdPath path : {SvdPath::automatic, SvdPath::team}) {
    Matrices<T> matrices = random_matrices<T>(random, 40, 20);
    matrices.push_back(random_batch<T>(random, 1, 310 / shrink, 260 / shrink));
    SvdOptions options;
    options.path = path;
    const Call<T> pooled(matrices, options, 310, false, random),
        given(matrices, options, 310, false, random);
    pooled.run();
    const Exec exec;
    given.with_operands([&](const auto&... operands) {
      const std::size_t bytes = svd_workspace_size(exec, operands..., options);
      EXPECT_GT(bytes, 0u);
      constexpr std::size_t margin = 256;
      const std::vector<char> before(bytes + 2 * margin, 'w');
      const auto memory = upload(before);
      try {
        svd(exec, operands..., options, Workspace{memory.data() + margin, bytes - 1});
        ADD_FAILURE() << "a workspace that is too small is accepted";
      } catch (const shoal::invalid_argument& e) {
        EXPECT_EQ(e.argument(), "workspace");
      }
      svd(exec, operands..., options, Workspace{memory.data() + margin, bytes});
      exec.fence();
      const auto after = download(memory);
      EXPECT_TRUE(std::equal(before.begin(), before.begin() + margin, after.begin()));
      EXPECT_TRUE(std::equal(before.end() - margin, before.end(), after.end() - margin));
    });
    const auto expected = pooled.get(), results = given.get();
    for (std::size_t b = 0; b < results.size(); ++b)
      EXPECT_TRUE(results[b].same_matrix(0, expected[b], 0)) << b;
  }
}

TYPED_TEST(SvdVariable, ArgumentsAreChecked) {
  using T = TypeParam;
  Random random(seed());
  const Matrices<T> matrices(3, random_batch<T>(random, 1, 4, 2));
  const Call<T> call(matrices, {}, 4, false, random);
  const auto a = call.a.const_batch();
  const auto u = call.u.batch(), vt = call.vt.batch();
  const auto s = call.values();
  const auto refused = [&](const char* argument, const std::vector<std::string>& parts,
                           const auto& xa, const auto& xu, const auto& xs, const auto& xvt) {
    try {
      svd(Exec(), xa, xu, xs, xvt, call.info.entries());
      ADD_FAILURE() << "not refused: " << argument;
    } catch (const shoal::invalid_argument& e) {
      EXPECT_EQ(e.argument(), argument) << e.what();
      for (const std::string& part : parts)
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  const auto with = [](auto x, const auto& change) {
    change(x);
    return x;
  };
  refused("A", {"rows is null", "3"}, with(a, [](auto& x) { x.rows = nullptr; }), u, s, vt);
  refused("A", {"cols is null", "3"}, with(a, [](auto& x) { x.cols = nullptr; }), u, s, vt);
  refused("A", {"data is null"}, with(a, [](auto& x) { x.pointers = nullptr; }), u, s, vt);
  refused("A", {"extent 2 is -1", "at least 0"}, with(a, [](auto& x) { x.max_cols = -1; }), u,
          with(s, [](auto& x) { x.max_size = -1; }), vt);
  refused("U", {"extent 0 is 2", "expected 3"}, a, with(u, [](auto& x) { x.batch = 2; }), s, vt);
  refused("U", {"rows is null"}, a, with(u, [](auto& x) { x.rows = nullptr; }), s, vt);
  refused("S", {"extent 0 is 4", "expected 3"}, a, u, with(s, [](auto& x) { x.batch = 4; }), vt);
  refused("S", {"extent 1 is 3", "at most 2"}, a, u, with(s, [](auto& x) { x.max_size = 3; }), vt);
  refused("S", {"sizes is null", "3"}, a, u, with(s, [](auto& x) { x.sizes = nullptr; }), vt);
  refused("Vt", {"cols is null"}, a, u, s, with(vt, [](auto& x) { x.cols = nullptr; }));
  EXPECT_TRUE(call.untouched());
}

TYPED_TEST(SvdVariable, NoMatricesAndNoEntries) {
  using T = TypeParam;
  Random random(seed());
  const Call<T> none({}, {}, 0, false, random);
  none.run();
  EXPECT_TRUE(none.untouched());
  for (const Vectors vectors : {Vectors::thin, Vectors::full}) {
    SvdOptions options;
    options.left = options.right = vectors;
    const Matrices<T> matrices{HostBatch<T>(1, 0, 0), HostBatch<T>(1, 0, 4), HostBatch<T>(1, 7, 0)};
    const Call<T> call(matrices, options, 9, true, random);
    const SvdPath taken = call.run().path;
    const auto results = call.get();
    for (std::size_t b = 0; b < matrices.size(); ++b)
      expect_as_alone(matrices[b], b, call, results[b], taken);
    EXPECT_TRUE(call.guards_intact());
  }
}

} // namespace
} // namespace shoal::test
