// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer VIF: descriptor, tables and the way from accumulators to scores.
#include "metrics/vif/vif.hpp"

#include <algorithm>
#include <array>

#include "metrics/vif/vif_kernels.hpp"

namespace qc::vif {
namespace {

enum OptionIndex { kDebug, kGainLimit, kSkipScale0 };

constexpr OptionSpec kOptions[] = {
    {"debug", "", OptionType::kBool, 0, 0, 1, "also write numerators and denominators"},
    {"vif_enhn_gain_limit", "egl", OptionType::kDouble, 100.0, 1.0, 100.0,
     "largest gain that counts as information; 1 gives no credit for enhancement"},
    {"vif_skip_scale0", "ssclz", OptionType::kBool, 0, 0, 1, "leave out scale 0; its score is then 0"},
};

bool is_debug(const OptionValues& options, const FrameGeometry& /*geometry*/) {
    return options.flag(kDebug);
}

enum OutputIndex { kScore0, kRatio = kScore0 + kScales, kNumerator, kDenominator, kScaleParts };

constexpr OutputSpec kOutputs[] = {
    {"VMAF_integer_feature_vif_scale0_score", "integer_vif_scale0"},
    {"VMAF_integer_feature_vif_scale1_score", "integer_vif_scale1"},
    {"VMAF_integer_feature_vif_scale2_score", "integer_vif_scale2"},
    {"VMAF_integer_feature_vif_scale3_score", "integer_vif_scale3"},
    {"integer_vif", "integer_vif", is_debug},
    {"integer_vif_num", "integer_vif_num", is_debug},
    {"integer_vif_den", "integer_vif_den", is_debug},
    {"integer_vif_num_scale0", "integer_vif_num_scale0", is_debug},
    {"integer_vif_den_scale0", "integer_vif_den_scale0", is_debug},
    {"integer_vif_num_scale1", "integer_vif_num_scale1", is_debug},
    {"integer_vif_den_scale1", "integer_vif_den_scale1", is_debug},
    {"integer_vif_num_scale2", "integer_vif_num_scale2", is_debug},
    {"integer_vif_den_scale2", "integer_vif_den_scale2", is_debug},
    {"integer_vif_num_scale3", "integer_vif_num_scale3", is_debug},
    {"integer_vif_den_scale3", "integer_vif_den_scale3", is_debug},
};

/// Information of one scale, in bits; single precision, as libvmaf keeps it.
struct ScaleInformation {
    float numerator, denominator;
};

/// @param unit what a pixel counts that is let through whole: 1 without weights. Of weights that are all whole the
///        division is exact
ScaleInformation scale_information(const uint64_t* accumulators, double unit) {
    const auto word = [&](AccumulatorWord index) {
        return static_cast<double>(static_cast<int64_t>(accumulators[index])) / unit;
    };
    // A pixel below the noise's variance counts one bit, less the distorted picture's variance in units of the largest.
    const double flat = word(kFlatCount) - (word(kFlatVariance) / 16384.0) / 65025.0;
    return {static_cast<float>(word(kNumeratorLog) / 2048.0 + flat),
            static_cast<float>(word(kDenominatorLog) / 2048.0 + word(kFlatCount))};
}

/// Rows in scratch memory start at multiples of 128 bytes.
constexpr int kScratchPitchWords = 32;

/// The operands `weights` of all lanes, as read_weights() finds them.
template <class Input>
std::array<uint32_t, kBandWeightWords> band_weights() {
    constexpr SampleOrder kOrders[] = {SampleOrder::kRowPairs, Input::kOrderAlong};
    std::array<uint32_t, kBandWeightWords> words{};
    size_t at = 0;
    for (int direction = 0; direction < kBandDirections; ++direction)
        for (int matrix = 0; matrix < kBandMatrices; ++matrix)
            for (int lane = 0; lane < device::kWarpSize; ++lane)
                for (int word = 0; word < 4; ++word, ++at)
                    for (int byte = 0; byte < 4; ++byte) {
                        const int row = lane / 4 + 8 * (word % 2), index = 16 * (word / 2) + lane % 4 * 4 + byte;
                        words[at] |= band_weight<Input::kScale>(static_cast<BandDirection>(direction),
                                                                static_cast<BandMatrix>(matrix), row,
                                                                sample_of(kOrders[direction], index))
                                     << (8 * byte);
                    }
    return words;
}

/// A kernel and the tiles it works on.
struct ScaleKernel {
    LoadedKernel<ScaleArguments> kernel;
    TileShape tile{};
};

/// Scales that there are bands' kernels of.
constexpr int kBandScales = 2;

/// The kernels that work on bands, for pairs one by one and for those of one reference together. No threads: there is
/// none.
struct BandKernels {
    LoadedKernel<BandArguments> one_by_one, together;
    int most_steps_together = 0;   ///< of a strip
    const void* weights = nullptr; ///< device address
};

/// Columns of a strip for `bands` bands of all pictures: the width that leaves the warp with most to do the least.
int strip_width(int width, int bands, int warps, int most_steps) {
    int best = 0;
    double least = 0.0;
    for (int steps = 1; steps <= most_steps; ++steps) {
        const int strips = static_cast<int>(blocks_for(width, steps * kStepColumns)) * bands;
        const double most = blocks_for(strips, warps) * (steps + kFirstStepCost);
        if (best > 0 && most >= least) continue;
        best = steps;
        least = most;
    }
    return best * kStepColumns;
}

Parameters read_parameters(const OptionValues& options) {
    return {options.number(kGainLimit), options.flag(kSkipScale0)};
}

/// The finest scale that there are statistics of.
int map_scale(const Parameters& parameters) {
    return parameters.skip_scale_0 ? 1 : 0;
}

MapShape map_shape(const FrameGeometry& geometry, const Parameters& parameters) {
    const int scale = map_scale(parameters);
    return {geometry.width >> scale, geometry.height >> scale, 0, 0, 1 << scale};
}

MapShape map_shape_of(const FrameGeometry& geometry, const OptionValues& options) {
    return map_shape(geometry, read_parameters(options));
}

class VifScorer final : public Scorer {
public:
    VifScorer(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), parameters_(read_parameters(options)) {}

