/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * The options of FFmpeg's filter libvmaf, those that have gone since and those of framesync included, in the words of
 * this project. docs/reference/libvmaf_alias.md has a table of what else differs.
 */
#ifndef QUALITY_CUDA_RUN_LIBVMAF_H
#define QUALITY_CUDA_RUN_LIBVMAF_H

#include <quality_cuda.h>

#include "quality_cuda_run/pairs.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QCR_LIBVMAF_MODEL "version=vmaf_v0.6.1" ///< the default of its option model

/** framesync's numbers of the words of eof_action, and of those of ts_sync_mode: they may be given in place of words.
 */
enum { QCR_LAVFI_REPEAT, QCR_LAVFI_ENDALL, QCR_LAVFI_PASS };
enum { QCR_LAVFI_NEWEST, QCR_LAVFI_NEAREST };

/** As the user gave them; NULL and 0: not given. */
typedef struct qcr_libvmaf_options {
    const char *model_path, *model, *feature, *pool, *log_fmt;
    int enable_transform, phone_model, psnr, ssim, ms_ssim;
    int eof_action, shortest, repeatlast, ts_sync_mode;
} qcr_libvmaf_options;

/** Values of this project's options. */
typedef struct qcr_libvmaf_meaning {
    char* model;
    char* feature;              ///< NULL: none
    const char *pool, *log_fmt; ///< texts that stay
} qcr_libvmaf_meaning;

/**
 * Translates them. What libvmaf's filter takes in silence and does not use is warned of, and never refused.
 * @param meaning to be freed by qcr_free_meaning(), also after a failure @return QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_translate_libvmaf(const qcr_libvmaf_options* options, const qcr_sink* sink,
                                       qcr_libvmaf_meaning* meaning);
QC_API void qcr_free_meaning(qcr_libvmaf_meaning* meaning);

/** How frames are paired: as the filters of FFmpeg that have two inputs do. Sets sync, eof_action and outlasts. */
QC_API void qcr_pair_as_libvmaf(const qcr_libvmaf_options* options, qcr_rules* rules);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_LIBVMAF_H */
