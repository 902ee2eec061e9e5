// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp_launch.hpp"

#include <algorithm>
#include <cmath>

#include "metrics/cvvdp/cvvdp_pooling.hpp"

namespace qc::cvvdp {
namespace {

static_assert(kDeviceChannels == kChannels && kDeviceColours == kColours && kDeviceBands == kMaxBands &&
              kLuminances == kCsfLuminances && ScoreTiles::kRadius == kBlurRadius && kBlurRadius == kUnblurredSide);
static_assert(kDeviceSrgb == static_cast<int>(Eotf::kSrgb) && kDevicePq == static_cast<int>(Eotf::kPq) &&
              kDeviceHlg == static_cast<int>(Eotf::kHlg) && kDevicePower == static_cast<int>(Eotf::kPower) &&
              kDeviceLinear == static_cast<int>(Eotf::kLinear));
static_assert(PaintMap::kStraightUpTo == static_cast<float>(kJodStraightUpTo));

constexpr size_t kAlignment = 256;
constexpr size_t kGroupBytes = kAlignment;
constexpr unsigned kMembers = tuning::kGroup;
static_assert(sizeof(Group) <= kGroupBytes);

constexpr size_t aligned(size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

float single(double value) {
    return static_cast<float>(value);
}

DeviceLevels make_levels(const Plan& plan) {
    constexpr int kPitch = 32;
    DeviceLevels levels{};
    levels.bands = plan.bands;
    for (int k = 0; k < plan.bands; ++k) {
        const LevelSize size = plan.level[static_cast<size_t>(k)];
        levels.width[k] = size.width;
        levels.height[k] = size.height;
        levels.pitch[k] = (size.width + 2 + kPitch - 1) / kPitch * kPitch; // with a column on either side
        levels.offset[k] = static_cast<uint32_t>(levels.plane);
        levels.plane += static_cast<uint64_t>(levels.pitch[k]) * static_cast<uint64_t>(size.height);
    }
    return levels;
}

/// What the affine matrix does to a component's light: peak and black of the display are folded into it.
void set_opponents(const Settings& settings, DeviceColour* colour) {
    const bool is_relative = settings.eotf != Eotf::kPq && settings.eotf != Eotf::kLinear;
    const double scale = is_relative ? settings.peak - settings.black : 1.0;
    const double offset = (settings.eotf == Eotf::kLinear ? 0.0 : settings.black) + settings.reflection;
    const Matrix3 matrix = dkl_matrix(settings.primaries);
    for (size_t c = 0; c < kColours; ++c) {
        double sum = 0.0;
        for (size_t i = 0; i < 3; ++i) {
            colour->opponent[c][i] = single(matrix[c][i] * scale);
            sum += matrix[c][i];
        }
        colour->opponent_offset[c] = single(sum * offset);
    }
}

DeviceColour make_colour(const FrameGeometry& geometry, const Settings& settings) {
    DeviceColour colour{};
    const double step = std::ldexp(1.0, geometry.depth - 8);
    colour.luma_scale = single(geometry.rgb ? 1.0 / ((1 << geometry.depth) - 1) : 1.0 / (219.0 * step));
    colour.luma_offset = single(-16.0 / 219.0);
    colour.chroma_scale = single(1.0 / (224.0 * step));
    colour.chroma_offset = single(0.5 - 128.0 / 224.0);
    for (size_t input = 0; input < 2; ++input) {
        const YuvMatrix matrix = yuv_matrix(settings.matrix[input]);
        colour.red_cr[input] = single(matrix.red_cr);
        colour.green_cb[input] = single(matrix.green_cb);
        colour.green_cr[input] = single(matrix.green_cr);
        colour.blue_cb[input] = single(matrix.blue_cb);
    }
    set_opponents(settings, &colour);
    colour.rgb = geometry.rgb ? 1 : 0;
    colour.coloured = geometry.plane_count() == 3 ? 1 : 0;
    colour.chroma_width = geometry.stored_chroma_width;
    colour.chroma_height = geometry.stored_chroma_height;
    colour.halved_across = colour.chroma_width != geometry.width ? 1 : 0;
    colour.halved_down = colour.chroma_height != geometry.height ? 1 : 0;
    colour.eotf = static_cast<int32_t>(settings.eotf);
    colour.exposure = single(settings.exposure);
    colour.highest = 1.0f;
    if (settings.eotf == Eotf::kPq || settings.eotf == Eotf::kLinear) {
        constexpr double kLeast = 0.005;
        colour.lowest = single(settings.eotf == Eotf::kPq ? kLeast : std::max(kLeast, settings.black));
        colour.highest = single(settings.peak);
    }
    colour.exponent = single(settings.eotf == Eotf::kHlg ? hlg_gamma(settings) - 1.0 : settings.gamma);
    return colour;
}

std::vector<SensitivityTable> make_sensitivity(const Plan& plan) {
    const double octaves = std::log2(10.0);
    std::vector<SensitivityTable> tables(static_cast<size_t>(plan.bands));
    for (int k = 0; k < plan.bands; ++k)
        for (size_t c = 0; c < kChannels; ++c) {
            const auto& row = plan.sensitivity[static_cast<size_t>(k)][c];
            const double detail = k == 0 ? 1.0 : kDetailFactor; // of contrast, which the sensitivity is multiplied by
            const double gain = k == plan.baseband() ? 1.0 : kGain[c] * detail;
            for (size_t l = 0; l < row.size(); ++l) {
                const double next = row[std::min(l + 1, row.size() - 1)];
                tables[static_cast<size_t>(k)].node[c][l] = {
                    single((row[l] + kSensitivityDecibels / 20.0) * octaves + std::log2(gain)),
                    single((next - row[l]) * octaves)};
            }
        }
    return tables;
}

void set_bands(const DeviceLevels& levels, BandArguments* bands) {
    bands->levels = levels;
    for (int k = 0; k + 1 < levels.bands; ++k) {
        bands->first_tile[k] = bands->tiles;
        bands->tiles += static_cast<int32_t>(blocks_for(levels.width[k], ScoreTiles::kWidth) *
                                             blocks_for(levels.height[k], ScoreTiles::kHeight));
    }
    const double darkest = std::log10(0.005), range = 4.0 - darkest;
    bands->luminance_scale = single(std::log10(2.0) / range * (kCsfLuminances - 1));
    bands->luminance_offset = single(-darkest / range * (kCsfLuminances - 1));
    const auto taps = blur_taps();
    for (size_t i = 0; i < taps.size(); ++i) bands->blur_tap[i] = single(taps[i]);
    bands->masker_factor = single(std::pow(10.0, kMaskerLog10));
    for (int i = 0; i < kChannels; ++i) {
        bands->masker_power[i] = single(kMaskerPower[i]);
        bands->masker_zero[i] = single(std::pow(kOffset, kMaskerPower[i]));
        for (int c = 0; c < kChannels; ++c) bands->masking[i][c] = single(std::exp2(kCrossMasking[i][c]));
    }
    bands->difference_power = single(kMaskingPower);
    bands->difference_zero = single(std::pow(kOffset, kMaskingPower));
    bands->largest = single(std::pow(10.0, kLargestLog10));
    for (int c = 0; c < kChannels; ++c) {
        bands->join.inner_weight[c] = single(kChannelWeight[c]);
        bands->join.weight[c] = single(kChannelWeight[c] * kBasebandWeight[c]);
    }
}

KernelIdentifier<FilterArguments> filter_for(const FrameGeometry& geometry, const Settings& settings) {
    const bool usual = settings.eotf == Eotf::kSrgb && settings.exposure == 1.0 && !geometry.rgb;
    if (geometry.sample == SampleType::kU8) return usual ? kernels::cvvdp_filter_u8 : kernels::cvvdp_filter_u8_general;
    return usual ? kernels::cvvdp_filter_u16 : kernels::cvvdp_filter_u16_general;
}

} // namespace

Launcher::Launcher(const FrameGeometry& geometry, const Settings& settings, const Plan& plan)
    : targets_(tap_count(settings.frame_rate), settings.symmetric), levels_(make_levels(plan)),
      colour_(make_colour(geometry, settings)), sensitivity_(make_sensitivity(plan)),
      filter_identifier_(filter_for(geometry, settings)), has_weights_(geometry.has_weights) {
    for (const auto& tap : temporal_taps(settings.frame_rate)) {
        Weights weights{};
        for (size_t c = 0; c < kChannels; ++c) weights.of[c] = single(tap[c]);
        taps_.push_back(weights);
    }
    set_bands(levels_, &bands_);
    for (int k = 0; k + 1 < plan.bands; ++k)
        last_columns_.push_back(last_column(plan.level[static_cast<size_t>(k)], settings.fixed_border));
}

size_t Launcher::plane_bytes() const {
    return aligned(levels_.plane * 2 * kChannels * tuning::kGroup * sizeof(float));
}

size_t Launcher::sum_bytes() const {
    const size_t sums = has_weights_ ? kWeightedSums : kChannels;
    return aligned(static_cast<size_t>(bands_.tiles) * sums * tuning::kGroup * sizeof(double));
}

size_t Launcher::map_bytes() const {
    return draws_map_ ? aligned(levels_.plane * tuning::kGroup * sizeof(float)) : 0;
}

size_t Launcher::weight_bytes() const {
    return has_weights_ ? aligned(levels_.plane * tuning::kGroup * sizeof(float)) : 0;
}

/// A group, its planes, its sums, its map, its places' weights, those of its frames.
size_t Launcher::scratch_bytes(int count) const {
    const size_t places = static_cast<size_t>(targets_.past() + count);
    return kGroupBytes + plane_bytes() + sum_bytes() + map_bytes() + weight_bytes() +
           places * tuning::kGroup * sizeof(Weights);
}

Launcher::Space Launcher::space_of(void* scratch) const {
    char* at = static_cast<char*>(scratch);
    const auto take = [&](size_t bytes) {
        char* const taken = at;
        at += bytes;
        return taken;
    };
    Space space{};
    space.group = reinterpret_cast<Group*>(take(kGroupBytes));
    space.planes = reinterpret_cast<float*>(take(plane_bytes()));
    space.sums = reinterpret_cast<double*>(take(sum_bytes()));
    if (draws_map_) space.map = reinterpret_cast<float*>(take(map_bytes()));
    if (has_weights_) space.place_weights = reinterpret_cast<float*>(take(weight_bytes()));
    space.weights = reinterpret_cast<Weights*>(at);
    return space;
}

Status Launcher::prepare(DeviceProgram& program) {
    QC_RETURN_IF_ERROR(program.find(kernels::cvvdp_group, &group_kernel_));
    QC_RETURN_IF_ERROR(program.find(filter_identifier_, &filter_kernel_));
    QC_RETURN_IF_ERROR(program.find(kernels::cvvdp_reduce, &reduce_kernel_));
    const auto& bands = has_weights_ ? kernels::cvvdp_bands_weighted
                        : draws_map_ ? kernels::cvvdp_bands_drawn
                                     : kernels::cvvdp_bands;
    const auto& finish = has_weights_ ? kernels::cvvdp_finish_weighted
                         : draws_map_ ? kernels::cvvdp_finish_drawn
                                      : kernels::cvvdp_finish;
    QC_RETURN_IF_ERROR(program.find(bands, &band_kernel_));
    QC_RETURN_IF_ERROR(program.find(finish, &finish_kernel_));
    if (has_weights_) QC_RETURN_IF_ERROR(program.find(kernels::cvvdp_weights, &weight_kernel_));
    if (draws_map_) {
        QC_RETURN_IF_ERROR(program.find(kernels::cvvdp_map_add, &add_kernel_));
        QC_RETURN_IF_ERROR(program.find(kernels::cvvdp_map_paint, &paint_kernel_));
    }
    const void* address = nullptr;
    QC_RETURN_IF_ERROR(program.upload(taps_.data(), taps_.size() * sizeof(Weights), &address));
    device_taps_ = static_cast<const Weights*>(address);
    QC_RETURN_IF_ERROR(program.upload(sensitivity_.data(), sensitivity_.size() * sizeof(SensitivityTable), &address));
    device_sensitivity_ = static_cast<const SensitivityTable*>(address);
    return {};
}

Status Launcher::enqueue_levels(const GroupArguments& group, const Space& space, DeviceQueue& queue) const {
    const FilterArguments filter{group.timeline, group.group, group.weights, space.planes, levels_, colour_};
    const Dim3 pixels{blocks_for(levels_.width[0], 2 * tuning::kFilterThreads),
                      static_cast<unsigned>(levels_.height[0]), 2};
    QC_RETURN_IF_ERROR(queue.launch(filter_kernel_, pixels, filter));

    for (int k = 0; k + 1 < levels_.bands; ++k) {
        const LastColumn border = last_columns_[static_cast<size_t>(k)];
        const int rows = tuning::kReduceRows[std::min<size_t>(k, std::size(tuning::kReduceRows) - 1)];
        const ReduceArguments reduce{group.group,         space.planes,         levels_, k, rows,
                                     single(border.last), single(border.before)};
        const Dim3 grid{blocks_for(levels_.width[k + 1], ReduceLevel::kWidth),
                        blocks_for(levels_.height[k + 1], ReduceLevel::height(rows)), kMembers * 2 * kChannels};
        QC_RETURN_IF_ERROR(queue.launch(reduce_kernel_, grid, reduce));
    }
    return {};
}

Status Launcher::enqueue_weights(const GroupArguments& group, const Space& space, DeviceQueue& queue) const {
    WeightArguments weights{group.pairs, group.group, space.place_weights, levels_, 0};
    for (; weights.level < levels_.bands; ++weights.level)
        QC_RETURN_IF_ERROR(queue.launch(weight_kernel_,
                                        Dim3{blocks_for(levels_.width[weights.level], tuning::kMapThreads),
                                             static_cast<unsigned>(levels_.height[weights.level]), kMembers},
                                        weights));
    return {};
}

Status Launcher::enqueue_bands(const GroupArguments& group, const Space& space, uint64_t* accumulators,
                               DeviceQueue& queue) const {
    BandArguments bands = bands_;
    bands.group = group.group;
    bands.planes = space.planes;
    bands.sensitivity = device_sensitivity_;
    bands.sums = space.sums;
    bands.join.map = space.map;
    bands.weights = space.place_weights;
    if (bands.tiles > 0)
        QC_RETURN_IF_ERROR(queue.launch(band_kernel_, Dim3{static_cast<unsigned>(bands.tiles), kMembers}, bands));

    FinishArguments finish{};
    finish.group = group.group;
    finish.planes = space.planes;
    finish.sensitivity = device_sensitivity_;
    finish.sums = space.sums;
    finish.accumulators = accumulators;
    finish.levels = levels_;
    std::copy(std::begin(bands_.first_tile), std::end(bands_.first_tile), std::begin(finish.first_tile));
    finish.tiles = bands_.tiles;
    finish.words = (has_weights_ ? kWeightedSums : kChannels) * levels_.bands * targets_.slots();
    finish.slot = group.slot;
    finish.luminance_scale = bands_.luminance_scale;
    finish.luminance_offset = bands_.luminance_offset;
    finish.join = bands.join;
    finish.weights = space.place_weights;
    return queue.launch(finish_kernel_, Dim3{static_cast<unsigned>(levels_.bands), kMembers}, finish);
}

/// From the level before the coarsest to the finest.
Status Launcher::enqueue_map(const GroupArguments& group, const Space& space, const DeviceMap& drawn,
                             DeviceQueue& queue) const {
    AddArguments add{};
    add.group = group.group;
    add.map = space.map;
    add.levels = levels_;
    add.drawn = drawn;
    add.factor = single(kJodFactor / 10.0);
    add.power = single(kJodPower);
    add.straight = single(kJodFactor / 10.0 * std::pow(kJodStraightUpTo, kJodPower - 1.0));
    const auto grid = [&](int level) {
        return Dim3{blocks_for(levels_.width[level], tuning::kMapThreads), static_cast<unsigned>(levels_.height[level]),
                    kMembers};
    };
    for (add.level = levels_.bands - 2; add.level > 0; --add.level)
        QC_RETURN_IF_ERROR(queue.launch(add_kernel_, grid(add.level), add));
    add.level = 0;
    return queue.launch(paint_kernel_, grid(0), add);
}

Status Launcher::enqueue_group(const GroupArguments& group, const DeviceBatch& batch, DeviceQueue& queue) const {
    const Space space = space_of(batch.scratch);
    QC_RETURN_IF_ERROR(queue.launch(group_kernel_, Dim3{}, group));
    QC_RETURN_IF_ERROR(enqueue_levels(group, space, queue));
    if (has_weights_) QC_RETURN_IF_ERROR(enqueue_weights(group, space, queue));
    QC_RETURN_IF_ERROR(enqueue_bands(group, space, batch.accumulators, queue));
    // Slot 0 is the frame that has just come.
    return draws_map_ && group.slot == 0 ? enqueue_map(group, space, batch.map, queue) : Status{};
}

Status Launcher::enqueue(const DeviceBatch& batch, const DeviceTimeline& timeline, DeviceQueue& queue) const {
    const Space space = space_of(batch.scratch);
    GroupArguments group{};
    group.pairs = batch.pairs;
    group.timeline = timeline;
    group.taps = device_taps_;
    group.group = space.group;
    group.weights = space.weights;
    group.pairs_in_batch = batch.count;
    group.tap_count = static_cast<int32_t>(taps_.size());
    group.past = targets_.past();
    group.symmetric = targets_.slots() > 1 ? 1 : 0;
    const int frames = std::min(batch.count, batch.groups > 0 ? batch.groups : batch.count);
    const auto chunks = static_cast<int>(blocks_for(frames, tuning::kGroup));
    for (group.slot = 0; group.slot < targets_.slots(); ++group.slot)
        for (group.rendition = 0; group.rendition < timeline.renditions; ++group.rendition)
            for (group.chunk = 0; group.chunk < chunks; ++group.chunk)
                QC_RETURN_IF_ERROR(enqueue_group(group, batch, queue));
    return {};
}

} // namespace qc::cvvdp
