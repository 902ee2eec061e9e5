// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point motion: descriptor, launches, and the way from accumulators to scores.
#include "metrics/float_motion/float_motion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "device/row_sums.hpp"
#include "families/resize/resize_axis.hpp"
#include "metrics/float_motion/float_motion_tile.hpp"

namespace qc::float_motion {
namespace {

enum Option : size_t {
    kDebug,
    kAddScale1,
    kAddChroma,
    kBlendFactor,
    kBlendOffset,
    kFilterSize,
    kForceZero,
    kFpsWeight,
    kMaxValue
};

constexpr OptionSpec kOptions[] = {
    {"debug", "", OptionType::kBool, 1, 0, 1, "also write motion"},
    {"motion_add_scale1", "mdc", OptionType::kBool, 0, 0, 1, "add the score of the pictures at half size"},
    {"motion_add_uv", "mau", OptionType::kBool, 0, 0, 1, "add the scores of the chroma planes"},
    {"motion_blend_factor", "mbf", OptionType::kDouble, 1.0, 0.0, 1.0,
     "motion3: share of the excess over motion_blend_offset that counts"},
    {"motion_blend_offset", "mbo", OptionType::kDouble, 40.0, 0.0, 1000.0,
     "motion3: score from which motion_blend_factor applies"},
    {"motion_filter_size", "mfs", OptionType::kInt, 5, 0, 9, "taps of the blur: 1 (none), 3, or 5 for any other value"},
    {"motion_force_zero", "force_0", OptionType::kBool, 0, 0, 1, "make every score 0"},
    {"motion_fps_weight", "mfw", OptionType::kDouble, 1.0, 0.0, 5.0, "factor of every score, to adjust for frame rate"},
    {"motion_max_val", "mmxv", OptionType::kDouble, 10000.0, 0.0, 10000.0, "upper limit of every score"},
};

enum Output : int { kMotion, kMotion2, kMotion3 };

bool has_debug(const OptionValues& options, const FrameGeometry&) {
    return options.flag(kDebug);
}

constexpr OutputSpec kOutputs[] = {
    {"VMAF_feature_motion_score", "motion", has_debug},
    {"VMAF_feature_motion2_score", "motion2"},
    {"VMAF_feature_motion3_score", "motion3"},
};

/// Rounded, as motion_add_scale1 does it.
int half_size(int size) {
    return static_cast<int>(std::floor(size * 0.5 + 0.5));
}

PlanePlan make_plane(const FrameGeometry& geometry, int plane, bool with_half) {
    PlanePlan plan;
    plan.width = geometry.plane_width(plane);
    plan.height = geometry.plane_height(plane);
    if (!with_half) return plan;
    plan.half_width = half_size(plan.width);
    plan.half_height = half_size(plan.height);
    plan.columns = resize_axis(Resize::kBilinear, plan.width, plan.half_width);
    plan.rows = resize_axis(Resize::kBilinear, plan.height, plan.half_height);
    return plan;
}

Plan make_plan(const FrameGeometry& geometry, const OptionValues& options) {
    Plan plan;
    const int planes = options.flag(kAddChroma) ? kMaxPlanes : 1;
    for (int p = 0; p < planes; ++p) plan.planes.push_back(make_plane(geometry, p, options.flag(kAddScale1)));
    const int filter_size = options.integer(kFilterSize);
    plan.taps = filter_size == 1 ? kNoBlur : filter_size == 3 ? kThreeTaps : kFiveTaps;
    plan.sample_scale = 1.0f / static_cast<float>(1 << (geometry.depth - 8));
    plan.force_zero = options.flag(kForceZero);
    return plan;
}

/// Where things lie in scratch memory, in floats. Planes are worked on one after the other in the same place; only the
/// rows' sums stay.
struct ScratchLayout {
    size_t terms = 0, blurred = 0;
    size_t sums[kAccumulatorWords] = {};
    size_t floats = 0;
};

ScratchLayout scratch_layout(const Plan& plan, int count) {
    ScratchLayout layout;
    const auto take = [&layout](size_t floats) {
        const size_t offset = layout.floats;
        layout.floats += (floats + kTermPitch - 1) / kTermPitch * kTermPitch;
        return offset;
    };
    const auto references = static_cast<size_t>(count);
    const PlanePlan& luma = plan.planes[0]; // the largest
    layout.terms = take(static_cast<size_t>(term_pitch(luma.width)) * luma.height * references);
    if (plan.has_half()) layout.blurred = take(2 * static_cast<size_t>(luma.width) * luma.height * references);
    for (size_t p = 0; p < plan.planes.size(); ++p) {
        size_t* const sums = layout.sums + p * kWordsPerPlane;
        sums[kFullSize] = take(static_cast<size_t>(plan.planes[p].height) * references);
        if (plan.has_half()) sums[kHalfSize] = take(static_cast<size_t>(plan.planes[p].half_height) * references);
    }
    return layout;
}

class FloatMotion final : public Metric {
public:
    FloatMotion(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), options_(options), plan_(make_plan(geometry, options)) {}

