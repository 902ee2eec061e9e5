// SPDX-License-Identifier: BSD-2-Clause-Patent
// Second and third kernel of SSIMULACRA 2: from XYB planes to sums of maps, phase by phase. Compiles for the host too.
//
// A block marches down a strip of one plane, four rows at a time:
//
//     column phase   each thread filters one column vertically: of both pictures a and d, of (a - d)^2 and of a^2 + d^2.
//                    A blur in progress is 2 R partial sums in registers, so a row costs 2 R + 1 multiply-adds and is
//                    read once. The filtered rows go to shared memory.
//     row phase      each thread filters four neighbouring pixels horizontally, evaluates their maps and adds them up
//
// With two buffers in shared memory one barrier per four rows is enough.
//
// Variances are differences of large numbers, so the strip's centre samples are subtracted from a and d first. What lies
// outside the picture is 0, that is minus the offset, which leaves the result what it is; where blurs are divided by the
// kernel's mass inside the picture instead, it is the offset itself.
#pragma once

#include "ssimulacra2/ssimulacra2_single.hpp"
#include "ssimulacra2/ssimulacra2_tuning.hpp"

namespace qc::ssimulacra2 {

constexpr int kStripThreads = tuning::kStripThreads;
constexpr int kGroupRows = 4; ///< filtered between two barriers
constexpr int kRowPixels = 4; ///< of a thread in the row phase
constexpr int kRowLanes = kStripThreads / kGroupRows;
constexpr int kBlurs = 4;
constexpr int kStageFloats = kGroupRows * kBlurs * kStripThreads; ///< of one buffer
constexpr int kStages = 2;

/// Columns of a strip: the outermost threads only filter vertically.
template <int kRadius>
constexpr int kStripColumns = kStripThreads - 2 * kRadius;

static_assert(kRowLanes * kRowPixels == kStripThreads && tuning::kStripRows % kGroupRows == 0);

/// What has to be computed of a strip. Pictures are compared with as few blurs as that takes.
enum Variant : int32_t {
    kStructureOnly,
    kStructureArtifact,
    kStructureDetail,
    kArtifactOnly,
    kEverything,
    kVariants
};

struct Strip {
    uint32_t offset; ///< of the plane within a picture's planes, floats
    int32_t pitch, width, height; ///< of the plane
    int32_t x, y, rows;
    int32_t variant;
};
static_assert(sizeof(Strip) == 32);

struct MapArguments {
    const DevicePair* pairs;
    const float* planes;
    uint64_t picture; ///< floats from picture to picture
    const Strip* strips;
    float* sums; ///< kTerms of each strip of each pair
    int32_t strip_count;
    int32_t renormalise;
    float tap[kMaxRadius + 1];
};

/// One picture's plane and its value in the middle of the strip.
struct PlaneView {
    const float* plane;
    float offset, outside;

    QC_HD PlaneView(const MapArguments& arguments, const Strip& strip, uint64_t picture, int columns)
        : plane(arguments.planes + picture * arguments.picture + strip.offset) {
        const int x = strip.x + columns / 2 < strip.width ? strip.x + columns / 2 : strip.width - 1;
        offset = load_plane(plane + static_cast<size_t>(strip.y + strip.rows / 2) * strip.pitch + x);
        outside = arguments.renormalise ? offset : 0.0f;
    }
};

// ---- column phase ---------------------------------------------------------------------------------------------------

/// A thread's column of a strip.
template <int kRadius, bool kWithStructure>
struct Column {
    static constexpr int kUsed = kWithStructure ? 4 : 2;
    static constexpr int kWarmUpGroups = 2 * kRadius / kGroupRows;

    float partial[kUsed][2 * kRadius];
    float reference[kGroupRows], distorted[kGroupRows]; ///< the next rows
    int x, next_row;

    QC_HD Column(const Strip& strip, int thread) : x(strip.x - kRadius + thread), next_row(strip.y - kRadius) {
        QC_UNROLL for (int q = 0; q < kUsed; ++q) {
            QC_UNROLL for (int i = 0; i < 2 * kRadius; ++i) partial[q][i] = 0.0f;
        }
    }

    QC_HD void load(const Strip& strip, const PlaneView& a, const PlaneView& d) {
        const bool inside = x >= 0 && x < strip.width;
        const int at = next_row * strip.pitch + x;
        if (next_row >= 0 && next_row + kGroupRows <= strip.height) {
            QC_UNROLL for (int r = 0; r < kGroupRows; ++r) {
                reference[r] = inside ? load_plane(a.plane + (at + r * strip.pitch)) : a.outside;
                distorted[r] = inside ? load_plane(d.plane + (at + r * strip.pitch)) : d.outside;
            }
        } else {
            QC_UNROLL for (int r = 0; r < kGroupRows; ++r) {
                const bool row_inside = inside && next_row + r >= 0 && next_row + r < strip.height;
                reference[r] = row_inside ? load_plane(a.plane + (at + r * strip.pitch)) : a.outside;
                distorted[r] = row_inside ? load_plane(d.plane + (at + r * strip.pitch)) : d.outside;
            }
        }
        next_row += kGroupRows;
    }

