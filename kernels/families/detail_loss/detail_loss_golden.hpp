// SPDX-License-Identifier: BSD-2-Clause-Patent
// Holds an ADM metric's CPU reference against libvmaf's scores of real and made-up clips, with all options and models
// they were made with. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/golden/golden_stream.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::detail_loss {

/// What a metric's comparison has of its own.
struct GoldenRules {
    const MetricDescriptor& descriptor;
    std::string prefix; ///< of the metric's names in the log
    int minimum_size;
    /// Whether libvmaf has one answer only.
    bool (*settled)(const golden::Clip&, const test::OptionList&);
    /// How far scores may be apart; 0: all bits have to be equal.
    double (*bound)(const test::OptionList&);
};

struct GoldenTally {
    int compared = 0, unequal = 0;
    double largest = 0; ///< difference
};

struct GoldenCounts {
    int clips = 0;
    GoldenTally exact, bounded;
};

/// The options that a logged name ends with: "_csf_2_dlmw_0.7_ssz" after the output's alias.
inline test::OptionList options_of_suffix(const MetricDescriptor& descriptor, const std::string& suffix) {
    test::OptionList list;
    std::stringstream words(suffix);
    std::string word;
    std::getline(words, word, '_'); // before the first underscore there is nothing
    while (std::getline(words, word, '_')) {
        bool known = false;
        for (const OptionSpec& spec : descriptor.options) {
            if (spec.alias != word) continue;
            known = true;
            std::string value = "1";
            if (spec.type != OptionType::kBool) std::getline(words, value, '_');
            list.emplace_back(spec.name, std::stod(value));
        }
        EXPECT_TRUE(known) << suffix;
    }
    return list;
}

/// Splits a logged name into the output's alias and the options' suffix. The longest alias counts.
inline std::pair<std::string, std::string> split_name(const MetricDescriptor& descriptor, const std::string& name) {
    std::string alias;
    for (const OutputSpec& output : descriptor.outputs) {
        if (name.starts_with(output.alias) && output.alias.size() > alias.size()) alias = output.alias;
    }
    return {alias, name.substr(alias.size())};
}

/// Compares runs of one clip; each set of options is scored once.
class ClipComparison {
public:
    ClipComparison(const GoldenRules& rules, const golden::Clip& clip, std::vector<HostPicture> reference,
                   std::vector<HostPicture> distorted, GoldenCounts* counts)
        : rules_(rules), clip_(clip), reference_(std::move(reference)), distorted_(std::move(distorted)),
          counts_(counts) {}

    void compare(const golden::Json& run) {
        const std::vector<golden::Json>& unstable = run["unstable"].array;
        for (const auto& [name, metric] : run["metrics"].object) {
            if (!name.starts_with(rules_.prefix + "adm") && !name.starts_with(rules_.prefix + "aim")) continue;
            const std::string& wanted = name;
            if (std::any_of(unstable.begin(), unstable.end(), [&](const auto& one) { return one.string == wanted; })) {
                continue; // libvmaf read memory it never wrote
            }
            compare(name, metric.has("scalar") ? metric["scalar"].array : metric["values"].array);
        }
    }

private:
    void compare(const std::string& name, const std::vector<golden::Json>& values) {
        const auto [alias, suffix] = split_name(rules_.descriptor, name);
        test::OptionList options = options_of_suffix(rules_.descriptor, suffix);
        if (!rules_.settled(clip_, options)) return;
        const double bound = rules_.bound(options);
        auto scores = scores_.find(suffix);
        if (scores == scores_.end()) {
            options.emplace_back("debug", 1);
            scores = scores_
                         .emplace(suffix, test::score_stream(rules_.descriptor, golden::geometry_of(clip_), options,
                                                             reference_, distorted_))
                         .first;
        }
        const std::vector<double> actual = scores->second.values(alias);
        ASSERT_EQ(values.size(), actual.size()) << name;
        for (size_t frame = 0; frame < values.size(); frame++) {
            if (values[frame].kind == golden::Json::kNull) continue; // n_subsample left it out
            compare(name + " frame " + std::to_string(frame), actual[frame], values[frame].value(), bound);
        }
    }

    void compare(const std::string& what, double value, double expected, double bound) {
        GoldenTally& tally = bound == 0.0 ? counts_->exact : counts_->bounded;
        tally.compared++;
        if (value == expected || (std::isnan(value) && std::isnan(expected))) return;
        tally.unequal++;
        tally.largest = std::max(tally.largest, std::abs(value - expected));
        EXPECT_NEAR(value, expected, bound) << what;
    }

    const GoldenRules& rules_;
    const golden::Clip& clip_;
    std::vector<HostPicture> reference_, distorted_;
    GoldenCounts* counts_;
    std::map<std::string, test::Recorder> scores_; ///< by the options' suffix
};

inline GoldenCounts compare_golden_scores(const std::filesystem::path& folder, const GoldenRules& rules) {
    GoldenCounts counts;
    for (const golden::Clip& clip : golden::clips(folder)) {
        if (clip.width < rules.minimum_size || clip.height < rules.minimum_size) continue;
        SCOPED_TRACE(clip.name);
        const std::vector<uint8_t> reference = golden::unpack(folder, clip.reference_file);
        const std::vector<uint8_t> distorted = golden::unpack(folder, clip.distorted_file);
        ClipComparison comparison(rules, clip, golden::pictures_of(clip, reference),
                                  golden::pictures_of(clip, distorted), &counts);
        const golden::Json scores = golden::read_json(folder / "libvmaf" / (clip.name + ".json"));
        for (const auto& [name, run] : scores["runs"].object) comparison.compare(run);
        counts.clips++;
    }
    return counts;
}

} // namespace qc::detail_loss
