// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_BENCHMARKS_MEASURE_HPP
#define SHOAL_BENCHMARKS_MEASURE_HPP

#include "benchmarks/accuracy.hpp"
#include "benchmarks/cases.hpp"
#include "benchmarks/device.hpp"
#include "benchmarks/operands.hpp"
#include "benchmarks/results.hpp"
#include "benchmarks/rivals/rival.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

/// \file
/// One implementation on one row: a checked call on poisoned outputs first, then the timed ones.
namespace bench {

struct Settings {
  double seconds = 0.25;         ///< for the timed calls of one implementation
  double rotation_bytes = 512e6; ///< calls go round inputs and outputs of this size
  bool timed_once = false;       ///< a trial: one timed call
  double accepted = 100;         ///< a residual above it is a failure
  bool hazards = false;          ///< run also what could end the whole run
};

class Meter {
public:
  Meter(const Exec& exec, const Settings& settings)
      : m_exec(exec), m_settings(settings), m_stopwatch(stream_of(exec)) {}

  const Exec& exec() const { return m_exec; }
  const Settings& settings() const { return m_settings; }

  /// Sets of operands for calls to go round.
  int sets(double bytes_per_call) const {
    return static_cast<int>(std::clamp(m_settings.rotation_bytes / bytes_per_call, 2.0, 400.0));
  }

  enum class Clock {
    device, ///< the time on the device
    wall    ///< what the caller waits for
  };

  /// The times of call(i), each after before(i), which is not timed.
  Timing time(int sets, const std::function<void(int)>& before,
              const std::function<void(int)>& call, Clock clock = Clock::device) {
    std::vector<double> seconds;
    double total = 0;
    for (int i = 0;; ++i) {
      before(i % sets);
      m_exec.fence();
      const double t =
          clock == Clock::device ? device_time(call, i % sets) : wall_time(call, i % sets);
      // The first is for warming up, unless it is so long that this does not matter.
      if (i > 0 || t > 2 || m_settings.timed_once) {
        seconds.push_back(t);
        total += t;
      }
      if (m_settings.timed_once || t > 2) break;
      if (seconds.size() >= 100 || (seconds.size() >= 3 && total > m_settings.seconds)) break;
    }
    std::sort(seconds.begin(), seconds.end());
    const std::size_t count = seconds.size();
    return {seconds[count / 2], seconds[count / 4], seconds[count - 1 - count / 4], seconds[0],
            static_cast<int>(count)};
  }

