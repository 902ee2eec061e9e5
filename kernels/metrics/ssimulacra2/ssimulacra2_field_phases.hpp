// SPDX-License-Identifier: BSD-2-Clause-Patent
// Second and third kernel of SSIMULACRA 2: from XYB planes to sums of fields, phase by phase. Compiles for the host
// too.
//
// A block marches down a strip of one plane, four rows at a time:
//
//     column phase   each thread filters one column vertically: of both pictures a and d, of (a - d)^2 and of a^2 +
//                    d^2. A blur in progress is 2 R partial sums in registers, so a row costs 2 R + 1 multiply-adds and
//                    is read once. The filtered rows go to shared memory.
//     row phase      each thread filters four neighbouring pixels horizontally, evaluates their fields and adds them up
//
// With two buffers in shared memory one barrier per four rows is enough.
//
// Variances are differences of large numbers, so the strip's centre samples are subtracted from a and d first. What
// lies outside the picture is 0, that is minus the offset, which leaves the result what it is; where blurs are divided
// by the kernel's mass inside the picture instead, it is the offset itself. Without a structural error there are no
// variances, and nothing is subtracted.
#pragma once

#include "metrics/ssimulacra2/ssimulacra2_device_math.hpp"
#include "metrics/ssimulacra2/ssimulacra2_draw_phases.hpp"
#include "metrics/ssimulacra2/ssimulacra2_tuning.hpp"

namespace qc::ssimulacra2 {

constexpr int kStripThreads = tuning::kStripThreads;
constexpr int kGroupRows = 4; ///< filtered between two barriers
constexpr int kRowPixels = 4; ///< of a thread in the row phase
constexpr int kRowLanes = kStripThreads / kGroupRows;
constexpr int kBlurs = 4;
constexpr int kStages = 2;

/// A filtered row in shared memory. With all blurs, those of a column are one Float4; every fourth column follows, so
/// that threads of both phases reach all banks: neighbours in one, those four columns apart in the other. With two
/// blurs, one row of floats after the other.
constexpr int kColumnGroup = kStripThreads / kRowPixels + 2; ///< Float4, from column to the next one
constexpr int kRowStage = kRowPixels * kColumnGroup * kBlurs;
constexpr int kStageFloats = kGroupRows * kRowStage; ///< of one buffer
static_assert(kRowPixels == 4 && kRowStage >= 2 * kStripThreads);

/// Columns of a strip: the outermost threads only filter vertically.
template <int kRadius>
constexpr int kStripColumns = kStripThreads - 2 * kRadius;
static_assert(kStripColumns<4> % kRowPixels == 0 && kStripColumns<kMaxRadius> % kRowPixels == 0);

static_assert(kRowLanes * kRowPixels == kStripThreads && tuning::kStripRows % kGroupRows == 0 &&
              tuning::kEdgeStripRows % kGroupRows == 0);

/// What has to be computed of a strip. Pictures are compared with as few blurs as that takes.
enum Variant : int32_t { kStructureOnly, kStructureArtifact, kStructureDetail, kArtifactOnly, kEverything, kVariants };

struct Strip {
    uint32_t offset;       ///< of the channel's first sample from the picture's start, floats
    int32_t width, height; ///< of the level
    int32_t x, y, rows;
    int32_t variant;
    int32_t plane; ///< level * kChannels + channel
};
static_assert(sizeof(Strip) == 32);

struct FieldArguments {
    const DevicePair* pairs;
    const float* planes;
    uint64_t picture; ///< floats from picture to picture
    const Strip* strips;
    float* sums; ///< kTerms of each strip of each pair
    int32_t strip_count;
    int32_t renormalise;
    float tap[kMaxRadius + 1];
    KeptErrors kept; ///< of the kernels that draw
};

/// The strip's plane of one picture.
QC_HD const float* plane_of(const FieldArguments& arguments, const Strip& strip, uint64_t picture) {
    return arguments.planes + picture * arguments.picture + strip.offset;
}

/// Its value in the middle of the strip.
QC_HD float middle_of(const float* plane, const Strip& strip, int columns) {
    const int x = strip.x + columns / 2 < strip.width ? strip.x + columns / 2 : strip.width - 1;
    return load_plane(plane + sample_index(x, strip.y + strip.rows / 2, strip.height));
}

/// What a block does with its strip.
/// @tparam kDrawsMap keeps the errors for the map
template <int kRadiusOfBlur, bool kStructureOfBlur, bool kArtifactOfBlur, bool kDetailOfBlur, bool kDrawsMap>
struct Work {
    static constexpr bool kDraws = kDrawsMap;
    static constexpr int kRadius = kRadiusOfBlur;
    static constexpr bool kWithStructure = kStructureOfBlur, kWithArtifact = kArtifactOfBlur,
                          kWithDetail = kDetailOfBlur;
    static constexpr bool kWithEdges = kWithArtifact || kWithDetail;
    static constexpr int kUsedBlurs = kWithStructure ? 4 : 2;
    static constexpr int kWarmUpGroups = 2 * kRadius / kGroupRows;
};

/// One thread of a block: its column of the column phase, its pixels of the row phase, its sums.
template <class Work>
class StripThread {
public:
    QC_HD StripThread(const Strip& strip, const float* a, const float* d, int thread)
        : next_row_(strip.y - Work::kRadius), height_(strip.height) {
        if constexpr (Work::kWithStructure) {
            offset_a_ = middle_of(a, strip, kStripColumns<Work::kRadius>);
            offset_d_ = middle_of(d, strip, kStripColumns<Work::kRadius>);
        }
        const int x = strip.x - Work::kRadius + thread, first_lane = x - thread % kLanes;
        inside_ = x >= 0 && x < strip.width;
        warp_is_inside_ = first_lane >= 0 && first_lane + kLanes <= strip.width;
        const int next = inside_ ? sample_index(x, next_row_, strip.height) : 0;
        next_a_ = a + next;
        next_d_ = d + next;
        QC_UNROLL for (int q = 0; q < Work::kUsedBlurs; ++q) {
            QC_UNROLL for (int i = 0; i < 2 * Work::kRadius; ++i) partial_[q][i] = 0.0f;
        }
        QC_UNROLL for (int t = 0; t < kTerms; ++t) sum[t] = 0.0f;

        const int lane = thread % kRowLanes, row = thread / kRowLanes;
        x_ = strip.x + lane * kRowPixels;
        pixels_ = lane * kRowPixels < kStripColumns<Work::kRadius> ? strip.width - x_ : 0;
        staged_ = row * kRowStage + lane * 4;
        row_behind_ = Work::kRadius + kGroupRows - row;
        centre_behind_ =
            next - sample_index(x_, strip.y + row, strip.height) + (2 * Work::kRadius + kGroupRows) * kRowFloats;
    }

