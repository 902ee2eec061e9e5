// SPDX-License-Identifier: BSD-2-Clause-Patent
// Complete unrolling of short loops, in the words of both compilers. Loops over filter taps must disappear before a
// compiler can keep their operands in registers (device) or vectorise the loop around them (host).
#pragma once

#if defined(__CUDACC__)
#define QC_UNROLL _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__clang__)
#define QC_UNROLL _Pragma("GCC unroll 64")
#else
#define QC_UNROLL
#endif
