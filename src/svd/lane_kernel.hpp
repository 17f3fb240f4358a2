// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_SVD_LANE_KERNEL_HPP
#define SHOAL_SRC_SVD_LANE_KERNEL_HPP

#include "src/svd/problem.hpp"

#include <shoal/detail/backend_traits.hpp>
#include <shoal/detail/dispatch.hpp>
#include <shoal/detail/lane_tile.hpp>
#include <shoal/lane/svd.hpp>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace shoal::detail {

/// One matrix a lane; m >= n. A team walks over its share of the batch in runs of as many matrices
/// as it has lanes. In scratch, one after another: the tile of A, which becomes that of U; the tile
/// of S; the tile of Vt; and the work space that is not in registers. Two barriers a run: after A
/// has come in, and before the results go out.
///
/// \tparam N       columns; 0: known at run time only
/// \tparam Square  m = N, so that A lives in registers too
template <class Exec, class T, int N, bool Square, bool LeftVectors>
class LaneSvdKernel {
public:
  using Traits = backend_traits<Exec>;
  using Real = typename real_of<T>::type;
  using Element = arithmetic_t<T>; // of the tiles
  using Tile = typename Traits::template LaneTile<T, N>;
  using RealTile = typename Traits::template LaneTile<Real, 1>;
  using V = typename Tile::Value;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int max_cols = N ? N : Traits::run_time_columns;
  static constexpr int width = lane_width<V>;
  /// Whether L and J are in scratch and loops over columns are not unrolled.
  static constexpr bool in_scratch = N == 0 || N > Traits::register_columns ||
                                     sizeof(Element) * N* N > Traits::lane_register_bytes;

  LaneSvdKernel(const SvdPlan& plan, const SvdArguments<T>& arguments, const SvdOptions& options)
      : m_args(arguments), m_request(svd_request(plan, arguments, options)),
        m_per_team(plan.matrices_per_team), m_lanes(plan.team_size * width),
        m_rows(static_cast<int>(arguments.a.rows)), m_cols(static_cast<int>(arguments.a.cols)),
        m_a_order(arguments.a), m_u_order(arguments.u), m_s_order(arguments.s),
        m_vt_order(arguments.vt) {
    const auto bytes = [&](int elements, std::size_t scalar_bytes) {
      return tile_bytes(elements, m_lanes, scalar_bytes, Tile::odd);
    };
    m_square = bytes(m_cols * m_cols, sizeof(Element));
    m_s_offset = bytes(m_rows * m_cols, sizeof(Element));
    m_vt_offset = m_s_offset + bytes(m_cols, sizeof(Real));
    m_work_offset = m_vt_offset + (m_request.right_vectors ? m_square : 0);
    m_bytes = plan.scratch_bytes;
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    char* const scratch = team_scratch<Exec>(member, m_bytes);
    const std::int64_t begin = static_cast<std::int64_t>(member.league_rank()) * m_per_team;
    const std::int64_t end =
        begin + m_per_team < m_args.a.batch ? begin + m_per_team : m_args.a.batch;
    for (std::int64_t first = begin; first < end; first += m_lanes)
      decompose_run(member, scratch, first,
                    static_cast<int>(end - first < m_lanes ? end - first : m_lanes));
  }

private:
  SvdArguments<T> m_args;
  lane::SvdRequest m_request;
  int m_per_team, m_lanes, m_rows, m_cols;
  RunOrder m_a_order, m_u_order, m_s_order, m_vt_order;
  std::size_t m_square, m_s_offset, m_vt_offset, m_work_offset, m_bytes;

  KOKKOS_FUNCTION void decompose_run(const Member& member, char* scratch, std::int64_t first,
                                     int count) const {
    const Tile a(scratch, m_rows, m_cols);
    const RealTile s(scratch + m_s_offset, m_cols, 1);
    const Tile vt(scratch + m_vt_offset, m_cols, m_cols);
    a.load(member, m_args.a, m_a_order, first, count);
    member.team_barrier();
    const int lane = member.team_rank();
    if (lane * width < count) {
      const auto store_details = [&](const auto& sweeps, const auto& off_norm, const auto& rank) {
        for (int slot = 0; slot < width && lane * width + slot < count; ++slot)
          m_args.details.store(first + lane * width + slot,
                               static_cast<int>(get_slot(sweeps, slot)), get_slot(off_norm, slot),
                               static_cast<int>(get_slot(rank, slot)));
      };
      const auto info = decompose(lane, a.matrix(lane), s.matrix(lane), vt.matrix(lane),
                                  scratch + m_work_offset, store_details);
      if (m_args.info.data) {
        for (int slot = 0; slot < width && lane * width + slot < count; ++slot)
          *m_args.info.matrix_data(first + lane * width + slot) =
              static_cast<int>(get_slot(info, slot));
      }
    }
    member.team_barrier();
    if constexpr (LeftVectors) a.store(member, m_args.u, m_u_order, first, count);
    s.store(member, m_args.s, m_s_order, first, count);
    if (m_request.right_vectors) vt.store(member, m_args.vt, m_vt_order, first, count);
    if (m_per_team > m_lanes) member.team_barrier(); // the next run overwrites the tiles
  }

  template <class Matrix, class RealMatrix, class StoreDetails>
  KOKKOS_FUNCTION auto decompose([[maybe_unused]] int lane, Matrix a, const RealMatrix& s,
                                 const Matrix& vt, [[maybe_unused]] char* work,
                                 const StoreDetails& store_details) const {
    const auto store_s = [&](int k, const real_t<V>& x) { s.set(k, 0, x); };
    const auto store_u = [&](int i, int k, const V& x) { a.set(i, k, x); };
    const auto store_vt = [&](int k, const integer_t<V>& column, const V& x) {
      vt.scatter(k, column, x);
    };
    const auto run = [&](auto& matrix, auto& l, auto& j, auto m, auto n) {
      return lane::svd<LeftVectors, max_cols>(matrix, l, j, m, n, m_request, store_s, store_u,
                                              store_vt, store_details);
    };
    if constexpr (in_scratch) {
      auto l = Tile(work, m_cols, m_cols).matrix(lane);
      auto j = Tile(work + m_square, m_cols, m_cols).matrix(lane);
      if constexpr (N == 0) return run(a, l, j, m_rows, m_cols);
      else return run(a, l, j, m_rows, Rolled<N>());
    } else {
      constexpr std::integral_constant<int, N> n{};
      lane::RegisterMatrix<V, N, N> l, j;
      if constexpr (Square) {
        lane::RegisterMatrix<V, N, N> registers;
        SHOAL_UNROLL
        for (int i = 0; i < N; ++i) {
          SHOAL_UNROLL
          for (int k = 0; k < N; ++k) registers.set(i, k, a.get(i, k));
        }
        return run(registers, l, j, n, n);
      } else {
        return run(a, l, j, m_rows, n);
      }
    }
  }
};

} // namespace shoal::detail

#endif
