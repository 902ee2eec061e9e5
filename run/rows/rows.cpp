// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/rows.h"

#include <algorithm>
#include <list>
#include <memory>
#include <vector>

#include "run/text/guard.hpp"

namespace {

struct Entry {
    qcr_row row{};
    bool is_settled = false;   ///< it has its scores, or will get none
    bool is_accounted = false; ///< it was handed out, and stays for its frame alone
    bool has_scores = false;
    bool is_unconfirmed = false; ///< its frame was taken, and nobody knows whether the consumer has it
    std::vector<double> value;
    std::vector<unsigned char> present;
    std::vector<qcr_counts> counts;

    /// As it is handed out.
    qcr_row view() const {
        qcr_row result = row;
        result.value = has_scores ? value.data() : nullptr;
        result.present = has_scores ? present.data() : nullptr;
        return result;
    }

    void fail() {
        row.failed = 1;
        row.unscored = "failure";
    }
};

using Entries = std::list<Entry>;

} // namespace

struct qcr_rows {
    int renditions = 1, n_subsample = 1, features = 0;
    Entries waiting;
    Entries spare; ///< entries that have left: their memory is used again
    qcr_tally tally{};

    Entries::iterator oldest_held() {
        return std::ranges::find_if(waiting, [](const Entry& each) { return each.row.frame != nullptr; });
    }

    Entries::iterator first_unsettled() {
        return std::ranges::find_if(waiting, [](const Entry& each) { return !each.is_settled; });
    }

    /// An empty entry in front of `place`.
    Entries::iterator insert(Entries::iterator place) {
        if (spare.empty()) spare.emplace_back();
        const Entries::iterator entry = spare.begin();
        entry->is_settled = entry->is_accounted = entry->has_scores = entry->is_unconfirmed = false;
        entry->counts.resize(static_cast<size_t>(renditions));
        waiting.splice(place, spare, entry);
        return entry;
    }

    void remove(Entries::iterator entry) { spare.splice(spare.begin(), waiting, entry); }

    /// A row that has failed needs its map no more.
    qcr_row hand_out(Entry* entry) const {
        const qcr_row view = entry->view();
        if (entry->row.failed != 0) entry->row.map = nullptr;
        return view;
    }

    void keep_scores(const qc_row& scores, Entry* entry) const {
        const auto count = static_cast<size_t>(renditions) * static_cast<size_t>(features);
        if (std::find(scores.present, scores.present + count, 1) != scores.present + count) {
            entry->value.assign(scores.value, scores.value + count);
            entry->present.assign(scores.present, scores.present + count);
            entry->has_scores = true;
        } else if (scores.weightless != 0) {
            entry->row.unscored = "masked";
        } else if (scores.frame % n_subsample == 0) {
            entry->fail();
        } else {
            entry->row.unscored = "subsample";
        }
    }

    void count(const Entry& entry) {
        for (int k = 0; entry.row.failed != 0 && k < renditions; ++k) tally.failed[k] += entry.row.renditions >> k & 1;
        if (!entry.has_scores) return;
        auto present = entry.present.begin();
        for (int k = 0; k < renditions; ++k, present += features)
            tally.scored[k] += std::find(present, present + features, 1) != present + features;
    }
};

using qc::run::guarded;

qcr_rows* qcr_rows_create(int renditions, int n_subsample) {
    if (renditions < 1 || renditions > QC_MAX_RENDITIONS || n_subsample < 1) return nullptr;
    return guarded<qcr_rows*>(nullptr, [&] {
        auto rows = std::make_unique<qcr_rows>();
        rows->renditions = renditions;
        rows->n_subsample = n_subsample;
        return rows.release();
    });
}

void qcr_rows_destroy(qcr_rows* rows) {
    delete rows;
}

