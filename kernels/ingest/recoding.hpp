// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples that stand for something else than what is scored: another range, another depth, RGB in place of luma and
// chroma. What becomes of them, in integers that both backends share; docs/reference/conversions.md has it in words.
//
//     target[p] = clamp((offset[p] + sum over planes q of weight[p][q] * sample[q]) >> shift[p])
//
// Weights are what exact arithmetic wants, rounded to 16, 20 or 22 bits behind the point; offsets round half up. Where
// chroma becomes smaller, sample[q] is a sum of neighbours whose weights add up to 16, and where it becomes larger, one
// whose weights add up to 2^14: the shift knows. So there is one rounding.
#pragma once

#include <cstdint>

#include "contract/types.hpp"

namespace qc {

/// What the samples of a picture stand for.
struct Coding {
    bool rgb = false;       ///< planes are G, B, R
    bool full = false;      ///< range: black is 0 and white the largest sample
    bool has_chroma = true; ///< of luma and chroma: 4:0:0 has none
    bool halved_across = false, halved_down = false;
    int matrix = 0;          ///< H.273's number; of luma and chroma
    int chroma_location = 0; ///< as in qc_colour
    int depth = 8;

    bool operator==(const Coding&) const = default;
};

enum RecodeKind : int32_t {
    kRecodePlanes, ///< each plane by itself
    kRecodeToYuv,  ///< of RGB, chroma being averaged to its size
    kRecodeToRgb   ///< of luma and chroma, chroma being interpolated to the size of luma
};

/// An axis along which chroma is halved or not: target sample i is the sum over t of weight[t] * source[factor * i +
/// first + t], the outermost samples being repeated beyond a border. The weights add up to 4.
struct ShrinkAxis {
    int32_t factor, first, weight[3];
    bool operator==(const ShrinkAxis&) const = default;
};

/// An axis along which chroma has half as many samples as luma, or as many: luma sample i lies at (2 i - behind) / 4 of
/// chroma's, or at i.
struct GrowAxis {
    int32_t halved, behind;
    bool operator==(const GrowAxis&) const = default;
};

/// Four neighbours of which the first is number `first`; their weights add up to 128.
struct GrowTaps {
    int32_t first, weight[4];
};

/// Catmull's and Rom's spline at quarters of a sample.
QC_HD GrowTaps grow_taps(const GrowAxis& axis, int i) {
    if (axis.halved == 0) return {i - 1, {0, 128, 0, 0}};
    const int quarters = 2 * i - axis.behind, first = (quarters >> 2) - 1;
    switch (quarters & 3) {
    case 1:
        return {first, {-9, 111, 29, -3}};
    case 2:
        return {first, {-8, 72, 72, -8}};
    case 3:
        return {first, {-3, 29, 111, -9}};
    default:
        return {first, {0, 128, 0, 0}};
    }
}

constexpr int kShrinkBits = 4, kGrowBits = 14;

/// Everything about a recoding but where pictures lie. Plain data for both backends.
struct Recoding {
    int32_t kind;                         ///< RecodeKind
    int32_t source_planes, target_planes; ///< that are read and written: 1 or 3
    int32_t brightest;                    ///< target sample
    int32_t is_narrow;                    ///< 1: no sum leaves 32 bits
    int32_t shift[3];
    int32_t weight[3][3]; ///< [target plane][source plane]
    int64_t offset[3];
    ShrinkAxis shrink_across, shrink_down; ///< of kRecodeToYuv
    GrowAxis grow_across, grow_down;       ///< of kRecodeToRgb

    bool operator==(const Recoding&) const = default;

    /// @tparam Sum int64_t, or int32_t where is_narrow
    template <typename Sum>
    QC_HD int target(int plane, Sum sum) const {
        const auto value = static_cast<int>((static_cast<Sum>(offset[plane]) + sum) >> shift[plane]);
        return value < 0 ? 0 : value > brightest ? brightest : value;
    }
};

/// Whether weights are known for a matrix: RGB is made of such luma and chroma, and the other way round.
bool knows_matrix(int code);

/// Whether samples are to be changed by more than a shift to the left, which adds bits below.
bool needs_recoding(const Coding& from, const Coding& to);

/// Preconditions: depths are 8 to 16 and that of `to` is not smaller; where only one is RGB, the other one's matrix is
/// known; where neither is, chroma lies alike. @param planes of the target that somebody reads, 1 or 3
Recoding make_recoding(const Coding& from, const Coding& to, int planes);

} // namespace qc
