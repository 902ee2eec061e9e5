// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point motion: descriptor, launches, and the way from accumulators to scores.
#include "metrics/float_motion/float_motion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "device/row_sums.hpp"
#include "families/motion/motion_settings.hpp"
#include "families/resize/resize_axis.hpp"
#include "metrics/float_motion/float_motion_kernels.hpp"

namespace qc::float_motion {
namespace {

enum Option : size_t {
    kDebug,
    kAddScale1,
    kAddChroma,
    kShared,
    kFilterSize = kShared + motion::kOwnOption,
    kForceZero = kShared + motion::kForceZero
};

constexpr OptionSpec kOptions[] = {
    {"debug", "", OptionType::kBool, 1, 0, 1, "also write motion"},
    {"motion_add_scale1", "mdc", OptionType::kBool, 0, 0, 1, "add the score of the pictures at half size"},
    {"motion_add_uv", "mau", OptionType::kBool, 0, 0, 1, "add the scores of the chroma planes"},
    motion::kBlendFactorOption,
    motion::kBlendOffsetOption,
    {"motion_filter_size", "mfs", OptionType::kInt, 5, 0, 9, "taps of the blur: 1 (none), 3, or 5 for any other value"},
    motion::kForceZeroOption,
    motion::kFpsWeightOption,
    motion::kMaxValueOption,
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
    plan.footprint[kFullSize] = device::plane_footprint(geometry, plane);
    plan.footprint[kHalfSize] = device::plane_footprint(geometry, plane, 2);
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
    plan.has_weights = geometry.has_weights;
    return plan;
}

/// Where things lie in scratch memory, in floats. Planes are worked on one after the other in the same place; only the
/// rows' sums stay.
struct ScratchLayout {
    size_t terms = 0, blurred = 0;
    size_t sums[kAccumulatorWords] = {};
    TermScratch scratch;
};

ScratchLayout scratch_layout(const Plan& plan, int count) {
    ScratchLayout layout;
    const auto references = static_cast<size_t>(count);
    const PlanePlan& luma = plan.planes[0]; // the largest
    layout.terms = layout.scratch.take(static_cast<size_t>(term_pitch(luma.width)) * luma.height * references);
    if (plan.has_half())
        layout.blurred = layout.scratch.take(2 * static_cast<size_t>(luma.width) * luma.height * references);
    for (size_t p = 0; p < plan.planes.size(); ++p) {
        size_t* const sums = layout.sums + p * kWordsPerPlane;
        sums[kFullSize] = layout.scratch.take(static_cast<size_t>(plan.planes[p].height) * references);
        if (plan.has_half())
            sums[kHalfSize] = layout.scratch.take(static_cast<size_t>(plan.planes[p].half_height) * references);
    }
    return layout;
}

// ---- sums of absolute differences -----------------------------------------------------------------------------------

class FloatMotionScorer final : public Scorer {
public:
    FloatMotionScorer(const FrameGeometry& geometry, const OptionValues& options)
        : sample_(geometry.sample), plan_(make_plan(geometry, options)) {}

    size_t accumulator_words() const override {
        return plan_.has_weights ? kWeightedAccumulatorWords : kAccumulatorWords;
    }

    void score(const HostReference& reference, std::span<uint64_t> accumulators) const override {
        if (plan_.force_zero || (!plan_.has_weights && reference.history[0].data == nullptr)) return;
        score_cpu(plan_, sample_, reference, accumulators);
    }

    size_t scratch_bytes(int count) const override {
        return plan_.force_zero ? 0 : scratch_layout(plan_, count).scratch.floats * sizeof(float);
    }
    Status prepare(DeviceProgram& program) override;
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override;

private:
    Status enqueue_plane(int plane, const DeviceBatch& batch, const ScratchLayout& layout, DeviceQueue& queue) const;
    Status enqueue_half(int plane, const PlaneTask& full, const DeviceBatch& batch, const ScratchLayout& layout,
                        DeviceQueue& queue) const;
    /// With weights: of a plane's terms. @param word that they are added up in
    Status weigh_terms(const DeviceBatch& batch, int plane, AccumulatorWord word, float* terms,
                       DeviceQueue& queue) const;
    Status sum_rows(const RowSumTask& task, DeviceQueue& queue) const;
    Status enqueue_sums(const DeviceBatch& batch, const ScratchLayout& layout, DeviceQueue& queue) const;

