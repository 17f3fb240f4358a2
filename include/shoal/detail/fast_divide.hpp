// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_FAST_DIVIDE_HPP
#define SHOAL_DETAIL_FAST_DIVIDE_HPP

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>

namespace shoal::detail {

/// Division by a number that is known before the launch, by one multiplication. Exact while
/// numerator * divisor < 2^31.
class FastDivide {
public:
  FastDivide(int divisor = 1)
      : m_magic((std::uint32_t(1) << 31) / static_cast<std::uint32_t>(divisor) +
                (std::has_single_bit(static_cast<std::uint32_t>(divisor)) ? 0 : 1)) {}
  KOKKOS_FUNCTION unsigned operator()(unsigned numerator) const {
    return static_cast<unsigned>((static_cast<std::uint64_t>(numerator << 1) * m_magic) >> 32);
  }

private:
  std::uint32_t m_magic; // 2^31 / divisor, rounded up
};

} // namespace shoal::detail

#endif
