// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "motion/motion.hpp"

#include <algorithm>
#include <array>

#include "motion/motion_math.hpp"
#include "motion/motion_tile.hpp"

namespace qc::motion {
namespace {

enum Option : size_t {
    kDebug,
    kBlendFactor,
    kBlendOffset,
    kFiveFrameWindow,
    kForceZero,
    kFpsWeight,
    kMaxValue,
    kMovingAverage
};

constexpr OptionSpec kOptions[] = {
    {"debug", "", OptionType::kBool, 0, 0, 1, "also write integer_motion"},
    {"motion_blend_factor", "mbf", OptionType::kDouble, 1.0, 0.0, 1.0,
     "motion3: share of the excess over motion_blend_offset that counts"},
    {"motion_blend_offset", "mbo", OptionType::kDouble, 40.0, 0.0, 1000.0,
     "motion3: score from which motion_blend_factor applies"},
    {"motion_five_frame_window", "mffw", OptionType::kBool, 0, 0, 1, "compare frames two apart instead of one"},
    {"motion_force_zero", "force_0", OptionType::kBool, 0, 0, 1, "make every score 0"},
    {"motion_fps_weight", "mfw", OptionType::kDouble, 1.0, 0.0, 5.0, "factor of every score, to adjust for frame rate"},
    {"motion_max_val", "mmxv", OptionType::kDouble, 10000.0, 0.0, 10000.0, "upper limit of every score"},
    {"motion_moving_average", "mma", OptionType::kBool, 0, 0, 1, "motion3: average with the frame before"},
};

enum Output : int { kSadScore, kMotion, kMotion2, kMotion3 };

bool has_debug(const OptionValues& options, const FrameGeometry&) {
    return options.flag(kDebug);
}

constexpr OutputSpec kOutputs[] = {
    {"VMAF_integer_feature_motion_sad_score", "VMAF_integer_feature_motion_sad_score"},
    {"VMAF_integer_feature_motion_score", "integer_motion", has_debug},
    {"VMAF_integer_feature_motion2_score", "integer_motion2"},
    {"VMAF_integer_feature_motion3_score", "integer_motion3"},
};

class MotionMetric final : public Metric {
public:
    MotionMetric(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), options_(options), lag_(options.flag(kFiveFrameWindow) ? 2 : 1) {}

    size_t accumulator_words() const override { return 1; }

    void score(const HostReference& reference, std::span<uint64_t> accumulators) const override {
        const HostPlane& previous = reference.history[lag_ - 1];
        if (options_.flag(kForceZero) || previous.data == nullptr) return;
        accumulators[0] = sum_of_absolute_differences(previous, reference.current.plane[0], geometry_);
    }

    Status prepare(DeviceProgram& program) override {
        const char* const name = geometry_.sample == SampleType::kU8 ? "motion_sad_u8"
                                 : geometry_.depth < 16              ? "motion_sad_u16"
                                                                     : "motion_sad_u16_full";
        return program.find(name, 0, &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        if (options_.flag(kForceZero)) return {};
        const Dim3 grid{blocks_for(geometry_.width, kTileWidth), blocks_for(geometry_.height, kTileHeight),
                        static_cast<unsigned>(batch.count)};
        const Dim3 block{static_cast<unsigned>(kTuning.warps * kLanes)};
        const SadTask task{geometry_.width, geometry_.height, geometry_.depth, lag_};
        return queue.launch(kernel_, grid, block, batch.references, batch.accumulators, task);
    }

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        const double score = weighted_score(accumulators[0]);
        sink.put(frame, kSadScore, score);
        if (options_.flag(kDebug)) sink.put(frame, kMotion, score);

        // The first frames have nothing to be compared with: their motion2 is 0, and their motion3 that of the first
        // frame that has a score. Of the others, motion2 is the smaller of two scores around the frame.
        if (frame < lag_) {
            sink.put(frame, kMotion2, 0.0);
        } else if (frame == lag_) {
            previous_blended_ = blended(score);
            for (int64_t early = 0; early < lag_; ++early) sink.put(early, kMotion3, previous_blended_);
        } else {
            const bool has_earlier_score = frame - lag_ >= lag_;
            complete(frame - 1, has_earlier_score ? std::min(recent_scores_[lag_ - 1], score) : score, sink);
        }
        recent_scores_ = {score, recent_scores_[0]};
        frames_ = frame + 1;
    }

    void flush(int64_t, ScoreSink& sink) override {
        if (frames_ > lag_) {
            complete(frames_ - 1, recent_scores_[0], sink);
        } else {
            for (int64_t frame = 0; frame < frames_; ++frame) sink.put(frame, kMotion3, 0.0);
        }
    }

private:
    /// Mean absolute difference on the 8-bit scale. The order of the operations is part of the definition.
    double weighted_score(uint64_t sum) const {
        const double pixels =
            static_cast<uint32_t>(geometry_.width) * static_cast<uint32_t>(geometry_.height); // wraps at 32 bits
        const double mean = static_cast<double>(sum) / 256.0 / pixels;
        return std::min(mean * options_.number(kFpsWeight), options_.number(kMaxValue));
    }

    /// Above an offset, only a part of the score counts.
    double blended(double score) const {
        const double factor = options_.number(kBlendFactor);
        const double below = std::min(options_.number(kBlendOffset), score);
        return std::min(score * factor + (1 - factor) * below, options_.number(kMaxValue));
    }

    void complete(int64_t frame, double motion2, ScoreSink& sink) {
        const double current = blended(motion2);
        const double motion3 = options_.flag(kMovingAverage) ? (current + previous_blended_) / 2 : current;
        previous_blended_ = current;
        sink.put(frame, kMotion2, motion2);
        sink.put(frame, kMotion3, motion3);
    }

    const FrameGeometry geometry_;
    const OptionValues options_;
    const int lag_; ///< frames between the two pictures that are compared
    Kernel kernel_;

    // Of the stream so far.
    int64_t frames_ = 0;
    std::array<double, 2> recent_scores_{}; ///< of the last frame and of the one before
    double previous_blended_ = 0.0;         ///< before averaging
};

Status validate(const FrameGeometry& geometry, const OptionValues&) {
    constexpr int kSmallest = kReach + 1;
    if (geometry.width < kSmallest || geometry.height < kSmallest) {
        return invalid(format("motion: a picture of %dx%d is too small, at least %dx%d is needed", geometry.width,
                              geometry.height, kSmallest, kSmallest));
    }
    if (geometry.depth < 8 || geometry.depth > 16) {
        return unsupported(format("motion: %d bits per sample, 8 to 16 are supported", geometry.depth));
    }
    return {};
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<MotionMetric>(geometry, options);
}

/// Only these two options change the sum; all others what is made of it.
std::string stage(const FrameGeometry&, const OptionValues& options) {
    if (options.flag(kForceZero)) return "motion of nothing";
    return options.flag(kFiveFrameWindow) ? "motion over two frames" : "motion over one frame";
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "motion",
        .summary = "temporal change of the reference's luma, as in VMAF",
        .scope = Scope::kReference,
        .history = 2,
        .every_frame = true,
        .needs_chroma = false,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
        .stage = stage,
    };
    return kDescriptor;
}

} // namespace qc::motion
