// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/plan/framing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace qc::run {

namespace {

/// A line of the reference lies there in the distorted video.
struct Map {
    double from = 0.0, scale = 1.0;
    double at(double line) const { return from + scale * line; }
    double back(double line) const { return (line - from) / scale; }
};
using Maps = std::array<Map, kAxes>;
using Ranges = std::array<Range, kAxes>;

struct Pair {
    const Video &reference, &distorted;
    Ranges own, others; ///< what is no bar: the reference's, the distorted video's

    double sides(Axis axis) const { return distorted.side[axis] / static_cast<double>(reference.side[axis]); }
};

/// Correlation of small pictures that show the same, the mean of all.
constexpr float kSame = 0.9F;
/// What is clearly better lacks so many times less of 1.
constexpr float kClearly = 2.0F;
/// In codes of 8 bits: deviation within a picture that shows something; what is shown where the other one has a bar.
constexpr float kLeastDeviation = 4.0F, kClearlyShown = 12.0F;
/// So many of so many pictures have to say so.
constexpr std::ptrdiff_t kMostOf = 3, kOf = 4;
/// Lines by which an edge that was found may be wrong.
constexpr int kMostOff = 4;

double centre(const Range& range) {
    return (range.first + range.end) / 2.0;
}

bool differ(const Pair& pair, Axis axis) {
    const double first = pair.others[axis].first - pair.own[axis].first * pair.sides(axis),
                 end = pair.others[axis].end - pair.own[axis].end * pair.sides(axis);
    return std::max(std::fabs(first), std::fabs(end)) > kBlur;
}

// ---- where it may lie

Map centred(const Pair& pair, Axis axis, double scale) {
    return {centre(pair.others[axis]) - scale * centre(pair.own[axis]), scale};
}

Map unmoved(const Pair& pair, Axis axis) {
    return {0.0, pair.sides(axis)};
}

Map contents_on_contents(const Pair& pair, Axis axis) {
    const double scale = pair.others[axis].length() / static_cast<double>(pair.own[axis].length());
    return {pair.others[axis].first - scale * pair.own[axis].first, scale};
}

/// Magnified as the other axis is.
Map zoomed(const Pair& pair, Axis axis) {
    const Axis other = across(axis);
    return centred(pair, axis, contents_on_contents(pair, other).scale * pair.sides(axis) / pair.sides(other));
}

/// Along an axis without different bars nothing moves.
Maps stretched(const Pair& pair) {
    const auto map_of = [&](Axis axis) {
        return differ(pair, axis) ? contents_on_contents(pair, axis) : unmoved(pair, axis);
    };
    return {{map_of(kRows), map_of(kColumns)}};
}

/// An encoder's blur fills the lines beside a bar: it ends where half of what is shown behind it is reached.
Range sharpened(const Range& contents, const Video& video, Axis axis) {
    const Profile means = brightest_of(video, axis);
    const float darkest = *std::min_element(means.begin(), means.end());
    constexpr int kMost = 2 * kBlur;
    Range edges = contents;
    const auto line = [&](int at) { return means[static_cast<size_t>(at)] - darkest; };
    const float above = line(contents.first + kMost) / 2, below = line(contents.end - 1 - kMost) / 2;
    if (contents.first > kBlur)
        while (edges.first < contents.first + kMost && line(edges.first) < above) ++edges.first;
    if (contents.end < video.side[axis] - kBlur)
        while (edges.end > contents.end - kMost && line(edges.end - 1) < below) --edges.end;
    return edges;
}

// ---- how well it fits

float sample(const Thumbnail& of, double row, double column) {
    const auto inside = [](double at) { return std::clamp(at, 0.0, kThumbnailSide - 1.0); };
    const double y = inside(row), x = inside(column);
    const auto top = std::min(static_cast<size_t>(y), size_t{kThumbnailSide - 2}),
               left = std::min(static_cast<size_t>(x), size_t{kThumbnailSide - 2});
    const auto v = static_cast<float>(y - static_cast<double>(top)),
               u = static_cast<float>(x - static_cast<double>(left));
    const float* const at = &of[top * kThumbnailSide + left];
    return (1 - v) * ((1 - u) * at[0] + u * at[1]) + v * ((1 - u) * at[kThumbnailSide] + u * at[kThumbnailSide + 1]);
}

/// Blocks of the reference that both videos show, and where the distorted one shows them, in its blocks.
struct Place {
    size_t block;
    double row, column;
};

std::vector<Place> places(const Pair& pair, const Maps& maps) {
    std::array<std::vector<std::pair<size_t, double>>, kAxes> lines;
    for (const Axis axis : {kRows, kColumns})
        for (int i = 0; i < kThumbnailSide; ++i) {
            const double block = pair.reference.side[axis] / static_cast<double>(kThumbnailSide);
            const double other_block = pair.distorted.side[axis] / static_cast<double>(kThumbnailSide);
            const double line = (i + 0.5) * block, other = maps[axis].at(line);
            const auto lies_in = [](const Range& range, double at, double size) {
                return at - size >= range.first && at + size <= range.end;
            };
            if (lies_in(pair.own[axis], line, block) && lies_in(pair.others[axis], other, other_block))
                lines[axis].emplace_back(static_cast<size_t>(i), other / other_block - 0.5);
        }
    std::vector<Place> all;
    for (const auto& [row, other_row] : lines[kRows])
        for (const auto& [column, other_column] : lines[kColumns])
            all.push_back({row * kThumbnailSide + column, other_row, other_column});
    return all;
}

/// NaN where one of them shows nothing.
float correlation(const Thumbnail& one, const Thumbnail& other, const std::vector<Place>& all) {
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (const Place& place : all) {
        const double own = one[place.block], second = sample(other, place.row, place.column);
        x += own;
        y += second;
        xx += own * own;
        yy += second * second;
        xy += own * second;
    }
    const auto count = static_cast<double>(all.size());
    const double own = xx / count - x / count * (x / count), second = yy / count - y / count * (y / count);
    if (std::min(own, second) < kLeastDeviation * kLeastDeviation) return std::nanf("");
    return static_cast<float>((xy / count - x / count * (y / count)) / std::sqrt(own * second));
}

struct Likeness {
    std::vector<float> of; ///< each picture, NaN where it shows nothing
    float mean = -1.0F;
};

Likeness likeness(const Pair& pair, const Maps& maps) {
    Likeness found;
    const std::vector<Place> all = places(pair, maps);
    if (all.size() * kLeastPart < static_cast<size_t>(kThumbnailSide * kThumbnailSide / kLeastPart)) return found;
    float sum = 0.0F, count = 0.0F;
    for (size_t n = 0; n < pair.reference.thumbnails.size(); ++n) {
        found.of.push_back(correlation(pair.reference.thumbnails[n], pair.distorted.thumbnails[n], all));
        if (std::isnan(found.of.back())) continue;
        sum += found.of.back();
        count += 1.0F;
    }
    if (count > 0.0F) found.mean = sum / count;
    return found;
}

bool is_clearly_better(const Likeness& one, const Likeness& other) {
    if (one.mean < kSame || (1.0F - one.mean) * kClearly > 1.0F - other.mean) return false;
    if (other.of.empty()) return true;
    std::ptrdiff_t better = 0, all = 0;
    for (size_t n = 0; n < one.of.size(); ++n) {
        if (std::isnan(one.of[n])) continue;
        ++all;
        better += std::isnan(other.of[n]) || one.of[n] > other.of[n] ? 1 : 0;
    }
    return better * kOf >= all * kMostOf;
}

/// Whether the one shows something where the other one has a bar, in most pictures: no dark scene looks like that.
bool is_covered(const Video& shows, const Range& lines, Axis axis) {
    std::ptrdiff_t clear = 0;
    for (const auto& picture : shows.pictures) {
        const Profile& means = picture[axis];
        const float darkest = *std::min_element(means.begin(), means.end());
        const float sum = std::accumulate(means.begin() + lines.first, means.begin() + lines.end, 0.0F);
        clear += sum >= (std::min(darkest, kBlackest) + kClearlyShown) * static_cast<float>(lines.length()) ? 1 : 0;
    }
    return clear * kOf >= std::ssize(shows.pictures) * kMostOf;
}

bool covers(const Pair& pair) {
    for (const Axis axis : {kRows, kColumns}) {
        const double sides = pair.sides(axis);
        const Range &own = pair.own[axis], &others = pair.others[axis];
        const auto to_distorted = [&](int line) { return static_cast<int>(std::lround(line * sides)); };
        const auto to_reference = [&](int line) { return static_cast<int>(std::lround(line / sides)); };
        const auto shown = [&](const Video& video, int first, int end) {
            return end - first > kBlur && is_covered(video, {first, end}, axis);
        };
        if (shown(pair.distorted, others.first, to_distorted(own.first)) ||
            shown(pair.distorted, to_distorted(own.end), others.end) ||
            shown(pair.reference, own.first, to_reference(others.first)) ||
            shown(pair.reference, to_reference(others.end), own.end))
            return true;
    }
    return false;
}

// ---- just where

/// Mean difference of the lines that both show, beside a constant.
double difference(const Pair& pair, Axis axis, const Map& map) {
    double sum = 0.0, count = 0.0;
    const Range &own = pair.own[axis], &others = pair.others[axis];
    std::vector<double> away;
    for (size_t n = 0; n < pair.reference.pictures.size(); ++n) {
        const Profile &one = pair.reference.pictures[n][axis], &other = pair.distorted.pictures[n][axis];
        away.clear();
        for (int line = own.first + kBlur; line < own.end - kBlur; ++line) {
            const double at = map.at(line + 0.5) - 0.5;
            const auto below = static_cast<int>(std::floor(at));
            if (below < others.first + kBlur || below + 1 >= others.end - kBlur) continue;
            const double part = at - below;
            const auto k = static_cast<size_t>(below);
            away.push_back(double{one[static_cast<size_t>(line)]} - (1 - part) * double{other[k]} -
                           part * double{other[k + 1]});
        }
        if (away.empty()) continue;
        const double mean = std::accumulate(away.begin(), away.end(), 0.0) / static_cast<double>(away.size());
        for (const double each : away) sum += std::fabs(each - mean);
        count += static_cast<double>(away.size());
    }
    return count > 0.0 ? sum / count : HUGE_VAL;
}

int even(int line) {
    return line / 2 * 2;
}

/// Moves the edges of the one that has bars, by whole samples of chroma.
Map on_the_line(const Pair& pair, Axis axis, const Map& about) {
    Map best = about;
    double least = difference(pair, axis, about);
    const bool is_whole = pair.own[axis].length() == pair.reference.side[axis];
    const bool is_stretch = std::fabs(contents_on_contents(pair, axis).scale - about.scale) < 1e-9;
    const auto attempt = [&](const Map& map) {
        const double away = difference(pair, axis, map);
        if (away < least) {
            least = away;
            best = map;
        }
    };
    for (int first = -kMostOff; is_stretch && first <= kMostOff; first += 2)
        for (int end = -kMostOff; end <= kMostOff; end += 2) {
            Pair moved = pair;
            Range& edges = is_whole ? moved.others[axis] : moved.own[axis];
            edges = {even(edges.first) + first, even(edges.end + 1) + end};
            attempt(contents_on_contents(moved, axis));
        }
    for (int shift = -2 * kMostOff; !is_stretch && shift <= 2 * kMostOff; ++shift)
        attempt({std::round(about.from) + shift, about.scale});
    return best;
}

/// An even line, the first one from which on both show it, that lies near an even line of the other one.
int first_line(double first, const Map& map) {
    constexpr int kAttempts = 4;
    constexpr double kNear = 0.25;
    const int start = even(static_cast<int>(std::ceil(first - kNear)) + 1);
    const auto away = [&](int line) { return std::fabs(std::remainder(map.at(line), 2.0)); };
    int best = start;
    for (int line = start; line < start + 2 * kAttempts && away(best) > kNear; line += 2)
        if (away(line) < away(best)) best = line;
    return best;
}

/// What both show, from an even line on: chroma begins with each second one.
void common_lines(const Pair& pair, Axis axis, const Map& map, Framing& framing) {
    const Range own = without_border(pair.own[axis], pair.reference.side[axis]),
                others = without_border(pair.others[axis], pair.distorted.side[axis]);
    constexpr double kRounding = 0.3;
    Range& reference = framing.reference[axis];
    Range& distorted = framing.distorted[axis];
    reference.first = first_line(std::max<double>(own.first, map.back(others.first)), map);
    reference.end = static_cast<int>(std::floor(std::min<double>(own.end, map.back(others.end)) + kRounding));
    distorted.first = std::max(static_cast<int>(std::lround(map.at(reference.first) / 2.0)) * 2, 0);
    distorted.end = std::min(static_cast<int>(std::lround(map.at(reference.end))), pair.distorted.side[axis]);
    if (std::fabs(map.scale - 1.0) > 1e-9) return;
    framing.is_exact = framing.is_exact && std::fabs(map.at(reference.first) - distorted.first) < kRounding;
    const int length = even(std::min(reference.length(), distorted.length()));
    reference.end = reference.first + length;
    distorted.end = distorted.first + length;
}

Framing framed(const Pair& pair, const Maps& maps, bool is_unmoved) {
    Framing framing;
    framing.is_certain = true;
    for (const Axis axis : {kRows, kColumns})
        common_lines(pair, axis,
                     is_unmoved || (!differ(pair, axis) && maps[axis].from == 0.0)
                         ? maps[axis]
                         : on_the_line(pair, axis, maps[axis]),
                     framing);
    return framing;
}

} // namespace

