/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The option maps: a second output, whose frames show where the distorted ones are bad. The engine paints them
 * while it scores; here they are made ready, and black ones are made for frames without scores, so that
 * both outputs stay in step.
 */

#ifndef AVFILTER_QUALITY_CUDA_MAPS_H
#define AVFILTER_QUALITY_CUDA_MAPS_H

#include "compat.h"

#include <quality_cuda.h>

enum { QC_OUTPUT_MAIN, QC_OUTPUT_MAP };

typedef struct QCMap {
    AVFrame *black;  ///< NULL until one is needed
    AVFrame **kept;  ///< where the engine may still write after its failure; until it ends
    int nb_kept;
} QCMap;

/** Whether there is a second output. */
int ff_qc_has_map(const AVFilterContext *ctx);

/** Adds the pad, if there is to be one. @param configure its config_props @return AVERROR */
int ff_qc_append_map_pad(AVFilterContext *ctx, int (*configure)(AVFilterLink *link));

/** The pad's formats, if there is one. @return AVERROR */
int ff_qc_offer_map_formats(AVFilterContext *ctx);

/** Size, rate and memory of the map's frames; the inputs are configured. @return AVERROR */
int ff_qc_configure_map_link(AVFilterLink *link);

/** Tells the engine what is wanted. */
void ff_qc_configure_map(const AVFilterContext *ctx, qc_config *config);

/** Makes a map ready to be painted, if there is to be one, in the place of what `map` is. @return AVERROR */
int ff_qc_prepare_map(AVFilterContext *ctx, AVFrame **map);

/** Nobody will look at the frame, but the engine may still paint it. */
void ff_qc_keep_map(AVFilterContext *ctx, AVFrame **map);

/**
 * Makes of what was painted what leaves with a distorted frame.
 * @param map what was painted, NULL for a black one; the frame that leaves, or NULL if there is no second output
 * @return AVERROR
 */
int ff_qc_finish_map(AVFilterContext *ctx, const AVFrame *distorted, AVFrame **map);

void ff_qc_free_maps(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_MAPS_H */
