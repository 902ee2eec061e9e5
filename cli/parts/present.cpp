// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a person, or a program, gets to read of scores; and how that ends the command.
#include <cstdio>

#include "ffmpeg/said.hpp"
#include "logs/logs.hpp"
#include "logs/summary.hpp"
#include "parts/commands.hpp"
#include "results/results.hpp"
#include "words/advice.hpp"
#include "words/json_text.hpp"

namespace qc::cli {

namespace {

/// What a log says at its head of the pictures that were compared, and of how.
constexpr const char* kTold[] = {"pairing",          "alignment",        "conversions", "crop",
                                 "distorted_stream", "reference_stream", "models"};

void show(const Options& options, const Title& title, const std::vector<Json>& logs, const Findings& findings) {
    if (options.as_json)
        print_whole(json_text(summary_of(title, logs, options.output, findings), 2) + "\n");
    else
        print_whole(options.is_quiet ? "" : table_of(logs, shows_all_scores(title.wish)));
}

} // namespace

bool shows_all_scores(const Wish& wish) {
    return !wish.feature.empty() || (!wish.metrics.empty() && wish.metrics != "vmaf");
}

Json told_of(const Json& log) {
    Json told = {{"complete", log.value("complete", false)}};
    for (const char* key : kTold)
        if (log.contains(key)) told[key] = log[key];
    for (const char* key : {"pooled_metrics", "aggregate_metrics"})
        if (log.contains(key)) told[key] = log[key];
    return told;
}

Json json_of(const Findings& findings) {
    Json list = Json::array();
    for (const Finding& each : findings.list()) list.push_back({{"source", each.source}, {"text", each.text}});
    return list;
}

Json summary_of(const Title& title, const std::vector<Json>& logs, const std::string& kept, const Findings& findings) {
    Json list = Json::array();
    for (size_t k = 0; k < logs.size(); ++k) {
        Json rendition = {{"distorted", title.inputs[k == 0 ? 0 : k + 1]}};
        rendition.update(told_of(logs[k]));
        list.push_back(std::move(rendition));
    }
    return {{"reference", title.inputs[1]},
            {"parts", title.parts.size()},
            {"log", kept},
            {"findings", json_of(findings)},
            {"decoder_errors", findings.decoder_errors()},
            {"renditions", list}};
}

std::vector<Json> heads_of(const Title& title, const std::string& log) {
    std::vector<Json> heads;
    for (const std::string& name : log_names(log, title.inputs.size() - 1)) heads.push_back(read_head(name));
    return heads;
}

void find_again(const Json& log, const std::vector<std::string>& records, Findings* findings) {
    Damage damage;
    for (const std::string& record : records) damage.add(Damage::of_text(complaints_of_record(record)));
    findings->add_damage(damage.count(), damage.text());
    if (!log.contains("warnings")) return;
    for (const Json& each : log.at("warnings"))
        if (each.is_string()) findings->add("filter", in_this_commands_words(each.get<std::string>()));
}

ExitCode present_merged(const Options& options, const std::vector<MergedTitle>& titles) {
    Json list = Json::array();
    std::vector<Finding> all;
    for (const MergedTitle& each : titles) {
        const std::string& log = each.title.log;
        if (!each.error.empty()) {
            list.push_back({{"reference", each.title.inputs[1]}, {"log", log}, {"error", each.error}});
            continue;
        }
        const std::vector<Json> heads = heads_of(each.title, log);
        Findings findings(log);
        find_again(heads.front(), each.records, &findings);
        all.insert(all.end(), findings.list().begin(), findings.list().end());
        list.push_back(summary_of(each.title, heads, log, findings));
    }
    if (options.as_json) print_whole(json_text(list, 2) + "\n");
    return exit_code_of(options, all, false);
}

std::vector<Condition> conditions_of(const Options& options) {
    std::vector<Condition> conditions;
    for (const std::string& text : options.fail_if) conditions.push_back(parse_condition(text));
    const Names names = conditions.empty() ? Names() : names_of_scores(options.wish);
    if (!names.pooled.empty())
        for (const Condition& each : conditions) require_score(each, names, "what is scored");
    return conditions;
}

bool is_any_met(const std::vector<Condition>& conditions, const Json& log, const std::string& name) {
    bool is_met = false;
    for (const Condition& condition : conditions)
        if (const auto line = judge(condition, log, name)) {
            std::fprintf(stderr, "%s\n", line->c_str());
            is_met = true;
        }
    return is_met;
}

ExitCode exit_code_of(const Options& options, const std::vector<Finding>& findings, bool is_below) {
    if (options.is_strict && !findings.empty()) {
        std::fprintf(stderr, "quality-cuda: --strict: %zu finding%s\n", findings.size(),
                     findings.size() > 1 ? "s" : "");
        return kDoubtful;
    }
    return is_below ? kBelowThreshold : kDone;
}

ExitCode present(const Options& options, const Title& title, const std::string& log,
                 const std::vector<Condition>& conditions, const Findings& findings) {
    const std::vector<Json> logs = heads_of(title, log);
    show(options, title, logs, findings);
    bool is_below = false;
    for (size_t k = 0; k < logs.size(); ++k)
        is_below = is_any_met(conditions, logs[k], title.inputs[k == 0 ? 0 : k + 1]) || is_below;
    return exit_code_of(options, findings.list(), is_below);
}

} // namespace qc::cli
