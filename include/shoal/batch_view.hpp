// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BATCH_VIEW_HPP
#define SHOAL_BATCH_VIEW_HPP

#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/concepts.hpp>

#include <Kokkos_Core.hpp>
#include <cstdint>

/// \file
/// What a batch is. Index order is always (matrix, row, column):
///  - Kokkos::View<T***, LayoutRight>: row-major matrices one after another, NumPy's C order;
///  - Kokkos::View<T***, LayoutLeft>: interleaved, the matrix index runs fastest;
///  - Kokkos::View<T***, LayoutStride>: everything else; \ref strided_batch makes one from a
///  pointer,
///    \ref column_major_batch the layout that cuBLAS calls strided;
///  - \ref PointerBatch: an array of pointers to matrices of one shape;
///  - \ref VariableBatch: an array of pointers to matrices of different shapes;
///  - \ref VariableVectors: the same of vectors of different lengths.
/// No layout is copied or converted.
namespace shoal {

/// A batch given by an array of pointers, one for each matrix.
template <class T, class MemorySpace>
struct PointerBatch {
  using value_type = T;
  using non_const_value_type = std::remove_const_t<T>;
  using memory_space = MemorySpace;

  T* const* pointers = nullptr; ///< `batch` pointers, in memory that the execution space reaches
  std::int64_t batch = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0; ///< in elements
  std::int64_t col_stride = 0;

  std::size_t extent(int r) const {
    return static_cast<std::size_t>(r == 0 ? batch : r == 1 ? rows : cols);
  }
};

/// A batch of matrices of different sizes, for \ref gemm and \ref svd. The arrays have `batch`
/// entries and lie, like the matrices, in memory that the execution space reaches: the host never
/// reads them. No matrix may have more than max_rows rows or max_cols columns. Pointers to matrices
/// without entries are not looked at.
template <class T, class MemorySpace>
struct VariableBatch {
  using value_type = T;
  using non_const_value_type = std::remove_const_t<T>;
  using memory_space = MemorySpace;

  T* const* pointers = nullptr;
  const int* rows = nullptr;
  const int* cols = nullptr;
  const int* row_strides = nullptr; ///< in elements; null: 1 everywhere (column-major)
  const int* col_strides = nullptr; ///< in elements; null: 1 everywhere (row-major)
  std::int64_t batch = 0;
  std::int64_t max_rows = 0;
  std::int64_t max_cols = 0;

  std::size_t extent(int r) const {
    return static_cast<std::size_t>(r == 0 ? batch : r == 1 ? max_rows : max_cols);
  }
};

/// A batch of vectors of different lengths: the values of \ref svd. As \ref VariableBatch; no
/// vector may have more than max_size entries.
template <class T, class MemorySpace>
struct VariableVectors {
  using value_type = T;
  using non_const_value_type = std::remove_const_t<T>;
  using memory_space = MemorySpace;

  T* const* pointers = nullptr;
  const int* sizes = nullptr;
  const int* strides = nullptr; ///< in elements; null: 1 everywhere
  std::int64_t batch = 0;
  std::int64_t max_size = 0;

  std::size_t extent(int r) const { return static_cast<std::size_t>(r == 0 ? batch : max_size); }
};

template <class T, class MemorySpace>
using StridedBatch =
    Kokkos::View<T***, Kokkos::LayoutStride, MemorySpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A batch in memory that the caller owns: element (i, r, c) stands at
/// data[i * batch_stride + r * row_stride + c * col_stride]. A batch stride of 0 repeats one
/// matrix.
template <class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space, class T>
StridedBatch<T, MemorySpace> strided_batch(T* data, std::int64_t batch, std::int64_t rows,
                                           std::int64_t cols, std::int64_t batch_stride,
                                           std::int64_t row_stride, std::int64_t col_stride) {
  return StridedBatch<T, MemorySpace>(
      data, Kokkos::LayoutStride(batch, batch_stride, rows, row_stride, cols, col_stride));
}

/// Column-major matrices with leading dimension ld, batch_stride elements apart: what cuBLAS, MAGMA
/// and LAPACK users have.
template <class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space, class T>
StridedBatch<T, MemorySpace> column_major_batch(T* data, std::int64_t batch, std::int64_t rows,
                                                std::int64_t cols, std::int64_t ld,
                                                std::int64_t batch_stride) {
  return strided_batch<MemorySpace>(data, batch, rows, cols, batch_stride, 1, ld);
}

namespace detail {

template <class T>
inline constexpr bool is_pointer_batch = false;
template <class T, class MemorySpace>
inline constexpr bool is_pointer_batch<PointerBatch<T, MemorySpace>> = true;

template <class T>
inline constexpr bool is_variable_batch = false;
template <class T, class MemorySpace>
inline constexpr bool is_variable_batch<VariableBatch<T, MemorySpace>> = true;

template <class T>
inline constexpr bool is_variable_vectors = false;
template <class T, class MemorySpace>
inline constexpr bool is_variable_vectors<VariableVectors<T, MemorySpace>> = true;

template <class Batch>
inline constexpr bool is_uniform_batch = is_view_of_rank<Batch, 3>() || is_pointer_batch<Batch>;
template <class Batch>
inline constexpr bool is_batch = is_uniform_batch<Batch> || is_variable_batch<Batch>;

template <class T, class MemorySpace>
BatchRef<T> batch_ref(const PointerBatch<T, MemorySpace>& p) {
  return {nullptr, p.pointers, p.batch, p.rows, p.cols, 0, p.row_stride, p.col_stride};
}

template <class T, class MemorySpace>
BatchRef<T> batch_ref(const VariableBatch<T, MemorySpace>& v) {
  return {nullptr,    v.pointers, v.batch,
          v.max_rows, v.max_cols, 0,
          0,          0,          {true, v.rows, v.cols, v.row_strides, v.col_strides}};
}

template <class T, class MemorySpace>
BatchRef<T> batch_ref(const VariableVectors<T, MemorySpace>& v) {
  BatchRef<T> r{nullptr, v.pointers, v.batch, v.max_size, 1, 0, 0, 0, {}};
  r.sizes = {true, v.sizes, nullptr, v.strides, nullptr, true};
  return r;
}

} // namespace detail
} // namespace shoal

#endif
