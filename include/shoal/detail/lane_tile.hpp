// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_LANE_TILE_HPP
#define SHOAL_DETAIL_LANE_TILE_HPP

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/scalar.hpp>
#include <shoal/lane/matrix.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file
/// Scratch that holds one small matrix for each lane of a team, and its transfer to and from a
/// batch. Both types offer the same: bytes(), load(), store(), and matrix(lane) to work on. A
/// backend's traits name the one it uses.
namespace shoal::detail {

/// The strides inside one rows x cols matrix of a tile: those of the batch where its matrices have
/// that shape and are packed column-major, so that a run of them is copied as it lies; row-major
/// otherwise.
struct TileStrides {
  int row;
  int col;
};
template <class T>
KOKKOS_FUNCTION TileStrides tile_strides(const BatchRef<T>& r, int rows, int cols) {
  const bool same_shape = r.rows == rows && r.cols == cols;
  if (same_shape && r.packed() && r.row_stride < r.col_stride) return {1, rows};
  return {cols, 1};
}

/// Elements of a tile that has one element of padding after every `every`; 0: none.
KOKKOS_INLINE_FUNCTION int padded(int index, int every) {
  return every ? index + index / every : index;
}

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
inline std::size_t tile_bytes(std::int64_t elements_per_matrix, int matrices,
                              std::size_t scalar_bytes, int bank_bytes) {
  const auto elements = static_cast<int>(elements_per_matrix) * matrices;
  const int every = bank_bytes / static_cast<int>(scalar_bytes);
  const auto size = static_cast<std::size_t>(padded(elements, every) + 1) * scalar_bytes;
  return (size + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
}

/// For lanes that are threads (GPUs). The matrices of a run lie one after another as in memory,
/// with one element of padding for each row of banks: then both the copy, which walks along the
/// run, and the lanes, which walk through one matrix each, meet no bank twice. Device memory is
/// read and written in full lines of 16-byte accesses.
template <class T, int BankBytes>
class ThreadTile {
public:
  using Value = lane_value_t<std::remove_const_t<T>, 1>;
  using Element = arithmetic_t<T>; ///< of the tile: it is worked on in place
  static constexpr int bank_bytes = BankBytes;

  KOKKOS_FUNCTION ThreadTile(char* scratch, int rows, int cols, TileStrides strides)
      : m_data(reinterpret_cast<Element*>(scratch)), m_rows(rows), m_cols(cols),
        m_strides(strides) {}

  template <class Member, class U>
  KOKKOS_FUNCTION void load(const Member& member, const BatchRef<U>& from, std::int64_t first,
                            int count) const {
    transfer<true>(member, from, first, count, [](Element& tile, const T& x) { tile = x; });
  }
  template <class Member>
  KOKKOS_FUNCTION void store(const Member& member, const BatchRef<T>& to, std::int64_t first,
                             int count) const {
    transfer<false>(member, to, first, count,
                    [](const Element& tile, T& x) { x = static_cast<T>(tile); });
  }

  /// One lane's matrix.
  struct Matrix {
    using Value = ThreadTile::Value;
    Element* data;
    int base;
    TileStrides strides;

    KOKKOS_FUNCTION Element& at(int i, int j) const {
      return data[padded(base + i * strides.row + j * strides.col, every)];
    }
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
  KOKKOS_FUNCTION Matrix matrix(int lane) const {
    return {m_data, lane * m_rows * m_cols, m_strides};
  }

private:
  static constexpr int every = BankBytes / static_cast<int>(sizeof(Element));
  Element* m_data;
  int m_rows, m_cols;
  TileStrides m_strides;

  /// move(tile element, memory element) for every element of the run. The batch may have fewer
  /// columns or rows than the tile: the rest of the tile is left out.
  template <bool Load, class Member, class U, class Move>
  KOKKOS_FUNCTION void transfer(const Member& member, const BatchRef<U>& batch, std::int64_t first,
                                int count, const Move& move) const {
    const int rows = static_cast<int>(batch.rows), cols = static_cast<int>(batch.cols);
    const int size = rows * cols;
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
    U* const run = batch.data + first * size;
    const int elements = count * size;
    const TileStrides there = tile_strides(batch, rows, cols);
    const bool one_vector = rows == 1 || cols == 1;
    const bool same_order =
        rows == m_rows && cols == m_cols &&
        (one_vector || (there.row == m_strides.row && there.col == m_strides.col));
    if (!same_order) {
      const int inner = there.col == 1 ? cols : rows;
      for (int e = rank; e < elements; e += step) {
        const int lane = e / size, inside = e - lane * size;
        const int major = inside / inner, minor = inside - major * inner;
        move(there.col == 1 ? matrix(lane).at(major, minor) : matrix(lane).at(minor, major),
             run[e]);
      }
      return;
    }
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
        for (int x = 0; x < width; ++x) move(m_data[padded(c * width + x, every)], chunk.x[x]);
        if constexpr (!Load) reinterpret_cast<Chunk*>(run)[c] = chunk;
      }
    }
    for (int e = done + rank; e < elements; e += step) move(m_data[padded(e, every)], run[e]);
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
  static constexpr int bank_bytes = 0;

  KOKKOS_FUNCTION PackTile(char* scratch, int rows, int cols, TileStrides strides)
      : m_data(reinterpret_cast<Value*>(scratch)), m_rows(rows), m_cols(cols), m_strides(strides) {}

  /// Slots at and past count are set to zero: lanes without a matrix decompose that.
  template <class Member, class U>
  KOKKOS_FUNCTION void load(const Member&, const BatchRef<U>& from, std::int64_t first,
                            int count) const {
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
  KOKKOS_FUNCTION void store(const Member&, const BatchRef<T>& to, std::int64_t first,
                             int count) const {
    const Matrix tile = matrix(0);
    for (int slot = 0; slot < count; ++slot) {
      T* const x = to.matrix_data(first + slot);
      for (int i = 0; i < to.rows; ++i)
        for (int j = 0; j < to.cols; ++j)
          x[i * to.row_stride + j * to.col_stride] = static_cast<T>(get_slot(tile.at(i, j), slot));
    }
  }

  /// One thread works on all slots, so every lane is this one.
  KOKKOS_FUNCTION Matrix matrix(int) const { return {m_data, m_strides.row, m_strides.col}; }

private:
  Value* m_data;
  int m_rows, m_cols;
  TileStrides m_strides;
};

} // namespace shoal::detail

#endif
