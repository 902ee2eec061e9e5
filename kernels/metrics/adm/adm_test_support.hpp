// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures and instances for the tests of integer ADM.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "families/detail_loss/detail_loss_pictures.hpp"
#include "metrics/adm/adm.hpp"
#include "metrics/adm/adm_cpu.hpp"
#include "metrics/adm/adm_plan.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::adm {

using Words = std::vector<uint64_t>;

// ---- pictures -------------------------------------------------------------------------------------------------------

/// Independent noise over the full range.
inline Pair full_noise(int width, int height, int depth, uint32_t salt) {
    const int top = (1 << depth) - 1;
    return {make_luma(width, height, depth, [=](int x, int y) { return hash(x, y, salt) & top; }),
            make_luma(width, height, depth, [=](int x, int y) { return hash(x, y, salt + 7) & top; })};
}

/// Squares of full swing; the distorted picture has them shifted.
inline Pair checkerboard(int width, int height, int depth, int square) {
    const int top = (1 << depth) - 1;
    const auto board = [=](int x, int y) { return ((x / square) ^ (y / square)) & 1 ? top : 0; };
    return {make_luma(width, height, depth, board),
            make_luma(width, height, depth, [=](int x, int y) { return board(x + square / 2 + 1, y); })};
}

// ---- instances ------------------------------------------------------------------------------------------------------

using Assignments = std::map<std::string, double>;

inline test::OptionList list_of(const Assignments& assignments) {
    return {assignments.begin(), assignments.end()};
}

inline OptionValues with_options(const Assignments& assignments) {
    return test::options_of(descriptor(), list_of(assignments));
}

/// Scores of one pair, by their names in the log.
class ScoreMap {
public:
    explicit ScoreMap(const test::Recorder& recorder) {
        for (const auto& [name, values] : recorder.scores) scores[name] = values.at(0);
    }
    double at(const std::string& alias) const {
        const auto found = scores.find(alias);
        if (found != scores.end()) return found->second;
        ADD_FAILURE() << alias << " was not written";
        return 0;
    }
    std::map<std::string, double> scores;
};

inline ScoreMap score(const Pair& pair, const Assignments& assignments) {
    const HostPicture reference = pair.reference.view(), distorted = pair.distorted.view();
    return ScoreMap(test::score_stream(descriptor(), pair.reference.geometry(), list_of(assignments), {&reference, 1},
                                       {&distorted, 1}));
}

inline Plan plan_of(const Pair& pair, const Settings& settings) {
    return make_plan(pair.reference.geometry(), settings);
}

/// What the CPU backend computes.
inline Words cpu_words(const Plan& plan, const Pair& pair, device::WordLanes lanes = device::best_word_lanes()) {
    Words words(kWords);
    RowWorkspaces workspaces;
    score_cpu_rows(plan, pair.reference.geometry().sample, pair.view(), words, workspaces, lanes);
    return words;
}

inline Words reference_words(const Plan& plan, const Pair& pair) {
    Words words(kWords);
    score_cpu(plan, pair.reference.geometry().sample, pair.view(), words);
    return words;
}

} // namespace qc::adm
