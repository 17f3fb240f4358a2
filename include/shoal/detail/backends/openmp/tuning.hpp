// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_BACKENDS_OPENMP_TUNING_HPP
#define SHOAL_DETAIL_BACKENDS_OPENMP_TUNING_HPP

#include <shoal/plan.hpp>

#include <cstddef>
#include <cstdint>

/// \file
/// The numbers that choose kernels on CPUs. Data only.
namespace shoal::detail::openmp_tuning {

/// Width of a pack: one AVX2 register. Without AVX2 the compiler splits it.
inline constexpr int vector_bytes = 32;
/// Packs that a team works through: enough that its start costs little beside them.
inline constexpr int lane_runs = 16;
/// Most columns of the lane SVD that are unrolled, and are known at compile time.
inline constexpr int register_columns = 4;
/// Most columns of the lane SVD, and the largest n x n matrix: beyond, the vector kernel is faster
/// (float: lane 17 and 36 us for 20 and 24 columns, vector 19 and 22; double: lane 8.4 and 18 us
/// for 12 and 16 columns, vector 7.9 and 15).
inline constexpr int lane_columns = 20;
inline constexpr std::size_t lane_matrix_bytes = 1600;
/// Most scratch of a lane team: about a core's first-level cache (float: lane 27 us for 100 x 16,
/// which would need 76 KB, vector 17).
inline constexpr std::size_t lane_scratch_bytes = 56u << 10;
/// The group SVD is taken here by request only.
inline constexpr GroupShape group_shapes[] = {{32, 1, 1, 1}};
/// J of a group is on the stack with L while both are not larger: of float.
inline constexpr std::size_t group_register_bytes = 2 * 32 * 32 * sizeof(float);
/// Block Jacobi likewise.
inline constexpr BlockShape block_shapes[] = {{64, {4}, {4}, {4}}};
/// The tall QR likewise.
inline constexpr TallShape tall_shapes[] = {{32, 64, 64, 64}};
/// Most threads of a team of the tile kernel of gemm, which is taken here by request only.
inline constexpr int tile_team_size = 16;
/// The vector kernel of gemm: bytes and number of the vector registers that the compiler may use.
#if defined(__AVX512F__)
inline constexpr int gemm_vector_bytes = 64;
inline constexpr int gemm_registers = 32;
#else
inline constexpr int gemm_vector_bytes = 32;
inline constexpr int gemm_registers = 16;
#endif
/// The operands that a team of it works through: some tens of microseconds of work.
inline constexpr std::size_t vector_team_bytes = 256u << 10;
/// Its panel of B: half of the first-level cache.
inline constexpr std::size_t vector_panel_bytes = 24u << 10;
/// From this size on B is staged wherever it lies: its rows then share no sets of that cache.
inline constexpr std::size_t vector_staged_bytes = 48u << 10;
/// Edge of the blocks of C that large products are dealt out in.
inline constexpr int vector_block = 240;
/// From which products on the CBLAS is preferred. (OpenBLAS with AVX2 takes 1.1 times as long as
/// the vector kernel at n = 223, with AVX-512 0.87 times.)
inline constexpr VendorStart vendor_start = {16, 256. * 256 * 256};
inline constexpr VendorStarts vendor_starts = {vendor_start, vendor_start, vendor_start,
                                               vendor_start};
/// The edges of its blocks of C are multiples of this: whole cache lines, and little imbalance.
inline constexpr std::int64_t vendor_block_step = 8;
/// What a block costs beside its products: operands are packed anew for each (OpenBLAS, two
/// threads, 3000 x 3000, float: blocks of 500 give 85 % of one call's rate, of 1500 96 %).
inline constexpr double vendor_block_overhead = 42;
/// Most scratch of a team kernel.
inline constexpr std::size_t scratch_bytes = 1u << 20;

} // namespace shoal::detail::openmp_tuning

#endif