bool Framing::is_scaled() const {
    return reference[kRows].length() != distorted[kRows].length() ||
           reference[kColumns].length() != distorted[kColumns].length();
}

std::optional<Framing> framing_of(const Video& reference, const Video& distorted) {
    const Video own = without_bars(reference), others = without_bars(distorted);
    Pair pair = {own, others, {}, {}};
    for (const Axis axis : {kRows, kColumns}) {
        const auto shown = contents_of(reference, axis), of_distorted = contents_of(distorted, axis);
        if (!shown || !of_distorted) return std::nullopt;
        pair.own[axis] = *shown;
        pair.others[axis] = *of_distorted;
    }
    if (!differ(pair, kRows) && !differ(pair, kColumns)) return std::nullopt;
    for (const Axis axis : {kRows, kColumns}) {
        if (pair.own[axis].length() > 4 * kBlur) pair.own[axis] = sharpened(pair.own[axis], reference, axis);
        if (pair.others[axis].length() > 4 * kBlur) pair.others[axis] = sharpened(pair.others[axis], distorted, axis);
    }
    const Maps same = {unmoved(pair, kRows), unmoved(pair, kColumns)}, contents = stretched(pair);
    const Maps all[] = {contents,
                        {{centred(pair, kRows, pair.sides(kRows)), centred(pair, kColumns, pair.sides(kColumns))}},
                        {{zoomed(pair, kRows), contents[kColumns]}},
                        {{contents[kRows], zoomed(pair, kColumns)}}};
    const Likeness as_it_is = likeness(pair, same);
    const Maps* best = nullptr;
    Likeness found;
    for (const Maps& maps : all) {
        const Likeness here = likeness(pair, maps);
        if (here.mean <= found.mean) continue;
        found = here;
        best = &maps;
    }
    if (best != nullptr && is_clearly_better(found, as_it_is)) return framed(pair, *best, false);
    if (as_it_is.mean < kSame || !covers(pair)) return std::nullopt;
    Framing framing = framed(pair, same, true);
    framing.is_certain = is_clearly_better(as_it_is, likeness(pair, contents));
    return framing;
}

} // namespace qc::run
