// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/motion/motion.hpp"

#include <algorithm>

#include "families/motion/motion_metric.hpp"
#include "families/motion/motion_tile.hpp"

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

Settings settings_of(const OptionValues& options) {
    Settings settings;
    settings.lag = options.flag(kFiveFrameWindow) ? 2 : 1;
    settings.force_zero = options.flag(kForceZero);
    settings.moving_average = options.flag(kMovingAverage);
    settings.blend_factor = options.number(kBlendFactor);
    settings.blend_offset = options.number(kBlendOffset);
    settings.fps_weight = options.number(kFpsWeight);
    settings.max_value = options.number(kMaxValue);
    return settings;
}

Status validate(const FrameGeometry& geometry, const OptionValues&) {
    return validate_picture("motion", geometry);
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    const OutputIndices outputs{.sad_score = kSadScore,
                                .motion2 = kMotion2,
                                .motion3 = kMotion3,
                                .motion = options.flag(kDebug) ? kMotion : -1};
    return std::make_unique<MotionMetric>(geometry, settings_of(options), outputs);
}

std::string stage(const FrameGeometry&, const OptionValues& options) {
    return stage_of(settings_of(options));
}

} // namespace

// ---- motion_metric.hpp ----------------------------------------------------------------------------------------------

void MotionMetric::score(const HostReference& reference, std::span<uint64_t> accumulators) const {
    const HostPlane& previous = reference.history[settings_.lag - 1];
    if (settings_.force_zero || previous.data == nullptr) return;
    accumulators[0] = sum_of_absolute_differences(previous, reference.current.plane[0], geometry_);
}

Status MotionMetric::prepare(DeviceProgram& program) {
    const char* const name = geometry_.sample == SampleType::kU8 ? "motion_sad_u8"
                             : geometry_.depth < 16              ? "motion_sad_u16"
                                                                 : "motion_sad_u16_full";
    return program.find(name, 0, &kernel_);
}

Status MotionMetric::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    if (settings_.force_zero) return {};
    const Dim3 grid{blocks_for(geometry_.width, kTileWidth), blocks_for(geometry_.height, kTileHeight),
                    static_cast<unsigned>(batch.count)};
    const Dim3 block{static_cast<unsigned>(kTuning.warps * kLanes)};
    const SadTask task{geometry_.width, geometry_.height, geometry_.depth, settings_.lag};
    return queue.launch(kernel_, grid, block, batch.references, batch.accumulators, task);
}

void MotionMetric::finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) {
    const int lag = settings_.lag;
    const double score = weighted_score(accumulators[0]);
    sink.put(frame, outputs_.sad_score, score);
    if (outputs_.motion >= 0) sink.put(frame, outputs_.motion, score);

    // The first frames have nothing to be compared with: their motion2 is 0, and their motion3 that of the first
    // frame that has a score. Of the others, motion2 is the smaller of two scores around the frame.
    if (frame < lag) {
        sink.put(frame, outputs_.motion2, 0.0);
    } else if (frame == lag) {
        previous_blended_ = blended(score);
        for (int64_t early = 0; early < lag; ++early) sink.put(early, outputs_.motion3, previous_blended_);
    } else {
        const bool has_earlier_score = frame - lag >= lag;
        complete(frame - 1, has_earlier_score ? std::min(recent_scores_[lag - 1], score) : score, sink);
    }
    recent_scores_ = {score, recent_scores_[0]};
    frames_ = frame + 1;
}

void MotionMetric::flush(int64_t, ScoreSink& sink) {
    if (frames_ > settings_.lag) {
        complete(frames_ - 1, recent_scores_[0], sink);
    } else {
        for (int64_t frame = 0; frame < frames_; ++frame) sink.put(frame, outputs_.motion3, 0.0);
    }
}

/// Mean absolute difference on the 8-bit scale. The order of the operations is part of the definition.
double MotionMetric::weighted_score(uint64_t sum) const {
    const double pixels =
        static_cast<uint32_t>(geometry_.width) * static_cast<uint32_t>(geometry_.height); // wraps at 32 bits
    const double mean = static_cast<double>(sum) / 256.0 / pixels;
    return std::min(mean * settings_.fps_weight, settings_.max_value);
}

/// Above an offset, only a part of the score counts.
double MotionMetric::blended(double score) const {
    const double factor = settings_.blend_factor;
    const double below = std::min(settings_.blend_offset, score);
    return std::min(score * factor + (1 - factor) * below, settings_.max_value);
}

void MotionMetric::complete(int64_t frame, double motion2, ScoreSink& sink) {
    const double current = blended(motion2);
    const double motion3 = settings_.moving_average ? (current + previous_blended_) / 2 : current;
    previous_blended_ = current;
    sink.put(frame, outputs_.motion2, motion2);
    sink.put(frame, outputs_.motion3, motion3);
}

Status validate_picture(const char* metric, const FrameGeometry& geometry) {
    constexpr int kSmallest = kReach + 1;
    if (geometry.width < kSmallest || geometry.height < kSmallest) {
        return invalid(format("%s: a picture of %dx%d is too small, at least %dx%d is needed", metric, geometry.width,
                              geometry.height, kSmallest, kSmallest));
    }
    if (geometry.depth < 8 || geometry.depth > 16) {
        return unsupported(format("%s: %d bits per sample, 8 to 16 are supported", metric, geometry.depth));
    }
    return {};
}

std::string stage_of(const Settings& settings) {
    return settings.force_zero ? "motion zero" : format("motion sad, lag %d", settings.lag);
}

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
