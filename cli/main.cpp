// SPDX-License-Identifier: BSD-2-Clause-Patent
// The command quality-cuda.
#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cluster/cluster.hpp"
#include "compare/compare.hpp"
#include "options/completion.hpp"
#include "options/number_between.hpp"
#include "options/report_options.hpp"
#include "options/score_names.hpp"
#include "parts/commands.hpp"
#include "process/process.hpp"
#include "report/report.hpp"
#include "text/nearest.hpp"
#include "verify/verify.hpp"
#include "words/terminal.hpp"

namespace {

using qc::cli::Failure;
using qc::cli::Options;

void add_wishes(CLI::App* command, Options* options) {
    qc::cli::Wish& wish = options->wish;
    command->add_option("-m,--metrics", wish.metrics, "metrics joined by +, e.g. vmaf+psnr (default vmaf)");
    command->add_option("--model", wish.model, "VMAF models joined by |, e.g. vmaf_v0.6.1neg or auto");
    command->add_option("--feature", wish.feature, "further features in libvmaf's syntax");
    command->add_option("--opts", wish.opts, "options of the metrics: METRIC.OPTION=VALUE|...");
    command->add_option("--scale", wish.scale,
                        "how videos of another size are scaled: bicubic, lanczos, bilinear or area");
    command->add_option("--roi", wish.roi,
                        "the rectangle that is scored: X:Y:WIDTH:HEIGHT in the reference's luma samples");
    command->add_option("--on-unsupported", wish.on_unsupported,
                        "fail or skip: what becomes of a metric that the pictures do not suit");
    command->add_option("--backend", wish.backend, "auto, cuda or cpu: where scores are computed")
        ->check(CLI::IsMember({"auto", "cuda", "cpu"}));
    command->add_option("--subsample", wish.n_subsample, "log every n-th pair only")->check(CLI::Range(1, 1000000));
    command->add_option("--max-dt", wish.max_dt, "largest distance of a pair in seconds (default half a frame)")
        ->check(qc::cli::number_between(0, 1e6));
    command->add_option("--scale-to", wish.scale_to, "the size that is scored: reference, main, or WIDTHxHEIGHT");
    command->add_option("--bitdepth", wish.bitdepth, "10: inputs of 8 bits are scored at 10 bits")
        ->check(CLI::IsMember({"10"}));
    command
        ->add_option("--align", wish.align,
                     "delay (of less than a frame, the default), none, start (each video's time counts from its first "
                     "frame) or auto (what the pictures tell)")
        ->check(CLI::IsMember({"delay", "none", "start", "auto"}));
    command->add_option("--sync", wish.sync, "nearest, floor or index: how a frame finds its partner")
        ->check(CLI::IsMember({"nearest", "floor", "index"}));
    command
        ->add_option(
            "--eof-action", wish.eof_action,
            "pass, endall or repeat (its last frame is used again): what happens when the reference ends first")
        ->check(CLI::IsMember({"pass", "endall", "repeat"}));
    command->add_flag("--allow-unpaired", wish.allows_unpaired, "accept that most frames have no partner");
    command->add_option("--range", wish.range, "auto, ignore or error: what becomes of colour tags that differ")
        ->check(CLI::IsMember({"auto", "ignore", "error"}));
    command->add_option("--convert", wish.convert, "auto, off or error: what becomes of formats that differ")
        ->check(CLI::IsMember({"auto", "off", "error"}));
    command->add_option("--crop", wish.crop, "auto, or WIDTH:HEIGHT:X:Y: the part of the pictures that is compared");
    command
        ->add_option("--film-grain", wish.film_grain,
                     "on or off: whether decoders add the film grain that a stream describes")
        ->check(CLI::IsMember({"on", "off"}));
    command
        ->add_option("--container-crop", wish.container_crop,
                     "on or off: whether the cropping that a container asks for is done (FFmpeg 7.1 and later)")
        ->check(CLI::IsMember({"on", "off"}));
    command->add_option("--start", wish.start, "seconds of the title at which scoring begins")
        ->check(qc::cli::number_between(0, 1e7));
    command->add_option("--duration", wish.duration, "seconds of the title that are scored")
        ->check(qc::cli::number_between(0, 1e7));
    command->add_option("--frames", wish.frames, "frames of the first distorted video that are scored")
        ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
    command
        ->add_option("--parts", options->parts,
                     "parts that are scored side by side (default: what this machine serves well)")
        ->check(CLI::Range(1, 10000));
}

/// Each may be given again, for all videos or, with ref:, dist:, dist1: or a number before it, for one of them.
void add_openings(CLI::App* command, Options* options) {
    qc::cli::OpeningWishes& openings = options->openings;
    const std::pair<const char*, std::pair<std::vector<std::string>*, const char*>> list[] = {
        {"--stream",
         {&openings.streams, "the video stream that is scored, by its number in the file (default: the longest one)"}},
        {"--size", {&openings.sizes, "WIDTHxHEIGHT of raw pictures (.yuv, .raw)"}},
        {"--pixel-format", {&openings.pixel_formats, "format of raw pictures, as FFmpeg calls it (default yuv420p)"}},
        {"--framerate",
         {&openings.frame_rates,
          "frames per second of raw pictures (default: the other video's), or instead of what a file claims"}},
        {"--rotate",
         {&openings.rotations, "90, 180, 270 (clockwise), hflip or vflip: turns the distorted videos before scoring"}},
        {"--filter", {&openings.filters, "a chain of FFmpeg's filters before scoring, e.g. ref:bwdif"}}};
    for (const auto& [name, what] : list)
        command->add_option(name, *what.first, std::string(what.second) + "; [ref:|dist:|N:] before it, given again")
            ->allow_extra_args(false)
            ->type_name("[WHICH:]TEXT");
}

void add_common(CLI::App* command, Options* options) {
    command->add_option("--ffmpeg", options->ffmpeg,
                        "the ffmpeg to run (default: the one beside this program, otherwise that on the PATH)");
    command->add_flag("-q,--quiet", options->is_quiet, "say nothing but errors and what makes a number doubtful");
}

void add_decoding(CLI::App* command, Options* options) {
    command
        ->add_option("--hwaccel", options->hwaccel,
                     "auto, cuda or none: decoding on the GPU; auto falls back to the CPU")
        ->check(CLI::IsMember({"auto", "cuda", "none"}));
}

void add_findings(CLI::App* command, Options* options, const std::string& what) {
    command->add_flag("--json", options->as_json, "print " + what + " as JSON");
    command->add_flag("--strict", options->is_strict, "exit code 4 where anything makes a number doubtful");
}

void add_gpus(CLI::App* command, Options* options) {
    command->add_option("--gpus", options->gpus,
                        "GPUs to use, as CUDA_VISIBLE_DEVICES names them, e.g. 0,2 (default: all that are visible)");
}

/// @param is_needed without it there is nothing that the command could do
void add_cluster(CLI::App* command, Options* options, bool is_needed) {
    qc::cli::Cluster& cluster = options->cluster;
    CLI::Option* engine = command->add_option("--on", cluster.engine, "slurm: the shards become jobs of a cluster")
                              ->check(CLI::IsMember({"slurm"}));
    engine->required(is_needed);
    command->add_option("--sbatch", cluster.sbatch, "options of sbatch, e.g. '--partition=gpu'; may be given again")
        ->allow_extra_args(false)
        ->needs(engine);
    command
        ->add_option("--gres", cluster.gres,
                     "what a task asks Slurm for: auto (a GPU if the cluster has some), none, or e.g. gpu:h100:2")
        ->needs(engine);
    command->add_option("--retries", cluster.retries, "how often a task that fails is queued again (default 2)")
        ->check(CLI::Range(0, 100))
        ->needs(engine);
    command->add_flag("--no-wait", cluster.returns_at_once, "return when the jobs are submitted")->needs(engine);
}

void require_videos(const Options& options) {
    if (options.videos.size() < 2)
        throw Failure("one video alone: at least a distorted one and, last, its reference are accepted",
                      qc::cli::kMisused);
    if (options.videos.size() > 17)
        throw Failure("more than 16 distorted videos: at most 16 can share a reference", qc::cli::kMisused);
}

void define_score(CLI::App* app, Options* options) {
    CLI::App* command = app->add_subcommand("score", "scores distorted videos against their reference");
    command->add_option("videos", options->videos, "distorted videos, and last their reference")
        ->required()
        ->type_name("DIST... REF");
    add_wishes(command, options);
    add_openings(command, options);
    add_common(command, options);
    add_decoding(command, options);
    add_gpus(command, options);
    add_cluster(command, options, false);
    command->add_option("-o,--output", options->output,
                        "the log, in the layout of its ending: .json, .csv, .xml, .jsonl (default: none is kept)");
    command->add_flag("--all-scores", options->shows_all,
                      "show all scores, those that feed a model too, and not only what was asked for");
    add_findings(command, options, "the summary");
    command
        ->add_option("--fail-if", options->fail_if,
                     "a condition such as vmaf.p5<90, which makes the exit code 3; may be given again")
        ->allow_extra_args(false);
}

void define_steps(CLI::App* app, Options* options) {
    CLI::App* plan = app->add_subcommand("plan", "divides titles into shards; prints how many there are");
    plan->add_option("plan", options->plan, "the plan to write")->required()->type_name("PLAN");
    plan->add_option("videos", options->videos, "distorted videos, and last their reference")->type_name("DIST... REF");
    plan->add_option("--titles", options->titles, "a list of titles, as JSON");
    plan->add_option("-o,--output", options->output,
                     "the log of the title on the command line (default: DIST.scores.json)");
    add_wishes(plan, options);
    add_openings(plan, options);
    add_common(plan, options);
    CLI::App* shard = app->add_subcommand("shard", "scores one shard of a plan, unless that was done before");
    shard->add_option("plan", options->plan, "the plan")->required()->type_name("PLAN");
    shard->add_option("number", options->shard, "from 0 on; or TASK/TASKS: those of one of so many tasks")
        ->required()
        ->type_name("N");
    add_common(shard, options);
    add_decoding(shard, options);
    add_gpus(shard, options);
    add_findings(shard, options, "what was found of each shard");
    CLI::App* submit = app->add_subcommand("submit", "has a cluster score a plan's shards and merge them");
    submit->add_option("plan", options->plan, "the plan")->required()->type_name("PLAN");
    add_common(submit, options);
    add_decoding(submit, options);
    add_cluster(submit, options, true);
    add_findings(submit, options, "the titles' summaries, with --no-wait the jobs' numbers,");
    CLI::App* merge = app->add_subcommand("merge", "makes the logs of all titles whose shards are done");
    merge->add_option("plan", options->plan, "the plan")->required()->type_name("PLAN");
    add_common(merge, options);
    add_findings(merge, options, "the titles' summaries");
}

qc::cli::ExitCode dispatch(const CLI::App& app, const Options& options) {
    if (app.got_subcommand("shard")) return run_shard(options);
    if (app.got_subcommand("merge")) return merge_plan(options);
    if (app.got_subcommand("submit")) return submit_plan(options);
    if (app.got_subcommand("plan")) {
        if (!options.videos.empty() || options.titles.empty()) require_videos(options);
        return make_plan(options);
    }
    if (qc::cli::is_batch(options.videos) && options.videos.size() > 1) {
        if (!options.cluster.engine.empty())
            throw Failure("--on=slurm: folders and patterns are scored on one machine; a plan with --titles takes many",
                          qc::cli::kMisused);
        return score_batch(options);
    }
    require_videos(options);
    return options.cluster.engine.empty() ? score(options) : score_on_cluster(options);
}

void define_doctor(CLI::App* app, Options* options) {
    CLI::App* command = app->add_subcommand("doctor", "tells what this machine can do, and whether it works");
    command->add_option("--ffmpeg", options->ffmpeg,
                        "the ffmpeg to look at (default: the one beside this program, otherwise that on the PATH)");
    add_gpus(command, options);
    command->add_flag("--json", options->as_json, "print it as JSON");
}

void define_verify(CLI::App* app, qc::cli::VerifyOptions* options) {
    CLI::App* command =
        app->add_subcommand("verify", "tells whether a log is whole, true and of the files that are here");
    command->add_option("log", options->log, "the log")->required()->type_name("LOG");
    CLI::Option* again = command->add_flag("--again", options->scores_again,
                                           "score again as the recorded command did, and compare every score");
    command
        ->add_flag("--trust-command", options->trusts_command,
                   "accept filters and URLs of the recorded command: you know where the log comes from")
        ->needs(again);
    command->add_option("--ffmpeg", options->ffmpeg,
                        "the ffmpeg to run (default: the one beside this program, otherwise that on the PATH)");
    command->add_flag("--json", options->as_json, "print it as JSON");
    command->add_flag("--strict", options->is_strict,
                      "exit code 4 where something could not be checked, or is of another version");
}

constexpr const char* kExamples = R"(Examples:
  quality-cuda score encode.mp4 master.mov
  quality-cuda score 1080p.mp4 720p.mp4 master.mov --scale bicubic -m vmaf+ssimulacra2 -o scores.json
  quality-cuda report scores.json --reference master.mov -o report.html
  quality-cuda help score
)";

