// SPDX-License-Identifier: BSD-2-Clause-Patent
// From pictures to filtered channels: which frames a group takes how much of, then conversion and filters in one pass.
#pragma once

#include "contract/kernel.hpp"
#include "device/block.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "metrics/cvvdp/cvvdp_device.hpp"
#include "metrics/cvvdp/cvvdp_temporal.hpp"

namespace qc::cvvdp {
struct GroupArguments {
    const DevicePair* pairs;
    DeviceTimeline timeline;
    const Weights* taps; ///< [frames back]
    Group* group;
    Weights* weights; ///< [frame after group.first][member]
    int32_t pairs_in_batch;
    int32_t rendition, chunk; ///< the group is this one of the rendition's evaluated frames
    int32_t tap_count, past, symmetric, slot;
};

/// Fills a group and its weights: one block.
struct PlanGroup : device::KernelOf<GroupArguments, tuning::kGroupThreads> {
    static constexpr bool kCollective = true;

    /// A filtered frame: its number in its clip, or as much of it as matters, and in the batch.
    struct Member {
        int frame, number;
        Target target;
    };
    struct Members {
        Member of[tuning::kGroup];
        int count, first, last;
    };

    QC_HD static void list(const Arguments& a, Members& members) {
        const DeviceTimeline& timeline = a.timeline;
        Group group{0, 0, a.rendition, 0, -1, {}};
        members.count = 0;
        int found = 0;
        for (int i = 0; i < a.pairs_in_batch; ++i) {
            const uint32_t output = a.pairs[i].output;
            if (timeline.rendition_of(output) != a.rendition) continue;
            const int at = found++ - a.chunk * tuning::kGroup;
            if (at < 0 || at >= tuning::kGroup) continue;
            Member& member = members.of[at];
            member.frame = timeline.frame_of(output);
            member.number = smaller_of(timeline.past(a.rendition, member.frame), a.past);
            member.target = TargetList::target(a.tap_count - 1, a.symmetric != 0, member.number, a.slot);
            group.row[at] = output;
            group.members = members.count = at + 1;
            if (member.target.target < 0) continue;
            const int first = member.frame - member.number;
            group.first = group.active == 0 ? first : smaller_of(group.first, first);
            group.last = group.active == 0 ? member.frame : larger_of(group.last, member.frame);
            group.active |= 1 << at;
        }
        members.first = group.first;
        members.last = group.last;
        *a.group = group;
    }

    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        auto& members = device::shared<Members>(block);
        block.once([&] { list(a, members); });
        const int entries = (members.last - members.first + 1) * tuning::kGroup;
        block.each(entries, [&](int i) { a.weights[i] = Weights{}; });
        block.each(members.count * kDeviceChannels, [&](int i) {
            const Member& member = members.of[i / kDeviceChannels];
            const int channel = i % kDeviceChannels;
            if (member.target.target < 0) return;
            for (int j = 0; j < a.tap_count; ++j) {
                const int at = frame_at(member.target.target - j, member.target.length, a.symmetric != 0);
                const int place = member.frame - member.number + at - members.first;
                a.weights[place * tuning::kGroup + i / kDeviceChannels].of[channel] += a.taps[j].of[channel];
            }
        });
    }
};

/// From codes to light, in single precision. Chroma is meant as 0 to 1.
struct DeviceColour {
    float luma_scale, luma_offset, chroma_scale, chroma_offset;
    float red_cr[2], green_cb[2], green_cr[2], blue_cb[2];              ///< of the reference, of the distorted
    float opponent[kDeviceColours][3], opponent_offset[kDeviceColours]; ///< of a component's light, before black
    int32_t coloured, halved_across, halved_down, rgb;
    int32_t chroma_width, chroma_height;
    int32_t eotf; ///< Eotf
    float exposure, lowest, highest, exponent;
};

enum DeviceEotf : int32_t { kDeviceSrgb, kDevicePq, kDeviceHlg, kDevicePower, kDeviceLinear };

