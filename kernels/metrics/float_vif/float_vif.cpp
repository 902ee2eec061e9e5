// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point VIF: descriptor, launches, and the way from accumulators to scores.
#include "metrics/float_vif/float_vif.hpp"

#include <bit>
#include <cmath>

#include "device/row_sums.hpp"
#include "metrics/float_vif/float_vif_kernels.hpp"

namespace qc::float_vif {
namespace {

enum OptionIndex : size_t {
    kDebug,
    kGainLimit,
    kKernelScale,
    kPrescale,
    kPrescaleMethod,
    kScale1Minimum,
    kScale2Minimum,
    kScale3Minimum,
    kNoiseVariance,
    kSkipScale0
};

constexpr OptionSpec kOptions[] = {
    {"debug", "", OptionType::kBool, 0, 0, 1, "also write numerators and denominators"},
    {"vif_enhn_gain_limit", "egl", OptionType::kDouble, 100.0, 1.0, 100.0,
     "largest gain that counts as information; 1 gives no credit for enhancement"},
    {"vif_kernelscale", "ks", OptionType::kDouble, 1.0, 0.1, 4.0,
     "factor on all windows: 1, 1/2, 3/2, 2, 2/3, 2.4, 360/97, 4/3 and the others that libvmaf lists"},
    {"vif_prescale", "ps", OptionType::kDouble, 1.0, 0.1, 4.0, "resize both pictures by this factor first"},
    {"vif_prescale_method", "pm", OptionType::kChoice, 0, 0, 3, "how the pictures are resized", kResizeNames},
    {"vif_scale1_min_val", "s1miv", OptionType::kDouble, 0.0, 0.0, 1.0, "lower limit of scale 1's score"},
    {"vif_scale2_min_val", "s2miv", OptionType::kDouble, 0.0, 0.0, 1.0, "lower limit of scale 2's score"},
    {"vif_scale3_min_val", "s3miv", OptionType::kDouble, 0.0, 0.0, 1.0, "lower limit of scale 3's score"},
    {"vif_sigma_nsq", "snsq", OptionType::kDouble, 2.0, 0.0, 5.0, "variance of the observer's noise"},
    {"vif_skip_scale0", "ssclz", OptionType::kBool, 0, 0, 1, "leave out scale 0; its score is then 0"},
};

bool is_debug(const OptionValues& options, const FrameGeometry& /*geometry*/) {
    return options.flag(kDebug);
}

enum OutputIndex { kScore0, kRatio = kScore0 + kScales, kNumeratorSum, kDenominatorSum, kScaleParts };

constexpr OutputSpec kOutputs[] = {
    {"VMAF_feature_vif_scale0_score", "vif_scale0"},
    {"VMAF_feature_vif_scale1_score", "vif_scale1"},
    {"VMAF_feature_vif_scale2_score", "vif_scale2"},
    {"VMAF_feature_vif_scale3_score", "vif_scale3"},
    {"vif", "vif", is_debug},
    {"vif_num", "vif_num", is_debug},
    {"vif_den", "vif_den", is_debug},
    {"vif_num_scale0", "vif_num_scale0", is_debug},
    {"vif_den_scale0", "vif_den_scale0", is_debug},
    {"vif_num_scale1", "vif_num_scale1", is_debug},
    {"vif_den_scale1", "vif_den_scale1", is_debug},
    {"vif_num_scale2", "vif_num_scale2", is_debug},
    {"vif_den_scale2", "vif_den_scale2", is_debug},
    {"vif_num_scale3", "vif_num_scale3", is_debug},
    {"vif_den_scale3", "vif_den_scale3", is_debug},
};

Plan make_plan(const FrameGeometry& geometry, const OptionValues& options) {
    Plan plan;
    plan.source = {geometry.width, geometry.height};
    plan.scaled[0] = prescaled(plan.source, options.number(kPrescale));
    for (int s = 1; s < kScales; ++s) plan.scaled[s] = {plan.scaled[0].width >> s, plan.scaled[0].height >> s};
    if (plan.scaled[0] != plan.source) {
        plan.resize = static_cast<Resize>(options.integer(kPrescaleMethod));
        plan.columns = resize_axis(plan.resize, plan.source.width, plan.scaled[0].width);
        plan.rows = resize_axis(plan.resize, plan.source.height, plan.scaled[0].height);
    }
    for (int s = 0; s < kScales; ++s) plan.window[s] = scale_window(s, options.number(kKernelScale));
    plan.noise.variance = options.number(kNoiseVariance);
    const auto deviation = static_cast<float>(plan.noise.variance);
    plan.noise.flat_scale = static_cast<float>(static_cast<double>(std::pow(deviation, 2.0f)) / 65025.0);
    plan.noise.gain_limit = static_cast<float>(options.number(kGainLimit));
    plan.sample_scale = 1.0f / static_cast<float>(1 << (geometry.depth - 8));
    plan.skip_scale_0 = options.flag(kSkipScale0);
    plan.has_weights = geometry.has_weights;
    return plan;
}

/// Whether the kernels for the windows without vif_kernelscale fit.
bool has_default_windows(const Plan& plan) {
    bool fits = true;
    for (int s = 0; s < kScales; ++s) fits = fits && plan.window[s].radius == 8 >> s;
    return fits;
}

/// Where things lie in scratch memory, in floats.
struct ScratchLayout {
    struct Pictures {
        size_t offset = 0, plane = 0; ///< plane: samples of both pictures of a pair, in SamplePairs
        int pitch = 0;
    };
    Pictures pictures[kScales]; ///< scale 0: resized pictures, if there are any
    size_t terms = 0, term_plane = 0;
    size_t sums[kScales] = {};
    TermScratch scratch;
};

ScratchLayout scratch_layout(const Plan& plan, int count) {
    ScratchLayout layout;
    const auto pairs = static_cast<size_t>(count);
    for (int s = plan.resize == Resize::kNone ? 1 : 0; s < kScales; ++s) {
        ScratchLayout::Pictures& pictures = layout.pictures[s];
        pictures.pitch = term_pitch(plan.scaled[s].width);
        pictures.plane = static_cast<size_t>(pictures.pitch) * static_cast<size_t>(plan.scaled[s].height);
        pictures.offset = layout.scratch.take(2 * pictures.plane * pairs);
    }
    // One scale's terms are added before the next scale's are written.
    const PlanSize& largest = plan.scaled[plan.skip_scale_0 ? 1 : 0];
    layout.term_plane = static_cast<size_t>(term_pitch(largest.width)) * static_cast<size_t>(largest.height);
    layout.terms = layout.scratch.take(kWordsPerScale * layout.term_plane * pairs);
    for (int s = 0; s < kScales; ++s)
        layout.sums[s] = layout.scratch.take(kWordsPerScale * static_cast<size_t>(plan.scaled[s].height) * pairs);
    return layout;
}

/// A kernel and the tiles it works on.
struct ScaleKernel {
    LoadedKernel<ScaleArguments> kernel;
    TileShape tile{};
};

// ---- scorer ---------------------------------------------------------------------------------------------------------

class FloatVifScorer final : public Scorer {
public:
    FloatVifScorer(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), plan_(make_plan(geometry, options)) {}

