// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a person, or a program, gets to read of scores; and how that ends the command.
#include <cmath>

#include "ffmpeg/said.hpp"
#include "logs/logs.hpp"
#include "logs/summary.hpp"
#include "parts/commands.hpp"
#include "results/results.hpp"
#include "words/advice.hpp"
#include "words/json_text.hpp"
#include "words/terminal.hpp"

namespace qc::cli {

namespace {

/// What a log says at its head of the pictures that were compared, and of how.
constexpr const char* kTold[] = {"pairing",          "alignment",        "conversions", "crop",
                                 "distorted_stream", "reference_stream", "models",      "engine"};

/// Inputs are in the filter's order: the first distorted video, the reference, the others.
constexpr size_t kReference = 1;
size_t input_of(size_t rendition) {
    return rendition == 0 ? 0 : rendition + 1;
}

Table table_of(const Title& title, const std::vector<Json>& logs, bool shows_all, double seconds) {
    Table table;
    for (size_t k = 0; k < logs.size(); ++k)
        table.rows.push_back({title.inputs[input_of(k)], facts_of(title, input_of(k)), logs[k]});
    table.scores = asked_scores(title.wish, shows_all).of(logs.front());
    table.reference = title.inputs[kReference];
    table.reference_video = facts_of(title, kReference);
    if (seconds > 0) table.frames_per_second = frames_of(logs.front()) / seconds;
    return table;
}

/// A number that JSON has a word for, or null.
Json number_or_null(double value, double unknown) {
    return value == unknown || !std::isfinite(value) ? Json() : Json(value);
}

/// The scores that the table shows of a row.
Json scores_of(const Table& table, const TableRow& row) {
    Json scores = Json::object();
    for (const std::string& score : table.scores) {
        for (const char* pool : pools_of(score))
            scores[score][pool] = number_or_null(pooled_of(row.log, score, pool), NAN);
        if (const std::string unit = unit_of(score); !unit.empty()) scores[score]["unit"] = unit;
    }
    return scores;
}

void show(const Options& options, const Title& title, const std::vector<Json>& logs, const Findings& findings,
          double seconds) {
    if (options.as_json)
        print_whole(DataText(
            json_text(summary_of(title, logs, options.output, findings, options.shows_all, seconds), 2) + "\n"));
    else if (!options.is_quiet)
        print_whole(text_of(table_of(title, logs, options.shows_all, seconds), terminal_width(), shows_bold()));
}

} // namespace

StreamFacts facts_of(const Title& title, size_t input) {
    return input < title.facts.size() ? title.facts[input] : StreamFacts();
}

double frames_of(const Json& log) {
    return static_cast<double>(count_of(member(log, "pairing"), "frames"));
}

Json json_of(const StreamFacts& facts) {
    return {{"codec", facts.codec.empty() ? Json() : Json(facts.codec)},
            {"width", number_or_null(facts.width, 0)},
            {"height", number_or_null(facts.height, 0)},
            {"bit_rate", number_or_null(std::round(facts.bit_rate), 0)}};
}

Json told_of(const Json& log) {
    Json told = {{"complete", log.value("complete", false)}};
    for (const char* key : kTold)
        if (log.contains(key)) told[key] = log[key];
    for (const char* key : {"pooled_metrics", "aggregate_metrics"})
        if (log.contains(key)) told[key] = log[key];
    return told;
}

Json json_of_row(const Table& table, const TableRow& row) {
    Json shown = {{"video", json_of(row.video)}, {"scores", scores_of(table, row)}};
    shown.update(told_of(row.log));
    return shown;
}

Json json_of(const Findings& findings) {
    Json list = Json::array();
    for (const Finding& each : findings.list()) list.push_back({{"source", each.source}, {"text", each.text}});
    return list;
}

Json summary_of(const Title& title, const std::vector<Json>& logs, const std::string& kept, const Findings& findings,
                bool shows_all, double seconds) {
    const Table table = table_of(title, logs, shows_all, seconds);
    Json list = Json::array();
    for (const TableRow& row : table.rows) {
        Json rendition = {{"distorted", without_passwords(row.file)}};
        rendition.update(json_of_row(table, row));
        list.push_back(std::move(rendition));
    }
    return {{"reference", without_passwords(table.reference)},
            {"reference_video", json_of(table.reference_video)},
            {"backend", backend_of(table.rows.front().log)},
            {"frames_per_second", number_or_null(std::round(table.frames_per_second * 10) / 10, 0)},
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

void tell_merged(size_t merged, size_t titles) {
    print_whole(TerminalText("titles merged: " + std::to_string(merged) + " of " + std::to_string(titles) + "\n"));
}

ExitCode present_merged(const Options& options, const std::vector<MergedTitle>& titles) {
    Json list = Json::array();
    std::vector<Finding> all;
    for (const MergedTitle& each : titles) {
        const std::string& log = each.title.log;
        if (!each.error.empty()) {
            list.push_back(
                {{"reference", without_passwords(each.title.inputs[1])}, {"log", log}, {"error", each.error}});
            continue;
        }
        const std::vector<Json> heads = heads_of(each.title, log);
        Findings findings(log);
        find_again(heads.front(), each.records, &findings);
        all.insert(all.end(), findings.list().begin(), findings.list().end());
        list.push_back(summary_of(each.title, heads, log, findings));
    }
    if (options.as_json) print_whole(DataText(json_text(list, 2) + "\n"));
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
            say(*line);
            is_met = true;
        }
    return is_met;
}

ExitCode exit_code_of(const Options& options, const std::vector<Finding>& findings, bool is_below) {
    if (options.is_strict && !findings.empty()) {
        say("quality-cuda: --strict: " + std::to_string(findings.size()) + " finding" +
            (findings.size() > 1 ? "s" : ""));
        return kDoubtful;
    }
    return is_below ? kBelowThreshold : kDone;
}

ExitCode present(const Options& options, const Title& title, const std::string& log,
                 const std::vector<Condition>& conditions, const Findings& findings, double seconds) {
    const std::vector<Json> logs = heads_of(title, log);
    show(options, title, logs, findings, seconds);
    bool is_below = false;
    for (size_t k = 0; k < logs.size(); ++k)
        is_below = is_any_met(conditions, logs[k], title.inputs[input_of(k)]) || is_below;
    return exit_code_of(options, findings.list(), is_below);
}

} // namespace qc::cli
