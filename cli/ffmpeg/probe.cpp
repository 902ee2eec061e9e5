// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ffmpeg/probe.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "process/process.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

// A file may say anything of itself. What is larger is no time of a video, and too large to be reckoned with.
constexpr double kMostSeconds = 1e9;
constexpr double kHighestRate = 1e6; ///< frames per second
constexpr int64_t kMostTicks = int64_t{1} << 60;

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
    for (const std::string& name : {name_for_ffmpeg(path), path})
        if (line.starts_with(name + ": ")) line.erase(0, name.size() + 2);
    return line;
}

std::optional<int64_t> whole_number(std::string_view text) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional<int64_t>(value)
                                                                                     : std::nullopt;
}

/// "30000/1001", of two numbers that FFmpeg's fractions have room for; nothing for what is none
std::optional<Clock> fraction(std::string_view text) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    const size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto num = whole_number(text.substr(0, slash)), den = whole_number(text.substr(slash + 1));
    if (!num || !den || *num <= 0 || *den <= 0 || *num > kMost || *den > kMost) return std::nullopt;
    return Clock{*num, *den};
}

/// 0 for what is no time
double time_of(const std::string& text) {
    const double value = std::atof(text.c_str());
    return std::fabs(value) <= kMostSeconds ? value : 0;
}

struct Packet {
    std::optional<int64_t> pts, dts;
    int64_t bytes = 0;
    bool is_key = false, is_discarded = false;
};

double seconds(const Clock& clock, int64_t ticks) {
    return static_cast<double>(ticks) * static_cast<double>(clock.num) / static_cast<double>(clock.den);
}

std::optional<int64_t> stamp(const std::string& text, const Clock& clock) {
    const std::optional<int64_t> value = whole_number(text);
    return value && std::abs(*value) <= kMostTicks && std::fabs(seconds(clock, *value)) <= kMostSeconds ? value
                                                                                                        : std::nullopt;
}

/// "512,0,1780,K__": pts, dts, size, flags. A stamp that is too large to be reckoned with is none.
Packet parse_packet(const std::string& line, const Clock& clock) {
    Packet packet;
    std::istringstream fields(line);
    std::string pts, dts, size, flags;
    std::getline(fields, pts, ',');
    std::getline(fields, dts, ',');
    std::getline(fields, size, ',');
    std::getline(fields, flags);
    packet.pts = stamp(pts, clock);
    packet.dts = stamp(dts, clock);
    packet.bytes = std::clamp<int64_t>(whole_number(size).value_or(0), 0, kMostTicks);
    packet.is_key = flags.find('K') != std::string::npos;
    packet.is_discarded = flags.find('D') != std::string::npos;
    return packet;
}

/// ffprobe of a file. @param asked_for its options
Command probing(const Tools& tools, const std::string& path, const Opening& opening,
                const std::vector<std::string>& asked_for) {
    Command command{{tools.ffprobe, "-v", "error"}, {}};
    for (const auto& more : {reading_options(path, opening), asked_for, {"-i", name_for_ffmpeg(path)}})
        command.arguments.insert(command.arguments.end(), more.begin(), more.end());
    return command;
}

