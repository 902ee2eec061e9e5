/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * What is scored of pictures of different sizes: the words of the options scale, scale_to and roi, the size that comes
 * of them, and whether scaling would change the shape of what the pictures show.
 */
#ifndef QUALITY_CUDA_RUN_GEOMETRY_H
#define QUALITY_CUDA_RUN_GEOMETRY_H

#include <quality_cuda.h>

#include "quality_cuda_run/names.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Whose size is scored. */
typedef QC_ENUM(qcr_scored_size){QCR_SIZE_OF_REFERENCE, QCR_SIZE_OF_DISTORTED, QCR_SIZE_GIVEN} qcr_scored_size;

/** What the options say. Zeroed: pictures of one size, all of them. */
typedef struct qcr_geometry {
    qc_scaling scaling; ///< none: inputs of different sizes are refused
    qcr_scored_size size;
    int width, height;                       ///< of QCR_SIZE_GIVEN, luma samples
    int roi_x, roi_y, roi_width, roi_height; ///< luma samples of the scored picture; roi_width 0: all of it
    int is_cropped; ///< somebody has said which parts show the same: these are scaled whatever their shape is
} qcr_geometry;

/** Luma samples. */
typedef struct qcr_size {
    int width, height;
} qcr_size;

/**
 * Reads the options.
 * @param scale, scale_to, roi, crop as the user wrote them; NULL: not given
 * @param error filled where that fails @return QC_ERROR_INVALID, QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_read_geometry(const char* scale, const char* scale_to, const char* roi, const char* crop,
                                   qcr_geometry* geometry, qc_error* error);

/**
 * Tells the engine, and refuses inputs that are scaled and do not have the reference's shape, beside what rounded sides
 * explain. Whether a region lies in the picture is the engine's to know.
 * @param aspect  of a sample of each input, width / height, 1 if it is not known
 * @param config  its formats and renditions are set
 * @param sink    hears of sizes that are scaled and are likelier those of a part; NULL: nobody does
 * @param error   filled where that fails @return QC_ERROR_INVALID, QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_configure_geometry(const qcr_geometry* geometry, const qcr_names* names,
                                        const double aspect[QCR_MAX_VIDEOS], qc_config* config, const qcr_sink* sink,
                                        qc_error* error);

/** What is scored: the size that inputs are scaled to, and that of the part of it that counts. */
typedef struct qcr_scored {
    qcr_size all, part;
} qcr_scored;
QC_API qcr_scored qcr_sizes_scored(const qcr_geometry* geometry, const qc_format* distorted,
                                   const qc_format* reference);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_GEOMETRY_H */