    size_t accumulator_words() const override { return kAccumulatorWords; }

    void score(const HostReference& reference, std::span<uint64_t> accumulators) const override {
        if (plan_.force_zero || reference.history[0].data == nullptr) return;
        score_reference(plan_, geometry_, reference, accumulators);
    }

    size_t scratch_bytes(int count) const override {
        return plan_.force_zero ? 0 : scratch_layout(plan_, count).floats * sizeof(float);
    }
    Status prepare(DeviceProgram& program) override;
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override;

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override;
    void flush(int64_t frames, ScoreSink& sink) override;

private:
    Status enqueue_plane(int plane, const DeviceBatch& batch, const ScratchLayout& layout, DeviceQueue& queue) const;
    Status enqueue_half(int plane, const PlaneTask& full, const DeviceBatch& batch, const ScratchLayout& layout,
                        DeviceQueue& queue) const;
    Status sum_rows(const RowSumTask& task, DeviceQueue& queue) const;
    Status enqueue_sums(const DeviceBatch& batch, const ScratchLayout& layout, DeviceQueue& queue) const;

    double score_of(std::span<const uint64_t> accumulators) const;
    /// Weighted and limited.
    double limited(double score) const {
        return std::min(score * options_.number(kFpsWeight), options_.number(kMaxValue));
    }
    /// Weighted; above an offset, only a part counts.
    double blended(double score) const {
        const double weighted = score * options_.number(kFpsWeight), factor = options_.number(kBlendFactor);
        const double below = std::min(options_.number(kBlendOffset), weighted);
        return std::min(weighted * factor + (1 - factor) * below, options_.number(kMaxValue));
    }

    const FrameGeometry geometry_;
    const OptionValues options_;
    const Plan plan_;
    Kernel terms_, half_terms_, sum_rows_, sum_columns_;
    const void *columns_[kMaxPlanes] = {}, *rows_[kMaxPlanes] = {}; ///< device addresses

