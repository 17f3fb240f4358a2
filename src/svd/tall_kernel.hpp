// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_TALL_KERNEL_HPP
#define SHOAL_SRC_SVD_TALL_KERNEL_HPP

#include "src/svd/tall_qr.hpp"

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/batch_ref.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/detail/fast_divide.hpp>
#include <shoal/detail/lane_tile.hpp>
#include <shoal/detail/scalar.hpp>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

/// \file
/// Matrices with many more rows than columns, by a sequence of launches: the QR of blocks of rows;
/// the decomposition of the triangles, one below the other, on whatever path they take, which may
/// be this again; and the product of each block's Q with its part of the left vectors.
namespace shoal::detail {

/// How the rows of a batch are cut, and the workspace that the blocks share.
struct TallLayout {
  std::int64_t batch, m, n, blocks;                                  ///< blocks of each matrix
  bool left;                                                         ///< whether Q is kept
  std::size_t reflectors, steps, squares, stack, vectors, exponents; ///< offsets in the workspace
  std::size_t total;

  TallLayout(std::int64_t its_batch, std::int64_t its_m, std::int64_t its_n,
             std::int64_t its_blocks, int lanes, std::size_t scalar_bytes, bool left_vectors)
      : batch(its_batch), m(its_m), n(its_n), blocks(its_blocks), left(left_vectors),
        m_slots((most_rows() + lanes - 1) / lanes), m_lanes(lanes) {
    std::size_t end = 0;
    const auto place = [&](std::int64_t of_a_block, std::size_t bytes) {
      const std::size_t here = end;
      end +=
          (static_cast<std::size_t>(batch * blocks * of_a_block) * bytes + scratch_alignment - 1) /
          scratch_alignment * scratch_alignment;
      return here;
    };
    stack = place(n * n, scalar_bytes);
    exponents = place(1, sizeof(int));
    reflectors = place(left ? padded_rows() * n : 0, scalar_bytes);
    steps = place(left ? padded_rows() : 0, 1);
    squares = place(left ? n * n : 0, scalar_bytes);
    vectors = place(left ? n * n : 0, scalar_bytes);
    total = end;
  }

  /// Blocks differ by one row at most.
  KOKKOS_FUNCTION std::int64_t first_row(std::int64_t block) const { return m * block / blocks; }
  KOKKOS_FUNCTION std::int64_t most_rows() const { return (m + blocks - 1) / blocks; }
  KOKKOS_FUNCTION std::int64_t padded_rows() const { return m_slots * m_lanes; }
  KOKKOS_FUNCTION std::int64_t stacked_rows() const { return blocks * n; }

private:
  std::int64_t m_slots;
  int m_lanes;
};

/// The parts of the workspace.
template <class T>
class TallWork {
public:
  using V = lane_value_t<T, 1>;

  TallWork(const TallLayout& layout, char* workspace) : m_layout(layout), m_workspace(workspace) {}

  KOKKOS_FUNCTION const TallLayout& layout() const { return m_layout; }
  KOKKOS_FUNCTION TallBlock<V> block(std::int64_t i) const {
    const std::int64_t square = m_layout.n * m_layout.n, rows = m_layout.padded_rows();
    return {at<V>(m_layout.reflectors) + i * rows * m_layout.n,
            at<unsigned char>(m_layout.steps) + i * rows, at<V>(m_layout.squares) + i * square,
            at<int>(m_layout.exponents) + i};
  }
  /// The triangles of each matrix one below the other, by columns.
  KOKKOS_FUNCTION BatchRef<T> stack() const {
    const std::int64_t rows = m_layout.stacked_rows(), n = m_layout.n;
    return {at<T>(m_layout.stack), nullptr, m_layout.batch, rows, n, rows * n, 1, rows};
  }
  /// Their left vectors, by rows.
  KOKKOS_FUNCTION BatchRef<T> vectors(std::int64_t cols) const {
    const std::int64_t rows = m_layout.stacked_rows();
    return {at<T>(m_layout.vectors), nullptr, m_layout.batch, rows, cols, rows * cols, cols, 1};
  }
  /// The exponent that the stack of matrix b has in common.
  KOKKOS_FUNCTION int exponent(std::int64_t b) const {
    const int* const each = at<int>(m_layout.exponents) + b * m_layout.blocks;
    int largest = each[0];
    for (std::int64_t i = 1; i < m_layout.blocks; ++i)
      largest = each[i] > largest ? each[i] : largest;
    return largest;
  }

private:
  TallLayout m_layout;
  char* m_workspace;

