// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_PANEL_HPP
#define SHOAL_DETAIL_PANEL_HPP

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/fast_divide.hpp>
#include <shoal/detail/unroll.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// Blocks of many matrices side by side in a team's scratch, and their transfer to and from memory
/// in the order of memory.
namespace shoal::detail {

/// Bytes of the widest access to memory.
inline constexpr int panel_unit_bytes = 16;
/// Scalars that such an access moves.
constexpr int panel_unit(int scalar_bytes) { return std::max(1, panel_unit_bytes / scalar_bytes); }

/// Where the entries of a block stand: entry (major, minor) of matrix g at g * matrix + major *
/// pitch + minor. Rows that are made of 16-byte units start at odd multiples of 16 bytes, and so do
/// matrices: neighbouring rows and matrices then share no bank.
struct PanelStrides {
  int pitch;
  int matrix;

  PanelStrides(int minor, int major, int scalar_bytes) {
    const int unit = panel_unit(scalar_bytes);
    const auto odd = [&](int x) { return x % unit == 0 && x / unit % 2 == 0 ? x + unit : x; };
    pitch = odd(minor);
    matrix = odd(pitch * major);
  }
};

/// Elements that a panel takes whichever of its two orders it has.
inline std::size_t panel_elements(int rows, int cols, int matrices, int scalar_bytes) {
  const int unit = panel_unit(scalar_bytes);
  const int elements =
      matrices * std::max({PanelStrides(rows, cols, scalar_bytes).matrix,
                           PanelStrides(cols, rows, scalar_bytes).matrix, rows * cols});
  return static_cast<std::size_t>((elements + unit - 1) / unit * unit);
}

/// A block of a batch: count matrices from `first`, and of each rows x cols entries from (row,
/// col).
struct BlockRange {
  std::int64_t first;
  int count;
  int row, rows;
  int col, cols;
};

/// Scalars that are read or written together.
template <class T, int Width>
struct alignas(Width * sizeof(T)) Aligned {
  T x[Width];
};

/// A rows x cols block of each of several matrices of one batch. Smaller blocks at the edges and
/// fewer matrices at the end of the batch use the front of the same places.
///
/// \tparam Place  what scratch holds of an entry
template <class T, class Place = std::remove_const_t<T>>
class Panel {
public:
  Panel(const BatchRef<T>& batch, int rows, int cols, int matrices) : m_batch(batch) {
    // Of a vector the long side runs fastest.
    m_cols_minor = batch.cols != 1 && (batch.rows == 1 || batch.col_stride <= batch.row_stride);
    const bool shared = matrices == 1 || (!batch.pointers && batch.batch_stride == 0);
    m_matrices = shared ? 1 : matrices;
    const int minor = m_cols_minor ? cols : rows;
    m_major = m_cols_minor ? rows : cols;
    const PanelStrides strides(minor, m_major, static_cast<int>(sizeof(T)));
    m_pitch = strides.pitch;
    m_matrix = strides.matrix;
    m_size = minor * m_major;
    const bool whole = !shared && batch.rows == rows && batch.cols == cols;
    const std::int64_t minor_stride = m_cols_minor ? batch.col_stride : batch.row_stride;
    const std::int64_t major_stride = m_cols_minor ? batch.row_stride : batch.col_stride;
    m_in_units = rows_are_aligned(minor, minor_stride, major_stride);
    m_order = Order::general;
    if (whole && batch.packed() && minor % unit != 0) {
      m_order = Order::linear;
      m_matrix = m_size;
    } else if (whole && batch.packed() && m_in_units) {
      m_order = Order::rows;
    } else if (whole && !batch.pointers && batch.batch_stride == 1 &&
               major_stride == minor_stride * minor) {
      m_order = Order::interleaved;
      m_in_units = matrices % unit == 0 && minor_stride % unit == 0 && is_aligned(batch.data);
      m_entry_stride = minor_stride;
    }
    const int width = m_in_units ? unit : 1;
    m_inner = m_order == Order::interleaved ? matrices / width : minor / width;
    m_row_pad = m_pitch - minor;
    m_matrix_pad = m_matrix - m_major * m_pitch;
    m_by_inner = FastDivide(m_inner);
    m_by_major = FastDivide(m_major);
    m_matrix_stride = shared ? 0 : m_matrix;
    int minor_step = 1, major_step = m_pitch;
    if (m_order == Order::interleaved) {
      m_matrix_stride = 1;
      minor_step = matrices;
      major_step = matrices * minor;
    }
    m_row_stride = m_cols_minor ? major_step : minor_step;
    m_col_stride = m_cols_minor ? minor_step : major_step;
  }

