// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the threads of the SpEED kernels do. Compiles on the host too, where a test runs all blocks and compares with
// the CPU reference.
//
//   decimate  samples -> grid: smoothing at every 16th sample only, vertically, then horizontally
//   analyse   grid -> entropies and energies: a block of threads per plane does all of the linear algebra
//   compare   two planes -> score
//
// A pair has some images (chroma: two planes of two pictures; temporal: two differences). Images 2 p and 2 p + 1 are
// the reference's and the distorted one of score p.
#pragma once

#include "device/plane_reader.hpp"
#include "families/speed/speed_linear.hpp"
#include "families/speed/speed_tuning.hpp"

namespace qc::speed {

/// Scratch memory of one image.
struct ImageLayout {
    size_t image_bytes = 0;                                ///< from image to image
    size_t coefficients = 0, statistics = 0, singular = 0; ///< byte offsets; the grid is at 0
};

/// Arguments of all three kernels.
struct Task {
    const DevicePair* pairs;
    uint64_t* accumulators;
    unsigned char* scratch;
    const ResizeEntry *columns, *rows; ///< null without resizing
    ImageLayout layout;
    int images; ///< per pair
    int source_width, source_height, scaled_width, scaled_height;
    int grid_width, grid_height, blocks_x, blocks_y, windows_x, windows_y;
    int weight_mode;
    int difference_to_reference; ///< temporal: the distorted difference takes the current reference
    float sample_scale, noise, visible_entropy;
    SmoothingWindow smoothing;
    MeanWindow mean;
};

QC_HD unsigned char* image_memory(const Task& task, int pair, int image) {
    return task.scratch + (static_cast<size_t>(pair) * task.images + image) * task.layout.image_bytes;
}
QC_HD float* grid_of(const Task& task, int pair, int image) {
    return reinterpret_cast<float*>(image_memory(task, pair, image));
}
QC_HD float* coefficients_of(const Task& task, int pair, int image) {
    return reinterpret_cast<float*>(image_memory(task, pair, image) + task.layout.coefficients);
}
QC_HD BlockStatistics* statistics_of(const Task& task, int pair, int image) {
    return reinterpret_cast<BlockStatistics*>(image_memory(task, pair, image) + task.layout.statistics);
}
QC_HD int32_t* singular_of(const Task& task, int pair, int image) {
    return reinterpret_cast<int32_t*>(image_memory(task, pair, image) + task.layout.singular);
}

// ---- samples --------------------------------------------------------------------------------------------------------

/// Chroma planes, around 0 on the scale of 8 bits.
template <typename T>
struct ChromaSource {
    DevicePlane plane;
    float scale;

    QC_HD ChromaSource(const Task& task, int pair, int image)
        : plane((image % 2 == 0 ? task.pairs[pair].reference : task.pairs[pair].distorted).plane[1 + image / 2]),
          scale(task.sample_scale) {}
    /// Whether there is something to score.
    QC_HD static bool exists(const Task&, int) { return true; }
    QC_HD float operator()(int x, int y) const {
        return static_cast<float>(read_sample<T>(plane, x, y)) * scale - 128.0f;
    }
};

/// Luma of the frame before less that of the frame.
template <typename T>
struct DifferenceSource {
    DevicePlane previous, current;
    float scale;

