// SPDX-License-Identifier: BSD-2-Clause-Patent
// How ffmpeg and ffprobe are told of a video: the one place that gives them its name, and what they have to know to
// read it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace qc::cli {

/// One of a title's videos, beyond its name. All empty: as it is.
struct Opening {
    int stream = -1;          ///< by its number in the file; below 0: the first that is no attached picture
    std::string size;         ///< WIDTHxHEIGHT of raw pictures; empty: it has a container
    std::string pixel_format; ///< of raw pictures
    std::string frame_rate;   ///< of raw pictures, or instead of the one that the container claims
    std::string filter;       ///< a chain before the scores
    std::string tags;         ///< of colour, as options of FFmpeg's filter setparams: what its kind of file means
    bool is_turned = false;   ///< by its container: ffmpeg turns it where it decodes on the CPU

    bool is_raw() const { return !size.empty(); }
    bool needs_host_memory() const { return is_raw() || is_turned || !filter.empty() || !tags.empty(); }
};

void to_json(nlohmann::json& json, const Opening& opening);
void from_json(const nlohmann::json& json, Opening& opening);

/// What the user said of single videos: each value is VALUE or WHICH:VALUE, where WHICH is ref, dist, dist1 or a number
/// from 0 on, in the order in which they were typed.
struct OpeningWishes {
    std::vector<std::string> streams, sizes, pixel_formats, frame_rates, rotations, filters;
};

/// @param videos as they were typed, the reference last  @return in their order. @throws Failure
std::vector<Opening> openings_of(const OpeningWishes& wishes, const std::vector<std::string>& videos);

/// Whether ffmpeg has to open it as what it is on the network, or as standard input.
bool is_url(const std::string& path);

/// Whether its name says that it is a still picture.
bool is_picture_name(const std::string& path);

/// For -i: nothing in the name of a file has a meaning of its own.
std::string name_for_ffmpeg(const std::string& path);

/// What both programs have to be told before the name.
std::vector<std::string> reading_options(const std::string& path, const Opening& opening);

/// "[2:V:0]", the pad of an input in a graph.
std::string pad_of(size_t input, const Opening& opening);

} // namespace qc::cli