  /// The place of an entry in scratch.
  KOKKOS_FUNCTION int matrix_stride() const { return m_matrix_stride; }
  KOKKOS_FUNCTION int row_stride() const { return m_row_stride; }
  KOKKOS_FUNCTION int col_stride() const { return m_col_stride; }
  /// Whether neighbouring columns, not rows, are neighbours in memory.
  KOKKOS_FUNCTION bool cols_minor() const { return m_cols_minor; }
  /// Whether every row (in the order of memory) starts at a multiple of 16 bytes in scratch.
  bool rows_in_units() const { return m_pitch % unit == 0 && m_matrix_stride % unit == 0; }
  /// Whether matrices, not entries of one, are neighbours in memory and in scratch.
  bool interleaved() const { return m_order == Order::interleaved; }

  /// Starts the copy of a range to scratch.
  template <class Traits, class Member>
  KOKKOS_FUNCTION void load(const Member& member, Place* scratch, BlockRange range) const {
    if (m_matrices == 1) range.count = 1;
    transfer(member, scratch, range,
             [](auto* place, auto* memory) { Traits::copy_async(place, memory); });
  }
  /// memory := scratch for each entry, or update(scratch, memory) where `reads` holds.
  template <class Member, class Update>
  KOKKOS_FUNCTION void store(const Member& member, Place* scratch, const BlockRange& range,
                             bool reads, const Update& update) const {
    transfer(member, scratch, range, [&](auto* place, auto* memory) {
      const auto values = *place;
      std::remove_reference_t<decltype(*memory)> entries;
      const auto for_each = [&](const auto& value_of) {
        SHOAL_UNROLL
        for (int x = 0; x < static_cast<int>(sizeof(entries) / sizeof(T)); ++x)
          reinterpret_cast<T*>(&entries)[x] =
              value_of(reinterpret_cast<const Place*>(&values)[x], x);
      };
      if (reads) {
        const auto old = *memory;
        for_each([&](const Place& value, int x) {
          return update(value, reinterpret_cast<const T*>(&old)[x]);
        });
      } else {
        for_each([](const Place& value, int) { return static_cast<T>(value); });
      }
      *memory = entries;
    });
  }

private:
  /// How a run of matrices lies in memory.
  enum class Order {
    linear,      ///< one contiguous range, and the same in scratch
    rows,        ///< one contiguous range, in scratch with pads after rows and matrices
    interleaved, ///< matrix after matrix for each entry, the entries at one stride; in scratch too
    general,
  };
  static constexpr int unit = panel_unit(sizeof(T));
  using Unit = Aligned<Place, unit>;
  using BareMemoryUnit = Aligned<std::remove_const_t<T>, unit>;
  using MemoryUnit = std::conditional_t<std::is_const_v<T>, const BareMemoryUnit, BareMemoryUnit>;

  BatchRef<T> m_batch;
  Order m_order;
  bool m_cols_minor, m_in_units;
  int m_matrices, m_major, m_pitch, m_matrix, m_size;
  int m_inner; ///< units of a row; interleaved: units of an entry
  int m_row_pad, m_matrix_pad;
  int m_matrix_stride, m_row_stride, m_col_stride;
  std::int64_t m_entry_stride = 0;
  FastDivide m_by_inner, m_by_major;

