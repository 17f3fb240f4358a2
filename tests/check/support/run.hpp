// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_TESTS_CHECK_SUPPORT_RUN_HPP
#define SHOAL_TESTS_CHECK_SUPPORT_RUN_HPP

#include "tests/check/support/batch.hpp"

#include <algorithm>

/// \file
/// One decomposition from host batch to host batches, outputs poisoned first and guards checked.
namespace shoal_test {

template <class T>
struct SvdResult {
  HostBatch<T> u;
  HostBatch<RealOf<T>> s;
  HostBatch<T> vt;
  HostBatch<int> info;
  bool guards_intact = false;
};

inline constexpr int info_sentinel = -12345;

template <class T>
SvdResult<T> run_svd(const HostBatch<T>& a, const shoal::SvdOptions& options = {},
                     Layout layout = Layout::right, int rank = -1) {
  using shoal::Vectors;
  const int m = a.rows, n = a.cols, k = rank < 0 ? std::min(m, n) : rank;
  const auto side = [&](Vectors v, int full) {
    return v == Vectors::none ? 0 : v == Vectors::thin ? k : full;
  };
  const DeviceBatch<T> device_a(a, layout);
  const DeviceBatch<T> u(HostBatch<T>(a.batch, m, side(options.left, m)), layout, true);
  const DeviceBatch<T> vt(HostBatch<T>(a.batch, side(options.right, n), n), layout, true);
  const DeviceBatch<RealOf<T>> s(HostBatch<RealOf<T>>(a.batch, k, 1), layout, true);
  Kokkos::View<int*, Space> info("test::info", a.batch);
  Kokkos::deep_copy(info, info_sentinel);
  const Space exec;
  const auto values = Kokkos::subview(s.view(), Kokkos::ALL, Kokkos::ALL, 0);
  shoal::svd(exec, device_a.view(), u.view(), values, vt.view(), info, options);
  exec.fence();
  SvdResult<T> r{u.read(), s.read(), vt.read(), HostBatch<int>(a.batch, 1, 1), false};
  const auto host_info = Kokkos::create_mirror(info);
  Kokkos::deep_copy(host_info, info);
  for (int b = 0; b < a.batch; ++b) r.info(b, 0, 0) = host_info(b);
  r.guards_intact = u.guards_intact() && s.guards_intact() && vt.guards_intact() && device_a.untouched();
  return r;
}

} // namespace shoal_test

#endif