struct FilterArguments {
    DeviceTimeline timeline;
    const Group* group;
    const Weights* weights;
    float* planes;
    DeviceLevels levels;
    DeviceColour colour;
};

QC_HD float clamped(float value, float low, float high) {
    return fminf(fmaxf(value, low), high);
}

/// Between 0 and 1.
QC_HD float saturated(float value) {
#if defined(__CUDA_ARCH__)
    return __saturatef(value);
#else
    return clamped(value, 0.0f, 1.0f);
#endif
}

QC_HD float srgb_light(float v) {
    const float base = fmaf(v, 1.0f / 1.055f, 0.055f / 1.055f);
    const float power = device::fast_exp2(2.4f * device::fast_log2(base));
    return v <= 0.04045f ? v * (1.0f / 12.92f) : power;
}

QC_HD float pq_light(float v) {
    const float root = device::fast_exp2(device::fast_log2(v) * (1.0f / 78.84375f)); // 0 for 0
    const float ratio = fmaxf(root - 0.8359375f, 0.0f) * device::fast_reciprocal(fmaf(-18.6875f, root, 18.8515625f));
    return 10000.0f * device::fast_exp2(device::fast_log2(ratio) * (1.0f / 0.1593017578125f));
}

QC_HD float hlg_scene(float v) {
    constexpr float kA = 0.17883277f, kB = 0.28466892f, kC = 0.55991073f;
    const float bright = (device::fast_exp2((v - kC) * (1.4426950408889634f / kA)) + kB) * (1.0f / 12.0f);
    return v <= 0.5f ? v * v * (1.0f / 3.0f) : bright;
}

/// R'G'B' in 0 to 1 to light, without what the affine matrix behind it adds.
QC_HD void make_light(const DeviceColour& colour, float (&v)[3]) {
    if (colour.eotf == kDeviceHlg) {
        float factor = 0.0f;
        QC_UNROLL for (int i = 0; i < 3; ++i) v[i] = hlg_scene(v[i]);
        const float scene = fmaf(0.2627f, v[0], fmaf(0.678f, v[1], 0.0593f * v[2]));
        if (scene > 0.0f) factor = device::fast_exp2(colour.exponent * device::fast_log2(scene));
        QC_UNROLL for (int i = 0; i < 3; ++i) v[i] *= factor;
    } else {
        QC_UNROLL for (int i = 0; i < 3; ++i) {
            if (colour.eotf == kDeviceSrgb) v[i] = srgb_light(v[i]);
            if (colour.eotf == kDevicePq) v[i] = pq_light(v[i]);
            if (colour.eotf == kDevicePower) v[i] = device::fast_exp2(colour.exponent * device::fast_log2(v[i]));
        }
    }
    QC_UNROLL for (int i = 0; i < 3; ++i) v[i] = clamped(colour.exposure * v[i], colour.lowest, colour.highest);
}

/// A row of a plane, its description read once.
template <typename Sample>
struct SampleRow {
    const Sample* first;
    int step, shift;

    QC_HD SampleRow(const DevicePlane& plane, int y)
        : first(reinterpret_cast<const Sample*>(row_bytes(plane, y))), step(plane.step),
          shift(sizeof(Sample) == 1 ? 0 : plane.shift) {} // bytes are samples
    QC_HD unsigned code(int x) const {
#if defined(__CUDA_ARCH__)
        return static_cast<unsigned>(__ldg(first + x * step)) >> shift;
#else
        return static_cast<unsigned>(first[static_cast<ptrdiff_t>(x) * step]) >> shift;
#endif
    }
};

/// Two neighbours of a row, from an even column on: their codes, their R'G'B', and what comes of it. Codes are fetched
/// at once, without a branch between them: there is nothing to do but wait for them.
template <typename Sample, bool kUsual>
struct PixelPair {
    using Row = SampleRow<Sample>;

