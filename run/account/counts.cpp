// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/counts.h"

#include <math.h>

void qcr_count_frame(qcr_counts* counts, int disabled) {
    counts->frames++;
    counts->restarts += counts->is_off && !disabled;
    counts->is_off = disabled;
}

void qcr_count_distance(qcr_counts* counts, double distance) {
    counts->max_abs_dt = fmax(counts->max_abs_dt, fabs(distance));
    counts->sum_dt += distance;
}

int qcr_count_unpaired(qcr_counts* counts, qcr_lack lack, int disabled, int untimed) {
    if (disabled)
        counts->disabled++;
    else if (untimed)
        counts->untimed++;
    else if (lack == QCR_LACKS_BEFORE)
        counts->before++;
    else if (lack == QCR_LACKS_GAP)
        counts->gaps++;
    else
        counts->after++;
    return ++counts->unpaired_row == QCR_LONGEST_GAP + 1;
}

void qcr_count_without_rendition(qcr_counts* counts, qcr_lack lack) {
    if (lack == QCR_LACKS_BEFORE)
        counts->late++;
    else if (lack == QCR_LACKS_GAP)
        counts->holes++;
    else
        counts->ended++;
}

int64_t qcr_rendition_missing(const qcr_counts* counts) {
    return counts->late + counts->holes + counts->ended;
}

int64_t qcr_unscored(const qcr_counts* counts) {
    return counts->disabled + counts->before + counts->after + counts->gaps + counts->untimed + counts->passed +
           qcr_rendition_missing(counts);
}

int64_t qcr_partnerless(const qcr_counts* counts) {
    return counts->gaps + counts->untimed + counts->holes;
}

int qcr_pairs_too_few(const qcr_counts* counts) {
    return qcr_partnerless(counts) > counts->paired + counts->restarts;
}

double qcr_mean_dt(const qcr_counts* counts) {
    return counts->paired ? counts->sum_dt / counts->paired : 0;
}
