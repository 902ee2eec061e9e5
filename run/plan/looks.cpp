// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/plan/looks.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace qc::run {

namespace {

int block_of(int line, int side) {
    return static_cast<int>(int64_t{line} * kThumbnailSide / side);
}

/// Sums over the samples of a block, and how many they are.
struct Blocks {
    Thumbnail sum{}, samples{};
    void add(int row, int column, float of, float count) {
        const auto at = static_cast<size_t>(row * kThumbnailSide + column);
        sum[at] += of;
        samples[at] += count;
    }
    /// A block that has no sample of its own is the one before it.
    Thumbnail means() const {
        Thumbnail mean{};
        for (size_t i = 0; i < mean.size(); ++i) {
            const size_t before = i % kThumbnailSide != 0 ? i - 1 : i < kThumbnailSide ? i : i - kThumbnailSide;
            mean[i] = samples[i] > 0.0F ? sum[i] / samples[i] : mean[before];
        }
        return mean;
    }
};

template <typename Sample>
void look_at(const qc_format& format, const void* luma, ptrdiff_t pitch, Video& video) {
    const auto width = static_cast<size_t>(format.width);
    const float code = static_cast<float>(1 << (format.depth - 8 + format.shift));
    std::array<Profile, kAxes> profiles;
    std::vector<uint32_t> columns(width), band(width);
    Blocks blocks;
    for (int y = 0; y < format.height; ++y) {
        const auto* row = reinterpret_cast<const Sample*>(static_cast<const uint8_t*>(luma) + y * pitch);
        uint64_t sum = 0;
        for (size_t x = 0; x < width; ++x) {
            sum += row[x];
            band[x] += row[x];
        }
        profiles[kRows].push_back(static_cast<float>(sum) / (static_cast<float>(format.width) * code));
        const int block = block_of(y, format.height);
        if (y + 1 < format.height && block_of(y + 1, format.height) == block) continue;
        const int before = static_cast<int>((int64_t{block} * format.height + kThumbnailSide - 1) / kThumbnailSide);
        for (size_t x = 0; x < width; ++x) {
            blocks.add(block, block_of(static_cast<int>(x), format.width), static_cast<float>(band[x]) / code,
                       static_cast<float>(y + 1 - before));
            columns[x] += band[x];
            band[x] = 0;
        }
    }
    for (const uint32_t sum : columns)
        profiles[kColumns].push_back(static_cast<float>(sum) / (static_cast<float>(format.height) * code));
    video.pictures.push_back(std::move(profiles));
    video.thumbnails.push_back(blocks.means());
}

} // namespace

void add_picture(Video& video, const qc_format& format, const void* luma, ptrdiff_t pitch) {
    video.side = {format.height, format.width};
    if (format.container_bits == 8)
        look_at<uint8_t>(format, luma, pitch, video);
    else
        look_at<uint16_t>(format, luma, pitch, video);
}

Profile brightest_of(const Video& video, Axis axis) {
    Profile brightest = video.pictures.front()[axis];
    for (const auto& picture : video.pictures)
        for (size_t i = 0; i < brightest.size(); ++i) brightest[i] = std::max(brightest[i], picture[axis][i]);
    return brightest;
}

/// What is no bar, by the brightest of each line. Nothing where all is black.
std::optional<Range> contents_of(const Video& video, Axis axis) {
    if (video.pictures.empty()) return std::nullopt;
    const Profile brightest = brightest_of(video, axis);
    const float darkest = *std::min_element(brightest.begin(), brightest.end());
    const auto shows = [&](float line) { return darkest > kBlackest || line > darkest + kAboveBars; };
    const auto first = std::find_if(brightest.begin(), brightest.end(), shows);
    const auto end = std::find_if(brightest.rbegin(), brightest.rend(), shows).base();
    if (first == brightest.end() || (end - first) * kLeastPart < std::ssize(brightest)) return std::nullopt;
    return Range{static_cast<int>(first - brightest.begin()), static_cast<int>(end - brightest.begin())};
}

/// Means without the bars that lie across: of columns without the rows above and below, and the other way round.
Video without_bars(const Video& video) {
    Video made = video;
    for (const Axis axis : {kRows, kColumns}) {
        const auto contents = contents_of(video, across(axis));
        if (!contents) continue;
        const Profile brightest = brightest_of(video, across(axis));
        const float black = *std::min_element(brightest.begin(), brightest.end());
        const auto all = static_cast<float>(brightest.size()), own = static_cast<float>(contents->length());
        for (auto& picture : made.pictures)
            for (float& mean : picture[axis]) mean = (mean * all - (all - own) * black) / own;
    }
    return made;
}

bool shows_something(const Profile& profile, const Range& lines) {
    const auto [darkest, brightest] = std::minmax_element(profile.begin() + lines.first, profile.begin() + lines.end);
    return *brightest - *darkest > kAboveBars;
}

/// What is dark at a border and no bar counts as shown.
Range without_border(const Range& contents, int side) {
    return {contents.first > kBlur ? contents.first : 0, contents.end < side - kBlur ? contents.end : side};
}

} // namespace qc::run
