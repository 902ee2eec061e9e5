// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "run/plan/framing.hpp"
#include "run/plan/looks.hpp"
#include "run/plan/refusal.hpp"
#include "run/text/text.hpp"

struct qcr_bars {
    std::array<qc::run::Video, QCR_MAX_VIDEOS> videos;
    bool decides = false; ///< what is compared; otherwise they are only told of
    bool is_over = false;
    int64_t pairs = 0;                         ///< that were offered to the watch
    int looks = 0;                             ///< that it has seen
    std::array<bool, QCR_MAX_VIDEOS> differ{}; ///< inputs whose bars were told of
};

namespace qc::run {
namespace {

constexpr float kAlike = 4.0F; ///< mean difference of profiles of what is the same, in codes of 8 bits
/// So many of so many pictures have to say where it lies.
constexpr std::ptrdiff_t kMostOfPictures = 3, kOfPictures = 4;
/// The watch looks at the first pairs, then at each so many, until so many show something, or at most at so many.
constexpr int64_t kBetweenLooks = 8;
constexpr std::ptrdiff_t kTellingLooks = 12;
constexpr int kMostLooks = 48;

/// How far two profiles are from each other, beside a constant, where the second one's lines lie so much further.
float difference(const Profile& one, const Profile& other, const Range& lines, int shift) {
    const auto away = [&](int line) {
        return one[static_cast<size_t>(line)] - other[static_cast<size_t>(line + shift)];
    };
    const auto count = static_cast<float>(lines.length());
    float mean = 0.0F, sum = 0.0F;
    for (int i = lines.first; i < lines.end; ++i) mean += away(i) / count;
    for (int i = lines.first; i < lines.end; ++i) sum += std::fabs(away(i) - mean);
    return sum / count;
}

/// Of each picture that shows something. @param middle how much further the second one's lines lie about
std::vector<float> differences(const Video& one, const Video& other, Axis axis, const Range& lines, int middle,
                               int shift) {
    std::vector<float> found;
    const Range others = {lines.first + middle, lines.end + middle};
    for (size_t n = 0; n < std::min(one.pictures.size(), other.pictures.size()); ++n) {
        const Profile &own = one.pictures[n][axis], &second = other.pictures[n][axis];
        if (shows_something(own, lines) && shows_something(second, others))
            found.push_back(difference(own, second, lines, shift));
    }
    return found;
}

float mean_of(const std::vector<float>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), 0.0F) / static_cast<float>(numbers.size());
}

/// Whether most pictures, each for itself, are nearer.
bool is_clearly_nearer(const std::vector<float>& own, const std::vector<float>& other) {
    std::ptrdiff_t nearer = 0;
    for (size_t n = 0; n < own.size(); ++n) nearer += own[n] < other[n] ? 1 : 0;
    return nearer * kOfPictures >= std::ssize(own) * kMostOfPictures && mean_of(own) < mean_of(other);
}

/// How much further what the first video shows lies in the second one. Nothing where that is not beyond doubt.
std::optional<int> shift_of(const Video& one, const Video& other, Axis axis, const Range& own, const Range& others) {
    if (std::abs(own.length() - others.length()) > kBlur) return std::nullopt; // they do not show the same
    const int length = static_cast<int>(other.pictures.front()[axis].size()), middle = others.first - own.first;
    // The same lines for all shifts: what is compared must not decide.
    const Range lines = {std::max({own.first, others.first - middle + kBlur, kBlur - middle}) + kBlur,
                         std::min({own.end, others.end - middle - kBlur, length - middle - kBlur}) - kBlur};
    if (lines.length() * kLeastPart < own.length()) return std::nullopt;
    std::vector<std::vector<float>> found;
    for (int shift = middle - kBlur; shift <= middle + kBlur; ++shift)
        found.push_back(differences(one, other, axis, lines, middle, shift));
    if (found.front().empty()) return std::nullopt;
    const auto best = std::min_element(found.begin(), found.end(),
                                       [](const auto& a, const auto& b) { return mean_of(a) < mean_of(b); });
    const bool is_certain =
        mean_of(*best) < kAlike && std::all_of(found.begin(), found.end(), [&](const auto& shifted) {
            return &shifted == &*best || is_clearly_nearer(*best, shifted);
        });
    return is_certain ? std::optional(middle - kBlur + static_cast<int>(best - found.begin())) : std::nullopt;
}

