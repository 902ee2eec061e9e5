// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ffmpeg/runs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "quality_cuda_run/record.h"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr int64_t kHeadFrames = 12;
constexpr const char* kHeadThreads = "4"; ///< of a decoder: each is a frame more that is decoded for nothing
/// ffmpeg holds back the inputs of outputs whose time is ahead of others'. To it all parts are at one time: a
/// microsecond a frame, of the tenth of a second that it allows.
constexpr const char* kOneTime = ",settb=1/1000000,setpts=N";

std::string escaped(const std::string& text, const char* special) {
    std::string result;
    for (const char c : text) {
        if (std::strchr(special, c) != nullptr) result += '\\';
        result += c;
    }
    return result;
}

/// Shortest text that reads back as the same number.
std::string exact(double value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// quality_cuda=name=value:...
class Filter {
public:
    Filter& set(const char* name, const std::string& value) {
        // Once for the options' parser, once for the graph's.
        text_ += std::string(text_.empty() ? "=" : ":") + name + "=" + escaped(escaped(value, "\\':"), "\\'[],;");
        return *this;
    }
    Filter& set_if(const char* name, const std::string& value) { return value.empty() ? *this : set(name, value); }
    std::string text() const { return "quality_cuda" + text_; }

private:
    std::string text_;
};

Filter scoring(const Title& title) {
    const Wish& wish = title.wish;
    Filter filter;
    filter.set("metrics", wish.metrics.empty() ? "vmaf" : wish.metrics).set_if("model", wish.model);
    filter.set_if("feature", wish.feature).set_if("opts", wish.opts).set_if("scale", wish.scale);
    filter.set_if("roi", wish.roi).set_if("on_unsupported", wish.on_unsupported);
    if (title.inputs.size() > 2) filter.set("renditions", std::to_string(title.inputs.size() - 1));
    return filter;
}

/// What is for runs that score pictures, be it in one part.
void set_pairing(const Title& title, Filter* filter) {
    if (title.wish.max_dt > 0) filter->set("max_dt", exact(title.wish.max_dt));
}

void subsample(const Title& title, Filter* filter) {
    if (title.wish.n_subsample > 1) filter->set("n_subsample", std::to_string(title.wish.n_subsample));
}

std::vector<std::string> start_of_command(const Tools& tools, const char* level) {
    return {tools.ffmpeg, "-nostdin", "-hide_banner", "-nostats", "-v", level, "-y"};
}

/// The scored frames of a graph go nowhere. @param pad as the graph calls it, with its brackets
void add_output(const std::string& pad, std::vector<std::string>* arguments) {
    for (const char* each : {"-map", pad.c_str(), "-fps_mode", "passthrough", "-f", "null", "-"})
        arguments->emplace_back(each);
}

void end_command(const std::string& graph, std::vector<std::string>* arguments) {
    arguments->insert(arguments->end(), {"-filter_complex", graph});
    add_output("[scored]", arguments);
}

/// One of the title's, on the GPU where it is decoded there. @param seek as of a plain input
void add_input(const Title& title, size_t index, double seek, std::vector<std::string>* arguments) {
    if (title.decodes_on_gpu)
        for (const char* each : {"-hwaccel", "cuda", "-hwaccel_output_format", "cuda"}) arguments->emplace_back(each);
    cli::add_input(title.inputs[index], seek, arguments);
}

/// [0:v:0]TRIM[i0];...[i0][i1]FILTER[scored]; where nothing is trimmed the decoder's frames go straight to the filter.
/// @param first number of the first input  @param output what becomes of scored frames, and their pad
std::string graph_of(const std::vector<std::string>& trims, const Filter& filter, size_t first = 0,
                     const std::string& output = "[scored]") {
    std::string before, pads;
    for (size_t i = 0; i < trims.size(); ++i) {
        const std::string stream = "[" + std::to_string(first + i) + ":v:0]", pad = "[i" + std::to_string(i) + "]";
        if (!trims[i].empty()) before.append(stream).append("trim=").append(trims[i]).append(pad).append(";");
        pads += trims[i].empty() ? stream : pad;
    }
    return before + pads + filter.text() + output;
}

Filter recording(const Title& title, const std::string& record) {
    Filter filter = scoring(title);
    filter.set_if("backend", title.wish.backend).set("record", record).set("allow_unpaired", "1");
    if (title.frame_rate >= 0)
        filter.set("rate", exact(title.frame_rate)).set("max_dt", exact(title.tolerance));
    else
        set_pairing(title, &filter);
    return filter;
}

std::string trim_of(const Part& part, size_t input) {
    const Stretch& stretch = part.inputs[input];
    std::string text;
    if (!part.is_first) text = "start_pts=" + std::to_string(stretch.start);
    if (!part.is_last) text += (text.empty() ? "" : ":") + std::string("end_pts=") + std::to_string(stretch.end);
    return text;
}

/// A line without "[quality_cuda @ 0x...] ", if it was the filter's.
std::string without_name(const std::string& line) {
    const size_t end = line.find("] ");
    return !line.empty() && line[0] == '[' && end != std::string::npos ? line.substr(end + 2) : line;
}

bool is_filters(const std::string& line) {
    return line.find("quality_cuda") != std::string::npos && !line.empty() && line[0] == '[';
}

} // namespace

