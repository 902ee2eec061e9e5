/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * The part of each input that is compared: the words of the option crop, and whether it lies in the picture.
 */
#ifndef QUALITY_CUDA_RUN_CROPS_H
#define QUALITY_CUDA_RUN_CROPS_H

#include <quality_cuda.h>

#include "quality_cuda_run/names.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Luma samples of an input. Zeroed: the whole picture. */
typedef struct qcr_crop {
    int x, y, width, height;
} qcr_crop;

/**
 * Reads the option: one rectangle for each input in the order of the inputs, W:H:X:Y or WxH+X+Y, joined by |; an empty
 * one is the whole picture, as for inputs behind the last one. @param text NULL: not given; auto: the whole
 * pictures, until it is known what all show
 * @param error filled where that fails @return QC_ERROR_INVALID, QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_read_crops(const char* text, int inputs, qcr_crop crops[QCR_MAX_VIDEOS], qc_error* error);

/** Refuses a rectangle that is not in the picture, or parts samples of chroma. @return as qcr_read_crops() */
QC_API qc_status qcr_check_crop(const qcr_names* names, int input, const qcr_crop* crop, const qc_format* format,
                                qc_error* error);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_CROPS_H */