std::vector<std::string> names_of_commands(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(each->get_name());
    return names;
}

void require_command(const CLI::App& app, const std::string& word) {
    const std::vector<std::string> names = names_of_commands(app);
    if (word.starts_with("-") || std::find(names.begin(), names.end(), word) != names.end()) return;
    std::string known;
    for (const std::string& each : names) known += (known.empty() ? "" : ", ") + each;
    const std::string meant = qc::suggestion(word, names);
    throw Failure("there is no command " + word + (meant.empty() ? "; there are " + known : meant), qc::cli::kMisused);
}

/// What CLI11 complains of, and the option that was meant, if it is one.
std::string complaint(const CLI::App& app, const CLI::ParseError& mistake, const std::vector<std::string>& words) {
    std::string text = mistake.what();
    const auto commands = app.get_subcommands();
    if (dynamic_cast<const CLI::ExtrasError*>(&mistake) == nullptr || commands.empty()) return text;
    std::vector<std::string> names;
    for (const CLI::Option* each : commands.front()->get_options())
        for (const std::string& name : each->get_lnames()) names.push_back("--" + name);
    for (const std::string& word : words) {
        const std::string name = word.substr(0, word.find('='));
        if (name.starts_with("--") && name.size() > 2 && std::find(names.begin(), names.end(), name) == names.end())
            return text + qc::suggestion(name, names);
    }
    return text;
}

