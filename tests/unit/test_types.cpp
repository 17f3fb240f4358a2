// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <shoal/error.hpp>
#include <shoal/options.hpp>
#include <shoal/types.hpp>
#include <shoal/version.hpp>

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace shoal::test {
namespace {

TEST(Types, HaveNames) {
  EXPECT_STREQ(to_string(Op::none), "none");
  EXPECT_STREQ(to_string(Op::transpose), "transpose");
  EXPECT_STREQ(to_string(Op::conj_transpose), "conj_transpose");
  EXPECT_STREQ(to_string(Vectors::none), "none");
  EXPECT_STREQ(to_string(Vectors::thin), "thin");
  EXPECT_STREQ(to_string(Vectors::full), "full");
  EXPECT_STREQ(to_string(GemmPath::automatic), "automatic");
  EXPECT_STREQ(to_string(GemmPath::team), "team");
  EXPECT_STREQ(to_string(GemmPath::tile), "tile");
  EXPECT_STREQ(to_string(GemmPath::vector), "vector");
  EXPECT_STREQ(to_string(SvdPath::automatic), "automatic");
  EXPECT_STREQ(to_string(SvdPath::lane), "lane");
  EXPECT_STREQ(to_string(SvdPath::team), "team");
  EXPECT_STREQ(to_string(SvdPath::group), "group");
  EXPECT_STREQ(to_string(SvdPath::block), "block");
  EXPECT_STREQ(to_string(SvdPath::vector), "vector");
  EXPECT_STREQ(to_string(static_cast<Op>('x')), "invalid");
  EXPECT_STREQ(to_string(static_cast<Vectors>('x')), "invalid");
  EXPECT_STREQ(to_string(static_cast<GemmPath>(77)), "invalid");
  EXPECT_STREQ(to_string(static_cast<SvdPath>(77)), "invalid");
}

TEST(Types, CarryTheLettersOfBlasAndLapack) {
  EXPECT_EQ(static_cast<char>(Op::none), 'N');
  EXPECT_EQ(static_cast<char>(Op::transpose), 'T');
  EXPECT_EQ(static_cast<char>(Op::conj_transpose), 'C');
  EXPECT_EQ(static_cast<char>(Vectors::none), 'N');
  EXPECT_EQ(static_cast<char>(Vectors::thin), 'S');
  EXPECT_EQ(static_cast<char>(Vectors::full), 'A');
}

TEST(Errors, SayWhoRefusedWhat) {
  const invalid_argument e("shoal::svd", "U", "extent 1 is 4, expected 5 (rows of A)");
  EXPECT_STREQ(e.what(), "shoal::svd: U: extent 1 is 4, expected 5 (rows of A)");
  EXPECT_EQ(e.function(), "shoal::svd");
  EXPECT_EQ(e.argument(), "U");
  EXPECT_THROW(throw e, std::invalid_argument);
  EXPECT_THROW(throw e, std::logic_error);
  EXPECT_THROW(throw backend_error("pool: out of memory"), std::runtime_error);
}

TEST(Version, NumberAndTextAgree) {
  EXPECT_EQ(SHOAL_VERSION,
            SHOAL_VERSION_MAJOR * 10000 + SHOAL_VERSION_MINOR * 100 + SHOAL_VERSION_PATCH);
  EXPECT_EQ(std::string(SHOAL_VERSION_STRING), std::to_string(SHOAL_VERSION_MAJOR) + "." +
                                                   std::to_string(SHOAL_VERSION_MINOR) + "." +
                                                   std::to_string(SHOAL_VERSION_PATCH));
}

TEST(Options, DefaultsAreThePlainOperation) {
  const GemmOptions gemm;
  EXPECT_EQ(gemm.op_a, Op::none);
  EXPECT_EQ(gemm.op_b, Op::none);
  EXPECT_EQ(gemm.path, GemmPath::automatic);
  const SvdOptions svd;
  EXPECT_EQ(svd.left, Vectors::thin);
  EXPECT_EQ(svd.right, Vectors::thin);
  EXPECT_EQ(svd.tolerance, 0);
  EXPECT_FALSE(svd.fix_signs);
  EXPECT_GE(svd.max_sweeps, 20);
  EXPECT_EQ(svd.path, SvdPath::automatic);
}

} // namespace
} // namespace shoal::test
