// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp.hpp"

#include <vector>

#include "families/linear_light/linear_scorer.hpp"
#include "metrics/cvvdp/cvvdp_cpu.hpp"
#include "metrics/cvvdp/cvvdp_cpu_rows.hpp"
#include "metrics/cvvdp/cvvdp_launch.hpp"
#include "metrics/cvvdp/cvvdp_pooling.hpp"

namespace qc::cvvdp {
namespace {

enum OutputIndex { kFrame };

constexpr OutputSpec kOutputs[] = {{"cvvdp_frame", "cvvdp_frame"}};

constexpr StreamScoreSpec kStreamScores[] = {
    {.name = "cvvdp", .title = "CVVDP", .output = kFrame, .term = clip_term, .total = clip_jod}};

const char* eotf_name(Eotf eotf) {
    switch (eotf) {
    case Eotf::kSrgb:
        return "srgb";
    case Eotf::kPq:
        return "pq";
    case Eotf::kHlg:
        return "hlg";
    case Eotf::kPower:
        return "power";
    case Eotf::kLinear:
        break;
    }
    return "linear";
}

TargetList targets_of(const Settings& settings) {
    return {tap_count(settings.frame_rate), settings.symmetric};
}

class CvvdpScorer final : public Scorer {
public:
    CvvdpScorer(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), settings_(settled<Settings>(geometry, options)), plan_(make_plan(geometry, settings_)),
          reference_(geometry, settings_), rows_(geometry, settings_),
          by_rows_(geometry.width * geometry.height >= kSmallestForRows && !geometry.has_weights),
          launcher_(geometry, settings_, plan_) {}

    size_t accumulator_words() const override {
        return static_cast<size_t>(plan_.words()) * static_cast<size_t>(targets_of(settings_).slots());
    }

    void score(const HostPair& pair, HostPast past, std::span<uint64_t> accumulators) const override {
        by_rows_ ? rows_.score(pair, past, accumulators) : reference_.score(pair, past, accumulators);
    }

    void draw(const HostPair& pair, HostPast past, Plane<float> values) const override {
        reference_.draw(pair, past, values);
    }

    size_t scratch_bytes(int count) const override { return launcher_.scratch_bytes(count); }
    Status prepare(DeviceProgram& program) override {
        if (draws_maps()) launcher_.draw_map();
        return launcher_.prepare(program);
    }
    Status enqueue(const DeviceBatch& batch, const DeviceTimeline& timeline, DeviceQueue& queue) const override {
        return launcher_.enqueue(batch, timeline, queue);
    }

