// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/shoal/npy.hpp"

#include "tools/shoal/errors.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>

namespace shoal_cli {

const char* numpy_name(Scalar s) {
  switch (s) {
  case Scalar::f4: return "<f4";
  case Scalar::f8: return "<f8";
  case Scalar::c8: return "<c8";
  case Scalar::c16: return "<c16";
  }
  return "";
}

std::size_t size_of(Scalar s) {
  switch (s) {
  case Scalar::f4: return 4;
  case Scalar::f8:
  case Scalar::c8: return 8;
  case Scalar::c16: return 16;
  }
  return 0;
}

Scalar promote(Scalar a, Scalar b) {
  const auto is_complex = [](Scalar s) { return s == Scalar::c8 || s == Scalar::c16; };
  const auto is_double = [](Scalar s) { return s == Scalar::f8 || s == Scalar::c16; };
  const bool wide = is_double(a) || is_double(b);
  if (is_complex(a) || is_complex(b)) return wide ? Scalar::c16 : Scalar::c8;
  return wide ? Scalar::f8 : Scalar::f4;
}

namespace {

/// Reads the few Python literals that a header is made of.
class HeaderReader {
public:
  HeaderReader(const std::string& path, const std::string& text) : m_path(path), m_text(text) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw BadInput(m_path + ": broken .npy header: " + what);
  }
  bool accept(char c) {
    skip();
    if (m_at < m_text.size() && m_text[m_at] == c) return ++m_at, true;
    return false;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("'") + c + "' expected at byte " + std::to_string(m_at));
  }
  std::string string() {
    skip();
    const char quote = m_at < m_text.size() ? m_text[m_at] : '\0';
    if (quote != '\'' && quote != '"') fail("a string expected at byte " + std::to_string(m_at));
    const std::size_t end = m_text.find(quote, m_at + 1);
    if (end == std::string::npos) fail("a string does not end");
    const std::string s = m_text.substr(m_at + 1, end - m_at - 1);
    m_at = end + 1;
    return s;
  }
  bool boolean() {
    skip();
    for (const bool value : {true, false}) {
      const std::string word = value ? "True" : "False";
      if (m_text.compare(m_at, word.size(), word) == 0) return m_at += word.size(), value;
    }
    fail("True or False expected at byte " + std::to_string(m_at));
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> numbers;
    expect('(');
    while (!accept(')')) {
      skip();
      std::int64_t n = 0;
      const std::size_t begin = m_at;
      for (; m_at < m_text.size() && std::isdigit(static_cast<unsigned char>(m_text[m_at]));
           ++m_at) {
        if (n > std::numeric_limits<std::int64_t>::max() / 16) fail("an extent is too large");
        n = n * 10 + (m_text[m_at] - '0');
      }
      if (m_at == begin) fail("a number expected at byte " + std::to_string(m_at));
      numbers.push_back(n);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return numbers;
  }
  bool next_is(char c) {
    skip();
    return m_at < m_text.size() && m_text[m_at] == c;
  }

private:
  std::string m_path, m_text;
  std::size_t m_at = 0;
  void skip() {
    while (m_at < m_text.size() && std::isspace(static_cast<unsigned char>(m_text[m_at]))) ++m_at;
  }
};

float half_to_float(std::uint16_t h) {
  const int exponent = h >> 10 & 31, mantissa = h & 1023;
  float x;
  if (exponent == 31)
    x = mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  else if (exponent == 0) x = std::ldexp(static_cast<float>(mantissa), -24);
  else x = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return h & 0x8000 ? -x : x;
}

template <class X>
X raw(const unsigned char* p, bool swapped) {
  unsigned char bytes[sizeof(X)];
  std::memcpy(bytes, p, sizeof(X));
  if (swapped) std::reverse(bytes, bytes + sizeof(X));
  X x;
  std::memcpy(&x, bytes, sizeof(X));
  return x;
}

template <class T>
struct is_complex : std::false_type {};
template <class R>
struct is_complex<Kokkos::complex<R>> : std::true_type {};

/// One element converted to T.
template <class T>
T element(const unsigned char* p, char kind, std::size_t item, bool swapped) {
  if constexpr (is_complex<T>::value) {
    using R = typename T::value_type;
    if (kind == 'c')
      return item == 8 ? T(static_cast<R>(raw<float>(p, swapped)),
                           static_cast<R>(raw<float>(p + 4, swapped)))
                       : T(static_cast<R>(raw<double>(p, swapped)),
                           static_cast<R>(raw<double>(p + 8, swapped)));
    return T(element<R>(p, kind, item, swapped));
  } else {
    switch (kind) {
    case 'f':
      if (item == 2) return static_cast<T>(half_to_float(raw<std::uint16_t>(p, swapped)));
      return item == 4 ? static_cast<T>(raw<float>(p, swapped))
                       : static_cast<T>(raw<double>(p, swapped));
    case 'b': return static_cast<T>(*p != 0);
    case 'i':
      switch (item) {
      case 1: return static_cast<T>(raw<std::int8_t>(p, swapped));
      case 2: return static_cast<T>(raw<std::int16_t>(p, swapped));
      case 4: return static_cast<T>(raw<std::int32_t>(p, swapped));
      default: return static_cast<T>(raw<std::int64_t>(p, swapped));
      }
    default:
      switch (item) {
      case 1: return static_cast<T>(raw<std::uint8_t>(p, swapped));
      case 2: return static_cast<T>(raw<std::uint16_t>(p, swapped));
      case 4: return static_cast<T>(raw<std::uint32_t>(p, swapped));
      default: return static_cast<T>(raw<std::uint64_t>(p, swapped));
      }
    }
  }
}

} // namespace

