// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "verify/verify.hpp"

#include <algorithm>
#include <filesystem>

#include "logs/logs.hpp"
#include "verify/again.hpp"
#include "verify/checks.hpp"
#include "words/json_text.hpp"
#include "words/terminal.hpp"

namespace qc::cli {

namespace {

constexpr size_t kNameWidth = 9, kWordWidth = 13;

const char* word_of(Held held) {
    return held == Held::kYes ? "holds" : held == Held::kNo ? "DOES NOT HOLD" : "not checked";
}

std::string padded(std::string text, size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
}

std::string text_of_checks(const std::vector<Check>& checks) {
    std::string text;
    for (const Check& each : checks)
        text += padded(each.name, kNameWidth) + padded(word_of(each.held), kWordWidth) + "  " + each.text + "\n";
    return text;
}

Json json_of_checks(const std::string& log, const std::vector<Check>& checks) {
    Json list = Json::array();
    for (const Check& each : checks)
        list.push_back({{"check", each.name},
                        {"holds", each.held == Held::kUnknown ? Json() : Json(each.held == Held::kYes)},
                        {"text", each.text}});
    const auto has = [&](Held held) {
        return std::any_of(checks.begin(), checks.end(), [&](const Check& each) { return each.held == held; });
    };
    return {{"log", log}, {"holds", !has(Held::kNo)}, {"all_checked", !has(Held::kUnknown)}, {"checks", list}};
}

ExitCode exit_code_of(const VerifyOptions& options, const std::vector<Check>& checks) {
    size_t unknown = 0;
    for (const Check& each : checks) {
        if (each.held == Held::kNo) return kBelowThreshold;
        unknown += each.held == Held::kUnknown ? 1 : 0;
    }
    if (!options.is_strict || unknown == 0) return kDone;
    say("quality-cuda: --strict: " + std::to_string(unknown) + " not checked");
    return kDoubtful;
}

} // namespace

ExitCode verify(const VerifyOptions& options, const CommandParser& parse) {
    const std::string path = std::filesystem::absolute(options.log).string();
    std::string why_not;
    const std::optional<Provenance> made = read_provenance_beside(path, &why_not);
    std::vector<Check> checks = {check_bytes(path, made, why_not)};
    const ScoreLog log = read_scores(path);
    for (const auto& check : {check_end, check_counts, check_pools, check_models, check_version})
        checks.push_back(check(log));
    checks.push_back(check_files(made, why_not));
    if (options.scores_again) {
        const bool is_of_these = checks.back().held != Held::kNo;
        if (!made) throw Failure("--again: " + why_not);
        if (is_of_these) checks.push_back(score_again(options, log, *made, parse));
    }
    if (options.as_json)
        print_whole(DataText(json_text(json_of_checks(path, checks), 2) + "\n"));
    else
        print_whole(TerminalText(text_of_checks(checks)));
    return exit_code_of(options, checks);
}

} // namespace qc::cli
