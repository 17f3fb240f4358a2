// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_GEMM_VECTOR_KERNEL_HPP
#define SHOAL_DETAIL_GEMM_VECTOR_KERNEL_HPP

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
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace shoal::detail {

/// One product a thread at a time, many a team, for CPUs: tiles of C in vector registers, whose
/// slots are neighbours in a row of C. A step along k reads the vectors of a row of B and
/// multiplies them by entries of A, which may lie anywhere.
///
/// C is taken as the transpose of itself where that makes its rows the contiguous direction. A row
/// of C that is contiguous in neither is computed in a local buffer; rows of B that are not
/// contiguous (or that the plan wants close together) are staged in scratch, a strip of C's columns
/// at a time.
///
/// The columns are cut into vectors; the last one overlaps the one before where they do not come
/// out even, so that nothing outside a matrix is touched and every entry is computed by the same
/// operations. Vectors shrink to halves, quarters, ... for matrices with fewer columns. A strip is
/// one to three vectors wide, and no strip of several is without a partner for its overlap.
///
/// A complex A counts as two rows of real numbers, and B as a row of twice as many: real and
/// imaginary parts of the products are summed as four real sums, and put together in the end. They
/// do not depend on which operand is called A.
///
/// 16-bit scalars are converted on the way in and out: scratch holds the part of A, B and C that is
/// at hand, of as many matrices as fit, as the real numbers that all of the above is about.
template <class Exec, class T, class Epilogue>
class VectorGemmKernel {
public:
  using R = number_t<T>;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  /// \param first  the number of the first matrix, for the epilogue
  VectorGemmKernel(const GemmPlan& plan, GemmProblem<T> problem, const Epilogue& epilogue,
                   std::int64_t first = 0)
      : m_bytes(plan.scratch_bytes), m_per_team(plan.matrices_per_team), m_block_k(plan.block_k),
        m_epilogue(epilogue), m_first(first) {
    const auto parts = [](std::int64_t x, int part) {
      return static_cast<int>(divide_up(x, part));
    };
    m_row_blocks = parts(problem.m(), plan.block_m);
    m_col_blocks = parts(problem.n(), plan.block_n);
    const BatchRef<T>& c = problem.c;
    m_transposed = c.row_stride == 1 && (c.col_stride != 1 || c.cols < c.rows);
    if (m_transposed) {
      problem = problem.transposed();
      std::swap(m_row_blocks, m_col_blocks);
    }
    m_a = problem.a;
    m_b = problem.b;
    m_c = problem.c;
    m_rows = static_cast<int>(m_c.rows);
    m_cols = static_cast<int>(m_c.cols);
    m_depth = static_cast<int>(m_a.cols);
    m_reads_c = problem.beta.value != arithmetic_t<T>(0);
    m_direct_c = m_c.col_stride == 1 || m_cols == 1;
    m_direct_b = (m_b.col_stride == 1 || m_cols == 1) && !plan.stages_b;
    m_width = width;
    while (m_width > m_cols) m_width /= 2;
    m_vectors = parts(m_cols, m_width);
    m_strips = parts(m_vectors, most_vectors);
    if constexpr (is_converted<T>) {
      m_direct_b = m_direct_c = true; // in scratch they are
      const std::int64_t numbers =
          problem.m() * problem.k() + problem.k() * problem.n() + problem.m() * problem.n();
      m_whole = m_row_blocks * m_col_blocks == 1 && m_strips == 1 && m_depth <= m_block_k;
      m_at_once = m_whole ? static_cast<int>(m_bytes / sizeof(R)) / static_cast<int>(numbers) : 1;
    }
    m_alpha = Factor(problem.alpha.value);
    m_beta = Factor(problem.beta.value);
    const R sign_a = problem.conj_a ? R(-1) : R(1), sign_b = problem.conj_b ? R(-1) : R(1);
    m_sign_b = sign_b;
    m_sign_a = sign_a;
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    multiply(member.league_rank(), team_scratch<Exec>(member, m_bytes));
  }

  /// Part `rank` of the league's work.
  KOKKOS_FUNCTION void multiply(int rank, char* memory) const {
    R* const scratch = reinterpret_cast<R*>(memory);
    switch (m_width) {
    case 1: return run<1>(rank, scratch);
    case 2: return run<2>(rank, scratch);
    case 4: return run<4>(rank, scratch);
    case 8: return run<8>(rank, scratch);
    case 16: return run<16>(rank, scratch);
    }
  }
  int blocks() const { return m_row_blocks * m_col_blocks; }

private:
  /// Real numbers of an element.
  static constexpr int parts = is_complex_v<T> ? 2 : 1;
  /// Elements of a full vector.
  static constexpr int width =
      backend_traits<Exec>::gemm_vector_bytes / static_cast<int>(sizeof(R)) / parts;
  static constexpr int most_vectors = vector_gemm_strip;
  /// Rows of C of a tile, by the vectors of its strip: with the operands they fill the registers.
  static constexpr int most_rows(int vectors) {
    if (backend_traits<Exec>::gemm_registers >= 32) return 8 / parts;
    return (vectors == 1 ? 8 : vectors == 2 ? 6 : 4) / parts;
  }

  /// A factor of elements: of a vector with real and imaginary parts side by side it multiplies
  /// the vector and the one with the parts exchanged.
  struct Factor {
    R straight, crossed;
    Factor() = default;
    explicit Factor(const arithmetic_t<T>& x)
        : straight(real_part_of(x)), crossed(imaginary_part_of(x)) {}
    static R real_part_of(const arithmetic_t<T>& x) {
      if constexpr (is_complex_v<T>) return x.real();
      else return x;
    }
    static R imaginary_part_of([[maybe_unused]] const arithmetic_t<T>& x) {
      if constexpr (is_complex_v<T>) return x.imag();
      else return R(0);
    }
  };

  BatchRef<const T> m_a, m_b;
  BatchRef<T> m_c;
  std::size_t m_bytes;
  int m_per_team, m_block_k;
  int m_row_blocks, m_col_blocks;
  int m_rows, m_cols, m_depth;
  int m_width, m_vectors, m_strips; ///< elements of a vector; vectors of a row; strips of those
  Factor m_alpha, m_beta;
  R m_sign_a, m_sign_b; ///< -1: conjugated
  bool m_reads_c, m_direct_b, m_direct_c;
  bool m_whole = false; ///< of converted matrices: each is one strip and one panel
  int m_at_once = 1;    ///< converted matrices in scratch
  Epilogue m_epilogue;
  std::int64_t m_first;
  bool m_transposed;

  template <int Width>
  using Vector = lane_value_t<R, Width * parts>;

  /// Whether tiles are finished: converted ones are when they leave scratch.
  static constexpr bool finishes_tiles = has_epilogue<Epilogue> && !is_converted<T>;
  /// Where a tile begins, for an epilogue.
  struct Place {
    std::int64_t matrix = 0;
    int row = 0, col = 0;
  };
  struct NoPlace {};

  /// A tile's operands, strides in real numbers.
  struct Tile {
    const R* a;
    std::int64_t a_row, a_col;
    const R* b;
    std::int64_t b_row;
    int last; ///< where the last vector begins
    int depth;
    R* c;
    std::int64_t c_row, c_col;
    R* carried; ///< the sums of the panels before and after this one, null: there are none
    bool first, last_panel;
    std::conditional_t<finishes_tiles, Place, NoPlace> place;
  };

  // --- the batch and its blocks -----------------------------------------------------------------

  template <int Width>
  KOKKOS_FUNCTION void run(int rank, R* scratch) const {
    if constexpr (Width <= width) {
      const int blocks = m_row_blocks * m_col_blocks;
      int group = rank, block = 0;
      if (blocks > 1) {
        group = rank / blocks;
        block = rank - group * blocks;
      }
      const std::int64_t begin = static_cast<std::int64_t>(group) * m_per_team;
      const std::int64_t end = begin + m_per_team < m_c.batch ? begin + m_per_team : m_c.batch;
      if constexpr (is_converted<T>) {
        for (std::int64_t i = begin; i < end; i += m_at_once)
          multiply_converted<Width>(i, static_cast<int>(end - i < m_at_once ? end - i : m_at_once),
                                    block, scratch);
      } else {
        if (blocks == 1 && m_strips == 1 && m_direct_b && m_direct_c)
          return with_vectors<Width>(m_vectors, [&]<int Vectors>() {
            multiply_run<Width, Vectors>(begin, end, [&](std::int64_t i) { return matrix(i); });
          });
        for (std::int64_t i = begin; i < end; ++i) multiply_block<Width>(i, block, scratch);
      }
    }
  }

  /// Whole matrices, one strip wide and read and written in place: what to do is decided once.
  template <int Width, int Vectors, class MatrixOf>
  KOKKOS_FUNCTION void multiply_run(std::int64_t begin, std::int64_t end,
                                    const MatrixOf& matrix) const {
    const Rows rows = cut<Vectors>(m_rows);
    with_rows<Vectors, most_rows(Vectors)>(rows.of_tile, [&]<int Of>() {
      if (rows.tiles == 1 && m_depth == Of) {
        for (std::int64_t i = begin; i < end; ++i)
          multiply_tile<Width, Vectors, Of, false, Of>(matrix(i));
      } else {
        for (std::int64_t i = begin; i < end; ++i)
          multiply_tiles<Width, Vectors, Of, false>(matrix(i), rows);
      }
    });
  }

  KOKKOS_FUNCTION Tile matrix(std::int64_t i) const {
    Tile t{};
    t.a_row = m_a.row_stride * parts;
    t.a_col = m_a.col_stride * parts;
    t.b_row = m_b.row_stride * parts;
    t.c_row = m_c.row_stride * parts;
    t.c_col = m_c.col_stride * parts;
    t.last = (m_cols - m_width) * parts;
    t.depth = m_depth;
    t.first = t.last_panel = true;
    t.a = reinterpret_cast<const R*>(m_a.matrix_data(i));
    t.b = reinterpret_cast<const R*>(m_b.matrix_data(i));
    t.c = reinterpret_cast<R*>(m_c.matrix_data(i));
    if constexpr (finishes_tiles) t.place.matrix = i;
    return t;
  }

  template <int Width>
  KOKKOS_FUNCTION void multiply_block(std::int64_t i, int block, R* scratch) const {
    const int row_block = block / m_col_blocks, col_block = block - row_block * m_col_blocks;
    const int row_begin = part_begin(m_rows, m_row_blocks, row_block);
    const int row_end = part_begin(m_rows, m_row_blocks, row_block + 1);
    const int strip_end = part_begin(m_strips, m_col_blocks, col_block + 1);
    const Tile whole = matrix(i);
    for (int s = part_begin(m_strips, m_col_blocks, col_block); s < strip_end; ++s) {
      const auto [vectors, col, last, cols] = strip_of<Width>(s);
      Tile strip = whole;
      strip.c += col * strip.c_col;
      if constexpr (finishes_tiles) strip.place.col = col;
      strip.last = last * parts;
      if (m_direct_b) {
        strip.b += col * parts;
        if (Width == width && m_direct_c)
          multiply_strip<Width, Width != width>(strip, vectors, row_begin, row_end);
        else multiply_strip<Width, true>(strip, vectors, row_begin, row_end);
        continue;
      }
      R* const panel = scratch;
      strip.carried = m_depth > m_block_k ? panel + panel_numbers() : nullptr;
      int p = 0;
      do {
        strip.depth = least(m_block_k, m_depth - p);
        strip.first = p == 0;
        strip.last_panel = p + strip.depth == m_depth;
        stage(panel, whole.b, p, strip.depth, col, cols);
        strip.b = panel;
        strip.b_row = cols * parts;
        multiply_strip<Width, true>(strip, vectors, row_begin, row_end);
        p += strip.depth;
        strip.a += strip.depth * strip.a_col;
      } while (p < m_depth);
    }
  }

  /// Block `block` of count matrices from `first`, of more than one only where each is whole.
  template <int Width>
  KOKKOS_FUNCTION void multiply_converted(std::int64_t first, int count, int block,
                                          R* scratch) const {
    const int row_block = block / m_col_blocks, col_block = block - row_block * m_col_blocks;
    const int row = part_begin(m_rows, m_row_blocks, row_block);
    const int rows = part_begin(m_rows, m_row_blocks, row_block + 1) - row;
    const int strip_end = part_begin(m_strips, m_col_blocks, col_block + 1);
    const int most_depth = least(m_block_k, m_depth);
    const bool a_by_columns = m_a.row_stride < m_a.col_stride;
    const auto widen = [](R& number, const T& entry) { number = entry; };
    const auto narrow = [](const R& number, T& entry) { entry = static_cast<T>(number); };
    for (int s = part_begin(m_strips, m_col_blocks, col_block); s < strip_end; ++s) {
      const Strip place = strip_of<Width>(s);
      const int vectors = place.vectors, col = place.col, cols = place.cols;
      R* const a = scratch;
      R* const b = a + count * rows * most_depth;
      R* const c = b + count * most_depth * cols;
      const BlockRange c_range{first, count, row, rows, col, cols};
      if (m_reads_c) transfer(c, m_c, c_range, widen);
      Tile strip{};
      strip.b_row = strip.c_row = cols;
      strip.c_col = 1;
      strip.last = place.last;
      strip.carried = m_depth > m_block_k ? c + rows * cols : nullptr;
      int p = 0;
      do {
        const int depth = least(m_block_k, m_depth - p);
        if (a_by_columns) transfer(a, m_a.transposed(), {first, count, p, depth, row, rows}, widen);
        else transfer(a, m_a, {first, count, row, rows, p, depth}, widen);
        transfer(b, m_b, {first, count, p, depth, col, cols}, widen);
        strip.a_row = a_by_columns ? 1 : depth;
        strip.a_col = a_by_columns ? rows : 1;
        strip.depth = depth;
        strip.first = p == 0;
        strip.last_panel = p + depth == m_depth;
        const auto matrix_of = [&](std::int64_t g) {
          Tile t = strip;
          t.a = a + g * rows * depth;
          t.b = b + g * depth * cols;
          t.c = c + g * rows * cols;
          return t;
        };
        if (m_whole)
          with_vectors<Width>(
              vectors, [&]<int Vectors>() { multiply_run<Width, Vectors>(0, count, matrix_of); });
        else multiply_strip<Width, true>(matrix_of(0), vectors, 0, rows);
        p += depth;
      } while (p < m_depth);
      if constexpr (has_epilogue<Epilogue>) finish_block(c, c_range);
      transfer(c, m_c, c_range, narrow);
    }
  }

  /// The epilogue of an entry of C as the kernel sees it.
  KOKKOS_FORCEINLINE_FUNCTION arithmetic_t<T> finish_entry(const arithmetic_t<T>& value,
                                                           std::int64_t matrix, std::int64_t row,
                                                           std::int64_t col) const {
    return finished(m_epilogue, value, m_first + matrix, m_transposed ? col : row,
                    m_transposed ? row : col);
  }

  /// That of a block of each of several matrices, one after another.
  KOKKOS_FUNCTION void finish_block(R* c, const BlockRange& range) const {
    for (int g = 0; g < range.count; ++g)
      for (int i = 0; i < range.rows; ++i)
        for (int j = 0; j < range.cols; ++j, ++c)
          *c = finish_entry(*c, range.first + g, range.row + i, range.col + j);
  }

  /// move(number, entry) for the entries of a block of each of several matrices and for as many
  /// numbers, matrix after matrix and row after row.
  template <class U, class Move>
  KOKKOS_FUNCTION static void transfer(R* numbers, const BatchRef<U>& batch,
                                       const BlockRange& range, const Move& move) {
    const int rows = range.rows, cols = range.cols;
    if (rows == batch.rows && cols == batch.cols && batch.packed() &&
        (batch.col_stride == 1 || cols == 1)) {
      U* const run = batch.data + range.first * batch.matrix_size();
      const int size = range.count * rows * cols;
      for (int e = 0; e < size; ++e) move(numbers[e], run[e]);
      return;
    }
    for (int g = 0; g < range.count; ++g) {
      U* const x = batch.matrix_data(range.first + g) + range.row * batch.row_stride +
                   range.col * batch.col_stride;
      R* const y = numbers + g * rows * cols;
      if (batch.col_stride == 1) {
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < cols; ++j) move(y[i * cols + j], x[i * batch.row_stride + j]);
      } else {
        for (int j = 0; j < cols; ++j)
          for (int i = 0; i < rows; ++i)
            move(y[i * cols + j], x[i * batch.row_stride + j * batch.col_stride]);
      }
    }
  }

  /// Columns [col, col + cols) of C in so many vectors, the last of which begins at col + last.
  struct Strip {
    int vectors, col, last, cols;
  };
  template <int Width>
  KOKKOS_FUNCTION Strip strip_of(int s) const {
    const int vector = part_begin(m_vectors, m_strips, s);
    const int vectors = part_begin(m_vectors, m_strips, s + 1) - vector;
    const int col = vector * Width;
    const int last = least(m_cols - Width, (vector + vectors - 1) * Width) - col;
    return {vectors, col, last, last + Width};
  }

  KOKKOS_FUNCTION static int least(int x, int y) { return x < y ? x : y; }
  /// Where part i of x things begins that are dealt out evenly.
  KOKKOS_FUNCTION static int part_begin(int x, int count, int i) {
    return static_cast<int>(static_cast<std::int64_t>(x) * i / count);
  }
  KOKKOS_FUNCTION std::int64_t panel_numbers() const {
    return static_cast<std::int64_t>(m_block_k) * most_vectors * width * parts;
  }

  /// Rows p, ..., p + depth - 1 of B, columns col, ..., col + cols - 1, one row after another.
  KOKKOS_FUNCTION void stage(R* panel, const R* b, int p, int depth, int col, int cols) const {
    const T* const from = reinterpret_cast<const T*>(b) + p * m_b.row_stride + col * m_b.col_stride;
    T* const to = reinterpret_cast<T*>(panel);
    if (m_b.col_stride == 1) {
      for (int r = 0; r < depth; ++r)
        for (int j = 0; j < cols; ++j) to[r * cols + j] = from[r * m_b.row_stride + j];
    } else {
      for (int j = 0; j < cols; ++j)
        for (int r = 0; r < depth; ++r)
          to[r * cols + j] = from[r * m_b.row_stride + j * m_b.col_stride];
    }
  }

  /// Rows of C as tiles of `of_tile` rows, of which the last few are one shorter.
  struct Rows {
    int tiles, of_tile, shorter;
  };
  template <int Vectors>
  KOKKOS_FUNCTION static Rows cut(int rows) {
    constexpr int most = most_rows(Vectors);
    const int tiles = (rows + most - 1) / most, of_tile = (rows + tiles - 1) / tiles;
    return {tiles, of_tile, tiles * of_tile - rows};
  }

  template <int Width, bool General>
  KOKKOS_FUNCTION void multiply_strip(const Tile& strip, int vectors, int row_begin,
                                      int row_end) const {
    Tile t = strip;
    t.a += row_begin * t.a_row;
    t.c += row_begin * t.c_row;
    if constexpr (finishes_tiles) t.place.row = row_begin;
    with_vectors<Width>(vectors, [&]<int Vectors>() {
      const Rows rows = cut<Vectors>(row_end - row_begin);
      with_rows<Vectors, most_rows(Vectors)>(
          rows.of_tile, [&]<int Of>() { multiply_tiles<Width, Vectors, Of, General>(t, rows); });
    });
  }

  template <int Width, int Vectors, int Of, bool General>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_tiles(Tile t, const Rows& rows) const {
    const auto next = [&](int of_tile) {
      t.a += of_tile * t.a_row;
      t.c += of_tile * t.c_row;
      if constexpr (finishes_tiles) t.place.row += of_tile;
      if (General && t.carried) t.carried += of_tile * parts * Vectors * Width * parts;
    };
    for (int i = rows.shorter; i < rows.tiles; ++i) {
      multiply_tile<Width, Vectors, Of, General>(t);
      next(Of);
    }
    if constexpr (Of > 1) {
      for (int i = 0; i < rows.shorter; ++i) {
        multiply_tile<Width, Vectors, Of - 1, General>(t);
        next(Of - 1);
      }
    }
  }

  /// f<vectors>(): narrower vectors than the full ones come one or two in a row.
  template <int Width, int Vectors = 1, class F>
  KOKKOS_FUNCTION static void with_vectors(int vectors, const F& f) {
    if constexpr (Vectors < (Width == 1 ? 1 : Width < width ? 2 : most_vectors)) {
      if (vectors != Vectors) return with_vectors<Width, Vectors + 1>(vectors, f);
    }
    f.template operator()<Vectors>();
  }
  /// f<rows>()
  template <int Vectors, int Of, class F>
  KOKKOS_FUNCTION static void with_rows(int rows, const F& f) {
    if constexpr (Of > 1) {
      if (rows != Of) return with_rows<Vectors, Of - 1>(rows, f);
    }
    f.template operator()<Of>();
  }

  // --- one tile ---------------------------------------------------------------------------------

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V load(const R* x) {
    V v;
    std::memcpy(&v, x, sizeof(V));
    return v;
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static void store(R* x, const V& v) {
    std::memcpy(x, &v, sizeof(V));
  }

  /// What becomes of the sums: in local variables, or every store would have them read again.
  struct Finish {
    Factor alpha, beta;
    R sign_a, sign_b;
    bool reads_c;
  };

  /// General: C may need the buffer, and sums may be carried from panel to panel. Depth: the terms
  /// of a sum where that is known at compile time.
  template <int Width, int Vectors, int Of, bool General, int Depth = 0>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_tile(const Tile& t) const {
    using V = Vector<Width>;
    constexpr int numbers = Width * parts, sums = Of * parts;
    const Finish finish{m_alpha, m_beta, m_sign_a, m_sign_b, m_reads_c};
    const std::int64_t a_row = t.a_row, a_col = t.a_col, b_row = t.b_row, c_row = t.c_row;
    const int last = t.last;
    V sum[sums][Vectors];
    SHOAL_UNROLL
    for (int r = 0; r < sums; ++r) {
      SHOAL_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[r][v] = V(R(0));
    }
    if (General && !t.first) {
      SHOAL_UNROLL
      for (int r = 0; r < sums; ++r) {
        SHOAL_UNROLL
        for (int v = 0; v < Vectors; ++v)
          sum[r][v] = load<V>(t.carried + (r * Vectors + v) * numbers);
      }
    }
    const R *a = t.a, *b = t.b;
    const auto step = [&] {
      V right[Vectors];
      SHOAL_UNROLL
      for (int v = 0; v < Vectors; ++v)
        right[v] = load<V>(b + (v + 1 == Vectors ? last : v * numbers));
      SHOAL_UNROLL
      for (int r = 0; r < sums; ++r) {
        const V left(a[r / parts * a_row + r % parts]);
        SHOAL_UNROLL
        for (int v = 0; v < Vectors; ++v) sum[r][v] = multiply_add(left, right[v], sum[r][v]);
      }
      a += a_col;
      b += b_row;
    };
    if constexpr (Depth > 0) {
      SHOAL_UNROLL
      for (int p = 0; p < Depth; ++p) step();
    } else {
      const int depth = t.depth;
      SHOAL_DO_NOT_UNROLL
      for (int p = 0; p < depth; ++p) step();
    }
    if (General && !t.last_panel) {
      SHOAL_UNROLL
      for (int r = 0; r < sums; ++r) {
        SHOAL_UNROLL
        for (int v = 0; v < Vectors; ++v) store(t.carried + (r * Vectors + v) * numbers, sum[r][v]);
      }
      return;
    }
    R* c = t.c;
    auto place = t.place;
    const auto put = [&](int r, R* row) {
      if constexpr (finishes_tiles) place.row = t.place.row + r;
      put_row<V, Vectors>(finish, row, last, &sum[r * parts], place);
    };
    if (!General || m_direct_c) {
      SHOAL_UNROLL
      for (int r = 0; r < Of; ++r) put(r, c + r * c_row);
      return;
    }
    const std::int64_t c_col = t.c_col;
    const int cols = last + numbers;
    SHOAL_UNROLL
    for (int r = 0; r < Of; ++r) {
      R row[Vectors * numbers] = {};
      if (finish.reads_c)
        for (int j = 0; j < cols; ++j) row[j] = c[j / parts * c_col + j % parts];
      put(r, row);
      for (int j = 0; j < cols; ++j) c[j / parts * c_col + j % parts] = row[j];
      c += c_row;
    }
  }

  /// One row of a tile of C from its sums. The last two vectors may overlap: all are read before
  /// any is written.
  template <class V, int Vectors, class Start>
  KOKKOS_FORCEINLINE_FUNCTION void put_row(const Finish& finish, R* c, int last,
                                           const V (*sum)[Vectors],
                                           [[maybe_unused]] const Start& start) const {
    V x[Vectors];
    SHOAL_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      if constexpr (is_complex_v<T>) {
        const V signs = alternating<V>(R(1), finish.sign_b);
        const V crossed_signs = alternating<V>(-finish.sign_a * finish.sign_b, finish.sign_a);
        const V product =
            multiply_add(exchange_neighbours(sum[1][v]), crossed_signs, sum[0][v] * signs);
        x[v] = scaled(finish.alpha, product);
      } else {
        x[v] = V(finish.alpha.straight) * sum[0][v];
      }
    }
    if (finish.reads_c) {
      SHOAL_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        const V old = load<V>(c + (v + 1 == Vectors ? last : v * lane_width<V>));
        if constexpr (is_complex_v<T>) x[v] += scaled(finish.beta, old);
        else x[v] = multiply_add(V(finish.beta.straight), old, x[v]);
      }
    }
    if constexpr (finishes_tiles) {
      SHOAL_UNROLL
      for (int v = 0; v < Vectors; ++v)
        finish_vector(x[v], start, (v + 1 == Vectors ? last : v * lane_width<V>) / parts);
    }
    SHOAL_UNROLL
    for (int v = 0; v < Vectors; ++v)
      store(c + (v + 1 == Vectors ? last : v * lane_width<V>), x[v]);
  }

  /// The epilogue of a vector that begins `offset` columns after a place. By an array, which the
  /// compiler may keep in the vector.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void finish_vector(V& x, const Place& start, int offset) const {
    R y[lane_width<V>];
    store(y, x);
    for (int e = 0; e < lane_width<V>; e += parts) {
      const std::int64_t col = start.col + offset + e / parts;
      if constexpr (is_complex_v<T>) {
        const T z = finish_entry(T(y[e], y[e + 1]), start.matrix, start.row, col);
        y[e] = z.real();
        y[e + 1] = z.imag();
      } else {
        y[e] = finish_entry(y[e], start.matrix, start.row, col);
      }
    }
    x = load<V>(y);
  }

  /// The complex numbers of a vector times a factor.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V scaled(const Factor& f, const V& x) {
    return multiply_add(alternating<V>(-f.crossed, f.crossed), exchange_neighbours(x),
                        V(f.straight) * x);
  }
  /// (even, odd, even, odd, ...)
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V alternating(R even, R odd) {
    V v(even);
    SHOAL_UNROLL
    for (int i = 1; i < lane_width<V>; i += 2) set_slot(v, i, odd);
    return v;
  }
};

