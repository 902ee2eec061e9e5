// SPDX-License-Identifier: BSD-2-Clause-Patent
// Runs a metric's CPU reference over a few pictures, without an engine. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/metric.hpp"
#include "plan/option_parser.hpp"

namespace qc::test {

using OptionList = std::vector<std::pair<std::string_view, double>>;

inline OptionValues options_of(const MetricDescriptor& descriptor, const OptionList& list) {
    OptionValues values(descriptor.options);
    for (const auto& [name, value] : list) {
        bool found = false;
        for (size_t i = 0; i < descriptor.options.size(); ++i) {
            if (descriptor.options[i].name != name) continue;
            values.set(i, value);
            found = true;
        }
        EXPECT_TRUE(found) << "no option " << name;
    }
    return values;
}

/// Options and their choices as a user writes them.
using WordList = std::vector<std::pair<std::string_view, std::string_view>>;

inline OptionList list_of_words(const MetricDescriptor& descriptor, const WordList& words) {
    OptionList list;
    for (const auto& [option, word] : words)
        for (const OptionSpec& spec : descriptor.options) {
            if (spec.name != option) continue;
            const auto found = std::find(spec.choices.begin(), spec.choices.end(), word);
            EXPECT_NE(found, spec.choices.end()) << option << " has no choice " << word;
            list.emplace_back(option, static_cast<double>(found - spec.choices.begin()));
        }
    EXPECT_EQ(list.size(), words.size());
    return list;
}

/// Options as a user writes them, numbers among them.
inline OptionValues written_options(const MetricDescriptor& descriptor, const WordList& words) {
    OptionValues options(descriptor.options);
    for (const auto& [option, word] : words)
        EXPECT_TRUE(set_option(descriptor, option, std::string(word), UnknownOption::kError, &options).ok())
            << option << "=" << word;
    return options;
}

/// What a scorer says it does about `key`; empty if nothing.
inline std::string convention(const Scorer& scorer, std::string_view key) {
    for (const Convention& each : scorer.conventions())
        if (each.key == key) return each.value;
    return "";
}

/// Whether one of a scorer's warnings has all of these words in it.
inline bool warns(const Scorer& scorer, std::initializer_list<const char*> words) {
    const auto has_all = [&](const std::string& line) {
        return std::all_of(words.begin(), words.end(),
                           [&](const char* word) { return line.find(word) != std::string::npos; });
    };
    const std::vector<std::string> lines = scorer.warnings();
    return std::any_of(lines.begin(), lines.end(), has_all);
}

/// What a metric wrote, by the name in the log. Refuses a value that is written twice.
class Recorder final : public ScoreSink, public AggregateSink {
public:
    explicit Recorder(const MetricDescriptor& descriptor) : descriptor_(descriptor) {}

    void put(int64_t frame, int output, double value) override {
        const std::string name(descriptor_.outputs[static_cast<size_t>(output)].alias);
        EXPECT_TRUE(scores[name].emplace(frame, value).second) << name << " of frame " << frame << " written twice";
    }
    void put(std::string_view name, double value) override { aggregates[std::string(name)] = value; }

    /// Scores of frames 0..n-1; fails if there are others, or gaps.
    std::vector<double> values(const std::string& name) const {
        std::vector<double> list;
        const auto found = scores.find(name);
        if (found == scores.end()) return list;
        for (const auto& [frame, value] : found->second) {
            EXPECT_EQ(frame, static_cast<int64_t>(list.size())) << name;
            list.push_back(value);
        }
        return list;
    }

    std::map<std::string, std::map<int64_t, double>> scores;
    std::map<std::string, double> aggregates;

private:
    const MetricDescriptor& descriptor_;
};

/// Host finalisation of a whole stream, from its accumulators. Checks that every enabled output got every frame.
inline Recorder finalise_frames(const MetricDescriptor& descriptor, const FrameGeometry& geometry,
                                const OptionValues& options, const std::vector<std::vector<uint64_t>>& accumulators) {
    const std::unique_ptr<Finaliser> metric = create_finaliser(descriptor, geometry, options);
    Recorder recorder(descriptor);
    const auto frames = static_cast<int64_t>(accumulators.size());
    for (int64_t frame = 0; frame < frames; ++frame) metric->finalise(frame, accumulators[frame], recorder);
    metric->flush(frames, recorder);
    metric->aggregates(recorder);
    for (const OutputSpec& output : descriptor.outputs) {
        const bool enabled = output.enabled == nullptr || output.enabled(options, geometry);
        EXPECT_EQ(recorder.values(std::string(output.alias)).size(), enabled ? accumulators.size() : 0) << output.alias;
    }
    return recorder;
}

inline Recorder finalise_stream(const MetricDescriptor& descriptor, const FrameGeometry& geometry,
                                const OptionList& list, const std::vector<std::vector<uint64_t>>& accumulators) {
    return finalise_frames(descriptor, geometry, options_of(descriptor, list), accumulators);
}

/// Scores a stream with the CPU reference. `distorted` is not looked at by metrics of the reference alone.
inline Recorder score_frames(const MetricDescriptor& descriptor, const FrameGeometry& geometry,
                             const OptionValues& options, std::span<const HostPicture> reference,
                             std::span<const HostPicture> distorted) {
    const Status status = validate(descriptor, geometry, options);
    EXPECT_TRUE(status.ok()) << status.text();
    const std::unique_ptr<Scorer> metric = create_scorer(descriptor, geometry, options);
    std::vector<std::vector<uint64_t>> accumulators;
    for (size_t frame = 0; frame < reference.size(); ++frame) {
        std::vector<uint64_t> words(metric->accumulator_words());
        if (descriptor.scope == Scope::kPair) {
            HostPair pair{reference[frame], distorted[frame]};
            for (size_t back = 1; back <= kMaxHistory && back <= frame; ++back) {
                pair.reference_history[back - 1] = reference[frame - back].plane[0];
                pair.distorted_history[back - 1] = distorted[frame - back].plane[0];
            }
            metric->score(pair, words);
        } else {
            HostReference view{reference[frame], {}, {}};
            for (size_t back = 1; back <= kMaxHistory && back <= frame; ++back) {
                view.history[back - 1] = reference[frame - back].plane[0];
                view.chroma_history[back - 1][0] = reference[frame - back].plane[1];
                view.chroma_history[back - 1][1] = reference[frame - back].plane[2];
            }
            metric->score(view, words);
        }
        accumulators.push_back(words);
    }
    return finalise_frames(descriptor, geometry, options, accumulators);
}

inline Recorder score_stream(const MetricDescriptor& descriptor, const FrameGeometry& geometry, const OptionList& list,
                             std::span<const HostPicture> reference, std::span<const HostPicture> distorted) {
    return score_frames(descriptor, geometry, options_of(descriptor, list), reference, distorted);
}

/// Expects a line that contains every one of the words.
inline void expect_refusal(const Status& status, std::initializer_list<const char*> words) {
    EXPECT_FALSE(status.ok());
    for (const char* word : words) EXPECT_NE(status.text().find(word), std::string::npos) << status.text();
    EXPECT_EQ(status.text().find('\n'), std::string::npos);
}

} // namespace qc::test