/// The lines of the reference that all inputs have, without bars that all have, and how much further they lie in each.
struct Common {
    Range lines{};
    std::array<int, QCR_MAX_VIDEOS> shift{};
};

std::optional<Common> common_lines(const qcr_bars& bars, int inputs, Axis axis) {
    const Video& reference = bars.videos[QCR_REFERENCE];
    const auto own = contents_of(reference, axis);
    if (!own) return std::nullopt;
    Common common;
    common.lines = without_border(*own, reference.side[axis]);
    for (int i = 0; i < inputs; ++i) {
        const auto at = static_cast<size_t>(i);
        if (i == QCR_REFERENCE) continue;
        const auto others = contents_of(bars.videos[at], axis);
        const auto shift = others ? shift_of(reference, bars.videos[at], axis, *own, *others) : std::nullopt;
        if (!shift) return std::nullopt;
        common.shift[at] = *shift;
        const Range lines = without_border(*others, bars.videos[at].side[axis]);
        common.lines = {std::max(common.lines.first, lines.first - *shift),
                        std::min(common.lines.end, lines.end - *shift)};
    }
    // Chroma begins with each second line, in all inputs.
    while (common.lines.first % 2 != 0) ++common.lines.first;
    const bool fits = std::all_of(common.shift.begin(), common.shift.end(), [](int shift) { return shift % 2 == 0; });
    return fits && common.lines.length() > 0 ? std::optional(common) : std::nullopt;
}

std::string text_of(const qcr_crop& crop) {
    return formatted("%dx%d+%d+%d", crop.width, crop.height, crop.x, crop.y);
}

qcr_crop crop_of(const std::array<Range, kAxes>& lines) {
    return {lines[kColumns].first, lines[kRows].first, lines[kColumns].length(), lines[kRows].length()};
}

bool is_whole(const qcr_crop& crop, const Video& video) {
    return crop.width == video.side[kColumns] && crop.height == video.side[kRows];
}

// ---- what is told of them

/// The option that has both compared where they show the same. An input that is whole needs no words.
std::string remedy(const Video& reference, const Video& distorted, int input, const Framing& framing, bool scales) {
    const qcr_crop own = crop_of(framing.distorted), references = crop_of(framing.reference);
    const auto crop_text = [](const qcr_crop& crop, const Video& video) {
        return is_whole(crop, video) ? "" : text_of(crop);
    };
    std::string crops = input == 0 ? crop_text(own, distorted) : "";
    crops += "|" + crop_text(references, reference);
    if (input > QCR_REFERENCE) crops += std::string(static_cast<size_t>(input - 1), '|') + crop_text(own, distorted);
    while (crops.back() == '|') crops.pop_back();
    return "quality_cuda=crop=" + crops + (framing.is_scaled() && !scales ? ":scale=bicubic" : "");
}

void say_framing(const qcr_bars& bars, const qcr_names& names, int input, const Framing& framing, bool scales,
                 const qcr_sink& sink) {
    const Video &reference = bars.videos[QCR_REFERENCE], &distorted = bars.videos[static_cast<size_t>(input)];
    const auto size_of = [](const Video& video) { return formatted("%dx%d", video.side[kColumns], video.side[kRows]); };
    const std::string text =
        "contents: the inputs have different black bars: " +
        formatted("%s (%s)", names.role[input], size_of(distorted).c_str()) + " shows in " +
        text_of(crop_of(framing.distorted)) + formatted(" what the %s (", names.role[QCR_REFERENCE]) +
        size_of(reference) + ") shows in " + text_of(crop_of(framing.reference)) +
        ", and scores compare bars with pictures" + (framing.is_scaled() ? ", and other places" : "") + ": use " +
        remedy(reference, distorted, input, framing, scales);
    say(sink, QCR_LEVEL_WARNING,
        !framing.is_certain
            ? text + "; nothing in the first pictures tells whether one of them is stretched, so look at both"
        : !framing.is_exact ? text + "; a line is left between them, for samples of chroma are not parted"
                            : text);
}

