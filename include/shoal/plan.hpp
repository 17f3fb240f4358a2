// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_PLAN_HPP
#define SHOAL_PLAN_HPP

#include <shoal/options.hpp>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>

/// \file
/// What the library decides about a call before it launches anything: plain values that can be
/// printed and compared. Users read them out of curiosity or to size workspaces; tests check them
/// without a GPU.
namespace shoal {

/// How one call of \ref gemm runs.
struct GemmPlan {
  GemmPath path = GemmPath::automatic;
  std::int64_t league_size = 0; ///< teams launched
  int team_size = 0;            ///< threads of a team
  int vector_length = 1;        ///< lanes of a thread
  int matrices_per_team = 0;    ///< the run of matrices a team stages at once
  /// Of the tile kernel: the edge of the part of C that a thread holds, and the extents of the
  /// blocks that a team stages at once. Of the vector kernel: the block of C that a team computes,
  /// and the rows of B that it stages at once. Of the vendor's library, whose callers count as
  /// teams: the block of C of a call.
  int tile = 0;
  int block_m = 0;
  int block_n = 0;
  int block_k = 0;
  bool stages_b = false; ///< Of the vector kernel: B is staged also where it can be read in place
  std::size_t scratch_bytes = 0; ///< level-0 scratch of a team

  friend bool operator==(const GemmPlan&, const GemmPlan&) = default;
};

/// How one call of \ref svd runs.
struct SvdPlan {
  SvdPath path = SvdPath::automatic;
  bool transposed = false; ///< m < n: decomposed as the transpose, by strides
  std::int64_t league_size = 0;
  int team_size = 0;
  int vector_length = 1;
  int matrices_per_team = 0;
  int instance_columns = 0;    ///< of the instance of the group, block or tall kernel; else 0
  std::int64_t row_blocks = 0; ///< of the tall path: blocks that the rows of a matrix are cut into
  std::size_t scratch_bytes = 0;
  /// The part of the working set that does not fit in scratch, for each team; 0 where all of it
  /// does.
  std::size_t workspace_bytes_per_team = 0;
  /// What all teams share: the number of the next matrix, where sizes differ; all blocks of rows of
  /// the tall path, and the workspace of the path that decomposes their triangles.
  std::size_t workspace_bytes_shared = 0;

  /// league_size * workspace_bytes_per_team + workspace_bytes_shared
  std::size_t workspace_bytes() const {
    return static_cast<std::size_t>(league_size) * workspace_bytes_per_team +
           workspace_bytes_shared;
  }
  friend bool operator==(const SvdPlan&, const SvdPlan&) = default;
};

std::ostream& operator<<(std::ostream&, const GemmPlan&);
std::ostream& operator<<(std::ostream&, const SvdPlan&);

namespace detail {

struct ScalarSize {
  std::size_t bytes; ///< sizeof the scalar that is computed with
  bool is_complex;
  std::size_t stored_bytes = bytes; ///< sizeof the scalar in memory
  std::size_t real_bytes() const { return is_complex ? bytes / 2 : bytes; }
};

/// Instances of the group SVD: their most columns, and the lanes that share a matrix by the size of
/// its scalars.
struct GroupShape {
  int columns;
  int lanes_of_4_bytes, lanes_of_8_bytes, lanes_of_16_bytes; ///< 0: no such instance

  constexpr int lanes(std::size_t scalar_bytes) const {
    return scalar_bytes <= 4   ? lanes_of_4_bytes
           : scalar_bytes <= 8 ? lanes_of_8_bytes
                               : lanes_of_16_bytes;
  }
};

/// From which products on the vendor's library is preferred: the least of m, n and k, m n k, and
/// the part of its tiles of C that is C.
struct VendorStart {
  std::int64_t extent = 0;
  double work = 0;
  double fill = 0;
};
/// By scalar.
struct VendorStarts {
  VendorStart f32, f64, c64, c128;

  constexpr const VendorStart& of(ScalarSize scalar) const {
    if (scalar.is_complex) return scalar.bytes <= 8 ? c64 : c128;
    return scalar.bytes <= 4 ? f32 : f64;
  }
};

/// What a plan must know of the vendor's library for gemm.
struct VendorLimits {
  bool found = false; ///< whether shoal was built with one
  VendorStarts starts;
  std::int64_t tile = 1;              ///< edge of the tiles in which it computes C
  std::int64_t matrices_per_call = 1; ///< most of a call
  /// Threads that call it at once, each for a block of C; 1: a call fills the device.
  std::int64_t callers = 1;
  /// The edges of blocks are multiples of this. What a block costs beside its products, in columns
  /// of C for each of its rows and rows for each of its columns.
  std::int64_t block_step = 1;
  double block_overhead = 0;
};

/// An instance of block Jacobi: the columns of a block, the most threads of a team times their
/// vector lanes, and the teams whose registers are to fit at once. Width 0: there is none.
struct BlockInstance {
  int width = 0, threads = 0, teams = 0;
};
/// Instances for up to some number of columns, by the size of the scalars.
struct BlockShape {
  int columns;
  BlockInstance of_4_bytes, of_8_bytes, of_16_bytes;