    const SampleType sample_;
    const Plan plan_;
    LoadedKernel<PlaneTask> terms_;
    LoadedKernel<HalfTask> half_terms_;
    LoadedKernel<RowSumTask> sum_rows_;
    LoadedKernel<device::ColumnSumArguments<DeviceReference>> sum_columns_;
    LoadedKernel<device::TermWeightArguments<DeviceReference>> weigh_terms_;
    const void *columns_[kMaxPlanes] = {}, *rows_[kMaxPlanes] = {}; ///< device addresses
};

Status FloatMotionScorer::prepare(DeviceProgram& program) {
    QC_RETURN_IF_ERROR(program.find(
        sample_ == SampleType::kU8 ? kernels::float_motion_terms_u8 : kernels::float_motion_terms_u16, &terms_));
    QC_RETURN_IF_ERROR(program.find(kernels::float_motion_half_terms, &half_terms_));
    QC_RETURN_IF_ERROR(program.find(kernels::float_motion_sum_rows, &sum_rows_));
    QC_RETURN_IF_ERROR(program.find(kernels::float_motion_sum_columns, &sum_columns_));
    if (plan_.has_weights) QC_RETURN_IF_ERROR(program.find(kernels::float_motion_weigh_terms, &weigh_terms_));
    for (size_t p = 0; plan_.has_half() && p < plan_.planes.size(); ++p) {
        const PlanePlan& plane = plan_.planes[p];
        QC_RETURN_IF_ERROR(
            program.upload(plane.columns.data(), plane.columns.size() * sizeof(ResizeEntry), &columns_[p]));
        QC_RETURN_IF_ERROR(program.upload(plane.rows.data(), plane.rows.size() * sizeof(ResizeEntry), &rows_[p]));
    }
    return {};
}

Status FloatMotionScorer::weigh_terms(const DeviceBatch& batch, int plane, AccumulatorWord word, float* terms,
                                      DeviceQueue& queue) const {
    if (!plan_.has_weights) return {};
    const PlanePlan& plan = plan_.planes[static_cast<size_t>(plane)];
    const int width = word == kFullSize ? plan.width : plan.half_width;
    const int height = word == kFullSize ? plan.height : plan.half_height, pitch = term_pitch(width);
    return device::weigh_terms(queue, weigh_terms_,
                               {batch.references, batch.accumulators, terms,
                                static_cast<uint64_t>(pitch) * static_cast<uint64_t>(height), 1, pitch, width, height,
                                plan.footprint[word], kWeightedAccumulatorWords,
                                kAccumulatorWords + plane * kWordsPerPlane + word},
                               batch.count);
}

Status FloatMotionScorer::sum_rows(const RowSumTask& task, DeviceQueue& queue) const {
    return queue.launch(sum_rows_, Dim3{blocks_for(task.rows, kRowSumBlock)}, task);
}

Status FloatMotionScorer::enqueue_plane(int plane, const DeviceBatch& batch, const ScratchLayout& layout,
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
    QC_RETURN_IF_ERROR(queue.launch(terms_, grid, task));
    QC_RETURN_IF_ERROR(weigh_terms(batch, plane, kFullSize, task.terms, queue));
    QC_RETURN_IF_ERROR(sum_rows({task.terms, scratch + layout.sums[plane * kWordsPerPlane + kFullSize], plan.width,
                                 task.term_pitch, plan.height * batch.count},
                                queue));
    return plan_.has_half() ? enqueue_half(plane, task, batch, layout, queue) : Status();
}

Status FloatMotionScorer::enqueue_half(int plane, const PlaneTask& full, const DeviceBatch& batch,
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
    QC_RETURN_IF_ERROR(queue.launch(half_terms_, grid, task));
    QC_RETURN_IF_ERROR(weigh_terms(batch, plane, kHalfSize, task.terms, queue));
    auto* const sums = static_cast<float*>(batch.scratch) + layout.sums[plane * kWordsPerPlane + kHalfSize];
    return sum_rows({task.terms, sums, task.width, task.term_pitch, task.height * batch.count}, queue);
}

Status FloatMotionScorer::enqueue_sums(const DeviceBatch& batch, const ScratchLayout& layout,
                                       DeviceQueue& queue) const {
    ColumnSumTask task{};
    task.planes = 1;
    task.words = static_cast<int>(accumulator_words());
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
    return queue.launch(sum_columns_, Dim3{kinds, static_cast<unsigned>(batch.count)},
                        device::ColumnSumArguments<DeviceReference>{batch.references, batch.accumulators, task});
}

Status FloatMotionScorer::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    if (plan_.force_zero) return {};
    const ScratchLayout layout = scratch_layout(plan_, batch.count);
    for (size_t p = 0; p < plan_.planes.size(); ++p)
        QC_RETURN_IF_ERROR(enqueue_plane(static_cast<int>(p), batch, layout, queue));
    return enqueue_sums(batch, layout, queue);
}

// ---- from sums to scores --------------------------------------------------------------------------------------------

class FloatMotionFinaliser final : public Finaliser {
public:
    FloatMotionFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : plan_(make_plan(geometry, options)), weighting_(options, kShared), debug_(options.flag(kDebug)) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override;
    void flush(int64_t frames, ScoreSink& sink) override;

private:
    std::optional<double> score_of(std::span<const uint64_t> accumulators) const;
    bool has_weights() const { return plan_.has_weights && !plan_.force_zero; }
    double limited(double score) const { return weighting_.limited(score); }
    double blended(double score) const { return weighting_.blended(weighting_.weighted(score)); }