std::vector<Packet> read_packets(const Tools& tools, const std::string& path, const Opening& opening,
                                 const Clock& clock) {
    std::vector<Packet> packets;
    const Command command = probing(tools, path, opening,
                                    {"-select_streams", opening.stream < 0 ? "V:0" : std::to_string(opening.stream),
                                     "-show_entries", "packet=pts,dts,size,flags", "-of", "csv=print_section=0"});
    const auto outcomes = run_side_by_side({command}, 1, [&](size_t, const std::string& line) {
        if (!line.empty()) packets.push_back(parse_packet(line, clock));
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

/// Of packets that last as long as they are apart on average.
double bit_rate_of(const std::vector<Packet>& packets, const Input& input) {
    double bytes = 0;
    for (const Packet& packet : packets) bytes += static_cast<double>(packet.bytes);
    if (input.pts.size() < 2) return 0;
    const double span = seconds(input.clock, input.pts.back() - input.pts.front());
    const auto frames = static_cast<double>(input.pts.size());
    return span > 0 ? 8 * bytes * (frames - 1) / (span * frames) : 0;
}

void sort_by_time(Input* input) {
    std::vector<std::pair<int64_t, int64_t>> frames;
    frames.reserve(input->pts.size());
    for (size_t i = 0; i < input->pts.size(); ++i) frames.emplace_back(input->pts[i], input->bytes[i]);
    std::sort(frames.begin(), frames.end());
    for (size_t i = 0; i < frames.size(); ++i) std::tie(input->pts[i], input->bytes[i]) = frames[i];
}

/// What keeps a row of packets from being cut; fills stamps and key frames.
std::string survey(const std::vector<Packet>& packets, int64_t offset, double margin, Input* input) {
    for (const Packet& packet : packets) {
        if (packet.is_discarded) continue;
        if (!packet.pts) return "its packets lack time stamps";
        input->pts.push_back(*packet.pts + offset);
        input->bytes.push_back(packet.bytes);
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
    sort_by_time(input);
    std::sort(input->key_frames.begin(), input->key_frames.end(),
              [](const KeyFrame& a, const KeyFrame& b) { return a.pts < b.pts; });
    for (size_t i = 1; i < input->pts.size(); ++i) {
        if (input->pts[i] == input->pts[i - 1]) return "two of its frames have one time stamp";
        if (seconds(input->clock, input->pts[i] - input->pts[i - 1]) > kLongestGap) return "its time stamps jump";
    }
    return input->key_frames.empty() ? "it has no key frames" : "";
}

// ---- what ffprobe says of streams

/// A video stream.
struct Stream {
    int index = 0, width = 0, height = 0;
    std::string codec;
    std::optional<Clock> clock;
    double duration = 0, frame_rate = 0; ///< 0: not known
    std::string rate_text, tags;
    bool is_picture = false;  ///< a cover, or pictures of chapters
    bool is_attached = false; ///< of these, what ffmpeg does not count as video
    bool is_turned = false;
};

const nlohmann::json& part_of(const nlohmann::json& object, const char* key) {
    static const nlohmann::json kNone;
    if (!object.is_object()) return kNone;
    const auto found = object.find(key);
    return found != object.end() ? *found : kNone;
}

std::string text_of(const nlohmann::json& object, const char* key) {
    const nlohmann::json& value = part_of(object, key);
    return value.is_string() ? value.get<std::string>() : "";
}

int number_of(const nlohmann::json& object, const char* key) {
    const nlohmann::json& value = part_of(object, key);
    return value.is_number_integer() && std::fabs(value.get<double>()) < 1e9 ? value.get<int>() : 0;
}

/// "00:00:04.000000000", as Matroska has it, or seconds
double seconds_of(const std::string& text) {
    double hours = 0, minutes = 0, rest = 0;
    if (std::sscanf(text.c_str(), "%lf:%lf:%lf", &hours, &minutes, &rest) != 3) return time_of(text);
    const double whole = hours * 3600 + minutes * 60 + rest;
    return std::fabs(whole) <= kMostSeconds ? whole : 0;
}

/// What a picture that says nothing of its colours is: sRGB, and as files of its kind have it. Of the range only what
/// decoders leave open is settled: AV1 and HEVC have none of their own, and JPEG's and WebP's say theirs.
std::string missing_tags(const nlohmann::json& stream) {
    const auto is_open = [&](const char* key) {
        const std::string value = text_of(stream, key);
        return value.empty() || value == "unknown";
    };
    const std::string format = text_of(stream, "pix_fmt");
    const bool is_yuv = format.starts_with("yuv"), is_gray = format.starts_with("gray");
    std::string tags;
    const auto set = [&](const char* name, const char* value) {
        tags += (tags.empty() ? "" : ":") + std::string(name) + "=" + value;
    };
    if (is_open("color_range") && (is_yuv || is_gray))
        set("range", text_of(stream, "codec_name") == "webp" ? "tv" : "pc");
    if (is_open("color_space") && is_yuv) set("colorspace", "smpte170m");
    if (is_open("color_primaries")) set("color_primaries", "bt709");
    if (is_open("color_transfer")) set("color_trc", "iec61966-2-1");
    return tags;
}

std::vector<Stream> streams_of(const nlohmann::json& facts) {
    std::vector<Stream> streams;
    const nlohmann::json& list = part_of(facts, "streams");
    if (!list.is_array()) return streams;
    for (const auto& each : list) {
        if (text_of(each, "codec_type") != "video") continue;
        Stream stream;
        stream.index = number_of(each, "index");
        stream.width = number_of(each, "width");
        stream.height = number_of(each, "height");
        stream.codec = text_of(each, "codec_name");
        stream.clock = fraction(text_of(each, "time_base"));
        stream.duration =
            std::max(seconds_of(text_of(each, "duration")), seconds_of(text_of(part_of(each, "tags"), "DURATION")));
        for (const char* key : {"r_frame_rate", "avg_frame_rate"}) {
            const std::string text = text_of(each, key);
            const std::optional<Clock> rate = fraction(text);
            if (!rate || seconds(*rate, 1) > kHighestRate) continue;
            stream.frame_rate = seconds(*rate, 1);
            stream.rate_text = text;
        }
        stream.tags = missing_tags(each);
        const nlohmann::json& disposition = part_of(each, "disposition");
        stream.is_attached = number_of(disposition, "attached_pic") != 0;
        stream.is_picture = stream.is_attached || number_of(disposition, "timed_thumbnails") != 0;
        if (const nlohmann::json& notes = part_of(each, "side_data_list"); notes.is_array())
            for (const auto& note : notes) stream.is_turned = stream.is_turned || note.contains("rotation");
        streams.push_back(std::move(stream));
    }
    return streams;
}

std::string described(const Stream& stream) {
    return std::to_string(stream.index) + " (" + stream.codec + ", " + std::to_string(stream.width) + "x" +
           std::to_string(stream.height) + (stream.is_picture ? ", a picture" : "") + ")";
}

/// Whether the first is the one that is meant, of two that nobody chose between.
bool goes_before(const Stream& a, const Stream& b) {
    constexpr double kSame = 0.5; // seconds; of one programme
    if (a.is_picture != b.is_picture) return b.is_picture;
    if (std::fabs(a.duration - b.duration) > kSame) return a.duration > b.duration;
    return static_cast<int64_t>(a.width) * a.height > static_cast<int64_t>(b.width) * b.height;
}

/// @throws Failure if there is none
const Stream& choose(const std::vector<Stream>& streams, const std::string& path, Input* input) {
    if (streams.empty()) throw Failure(path + " has no video stream");
    const auto says = [&](const Stream& each) { return each.index == input->opening.stream; };
    auto chosen = std::find_if(streams.begin(), streams.end(), says);
    std::string others;
    if (input->opening.stream >= 0 && chosen == streams.end()) {
        for (const Stream& each : streams) others += (others.empty() ? "" : ", ") + described(each);
        throw Failure("--stream=" + std::to_string(input->opening.stream) + ": " + path +
                          " has no such video stream; it has " + others,
                      kMisused);
    }
    const bool is_asked_for = input->opening.stream >= 0;
    if (!is_asked_for) chosen = std::min_element(streams.begin(), streams.end(), goes_before);
    for (const Stream& each : streams)
        if (&each != &*chosen) others += (others.empty() ? "" : ", ") + described(each);
    if (!is_asked_for && !others.empty())
        input->note =
            path + ": stream " + described(*chosen) + " is scored, not " + others + "; --stream names another";
    // The pad's usual name means the first that is no attached picture.
    const auto usual =
        std::find_if(streams.begin(), streams.end(), [](const Stream& each) { return !each.is_attached; });
    input->opening.stream = chosen == usual ? -1 : chosen->index;
    return *chosen;
}

/// A wrong size of raw pictures gives pictures all the same. @throws Failure
void require_whole_pictures(const Tools& tools, const std::string& path, const Opening& opening) {
    if (!opening.is_raw()) return;
    const Outcome outcome =
        run(probing(tools, path, opening,
                    {"-read_intervals", "%+#1", "-show_entries", "packet=size", "-of", "csv=print_section=0"}));
    std::error_code error;
    const uintmax_t bytes = std::filesystem::file_size(path, error);
    const long long picture = std::atoll(outcome.output.c_str());
    if (!outcome.ok() || error || picture <= 0)
        throw Failure(path + " has no picture of " + opening.size + " " + opening.pixel_format);
    if (bytes % static_cast<uintmax_t>(picture) != 0)
        throw Failure(path + " is no whole number of pictures of " + opening.size + " " + opening.pixel_format + " (" +
                      std::to_string(bytes) + " bytes, " + std::to_string(picture) +
                      " each): --size or --pixel-format is another one");
}

std::string sibling(const std::string& program, const char* name) {
    return (std::filesystem::path(program).parent_path() / name).string();
}

/// ffprobe-quality-cuda for ffmpeg-quality-cuda, if there is one; otherwise that on the PATH.
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
            return {ffmpeg, probe_beside(ffmpeg), is_threaded(help.message), help.output};
        }
    }
    throw Failure(complaint);
}

void Tools::require_option(const char* name, const char* option, const std::string& value) const {
    if (value.empty() || help.find(std::string("\n   ") + name + " ") != std::string::npos) return;
    throw Failure(std::string(option) + "=" + value + ": the filter of " + ffmpeg +
                      " has no such option; build it anew, or name another ffmpeg by --ffmpeg",
                  kMisused);
}

Input probe(const Tools& tools, const std::string& path, const Opening& opening) {
    std::error_code error;
    const bool is_file = std::filesystem::is_regular_file(path, error);
    Input input;
    input.path = path;
    input.opening = opening;
    input.has_video = true;
    if (!is_file) {
        if (std::filesystem::is_directory(path, error)) throw Failure(path + " is a folder: a video file is accepted");
        if (!is_url(path) && !std::filesystem::exists(path, error)) throw Failure(path + ": no such file");
        input.why_whole = "it is no file";
        return input;
    }
    constexpr const char* kEntries =
        "stream=index,codec_type,codec_name,width,height,time_base,duration,avg_frame_rate,r_frame_rate,pix_fmt,"
        "color_range,color_space,color_primaries,color_transfer:"
        "stream_disposition=attached_pic,timed_thumbnails:stream_tags=DURATION:stream_side_data=rotation:"
        "format=format_name,start_time";
    const Outcome outcome = run(probing(tools, path, opening, {"-show_entries", kEntries, "-of", "json"}));
    if (!outcome.ok()) throw Failure(path + " cannot be read: " + complaint(outcome.message, path));
    const auto facts = nlohmann::json::parse(outcome.output, nullptr, false);
    const std::vector<Stream> streams = streams_of(facts);
    const Stream& stream = choose(streams, path, &input);
    input.clock = stream.clock.value_or(Clock{});
    input.frame_rate = stream.frame_rate;
    input.rate_text = stream.rate_text;
    input.opening.is_turned = stream.is_turned;
    input.facts = {stream.codec, stream.width, stream.height, 0};
    if (is_picture_name(path)) input.opening.tags = stream.tags;
    require_whole_pictures(tools, path, input.opening);
    const auto& format_facts = part_of(facts, "format");
    const std::string format = first_name(text_of(format_facts, "format_name"));
    const Seekable* const kind = seekable(format);
    if (kind == nullptr)
        input.why_whole = format + " cannot be sought exactly";
    else if (!stream.clock)
        input.why_whole = "the unit of its time stamps is not known";
    else if (!opening.frame_rate.empty())
        input.why_whole = "its time stamps are those of --framerate";
    if (!input.why_whole.empty()) return input;
    const double start = time_of(text_of(format_facts, "start_time"));
    const std::vector<Packet> packets = read_packets(tools, path, input.opening, input.clock);
    input.why_whole = survey(packets, offset_ticks(start, input.clock), kind->margin, &input);
    input.facts.bit_rate = bit_rate_of(packets, input);
    return input;
}

} // namespace qc::cli
