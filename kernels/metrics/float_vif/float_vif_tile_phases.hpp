// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of float_vif, phase by phase: what one thread does between two barriers.
//
// One kernel per scale computes the terms of a tile's pixels and the tile's part of the next scale's pictures:
//
//     vertical phase    one column and several rows a thread: samples are read once from global memory and stay in
//                       registers; five filtered values a pixel, and those of the decimation, go to shared memory
//     horizontal phase  four columns a thread, from 128-bit reads of shared memory; then the pixels' terms
//     decimation phase  two samples of the next scale a thread
//
// The terms of all pixels go to scratch memory; row_sums.hpp adds them in the order that the metric defines.
#pragma once

#include "contract/types.hpp"
#include "device/plane_reader.hpp"
#include "device/unroll.hpp"
#include "device/wide_floats.hpp"
#include "families/resize/resize.hpp"
#include "metrics/float_vif/float_vif_math.hpp"
#include "metrics/float_vif/float_vif_tuning.hpp"

namespace qc::float_vif {

/// Samples of both pictures at one place, as pictures in scratch memory hold them.
struct alignas(8) SamplePair {
    float reference, distorted;
};

/// Pictures of one scale in scratch memory.
struct PicturePlanes {
    SamplePair* samples; ///< of the first pair; null: none
    uint64_t plane;      ///< from pair to pair
    int pitch;           ///< even
};

/// The argument of the scale kernels. blockIdx.z is the pair.
struct ScaleArguments {
    const DevicePair* pairs;
    PicturePlanes input;  ///< null: the pictures themselves
    PicturePlanes output; ///< next scale; null: none
    float* terms;         ///< numerators and denominators of each pair; null: no statistic
    uint64_t term_plane;
    int term_pitch;
    int width, height;  ///< of this scale
    float sample_scale; ///< of the pictures
    NoiseModel noise;
    FilterWindow window, next_window;
};

/// The argument of the resize kernels. blockIdx: pieces of a row, rows, pair.
struct ResizeArguments {
    const DevicePair* pairs;
    const ResizeEntry *columns, *rows;
    PicturePlanes output;
    int source_width, source_height, width, height;
    float sample_scale;
    Resize method;
};

using device::round_up;

/// Mirrors, and also stays inside for positions whose result nobody uses (tiles that reach beyond the picture).
QC_HD int mirrored_inside(int i, int n) {
    i = mirror_without_edges(i, n);
    i = i < 0 ? 0 : i;
    return i < n ? i : n - 1;
}

QC_HD int distance(int k, int centre) {
    return k < centre ? centre - k : k - centre;
}

// ---- reading pictures -----------------------------------------------------------------------------------------------

/// Luma of the two pictures of a pair, read in place whatever their pitch, alignment and container.
template <typename Sample>
class PictureSource {
public:
    QC_HD PictureSource(const DevicePair& pair, float scale)
        : reference_(pair.reference.plane[0]), distorted_(pair.distorted.plane[0]), scale_(scale) {}
    QC_HD PictureSource(const ScaleArguments& task, int pair) : PictureSource(task.pairs[pair], task.sample_scale) {}

    QC_HD SamplePair at(int x, int y) const {
        if constexpr (sizeof(Sample) == 1)
            return {normalised(read_sample<Sample>(reference_, x, y), 1.0f),
                    normalised(read_sample<Sample>(distorted_, x, y), 1.0f)};
        else
            return {normalised(read_sample<Sample>(reference_, x, y), scale_),
                    normalised(read_sample<Sample>(distorted_, x, y), scale_)};
    }

    /// Calls use(row, samples) for rows y .. y + kRows - 1 of column x, all inside the picture.
    template <int kRows, typename Use>
    QC_HD void read_column(int x, int y, const Use& use) const {
        DevicePlane reference = reference_, distorted = distorted_;
        reference.data = row_bytes(reference, y);
        distorted.data = row_bytes(distorted, y);
        QC_UNROLL for (int row = 0; row < kRows; ++row) {
            use(row, SamplePair{normalised(read_sample<Sample>(reference, x, 0), sizeof(Sample) == 1 ? 1.0f : scale_),
                                normalised(read_sample<Sample>(distorted, x, 0), sizeof(Sample) == 1 ? 1.0f : scale_)});
            reference.data = row_bytes(reference, 1);
            distorted.data = row_bytes(distorted, 1);
        }
    }

private:
    DevicePlane reference_, distorted_;
    float scale_;
};

/// Pictures in scratch memory.
class ScratchSource {
public:
    QC_HD ScratchSource(const ScaleArguments& task, int pair)
        : samples_(task.input.samples + pair * task.input.plane), pitch_(task.input.pitch) {}