    /// Takes the loaded rows. The filtered rows lie kRadius higher.
    QC_HD void filter(const MapArguments& arguments, const PlaneView& a, const PlaneView& d, float* stage, int thread) {
        QC_UNROLL for (int r = 0; r < kGroupRows; ++r) {
            float filtered[kUsed];
            push_row(arguments, reference[r] - a.offset, distorted[r] - d.offset, filtered);
            QC_UNROLL for (int q = 0; q < kUsed; ++q) stage[(r * kBlurs + q) * kStripThreads + thread] = filtered[q];
        }
    }

    /// The same above the first filtered row.
    QC_HD void warm_up(const MapArguments& arguments, const PlaneView& a, const PlaneView& d) {
        QC_UNROLL for (int r = 0; r < kGroupRows; ++r) {
            float unused[kUsed];
            push_row(arguments, reference[r] - a.offset, distorted[r] - d.offset, unused);
        }
    }

private:
    QC_HD void push_row(const MapArguments& arguments, float a, float d, float (&filtered)[kUsed]) {
        filtered[0] = push(arguments, partial[0], a);
        filtered[1] = push(arguments, partial[1], d);
        if constexpr (kWithStructure) {
            const float difference = a - d;
            filtered[2] = push(arguments, partial[2], difference * difference);
            filtered[3] = push(arguments, partial[3], fmaf(a, a, d * d));
        }
    }