/// `help` and `help COMMAND` as --help says it; and what shells ask for.
/// @return whether there is nothing else to do
bool answer(const CLI::App& app, std::vector<std::string>* words) {
    if (!words->empty() && words->front() == "__complete") {
        for (const std::string& line : qc::cli::completions(app, {words->begin() + 1, words->end()}))
            qc::cli::print_whole(qc::cli::TerminalText(line + "\n"));
        return true;
    }
    if (words->empty() || words->front() != "help") return false;
    if (words->size() == 1) {
        qc::cli::print_whole(qc::cli::TerminalText(app.help()));
        return true;
    }
    *words = {(*words)[1], "--help"};
    return false;
}

/// The short names that people type, as the filter takes them.
void settle_names(qc::cli::Wish* wish) {
    if (!wish->metrics.empty()) wish->metrics = qc::cli::settled_metrics(wish->metrics);
    if (!wish->model.empty()) wish->model = qc::cli::settled_models(wish->model);
}

/// What a command asked for that is not run.
Options options_of(const std::vector<std::string>& words) {
    CLI::App app;
    Options options;
    app.require_subcommand(1);
    define_score(&app, &options);
    define_steps(&app, &options);
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::ParseError& mistake) {
        throw Failure(std::string("--again: the recorded command is not one of this version: ") + mistake.what());
    }
    settle_names(&options.wish);
    return options;
}

