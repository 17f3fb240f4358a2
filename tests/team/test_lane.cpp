// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/support/families.hpp"
#include "tests/support/settings.hpp"
#include "tests/support/svd_run.hpp"

#include <shoal/batch_view.hpp>
#include <shoal/lane/gemm.hpp>
#include <shoal/lane/matrix.hpp>
#include <shoal/lane/svd.hpp>

#include <gtest/gtest.h>

/// \file
/// The lane primitives inside a user's own kernel: one matrix a thread, in registers.
namespace shoal::test {
namespace {

template <class T>
class Lane : public ::testing::Test {};
TYPED_TEST_SUITE(Lane, Scalars, ScalarNames);

template <class T>
using Batch = shoal::StridedBatch<T, Memory>;
template <class T>
using Value = shoal::detail::lane_value_t<T, 1>;

template <class T>
KOKKOS_FUNCTION Value<T> to_lane(const T& x) {
  Value<T> v;
  shoal::detail::set_slot(v, 0, x);
  return v;
}

// --- gemm
// -----------------------------------------------------------------------------------------------

/// Entries of one matrix of a batch, as lane::gemm reads them.
template <class T>
struct Reader {
  const Batch<const T>& x;
  std::int64_t b;
  KOKKOS_FUNCTION Value<T> get(int i, int j) const { return to_lane<T>(x(b, i, j)); }
};

template <class T, int MaxSize>
struct GemmKernel {
  arithmetic_t<T> alpha, beta;
  Batch<const T> a, b, before;
  Batch<T> c;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    lane::gemm<MaxSize>(static_cast<int>(c.extent(1)), static_cast<int>(c.extent(2)),
                        static_cast<int>(a.extent(2)), to_lane(alpha), Reader<T>{a, i},
                        Reader<T>{b, i}, to_lane(beta), beta != arithmetic_t<T>(0),
                        Reader<T>{before, i}, [&](int row, int col, const Value<T>& v) {
                          c(i, row, col) = static_cast<T>(shoal::detail::get_slot(v, 0));
                        });
  }
};

template <class T, int MaxSize>
void check_gemm(Random& random, Worst& worst) {
  const Exec exec;
  for (std::int64_t m = 1; m <= MaxSize; ++m)
    for (std::int64_t n = 1; n <= MaxSize; ++n)
      for (std::int64_t k = 0; k <= MaxSize; ++k)
        for (const bool reads_c : {false, true}) {
          GemmCase<T> p;
          p.alpha = random.normal_scalar<arithmetic_t<T>>();
          p.beta = reads_c ? random.normal_scalar<arithmetic_t<T>>() : arithmetic_t<T>(0);
          p.a = random_batch<T>(random, 13, m, k);
          p.b = random_batch<T>(random, 13, k, n);
          p.c = reads_c ? random_batch<T>(random, 13, m, n) : HostBatch<T>(13, m, n, poison<T>());
          const DeviceBatch<T> a(Layout::right, p.a), b(Layout::right, p.b),
              before(Layout::left, p.c);
          DeviceBatch<T> c(Layout::padded_rows, 13, m, n);
          c.fill(poison<T>());
          Kokkos::parallel_for("test", Kokkos::RangePolicy<Exec>(exec, 0, 13),
                               GemmKernel<T, MaxSize>{p.alpha, p.beta, a.strided(), b.strided(),
                                                      before.strided(), c.strided()});
          exec.fence();
          const long double error = gemm_error(p, c.get());
          worst.see(error, std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k));
          EXPECT_LE(error, gemm_limit<T>) << m << " " << n << " " << k << " of at most " << MaxSize;
          EXPECT_TRUE(c.guards_intact());
        }
}

TYPED_TEST(Lane, Gemm) {
  Random random(seed());
  Worst worst;
  check_gemm<TypeParam, 1>(random, worst);
  check_gemm<TypeParam, 2>(random, worst);
  check_gemm<TypeParam, 3>(random, worst);
  check_gemm<TypeParam, 4>(random, worst);
  print_figure(scalar_name<TypeParam>() + std::string(": lane::gemm error / bound"), worst);
}

// --- svd
// ------------------------------------------------------------------------------------------------

