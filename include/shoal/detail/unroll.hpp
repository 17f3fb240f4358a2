// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef SHOAL_DETAIL_UNROLL_HPP
#define SHOAL_DETAIL_UNROLL_HPP

/// Asks for the loop that follows to be unrolled where its bounds are constants: only then do arrays
/// that it indexes stay in registers. GCC unrolls short loops of constant length by itself.
#if defined(__CUDACC__) || defined(__clang__)
#define SHOAL_UNROLL _Pragma("unroll")
#else
#define SHOAL_UNROLL
#endif

#endif
