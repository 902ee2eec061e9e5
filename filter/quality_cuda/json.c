/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * Pieces of JSON text; see json.h. Depends on state.
 */

#include "compat.h"

#include <math.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"

#include "json.h"
#include "state.h"

void ff_qc_json_string(AVBPrint *out, const char *text)
{
    const uint8_t *at = text, *end = at + strlen(text);

    av_bprint_chars(out, '"', 1);
    while (at < end) {
        const uint8_t *from = at;
        int32_t code;

        if (av_utf8_decode(&code, &at, end, 0) < 0)
            av_bprintf(out, "\\ufffd");
        else if (code < ' ')
            av_bprint_chars(out, ' ', 1);
        else
            av_bprintf(out, "%s%.*s", code == '"' || code == '\\' ? "\\" : "", (int)(at - from), from);
    }
    av_bprint_chars(out, '"', 1);
}

void ff_qc_json_number(char *text, size_t size, double value)
{
    if (isfinite(value))
        ff_qc_print_score(text, size, value);
    else
        av_strlcpy(text, "null", size);
}