std::optional<Framing> framing_with(const qcr_bars& bars, int input) {
    const Video &reference = bars.videos[QCR_REFERENCE], &distorted = bars.videos[static_cast<size_t>(input)];
    if (reference.pictures.size() != distorted.pictures.size() || reference.pictures.empty()) return std::nullopt;
    return framing_of(reference, distorted);
}

// ---- what is compared

/// Where what all show lies in bars of one input alone: the common part. @return whether that is so
bool crop_to_framing(const qcr_bars& bars, const qcr_names& names, std::array<qcr_crop, QCR_MAX_VIDEOS>& found,
                     bool* is_told, const qcr_sink& sink) {
    if (names.inputs != 2) return false;
    const auto framing = framing_with(bars, 0);
    if (!framing || !framing->is_exact) return false;
    if (framing->is_scaled() || !framing->is_certain) {
        say_framing(bars, names, 0, *framing, false, sink);
        *is_told = true;
        return false;
    }
    found[0] = crop_of(framing->distorted);
    found[QCR_REFERENCE] = crop_of(framing->reference);
    return true;
}

bool crop_to_contents(const qcr_bars& bars, const qcr_names& names, std::array<qcr_crop, QCR_MAX_VIDEOS>& found) {
    qcr_bars contents;
    std::transform(bars.videos.begin(), bars.videos.end(), contents.videos.begin(), without_bars);
    const auto rows = common_lines(contents, names.inputs, kRows),
               columns = common_lines(contents, names.inputs, kColumns);
    if (!rows || !columns) return false;
    for (size_t i = 0; i < static_cast<size_t>(names.inputs); ++i)
        found[i] = {columns->lines.first + columns->shift[i], rows->lines.first + rows->shift[i],
                    columns->lines.length(), rows->lines.length()};
    return true;
}

void decide(const qcr_bars& bars, const qcr_names& names, qcr_crop* crops, const qcr_sink& sink) {
    std::array<qcr_crop, QCR_MAX_VIDEOS> found{};
    bool is_told = false, is_any = false;
    if (!crop_to_contents(bars, names, found) && !crop_to_framing(bars, names, found, &is_told, sink)) {
        if (!is_told)
            say(sink, QCR_LEVEL_WARNING,
                "crop=auto: the first pictures do not tell beyond doubt what all inputs show, nothing is cropped");
        return;
    }
    for (int i = 0; i < names.inputs; ++i) {
        const auto at = static_cast<size_t>(i);
        const Video& video = bars.videos[at];
        if (is_whole(found[at], video)) continue;
        crops[i] = found[at];
        is_any = true;
        say(sink, QCR_LEVEL_INFO,
            formatted("crop=auto: of input %d (%s), %dx%d, %s is compared", i, names.role[i], video.side[kColumns],
                      video.side[kRows], text_of(found[at]).c_str()));
    }
    if (!is_any) say(sink, QCR_LEVEL_INFO, "crop=auto: no input has black bars, nothing is cropped");
}

// ---- the watch