    size_t accumulator_words() const override {
        return plan_.has_weights ? kWeightedAccumulatorWords : kAccumulatorWords;
    }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(plan_, geometry_, pair, accumulators);
    }

    size_t scratch_bytes(int count) const override {
        return scratch_layout(plan_, count).scratch.floats * sizeof(float);
    }
    Status prepare(DeviceProgram& program) override;
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override;

private:
    Status find_tiles(DeviceProgram& program, int scale, const KernelIdentifier<ScaleArguments>& identifier,
                      const TileShape& tile);
    Status find_any(DeviceProgram& program, int scale);
    Status prepare_resize(DeviceProgram& program);
    bool is_evaluated(int scale) const { return scale > 0 || !plan_.skip_scale_0; }
    PicturePlanes pictures_in(float* scratch, const ScratchLayout& layout, int scale) const;
    Status enqueue_resize(const DeviceBatch& batch, const ScratchLayout& layout, DeviceQueue& queue) const;
    Status enqueue_scale(int scale, const DeviceBatch& batch, const ScratchLayout& layout, DeviceQueue& queue) const;
    Status enqueue_sums(const DeviceBatch& batch, const ScratchLayout& layout, DeviceQueue& queue) const;

    FrameGeometry geometry_;
    Plan plan_;
    ScaleKernel kernels_[kScales];
    LoadedKernel<ResizeArguments> resize_;
    LoadedKernel<RowSumTask> sum_rows_;
    LoadedKernel<device::ColumnSumArguments<DevicePair>> sum_columns_;
    LoadedKernel<device::TermWeightArguments<DevicePair>> weigh_terms_;
    const void *columns_ = nullptr, *rows_ = nullptr; ///< device addresses
};

Status FloatVifScorer::find_tiles(DeviceProgram& program, int scale, const KernelIdentifier<ScaleArguments>& identifier,
                                  const TileShape& tile) {
    kernels_[scale].tile = tile;
    return program.find(identifier, &kernels_[scale].kernel);
}

Status FloatVifScorer::find_any(DeviceProgram& program, int scale) {
    const bool last = scale + 1 == kScales;
    const AnyTile tile(is_evaluated(scale), plan_.window[scale].radius, !last,
                       last ? 0 : plan_.window[scale + 1].radius);
    const auto& identifier = scale > 0 || plan_.resize != Resize::kNone ? kernels::float_vif_any_scratch
                             : geometry_.sample == SampleType::kU8      ? kernels::float_vif_any_u8
                                                                        : kernels::float_vif_any_u16;
    kernels_[scale].tile = kTileAnyWindow;
    return program.find(identifier, static_cast<size_t>(tile.shared_floats()) * sizeof(float), &kernels_[scale].kernel);
}

Status FloatVifScorer::prepare_resize(DeviceProgram& program) {
    QC_RETURN_IF_ERROR(program.upload(plan_.columns.data(), plan_.columns.size() * sizeof(ResizeEntry), &columns_));
    QC_RETURN_IF_ERROR(program.upload(plan_.rows.data(), plan_.rows.size() * sizeof(ResizeEntry), &rows_));
    const bool bytes = geometry_.sample == SampleType::kU8;
    return program.find(bytes ? kernels::float_vif_resize_u8 : kernels::float_vif_resize_u16, &resize_);
}

Status FloatVifScorer::prepare(DeviceProgram& program) {
    const bool usual = has_default_windows(plan_);
    if (!usual || plan_.skip_scale_0 || plan_.resize != Resize::kNone)
        QC_RETURN_IF_ERROR(find_any(program, 0));
    else if (geometry_.sample == SampleType::kU8)
        QC_RETURN_IF_ERROR(find_tiles(program, 0, kernels::float_vif_scale0_u8, kTileScale0));
    else
        QC_RETURN_IF_ERROR(find_tiles(program, 0, kernels::float_vif_scale0_u16, kTileScale0));
    if (usual) {
        QC_RETURN_IF_ERROR(find_tiles(program, 1, kernels::float_vif_scale1, kTileScale1));
        QC_RETURN_IF_ERROR(find_tiles(program, 2, kernels::float_vif_scale2, kTileScale2));
        QC_RETURN_IF_ERROR(find_tiles(program, 3, kernels::float_vif_scale3, kTileScale3));
    } else {
        for (int s = 1; s < kScales; ++s) QC_RETURN_IF_ERROR(find_any(program, s));
    }
    if (plan_.resize != Resize::kNone) QC_RETURN_IF_ERROR(prepare_resize(program));
    QC_RETURN_IF_ERROR(program.find(kernels::float_vif_sum_rows, &sum_rows_));
    if (plan_.has_weights) QC_RETURN_IF_ERROR(program.find(kernels::float_vif_weigh_terms, &weigh_terms_));
    return program.find(kernels::float_vif_sum_columns, &sum_columns_);
}

PicturePlanes FloatVifScorer::pictures_in(float* scratch, const ScratchLayout& layout, int scale) const {
    const bool there = scale > 0 ? scale < kScales : plan_.resize != Resize::kNone;
    if (!there) return {};
    const ScratchLayout::Pictures& pictures = layout.pictures[scale];
    return {reinterpret_cast<SamplePair*>(scratch + pictures.offset), pictures.plane, pictures.pitch};
}

Status FloatVifScorer::enqueue_resize(const DeviceBatch& batch, const ScratchLayout& layout, DeviceQueue& queue) const {
    ResizeArguments task{};
    task.pairs = batch.pairs;
    task.columns = static_cast<const ResizeEntry*>(columns_);
    task.rows = static_cast<const ResizeEntry*>(rows_);
    task.output = pictures_in(static_cast<float*>(batch.scratch), layout, 0);
    task.source_width = plan_.source.width;
    task.source_height = plan_.source.height;
    task.width = plan_.scaled[0].width;
    task.height = plan_.scaled[0].height;
    task.sample_scale = plan_.sample_scale;
    task.method = plan_.resize;
    const Dim3 grid{blocks_for(task.width, kResizeBlock), static_cast<unsigned>(task.height),
                    static_cast<unsigned>(batch.count)};
    return queue.launch(resize_, grid, task);
}

Status FloatVifScorer::enqueue_scale(int scale, const DeviceBatch& batch, const ScratchLayout& layout,
                                     DeviceQueue& queue) const {
    auto* const scratch = static_cast<float*>(batch.scratch);
    const PlanSize& size = plan_.scaled[scale];
    ScaleArguments task{};
    task.pairs = batch.pairs;
    task.input = pictures_in(scratch, layout, scale);
    task.output = pictures_in(scratch, layout, scale + 1);
    task.terms = is_evaluated(scale) ? scratch + layout.terms : nullptr;
    task.term_pitch = term_pitch(size.width);
    task.term_plane = static_cast<uint64_t>(task.term_pitch) * static_cast<uint64_t>(size.height);
    task.width = size.width;
    task.height = size.height;
    task.sample_scale = plan_.sample_scale;
    task.noise = plan_.noise;
    task.window = plan_.window[scale];
    if (scale + 1 < kScales) task.next_window = plan_.window[scale + 1];
    const TileShape& tile = kernels_[scale].tile;
    const Dim3 grid{blocks_for(size.width, tile.width), blocks_for(size.height, tile.height),
                    static_cast<unsigned>(batch.count)};
    QC_RETURN_IF_ERROR(queue.launch(kernels_[scale].kernel, grid, task));
    if (!is_evaluated(scale)) return {};
    if (plan_.has_weights)
        QC_RETURN_IF_ERROR(device::weigh_terms(
            queue, weigh_terms_,
            {batch.pairs, batch.accumulators, task.terms, task.term_plane, kWordsPerScale, task.term_pitch, size.width,
             size.height, plan_.footprint(scale), kWeightedAccumulatorWords, kAccumulatorWords + scale},
            batch.count));

    RowSumTask rows{};
    rows.terms = task.terms;
    rows.sums = scratch + layout.sums[scale];
    rows.width = size.width;
    rows.pitch = task.term_pitch;
    rows.rows = size.height * kWordsPerScale * batch.count;
    return queue.launch(sum_rows_, Dim3{blocks_for(rows.rows, kRowSumBlock)}, rows);
}

Status FloatVifScorer::enqueue_sums(const DeviceBatch& batch, const ScratchLayout& layout, DeviceQueue& queue) const {
    device::ColumnSumArguments<DevicePair> arguments{batch.pairs, batch.accumulators, {}};
    ColumnSumTask& task = arguments.task;
    task.planes = kWordsPerScale;
    task.words = static_cast<int>(accumulator_words());
    unsigned kinds = 0;
    for (int s = 0; s < kScales; ++s) {
        if (!is_evaluated(s)) continue;
        task.sums[kinds] = static_cast<const float*>(batch.scratch) + layout.sums[s];
        task.height[kinds] = plan_.scaled[s].height;
        task.word[kinds] = s * kWordsPerScale;
        ++kinds;
    }
    const Dim3 grid{kinds * kWordsPerScale, static_cast<unsigned>(batch.count)};
    return queue.launch(sum_columns_, grid, arguments);
}

Status FloatVifScorer::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    const ScratchLayout layout = scratch_layout(plan_, batch.count);
    if (plan_.resize != Resize::kNone) QC_RETURN_IF_ERROR(enqueue_resize(batch, layout, queue));
    for (int s = 0; s < kScales; ++s) QC_RETURN_IF_ERROR(enqueue_scale(s, batch, layout, queue));
    return enqueue_sums(batch, layout, queue);
}

