// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_LANE_TILE_HPP
#define SHOAL_DETAIL_LANE_TILE_HPP

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/fast_divide.hpp>
#include <shoal/detail/scalar.hpp>
#include <shoal/lane/matrix.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// Scratch that holds one small matrix for each lane of a team, row-major, and its transfer to and
/// from a batch. Both types offer the same: load(), store(), and matrix(lane) to work on. A
/// backend's traits name the one it uses.
namespace shoal::detail {

/// Every tile starts at a multiple of this: the alignment of the widest Pack.
inline constexpr std::size_t scratch_alignment = 64;

/// The level-0 or level-1 scratch that the plan has asked for.
template <class Exec, class Member>
KOKKOS_FUNCTION char* team_scratch(const Member& member, std::size_t bytes) {
  const int level = backend_traits<Exec>::scratch_level;
  return static_cast<char*>(member.team_scratch(level).get_shmem_aligned(
      bytes, static_cast<std::ptrdiff_t>(scratch_alignment)));
}

/// Bytes of a tile, as the kernels carve them from scratch.
///
/// \param odd  matrices start an odd number of elements apart
inline std::size_t tile_bytes(std::int64_t elements_per_matrix, int matrices,
                              std::size_t scalar_bytes, bool odd) {
  const auto each = static_cast<std::size_t>(odd ? elements_per_matrix | 1 : elements_per_matrix);
  const std::size_t size = each * static_cast<std::size_t>(matrices) * scalar_bytes;
  return (size + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
}

/// The order of a packed batch, whose runs of matrices are one contiguous range.
class RunOrder {
public:
  template <class T>
  explicit RunOrder(const BatchRef<T>& batch)
      : m_rows_minor(batch.row_stride < batch.col_stride && batch.rows > 1 && batch.cols > 1),
        m_inner(std::max(1, static_cast<int>(m_rows_minor ? batch.rows : batch.cols))),
        m_size(std::max(1, static_cast<int>(batch.matrix_size()))), m_by_inner(m_inner),
        m_by_size(m_size) {}

  /// f(matrix, row, column) of the e-th element of a run.
  template <class F>
  KOKKOS_FUNCTION auto at(int e, const F& f) const {
    const int matrix = this->matrix(e), inside = e - matrix * m_size;
    const int major = static_cast<int>(m_by_inner(inside)), minor = inside - major * m_inner;
    return m_rows_minor ? f(matrix, minor, major) : f(matrix, major, minor);
  }
  KOKKOS_FUNCTION int matrix(int e) const { return static_cast<int>(m_by_size(e)); }
  /// Whether the elements stand as in a row-major matrix of so many columns.
  KOKKOS_FUNCTION bool row_major(int cols) const { return !m_rows_minor && m_inner == cols; }

private:
  bool m_rows_minor;
  int m_inner, m_size;
  FastDivide m_by_inner, m_by_size;
};

/// For lanes that are threads (GPUs). Matrices start an odd number of elements apart, so that lanes
/// which walk through one matrix each meet no bank twice. Device memory is read and written in full
/// lines of 16-byte accesses.
///
/// \tparam Cols  columns of each matrix
template <class T, int Cols>
class ThreadTile {
public:
  using Value = lane_value_t<std::remove_const_t<T>, 1>;
  using Element = arithmetic_t<T>; ///< of the tile: it is worked on in place
  static constexpr bool odd = true;

  KOKKOS_FUNCTION ThreadTile(char* scratch, int rows, int)
      : m_data(reinterpret_cast<Element*>(scratch)), m_rows(rows) {}

  template <class Member, class U>
  KOKKOS_FUNCTION void load(const Member& member, const BatchRef<U>& from, const RunOrder& order,
                            std::int64_t first, int count) const {
    transfer<true>(member, from, order, first, count, [](Element& tile, const T& x) { tile = x; });
  }
  template <class Member>
  KOKKOS_FUNCTION void store(const Member& member, const BatchRef<T>& to, const RunOrder& order,
                             std::int64_t first, int count) const {
    transfer<false>(member, to, order, first, count,
                    [](const Element& tile, T& x) { x = static_cast<T>(tile); });
  }

  /// One lane's matrix.
  struct Matrix {
    using Value = ThreadTile::Value;
    Element* data;

    KOKKOS_FUNCTION Element& at(int i, int j) const { return data[i * Cols + j]; }
    KOKKOS_FUNCTION Value get(int i, int j) const {
      Value v;
      set_slot(v, 0, at(i, j));
      return v;
    }
    KOKKOS_FUNCTION void set(int i, int j, const Value& v) const { at(i, j) = get_slot(v, 0); }
    KOKKOS_FUNCTION void swap_where(bool mask, int i, int j, int k, int l) const {
      if (!mask) return;
      const Element t = at(i, j);
      at(i, j) = at(k, l);
      at(k, l) = t;
    }
    template <class I>
    KOKKOS_FUNCTION void swap_rows(int k, const I& r, int, int from, int to) const {
      if (r == I(k)) return;
      for (int j = from; j < to; ++j) swap_where(true, k, j, static_cast<int>(r), j);
    }
    template <class I>
    KOKKOS_FUNCTION void scatter(int i, const I& j, const Value& v) const {
      set(i, static_cast<int>(j), v);
    }
  };
  KOKKOS_FUNCTION Matrix matrix(int lane) const { return {m_data + lane * pitch()}; }

private:
  Element* m_data;
  int m_rows;

  KOKKOS_FUNCTION int pitch() const { return m_rows * Cols | 1; }

  /// move(tile element, memory element) for every element of the run. The batch may have fewer
  /// columns or rows than the tile: the rest of the tile is left out.
  template <bool Load, class Member, class U, class Move>
  KOKKOS_FUNCTION void transfer(const Member& member, const BatchRef<U>& batch,
                                const RunOrder& order, std::int64_t first, int count,
                                const Move& move) const {
    const int rows = static_cast<int>(batch.rows), cols = static_cast<int>(batch.cols);
    const int rank = member.team_rank(), step = member.team_size();
    if (!batch.packed()) {
      // Interleaved batches are coalesced this way; others lean on the cache.
      if (rank >= count) return;
      U* const x = batch.matrix_data(first + rank);
      const Matrix tile = matrix(rank);
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j)
          move(tile.at(i, j), x[i * batch.row_stride + j * batch.col_stride]);
      return;
    }
    U* const run = batch.data + first * (rows * cols);
    const int elements = count * rows * cols;
    const auto transfer_run = [&](const auto& place) {
      using Bare = std::remove_const_t<T>;
      struct alignas(16) Chunk {
        Bare x[16 / sizeof(Bare)];
      };
      constexpr int width = 16 / static_cast<int>(sizeof(Bare));
      int done = 0;
      if (reinterpret_cast<std::uintptr_t>(run) % 16 == 0) {
        done = elements / width * width;
        for (int c = rank; c < elements / width; c += step) {
          Chunk chunk;
          if constexpr (Load) chunk = reinterpret_cast<const Chunk*>(run)[c];
          for (int x = 0; x < width; ++x) move(place(c * width + x), chunk.x[x]);
          if constexpr (!Load) reinterpret_cast<Chunk*>(run)[c] = chunk;
        }
      }
      for (int e = done + rank; e < elements; e += step) move(place(e), run[e]);
    };
    if (rows != m_rows || !order.row_major(Cols)) {
      transfer_run([&](int e) -> Element& {
        return m_data[order.at(
            e, [&](int lane, int i, int j) { return lane * pitch() + i * Cols + j; })];
      });
    } else if (rows * cols % 2 == 0) {
      transfer_run([&](int e) -> Element& { return m_data[e + order.matrix(e)]; });
    } else {
      transfer_run([&](int e) -> Element& { return m_data[e]; });
    }
  }
};

/// For lanes that are slots of a vector register of VectorBytes (CPUs): each element of the tile is
/// a Pack of as many matrices' elements. Caches make staging for full lines needless, so a transfer
/// gathers directly.
template <class T, int VectorBytes>
class PackTile {
  static constexpr int Width = VectorBytes / static_cast<int>(sizeof(number_t<T>));

public:
  using Value = lane_value_t<std::remove_const_t<T>, Width>;
  using Matrix = lane::MemoryMatrix<Value>;
  static constexpr bool odd = false;