    QC_HD SamplePair at(int x, int y) const { return read(samples_ + static_cast<size_t>(y) * pitch_ + x); }

    template <int kRows, typename Use>
    QC_HD void read_column(int x, int y, const Use& use) const {
        const SamplePair* sample = samples_ + static_cast<size_t>(y) * pitch_ + x;
        QC_UNROLL for (int row = 0; row < kRows; ++row) {
            use(row, read(sample));
            sample += pitch_;
        }
    }

private:
    QC_HD static SamplePair read(const SamplePair* from) {
#if defined(__CUDA_ARCH__)
        const float2 pair = __ldg(reinterpret_cast<const float2*>(from));
        return {pair.x, pair.y};
#else
        return *from;
#endif
    }

    const SamplePair* samples_;
    int pitch_;
};

// ---- a tile ---------------------------------------------------------------------------------------------------------

using device::TileOrigin;

/// Everything about a kernel for the default windows that is known at compile time.
template <int kScale_, typename Source_, TileShape kShape>
struct TilePlan {
    using Source = Source_;
    static constexpr int kScale = kScale_;
    static constexpr TileShape kTile = kShape;
    static constexpr bool kDecimates = kScale + 1 < kScales;
    static constexpr int kRadius = 8 >> kScale, kNextRadius = kRadius / 2;
    static constexpr int kThreads = kShape.threads, kMinBlocks = kShape.min_blocks;
    static constexpr int kWidth = kShape.width, kHeight = kShape.height, kRowsPerThread = kShape.rows_per_thread;
    static constexpr int kColumns = round_up(kWidth + 2 * kRadius, 4);
    static constexpr int kSourceRows = kRowsPerThread + 2 * kRadius; ///< in the registers of a thread

    // Shared memory, in floats. The pitch is congruent to the width modulo the 32 banks: threads of a warp that span
    // two rows of the horizontal phase then read as if the rows were one.
    static constexpr int kPitch = kColumns + (kWidth - kColumns % 32 + 32 * 32) % 32;
    static constexpr int kPlane = kHeight * kPitch;
    static constexpr int kDecimation = 5 * kPlane; ///< after mean_1, mean_2, square_1, square_2, product_12
    static constexpr int kDecimationPlane = kPlane / 2;
    static constexpr int kSharedFloats = kDecimation + (kDecimates ? 2 * kDecimationPlane : 0);
    static constexpr unsigned kSharedBytes = kSharedFloats * sizeof(float);