// ---- finaliser ------------------------------------------------------------------------------------------------------

class FloatVifFinaliser final : public Finaliser {
public:
    FloatVifFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : has_weights_(geometry.has_weights), minimum_{0.0, options.number(kScale1Minimum),
                                                       options.number(kScale2Minimum), options.number(kScale3Minimum)},
          skip_scale_0_(options.flag(kSkipScale0)), debug_(options.flag(kDebug)) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override;

private:
    bool has_weights_;
    double minimum_[kScales]; ///< of the scores
    bool skip_scale_0_, debug_;
};

void FloatVifFinaliser::finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) {
    double numerators[kScales], denominators[kScales];
    double numerator = 0.0, denominator = 0.0;
    for (int s = skip_scale_0_ ? 1 : 0; s < kScales; ++s)
        if (has_weights_ && accumulators[kAccumulatorWords + s] == 0) return sink.leave_out(frame);
    for (int s = 0; s < kScales; ++s) {
        if (s == 0 && skip_scale_0_) {
            numerators[s] = 0.0; // what libvmaf writes for a scale that was left out
            denominators[s] = -1.0;
            sink.put(frame, kScore0, 0.0);
            continue;
        }
        const uint64_t* const words = accumulators.data() + s * kWordsPerScale;
        numerators[s] = std::bit_cast<double>(words[kNumerator]);
        denominators[s] = std::bit_cast<double>(words[kDenominator]);
        const double score = numerators[s] / denominators[s];
        sink.put(frame, kScore0 + s, s == 0 ? score : std::max(score, minimum_[s]));
        numerator += numerators[s];
        denominator += denominators[s];
    }
    if (!debug_) return;
    sink.put(frame, kRatio, denominator == 0.0 ? 1.0 : numerator / denominator);
    sink.put(frame, kNumeratorSum, numerator);
    sink.put(frame, kDenominatorSum, denominator);
    for (int s = 0; s < kScales; ++s) {
        sink.put(frame, kScaleParts + 2 * s, numerators[s]);
        sink.put(frame, kScaleParts + 2 * s + 1, denominators[s]);
    }
}

