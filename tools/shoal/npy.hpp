// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TOOLS_NPY_HPP
#define SHOAL_TOOLS_NPY_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// \file
/// NumPy's .npy format, versions 1 to 3: a header that is a Python dictionary, then the raw
/// elements (numpy.lib.format). No packaged C++ library maps files or knows all of dtypes, orders
/// and versions.
namespace shoal_cli {

/// The scalar type that shoal computes in.
enum class Scalar { f4, f8, c8, c16 };
const char* numpy_name(Scalar s); ///< "<f4"
std::size_t size_of(Scalar s);
Scalar promote(Scalar a, Scalar b); ///< numpy.result_type

/// An .npy file mapped into memory, read only. Throws BadInput when it is none that can be used.
class NpyFile {
public:
  explicit NpyFile(const std::string& path);
  ~NpyFile();
  NpyFile(const NpyFile&) = delete;
  NpyFile& operator=(const NpyFile&) = delete;

  const std::string& path() const { return m_path; }
  const std::vector<std::int64_t>& shape() const { return m_shape; }
  Scalar scalar() const { return m_scalar; }
  /// What was converted to scalar(), as in "integers (<i4)"; empty if nothing.
  const std::string& converted_from() const { return m_converted; }

  /// Copies a strided rows x cols matrix, row-major, to `to`, converted to T. offset and strides in
  /// elements.
  template <class T>
  void read(std::int64_t offset, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
            std::int64_t col_stride, T* to) const;
  /// Strides in elements of each dimension.
  std::vector<std::int64_t> strides() const;
  /// Lets go of the pages read so far, so that a file larger than memory does not fill it. In C
  /// order the elements before `done` are finished with.
  void forget(std::int64_t done) const;

private:
  std::string m_path, m_converted;
  std::vector<std::int64_t> m_shape;
  Scalar m_scalar = Scalar::f8;
  char m_kind = 'f';
  std::size_t m_item = 8;
  bool m_swapped = false, m_fortran = false;
  unsigned char* m_map = nullptr;
  std::size_t m_bytes = 0, m_header = 0;

  void parse(const std::string& header);
};

/// The bytes before the elements of a C-ordered array.
std::string npy_header(Scalar scalar, const std::vector<std::int64_t>& shape);

} // namespace shoal_cli

#endif