  constexpr const BlockInstance& instance(std::size_t scalar_bytes) const {
    return scalar_bytes <= 4 ? of_4_bytes : scalar_bytes <= 8 ? of_8_bytes : of_16_bytes;
  }
};

/// Instances of the tall QR: their most columns, and the rows that a vector lane holds, by the size
/// of the scalars. 0: there is none.
struct TallShape {
  int columns;
  int rows_of_4_bytes, rows_of_8_bytes, rows_of_16_bytes;

  constexpr int rows(std::size_t scalar_bytes) const {
    return scalar_bytes <= 4   ? rows_of_4_bytes
           : scalar_bytes <= 8 ? rows_of_8_bytes
                               : rows_of_16_bytes;
  }
};

/// What a plan must know of a backend. Filled by backends/<b>/backend.cpp from the device and from
/// detail/backends/<b>/tuning.hpp.
struct BackendLimits {
  int vector_bytes = 0;   ///< width of a lane's pack; 0: a lane is a thread with one number
  bool odd_tiles = false; ///< the matrices of lanes start an odd number of elements apart
  int lane_team_size = 1; ///< threads of a team of the lane kernels, at most and at least
  int lane_team_size_least = 1;
  int lane_runs = 1;        ///< runs of matrices that such a team works through
  int register_columns = 4; ///< most columns that a lane keeps in registers
  std::size_t lane_register_bytes =
      ~std::size_t(0);  ///< largest L and J that a lane keeps in registers
  int lane_columns = 4; ///< most columns that the lane SVD takes
  std::size_t lane_matrix_bytes = ~std::size_t(0); ///< largest n x n matrix that the lane SVD takes
  std::size_t lane_scratch_bytes = 0;              ///< most scratch of a team of the lane kernels
  /// The group SVD: its instances in order of preference, whether it is preferred to the team
  /// kernel, most vector lanes of a team, most scratch of a team.
  std::span<const GroupShape> group_shapes;
  bool group_preferred = false;
  int group_lanes = 1;
  std::size_t group_scratch_bytes = 0;
  /// The team SVD with block Jacobi: its instances, the smallest first, and whether it is preferred
  /// to the team kernel without.
  std::span<const BlockShape> block_shapes;
  bool block_preferred = false;
  /// The tall path: its instances, the smallest first, vector lanes of a team, and the ratio of
  /// rows to columns from which on it is preferred to all but the lane kernel (0: never).
  std::span<const TallShape> tall_shapes;
  int tall_lanes = 1;
  int tall_least_ratio = 0;
  int team_size = 1; ///< threads and vector lanes of a team of the team kernels
  int vector_length = 1;
  std::int64_t teams_at_once = 1; ///< teams that fill the device: bounds the workspace
  std::size_t scratch_bytes = 0;  ///< most scratch of a team of the team kernels
  /// The tile kernel of gemm: whether it is preferred to the others, most threads of a team, most
  /// scratch of a team, and the tile where it is not to be chosen by the plan (0: it is).
  bool tile_preferred = false;
  int tile_team_size = 1;
  std::size_t tile_scratch_bytes = 0;
  int tile = 0;
  /// Whether there are vector kernels: that of gemm is then preferred to all others, that of svd
  /// to those but the lane kernel.
  bool vector_preferred = false;
  /// The vector kernel of gemm: bytes of its vectors; bytes of operands that a team is to work
  /// through; most bytes of a staged panel of B; from how many bytes of B on it is staged in any
  /// case; and the edge of the blocks of C of large products.
  int gemm_vector_bytes = 0;
  std::size_t vector_team_bytes = 0;
  std::size_t vector_panel_bytes = 0;
  std::size_t vector_staged_bytes = ~std::size_t(0);
  int vector_block = 0;
  VendorLimits vendor;

  /// Matrices that a lane holds side by side.
  int lane_width(std::size_t real_size) const {
    return vector_bytes ? vector_bytes / static_cast<int>(real_size) : 1;
  }
};

struct GemmShape {
  std::int64_t batch, m, n, k; ///< the largest of each where sizes differ
  bool sizes_differ = false;
  /// Why the vendor's library cannot be told of the product, null: it can.
  const char* vendor_obstacle = nullptr;
};
struct SvdShape {
  std::int64_t batch, m, n; ///< of A as given; the largest m and n where sizes differ
  bool sizes_differ = false;
};

GemmPlan plan_gemm(const GemmShape&, ScalarSize, const BackendLimits&, const GemmOptions&);
SvdPlan plan_svd(const SvdShape&, ScalarSize, const BackendLimits&, const SvdOptions&);
/// What the tall path asks for of the triangles.
SvdOptions options_of_triangles(bool transposed, const SvdOptions&);

} // namespace detail
} // namespace shoal

#endif
