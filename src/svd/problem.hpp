// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_PROBLEM_HPP
#define SHOAL_SRC_SVD_PROBLEM_HPP

#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/detail/scalar.hpp>
#include <shoal/lane/svd.hpp>
#include <shoal/team/svd.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

/// \file
/// What all kernels of svd read from the arguments of a call.
namespace shoal::detail {

template <class T>
lane::SvdRequest svd_request(const SvdPlan& plan, const SvdArguments<T>& arguments,
                             const SvdOptions& options) {
  return {arguments.vt.present(),     lane::sign_rule(options.fix_signs, plan.transposed),
          options.tolerance,          options.max_sweeps,
          arguments.details.wanted(), arguments.details.off_norm.data != nullptr,
          arguments.details.rank_rows};
}

/// One matrix with its results, m >= n.
template <class T>
struct SvdItem {
  MatrixRef<const T> a;
  MatrixRef<T> u;
  MatrixRef<typename real_of<T>::type> s;
  MatrixRef<T> vt;
  bool left; ///< whether there are left vectors
  lane::SvdRequest request;
  bool fits = true; ///< false: the sizes are wrong, and nothing else of it may be looked at

  KOKKOS_FUNCTION int rows() const { return static_cast<int>(a.rows); }
  KOKKOS_FUNCTION int cols() const { return static_cast<int>(a.cols); }
};

/// The decompositions of a call, for kernels that take matrices of any size: one by one, so that
/// sizes may differ.
template <class T>
class SvdBatch {
public:
  using Real = typename real_of<T>::type;

  SvdBatch(const SvdPlan& plan, const SvdArguments<T>& arguments, const SvdOptions& options)
      : m_args(arguments), m_request(svd_request(plan, arguments, options)),
        m_fix_signs(options.fix_signs), m_full_left(options.left == Vectors::full),
        m_full_right(options.right == Vectors::full) {}

  KOKKOS_FUNCTION std::int64_t size() const { return m_args.a.batch; }

  KOKKOS_FUNCTION SvdItem<T> item(std::int64_t b) const {
    SvdItem<T> x{m_args.a.matrix(b),  m_args.u.matrix(b), m_args.s.matrix(b),
                 m_args.vt.matrix(b), m_args.u.present(), m_request};
    if (!m_args.a.sizes_differ()) return x; // the caller has checked and transposed it
    const std::int64_t m = x.a.rows, n = x.a.cols, k = m < n ? m : n;
    // Values in a view have room for the longest.
    if (!m_args.s.sizes_differ() && x.s.rows > k) x.s.rows = k;
    x.fits = m_args.a.bounds(x.a) && m_args.s.bounds(x.s) && x.s.rows <= k &&
             fits(m_args.u, x.u, m, m_full_left ? m : x.s.rows) &&
             fits(m_args.vt, x.vt, m_full_right ? n : x.s.rows, n);
    if (m >= n) return x;
    // A^T = (Vt)^T diag(S) U^T.
    lane::SvdRequest request = m_request;
    request.right_vectors = m_args.u.present();
    request.signs = lane::sign_rule(m_fix_signs, true);
    return {x.a.transposed(),    x.vt.transposed(), x.s,   x.u.transposed(),
            m_args.vt.present(), request,           x.fits};
  }

  /// What a matrix of wrong sizes gets: NaN wherever the sizes of a result can be trusted.
  template <class Crew>
  KOKKOS_FUNCTION void fill_with_nan(const Crew& crew, std::int64_t b) const {
    fill(crew, m_args.u, b);
    fill(crew, m_args.s, b);
    fill(crew, m_args.vt, b);
    crew.once([&] { store_details(b, 0, not_a_number<Real>(), 0); });
  }

  /// By one thread.
  KOKKOS_FUNCTION void store_info(std::int64_t b, int info) const {
    if (m_args.info.data) *m_args.info.matrix_data(b) = info;
  }
  KOKKOS_FUNCTION void store_details(std::int64_t b, int sweeps, const Real& off_norm,
                                     int rank) const {
    m_args.details.store(b, sweeps, off_norm, rank);
  }

private:
  SvdArguments<T> m_args;
  lane::SvdRequest m_request;
  bool m_fix_signs, m_full_left, m_full_right;

  KOKKOS_FUNCTION static bool fits(const BatchRef<T>& batch, const MatrixRef<T>& x,
                                   std::int64_t rows, std::int64_t cols) {
    return !batch.present() || (batch.bounds(x) && x.rows == rows && x.cols == cols);
  }
  template <class Crew, class X>
  KOKKOS_FUNCTION static void fill(const Crew& crew, const BatchRef<X>& batch, std::int64_t b) {
    const MatrixRef<X> x = batch.matrix(b);
    if (!batch.present() || !batch.bounds(x)) return;
    crew.for_all(0, static_cast<int>(x.rows), [&](int i) {
      for (std::int64_t j = 0; j < x.cols; ++j) x(i, j) = not_a_number<X>();
    });
  }
};

} // namespace shoal::detail

#endif
