// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_CHECK_SUPPORT_FAMILIES_HPP
#define SHOAL_TESTS_CHECK_SUPPORT_FAMILIES_HPP

#include "tests/check/support/batch.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

/// \file
/// Matrices that break decompositions: one generator, indexed by name.
namespace shoal_test {

enum class Family {
  random, zero, identity, scaled_identity, exchange, rotation, reflection, equal_norms, ones, rank_one,
  half_rank, duplicate_columns, zero_column, near_parallel, graded_columns, graded_rows, hilbert, kahan,
  clustered, huge, tiny, subnormal, mixed_scale
};
inline constexpr Family all_families[] = {
    Family::random, Family::zero, Family::identity, Family::scaled_identity, Family::exchange,
    Family::rotation, Family::reflection, Family::equal_norms, Family::ones, Family::rank_one,
    Family::half_rank, Family::duplicate_columns, Family::zero_column, Family::near_parallel,
    Family::graded_columns, Family::graded_rows, Family::hilbert, Family::kahan, Family::clustered,
    Family::huge, Family::tiny, Family::subnormal, Family::mixed_scale};

inline const char* name_of(Family f) {
  static constexpr const char* names[] = {
      "random", "zero", "identity", "scaled identity", "exchange", "rotation", "reflection",
      "equal norms", "ones", "rank one", "half rank", "duplicate columns", "zero column",
      "near-parallel", "graded columns", "graded rows", "Hilbert", "Kahan", "clustered", "huge", "tiny",
      "subnormal", "mixed scale"};
  return names[static_cast<int>(f)];
}

/// Normally distributed entries, real and imaginary parts alike.
class Random {
public:
  explicit Random(std::uint64_t seed) : m_engine(seed) {}
  double number() { return m_normal(m_engine); }
  int integer(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(m_engine);
  }
  template <class T>
  T scalar() {
    if constexpr (shoal::detail::is_complex_scalar<T>) {
      const auto re = static_cast<RealOf<T>>(number());
      return T(re, static_cast<RealOf<T>>(number()));
    } else {
      return static_cast<T>(number());
    }
  }

private:
  std::mt19937_64 m_engine;
  std::normal_distribution<double> m_normal;
};

template <class T>
void fill_random(HostBatch<T>& x, Random& random) {
  for (T& v : x.data) v = random.scalar<T>();
}

/// Writes a member of the family to matrix b.
template <class T>
void fill(HostBatch<T>& x, int b, Family family, Random& random) {
  using R = RealOf<T>;
  const int m = x.rows, n = x.cols;
  const double decades = std::is_same_v<R, float> ? 12 : 100;
  const T column = random.scalar<T>();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T v = random.scalar<T>();
      const double along_rows = m > 1 ? double(i) / (m - 1) : 0, along_cols = n > 1 ? double(j) / (n - 1) : 0;
      const auto times = [&](double f) { v = v * static_cast<R>(f); };
      switch (family) {
      case Family::random: break;
      case Family::zero: v = T(0); break;
      case Family::identity: v = T(R(i == j)); break;
      case Family::scaled_identity: v = T(R(i == j ? 3 : 0)); break;
      case Family::exchange: v = T(R(i + j == n - 1)); break;
      case Family::rotation: // plane rotations of neighbouring coordinates
        v = T(i / 2 == j / 2 ? R(i == j ? 0.6 : i < j ? -0.8 : 0.8) : R(0));
        break;
      case Family::reflection: v = T(R(i == j) - R(2) / R(m)); break;
      case Family::equal_norms: v = T(R(i == j ? 2 : 1)); break;
      case Family::ones: v = T(1); break;
      case Family::rank_one: v = T(R((i + 1) * (j + 2))); break;
      case Family::half_rank: v = j < (n + 1) / 2 ? v : x(b, i, j - (n + 1) / 2) * R(2); break;
      case Family::duplicate_columns: v = j % 2 ? x(b, i, j - 1) : v; break;
      case Family::zero_column: v = j == n / 2 ? T(0) : v; break;
      case Family::near_parallel: times(j == 0 ? 1 : 64 * std::numeric_limits<R>::epsilon()); v += column; break;
      case Family::graded_columns: times(std::pow(10, -decades * along_cols)); break;
      case Family::graded_rows: times(std::pow(10, -decades * along_rows)); break;
      case Family::hilbert: v = T(R(1) / R(i + j + 1)); break;
      case Family::kahan: v = T(static_cast<R>(std::pow(0.8, i) * (i == j ? 1 : i < j ? -0.6 : 0))); break;
      case Family::clustered: v = v * (16 * std::numeric_limits<R>::epsilon()) + T(R(i == j)); break;
      case Family::huge: times(static_cast<double>(std::numeric_limits<R>::max()) / 1e4); break;
      case Family::tiny: times(static_cast<double>(std::numeric_limits<R>::min()) * 1e4); break;
      case Family::subnormal: times(static_cast<double>(std::numeric_limits<R>::min()) / 1e2); break;
      case Family::mixed_scale: times(std::pow(10, decades * 0.1 * random.number())); break;
      }
      x(b, i, j) = v;
    }
}

} // namespace shoal_test

#endif
