// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/xpsnr/xpsnr.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "metrics/xpsnr/xpsnr_kernels.hpp"

namespace qc::xpsnr {
namespace {

constexpr int kPlanes = 3;

enum Option : size_t { kFps };

constexpr OptionSpec kOptions[] = {
    {"fps", "", OptionType::kDouble, 0.0, 0.0, 1000.0,
     "frames per second, instead of what the distorted input says; from 32 on, motion is measured over three frames"},
};

bool is_yuv(const OptionValues&, const FrameGeometry& geometry) {
    return !geometry.rgb;
}
bool has_chroma(const OptionValues&, const FrameGeometry& geometry) {
    return !geometry.rgb && geometry.plane_count() == kPlanes;
}
bool is_rgb(const OptionValues&, const FrameGeometry& geometry) {
    return geometry.rgb;
}

/// Plane p writes output p, of RGB output kPlanes + p.
constexpr OutputSpec kOutputs[] = {
    {"xpsnr_y", "xpsnr_y", is_yuv}, {"xpsnr_u", "xpsnr_u", has_chroma}, {"xpsnr_v", "xpsnr_v", has_chroma},
    {"xpsnr_g", "xpsnr_g", is_rgb}, {"xpsnr_b", "xpsnr_b", is_rgb},     {"xpsnr_r", "xpsnr_r", is_rgb},
};
constexpr std::string_view kAggregateNames[] = {"axpsnr_y", "axpsnr_u", "axpsnr_v", "axpsnr_g", "axpsnr_b", "axpsnr_r"};

/// From here on, differences in time are of second order.
constexpr double kFastRate = 32.0;

double frame_rate(const FrameGeometry& geometry, const OptionValues& options) {
    return options.number(kFps) > 0.0 ? options.number(kFps) : geometry.frame_rate;
}

// ---- from words to weighted errors ----------------------------------------------------------------------------------

/// A word as a double. All are less than 2^63, which makes it one instruction.
double number(uint64_t word) {
    return static_cast<double>(static_cast<int64_t>(word));
}

} // namespace

Weighting::Weighting(const BlockPlan& plan) : plan_(plan), weights_(static_cast<size_t>(plan.blocks())) {
    scale_ = std::sqrt(16.0 * std::ldexp(1.0, 2 * plan.depth - 9) / std::sqrt(std::max(0.00001, relative_size(plan))));
    floor_ = std::ldexp(1.0, plan.depth - 6);
    for (int k = 0; k < plan.blocks(); ++k) {
        const Rectangle block = plan.block(k, 0);
        const Range x = active_part(block.x, plan.width[0], plan.margin);
        const Range y = active_part(block.y, plan.height[0], plan.margin);
        if (is_active(plan, block)) {
            areas_.push_back(
                {static_cast<double>(x.size()) * y.size(), static_cast<double>(block.x.size()) * block.y.size()});
        } else {
            areas_.push_back({0.0, 0.0});
        }
    }
}

WeightedErrors Weighting::errors(std::span<const uint64_t> accumulators) {
    WeightedErrors errors{};
    if (!plan_.weighted && !plan_.has_weights) {
        std::copy_n(&accumulators[kSquaredError], plan_.planes, errors.begin());
        return errors;
    }
    const auto stride = static_cast<size_t>(plan_.words_per_block());
    for (size_t k = 0; k < weights_.size(); ++k) {
        const uint64_t* const words = &accumulators[k * stride];
        const Areas& areas = areas_[k];
        const double activity = number(words[kSpatial]) / areas.space + number(2 * words[kTemporal]) / areas.time;
        weights_[k] = areas.space > 0.0 ? 1.0 / std::max(activity, floor_) : 1.0;
    }
    if (plan_.smoothed) smooth();

    for (int p = 0; p < plan_.planes; ++p) {
        double sum = 0.0; // in raster order: the order is part of the definition
        const auto first = static_cast<size_t>(plan_.has_weights ? plan_.weighted_error_word(p) : kSquaredError + p);
        const double mean = mean_weight(accumulators, p);
        for (size_t k = 0; k < weights_.size(); ++k)
            sum += number(accumulators[k * stride + first]) / mean * weights_[k];
        errors[p] = static_cast<uint64_t>(std::floor(sum * (plan_.weighted ? scale_ : 1.0) + 0.5));
    }
    return errors;
}

double Weighting::mean_weight(std::span<const uint64_t> accumulators, int plane) const {
    if (!plan_.has_weights) return 1.0;
    uint64_t sum = 0;
    for (size_t k = 0; k < weights_.size(); ++k)
        sum += accumulators[k * static_cast<size_t>(plan_.words_per_block()) +
                            static_cast<size_t>(plan_.weight_word(plane))];
    return number(sum) / (static_cast<double>(plan_.width[plane]) * plan_.height[plane]);
}

bool Weighting::lacks_weight(std::span<const uint64_t> accumulators) const {
    for (int p = 0; p < plan_.planes; ++p)
        if (mean_weight(accumulators, p) == 0.0) return true;
    return false;
}

/// Takes down weights that are larger than those around them, in raster order: a block is compared when the next one is
/// reached, with its neighbours to the left, to the right and above, as far as those have been taken down themselves.
void Weighting::smooth() {
    const auto columns = static_cast<size_t>(plan_.columns);
    const auto lower_to = [](double& weight, double limit) { weight = std::min(weight, limit); };
    for (size_t k = 1; k < weights_.size(); ++k) {
        const size_t column = k % columns;
        double limit = weights_[k];
        if (column == 0)
            limit = k > 1 ? weights_[k - 2] : 0.0; // the block in question ends a row
        else if (column > 1)
            limit = std::max(weights_[k - 2], weights_[k]);
        if (k > columns) limit = std::max(limit, weights_[k - 1 - columns]);
        lower_to(weights_[k - 1], limit);
    }
    const size_t last = weights_.size() - 1;
    if (last > columns) lower_to(weights_[last], std::max(weights_[last - 1], weights_[last - columns]));
}

namespace {

class XpsnrScorer final : public Scorer {
public:
    XpsnrScorer(const FrameGeometry& geometry, const OptionValues& options)
        : sample_(geometry.sample), plan_(make_plan(geometry)), frame_rate_(frame_rate(geometry, options)) {}

