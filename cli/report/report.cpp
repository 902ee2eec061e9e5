// SPDX-License-Identifier: BSD-2-Clause-Patent
// The command `report`: logs in, a page, a table and a plot out.
#include "report/report.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "logs/logs.hpp"
#include "process/progress.hpp"
#include "report/encodes.hpp"
#include "report/ladders.hpp"
#include "report/packets.hpp"
#include "report/pairs.hpp"
#include "report/pictures.hpp"
#include "report/plot.hpp"
#include "report/report_page.hpp"
#include "results/outputs.hpp"
#include "results/results.hpp"
#include "words/failure.hpp"
#include "words/terminal.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr size_t kListedScenes = 10; ///< of each encode

std::string choose_score(const ReportOptions& options, const std::vector<Encode>& encodes) {
    if (options.metric.empty()) return headline_scores(encodes[0].log).front();
    for (const Encode& each : encodes)
        if (each.log.find(options.metric) != nullptr) return options.metric;
    std::string known;
    for (const Scores& each : encodes[0].log.scores) known += (known.empty() ? "" : ", ") + each.name;
    throw Failure("--metric=" + options.metric + ": the logs have no such score; " + known + " are accepted", kMisused);
}

WorstScene look_at(const Scores& scores, const Scene& scene, size_t encode, double sign) {
    WorstScene result{
        .encode = encode, .scene = scene, .mean = 0, .lowest = NAN, .worst_frame = scene.begin, .picture = {}};
    double sum = 0, count = 0;
    for (size_t i = scene.begin; i < scene.end; ++i) {
        const double value = scores.values[i];
        if (std::isnan(value)) continue;
        sum += value;
        ++count;
        if (std::isnan(result.lowest) || sign * value < sign * result.lowest) {
            result.lowest = value;
            result.worst_frame = i;
        }
    }
    result.mean = count > 0 ? sum / count : NAN;
    return result;
}

std::vector<WorstScene> worst_scenes(const Report& report) {
    const double sign = better(report.score) == Better::kLower ? -1 : 1;
    std::vector<WorstScene> worst;
    for (size_t i = 0; i < report.encodes.size(); ++i) {
        const Scores* const scores = report.encodes[i].log.find(report.score);
        std::vector<WorstScene> own;
        if (scores == nullptr) continue;
        for (const Scene& scene : report.encodes[i].scenes.list)
            if (WorstScene each = look_at(*scores, scene, i, sign); !std::isnan(each.mean))
                own.push_back(std::move(each));
        std::stable_sort(own.begin(), own.end(),
                         [sign](const WorstScene& a, const WorstScene& b) { return sign * a.mean < sign * b.mean; });
        own.resize(std::min(own.size(), kListedScenes));
        std::move(own.begin(), own.end(), std::back_inserter(worst));
    }
    return worst;
}

/// Reads the files at once, and finds which of their frames were scored.
std::vector<PairPlaces> find_places(const std::vector<Encode>& encodes, Files* files, bool is_quiet) {
    std::vector<std::string> paths;
    for (const Encode& each : encodes)
        for (const std::string& path : {each.main, each.reference, each.distorted})
            if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    Tally tally("reading files", paths.size(), !is_quiet);
    files->read(paths, [&] { tally.add(); });
    std::vector<PairPlaces> places;
    places.reserve(encodes.size());
    for (const Encode& each : encodes) places.push_back(pair_places(each, files));
    return places;
}

/// The first `wanted` scenes of each encode get pictures; the others are listed.
void add_pictures(const ReportOptions& options, const Tools* tools, const std::string& why_no_tools, Report* report) {
    std::vector<WorstScene> chosen;
    std::vector<size_t> numbers;
    size_t rank = 0;
    for (size_t i = 0; i < report->worst.size(); ++i) {
        rank = i > 0 && report->worst[i].encode == report->worst[i - 1].encode ? rank + 1 : 0;
        if (rank >= static_cast<size_t>(options.thumbnails)) continue;
        chosen.push_back(report->worst[i]);
        numbers.push_back(i);
    }
    if (options.thumbnails == 0) report->why_no_pictures = "none were asked for (--thumbnails 0)";
    if (tools == nullptr) {
        if (options.thumbnails > 0) report->why_no_pictures = why_no_tools;
        return;
    }
    Files files(*tools);
    const std::vector<PairPlaces> places = find_places(report->encodes, &files, options.is_quiet);
    add_packets(places, &files, &report->encodes);
    if (options.thumbnails == 0) return;
    report->why_no_pictures = take_pictures(*tools, report->encodes, places, &files, &chosen, options.is_quiet);
    for (size_t i = 0; i < chosen.size(); ++i) report->worst[numbers[i]].picture = std::move(chosen[i].picture);
}

ComparedPair compared(const std::vector<Encode>& encodes, size_t a, size_t b, const ComparisonOptions& options) {
    ComparedPair pair{a, b, {}, "", ""};
    try {
        pair.comparison = compare_logs(encodes[a].log, encodes[b].log, options);
    } catch (const Incomparable& refusal) { // which the page tells
        pair.refusal = refusal.what();
        pair.what_differs = refusal.what_differs();
    }
    return pair;
}

