// SPDX-License-Identifier: BSD-2-Clause-Patent
// One title, on this machine: divided, scored side by side, merged, shown.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <thread>

#include "ffmpeg/runs.hpp"
#include "ffmpeg/said.hpp"
#include "logs/log_writing.hpp"
#include "logs/logs.hpp"
#include "logs/summary.hpp"
#include "parts/commands.hpp"
#include "parts/merging.hpp"
#include "parts/plan.hpp"
#include "process/gpus.hpp"
#include "process/process.hpp"
#include "process/progress.hpp"
#include "results/outputs.hpp"
#include "results/results.hpp"
#include "words/advice.hpp"
#include "words/terminal.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr size_t kCoresPerPart = 4; ///< of the CPU backend, which uses them all by itself; decoders do not
/// Frames, where nobody asked for a number of parts. On one machine: less is over before a second one starts. Of a
/// cluster's tasks, each of which takes seconds to start: some ten seconds of work.
constexpr int64_t kShortestPart = 500, kShortestTask = 3000;
constexpr size_t kMostParts = 10000;
constexpr uintmax_t kLongTitle = uintmax_t{32} << 20; ///< bytes of all inputs, from which on a title is surely divided

/// How many parts, if they become long enough.
size_t parts_for(const Options& options, const std::vector<std::string>& gpus, size_t videos) {
    if (options.parts > 0) return static_cast<size_t>(options.parts);
    return options.cluster.engine.empty() ? parts_of_machine(gpus, videos) : kMostParts;
}

int64_t shortest_part(const Options& options) {
    if (options.parts > 0) return 2 * kLeadFrames;
    return options.cluster.engine.empty() ? kShortestPart : kShortestTask;
}

void note(const Options& options, const std::string& line) {
    if (!options.is_quiet) say(line);
}

Failure failed(const std::string& what, const Outcome& outcome) {
    return Failure(what + ": " + in_this_commands_words(reason_of(outcome)));
}

/// The filter's words for what was noticed about the whole title.
void pass_on_warnings(const std::vector<std::string>& lines, Findings* findings) {
    for (const std::string& line : lines) findings->add("filter", in_this_commands_words(line));
}

void pass_on_damage(const std::vector<Outcome>& outcomes, const std::vector<Command>& commands, Findings* findings) {
    const Damage damage(outcomes, commands);
    findings->add_damage(damage.count(), damage.text());
}

/// @param made the commands that it runs
void score_whole(const Tools& tools, const Options& options, const Title& title, const std::string& log,
                 Provenance* made, Findings* findings) {
    const Command command = whole_command(tools, title, log);
    made->parts = {shell_text(command.arguments)};
    Outcome outcome;
    {
        Progress progress({{title.parts[0].frames}}, !options.is_quiet);
        const bool reads_input = std::find(title.inputs.begin(), title.inputs.end(), "-") != title.inputs.end();
        outcome = run_side_by_side({command}, 1, [&](size_t run, const std::string& line) { progress.take(run, line); },
                                   {.gives_input = reads_input, .gpus = find_gpus(options.gpus)})
                      .front();
    }
    if (!outcome.ok()) throw failed(title.inputs[0], outcome);
    pass_on_damage({outcome}, {command}, findings);
    pass_on_warnings(warnings_of(outcome), findings);
}

/// The parts of each process. Processes make their contexts, and give them back, one after the other, on all GPUs of a
/// machine; so of several GPUs each has one process, if ffmpeg runs parts side by side. Within a process its parts wait
/// for each other a little: on a single GPU each part is a process.
std::vector<std::vector<size_t>> processes_of(const Tools& tools, const Title& title, size_t gpus) {
    const size_t parts = title.parts.size(), count = gpus > 1 && tools.is_threaded ? std::min(gpus, parts) : parts;
    std::vector<std::vector<size_t>> processes(count);
    for (size_t part = 0; part < parts; ++part) processes[part % count].push_back(part);
    return processes;
}

/// The processes that score a title's parts.
struct PartRuns {
    std::vector<std::string> records;       ///< of each part
    std::vector<std::vector<size_t>> parts; ///< of each process
    std::vector<Command> commands;
};

