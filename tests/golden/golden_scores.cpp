// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/golden/golden_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "plan/feature_name.hpp"
#include "plan/option_parser.hpp"
#include "tests/support/metric_runner.hpp"
#include "text/number.hpp"

namespace qc::golden {
namespace {

/// Splits a logged name into an output's alias and the options' suffix; the longest alias counts. Nothing if it is no
/// name of the metric.
std::optional<std::pair<std::string, std::string>> split_name(const MetricDescriptor& metric, const std::string& name) {
    std::string_view alias;
    for (const OutputSpec& output : metric.outputs) {
        const bool ours = name == output.alias || name.starts_with(std::string(output.alias) + "_");
        if (ours && output.alias.size() > alias.size()) alias = output.alias;
    }
    if (alias.empty()) return std::nullopt;
    return std::pair(std::string(alias), name.substr(alias.size()));
}

/// Options of one item of a run, or what is wrong with them.
Status read_item(const MetricDescriptor& metric, const Json& item, OptionValues* options) {
    for (const auto& [name, value] : member(item, "options").items())
        QC_RETURN_IF_ERROR(set_option(metric, name, value.get<std::string>(), UnknownOption::kError, options));
    return {};
}

std::string text_of(const OptionValues& options) {
    std::string text;
    for (size_t i = 0; i < options.specs().size(); ++i) text += " " + general_text(options.number(i)) + options.text(i);
    return text;
}

struct Counts {
    Tally tally;
    std::map<std::string, int> of_label; ///< values by run or suffix
    int clips = 0, refused = 0, refused_by_both = 0;
};

/// One clip, with the metric's scores of it under all options that were asked for.
class ClipComparison {
public:
    ClipComparison(const ScoreRules& rules, const Clip& clip, Counts* counts)
        : rules_(rules), metric_(rules.metric), clip_(clip), geometry_(clip.geometry()), counts_(counts) {}

    void compare(const std::string& run_name, const Json& run) {
        where_ = clip_.name + " " + run_name + " ";
        if (rules_.options_from == OptionsFrom::kNames) return compare_names(run_name, run);
        for (const Json& item : member(run, "items"))
            if (member(item, "feature") == metric_.name) compare_item(run_name, run, item);
        for (const Json& item : member(run, "refused"))
            if (rules_.refusals == Refusals::kSame && member(item, "feature") == metric_.name) expect_refusal(item);
    }

private:
    void compare_item(const std::string& run_name, const Json& run, const Json& item) {
        OptionValues options(metric_.options);
        if (!read_item(metric_, item, &options).ok()) return; // has to be among what the reference refused
        const Status status = validate(metric_, geometry_, options);
        if (!status.ok()) return check_refusal(run, options, status);
        if (rules_.settled != nullptr && !rules_.settled(clip_, options)) return;
        const test::Recorder* recorder = scores(options);
        if (recorder == nullptr) return;
        const Json& metrics = run.at("metrics");
        for (const OutputSpec& output : metric_.outputs) {
            const std::string name = log_name(metric_, output, options);
            if (recorder->scores.count(std::string(output.alias)) == 0) {
                EXPECT_FALSE(metrics.contains(name)) << where_ << name;
                continue;
            }
            ASSERT_TRUE(metrics.contains(name)) << where_ << name;
            counts_->of_label[run_name] += compare_frames(run, name, *recorder, output.alias, options);
        }
        const Json& aggregates = member(run, "aggregate");
        EXPECT_EQ(aggregates.size(), recorder->aggregates.size()) << where_;
        for (const auto& [name, value] : recorder->aggregates)
            counts_->tally.compare(value, value_of(member(aggregates, name)), tolerance(options), where_ + name);
    }

    void compare_names(const std::string& run_name, const Json& run) {
        for (const auto& [name, score] : run.at("metrics").items()) {
            const auto parts = split_name(metric_, name);
            if (!parts) continue;
            OptionValues options(metric_.options);
            ASSERT_TRUE(read_suffix(metric_, parts->second, &options)) << where_ << name;
            if (rules_.settled != nullptr && !rules_.settled(clip_, options)) continue;
            const Status status = validate(metric_, geometry_, options);
            if (!status.ok()) {
                check_refusal(run, options, status);
                continue;
            }
            for (size_t i = 0; i < metric_.options.size(); ++i)
                if (metric_.options[i].name == "debug") options.set(i, 1.0);
            const test::Recorder* recorder = scores(options);
            if (recorder == nullptr) return;
            const int values = compare_frames(run, name, *recorder, parts->first, options);
            counts_->of_label[run_name] += values;
            counts_->of_label[parts->second] += values;
        }
    }

    /// @return the number of values compared
    int compare_frames(const Json& run, const std::string& name, const test::Recorder& recorder, std::string_view alias,
                       const OptionValues& options) {
        for (const Json& unstable : member(run, "unstable"))
            if (!rules_.unstable && unstable == name) return 0;
        const std::vector<double> actual = recorder.values(std::string(alias));
        const Json& expected = frames_of(run.at("metrics").at(name));
        EXPECT_EQ(actual.size(), expected.size()) << where_ << name;
        int compared = 0;
        for (size_t frame = 0; frame < std::min(actual.size(), expected.size()); ++frame) {
            if (expected[frame].is_null()) continue; // n_subsample left it out
            counts_->tally.compare(actual[frame], value_of(expected[frame]), tolerance(options),
                                   where_ + name + " frame " + std::to_string(frame));
            ++compared;
        }
        return compared;
    }