    size_t accumulator_words() const override { return kAccumulatorWords; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu_rows(geometry_, parameters_, pair, accumulators);
    }
    void draw(const HostPair& pair, HostPast /*past*/, Plane<float> values) const override {
        draw_cpu(geometry_, parameters_, pair, values);
    }

    size_t scratch_bytes(int count) const override;
    Status prepare(DeviceProgram& program) override;
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override;

private:
    /// Whether the map is one of this scale. Its kernel takes pairs one by one, in ladders too.
    bool draws(int scale) const { return draws_maps() && scale == map_scale(parameters_); }
    Status find(DeviceProgram& program, int scale, const KernelIdentifier<ScaleArguments>& identifier,
                const TileShape& tile);
    Status find_weighted_kernels(DeviceProgram& program);
    Status upload_logarithms(DeviceProgram& program);
    Status prepare_bands(DeviceProgram& program);
    template <class Input>
    static Status prepare_bands(DeviceProgram& program, const KernelIdentifier<BandArguments>& one_by_one,
                                const KernelIdentifier<BandArguments>* together, BandKernels* kernels);
    Status enqueue_bands(int scale, const ScaleArguments& arguments, const DeviceBatch& batch,
                         DeviceQueue& queue) const;
    static bool is_ladder(const DeviceBatch& batch) { return batch.pairs_per_reference() >= kFewestTogether; }

    /// Where the packed pictures of a scale lie in scratch memory, in words.
    struct PackedPictures {
        size_t offset = 0, plane = 0;
        int pitch = 0;
    };
    PackedPictures packed_pictures(int scale, int count) const;
    bool in_bands(int scale, const DeviceBatch& batch) const;