    std::vector<Convention> conventions() const override;
    std::vector<std::string> warnings() const override;

private:
    const FrameGeometry geometry_;
    const Settings settings_;
    const Plan plan_;
    const CpuReference reference_; ///< draws, and scores small pictures and those with weights
    const CpuRows rows_;           ///< scores the others
    const bool by_rows_;           ///< single precision's errors average out, and no weights are given
    Launcher launcher_;
};

std::vector<Convention> CvvdpScorer::conventions() const {
    const auto matrix = [&](size_t input) { return settings_.matrix[input] == Matrix::kBt709 ? "bt709" : "bt2020"; };
    constexpr const char* kPrimaries[] = {"bt709", "bt2020", "p3"};
    std::vector<Convention> list{
        {"version", "0.5.6"},
        {"display", settings_.display},
        {"pixels_per_degree", format("%.6g", settings_.pixels_per_degree)},
        {"peak", format("%g cd/m2", settings_.peak)},
        {"black", format("%g cd/m2", settings_.black)},
        {"reflection", format("%.6g cd/m2", settings_.reflection)},
        {"eotf", eotf_name(settings_.eotf)},
        {"primaries", kPrimaries[static_cast<size_t>(settings_.primaries)]},
    };
    if (settings_.exposure != 1.0) list.push_back({"exposure", format("%g", settings_.exposure)});
    if (!geometry_.rgb) {
        const bool same = settings_.matrix[0] == settings_.matrix[1];
        list.push_back(
            {"matrix", same ? std::string(matrix(0)) : format("reference %s, distorted %s", matrix(0), matrix(1))});
        list.push_back({"range", "limited, whatever the tags"});
    }
    list.push_back({"frame_rate", format(settings_.rate_is_known ? "%g" : "%g (assumed)", settings_.frame_rate)});
    list.push_back({"padding", settings_.symmetric ? "symmetric" : "replicate"});
    list.push_back({"border", settings_.fixed_border ? "fixed" : "reference"});
    return list;
}

std::vector<std::string> CvvdpScorer::warnings() const {
    constexpr int kPq = 16, kHlg = 18, kFullRange = 2;
    std::vector<std::string> list;
    if (!settings_.rate_is_known)
        list.push_back(format("the frame rate is unknown, %g frames per second are assumed; the option fps says "
                              "otherwise",
                              settings_.frame_rate));
    const ColourTags* const tags[] = {&geometry_.reference_colour, &geometry_.distorted_colour};
    for (int input = 0; input < 2; ++input) {
        const char* const name = input == 0 ? "the reference" : "the distorted input";
        const int transfer = tags[input]->transfer;
        const char* const tagged = transfer == kPq ? "PQ" : transfer == kHlg ? "HLG" : "";
        const bool fits = transfer == kPq    ? settings_.eotf == Eotf::kPq
                          : transfer == kHlg ? settings_.eotf == Eotf::kHlg
                                             : true;
        if (!fits)
            list.push_back(format("%s is tagged %s, but the display's curve is %s: the option display chooses another",
                                  name, tagged, eotf_name(settings_.eotf)));
        if (!geometry_.rgb && tags[input]->range == kFullRange)
            list.push_back(format("%s is tagged as full range, but limited range is what the metric reads", name));
    }
    return list;
}

/// Values of frames as they come; with padding=symmetric some wait, each for one that is known by its number.
class CvvdpFinaliser final : public Finaliser {
public:
    CvvdpFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : plan_(make_plan(geometry, settled<Settings>(geometry, options))),
          targets_(targets_of(settled<Settings>(geometry, options))) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        if (frame != next_) begin(frame, sink);
        next_ = frame + 1;
        // Every sample lies under a place of every level, so no level is without weight if the first one has some.
        if (sum_of_weights(plan_, accumulators, 0) == 0.0) return sink.leave_out(frame);
        const auto i = static_cast<int>(std::min<int64_t>(frame - first_, targets_.past()));
        const auto value = [&](int slot) {
            const auto words = static_cast<size_t>(plan_.words());
            return frame_value(plan_, accumulators.subspan(static_cast<size_t>(slot) * words, words));
        };
        if (targets_.awaited(i) >= 0) sink.put(first_ + targets_.awaited(i), kFrame, value(1));
        if (targets_.is_ready(i)) sink.put(frame, kFrame, value(0));
        waiting_.clear();
        for (int t = 0; t < targets_.waiting(i); ++t) waiting_.push_back(value(2 + t));
    }

    void flush(int64_t, ScoreSink& sink) override { begin(next_, sink); }

private:
    /// Ends a clip and begins the next one: the distorted picture was absent in between.
    void begin(int64_t frame, ScoreSink& sink) {
        for (size_t t = 0; t < waiting_.size(); ++t) sink.put(first_ + static_cast<int64_t>(t), kFrame, waiting_[t]);
        waiting_.clear();
        first_ = next_ = frame;
    }

    const Plan plan_;
    const TargetList targets_;
    int64_t first_ = 0, next_ = 0; ///< of the clip, and behind its last frame
    std::vector<double> waiting_;  ///< of its first frames, if it ended here
};

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    Settings settings;
    QC_RETURN_IF_ERROR(settle(geometry, options, &settings));
    if (geometry.has_weights && settings.symmetric)
        return unsupported("cvvdp: padding=symmetric has no score under a mask, for frames that wait for later ones "
                           "have masks of their own");
    return {};
}

int earlier_pairs(const FrameGeometry& geometry, const OptionValues& options) {
    return targets_of(settled<Settings>(geometry, options)).past();
}

constexpr MapSpec kMap{.what = "1 - JOD / 10", .white = 0.5};

bool is_symmetric(const OptionValues& options) {
    return options.integer(kOptionPadding) == 1;
}

} // namespace

const MetricDescriptor& descriptor() {
    static const MetricDescriptor kDescriptor = linear_light::in_linear_light({
        .name = "cvvdp",
        .summary = "visible difference on a display, in colour and time (ColorVideoVDP 0.5.6), in JOD for the clip",
        .earlier_pairs = earlier_pairs,
        .every_frame_with = is_symmetric,
        .backend_bound = kBackendBound,
        .takes_long = true,
        .options = option_specs(),
        .outputs = kOutputs,
        .stream_scores = kStreamScores,
        .smallest = {kSmallestSide, kSmallestSide},
        .validate = validate,
        .create_scorer = make_scorer<CvvdpScorer>,
        .create_finaliser = make_finaliser<CvvdpFinaliser>,
        .map = &kMap,
    });
    return kDescriptor;
}

} // namespace qc::cvvdp