  /// Bytes a second, read and written together: the fastest of many copies of large arrays, by the
  /// library and by a kernel, so that nobody's share of it is flattered by a disturbed copy.
  double copy_rate(double bytes) {
    const auto n = static_cast<std::int64_t>(bytes / 16);
    const Kokkos::View<double*, Exec> a("bench::a", n), b("bench::b", n);
    const auto nothing = [](int) {};
    double seconds = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 4; ++round) {
      const Timing library = time(1, nothing, [&](int) { Kokkos::deep_copy(m_exec, b, a); });
      const Timing kernel = time(1, nothing, [&](int) {
        Kokkos::parallel_for("bench::copy", Range(m_exec, 0, n), Copy{a, b});
      });
      seconds = std::min({seconds, library.least, kernel.least});
    }
    return 16.0 * static_cast<double>(n) / seconds;
  }

private:
  double device_time(const std::function<void(int)>& call, int i) {
    m_stopwatch.start();
    call(i);
    return m_stopwatch.stop();
  }
  double wall_time(const std::function<void(int)>& call, int i) {
    const auto begin = std::chrono::steady_clock::now();
    call(i);
    m_exec.fence();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  Exec m_exec;
  Settings m_settings;
  Stopwatch m_stopwatch;
};

/// The time of the whole batch where only a part of it was measured.
inline Timing scaled(Timing t, double factor) {
  return {t.median * factor, t.low * factor, t.high * factor, t.least * factor, t.repetitions};
}

inline std::string name_of(Layout layout) {
  return layout == Layout::row_major      ? "row-major"
         : layout == Layout::column_major ? "column-major"
                                          : "interleaved";
}

/// Why an implementation is not measured on a shape; empty where it is.
template <class Rival, class Shape>
std::string refusal(const Settings& settings, const Rival& rival, const Shape& shape) {
  if (!rival.hazard.empty() && !settings.hazards)
    return "not run: it " + rival.hazard + " (--hazards runs it)";
  return rival.refusal(shape);
}

template <class Rival>
Entry entry_of(const Rival& rival) {
  Entry entry;
  entry.name = rival.name;
  entry.version = rival.version;
  entry.tolerance = rival.tolerance;
  entry.layout = name_of(rival.layout);
  return entry;
}

/// Memory of the host beside an operand, and the copies between them.
template <class T>
class HostCopy {
public:
  HostCopy(T* device, std::int64_t elements)
      : m_device(reinterpret_cast<char*>(device), device ? elements * sizeof(T) : 0),
        m_host("bench::host", m_device.size()) {}
  void in(const Exec& exec) const { Kokkos::deep_copy(exec, m_device, m_host); }
  void out(const Exec& exec) const { Kokkos::deep_copy(exec, m_host, m_device); }

private:
  Kokkos::View<char*, Exec, Kokkos::MemoryUnmanaged> m_device;
  Kokkos::View<char*, Kokkos::HostSpace> m_host;
};

/// The exact values of the sampled matrices of one row, computed when first asked for.
template <class T>
class ExactValues {
public:
  ExactValues(int m, int n) : m_m(m), m_n(n) {
    const double work = 20.0 * m * n * std::min(m, n);
    m_most = work > 5e8 ? 0 : static_cast<std::int64_t>(std::clamp(4e7 / work, 1.0, 64.0));
  }
  /// Of sample i of the given number of samples; null if it is one too many.
  const std::vector<long double>* of(std::int64_t batch, std::int64_t i,
                                     const std::vector<T>& sampled) {
    if (i >= m_most) return nullptr;
    auto& values = m_values[{batch, i}];
    if (values.empty()) values = exact_values(sampled.data() + i * m_m * m_n, m_m, m_n);
    return &values;
  }

private:
  int m_m, m_n;
  std::int64_t m_most;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<long double>> m_values;
};

inline std::int64_t sample_count(std::int64_t batch, double work) {
  return std::min(batch, static_cast<std::int64_t>(std::clamp(1e7 / work, 1.0, 500.0)));
}

/// One implementation of svd on one row.
template <class T>
class SvdTrial {
public:
  SvdTrial(Meter& meter, const SvdRival<T>& rival, const Case& row, ExactValues<T>& exact)
      : m_meter(meter), m_rival(rival), m_row(row), m_exact(exact), m_entry(entry_of(rival)),
        m_shape{std::min(row.batch, rival.most_matrices), row.m, row.n, row.vectors} {
    m_entry.batch = m_shape.batch;
  }

  Entry run() {
    try {
      m_entry.failure = refusal(m_meter.settings(), m_rival, m_shape);
      if (!m_entry.failure.empty()) return m_entry;
      allocate();
      const auto call = m_rival.prepare(m_shape, m_arrays);
      check(call);
      if (m_entry.failure.empty()) m_entry.timing = time(call);
    } catch (const std::exception& error) {
      m_entry.failure = error.what();
    }
    return m_entry;
  }

private:
  int k() const { return std::min(m_shape.m, m_shape.n); }
  bool vectors() const { return m_shape.vectors || m_rival.always_vectors; }
  int u_columns() const { return m_rival.full_vectors ? m_shape.m : k(); }
  int v_columns() const { return m_rival.full_vectors ? m_shape.n : k(); }

  Matrices<T> matrices(T* data, int rows, int cols) const {
    return {data, m_shape.batch, rows, cols, strides_of(m_rival.layout, m_shape.batch, rows, cols)};
  }
  Matrices<T> a(int i) const { return matrices(m_arrays[i].a, m_shape.m, m_shape.n); }
  Matrices<T> u(int i) const { // its first k columns
    Matrices<T> all = matrices(m_arrays[i].u, m_shape.m, u_columns());
    all.cols = k();
    return all;
  }
  Matrices<T> vt(int i) const { // its first k rows
    if (!m_rival.returns_v) {
      Matrices<T> all = matrices(m_arrays[i].right, v_columns(), m_shape.n);
      all.rows = k();
      return all;
    }
    Matrices<T> v = matrices(m_arrays[i].right, m_shape.n, v_columns());
    std::swap(v.strides.row, v.strides.col);
    v.rows = k();
    v.cols = m_shape.n;
    v.conjugated = true;
    return v;
  }
  Matrices<Real<T>> s(int i) const { return {m_arrays[i].s, m_shape.batch, 1, k(), {k(), k(), 1}}; }
  /// The factor from a column to the next.
  double grading() const { return std::pow(m_row.condition, -1.0 / std::max(1, m_shape.n - 1)); }
  void fill_a(int i) const { fill(m_meter.exec(), a(i), static_cast<std::uint64_t>(i), grading()); }

