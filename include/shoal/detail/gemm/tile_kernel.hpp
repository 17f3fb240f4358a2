// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_GEMM_TILE_KERNEL_HPP
#define SHOAL_DETAIL_GEMM_TILE_KERNEL_HPP

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/gemm/epilogue.hpp>
#include <shoal/detail/gemm/problem.hpp>
#include <shoal/detail/lane_tile.hpp>
#include <shoal/detail/panel.hpp>
#include <shoal/detail/plan_support.hpp>
#include <shoal/detail/unroll.hpp>
#include <shoal/plan.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>

namespace shoal::detail {

/// A block of C of each of several matrices a team, a Tile x Tile part of one block a thread, held
/// in registers. Panels of A and B go through scratch, the next one under way while one is
/// multiplied; C leaves through the same scratch, so that memory sees whole lines whatever the
/// layout.
///
/// Where the rows of A (columns of B) are neighbours in scratch a thread has Tile neighbours of
/// them; where their entries along k are, it has every tile_rows-th (tile_cols-th): in both cases
/// the threads of a warp read different banks.
template <class Exec, class T, int Tile, class Epilogue>
class TileGemmKernel {
public:
  using Traits = backend_traits<Exec>;
  using V = lane_value_t<T, 1>;
  using Product = arithmetic_t<T>; ///< of the panel of C: nothing is rounded before it is C
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  TileGemmKernel(const GemmPlan& plan, const GemmProblem<T>& problem, const Epilogue& epilogue)
      : m_c_ref(problem.c), m_alpha(problem.alpha), m_beta(problem.beta), m_conj_a(problem.conj_a),
        m_conj_b(problem.conj_b),
        m_a(problem.a, plan.block_m, plan.block_k, plan.matrices_per_team),
        m_b(problem.b, plan.block_k, plan.block_n, plan.matrices_per_team),
        m_c(problem.c, plan.block_m, plan.block_n, plan.matrices_per_team),
        m_batch(problem.c.batch), m_m(static_cast<int>(problem.m())),
        m_n(static_cast<int>(problem.n())), m_k(static_cast<int>(problem.k())),
        m_matrices(plan.matrices_per_team), m_block_m(plan.block_m), m_block_n(plan.block_n),
        m_block_k(plan.block_k), m_bytes(plan.scratch_bytes), m_epilogue(epilogue) {
    const auto parts = [](int x, int part) { return static_cast<int>(divide_up(x, part)); };
    const auto elements = [&](int rows, int cols) {
      return static_cast<int>(panel_elements(rows, cols, m_matrices, sizeof(T)));
    };
    const int tile_rows = parts(m_block_m, Tile), tile_cols = parts(m_block_n, Tile);
    m_blocks_n = parts(m_n, m_block_n);
    m_blocks = parts(m_m, m_block_m) * m_blocks_n;
    m_panels = parts(m_k, m_block_k);
    m_b_offset = elements(m_block_m, m_block_k);
    m_buffer = m_b_offset + elements(m_block_k, m_block_n);
    m_stage_c = elements(m_block_m, m_block_n) * sizeof(Product) <= m_bytes;
    m_tiles = tile_rows * tile_cols;
    m_minor_tiles = m_c.cols_minor() ? tile_cols : tile_rows;
    m_strided = m_a.interleaved() || m_b.interleaved();
    m_matrices_minor = m_strided || m_c.interleaved();
    m_by_matrices = FastDivide(m_matrices);
    m_by_tiles = FastDivide(m_tiles);
    m_by_minor_tiles = FastDivide(m_minor_tiles);
    m_rows_along_k = m_a.cols_minor() && !m_strided;
    m_cols_along_k = !m_b.cols_minor() && !m_strided;
    m_row_lead = m_rows_along_k ? 1 : Tile;
    m_row_step = m_rows_along_k ? tile_rows : 1;
    m_col_lead = m_cols_along_k ? 1 : Tile;
    m_col_step = m_cols_along_k ? tile_cols : 1;
    m_in_units = m_a.rows_in_units() && m_b.rows_in_units();
    m_c_rows_in_units = m_c.rows_in_units() && !m_c.interleaved();
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    T* const scratch = reinterpret_cast<T*>(team_scratch<Exec>(member, m_bytes));
    int group = member.league_rank(), row = 0, col = 0;
    if (m_blocks > 1) {
      const int block = group % m_blocks;
      group /= m_blocks;
      row = block / m_blocks_n * m_block_m;
      col = block % m_blocks_n * m_block_n;
    }
    multiply(member, scratch, static_cast<std::int64_t>(group) * m_matrices, row, col);
  }

private:
  BatchRef<T> m_c_ref;
  Coefficient<T> m_alpha, m_beta;
  bool m_conj_a, m_conj_b;
  Panel<const T> m_a, m_b;
  Panel<T, Product> m_c;
  std::int64_t m_batch;
  int m_m, m_n, m_k, m_matrices, m_block_m, m_block_n, m_block_k;
  std::size_t m_bytes;
  int m_blocks, m_blocks_n, m_panels;
  int m_b_offset, m_buffer; ///< elements from the start of a buffer, and of a buffer
  int m_tiles, m_minor_tiles;
  FastDivide m_by_tiles, m_by_minor_tiles, m_by_matrices;
  int m_row_lead, m_row_step, m_col_lead, m_col_step; ///< between threads, and in a thread
  bool m_stage_c, m_rows_along_k, m_cols_along_k, m_in_units, m_c_rows_in_units;
  bool m_strided;        ///< no operand's entries are neighbours for sure
  bool m_matrices_minor; ///< threads side by side work on neighbouring matrices, not tiles
  Epilogue m_epilogue;

