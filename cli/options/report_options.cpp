// SPDX-License-Identifier: BSD-2-Clause-Patent
// The options of `report` and `compare`.
#include "options/report_options.hpp"

#include <CLI/CLI.hpp>

#include "options/number_between.hpp"

namespace qc::cli {

namespace {

void add_comparison(CLI::App* command, ComparisonOptions* options) {
    command
        ->add_option("--threshold", options->thresholds,
                     "by how much a frame has to differ to count as better or worse: NUMBER or SCORE=NUMBER; may be "
                     "given again (default 1, or 0.01 for scores within -2 and 2)")
        ->allow_extra_args(false);
    command->add_option("--resamples", options->resampling.count, "draws of the bootstrap (default 5000)")
        ->check(CLI::Range(100, 1000000));
    command->add_option("--seed", options->resampling.seed, "of the draws (default 1)")
        ->check(CLI::Range(int64_t{0}, int64_t{4294967295}));
    command->add_option("--confidence", options->resampling.confidence, "of the intervals, per cent (default 95)")
        ->check(number_between(50, 99.9));
    command
        ->add_option("--scene-frames", options->window_frames,
                     "scenes of so many frames each (default: between cuts, docs/reference/report.md)")
        ->check(CLI::Range(2, 1000000));
}

} // namespace

void define_report(CLI::App* app, ReportOptions* options) {
    CLI::App* command = app->add_subcommand("report", "makes a page, a table or a plot of logs");
    command->add_option("logs", options->logs, "logs of whatever layout; of a ladder the first one's")
        ->required()
        ->type_name("LOG...");
    command->add_option("-o,--output", options->output, "the page, as HTML that needs no network");
    command->add_option("--csv", options->csv, "all frames as a table; -: standard output");
    command->add_option("--png", options->png, "a plot of one score over time (needs rsvg-convert)");
    command->add_option("--metric", options->metric,
                        "the score that the report begins with (default: the logs' first)");
    command->add_option("--reference", options->reference, "the reference video, for pictures of the worst scenes");
    command
        ->add_option("--distorted", options->distorted,
                     "a distorted video, for pictures and bit rates; given once for each encode, in their order")
        ->allow_extra_args(false);
    command->add_option("--plan", options->plan, "the plan by which the logs were made, which names the videos");
    command
        ->add_option(
            "--command", options->commands,
            "the command that made a LOG, where no LOG.commands tells it; given once for each LOG, in their order")
        ->allow_extra_args(false);
    command->add_option("--labels", options->labels, "names of the encodes, joined by commas");
    command->add_option("--ladders", options->ladders,
                        "names of ladders, one for each LOG, joined by commas: logs with one name are one ladder "
                        "(default: those whose files' names differ in numbers alone, otherwise each log is one)");
    command->add_option("--titles", options->titles,
                        "names of titles, one for each LOG, joined by commas: BD-rates are of each, and on average "
                        "(default: each reference is one)");
    command->add_option("--bit-rates", options->bit_rates, "kbit/s of the encodes, joined by commas");
    command
        ->add_option("--thumbnails", options->thumbnails,
                     "scenes of each encode that are shown in pictures (default 4)")
        ->check(CLI::Range(0, 10));
    command->add_flag("--compare", options->compare, "hold the encodes of further logs against those of the first");
    add_comparison(command, &options->comparison);
    command->add_option("--ffmpeg", options->ffmpeg,
                        "the ffmpeg to run (default: the one beside this program, otherwise that on the PATH)");
    command->add_flag("-q,--quiet", options->is_quiet, "say nothing but errors");
}

void define_compare(CLI::App* app, CompareOptions* options) {
    CLI::App* command = app->add_subcommand("compare", "tells what changed between two encodes of one title");
    command->add_option("a", options->a, "the log of the first encode")->required()->type_name("A");
    command->add_option("b", options->b, "the log of the other")->required()->type_name("B");
    command->add_option("-m,--metrics", options->comparison.metrics,
                        "scores joined by +, or all (default: those of models, and what is no feature of one)");
    command->add_flag("--json", options->as_json, "print the comparison as JSON");
    command
        ->add_option("--fail-if", options->fail_if,
                     "exit with code 3 if that holds, e.g. 'delta(vmaf.mean)<-1': by how much B is more than A; may be "
                     "given again")
        ->allow_extra_args(false);
    add_comparison(command, &options->comparison);
}

} // namespace qc::cli
