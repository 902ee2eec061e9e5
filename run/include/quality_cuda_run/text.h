/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Numbers as all that a run tells has them.
 */
#ifndef QUALITY_CUDA_RUN_TEXT_H
#define QUALITY_CUDA_RUN_TEXT_H

#include <stddef.h>

#include <quality_cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Writes a number with so many decimals, and with a point in every locale; "nan" has no sign.
 * @param size above 0; what has no room is cut @return text
 */
QC_API const char *qcr_number(char *text, size_t size, int decimals, double value);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_TEXT_H */
