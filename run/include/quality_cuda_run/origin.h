/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Who a log's scores come from.
 */
#ifndef QUALITY_CUDA_RUN_ORIGIN_H
#define QUALITY_CUDA_RUN_ORIGIN_H

#include <quality_cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QCR_VERSION "0.1.0" /**< of these headers: the version that a front end was built with */

/**
 * What the process is, for its logs and records: a front end says it before its first session, and the first word counts.
 * @param filter QCR_VERSION where FFmpeg's filter says it @param ffmpeg the version of FFmpeg. Both are copied
 */
QC_API void qcr_name_program(const char *filter, const char *ffmpeg);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_ORIGIN_H */