    QC_HD DifferenceSource(const Task& task, int pair, int image) : scale(task.sample_scale) {
        const DevicePair& both = task.pairs[pair];
        const bool reference = image % 2 == 0;
        previous = reference ? both.reference_history[0] : both.distorted_history[0];
        current = (reference || task.difference_to_reference != 0 ? both.reference : both.distorted).plane[0];
    }
    QC_HD static bool exists(const Task& task, int pair) {
        return task.pairs[pair].reference_history[0].data != nullptr &&
               task.pairs[pair].distorted_history[0].data != nullptr;
    }
    QC_HD float operator()(int x, int y) const {
        const int difference =
            static_cast<int>(read_sample<T>(previous, x, y)) - static_cast<int>(read_sample<T>(current, x, y));
        return static_cast<float>(difference) * scale;
    }
};

// ---- decimate -------------------------------------------------------------------------------------------------------

/// Samples of the grid that a block of threads makes.
QC_HD int grid_points_per_block(int taps) {
    return kTuning.decimate_threads / taps;
}

/// One column of one grid sample, summed vertically. Two phases, a barrier between them.
template <Resize kMethod, class Source>
QC_HD void smooth_column(const Task& task, const Source& source, int block_x, int grid_y, int thread, float* sums) {
    const int taps = task.smoothing.taps, reach = taps / 2;
    const int point = thread / taps, tap = thread - point * taps;
    const int grid_x = block_x * grid_points_per_block(taps) + point;
    if (point >= grid_points_per_block(taps) || grid_x >= task.grid_width) return;
    const int x = mirrored(grid_x * kDecimation + tap - reach, task.scaled_width);
    const int first = grid_y * kDecimation - reach;
    float sum = 0.0f;
#if defined(__CUDA_ARCH__)
#pragma unroll(kMethod == Resize::kNone ? 9 : 1)
#endif
    for (int i = 0; i < taps; ++i) {
        const int y = mirrored(first + i, task.scaled_height);
        if constexpr (kMethod == Resize::kNone)
            sum += task.smoothing.weight[i] * source(x, y);
        else
            sum += task.smoothing.weight[i] *
                   resized<kMethod>(source, task.columns[x], task.rows[y], task.source_width, task.source_height);
    }
    sums[thread] = sum;
}

QC_HD void smooth_row(const Task& task, float* grid, int block_x, int grid_y, int thread, const float* sums) {
    const int taps = task.smoothing.taps;
    const int grid_x = block_x * grid_points_per_block(taps) + thread;
    if (thread >= grid_points_per_block(taps) || grid_x >= task.grid_width) return;
    float sum = 0.0f;
    for (int i = 0; i < taps; ++i) sum += task.smoothing.weight[i] * sums[thread * taps + i];
    grid[static_cast<size_t>(grid_y) * task.grid_width + grid_x] = sum;
}

// ---- analyse --------------------------------------------------------------------------------------------------------

/// Shared memory of a block that analyses a plane.
struct AnalysisMemory {
    float mean[kDimensions];
    Matrix covariance;
    EigenWork eigen;
    FactorWork factor;
};

/// One band-pass coefficient: a sample of the grid less its local mean.
QC_HD float band_pass_sample(const Task& task, const float* grid, int x, int y) {
    const int taps = task.mean.taps, reach = taps / 2;
    float mean = 0.0f;
    for (int i = 0; i < taps; ++i) {
        const int column = mirrored(x + i - reach, task.grid_width);
        float sum = 0.0f;
        for (int k = 0; k < taps; ++k) {
            const int row = mirrored(y + k - reach, task.grid_height);
            sum += task.mean.weight[k] * grid[static_cast<size_t>(row) * task.grid_width + column];
        }
        mean += task.mean.weight[i] * sum;
    }
    return grid[static_cast<size_t>(y) * task.grid_width + x] - mean;
}

/// Mean of one coefficient over all positions of the block.
QC_HD float coefficient_mean(const Task& task, const float* coefficients, int o) {
    const float* first = coefficients + static_cast<size_t>(o / kBlockSide) * task.grid_width + o % kBlockSide;
    float sum = 0.0f;
    for (int y = 0; y < task.windows_y; ++y) {
        const float* row = first + static_cast<size_t>(y) * task.grid_width;
#if defined(__CUDA_ARCH__)
#pragma unroll 8
#endif
        for (int x = 0; x < task.windows_x; ++x) sum += row[x];
    }
    return sum / static_cast<float>(task.windows_x * task.windows_y);
}

/// A thread's share of the covariance: one coefficient against the five of a row of the block, so that each step of a
/// window loads two samples. Rows of coefficients come in pairs (lower >= upper), 15 of them, times five columns.
constexpr int kCovarianceThreads = 15 * kBlockSide;

QC_HD void covariance_share(const Task& task, const float* coefficients, int thread, const float* means,
                            Matrix& covariance) {
    int lower = 0, upper = thread / kBlockSide;
    while (upper > lower) upper -= ++lower;
    const int column = thread % kBlockSide;
    const int a = lower * kBlockSide + column, b = upper * kBlockSide;
    const double mean_a = static_cast<double>(means[a]);
    double mean_b[kBlockSide], sums[kBlockSide];
    QC_UNROLL
    for (int i = 0; i < kBlockSide; ++i) {
        mean_b[i] = static_cast<double>(means[b + i]);
        sums[i] = 0.0;
    }
    for (int y = 0; y < task.windows_y; ++y) {
        const float* row_a = coefficients + static_cast<size_t>(y + lower) * task.grid_width + column;
        const float* row_b = coefficients + static_cast<size_t>(y + upper) * task.grid_width;
        double window[kBlockSide];
        QC_UNROLL
        for (int i = 0; i < kBlockSide - 1; ++i) window[i + 1] = static_cast<double>(row_b[i]);
#if defined(__CUDA_ARCH__)
#pragma unroll 5
#endif
        for (int x = 0; x < task.windows_x; ++x) {
            QC_UNROLL
            for (int i = 0; i < kBlockSide - 1; ++i) window[i] = window[i + 1];
            window[kBlockSide - 1] = static_cast<double>(row_b[x + kBlockSide - 1]);
            const double centred = static_cast<double>(row_a[x]) - mean_a;
            QC_UNROLL
            for (int i = 0; i < kBlockSide; ++i) sums[i] += centred * (window[i] - mean_b[i]);
        }
    }
    const auto count = static_cast<double>(task.windows_x * task.windows_y);
    QC_UNROLL
    for (int i = 0; i < kBlockSide; ++i) {
        const auto value = static_cast<float>(sums[i] / count);
        covariance.at[a][b + i] = value;
        if (lower != upper) covariance.at[b + i][a] = value;
    }
}

/// Everything from the grid to the entropies of one image. Block: a team of all threads of the block, which can also
/// split up: both(f, g) runs f on one warp and g on the other warps, each with a team of its own.
template <class Block>
QC_HD void analyse_image(const Task& task, int pair, int image, const Block& block, AnalysisMemory& memory) {
    const float* const grid = grid_of(task, pair, image);
    float* const coefficients = coefficients_of(task, pair, image);
    block.each(task.grid_width * task.grid_height, [&](int i) {
        coefficients[i] = band_pass_sample(task, grid, i % task.grid_width, i / task.grid_width);
    });
    block.each(kDimensions, [&](int o) { memory.mean[o] = coefficient_mean(task, coefficients, o); });
    block.each(kCovarianceThreads,
               [&](int thread) { covariance_share(task, coefficients, thread, memory.mean, memory.covariance); });
    block.each(kDimensions * kDimensions, [&](int i) {
        memory.eigen.a.at[i / kDimensions][i % kDimensions] = memory.covariance.at[i / kDimensions][i % kDimensions];
    });
    block.both([&](const auto& team) { find_eigenvalues(team, memory.eigen); },
               [&](const auto& team) { factorise(team, memory.covariance, memory.factor); });
    const bool regular = memory.eigen.regular && memory.factor.regular;
    BlockStatistics* const statistics = statistics_of(task, pair, image);
    block.each(task.blocks_x * task.blocks_y, [&](int index) {
        const int x = index % task.blocks_x * kBlockSide, y = index / task.blocks_x * kBlockSide;
        const auto sample = [&](int o) {
            return coefficients[static_cast<size_t>(y + o / kBlockSide) * task.grid_width + x + o % kBlockSide];
        };
        BlockStatistics result;
        result.energy = regular ? block_energy(memory.factor, sample) : 0.0f;
        result.entropy = block_entropy(memory.eigen.diagonal, result.energy, task.noise);
        statistics[index] = result;
    });
    block.once([&] { *singular_of(task, pair, image) = regular ? 0 : 1; });
}

// ---- compare --------------------------------------------------------------------------------------------------------

/// Score `score` of a pair from images 2 * score and 2 * score + 1; the first one's grid serves as a list of terms.
template <class Block>
QC_HD void compare_images(const Task& task, int pair, int score, const Block& block, uint64_t* words) {
    const BlockStatistics* const reference = statistics_of(task, pair, 2 * score);
    const BlockStatistics* const distorted = statistics_of(task, pair, 2 * score + 1);
    const int reference_singular = *singular_of(task, pair, 2 * score);
    const int distorted_singular = *singular_of(task, pair, 2 * score + 1);
    float* const terms = grid_of(task, pair, 2 * score);
    const int blocks = task.blocks_x * task.blocks_y;
    block.each(blocks, [&](int i) {
        terms[i] = entropy_difference(reference[i], distorted[i], task.weight_mode, task.visible_entropy);
    });
    block.once([&] {
        float sum = 0.0f;
        if (reference_singular == distorted_singular) {
#if defined(__CUDA_ARCH__)
#pragma unroll 8
#endif
            for (int i = 0; i < blocks; ++i) sum += terms[i];
            sum /= static_cast<float>(blocks);
        }
        words[kWordsPerPlane * score + kScoreBits] = score_bits(sum);
        words[kWordsPerPlane * score + kSingular] = reference_singular != 0 || distorted_singular != 0;
    });
}

} // namespace qc::speed
