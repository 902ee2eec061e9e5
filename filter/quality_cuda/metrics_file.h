/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * A file with the state of the run, in the text format of Prometheus: for the
 * textfile collector of node_exporter.
 *
 * Depends on engine, files and state; reads what live knows.
 */

#ifndef AVFILTER_QUALITY_CUDA_METRICS_FILE_H
#define AVFILTER_QUALITY_CUDA_METRICS_FILE_H

#include "compat.h"

/** Replaces metrics_file, if there is one. A failure is said once, and is tried again with the next window. @param is_running 0: no frame follows */
void ff_qc_write_metrics(AVFilterContext *ctx, int is_running);

#endif /* AVFILTER_QUALITY_CUDA_METRICS_FILE_H */
