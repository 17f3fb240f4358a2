// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_GEMM_RUN_HPP
#define SHOAL_TESTS_SUPPORT_GEMM_RUN_HPP

#include "reference.hpp"
#include "residuals.hpp"

#include <shoal/gemm.hpp>

#include <gtest/gtest.h>
#include <optional>
#include <sstream>
#include <string>

/// \file
/// Random products, and their way through shoal::gemm in any mix of layouts and on any path.
namespace shoal::test {

inline constexpr Op all_ops[] = {Op::none, Op::transpose, Op::conj_transpose};

struct Shape {
  std::int64_t m, n, k;
};
struct Where {
  Layout a = Layout::right, b = Layout::right, c = Layout::right;
  GemmPath path = GemmPath::automatic;
};

template <class T>
std::string describe(const GemmCase<T>& p, const Where& w) {
  std::ostringstream out;
  out << scalar_name<T>() << " m " << p.c.rows << ", n " << p.c.cols << ", k " << p.k()
      << ", batch " << p.c.batch << ", ops " << to_string(p.op_a) << " " << to_string(p.op_b)
      << ", alpha " << p.alpha << ", beta " << p.beta << ", layouts " << w.a << " " << w.b << " "
      << w.c << ", path " << to_string(w.path);
  return out.str();
}

template <class T>
GemmCase<T> make_case(Random& random, std::int64_t batch, const Shape& s, Op op_a, Op op_b,
                      arithmetic_t<T> alpha, arithmetic_t<T> beta) {
  GemmCase<T> p;
  p.op_a = op_a;
  p.op_b = op_b;
  p.alpha = alpha;
  p.beta = beta;
  p.a = op_a == Op::none ? random_batch<T>(random, batch, s.m, s.k)
                         : random_batch<T>(random, batch, s.k, s.m);
  p.b = op_b == Op::none ? random_batch<T>(random, batch, s.k, s.n)
                         : random_batch<T>(random, batch, s.n, s.k);
  p.c = random_batch<T>(random, batch, s.m, s.n);
  // beta = 0 must not read C.
  if (beta == arithmetic_t<T>(0)) p.c = HostBatch<T>(batch, s.m, s.n, poison<T>());
  return p;
}

/// C after the call; throws what shoal::gemm throws. An epilogue may be given at the end.
template <class T, class... Epilogue>
HostBatch<T> run_gemm(const GemmCase<T>& p, const Where& w, GemmPlan* plan = nullptr,
                      const Epilogue&... epilogue) {
  const DeviceBatch<T> a(w.a, p.a), b(w.b, p.b), c(w.c, p.c);
  GemmOptions options;
  options.op_a = p.op_a;
  options.op_b = p.op_b;
  options.path = w.path;
  const Exec exec;
  Kokkos::fence();
  const auto call = [&](const auto& va, const auto& vb, const auto& vc) {
    const GemmPlan chosen = gemm_plan(exec, p.alpha, va, vb, p.beta, vc, options, epilogue...);
    if (plan) *plan = chosen;
    gemm(exec, p.alpha, va, vb, p.beta, vc, options, epilogue...);
  };
  const auto with_c = [&](const auto& va, const auto& vb) {
    if (w.c == Layout::pointers) call(va, vb, c.pointers());
    else call(va, vb, c.strided());
  };
  const auto with_b = [&](const auto& va) {
    if (w.b == Layout::pointers) with_c(va, b.const_pointers());
    else with_c(va, b.const_strided());
  };
  // The layouts that have a type of their own are also passed as that.
  if (w.a == Layout::right && w.b == Layout::right && w.c == Layout::right)
    call(a.right(), b.right(), c.right());
  else if (w.a == Layout::left && w.b == Layout::left && w.c == Layout::left)
    call(a.left(), b.left(), c.left());
  else if (w.a == Layout::right && w.b == Layout::left && w.c == Layout::column_major)
    call(a.right(), b.left(), c.strided());
  else if (w.a == Layout::pointers) with_b(a.const_pointers());
  else with_b(a.const_strided());
  exec.fence();
  EXPECT_TRUE(c.guards_intact()) << describe(p, w);
  EXPECT_TRUE(a.untouched() && b.untouched()) << describe(p, w);
  return c.get();
}

/// Runs a case and holds it to the bound. A named path may refuse a shape; which one it must take
/// is written in the documentation of GemmPath.
template <class T>
std::optional<GemmPlan> expect_case(const GemmCase<T>& p, const Where& w, Worst& worst) {
  GemmPlan plan;
  HostBatch<T> result;
  try {
    result = run_gemm(p, w, &plan);
  } catch (const shoal::invalid_argument& e) {
    EXPECT_EQ(e.argument(), "options.path") << e.what();
    EXPECT_NE(w.path, GemmPath::automatic) << e.what();
    EXPECT_NE(w.path, GemmPath::team) << e.what();
    return std::nullopt;
  }
  if (w.path != GemmPath::automatic) {
    EXPECT_EQ(plan.path, w.path) << describe(p, w);
  }
  const long double error = gemm_error(p, result);
  worst.see(error, describe(p, w));
  EXPECT_LE(error, gemm_limit<T>) << describe(p, w);
  return plan;
}

template <class T>
arithmetic_t<T> random_factor(Random& random) {
  switch (random.integer(0, 3)) {
  case 0: return 0;
  case 1: return 1;
  case 2: return -1;
  default: return random.normal_scalar<arithmetic_t<T>>();
  }
}

} // namespace shoal::test

#endif