    const Plan plan_;
    const motion::Weighting weighting_;
    const bool debug_;

    // Of the stream so far.
    int64_t frames_ = 0;
    std::optional<double> last_score_; ///< none where the weights were all 0
};

/// Mean absolute differences, in single precision by plane, added in double precision. None where nothing counts.
std::optional<double> FloatMotionFinaliser::score_of(std::span<const uint64_t> accumulators) const {
    double score = 0.0;
    for (size_t p = 0; p < plan_.planes.size(); ++p) {
        const PlanePlan& plane = plan_.planes[p];
        const auto mean = [&](AccumulatorWord size, int width, int height) {
            const size_t word = p * kWordsPerPlane + size;
            const auto sum = static_cast<float>(std::bit_cast<double>(accumulators[word]));
            if (!has_weights()) return sum / static_cast<float>(width * height);
            return sum / static_cast<float>(plane.footprint[size].places(accumulators[kAccumulatorWords + word]));
        };
        for (int size = kFullSize; size < (plan_.has_half() ? kWordsPerPlane : kHalfSize); ++size)
            if (has_weights() && accumulators[kAccumulatorWords + p * kWordsPerPlane + size] == 0) return std::nullopt;
        float plane_score = mean(kFullSize, plane.width, plane.height);
        if (plan_.has_half()) plane_score += mean(kHalfSize, plane.half_width, plane.half_height);
        score += static_cast<double>(plane_score);
    }
    return score;
}

void FloatMotionFinaliser::finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) {
    const std::optional<double> score = score_of(accumulators);
    if (frame == 0) sink.put(0, kMotion2, 0.0); // before the other: that is libvmaf's order
    if (!score)
        sink.leave_out(frame);
    else if (debug_)
        sink.put(frame, kMotion, limited(*score));
    if (frame == 1) {
        sink.put(0, kMotion3, score ? blended(*score) : 0.0);
    } else if (frame > 1 && last_score_) {
        const double smaller = score ? std::min(*last_score_, *score) : *last_score_;
        sink.put(frame - 1, kMotion2, limited(smaller));
        sink.put(frame - 1, kMotion3, blended(smaller));
    }
    last_score_ = score;
    frames_ = frame + 1;
}

void FloatMotionFinaliser::flush(int64_t, ScoreSink& sink) {
    if (frames_ == 1) sink.put(0, kMotion3, 0.0);
    if (frames_ < 2 || !last_score_) return;
    sink.put(frames_ - 1, kMotion2, limited(*last_score_));
    sink.put(frames_ - 1, kMotion3, blended(*last_score_));
}

// ---- what is refused ------------------------------------------------------------------------------------------------

/// Every plane that is scored holds the mirrored window.
PictureSize smallest_picture(const FrameGeometry& geometry, const OptionValues& options) {
    PictureSize smallest{kReach + 1, kReach + 1};
    if (!options.flag(kAddChroma)) return smallest;
    if (geometry.chroma_width < geometry.width) smallest.width *= 2;
    if (geometry.chroma_height < geometry.height) smallest.height *= 2;
    return smallest;
}

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    if (options.flag(kAddChroma) && geometry.plane_count() == 1)
        return invalid("float_motion: motion_add_uv=true needs chroma planes, these pictures have luma only");
    constexpr int kWidestHalf = 7680;
    if (options.flag(kAddScale1) && half_size(geometry.width) > kWidestHalf)
        return invalid(format("float_motion: motion_add_scale1=true takes pictures up to %d wide, these are %d",
                              2 * kWidestHalf, geometry.width));
    return {};
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
        .accepts_weights = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .smallest_picture = smallest_picture,
        .validate = validate,
        .create_scorer = make_scorer<FloatMotionScorer>,
        .create_finaliser = make_finaliser<FloatMotionFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::float_motion