/// Without pairs that an input had no picture for, and without pictures that show nothing.
void keep_what_tells(qcr_bars& bars, int inputs) {
    size_t pairs = bars.videos[0].pictures.size();
    for (int i = 0; i < inputs; ++i) pairs = std::min(pairs, bars.videos[static_cast<size_t>(i)].pictures.size());
    const auto shows_nothing = [&](int i) {
        const auto& picture = bars.videos[static_cast<size_t>(i)].pictures[pairs - 1];
        return std::all_of(picture.begin(), picture.end(), [](const Profile& means) {
            return !shows_something(means, {0, static_cast<int>(means.size())});
        });
    };
    bool tells = true;
    for (int i = 0; pairs > 0 && i < inputs; ++i) tells = tells && !shows_nothing(i);
    if (!tells) --pairs;
    for (int i = 0; i < inputs; ++i) {
        bars.videos[static_cast<size_t>(i)].pictures.resize(pairs);
        bars.videos[static_cast<size_t>(i)].thumbnails.resize(pairs);
    }
}

void say_bars(qcr_bars& bars, const qcr_names& names, bool scales, bool is_ended, const qcr_sink& sink) {
    if (bars.decides || bars.is_over) return;
    const std::ptrdiff_t telling = std::ssize(bars.videos[QCR_REFERENCE].pictures);
    if (!is_ended && bars.looks < kMostLooks && telling < kTellingLooks) return;
    bars.is_over = true;
    keep_what_tells(bars, names.inputs);
    for (int i = 0; i < names.inputs; ++i)
        if (const auto framing = i != QCR_REFERENCE ? framing_with(bars, i) : std::nullopt) {
            bars.differ[static_cast<size_t>(i)] = true;
            say_framing(bars, names, i, *framing, scales, sink);
        }
    bars.videos = {};
}

} // namespace
} // namespace qc::run

using namespace qc::run;

qcr_bars* qcr_bars_create(int decides) {
    auto* bars = new (std::nothrow) qcr_bars;
    if (bars != nullptr) bars->decides = decides != 0;
    return bars;
}

void qcr_bars_destroy(qcr_bars* bars) {
    delete bars;
}

int qcr_bars_awaits(const qcr_bars* bars) {
    return bars != nullptr && bars->decides && !bars->is_over ? QCR_BAR_PICTURES : 0;
}

int qcr_bars_wants_pair(qcr_bars* bars, int inputs) {
    if (bars == nullptr || bars->decides || bars->is_over) return 0;
    const int64_t pair = bars->pairs++;
    const bool is_power = (pair & (pair - 1)) == 0;
    if (pair % kBetweenLooks != 0 && !(is_power && pair < kBetweenLooks)) return 0;
    if (bars->looks++ > 0) keep_what_tells(*bars, inputs);
    return 1;
}

qc_status qcr_bars_see(qcr_bars* bars, int input, const qc_format* format, const void* luma, ptrdiff_t pitch,
                       qc_error* error) {
    if (bars->is_over) return QC_OK;
    if (format->pixel_step == 0 && format->container_bits <= 16 && format->big_endian == 0)
        return guarded([&] { add_picture(bars->videos[static_cast<size_t>(input)], *format, luma, pitch); });
    bars->is_over = !bars->decides;
    if (bars->is_over) return QC_OK;
    std::snprintf(error->text, sizeof(error->text),
                  "crop=auto: luma of input %d is not in a plane of its own; put a "
                  "format filter before it, or say what to crop: crop=WxH+X+Y",
                  input);
    return QC_ERROR_UNSUPPORTED;
}

qc_status qcr_bars_decide(qcr_bars* bars, const qcr_names* names, qcr_crop* crops, const qcr_sink* sink) {
    bars->is_over = true;
    return guarded([&] { decide(*bars, *names, crops, *sink); });
}

void qcr_bars_say(qcr_bars* bars, const qcr_names* names, int scales, int is_ended, const qcr_sink* sink) {
    if (bars != nullptr) if_possible([&] { say_bars(*bars, *names, scales != 0, is_ended != 0, *sink); });
}

int qcr_bars_are_open(const qcr_bars* bars) {
    return bars != nullptr && !bars->decides && !bars->is_over ? 1 : 0;
}

int qcr_bars_differ(const qcr_bars* bars, int input) {
    return bars != nullptr && bars->differ[static_cast<size_t>(input)] ? 1 : 0;
}