/// The same where sizes differ or coefficients are in memory: each product is set up when its turn
/// comes. A team takes the block of one number of every matrix of its share that has so many. A
/// product whose sizes do not agree gives NaN.
template <class Exec, class T, class Epilogue>
class EachVectorGemmKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  EachVectorGemmKernel(const GemmPlan& plan, const GemmProblem<T>& problem,
                       const Epilogue& epilogue)
      : m_plan(plan), m_problem(problem), m_epilogue(epilogue) {
    m_blocks = static_cast<int>(divide_up(problem.m(), plan.block_m) *
                                divide_up(problem.n(), plan.block_n));
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    char* const scratch = team_scratch<Exec>(member, m_plan.scratch_bytes);
    const int group = member.league_rank() / m_blocks, block = member.league_rank() % m_blocks;
    const std::int64_t begin = static_cast<std::int64_t>(group) * m_plan.matrices_per_team;
    const std::int64_t end = begin + m_plan.matrices_per_team < m_problem.c.batch
                                 ? begin + m_plan.matrices_per_team
                                 : m_problem.c.batch;
    for (std::int64_t i = begin; i < end; ++i) {
      const GemmProblem<T> product = m_problem.one(i);
      if (!product.fits(m_problem)) {
        if (block == 0) fill_with_nan(product.c.matrix(0));
      } else if (product.m() > 0 && product.n() > 0) {
        const VectorGemmKernel<Exec, T, Epilogue> kernel(m_plan, product, m_epilogue, i);
        if (block < kernel.blocks()) kernel.multiply(block, scratch);
      }
    }
  }

private:
  GemmPlan m_plan;
  GemmProblem<T> m_problem;
  int m_blocks;
  Epilogue m_epilogue;

  KOKKOS_FUNCTION static void fill_with_nan(const MatrixRef<T>& c) {
    for (std::int64_t i = 0; i < c.rows; ++i)
      for (std::int64_t j = 0; j < c.cols; ++j) c(i, j) = not_a_number<T>();
  }
};

} // namespace shoal::detail

#endif
