// SPDX-License-Identifier: BSD-2-Clause-Patent
// A front end that offers frames out of tables, and writes down what is decided as a line of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "quality_cuda_run/counts.h"
#include "quality_cuda_run/pairs.h"

namespace qc::run::pairs_test {

using Stamps = std::vector<int64_t>;

inline constexpr int64_t kNoPts = QCR_NO_PTS;
inline const char* const kNames[] = {"main", "reference", "main1", "main2", "main3"};

/// Timestamps first, first + step, ... of `count` frames.
inline Stamps every(int64_t step, int count, int64_t first = 0) {
    Stamps stamps;
    for (int i = 0; i < count; ++i) stamps.push_back(first + step * i);
    return stamps;
}

inline Stamps joined(Stamps first, const Stamps& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

inline qcr_rules rules(int sync = QCR_SYNC_NEAREST, int eof_action = QCR_EOF_PASS, double max_dt = 0) {
    return {sync, eof_action, max_dt, -1, 0, 0, 0};
}

/// FFmpeg's own, with the defaults of its filters.
inline qcr_rules lavfi(int eof_action = QCR_EOF_REPEAT, int outlasts = 1) {
    return {QCR_SYNC_LAVFI, eof_action, 0, -1, 0, outlasts, 0};
}

/// A clock of milliseconds for all inputs, frames of 40 ms.
inline qcr_pairs_config config_of(const qcr_rules& rules, int renditions = 1) {
    qcr_pairs_config config{};
    config.rules = rules;
    config.renditions = renditions;
    config.claimed_rate = 25;
    config.rate_frames = QCR_RATE_FRAMES;
    config.common = {1, 1000, 0};
    for (qcr_clock& clock : config.clock) clock = {1, 1000, 0};
    for (size_t i = 0; i < std::size(kNames); ++i) config.name[i] = kNames[i];
    return config;
}

struct Frame {
    int input, index;
    int given_back = 0;
};

/// A front end: holds its inputs' timestamps, and does as the header says.
class FrontEnd {
public:
    explicit FrontEnd(qcr_pairs_config config) : counts(static_cast<size_t>(config.renditions)) {
        config.sink = {[](void* opaque, qcr_level level, const char* text) {
                           EXPECT_EQ(level, QCR_LEVEL_WARNING);
                           static_cast<FrontEnd*>(opaque)->messages.emplace_back(text);
                       },
                       this};
        config.release = [](void*, void* frame) { ++static_cast<Frame*>(frame)->given_back; };
        EXPECT_EQ(qcr_pairs_create(&config, counts.data(), &pairs), QC_OK);
        inputs_ = 1 + config.renditions + config.has_weights;
        next_.resize(static_cast<size_t>(inputs_));
        streams.resize(static_cast<size_t>(inputs_));
    }

    FrontEnd(const qcr_pairs_config& config, std::vector<Stamps> stamps) : FrontEnd(config) {
        streams = std::move(stamps);
    }

    ~FrontEnd() {
        qcr_pairs_destroy(pairs);
        for (const Frame& frame : frames_) EXPECT_EQ(frame.given_back, 1) << frame.input << " " << frame.index;
    }

    /// Offers one frame, or the end. @return false if what follows has to be known, and is not
    bool offer_next(int input, bool knows_following = true) {
        const Stamps& stamps = streams[static_cast<size_t>(input)];
        size_t& next = next_[static_cast<size_t>(input)];
        if (next == stamps.size()) {
            qcr_pairs_end(pairs, input, 0);
            return true;
        }
        Frame& frame = frames_.emplace_back(Frame{input, static_cast<int>(next)});
        const bool is_last = next + 1 == stamps.size();
        const bool is_disabled = input == 0 && disabled.contains(static_cast<int>(next));
        const qcr_offer offer{input,
                              stamps[next],
                              &frame,
                              is_disabled ? 1 : 0,
                              knows_following ? 1 : 0,
                              is_last ? kNoPts : stamps[next + 1]};
        if (qcr_pairs_offer(pairs, &offer) == 0) {
            frames_.pop_back();
            return false;
        }
        ++next;
        return true;
    }

    qcr_decision decide() {
        for (int i = 0; i < inputs_; ++i)
            while (qcr_pairs_needs(pairs, i) != 0) offer_next(i);
        qcr_decision decision;
        qcr_pairs_next(pairs, &decision);
        return decision;
    }

    /// All decisions up to the end.
    std::string run() {
        std::string text;
        for (int decided = 0; decided < 1000; ++decided) {
            const qcr_decision decision = decide();
            text += (text.empty() ? "" : " ") + text_of(decision);
            if (decision.kind == QCR_PAIR) qcr_pairs_take(pairs);
            if (decision.kind == QCR_END) return text;
            give_back(decision);
        }
        return text + " and no end";
    }

    void give_back(const qcr_decision& decision) {
        if (decision.input[0].frame != nullptr) ++static_cast<Frame*>(decision.input[0].frame)->given_back;
    }

    /// "3", in a ladder "3,2" or "3,gap", after a pause "|3": a pair; "before", "gap!" where a pause begins, "ended."
    /// where no pair follows; a repeated frame as "+3"; of weights "3w1"; "end", or "early" before a frame that waits.
    std::string text_of(const qcr_decision& decision) const {
        if (decision.kind == QCR_NEEDS_INPUT) return "needs";
        if (decision.kind == QCR_END) return decision.is_early != 0 ? "early" : "end";
        std::string text = decision.is_repeat != 0 ? "+" : "";
        EXPECT_EQ(decision.input[0].frame == nullptr, decision.is_repeat != 0);
        if (decision.kind == QCR_PASS)
            return text + reason_of(decision) + (decision.begins_pause != 0 ? "!" : "") +
                   (decision.is_last != 0 ? "." : "");
        if (decision.after_pause != 0) text += "|";
        const int renditions = static_cast<int>(counts.size());
        for (int i = 1; i <= renditions; ++i) text += (i > 1 ? "," : "") + partner(decision.input[i]);
        if (inputs_ > 1 + renditions) text += "w" + partner(decision.input[1 + renditions]);
        return text;
    }

    std::vector<qcr_counts> counts;
    std::vector<Stamps> streams;
    std::set<int> disabled; ///< indices of distorted frames
    std::vector<std::string> messages;
    qcr_pairs* pairs = nullptr;

private:
    static std::string lack(const qcr_partner& partner) {
        return partner.lack == QCR_LACKS_BEFORE ? "before" : partner.lack == QCR_LACKS_GAP ? "gap" : "ended";
    }

    static std::string partner(const qcr_partner& partner) {
        if (partner.frame == nullptr) return lack(partner);
        EXPECT_EQ(static_cast<const Frame*>(partner.frame)->given_back, 0);
        return std::to_string(static_cast<const Frame*>(partner.frame)->index);
    }

    static std::string reason_of(const qcr_decision& decision) {
        switch (decision.why) {
        case QCR_WHY_DISABLED:
            return "disabled";
        case QCR_WHY_UNTIMED:
            return "untimed";
        case QCR_WHY_ABANDONED:
            return "abandoned";
        default:
            return decision.input[1].lack == QCR_HAS_FRAME ? "over" : lack(decision.input[1]);
        }
    }

    int inputs_ = 0;
    std::vector<size_t> next_;
    std::deque<Frame> frames_;
};

} // namespace qc::run::pairs_test
