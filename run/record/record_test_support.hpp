// SPDX-License-Identifier: BSD-2-Clause-Patent
// Records that no run has made.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "run/record/parts.hpp"
#include "run/record/writer.hpp"

namespace qc::run {

/// A folder of its own, which goes with the object.
class Folder {
public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "record-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

inline std::string bytes_of_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

inline constexpr int64_t kTick =
    10; ///< timestamp of a distorted frame: its number times this; of a reference frame: its number

/// Frames first..end - 1 of two videos, each a pair with its number as what was measured of it, unless said otherwise.
struct MadePart {
    int first = 0, end = 0;
    int inputs = 2;
    int odd_pair = -1;        ///< this frame is measured to be another one
    int missing_pair = -1;    ///< this frame is in no pair
    int unmeasured = -1;      ///< of this pair nothing was measured
    int reference_behind = 0; ///< the reference's partners are of frames so many before
    bool broke = false;       ///< a pause was before all of them
};

inline void write_input(RecordWriter* writer, int input) {
    std::vector<int64_t> words(kInputWords);
    words[kInputIndex] = input;
    words[kInputWidth] = 64;
    words[kInputHeight] = 48;
    words[kInputFormat] = 7;
    words[kInputClockNum] = 1;
    words[kInputClockDen] = input == 0 ? 250 : 25;
    writer->add(Kind::kInput, words);
}

inline void write_frame(RecordWriter* writer, int input, int64_t pts) {
    std::vector<int64_t> words(kFrameWords);
    words[kFrameInput] = input;
    words[kFramePts] = pts;
    words[kFrameFormat] = 7;
    words[kFrameBytes] = 100 + pts;
    writer->add(Kind::kFrame, words);
}

inline void write_pair(RecordWriter* writer, const MadePart& part, int n, int64_t row) {
    const std::vector<int64_t> pts = {n * kTick, n - part.reference_behind};
    const std::vector<int64_t> measured = {row, n == part.odd_pair ? -1 : n, 42};
    if (n == part.missing_pair) return;
    writer->add_pair(row, 1, pts.data());
    if (n != part.unmeasured) writer->add(Kind::kMeasured, measured);
}

inline std::string write_part(const std::string& path, const MadePart& part) {
    RecordWriter writer(path, part.inputs);
    writer.add_format(7, "yuv420p");
    for (int i = 0; i < part.inputs; ++i) write_input(&writer, i);
    const int64_t level = QCR_LEVEL_WARNING;
    writer.add(Kind::kSaid, {&level, 1}, "said before");
    EXPECT_TRUE(writer.begin());
    if (part.broke) writer.pause();
    for (int n = part.first; n < part.end; ++n) {
        write_frame(&writer, 0, n * kTick);
        write_frame(&writer, 1, n);
        write_pair(&writer, part, n, n - part.first);
    }
    for (int i = 0; i < part.inputs; ++i) {
        const std::vector<int64_t> words = {i, -5, part.end};
        writer.add(Kind::kEnd, words);
    }
    EXPECT_TRUE(writer.finish(25, 0.02, true));
    return path;
}

/// The second part has these frames from `cut` on.
inline Records two_parts(const std::string& first, const std::string& second, int cut) {
    return {.parts = {{{0, 0}, first}, {{cut * kTick, cut}, second}}, .inputs = 2, .may_come = {}};
}

} // namespace qc::run
