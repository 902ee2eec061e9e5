// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2: descriptor, what is told about colours, and the way from accumulators to scores.
#include "metrics/ssimulacra2/ssimulacra2.hpp"

#include <bit>
#include <cmath>

#include "families/linear_light/linear_notes.hpp"
#include "families/linear_light/linear_scorer.hpp"
#include "metrics/ssimulacra2/ssimulacra2_launch.hpp"
#include "metrics/ssimulacra2/ssimulacra2_settings.hpp"

namespace qc::ssimulacra2 {

namespace {

// ---- outputs --------------------------------------------------------------------------------------------------------

enum OutputIndex { kScore, kLevelParts, kFirstNorm = kLevelParts + kMaxLevels, kOutputs = kFirstNorm + kNorms };

constexpr int first_norm_output(int channel, int level) {
    return kFirstNorm + norm_index(kMaxLevels, channel, level, 0);
}

int levels_of(const FrameGeometry& geometry, const OptionValues& options) {
    Plan plan{};
    set_levels(geometry, kPresetSpecs[options.integer(kOptionPreset)].levels, &plan);
    return plan.levels;
}

template <int kLevel, int kSubscores>
bool is_written(const OptionValues& options, const FrameGeometry& geometry) {
    return options.integer(kOptionSubscores) == kSubscores && kLevel < levels_of(geometry, options);
}

using IsWritten = bool (*)(const OptionValues&, const FrameGeometry&);

template <int kSubscores>
constexpr IsWritten kIsWritten[kMaxLevels] = {is_written<0, kSubscores>, is_written<1, kSubscores>,
                                              is_written<2, kSubscores>, is_written<3, kSubscores>,
                                              is_written<4, kSubscores>, is_written<5, kSubscores>};

/// "ssimulacra2" and what follows, put together by the compiler.
class OutputName {
public:
    constexpr OutputName& add(std::string_view text) {
        for (const char letter : text) text_[size_++] = letter;
        return *this;
    }
    constexpr OutputName& add(int digit) {
        text_[size_++] = static_cast<char>('0' + digit);
        return *this;
    }
    constexpr std::string_view view() const { return {text_, size_}; }

private:
    char text_[40]{};
    size_t size_ = 0;
};

constexpr auto kOutputNames = [] {
    constexpr std::string_view kChannelNames[] = {"x", "y", "b"}, kPowerNames[] = {"_l1_", "_l4_"},
                               kFieldNames[] = {"ssim", "artifact", "detail"};
    std::array<OutputName, kOutputs> names;
    for (OutputName& name : names) name.add("ssimulacra2");
    for (int level = 0; level < kMaxLevels; ++level) {
        names[static_cast<size_t>(kLevelParts + level)].add("_level").add(level);
        for (int c = 0; c < kChannels; ++c)
            for (int term = 0; term < kTerms; ++term)
                names[static_cast<size_t>(first_norm_output(c, level) + term)]
                    .add("_norm_")
                    .add(kChannelNames[c])
                    .add(level)
                    .add(kPowerNames[term / kFields])
                    .add(kFieldNames[term % kFields]);
    }
    return names;
}();

constexpr auto kOutputSpecs = [] {
    std::array<OutputSpec, kOutputs> specs;
    for (size_t i = 0; i < specs.size(); ++i) specs[i] = {kOutputNames[i].view(), kOutputNames[i].view()};
    for (int level = 0; level < kMaxLevels; ++level) {
        specs[static_cast<size_t>(kLevelParts + level)].enabled = kIsWritten<kLevelSubscores>[level];
        for (int c = 0; c < kChannels; ++c)
            for (int term = 0; term < kTerms; ++term)
                specs[static_cast<size_t>(first_norm_output(c, level) + term)].enabled =
                    kIsWritten<kNormSubscores>[level];
    }
    return specs;
}();

// ---- scores ---------------------------------------------------------------------------------------------------------

/// From the weighted sum of all norms to the score.
double score_of(double weighted) {
    const double error = 2.326765642916932 * weighted - 0.020884521182843837 * weighted * weighted +
                         6.248496625763138e-05 * weighted * weighted * weighted;
    return error > 0.0 ? 100.0 - 10.0 * std::pow(error, 0.6276336467831387) : 100.0;
}

constexpr double kWeightScale = 0.9562382616834844;

std::string preset_name(const Settings& settings) {
    return std::string(kPresetWords[settings.preset]);
}

/// Both norms of a field that is the same everywhere are its value: so this is the score's weighted sum, if the picture
/// were everywhere as it is in one place.
void set_field_weights(const Settings& settings, int levels, FieldWeights& weights) {
    for (int level = 0; level < levels; ++level)
        for (int c = 0; c < kChannels; ++c)
            for (int m = 0; m < kFields; ++m)
                weights[level][c][m] = kWeightScale * (weight_of(settings, levels, c, level, term_index(kFirst, m)) +
                                                       weight_of(settings, levels, c, level, term_index(kFourth, m)));
}

class Ssimulacra2Scorer final : public linear_light::PlannedScorer<Settings, Plan, RowWorkspaces, Launcher> {
public:
    Ssimulacra2Scorer(const FrameGeometry& geometry, const OptionValues& options) : PlannedScorer(geometry, options) {
        set_field_weights(settings_, plan_.levels, field_weights_);
    }

