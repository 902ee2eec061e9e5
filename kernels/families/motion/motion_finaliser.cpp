// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/motion/motion_finaliser.hpp"

#include <algorithm>

namespace qc::motion {

void MotionFinaliser::finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) {
    const int lag = settings_.lag;
    const double score = limited_score(accumulators[0]);
    sink.put(frame, outputs_.sad_score, score);
    if (outputs_.motion >= 0) sink.put(frame, outputs_.motion, score);

    // The first frames have nothing to be compared with: their motion2 is 0, and their motion3 that of the first
    // frame that has a score. Of the others, motion2 is the smaller of two scores around the frame. Neither comes
    // before the next frame, as in libvmaf, whose logs have scores in the order in which the first ones came.
    if (frame == lag) {
        previous_blended_ = settings_.weighting.blended(score);
        begin(lag, previous_blended_, sink);
    } else if (frame > lag) {
        const bool has_earlier_score = frame - lag >= lag;
        complete(frame - 1, has_earlier_score ? std::min(recent_scores_[lag - 1], score) : score, sink);
    }
    recent_scores_ = {score, recent_scores_[0]};
    frames_ = frame + 1;
}

void MotionFinaliser::flush(int64_t, ScoreSink& sink) {
    if (frames_ > settings_.lag) {
        complete(frames_ - 1, recent_scores_[0], sink);
    } else {
        begin(frames_, 0.0, sink);
    }
}

void MotionFinaliser::begin(int64_t frames, double motion3, ScoreSink& sink) {
    for (int64_t frame = 0; frame < frames; ++frame) {
        sink.put(frame, outputs_.motion2, 0.0);
        sink.put(frame, outputs_.motion3, motion3);
    }
}

/// Mean absolute difference on the 8-bit scale. The order of the operations is part of the definition.
double MotionFinaliser::limited_score(uint64_t sum) const {
    const double pixels =
        static_cast<uint32_t>(geometry_.width) * static_cast<uint32_t>(geometry_.height); // wraps at 32 bits
    return settings_.weighting.limited(static_cast<double>(sum) / 256.0 / pixels);
}

void MotionFinaliser::complete(int64_t frame, double motion2, ScoreSink& sink) {
    const double current = settings_.weighting.blended(motion2);
    const double motion3 = settings_.moving_average ? (current + previous_blended_) / 2 : current;
    previous_blended_ = current;
    sink.put(frame, outputs_.motion2, motion2);
    sink.put(frame, outputs_.motion3, motion3);
}

} // namespace qc::motion
