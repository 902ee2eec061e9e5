// SPDX-License-Identifier: BSD-2-Clause-Patent
// Timestamps in, looked at before the run begins; pairs for a session, and an end, out.
#include "quality_cuda_run/preview.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/pairs/pairs_test_support.hpp"

namespace qc::run {
namespace {

using pairs_test::every;
using pairs_test::Stamps;

/// A session that watches gray pictures.
class Watch {
public:
    Watch() {
        qc_config config{};
        qc_error error{};
        config.struct_size = sizeof(config);
        config.metrics = "psnr";
        config.backend = QC_BACKEND_CPU;
        config.renditions = config.n_subsample = config.n_threads = 1;
        config.watch_contents = 2;
        EXPECT_EQ(qc_format_from_name("gray", 32, 32, &config.reference), QC_OK);
        config.distorted[0] = config.reference;
        EXPECT_EQ(qc_session_create(&config, &session, &error), QC_OK) << error.text;
    }
    ~Watch() { qc_session_destroy(session); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    qc_session* session = nullptr;
};

/// Looks at frames of 40 ms, whose clock is one of milliseconds, as far as they have come.
class Look {
public:
    Look(const qcr_rules& rules, const Stamps& distorted, const Stamps& reference, bool has_ended = true)
        : run(pairs_test::config_of(rules)), stamps_{distorted, reference}, has_ended_(has_ended) {
        EXPECT_EQ(qcr_preview_begin(&preview, run.pairs, 1, QCR_WISH_START), QC_OK);
    }
    ~Look() { qcr_preview_end(&preview); }
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;

    /// @return why it came to an end: QCR_LOOK_NEEDS_INPUT or QCR_LOOK_IS_OVER
    qcr_look go() {
        for (qcr_look look = QCR_LOOK_GOES_ON;;) {
            for (int i = 0; i < 2; i++) {
                for (look = QCR_LOOK_GOES_ON; look == QCR_LOOK_GOES_ON && qcr_preview_needs(&preview, i) != 0;)
                    look = offer(i);
                if (look == QCR_LOOK_IS_OVER) return look;
            }
            qcr_decision decision{};
            look = qcr_preview_next(&preview, &decision);
            needs = decision.needs;
            if (look == QCR_LOOK_AT_PAIR)
                look = qcr_preview_saw(&preview, watch.session, static_cast<double>(decision.input[0].pts) / 1000);
            if (look != QCR_LOOK_GOES_ON) return look;
        }
    }

    pairs_test::FrontEnd run;
    Watch watch;
    qcr_preview preview{};
    uint32_t needs = 0;

private:
    qcr_look offer(int input) {
        const Stamps& stamps = stamps_[input];
        const auto next = static_cast<size_t>(preview.seen[input]);
        void* const frame = next < stamps.size() ? &stamps_[input][next] : nullptr;
        return qcr_preview_offer(&preview, input, frame, frame != nullptr ? stamps[next] : QCR_NO_PTS,
                                 has_ended_ ? 1 : 0);
    }

    Stamps stamps_[2];
    bool has_ended_;
};

TEST(Preview, HowFarItGoes) {
    static const struct {
        const char* what;
        Stamps distorted, reference;
        bool has_ended;
        qcr_look end;
        int pairs;
        uint32_t needs;
    } kCases[] = {
        {"nothing has come", {}, {}, false, QCR_LOOK_NEEDS_INPUT, 0, 1},
        {"the reference has not come", every(40, 3), {}, false, QCR_LOOK_NEEDS_INPUT, 0, 2},
        {"all that there is", every(40, 3), every(40, 3), true, QCR_LOOK_IS_OVER, 3, 0},
        {"as many as may wait", every(40, 200), every(40, 200), false, QCR_LOOK_IS_OVER, QCR_MOST_WAITING, 0},
        {"what jumps is not of the beginning", {0, 40, 99040, 99080}, every(40, 200), true, QCR_LOOK_IS_OVER, 2, 0},
        {"a pause ends it", every(40, 60), pairs_test::joined(every(40, 4), every(40, 40, 1000)), true,
         QCR_LOOK_IS_OVER, 4, 0},
        {"frames before the reference begins", every(40, 60), every(40, 40, 800), true, QCR_LOOK_IS_OVER, 40, 0},
    };
    for (const auto& of : kCases) {
        SCOPED_TRACE(of.what);
        Look look(pairs_test::rules(), of.distorted, of.reference, of.has_ended);
        EXPECT_EQ(look.go(), of.end);
        EXPECT_EQ(look.preview.seen_pairs, of.pairs);
        if (of.end == QCR_LOOK_NEEDS_INPUT) {
            EXPECT_EQ(look.needs, of.needs);
        }
    }
}

TEST(Preview, TimesOfPairs) {
    Look look(pairs_test::rules(), every(40, 5, 80), every(40, 8));
    EXPECT_EQ(look.go(), QCR_LOOK_IS_OVER);
    EXPECT_DOUBLE_EQ(look.preview.first_time, 0.08);
    EXPECT_DOUBLE_EQ(look.preview.last_time, 0.24);
}

TEST(Preview, NothingIsToldWithoutPictures) {
    for (const bool has_session : {false, true}) {
        Look look(pairs_test::rules(), every(40, 3), every(40, 3));
        qcr_start start{};
        EXPECT_EQ(look.go(), QCR_LOOK_IS_OVER);
        qcr_preview_conclude(&look.preview, has_session ? look.watch.session : nullptr, 0, &start);
        EXPECT_EQ(start.is_told, 0);
        EXPECT_EQ(start.offset, 0);
        EXPECT_EQ(std::isnan(start.seconds), has_session);
    }
}

TEST(Preview, CanEndWithoutHavingBegun) {
    qcr_preview preview{};
    qcr_preview_end(&preview);
    EXPECT_EQ(preview.trial, nullptr);
}

} // namespace
} // namespace qc::run
