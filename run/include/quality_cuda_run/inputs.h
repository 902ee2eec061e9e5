/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * @file
 * Whether the inputs of a run fit together, and what the user should know of their differences.
 */
#ifndef QUALITY_CUDA_RUN_INPUTS_H
#define QUALITY_CUDA_RUN_INPUTS_H

#include <quality_cuda.h>

#include "quality_cuda_run/names.h"
#include "quality_cuda_run/sink.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is known of an input before its first frame. */
typedef struct qcr_input_promise {
    qc_format format;
    const char* format_name;
    int rate_num, rate_den; ///< frames per second; 0: unknown
    double aspect;          ///< of a sample, width / height; 0: unknown
} qcr_input_promise;

typedef struct qcr_promise_rules {
    const qcr_names* names;
    int scales;   ///< inputs of different sizes are scaled
    int is_alias; ///< the front end goes by libvmaf's name, and has no options but libvmaf's
    int by_index; ///< frames are paired by their number
} qcr_promise_rules;

/**
 * Compares an input with the distorted video: what cannot be scored together is refused, what is scored in another way
 * than one might think is said.
 * @param input 1 or above @param error filled where that fails @return QC_ERROR_INVALID, QC_ERROR_NO_MEMORY
 */
QC_API qc_status qcr_check_input(const qcr_promise_rules* rules, int input, const qcr_input_promise* promise,
                                 const qcr_input_promise* distorted, const qcr_sink* sink, qc_error* error);

/** What lavfi knows of a link's pictures. */
typedef struct qcr_link_colours {
    const char* format_name;
    const char *matrix, *range; ///< FFmpeg's words; NULL or "unknown" where it does not say
    int is_rgb;
} qcr_link_colours;

/** Warns that lavfi converts an input's pictures on their way, of what to what. */
QC_API void qcr_warn_of_conversion(const qcr_names* names, int input, const qcr_link_colours* from,
                                   const qcr_link_colours* to, const qcr_sink* sink);

#ifdef __cplusplus
}
#endif

#endif /* QUALITY_CUDA_RUN_INPUTS_H */
