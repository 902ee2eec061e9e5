// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is known of the logs that a report is asked for: renditions, names, files, ladders, bit rates.
#include "report/encodes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "ffmpeg/title.hpp"
#include "logs/logs.hpp"
#include "process/process.hpp"
#include "process/progress.hpp"
#include "report/models.hpp"
#include "report/sources.hpp"
#include "results/results.hpp"
#include "words/failure.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr size_t kMostRenditions = 16; ///< of the filter
constexpr double kHighestRate = 1e12;  ///< bit/s

std::string name_of(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

/// The logs of one LOG: its own, and those of further renditions, which lie in it or beside it.
void add_log(const std::string& path, size_t index, std::vector<Encode>* encodes, std::vector<std::string>* notes) {
    std::vector<ScoreLog> logs = read_log(path);
    const Layout layout = logs.front().layout;
    const Json& renditions = member(logs.front().head, "renditions");
    const size_t listed = renditions.is_array() ? std::clamp<size_t>(renditions.size(), 1, kMostRenditions) : 1;
    const size_t count = std::max(listed, logs.size());
    const std::vector<std::string> names = log_names(path, layout == Layout::kJsonLines ? 1 : count);
    for (size_t k = 1; k < names.size(); ++k) {
        std::error_code error;
        if (std::filesystem::exists(names[k], error)) {
            logs.push_back(read_scores(names[k]));
            continue;
        }
        logs.emplace_back();
        notes->push_back("rendition " + std::to_string(k) + " of " + path + ": its log " + names[k] +
                         " is not there, so its frames are not shown");
    }
    for (size_t k = 0; k < logs.size(); ++k) {
        if (logs[k].frames.empty()) continue;
        Encode encode;
        encode.log = std::move(logs[k]);
        encode.log_index = index;
        encode.rendition = k;
        encode.renditions = count;
        encodes->push_back(std::move(encode));
    }
    if (const char* const lack = lack_of(layout); *lack != '\0') notes->push_back(path + ": " + lack);
}

/// What the first log of a ladder says of one of its renditions.
const Json& rendition_facts(const std::vector<Encode>& encodes, const Encode& encode) {
    static const Json kNull;
    for (const Encode& each : encodes)
        if (each.log_index == encode.log_index && each.rendition == 0) {
            const Json& list = member(each.log.head, "renditions");
            return list.is_array() && encode.rendition < list.size() ? list[encode.rendition] : kNull;
        }
    return kNull;
}

std::string size_text(const Json& facts) {
    const int64_t width = count_of(facts, "width"), height = count_of(facts, "height");
    return width > 0 && height > 0 ? std::to_string(width) + "x" + std::to_string(height) : "";
}

std::vector<Title> titles_of(const std::string& plan) {
    if (plan.empty()) return {};
    const auto json = nlohmann::json::parse(read_whole(plan), nullptr, false);
    try {
        if (json.is_object()) return json.at("titles").get<std::vector<Title>>();
    } catch (const std::exception&) { // what is wrong with it matters to those who run it
    }
    throw Failure("--plan=" + plan + " is no plan of quality-cuda: what `quality-cuda plan` wrote is accepted");
}

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code error;
    return std::filesystem::equivalent(a, b, error) && !error;
}

void name_files(const ReportOptions& options, std::vector<Encode>* encodes) {
    for (const Title& title : titles_of(options.plan))
        for (Encode& each : *encodes) {
            const bool is_its_log = is_same_file(options.logs[each.log_index], title.log);
            const size_t input = each.rendition == 0 ? 0 : each.rendition + 1; // the reference is the second one
            if (!is_its_log || input >= title.inputs.size()) continue;
            each.distorted = title.inputs[input];
            each.main = title.inputs[0];
            each.reference = title.inputs[1];
        }
    if (!options.distorted.empty() && options.distorted.size() != encodes->size())
        throw Failure("--distorted is given " + std::to_string(options.distorted.size()) + " times: there are " +
                          std::to_string(encodes->size()) + " encodes, and one file for each is accepted",
                      kMisused);
    for (size_t i = 0; i < encodes->size(); ++i) {
        Encode& each = (*encodes)[i];
        if (!options.distorted.empty()) {
            each.distorted = options.distorted[i];
            if (each.rendition == 0) each.main = each.distorted;
            if (each.rendition > 0) each.main = (*encodes)[i - 1].main;
        }
        if (!options.reference.empty()) each.reference = options.reference;
    }
}

void require_files(const ReportOptions& options) {
    std::error_code error;
    for (const std::string& path : options.distorted)
        if (!std::filesystem::is_regular_file(path, error))
            throw Failure("--distorted=" + path + " is no file: a video file is accepted");
    if (!options.reference.empty() && !std::filesystem::is_regular_file(options.reference, error))
        throw Failure("--reference=" + options.reference + " is no file: a video file is accepted");
}

std::string usual_label(const std::vector<Encode>& encodes, const Encode& encode) {
    if (!encode.distorted.empty()) return name_of(encode.distorted);
    if (!encode.source.path.empty()) return name_of(encode.source.path);
    std::string label = std::filesystem::path(encodes[0].log.path).stem().string();
    for (const Encode& each : encodes)
        if (each.log_index == encode.log_index && each.rendition == 0)
            label = std::filesystem::path(each.log.path).stem().string();
    if (encode.renditions > 1) label += ", rendition " + std::to_string(encode.rendition);
    const std::string size = size_text(rendition_facts(encodes, encode));
    return size.empty() ? label : label + ", " + size;
}

