// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_BLAS_FORM_HPP
#define SHOAL_DETAIL_BLAS_FORM_HPP

#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/concepts.hpp>
#include <shoal/types.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

/// \file
/// Products in BLAS's words: column-major matrices with a leading dimension, transposed or not.
namespace shoal::detail {

/// A matrix as an operand of BLAS.
struct BlasMatrix {
  Op op = Op::none;
  std::int64_t ld = 0; ///< 0: BLAS cannot be told of it
};

template <class T>
BlasMatrix blas_matrix(const BatchRef<T>& x, bool conj) {
  // Of a single column (row) the stride between columns (rows) says nothing.
  const auto ld = [](std::int64_t count, std::int64_t stride, std::int64_t length) {
    const std::int64_t least = std::max<std::int64_t>(1, length);
    return count <= 1 ? least : stride >= least ? stride : 0;
  };
  BlasMatrix form;
  const bool can_conjugate = is_complex_scalar<std::remove_const_t<T>>;
  if ((x.row_stride == 1 || x.rows <= 1) && !(conj && can_conjugate))
    form = {Op::none, ld(x.cols, x.col_stride, x.rows)};
  if (form.ld == 0 && (x.col_stride == 1 || x.cols <= 1))
    form = {conj ? Op::conj_transpose : Op::transpose, ld(x.rows, x.row_stride, x.cols)};
  if (form.ld > std::numeric_limits<int>::max()) form.ld = 0;
  return form;
}

/// C := alpha op(A) op(B) + beta C, or the same of the transposes where C is row-major.
struct BlasForm {
  bool transposed = false;
  BlasMatrix a, b, c;
  bool possible() const { return a.ld > 0 && b.ld > 0 && c.ld > 0; }
};

/// \param a, b  m x k and k x n: transposed already, and only the conjugation left
template <class T>
BlasForm blas_form(const BatchRef<const T>& a, bool conj_a, const BatchRef<const T>& b, bool conj_b,
                   const BatchRef<T>& c) {
  const BlasMatrix columns = blas_matrix(c, false);
  if (columns.op == Op::none)
    return {false, blas_matrix(a, conj_a), blas_matrix(b, conj_b), columns};
  return {true, blas_matrix(b.transposed(), conj_b), blas_matrix(a.transposed(), conj_a),
          blas_matrix(c.transposed(), false)};
}

} // namespace shoal::detail

#endif
