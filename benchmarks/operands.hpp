// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BENCHMARKS_OPERANDS_HPP
#define SHOAL_BENCHMARKS_OPERANDS_HPP

#include "benchmarks/rivals/rival.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// \file
/// The matrices in the memory of the execution space: filled, poisoned, scanned, sampled. The value
/// of an element depends on its index alone, so that every layout holds the same matrices.
namespace bench {

using Exec = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

/// In elements.
struct Strides {
  std::int64_t batch, row, col;
};

inline Strides strides_of(Layout layout, std::int64_t batch, std::int64_t rows, std::int64_t cols) {
  if (layout == Layout::row_major) return {rows * cols, cols, 1};
  if (layout == Layout::column_major) return {rows * cols, 1, rows};
  return {1, batch, batch * rows};
}

/// A batch in memory, seen as rows x cols; conjugated where it stands for the conjugate.
template <class T>
struct Matrices {
  T* data = nullptr;
  std::int64_t batch = 0;
  int rows = 0, cols = 0;
  Strides strides = {};
  bool conjugated = false;

  std::int64_t size() const { return batch * rows * cols; }

  /// The real numbers that hold the element with row-major index i of all batches.
  KOKKOS_FUNCTION Real<T>* element(std::int64_t i) const {
    const std::int64_t col = i % cols, row = i / cols % rows, matrix = i / cols / rows;
    return reinterpret_cast<Real<T>*>(data) +
           (matrix * strides.batch + row * strides.row + col * strides.col) *
               (is_complex<T> ? 2 : 1);
  }
};

/// Numbers near a normal distribution (four uniform ones added), with a full mantissa.
template <class T>
struct Fill {
  Matrices<T> x;
  std::uint64_t seed;
  Real<T> grading; ///< the factor from a column to the next

  KOKKOS_FUNCTION static std::uint64_t mix(std::uint64_t z) { // splitmix64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Real<T>* const to = x.element(i);
    Real<T> scale(1);
    if (grading != Real<T>(1))
      for (std::int64_t col = i % x.cols; col > 0; --col) scale *= grading;
    for (int part = 0; part < (is_complex<T> ? 2 : 1); ++part) {
      const std::uint64_t state =
          (static_cast<std::uint64_t>(i) * 2 + part) * 0x9E3779B97F4A7C15ull;
      const std::uint64_t coarse = mix(state + seed), fine = mix(coarse + 1);
      double sum = -2 + static_cast<double>(fine >> 11) * 0x1p-69; // below the coarse part's bits
      for (int k = 0; k < 4; ++k)
        sum += static_cast<double>((coarse >> (16 * k)) & 0xFFFF) * 0x1p-16;
      to[part] = scale * static_cast<Real<T>>(sum * 1.7320508075688772); // variance 1
    }
  }
};

template <class T>
struct Poison {
  Matrices<T> x;
  Real<T> nan;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    for (int part = 0; part < (is_complex<T> ? 2 : 1); ++part) x.element(i)[part] = nan;
  }
};

template <class T>
struct CountNonFinite {
  Matrices<T> x;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    bool finite = true;
    for (int part = 0; part < (is_complex<T> ? 2 : 1); ++part) {
      const Real<T> value = x.element(i)[part];
      finite = finite && value - value == Real<T>(0);
    }
    count += !finite;
  }
};

/// Copies the sampled matrices to row-major real numbers.
template <class T>
struct Gather {
  Matrices<T> x;
  std::int64_t samples;
  Kokkos::View<Real<T>*, Exec> to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    constexpr int parts = is_complex<T> ? 2 : 1;
    const std::int64_t each = std::int64_t(x.rows) * x.cols;
    const std::int64_t matrix = samples == 1 ? 0 : i / each * (x.batch - 1) / (samples - 1);
    const Real<T>* const from = x.element(matrix * each + i % each);
    to(i * parts) = from[0];
    if constexpr (parts == 2) to(i * parts + 1) = x.conjugated ? -from[1] : from[1];
  }
};

struct Copy {
  Kokkos::View<double*, Exec> from, to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = from(i); }
};

template <class T>
void fill(const Exec& exec, const Matrices<T>& x, std::uint64_t seed, double grading = 1) {
  Kokkos::parallel_for("bench::fill", Range(exec, 0, x.size()),
                       Fill<T>{x, Fill<T>::mix(seed + 1), static_cast<Real<T>>(grading)});
}

template <class T>
void poison(const Exec& exec, const Matrices<T>& x) {
  Kokkos::parallel_for("bench::poison", Range(exec, 0, x.size()),
                       Poison<T>{x, std::numeric_limits<Real<T>>::quiet_NaN()});
}

template <class T>
std::int64_t count_non_finite(const Exec& exec, const Matrices<T>& x) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("bench::count_non_finite", Range(exec, 0, x.size()), CountNonFinite<T>{x},
                          count);
  return count;
}

/// The first matrix, the last, and others evenly between: row-major, one after another.
template <class T>
std::vector<T> sample(const Exec& exec, const Matrices<T>& x, std::int64_t samples) {
  std::vector<T> out(static_cast<std::size_t>(samples * x.rows * x.cols));
  const std::size_t numbers = out.size() * (is_complex<T> ? 2 : 1);
  const Kokkos::View<Real<T>*, Exec> to(
      Kokkos::view_alloc(std::string("bench::sample"), Kokkos::WithoutInitializing), numbers);
  Kokkos::parallel_for("bench::sample", Range(exec, 0, static_cast<std::int64_t>(out.size())),
                       Gather<T>{x, samples, to});
  exec.fence();
  Kokkos::deep_copy(Kokkos::View<Real<T>*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                        reinterpret_cast<Real<T>*>(out.data()), numbers),
                    to);
  return out;
}

/// Several sets of one operand in a single allocation; calls take them in turn.
template <class T>
class Operand {
public:
  Operand() = default;
  Operand(const char* label, int sets, std::int64_t elements)
      : m_bytes((static_cast<std::size_t>(elements) * sizeof(T) + 255) / 256 * 256),
        m_memory(Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing),
                 static_cast<std::size_t>(sets) * m_bytes) {}

  T* set(int i) const {
    return m_bytes == 0
               ? nullptr
               : reinterpret_cast<T*>(m_memory.data() + static_cast<std::size_t>(i) * m_bytes);
  }

private:
  std::size_t m_bytes = 0;
  Kokkos::View<char*, Exec> m_memory;
};

/// The stream that an execution space instance queues on, if it has one.
template <class Space>
void* stream_of(const Space& exec) {
  if constexpr (requires { exec.cuda_stream(); }) return exec.cuda_stream();
  else return nullptr;
}

} // namespace bench

#endif
