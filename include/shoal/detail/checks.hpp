// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_CHECKS_HPP
#define SHOAL_DETAIL_CHECKS_HPP

#include <shoal/options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

/// \file
/// Every precondition that can be checked before a launch. Each function throws
/// shoal::invalid_argument naming the argument, what came and what was expected.
namespace shoal::detail {

/// What the checks look at of a batch: no scalar type, so that one compiled copy serves all.
struct BatchShape {
  const char* name = "";
  const void* data = nullptr;     ///< first element
  const void* pointers = nullptr; ///< array of pointers, if the batch is one
  bool sizes_differ = false;      ///< extents 1 and 2 are maxima then
  const void* rows = nullptr;     ///< the arrays of the sizes where they differ
  const void* cols = nullptr;
  bool vectors = false;               ///< one column each: rows are their sizes
  std::int64_t extent[3] = {0, 1, 1}; ///< batch, rows, cols
  std::int64_t stride[3] = {0, 0, 0};
  std::int64_t element_size = 1;
  bool present = true; ///< false: the caller left the argument out
};

template <class Ref>
BatchShape shape_of(const char* name, const Ref& r) {
  BatchShape s;
  s.name = name;
  s.data = r.data;
  s.pointers = r.pointers;
  s.sizes_differ = r.sizes_differ();
  s.rows = r.sizes.rows;
  s.cols = r.sizes.cols;
  s.vectors = r.sizes.vectors;
  s.extent[0] = r.batch;
  s.extent[1] = r.rows;
  s.extent[2] = r.cols;
  s.stride[0] = r.batch_stride;
  s.stride[1] = r.row_stride;
  s.stride[2] = r.col_stride;
  s.element_size = sizeof(*r.data);
  return s;
}

/// alpha and beta are not looked at where they are numbers.
void check_gemm(const BatchShape& alpha, const BatchShape& a, const BatchShape& b,
                const BatchShape& beta, const BatchShape& c, const GemmOptions& options);

/// u and vt are not looked at where the options ask for no vectors of that side. reports: info and
/// the details, one number a matrix.
void check_svd(const BatchShape& a, const BatchShape& u, const BatchShape& s, const BatchShape& vt,
               const std::array<BatchShape, 4>& reports, const SvdOptions& options);

void check_workspace(const char* function, const void* data, std::size_t bytes, std::size_t needed);

} // namespace shoal::detail

#endif