    /// Loads the next rows.
    QC_HD void load(const FieldArguments& arguments) {
        if (warp_is_inside_ && next_row_ >= 0 && next_row_ + kGroupRows <= height_) {
            QC_UNROLL for (int r = 0; r < kGroupRows; ++r) {
                loaded_a_[r] = load_plane(next_a_ + r * kRowFloats);
                loaded_d_[r] = load_plane(next_d_ + r * kRowFloats);
            }
        } else {
            const bool renormalise = Work::kRadius > 4 && arguments.renormalise;
            QC_UNROLL for (int r = 0; r < kGroupRows; ++r) {
                const bool row_inside = inside_ && next_row_ + r >= 0 && next_row_ + r < height_;
                loaded_a_[r] = row_inside ? load_plane(next_a_ + r * kRowFloats) : renormalise ? offset_a_ : 0.0f;
                loaded_d_[r] = row_inside ? load_plane(next_d_ + r * kRowFloats) : renormalise ? offset_d_ : 0.0f;
            }
        }
    }

    /// Takes the loaded rows, of which those above the strip only prepare what follows.
    QC_HD void warm_up(const FieldArguments& arguments) {
        QC_UNROLL for (int r = 0; r < kGroupRows; ++r) {
            float unused[Work::kUsedBlurs];
            push_row(arguments, loaded_a_[r], loaded_d_[r], unused);
        }
        advance();
    }

    /// Takes the loaded rows; the filtered rows, which lie a radius higher, go to shared memory.
    QC_HD void filter_column(const FieldArguments& arguments, float* stage, int thread) {
        QC_UNROLL for (int r = 0; r < kGroupRows; ++r) {
            float filtered[Work::kUsedBlurs];
            push_row(arguments, loaded_a_[r], loaded_d_[r], filtered);
            float* const row = stage + r * kRowStage;
            if constexpr (Work::kWithStructure) {
                const int column = thread % kRowPixels * kColumnGroup + thread / kRowPixels;
                store_plane4(row + 4 * column, {{filtered[0], filtered[1], filtered[2], filtered[3]}});
            } else {
                row[thread] = filtered[0];
                row[kStripThreads + thread] = filtered[1];
            }
        }
        advance();
    }

    /// The row phase. Adds to `sum`.
    /// @param pair of the batch, for kernels that draw
    QC_HD void score_row(const FieldArguments& arguments, const Strip& strip, const float* stage, int pair);

    float sum[kTerms]; ///< by term_index()

private:
    static constexpr int kLanes = 32;

    QC_HD void advance() {
        next_row_ += kGroupRows;
        next_a_ += kGroupRows * kRowFloats;
        next_d_ += kGroupRows * kRowFloats;
    }