  /// What a thread computes: entries (row + r * m_row_step, col + c * m_col_step) of the block of
  /// one matrix.
  struct Item {
    int matrix, row, col;
    bool active;
  };
  KOKKOS_FUNCTION Item item_of(int rank, int count) const {
    int matrix, rest;
    if (m_matrices_minor) {
      rest = m_by_matrices(rank);
      matrix = rank - rest * m_matrices;
    } else {
      matrix = m_by_tiles(rank);
      rest = rank - matrix * m_tiles;
    }
    const int major = m_by_minor_tiles(rest);
    const int minor = rest - major * m_minor_tiles;
    return {matrix, (m_c.cols_minor() ? major : minor) * m_row_lead,
            (m_c.cols_minor() ? minor : major) * m_col_lead, matrix < count && rest < m_tiles};
  }

  KOKKOS_FUNCTION static int least(int a, int b) { return a < b ? a : b; }

  /// The block of C whose first entry is (row, col), of the matrices from `first`.
  KOKKOS_FUNCTION void multiply(const Member& member, T* scratch, std::int64_t first, int row,
                                int col) const {
    const int count = m_batch - first < m_matrices ? static_cast<int>(m_batch - first) : m_matrices;
    const int rows = least(m_block_m, m_m - row), cols = least(m_block_n, m_n - col);
    const Item item = item_of(member.team_rank(), count);

    V sum[Tile][Tile];
    SHOAL_UNROLL
    for (int r = 0; r < Tile; ++r) {
      SHOAL_UNROLL
      for (int c = 0; c < Tile; ++c) sum[r][c] = V(real_t<V>(0));
    }
    // Step s fetches panel s and multiplies panel s - 1.
    SHOAL_DO_NOT_UNROLL
    for (int s = 0; s <= m_panels; ++s) {
      if (s < m_panels) {
        T* const buffer = scratch + s % 2 * m_buffer;
        const int p = s * m_block_k, depth = least(m_block_k, m_k - p);
        m_a.template load<Traits>(member, buffer, {first, count, row, rows, p, depth});
        m_b.template load<Traits>(member, buffer + m_b_offset, {first, count, p, depth, col, cols});
        Traits::commit_copies();
      }
      if (s == 0) continue;
      Traits::wait_for_copies(s < m_panels);
      member.team_barrier();
      if (item.active)
        accumulate(item, scratch + (s - 1) % 2 * m_buffer, rows, cols,
                   least(m_block_k, m_k - (s - 1) * m_block_k), sum);
      member.team_barrier(); // the buffer is filled again, or holds C next
    }
    const std::int64_t matrix = first + (item.active ? item.matrix : 0);
    const V alpha = broadcast<V>(m_alpha.of(matrix)), beta = broadcast<V>(m_beta.of(matrix));
    const bool reads_c = !is_zero(beta);
    // What is stored of entry [r][s] of a thread, whose product with alpha and sum with C this is.
    const auto stored = [&](const Product& value, int r, int s) {
      if constexpr (has_epilogue<Epilogue>) {
        const int i = item.row + r * m_row_step, j = item.col + s * m_col_step;
        if (i < rows && j < cols)
          return finished(m_epilogue, value, matrix, std::int64_t(row + i), std::int64_t(col + j));
      }
      return value;
    };
    // The threads that store a panel do not know whose entries they have: betas of matrices are
    // applied here, and so is a beta that an epilogue comes after.
    if (m_stage_c && !m_beta.differs() && !(has_epilogue<Epilogue> && reads_c)) {
      Product* const products = reinterpret_cast<Product*>(scratch);
      if (item.active)
        keep(item, products, rows, cols,
             [&](int r, int s) { return stored(get_slot(alpha * sum[r][s], 0), r, s); });
      member.team_barrier();
      m_c.store(member, products, {first, count, row, rows, col, cols}, reads_c,
                [&](const Product& product, const T& old) {
                  return static_cast<T>(updated(product, beta, old));
                });
    } else if (item.active) {
      const MatrixRef<T> c = m_c_ref.matrix(matrix);
      each_entry(item, rows, cols, [&](int r, int s, int i, int j) {
        T& entry = c(row + i, col + j);
        const Product product = get_slot(alpha * sum[r][s], 0);
        entry = static_cast<T>(stored(reads_c ? updated(product, beta, entry) : product, r, s));
      });
    }
  }

