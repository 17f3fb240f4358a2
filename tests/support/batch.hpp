// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_SUPPORT_BATCH_HPP
#define SHOAL_TESTS_SUPPORT_BATCH_HPP

#include <shoal/shoal.hpp>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

/// \file
/// Batches in every layout, with guards: a test fills and reads matrices on the host by (b, i, j), and the
/// elements of the storage that belong to no matrix must still hold their sentinel afterwards.
namespace shoal_test {

using Space = SHOAL_TEST_SPACE;

template <class T>
using RealOf = typename shoal::detail::real_of<T>::type;

enum class Layout { right, left, column, padded, gaps };
inline constexpr Layout all_layouts[] = {Layout::right, Layout::left, Layout::column, Layout::padded,
                                         Layout::gaps};

inline const char* name_of(Layout l) {
  switch (l) {
  case Layout::right: return "row-major";
  case Layout::left: return "interleaved";
  case Layout::column: return "column-major";
  case Layout::padded: return "padded rows";
  case Layout::gaps: return "gaps between matrices";
  }
  return "";
}

template <class T>
T not_a_number() {
  const RealOf<T> nan = std::numeric_limits<RealOf<T>>::quiet_NaN();
  if constexpr (shoal::detail::is_complex_scalar<T>) return T(nan, nan);
  else return nan;
}

/// A batch on the host: plain (b, i, j) storage.
template <class T>
struct HostBatch {
  int batch = 0, rows = 0, cols = 0;
  std::vector<T> data;

  HostBatch() = default;
  HostBatch(int b, int m, int n, T fill = T(0))
      : batch(b), rows(m), cols(n), data(static_cast<std::size_t>(b) * m * n, fill) {}
  T& operator()(int b, int i, int j) {
    return data[(static_cast<std::size_t>(b) * rows + i) * cols + j];
  }
  const T& operator()(int b, int i, int j) const {
    return data[(static_cast<std::size_t>(b) * rows + i) * cols + j];
  }
};

/// The same batch in the memory of Space in a given layout.
template <class T>
class DeviceBatch {
public:
  using View =
      Kokkos::View<T***, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  DeviceBatch(const HostBatch<T>& host, Layout layout, bool poison = false)
      : m_host(host.batch, host.rows, host.cols) {
    const std::int64_t b = host.batch, m = host.rows, n = host.cols;
    switch (layout) {
    case Layout::right: set(m * n, n, 1); break;
    case Layout::left: set(1, b, b * m); break;
    case Layout::column: set(m * n, 1, m); break;
    case Layout::padded: set(m * (n + 3), n + 3, 1); break;
    case Layout::gaps: set(m * n + 5, 1, m); break;
    }
    m_offset = layout == Layout::gaps ? 1 : 0; // also an address that no wide access likes
    const std::int64_t size = m_offset + b * m * (n + 3) + 5 * b + 8;
    m_storage = Kokkos::View<T*, Space>("test::storage", static_cast<std::size_t>(size));
    m_before = Kokkos::create_mirror(m_storage);
    for (std::int64_t i = 0; i < size; ++i) m_before(i) = T(RealOf<T>(-77));
    for (int x = 0; x < b; ++x)
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
          m_before(at(x, i, j)) = poison ? not_a_number<T>() : host(x, i, j);
    Kokkos::deep_copy(m_storage, m_before);
  }

  View view() const {
    return View(m_storage.data() + m_offset,
                Kokkos::LayoutStride(m_host.batch, m_stride[0], m_host.rows, m_stride[1], m_host.cols,
                                     m_stride[2]));
  }
  /// The matrices as they are now.
  HostBatch<T> read() const {
    const auto now = Kokkos::create_mirror(m_storage);
    Kokkos::deep_copy(now, m_storage);
    HostBatch<T> result(m_host.batch, m_host.rows, m_host.cols);
    for (int b = 0; b < result.batch; ++b)
      for (int i = 0; i < result.rows; ++i)
        for (int j = 0; j < result.cols; ++j) result(b, i, j) = now(at(b, i, j));
    return result;
  }
  /// Whether only elements of the matrices have changed.
  bool guards_intact() const {
    const auto now = Kokkos::create_mirror(m_storage);
    Kokkos::deep_copy(now, m_storage);
    std::vector<char> inside(m_storage.size(), 0);
    for (int b = 0; b < m_host.batch; ++b)
      for (int i = 0; i < m_host.rows; ++i)
        for (int j = 0; j < m_host.cols; ++j) inside[at(b, i, j)] = 1;
    for (std::size_t i = 0; i < inside.size(); ++i)
      if (!inside[i] && !(now(i) == m_before(i))) return false;
    return true;
  }
  /// Whether nothing at all has changed.
  bool untouched() const {
    const auto now = Kokkos::create_mirror(m_storage);
    Kokkos::deep_copy(now, m_storage);
    return std::memcmp(now.data(), m_before.data(), now.size() * sizeof(T)) == 0;
  }

private:
  HostBatch<T> m_host; // extents only
  std::int64_t m_stride[3] = {0, 0, 0};
  std::int64_t m_offset = 0;
  Kokkos::View<T*, Space> m_storage;
  decltype(Kokkos::create_mirror(Kokkos::View<T*, Space>())) m_before;

  void set(std::int64_t b, std::int64_t i, std::int64_t j) {
    m_stride[0] = b;
    m_stride[1] = i;
    m_stride[2] = j;
  }
  std::int64_t at(int b, int i, int j) const {
    return m_offset + b * m_stride[0] + i * m_stride[1] + j * m_stride[2];
  }
};

} // namespace shoal_test

#endif
