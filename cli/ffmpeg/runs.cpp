// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ffmpeg/runs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "ffmpeg/graph_text.hpp"
#include "quality_cuda_run/record.h"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr int64_t kHeadFrames = 12;
/// Lines say how bad they are, and are all told, be they the same.
constexpr const char *kErrors = "repeat+level+error", *kWarnings = "repeat+level+warning";
constexpr const char* kHeadThreads = "4"; ///< of a decoder: each is a frame more that is decoded for nothing
/// ffmpeg holds back the inputs of outputs whose time is ahead of others'. To it all parts are at one time: a
/// microsecond a frame, of the tenth of a second that it allows.
constexpr char kOneTime[] = ",settb=1/1000000,setpts=N";

/// Shortest text that reads back as the same number.
std::string exact(double value) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// quality_cuda=name=value:...
class Filter {
public:
    Filter& set(const char* name, const std::string& value) {
        text_ += (text_.empty() ? GraphText("=") : GraphText(":")) + GraphText::filters(name) + "=" +
                 GraphText::value(value);
        return *this;
    }
    Filter& set_if(const char* name, const std::string& value) { return value.empty() ? *this : set(name, value); }
    GraphText text() const { return "quality_cuda" + text_; }

private:
    GraphText text_;
};

Filter scoring(const Title& title) {
    const Wish& wish = title.wish;
    Filter filter;
    filter.set("metrics", wish.metrics.empty() ? "vmaf" : wish.metrics).set_if("model", wish.model);
    filter.set_if("feature", wish.feature).set_if("opts", wish.opts).set_if("scale", wish.scale);
    filter.set_if("roi", wish.roi).set_if("on_unsupported", wish.on_unsupported);
    filter.set_if("scale_to", wish.scale_to).set_if("bitdepth", wish.bitdepth).set_if("convert", wish.convert);
    filter.set_if("crop", wish.crop).set_if("range", wish.range);
    if (title.inputs.size() > 2) filter.set("renditions", std::to_string(title.inputs.size() - 1));
    return filter;
}