template <class T, int Rows, int Cols, bool Left>
struct SvdKernel {
  Batch<const T> a;
  Batch<T> u, vt;
  Kokkos::View<Real<T>**, Kokkos::LayoutStride, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> s;
  Kokkos::View<int*, Kokkos::LayoutStride, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> info;
  lane::SvdRequest request;

  KOKKOS_FUNCTION void operator()(int b) const {
    using V = Value<T>;
    lane::RegisterMatrix<V, Rows, Cols> x;
    lane::RegisterMatrix<V, Cols, Cols> l, j;
    for (int i = 0; i < Rows; ++i)
      for (int k = 0; k < Cols; ++k) x.set(i, k, to_lane<T>(a(b, i, k)));
    info(b) = static_cast<int>(lane::svd<Left, Cols>(
        x, l, j, std::integral_constant<int, Rows>(), std::integral_constant<int, Cols>(), request,
        [&](int k, const Real<T>& value) { s(b, k) = value; },
        [&](int i, int k, const V& value) {
          u(b, i, k) = static_cast<T>(shoal::detail::get_slot(value, 0));
        },
        [&](int k, auto column, const V& value) {
          vt(b, k, static_cast<int>(column)) = static_cast<T>(shoal::detail::get_slot(value, 0));
        }));
  }
};

template <class T, int Rows, int Cols, bool Left>
void check_svd(SvdFigures& figures) {
  const Exec exec;
  const Family<T> family = families<T>(Rows, Cols, 41);
  const HostBatch<T>& x = family.matrices;
  SvdJob job = SvdJob::of(Left ? Vectors::thin : Vectors::none, Vectors::thin);
  for (const auto rule : {lane::SignRule::none, lane::SignRule::left, lane::SignRule::right}) {
    if (rule == lane::SignRule::left && !Left) continue;
    job.options.fix_signs = rule == lane::SignRule::left;
    const DeviceBatch<T> a(Layout::right, x);
    DeviceBatch<T> u(Layout::padded_rows, x.batch, Rows, Cols),
        vt(Layout::padded_cols, x.batch, Cols, Cols);
    DeviceBatch<Real<T>> s(Layout::right, x.batch, Cols, 1);
    DeviceBatch<int> info(Layout::right, x.batch, 1, 1);
    u.fill(poison<T>());
    vt.fill(poison<T>());
    s.fill(poison<Real<T>>());
    info.fill(poison<int>());
    lane::SvdRequest request;
    request.signs = rule;
    Kokkos::parallel_for("test", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(x.batch)),
                         SvdKernel<T, Rows, Cols, Left>{a.strided(), u.strided(), vt.strided(),
                                                        s.vectors(), info.entries(), request});
    exec.fence();
    SvdResult<T> r;
    r.take(a, u, s, vt, info);
    EXPECT_TRUE(r.guards_intact);
    if (!Left) {
      EXPECT_TRUE(u.untouched());
    }
    HostBatch<T> rows(x.batch, Cols, Cols); // of Vt in columns, not conjugated
    for (std::int64_t b = 0; b < x.batch; ++b) {
      const std::string name = family.names[static_cast<std::size_t>(b)];
      expect_contract(x, job, r, b, reference_values(x, b), name, figures);
      for (std::int64_t i = 0; i < Cols; ++i)
        for (std::int64_t j = 0; j < Cols; ++j) rows(b, i, j) = r.vt(b, j, i);
      if (rule == lane::SignRule::right)
        figures.expect(signs_fixed(rows, b, Cols), "sign rule of the right broken for " + name);
    }
  }
}

TYPED_TEST(Lane, Svd) {
  using T = TypeParam;
  SvdFigures figures;
  check_svd<T, 1, 1, true>(figures);
  check_svd<T, 2, 2, true>(figures);
  check_svd<T, 2, 2, false>(figures);
  check_svd<T, 3, 3, true>(figures);
  check_svd<T, 3, 3, false>(figures);
  check_svd<T, 4, 4, true>(figures);
  check_svd<T, 5, 2, true>(figures);
  check_svd<T, 7, 3, true>(figures);
  check_svd<T, 7, 3, false>(figures);
  check_svd<T, 3, 1, true>(figures);
  figures.print(scalar_name<T>() + std::string(": lane::svd"));
}

} // namespace
} // namespace shoal::test
