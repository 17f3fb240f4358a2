// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_BLOCK_JACOBI_HPP
#define SHOAL_SRC_SVD_BLOCK_JACOBI_HPP

#include "src/svd/deal.hpp"

#include <shoal/detail/scalar.hpp>
#include <shoal/detail/unroll.hpp>
#include <shoal/lane/svd.hpp>
#include <shoal/team/svd.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>

/// \file
/// One-sided Jacobi by the threads of a team, in blocks of columns. Two blocks at a time are in the
/// registers of a thread's vector lanes, each with its share of the rows, while all columns of the
/// one meet all of the other: memory is read and written once for many rotations, and the team
/// waits for each other once for many rounds. Before the first blocks of a sweep meet, the columns
/// of each do. The rotations of J are listed, and done when L has left the registers.
///
/// Blocks meet in round-robin order, columns of two blocks by turns of the second, and columns of
/// one block in odd-even order (F. T. Luk and H. Park, On parallel Jacobi orderings, 1989); blocks
/// of columns as in: M. Becka, G. Oksa, M. Vajtersic, Dynamic ordering for a parallel block-Jacobi
/// SVD algorithm, 2002, but rotation by rotation, so that the relative accuracy of the single
/// rotations is kept.
namespace shoal::detail {

/// The scratch of each thread, in bytes.
constexpr std::size_t block_jacobi_bytes(int width, std::size_t scalar_bytes,
                                         std::size_t real_bytes) {
  const auto round_up = [](std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
  };
  const auto w = static_cast<std::size_t>(width);
  return round_up(w * round_up(2 * scalar_bytes + real_bytes, 16) +
                      w * w * round_up(scalar_bytes + real_bytes, 2 * real_bytes) +
                      2 * w * 3 * real_bytes + 2 * sizeof(int),
                  16);
}

/// \tparam Crew   the team: see team/crew.hpp
/// \tparam Group  the vector lanes of a thread: see detail/backend_traits.hpp
/// \tparam Width  columns of a block, a power of two from 2 on
/// \tparam Rows   rows that a lane holds
template <class V, class Crew, class Group, int Width, int Rows>
class BlockJacobi {
public:
  using R = real_t<V>;
  using I = integer_t<V>;
  using Problem = team::detail::JacobiProblem<V, typename Crew::Offset>;
  static constexpr int lanes = Group::lanes;
  static_assert(Width >= 2 && (Width & (Width - 1)) == 0);

  /// scratch: block_jacobi_bytes for each thread of the crew.
  KOKKOS_FUNCTION BlockJacobi(const Crew& crew, const Problem& problem, char* scratch)
      : m_crew(crew), m_problem(problem), m_rank(Group::rank()),
        m_small(reinterpret_cast<Small*>(scratch)[crew.rank()]) {}

  /// Returns the sweeps done; `converged` comes in true where there is nothing to do.
  KOKKOS_FUNCTION int run(int max_sweeps, bool& converged) const {
    const int blocks = (m_problem.n + Width - 1) / Width;
    return team::detail::sweep_pairs(m_crew, blocks, m_problem.turned, max_sweeps, converged,
                                     [&](int p, int q, int round) {
                                       const Slots slots{p * Width, q * Width};
                                       const bool within = round == 0 && turn_within(slots);
                                       const bool across = q < blocks && turn_across(slots);
                                       return within || across;
                                     });
  }

private:
  static constexpr int cols = 2 * Width;

  /// The columns in registers: a block from `first` on and one from `second` on.
  struct Slots {
    int first, second;
    KOKKOS_FUNCTION int column(int slot) const {
      return slot < Width ? first + slot : second + slot - Width;
    }
  };
  struct Columns {
    V x[cols][Rows];
  };

  /// Columns p, q of L become c p + to_p q, c q + to_q p.
  struct alignas(16) Turn {
    V to_p, to_q;
    R c;
  };
  /// Those of J become c p + sine q, c q - conj(sine) p.
  struct alignas(2 * sizeof(R)) ListedTurn {
    V sine;
    R c;
  };
  struct alignas(16) Small {
    Turn turns[Width];               ///< of the round in work
    ListedTurn listed[Width][Width]; ///< of Width rounds
    R norm[cols];                    ///< squared norms of the columns in registers
    R factor[cols];
    I exponent[cols];
    Slots slots;
  };
  static_assert(sizeof(Small) == block_jacobi_bytes(Width, sizeof(V), sizeof(R)));

  Crew m_crew;
  Problem m_problem;
  int m_rank;
  Small& m_small;

  using Matrix = decltype(Problem::l);

