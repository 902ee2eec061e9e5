// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli: descriptor, and the way from accumulators to scores.
#include "metrics/butteraugli/butteraugli.hpp"

#include <bit>
#include <cmath>

#include "device/weights.hpp"
#include "families/linear_light/linear_notes.hpp"
#include "families/linear_light/linear_scorer.hpp"
#include "metrics/butteraugli/butteraugli_launch.hpp"
#include "metrics/butteraugli/butteraugli_settings.hpp"

namespace qc::butteraugli {
namespace {

enum OutputIndex { kScore, kMixedNorm, kFirstNorm, kOutputs = kFirstNorm + kPowers };

bool writes_norms(const OptionValues& options, const FrameGeometry&) {
    return options.integer(kOptionSubscores) != 0;
}

constexpr OutputSpec kOutputSpecs[kOutputs] = {
    {"butteraugli", "butteraugli"},
    {"butteraugli_3norm", "butteraugli_3norm"},
    {"butteraugli_norm2", "butteraugli_norm2", writes_norms},
    {"butteraugli_norm3", "butteraugli_norm3", writes_norms},
    {"butteraugli_norm6", "butteraugli_norm6", writes_norms},
    {"butteraugli_norm12", "butteraugli_norm12", writes_norms},
};

class ButteraugliScorer final : public linear_light::PlannedScorer<Settings, Plan, RowWorkspaces, Launcher> {
public:
    using PlannedScorer::PlannedScorer;

    size_t accumulator_words() const override { return geometry_.has_weights ? kWeightedWords : kAccumulatorWords; }

    void draw(const HostPair& pair, HostPast /*past*/, Plane<float> values) const override {
        draw_cpu(geometry_, plan_, pair, values);
    }

    Status prepare(DeviceProgram& program) override {
        if (draws_maps()) launcher_.draw_map();
        return PlannedScorer::prepare(program);
    }

    std::vector<Convention> conventions() const override;
    std::vector<std::string> warnings() const override;
};

std::vector<Convention> ButteraugliScorer::conventions() const {
    std::vector<Convention> list{{"intensity_target", format("%g cd/m2", settings_.intensity_target)},
                                 {"hf_asymmetry", format("%g", settings_.asymmetry)},
                                 {"constants", std::string(kConstantsWords[settings_.constants])}};
    add_conventions(settings_, geometry_, &list);
    return list;
}

std::vector<std::string> ButteraugliScorer::warnings() const {
    std::vector<std::string> list = colour_warnings(settings_);
    if (is_hdr(settings_.colours))
        list.push_back(format("PQ or HLG: light is absolute, whatever intensity_target=%g says; the metric was tuned "
                              "on SDR, so take these scores as uncalibrated",
                              settings_.intensity_target));
    add_idle_options(settings_, geometry_, &list);
    return list;
}

/// Powers of the map to norms: frames are independent of each other.
class ButteraugliFinaliser final : public Finaliser {
public:
    ButteraugliFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : has_weights_(geometry.has_weights), pixels_(static_cast<double>(geometry.width) * geometry.height),
          norms_(options.integer(kOptionSubscores) != 0) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        const double pixels = has_weights_ ? static_cast<double>(accumulators[kSumOfWeights]) / kFullWeight : pixels_;
        if (pixels == 0.0) return sink.leave_out(frame);
        double norm[kPowers];
        for (int p = 0; p < kPowers; ++p) {
            const double mean = std::bit_cast<double>(accumulators[static_cast<size_t>(p)]) / pixels;
            norm[p] = std::pow(mean, 1.0 / kPower[p]);
            if (norms_) sink.put(frame, kFirstNorm + p, norm[p]);
        }
        sink.put(frame, kScore, std::bit_cast<double>(accumulators[kLargest]));
        sink.put(frame, kMixedNorm, (norm[1] + norm[2] + norm[3]) / 3.0);
    }

private:
    const bool has_weights_;
    const double pixels_;
    const bool norms_;
};

constexpr MapSpec kMap{.what = "butteraugli's distance", .white = 8.0};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor = linear_light::in_linear_light({
        .name = "butteraugli",
        .summary = "perceptual distance, lower is better (Butteraugli of libjxl)",
        .backend_bound = kBackendBound,
        .takes_long = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputSpecs,
        .smallest = {kMinimumSize, kMinimumSize},
        .validate = validate_settings<Settings>,
        .create_scorer = make_scorer<ButteraugliScorer>,
        .create_finaliser = make_finaliser<ButteraugliFinaliser>,
        .map = &kMap,
    });
    return kDescriptor;
}

} // namespace qc::butteraugli
