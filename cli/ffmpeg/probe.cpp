// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ffmpeg/probe.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "process/process.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr double kLongestGap =
    5.0; ///< seconds; stamps that jump further are FFmpeg's or the filter's to mend, in one run

/// Containers whose demuxers come to the frame that was asked for, or one before it, and time stamp packets as ever.
struct Seekable {
    const char* format; ///< the first of FFmpeg's names for it
    double margin;      ///< seconds by which to aim earlier: some go by decoding times, or by places in the file
};
constexpr Seekable kSeekable[] = {{"mov", 0.0}, {"matroska", 0.0}, {"mpegts", 1.0}, {"nut", 0.5}};

std::string first_name(const std::string& names) {
    return names.substr(0, names.find(','));
}

const Seekable* seekable(const std::string& format) {
    const auto* const found = std::find_if(std::begin(kSeekable), std::end(kSeekable),
                                           [&](const Seekable& each) { return format == each.format; });
    return found == std::end(kSeekable) ? nullptr : found;
}

/// The first line of ffprobe's complaint, without the part that says who complains, and of which file.
std::string complaint(const std::string& message, const std::string& path) {
    std::istringstream lines(message);
    std::string line;
    std::getline(lines, line);
    if (const size_t end = line.find("] "); !line.empty() && line[0] == '[' && end != std::string::npos)
        line.erase(0, end + 2);
    if (line.starts_with(path + ": ")) line.erase(0, path.size() + 2);
    return line;
}

struct Packet {
    std::optional<int64_t> pts, dts;
    bool is_key = false, is_discarded = false;
};

std::optional<int64_t> number(const std::string& text) {
    char* end = nullptr;
    const long long value = std::strtoll(text.c_str(), &end, 10);
    return end != text.c_str() && *end == '\0' ? std::optional<int64_t>(value) : std::nullopt;
}

/// "512,0,K__": pts, dts, flags
Packet parse_packet(const std::string& line) {
    Packet packet;
    std::istringstream fields(line);
    std::string pts, dts, flags;
    std::getline(fields, pts, ',');
    std::getline(fields, dts, ',');
    std::getline(fields, flags);
    packet.pts = number(pts);
    packet.dts = number(dts);
    packet.is_key = flags.find('K') != std::string::npos;
    packet.is_discarded = flags.find('D') != std::string::npos;
    return packet;
}

std::vector<Packet> read_packets(const Tools& tools, const std::string& path) {
    std::vector<Packet> packets;
    const Command command{{tools.ffprobe, "-v", "error", "-select_streams", "v:0", "-show_entries",
                           "packet=pts,dts,flags", "-of", "csv=print_section=0", path},
                          {}};
    const auto outcomes = run_side_by_side({command}, 1, [&](size_t, const std::string& line) {
        if (!line.empty()) packets.push_back(parse_packet(line));
    });
    if (!outcomes[0].ok()) throw Failure(path + " cannot be read: " + complaint(outcomes[0].message, path));
    return packets;
}

/// ffmpeg counts from the file's start, which it knows in microseconds: the same rounding, to the nearest.
int64_t offset_ticks(double start_time, const Clock& clock) {
    const auto micros = static_cast<__int128>(std::llround(start_time * 1e6));
    const __int128 den = static_cast<__int128>(clock.num) * 1000000;
    const __int128 scaled = (micros < 0 ? -micros : micros) * clock.den;
    const auto ticks = static_cast<int64_t>((2 * scaled + den) / (2 * den));
    return micros < 0 ? ticks : -ticks;
}

double seconds(const Clock& clock, int64_t ticks) {
    return static_cast<double>(ticks) * static_cast<double>(clock.num) / static_cast<double>(clock.den);
}

/// What keeps a row of packets from being cut; fills stamps and key frames.
std::string survey(const std::vector<Packet>& packets, int64_t offset, double margin, Input* input) {
    for (const Packet& packet : packets) {
        if (packet.is_discarded) continue;
        if (!packet.pts) return "its packets lack time stamps";
        input->pts.push_back(*packet.pts + offset);
        if (packet.is_key)
            input->key_frames.push_back(
                {*packet.pts + offset,
                 seconds(input->clock, std::min(*packet.pts, packet.dts.value_or(*packet.pts)) + offset) - margin});
    }
    if (margin == 0.0)
        for (KeyFrame& key : input->key_frames) key.seek_time = seconds(input->clock, key.pts);
    for (size_t i = 1; i < packets.size(); ++i)
        if (packets[i].dts && packets[i - 1].dts && *packets[i].dts <= *packets[i - 1].dts)
            return "its time stamps jump";
    std::sort(input->pts.begin(), input->pts.end());
    std::sort(input->key_frames.begin(), input->key_frames.end(),
              [](const KeyFrame& a, const KeyFrame& b) { return a.pts < b.pts; });
    for (size_t i = 1; i < input->pts.size(); ++i) {
        if (input->pts[i] == input->pts[i - 1]) return "two of its frames have one time stamp";
        if (seconds(input->clock, input->pts[i] - input->pts[i - 1]) > kLongestGap) return "its time stamps jump";
    }
    return input->key_frames.empty() ? "it has no key frames" : "";
}

