// SPDX-License-Identifier: BSD-2-Clause-Patent
// Complete unrolling of short loops, in the words of both compilers. Loops over filter taps must disappear before a
// compiler can keep their operands in registers (device) or vectorise the loop around them (host). Loops of rare paths
// are better left alone, lest they take the registers of the others.
#pragma once

#define QC_PRAGMA(text) _Pragma(#text)

#if defined(__CUDACC__)
#define QC_UNROLL_BY(count) QC_PRAGMA(unroll count)
#define QC_UNROLL _Pragma("unroll")
#define QC_NO_UNROLL _Pragma("unroll 1")
#elif defined(__GNUC__) && !defined(__clang__)
#define QC_UNROLL_BY(count) QC_PRAGMA(GCC unroll count)
#define QC_UNROLL _Pragma("GCC unroll 64")
#define QC_NO_UNROLL _Pragma("GCC unroll 1")
#else
#define QC_UNROLL_BY(count)
#define QC_UNROLL
#define QC_NO_UNROLL
#endif