PartRuns part_runs(const Tools& tools, const Title& title, size_t gpus, const TemporaryFolder& folder) {
    PartRuns runs{{}, processes_of(tools, title, gpus), {}};
    runs.records.reserve(title.parts.size());
    runs.commands.reserve(runs.parts.size());
    for (size_t part = 0; part < title.parts.size(); ++part)
        runs.records.push_back(folder.file("part" + std::to_string(part) + ".record"));
    for (const std::vector<size_t>& parts : runs.parts) {
        std::vector<std::string> records;
        records.reserve(parts.size());
        for (const size_t part : parts) records.push_back(runs.records[part]);
        runs.commands.push_back(parts_command(tools, title, parts, records));
    }
    return runs;
}

/// A title's processes, started while it is not yet known where its parts begin: until then they make their contexts on
/// the GPUs, which takes as long as finding that out.
class EarlyRuns {
public:
    EarlyRuns(const Tools& tools, const Title& title, const std::vector<std::string>& gpus, size_t parts,
              const TemporaryFolder& folder)
        : folder_(folder) {
        Title likely = title;
        likely.parts.assign(parts, {std::vector<Stretch>(title.inputs.size(), Stretch{.seek = 1}), false, false});
        likely.parts.front().is_first = likely.parts.back().is_last = true;
        const PartRuns runs = part_runs(tools, likely, gpus.size(), folder);
        for (size_t i = 0; i < runs.commands.size(); ++i) {
            Told unknown;
            commands_.push_back(told_later(runs.commands[i], files_of(i), &unknown));
            begun_.start(commands_.back(), i % gpus.size(), gpus[i % gpus.size()]);
        }
    }

    /// Lets them go on. @return nullptr: these would need other ones
    Begun* go_on(const std::vector<Command>& commands) {
        std::vector<Told> told(commands.size());
        if (commands.size() != commands_.size()) return nullptr;
        for (size_t i = 0; i < commands.size(); ++i)
            if (told_later(commands[i], files_of(i), &told[i]).arguments != commands_[i].arguments) return nullptr;
        for (size_t i = 0; i < commands.size(); ++i) {
            for (const auto& [path, text] : told[i].files) write_whole(path, text);
            begun_.give(i, told[i].first);
        }
        return &begun_;
    }

private:
    std::string files_of(size_t process) const { return folder_.file("told" + std::to_string(process) + "."); }

    const TemporaryFolder& folder_;
    std::vector<Command> commands_;
    Begun begun_;
};

/// Beside the parts runs the merge, which takes each record when it is whole.
/// @param early nothing, or what was started before; it goes with this
void score_parts(const Tools& tools, const Options& options, const Title& title, const TemporaryFolder& folder,
                 const std::string& log, std::unique_ptr<EarlyRuns> early, Provenance* made, Findings* findings) {
    const std::vector<std::string> gpus = find_gpus(options.gpus);
    const PartRuns runs = part_runs(tools, title, gpus.size(), folder);
    for (const std::string& record : runs.records)
        for (const char* ending : {"", kUnfinishedRecord}) std::filesystem::remove(record + ending);
    std::vector<Command> commands = runs.commands;
    std::vector<Progress::Run> shown;
    for (size_t i = 0; i < commands.size(); ++i) {
        shown.push_back({0, static_cast<int64_t>(runs.parts[i].size())});
        for (const size_t part : runs.parts[i]) shown.back().frames += title.parts[part].frames;
        made->parts.push_back(shell_text(commands[i].arguments));
    }
    Begun* const begun = early ? early->go_on(runs.commands) : nullptr;
    if (begun == nullptr) early.reset();
    made->merge = merger();
    MergeBeside merge(title, runs.records, log);
    const Companion companion = merge.companion();
    std::vector<Outcome> outcomes;
    {
        // The merge would wait for it for ever.
        const auto has_recorded = [&](size_t run) -> std::string {
            std::error_code error;
            for (const size_t part : runs.parts[run])
                if (!std::filesystem::exists(runs.records[part], error)) return "ffmpeg ended without a record";
            return "";
        };
        Progress progress(shown, !options.is_quiet);
        outcomes = run_side_by_side(commands, runs.parts.size(),
                                    [&](size_t run, const std::string& line) { progress.take(run, line); },
                                    {.gpus = gpus,
                                     .companion = &companion,
                                     .check = has_recorded,
                                     .leaves_at_once = !gpus.empty(),
                                     .begun = begun});
    }
    for (size_t i = 0; i < runs.parts.size(); ++i)
        if (outcomes[i].status > 0)
            throw failed((runs.parts[i].size() > 1 ? "parts " : "part ") + listed(runs.parts[i]) + " of " +
                             title.inputs[0],
                         outcomes[i]);
    const Merged& merged = merge.finish();
    if (merged.status == QCR_MERGE_INEXACT) throw InexactParts(merged.reason);
    if (merged.status != QCR_MERGED) throw Failure(title.inputs[0] + ": " + in_this_commands_words(merged.reason));
    pass_on_damage(outcomes, commands, findings);
    pass_on_warnings(merged.warnings, findings);
}