// ---- refusals -------------------------------------------------------------------------------------------------------

/// The smallest side that is large enough for the mirrored filters after vif_prescale, and for those of the resizing
/// itself, which mirror up to five samples.
PictureSize smallest_picture(const FrameGeometry& /*geometry*/, const OptionValues& options) {
    constexpr int kSmallestToResize = 6;
    const double kernel_scale = options.number(kKernelScale);
    if (!known_kernel_scale(kernel_scale)) return {}; // is refused
    FilterWindow windows[kScales];
    for (int s = 0; s < kScales; ++s) windows[s] = scale_window(s, kernel_scale);
    const int smallest = smallest_side(windows, options.flag(kSkipScale0));
    int side = kSmallestToResize;
    while (prescaled({side, side}, options.number(kPrescale)).width < smallest) ++side;
    return {side, side};
}

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    const double kernel_scale = options.number(kKernelScale), prescale = options.number(kPrescale);
    if (!known_kernel_scale(kernel_scale))
        return invalid(format("float_vif: vif_kernelscale=%g is not one of those that are defined (%s)", kernel_scale,
                              kKnownKernelScales));
    constexpr int kWidestBilinear = 7680;
    const PlanSize source{geometry.width, geometry.height}, scaled = prescaled(source, prescale);
    if (geometry.has_weights && scaled != source)
        return unsupported(format("float_vif: under a mask vif_prescale=%g is not supported, only 1 is", prescale));
    if (scaled != source && options.integer(kPrescaleMethod) == static_cast<int>(Resize::kBilinear) &&
        scaled.width > kWidestBilinear)
        return invalid(format("float_vif: vif_prescale=%g makes the picture %d wide, vif_prescale_method=bilinear "
                              "goes up to %d",
                              prescale, scaled.width, kWidestBilinear));
    return {};
}

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "float_vif",
        .summary = "visual information fidelity at four scales (floating point)",
        .accepts_weights = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .smallest_picture = smallest_picture,
        .validate = validate,
        .create_scorer = make_scorer<FloatVifScorer>,
        .create_finaliser = make_finaliser<FloatVifFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::float_vif
