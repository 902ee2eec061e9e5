// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/pairs.h"

#include "run/pairs/lengths.hpp"
#include "run/pairs/machine.hpp"
#include "run/text/guard.hpp"

namespace {

bool is_clock(const qcr_clock& clock) {
    return clock.num > 0 && clock.den > 0;
}

bool is_valid(const qcr_pairs_config& config) {
    const qcr_rules& rules = config.rules;
    const bool is_lavfi = rules.sync == QCR_SYNC_LAVFI || rules.sync == QCR_SYNC_LAVFI_NEAREST;
    if (config.renditions < 1 || config.renditions > QC_MAX_RENDITIONS) return false;
    if (config.rate_frames < 0 || config.rate_frames > QCR_RATE_FRAMES) return false;
    if (rules.sync < QCR_SYNC_NEAREST || rules.sync > QCR_SYNC_LAVFI_NEAREST) return false;
    if (rules.eof_action < QCR_EOF_PASS || rules.eof_action > QCR_EOF_REPEAT) return false;
    if (is_lavfi && !is_clock(config.common)) return false;
    for (int i = 0; i < 1 + config.renditions + (config.has_weights != 0 ? 1 : 0); ++i)
        if (!is_clock(config.clock[i])) return false;
    return true;
}

template <class From>
qc_status create(const From& from, qcr_counts* counts, qcr_pairs** pairs) {
    return qc::run::guarded([&] { *pairs = new qcr_pairs(from, counts); });
}

} // namespace

int qcr_eof_action_of(int eof_action, int shortest, int repeatlast) {
    if (shortest != 0 || eof_action == QCR_EOF_ENDALL) return QCR_EOF_ENDALL;
    if (repeatlast < 0) return eof_action;
    return repeatlast != 0 ? QCR_EOF_REPEAT : QCR_EOF_PASS;
}

qc_status qcr_pairs_create(const qcr_pairs_config* config, qcr_counts* counts, qcr_pairs** pairs) {
    *pairs = nullptr;
    return is_valid(*config) ? create(*config, counts, pairs) : QC_ERROR_INVALID;
}

qc_status qcr_pairs_create_trial(const qcr_pairs* pairs, qcr_counts* counts, qcr_pairs** trial) {
    *trial = nullptr;
    return create(*pairs, counts, trial);
}

void qcr_pairs_destroy(qcr_pairs* pairs) {
    delete pairs;
}

int qcr_pairs_first_frames(const qcr_pairs* pairs, int input) {
    return pairs->first_frames(input);
}

void qcr_pairs_show_first(qcr_pairs* pairs, int input, const int64_t* pts, int count) {
    pairs->show_first(input, {pts, static_cast<size_t>(count)});
}

double qcr_pairs_rate(const qcr_pairs* pairs) {
    return pairs->rate();
}

double qcr_pairs_tolerance(const qcr_pairs* pairs) {
    return pairs->tolerance();
}

void qcr_pairs_correct_start(qcr_pairs* pairs, int rendition, int is_told, int frames, double seconds) {
    pairs->correct_start(rendition, is_told != 0, frames, seconds);
}

int qcr_pairs_needs(qcr_pairs* pairs, int input) {
    return pairs->needs(input) ? 1 : 0;
}

int qcr_pairs_jumps(const qcr_pairs* pairs, int input, int64_t pts) {
    return pairs->jumps(input, pts) ? 1 : 0;
}

int qcr_pairs_offer(qcr_pairs* pairs, const qcr_offer* offer) {
    return pairs->offer(*offer) ? 1 : 0;
}

int qcr_pairs_foresee(qcr_pairs* pairs, const qcr_offer* offer) {
    return pairs->foresee(*offer) ? 1 : 0;
}

void qcr_pairs_end(qcr_pairs* pairs, int input, double now) {
    pairs->end(input, now);
}

void qcr_pairs_refuse(qcr_pairs* pairs, int input, int64_t pts) {
    pairs->refuse(input, pts);
}

void qcr_pairs_abandon(qcr_pairs* pairs) {
    pairs->abandon();
}

void qcr_pairs_next(qcr_pairs* pairs, qcr_decision* decision) {
    pairs->next(decision);
}

void qcr_pairs_take(qcr_pairs* pairs) {
    pairs->take();
}

void qcr_pairs_leave(qcr_pairs* pairs) {
    pairs->leave();
}

void qcr_pairs_fail(qcr_pairs* pairs) {
    pairs->fail();
}

qcr_input qcr_pairs_input(const qcr_pairs* pairs, int input) {
    return pairs->state_of(input);
}

int64_t qcr_pairs_number_behind(const qcr_pairs* pairs, int input, int64_t pts) {
    return qc::run::number_behind(pairs->latest(), pairs->input(input), input, pairs->rate(), pts);
}

void qcr_pairs_read_on(qcr_pairs* pairs, int input) {
    pairs->input(input).tail_to_read = qc::run::kMostReadOn;
}

void* qcr_pairs_held(const qcr_pairs* pairs, int input) {
    return pairs->held(input);
}

void qcr_pairs_count_unused(qcr_pairs* pairs) {
    pairs->count_unused();
}

void qcr_pairs_ask(qcr_pairs* pairs, int input, double now) {
    pairs->input(input).ask(now);
}

void qcr_pairs_hear(qcr_pairs* pairs, int input) {
    pairs->input(input).end_silence();
}

void qcr_pairs_interrupt(qcr_pairs* pairs, double now) {
    for (int i = 0; i < pairs->input_count(); ++i) pairs->input(i).interrupt_silence(now);
}

int qcr_pairs_is_stalled(const qcr_pairs* pairs, int input, double now) {
    return pairs->input(input).is_stalled(now) ? 1 : 0;
}
