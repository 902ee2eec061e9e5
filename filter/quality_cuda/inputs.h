/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The inputs: what their links promise, and whether frames keep to it. The last one may have masks: gray
 * frames that say how much each sample of what is scored counts.
 */

#ifndef AVFILTER_QUALITY_CUDA_INPUTS_H
#define AVFILTER_QUALITY_CUDA_INPUTS_H

#include "compat.h"

#include <stddef.h>
#include <stdint.h>

#include <quality_cuda.h>

#include <quality_cuda_run.h>

#define QC_MAX_INPUTS QCR_MAX_INPUTS
#define QC_REFERENCE  QCR_REFERENCE /* 0 is the distorted video, behind the reference are further renditions, then the mask */

typedef struct QCInput {
    /* fixed by the link */
    qc_format format;
    enum AVPixelFormat sw_format;
    int is_hw;
    void *cuda_context;
    double aspect;                ///< of a sample, 1 if it is not known
    qcr_crop crop;                ///< the part that the user wants compared
    size_t crop_left, crop_top;   ///< of hardware frames; software frames come cropped

    int64_t packet_bytes;         ///< of the frames that came; -1: of some it is not known
    int mispaired;                ///< a further rendition that too few partners were found for
    char refusal[QCR_REFUSAL];    ///< what was said of such a one, or of one that changed and is over; empty for others
    int cut_off;                  ///< it ended when the program had been told to stop
    int status;                   ///< why it ended
    int64_t eof_pts;
} QCInput;

/** The pads of further renditions: "main1", "main2", ... @return AVERROR */
int ff_qc_append_rendition_pads(AVFilterContext *ctx);

/**
 * Reads what the links say, checks that the inputs fit together, and makes the
 * pairs of it, whose rate is settled later. @return AVERROR
 */
int ff_qc_configure_inputs(AVFilterContext *ctx);

/**
 * With crop=auto: finds what all inputs show by their first pictures, and checks that it fits together.
 * @param needs bit i: input i has to deliver @return 1 once that is done, 0 if more input is needed, or AVERROR
 */
int ff_qc_look_for_bars(AVFilterContext *ctx, uint32_t *needs);
/** Shows the pairs that the watch of black bars wants to see. @return AVERROR */
int ff_qc_watch_for_bars(AVFilterContext *ctx, AVFrame *const *frames);

/** What sentences about the sources of frames depend on. */
qcr_source_rules ff_qc_source_rules(const AVFilterContext *ctx);

/** Whether any input has CUDA frames. */
int ff_qc_any_hw_input(const AVFilterContext *ctx);

/** The visible part of an input: hardware frames keep their left and top margin inside the link's size. */
qc_format ff_qc_visible_format(const QCInput *in);

/** The size that is scored, and that of the part of it that counts. */
qcr_scored ff_qc_scored(const AVFilterContext *ctx);

/** Whether a frame is what its link says: with "-reinit_filter 0" frames of any size can arrive. */
int ff_qc_keeps_promise(const AVFilterContext *ctx, int index, const AVFrame *frame);

/** @return 1 if the frame is what its link promises; 0: it is not, and a further rendition has to end with it; or AVERROR */
int ff_qc_check_frame(AVFilterContext *ctx, int index, const AVFrame *frame);

/**
 * Moves a frame out of its decoder's surface, by a copy on the device, so that it may be held: the copy is in the order of
 * the stream that the decoder fills its surfaces on. Does nothing to frames that are nobody else's. @return AVERROR
 */
int ff_qc_leave_surface(AVFilterContext *ctx, int index, AVFrame *frame);

/* ---- masks ---- */

/** Whether there is an input of masks. */
int ff_qc_has_weights(const AVFilterContext *ctx);

/** Adds the pad, behind all others, if there is to be one. @return AVERROR */
int ff_qc_append_weights_pad(AVFilterContext *ctx);

/** Looks at the pad's link, if there is one; the other inputs are configured. @return AVERROR */
int ff_qc_configure_weights(AVFilterContext *ctx);

/** Offers the pairs the masks that have come, as far as they need them. @return AVERROR */
int ff_qc_offer_weights(AVFilterContext *ctx);

/** Nobody wants masks any more. */
void ff_qc_drop_weights(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_INPUTS_H */