  template <class X>
  KOKKOS_FUNCTION X* at(std::size_t offset) const {
    return reinterpret_cast<X*>(m_workspace + offset);
  }
};

/// f(block, matrix, number of the block in it, the group's scratch) for each block of each matrix,
/// one a thread of the league.
template <class Exec, class Member, class F>
KOKKOS_FUNCTION void for_blocks(const Member& member, const TallLayout& layout,
                                std::size_t scratch_bytes, const F& f) {
  char* const scratch = team_scratch<Exec>(member, scratch_bytes) +
                        scratch_bytes / static_cast<std::size_t>(member.team_size()) *
                            static_cast<std::size_t>(member.team_rank());
  const std::int64_t count = layout.batch * layout.blocks;
  const std::int64_t step = static_cast<std::int64_t>(member.league_size()) * member.team_size();
  for (std::int64_t i = static_cast<std::int64_t>(member.league_rank()) * member.team_size() +
                        member.team_rank();
       i < count; i += step) {
    const std::int64_t b = i / layout.blocks;
    f(i, b, i - b * layout.blocks, scratch);
  }
}

template <class Exec, class T, int Cols, int Rows, int Lanes>
class TallQrKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Group = typename backend_traits<Exec>::template Group<Lanes>;

  TallQrKernel(const SvdPlan& plan, const BatchRef<const T>& a, const TallWork<T>& work)
      : m_a(a), m_work(work), m_scratch_bytes(plan.scratch_bytes) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const TallLayout& layout = m_work.layout();
    for_blocks<Exec>(member, layout, m_scratch_bytes,
                     [&](std::int64_t i, std::int64_t b, std::int64_t block, char* scratch) {
                       const std::int64_t first = layout.first_row(block);
                       MatrixRef<const T> a = m_a.matrix(b);
                       a.data = &a(first, 0);
                       a.rows = layout.first_row(block + 1) - first;
                       MatrixRef<T> r = m_work.stack().matrix(b);
                       r.data = &r(block * layout.n, 0);
                       TallQr<T, Group, Cols, Rows>(scratch, static_cast<int>(layout.n))
                           .factor(a, r, layout.left, m_work.block(i));
                     });
  }

private:
  BatchRef<const T> m_a;
  TallWork<T> m_work;
  std::size_t m_scratch_bytes;
};

template <class Exec, class T, int Cols, int Rows, int Lanes>
class TallApplyKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Group = typename backend_traits<Exec>::template Group<Lanes>;

  TallApplyKernel(const SvdPlan& plan, const BatchRef<T>& u, const TallWork<T>& work)
      : m_u(u), m_work(work), m_scratch_bytes(plan.scratch_bytes),
        m_by_u_cols(std::max(1, static_cast<int>(u.cols))) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const TallLayout& layout = m_work.layout();
    for_blocks<Exec>(member, layout, m_scratch_bytes,
                     [&](std::int64_t i, std::int64_t b, std::int64_t block, char* scratch) {
                       const std::int64_t first = layout.first_row(block);
                       MatrixRef<T> u = m_u.matrix(b);
                       u.data = &u(first, 0);
                       u.rows = layout.first_row(block + 1) - first;
                       const MatrixRef<T> all = m_work.vectors(u.cols).matrix(b);
                       const MatrixRef<const T> right{&all(block * layout.n, 0), layout.n, u.cols,
                                                      all.row_stride, all.col_stride};
                       TallQr<T, Group, Cols, Rows>(scratch, static_cast<int>(layout.n))
                           .apply(m_work.block(i), right, u, m_by_u_cols);
                     });
  }

private:
  BatchRef<T> m_u;
  TallWork<T> m_work;
  std::size_t m_scratch_bytes;
  FastDivide m_by_u_cols;
};

/// Gives the triangles of a matrix, each scaled by itself, one scale.
template <class T>
class TallEqualise {
public:
  using Real = typename real_of<T>::type;

