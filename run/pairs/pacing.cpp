// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/pacing.h"

#include <math.h>
#include <string.h>

#define LONGEST_STEP 1.0 /* seconds: where the stream's time jumps further, or back, the clock is set anew */
#define FORGETS_IN 10.0  /* seconds in which a delay that is not the scoring's is taken for the stream's own */

void qcr_pacing_start(qcr_pacing* pacing, int depth, int most) {
    memset(pacing, 0, sizeof(*pacing));
    pacing->depth = depth;
    pacing->most = pacing->limit = most;
}

int qcr_pace_is_behind(const qcr_pacing* pacing, double clock) {
    const double delay = clock - pacing->latest - pacing->offset;

    /* Passing frames takes no time: then a stream is on time that can't be made to wait, and ahead of it one that can.
     */
    return !pacing->has_begun || delay > (pacing->is_overloaded ? -QCR_PACE_TOLERANCE : QCR_PACE_TOLERANCE);
}

/** Follows a stream whose clock is not ours, and one that was held up by others; but not what the scoring delays. */
static void follow(qcr_pacing* pacing, double stream, double clock, int under_way) {
    const double offset = clock - stream, step = stream - pacing->latest;

    if (!pacing->has_begun || step < 0 || step > LONGEST_STEP || (!pacing->is_overloaded && offset < pacing->offset))
        pacing->offset = offset;
    else if (!pacing->is_overloaded && under_way <= 1)
        pacing->offset += (offset - pacing->offset) * fmin(step / FORGETS_IN, 1);
    pacing->has_begun = 1;
    pacing->latest = stream;
}

static void begin_to_pass(qcr_pacing* pacing, int under_way, qcr_pace_change* change) {
    pacing->is_passing = 1;
    pacing->row_under_way = under_way;
    pacing->row_passed = 0;
    if (pacing->is_overloaded) return;
    pacing->is_overloaded = 1;
    pacing->passed = 0;
    *change = QCR_PACE_OVERLOADED;
}

/** While n pairs were scored, m frames came: so many more pairs as would let the queue grow to its depth. */
static void resume(qcr_pacing* pacing) {
    const int64_t wanted = (int64_t)pacing->depth * pacing->row_under_way / pacing->row_passed;

    pacing->limit = wanted < 1 ? 1 : wanted > pacing->most ? pacing->most : wanted;
    pacing->is_passing = 0;
    pacing->resumed = pacing->latest;
}

int qcr_pace(qcr_pacing* pacing, double stream, double clock, int under_way, qcr_pace_change* change) {
    *change = QCR_PACE_UNCHANGED;
    if (!pacing->most) return 0;
    if (!isnan(stream)) follow(pacing, stream, clock, under_way);
    if (pacing->is_passing && !under_way) resume(pacing);
    if (!pacing->is_passing && under_way >= pacing->limit && (isnan(stream) || qcr_pace_is_behind(pacing, clock))) {
        begin_to_pass(pacing, under_way, change);
    } else if (!pacing->is_passing && pacing->is_overloaded && pacing->latest - pacing->resumed >= QCR_PACE_STEADY) {
        pacing->is_overloaded = 0;
        pacing->limit = pacing->most;
        *change = QCR_PACE_RECOVERED;
    }
    pacing->row_passed += pacing->is_passing;
    pacing->passed += pacing->is_passing;
    return pacing->is_passing;
}