/// What is for runs that score pictures, be it in one part.
void set_pairing(const Title& title, Filter* filter) {
    if (title.wish.max_dt > 0) filter->set("max_dt", exact(title.wish.max_dt));
    filter->set_if("align", title.wish.align).set_if("sync", title.wish.sync);
    filter->set_if("eof_action", title.wish.eof_action);
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

void end_command(const GraphText& graph, std::vector<std::string>* arguments) {
    arguments->insert(arguments->end(), {"-filter_complex", graph.text()});
    add_output("[scored]", arguments);
}

/// One of the title's, on the GPU where it is decoded there. @param seek as of a plain input
void add_input(const Title& title, size_t index, double seek, std::vector<std::string>* arguments) {
    const Opening& opening = title.openings[index];
    if (title.decodes_on_gpu)
        for (const char* each : {"-hwaccel", "cuda", "-hwaccel_output_format", "cuda"}) arguments->emplace_back(each);
    if (!opening.is_raw() && !opening.frame_rate.empty())
        arguments->insert(arguments->end(), {"-r", opening.frame_rate});
    // Decoders hand over its parameters then, and add none.
    if (title.wish.film_grain == "off") arguments->insert(arguments->end(), {"-export_side_data", "film_grain"});
    if (title.wish.container_crop == "off") arguments->insert(arguments->end(), {"-apply_cropping", "codec"});
    cli::add_input(title.inputs[index], opening, seek, arguments);
}

/// What lies between an input and the scores. @param trim options of FFmpeg's filter, or empty
GraphText chain_of(const std::string& trim, const Opening& opening) {
    GraphText chain;
    const std::string filters[] = {opening.tags.empty() ? "" : "setparams=" + opening.tags,
                                   trim.empty() ? "" : "trim=" + trim, opening.filter};
    for (const std::string& each : filters)
        if (!each.empty()) chain += (chain.empty() ? GraphText() : GraphText(",")) + GraphText::filters(each);
    return chain;
}

/// [0:V:0]CHAIN[i0];...[i0][i1]FILTER[scored]; where there is no chain the decoder's frames go straight to the filter.
/// @param first number of the first input  @param output what becomes of scored frames, and their pad
GraphText graph_of(const Title& title, const std::vector<std::string>& trims, const Filter& filter, size_t first = 0,
                   const GraphText& output = "[scored]") {
    GraphText before, pads;
    for (size_t i = 0; i < trims.size(); ++i) {
        const GraphText stream = GraphText::filters(pad_of(first + i, title.openings[i])),
                        pad = "[i" + GraphText::number(i) + "]", chain = chain_of(trims[i], title.openings[i]);
        if (!chain.empty()) before += stream + chain + pad + ";";
        pads += chain.empty() ? stream : pad;
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

std::string joined(const std::string& start, const std::string& end) {
    return start + (start.empty() || end.empty() ? "" : ":") + end;
}

std::string trim_of(const Title& title, const Part& part, size_t input) {
    const Stretch& stretch = part.inputs[input];
    const Window& window = title.windows[input];
    return joined(part.is_first ? window.start : "start_pts=" + std::to_string(stretch.start),
                  part.is_last ? window.end : "end_pts=" + std::to_string(stretch.end));
}

} // namespace

void add_input(const std::string& path, const Opening& opening, double seek, std::vector<std::string>* arguments) {
    if (seek >= 0) {
        std::array<char, 64> seconds{};
        std::snprintf(seconds.data(), seconds.size(), "%.6f", seek);
        // The offset undoes the shift that comes with the seek, so that stamps are those of a run from the start.
        arguments->insert(arguments->end(), {"-itsoffset", seconds.data(), "-noaccurate_seek", "-ss", seconds.data()});
    }
    const std::vector<std::string> reading = reading_options(path, opening);
    arguments->insert(arguments->end(), reading.begin(), reading.end());
    arguments->insert(arguments->end(), {"-i", name_for_ffmpeg(path)});
}

Command head_command(const Tools& tools, const Title& title, const std::string& record) {
    Filter filter = scoring(title);
    set_pairing(title, &filter);
    filter.set("record", record).set("allow_unpaired", "1").set("backend", "cpu").set("watch", "0");
    Command command{start_of_command(tools, kErrors), {}};
    Title software = title;
    software.decodes_on_gpu = false;
    std::vector<std::string> trims;
    for (size_t i = 0; i < title.inputs.size(); ++i) {
        const Window& window = title.windows[i];
        command.arguments.insert(command.arguments.end(), {"-threads", kHeadThreads});
        add_input(software, i, window.seek, &command.arguments);
        trims.push_back(joined(window.start, window.end));
        trims.back() +=
            (trims.back().empty() ? "" : ",trim=") + std::string("end_frame=") + std::to_string(kHeadFrames);
    }
    end_command(graph_of(title, trims, filter), &command.arguments);
    return command;
}

Command parts_command(const Tools& tools, const Title& title, const std::vector<size_t>& parts,
                      const std::vector<std::string>& records) {
    // Demuxers only warn of packets that are damaged.
    Command command{start_of_command(tools, kWarnings), {}};
    for (const char* each : {"-progress", "pipe:1"}) command.arguments.emplace_back(each);
    std::vector<GraphText> graphs, pads;
    size_t inputs = 0;
    for (size_t k = 0; k < parts.size(); ++k) {
        const Part& part = title.parts[parts[k]];
        std::vector<std::string> trims;
        for (size_t i = 0; i < title.inputs.size(); ++i) {
            add_input(title, i, part.is_first ? title.windows[i].seek : part.inputs[i].seek, &command.arguments);
            trims.push_back(trim_of(title, part, i));
        }
        pads.push_back(parts.size() > 1 ? "[scored" + GraphText::number(k) + "]" : "[scored]");
        const GraphText output = (parts.size() > 1 ? GraphText(kOneTime) : GraphText()) + pads.back();
        graphs.push_back(graph_of(title, trims, recording(title, records[k]), inputs, output));
        inputs += title.inputs.size();
    }
    for (const GraphText& graph : graphs)
        command.arguments.insert(command.arguments.end(), {"-filter_complex", graph.text()});
    for (const GraphText& pad : pads) add_output(pad.text(), &command.arguments);
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
    filter.set_if("stats_file", title.times);
    Command command{start_of_command(tools, kWarnings), {}};
    for (const char* each : {"-progress", "pipe:1"}) command.arguments.emplace_back(each);
    if (title.wish.allows_unpaired) filter.set("allow_unpaired", "1");
    std::vector<std::string> trims;
    for (size_t i = 0; i < title.inputs.size(); ++i) {
        const Window& window = title.windows[i];
        add_input(title, i, window.seek, &command.arguments);
        trims.push_back(joined(window.start, window.end));
    }
    end_command(graph_of(title, trims, filter), &command.arguments);
    return command;
}

void read_rate(const std::string& record, double* frame_rate, double* tolerance) {
    if (qcr_record_rate(record.c_str(), frame_rate, tolerance) != QC_OK)
        throw Failure("the first frames were read, but no frame rate was recorded: " + record);
}

} // namespace qc::cli