    static_assert(kThreads % 32 == 0 && kWidth % 4 == 0 && kRowsPerThread % 2 == 0);
    static_assert(kHeight % kRowsPerThread == 0 && kPitch % 4 == 0 && kDecimationPlane % 4 == 0);
};

// ---- vertical phase -------------------------------------------------------------------------------------------------

/// Filters value(row) down a column: every kStep-th output row, whose window starts at source row offset + output row.
/// Goes through the source rows once; each output adds its taps in ascending order.
template <class Plan, int kRadius, int kStep, typename Value>
QC_HD void filter_column(const Value& value, const FilterWindow& window, int offset, float* out) {
    constexpr int kOutputs = Plan::kRowsPerThread / kStep;
    float sum[kOutputs];
    QC_UNROLL for (int o = 0; o < kOutputs; ++o) sum[o] = 0.0f;
    QC_UNROLL for (int row = 0; row < Plan::kSourceRows; ++row) {
        const float sample = value(row);
        QC_UNROLL for (int o = 0; o < kOutputs; ++o) {
            const int k = row - offset - o * kStep;
            if (k >= 0 && k <= 2 * kRadius) sum[o] = sum[o] + window.weight[distance(k, kRadius)] * sample;
        }
    }
    QC_UNROLL for (int o = 0; o < kOutputs; ++o) out[o * Plan::kPitch] = sum[o];
}

template <class Plan>
QC_HD void vertical_phase(float* shared, int thread, const typename Plan::Source& source, TileOrigin origin,
                          const ScaleArguments& task) {
    constexpr int kItems = Plan::kColumns * (Plan::kHeight / Plan::kRowsPerThread);
    for (int item = thread; item < kItems; item += Plan::kThreads) {
        const int x = item % Plan::kColumns, y = item / Plan::kColumns * Plan::kRowsPerThread;
        const int source_x = mirrored_inside(origin.x - Plan::kRadius + x, task.width);
        const int source_y = origin.y - Plan::kRadius + y;
        float a[Plan::kSourceRows], b[Plan::kSourceRows];
        if (source_y >= 0 && source_y + Plan::kSourceRows <= task.height) {
            source.template read_column<Plan::kSourceRows>(source_x, source_y, [&](int row, SamplePair pair) {
                a[row] = pair.reference;
                b[row] = pair.distorted;
            });
        } else {
            QC_UNROLL for (int row = 0; row < Plan::kSourceRows; ++row) {
                const SamplePair pair = source.at(source_x, mirrored_inside(source_y + row, task.height));
                a[row] = pair.reference;
                b[row] = pair.distorted;
            }
        }
        constexpr int R = Plan::kRadius;
        float* const out = shared + y * Plan::kPitch + x;
        filter_column<Plan, R, 1>([&](int row) { return a[row]; }, task.window, 0, out);
        filter_column<Plan, R, 1>([&](int row) { return b[row]; }, task.window, 0, out + Plan::kPlane);
        filter_column<Plan, R, 1>([&](int row) { return a[row] * a[row]; }, task.window, 0, out + 2 * Plan::kPlane);
        filter_column<Plan, R, 1>([&](int row) { return b[row] * b[row]; }, task.window, 0, out + 3 * Plan::kPlane);
        filter_column<Plan, R, 1>([&](int row) { return a[row] * b[row]; }, task.window, 0, out + 4 * Plan::kPlane);
        if constexpr (Plan::kDecimates) {
            constexpr int kNext = Plan::kNextRadius, kOffset = R - kNext;
            float* const half = shared + Plan::kDecimation + y / 2 * Plan::kPitch + x;
            filter_column<Plan, kNext, 2>([&](int row) { return a[row]; }, task.next_window, kOffset, half);
            filter_column<Plan, kNext, 2>([&](int row) { return b[row]; }, task.next_window, kOffset,
                                          half + Plan::kDecimationPlane);
        }
    }
}

// ---- horizontal phase -----------------------------------------------------------------------------------------------

/// Columns that a thread handles together in the horizontal phases.
constexpr int kColumnsPerThread = 4;

/// Values of a row of shared memory that the windows of kColumnsPerThread pixels cover.
template <int kRadius>
struct RowWindow {
    static constexpr int kSize = round_up(kColumnsPerThread + 2 * kRadius, 4);
    float value[kSize];

