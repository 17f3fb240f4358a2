// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/batch_view.hpp>

#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <vector>

/// \file
/// Every kind of batch becomes one pointer and three strides.
namespace shoal::test {
namespace {

using Host = Kokkos::HostSpace;
using detail::batch_ref;
using detail::BatchRef;

template <class T>
void expect_strides(const BatchRef<T>& r, std::int64_t batch, std::int64_t row, std::int64_t col) {
  EXPECT_EQ(r.batch_stride, batch);
  EXPECT_EQ(r.row_stride, row);
  EXPECT_EQ(r.col_stride, col);
}

TEST(BatchRef, OfViews) {
  std::vector<double> memory(1000);
  const Kokkos::View<double***, Kokkos::LayoutRight, Host> right(memory.data(), 5, 3, 4);
  const auto r = batch_ref(right);
  EXPECT_EQ(r.data, memory.data());
  EXPECT_EQ(r.batch, 5);
  EXPECT_EQ(r.rows, 3);
  EXPECT_EQ(r.cols, 4);
  expect_strides(r, 12, 4, 1);
  EXPECT_EQ(&r.matrix(2)(1, 3), &right(2, 1, 3));
  EXPECT_EQ(r.matrix(0).extent(0), 3);
  EXPECT_EQ(r.matrix(0).extent(1), 4);

  const Kokkos::View<double***, Kokkos::LayoutLeft, Host> left(memory.data(), 5, 3, 4);
  expect_strides(batch_ref(left), 1, 5, 15);
  EXPECT_EQ(&batch_ref(left).matrix(2)(1, 3), &left(2, 1, 3));

  const auto part = Kokkos::subview(right, std::pair(1, 4), std::pair(1, 3), std::pair(0, 2));
  const auto p = batch_ref(part);
  EXPECT_EQ(p.batch, 3);
  EXPECT_EQ(p.rows, 2);
  EXPECT_EQ(p.cols, 2);
  EXPECT_EQ(&p.matrix(1)(1, 1), &right(2, 2, 1));

  const Kokkos::View<double**, Kokkos::LayoutRight, Host> vectors(memory.data(), 5, 3);
  const auto v = batch_ref(vectors);
  EXPECT_EQ(v.rows, 3);
  EXPECT_EQ(v.cols, 1);
  EXPECT_EQ(&v.matrix(4)(2, 0), &vectors(4, 2));

  const Kokkos::View<int*, Host> numbers("numbers", 7);
  const auto n = batch_ref(numbers);
  EXPECT_EQ(n.batch, 7);
  EXPECT_EQ(n.matrix_size(), 1);
  EXPECT_EQ(n.matrix_data(3), &numbers(3));
}

TEST(BatchRef, OfPointersAndStrides) {
  std::vector<float> memory(1000);
  const auto strided = strided_batch<Host>(memory.data(), 5, 3, 4, 100, 9, 2);
  EXPECT_EQ(&strided(2, 1, 3), memory.data() + 200 + 9 + 6);
  expect_strides(batch_ref(strided), 100, 9, 2);

  const auto column_major = column_major_batch<Host>(memory.data(), 5, 3, 4, 8, 40);
  EXPECT_EQ(&column_major(2, 1, 3), memory.data() + 80 + 1 + 24);

  const auto repeated =
      strided_batch<Host>(static_cast<const float*>(memory.data()), 5, 3, 4, 0, 4, 1);
  EXPECT_EQ(&repeated(4, 1, 1), memory.data() + 5);
  static_assert(std::is_same_v<decltype(batch_ref(repeated)), BatchRef<const float>>);

  std::vector<float*> table{memory.data() + 500, memory.data(), memory.data() + 100};
  const PointerBatch<float, Host> pointers{table.data(), 3, 2, 2, 2, 1};
  const auto r = batch_ref(pointers);
  EXPECT_EQ(r.matrix_data(0), memory.data() + 500);
  EXPECT_EQ(&r.matrix(1)(1, 1), memory.data() + 3);
  EXPECT_FALSE(r.packed());
  EXPECT_EQ(pointers.extent(0), 3u);
  EXPECT_EQ(pointers.extent(1), 2u);
}

TEST(BatchRef, OfVectorsOfDifferentLengths) {
  double memory[100];
  double* const table[] = {memory + 50, memory};
  const int sizes[] = {7, 2}, strides[] = {3, 1};
  const VariableVectors<double, Host> v{table, sizes, strides, 2, 7};
  const auto r = batch_ref(v);
  EXPECT_TRUE(r.sizes_differ() && r.present());
  EXPECT_EQ(r.matrix(0).rows, 7);
  EXPECT_EQ(r.matrix(0).cols, 1);
  EXPECT_EQ(&r.matrix(0)(4, 0), memory + 62);
  EXPECT_EQ(&r.matrix(1)(1, 0), memory + 1);
  EXPECT_TRUE(r.bounds(r.matrix(0)));
  EXPECT_EQ(v.extent(1), 7u);
  VariableVectors<double, Host> shorter = v;
  shorter.max_size = 6;
  EXPECT_FALSE(batch_ref(shorter).bounds(r.matrix(0)));
  shorter.strides = nullptr;
  EXPECT_EQ(&batch_ref(shorter).matrix(0)(4, 0), memory + 54);
}

TEST(BatchRef, OffsetsAre64Bit) {
  BatchRef<char> r;
  r.batch_stride = std::int64_t(1) << 20;
  r.row_stride = std::int64_t(1) << 18;
  r.col_stride = std::int64_t(1) << 17;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(r.matrix_data(1 << 20)), std::uintptr_t(1) << 40);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&r.matrix(1)(1 << 20, 1 << 20)),
            (std::uintptr_t(1) << 20) + (std::uintptr_t(1) << 38) + (std::uintptr_t(1) << 37));
}

TEST(BatchRef, Packed) {
  double x[100];
  const auto packed = [&](std::int64_t rows, std::int64_t cols, std::int64_t batch,
                          std::int64_t row, std::int64_t col) {
    return BatchRef<double>{x, nullptr, 4, rows, cols, batch, row, col}.packed();
  };
  EXPECT_TRUE(packed(3, 4, 12, 4, 1));
  EXPECT_TRUE(packed(3, 4, 12, 1, 3));
  EXPECT_FALSE(packed(3, 4, 13, 4, 1));
  EXPECT_FALSE(packed(3, 4, 12, 5, 1));
  EXPECT_FALSE(packed(3, 4, 0, 4, 1));  // repeated
  EXPECT_FALSE(packed(3, 4, 1, 4, 16)); // interleaved
  EXPECT_FALSE(packed(3, 4, 12, 1, 4));
  EXPECT_TRUE(packed(3, 1, 3, 1, 77)) << "the stride of a single column is of no account";
  EXPECT_TRUE(packed(1, 4, 4, 77, 1));
  EXPECT_TRUE(packed(1, 1, 1, 77, 77));
  EXPECT_FALSE(packed(1, 1, 2, 1, 1));
}

TEST(BatchRef, TransposedReadsTheSameMemory) {
  double x[100];
  const BatchRef<double> r{x, nullptr, 4, 3, 5, 20, 6, 1};
  const BatchRef<double> t = r.transposed();
  EXPECT_EQ(t.rows, 5);
  EXPECT_EQ(t.cols, 3);
  EXPECT_EQ(t.batch, 4);
  EXPECT_EQ(&t.matrix(2)(4, 1), &r.matrix(2)(1, 4));
  const BatchRef<const double> constant = t;
  EXPECT_EQ(&constant.matrix(3)(0, 2), &t.matrix(3)(0, 2));
}

} // namespace
} // namespace shoal::test