  /// Writes a thread's part of alpha A B, value(r, s), to the panel of C.
  template <class Value>
  KOKKOS_FUNCTION void keep(const Item& item, Product* scratch, int rows, int cols,
                            const Value& value) const {
    Product* const c = scratch + item.matrix * m_c.matrix_stride() + item.row * m_c.row_stride() +
                       item.col * m_c.col_stride();
    const int row_step = m_row_step * m_c.row_stride(), col_step = m_col_step * m_c.col_stride();
    // Neighbours in both are written together: rows of whole units end between threads.
    constexpr int width = std::gcd(unit, Tile);
    if (width > 1 && m_c_rows_in_units && m_c.cols_minor() && !m_cols_along_k) {
      SHOAL_UNROLL
      for (int r = 0; r < Tile; ++r) {
        SHOAL_UNROLL
        for (int s = 0; s < Tile; s += width) {
          Aligned<Product, width> values;
          SHOAL_UNROLL
          for (int x = 0; x < width; ++x) values.x[x] = value(r, s + x);
          if (item.row + r * m_row_step < rows && item.col + s < cols)
            *reinterpret_cast<Aligned<Product, width>*>(c + r * row_step + s) = values;
        }
      }
      return;
    }
    if (width > 1 && m_c_rows_in_units && !m_c.cols_minor() && !m_rows_along_k) {
      SHOAL_UNROLL
      for (int s = 0; s < Tile; ++s) {
        SHOAL_UNROLL
        for (int r = 0; r < Tile; r += width) {
          Aligned<Product, width> values;
          SHOAL_UNROLL
          for (int x = 0; x < width; ++x) values.x[x] = value(r + x, s);
          if (item.row + r < rows && item.col + s * m_col_step < cols)
            *reinterpret_cast<Aligned<Product, width>*>(c + s * col_step + r) = values;
        }
      }
      return;
    }
    SHOAL_UNROLL
    for (int r = 0; r < Tile; ++r) {
      SHOAL_UNROLL
      for (int s = 0; s < Tile; ++s)
        if (item.row + r * m_row_step < rows && item.col + s * m_col_step < cols)
          c[r * row_step + s * col_step] = value(r, s);
    }
  }

  /// product + beta old
  KOKKOS_FUNCTION static Product updated(const Product& product, const V& beta, const T& old) {
    return get_slot(multiply_add(beta, broadcast<V>(old), broadcast<V>(product)), 0);
  }

  /// f(r, c, i, j) for the entries (i, j) of the block that a thread holds at [r][c].
  template <class F>
  KOKKOS_FUNCTION void each_entry(const Item& item, int rows, int cols, const F& f) const {
    SHOAL_UNROLL
    for (int r = 0; r < Tile; ++r) {
      const int i = item.row + r * m_row_step;
      SHOAL_UNROLL
      for (int c = 0; c < Tile; ++c) {
        const int j = item.col + c * m_col_step;
        if (i < rows && j < cols) f(r, c, i, j);
      }
    }
  }

  static constexpr int unit = panel_unit(sizeof(T));
  /// Terms of the sums that are read at once.
  static constexpr int depth_step = Tile > 4 ? 2 : std::clamp(unit, 2, 4);

  KOKKOS_FUNCTION static V operand(const T& entry, bool conj) {
    const V v = broadcast<V>(entry);
    return is_complex_v<V> && conj ? conjugate(v) : v;
  }

  /// values[u][t] = entry u along k of the t-th row of A (column of B), `step` apart across.
  template <int Depth, bool AlongK, bool InUnits>
  KOKKOS_FUNCTION static void fetch(V (&values)[Depth][Tile], const T* x, int step, bool conj) {
    constexpr int length = AlongK ? Depth : Tile;
    constexpr int width = InUnits ? std::gcd(unit, length) : 1;
    SHOAL_UNROLL
    for (int outer = 0; outer < (AlongK ? Tile : Depth); ++outer) {
      SHOAL_UNROLL
      for (int inner = 0; inner < length; inner += width) {
        const auto read = *reinterpret_cast<const Aligned<T, width>*>(x + outer * step + inner);
        SHOAL_UNROLL
        for (int w = 0; w < width; ++w)
          values[AlongK ? inner + w : outer][AlongK ? outer : inner + w] = operand(read.x[w], conj);
      }
    }
  }