void label_encodes(const ReportOptions& options, std::vector<Encode>* encodes) {
    if (!options.labels.empty()) {
        const std::vector<std::string> names = split_names(options.labels, ',', "--labels");
        if (names.size() != encodes->size())
            throw Failure("--labels=" + options.labels + " has " + std::to_string(names.size()) + " names: there are " +
                              std::to_string(encodes->size()) + " encodes, and one name for each is accepted",
                          kMisused);
        for (size_t i = 0; i < names.size(); ++i) (*encodes)[i].label = names[i];
        return;
    }
    for (Encode& each : *encodes) each.label = usual_label(*encodes, each);
}

double parse_rate(const std::string& text, const std::string& whole) {
    char* end = nullptr;
    const double rate = 1000 * std::strtod(text.c_str(), &end);
    if (*end != '\0' || !(rate > 0 && rate <= kHighestRate))
        throw Failure("--bit-rates=" + whole + ": '" + text +
                          "' is no rate; kbit/s above 0 are accepted, one for each "
                          "encode, joined by commas",
                      kMisused);
    return rate;
}

/// Bits of the video stream's packets over the time that they last.
double rate_of_file(const Tools& tools, const Encode& encode) {
    const Outcome outcome = run({{tools.ffprobe, "-v", "error", "-select_streams", "v:0", "-show_entries",
                                  "packet=pts_time,duration_time,size", "-of", "csv=print_section=0", encode.distorted},
                                 {}});
    if (!outcome.ok()) return 0;
    std::istringstream lines(outcome.output);
    double bytes = 0, first = INFINITY, end = -INFINITY, packets = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string pts, duration, size;
        std::getline(fields, pts, ',');
        std::getline(fields, duration, ',');
        std::getline(fields, size, ',');
        bytes += std::atof(size.c_str());
        ++packets;
        if (pts.empty() || pts == "N/A") continue;
        first = std::min(first, std::atof(pts.c_str()));
        end = std::max(end, std::atof(pts.c_str()) + std::atof(duration.c_str()));
    }
    double seconds = end - first;
    if (!(seconds > 0) && encode.log.frame_rate() > 0) seconds = packets / encode.log.frame_rate(); // raw streams
    const double rate = seconds > 0 ? 8 * bytes / seconds : 0;
    return rate > 0 && rate <= kHighestRate ? rate : 0;
}

/// As typed, otherwise as it lies beside the logs.
void find_commands(const ReportOptions& options, std::vector<Encode>* encodes) {
    if (!options.commands.empty() && options.commands.size() != options.logs.size())
        throw Failure("--command is given " + std::to_string(options.commands.size()) + " times: there are " +
                          std::to_string(options.logs.size()) + " logs, and one command for each is accepted",
                      kMisused);
    for (Encode& each : *encodes) {
        if (const auto found = read_provenance(options.logs[each.log_index], &each.why_no_provenance))
            each.provenance = *found;
        if (!options.commands.empty())
            each.provenance = {{options.commands[each.log_index]}, "", "", {}, "", each.provenance.files};
    }
}

} // namespace

std::vector<Encode> read_encodes(const ReportOptions& options, std::vector<std::string>* notes) {
    require_files(options);
    std::vector<Encode> encodes;
    {
        Tally tally("reading logs", options.logs.size(), !options.is_quiet);
        for (size_t i = 0; i < options.logs.size(); ++i) {
            add_log(options.logs[i], i, &encodes, notes);
            tally.add();
        }
    }
    tell_models_apart(&encodes, notes);
    name_files(options, &encodes);
    find_commands(options, &encodes);
    take_sources(options, &encodes, notes);
    label_encodes(options, &encodes);
    for (Encode& each : encodes) {
        const StreamFacts& facts = each.source.facts;
        each.size = size_text(rendition_facts(encodes, each));
        if (each.size.empty() && facts.width > 0 && facts.height > 0)
            each.size = std::to_string(facts.width) + "x" + std::to_string(facts.height);
        each.scenes = find_scenes(each.log, options.comparison.window_frames);
    }
    return encodes;
}

void find_rates(const ReportOptions& options, const Tools* tools, std::vector<Encode>* encodes) {
    std::vector<std::string> given;
    if (!options.bit_rates.empty()) given = split_names(options.bit_rates, ',', "--bit-rates");
    if (!given.empty() && given.size() != encodes->size())
        throw Failure("--bit-rates=" + options.bit_rates + " has " + std::to_string(given.size()) +
                          " rates: there are " + std::to_string(encodes->size()) +
                          " encodes, and one rate for each is accepted",
                      kMisused);
    for (size_t i = 0; i < encodes->size(); ++i) {
        Encode& each = (*encodes)[i];
        std::error_code error;
        const double logged = number_of(rendition_facts(*encodes, each), "bit_rate", 0);
        if (!given.empty()) {
            each.bit_rate = parse_rate(given[i], options.bit_rates);
            each.bit_rate_source = "--bit-rates";
        } else if (logged > 0 && logged <= kHighestRate) {
            each.bit_rate = logged;
            each.bit_rate_source = "log";
        } else if (each.source.facts.bit_rate > 0 && each.source.facts.bit_rate <= kHighestRate) {
            each.bit_rate = each.source.facts.bit_rate;
            each.bit_rate_source = "record";
        } else if (tools != nullptr && std::filesystem::is_regular_file(each.distorted, error)) {
            each.bit_rate = rate_of_file(*tools, each);
            each.bit_rate_source = "file";
        }
    }
}

} // namespace qc::cli
