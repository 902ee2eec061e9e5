/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Pieces of JSON text. Depends on state.
 */

#ifndef AVFILTER_QUALITY_CUDA_JSON_H
#define AVFILTER_QUALITY_CUDA_JSON_H

#include "compat.h"

#include <stddef.h>

#include "libavutil/bprint.h"

/** A string in its quotes. What is no UTF-8, which JSON must be, becomes U+FFFD. */
void ff_qc_json_string(AVBPrint *out, const char *text);

/** A number with six decimals, or null for what JSON has no number for. */
void ff_qc_json_number(char *text, size_t size, double value);

#endif /* AVFILTER_QUALITY_CUDA_JSON_H */
