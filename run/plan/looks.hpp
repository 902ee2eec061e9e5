// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures as what looks for black bars keeps them: means of their rows and columns, and a small picture.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <quality_cuda.h>

namespace qc::run {

/// Means of luma over the rows of a picture or over its columns, in codes of 8 bits.
using Profile = std::vector<float>;

enum Axis { kRows, kColumns, kAxes };

constexpr Axis across(Axis axis) {
    return axis == kRows ? kColumns : kRows;
}

/// From the first line on, before the end.
struct Range {
    int first, end;
    int length() const { return end - first; }
};

// In codes of 8 bits.
constexpr float kBlackest = 24.0F; ///< a bar is darker, in either range
constexpr float kAboveBars = 3.0F; ///< what rows show that are none, at their brightest
/// Lines that an encoder's blur may hide or show beside a bar.
constexpr int kBlur = 8;
/// A picture is more than this part of a side.
constexpr int kLeastPart = 4;

/// Means over the blocks of a grid, row by row.
constexpr int kThumbnailSide = 64;
using Thumbnail = std::array<float, static_cast<size_t>(kThumbnailSide* kThumbnailSide)>;

struct Video {
    std::array<int, kAxes> side{}; ///< lines along each axis
    std::vector<std::array<Profile, kAxes>> pictures;
    std::vector<Thumbnail> thumbnails; ///< of the same pictures
};

/// @param luma the first row @param pitch bytes from row to row
void add_picture(Video& video, const qc_format& format, const void* luma, ptrdiff_t pitch);

/// Of each line the brightest of all pictures.
Profile brightest_of(const Video& video, Axis axis);

/// What is no bar, by the brightest of each line. Nothing where all is black.
std::optional<Range> contents_of(const Video& video, Axis axis);

/// Means without the bars that lie across: of columns without the rows above and below, and the other way round.
Video without_bars(const Video& video);

bool shows_something(const Profile& profile, const Range& lines);

/// What is dark at a border and no bar counts as shown.
Range without_border(const Range& contents, int side);

} // namespace qc::run
