// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batches at and beyond the limits of other libraries: 65,535, 65,536, a million, 2^31 elements.
#include "tests/check/support/batch.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace {

using namespace shoal_test;

template <class T>
using Flat = Kokkos::View<T***, Kokkos::LayoutRight, Space>;

/// Matrix b of the batch: diag(2, 1) + small multiples of b, exact in float.
struct FillTwoByTwo {
  Flat<float> a;
  KOKKOS_FUNCTION void operator()(std::int64_t b) const {
    const auto x = static_cast<float>(b % 64);
    a(b, 0, 0) = 2 + x;
    a(b, 0, 1) = 0;
    a(b, 1, 0) = 0;
    a(b, 1, 1) = 1;
  }
};

struct CountWrongProducts {
  Flat<float> c;
  KOKKOS_FUNCTION void operator()(std::int64_t b, std::int64_t& wrong) const {
    const auto x = static_cast<float>(b % 64);
    wrong += !(c(b, 0, 0) == (2 + x) * (2 + x) && c(b, 0, 1) == 0 && c(b, 1, 0) == 0 &&
               c(b, 1, 1) == 1);
  }
};

struct CountWrongValues {
  Kokkos::View<float**, Kokkos::LayoutRight, Space> s;
  KOKKOS_FUNCTION void operator()(std::int64_t b, std::int64_t& wrong) const {
    const auto x = static_cast<float>(b % 64);
    wrong += !(s(b, 0) == 2 + x && s(b, 1) == 1);
  }
};

template <class Functor>
std::int64_t count(std::int64_t batch, const Functor& functor) {
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "test::count",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, batch), functor, wrong);
  return wrong;
}

TEST(Large, batches_are_right_to_the_last_matrix) {
  for (const std::int64_t batch : {65535, 65536, 1000003}) {
    const Flat<float> a("test::a", batch, 2, 2), c("test::c", batch, 2, 2);
    const Kokkos::View<float**, Kokkos::LayoutRight, Space> s("test::s", batch, 2);
    Kokkos::parallel_for("test::fill",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, batch),
                         FillTwoByTwo{a});
    Kokkos::deep_copy(c, std::numeric_limits<float>::quiet_NaN());
    Kokkos::deep_copy(s, std::numeric_limits<float>::quiet_NaN());
    const Space exec;
    shoal::gemm(exec, 1, a, a, 0, c);
    shoal::svd_values(exec, a, s);
    exec.fence();
    EXPECT_EQ(count(batch, CountWrongProducts{c}), 0) << batch;
    EXPECT_EQ(count(batch, CountWrongValues{s}), 0) << batch;
  }
}

TEST(Large, more_than_2_to_the_31_elements) {
  if (Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible)
    GTEST_SKIP() << "needs 20 GB: run where Space is a GPU";
  const std::int64_t batch = (std::int64_t(1) << 29) + 12345; // times 4 elements
  const Flat<float> a("test::a", batch, 2, 2), c("test::c", batch, 2, 2);
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> s("test::s", batch, 2);
  Kokkos::parallel_for("test::fill",
                       Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, batch),
                       FillTwoByTwo{a});
  const Space exec;
  shoal::gemm(exec, 1, a, a, 0, c);
  shoal::svd_values(exec, a, s);
  exec.fence();
  EXPECT_EQ(count(batch, CountWrongProducts{c}), 0);
  EXPECT_EQ(count(batch, CountWrongValues{s}), 0);
}

TEST(Large, alternating_batch_sizes_on_two_instances) {
  const auto instances = Kokkos::Experimental::partition_space(Space(), 1, 1);
  const Flat<float> a("test::a", 5000, 2, 2), c0("test::c0", 5000, 2, 2), c1("test::c1", 5000, 2, 2);
  Kokkos::parallel_for("test::fill", Kokkos::RangePolicy<Space>(0, 5000), FillTwoByTwo{a});
  Kokkos::fence();
  for (const int batch : {5000, 1, 4097, 0, 63, 5000}) {
    Kokkos::deep_copy(c0, -1);
    Kokkos::deep_copy(c1, -1);
    const auto first = [batch](const Flat<float>& x) {
      return Kokkos::subview(x, std::pair{0, batch}, Kokkos::ALL, Kokkos::ALL);
    };
    shoal::gemm(instances[0], 1, first(a), first(a), 0, first(c0));
    shoal::gemm(instances[1], 1, first(a), first(a), 0, first(c1));
    instances[0].fence();
    instances[1].fence();
    EXPECT_EQ(count(batch, CountWrongProducts{c0}), 0);
    EXPECT_EQ(count(batch, CountWrongProducts{c1}), 0);
    // Nothing behind the sub-batch was written.
    EXPECT_EQ(count(5000, CountWrongProducts{c0}), 5000 - batch);
  }
}

} // namespace
