// SPDX-License-Identifier: BSD-2-Clause-Patent
// Complete unrolling of short loops, in the words of both compilers. Loops over filter taps must disappear before a
// compiler can keep their operands in registers (device) or vectorise the loop around them (host). QC_ROLLED keeps a
// loop around much unrolled code from multiplying it; the device's compiler would.
#pragma once

#if defined(__CUDACC__)
#define QC_UNROLL _Pragma("unroll")
#define QC_ROLLED _Pragma("unroll 1")
#elif defined(__GNUC__) && !defined(__clang__)
#define QC_UNROLL _Pragma("GCC unroll 64")
#define QC_ROLLED
#else
#define QC_UNROLL
#define QC_ROLLED
#endif