  explicit TallEqualise(const TallWork<T>& work) : m_work(work) {}

  /// \param i  number of a block
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const TallLayout& layout = m_work.layout();
    const std::int64_t b = i / layout.blocks, first = (i - b * layout.blocks) * layout.n;
    const int e = *m_work.block(i).exponent - m_work.exponent(b);
    if (e == 0) return;
    const MatrixRef<T> r = m_work.stack().matrix(b);
    for (std::int64_t j = 0; j < layout.n; ++j)
      for (std::int64_t k = first; k < first + layout.n; ++k) r(k, j) = scale(r(k, j), e);
  }

private:
  TallWork<T> m_work;

  KOKKOS_FUNCTION static T scale(const T& x, int e) {
    if constexpr (is_complex_v<T>)
      return T(scale_by_power_of_two(x.real(), integer_t<Real>(e)),
               scale_by_power_of_two(x.imag(), integer_t<Real>(e)));
    else return scale_by_power_of_two(x, integer_t<Real>(e));
  }
};

/// Gives the values of each matrix its scale back.
template <class T>
class TallScaleValues {
public:
  using Real = typename real_of<T>::type;

  TallScaleValues(const BatchRef<Real>& s, const TallWork<T>& work) : m_s(s), m_work(work) {}

  KOKKOS_FUNCTION void operator()(std::int64_t b) const {
    const integer_t<Real> e(m_work.exponent(b));
    const MatrixRef<Real> s = m_s.matrix(b);
    for (std::int64_t k = 0; k < s.rows; ++k) s(k, 0) = scale_by_power_of_two(s(k, 0), e);
  }

private:
  BatchRef<Real> m_s;
  TallWork<T> m_work;
};

/// Makes the largest entry of each vector of one side real and positive, and turns those of the
/// other with them: A = sum of u_k s_k v_k^H. One matrix a group.
template <class Exec, class T, int Lanes>
class SignKernel {
public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Group = typename backend_traits<Exec>::template Group<Lanes>;
  using V = lane_value_t<T, 1>;
  using R = real_t<V>;

  /// Vectors in columns.
  SignKernel(const BatchRef<T>& ruling, const BatchRef<T>& other)
      : m_ruling(ruling), m_other(other) {}

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const std::int64_t step = static_cast<std::int64_t>(member.league_size()) * member.team_size();
    for (std::int64_t b = static_cast<std::int64_t>(member.league_rank()) * member.team_size() +
                          member.team_rank();
         b < m_ruling.batch; b += step) {
      const MatrixRef<T> x = m_ruling.matrix(b), y = m_other.matrix(b);
      for (std::int64_t k = 0; k < x.cols; ++k) {
        const V phase = find_phase(x, k);
        turn(x, k, phase);
        if (m_other.present() && k < y.cols) turn(y, k, conjugate(phase));
      }
    }
  }

private:
  BatchRef<T> m_ruling, m_other;

  KOKKOS_FUNCTION static V load(const T& x) {
    V v;
    set_slot(v, 0, x);
    return v;
  }
  KOKKOS_FUNCTION static V find_phase(const MatrixRef<T>& x, std::int64_t k) {
    Candidate<R> best{R(-1), 0};
    for (int i = Group::rank(); i < x.rows; i += Group::lanes)
      best = better(best, Candidate<R>{norm_squared(load(x(i, k))), i});
    const V phase = conjugate(phase_of(load(x(best_over_lanes<Group>(best), k))));
    Group::sync(); // every lane has read the entry
    return phase;
  }
  KOKKOS_FUNCTION static void turn(const MatrixRef<T>& x, std::int64_t k, V phase) {
    if constexpr (is_complex_v<V>) {
      R size2(0);
      for (std::int64_t i = Group::rank(); i < x.rows; i += Group::lanes)
        size2 += norm_squared(load(x(i, k)));
      phase = unit_length(phase, over_lanes<Group>(size2, Sum()));
    }
    for (std::int64_t i = Group::rank(); i < x.rows; i += Group::lanes)
      x(i, k) = static_cast<T>(get_slot(phase * load(x(i, k)), 0));
    Group::sync(); // before others read it
  }
};

} // namespace shoal::detail

#endif
