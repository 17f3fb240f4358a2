// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_SVD_RUN_HPP
#define SHOAL_TESTS_SUPPORT_SVD_RUN_HPP

#include "layouts.hpp"
#include "residuals.hpp"
#include "scalar.hpp"

#include <shoal/svd.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

/// \file
/// One call of shoal::svd on a batch of the host's: copied to the space under test in the wanted
/// layouts, outputs poisoned, copied back.
namespace shoal::test {

struct SvdJob {
  SvdOptions options;
  std::int64_t rank = -1; ///< values wanted; -1: min(m, n)
  Layout a = Layout::right, u = Layout::right, s = Layout::right, vt = Layout::right;

  static SvdJob of(Vectors left, Vectors right, Layout layout = Layout::right,
                   SvdPath path = SvdPath::automatic) {
    SvdJob job;
    job.options.left = left;
    job.options.right = right;
    job.options.path = path;
    job.a = job.u = job.s = job.vt = layout;
    return job;
  }
  static SvdJob thin(Layout layout = Layout::right) {
    return of(Vectors::thin, Vectors::thin, layout);
  }

  std::string describe(std::int64_t batch, std::int64_t m, std::int64_t n) const {
    std::ostringstream out;
    out << m << " x " << n << ", batch " << batch << ", left " << shoal::to_string(options.left)
        << ", right " << shoal::to_string(options.right) << ", path "
        << shoal::to_string(options.path) << ", layouts " << a << " " << u << " " << s << " " << vt;
    if (rank >= 0) out << ", rank " << rank;
    return out.str();
  }
};

template <class T>
struct SvdResult {
  HostBatch<T> u, vt;
  HostBatch<Real<T>> s;
  std::vector<int> info;
  bool guards_intact = true;
  bool a_untouched = true;
  SvdPlan plan;

  /// What a call has left in memory.
  void take(const DeviceBatch<T>& a, const DeviceBatch<T>& du, const DeviceBatch<Real<T>>& ds,
            const DeviceBatch<T>& dvt, const DeviceBatch<int>& dinfo) {
    u = du.get();
    s = ds.get();
    vt = dvt.get();
    info = dinfo.get().values;
    guards_intact =
        du.guards_intact() && ds.guards_intact() && dvt.guards_intact() && dinfo.guards_intact();
    a_untouched = a.untouched();
  }

  bool same_matrix(std::int64_t b, const SvdResult& other, std::int64_t c) const {
    return u.same_matrix(b, other.u, c) && s.same_matrix(b, other.s, c) &&
           vt.same_matrix(b, other.vt, c) &&
           info[static_cast<std::size_t>(b)] == other.info[static_cast<std::size_t>(c)];
  }
};

/// S lies in the layouts that a rank-2 view can have.
inline Layout layout_of_values(Layout layout) {
  return layout == Layout::pointers ? Layout::padded_rows : layout;
}

/// Throws what shoal::svd throws.
template <class T>
SvdResult<T> run_svd(const HostBatch<T>& a, const SvdJob& job, const Exec& exec = Exec()) {
  const std::int64_t m = a.rows, n = a.cols, k = std::min(m, n);
  const std::int64_t rank = job.rank < 0 ? k : job.rank;
  const auto size = [&](Vectors v, std::int64_t whole) {
    return v == Vectors::none ? 0 : v == Vectors::full ? whole : rank;
  };
  const std::int64_t u_cols = size(job.options.left, m), vt_rows = size(job.options.right, n);
  DeviceBatch<T> da(job.a, a);
  DeviceBatch<T> du(job.u, a.batch, u_cols > 0 || m == 0 ? m : 0, u_cols);
  DeviceBatch<T> dvt(job.vt, a.batch, vt_rows, vt_rows > 0 || n == 0 ? n : 0);
  if (job.options.left != Vectors::none) du = DeviceBatch<T>(job.u, a.batch, m, u_cols);
  if (job.options.right != Vectors::none) dvt = DeviceBatch<T>(job.vt, a.batch, vt_rows, n);
  DeviceBatch<Real<T>> ds(layout_of_values(job.s), a.batch, rank, 1);
  DeviceBatch<int> dinfo(Layout::scattered, a.batch, 1, 1);
  du.fill(poison<T>());
  dvt.fill(poison<T>());
  ds.fill(poison<Real<T>>());
  dinfo.fill(poison<int>());
  Kokkos::fence();

  SvdResult<T> result;
  const auto call = [&](const auto& va, const auto& vu, const auto& vs, const auto& vvt) {
    result.plan = svd_plan(exec, va, vu, vs, vvt, dinfo.entries(), job.options);
    svd(exec, va, vu, vs, vvt, dinfo.entries(), job.options);
  };
  const auto all = [&](Layout layout) {
    return job.a == layout && job.u == layout && job.vt == layout;
  };
  if (all(Layout::right)) call(da.right(), du.right(), ds.vectors(), dvt.right());
  else if (all(Layout::left)) call(da.left(), du.left(), ds.vectors(), dvt.left());
  else if (all(Layout::pointers))
    call(da.const_pointers(), du.pointers(), ds.vectors(), dvt.pointers());
  else call(da.const_strided(), du.strided(), ds.vectors(), dvt.strided());
  exec.fence();

  result.take(da, du, ds, dvt, dinfo);
  return result;
}

/// Whether the path that the job asks for is not available for these matrices.
template <class T>
bool refused(const HostBatch<T>& a, const SvdJob& job) {
  try {
    run_svd(a, job);
  } catch (const shoal::invalid_argument&) {
    return true;
  }
  return false;
}

/// The worst figures of a test, in contract units.
struct SvdFigures {
  Worst residual, left, right, values, relative;
  int misses = 0;