    /// `from` is a multiple of 16 bytes.
    QC_HD explicit RowWindow(const float* from) {
        QC_UNROLL for (int i = 0; i < kSize; i += 4) {
            const device::Float4 four = device::load_shared4(from + i);
            QC_UNROLL for (int k = 0; k < 4; ++k) value[i + k] = four.value[k];
        }
    }
};

/// Filters along a row: kCount outputs, kStep apart, the first one's window at `offset`.
template <int kFilterRadius, int kStep, int kCount, int kRadius>
QC_HD void filter_window(const RowWindow<kRadius>& row, const FilterWindow& window, int offset, float (&out)[kCount]) {
    QC_UNROLL for (int o = 0; o < kCount; ++o) out[o] = 0.0f;
    QC_UNROLL for (int i = 0; i < RowWindow<kRadius>::kSize; ++i) {
        QC_UNROLL for (int o = 0; o < kCount; ++o) {
            const int k = i - offset - o * kStep;
            if (k >= 0 && k <= 2 * kFilterRadius)
                out[o] = out[o] + window.weight[distance(k, kFilterRadius)] * row.value[i];
        }
    }
}

/// Four floats to a multiple of 16 bytes in global memory.
QC_HD void store_four(float* to, const float (&value)[4]) {
#if defined(__CUDA_ARCH__)
    *reinterpret_cast<float4*>(to) = make_float4(value[0], value[1], value[2], value[3]);
#else
    memcpy(to, value, sizeof value);
#endif
}

/// Terms of numerators of a pair; those of denominators are one plane further.
QC_HD float* terms_of(const ScaleArguments& task, int pair) {
    return task.terms + static_cast<size_t>(pair) * 2 * task.term_plane;
}

template <class Plan>
QC_HD void horizontal_phase(const float* shared, int thread, TileOrigin origin, const ScaleArguments& task, int pair) {
    constexpr int kGroups = Plan::kWidth / kColumnsPerThread;
    for (int item = thread; item < kGroups * Plan::kHeight; item += Plan::kThreads) {
        const int x = item % kGroups * kColumnsPerThread, y = item / kGroups;
        if (origin.x + x >= task.width || origin.y + y >= task.height) continue;
        const float* const from = shared + y * Plan::kPitch + x;
        float moment[5][kColumnsPerThread];
        QC_UNROLL for (int m = 0; m < 5; ++m) {
            const RowWindow<Plan::kRadius> row(from + m * Plan::kPlane);
            filter_window<Plan::kRadius, 1>(row, task.window, 0, moment[m]);
        }
        float numerator[kColumnsPerThread], denominator[kColumnsPerThread];
        QC_UNROLL for (int i = 0; i < kColumnsPerThread; ++i) {
            const Information added =
                information({moment[0][i], moment[1][i], moment[2][i], moment[3][i], moment[4][i]}, task.noise);
            numerator[i] = added.numerator;
            denominator[i] = added.denominator;
        }
        // Beyond the picture's last column these reach into the padding of the row.
        float* const terms =
            terms_of(task, pair) + static_cast<size_t>(origin.y + y) * task.term_pitch + (origin.x + x);
        store_four(terms, numerator);
        store_four(terms + task.term_plane, denominator);
    }
}

/// Stores two neighbouring samples of the next scale, as far as they are inside it.
QC_HD void store_decimated(const ScaleArguments& task, int pair, int x, int y, const float (&reference)[2],
                           const float (&distorted)[2]) {
    const int next_width = task.width / 2, next_height = task.height / 2;
    if (x >= next_width || y >= next_height) return;
    SamplePair* const out =
        task.output.samples + pair * task.output.plane + static_cast<size_t>(y) * task.output.pitch + x;
    if (x + 1 < next_width) {
        const float both[4] = {reference[0], distorted[0], reference[1], distorted[1]};
        store_four(reinterpret_cast<float*>(out), both);
    } else {
        *out = SamplePair{reference[0], distorted[0]};
    }
}

template <class Plan>
QC_HD void decimation_phase(const float* shared, int thread, TileOrigin origin, const ScaleArguments& task, int pair) {
    if constexpr (Plan::kDecimates) {
        constexpr int kGroups = Plan::kWidth / kColumnsPerThread;
        constexpr int kNext = Plan::kNextRadius, kOffset = Plan::kRadius - kNext;
        for (int item = thread; item < kGroups * Plan::kHeight / 2; item += Plan::kThreads) {
            const int x = item % kGroups * kColumnsPerThread, y = item / kGroups;
            const float* const from = shared + Plan::kDecimation + y * Plan::kPitch + x;
            float reference[2], distorted[2];
            filter_window<kNext, 2>(RowWindow<Plan::kRadius>(from), task.next_window, kOffset, reference);
            filter_window<kNext, 2>(RowWindow<Plan::kRadius>(from + Plan::kDecimationPlane), task.next_window, kOffset,
                                    distorted);
            store_decimated(task, pair, (origin.x + x) / 2, origin.y / 2 + y, reference, distorted);
        }
    }
}

// ---- windows of any size --------------------------------------------------------------------------------------------

/// Where things lie in shared memory. Used for other kernel scales, for resized pictures, and for decimation alone.
struct AnyTile {
    static constexpr int kThreads = kTileAnyWindow.threads;
    static constexpr int kWidth = kTileAnyWindow.width, kHeight = kTileAnyWindow.height;
    bool scores, decimates;
    int margin, pitch, plane;

    QC_HD AnyTile(bool scores_, int radius, bool decimates_, int next_radius)
        : scores(scores_), decimates(decimates_), margin(scores_ && radius > next_radius ? radius : next_radius),
          pitch(kWidth + 2 * margin), plane(kHeight * pitch) {}
    QC_HD explicit AnyTile(const ScaleArguments& task)
        : AnyTile(task.terms != nullptr, task.window.radius, task.output.samples != nullptr, task.next_window.radius) {}