std::string sibling(const std::string& program, const char* name) {
    return (std::filesystem::path(program).parent_path() / name).string();
}

/// ffprobe-quality-cuda for ffmpeg-quality-cuda, if there is one; else that on the PATH.
std::string probe_beside(const std::string& ffmpeg) {
    const std::filesystem::path path(ffmpeg);
    std::string name = path.filename().string();
    if (const size_t at = name.find("mpeg"); at != std::string::npos) name.replace(at, 4, "probe");
    const std::string beside = sibling(ffmpeg, name.c_str());
    if (path.has_parent_path()) return access(beside.c_str(), X_OK) == 0 ? beside : "ffprobe";
    return name;
}

/// From FFmpeg 7 on, by the version of its filters: that of the whole is whatever its builder called it.
bool is_threaded(const std::string& banner) {
    constexpr int kFirst = 10;
    const size_t at = banner.find("libavfilter");
    return at != std::string::npos && std::atoi(banner.c_str() + at + std::string_view("libavfilter").size()) >= kFirst;
}

} // namespace

std::string own_program() {
    std::error_code error;
    return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

Tools find_tools(const std::string& wish) {
    const std::string self = own_program();
    const std::vector<std::string> candidates =
        !wish.empty()
            ? std::vector{wish}
            : std::vector<std::string>{sibling(self, "ffmpeg-quality-cuda"), sibling(self, "ffmpeg"),
                                       sibling(self, "../ffmpeg/bin/ffmpeg"), // of a build that is not installed
                                       "ffmpeg-quality-cuda", "ffmpeg"};
    std::string complaint = "no ffmpeg was found; --ffmpeg names one";
    for (const std::string& ffmpeg : candidates) {
        const Outcome help = run({{ffmpeg, "-h", "filter=quality_cuda"}, {}});
        if (help.status == 127) {
            if (!wish.empty()) complaint = ffmpeg + " cannot be started: " + help.message + "; --ffmpeg names another";
        } else if (help.output.find("Filter quality_cuda") == std::string::npos) {
            complaint =
                ffmpeg + " has no filter quality_cuda; --ffmpeg names another, and quality-cuda-patch-ffmpeg makes one";
        } else if (help.output.find("\n   record ") == std::string::npos) {
            complaint = ffmpeg + " has an older filter quality_cuda, which records nothing; build it anew";
        } else {
            return {ffmpeg, probe_beside(ffmpeg), is_threaded(help.message)};
        }
    }
    throw Failure(complaint);
}

Input probe(const Tools& tools, const std::string& path) {
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(path, error);
    Input input;
    input.path = path;
    if (!is_file) {
        const bool is_url = path.find("://") != std::string::npos || path == "-";
        if (std::filesystem::is_directory(path, error)) throw Failure(path + " is a folder: a video file is accepted");
        if (!is_url && !std::filesystem::exists(path, error)) throw Failure(path + ": no such file");
        input.has_video = true;
        input.why_whole = "it is no file";
        return input;
    }
    const Outcome outcome = run({{tools.ffprobe, "-v", "error", "-select_streams", "v:0", "-show_entries",
                                  "stream=time_base,codec_name:format=format_name,start_time", "-of", "json", path},
                                 {}});
    if (!outcome.ok()) throw Failure(path + " cannot be read: " + complaint(outcome.message, path));
    const auto facts = nlohmann::json::parse(outcome.output, nullptr, false);
    if (facts.is_discarded() || !facts.contains("streams") || facts["streams"].empty())
        throw Failure(path + " has no video stream");
    const auto& stream = facts["streams"][0];
    const std::string clock = stream.value("time_base", "1/1"),
                      format = first_name(facts["format"].value("format_name", ""));
    input.has_video = true;
    input.clock = {std::atoll(clock.c_str()), std::max(1LL, std::atoll(clock.c_str() + clock.find('/') + 1))};
    const Seekable* const kind = seekable(format);
    if (kind == nullptr) {
        input.why_whole = format + " cannot be sought exactly";
        return input;
    }
    const double start = std::atof(facts["format"].value("start_time", "0").c_str());
    input.why_whole = survey(read_packets(tools, path), offset_ticks(start, input.clock), kind->margin, &input);
    return input;
}

} // namespace qc::cli