  template <int Depth, bool RowsAlongK, bool ColsAlongK, bool InUnits>
  KOKKOS_FUNCTION void multiply_step(const T* x, int x_step, const T* y, int y_step,
                                     V (&sum)[Tile][Tile]) const {
    V left[Depth][Tile], right[Depth][Tile];
    fetch<Depth, RowsAlongK, InUnits>(left, x, x_step, m_conj_a);
    fetch<Depth, ColsAlongK, InUnits>(right, y, y_step, m_conj_b);
    SHOAL_UNROLL
    for (int u = 0; u < Depth; ++u) {
      SHOAL_UNROLL
      for (int r = 0; r < Tile; ++r) {
        SHOAL_UNROLL
        for (int c = 0; c < Tile; ++c) sum[r][c] = multiply_add(left[u][r], right[u][c], sum[r][c]);
      }
    }
  }

  template <bool RowsAlongK, bool ColsAlongK, bool InUnits>
  KOKKOS_FUNCTION void multiply_panel(const Item& item, const T* buffer, int depth,
                                      V (&sum)[Tile][Tile]) const {
    // Past the edge entries of other rows and columns are read, and the sums not stored.
    const T* x = buffer + item.matrix * m_a.matrix_stride() + item.row * m_a.row_stride();
    const T* y =
        buffer + m_b_offset + item.matrix * m_b.matrix_stride() + item.col * m_b.col_stride();
    const int x_along = RowsAlongK ? 1 : m_a.col_stride();
    const int y_along = ColsAlongK ? 1 : m_b.row_stride();
    const int x_step = RowsAlongK ? m_row_step * m_a.row_stride() : x_along;
    const int y_step = ColsAlongK ? m_col_step * m_b.col_stride() : y_along;
    int p = 0;
    SHOAL_DO_NOT_UNROLL
    for (; p + depth_step <= depth; p += depth_step) {
      multiply_step<depth_step, RowsAlongK, ColsAlongK, InUnits>(x, x_step, y, y_step, sum);
      x += depth_step * x_along;
      y += depth_step * y_along;
    }
    SHOAL_DO_NOT_UNROLL
    for (; p < depth; ++p) {
      multiply_step<1, RowsAlongK, ColsAlongK, false>(x, x_step, y, y_step, sum);
      x += x_along;
      y += y_along;
    }
  }

  /// The same where no entries are neighbours.
  KOKKOS_FUNCTION void multiply_strided(const Item& item, const T* buffer, int rows, int cols,
                                        int depth, V (&sum)[Tile][Tile]) const {
    const T* x = buffer + item.matrix * m_a.matrix_stride();
    const T* y = buffer + m_b_offset + item.matrix * m_b.matrix_stride();
    // A row may be long: past the edge the last one is read again.
    int x_at[Tile], y_at[Tile];
    SHOAL_UNROLL
    for (int t = 0; t < Tile; ++t) {
      x_at[t] = least(item.row + t, rows - 1) * m_a.row_stride();
      y_at[t] = least(item.col + t, cols - 1) * m_b.col_stride();
    }
    SHOAL_DO_NOT_UNROLL
    for (int p = 0; p < depth; ++p) {
      V left[Tile], right[Tile];
      SHOAL_UNROLL
      for (int t = 0; t < Tile; ++t) {
        left[t] = operand(x[x_at[t]], m_conj_a);
        right[t] = operand(y[y_at[t]], m_conj_b);
      }
      SHOAL_UNROLL
      for (int r = 0; r < Tile; ++r) {
        SHOAL_UNROLL
        for (int c = 0; c < Tile; ++c) sum[r][c] = multiply_add(left[r], right[c], sum[r][c]);
      }
      x += m_a.col_stride();
      y += m_b.row_stride();
    }
  }

  KOKKOS_FUNCTION void accumulate(const Item& item, const T* buffer, int rows, int cols, int depth,
                                  V (&sum)[Tile][Tile]) const {
    const auto with = [&](auto rows_along_k, auto cols_along_k) {
      if (m_in_units) multiply_panel<rows_along_k, cols_along_k, true>(item, buffer, depth, sum);
      else multiply_panel<rows_along_k, cols_along_k, false>(item, buffer, depth, sum);
    };
    if (m_strided) multiply_strided(item, buffer, rows, cols, depth, sum);
    else if (m_rows_along_k && m_cols_along_k) with(std::true_type(), std::true_type());
    else if (m_rows_along_k) with(std::true_type(), std::false_type());
    else if (m_cols_along_k) with(std::false_type(), std::true_type());
    else with(std::false_type(), std::false_type());
  }
};

} // namespace shoal::detail

#endif
