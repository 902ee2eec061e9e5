/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Which files' streams the inputs of a run are made of: a command line fills inputs that nobody named with whatever
 * video comes first, be it a cover picture, an alpha plane or another variant of the first file.
 */
#ifndef QUALITY_CUDA_RUN_SOURCES_H
#define QUALITY_CUDA_RUN_SOURCES_H

#include <quality_cuda.h>

#include "quality_cuda_run/counts.h"
#include "quality_cuda_run/names.h"
#include "quality_cuda_run/pairs.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

#define QCR_MOST_SOURCES 64 ///< those beyond are not looked at

/** A source of frames, as one input has it. */
typedef struct qcr_source {
    int input;               ///< whose frames come from it, perhaps beside others
    const void* id;          ///< two inputs with a source of the same id have it by way of the caller's own graph
    int file, stream;        ///< numbered from 0, of the command line
    int width, height;       ///< samples
    const char* format_name; ///< lives as long as the sources
    int is_attached;         ///< it has the clock of pictures that are attached to a file, which have no rate
} qcr_source;

/** Zeroed before. */
typedef struct qcr_sources {
    qcr_source of[QCR_MOST_SOURCES];
    int count;
} qcr_sources;

/** What is known of a source beside whose frames come from it. */
typedef struct qcr_source_facts {
    const char* name; ///< "graph 0 input from stream 1:0", as FFmpeg's command line has it; no stream's: not looked at
    int width, height;
    const char* format_name;
    int rate_num, rate_den; ///< frames per second
} qcr_source_facts;

/** Adds a source of an input's, unless it has that already. */
QC_API void qcr_add_source(qcr_sources* sources, int input, const void* id, const qcr_source_facts* facts);

typedef struct qcr_source_rules {
    const qcr_names* names;
    int has_weights; ///< behind the inputs that have names is one more, the mask
    int may_share;   ///< two inputs may be streams of one file
    int is_alias;    ///< the front end goes by libvmaf's name: what is otherwise refused is warned of
} qcr_source_rules;

/**
 * Refuses a reference and a distorted video, or a mask and anything, that are streams of one file. Renditions may be,
 * and one stream that the caller has split.
 * @param error filled where that fails @return QC_ERROR_INVALID, QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_check_sources(const qcr_sources* sources, const qcr_source_rules* rules, const qcr_sink* sink,
                                   qc_error* error);

/** At the end: warns of an input that had a single frame, if it was a file's cover, or the reference of a longer video.
 */
QC_API void qcr_say_single_frames(const qcr_sources* sources, const qcr_source_rules* rules, const qcr_pairs* pairs,
                                  const qcr_counts* counts, const qcr_sink* sink);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_SOURCES_H */