    /// Where the codes of a pair of pixels are, and what chroma lies between: two rows and three columns.
    struct Neighbours {
        int x[2], y;
        int column[3], row[2];
        float lower;              ///< part of the second row
        float beside[2], here[2]; ///< parts, in each pixel, of the column on its side and of the middle one
    };
    QC_HD static Neighbours neighbours_of(const DeviceColour& colour, int x, int y, int width) {
        Neighbours at;
        const bool across = colour.halved_across != 0, down = colour.halved_down != 0, odd = y % 2 != 0;
        const int column = across ? x / 2 : x, row = down ? y / 2 : y;
        at.x[0] = x;
        at.x[1] = smaller_of(x + 1, width - 1);
        at.y = y;
        at.column[0] = larger_of(column - 1, 0);
        at.column[1] = column;
        at.column[2] = smaller_of(column + 1, colour.chroma_width - 1);
        at.row[0] = down && !odd ? larger_of(row - 1, 0) : row;
        at.row[1] = down && odd ? smaller_of(row + 1, colour.chroma_height - 1) : row;
        at.lower = odd ? 0.25f : 0.75f;
        at.beside[0] = across ? 0.25f : 0.0f;
        at.here[0] = across ? 0.75f : 1.0f;
        at.beside[1] = across ? 0.25f : 1.0f;
        at.here[1] = across ? 0.75f : 0.0f;
        return at;
    }

    struct Codes {
        unsigned luma[kUsual ? 1 : 3][2]; ///< or of R, G and B
        unsigned chroma[2][2][3];         ///< [Cb or Cr][row][column]
    };
    QC_HD static Codes fetch(const DeviceColour& colour, const DevicePicture& picture, const Neighbours& at) {
        Codes codes{};
        if (picture.plane[0].data == nullptr) return codes; // absent, between two clips: nobody takes anything of it
        if (!kUsual && colour.rgb != 0) {
            constexpr int kPlane[] = {2, 0, 1}; // stored as G, B, R
            QC_UNROLL for (int i = 0; i < (kUsual ? 1 : 3); ++i) {
                const Row row(picture.plane[kPlane[i]], at.y);
                QC_UNROLL for (int p = 0; p < 2; ++p) codes.luma[i][p] = row.code(at.x[p]);
            }
            return codes;
        }
        const Row row(picture.plane[0], at.y);
        QC_UNROLL for (int p = 0; p < 2; ++p) codes.luma[0][p] = row.code(at.x[p]);
        if (colour.coloured == 0) return codes;
        QC_UNROLL for (int i = 0; i < 2; ++i) QC_UNROLL for (int r = 0; r < 2; ++r) {
            const Row of_chroma(picture.plane[1 + i], at.row[r]);
            QC_UNROLL for (int k = 0; k < 3; ++k) codes.chroma[i][r][k] = of_chroma.code(at.column[k]);
        }
        return codes;
    }

    /// Cb or Cr of both pixels, around 0.
    QC_HD static void chroma(const DeviceColour& colour, const unsigned (&codes)[2][3], const Neighbours& at,
                             float (&value)[2]) {
        float column[3];
        QC_UNROLL for (int k = 0; k < 3; ++k) {
            float row[2];
            QC_UNROLL for (int r = 0; r < 2; ++r) row[r] =
                saturated(fmaf(static_cast<float>(codes[r][k]), colour.chroma_scale, colour.chroma_offset));
            column[k] = fmaf(at.lower, row[1] - row[0], row[0]) - 0.5f;
        }
        QC_UNROLL for (int p = 0; p < 2; ++p) value[p] = fmaf(at.here[p], column[1], at.beside[p] * column[2 * p]);
    }

