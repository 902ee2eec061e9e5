// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the course of an offset to what is worth a warning.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "alignment/evidence.hpp"
#include "alignment/offset_path.hpp"
#include "quality_cuda_run/engine.h"

namespace qc {

/// Of a distorted picture from the reference's by offset; below 0: there is no such picture.
using OffsetDistances = std::array<float, kOffsets>;

/// One frame of the course.
struct SettledFrame {
    int64_t frame = 0;
    int offset = 0;
    const OffsetDistances* distances = nullptr;
    bool is_still = false;          ///< shows what the frame before does, and so says nothing of the offset
    bool is_repeat = false;         ///< it does, while the reference moves and leaves it behind
    bool goes_on_repeating = false; ///< of a frame behind a repeat: it is one too
};

/// Rates so wrong that the offset leaves its range before a course shows: twice, half ... Looks at the first frames.
class StartRates {
public:
    /// @param expected offset that the frames are believed to have @return the rate that fits, or 0
    double add(const SettledFrame& frame, int expected);

private:
    static constexpr std::array<double, 8> kRates{0.5, 2.0, 1.5, 2.0 / 3.0, 0.4, 2.5, 3.0, 1.0 / 3.0};
    struct Tally {
        int moving = 0, fitting = 0, telling = 0;
        float evidence = 0.0F;
    };
    void weigh(const OffsetDistances& distances, float expected);
    bool is_clear(const Tally& tally) const;

    int64_t frames_ = 0;
    std::array<Tally, kRates.size()> tallies_;
    OffsetDistances constant_{}; ///< evidence that the offset is this one all the time
};

class OffsetCourse {
public:
    static constexpr size_t kMostFindings = 64;
    static constexpr int64_t kFewestToFit = 12; ///< pictures

    void add(const SettledFrame& frame);
    /// What follows does not follow in time.
    void pause();
    /// Nothing follows.
    void finish();

    /// What the next frames are expected to have.
    int offset() const { return offset_; }
    /// Whether that is true of most pictures.
    bool fits() const { return fit_.moving >= kFewestToFit && fit_.is_good(); }
    const std::vector<qc_finding>& findings() const { return findings_; }
    /// Also one of others. A video that is wrong for hours has said so by then.
    void report(const qc_finding& finding);

private:
    /// Frames of one offset in a row.
    struct Leg {
        int64_t first = 0;
        int offset = 0;
        int telling = 0; ///< frames that fit clearly better than with the offset before
        Fit fit;
        bool is_certain = false;
        OffsetDistances against{};          ///< evidence against each other offset
        OffsetDistances against_expected{}; ///< the same, had the offset not changed
    };
    struct Turn {
        int64_t frame = 0;
        int offset = 0;
        Fit fit; ///< of all frames before
    };

    void begin_leg(const SettledFrame& frame);
    void weigh(const SettledFrame& frame);
    bool is_certain() const;
    void believe_leg();
    void look_for_rate(int64_t frame);
    void report_rate(int64_t frame, double rate);
    void release_held(int64_t frame);
    void count_repeat(const SettledFrame& frame);
    void report_repeats();
    qc_finding* known_repeats();

    std::vector<qc_finding> findings_;
    int64_t first_frame_ = -1;
    int offset_ = 0;         ///< that is certain, or was expected
    bool has_moved_ = false; ///< it was not always 0
    bool drifts_ = false;
    bool is_in_leg_ = false;
    Leg leg_;
    OffsetDistances for_expected_{}; ///< evidence of earlier legs that the offset is what was expected
    std::deque<qc_finding> held_;    ///< steps that may be the beginning of a drift
    std::deque<Turn> turns_;         ///< the latest changes of the course, certain or not
    Fit fit_;
    StartRates start_rates_;
    int64_t repeats_ = 0, first_repeat_ = 0; ///< in a row, up to the latest frame
    bool is_at_start_ = true;
};

} // namespace qc
