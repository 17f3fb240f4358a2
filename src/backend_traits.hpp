// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_SRC_BACKEND_TRAITS_HPP
#define SHOAL_SRC_BACKEND_TRAITS_HPP

namespace shoal::detail {

/// What the kernels must know of a backend at compile time. Specialised in backends/<b>/traits.hpp
/// with
///  - lane_width<R>: matrices that a lane holds side by side, for the real type R;
///  - LaneTile<T>: the type of src/lane_tile.hpp that stages for those lanes;
///  - run_time_columns: the bound of the lane kernels whose column number is known at run time
///  only,
///    with their work space in scratch (0: there are none);
///  - lane_register_bytes: the largest matrix of rotations that a lane keeps in registers;
///  - scratch_level: Kokkos' level of team scratch that the kernels use;
///  - lane_threads: the bound on the team size of the lane kernels;
///  - allocate(exec, bytes), release(exec, pointer): the stream-ordered pool.
template <class Exec>
struct backend_traits;

} // namespace shoal::detail

#endif
