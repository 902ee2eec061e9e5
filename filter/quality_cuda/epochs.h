/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Time stamps that restart. Between two restarts an input is in one epoch, and
 * only frames of equal epochs are compared: without that, the first frames of
 * the one would meet the last ones of the other. A single stamp that is out of
 * line with its neighbours begins no epoch, and is not used.
 *
 * Knows stamps in the queues of the links. Depends on pairing and state.
 */

#ifndef AVFILTER_QUALITY_CUDA_EPOCHS_H
#define AVFILTER_QUALITY_CUDA_EPOCHS_H

#include "compat.h"

#include <quality_cuda_run.h>

/**
 * Looks at the stamp of the frame that an input delivers next: counts and warns if it jumps, and sets the input's epoch, last_pts and
 * is_outlier. @return 0 if the frame behind it has to be there first
 */
int ff_qc_follow_stamp(AVFilterContext *ctx, int index);

/** Whether two stamps in a row are a jump; without a stamp, and where none is looked at, nothing is. */
int ff_qc_stamps_jump(const AVFilterContext *ctx, int index, int64_t from, int64_t to);

/** qcr_choose() for the waiting main frame, among an input's frames of its epoch. */
qcr_choice ff_qc_choose_in_epoch(AVFilterContext *ctx, int index);

#endif /* AVFILTER_QUALITY_CUDA_EPOCHS_H */
