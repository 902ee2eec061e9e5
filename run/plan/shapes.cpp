// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/plan/shapes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "quality_cuda_run/names.h"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

/// Samples by which an encoder's size may miss the exact ratio: sides are even, and the reference's may be rounded too.
constexpr double kRounding = 2;
/// A coder's blocks: pictures are padded to whole ones.
constexpr int kCodedBlock = 16;
/// What a container cuts off is less than this part of a side; the next rung of a ladder is further away.
constexpr double kMostCut = 0.1;

struct Sides {
    int input; ///< of the distorted video
    const Shape &distorted, &reference;
    bool scales;
};

bool same_size(const Shape& one, const Shape& other) {
    return one.width == other.width && one.height == other.height;
}

/// 16:9, which everything else is put into.
bool is_wide(const Shape& shape) {
    return std::fabs(shape.display() - 16.0 / 9) < 0.01;
}

/// A graph with a filter before one side. @param result what that side is then
std::string graph(const Sides& of, bool on_reference, const std::string& filter, const Shape& result) {
    const Shape& other = on_reference ? of.distorted : of.reference;
    const char* scale = of.scales || !same_size(result, other) ? "=scale=bicubic" : "";
    if (on_reference) return formatted("[1:v]%s[r];[%d:v][r]quality_cuda%s", filter.c_str(), of.input, scale);
    return formatted("[%d:v]%s[d];[d][1:v]quality_cuda%s", of.input, filter.c_str(), scale);
}

std::string quarter_turn(const Sides& of) {
    const Shape& own = of.distorted;
    const Shape turned = {own.height, own.width, 1 / own.aspect};
    if (is_alike(own, of.reference) || !is_alike(turned, of.reference)) return "";
    return "one of them is turned by 90 degrees: " + graph(of, false, "transpose=1", turned) +
           ", or transpose=2 the other way round";
}

/// Samples of one shape, tagged with different ones.
std::string wrong_samples(const Sides& of) {
    const Shape own = {of.distorted.width, of.distorted.height, 1},
                other = {of.reference.width, of.reference.height, 1};
    if (of.distorted.aspect == of.reference.aspect || is_alike(of.distorted, of.reference) || !is_alike(own, other))
        return "";
    return "only their sample aspect ratios differ: if they show the same, " +
           graph(of, false, "setsar=" + score_text(of.reference.aspect), own);
}

/// Rows that fill a coder's last blocks.
std::string coded_rows(const Sides& of) {
    const bool is_reference = of.reference.height > of.distorted.height;
    const Shape &more = is_reference ? of.reference : of.distorted, &less = is_reference ? of.distorted : of.reference;
    if (more.width != less.width || more.height % kCodedBlock != 0 || more.height - less.height >= kCodedBlock ||
        more.height == less.height)
        return "";
    return formatted("%d rows fill the coder's last blocks: ", more.height - less.height) +
           graph(of, is_reference, formatted("crop=%d:%d:0:0", less.width, less.height), less);
}

/// A container that says which part of the coded picture is to be seen.
std::string cut_by_container(const Sides& of) {
    if (!is_likely_cut(of.distorted, of.reference)) return "";
    return "a container may cut off their borders: give -apply_cropping codec before each -i; if it does not, the "
           "smaller one is scaled: quality_cuda=scale=bicubic";
}

/// Sizes of video that is stretched when it is shown, without a word of it.
std::string stretched(const Sides& of) {
    static constexpr struct {
        int width, height;
    } kSizes[] = {{720, 576}, {704, 576}, {720, 480}, {704, 480}, {1440, 1080}, {1280, 1080}, {960, 720}};
    const auto is_stretched = [](const Shape& own, const Shape& other) {
        const bool is_known = std::any_of(std::begin(kSizes), std::end(kSizes), [&](const auto& size) {
            return size.width == own.width && size.height == own.height;
        });
        return is_known && own.aspect == 1 && !same_size(own, other) && is_wide(other);
    };
    for (const bool on_reference : {false, true}) {
        const Shape& own = on_reference ? of.reference : of.distorted;
        const Shape& other = on_reference ? of.distorted : of.reference;
        if (is_alike(own, other) || !is_stretched(own, other)) continue;
        return formatted("the samples of %s may be no squares, though nothing tags them: ",
                         on_reference ? "the reference" : "the distorted video") +
               graph(of, on_reference, "setsar=" + score_text(other.display() * own.height / own.width), own);
    }
    return "";
}

/// Whether what both show lies in the reference between bars, or in the distorted video.
bool is_reference_barred(const Sides& of) {
    const Shape &own = of.distorted, &reference = of.reference;
    if (own.width == reference.width) return reference.height > own.height;
    if (own.height == reference.height) return reference.width > own.width;
    return is_wide(reference) || !is_wide(own);
}

std::string bars(const Sides& of) {
    if (is_alike(of.distorted, of.reference)) return "";
    const bool on_reference = is_reference_barred(of);
    const Shape& barred = on_reference ? of.reference : of.distorted;
    const Shape& other = on_reference ? of.distorted : of.reference;
    const double ratio = other.display() / barred.aspect;
    Shape crop = barred;
    if (barred.height * ratio < barred.width)
        crop.width = static_cast<int>(std::lrint(barred.height * ratio / 2) * 2);
    else
        crop.height = static_cast<int>(std::lrint(barred.width / ratio / 2) * 2);
    return formatted("%s may have black bars %s: ", on_reference ? "the reference" : "the distorted video",
                     crop.width < barred.width ? "at its left and right" : "above and below") +
           graph(of, on_reference, formatted("crop=%d:%d", crop.width, crop.height), crop);
}

/// Where a side agrees, it may be either.
std::string stretched_or_barred(const Sides& of) {
    const std::string advice = stretched(of);
    const bool agrees = of.distorted.height == of.reference.height || of.distorted.width == of.reference.width;
    return advice.empty() || !agrees ? advice : advice + "; or " + bars(of);
}

} // namespace

bool is_alike(const Shape& one, const Shape& other) {
    const double ratio = other.display() / one.aspect; // of one's width to its height, if it were exact
    return std::min(std::fabs(one.width - one.height * ratio), std::fabs(one.height - one.width / ratio)) <= kRounding;
}

bool is_likely_cut(const Shape& one, const Shape& other) {
    const auto cut = [](int side, int as) { return 1 - std::min(side, as) / static_cast<double>(std::max(side, as)); };
    const double rows = cut(one.height, other.height), columns = cut(one.width, other.width);
    const bool is_one_way = (one.height < other.height) == (one.width < other.width);
    return rows > 0 && columns > 0 && rows < kMostCut && columns < kMostCut && is_one_way;
}

std::string shape_advice(int input, const Shape& distorted, const Shape& reference, bool scales) {
    const Sides of = {input, distorted, reference, scales};
    for (const auto& cause : {quarter_turn, wrong_samples, coded_rows, cut_by_container, stretched_or_barred, bars})
        if (std::string advice = cause(of); !advice.empty()) return advice;
    return "";
}

} // namespace qc::run