    QC_HD int decimation() const { return scores ? 5 * plane : 0; }
    QC_HD int shared_floats() const { return decimation() + (decimates ? plane : 0); }
};

template <typename Source>
QC_HD void any_vertical_phase(const AnyTile& tile, float* shared, int thread, const Source& source, TileOrigin origin,
                              const ScaleArguments& task) {
    for (int item = thread; item < tile.plane; item += AnyTile::kThreads) {
        const int x = item % tile.pitch, y = item / tile.pitch;
        const int source_x = mirrored_inside(origin.x - tile.margin + x, task.width);
        const auto sample = [&](int k, int radius) {
            return source.at(source_x, mirrored_inside(origin.y + y - radius + k, task.height));
        };
        if (tile.scores) {
            float sum[5] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
            for (int k = 0; k <= 2 * task.window.radius; ++k) {
                const SamplePair s = sample(k, task.window.radius);
                const float tap = task.window.tap(k);
                sum[0] = sum[0] + tap * s.reference;
                sum[1] = sum[1] + tap * s.distorted;
                sum[2] = sum[2] + tap * (s.reference * s.reference);
                sum[3] = sum[3] + tap * (s.distorted * s.distorted);
                sum[4] = sum[4] + tap * (s.reference * s.distorted);
            }
            for (int m = 0; m < 5; ++m) shared[m * tile.plane + item] = sum[m];
        }
        if (tile.decimates && y % 2 == 0) {
            float reference = 0.0f, distorted = 0.0f;
            for (int k = 0; k <= 2 * task.next_window.radius; ++k) {
                const SamplePair s = sample(k, task.next_window.radius);
                const float tap = task.next_window.tap(k);
                reference = reference + tap * s.reference;
                distorted = distorted + tap * s.distorted;
            }
            float* const half = shared + tile.decimation() + y / 2 * tile.pitch + x;
            half[0] = reference;
            half[tile.plane / 2] = distorted;
        }
    }
}

/// One value along a row; `centre` is the window's middle.
QC_HD float filter_any_row(const float* centre, const FilterWindow& window) {
    float sum = 0.0f;
    for (int k = 0; k <= 2 * window.radius; ++k) sum = sum + window.tap(k) * centre[k - window.radius];
    return sum;
}

QC_HD void any_horizontal_phase(const AnyTile& tile, const float* shared, int thread, TileOrigin origin,
                                const ScaleArguments& task, int pair) {
    for (int item = thread; item < AnyTile::kWidth * AnyTile::kHeight; item += AnyTile::kThreads) {
        const int x = item % AnyTile::kWidth, y = item / AnyTile::kWidth;
        const int picture_x = origin.x + x, picture_y = origin.y + y;
        if (picture_x >= task.width || picture_y >= task.height) continue;
        if (tile.scores) {
            const float* const centre = shared + y * tile.pitch + tile.margin + x;
            float moment[5];
            for (int m = 0; m < 5; ++m) moment[m] = filter_any_row(centre + m * tile.plane, task.window);
            const Information added = information({moment[0], moment[1], moment[2], moment[3], moment[4]}, task.noise);
            float* const terms = terms_of(task, pair) + static_cast<size_t>(picture_y) * task.term_pitch + picture_x;
            terms[0] = added.numerator;
            terms[task.term_plane] = added.denominator;
        }
        if (tile.decimates && x % 2 == 0 && y % 2 == 0) {
            const int next_x = picture_x / 2, next_y = picture_y / 2;
            if (next_x >= task.width / 2 || next_y >= task.height / 2) continue;
            const float* const centre = shared + tile.decimation() + y / 2 * tile.pitch + tile.margin + x;
            task.output.samples[pair * task.output.plane + static_cast<size_t>(next_y) * task.output.pitch + next_x] =
                SamplePair{filter_any_row(centre, task.next_window),
                           filter_any_row(centre + tile.plane / 2, task.next_window)};
        }
    }
}

// ---- vif_prescale ---------------------------------------------------------------------------------------------------

template <Resize kMethod, typename Sample>
QC_HD SamplePair resized_pair(const PictureSource<Sample>& source, const ResizeArguments& task, int x, int y) {
    const ResizeEntry &column = task.columns[x], &row = task.rows[y];
    return {resized<kMethod>([&](int at_x, int at_y) { return source.at(at_x, at_y).reference; }, column, row,
                             task.source_width, task.source_height),
            resized<kMethod>([&](int at_x, int at_y) { return source.at(at_x, at_y).distorted; }, column, row,
                             task.source_width, task.source_height)};
}

template <typename Sample>
QC_HD void resize_sample(const ResizeArguments& task, int pair, int x, int y) {
    if (x >= task.width) return;
    const PictureSource<Sample> source(task.pairs[pair], task.sample_scale);
    SamplePair result{};
    if (task.method == Resize::kNearest) result = resized_pair<Resize::kNearest>(source, task, x, y);
    if (task.method == Resize::kBilinear) result = resized_pair<Resize::kBilinear>(source, task, x, y);
    if (task.method == Resize::kBicubic) result = resized_pair<Resize::kBicubic>(source, task, x, y);
    if (task.method == Resize::kLanczos4) result = resized_pair<Resize::kLanczos4>(source, task, x, y);
    task.output.samples[pair * task.output.plane + static_cast<size_t>(y) * task.output.pitch + x] = result;
}

} // namespace qc::float_vif