  /// use(c, r, entry) for every entry in registers that exists, and use(c, r, nullptr) for the
  /// others. `reversed`: the columns of each block stand in reverse order.
  template <class Use>
  KOKKOS_FORCEINLINE_FUNCTION void for_entries(const Matrix& matrix, bool reversed,
                                               const Use& use) const {
    // Read anew each time: the compiler would keep the addresses of all columns, in registers that
    // the columns need.
    Group::sync();
    const Slots slots = m_small.slots;
    const int rows = m_problem.n - m_rank, step = reversed ? -1 : 1;
    SHOAL_UNROLL
    for (int block = 0; block < 2; ++block) {
      int column = (block == 0 ? slots.first : slots.second) + (reversed ? Width - 1 : 0);
      V* entries = matrix.column(column) + m_rank;
      SHOAL_UNROLL
      for (int c = block * Width; c < (block + 1) * Width; ++c) {
        SHOAL_UNROLL
        for (int r = 0; r < Rows; ++r)
          use(c, r, column < m_problem.n && r * lanes < rows ? entries + r * lanes : nullptr);
        column += step;
        entries += step * matrix.pitch;
      }
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(Columns& x, const Matrix& from) const {
    for_entries(from, false,
                [&](int c, int r, const V* entry) { x.x[c][r] = entry ? *entry : V(R(0)); });
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(const Columns& x, const Matrix& to, bool reversed) const {
    for_entries(to, reversed, [&](int c, int r, V* entry) {
      if (entry) *entry = x.x[c][r];
    });
  }

  KOKKOS_FUNCTION void load_norms(const Slots& slots) const {
    if (m_rank == 0) m_small.slots = slots;
    for (int c = m_rank; c < cols; c += lanes) {
      const int column = slots.column(c);
      const bool present = column < m_problem.n;
      m_small.norm[c] = present ? m_problem.norm[column] : R(0);
      m_small.exponent[c] =
          present ? m_problem.exponent[column] : lane::detail::dependent_exponent<V>();
    }
    Group::sync();
  }
  KOKKOS_FUNCTION void store_norms(const Slots& slots, bool reversed) const {
    Group::sync();
    for (int c = m_rank; c < cols; c += lanes) {
      const int column = slots.column(reversed ? c ^ (Width - 1) : c);
      if (column >= m_problem.n) continue;
      m_problem.norm[column] = m_small.norm[c];
      m_problem.exponent[column] = m_small.exponent[c];
    }
    Group::sync(); // before the next pair of blocks
  }

  /// All pairs of columns of the same block, in odd-even order.
  KOKKOS_FORCEINLINE_FUNCTION bool turn_within(const Slots& slots) const {
    load_norms(slots);
    Columns l;
    load(l, m_problem.l);
    refresh_norms(l, 0);
    bool turned = false;
    SHOAL_DO_NOT_UNROLL
    for (int round = 0; round < Width; round += 2) {
      turned |= turn_neighbours<0>(l, round);
      turned |= turn_neighbours<1>(l, round + 1);
    }
    store(l, m_problem.l, true);
    store_norms(slots, true);
    if (!turned || !m_problem.accumulates) return turned;
    load(l, m_problem.j);
    SHOAL_DO_NOT_UNROLL
    for (int round = 0; round < Width; round += 2) {
      replay_neighbours<0>(l, round);
      replay_neighbours<1>(l, round + 1);
    }
    store(l, m_problem.j, true);
    Group::sync(); // the list is about to be written
    return true;
  }

  /// All columns of the first block with all of the second: the columns in equal places of both,
  /// and then the second block moves on by one.
  KOKKOS_FORCEINLINE_FUNCTION bool turn_across(const Slots& slots) const {
    load_norms(slots);
    Columns l;
    load(l, m_problem.l);
    unsigned active = 0; // bit by round
    SHOAL_DO_NOT_UNROLL
    for (int round = 0; round < Width; ++round) {
      V dot[Width];
      SHOAL_UNROLL
      for (int i = 0; i < Width; ++i) dot[i] = product(l, i, Width + i);
      bool stale = false;
      const bool turns = make_turns(
          dot, round, false, [](int) { return true; }, [](int i) { return i; },
          [&](int i) { return Width + ((i + round) & (Width - 1)); }, stale);
      if (turns) {
        active |= 1u << round;
        SHOAL_UNROLL
        for (int i = 0; i < Width; ++i) {
          if (i % 4 == 0) Group::sync(); // see GroupSvd::turn_pairs
          const Turn t = m_small.turns[i];
          SHOAL_UNROLL
          for (int r = 0; r < Rows; ++r) {
            const V p = l.x[i][r], q = l.x[Width + i][r];
            l.x[i][r] = multiply_add(t.to_p, q, t.c * p);
            l.x[Width + i][r] = multiply_add(t.to_q, p, t.c * q);
          }
        }
      }
      move_on(l);
      if (Group::any_of_warp(stale)) refresh_norms(l, round + 1);
    }
    if (active == 0) return false;
    store(l, m_problem.l, false);
    store_norms(slots, false);
    if (!m_problem.accumulates) return true;
    load(l, m_problem.j);
    SHOAL_DO_NOT_UNROLL
    for (int round = 0; round < Width; ++round) {
      if (active >> round & 1) {
        SHOAL_UNROLL
        for (int i = 0; i < Width; ++i) {
          if (i % 4 == 0) Group::sync();
          const ListedTurn t = m_small.listed[round][i];
          const V opposite = -conjugate(t.sine);
          SHOAL_UNROLL
          for (int r = 0; r < Rows; ++r) {
            const V p = l.x[i][r], q = l.x[Width + i][r];
            l.x[i][r] = multiply_add(t.sine, q, t.c * p);
            l.x[Width + i][r] = multiply_add(opposite, p, t.c * q);
          }
        }
      }
      move_on(l);
    }
    store(l, m_problem.j, false);
    Group::sync(); // the list is about to be written
    return true;
  }

  KOKKOS_FORCEINLINE_FUNCTION static void move_on(Columns& x) {
    SHOAL_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const V first = x.x[Width][r];
      SHOAL_UNROLL
      for (int c = Width; c < cols - 1; ++c) x.x[c][r] = x.x[c + 1][r];
      x.x[cols - 1][r] = first;
    }
  }

  /// Whether neighbours i of a round stand in the same block.
  template <int Offset>
  KOKKOS_FUNCTION static constexpr bool is_pair(int i) {
    return Offset == 0 || (i + 1) % (Width / 2) != 0;
  }

  /// Turns and exchanges the columns (Offset, Offset + 1), (Offset + 2, Offset + 3), ... of both
  /// blocks.
  template <int Offset>
  KOKKOS_FORCEINLINE_FUNCTION bool turn_neighbours(Columns& l, int round) const {
    V dot[Width];
    SHOAL_UNROLL
    for (int i = 0; i < Width; ++i)
      dot[i] = is_pair<Offset>(i) ? product(l, 2 * i + Offset, 2 * i + Offset + 1) : V(R(0));
    bool stale = false;
    const bool turns = make_turns(
        dot, round, true, [](int i) { return is_pair<Offset>(i); },
        [](int i) { return 2 * i + Offset; }, [](int i) { return 2 * i + Offset + 1; }, stale);
    SHOAL_UNROLL
    for (int i = 0; i < Width; ++i) {
      if (!is_pair<Offset>(i)) continue;
      if (i % 4 == 0) Group::sync();
      const Turn t = m_small.turns[i];
      const int left = 2 * i + Offset, right = left + 1;
      SHOAL_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const V p = l.x[left][r], q = l.x[right][r];
        l.x[right][r] = multiply_add(t.to_p, q, t.c * p);
        l.x[left][r] = multiply_add(t.to_q, p, t.c * q);
      }
    }
    if (Group::any_of_warp(stale)) refresh_norms(l, 0);
    return turns;
  }
  template <int Offset>
  KOKKOS_FORCEINLINE_FUNCTION void replay_neighbours(Columns& j, int round) const {
    SHOAL_UNROLL
    for (int i = 0; i < Width; ++i) {
      if (!is_pair<Offset>(i)) continue;
      if (i % 4 == 0) Group::sync();
      const ListedTurn t = m_small.listed[round][i];
      const V opposite = -conjugate(t.sine);
      const int left = 2 * i + Offset, right = left + 1;
      SHOAL_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const V p = j.x[left][r], q = j.x[right][r];
        j.x[right][r] = multiply_add(t.sine, q, t.c * p);
        j.x[left][r] = multiply_add(opposite, p, t.c * q);
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION static V product(const Columns& l, int p, int q) {
    V dot(R(0));
    SHOAL_UNROLL
    for (int r = 0; r < Rows; ++r) dot = conj_multiply_add(l.x[p][r], l.x[q][r], dot);
    return dot;
  }

  /// The rotations of the columns in slots p(i) and q(i), for the i < Width that are pairs, from
  /// the lanes' shares of their dot products. Norms and exponents follow them, `exchanged` or not.
  /// Returns whether there is anything to turn. `stale`: a new norm has lost digits.
  template <class Pair, class P, class Q>
  KOKKOS_FORCEINLINE_FUNCTION bool make_turns(V (&dot)[Width], int round, bool exchanged,
                                              const Pair& is_pair, const P& p, const Q& q,
                                              bool& stale) const {
    deal<Group>(dot, Sum());
    bool turns = false;
    const int mine = first_dealt_value<Width, lanes>(m_rank);
    SHOAL_UNROLL
    for (int h = 0; h < dealt_values<Width, lanes>(); ++h) {
      const int i = mine + h;
      if (!is_pair(i) || !is_first_holder<Width, lanes>(m_rank)) continue;
      const R app = m_small.norm[p(i)], aqq = m_small.norm[q(i)];
      const I ep = m_small.exponent[p(i)], eq = m_small.exponent[q(i)];
      const R d = power_of_two<R>(eq - ep);
      const bool active =
          lane::detail::needs_rotation(app, aqq, dot[h], d, m_problem.tolerance_squared);
      const lane::detail::Rotation<V> rotation(active, app, aqq, dot[h], d,
                                               power_of_two<R>(ep - eq));
      m_small.turns[i] = {rotation.pq * rotation.phase, rotation.qp * conjugate(rotation.phase),
                          rotation.c};
      m_small.listed[round & (Width - 1)][i] = {rotation.s * rotation.phase, rotation.c};
      const int new_p = exchanged ? q(i) : p(i), new_q = exchanged ? p(i) : q(i);
      m_small.norm[new_p] = rotation.new_app;
      m_small.norm[new_q] = rotation.new_aqq;
      m_small.exponent[new_p] = ep;
      m_small.exponent[new_q] = eq;
      turns = turns || active;
      stale = stale || rotation.inexact;
    }
    turns = Group::any_of_warp(turns);
    Group::sync();
    return turns;
  }

  /// The squared norms of the columns in registers, with those that have become small scaled up.
  /// `shift`: how often the second block has moved on.
  KOKKOS_FORCEINLINE_FUNCTION void refresh_norms(Columns& l, int shift) const {
    const auto slot = [&](int c) { return c < Width ? c : Width + ((c + shift) & (Width - 1)); };
    bool low = false;
    const auto norms = [&] {
      Group::sync();
      deal_slots(
          [&](int c) {
            R norm(0);
            SHOAL_UNROLL
            for (int r = 0; r < Rows; ++r) norm += norm_squared(l.x[c][r]);
            return norm;
          },
          Sum(),
          [&](int c, const R& norm) {
            m_small.norm[slot(c)] = norm;
            // Padding, like a column of zeros, is not to be scaled.
            low = low || (norm < R(lane::detail::rescale_below<V>) &&
                          m_small.exponent[slot(c)] > lane::detail::dependent_exponent<V>());
          });
      Group::sync();
    };
    norms();
    if (!Group::any_of_warp(low)) return;
    deal_slots(
        [&](int c) {
          R top(0);
          SHOAL_UNROLL
          for (int r = 0; r < Rows; ++r) top = maximum(top, max_part(l.x[c][r]));
          return top;
        },
        Maximum(),
        [&](int c, const R& top) {
          const bool scaled = m_small.norm[slot(c)] < R(lane::detail::rescale_below<V>);
          const I e = scaled ? lane::detail::exponent_to_take<V>(top) : I(0);
          m_small.factor[c] = power_of_two<R>(-e);
          m_small.exponent[slot(c)] += e;
        });
    Group::sync();
    SHOAL_UNROLL
    for (int c = 0; c < cols; ++c) {
      const R factor = m_small.factor[c];
      SHOAL_UNROLL
      for (int r = 0; r < Rows; ++r) l.x[c][r] = factor * l.x[c][r];
    }
    norms();
  }

  /// use(c, x) in one lane for each slot, with x combined over the lanes' part(c).
  template <class Part, class Combine, class Use>
  KOKKOS_FORCEINLINE_FUNCTION void deal_slots(const Part& part, const Combine& combine,
                                              const Use& use) const {
    R x[cols];
    SHOAL_UNROLL
    for (int c = 0; c < cols; ++c) x[c] = part(c);
    deal<Group>(x, combine);
    if (!is_first_holder<cols, lanes>(m_rank)) return;
    const int mine = first_dealt_value<cols, lanes>(m_rank);
    SHOAL_UNROLL
    for (int h = 0; h < dealt_values<cols, lanes>(); ++h) use(mine + h, x[h]);
  }
};

} // namespace shoal::detail

#endif
