// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/motion/motion_finaliser.hpp"

#include <algorithm>

#include "device/weights.hpp"
#include "families/motion/motion_math.hpp"

namespace qc::motion {
namespace {

std::optional<double> least_of(std::optional<double> one, std::optional<double> other) {
    if (one && other) return std::min(*one, *other);
    return one ? one : other;
}

} // namespace

void MotionFinaliser::finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) {
    const int lag = settings_.lag;
    const std::optional<double> score = score_of(accumulators);
    if (score) {
        sink.put(frame, outputs_.sad_score, *score);
        if (outputs_.motion >= 0) sink.put(frame, outputs_.motion, *score);
    } else {
        sink.leave_out(frame);
    }

    // The first frames have nothing to be compared with: their motion2 is 0, and their motion3 that of the first
    // frame that has a score. Of the others, motion2 is the smaller of two scores around the frame. Neither comes
    // before the next frame, as in libvmaf, whose logs have scores in the order in which the first ones came.
    if (frame == lag) {
        if (score) previous_blended_ = settings_.weighting.blended(*score);
        begin(lag, previous_blended_.value_or(0.0), sink);
    } else if (frame > lag && recent_scores_[0]) {
        const std::optional<double> earlier = frame - lag >= lag ? recent_scores_[lag - 1] : std::nullopt;
        complete(frame - 1, least_of(earlier, score).value_or(*recent_scores_[0]), sink);
    }
    recent_scores_ = {score, recent_scores_[0]};
    frames_ = frame + 1;
}

void MotionFinaliser::flush(int64_t, ScoreSink& sink) {
    if (frames_ <= settings_.lag)
        begin(frames_, 0.0, sink);
    else if (recent_scores_[0])
        complete(frames_ - 1, *recent_scores_[0], sink);
}

void MotionFinaliser::begin(int64_t frames, double motion3, ScoreSink& sink) {
    for (int64_t frame = 0; frame < frames; ++frame) {
        sink.put(frame, outputs_.motion2, 0.0);
        sink.put(frame, outputs_.motion3, motion3);
    }
}

std::optional<double> MotionFinaliser::score_of(std::span<const uint64_t> accumulators) const {
    const auto sum = static_cast<double>(accumulators[kSad]);
    if (!geometry_.has_weights || settings_.force_zero) {
        const double pixels =
            static_cast<uint32_t>(geometry_.width) * static_cast<uint32_t>(geometry_.height); // wraps at 32 bits
        return limited_score(sum, pixels);
    }
    if (accumulators[kWeights] == 0) return std::nullopt;
    // In units of samples that count whole: with weights that are all whole, the numbers that there are without.
    return limited_score(sum / kFullWeight, static_cast<double>(accumulators[kWeights]) / kFullWeight);
}

/// Mean absolute difference on the 8-bit scale. The order of the operations is part of the definition.
double MotionFinaliser::limited_score(double sum, double pixels) const {
    return settings_.weighting.limited(sum / 256.0 / pixels);
}

void MotionFinaliser::complete(int64_t frame, double motion2, ScoreSink& sink) {
    const double current = settings_.weighting.blended(motion2);
    const double motion3 = settings_.moving_average ? (current + previous_blended_.value_or(current)) / 2 : current;
    previous_blended_ = current;
    sink.put(frame, outputs_.motion2, motion2);
    sink.put(frame, outputs_.motion3, motion3);
}

} // namespace qc::motion