    // Of the stream so far.
    int64_t frames_ = 0;
    double last_score_ = 0.0;
};

Status FloatMotion::prepare(DeviceProgram& program) {
    const bool bytes = geometry_.sample == SampleType::kU8;
    QC_RETURN_IF_ERROR(program.find(bytes ? "float_motion_terms_u8" : "float_motion_terms_u16", 0, &terms_));
    QC_RETURN_IF_ERROR(program.find("float_motion_half_terms", 0, &half_terms_));
    QC_RETURN_IF_ERROR(program.find("float_motion_sum_rows", 0, &sum_rows_));
    QC_RETURN_IF_ERROR(program.find("float_motion_sum_columns", 0, &sum_columns_));
    for (size_t p = 0; plan_.has_half() && p < plan_.planes.size(); ++p) {
        const PlanePlan& plane = plan_.planes[p];
        QC_RETURN_IF_ERROR(
            program.upload(plane.columns.data(), plane.columns.size() * sizeof(ResizeEntry), &columns_[p]));
        QC_RETURN_IF_ERROR(program.upload(plane.rows.data(), plane.rows.size() * sizeof(ResizeEntry), &rows_[p]));
    }
    return {};
}

Status FloatMotion::sum_rows(const RowSumTask& task, DeviceQueue& queue) const {
    return queue.launch(sum_rows_, Dim3{blocks_for(task.rows, kRowSumBlock)}, Dim3{kRowSumBlock}, task);
}

Status FloatMotion::enqueue_plane(int plane, const DeviceBatch& batch, const ScratchLayout& layout,
                                  DeviceQueue& queue) const {
    auto* const scratch = static_cast<float*>(batch.scratch);
    const PlanePlan& plan = plan_.planes[static_cast<size_t>(plane)];
    PlaneTask task{};
    task.references = batch.references;
    task.terms = scratch + layout.terms;
    task.term_pitch = term_pitch(plan.width);
    task.term_plane = static_cast<uint64_t>(task.term_pitch) * static_cast<uint64_t>(plan.height);
    task.plane = plane;
    task.width = plan.width;
    task.height = plan.height;
    task.sample_scale = plan_.sample_scale;
    task.taps = plan_.taps;
    if (plan_.has_half()) task.blurred = reinterpret_cast<SamplePair*>(scratch + layout.blurred);
    task.blurred_plane = static_cast<uint64_t>(plan.width) * static_cast<uint64_t>(plan.height);
    const Dim3 grid{blocks_for(plan.width, kTuning.width), blocks_for(plan.height, kTuning.height),
                    static_cast<unsigned>(batch.count)};
    QC_RETURN_IF_ERROR(queue.launch(terms_, grid, Dim3{static_cast<unsigned>(kTuning.threads)}, task));
    QC_RETURN_IF_ERROR(sum_rows({task.terms, scratch + layout.sums[plane * kWordsPerPlane + kFullSize], plan.width,
                                 task.term_pitch, plan.height * batch.count},
                                queue));
    return plan_.has_half() ? enqueue_half(plane, task, batch, layout, queue) : Status();
}

Status FloatMotion::enqueue_half(int plane, const PlaneTask& full, const DeviceBatch& batch,
                                 const ScratchLayout& layout, DeviceQueue& queue) const {
    const PlanePlan& plan = plan_.planes[static_cast<size_t>(plane)];
    HalfTask task{};
    task.blurred = full.blurred;
    task.blurred_plane = full.blurred_plane;
    task.source_width = plan.width;
    task.source_height = plan.height;
    task.columns = static_cast<const ResizeEntry*>(columns_[plane]);
    task.rows = static_cast<const ResizeEntry*>(rows_[plane]);
    task.terms = full.terms;
    task.term_pitch = term_pitch(plan.half_width);
    task.term_plane = static_cast<uint64_t>(task.term_pitch) * static_cast<uint64_t>(plan.half_height);
    task.width = plan.half_width;
    task.height = plan.half_height;
    const Dim3 grid{blocks_for(task.width, kHalfBlock), static_cast<unsigned>(task.height),
                    static_cast<unsigned>(batch.count)};
    QC_RETURN_IF_ERROR(queue.launch(half_terms_, grid, Dim3{kHalfBlock}, task));
    auto* const sums = static_cast<float*>(batch.scratch) + layout.sums[plane * kWordsPerPlane + kHalfSize];
    return sum_rows({task.terms, sums, task.width, task.term_pitch, task.height * batch.count}, queue);
}

Status FloatMotion::enqueue_sums(const DeviceBatch& batch, const ScratchLayout& layout, DeviceQueue& queue) const {
    ColumnSumTask task{};
    task.planes = 1;
    task.words = kAccumulatorWords;
    unsigned kinds = 0;
    for (size_t p = 0; p < plan_.planes.size(); ++p) {
        for (int size = kFullSize; size < (plan_.has_half() ? kWordsPerPlane : kHalfSize); ++size) {
            const int word = static_cast<int>(p) * kWordsPerPlane + size;
            task.sums[kinds] = static_cast<const float*>(batch.scratch) + layout.sums[word];
            task.height[kinds] = size == kFullSize ? plan_.planes[p].height : plan_.planes[p].half_height;
            task.word[kinds] = word;
            ++kinds;
        }
    }
    const Dim3 grid{kinds, static_cast<unsigned>(batch.count)};
    return queue.launch(sum_columns_, grid, Dim3{kColumnSumBlock}, batch.references, batch.accumulators, task);
}

Status FloatMotion::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    if (plan_.force_zero) return {};
    const ScratchLayout layout = scratch_layout(plan_, batch.count);
    for (size_t p = 0; p < plan_.planes.size(); ++p)
        QC_RETURN_IF_ERROR(enqueue_plane(static_cast<int>(p), batch, layout, queue));
    return enqueue_sums(batch, layout, queue);
}

/// Mean absolute differences, in single precision by plane, added in double precision.
double FloatMotion::score_of(std::span<const uint64_t> accumulators) const {
    double score = 0.0;
    for (size_t p = 0; p < plan_.planes.size(); ++p) {
        const PlanePlan& plane = plan_.planes[p];
        const auto mean = [&](AccumulatorWord word, int width, int height) {
            const auto sum = static_cast<float>(std::bit_cast<double>(accumulators[p * kWordsPerPlane + word]));
            return sum / static_cast<float>(width * height);
        };
        float plane_score = mean(kFullSize, plane.width, plane.height);
        if (plan_.has_half()) plane_score += mean(kHalfSize, plane.half_width, plane.half_height);
        score += static_cast<double>(plane_score);
    }
    return score;
}

void FloatMotion::finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) {
    const double score = score_of(accumulators);
    if (options_.flag(kDebug)) sink.put(frame, kMotion, limited(score));
    if (frame == 0) {
        sink.put(0, kMotion2, 0.0);
    } else if (frame == 1) {
        sink.put(0, kMotion3, blended(score));
    } else {
        const double smaller = std::min(last_score_, score);
        sink.put(frame - 1, kMotion2, limited(smaller));
        sink.put(frame - 1, kMotion3, blended(smaller));
    }
    last_score_ = score;
    frames_ = frame + 1;
}

