// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_BACKEND_TRAITS_HPP
#define SHOAL_DETAIL_BACKEND_TRAITS_HPP

namespace shoal::detail {

/// What the kernels must know of a backend at compile time. Specialised in
/// detail/backends/<b>/traits.hpp
/// with
///  - lane_width<R>: matrices that a lane holds side by side, for the real type R;
///  - LaneTile<T>: the type of detail/lane_tile.hpp that stages for those lanes;
///  - register_columns: most columns of the lane SVD whose work space is in registers;
///  - constant_columns: most columns for which there is an instance of their number;
///  - lane_matrix_bytes: the largest n x n matrix for which there is such an instance;
///  - run_time_columns: the bound of the lane kernels whose column number is known at run time
///  only,
///    with their work space in scratch (0: there are none);
///  - lane_register_bytes: the largest n x n matrix that a lane keeps in registers;
///  - scratch_level: Kokkos' level of team scratch that the kernels use;
///  - lane_threads: the bound on the team size of the lane kernels;
///  - group_shapes: the instances of the group SVD; group_lanes: the bound on the lanes of a team,
///    0: none; group_teams<T, Columns, Lanes>: teams whose registers are to fit at once;
///  - Group<Lanes>: the vector lanes of this thread, for code that all lanes of a warp go through
///    together: lanes, rank(), register_bytes<T> (of L and J that a lane may hold),
///    exchanged(x, distance): the x of lane rank ^ distance, from(x, lane): that of lane `lane`,
///    any(b) of the group, any_of_warp(b), sync(): what the warp's lanes have written is seen by
///    all of them after it;
///  - block_shapes: the instances of block Jacobi; block_lanes: the vector lanes of the threads of
///    team and block kernels;
///  - team_threads: the bound on the lanes of a team of svd, 0: none; svd_teams: teams whose
///    registers are to fit at once;
///  - tile_threads: the bound on the team size of the tile kernel, 0: none;
///  - svd_vector_bytes: size of the registers of the vector kernel of svd, 0: there is none;
///  - gemm_vector_bytes, gemm_registers: size and number of the registers of the vector kernel of
///  gemm, 0: there is no such kernel;
///  - vendor_takes<T>: whether there is a vendor_gemm (src/gemm/vendor.hpp) for this scalar;
///  - copy_async(scratch, memory), commit_copies(), wait_for_copies(all_but_latest): copies
///    of 2, 4, 8 or 16 bytes to scratch that a thread starts and later waits for;
///  - allocate(exec, bytes), release(exec, pointer): the stream-ordered pool.
template <class Exec>
struct backend_traits;

} // namespace shoal::detail

#endif