    FrameGeometry geometry_;
    Parameters parameters_;
    ScaleKernel kernels_[kScales];
    LoadedKernel<ScaleArguments> ladder_kernels_[kScales]; ///< of the same tiles; none where they bring nothing
    const void* logarithms_ = nullptr;                     ///< device address
    BandKernels bands_[kBandScales];                       ///< where the GPU multiplies matrices of bytes
    const void* log_corrections_ = nullptr;                ///< device address
    int band_blocks_ = 0;
};

Status VifScorer::find(DeviceProgram& program, int scale, const KernelIdentifier<ScaleArguments>& identifier,
                       const TileShape& tile) {
    kernels_[scale].tile = tile;
    return program.find(identifier, &kernels_[scale].kernel);
}

/// Tiles of every scale: with weights there is nothing that pairs share.
Status VifScorer::find_weighted_kernels(DeviceProgram& program) {
    const bool bytes = geometry_.sample == SampleType::kU8;
    if (parameters_.skip_scale_0)
        QC_RETURN_IF_ERROR(
            find(program, 0, bytes ? kernels::vif_decimate0_u8 : kernels::vif_decimate0_u16, kTileDecimateOnly));
    else if (bytes)
        QC_RETURN_IF_ERROR(find(program, 0, kernels::vif_scale0_u8_weighted, kTileScale0U8));
    else
        QC_RETURN_IF_ERROR(find(program, 0, kernels::vif_scale0_u16_weighted, kTileScale0U16));
    QC_RETURN_IF_ERROR(find(program, 1, kernels::vif_scale1_weighted, kTileScale1));
    QC_RETURN_IF_ERROR(find(program, 2, kernels::vif_scale2_weighted, kTileScale2));
    return find(program, 3, kernels::vif_scale3_weighted, kTileScale3);
}

Status VifScorer::prepare(DeviceProgram& program) {
    if (geometry_.has_weights) {
        QC_RETURN_IF_ERROR(find_weighted_kernels(program));
        return upload_logarithms(program);
    }
    const bool bytes = geometry_.sample == SampleType::kU8;
    if (parameters_.skip_scale_0)
        QC_RETURN_IF_ERROR(
            find(program, 0, bytes ? kernels::vif_decimate0_u8 : kernels::vif_decimate0_u16, kTileDecimateOnly));
    else if (bytes)
        QC_RETURN_IF_ERROR(
            find(program, 0, draws(0) ? kernels::vif_scale0_u8_map : kernels::vif_scale0_u8, kTileScale0U8));
    else
        QC_RETURN_IF_ERROR(
            find(program, 0, draws(0) ? kernels::vif_scale0_u16_map : kernels::vif_scale0_u16, kTileScale0U16));
    QC_RETURN_IF_ERROR(find(program, 1, draws(1) ? kernels::vif_scale1_map : kernels::vif_scale1, kTileScale1));
    QC_RETURN_IF_ERROR(find(program, 2, kernels::vif_scale2, kTileScale2));
    QC_RETURN_IF_ERROR(find(program, 3, kernels::vif_scale3, kTileScale3));
    if (!parameters_.skip_scale_0)
        QC_RETURN_IF_ERROR(
            program.find(bytes ? kernels::vif_scale0_u8_ladder : kernels::vif_scale0_u16_ladder, &ladder_kernels_[0]));
    QC_RETURN_IF_ERROR(program.find(kernels::vif_scale1_ladder, &ladder_kernels_[1]));

    if (program.capability(kernels_[0].kernel.kernel) >= device::kMatrixCapability)
        QC_RETURN_IF_ERROR(prepare_bands(program));
    return upload_logarithms(program);
}

Status VifScorer::upload_logarithms(DeviceProgram& program) {
    const auto bytes_of = [](auto table) { return std::as_bytes(table); };
    const auto table = kLogSource == LogSource::kTable ? bytes_of(log_table()) : bytes_of(log_thresholds());
    return program.upload(table.data(), table.size_bytes(), &logarithms_);
}

/// Maps are drawn in bands at scale 0 of 8-bit samples alone.
Status VifScorer::prepare_bands(DeviceProgram& program) {
    using namespace kernels;
    band_blocks_ = program.multiprocessors();
    QC_RETURN_IF_ERROR(program.upload(log_corrections().data(), log_corrections().size_bytes(), &log_corrections_));
    if (!draws(1))
        QC_RETURN_IF_ERROR(prepare_bands<PackedInput>(program, vif_scale1_bands, &vif_scale1_bands_ladder, &bands_[1]));
    if (parameters_.skip_scale_0) return {};
    if (geometry_.sample == SampleType::kU8)
        return draws(0)
                   ? prepare_bands<ByteInput>(program, vif_scale0_u8_bands_map, nullptr, &bands_[0])
                   : prepare_bands<ByteInput>(program, vif_scale0_u8_bands, &vif_scale0_u8_bands_ladder, &bands_[0]);
    if (draws(0) || geometry_.depth > WordInput::kLargestDepth) return {};
    return prepare_bands<WordInput>(program, vif_scale0_u16_bands, &vif_scale0_u16_bands_ladder, &bands_[0]);
}

/// @param together of pairs with one reference; it needs much shared memory. Null: there is none.
template <class Input>
Status VifScorer::prepare_bands(DeviceProgram& program, const KernelIdentifier<BandArguments>& one_by_one,
                                const KernelIdentifier<BandArguments>* together, BandKernels* kernels) {
    if (program.shared_limit() < ScoreBands<Input>::kSharedBytes) return {};
    QC_RETURN_IF_ERROR(program.find(one_by_one, &kernels->one_by_one));
    if (together != nullptr && program.shared_limit() >= ScoreLadderBands<Input>::kSharedBytes)
        QC_RETURN_IF_ERROR(program.find(*together, &kernels->together));
    kernels->most_steps_together = ScoreLadderBands<Input>::kMostSteps;
    const auto weights = band_weights<Input>();
    return program.upload(weights.data(), sizeof weights, &kernels->weights);
}

/// Few pairs have too little of scale 1 for kernels that each begin with the copy of a table.
bool VifScorer::in_bands(int scale, const DeviceBatch& batch) const {
    const BandKernels& kernels = bands_[scale];
    if (is_ladder(batch) && kernels.together.threads > 0) return true;
    return kernels.one_by_one.threads > 0 && (scale == 0 || batch.count > kFewPairs);
}

Status VifScorer::enqueue_bands(int scale, const ScaleArguments& arguments, const DeviceBatch& batch,
                                DeviceQueue& queue) const {
    const BandKernels& kernels = bands_[scale];
    const bool together = is_ladder(batch) && kernels.together.threads > 0;
    const LoadedKernel<BandArguments>& kernel = together ? kernels.together : kernels.one_by_one;
    const int pictures = together ? batch.groups : batch.count, warps = kernel.threads / device::kWarpSize;
    BandArguments of_bands{};
    of_bands.scale = arguments;
    of_bands.scale.logarithms = log_corrections_;
    of_bands.scale.first_pair = together ? batch.first_pair : nullptr;
    of_bands.weights = static_cast<const uint32_t*>(kernels.weights);
    of_bands.bands = static_cast<int>(blocks_for(arguments.height, kBandRows));
    if (together || scale > 0)
        of_bands.strip_width = strip_width(arguments.width, of_bands.bands * pictures, warps * band_blocks_,
                                           together ? kernels.most_steps_together : kMostSteps);
    else
        of_bands.strip_width = pictures <= kFewPairs ? kStripWidthOfFew : kStripWidth;
    of_bands.strips = static_cast<int>(blocks_for(arguments.width, of_bands.strip_width));
    of_bands.tasks = of_bands.strips * of_bands.bands * pictures;
    const unsigned blocks = std::min(blocks_for(of_bands.tasks, warps), static_cast<unsigned>(band_blocks_));
    return queue.launch(kernel, Dim3{blocks, 1, 1}, of_bands);
}

Status VifScorer::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    auto* const scratch = static_cast<uint32_t*>(batch.scratch);
    for (int s = 0; s < kScales; ++s) {
        const PackedPictures input = packed_pictures(s, batch.count);
        const PackedPictures output = packed_pictures(s + 1, batch.count);
        ScaleArguments arguments{};
        arguments.pairs = batch.pairs;
        arguments.accumulators = batch.accumulators;
        arguments.input = s > 0 ? scratch + input.offset : nullptr;
        arguments.output = s + 1 < kScales ? scratch + output.offset : nullptr;
        arguments.input_plane = input.plane;
        arguments.output_plane = output.plane;
        arguments.input_pitch = input.pitch;
        arguments.output_pitch = output.pitch;
        arguments.width = geometry_.width >> s;
        arguments.height = geometry_.height >> s;
        arguments.depth = geometry_.depth;
        arguments.gain_limit = parameters_.gain_limit;
        arguments.logarithms = logarithms_;
        if (draws(s)) arguments.map = batch.map;
        arguments.map_shape = map_shape(geometry_, parameters_);
        if (s < kBandScales && in_bands(s, batch)) {
            QC_RETURN_IF_ERROR(enqueue_bands(s, arguments, batch, queue));
            continue;
        }
        const bool together = is_ladder(batch) && ladder_kernels_[s].threads > 0 && !draws(s);
        if (together) arguments.first_pair = batch.first_pair;
        const TileShape& tile = kernels_[s].tile;
        const Dim3 grid{blocks_for(arguments.width, tile.width), blocks_for(arguments.height, tile.height),
                        static_cast<unsigned>(together ? batch.groups : batch.count)};
        QC_RETURN_IF_ERROR(queue.launch(together ? ladder_kernels_[s] : kernels_[s].kernel, grid, arguments));
    }
    return {};
}

VifScorer::PackedPictures VifScorer::packed_pictures(int scale, int count) const {
    PackedPictures pictures;
    for (int s = 1; s <= scale; ++s) {
        pictures.offset += pictures.plane * static_cast<size_t>(count);
        pictures.pitch = round_up(geometry_.width >> s, kScratchPitchWords);
        pictures.plane = static_cast<size_t>(pictures.pitch) * static_cast<size_t>(geometry_.height >> s);
    }
    return pictures;
}

size_t VifScorer::scratch_bytes(int count) const {
    return packed_pictures(kScales, count).offset * sizeof(uint32_t);
}

class VifFinaliser final : public Finaliser {
public:
    VifFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : has_weights_(geometry.has_weights), skip_scale_0_(options.flag(kSkipScale0)), debug_(options.flag(kDebug)) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override;

private:
    /// Whether nothing of a scale counts. A pixel without weight is all that adds nothing to the denominator.
    bool is_without_weight(std::span<const uint64_t> accumulators, int scale) const {
        const uint64_t* const words = accumulators.data() + scale * kWordsPerScale;
        return has_weights_ && words[kDenominatorLog] == 0 && words[kFlatCount] == 0;
    }
    double unit(int scale) const { return has_weights_ ? kFullWeight << (2 * scale) : 1; }

