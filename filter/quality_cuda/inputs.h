/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * The inputs: what their links promise, the frames that come, and which of them
 * belong together.
 *
 * Knows links and frames; asks pairing which frame is whose partner. Depends on
 * formats, pairing and state, not on the engine's session.
 */

#ifndef AVFILTER_QUALITY_CUDA_INPUTS_H
#define AVFILTER_QUALITY_CUDA_INPUTS_H

#include "compat.h"

#include <stddef.h>
#include <stdint.h>

#include <quality_cuda.h>

#include <quality_cuda_run.h>

#define QC_MAX_INPUTS (1 + QC_MAX_RENDITIONS)
#define QC_REFERENCE  1 /* index of the reference's input; 0 is main, the others are further renditions */

typedef struct QCInput {
    /* fixed by the link */
    qc_format format;
    enum AVPixelFormat sw_format;
    int is_hw;
    void *cuda_context;
    size_t crop_left, crop_top;   ///< of hardware frames; software frames come cropped

    /* frames; of input 0 only the track's clock and end are used */
    qcr_track track;
    AVFrame *cur, *next;          ///< those that the track has the stamps of
    int64_t first_pts;
    int64_t received;
    int left_out;                 ///< so many of its next frames are not used: their pictures come before what is compared
    int64_t jumps;                ///< of its time stamps
    int64_t packet_bytes;         ///< of the frames that came; -1: of some it is not known
    int tail;                     ///< frames read after the main input's end
    int behind;                   ///< of the reference: those, as far as they are too late for the main input's last frame
    int64_t last_pts;             ///< of the latest frame in line
    int is_outlier;               ///< the latest frame's stamp is not in line with those before and behind it
    int64_t epoch;                ///< of the latest frame: how often the time stamps restarted
    int64_t cur_epoch, next_epoch;///< of the track's frames
    int passed;                   ///< frames of an epoch that is over, in a row
    int kept_back;                ///< main frames, in a row, that the next frame's epoch has not begun for
    int64_t kept_back_at;         ///< stamp of the latest of them
    int64_t asked_at;             ///< when its next frame was asked for, microseconds; 0: it was not
    int64_t silence;              ///< for how long it was asked in vain before that, since its latest frame, microseconds
    int mispaired;                ///< a further rendition that too few partners were found for
    char refusal[QCR_REFUSAL];            ///< what was said of such a one, or of one that changed and is over; empty for others
    double claimed_rate;          ///< of input 0, 1/s, 0 for none
    int wanted;                   ///< a frame has to be requested
    int cut_off;                  ///< it ended when the program had been told to stop
    int status;                   ///< why it ended
    int64_t eof_pts;
} QCInput;

/** A main frame and its partners; where the choice is none, the frame is NULL. Nobody's references of their own. */
typedef struct QCPair {
    AVFrame *frame[QC_MAX_INPUTS];
    qcr_choice choice[QC_MAX_INPUTS]; ///< [0] is not used
} QCPair;

/** The pads of further renditions: "main1", "main2", ... @return AVERROR */
int ff_qc_append_rendition_pads(AVFilterContext *ctx);

/**
 * Reads what the links say, checks that the inputs fit together, and sets what
 * follows from it: the tolerance of pairing, the frame rate and the device that
 * the engine is told. The former two are settled later. @return AVERROR
 */
int ff_qc_configure_inputs(AVFilterContext *ctx);

/**
 * Holds the frame rate that the main input claims against the time stamps of its
 * first frames, before any of them is paired. Frames that are sure to come are
 * waited for. @return 1 once that is done, 0 if more input is needed
 */
int ff_qc_settle_rate(AVFilterContext *ctx);

/** Whether any input has CUDA frames. */
int ff_qc_any_hw_input(const AVFilterContext *ctx);

/** The visible part of an input: hardware frames keep their left and top margin inside the link's size. */
qc_format ff_qc_visible_format(const QCInput *in);

/** Whether a frame is what its link says: with "-reinit_filter 0" frames of any size can arrive. */
int ff_qc_keeps_promise(const AVFilterContext *ctx, int index, const AVFrame *frame);

/**
 * Moves a frame out of its decoder's surface, by a copy on the device, so that it may be held: the copy is in the order of
 * the stream that the decoder fills its surfaces on. Does nothing to frames that are nobody else's. @return AVERROR
 */
int ff_qc_leave_surface(AVFilterContext *ctx, int index, AVFrame *frame);

/** Takes the next frame of an input, if there is one; notes the input's end, or that a frame must be requested. @return AVERROR */
int ff_qc_pull(AVFilterContext *ctx, int index, AVFrame **frame);

/**
 * Takes the next main frame as it comes, and lets go of all others: nobody
 * compares them any more. Notes ends, and that frames must be requested.
 */
void ff_qc_pull_unpaired(AVFilterContext *ctx, AVFrame **frame);

/** A frame's time as pairing counts: its stamp, or under libvmaf's name that stamp rounded to the common clock. */
int64_t ff_qc_stamp(const AVFilterContext *ctx, int index, const AVFrame *frame);

/**
 * Behind the main input's end, under libvmaf's name: its last frame comes again at the time of the reference's next one,
 * where that goes on. @return AVERROR, 0 if the reference has to deliver first, 1 if that was decided; then the waiting main
 * frame is the one that comes, if one does
 */
int ff_qc_repeat_main(AVFilterContext *ctx);

/** Finds the waiting main frame's partner on an input, and puts both into the pair. @return AVERROR, 0 if more input is needed */
int ff_qc_find_partner(AVFilterContext *ctx, int index, QCPair *pair);

/** The frame `cur` is dropped, `next` takes its place. */
void ff_qc_step_input(QCInput *in);

/** Distance in seconds of an input's frame from the waiting main frame. */
double ff_qc_partner_distance(const AVFilterContext *ctx, int index, const AVFrame *partner);

/** Says once if main and reference do not begin together. */
void ff_qc_warn_of_start(AVFilterContext *ctx);

/** Behind the main input's end, reads the others to theirs, or for a bounded number of frames. @return 0 if more input is needed */
int ff_qc_read_tails(AVFilterContext *ctx);

/** No frame of any input is asked for, until one turns out to be missing. */
void ff_qc_want_nothing(AVFilterContext *ctx);

/** Asks for the frames that are missing, where a consumer waits for what comes of them. */
int ff_qc_request_if_awaited(AVFilterContext *ctx);

/** No main frame follows: what no pair has used by now is not used. */
void ff_qc_count_leftovers(AVFilterContext *ctx);

void ff_qc_free_inputs(AVFilterContext *ctx);

#endif /* AVFILTER_QUALITY_CUDA_INPUTS_H */