    /// Takes the sample at the lower end of the kernel's support; returns the complete sum.
    QC_HD static float push(const MapArguments& arguments, float (&sum)[2 * kRadius], float sample) {
        const float complete = fmaf(arguments.tap[kRadius], sample, sum[0]);
        QC_UNROLL for (int i = 0; i + 1 < 2 * kRadius; ++i) {
            const int distance = i < kRadius ? kRadius - 1 - i : i - kRadius + 1;
            sum[i] = fmaf(arguments.tap[distance], sample, sum[i + 1]);
        }
        sum[2 * kRadius - 1] = arguments.tap[kRadius] * sample;
        return complete;
    }
};

// ---- row phase ------------------------------------------------------------------------------------------------------

/// Four neighbouring pixels of one filtered row.
template <int kRadius>
QC_HD void blur_across(const MapArguments& arguments, const float* row, float (&blurred)[kRowPixels]) {
    constexpr int kWords = (2 * kRadius + kRowPixels) / 4;
    float sample[4 * kWords];
    QC_UNROLL for (int w = 0; w < kWords; ++w) {
        const Float4 four = load_shared4(row + 4 * w);
        QC_UNROLL for (int i = 0; i < 4; ++i) sample[4 * w + i] = four.value[i];
    }
    QC_UNROLL for (int p = 0; p < kRowPixels; ++p) {
        float sum = arguments.tap[0] * sample[p + kRadius];
        QC_UNROLL for (int i = 1; i <= kRadius; ++i)
            sum = fmaf(arguments.tap[i], sample[p + kRadius - i] + sample[p + kRadius + i], sum);
        blurred[p] = sum;
    }
}

/// Reciprocal of the kernel's mass inside a line of `size` samples.
template <int kRadius>
QC_HD float inverse_mass(const MapArguments& arguments, int position, int size) {
    float mass = arguments.tap[0];
    for (int i = 1; i <= kRadius; ++i) {
        if (position - i >= 0) mass += arguments.tap[i];
        if (position + i < size) mass += arguments.tap[i];
    }
    return 1.0f / mass;
}

/// The row phase of a thread. It belongs to row `first_row` + its warp of the strip's plane. Adds to sum[term_index()].
template <int kRadius, bool kWithStructure, bool kWithArtifact, bool kWithDetail>
QC_HD void score_row(const MapArguments& arguments, const Strip& strip, const PlaneView& a, const PlaneView& d,
                     const float* stage, int thread, int first_row, float (&sum)[kTerms]) {
    constexpr bool kEdges = kWithArtifact || kWithDetail;
    const int lane = thread % kRowLanes, row = thread / kRowLanes;
    const int x = strip.x + lane * kRowPixels, y = first_row + row;
    if (lane * kRowPixels >= kStripColumns<kRadius> || x >= strip.width || y >= strip.height) return;
    const int pixels = strip.width - x;

    const float* const staged = stage + row * kBlurs * kStripThreads + lane * kRowPixels;
    Float4 centre_a{}, centre_d{};
    if constexpr (kEdges) { // rows are padded to multiples of 32 samples
        const int at = y * strip.pitch + x;
        centre_a = load_plane4(a.plane + at);
        centre_d = load_plane4(d.plane + at);
    }
    float mean_a[kRowPixels], mean_d[kRowPixels], squares[kRowPixels], energies[kRowPixels];
    blur_across<kRadius>(arguments, staged, mean_a);
    blur_across<kRadius>(arguments, staged + kStripThreads, mean_d);
    if constexpr (kWithStructure) {
        blur_across<kRadius>(arguments, staged + 2 * kStripThreads, squares);
        blur_across<kRadius>(arguments, staged + 3 * kStripThreads, energies);
    }
    if constexpr (kRadius > 4) {
        if (arguments.renormalise) {
            const float inverse_y = inverse_mass<kRadius>(arguments, y, strip.height);
            QC_UNROLL for (int p = 0; p < kRowPixels; ++p) {
                const float inverse = inverse_y * inverse_mass<kRadius>(arguments, x + p, strip.width);
                mean_a[p] *= inverse;
                mean_d[p] *= inverse;
                if constexpr (kWithStructure) {
                    squares[p] *= inverse;
                    energies[p] *= inverse;
                }
            }
        }
    }
    const float offset_difference = a.offset - d.offset;
    QC_UNROLL for (int p = 0; p < kRowPixels; ++p) {
        const bool inside = p < pixels;
        if constexpr (kWithStructure) {
            const float shifted_difference = mean_a[p] - mean_d[p];
            const float difference = shifted_difference + offset_difference;
            const float squared = difference * difference;
            const float variance = fmaxf(fmaf(-shifted_difference, shifted_difference, squares[p]), 0.0f);
            const float variances =
                fmaxf(fmaf(-mean_a[p], mean_a[p], fmaf(-mean_d[p], mean_d[p], energies[p])), 0.0f);
            const float ratio = variance * fast_reciprocal(variances + static_cast<float>(kStructureConstant));
            const float error = fmaxf(fmaf(1.0f - squared, ratio, squared), 0.0f);
            const float error2 = error * error;
            if (inside) {
                sum[term_index(kFirst, kStructure)] += error;
                sum[term_index(kFourth, kStructure)] = fmaf(error2, error2, sum[term_index(kFourth, kStructure)]);
            }
        }
        if constexpr (kEdges) {
            const float edge_a = fabsf((centre_a.value[p] - a.offset) - mean_a[p]);
            const float edge_d = fabsf((centre_d.value[p] - d.offset) - mean_d[p]);
            const float change = (edge_d - edge_a) * fast_reciprocal(1.0f + edge_a);
            if constexpr (kWithArtifact) {
                const float artifact = fmaxf(change, 0.0f), artifact2 = artifact * artifact;
                if (inside) {
                    sum[term_index(kFirst, kArtifact)] += artifact;
                    sum[term_index(kFourth, kArtifact)] =
                        fmaf(artifact2, artifact2, sum[term_index(kFourth, kArtifact)]);
                }
            }
            if constexpr (kWithDetail) {
                const float detail = fmaxf(-change, 0.0f), detail2 = detail * detail;
                if (inside) {
                    sum[term_index(kFirst, kDetail)] += detail;
                    sum[term_index(kFourth, kDetail)] = fmaf(detail2, detail2, sum[term_index(kFourth, kDetail)]);
                }
            }
        }
    }
}

// ---- sums of strips -------------------------------------------------------------------------------------------------

constexpr int kPlanes = kChannels * kMaxLevels;

struct FinishArguments {
    const DevicePair* pairs;
    const float* sums;
    uint64_t* accumulators;
    int32_t strip_count, levels;
    int32_t first[kPlanes], number[kPlanes]; ///< strips of plane channel * levels + level
    uint8_t needed[kPlanes];
};

/// What one of kFinishThreads threads adds up, always in this order.
QC_HD void add_strips(const FinishArguments& arguments, int plane, int pair, int thread, double (&sum)[kTerms]) {
    const float* const sums =
        arguments.sums + (static_cast<size_t>(pair) * arguments.strip_count + arguments.first[plane]) * kTerms;
    for (int i = thread; i < arguments.number[plane]; i += tuning::kFinishThreads) {
        QC_UNROLL for (int t = 0; t < kTerms; ++t) sum[t] += static_cast<double>(sums[i * kTerms + t]);
    }
}

} // namespace qc::ssimulacra2