Provenance score_as_divided(const Tools& tools, const Options& options, Title& title, const TemporaryFolder& folder,
                            const std::string& log, std::unique_ptr<EarlyRuns> early, Findings* findings) {
    Provenance made = provenance_of(options);
    if (!title.why_one_part.empty() && options.parts != 1) note(options, title.why_one_part + ": scored in one part");
    if (title.parts.size() == 1) {
        early.reset();
        score_whole(tools, options, title, log, &made, findings);
        return made;
    }
    try {
        score_parts(tools, options, title, folder, log, std::move(early), &made, findings);
    } catch (const InexactParts& inexact) {
        note(options, std::string("the parts do not make one run, scored in one part: ") + inexact.what());
        title.parts.resize(1);
        made.merge.clear();
        score_whole(tools, options, title, log, &made, findings);
    }
    return made;
}

/// Where the GPU's decoders fail, those of the CPU may do.
Provenance score_somehow(const Tools& tools, const Options& options, Title& title, const TemporaryFolder& folder,
                         const std::string& log, std::unique_ptr<EarlyRuns> early, Findings* findings) {
    try {
        return score_as_divided(tools, options, title, folder, log, std::move(early), findings);
    } catch (const Interrupted&) {
        throw;
    } catch (const Failure& failure) {
        if (!title.decodes_on_gpu || options.hwaccel == "cuda") throw;
        note(options, std::string("decoding on the GPU failed, decoding on the CPU: ") + failure.what());
        title.decodes_on_gpu = false;
        return score_as_divided(tools, options, title, folder, log, nullptr, findings);
    }
}

bool are_files(const Title& title) {
    return std::all_of(title.inputs.begin(), title.inputs.end(), [](const std::string& path) {
        std::error_code error;
        return std::filesystem::is_regular_file(path, error);
    });
}

/// The first frames of a title that may be divided are scored for the rate that the filter will believe. Of files
/// alone: what a pipe gives can be read once.
class HeadRun {
public:
    HeadRun(const Tools& tools, const std::string& folder)
        : tools_(tools), record_((std::filesystem::path(folder) / "head.record").string()) {}

    void start(const Title& title) {
        if (!are_files(title)) return;
        std::filesystem::remove(record_);
        command_ = head_command(tools_, title, record_);
        outcome_ = std::async(std::launch::async, [command = command_] { return run(command); });
    }

    /// @param title as it turned out to be
    void read_rate(Title* title) {
        if (outcome_.valid() && head_command(tools_, *title, record_).arguments != command_.arguments) outcome_.get();
        if (!outcome_.valid()) start(*title);
        const Outcome outcome = outcome_.get();
        if (!outcome.ok()) throw failed(title->inputs[0], outcome);
        cli::read_rate(record_, &title->frame_rate, &title->tolerance);
        std::filesystem::remove(record_);
    }

    std::future<Outcome> let_go() { return std::move(outcome_); }

private:
    const Tools& tools_;
    std::string record_;
    Command command_;
    std::future<Outcome> outcome_; ///< its destructor waits
};

