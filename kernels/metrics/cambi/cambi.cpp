// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI: descriptor, scorer, and the way from accumulators to scores.
#include "metrics/cambi/cambi.hpp"

#include <algorithm>

#include "metrics/cambi/cambi_heat_maps.hpp"
#include "metrics/cambi/cambi_launch.hpp"

namespace qc::cambi {
namespace {

bool has_full_reference(const OptionValues& options, const FrameGeometry&) {
    return options.flag(kFullReference);
}

enum Output : int { kScore, kSourceScore, kAddedScore };

constexpr OutputSpec kOutputs[] = {
    {.name = "Cambi_feature_cambi_score", .alias = "cambi"},
    {.name = "cambi_source", .alias = "cambi_source", .enabled = has_full_reference, .plain_name = true},
    {.name = "cambi_full_reference",
     .alias = "cambi_full_reference",
     .enabled = has_full_reference,
     .plain_name = true},
};

Status validate(const FrameGeometry& geometry, const OptionValues& options) {
    Settings settings;
    QC_RETURN_IF_ERROR(settle(geometry, options, &settings));
    return settings.heat_maps ? check_folder(options.text(kHeatMapsPath)) : Status();
}

class CambiScorer final : public Scorer {
public:
    CambiScorer(const FrameGeometry& geometry, const OptionValues& options)
        : geometry_(geometry), settings_(settled<Settings>(geometry, options)), launcher_(geometry, settings_) {}

    size_t accumulator_words() const override { return settings_.accumulator_words(); }

    void score(const HostPair& pair, std::span<uint64_t> accumulators) const override {
        score_cpu_rows(geometry_, settings_, settings_.distorted, pair.distorted.plane[0],
                       accumulators.first(kWordsPerPicture), accumulators.subspan(settings_.heat_map_offset()),
                       workspaces_);
        if (settings_.full_reference)
            score_cpu_rows(geometry_, settings_, settings_.reference, pair.reference.plane[0],
                           accumulators.subspan(kWordsPerPicture, kWordsPerPicture), {}, workspaces_);
    }

    void draw(const HostPair& pair, HostPast /*past*/, Plane<float> values) const override {
        draw_cpu(geometry_, settings_, pair.distorted.plane[0], values);
    }

    size_t scratch_bytes(int count) const override { return launcher_.scratch_bytes(count); }
    Status prepare(DeviceProgram& program) override {
        if (draws_maps()) launcher_.draw_map();
        return launcher_.prepare(program);
    }
    Status enqueue(const DeviceBatch& batch, DeviceQueue& queue) const override {
        return launcher_.enqueue(batch, queue);
    }

private:
    const FrameGeometry geometry_;
    const Settings settings_;
    Launcher launcher_;
    mutable RowWorkspaces workspaces_;
};

class CambiFinaliser final : public Finaliser {
public:
    CambiFinaliser(const FrameGeometry& geometry, const OptionValues& options)
        : settings_(settled<Settings>(geometry, options)), heat_map_folder_(options.text(kHeatMapsPath)) {}

    void finalise(int64_t frame, std::span<const uint64_t> accumulators, ScoreSink& sink) override {
        const double score = picture_score(settings_.distorted, accumulators.first(kWordsPerPicture));
        sink.put(frame, kScore, std::min(score, settings_.max_value));
        if (settings_.full_reference) {
            const double source =
                picture_score(settings_.reference, accumulators.subspan(kWordsPerPicture, kWordsPerPicture));
            sink.put(frame, kSourceScore, std::min(source, settings_.max_value));
            sink.put(frame, kAddedScore, std::min(std::max(0.0, score - source), settings_.max_value));
        }
        if (!settings_.heat_maps || !trouble_.ok()) return;
        if (!heat_maps_.is_open()) trouble_ = heat_maps_.open(settings_, heat_map_folder_);
        if (trouble_.ok()) trouble_ = heat_maps_.write(frame, accumulators.subspan(settings_.heat_map_offset()));
    }
    Status trouble() const override { return trouble_; }

private:
    /// Means of the largest c-values by scale, weighted 16, 8, 4, 2 and 1, over the area of the window.
    double picture_score(const Analysis& analysis, std::span<const uint64_t> sums) const {
        double score = 0.0;
        for (int scale = 0; scale < kScales; ++scale) {
            const auto sum = static_cast<double>(sums[static_cast<size_t>(scale * kWordsPerScale + kPooledSum)]);
            const auto pixels = static_cast<double>(settings_.pooled_pixels(analysis, scale));
            score += (16 >> scale) * (sum / static_cast<double>(1 << kFractionBits) / pixels);
        }
        return score / static_cast<double>(analysis.window * analysis.window);
    }

    const Settings settings_;
    const std::string heat_map_folder_;
    HeatMapFiles heat_maps_; ///< made at the first frame
    Status trouble_;
};

constexpr MapSpec kMap{.what = "what a place adds to the score, before pooling", .white = 24.0, .marks_blanks = true};

} // namespace

const MetricDescriptor& descriptor() {
    static constexpr MetricDescriptor kDescriptor{
        .name = "cambi",
        .summary = "visibility of banding (false contours)",
        .templated_names = true,
        .options = kOptions,
        .outputs = kOutputs,
        .validate = validate,
        .create_scorer = make_scorer<CambiScorer>,
        .create_finaliser = make_finaliser<CambiFinaliser>,
        .map = &kMap,
    };
    return kDescriptor;
}

} // namespace qc::cambi
