// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/plan/refusal.hpp"
#include "run/text/text.hpp"

namespace {

/// Means of luma over the rows of a picture or over its columns, in codes of 8 bits.
using Profile = std::vector<float>;

enum Axis { kRows, kColumns, kAxes };

/// From the first line on, before the end.
struct Range {
    int first, end;
    int length() const { return end - first; }
};

// In codes of 8 bits.
constexpr float kBlackest = 24.0F; ///< a bar is darker, in either range
constexpr float kAboveBars = 3.0F; ///< what rows show that are none, at their brightest
constexpr float kAlike = 4.0F;     ///< mean difference of profiles of what is the same
constexpr float kClearRatio = 1.5F;
/// Lines that an encoder's blur may hide or show beside a bar.
constexpr int kBlur = 8;
/// A picture is more than this part of a side.
constexpr int kLeastPart = 4;

struct Video {
    std::vector<std::array<Profile, kAxes>> pictures;
};

} // namespace

struct qcr_bars {
    std::array<Video, QCR_MAX_VIDEOS> videos;
};

namespace qc::run {
namespace {

template <typename Sample>
std::array<Profile, kAxes> profiles_of(const qc_format& format, const void* luma, ptrdiff_t pitch) {
    std::array<Profile, kAxes> profiles;
    std::vector<uint32_t> columns(static_cast<size_t>(format.width));
    const float code = static_cast<float>(1 << (format.depth - 8 + format.shift));
    for (int y = 0; y < format.height; ++y) {
        const auto* row = reinterpret_cast<const Sample*>(static_cast<const uint8_t*>(luma) + y * pitch);
        uint64_t sum = 0;
        for (size_t x = 0; x < columns.size(); ++x) {
            sum += row[x];
            columns[x] += row[x];
        }
        profiles[kRows].push_back(static_cast<float>(sum) / (static_cast<float>(format.width) * code));
    }
    for (const uint32_t sum : columns)
        profiles[kColumns].push_back(static_cast<float>(sum) / (static_cast<float>(format.height) * code));
    return profiles;
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
        const Axis across = axis == kRows ? kColumns : kRows;
        const auto contents = contents_of(video, across);
        if (!contents) continue;
        const Profile brightest = brightest_of(video, across);
        const float black = *std::min_element(brightest.begin(), brightest.end());
        const auto all = static_cast<float>(brightest.size()), own = static_cast<float>(contents->length());
        for (auto& picture : made.pictures)
            for (float& mean : picture[axis]) mean = (mean * all - (all - own) * black) / own;
    }
    return made;
}

int side_of(const qc_format& format, Axis axis) {
    return axis == kRows ? format.height : format.width;
}

/// How far the second video's profiles are from the first one's, where its lines lie so much further.
float difference(const Video& one, const Video& other, Axis axis, const Range& lines, int shift) {
    float sum = 0.0F;
    const size_t pictures = std::min(one.pictures.size(), other.pictures.size());
    for (size_t n = 0; n < pictures; ++n)
        for (int i = lines.first; i < lines.end; ++i)
            sum += std::fabs(one.pictures[n][axis][static_cast<size_t>(i)] -
                             other.pictures[n][axis][static_cast<size_t>(i + shift)]);
    return sum / (static_cast<float>(pictures) * static_cast<float>(lines.length()));
}

/// How much further what the first video shows lies in the second one. Nothing where that is not beyond doubt.
std::optional<int> shift_of(const Video& one, const Video& other, Axis axis, const Range& own, const Range& others) {
    std::optional<int> best;
    float least = 0.0F, next = 0.0F;
    const int length = static_cast<int>(other.pictures.front()[axis].size());
    const int middle = others.first - own.first, longer = own.length() - others.length();
    if (std::abs(longer) > kBlur) return std::nullopt; // they do not show the same
    for (int shift = middle - kBlur; shift <= middle + kBlur; ++shift) {
        const Range lines = {std::max({own.first, others.first - shift, -shift}) + kBlur,
                             std::min({own.end, others.end - shift, length - shift}) - kBlur};
        if (lines.length() * kLeastPart < std::min(own.length(), others.length())) continue;
        const float found = difference(one, other, axis, lines, shift);
        if (!best || found < least) {
            next = best ? least : found * kClearRatio;
            least = found;
            best = shift;
        } else {
            next = std::min(next, found);
        }
    }
    return best && least < kAlike && least * kClearRatio <= next ? best : std::nullopt;
}

/// The lines of the reference that all inputs have, without bars that all have, and how much further they lie in each.
struct Common {
    Range lines{};
    std::array<int, QCR_MAX_VIDEOS> shift{};
};

std::optional<Common> common_lines(const qcr_bars& bars, int inputs, const qc_format* const* format, Axis axis) {
    const Video& reference = bars.videos[QCR_REFERENCE];
    const auto own = contents_of(reference, axis);
    if (!own) return std::nullopt;
    Common common;
    Range whole = {0, side_of(*format[QCR_REFERENCE], axis)}, shown = *own;
    for (int i = 0; i < inputs; ++i) {
        const auto at = static_cast<size_t>(i);
        if (i == QCR_REFERENCE) continue;
        const auto others = contents_of(bars.videos[at], axis);
        const auto shift = others ? shift_of(reference, bars.videos[at], axis, *own, *others) : std::nullopt;
        if (!shift) return std::nullopt;
        common.shift[at] = *shift;
        whole = {std::max(whole.first, -*shift), std::min(whole.end, side_of(*format[i], axis) - *shift)};
        shown = {std::min(shown.first, others->first - *shift), std::max(shown.end, others->end - *shift)};
    }
    common.lines = {std::max(whole.first, shown.first), std::min(whole.end, shown.end)};
    // Chroma begins with each second line, in all inputs.
    while (common.lines.first % 2 != 0) ++common.lines.first;
    const bool fits = std::all_of(common.shift.begin(), common.shift.end(), [](int shift) { return shift % 2 == 0; });
    return fits && common.lines.length() > 0 ? std::optional(common) : std::nullopt;
}

std::string text_of(const qcr_crop& crop) {
    return formatted("%dx%d+%d+%d", crop.width, crop.height, crop.x, crop.y);
}

void decide(const qcr_bars& bars, const qcr_names& names, const qc_format* const* format, qcr_crop* crops,
            const qcr_sink& sink) {
    qcr_bars contents;
    std::transform(bars.videos.begin(), bars.videos.end(), contents.videos.begin(), without_bars);
    const auto rows = common_lines(contents, names.inputs, format, kRows),
               columns = common_lines(contents, names.inputs, format, kColumns);
    if (!rows || !columns)
        return say(sink, QCR_LEVEL_WARNING,
                   "crop=auto: the first pictures do not tell beyond doubt what all inputs show, nothing is cropped");
    bool is_any = false;
    for (int i = 0; i < names.inputs; ++i) {
        const auto at = static_cast<size_t>(i);
        const qcr_crop crop = {columns->lines.first + columns->shift[at], rows->lines.first + rows->shift[at],
                               columns->lines.length(), rows->lines.length()};
        if (crop.width == format[i]->width && crop.height == format[i]->height) continue;
        crops[i] = crop;
        is_any = true;
        say(sink, QCR_LEVEL_INFO,
            formatted("crop=auto: of input %d (%s), %dx%d, %s is compared", i, names.role[i], format[i]->width,
                      format[i]->height, text_of(crop).c_str()));
    }
    if (!is_any) say(sink, QCR_LEVEL_INFO, "crop=auto: no input has black bars, nothing is cropped");
}

} // namespace
} // namespace qc::run

using namespace qc::run;

qcr_bars* qcr_bars_create(void) {
    return new (std::nothrow) qcr_bars;
}

void qcr_bars_destroy(qcr_bars* bars) {
    delete bars;
}

qc_status qcr_bars_see(qcr_bars* bars, int input, const qc_format* format, const void* luma, ptrdiff_t pitch,
                       qc_error* error) {
    if (format->pixel_step != 0 || format->container_bits > 16 || format->big_endian != 0) {
        std::snprintf(error->text, sizeof(error->text),
                      "crop=auto: luma of input %d is not in a plane of its own; put a "
                      "format filter before it, or say what to crop: crop=WxH+X+Y",
                      input);
        return QC_ERROR_UNSUPPORTED;
    }
    return guarded([&] {
        bars->videos[static_cast<size_t>(input)].pictures.push_back(format->container_bits == 8
                                                                        ? profiles_of<uint8_t>(*format, luma, pitch)
                                                                        : profiles_of<uint16_t>(*format, luma, pitch));
    });
}

qc_status qcr_bars_decide(const qcr_bars* bars, const qcr_names* names, const qc_format* const* format, qcr_crop* crops,
                          const qcr_sink* sink) {
    return guarded([&] { decide(*bars, *names, format, crops, *sink); });
}
