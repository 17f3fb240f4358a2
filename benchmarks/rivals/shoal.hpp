// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BENCHMARKS_SHOAL_HPP
#define SHOAL_BENCHMARKS_SHOAL_HPP

#include "benchmarks/operands.hpp"
#include "benchmarks/rivals/rival.hpp"

#include <shoal/shoal.hpp>
#include <shoal/version.hpp>

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

namespace bench {

/// shoal's own name of a scalar.
template <class T>
using ShoalScalar = std::conditional_t<is_complex<T>, Kokkos::complex<Real<T>>, T>;

/// A batch as shoal takes it, from an array in one of the layouts.
template <class T>
auto shoal_batch(T* data, std::int64_t batch, int rows, int cols, Layout layout) {
  using Scalar = std::conditional_t<std::is_const_v<T>, const ShoalScalar<std::remove_const_t<T>>,
                                    ShoalScalar<std::remove_const_t<T>>>;
  const Strides s = strides_of(layout, batch, rows, cols);
  return shoal::strided_batch(reinterpret_cast<Scalar*>(data), batch, rows, cols, s.batch, s.row,
                              s.col);
}

template <class T>
SvdRival<T> shoal_svd(const Exec& exec, Layout layout, const std::string& name) {
  SvdRival<T> rival;
  rival.name = name;
  rival.version = SHOAL_VERSION_STRING;
  rival.tolerance = "promises 5 u max(m, n)";
  rival.layout = layout;
  rival.prepare = [=](const SvdShape& shape, const std::vector<SvdArrays<T>>& sets) {
    return [=](int i) {
      const auto& x = sets[static_cast<std::size_t>(i)];
      const int m = shape.m, n = shape.n, k = m < n ? m : n;
      const auto a = shoal_batch(x.a, shape.batch, m, n, layout);
      const Kokkos::View<Real<T>**, Kokkos::LayoutStride, Exec, Kokkos::MemoryUnmanaged> s(
          x.s, Kokkos::LayoutStride(shape.batch, k, k, 1));
      const Kokkos::View<int*, Exec, Kokkos::MemoryUnmanaged> info(x.info, shape.batch);
      if (shape.vectors)
        shoal::svd(exec, a, shoal_batch(x.u, shape.batch, m, k, layout), s,
                   shoal_batch(x.right, shape.batch, k, n, layout), info);
      else shoal::svd_values(exec, a, s, info);
    };
  };
  return rival;
}

template <class T>
GemmRival<T> shoal_gemm(const Exec& exec, Layout layout, const std::string& name) {
  GemmRival<T> rival;
  rival.name = name;
  rival.version = SHOAL_VERSION_STRING;
  rival.layout = layout;
  rival.prepare = [=](const GemmShape& shape, const std::vector<GemmArrays<T>>& sets) {
    return [=](int i) {
      const auto& x = sets[static_cast<std::size_t>(i)];
      shoal::gemm(exec, ShoalScalar<T>(1), shoal_batch(x.a, shape.batch, shape.m, shape.k, layout),
                  shoal_batch(x.b, shape.batch, shape.k, shape.n, layout), ShoalScalar<T>(0),
                  shoal_batch(x.c, shape.batch, shape.m, shape.n, layout));
    };
  };
  return rival;
}

/// shoal takes any layout: NumPy's, which everything is compared with, its rivals', and
/// interleaved.
template <class T>
void add_shoal(Rivals<T>& rivals, const Exec& exec, bool every_layout) {
  const auto add = [&](Layout layout, const std::string& name) {
    rivals.svd.push_back(shoal_svd<T>(exec, layout, name));
    rivals.gemm.push_back(shoal_gemm<T>(exec, layout, name));
  };
  add(Layout::row_major, "shoal");
  add(Layout::column_major, "shoal, column-major");
  if (every_layout) add(Layout::interleaved, "shoal, interleaved");
}

} // namespace bench

#endif