    void check_refusal(const Json& run, const OptionValues& options, const Status& status) {
        ++counts_->refused;
        if (rules_.refusals == Refusals::kAny) return;
        if (rules_.refused_alone != nullptr && rules_.refused_alone(clip_)) return;
        for (const OutputSpec& output : metric_.outputs) {
            const Json& score = member(run.at("metrics"), log_name(metric_, output, options));
            if (score.is_null()) continue;
            EXPECT_NE(rules_.refusals, Refusals::kSame) << where_ << status.text();
            for (const Json& value : frames_of(score)) EXPECT_EQ(value_of(value), 0.0) << where_ << status.text();
        }
    }

    /// The reference refused this item.
    void expect_refusal(const Json& item) {
        OptionValues options(metric_.options);
        Status status = read_item(metric_, item, &options);
        if (status.ok()) status = validate(metric_, geometry_, options);
        EXPECT_FALSE(status.ok()) << where_;
        EXPECT_EQ(status.text().find('\n'), std::string::npos);
        ++counts_->refused_by_both;
    }

    /// Computed once for each set of options. Null if the clip cannot be read.
    const test::Recorder* scores(const OptionValues& options) {
        if (!pictures_) {
            pictures_.emplace(clip_);
            counts_->clips += pictures_->ok();
        }
        if (!pictures_->ok()) return nullptr;
        const std::string key = text_of(options);
        auto found = scores_.find(key);
        if (found == scores_.end()) {
            auto made = test::score_frames(metric_, geometry_, options, pictures_->reference(), pictures_->distorted());
            found = scores_.emplace(key, std::move(made)).first;
        }
        return &found->second;
    }

    double tolerance(const OptionValues& options) const {
        return rules_.tolerance_of != nullptr ? rules_.tolerance_of(options) : rules_.tolerance;
    }

    const ScoreRules& rules_;
    const MetricDescriptor& metric_;
    const Clip& clip_;
    FrameGeometry geometry_;
    Counts* counts_;
    std::string where_; ///< for messages
    std::optional<ClipPictures> pictures_;
    std::map<std::string, test::Recorder> scores_; ///< by the options' text
};

} // namespace

void expect_golden_scores(const ScoreRules& rules) {
    if (const char* reason = missing_clips()) GTEST_SKIP() << reason;
    Counts counts;
    for (const Clip& clip : clips()) {
        ClipComparison comparison(rules, clip, &counts);
        const Json runs = clip.runs();
        for (const auto& [name, run] : runs.items())
            if (rules.subsampled || !name.starts_with("subsample")) comparison.compare(name, run);
    }
    counts.tally.print(std::to_string(counts.clips) + " clips");
    for (const auto& [label, count] : counts.of_label) std::printf("  '%s': %d\n", label.c_str(), count);
    std::printf("  refused: %d, by both: %d\n", counts.refused, counts.refused_by_both);
    EXPECT_GE(counts.tally.compared(), rules.least);
    EXPECT_GE(counts.refused_by_both, rules.least_refused);
    for (const std::string& label : rules.required) EXPECT_GT(counts.of_label[label], 0) << label;
}

bool read_suffix(const MetricDescriptor& metric, std::string_view suffix, OptionValues* options) {
    const auto next_word = [&](size_t size) {
        const std::string_view word = suffix.substr(1, size - 1);
        suffix.remove_prefix(size);
        return word;
    };
    while (!suffix.empty()) {
        const OptionSpec* found = nullptr;
        for (const OptionSpec& spec : metric.options) {
            const bool fits =
                spec.in_name() && (std::string(suffix.substr(1)) + "_").starts_with(std::string(spec.alias) + "_");
            if (fits && (found == nullptr || spec.alias.size() > found->alias.size())) found = &spec;
        }
        if (found == nullptr) return false;
        next_word(1 + found->alias.size());
        std::string_view value = "true";
        if (found->type != OptionType::kBool) {
            if (suffix.empty()) return false;
            value = next_word(std::min(suffix.find('_', 1), suffix.size()));
        }
        if (!set_option(metric, found->name, value, UnknownOption::kError, options).ok()) return false;
    }
    return true;
}

double option_number(const OptionValues& options, std::string_view name) {
    for (size_t i = 0; i < options.specs().size(); ++i)
        if (options.specs()[i].name == name) return options.number(i);
    ADD_FAILURE() << "no option " << name;
    return 0.0;
}

bool same_value(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

void Tally::compare(double actual, double expected, double tolerance, const std::string& what) {
    ++compared_;
    if (same_value(actual, expected)) return;
    ++different_;
    EXPECT_NEAR(actual, expected, tolerance) << what;
    if (std::abs(actual - expected) > largest_) largest_ = std::abs(actual - expected);
}

void Tally::print(const std::string& what) const {
    std::printf("%s: %d values compared, %d differ, by %g at most\n", what.c_str(), compared_, different_, largest_);
}

} // namespace qc::golden