NpyFile::NpyFile(const std::string& path) : m_path(path) {
  const int file = ::open(path.c_str(), O_RDONLY);
  if (file < 0) throw BadInput(path + ": " + std::strerror(errno));
  struct stat status;
  const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  m_bytes = regular ? static_cast<std::size_t>(status.st_size) : 0;
  void* const map = m_bytes ? ::mmap(nullptr, m_bytes, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
  ::close(file);
  if (!regular) throw BadInput(path + ": not a regular file, an .npy file is needed");
  if (map == MAP_FAILED) throw BadInput(path + ": cannot be mapped: " + std::strerror(errno));
  m_map = static_cast<unsigned char*>(map);
  try {
    if (m_bytes < 12 || std::memcmp(m_map, "\x93NUMPY", 6) != 0)
      throw BadInput(path + ": not an .npy file (its first bytes are not \\x93NUMPY), one written "
                            "by numpy.save is needed");
    const int version = m_map[6];
    if (version < 1 || version > 3)
      throw BadInput(path + ": .npy version " + std::to_string(version) +
                     " found, 1 to 3 are known");
    const std::size_t start = version == 1 ? 10 : 12;
    const std::size_t length =
        version == 1 ? raw<std::uint16_t>(m_map + 8, false) : raw<std::uint32_t>(m_map + 8, false);
    if (start + length > m_bytes)
      throw BadInput(path + ": truncated: the header needs " + std::to_string(start + length) +
                     " bytes, the file has " + std::to_string(m_bytes));
    m_header = start + length;
    parse(std::string(reinterpret_cast<const char*>(m_map) + start, length));
  } catch (...) {
    if (m_map) ::munmap(m_map, m_bytes);
    throw;
  }
}

NpyFile::~NpyFile() {
  if (m_map) ::munmap(m_map, m_bytes);
}

void NpyFile::parse(const std::string& header) {
  HeaderReader reader(m_path, header);
  std::string dtype;
  bool have_dtype = false, have_order = false, have_shape = false;
  reader.expect('{');
  while (!reader.accept('}')) {
    const std::string key = reader.string();
    reader.expect(':');
    if (key == "descr") {
      if (reader.next_is('['))
        throw BadInput(m_path + ": a structured dtype found, one plain number type is needed");
      dtype = reader.string();
      have_dtype = true;
    } else if (key == "fortran_order") {
      m_fortran = reader.boolean();
      have_order = true;
    } else if (key == "shape") {
      m_shape = reader.tuple();
      have_shape = true;
    } else {
      reader.fail("unknown key '" + key + "'");
    }
    if (!reader.accept(',')) {
      reader.expect('}');
      break;
    }
  }
  if (!have_dtype || !have_order || !have_shape)
    reader.fail("descr, fortran_order and shape are needed");

  const bool sized = dtype.size() >= 3 &&
                     dtype.find_first_not_of("0123456789", 2) == std::string::npos &&
                     dtype.size() < 6;
  m_item = sized ? std::stoul(dtype.substr(2)) : 0;
  m_kind = sized ? dtype[1] : '?';
  m_swapped = sized && dtype[0] == '>';
  const bool is_integer = (m_kind == 'i' || m_kind == 'u') &&
                          (m_item == 1 || m_item == 2 || m_item == 4 || m_item == 8);
  if (m_kind == 'f' && m_item == 4) m_scalar = Scalar::f4;
  else if (m_kind == 'f' && m_item == 8) m_scalar = Scalar::f8;
  else if (m_kind == 'c' && m_item == 8) m_scalar = Scalar::c8;
  else if (m_kind == 'c' && m_item == 16) m_scalar = Scalar::c16;
  else if (m_kind == 'f' && m_item == 2) {
    m_scalar = Scalar::f4;
    m_converted = "half precision (" + dtype + ")";
  } else if (is_integer || (m_kind == 'b' && m_item == 1)) {
    m_scalar = Scalar::f8;
    m_converted = (is_integer ? "integers (" : "truth values (") + dtype + ")";
  } else {
    throw BadInput(m_path + ": dtype '" + dtype +
                   "' found, a float, complex, integer or bool type is needed");
  }
  if (m_swapped) // complex numbers are swapped part by part
    m_converted += (m_converted.empty() ? "" : ", ") + std::string("big-endian (") + dtype + ")";

  std::size_t elements = 1;
  for (const std::int64_t n : m_shape) {
    if (n > 0 &&
        elements > std::numeric_limits<std::size_t>::max() / 32 / static_cast<std::size_t>(n))
      reader.fail("the shape is too large");
    elements *= static_cast<std::size_t>(n);
  }
  if (m_bytes - m_header < elements * m_item)
    throw BadInput(m_path + ": truncated: the shape needs " + std::to_string(elements * m_item) +
                   " bytes of elements, the file has " + std::to_string(m_bytes - m_header));
}

std::vector<std::int64_t> NpyFile::strides() const {
  std::vector<std::int64_t> strides(m_shape.size());
  std::int64_t stride = 1;
  for (std::size_t x = 0; x < m_shape.size(); ++x) {
    const std::size_t d = m_fortran ? x : m_shape.size() - 1 - x;
    strides[d] = stride;
    stride *= m_shape[d];
  }
  return strides;
}

template <class T>
void NpyFile::read(std::int64_t offset, std::int64_t rows, std::int64_t cols,
                   std::int64_t row_stride, std::int64_t col_stride, T* to) const {
  const unsigned char* const base = m_map + m_header;
  const bool plain = sizeof(T) == m_item && is_complex<T>::value == (m_kind == 'c') &&
                     (m_kind == 'f' || m_kind == 'c') && !m_swapped;
  for (std::int64_t i = 0; i < rows; ++i) {
    const unsigned char* const row =
        base + (offset + i * row_stride) * static_cast<std::int64_t>(m_item);
    if (plain && col_stride == 1) {
      std::memcpy(static_cast<void*>(to), row, static_cast<std::size_t>(cols) * sizeof(T));
      to += cols;
      continue;
    }
    for (std::int64_t j = 0; j < cols; ++j)
      *to++ = element<T>(row + j * col_stride * static_cast<std::int64_t>(m_item), m_kind, m_item,
                         m_swapped);
  }
}
template void NpyFile::read(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                            float*) const;
template void NpyFile::read(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                            double*) const;
template void NpyFile::read(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                            Kokkos::complex<float>*) const;
template void NpyFile::read(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                            Kokkos::complex<double>*) const;

void NpyFile::forget(std::int64_t done) const {
  std::size_t bytes = m_bytes;
  if (!m_fortran) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    bytes = (m_header + static_cast<std::size_t>(done) * m_item) / page * page;
  }
  if (bytes > 0) ::madvise(m_map, std::min(bytes, m_bytes), MADV_DONTNEED);
}

std::string npy_header(Scalar scalar, const std::vector<std::int64_t>& shape) {
  std::string text =
      std::string("{'descr': '") + numpy_name(scalar) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t n : shape) text += std::to_string(n) + ", ";
  if (shape.size() > 1) text.resize(text.size() - 2);
  text += "), }";
  constexpr std::size_t prefix = 10, align = 64;
  text.append(align - (prefix + text.size() + 1) % align, ' ');
  text += '\n';
  const auto length = static_cast<std::uint16_t>(text.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 255) +
         static_cast<char>(length >> 8) + text;
}

} // namespace shoal_cli
