// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_LAYOUTS_HPP
#define SHOAL_TESTS_SUPPORT_LAYOUTS_HPP

#include "scalar.hpp"

#include <shoal/batch_view.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <vector>

/// \file
/// Batches on the host, where they are made and checked, and the same batches in the memory of the
/// execution space under test, in every layout that a user may have, with guards around each
/// element that is not theirs.
namespace shoal::test {

/// A batch on the host; (matrix, row, column).
template <class T>
struct HostBatch {
  std::int64_t batch = 0, rows = 0, cols = 0;
  std::vector<T> values;

  HostBatch() = default;
  HostBatch(std::int64_t b, std::int64_t r, std::int64_t c, T fill = T())
      : batch(b), rows(r), cols(c), values(static_cast<std::size_t>(b * r * c), fill) {}

  T& operator()(std::int64_t b, std::int64_t i, std::int64_t j) {
    return values[static_cast<std::size_t>((b * rows + i) * cols + j)];
  }
  const T& operator()(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>((b * rows + i) * cols + j)];
  }

  /// Whether matrix b has the same bits as matrix c of another batch.
  bool same_matrix(std::int64_t b, const HostBatch& other, std::int64_t c) const {
    if (rows != other.rows || cols != other.cols) return false;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j)
        if (!same_bits((*this)(b, i, j), other(c, i, j))) return false;
    return true;
  }
  bool same(const HostBatch& other) const {
    return batch == other.batch && rows == other.rows && cols == other.cols &&
           (values.empty() ||
            std::memcmp(values.data(), other.values.data(), values.size() * sizeof(T)) == 0);
  }
  /// Every entry of matrix b is NaN.
  bool all_nan(std::int64_t b) const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j)
        if (!is_nan((*this)(b, i, j))) return false;
    return true;
  }
  HostBatch transposed() const {
    HostBatch t(batch, cols, rows);
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) t(b, j, i) = (*this)(b, i, j);
    return t;
  }
};

template <class T>
HostBatch<T> random_batch(Random& random, std::int64_t batch, std::int64_t rows,
                          std::int64_t cols) {
  HostBatch<T> x(batch, rows, cols);
  for (T& v : x.values) v = random.normal_scalar<T>();
  return x;
}

/// How a batch lies in memory.
enum class Layout {
  right,        ///< row-major matrices one after another
  left,         ///< interleaved: the matrix index runs fastest
  column_major, ///< column-major matrices one after another
  padded_rows,  ///< row-major, rows and matrices with gaps between
  padded_cols,  ///< column-major, columns and matrices with gaps between
  scattered,    ///< no stride is 1
  part_of_left, ///< every second matrix, and some rows, of an interleaved batch
  pointers,     ///< an array of pointers to padded matrices in reverse order
  repeated,     ///< one matrix for all: batch stride 0
};
inline constexpr Layout output_layouts[] = {
    Layout::right,       Layout::left,      Layout::column_major, Layout::padded_rows,
    Layout::padded_cols, Layout::scattered, Layout::part_of_left, Layout::pointers};

inline const char* to_string(Layout layout) {
  switch (layout) {
  case Layout::right: return "right";
  case Layout::left: return "left";
  case Layout::column_major: return "column_major";
  case Layout::padded_rows: return "padded_rows";
  case Layout::padded_cols: return "padded_cols";
  case Layout::scattered: return "scattered";
  case Layout::part_of_left: return "part_of_left";
  case Layout::pointers: return "pointers";
  case Layout::repeated: return "repeated";
  }
  return "invalid";
}
inline std::ostream& operator<<(std::ostream& out, Layout layout) {
  return out << to_string(layout);
}

template <class X>
void upload(const std::vector<X>& from, const Kokkos::View<X*, Memory>& to) {
  Kokkos::deep_copy(
      to, Kokkos::View<const X*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
              from.data(), from.size()));
}
template <class X>
Kokkos::View<X*, Memory> upload(const std::vector<X>& from) {
  const Kokkos::View<X*, Memory> to("test", from.size());
  upload(from, to);
  return to;
}
template <class X>
std::vector<X> download(const Kokkos::View<X*, Memory>& from) {
  std::vector<X> to(from.size());
  Kokkos::deep_copy(Kokkos::View<X*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        to.data(), to.size()),
                    from);
  return to;
}

/// A batch in the memory of the execution space. Made with guards everywhere; put() writes the
/// matrices, get() reads them, guards_intact() tells whether everything else still holds its guard.
template <class T>
class DeviceBatch {
public:
  DeviceBatch(Layout layout, std::int64_t batch, std::int64_t rows, std::int64_t cols)
      : m_layout(layout), m_batch(batch), m_rows(rows), m_cols(cols) {
    place();
    m_image.assign(static_cast<std::size_t>(m_total), guard<T>());
    m_memory = Kokkos::View<T*, Memory>(Kokkos::view_alloc("test", Kokkos::WithoutInitializing),
                                        static_cast<std::size_t>(m_total));
    if (layout == Layout::pointers) {
      // Views cannot hold pointers: their type means dimensions.
      std::vector<std::uintptr_t> table(static_cast<std::size_t>(batch));
      for (std::int64_t b = 0; b < batch; ++b)
        table[static_cast<std::size_t>(b)] =
            reinterpret_cast<std::uintptr_t>(m_memory.data() + start(b));
      m_table = upload(table);
    }
    upload(m_image, m_memory);
  }
  DeviceBatch(Layout layout, const HostBatch<T>& values)
      : DeviceBatch(layout, values.batch, values.rows, values.cols) {
    put(values);
  }

  Layout layout() const { return m_layout; }

