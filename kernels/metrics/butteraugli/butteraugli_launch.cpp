// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/butteraugli/butteraugli_launch.hpp"

#include <algorithm>
#include <cmath>

#include "families/linear_light/linear_launch.hpp"
#include "metrics/butteraugli/butteraugli_settings.hpp"

namespace qc::butteraugli {
namespace {

constexpr size_t kScratchAlignment = 256;
constexpr int kPitchMultiple = 64; ///< floats: 256 bytes; halves: 128

template <typename Integer>
Integer round_up(Integer value, Integer multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

PlaneShape shape_of(const ScaleSize& size) {
    return {size.width, size.height, round_up(size.width, kPitchMultiple)};
}

uint64_t floats_of(const PlaneShape& shape) {
    return static_cast<uint64_t>(shape.pitch) * static_cast<uint64_t>(shape.height);
}

/// Hands out places of planes, one behind the other.
class PlaneSpace {
public:
    explicit PlaneSpace(uint64_t first) : next_(first) {}
    uint64_t take(const PlaneShape& shape) {
        const uint64_t place = next_;
        next_ += floats_of(shape);
        return place;
    }
    uint64_t end() const { return next_; }

private:
    uint64_t next_;
};

void take_response(const PlaneShape& shape, PlaneSpace* space, ScalePlanes* planes) {
    planes->shape = shape;
    for (uint64_t& plane : planes->response) plane = space->take(shape);
}

/// What the differences write over is read only by the thread that writes there, and before.
void take_rest(PlaneSpace* space, ScalePlanes* planes) {
    for (uint64_t& plane : planes->without_low) plane = space->take(planes->shape);
    for (const Signal signal : {kDeltaX, kDeltaY, kDeltaBlue}) planes->above[signal] = space->take(planes->shape);
    planes->above[kX] = planes->response[kX];
    planes->above[kY] = planes->response[kY];
    planes->high = planes->response[kDeltaX];
    planes->low = planes->response[kDeltaY];
    planes->lines[kPairOfY] = planes->response[kDeltaBlue];
    planes->lines[kUltraPair] = planes->without_low[kY];
    planes->lines[kPairOfX] = planes->without_low[kDeltaBlue];
    planes->activity = planes->without_low[kX];
    planes->masking[0] = planes->without_low[kDeltaX];
    planes->masking[1] = planes->without_low[kDeltaY];
}

// ---- arguments ------------------------------------------------------------------------------------------------------

template <int kR>
Taps<kR> make_taps(const Gaussian<double>& blur) {
    Taps<kR> taps{};
    double beyond = 0.0;
    for (int i = kR; i >= 0; --i) {
        taps.tap[i] = static_cast<float>(blur.tap[i]);
        taps.beyond[i] = static_cast<float>(beyond);
        beyond += blur.tap[i];
    }
    return taps;
}

ResponseArguments make_response(const Plan& plan, const ScalePlanes& planes) {
    ResponseArguments response{};
    response.shape = planes.shape;
    std::copy_n(planes.response, kSignals, response.response);
    for (int i = 0; i <= kAdaptationRadius; ++i) response.tap[i] = static_cast<float>(plan.blur[kAdaptation].tap[i]);
    for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 3; ++c) response.mixing[k][c] = static_cast<float>(plan.intensity_target * kMixing[k][c]);
    const ColourConversion<double>& conversion = plan.reference;
    response.planes = conversion.planes;
    response.halved_x = conversion.axis_x.log2_factor;
    response.halved_y = conversion.axis_y.log2_factor;
    response.chroma_width = chroma_size(plan.scale[0].width, conversion.axis_x);
    response.chroma_height = chroma_size(plan.scale[0].height, conversion.axis_y);
    response.conversion[0] = make_device_conversion(plan.reference);
    response.conversion[1] = make_device_conversion(plan.distorted);
    return response;
}

bool needs_scaled_samples(const Plan& plan) {
    return plan.reference.gamut == Gamut::kExtend || plan.distorted.gamut == Gamut::kExtend;
}

/// Of 1 cd/m2: extended R'G'B' up to 2.2, to the power of 2.8, in other primaries, make at most 21; cones at their most
/// sensitive 14 of that; sums of cones, differences of pictures and of their blurs twice as much each. Halves have to
/// hold that times kTapScale.
float scale_of_samples(const Plan& plan) {
    if (!needs_scaled_samples(plan)) return 1.0f;
    const double largest = 21.0 * 14.0 * 8.0 * kTapScale * plan.intensity_target;
    return static_cast<float>(std::exp2(std::floor(std::log2(65504.0 / largest))));
}

template <int kR>
BlurArguments<kR> make_blur(const Plan& plan, GaussianIndex index, const PlaneShape& shape) {
    BlurArguments<kR> blur{};
    blur.shape = shape;
    blur.strips = static_cast<int32_t>(blocks_for(shape.width, kStripColumns));
    blur.sample_scale = scale_of_samples(plan);
    blur.taps = make_taps<kR>(plan.blur[index]);
    return blur;
}

int strip_rows_of(const PlaneShape& shape, unsigned pairs) {
    const int most = pairs <= static_cast<unsigned>(tuning::kFewPairs) ? tuning::kStripRowsOfFew : tuning::kStripRows;
    const auto down = static_cast<int>(blocks_for(shape.height, most));
    return round_up(static_cast<int>(blocks_for(shape.height, down)), kBlurRows);
}

template <int kR>
Dim3 grid_of(const BlurArguments<kR>& blur, unsigned planes, unsigned pairs) {
    return {static_cast<unsigned>(blur.strips) * blocks_for(blur.shape.height, blur.strip_rows), planes, pairs};
}

static_assert(kLineSpecs[kHighX].norm < kFarNorm && kLineSpecs[kHighY].norm > kFarNorm &&
              kLineSpecs[kMiddleX].norm > kFarNorm && kLineSpecs[kMiddleY].norm > kFarNorm);

DifferenceArguments make_differences(const Plan& plan, const ScalePlanes& planes) {
    DifferenceArguments differences{};
    differences.planes = planes;
    differences.taps = make_taps<kHighRadius>(plan.blur[kHighest]);
    for (int band = 0; band < kLineBands; ++band) {
        LineWeights<double> lines = plan.lines[band];
        if (lines.norm > kFarNorm) {
            lines.plain /= lines.norm;
            lines.asymmetric /= lines.norm;
        }
        differences.lines[band] = {static_cast<float>(lines.plain), static_cast<float>(lines.asymmetric),
                                   static_cast<float>(lines.norm)};
    }
    const Constants<double>& constants = plan.constants;
    differences.constants = {static_cast<float>(constants.compression), static_cast<float>(constants.low_x),
                             static_cast<float>(constants.low_y), static_cast<float>(constants.low_blue),
                             static_cast<float>(constants.masking_gain)};
    const double weight[2] = {kHighWeightX, kHighWeightY};
    for (int c = 0; c < 2; ++c) {
        differences.high_weight[c] = static_cast<float>(kHighShare * weight[c] * plan.asymmetry);
        differences.lost_weight[c] = static_cast<float>(kHighShare * weight[c] / plan.asymmetry);
    }
    return differences;
}

ScaleWork make_work(const Plan& plan, const ScalePlanes& planes) {
    ScaleWork work{};
    work.response = make_response(plan, planes);
    work.without_low = make_blur<16>(plan, kLowest, planes.shape);
    std::copy_n(planes.response, kSignals, work.without_low.from);
    std::copy_n(planes.without_low, kSignals, work.without_low.to);
    work.above = make_blur<7>(plan, kMiddle, planes.shape);
    std::copy_n(planes.without_low, kSignals, work.above.from);
    std::copy_n(planes.above, kSignals, work.above.to);
    work.differences = make_differences(plan, planes);
    work.lines.shape = planes.shape;
    std::copy_n(planes.lines, kLinePairs, work.lines.lines);
    work.lines.high = planes.high;
    work.masking = make_blur<6>(plan, kMasking, planes.shape);
    work.masking.from[0] = planes.activity;
    std::copy_n(planes.masking, 2, work.masking.to);
    work.map.shape = planes.shape;
    std::copy_n(planes.masking, 2, work.map.masking);
    work.map.high = planes.high;
    work.map.low = planes.low;
    work.map.masking_gain = static_cast<float>(plan.constants.masking_gain);
    work.map.blocks =
        static_cast<int32_t>(blocks_for(planes.shape.width, kMapColumns) * blocks_for(planes.shape.height, kMapRows));
    return work;
}

/// [sample type][general]
constexpr KernelIdentifier<ResponseArguments> kResponseKernels[2][2] = {
    {kernels::butteraugli_response_u8, kernels::butteraugli_response_u8_general},
    {kernels::butteraugli_response_u16, kernels::butteraugli_response_u16_general}};

} // namespace

Launcher::Launcher(const Plan& plan, SampleType sample, bool has_weights)
    : scales_(plan.scales), has_weights_(has_weights), scales_samples_(needs_scaled_samples(plan)) {
    const bool usual = is_usual(plan.reference) && plan.reference == plan.distorted;
    response_identifier_ = kResponseKernels[sample == SampleType::kU8 ? 0 : 1][usual ? 0 : 1];

    ScalePlanes full{}, half{};
    PlaneSpace space(kPlaneMargin);
    take_response(shape_of(plan.scale[0]), &space, &full);
    PlaneSpace half_space = space; // in the place of what the first scale needs later
    take_rest(&space, &full);
    work_[0] = make_work(plan, full);
    if (scales_ > 1) {
        const PlaneShape shape = shape_of(plan.scale[1]);
        uint64_t light[2][3];
        for (auto& input : light)
            for (uint64_t& plane : input) plane = half_space.take(shape);
        take_response(shape, &half_space, &half);
        take_rest(&half_space, &half);
        work_[1] = make_work(plan, half);
        space = PlaneSpace(std::max(space.end(), half_space.end()));
        for (ScaleWork& work : work_) {
            for (int input = 0; input < 2; ++input) std::copy_n(light[input], 3, work.response.half_light[input]);
            work.map.half_map = space.end();
        }
        work_[0].response.half = work_[0].map.half = shape;
        static_cast<void>(space.take(shape));
    }
    pair_floats_ = space.end() + kPlaneMargin;
}

size_t Launcher::plane_bytes(int count) const {
    return round_up(static_cast<size_t>(count) * pair_floats_ * sizeof(float), kScratchAlignment);
}

size_t Launcher::scratch_bytes(int count) const {
    const auto blocks = static_cast<size_t>(work_[0].map.blocks);
    return plane_bytes(count) + static_cast<size_t>(count) * blocks * kAccumulatorWords * sizeof(double);
}

Status Launcher::prepare(DeviceProgram& program) {
    QC_RETURN_IF_ERROR(program.find(response_identifier_, &response_));
    QC_RETURN_IF_ERROR(program.find(
        scales_samples_ ? kernels::butteraugli_without_low_scaled : kernels::butteraugli_without_low, &without_low_));
    QC_RETURN_IF_ERROR(
        program.find(scales_samples_ ? kernels::butteraugli_above_scaled : kernels::butteraugli_above, &above_));
    QC_RETURN_IF_ERROR(program.find(kernels::butteraugli_differences, &differences_));
    QC_RETURN_IF_ERROR(program.find(kernels::butteraugli_lines, &lines_));
    QC_RETURN_IF_ERROR(program.find(kernels::butteraugli_masking, &masking_));
    QC_RETURN_IF_ERROR(program.find(has_weights_ ? kernels::butteraugli_map_weighted
                                    : draws_map_ ? kernels::butteraugli_map_drawn
                                                 : kernels::butteraugli_map,
                                    &map_));
    QC_RETURN_IF_ERROR(
        program.find(has_weights_ ? kernels::butteraugli_finish_weighted : kernels::butteraugli_finish, &finish_));
    if (scales_ == 1) return {};
    QC_RETURN_IF_ERROR(program.find(kernels::butteraugli_response_half, &half_response_));
    return program.find(kernels::butteraugli_half_map, &half_map_);
}

// ---- launches -------------------------------------------------------------------------------------------------------

namespace {

/// Into how many parts a batch is divided.
int parts_of(const DeviceBatch& batch, const DeviceQueue& queue) {
    return std::min(queue.worthwhile_pieces(tuning::kParts), batch.count);
}

} // namespace

Launcher::Part Launcher::part_of(const DeviceBatch& batch, int part, int parts) const {
    const int first = batch.count * part / parts, end = batch.count * (part + 1) / parts;
    auto* const sums = reinterpret_cast<double*>(static_cast<char*>(batch.scratch) + plane_bytes(batch.count));
    return {batch.pairs + first, static_cast<unsigned>(end - first),
            static_cast<float*>(batch.scratch) + static_cast<uint64_t>(first) * pair_floats_,
            sums + static_cast<int64_t>(first) * work_[0].map.blocks * kAccumulatorWords};
}

Status Launcher::enqueue_response(const ScaleWork& work, const LoadedKernel<ResponseArguments>& kernel,
                                  const Part& part, DeviceQueue& queue) const {
    ResponseArguments response = work.response;
    response.pairs = part.pairs;
    response.scratch = part.scratch;
    response.pair_floats = pair_floats_;
    return queue.launch(kernel,
                        {blocks_for(response.shape.width, kResponseColumns),
                         blocks_for(response.shape.height, tuning::kResponseRows), part.count},
                        response);
}

Status Launcher::enqueue_rest(const ScaleWork& work, const LoadedKernel<MapArguments>& map, const Part& part,
                              const DeviceBatch& batch, DeviceQueue& queue) const {
    const auto with_scratch = [&](auto arguments) {
        arguments.scratch = part.scratch;
        arguments.pair_floats = pair_floats_;
        return arguments;
    };
    const auto blur = [&](const auto& kernel, const auto& of, unsigned planes) {
        auto arguments = with_scratch(of);
        arguments.strip_rows = strip_rows_of(of.shape, part.count);
        return queue.launch(kernel, grid_of(arguments, planes, part.count), arguments);
    };
    const PlaneShape& shape = work.map.shape;
    QC_RETURN_IF_ERROR(blur(without_low_, work.without_low, kSignals));
    QC_RETURN_IF_ERROR(blur(above_, work.above, kSignals));
    QC_RETURN_IF_ERROR(queue.launch(
        differences_, {blocks_for(shape.width, kPatchColumns), blocks_for(shape.height, kPatchRows), part.count},
        with_scratch(work.differences)));
    QC_RETURN_IF_ERROR(queue.launch(
        lines_, {blocks_for(shape.width, kLineTileColumns), blocks_for(shape.height, kLineTileRows), part.count},
        with_scratch(work.lines)));
    QC_RETURN_IF_ERROR(blur(masking_, work.masking, 1));
    MapArguments arguments = with_scratch(work.map);
    arguments.sums = part.sums;
    arguments.pairs = part.pairs;
    arguments.drawn = batch.map;
    arguments.accumulators = batch.accumulators;
    return queue.launch(map, {blocks_for(shape.width, kMapColumns), blocks_for(shape.height, kMapRows), part.count},
                        arguments);
}

Status Launcher::enqueue_part(const Part& part, const DeviceBatch& batch, DeviceQueue& queue) const {
    QC_RETURN_IF_ERROR(enqueue_response(work_[0], response_, part, queue));
    if (scales_ > 1) {
        QC_RETURN_IF_ERROR(enqueue_response(work_[1], half_response_, part, queue));
        QC_RETURN_IF_ERROR(enqueue_rest(work_[1], half_map_, part, batch, queue));
    }
    QC_RETURN_IF_ERROR(enqueue_rest(work_[0], map_, part, batch, queue));
    FinishArguments finish{};
    finish.pairs = part.pairs;
    finish.sums = part.sums;
    finish.accumulators = batch.accumulators;
    finish.blocks = work_[0].map.blocks;
    return queue.launch(finish_, {1, 1, part.count}, finish);
}

Status Launcher::enqueue(const DeviceBatch& batch, DeviceQueue& queue) const {
    const int parts = parts_of(batch, queue);
    return queue.side_by_side(
        parts, [&](int part, DeviceQueue& own) { return enqueue_part(part_of(batch, part, parts), batch, own); });
}

} // namespace qc::butteraugli