/// Of the videos as they were typed, the reference last: in the filter's order.
template <typename T>
std::vector<T> in_filters_order(const std::vector<T>& videos) {
    std::vector<T> ordered = {videos.front(), videos.back()};
    ordered.insert(ordered.end(), videos.begin() + 1, videos.end() - 1);
    return ordered;
}

Title undivided(const Options& options, const std::vector<std::string>& videos, const std::vector<std::string>& gpus) {
    Title title;
    title.wish = options.wish;
    title.inputs = in_filters_order(videos);
    title.openings = in_filters_order(openings_of(options.openings, videos));
    title.windows.resize(videos.size());
    title.decodes_on_gpu = decodes_on_gpu(options, gpus);
    settle_decoding(options, &title);
    return title;
}

/// Side by side: each may take a second, and needs nothing of the others, except raw pictures that nobody gave a rate.
std::vector<Input> probe_all(const Tools& tools, Title* title) {
    std::vector<std::future<Input>> probes(title->inputs.size());
    std::vector<Input> inputs(title->inputs.size());
    std::string rate;
    for (const bool is_raw : {false, true}) {
        const auto is_due = [&](size_t i) { return title->openings[i].is_raw() == is_raw; };
        for (size_t i = 0; i < inputs.size(); ++i) {
            if (!is_due(i)) continue;
            Opening& opening = title->openings[i];
            if (is_raw && opening.frame_rate.empty()) opening.frame_rate = rate;
            probes[i] = std::async(std::launch::async,
                                   [&tools, path = title->inputs[i], opening] { return probe(tools, path, opening); });
        }
        for (size_t i = 0; i < inputs.size(); ++i) {
            if (!is_due(i)) continue;
            inputs[i] = probes[i].get();
            title->openings[i] = inputs[i].opening;
            if (!is_raw && rate.empty()) rate = inputs[i].rate_text;
        }
    }
    return inputs;
}

/// Nothing, if what they would make ready may not be needed, or not for long.
std::unique_ptr<EarlyRuns> start_early(const Tools& tools, const Options& options, const TemporaryFolder& folder) {
    const std::vector<std::string> gpus = find_gpus(options.gpus);
    const Title title = undivided(options, options.videos, gpus);
    const size_t parts = parts_for(options, gpus, title.inputs.size());
    if (!tools.is_threaded || gpus.empty() || !title.decodes_on_gpu || parts < 2 || !are_files(title)) return nullptr;
    uintmax_t bytes = 0;
    std::error_code error;
    for (const std::string& path : title.inputs) bytes += std::filesystem::file_size(path, error);
    if (error || bytes < kLongTitle) return nullptr;
    return std::make_unique<EarlyRuns>(tools, title, gpus, parts, folder);
}

/// The reference's, unless something else is scored than the whole of it.
StreamFacts scored_size(const Title& title) {
    const Wish& wish = title.wish;
    const bool is_whole = wish.scale_to.empty() && wish.crop.empty() && wish.roi.empty();
    return is_whole && title.facts.size() > 1 ? title.facts[1] : StreamFacts();
}

} // namespace

void refuse_overwriting(const std::vector<std::string>& videos, const std::string& log) {
    if (log.empty()) return;
    Outputs outputs;
    for (const std::string& each : videos) outputs.reads(each, "a video");
    for (const std::string& name : log_names(log, layout_of_ending(log) == Layout::kJsonLines ? 1 : videos.size() - 1))
        outputs.writes(name, "the log");
    outputs.writes(provenance_name(log), "what is beside the log");
}

void settle_decoding(const Options& options, Title* title) {
    const auto is_in_host_memory = [](const Opening& each) { return each.needs_host_memory(); };
    const auto found = std::find_if(title->openings.begin(), title->openings.end(), is_in_host_memory);
    if (found == title->openings.end()) return;
    if (options.hwaccel == "cuda")
        throw Failure("--hwaccel=cuda: " + title->inputs[static_cast<size_t>(found - title->openings.begin())] +
                          (found->is_turned ? " is turned by its container" : " is filtered or raw") +
                          ", which is done on the CPU; auto and none are accepted",
                      kMisused);
    title->decodes_on_gpu = false;
}