    /// A, RG and YV of both pixels.
    QC_HD static void convert(const DeviceColour& colour, const Codes& codes, int side, const Neighbours& at,
                              float (&opponent)[2][kDeviceColours]) {
        float rgb[2][3];
        if (!kUsual && colour.rgb != 0) {
            QC_UNROLL for (int p = 0; p < 2; ++p) QC_UNROLL for (int i = 0; i < (kUsual ? 1 : 3); ++i) rgb[p][i] =
                saturated(static_cast<float>(codes.luma[i][p]) * colour.luma_scale);
        } else {
            float cb[2] = {}, cr[2] = {};
            if (colour.coloured != 0) {
                chroma(colour, codes.chroma[0], at, cb);
                chroma(colour, codes.chroma[1], at, cr);
            }
            QC_UNROLL for (int p = 0; p < 2; ++p) {
                const float luma =
                    saturated(fmaf(static_cast<float>(codes.luma[0][p]), colour.luma_scale, colour.luma_offset));
                rgb[p][0] = saturated(fmaf(colour.red_cr[side], cr[p], luma));
                rgb[p][1] = saturated(fmaf(colour.green_cb[side], cb[p], fmaf(colour.green_cr[side], cr[p], luma)));
                rgb[p][2] = saturated(fmaf(colour.blue_cb[side], cb[p], luma));
            }
        }
        QC_UNROLL for (int p = 0; p < 2; ++p) {
            if (kUsual) {
                QC_UNROLL for (int i = 0; i < 3; ++i) rgb[p][i] = srgb_light(rgb[p][i]);
            } else {
                make_light(colour, rgb[p]);
            }
            QC_UNROLL for (int c = 0; c < kDeviceColours; ++c) {
                const float(&row)[3] = colour.opponent[c];
                opponent[p][c] = fmaf(row[0], rgb[p][0],
                                      fmaf(row[1], rgb[p][1], fmaf(row[2], rgb[p][2], colour.opponent_offset[c])));
            }
        }
    }
};

/// Filtered channels at level 0: every frame of the group's window is converted once. A frame that a member takes
/// nothing of adds 0, so a member's bits do not depend on the others. Of odd widths, the last column is written twice.
/// grid: (pairs of columns, rows, sides)
/// @tparam kUsual YUV on a display with sRGB's curve and an exposure of 1
template <typename Sample, bool kUsual>
struct FilterFrames : device::KernelOf<FilterArguments, tuning::kFilterThreads, tuning::kFilterBlocks> {
    template <class Block>
    QC_HD static void run(Block& block, const Arguments& a) {
        const Group& group = *a.group;
        const int x = (block.x() * kThreads + block.thread()) * 2, y = block.y(), side = block.z();
        if (group.active == 0 || x >= a.levels.width[0]) return;
        const int input = side == 0 ? 0 : 1 + group.rendition;
        float sum[tuning::kGroup][kDeviceChannels][2] = {};
        const Weights* weights = a.weights;
        using Pixels = PixelPair<Sample, kUsual>;
        const auto at = Pixels::neighbours_of(a.colour, x, y, a.levels.width[0]);
        auto next = Pixels::fetch(a.colour, a.timeline.picture(input, group.first), at);
        QC_NO_UNROLL
        for (int frame = group.first; frame <= group.last; ++frame) {
            const auto codes = next; // those of the next frame come while this one is at work
            next = Pixels::fetch(a.colour, a.timeline.picture(input, smaller_of(frame + 1, group.last)), at);
            float opponent[2][kDeviceColours];
            Pixels::convert(a.colour, codes, side, at, opponent);
            QC_UNROLL for (int m = 0; m < tuning::kGroup; ++m) {
                const Weights weight = *weights++;
                QC_UNROLL for (int c = 0; c < kDeviceChannels; ++c) QC_UNROLL for (int p = 0; p < 2; ++p) sum[m][c][p] =
                    fmaf(weight.of[c], opponent[p][c % kDeviceColours], sum[m][c][p]);
            }
        }
        QC_UNROLL for (int m = 0; m < tuning::kGroup; ++m) {
            if (!is_active(group, m)) continue;
            QC_UNROLL for (int c = 0; c < kDeviceChannels; ++c) {
                float* const target =
                    a.planes + plane_offset(a.levels, m, side, c, 0) + static_cast<size_t>(y) * a.levels.pitch[0] + x;
                *reinterpret_cast<Two*>(target) = {sum[m][c][0], sum[m][c][1]};
            }
        }
    }
};

} // namespace qc::cvvdp
