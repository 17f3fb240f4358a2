// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TOOLS_COMMANDS_HPP
#define SHOAL_TOOLS_COMMANDS_HPP

#include "tools/shoal/npy.hpp"

#include <shoal/types.hpp>

#include <cstdint>
#include <string>

/// \file
/// The commands of the program. Each returns an ExitCode; Kokkos is initialised where they are
/// called.
namespace shoal_cli {

struct SvdRequest {
  std::string input, output;
  shoal::Vectors vectors = shoal::Vectors::thin;
  std::int64_t rank = -1; ///< < 0: all values
  double tolerance = 0;
  bool fix_signs = false;
  bool check = false;
  double chunk_megabytes = 256; ///< memory for the matrices in work at a time
};
int svd_command(const SvdRequest& request);

struct GemmRequest {
  std::string a, b, output;
  shoal::Op op_a = shoal::Op::none, op_b = shoal::Op::none;
  double alpha = 1;
  double chunk_megabytes = 256;
};
int gemm_command(const GemmRequest& request);

int demo_command();
int info_command();

/// Notes a conversion on stderr, if the file needed one.
void note_conversion(const NpyFile& file);

} // namespace shoal_cli

#endif