  /// Whether every row (in the order of memory) of every block is made of aligned 16-byte units.
  bool rows_are_aligned(int minor, std::int64_t minor_stride, std::int64_t major_stride) const {
    const std::int64_t whole_minor = m_cols_minor ? m_batch.cols : m_batch.rows;
    return !m_batch.pointers && minor % unit == 0 && whole_minor % unit == 0 &&
           (minor_stride == 1 || whole_minor == 1) && major_stride % unit == 0 &&
           m_batch.batch_stride % unit == 0 && is_aligned(m_batch.data);
  }
  KOKKOS_FUNCTION static bool is_aligned(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % panel_unit_bytes == 0;
  }

  /// move(place, memory) for single entries and for units of entries that are neighbours in both.
  template <class Member, class Move>
  KOKKOS_FUNCTION void transfer(const Member& member, Place* scratch, const BlockRange& range,
                                const Move& move) const {
    const int rank = member.team_rank(), step = member.team_size();
    if (m_order == Order::linear) {
      T* const run = m_batch.data + range.first * m_size;
      const int elements = range.count * m_size;
      const int units = is_aligned(run) ? elements / unit : 0;
      for (int u = rank; u < units; u += step)
        move(reinterpret_cast<Unit*>(scratch) + u, reinterpret_cast<MemoryUnit*>(run) + u);
      for (int e = units * unit + rank; e < elements; e += step) move(scratch + e, run + e);
    } else if (m_order == Order::rows) {
      const auto run = reinterpret_cast<MemoryUnit*>(m_batch.data + range.first * m_size);
      const int units = range.count * m_major * m_inner;
      for (int u = rank; u < units; u += step) {
        const unsigned line = m_by_inner(u);
        const int place = u * unit + line * m_row_pad + m_by_major(line) * m_matrix_pad;
        move(reinterpret_cast<Unit*>(scratch + place), run + u);
      }
    } else if (m_order == Order::interleaved) {
      T* const run = m_batch.data + range.first;
      if (m_in_units && range.count == m_matrices) {
        for (int u = rank; u < m_size * m_inner; u += step) {
          const int entry = m_by_inner(u);
          move(reinterpret_cast<Unit*>(scratch) + u,
               reinterpret_cast<MemoryUnit*>(run + entry * m_entry_stride) + (u - entry * m_inner));
        }
      } else { // the last run, or rows of matrices that do not start at units
        for (int e = rank; e < m_size * m_matrices; e += step) {
          const int entry = m_in_units ? m_by_inner(e / unit) : m_by_inner(e);
          const int g = e - entry * m_matrices;
          if (g < range.count) move(scratch + e, run + entry * m_entry_stride + g);
        }
      }
    } else {
      general(rank, step, scratch, range, move);
    }
  }

  template <class Move>
  KOKKOS_FUNCTION void general(int rank, int step, Place* scratch, const BlockRange& range,
                               const Move& move) const {
    for (int u = rank; u < m_matrices * m_major * m_inner; u += step) {
      const int line = m_by_inner(u);
      const int minor = (u - line * m_inner) * (m_in_units ? unit : 1);
      const int g = m_by_major(line);
      const int major = line - g * m_major;
      const int i = m_cols_minor ? major : minor, j = m_cols_minor ? minor : major;
      if (g >= range.count || i >= range.rows || j >= range.cols) continue;
      Place* const place = scratch + g * m_matrix + major * m_pitch + minor;
      T* const memory = m_batch.matrix_data(range.first + g) +
                        (std::int64_t(range.row) + i) * m_batch.row_stride +
                        (std::int64_t(range.col) + j) * m_batch.col_stride;
      if (m_in_units) move(reinterpret_cast<Unit*>(place), reinterpret_cast<MemoryUnit*>(memory));
      else move(place, memory);
    }
  }
};

} // namespace shoal::detail

#endif