    QC_HD void push_row(const FieldArguments& arguments, float a, float d, float (&filtered)[Work::kUsedBlurs]) {
        if constexpr (Work::kWithStructure) {
            a -= offset_a_;
            d -= offset_d_;
        }
        filtered[0] = push(arguments, partial_[0], a);
        filtered[1] = push(arguments, partial_[1], d);
        if constexpr (Work::kWithStructure) {
            const float difference = a - d;
            filtered[2] = push(arguments, partial_[2], difference * difference);
            filtered[3] = push(arguments, partial_[3], fmaf(a, a, d * d));
        }
    }

    /// Takes the sample at the lower end of the kernel's support; returns the complete sum.
    QC_HD static float push(const FieldArguments& arguments, float (&partial)[2 * Work::kRadius], float sample) {
        constexpr int kRadius = Work::kRadius;
        const float complete = fmaf(arguments.tap[kRadius], sample, partial[0]);
        QC_UNROLL for (int i = 0; i + 1 < 2 * kRadius; ++i) {
            const int distance = i < kRadius ? kRadius - 1 - i : i - kRadius + 1;
            partial[i] = fmaf(arguments.tap[distance], sample, partial[i + 1]);
        }
        partial[2 * kRadius - 1] = arguments.tap[kRadius] * sample;
        return complete;
    }

    /// How far a sample lies above its blurred neighbourhood. Needs the sample last, for it may still be on its way.
    QC_HD static float above_mean(float centre, float offset, float mean) {
        return centre - (Work::kWithStructure ? mean + offset : mean);
    }