    bool has_weights_, skip_scale_0_, debug_;
};

void VifFinaliser::finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) {
    ScaleInformation scales[kScales];
    double numerator = 0.0, denominator = 0.0;
    for (int s = skip_scale_0_ ? 1 : 0; s < kScales; ++s)
        if (is_without_weight(accumulators, s)) return sink.leave_out(frame);
    for (int s = 0; s < kScales; ++s) {
        if (s == 0 && skip_scale_0_) {
            scales[s] = {0.0f, -1.0f}; // what libvmaf writes for a scale that was left out
            sink.put(frame, kScore0, 0.0);
            continue;
        }
        scales[s] = scale_information(accumulators.data() + s * kWordsPerScale, unit(s));
        const float score = scales[s].numerator / scales[s].denominator;
        sink.put(frame, kScore0 + s, static_cast<double>(score));
        numerator += static_cast<double>(scales[s].numerator);
        denominator += static_cast<double>(scales[s].denominator);
    }
    if (!debug_) return;
    sink.put(frame, kRatio, denominator == 0.0 ? 1.0 : numerator / denominator);
    sink.put(frame, kNumerator, numerator);
    sink.put(frame, kDenominator, denominator);
    for (int s = 0; s < kScales; ++s) {
        sink.put(frame, kScaleParts + 2 * s, static_cast<double>(scales[s].numerator));
        sink.put(frame, kScaleParts + 2 * s + 1, static_cast<double>(scales[s].denominator));
    }
}

