// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ffmpeg/opening.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr int kMostStreams = 100000, kLargestSide = 65536;
constexpr const char* kRawEndings[] = {".yuv", ".raw"};
constexpr const char* kPictureEndings[] = {".jpg", ".jpeg", ".png",  ".webp", ".avif", ".heic", ".jxl",
                                           ".bmp", ".tif",  ".tiff", ".gif",  ".ppm",  ".pgm",  ".pnm",
                                           ".exr", ".jp2",  ".j2k",  ".qoi",  ".tga",  ".dpx",  ".pam"};
constexpr const char* kHasPattern = "%*?[{";

std::string ending_of(const std::string& path) {
    std::string ending = std::filesystem::path(path).extension().string();
    for (char& c : ending)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return ending;
}

template <size_t count>
bool is_one_of(const std::string& text, const char* const (&list)[count]) {
    return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

std::optional<int> whole_number(const std::string& text, int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    return is_number && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

Failure misused(const char* option, const std::string& text, const std::string& accepted) {
    return Failure(std::string(option) + "=" + text + ": " + accepted, kMisused);
}

/// The videos that a value is for.
struct Choice {
    size_t first = 0, end = 0; ///< of those that were typed
    bool is_of_all = false;    ///< nothing said which
    std::string value;
};

Choice choice_of(const char* option, const std::string& text, size_t videos) {
    const size_t colon = text.find(':');
    const std::string which = colon == std::string::npos ? "" : text.substr(0, colon);
    const std::string value = colon == std::string::npos ? text : text.substr(colon + 1);
    if (which == "ref") return {videos - 1, videos, false, value};
    if (which == "dist") return {0, videos - 1, false, value};
    const bool is_distorted = which.starts_with("dist");
    const auto number = whole_number(is_distorted ? which.substr(4) : which, 0, kMostStreams);
    if (!number) return {0, videos, true, text};
    if (static_cast<size_t>(*number) >= videos - (is_distorted ? 1 : 0))
        throw misused(option, text,
                      "there is no such video; ref, dist, dist0 and so on, or a number from 0 to " +
                          std::to_string(videos - 1) + " are accepted before the colon");
    return {static_cast<size_t>(*number), static_cast<size_t>(*number) + 1, false, value};
}

/// "1920x1080"
bool is_size(const std::string& text) {
    const size_t cross = text.find('x');
    return cross != std::string::npos && whole_number(text.substr(0, cross), 1, kLargestSide) &&
           whole_number(text.substr(cross + 1), 1, kLargestSide);
}

/// "25", "29.97", "30000/1001"
bool is_rate(const std::string& text) {
    const size_t slash = text.find('/');
    if (slash != std::string::npos)
        return whole_number(text.substr(0, slash), 1, 1000000000) &&
               whole_number(text.substr(slash + 1), 1, 1000000000);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    return error == std::errc() && end == text.data() + text.size() && value > 0 && value <= 100000;
}

bool is_word(const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

/// One chain, from one pad to one: what begins another would be part of the graph around it.
bool is_chain(const std::string& text) {
    return !text.empty() && text.find_first_of("[];\n") == std::string::npos;
}

void append_filter(const std::string& filter, Opening* opening) {
    opening->filter += (opening->filter.empty() ? "" : ",") + filter;
}

/// Clockwise, as a person sees it.
const char* filter_of_rotation(const std::string& rotation) {
    static constexpr std::pair<const char*, const char*> kRotations[] = {{"90", "transpose=clock"},
                                                                         {"180", "hflip,vflip"},
                                                                         {"270", "transpose=cclock"},
                                                                         {"hflip", "hflip"},
                                                                         {"vflip", "vflip"}};
    for (const auto& [name, filter] : kRotations)
        if (rotation == name) return filter;
    return nullptr;
}

/// A size that names no video is of those whose names say that they are raw, and of all if there is no such.
bool is_meant(const Choice& choice, const std::string& path, bool any_is_raw) {
    return !choice.is_of_all || !any_is_raw || is_one_of(ending_of(path), kRawEndings);
}

using Openings = std::vector<Opening>;

template <typename Set>
void apply(const char* option, const std::vector<std::string>& values, size_t videos, const Set& set) {
    for (const std::string& text : values) {
        const Choice choice = choice_of(option, text, videos);
        for (size_t i = choice.first; i < choice.end; ++i) set(choice, i, text);
    }
}

void apply_raw(const OpeningWishes& wishes, const std::vector<std::string>& videos, Openings* openings) {
    const bool any_is_raw = std::any_of(
        videos.begin(), videos.end(), [](const std::string& path) { return is_one_of(ending_of(path), kRawEndings); });
    apply("--size", wishes.sizes, videos.size(), [&](const Choice& choice, size_t i, const std::string& text) {
        if (!is_size(choice.value)) throw misused("--size", text, "WIDTHxHEIGHT is accepted, such as 1920x1080");
        if (is_meant(choice, videos[i], any_is_raw)) (*openings)[i].size = choice.value;
    });
    for (size_t i = 0; i < videos.size(); ++i) {
        if (!is_one_of(ending_of(videos[i]), kRawEndings) || (*openings)[i].is_raw()) continue;
        throw Failure(videos[i] + " has raw pictures, of which nothing tells the size: --size WIDTHxHEIGHT does (and "
                                  "--pixel-format, if they are not yuv420p)",
                      kMisused);
    }
    for (Opening& each : *openings)
        if (each.is_raw()) each.pixel_format = "yuv420p";
    apply("--pixel-format", wishes.pixel_formats, videos.size(),
          [&](const Choice& choice, size_t i, const std::string& text) {
              if (!is_word(choice.value))
                  throw misused("--pixel-format", text, "a name of FFmpeg's is accepted, such as yuv420p10le");
              if ((*openings)[i].is_raw())
                  (*openings)[i].pixel_format = choice.value;
              else if (!choice.is_of_all)
                  throw misused("--pixel-format", text, videos[i] + " is not read as raw pictures; --size makes it so");
          });
    if (!wishes.pixel_formats.empty() &&
        std::none_of(openings->begin(), openings->end(), [](const Opening& each) { return each.is_raw(); }))
        throw misused("--pixel-format", wishes.pixel_formats.front(),
                      "none of the videos has raw pictures; --size says which have");
}

} // namespace

void to_json(nlohmann::json& json, const Opening& opening) {
    json = {{"stream", opening.stream},         {"size", opening.size},     {"pixel_format", opening.pixel_format},
            {"frame_rate", opening.frame_rate}, {"filter", opening.filter}, {"tags", opening.tags},
            {"turned", opening.is_turned}};
}

void from_json(const nlohmann::json& json, Opening& opening) {
    json.at("stream").get_to(opening.stream);
    json.at("size").get_to(opening.size);
    json.at("pixel_format").get_to(opening.pixel_format);
    json.at("frame_rate").get_to(opening.frame_rate);
    json.at("filter").get_to(opening.filter);
    json.at("tags").get_to(opening.tags);
    json.at("turned").get_to(opening.is_turned);
    const bool is_sound = opening.stream >= -1 && opening.stream <= kMostStreams &&
                          (opening.size.empty() || (is_size(opening.size) && is_word(opening.pixel_format))) &&
                          (opening.frame_rate.empty() || is_rate(opening.frame_rate)) &&
                          (opening.filter.empty() || is_chain(opening.filter)) &&
                          opening.tags.find_first_of("[];, \n") == std::string::npos;
    if (!is_sound) throw Failure("a video is opened in no way that there is");
}

std::vector<Opening> openings_of(const OpeningWishes& wishes, const std::vector<std::string>& videos) {
    const size_t count = videos.size();
    Openings openings(count);
    apply("--stream", wishes.streams, count, [&](const Choice& choice, size_t i, const std::string& text) {
        const auto stream = whole_number(choice.value, 0, kMostStreams);
        if (!stream) throw misused("--stream", text, "a stream's number in the file is accepted, as ffprobe counts");
        openings[i].stream = *stream;
    });
    apply_raw(wishes, videos, &openings);
    apply("--framerate", wishes.frame_rates, count, [&](const Choice& choice, size_t i, const std::string& text) {
        if (!is_rate(choice.value))
            throw misused("--framerate", text, "frames per second are accepted, such as 25, 29.97 or 30000/1001");
        const bool any_is_raw =
            std::any_of(openings.begin(), openings.end(), [](const Opening& each) { return each.is_raw(); });
        if (!choice.is_of_all || !any_is_raw || openings[i].is_raw()) openings[i].frame_rate = choice.value;
    });
    apply("--rotate", wishes.rotations, count, [&](const Choice& choice, size_t i, const std::string& text) {
        const char* const filter = filter_of_rotation(choice.value);
        if (filter == nullptr)
            throw misused("--rotate", text, "90, 180, 270 (clockwise), hflip and vflip are accepted");
        if (!choice.is_of_all || i + 1 < count) append_filter(filter, &openings[i]);
    });
    apply("--filter", wishes.filters, count, [&](const Choice& choice, size_t i, const std::string& text) {
        if (!is_chain(choice.value))
            throw misused("--filter", text,
                          "one chain of FFmpeg's filters is accepted, without brackets and semicolons");
        append_filter(choice.value, &openings[i]);
    });
    return openings;
}

bool is_url(const std::string& path) {
    std::error_code error;
    return path == "-" || (path.find("://") != std::string::npos && !std::filesystem::exists(path, error));
}

bool is_picture_name(const std::string& path) {
    return is_one_of(ending_of(path), kPictureEndings);
}

std::string name_for_ffmpeg(const std::string& path) {
    if (path == "-") return "pipe:0";
    return is_url(path) ? path : "file:" + path;
}

std::vector<std::string> reading_options(const std::string& path, const Opening& opening) {
    if (opening.is_raw()) {
        std::vector<std::string> options = {"-f",         "rawvideo",      "-video_size",
                                            opening.size, "-pixel_format", opening.pixel_format};
        if (!opening.frame_rate.empty()) options.insert(options.end(), {"-framerate", opening.frame_rate});
        return options;
    }
    // What reads pictures would take such a name for many of them.
    if (!is_url(path) && is_picture_name(path) && path.find_first_of(kHasPattern) != std::string::npos)
        return {"-f", "image2", "-pattern_type", "none"};
    return {};
}

std::string pad_of(size_t input, const Opening& opening) {
    return "[" + std::to_string(input) + (opening.stream < 0 ? ":V:0]" : ":" + std::to_string(opening.stream) + "]");
}

} // namespace qc::cli
