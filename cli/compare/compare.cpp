// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "compare/compare.hpp"

#include <algorithm>
#include <string_view>

#include "logs/logs.hpp"
#include "logs/summary.hpp"
#include "results/results.hpp"
#include "words/json_text.hpp"
#include "words/terminal.hpp"

namespace qc::cli {

namespace {

constexpr std::string_view kDelta = "delta(";

/// "delta(vmaf.mean)<-1". Score and pool keep their brackets: so the value is called, and found. @throws Failure
Condition parse_delta(const std::string& text) {
    const size_t end = text.find(')');
    Condition condition;
    try {
        if (!text.starts_with(kDelta) || end == std::string::npos) throw Failure("");
        condition = parse_condition(text.substr(kDelta.size(), end - kDelta.size()) + text.substr(end + 1));
        if (condition.pool.empty()) throw Failure("");
    } catch (const Failure&) {
        throw Failure(
            "--fail-if=" + text +
                ": delta(SCORE.POOL)<NUMBER is accepted (or <=, >, >=), for B minus A, e.g. delta(vmaf.mean)<-1; "
                "POOL is mean, harmonic_mean, min, max, p1, p5, p10, p50 or stddev",
            kMisused);
    }
    condition.text = text;
    return condition;
}

/// How much more B has of a score that both logs were compared by. @throws Failure if they were not
double delta_of(const Condition& condition, const ScoreLog& a, const ScoreLog& b, const Comparison& comparison) {
    const auto found = std::find_if(comparison.scores.begin(), comparison.scores.end(),
                                    [&](const ScoreDifference& each) { return each.name == condition.score; });
    if (found == comparison.scores.end()) {
        std::string known;
        for (const ScoreDifference& each : comparison.scores) known += (known.empty() ? "" : ", ") + each.name;
        throw Failure("--fail-if=" + condition.text + ": " + condition.score + " is not compared; " + known +
                          " are, and -m names others",
                      kMisused);
    }
    if (condition.pool == "mean") return found->mean;
    if (condition.pool == "p5") return found->p5;
    return b.pooled(condition.score, condition.pool.c_str()) - a.pooled(condition.score, condition.pool.c_str());
}

/// Says which conditions are met, NaN meeting each.
bool is_any_met(const std::vector<Condition>& conditions, const ScoreLog& a, const ScoreLog& b,
                const Comparison& comparison) {
    bool is_met = false;
    for (Condition condition : conditions) {
        const double delta = delta_of(condition, a, b, comparison);
        condition.score.insert(0, kDelta);
        condition.pool += ")";
        const Json values = {{"pooled_metrics", {{condition.score, {{condition.pool, delta}}}}}};
        if (const auto line = judge(condition, values, b.path + " against " + a.path)) {
            say(*line);
            is_met = true;
        }
    }
    return is_met;
}

} // namespace

ExitCode compare(const CompareOptions& options) {
    std::vector<Condition> conditions;
    for (const std::string& text : options.fail_if) conditions.push_back(parse_delta(text));
    const ScoreLog a = read_scores(options.a), b = read_scores(options.b);
    const Comparison comparison = compare_logs(a, b, options.comparison);
    const bool is_below = is_any_met(conditions, a, b, comparison);
    if (options.as_json)
        print_whole(DataText(json_text(json_of_comparison(comparison), 2) + "\n"));
    else
        print_whole(TerminalText(text_of_comparison(comparison)));
    return is_below ? kBelowThreshold : kDone;
}

} // namespace qc::cli