Status validate(const FrameGeometry& geometry, const OptionValues& /*options*/) {
    if (!geometry.has_weights || int64_t{geometry.width} * geometry.height <= kMostWeightedSamples) return {};
    return unsupported(format("vif under a mask takes pictures of at most %d samples, these are %dx%d",
                              static_cast<int>(kMostWeightedSamples), geometry.width, geometry.height));
}

constexpr MapSpec kMap{.what = "bits of information that each pixel has lost", .white = 4.0, .shape = map_shape_of};

} // namespace

std::span<const uint16_t> log_table() {
    static const auto kTable = [] {
        std::array<uint16_t, kLogTableSize> table{};
        for (uint32_t i = 0; i < kLogTableSize; ++i) table[i] = log_table_entry(kLogTableFirst + i);
        return table;
    }();
    return kTable;
}

std::span<const uint32_t> log_thresholds() {
    static const auto kThresholds = [] {
        std::array<uint32_t, kLogThresholds> thresholds{};
        uint32_t i = 0; // first entry that is not below the step
        for (int step = 0; step <= kLogSteps; ++step) {
            while (log_table()[i] < kLogTableLowest + step) ++i;
            thresholds[step] = 0x3f800000u + (i << 8) - 1; // upper 16 bits of a number: 1 and the float's mantissa
        }
        thresholds[kLogSteps + 1] = 0x3fffffffu;
        return thresholds;
    }();
    return kThresholds;
}

std::span<const uint8_t> log_corrections() {
    static const auto kCorrections = [] {
        std::array<uint8_t, kLogCorrections> corrections{};
        for (int i = 0; i < kLogCorrections; ++i) {
            const int mantissa = i % kLogTableSize; // 15 bits, of which the line takes 11
            corrections[i] = static_cast<uint8_t>(log_table()[mantissa] - kLogTableLowest - mantissa / 16);
        }
        return corrections;
    }();
    return kCorrections;
}

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "vif",
        .summary = "visual information fidelity at four scales (integer)",
        .accepts_weights = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .smallest = {kMinimumSize, kMinimumSize},
        .validate = validate,
        .create_scorer = make_scorer<VifScorer>,
        .create_finaliser = make_finaliser<VifFinaliser>,
        .map = &kMap,
    };
    return kDescriptor;
}

} // namespace qc::vif
