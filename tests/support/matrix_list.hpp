// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_MATRIX_LIST_HPP
#define SHOAL_TESTS_SUPPORT_MATRIX_LIST_HPP

#include "layouts.hpp"

#include <cstdint>
#include <vector>

namespace shoal::test {

/// Matrices of different sizes in one allocation of the execution space, row- or column-major with
/// gaps between rows or columns and between matrices, in an order that is not theirs.
template <class T>
class MatrixList {
public:
  /// Each matrix is a HostBatch of one.
  MatrixList(const std::vector<HostBatch<T>>& matrices, bool row_major) : m_row_major(row_major) {
    std::int64_t at = margin;
    const std::size_t count = matrices.size();
    m_starts.resize(count);
    for (std::size_t q = 0; q < count; ++q) { // every third, then the rest
      const std::size_t b = q < (count + 2) / 3 ? 3 * q : other(q - (count + 2) / 3);
      const HostBatch<T>& x = matrices[b];
      const std::int64_t lead = (row_major ? x.cols : x.rows) + static_cast<std::int64_t>(b % 3);
      m_starts[b] = at;
      at += lead * (row_major ? x.rows : x.cols) + static_cast<std::int64_t>(b % 2);
    }
    for (std::size_t b = 0; b < count; ++b) {
      const HostBatch<T>& x = matrices[b];
      m_rows.push_back(static_cast<int>(x.rows));
      m_cols.push_back(static_cast<int>(x.cols));
      m_leads.push_back(static_cast<int>(row_major ? x.cols : x.rows) + static_cast<int>(b % 3));
      max_rows = std::max(max_rows, x.rows);
      max_cols = std::max(max_cols, x.cols);
    }
    m_image.assign(static_cast<std::size_t>(at + margin), guard<T>());
    each([&](std::size_t b, std::int64_t i, std::int64_t j, T& x) { x = matrices[b](0, i, j); },
         m_image);
    m_memory = upload(m_image);
    std::vector<std::uintptr_t> table;
    for (const std::int64_t start : m_starts)
      table.push_back(reinterpret_cast<std::uintptr_t>(m_memory.data() + start));
    m_table = upload(table);
    m_device_rows = upload(m_rows);
    m_device_cols = upload(m_cols);
    m_device_leads = upload(m_leads);
  }

  std::int64_t max_rows = 0, max_cols = 0;

  shoal::VariableBatch<T, Memory> batch() const { return of<T>(); }
  shoal::VariableBatch<const T, Memory> const_batch() const { return of<const T>(); }

  /// What is there now.
  std::vector<HostBatch<T>> get() const {
    std::vector<T> image = download(m_memory);
    std::vector<HostBatch<T>> matrices;
    for (std::size_t b = 0; b < m_rows.size(); ++b) matrices.emplace_back(1, m_rows[b], m_cols[b]);
    each([&](std::size_t b, std::int64_t i, std::int64_t j, T& x) { matrices[b](0, i, j) = x; },
         image);
    return matrices;
  }
  bool guards_intact() const {
    std::vector<T> image = download(m_memory);
    each([](std::size_t, std::int64_t, std::int64_t, T& x) { x = guard<T>(); }, image);
    for (const T& x : image)
      if (!same_bits(x, guard<T>())) return false;
    return true;
  }
  bool untouched() const {
    const std::vector<T> image = download(m_memory);
    return std::memcmp(image.data(), m_image.data(), image.size() * sizeof(T)) == 0;
  }

private:
  static constexpr std::int64_t margin = 16;
  bool m_row_major;
  std::vector<std::int64_t> m_starts;
  std::vector<int> m_rows, m_cols, m_leads;
  std::vector<T> m_image;
  Kokkos::View<T*, Memory> m_memory;
  Kokkos::View<std::uintptr_t*, Memory> m_table; // views cannot hold pointers
  Kokkos::View<int*, Memory> m_device_rows, m_device_cols, m_device_leads;

  /// The k-th number that is no multiple of 3.
  static std::size_t other(std::size_t k) { return 3 * (k / 2) + 1 + k % 2; }

  template <class U>
  shoal::VariableBatch<U, Memory> of() const {
    shoal::VariableBatch<U, Memory> v;
    v.pointers = reinterpret_cast<U* const*>(m_table.data());
    v.rows = m_device_rows.data();
    v.cols = m_device_cols.data();
    (m_row_major ? v.row_strides : v.col_strides) = m_device_leads.data();
    v.batch = static_cast<std::int64_t>(m_rows.size());
    v.max_rows = max_rows;
    v.max_cols = max_cols;
    return v;
  }
  template <class F>
  void each(const F& f, std::vector<T>& image) const {
    for (std::size_t b = 0; b < m_rows.size(); ++b)
      for (std::int64_t i = 0; i < m_rows[b]; ++i)
        for (std::int64_t j = 0; j < m_cols[b]; ++j)
          f(b, i, j,
            image[static_cast<std::size_t>(
                m_starts[b] + (m_row_major ? i * m_leads[b] + j : j * m_leads[b] + i))]);
  }
};

} // namespace shoal::test

#endif
