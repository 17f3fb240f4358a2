// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TOOLS_CHECK_HPP
#define SHOAL_TOOLS_CHECK_HPP

#include <shoal/detail/concepts.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace shoal_cli {

/// The worst residual ||A - U S Vt||_F / ||A||_F and orthogonality ||X^H X - I||_F of a batch, in
/// units of u max(m, n): the contract allows 5.
struct Accuracy {
  double residual = 0;
  double orthogonality = 0;

  void merge(const Accuracy& other) {
    residual = std::max(residual, other.residual);
    orthogonality = std::max(orthogonality, other.orthogonality);
  }
  bool within_contract() const { return residual <= 5 && orthogonality <= 5; }
};

/// Of matrix b of host views, in double (long double for double input).
template <class A, class U, class S, class Vt>
Accuracy accuracy_of(const A& a, const U& u, const S& s, const Vt& vt, int b) {
  using T = typename A::non_const_value_type;
  using R = typename shoal::detail::real_of<T>::type;
  using Wide = std::complex<std::conditional_t<std::is_same_v<R, float>, double, long double>>;
  using Number = typename Wide::value_type;
  const auto wide = [](const T& x) {
    if constexpr (shoal::detail::is_complex_scalar<T>) return Wide(x.real(), x.imag());
    else return Wide(x);
  };
  const int m = static_cast<int>(a.extent(1)), n = static_cast<int>(a.extent(2));
  const int k = static_cast<int>(s.extent(1));
  const Number unit = std::numeric_limits<R>::epsilon() / 2 * std::max({m, n, 1});
  Number largest = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) largest = std::max(largest, std::abs(wide(a(b, i, j))));
  const Number scale = largest > 0 ? 1 / largest : 1;
  Number residual = 0, norm = 0, left = 0, right = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      Wide x = -wide(a(b, i, j)) * scale;
      norm += std::norm(x);
      for (int p = 0; p < k; ++p) x += wide(u(b, i, p)) * (s(b, p) * scale) * wide(vt(b, p, j));
      residual += std::norm(x);
    }
  const int left_count = static_cast<int>(u.extent(2)),
            right_count = static_cast<int>(vt.extent(1));
  for (int p = 0; p < left_count; ++p)
    for (int q = 0; q < left_count; ++q) {
      Wide x = p == q ? -1 : 0;
      for (int i = 0; i < m; ++i) x += std::conj(wide(u(b, i, p))) * wide(u(b, i, q));
      left += std::norm(x);
    }
  for (int p = 0; p < right_count; ++p)
    for (int q = 0; q < right_count; ++q) {
      Wide x = p == q ? -1 : 0;
      for (int j = 0; j < n; ++j) x += wide(vt(b, p, j)) * std::conj(wide(vt(b, q, j)));
      right += std::norm(x);
    }
  Accuracy r;
  r.residual = static_cast<double>(std::sqrt(norm > 0 ? residual / norm : residual) / unit);
  r.orthogonality = static_cast<double>(std::sqrt(std::max(left, right)) / unit);
  return r;
}

} // namespace shoal_cli

#endif