  /// A broken library breaks thousands of cases: the first few are shown, the rest counted.
  void expect(bool holds, const std::string& what) {
    if (holds) return;
    constexpr int shown = 12;
    if (++misses <= shown) ADD_FAILURE() << what;
    if (misses == shown + 1) ADD_FAILURE() << "and more; print() tells how many";
  }

  void print(const std::string& name) const {
    if (misses > 0) std::printf("[ MISSES   ] %s: %d\n", name.c_str(), misses);
    print_figure(name + ": residual / (u max(m, n))", residual);
    print_figure(name + ": orthogonality of U / (u max(m, n))", left);
    print_figure(name + ": orthogonality of Vt / (u max(m, n))", right);
    print_figure(name + ": value error / (u max(m, n) s_0)", values);
  }
  void print_relative(const std::string& name) const {
    print_figure(name + ": relative value error / u", relative);
  }
};

/// Holds matrix b of a result to the contract and adds to the figures. sigma: the right values.
template <class T>
void expect_contract(const HostBatch<T>& a, const SvdJob& job, const SvdResult<T>& r,
                     std::int64_t b, const std::vector<long double>& sigma, const std::string& name,
                     SvdFigures& figures) {
  const std::int64_t m = a.rows, n = a.cols;
  const std::string where = name + " in " + job.describe(a.batch, m, n);
  const bool left = job.options.left != Vectors::none, right = job.options.right != Vectors::none;
  const int info = r.info[static_cast<std::size_t>(b)];
  figures.expect(info == 0, "info is " + std::to_string(info) + " of " + where);
  figures.expect(descending(r.s, b), "values not descending of " + where);
  const auto hold = [&](long double figure, Worst& worst, const char* what) {
    figures.expect(figure <= contract_limit,
                   what + (" is " + std::to_string(figure)) + " of " + where);
    worst.see(figure, where);
  };
  hold(value_error<T>(r.s, b, sigma, m, n), figures.values, "value error");
  if (left) hold(column_orthogonality<T>(r.u, b, m, n), figures.left, "orthogonality of U");
  if (right) hold(row_orthogonality<T>(r.vt, b, m, n), figures.right, "orthogonality of Vt");
  if (left && right) hold(residual(a, r.u, r.s, r.vt, b), figures.residual, "residual");
  if (left && job.options.fix_signs)
    figures.expect(signs_fixed(r.u, b, r.s.rows), "sign rule broken in " + where);
}

} // namespace shoal::test

#endif