  void allocate() {
    const std::int64_t batch = m_shape.batch;
    const std::int64_t u_size = vectors() ? batch * m_shape.m * u_columns() : 0;
    const std::int64_t v_size = vectors() ? batch * m_shape.n * v_columns() : 0;
    const std::int64_t a_size = batch * m_shape.m * m_shape.n;
    const int sets = m_meter.sets(static_cast<double>(a_size + u_size + v_size) * sizeof(T));
    m_a = Operand<T>("bench::A", sets, a_size);
    m_u = Operand<T>("bench::U", sets, u_size);
    m_s = Operand<Real<T>>("bench::S", sets, batch * k());
    m_right = Operand<T>("bench::V", sets, v_size);
    m_info = Operand<int>("bench::info", sets, batch);
    for (int i = 0; i < sets; ++i) {
      m_arrays.push_back({m_a.set(i), m_u.set(i), m_s.set(i), m_right.set(i), m_info.set(i)});
      fill_a(i);
      // Pages are touched before anything is timed.
      poison(m_meter.exec(), s(i));
      if (m_shape.vectors) poison(m_meter.exec(), u(i)), poison(m_meter.exec(), vt(i));
      Kokkos::deep_copy(m_meter.exec(), info(i), 0);
    }
    m_meter.exec().fence();
  }

  using Info = Kokkos::View<int*, Exec, Kokkos::MemoryUnmanaged>;
  Info info(int i) const { return Info(m_arrays[i].info, static_cast<std::size_t>(m_shape.batch)); }

  void check(const std::function<void(int)>& call) {
    const Exec& exec = m_meter.exec();
    const std::int64_t samples = sample_count(m_shape.batch, double(m_shape.m) * m_shape.n * k());
    const auto sampled = sample(exec, a(0), samples);
    call(0);
    exec.fence();
    const auto host_info = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), info(0));
    int first = 0;
    for (std::size_t i = 0; i < host_info.extent(0); ++i) {
      if (host_info(i) != 0 && m_entry.info_count++ == 0) first = host_info(i);
    }
    m_entry.non_finite = count_non_finite(exec, s(0));
    std::vector<T> su, svt;
    if (m_shape.vectors) {
      m_entry.non_finite += count_non_finite(exec, u(0)) + count_non_finite(exec, vt(0));
      su = sample(exec, u(0), samples);
      svt = sample(exec, vt(0), samples);
    }
    m_entry.svd = svd_accuracy<T>(
        m_shape.m, m_shape.n, sampled, su, sample(exec, s(0), samples), svt, samples,
        [&](std::int64_t i) { return m_exact.of(m_shape.batch, i, sampled); });
    const SvdAccuracy& x = *m_entry.svd;
    const double limit = m_meter.settings().accepted;
    if (m_entry.non_finite > 0)
      m_entry.failure = std::to_string(m_entry.non_finite) + " NaN or Inf in the results";
    else if (m_entry.info_count > 0)
      m_entry.failure = "info is not 0 for " + std::to_string(m_entry.info_count) +
                        " matrices, first " + std::to_string(first);
    else if (!(x.residual <= limit)) m_entry.failure = "residual above 100 units";
    else if (!(std::max(x.orthogonality_u, x.orthogonality_v) <= limit))
      m_entry.failure = "U or V not orthogonal to 100 units";
    else if (!(x.values <= limit)) m_entry.failure = "values wrong by more than 100 units";
  }

  Timing time(const std::function<void(int)>& call) {
    const auto before = [&](int i) {
      if (m_rival.overwrites_input) fill_a(i);
    };
    const int sets = static_cast<int>(m_arrays.size());
    const double part = static_cast<double>(m_row.batch) / static_cast<double>(m_shape.batch);
    return scaled(m_row.mode == Mode::host_to_host ? time_from_host(call)
                                                   : m_meter.time(sets, before, call),
                  part);
  }

  /// Wall time with the copies of A to the device and of the thin results back.
  Timing time_from_host(const std::function<void(int)>& call) {
    const Exec& exec = m_meter.exec();
    const std::int64_t u_size = u(0).size();
    // Of a full U only the columns that are wanted travel, packed on the device.
    Kokkos::View<Real<T>*, Exec> packed("bench::packed", 0);
    if (m_rival.full_vectors)
      packed = Kokkos::View<Real<T>*, Exec>("bench::packed", u_size * (is_complex<T> ? 2 : 1));
    const HostCopy<T> a_copy(m_arrays[0].a, a(0).size()),
        u_copy(m_rival.full_vectors ? reinterpret_cast<T*>(packed.data()) : m_arrays[0].u, u_size),
        v_copy(m_arrays[0].right, vt(0).size());
    const HostCopy<Real<T>> s_copy(m_arrays[0].s, s(0).size());
    fill_a(0);
    a_copy.out(exec);
    const auto nothing = [](int) {};
    const auto whole = [&](int) {
      a_copy.in(exec);
      call(0);
      if (m_rival.full_vectors)
        Kokkos::parallel_for("bench::pack", Range(exec, 0, u_size),
                             Gather<T>{u(0), m_shape.batch, packed});
      u_copy.out(exec);
      s_copy.out(exec);
      v_copy.out(exec);
    };
    return m_meter.time(1, nothing, whole, Meter::Clock::wall);
  }

  Meter& m_meter;
  const SvdRival<T>& m_rival;
  const Case& m_row;
  ExactValues<T>& m_exact;
  Entry m_entry;
  SvdShape m_shape;
  Operand<T> m_a, m_u, m_right;
  Operand<Real<T>> m_s;
  Operand<int> m_info;
  std::vector<SvdArrays<T>> m_arrays;
};

