// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_PLAN_SUPPORT_HPP
#define SHOAL_DETAIL_PLAN_SUPPORT_HPP

#include <cstdint>

namespace shoal::detail {

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

} // namespace shoal::detail

#endif
