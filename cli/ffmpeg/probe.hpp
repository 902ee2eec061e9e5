// SPDX-License-Identifier: BSD-2-Clause-Patent
// What ffprobe says of an input: its packets' time stamps, and whether decoding can begin in mid of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ffmpeg/opening.hpp"
#include "words/stream_facts.hpp"

namespace qc::cli {

/// The programs, found once.
struct Tools {
    std::string ffmpeg, ffprobe;
    /// Whether ffmpeg has threads of its own for each input, decoder and graph, so that parts run side by side within
    /// it.
    bool is_threaded = false;
    std::string help; ///< of its filter

    /// @throws Failure if the filter has no such option, of that value of this command's
    void require_option(const char* name, const char* option, const std::string& value) const;
};

/// @param wish path of ffmpeg, or empty: beside this program, otherwise on the PATH. ffprobe is looked for beside it
/// first.
/// @throws Failure if one is missing, or ffmpeg lacks the filter
Tools find_tools(const std::string& wish);

/// This program's file.
std::string own_program();

/// num / den seconds.
struct Clock {
    int64_t num = 1, den = 1;
};

struct KeyFrame {
    int64_t pts = 0;      ///< as the filter sees it
    double seek_time = 0; ///< seconds from the input's start, for -ss
};

struct Input {
    std::string path;
    Opening opening; ///< with the stream that was chosen
    bool has_video = false;
    StreamFacts facts;
    Clock clock;
    double frame_rate = 0;            ///< that it claims; 0: not known
    std::string rate_text;            ///< the same as a fraction; empty: not known
    std::string note;                 ///< what is to be said of the choice of its stream
    std::vector<int64_t> pts;         ///< of all frames, ascending, as the filter sees them: 0 is the start of the file
    std::vector<int64_t> bytes;       ///< of each frame's packet, in the order of `pts`
    std::vector<KeyFrame> key_frames; ///< ascending
    std::string why_whole;            ///< why it has to be decoded from its beginning; empty: it need not
};

/// Of the stream that was asked for, otherwise of the longest one that is no attached picture.
/// @throws Failure if there is none, or the file cannot be read
Input probe(const Tools& tools, const std::string& path, const Opening& opening = {});

} // namespace qc::cli
