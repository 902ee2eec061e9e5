// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ffmpeg/said.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

namespace qc::cli {

namespace {

enum class Level { kUnknown, kWarning, kError };

/// "[h264 @ 0x55] [error] text"
struct Line {
    std::string who; ///< the last name in brackets, without its address
    Level level = Level::kUnknown;
    std::string text;
    bool is_filters() const { return who.find("quality_cuda") != std::string::npos; }
};

/// Takes one text in brackets, and the blank behind it, off the beginning. @return whether there is one
bool take_bracket(std::string* text, std::string* inside) {
    const size_t end = text->find("] ");
    if (text->empty() || text->front() != '[' || end == std::string::npos) return false;
    *inside = text->substr(1, end - 1);
    text->erase(0, end + 2);
    return true;
}

Line parse(std::string text) {
    Line line;
    std::string inside;
    while (line.level == Level::kUnknown && take_bracket(&text, &inside)) {
        if (inside == "warning")
            line.level = Level::kWarning;
        else if (inside == "error" || inside == "fatal" || inside == "panic")
            line.level = Level::kError;
        else
            line.who = inside.substr(0, inside.find(" @ "));
    }
    line.text = text;
    return line;
}

std::vector<Line> lines_of(const Outcome& outcome) {
    std::vector<Line> lines;
    std::istringstream text(outcome.message);
    for (std::string line; std::getline(text, line);)
        if (!line.empty()) lines.push_back(parse(line));
    return lines;
}

/// Decoders, demuxers and what hands packets from these to those.
bool is_of_decoding(const Line& line) {
    if (line.is_filters() || line.who.empty()) return false;
    for (const char* other : {"Parsed_", "AVFilterGraph", "fc#", "out#", "vost#", "null", "swscaler", "graph"})
        if (line.who.starts_with(other)) return false;
    return line.level == Level::kError || line.text.find("corrupt") != std::string::npos;
}

/// What a decoder lacks that begins amid a stream, of frames that are left out: of damage there are other complaints.
bool is_of_beginning(const Line& line) {
    constexpr const char* kLacks[] = {"non-existing PPS",
                                      "non-existing SPS",
                                      "PPS id out of range",
                                      "SPS id out of range",
                                      "sps_id ",
                                      "no frame!",
                                      "decode_slice_header error",
                                      "mmco: unref short failure",
                                      "number of reference frames",
                                      "reference picture missing",
                                      "Missing reference picture",
                                      "Could not find ref",
                                      "Error constructing the frame RPS",
                                      "co located POCs unavailable",
                                      "illegal short term buffer state",
                                      "Invalid frame dimensions 0x0",
                                      "first frame is no keyframe",
                                      "Decoding error: ",
                                      "Error submitting packet to decoder: "};
    return std::any_of(std::begin(kLacks), std::end(kLacks),
                       [&](const char* each) { return line.text.find(each) != std::string::npos; });
}

/// Whether ffmpeg was told to seek.
bool begins_amid(const Command& command) {
    return std::find(command.arguments.begin(), command.arguments.end(), "-ss") != command.arguments.end();
}

/// Without the number that an input has among those of its process.
std::string with_name(const Line& line) {
    const size_t number = line.who.find('#'), end = line.who.find_first_of("/:", number);
    std::string who = line.who;
    if (number != std::string::npos) who.erase(number, end == std::string::npos ? end : end - number);
    return who.empty() ? line.text : who + ": " + line.text;
}

} // namespace

std::string reason_of(const Outcome& outcome) {
    const std::vector<Line> lines = lines_of(outcome);
    // What the filter calls an error; otherwise whatever is one; otherwise whatever was said.
    const auto first = [&](const auto& is_it) { return std::find_if(lines.begin(), lines.end(), is_it); };
    auto found = first([](const Line& each) { return each.is_filters() && each.level == Level::kError; });
    if (found == lines.end())
        found = first([](const Line& each) { return each.is_filters() && each.level == Level::kUnknown; });
    const bool is_filters = found != lines.end();
    if (!is_filters) found = first([](const Line& each) { return each.level == Level::kError; });
    if (found == lines.end()) found = lines.begin();
    if (found == lines.end()) return "ffmpeg ended with " + std::to_string(outcome.status) + " and said nothing";
    // A stream that cannot be decoded leaves the filter without frames, and that is what the filter speaks of.
    const bool lacks_frames =
        is_filters && (found->text.starts_with("no frame was scored") || found->text.starts_with("only "));
    const auto cause = std::find_if(lines.begin(), found, is_of_decoding);
    return lacks_frames && cause != found ? with_name(*cause) + "; so " + found->text : found->text;
}

std::vector<std::string> warnings_of(const Outcome& outcome) {
    std::vector<std::string> warnings;
    for (const Line& line : lines_of(outcome))
        if (line.is_filters()) warnings.push_back(line.text);
    return warnings;
}

Damage::Damage(const std::vector<Outcome>& outcomes, const std::vector<Command>& commands) {
    const bool is_amid = std::any_of(commands.begin(), commands.end(), begins_amid);
    std::vector<std::string> of_beginnings;
    for (const Outcome& outcome : outcomes) {
        left_out_ += outcome.lines_left_out;
        for (const Line& line : lines_of(outcome))
            if (is_of_beginning(line))
                of_beginnings.push_back(with_name(line));
            else if (is_of_decoding(line))
                add(with_name(line));
    }
    // A part does not tell them from those of its beginning: they count where nothing else tells of the damage.
    if (!is_amid && complaints_.empty())
        for (const std::string& each : of_beginnings) add(each);
    if (complaints_.empty()) left_out_ = 0;
}

void Damage::add(const std::string& complaint) {
    if (std::find(complaints_.begin(), complaints_.end(), complaint) == complaints_.end())
        complaints_.push_back(complaint);
}

void Damage::add(const Damage& other) {
    for (const std::string& each : other.complaints_) add(each);
    left_out_ += other.left_out_;
}

std::string Damage::text() const {
    constexpr size_t kShown = 3;
    if (complaints_.empty()) return "";
    std::string text = "decoding went on in spite of errors (" + std::to_string(count()) +
                       (count() > 1 ? " different ones), the first of them " : "), ");
    for (size_t i = 0; i < std::min(complaints_.size(), kShown); ++i) text += (i > 0 ? " | " : "") + complaints_[i];
    return text +
           " : pictures may be missing or damaged, and scores tell what the decoder made of them; mend the file, or "
           "leave that time out (--start, --duration)";
}

std::string Damage::to_text() const {
    if (complaints_.empty()) return "";
    std::string text = std::to_string(left_out_);
    for (const std::string& each : complaints_) text += "\n" + each;
    return text;
}

Damage Damage::of_text(const std::string& text) {
    Damage damage;
    std::istringstream lines(text);
    std::string line;
    if (!std::getline(lines, line)) return damage;
    damage.left_out_ = std::strtoull(line.c_str(), nullptr, 10);
    while (std::getline(lines, line)) damage.add(line);
    return damage;
}

} // namespace qc::cli