int run_command(int argc, char** argv) {
    CLI::App app("Scores videos against their references with FFmpeg's filter quality_cuda: in parts, side by side.",
                 "quality-cuda");
    Options options;
    qc::cli::ReportOptions report;
    qc::cli::CompareOptions comparison;
    qc::cli::VerifyOptions verification;
    app.set_version_flag("--version", "quality-cuda " QC_VERSION);
    app.set_help_all_flag("--help-all", "print the options of all commands and exit");
    app.require_subcommand(1);
    app.footer(kExamples);
    define_score(&app, &options);
    define_steps(&app, &options);
    qc::cli::define_report(&app, &report);
    qc::cli::define_compare(&app, &comparison);
    define_verify(&app, &verification);
    define_doctor(&app, &options);
    std::vector<std::string> words(argv + 1, argv + argc);
    try {
        if (words.empty()) {
            qc::cli::say(qc::cli::TerminalText(app.help()));
            return qc::cli::kMisused;
        }
        if (answer(app, &words)) return qc::cli::kDone;
        require_command(app, words.front());
        app.parse(std::vector<std::string>(words.rbegin(), words.rend())); // CLI11 takes them from the end
        settle_names(&options.wish);
        // These two compute for some time without a child to wait for: a signal ends them as it ends any program.
        if (app.got_subcommand("report")) return qc::cli::report(report);
        if (app.got_subcommand("compare")) return qc::cli::compare(comparison);
        qc::cli::heed_signals();
        if (app.got_subcommand("verify")) return qc::cli::verify(verification, options_of);
        if (app.got_subcommand("doctor")) return qc::cli::examine(options);
        options.command_line.assign(argv, argv + argc);
        return dispatch(app, options);
    } catch (const CLI::ParseError& mistake) {
        if (mistake.get_exit_code() == 0) return app.exit(mistake);
        qc::cli::say("quality-cuda: " + complaint(app, mistake, words));
        return qc::cli::kMisused;
    } catch (const Failure& failure) {
        qc::cli::say(std::string("quality-cuda: ") + failure.what());
        return failure.code();
    }
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run_command(argc, argv);
    } catch (const std::exception& unforeseen) { // no memory, say
        qc::cli::say(std::string("quality-cuda: ") + unforeseen.what());
        return qc::cli::kFailed;
    }
}
