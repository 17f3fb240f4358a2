// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_GEMM_EPILOGUE_HPP
#define SHOAL_DETAIL_GEMM_EPILOGUE_HPP

#include <Kokkos_Core.hpp>
#include <type_traits>

namespace shoal::detail {

/// The epilogue of products that have none.
struct NoEpilogue {};
template <class Epilogue>
inline constexpr bool has_epilogue = !std::is_same_v<Epilogue, NoEpilogue>;

/// What is stored of an entry of C whose place is `place`: its matrix, row and column.
template <class Epilogue, class Number, class... Place>
KOKKOS_FORCEINLINE_FUNCTION Number finished(const Epilogue& epilogue, const Number& value,
                                            const Place&... place) {
  if constexpr (has_epilogue<Epilogue>) return static_cast<Number>(epilogue(value, place...));
  else return value;
}

} // namespace shoal::detail

#endif
