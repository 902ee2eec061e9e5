// SPDX-License-Identifier: BSD-2-Clause-Patent
// The scores that both ADM metrics write: their names, their order, and how they come from the levels.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "contract/metric.hpp"
#include "families/detail_loss/detail_loss_level.hpp"
#include "families/detail_loss/detail_loss_options.hpp"
#include "families/detail_loss/detail_loss_weights.hpp"

namespace qc::detail_loss {

enum Output {
    kAdm2,
    kAim,
    kAdm3,
    kScale0,
    kAdm = kScale0 + kLevels, ///< this and all that follow: only with the option debug
    kNumerator,
    kDenominator,
    kNumeratorScale0, ///< numerator and denominator of each scale in turn
    kOutputs = kNumeratorScale0 + 2 * kLevels,
};

enum class Arithmetic { kInteger, kFloatingPoint };

/// The whole list. `names`: those under which models ask for the scores that are always written. In the log, and for
/// the other scores, integer ADM puts a prefix before the names of floating-point ADM.
constexpr std::array<OutputSpec, kOutputs> list_outputs(Arithmetic arithmetic, const std::string_view (&names)[kAdm]) {
    constexpr std::string_view kPrefix = "integer_";
    constexpr std::string_view kPrefixed[kOutputs] = {
        "integer_adm2",           "integer_aim",
        "integer_adm3",           "integer_adm_scale0",
        "integer_adm_scale1",     "integer_adm_scale2",
        "integer_adm_scale3",     "integer_adm",
        "integer_adm_num",        "integer_adm_den",
        "integer_adm_num_scale0", "integer_adm_den_scale0",
        "integer_adm_num_scale1", "integer_adm_den_scale1",
        "integer_adm_num_scale2", "integer_adm_den_scale2",
        "integer_adm_num_scale3", "integer_adm_den_scale3",
    };
    std::array<OutputSpec, kOutputs> outputs{};
    for (int i = 0; i < kOutputs; i++) {
        OutputSpec& output = outputs[i];
        output.alias = kPrefixed[i].substr(arithmetic == Arithmetic::kInteger ? 0 : kPrefix.size());
        output.name = i < kAdm ? names[i] : output.alias;
        if (i < kAdm) continue;
        output.enabled = [](const OptionValues& options, const FrameGeometry&) { return options.flag(kDebug); };
    }
    return outputs;
}

/// Numerators and denominator of one level.
struct LevelScore {
    float detail = 0.0f, reference = 0.0f, impairment = 0.0f;
};

/// The scores of a frame.
struct FrameScore {
    std::array<LevelScore, kLevels> level;
    double detail = 0, reference = 0; ///< sums over the levels
    double adm2 = 0, aim = 0, adm3 = 0;
};

/// Adds the levels up; aim and adm3 are left open.
inline FrameScore sum_levels(const std::array<LevelScore, kLevels>& levels, const FrameGeometry& geometry) {
    FrameScore score;
    score.level = levels;
    for (const LevelScore& level : levels) {
        score.detail += level.detail;
        score.reference += level.reference;
    }
    const double least = 1e-10 * geometry.width * geometry.height / (1920 * 1080);
    score.detail = score.detail < least ? 0 : score.detail;
    score.reference = score.reference < least ? 0 : score.reference;
    score.adm2 = score.reference != 0 ? score.detail / score.reference : 1.0;
    return score;
}

/// adm2 and what aim leaves, weighted.
inline double weighted_mean(const FrameScore& score, double weight) {
    return score.adm2 * weight + (1 - score.aim) * (1 - weight);
}

inline void put_scores(int64_t frame, const FrameScore& score, bool debug, ScoreSink& sink) {
    sink.put(frame, kAdm2, score.adm2);
    sink.put(frame, kAim, score.aim);
    sink.put(frame, kAdm3, score.adm3);
    for (int i = 0; i < kLevels; i++) {
        const LevelScore& level = score.level[i];
        sink.put(frame, kScale0 + i, static_cast<double>(level.detail) / static_cast<double>(level.reference));
    }
    if (!debug) return;
    sink.put(frame, kAdm, score.adm2);
    sink.put(frame, kNumerator, score.detail);
    sink.put(frame, kDenominator, score.reference);
    for (int i = 0; i < kLevels; i++) {
        sink.put(frame, kNumeratorScale0 + 2 * i, score.level[i].detail);
        sink.put(frame, kNumeratorScale0 + 2 * i + 1, score.level[i].reference);
    }
}

/// From sums to scores, as far as both metrics do alike.
class FrameFinaliser : public Finaliser {
public:
    FrameFinaliser(const FrameGeometry& geometry, const OptionValues& options, const Settings& settings)
        : geometry_(geometry), debug_(options.flag(kDebug)), skip_level0_(settings.skip_level0) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) final {
        std::array<LevelScore, kLevels> levels;
        for (int i = 0; i < kLevels; i++) {
            const uint64_t weights = geometry_.has_weights ? accumulators[kSumsOfWeights + i] : 0;
            const bool is_skipped = i == 0 && skip_level0_;
            if (geometry_.has_weights && weights == 0 && !is_skipped)
                return sink.leave_out(frame); // nothing of it counts
            levels[i] = score_level(i, accumulators.data() + i * kWordsPerLevel, weights);
        }
        if (skip_level0_) levels[0] = {0.0f, 1e-10f, 0.0f};
        FrameScore score = sum_levels(levels, geometry_);
        add_impairment(&score);
        put_scores(frame, score, debug_, sink);
    }

protected:
    /// Coefficients of a level that count; with weights, in units of those that count whole. What keeps ratios near 1
    /// grows with them as the energies do.
    template <typename LevelPlan>
    double area_of(const LevelPlan& level, int index, uint64_t weights) const {
        if (geometry_.has_weights) return static_cast<double>(weights) / full_weight(index);
        return (level.bottom - level.top) * (level.right - level.left);
    }

private:
    /// From the sums of a level. @param weights their sum, where there are some
    virtual LevelScore score_level(int index, const uint64_t* sums, uint64_t weights) const = 0;
    /// Fills in aim and adm3.
    virtual void add_impairment(FrameScore* score) const = 0;

    FrameGeometry geometry_;
    bool debug_, skip_level0_;
};

} // namespace qc::detail_loss
