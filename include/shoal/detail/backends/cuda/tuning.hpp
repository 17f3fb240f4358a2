// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_BACKENDS_CUDA_TUNING_HPP
#define SHOAL_DETAIL_BACKENDS_CUDA_TUNING_HPP

#include <shoal/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

/// \file
/// The numbers that choose kernels on NVIDIA GPUs. Data only.
namespace shoal::detail::cuda_tuning {

/// Threads of a team of the lane kernels, at most and at least. Tuner, 2026-12-03, NVIDIA H200,
/// time over that of 128: 32 1.016, 64 1.006 (mean of 10 cases, 2 to 8 columns); at least, over
/// that of 16: 32 1.003, 64 1.165 (6 cases, 64x3 to 200x6).
inline constexpr int lane_team_size = 128;
inline constexpr int lane_team_size_least = 16;
/// Most scratch of such a team: two of them still fit on a multiprocessor.
inline constexpr std::size_t lane_scratch_bytes = 100 * 1024;
/// Largest n x n matrix that a lane keeps in registers: 4 x 4 of double. J of 4 x 4 complex double
/// spilled 500 bytes, L alone 24.
inline constexpr std::size_t lane_register_bytes = 128;
/// Most columns of the lane SVD whose work space is in registers, and most columns; and its largest
/// n x n matrix, 6 x 6 of double. Beyond, the group kernel is faster (H200, M/s, lane and group:
/// float 7 x 7 291 and 248, 8 x 8 161 and 222; double 6 x 6 162 and 145, 7 x 7 100 and 128). Tuner,
/// 2026-12-03, NVIDIA H200, 10 cases from 5 x 5 to 12 x 12, time over that of 7 columns: 4 1.356,
/// 5 1.113, 6 1.023; over that of 288 bytes: 128 1.207, 200 1.019.
inline constexpr int register_columns = 4;
inline constexpr int lane_columns = 7;
inline constexpr std::size_t lane_matrix_bytes = 288;
/// The group SVD: instances, those for tall matrices with all lanes of a warp; lanes of a team, and
/// scratch, so that four teams fit on a multiprocessor. Tuner, 2026-12-03, NVIDIA H200, 12 cases
/// from 8 x 8 to 128 x 32, time over that of 128 lanes a team: 32 1.023, 64 0.993; without the
/// instances of more than 32 columns 1.067, 28 1.239, 24 1.607, 20 1.777, 16 2.317, 12 3.071,
/// 8 4.424.
inline constexpr GroupShape group_shapes[] = {
    {8, 4, 4, 8},    {8, 32, 32, 32}, {12, 4, 8, 16},  {16, 8, 16, 16}, {16, 32, 32, 32},
    {20, 8, 16, 32}, {24, 16, 0, 32}, {28, 16, 32, 0}, {32, 16, 32, 0}, {40, 32, 0, 0},
};
inline constexpr int group_lanes = 128;
inline constexpr std::size_t group_scratch_bytes = 46 * 1024;
/// Most bytes of L and J in registers of a lane; J goes to scratch where they are more. Larger
/// scalars leave fewer registers: with both, 32 x 32 of float on 16 lanes spilled 36 bytes, of
/// double on 32 lanes 172 bytes.
constexpr std::size_t group_register_bytes(std::size_t scalar_bytes) {
  return scalar_bytes <= 4 ? 500 : 400;
}
/// Teams of so many lanes that are to fit on a multiprocessor, by the bytes of L and J that a lane
/// holds.
constexpr int group_teams(std::size_t held_bytes, std::size_t scalar_bytes) {
  if (scalar_bytes > 4) return held_bytes <= 200 ? 3 : 2;
  return held_bytes <= 128 ? 4 : held_bytes <= 300 ? 3 : 2;
}
/// Block Jacobi: two blocks take 64 to 128 registers of a lane, which may have 65,536 divided by
/// threads and teams.
inline constexpr BlockShape block_shapes[] = {
    {64, {8, 128, 4}, {8, 128, 3}, {4, 256, 1}},
    {128, {8, 256, 1}, {4, 256, 1}, {4, 256, 1}},
    {256, {4, 256, 1}, {4, 256, 1}, {2, 256, 1}},
    {512, {4, 256, 1}, {2, 256, 1}, {}},
};
/// The tall path: 64 to 128 registers of a lane hold its rows; lanes of a team, teams that are to
/// fit on a multiprocessor; and the rows, by columns, from which on it is preferred.
inline constexpr TallShape tall_shapes[] = {{8, 16, 8, 4}, {16, 8, 4, 2}, {32, 4, 2, 0}};
inline constexpr int tall_lanes = 128;
inline constexpr int tall_teams = 2;
inline constexpr int tall_least_ratio = 3;
/// The team kernels: threads, vector lanes, and teams on one multiprocessor that the workspace
/// allows for. Tuner, 2026-12-03, NVIDIA H200, 48 x 48 to 128 x 128, time over that of 4 teams: 2
/// 1.154, 8 0.984, 16 0.972.
inline constexpr int team_size = 8;
inline constexpr int vector_length = 32;
inline constexpr int teams_per_multiprocessor = 4;
/// Teams of svd that are to fit on a multiprocessor: with the 150 registers that double takes by
/// itself there would be one.
inline constexpr int svd_teams = 2;
/// The tile kernel of gemm: threads of a team and scratch, so that four teams fit on a
/// multiprocessor.
inline constexpr int tile_team_size = 256;
inline constexpr std::size_t tile_scratch_bytes = 46 * 1024;
/// Teams that are to fit on a multiprocessor, by the bytes of C that a thread holds: what is left
/// of its registers must hold the operands too.
constexpr int tile_teams(std::size_t held_bytes) {
  return held_bytes <= 16 ? 4 : held_bytes <= 128 ? 3 : held_bytes <= 256 ? 2 : 1;
}
/// From which products on cuBLAS is preferred, which computes C in tiles of about 32 x 32 whether
/// they are full or not. NVIDIA H200, nanoseconds a matrix, many in one call, cuBLAS and the tile
/// kernel: float 32 x 32 4.4 and 3.7, 33 11.7 and 4.5, 48 13.6 and 15.2, 64 17.8 and 25, 128 117
/// and 225; double 24 4.7 and 3.8, 32 5.8 and 7.4, 33 18.4 and 7.7, 48 13.2 and 27, 64 23 and 61,
/// 128 105 and 601. Where a float product pays is where 46 x 46 of 64 x 64 do, of double 41 x 41.
/// Complex ones are not measured: they are placed by their operations for each byte.
inline constexpr VendorStarts vendor_starts = {
    {40, 0, 0.5}, {31, 0, 0.4}, {32, 0, 0.5}, {32, 0, 0.4}};
inline constexpr int vendor_tile = 32;
/// It counts them in an int. (41,000,000 in one call were right.)
inline constexpr std::int64_t vendor_matrices_per_call = std::numeric_limits<int>::max();
/// Its work space on a stream, which Nvidia recommends for Hopper.
inline constexpr std::size_t vendor_workspace_bytes = 32u << 20;
/// Kept free of the shared memory of a block for Kokkos' own use.
inline constexpr std::size_t reserved_scratch_bytes = 2 * 1024;

} // namespace shoal::detail::cuda_tuning

#endif