    size_t accumulator_words() const override { return geometry_.has_weights ? kWeightedWords : kAccumulatorWords; }

    void draw(const HostPair& pair, HostPast /*past*/, Plane<float> values) const override {
        draw_cpu(geometry_, plan_, field_weights_, pair, values);
    }

    Status prepare(DeviceProgram& program) override {
        if (draws_maps()) launcher_.draw_map(field_weights_);
        return PlannedScorer::prepare(program);
    }

    std::vector<Convention> conventions() const override;
    std::vector<std::string> warnings() const override;

private:
    FieldWeights field_weights_{};
};

class Ssimulacra2Finaliser final : public Finaliser {
public:
    Ssimulacra2Finaliser(const FrameGeometry& geometry, const OptionValues& options)
        : has_weights_(geometry.has_weights), settings_(settled<Settings>(geometry, options)),
          plan_(make_plan(geometry, settings_)) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override;

private:
    /// Of all places, by weights or of one each.
    double weight_of_level(std::span<const uint64_t> accumulators, int level) const {
        if (has_weights_) return static_cast<double>(accumulators[static_cast<size_t>(kFirstSumOfWeights + level)]);
        const LevelSize size = plan_.level[level];
        return static_cast<double>(size.width) * size.height;
    }
    double norm(std::span<const uint64_t> accumulators, int channel, int level, int term) const {
        const double sum = std::bit_cast<double>(accumulators[norm_index(plan_.levels, channel, level, term)]);
        const double mean = sum / weight_of_level(accumulators, level);
        return term < kFields ? mean : std::sqrt(std::sqrt(mean));
    }

    const bool has_weights_;
    const Settings settings_;
    const Plan plan_;
};

void Ssimulacra2Finaliser::finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) {
    // Every sample lies under a place of every level, so no level is without weight if the first one has some.
    if (weight_of_level(accumulators, 0) == 0.0) return sink.leave_out(frame);
    double weighted = 0.0, part[kMaxLevels] = {};
    for (int c = 0; c < kChannels; ++c)
        for (int level = 0; level < plan_.levels; ++level)
            for (int term = 0; term < kTerms; ++term) {
                const double value = norm(accumulators, c, level, term);
                const double weight = weight_of(settings_, plan_.levels, c, level, term);
                weighted += weight * value;
                part[level] += weight * value;
                if (settings_.subscores == kNormSubscores) sink.put(frame, first_norm_output(c, level) + term, value);
            }
    sink.put(frame, kScore, score_of(kWeightScale * weighted));
    if (settings_.subscores != kLevelSubscores) return;
    for (int level = 0; level < plan_.levels; ++level) sink.put(frame, kLevelParts + level, kWeightScale * part[level]);
}

std::vector<Convention> Ssimulacra2Scorer::conventions() const {
    std::vector<Convention> list{{"preset", preset_name(settings_)}};
    add_conventions(settings_, geometry_, &list);
    const auto add = [&](const char* key, std::span<const std::string_view> words, int index) {
        list.push_back({key, std::string(words[static_cast<size_t>(index) + 1])});
    };
    add("kernel", kKernelWords, settings_.gaussian ? 1 : 0);
    add("border", kBorderWords, settings_.renormalise ? 1 : 0);
    add("prune", kPruneWords, settings_.prune ? 1 : 0);
    list.push_back({"levels", std::to_string(plan_.levels)});
    if (is_hdr(settings_.colours)) list.push_back({"ref_white", format("%g cd/m2, uncalibrated", settings_.ref_white)});
    return list;
}

std::vector<std::string> Ssimulacra2Scorer::warnings() const {
    std::vector<std::string> list = colour_warnings(settings_);
    if (is_hdr(settings_.colours))
        list.push_back(format("PQ or HLG: light is scored relative to ref_white=%g cd/m2; the metric was made for "
                              "SDR, so take these scores as uncalibrated",
                              settings_.ref_white));
    add_idle_options(settings_, geometry_, &list);
    return list;
}

constexpr MapSpec kMap{.what = "weighted error, before it becomes a score", .white = 10.0};

} // namespace

BlurKernel<float> to_single(const BlurKernel<double>& from) {
    BlurKernel<float> to{from.radius, from.renormalise, {}};
    for (int i = 0; i <= kMaxRadius; ++i) to.tap[i] = static_cast<float>(from.tap[i]);
    return to;
}

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor = linear_light::in_linear_light({
        .name = "ssimulacra2",
        .summary = "perceptual error in XYB at six scales (SSIMULACRA 2.1)",
        .short_name = "ssimu2",
        .backend_bound = kBackendBound,
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputSpecs,
        .smallest = {kMinimumSize, kMinimumSize},
        .validate = validate_settings<Settings>,
        .create_scorer = make_scorer<Ssimulacra2Scorer>,
        .create_finaliser = make_finaliser<Ssimulacra2Finaliser>,
        .map = &kMap,
    });
    return kDescriptor;
}

} // namespace qc::ssimulacra2
