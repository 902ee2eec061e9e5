// SPDX-License-Identifier: BSD-2-Clause-Patent
// QC_INDEPENDENT before a loop over a row says that no iteration reads what another writes: compilers then do not ask
// at run time whether rows overlap, and do not give up where there are too many of them to ask.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define QC_INDEPENDENT _Pragma("GCC ivdep")
#else
#define QC_INDEPENDENT
#endif