  /// Writes the matrices; of a repeated batch the first one.
  void put(const HostBatch<T>& values) {
    for_each_element([&](std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t at) {
      m_image[static_cast<std::size_t>(at)] = values(b, i, j);
    });
    upload(m_image, m_memory);
  }
  void fill(const T& value) { put(HostBatch<T>(m_batch, m_rows, m_cols, value)); }

  HostBatch<T> get() const {
    const std::vector<T> image = download(m_memory);
    HostBatch<T> values(m_batch, m_rows, m_cols);
    for_each_element([&](std::int64_t b, std::int64_t i, std::int64_t j, std::int64_t at) {
      values(b, i, j) = image[static_cast<std::size_t>(at)];
    });
    return values;
  }

  bool guards_intact() const {
    std::vector<T> image = download(m_memory);
    for_each_element([&](std::int64_t, std::int64_t, std::int64_t, std::int64_t at) {
      image[static_cast<std::size_t>(at)] = guard<T>();
    });
    for (const T& x : image)
      if (!same_bits(x, guard<T>())) return false;
    return true;
  }
  /// Nothing has been written since the last put().
  bool untouched() const {
    const std::vector<T> image = download(m_memory);
    return std::memcmp(image.data(), m_image.data(), image.size() * sizeof(T)) == 0;
  }

  using Right =
      Kokkos::View<T***, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Left =
      Kokkos::View<T***, Kokkos::LayoutLeft, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// Any layout but pointers.
  shoal::StridedBatch<T, Memory> strided() const {
    return shoal::strided_batch<Memory>(data(), m_batch, m_rows, m_cols, m_batch_stride,
                                        m_row_stride, m_col_stride);
  }
  shoal::StridedBatch<const T, Memory> const_strided() const { return strided(); }
  /// For Layout::right.
  Right right() const { return Right(data(), m_batch, m_rows, m_cols); }
  /// For Layout::left.
  Left left() const { return Left(data(), m_batch, m_rows, m_cols); }
  /// For Layout::pointers.
  shoal::PointerBatch<T, Memory> pointers() const {
    return {reinterpret_cast<T* const*>(m_table.data()),
            m_batch,
            m_rows,
            m_cols,
            m_row_stride,
            m_col_stride};
  }
  shoal::PointerBatch<const T, Memory> const_pointers() const {
    return {reinterpret_cast<const T* const*>(m_table.data()),
            m_batch,
            m_rows,
            m_cols,
            m_row_stride,
            m_col_stride};
  }
  /// The first column of each matrix: (matrix, row).
  auto vectors() const {
    return Kokkos::View<T**, Kokkos::LayoutStride, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        data(), Kokkos::LayoutStride(m_batch, m_batch_stride, m_rows, m_row_stride));
  }
  /// The first entry of each matrix: (matrix).
  auto entries() const {
    return Kokkos::View<T*, Kokkos::LayoutStride, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        data(), Kokkos::LayoutStride(m_batch, m_batch_stride));
  }

private:
  static constexpr std::int64_t margin = 64; // elements of guard before and after

  Layout m_layout;
  std::int64_t m_batch, m_rows, m_cols;
  std::int64_t m_offset = margin, m_total = 0;
  std::int64_t m_batch_stride = 0, m_row_stride = 0, m_col_stride = 0;
  std::vector<T> m_image; ///< what put() wrote
  Kokkos::View<T*, Memory> m_memory;
  Kokkos::View<std::uintptr_t*, Memory> m_table;

  T* data() const { return m_memory.data() + m_offset; }
  std::int64_t start(std::int64_t b) const {
    return m_offset + (m_layout == Layout::pointers ? m_batch - 1 - b : b) * m_batch_stride;
  }

  void place() {
    const std::int64_t rows = std::max<std::int64_t>(m_rows, 1),
                       cols = std::max<std::int64_t>(m_cols, 1);
    const std::int64_t batch = std::max<std::int64_t>(m_batch, 1);
    switch (m_layout) {
    case Layout::right: set_strides(rows * cols, cols, 1); break;
    case Layout::left: set_strides(1, batch, batch * rows); break;
    case Layout::column_major:
      set_strides(rows * cols, 1, rows);
      m_offset = margin + 1; // no element is aligned to more than its own size
      break;
    case Layout::padded_rows: set_strides(rows * (cols + 3) + 5, cols + 3, 1); break;
    case Layout::padded_cols:
      set_strides(cols * (rows + 2) + 7, 1, rows + 2);
      m_offset = margin + 3;
      break;
    case Layout::scattered: set_strides(rows * (2 * cols + 1) + 3, 2 * cols + 1, 2); break;
    case Layout::part_of_left: set_strides(2, 2 * batch + 1, (2 * batch + 1) * (rows + 1)); break;
    case Layout::pointers: set_strides(rows * (cols + 1) + 2, cols + 1, 1); break;
    case Layout::repeated: set_strides(0, cols, 1); break;
    }
    m_total = m_offset + (batch - 1) * m_batch_stride + (rows - 1) * m_row_stride +
              (cols - 1) * m_col_stride + 1 + margin;
  }
  void set_strides(std::int64_t batch, std::int64_t row, std::int64_t col) {
    m_batch_stride = batch;
    m_row_stride = row;
    m_col_stride = col;
  }

  template <class F>
  void for_each_element(const F& f) const {
    for (std::int64_t b = m_batch - 1; b >= 0;
         --b) // matrix 0 last: it is the one of a repeated batch
      for (std::int64_t i = 0; i < m_rows; ++i)
        for (std::int64_t j = 0; j < m_cols; ++j)
          f(b, i, j, start(b) + i * m_row_stride + j * m_col_stride);
  }
};

} // namespace shoal::test

#endif