  KOKKOS_FUNCTION PackTile(char* scratch, int rows, int cols)
      : m_data(reinterpret_cast<Value*>(scratch)), m_rows(rows), m_cols(cols) {}

  /// Slots at and past count are set to zero: lanes without a matrix decompose that.
  template <class Member, class U>
  KOKKOS_FUNCTION void load(const Member&, const BatchRef<U>& from, const RunOrder&,
                            std::int64_t first, int count) const {
    const Matrix tile = matrix(0);
    for (int slot = 0; slot < Width; ++slot) {
      const U* const x = slot < count ? from.matrix_data(first + slot) : nullptr;
      for (int i = 0; i < m_rows; ++i)
        for (int j = 0; j < m_cols; ++j)
          set_slot(tile.at(i, j), slot,
                   x ? x[i * from.row_stride + j * from.col_stride] : std::remove_const_t<U>(0));
    }
  }
  template <class Member>
  KOKKOS_FUNCTION void store(const Member&, const BatchRef<T>& to, const RunOrder&,
                             std::int64_t first, int count) const {
    const Matrix tile = matrix(0);
    for (int slot = 0; slot < count; ++slot) {
      T* const x = to.matrix_data(first + slot);
      for (int i = 0; i < to.rows; ++i)
        for (int j = 0; j < to.cols; ++j)
          x[i * to.row_stride + j * to.col_stride] = static_cast<T>(get_slot(tile.at(i, j), slot));
    }
  }

  /// One thread works on all slots, so every lane is this one.
  KOKKOS_FUNCTION Matrix matrix(int) const { return {m_data, m_cols}; }

private:
  Value* m_data;
  int m_rows, m_cols;
};

} // namespace shoal::detail

#endif