void FloatMotion::flush(int64_t, ScoreSink& sink) {
    if (frames_ == 1) sink.put(0, kMotion3, 0.0);
    if (frames_ < 2) return;
    sink.put(frames_ - 1, kMotion2, limited(last_score_));
    sink.put(frames_ - 1, kMotion3, blended(last_score_));
}

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    if (geometry.depth < 8 || geometry.depth > 16)
        return unsupported(format("float_motion: %d bits per sample, 8 to 16 are supported", geometry.depth));
    if (options.flag(kAddChroma) && geometry.plane_count() == 1)
        return invalid("float_motion: motion_add_uv=true needs chroma planes, these pictures have luma only");
    constexpr int kSmallest = kReach + 1;
    for (int p = 0; p < (options.flag(kAddChroma) ? kMaxPlanes : 1); ++p) {
        const int width = geometry.plane_width(p), height = geometry.plane_height(p);
        if (width >= kSmallest && height >= kSmallest) continue;
        return invalid(format("float_motion: %s of %dx%d is too small, at least %dx%d is needed",
                              p == 0 ? "a picture" : "a chroma plane", width, height, kSmallest, kSmallest));
    }
    constexpr int kWidestHalf = 7680;
    if (options.flag(kAddScale1) && half_size(geometry.width) > kWidestHalf)
        return invalid(format("float_motion: motion_add_scale1=true takes pictures up to %d wide, these are %d",
                              2 * kWidestHalf, geometry.width));
    return {};
}

std::unique_ptr<Metric> create(const FrameGeometry& geometry, const OptionValues& options) {
    return std::make_unique<FloatMotion>(geometry, options);
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_motion",
        .summary = "temporal change of the reference, as in the floating-point VMAF models",
        .scope = Scope::kReference,
        .history = 1,
        .needs_chroma_history = [](const OptionValues& options) { return options.flag(kAddChroma); },
        .every_frame = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .validate = validate,
        .create = create,
    };
    return kDescriptor;
}

} // namespace qc::float_motion