/// Each log's encodes with those of the first log, rendition by rendition.
void compare_encodes(const ReportOptions& options, Report* report) {
    if (options.logs.size() < 2)
        throw Failure(
            "--compare with one LOG: at least two are accepted, the first of which the others are held against",
            kMisused);
    for (size_t b = 0; b < report->encodes.size(); ++b) {
        const Encode& other = report->encodes[b];
        if (other.log_index == 0) continue;
        for (size_t a = 0; a < report->encodes.size(); ++a)
            if (report->encodes[a].log_index == 0 && report->encodes[a].rendition == other.rendition)
                report->comparisons.push_back(compared(report->encodes, a, b, options.comparison));
    }
}

/// @return whether there are any
bool say_refusals(const Report& report) {
    bool is_any = false;
    for (const ComparedPair& each : report.comparisons) {
        if (each.refusal.empty()) continue;
        say("quality-cuda: " + each.refusal);
        is_any = true;
    }
    return is_any;
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

/// All encodes, a row for each frame.
std::string csv_of(const std::vector<Encode>& encodes) {
    std::vector<std::string> names;
    for (const Encode& encode : encodes)
        for (const Scores& each : encode.log.scores)
            if (std::find(names.begin(), names.end(), each.name) == names.end()) names.push_back(each.name);
    std::string text = "log,rendition,label,frame,time";
    for (const std::string& name : names) text += "," + csv_field(name);
    text += "\n";
    for (const Encode& encode : encodes) {
        std::vector<const Scores*> columns;
        columns.reserve(names.size());
        for (const std::string& name : names) columns.push_back(encode.log.find(name));
        const std::string start =
            csv_field(encode.log.path) + "," + std::to_string(encode.rendition) + "," + csv_field(encode.label) + ",";
        const double rate = encode.log.frame_rate();
        for (size_t i = 0; i < encode.log.frames.size(); ++i) {
            const int64_t frame = encode.log.frames[i];
            text += start + std::to_string(frame) + "," + (rate > 0 ? fixed(static_cast<double>(frame) / rate, 6) : "");
            for (const Scores* column : columns)
                text += "," + (column != nullptr && !std::isnan(column->values[i]) ? fixed(column->values[i], 6) : "");
            text += "\n";
        }
    }
    return text;
}

void write_text(const std::string& path, const std::string& text) {
    if (path == "-") return print_whole(DataText(text));
    write_whole(path, text);
}

void require_options(const ReportOptions& options) {
    const Thresholds of_comparisons(options.comparison.thresholds); // wrong ones are, whether or not it comes to that
    if (options.output.empty() && options.csv.empty() && options.png.empty())
        throw Failure("report has nothing to write: -o FILE, --csv FILE or --png FILE is accepted", kMisused);
    if (!options.output.empty() && !has_page()) throw Failure(kWithoutPage);
    if (!options.plan.empty() && !options.distorted.empty())
        throw Failure("--plan and --distorted both name files: one of them is accepted", kMisused);
}

void refuse_overwriting(const ReportOptions& options) {
    Outputs outputs;
    for (const std::string& each : options.logs) outputs.reads(each, "a log");
    for (const std::string& each : options.distorted) outputs.reads(each, "a video");
    if (!options.reference.empty()) outputs.reads(options.reference, "a video");
    if (!options.plan.empty()) outputs.reads(options.plan, "the plan");
    const std::pair<const std::string*, const char*> written[] = {
        {&options.output, "the page"}, {&options.csv, "the table"}, {&options.png, "the plot"}};
    for (const auto& [path, what] : written)
        if (!path->empty() && *path != "-") outputs.writes(*path, what);
}

bool has_files(const std::vector<Encode>& encodes) {
    return std::any_of(encodes.begin(), encodes.end(), [](const Encode& each) { return !each.distorted.empty(); });
}

} // namespace

ExitCode report(const ReportOptions& options) {
    require_options(options);
    refuse_overwriting(options);
    std::unique_ptr<Tools> tools;
    Report report;
    report.encodes = read_encodes(options, &report.notes);
    std::string why_no_tools = "the files are not known: --reference with --distorted names them, or --plan";
    if (has_files(report.encodes) || !options.ffmpeg.empty()) {
        try {
            tools = std::make_unique<Tools>(find_tools(options.ffmpeg));
        } catch (const Failure& failure) { // the logs are there all the same
            if (!options.ffmpeg.empty()) throw;
            why_no_tools = failure.what();
        }
    }
    find_rates(options, tools.get(), &report.encodes);
    group_encodes(options, &report);
    report.score = choose_score(options, report.encodes);
    report.confidence = options.comparison.resampling.confidence;
    if (options.compare) compare_encodes(options, &report);
    if (!options.csv.empty()) write_text(options.csv, csv_of(report.encodes));
    if (!options.png.empty()) write_png(options.png, plot_of(report));
    if (!options.output.empty()) {
        report.worst = worst_scenes(report);
        compare_ladders(options.comparison.resampling, &report);
        add_pictures(options, tools.get(), why_no_tools, &report);
        write_text(options.output, page_of(report));
        if (!report.why_no_pictures.empty() && options.thumbnails > 0)
            report.notes.push_back("no pictures: " + report.why_no_pictures);
    }
    if (!options.is_quiet)
        for (const std::string& note : report.notes) say("note: " + note);
    return say_refusals(report) ? kFailed : kDone;
}

} // namespace qc::cli