bool decodes_on_gpu(const Options& options, const std::vector<std::string>& gpus) {
    return options.hwaccel == "cuda" || (options.hwaccel == "auto" && !gpus.empty());
}

size_t parts_of_machine(const std::vector<std::string>& gpus, size_t videos) {
    if (!gpus.empty()) return gpus.size() * parts_of_gpu(videos);
    return std::max<size_t>(1, std::thread::hardware_concurrency() / kCoresPerPart);
}

Title prepare(const Tools& tools, const Options& options, const std::vector<std::string>& videos,
              const std::string& folder, std::future<Outcome>* untold) {
    const std::vector<std::string> gpus = find_gpus(options.gpus);
    tools.require_option("convert", "--convert", options.wish.convert);
    tools.require_option("crop", "--crop", options.wish.crop);
    Title title = undivided(options, videos, gpus);
    const size_t wanted = why_undivided(title).empty() ? parts_for(options, gpus, videos.size()) : 1;
    HeadRun head(tools, folder);
    if (wanted > 1 && !title.wish.is_cut()) head.start(title); // beside the probes
    std::vector<Input> inputs = probe_all(tools, &title);
    settle_decoding(options, &title);
    for (const Input& each : inputs) {
        if (!each.note.empty()) note(options, each.note);
        title.facts.push_back(each.facts);
    }
    cut(&inputs, &title);
    const int64_t shortest = shortest_part(options);
    const bool is_long = static_cast<int64_t>(inputs[0].pts.size()) >= 2 * shortest;
    const bool may_divide = wanted > 1 && is_long && std::all_of(inputs.begin(), inputs.end(), [](const Input& each) {
                                return each.why_whole.empty();
                            });
    if (may_divide)
        head.read_rate(&title);
    else
        *untold = head.let_go();
    divide(inputs,
           static_cast<size_t>(std::max(options.parts, 0)) > wanted ? static_cast<size_t>(options.parts) : wanted,
           shortest, &title);
    return title;
}

Provenance provenance_of(const Options& options) {
    std::error_code error;
    return {{without_passwords(shell_text(options.command_line))},
            std::filesystem::current_path(error).string(),
            QC_VERSION,
            {},
            {},
            {}};
}

ExitCode score(const Options& options) {
    const std::vector<Condition> conditions = conditions_of(options);
    require_layout(options.output, false);
    refuse_overwriting(options.videos, options.output);
    if (is_special_file(options.output) && options.videos.size() > 2)
        throw Failure("--output=" + options.output +
                          ": it has room for one log; a file is accepted for several renditions",
                      kMisused);
    const Tools tools = find_tools(options.ffmpeg);
    const TemporaryFolder folder;
    std::unique_ptr<EarlyRuns> early = start_early(tools, options, folder);
    std::future<Outcome> untold;
    Title title = prepare(tools, options, options.videos, folder.file(""), &untold);
    // What is no regular file is written to when the log is whole: it cannot be read again. Nor can the table be made
    // of other layouts than JSON.
    const bool is_stream = is_special_file(options.output), is_kept = !options.output.empty();
    const Layout layout = layout_of_ending(options.output);
    const bool is_json = layout == Layout::kJson;
    const std::string output = is_kept ? std::filesystem::absolute(options.output).string() : "";
    const std::string log = is_kept && is_json && !is_stream ? output : folder.file("scores.json");
    if (is_kept && layout == Layout::kJsonLines) title.times = folder.file("times");
    Findings findings;
    const std::vector<SourceFile> files = sources_of(title);
    const auto begin = std::chrono::steady_clock::now();
    Provenance made = score_somehow(tools, options, title, folder, log, std::move(early), &findings);
    const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - begin;
    made.files = files;
    if (is_kept && (is_stream || !is_json))
        write_log_as({log, title.inputs.size() - 1, scored_size(title), title.times}, output);
    if (is_kept && !is_stream) write_provenance(output, made);
    return present(options, title, log, conditions, findings, lasted.count());
}

} // namespace qc::cli