void add_input(const std::string& path, double seek, std::vector<std::string>* arguments) {
    if (seek >= 0) {
        std::array<char, 64> seconds{};
        std::snprintf(seconds.data(), seconds.size(), "%.6f", seek);
        // The offset undoes the shift that comes with the seek, so that stamps are those of a run from the start.
        arguments->insert(arguments->end(), {"-itsoffset", seconds.data(), "-noaccurate_seek", "-ss", seconds.data()});
    }
    arguments->insert(arguments->end(), {"-i", path});
}

Command head_command(const Tools& tools, const Title& title, const std::string& record) {
    Filter filter = scoring(title);
    set_pairing(title, &filter);
    filter.set("record", record).set("allow_unpaired", "1").set("backend", "cpu").set("watch", "0");
    Command command{start_of_command(tools, "error"), {}};
    Title software = title;
    software.decodes_on_gpu = false;
    for (size_t i = 0; i < title.inputs.size(); ++i) {
        command.arguments.insert(command.arguments.end(), {"-threads", kHeadThreads});
        add_input(software, i, -1, &command.arguments);
    }
    end_command(
        graph_of(std::vector<std::string>(title.inputs.size(), "end_frame=" + std::to_string(kHeadFrames)), filter),
        &command.arguments);
    return command;
}

Command parts_command(const Tools& tools, const Title& title, const std::vector<size_t>& parts,
                      const std::vector<std::string>& records) {
    Command command{start_of_command(tools, "error"), {}};
    for (const char* each : {"-progress", "pipe:1"}) command.arguments.emplace_back(each);
    std::vector<std::string> graphs, pads;
    size_t inputs = 0;
    for (size_t k = 0; k < parts.size(); ++k) {
        const Part& part = title.parts[parts[k]];
        std::vector<std::string> trims;
        for (size_t i = 0; i < title.inputs.size(); ++i) {
            add_input(title, i, part.is_first ? -1 : part.inputs[i].seek, &command.arguments);
            trims.push_back(trim_of(part, i));
        }
        pads.push_back(parts.size() > 1 ? "[scored" + std::to_string(k) + "]" : "[scored]");
        const std::string output = (parts.size() > 1 ? kOneTime : "") + pads.back();
        graphs.push_back(graph_of(trims, recording(title, records[k]), inputs, output));
        inputs += title.inputs.size();
    }
    for (const std::string& graph : graphs)
        command.arguments.insert(command.arguments.end(), {"-filter_complex", graph});
    for (const std::string& pad : pads) add_output(pad, &command.arguments);
    return command;
}

Command told_later(const Command& parts, const std::string& files, Told* told) {
    static const std::array<std::string, 3> kLate = {"-filter_complex", "-ss", "-itsoffset"};
    Command command{{}, parts.environment};
    bool is_first = true;
    for (size_t i = 0; i < parts.arguments.size(); ++i) {
        const std::string& word = parts.arguments[i];
        if (std::find(kLate.begin(), kLate.end(), word) == kLate.end()) {
            command.arguments.push_back(word);
            if (word == "-i") command.arguments.push_back(parts.arguments[++i]); // whatever a file is called
            continue;
        }
        const std::string& text = parts.arguments[++i];
        std::string file = files + std::to_string(told->files.size());
        if (word == kLate[0] && std::exchange(is_first, false)) {
            command.arguments.insert(command.arguments.end(), {"-init_hw_device", "cuda=gpu"});
            told->first = text;
            file = "pipe:0";
        } else {
            told->files.emplace_back(file, text);
        }
        command.arguments.insert(command.arguments.end(), {"-/" + word.substr(1), file});
    }
    return command;
}

Command whole_command(const Tools& tools, const Title& title, const std::string& log) {
    Filter filter = scoring(title);
    set_pairing(title, &filter);
    subsample(title, &filter);
    filter.set_if("backend", title.wish.backend).set("log_path", log).set("log_fmt", "json");
    Command command{start_of_command(tools, "warning"), {}};
    for (const char* each : {"-progress", "pipe:1"}) command.arguments.emplace_back(each);
    for (size_t i = 0; i < title.inputs.size(); ++i) add_input(title, i, -1, &command.arguments);
    end_command(graph_of(std::vector<std::string>(title.inputs.size()), filter), &command.arguments);
    return command;
}

void read_rate(const std::string& record, double* frame_rate, double* tolerance) {
    if (qcr_record_rate(record.c_str(), frame_rate, tolerance) != QC_OK)
        throw Failure("the first frames were read, but no frame rate was recorded: " + record);
}

std::string reason_of(const Outcome& outcome) {
    std::istringstream lines(outcome.message);
    std::string line, first;
    while (std::getline(lines, line)) {
        if (is_filters(line)) return without_name(line);
        if (first.empty()) first = without_name(line);
    }
    if (first.empty()) first = "ffmpeg ended with " + std::to_string(outcome.status) + " and said nothing";
    return first;
}

std::vector<std::string> warnings_of(const Outcome& outcome) {
    std::vector<std::string> warnings;
    std::istringstream lines(outcome.message);
    for (std::string line; std::getline(lines, line);)
        if (is_filters(line)) warnings.push_back(without_name(line));
    return warnings;
}

} // namespace qc::cli
