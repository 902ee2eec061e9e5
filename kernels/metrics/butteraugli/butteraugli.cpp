// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli: descriptor, and the way from accumulators to scores.
#include "metrics/butteraugli/butteraugli.hpp"

#include <bit>
#include <cmath>

#include "device/weights.hpp"
#include "families/linear_light/linear_notes.hpp"
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

Settings settings_of(const FrameGeometry& geometry, const OptionValues& options) {
    Settings settings;
    static_cast<void>(settle(geometry, options, &settings)); // succeeded before, in validate()
    return settings;
}

class ButteraugliScorer final : public Scorer {
public:
    ButteraugliScorer(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), settings_(settings_of(geometry, options)), plan_(make_plan(geometry, settings_)),
          launcher_(plan_, geometry.sample, geometry.has_weights) {}

    size_t accumulator_words() const override { return geometry_.has_weights ? kWeightedWords : kAccumulatorWords; }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu_rows(geometry_, plan_, pair, accumulators, workspaces_);
    }

    void draw(const HostPair& pair, HostPast /*past*/, Plane<float> values) const override {
        draw_cpu(geometry_, plan_, pair, values);
    }

    size_t scratch_bytes(int count) const override { return launcher_.scratch_bytes(count); }
    Status prepare(DeviceProgram& program) override {
        if (draws_maps()) launcher_.draw_map();
        return launcher_.prepare(program);
    }
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        return launcher_.enqueue(batch, queue);
    }

    std::vector<Convention> conventions() const override;
    std::vector<std::string> warnings() const override;

private:
    const FrameGeometry geometry_;
    const Settings settings_;
    const Plan plan_;
    mutable RowWorkspaces workspaces_;
    Launcher launcher_;
};

std::vector<Convention> ButteraugliScorer::conventions() const {
    std::vector<Convention> list{{"intensity_target", format("%g cd/m2", settings_.intensity_target)},
                                 {"hf_asymmetry", format("%g", settings_.asymmetry)},
                                 {"constants", std::string(kConstantsWords[settings_.constants])}};
    add_conventions(settings_, &list);
    if (is_halved_x(geometry_) || is_halved_y(geometry_))
        list.push_back({"chroma", std::string(kChromaWords[static_cast<size_t>(settings_.chroma) + 1])});
    list.push_back({"gamut", std::string(kGamutWords[static_cast<size_t>(settings_.gamut) + 1])});
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

MapShape map_shape(const FrameGeometry& geometry, const OptionValues& /*options*/) {
    return {geometry.width, geometry.height};
}

constexpr MapSpec kMap{.what = "butteraugli's distance", .white = 8.0, .shape = map_shape};

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    Settings settings;
    return settle(geometry, options, &settings);
}

} // namespace

Status plan_for(const FrameGeometry& geometry, const OptionValues& options, Plan* plan) {
    Settings settings;
    QC_RETURN_IF_ERROR(settle(geometry, options, &settings));
    *plan = make_plan(geometry, settings);
    return {};
}

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "butteraugli",
        .summary = "perceptual distance, lower is better (Butteraugli of libjxl)",
        .scope = Scope::kPair,
        .needs_chroma = true,
        .uses_colour = true,
        .accepts_rgb = true,
        .accepts_weights = true,
        .backend_bound = kBackendBound,
        .takes_long = true,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputSpecs,
        .smallest = {kMinimumSize, kMinimumSize},
        .validate = validate,
        .create_scorer = make_scorer<ButteraugliScorer>,
        .create_finaliser = make_finaliser<ButteraugliFinaliser>,
        .map = &kMap,
    };
    return kDescriptor;
}

} // namespace qc::butteraugli
