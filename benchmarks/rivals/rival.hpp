// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BENCHMARKS_RIVAL_HPP
#define SHOAL_BENCHMARKS_RIVAL_HPP

#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

/// \file
/// What every implementation that is measured looks like, shoal itself included. Bare of Kokkos, so
/// that a rival is compiled as its own users would compile it.
namespace bench {

template <class T>
struct real_of {
  using type = T;
};
template <class R>
struct real_of<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename real_of<T>::type;
template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, Real<T>>;

/// How the matrices of a batch lie in memory, without padding between them.
enum class Layout { row_major, column_major, interleaved };

struct GemmShape {
  std::int64_t batch;
  int m, n, k;
};
struct SvdShape {
  std::int64_t batch;
  int m, n;
  bool vectors; ///< thin U and V, or the values alone
};

/// The arrays of one call: C = A B.
template <class T>
struct GemmArrays {
  const T* a;
  const T* b;
  T* c;
};
/// The arrays of one call: A = U diag(S) V^H. `right` takes V or V^H, as the rival says; u and
/// right are null where only values are wanted. info is zero before the call.
template <class T>
struct SvdArrays {
  T* a;
  T* u;
  Real<T>* s;
  T* right;
  int* info;
};

/// One implementation of one operation.
template <class Shape, class Arrays>
struct Rival {
  std::string name;
  std::string version;
  std::string tolerance = "none"; ///< the stopping rule that it was given
  Layout layout = Layout::column_major;
  /// Slow ones are measured on fewer matrices, and their time is scaled to the whole batch.
  std::int64_t most_matrices = std::numeric_limits<std::int64_t>::max();

  /// Why it is not run unless that is asked for: it could end the whole run. Mostly empty.
  std::string hazard;

  /// Why it cannot take a shape; empty where it can.
  std::function<std::string(const Shape&)> refusal = [](const Shape&) { return std::string(); };

  /// Everything that is done once for a shape: workspace, handles, compiled kernels, arrays of
  /// pointers. Returns the call that is timed, which works on sets[i]. Both throw on failure.
  std::function<std::function<void(int i)>(const Shape&, const std::vector<Arrays>& sets)> prepare;
};

template <class T>
struct GemmRival : Rival<GemmShape, GemmArrays<T>> {};

template <class T>
struct SvdRival : Rival<SvdShape, SvdArrays<T>> {
  bool overwrites_input = false; ///< A is filled again before each call, outside the timing
  bool full_vectors = false;     ///< U is m x m and V n x n, whatever was wanted
  bool returns_v = false;        ///< V, not V^H
  bool always_vectors = false;   ///< needs room for vectors where only values are wanted
};

template <class T>
struct Rivals {
  std::vector<GemmRival<T>> gemm;
  std::vector<SvdRival<T>> svd;
};

} // namespace bench

/// At the end of a rival's file: its function for each scalar.
#define SHOAL_BENCH_INSTANTIATE(add)                                                               \
  template void add<float>(Rivals<float>&, void*);                                                 \
  template void add<double>(Rivals<double>&, void*);                                               \
  template void add<std::complex<float>>(Rivals<std::complex<float>>&, void*);                     \
  template void add<std::complex<double>>(Rivals<std::complex<double>>&, void*)

#endif
