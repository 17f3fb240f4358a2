// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_BATCH_REF_HPP
#define SHOAL_DETAIL_BATCH_REF_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

namespace shoal::detail {

/// One matrix: a pointer, two extents and two strides in elements. Looks enough like a rank-2 View
/// (call operator, extent) that the team primitives take either.
template <class T>
struct MatrixRef {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;

  KOKKOS_FUNCTION T& operator()(std::int64_t i, std::int64_t j) const {
    return data[i * row_stride + j * col_stride];
  }
  KOKKOS_FUNCTION std::int64_t extent(int r) const { return r == 0 ? rows : cols; }
  KOKKOS_FUNCTION MatrixRef transposed() const {
    return {data, cols, rows, col_stride, row_stride};
  }
};

/// Extents and strides of each matrix of a batch whose sizes differ, in memory that kernels reach.
struct MatrixSizes {
  bool differ = false; ///< false: the batch is uniform and nothing here is looked at
  const int* rows = nullptr;
  const int* cols = nullptr;
  const int* row_strides = nullptr; ///< null: all 1
  const int* col_strides = nullptr; ///< null: all 1
  bool vectors = false;             ///< one column each: cols is not looked at
};

/// A batch as every kernel sees it, whatever the view's layout: matrix b starts at pointers[b]
/// where an array of pointers was given, else at data + b * batch_stride. One type per scalar keeps
/// the number of instantiated kernels small; the layout is run-time data.
template <class T>
struct BatchRef {
  T* data = nullptr;
  T* const* pointers = nullptr;
  std::int64_t batch = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t batch_stride = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 0;
  MatrixSizes sizes = {}; ///< where they differ: rows and cols are their maxima then

  KOKKOS_FUNCTION bool sizes_differ() const { return sizes.differ; }
  /// False of a batch that the caller left out.
  KOKKOS_FUNCTION bool present() const { return data || pointers; }
  KOKKOS_FUNCTION T* matrix_data(std::int64_t b) const {
    return pointers ? pointers[b] : data + b * batch_stride;
  }
  KOKKOS_FUNCTION MatrixRef<T> matrix(std::int64_t b) const {
    if (!sizes_differ()) return {matrix_data(b), rows, cols, row_stride, col_stride};
    return {matrix_data(b), sizes.rows[b], sizes.vectors ? 1 : sizes.cols[b],
            sizes.row_strides ? sizes.row_strides[b] : 1,
            sizes.col_strides ? sizes.col_strides[b] : 1};
  }
  /// Matrix b as a batch of its own.
  KOKKOS_FUNCTION BatchRef one(std::int64_t b) const {
    const MatrixRef<T> x = matrix(b);
    return {x.data, nullptr, 1, x.rows, x.cols, 0, x.row_stride, x.col_stride};
  }
  KOKKOS_FUNCTION std::int64_t matrix_size() const { return rows * cols; }
  /// Whether the sizes of one of the matrices keep to the maxima.
  KOKKOS_FUNCTION bool bounds(const MatrixRef<T>& x) const {
    return x.rows >= 0 && x.rows <= rows && x.cols >= 0 && x.cols <= cols;
  }

  /// Whether the matrices fill memory one after another without gaps, each in either order: then a
  /// run of them is one contiguous range.
  KOKKOS_FUNCTION bool packed() const {
    const bool right = (col_stride == 1 || cols == 1) && (row_stride == cols || rows == 1);
    const bool left = (row_stride == 1 || rows == 1) && (col_stride == rows || cols == 1);
    return !pointers && (right || left) && batch_stride == rows * cols;
  }

  /// The same memory read as the transposed matrices.
  KOKKOS_FUNCTION BatchRef transposed() const {
    return {data,
            pointers,
            batch,
            cols,
            rows,
            batch_stride,
            col_stride,
            row_stride,
            {sizes.differ, sizes.cols, sizes.rows, sizes.col_strides, sizes.row_strides}};
  }

  template <class U>
    requires std::is_same_v<U, const T>
  operator BatchRef<U>() const {
    return {data, pointers, batch, rows, cols, batch_stride, row_stride, col_stride, sizes};
  }
};

/// One number of each matrix, or none: null data.
template <class X>
struct EntryRef {
  X* data = nullptr;
  std::int64_t stride = 0;

  KOKKOS_FUNCTION void store(std::int64_t b, const X& x) const {
    if (data) data[b * stride] = x;
  }
};

/// The reference of a rank-3 view (matrix, row, column), a rank-2 view (matrix, entry) as column
/// vectors, or a rank-1 view (matrix) as 1 x 1 matrices.
template <class View>
auto batch_ref(const View& v) {
  BatchRef<typename View::value_type> r;
  r.data = v.data();
  r.batch = static_cast<std::int64_t>(v.extent(0));
  r.batch_stride = static_cast<std::int64_t>(v.stride(0));
  r.rows = r.cols = 1;
  if constexpr (View::rank() >= 2) {
    r.rows = static_cast<std::int64_t>(v.extent(1));
    r.row_stride = static_cast<std::int64_t>(v.stride(1));
  }
  if constexpr (View::rank() >= 3) {
    r.cols = static_cast<std::int64_t>(v.extent(2));
    r.col_stride = static_cast<std::int64_t>(v.stride(2));
  }
  return r;
}

} // namespace shoal::detail

#endif
