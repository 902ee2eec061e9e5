// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "verify/again.hpp"

#include <cmath>
#include <filesystem>
#include <utility>

#include "logs/logs.hpp"
#include "results/results.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

/// Of what a log and JSON say: what is no finite number may be told in several words.
bool are_equal(double a, double b) {
    return a == b || (!std::isfinite(a) && !std::isfinite(b));
}

/// The videos in the order in which they are typed: the reference last.
std::vector<std::string> videos_of(const Provenance& made) {
    std::vector<std::string> videos;
    for (const SourceFile& each : made.files) videos.push_back(each.path);
    if (videos.size() < 2) throw Failure("--again: the videos are not recorded");
    std::string reference = videos[1];
    videos.erase(videos.begin() + 1);
    videos.push_back(std::move(reference));
    return videos;
}

/// A command from beside a log is a stranger's: it chooses what is scored, and how, and nothing else.
void require_harmless(const Options& wanted, const Provenance& made, bool is_trusted) {
    for (const SourceFile& each : made.files)
        if (each.path == "-") throw Failure("--again: what standard input gave is gone");
    if (is_trusted) return;
    const std::string remedy = ": --trust-command accepts it, if you know where " + std::string("the log comes from");
    if (!wanted.openings.filters.empty())
        throw Failure("--again: the recorded command has --filter, which may read and write other files" + remedy);
    for (const SourceFile& each : made.files)
        if (each.checksum.empty()) throw Failure("--again: " + each.path + " is no file of this machine" + remedy);
}

Check difference(const ScoreLog& log, const ScoreLog& again) {
    const auto no = [](const std::string& text) { return Check{"again", Held::kNo, text}; };
    if (log.frames != again.frames)
        return no(std::to_string(log.frames.size()) + " frames, and again " + std::to_string(again.frames.size()));
    if (log.scores.size() != again.scores.size())
        return no(std::to_string(log.scores.size()) + " scores, and again " + std::to_string(again.scores.size()));
    size_t different = 0;
    std::string first;
    for (size_t i = 0; i < log.scores.size(); ++i) // XML cannot write all names: their order is the same
        for (size_t k = 0; k < log.frames.size(); ++k) {
            const double a = log.scores[i].values[k], b = again.scores[i].values[k];
            if (are_equal(a, b)) continue;
            if (different++ == 0)
                first = log.scores[i].name + " of frame " + std::to_string(log.frames[k]) + " is " + fixed(a, 6) +
                        ", and again " + fixed(b, 6);
        }
    const size_t all = log.scores.size() * log.frames.size();
    if (different > 0) return no(std::to_string(different) + " of " + std::to_string(all) + " scores differ: " + first);
    return {"again", Held::kYes, "all " + std::to_string(all) + " scores are the same"};
}

} // namespace

Check score_again(const VerifyOptions& options, const ScoreLog& log, const Provenance& made,
                  const CommandParser& parse) {
    if (made.commands.empty()) throw Failure("--again: the command is not recorded");
    const std::vector<std::string> arguments = arguments_of(made.commands.front());
    const bool is_known = arguments.size() > 1 && (arguments[1] == "score" || arguments[1] == "plan");
    if (!is_known) throw Failure("--again: the recorded command is no score and no plan of quality-cuda");
    Options wanted = parse({arguments.begin() + 1, arguments.end()});
    if (!wanted.titles.empty()) throw Failure("--again: the options are in " + wanted.titles + ", not in the command");
    require_harmless(wanted, made, options.trusts_command);
    std::error_code error;
    std::filesystem::current_path(made.folder, error); // what options name may be told from there
    const TemporaryFolder folder;
    Options run;
    run.videos = videos_of(made);
    run.ffmpeg = options.ffmpeg;
    run.openings = wanted.openings;
    run.wish = wanted.wish;
    run.parts = wanted.parts;
    run.hwaccel = wanted.hwaccel;
    run.output = folder.file("again.json");
    run.is_quiet = true;
    score(run);
    return difference(log, read_scores(run.output));
}

} // namespace qc::cli
