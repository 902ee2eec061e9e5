// SPDX-License-Identifier: BSD-2-Clause-Patent
// Several versions of a hot CPU function from one source: the compiler vectorises the same loops for each instruction
// set, and the loader picks the best one the machine has. Put QC_CPU_CLONES on plain (non-template) functions that work
// on whole rows, and QC_INLINE_HELPER on what they call, so that the helpers are compiled for the same instruction set.
// Results do not depend on the version: integers are exact, and floating-point contraction is off for the whole
// project.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define QC_CPU_CLONES // sanitizers do not like the resolvers, which run before they are ready
#elif defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && !defined(__CUDACC__)
#define QC_CPU_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define QC_CPU_CLONES
#endif

#define QC_INLINE_HELPER inline __attribute__((always_inline))