qc_status qcr_rows_append(qcr_rows* rows, const qcr_row* row, const qcr_counts* counts) {
    return guarded(QC_ERROR_NO_MEMORY, [&] {
        Entry& entry = *rows->insert(rows->waiting.end());
        entry.row = *row;
        entry.is_settled = row->number < 0;
        std::copy_n(counts, rows->renditions, entry.counts.begin());
        if (row->failed != 0) entry.fail();
        rows->tally.held++;
        return QC_OK;
    });
}

qc_status qcr_rows_deliver(qcr_rows* rows, const qc_row* scores, int features, qcr_row* settled) {
    return guarded(QC_ERROR_NO_MEMORY, [&] {
        const auto entry = rows->first_unsettled();
        if (entry == rows->waiting.end() || entry->row.number != scores->frame) return QC_ERROR_INVALID;
        rows->features = features;
        rows->keep_scores(*scores, &*entry);
        entry->is_settled = true;
        rows->tally.late_scores += entry->row.frame == nullptr && entry->has_scores;
        *settled = rows->hand_out(&*entry);
        return QC_OK;
    });
}

int qcr_rows_fail(qcr_rows* rows, qcr_row* failed) {
    const auto entry = rows->first_unsettled();
    if (entry == rows->waiting.end()) return 0;
    entry->is_settled = true;
    entry->fail();
    *failed = rows->hand_out(&*entry);
    return 1;
}

int qcr_rows_oldest_waits(const qcr_rows* rows) {
    const auto held = std::ranges::find_if(rows->waiting, [](const Entry& each) { return each.row.frame != nullptr; });
    return held != rows->waiting.end() && !held->is_settled;
}

int qcr_rows_under_way(const qcr_rows* rows) {
    return static_cast<int>(std::ranges::count_if(rows->waiting, [](const Entry& each) { return !each.is_settled; }));
}

int qcr_rows_take(qcr_rows* rows, qcr_row* taken) {
    const auto entry = rows->oldest_held();
    if (entry == rows->waiting.end() || !entry->is_settled) return 0;
    *taken = entry->view();
    entry->row.frame = entry->row.map = nullptr;
    entry->row.was_taken = 1;
    entry->is_unconfirmed = true;
    rows->tally.held--;
    return 1;
}

void qcr_rows_confirm(qcr_rows* rows) {
    for (Entry& each : rows->waiting) {
        if (!each.is_unconfirmed) continue;
        each.is_unconfirmed = false;
        std::ranges::copy(each.counts, rows->tally.left);
    }
}

int qcr_rows_let_go(qcr_rows* rows, qcr_row* gone) {
    return guarded(0, [&] {
        const auto entry = rows->oldest_held();
        if (entry == rows->waiting.end() || entry->is_settled) return 0;
        const auto scores = rows->insert(entry);
        scores->row = entry->row;
        scores->row.frame = nullptr;
        entry->row.number = -1;
        entry->row.map = nullptr;
        entry->row.scores_follow = 1;
        entry->is_settled = true;
        *gone = scores->view();
        return 1;
    });
}

int qcr_rows_account(qcr_rows* rows, int rest, qcr_row* row) {
    const auto entry = std::ranges::find_if(rows->waiting, [&](const Entry& each) {
        return !each.is_accounted &&
               (rest != 0 || (each.row.frame == nullptr && each.is_settled && !each.is_unconfirmed));
    });
    if (entry == rows->waiting.end()) return 0;
    rows->count(*entry);
    entry->is_accounted = true;
    *row = entry->view(); // what it points to stays with a spare entry, until that is used again
    if (entry->row.frame == nullptr && entry->is_settled)
        rows->remove(entry);
    else
        row->frame = row->map = nullptr;
    return 1;
}

int qcr_rows_pop(qcr_rows* rows, qcr_row* row) {
    const auto entry = rows->waiting.begin();
    if (entry == rows->waiting.end()) return 0;
    *row = entry->view();
    rows->tally.held -= entry->row.frame != nullptr;
    rows->remove(entry);
    return 1;
}

const qcr_tally* qcr_rows_tally(const qcr_rows* rows) {
    return &rows->tally;
}