    float partial_[Work::kUsedBlurs][2 * Work::kRadius]; ///< blurs in progress
    float loaded_a_[kGroupRows], loaded_d_[kGroupRows];
    const float *next_a_, *next_d_;
    int next_row_, height_;
    float offset_a_ = 0.0f, offset_d_ = 0.0f; ///< with a structural error only
    bool inside_;                             ///< the column lies inside the picture
    bool warp_is_inside_;                     ///< so do those of all lanes of the warp
    int x_, pixels_;                          ///< of the row phase: first pixel, and how many there are from there on
    int staged_;                              ///< where its samples begin in shared memory
    int row_behind_; ///< how far its row and its pixels lie behind the next row of the column phase
    int centre_behind_;
};

// ---- row phase ------------------------------------------------------------------------------------------------------

/// Four neighbouring pixels of a plane from a multiple of 4 on, which one panel holds; zeros behind the last.
QC_HD Float4 load_pixels(const float* from, int pixels) {
    if (pixels >= kRowPixels) return load_plane4(from);
    Float4 four{};
    QC_UNROLL for (int p = 0; p + 1 < kRowPixels; ++p) {
        if (p < pixels) four.value[p] = load_plane(from + p);
    }
    return four;
}

/// Adds a filtered column to the sums of the four pixels whose support it lies in: of pixel p, column p is the first
/// and begins the sum.
template <int kRadius>
QC_HD void add_column(const FieldArguments& arguments, int column, float sample, float (&blurred)[kRowPixels]) {
    QC_UNROLL for (int p = 0; p < kRowPixels; ++p) {
        const int place = column - p;
        if (place < 0 || place > 2 * kRadius) continue;
        const float tap = arguments.tap[place < kRadius ? kRadius - place : place - kRadius];
        blurred[p] = place == 0 ? tap * sample : fmaf(tap, sample, blurred[p]);
    }
}

/// Four neighbouring pixels of a filtered row, all blurs at once or two.
template <class Work>
QC_HD void blur_across(const FieldArguments& arguments, const float* staged,
                       float (&blurred)[Work::kUsedBlurs][kRowPixels]) {
    constexpr int kColumns = 2 * Work::kRadius + kRowPixels;
    if constexpr (Work::kWithStructure) {
        QC_UNROLL for (int column = 0; column < kColumns; ++column) {
            const Float4 all = load_shared4(staged + 4 * (column % kRowPixels * kColumnGroup + column / kRowPixels));
            QC_UNROLL for (int q = 0; q < kBlurs; ++q)
                add_column<Work::kRadius>(arguments, column, all.value[q], blurred[q]);
        }
    } else {
        QC_UNROLL for (int q = 0; q < Work::kUsedBlurs; ++q) {
            QC_UNROLL for (int column = 0; column < kColumns; column += 4) {
                const Float4 four = load_shared4(staged + q * kStripThreads + column);
                QC_UNROLL for (int i = 0; i < 4; ++i)
                    add_column<Work::kRadius>(arguments, column + i, four.value[i], blurred[q]);
            }
        }
    }
}

/// Reciprocal of the kernel's mass inside a line of `size` samples.
template <int kRadius>
QC_HD float inverse_mass(const FieldArguments& arguments, int position, int size) {
    float mass = arguments.tap[0];
    for (int i = 1; i <= kRadius; ++i) {
        if (position - i >= 0) mass += arguments.tap[i];
        if (position + i < size) mass += arguments.tap[i];
    }
    return 1.0f / mass;
}

/// Of a field of the strip's plane.
QC_HD float field_weight(const FieldArguments& arguments, const Strip& strip, int field) {
    return arguments.kept.weight[strip.plane / kChannels][strip.plane % kChannels][field];
}

/// Keeps the weighted errors of four neighbours, of which `pixels` lie in the picture; behind its edge there is room
/// for zeros, for who draws reads four.
QC_HD void keep_errors(const KeptErrors& kept, int pair, int plane, int x, int y, int pixels, const float (&error)[4]) {
    const int level = plane / kChannels;
    uint16_t* const to =
        kept.of(pair, level, plane % kChannels) +
        (static_cast<uint64_t>(y) * static_cast<uint64_t>(kept.pitch[level]) + static_cast<uint64_t>(x));
    Words<8> four{};
    QC_UNROLL for (int p = 0; p < kRowPixels; ++p) {
        const uint32_t kept_bits = p < pixels ? kept_error(error[p]) : 0;
        four.word[p / 2] |= kept_bits << (16 * (p % 2));
    }
    *reinterpret_cast<Words<8>*>(to) = four;
}

template <class Work>
QC_HD void StripThread<Work>::score_row(const FieldArguments& arguments, const Strip& strip, const float* stage,
                                        int pair) {
    constexpr int kRadius = Work::kRadius;
    constexpr bool kWithStructure = Work::kWithStructure, kWithArtifact = Work::kWithArtifact,
                   kWithDetail = Work::kWithDetail, kEdges = Work::kWithEdges;
    const int y = next_row_ - row_behind_;
    if (pixels_ <= 0 || y >= height_) return;
    Float4 centre_a{}, centre_d{};
    if constexpr (kEdges) {
        centre_a = load_pixels(next_a_ - centre_behind_, pixels_);
        centre_d = load_pixels(next_d_ - centre_behind_, pixels_);
    }
    float blurred[Work::kUsedBlurs][kRowPixels];
    blur_across<Work>(arguments, stage + staged_, blurred);
    if constexpr (kRadius > 4) {
        if (arguments.renormalise) {
            const float inverse_y = inverse_mass<kRadius>(arguments, y, strip.height);
            QC_UNROLL for (int p = 0; p < kRowPixels; ++p) {
                const float inverse = inverse_y * inverse_mass<kRadius>(arguments, x_ + p, strip.width);
                QC_UNROLL for (int q = 0; q < Work::kUsedBlurs; ++q) blurred[q][p] *= inverse;
            }
        }
    }
    float drawn[kRowPixels] = {};
    QC_UNROLL for (int p = 0; p < kRowPixels; ++p) {
        const bool inside = p < pixels_;
        const float mean_a = blurred[0][p], mean_d = blurred[1][p];
        if constexpr (kWithStructure) {
            const float shifted_difference = mean_a - mean_d, difference = shifted_difference + (offset_a_ - offset_d_);
            const float squared = difference * difference;
            const float variance = fmaxf(fmaf(-shifted_difference, shifted_difference, blurred[2][p]), 0.0f);
            const float variances = fmaxf(fmaf(-mean_a, mean_a, fmaf(-mean_d, mean_d, blurred[3][p])), 0.0f);
            const float ratio = variance * fast_reciprocal(variances + static_cast<float>(kStructureConstant));
            const float error = fmaxf(fmaf(1.0f - squared, ratio, squared), 0.0f);
            const float error2 = error * error;
            if constexpr (Work::kDraws) drawn[p] = field_weight(arguments, strip, kStructure) * error;
            if (inside) {
                sum[term_index(kFirst, kStructure)] += error;
                sum[term_index(kFourth, kStructure)] = fmaf(error2, error2, sum[term_index(kFourth, kStructure)]);
            }
        }
        if constexpr (kEdges) {
            const float edge_a = fabsf(above_mean(centre_a.value[p], offset_a_, mean_a));
            const float edge_d = fabsf(above_mean(centre_d.value[p], offset_d_, mean_d));
            const float change = (edge_d - edge_a) * fast_reciprocal(1.0f + edge_a);
            if constexpr (Work::kDraws) {
                const float artifact = field_weight(arguments, strip, kArtifact) * fmaxf(change, 0.0f);
                drawn[p] += artifact + field_weight(arguments, strip, kDetail) * fmaxf(-change, 0.0f);
            }
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
    if constexpr (Work::kDraws) {
        if (arguments.kept.keeps(strip.plane / kChannels, strip.plane % kChannels))
            keep_errors(arguments.kept, pair, strip.plane, x_, y, pixels_, drawn);
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
