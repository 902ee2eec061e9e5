// SPDX-License-Identifier: BSD-2-Clause-Patent
// Golden scores of the SpEED metrics: whatever options a score's name says, the metric is run with them. Test code
// only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "contract/metric.hpp"
#include "tests/golden/golden_stream.hpp"

namespace qc::speed {

/// Scores of a run of a metric: [frame][output].
class FrameScores : public ScoreSink {
public:
    explicit FrameScores(size_t outputs) : outputs_(outputs) {}
    void put(int64_t frame, int output, double value) override {
        if (scores_.size() <= static_cast<size_t>(frame)) scores_.resize(static_cast<size_t>(frame) + 1);
        auto& row = scores_[static_cast<size_t>(frame)];
        row.resize(outputs_, NAN);
        row[static_cast<size_t>(output)] = value;
    }
    double at(int frame, size_t output) const { return scores_.at(static_cast<size_t>(frame)).at(output); }

private:
    size_t outputs_;
    std::vector<std::vector<double>> scores_;
};

/// Reads "_ks_0.5_psm_bilinear_urd" into options. False if it is not made of the metric's options.
inline bool read_suffix(std::string suffix, OptionValues* options) {
    const auto specs = options->specs();
    const auto word = [&] {
        const size_t end = std::min(suffix.find('_', 1), suffix.size());
        std::string taken = suffix.substr(1, end - 1);
        suffix.erase(0, end);
        return taken;
    };
    while (!suffix.empty()) {
        const std::string alias = word();
        const auto spec =
            std::find_if(specs.begin(), specs.end(), [&](const OptionSpec& s) { return s.alias == alias; });
        if (spec == specs.end()) return false;
        const auto index = static_cast<size_t>(spec - specs.begin());
        if (spec->type == OptionType::kBool) {
            options->set(index, 1);
            continue;
        }
        if (suffix.empty()) return false;
        const std::string value = word();
        const auto choice = std::find(spec->choices.begin(), spec->choices.end(), value);
        options->set(index, spec->type == OptionType::kChoice ? static_cast<double>(choice - spec->choices.begin())
                                                              : std::stod(value));
    }
    return true;
}

inline FrameScores score_stream(const MetricDescriptor& metric, const FrameGeometry& geometry,
                                const OptionValues& options, std::span<const HostPicture> reference,
                                std::span<const HostPicture> distorted) {
    const auto scorer = create_scorer(metric, geometry, options);
    const auto finaliser = create_finaliser(metric, geometry, options);
    FrameScores scores(metric.outputs.size());
    for (size_t frame = 0; frame < reference.size(); ++frame) {
        HostPair pair{reference[frame], distorted[frame]};
        if (frame > 0 && metric.history > 0) {
            pair.reference_history[0] = reference[frame - 1].plane[0];
            pair.distorted_history[0] = distorted[frame - 1].plane[0];
        }
        std::vector<uint64_t> words(scorer->accumulator_words());
        scorer->score(pair, words);
        finaliser->finalise(static_cast<int64_t>(frame), words, scores);
    }
    return scores;
}

/// Compares every golden score of a metric. Clips that have golden scores must not be refused.
inline void expect_golden_scores(const MetricDescriptor& metric, size_t least_scores) {
    const std::filesystem::path folder = golden::folder();
    if (folder.empty())
        GTEST_SKIP() << "SKIPPED: no golden clips (QC_SHARED, or a folder \"shared\" beside the checkout)";
    size_t compared = 0, different = 0, clips = 0;
    double largest = 0;
    for (const golden::Clip& clip : golden::clips(folder)) {
        const golden::Json runs = golden::read_json(folder / "libvmaf" / (clip.name + ".json"))["runs"];
        // Score names of all runs, by the options they were made with.
        std::map<std::string, std::map<size_t, std::vector<const golden::Json*>>> wanted;
        for (const auto& [run_name, run] : runs.object) {
            if (run_name.starts_with("subsample")) continue;
            for (const auto& [name, values] : run["metrics"].object)
                for (size_t output = 0; output < metric.outputs.size(); ++output) {
                    const std::string stem(metric.outputs[output].alias);
                    if (name != stem && !name.starts_with(stem + "_")) continue;
                    OptionValues options(metric.options);
                    if (read_suffix(name.substr(stem.size()), &options))
                        wanted[name.substr(stem.size())][output].push_back(&values);
                }
        }
        if (wanted.empty()) continue;
        const FrameGeometry geometry = golden::geometry_of(clip);
        const std::vector<uint8_t> reference_file = golden::unpack(folder, clip.reference_file);
        const std::vector<uint8_t> distorted_file = golden::unpack(folder, clip.distorted_file);
        const std::vector<HostPicture> reference = golden::pictures_of(clip, reference_file);
        const std::vector<HostPicture> distorted = golden::pictures_of(clip, distorted_file);
        ASSERT_FALSE(reference.empty()) << clip.name;
        ASSERT_EQ(reference.size(), distorted.size()) << clip.name;
        ++clips;
        for (const auto& [suffix, outputs] : wanted) {
            OptionValues options(metric.options);
            ASSERT_TRUE(read_suffix(suffix, &options));
            const Status status = validate(metric, geometry, options);
            if (!status.ok()) {
                // The reference gives single pictures their 0 without looking at their size.
                ASSERT_TRUE(clip.frames == 1 && metric.history > 0) << clip.name << ": " << status.text();
                continue;
            }
            const FrameScores scores = score_stream(metric, geometry, options, reference, distorted);
            for (const auto& [output, lists] : outputs)
                for (const golden::Json* values : lists)
                    for (int frame = 0; frame < clip.frames; ++frame) {
                        const double expected = (*values)["values"].array.at(static_cast<size_t>(frame)).value();
                        const double value = scores.at(frame, output);
                        ++compared;
                        if (value == expected || (std::isnan(value) && std::isnan(expected))) continue;
                        ++different;
                        largest = std::max(largest, std::abs(value - expected));
                        EXPECT_NEAR(value, expected, 1e-6)
                            << clip.name << " output " << output << " " << suffix << " frame " << frame;
                    }
        }
    }
    std::printf("%zu scores of %zu clips compared, %zu differ, by %g at most\n", compared, clips, different, largest);
    EXPECT_GE(compared, least_scores);
}

} // namespace qc::speed