    size_t accumulator_words() const override {
        return static_cast<size_t>(plan_.blocks()) * static_cast<size_t>(plan_.words_per_block());
    }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu(plan_, second_order(), sample_, pair, accumulators);
    }

    Status prepare(DeviceProgram& program) override {
        if (plan_.has_weights) {
            const bool bytes = sample_ == SampleType::kU8;
            QC_RETURN_IF_ERROR(
                program.find(bytes ? kernels::xpsnr_weighted_u8 : kernels::xpsnr_weighted_u16, &weighted_kernel_));
        }
        return program.find(kernel_for(plan_, second_order(), sample_), &kernel_);
    }

    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        const BlockArguments arguments{batch.pairs, batch.accumulators, plan_};
        Dim3 grid{static_cast<unsigned>(plan_.blocks()), 1, static_cast<unsigned>(batch.count)};
        QC_RETURN_IF_ERROR(queue.launch(kernel_, grid, arguments));
        grid.y = static_cast<unsigned>(plan_.planes);
        return plan_.has_weights ? queue.launch(weighted_kernel_, grid, arguments) : Status();
    }

    std::vector<Convention> conventions() const override {
        return {{"frame_rate", frame_rate_ > 0.0 ? format("%g", frame_rate_) : "unknown"},
                {"temporal_difference", second_order() ? "second order (32 frames per second and more)"
                                                       : "first order (less than 32 frames per second)"}};
    }

    std::vector<std::string> warnings() const override {
        if (frame_rate_ > 0.0) return {};
        return {"the frame rate is unknown, below 32 frames per second is assumed; the option fps says otherwise"};
    }

private:
    bool second_order() const { return frame_rate_ >= kFastRate; }

    const SampleType sample_;
    const BlockPlan plan_;
    const double frame_rate_;
    LoadedKernel<BlockArguments> kernel_, weighted_kernel_;
};

class XpsnrFinaliser final : public Finaliser {
public:
    XpsnrFinaliser(const FrameGeometry& geometry, const OptionValues&)
        : plan_(make_plan(geometry)), weighting_(plan_), first_output_(geometry.rgb ? kPlanes : 0) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        if (weighting_.lacks_weight(accumulators)) return sink.leave_out(frame);
        const WeightedErrors errors = weighting_.errors(accumulators);
        for (int p = 0; p < plan_.planes; ++p) {
            const double root = std::sqrt(static_cast<double>(errors[p]));
            const double score = root >= 1.0 ? decibels(p, root) : std::numeric_limits<double>::infinity();
            sink.put(frame, output(p), score);
            sum_of_roots_[p] += root;
            sum_of_scores_[p] += score;
        }
        ++frames_;
    }

    void aggregates(AggregateSink& sink) const override {
        if (frames_ == 0) return;
        double lowest = std::numeric_limits<double>::infinity();
        for (int p = 0; p < plan_.planes; ++p) {
            const double score = score_of_stream(p);
            sink.put(kAggregateNames[output(p)], score);
            lowest = std::min(lowest, score);
        }
        sink.put("axpsnr_min", lowest);
    }

private:
    int output(int plane) const { return first_output_ + plane; }

    /// Of a weighted error of root^2.
    double decibels(int plane, double root) const {
        const double peak = (1 << plan_.depth) - 1;
        const double samples = static_cast<double>(plan_.width[plane]) * plan_.height[plane];
        return 10.0 * std::log10(samples * peak * peak / (root * root));
    }

    /// By the mean of the frames' roots; of frames that are nearly all identical the mean of their scores.
    double score_of_stream(int plane) const {
        const auto frames = static_cast<double>(frames_);
        if (sum_of_roots_[plane] < frames) return sum_of_scores_[plane] / frames;
        return decibels(plane, sum_of_roots_[plane] / frames);
    }

    const BlockPlan plan_;
    Weighting weighting_;
    const int first_output_;

    // Of the stream so far.
    int64_t frames_ = 0;
    std::array<double, kPlanes> sum_of_roots_{}, sum_of_scores_{};
};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "xpsnr",
        .summary = "PSNR weighted by the reference's activity in space and time, as FFmpeg's filter xpsnr",
        .history = 2,
        .needs_chroma = true,
        .accepts_rgb = true,
        .accepts_weights = true,
        .options = kOptions,
        .outputs = kOutputs,
        .create_scorer = make_scorer<XpsnrScorer>,
        .create_finaliser = make_finaliser<XpsnrFinaliser>,
    };
    return kDescriptor;
}

} // namespace qc::xpsnr