/// One implementation of gemm on one row.
template <class T>
Entry gemm_trial(Meter& meter, const GemmRival<T>& rival, const Case& row) {
  Entry entry = entry_of(rival);
  const GemmShape shape{std::min(row.batch, rival.most_matrices), row.m, row.n, row.k};
  entry.batch = shape.batch;
  try {
    entry.failure = refusal(meter.settings(), rival, shape);
    if (!entry.failure.empty()) return entry;
    const Exec& exec = meter.exec();
    const std::int64_t batch = shape.batch, m = shape.m, n = shape.n, k = shape.k;
    const int sets = meter.sets(static_cast<double>(batch * (m * k + k * n + m * n)) * sizeof(T));
    const Operand<T> all_a("bench::A", sets, batch * m * k), all_b("bench::B", sets, batch * k * n),
        all_c("bench::C", sets, batch * m * n);
    const auto matrices = [&](T* data, int rows, int cols) {
      return Matrices<T>{data, batch, rows, cols, strides_of(rival.layout, batch, rows, cols)};
    };
    std::vector<GemmArrays<T>> arrays;
    for (int i = 0; i < sets; ++i) {
      arrays.push_back({all_a.set(i), all_b.set(i), all_c.set(i)});
      fill(exec, matrices(all_a.set(i), shape.m, shape.k), 2 * static_cast<std::uint64_t>(i));
      fill(exec, matrices(all_b.set(i), shape.k, shape.n), 2 * static_cast<std::uint64_t>(i) + 1);
      poison(exec, matrices(all_c.set(i), shape.m, shape.n));
    }
    exec.fence();
    const auto call = rival.prepare(shape, arrays);

    call(0);
    exec.fence();
    const auto c = matrices(all_c.set(0), shape.m, shape.n);
    const std::int64_t samples = sample_count(batch, static_cast<double>(m * n * k));
    entry.non_finite = count_non_finite(exec, c);
    entry.gemm =
        gemm_accuracy<T>(shape, sample(exec, matrices(all_a.set(0), shape.m, shape.k), samples),
                         sample(exec, matrices(all_b.set(0), shape.k, shape.n), samples),
                         sample(exec, c, samples), samples);
    if (entry.non_finite > 0)
      entry.failure = std::to_string(entry.non_finite) + " NaN or Inf in the results";
    else if (!(entry.gemm->error <= meter.settings().accepted))
      entry.failure = "error above 100 gamma";
    if (!entry.failure.empty()) return entry;

    const int calls = row.mode == Mode::five_in_a_row ? 5 : 1;
    const Timing timing = meter.time(
        sets, [](int) {},
        [&](int i) {
          for (int j = 0; j < calls; ++j) call(i);
        });
    entry.timing = scaled(timing, static_cast<double>(row.batch) / static_cast<double>(batch));
  } catch (const std::exception& error) {
    entry.failure = error.what();
  }
  return entry;
}

} // namespace bench

#endif
