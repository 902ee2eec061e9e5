// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of both SpEED metrics. Where samples come from is a Source, of which each metric has its own.
//
//   decimate    samples -> grid: smoothing at every 16th sample only, vertically, then horizontally
//   band_pass   grid -> coefficients and their means: a block of threads per plane, for a mean is one sum in one order
//   covariance  coefficients -> sums of products: a block per plane and group of rows of windows
//   analyse     covariance -> eigenvalues, by one block of a plane, and energies, by another
//   compare     two planes -> entropies -> score
//
// A pair has some images (chroma: two planes of two pictures; temporal: two differences). Images 2 p and 2 p + 1 are
// the reference's and the distorted one of score p.
#pragma once

#include "device/block.hpp"
#include "device/borders.hpp"
#include "device/kernel_list.hpp"
#include "device/plane_reader.hpp"
#include "families/speed/speed_linear.hpp"
#include "families/speed/speed_tuning.hpp"

namespace qc::speed {
/// Scratch memory of one image.
struct ImageLayout {
    size_t image_bytes = 0; ///< from image to image
    size_t coefficients = 0, means = 0, products = 0, eigenvalues = 0,
           statistics = 0; ///< byte offsets; the grid is at 0
};

/// Arguments of all kernels.
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
    int difference_to_reference; ///< in time: the distorted difference takes the current reference
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
QC_HD float* means_of(const Task& task, int pair, int image) {
    return reinterpret_cast<float*>(image_memory(task, pair, image) + task.layout.means);
}
QC_HD double* products_of(const Task& task, int pair, int image) {
    return reinterpret_cast<double*>(image_memory(task, pair, image) + task.layout.products);
}
QC_HD BlockStatistics* statistics_of(const Task& task, int pair, int image) {
    return reinterpret_cast<BlockStatistics*>(image_memory(task, pair, image) + task.layout.statistics);
}
/// What two blocks find out about an image, beside the energies.
struct Eigenvalues {
    float at[kDimensions];
    int32_t regular, factor_regular; ///< bools: whether eigenvalues and pivots are large enough

    QC_HD bool is_regular() const { return regular != 0 && factor_regular != 0; }
};
QC_HD Eigenvalues* eigenvalues_of(const Task& task, int pair, int image) {
    return reinterpret_cast<Eigenvalues*>(image_memory(task, pair, image) + task.layout.eigenvalues);
}

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
    const int x = mirror_without_edges(grid_x * kDecimation + tap - reach, task.scaled_width);
    const int first = grid_y * kDecimation - reach;
    float sum = 0.0f;
#if defined(__CUDA_ARCH__)
#pragma unroll(kMethod == Resize::kNone ? 9 : 1)
#endif
    for (int i = 0; i < taps; ++i) {
        const int y = mirror_without_edges(first + i, task.scaled_height);
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

/// grid: (groups of grid columns, grid rows x images, pairs)
/// @tparam Source has operator()(x, y): a sample on the scale of 8 bits; exists(task, pair): whether there is something
///                to score; and a constructor that takes a task, a pair and an image
template <Resize kMethod, class Source>
struct Decimate : device::KernelOf<Task, kTuning.decimate_threads> {
    template <class Block>
    QC_HD static void run(Block& block, const Task& task) {
        auto& sums = device::shared<float[Block::kThreads]>(block);
        const int pair = block.z(), image = block.y() / task.grid_height, grid_y = block.y() % task.grid_height;
        if (!Source::exists(task, pair)) return;
        const Source source(task, pair, image);
        smooth_column<kMethod>(task, source, block.x(), grid_y, block.thread(), sums);
        block.sync();
        smooth_row(task, grid_of(task, pair, image), block.x(), grid_y, block.thread(), sums);
    }
};

// ---- band pass ------------------------------------------------------------------------------------------------------

/// Coefficients of a plane that a block keeps in shared memory, where the sums of means read them; those of larger
/// planes are read from global memory.
constexpr int kKeptCoefficients = 11776;
struct KeptCoefficients {
    float at[kKeptCoefficients];
};

/// One band-pass coefficient: a sample of the grid less its local mean.
QC_HD float band_pass_sample(const Task& task, const float* grid, int x, int y) {
    const int taps = task.mean.taps, reach = taps / 2;
    float mean = 0.0f;
    for (int i = 0; i < taps; ++i) {
        const int column = mirror_without_edges(x + i - reach, task.grid_width);
        float sum = 0.0f;
        for (int k = 0; k < taps; ++k) {
            const int row = mirror_without_edges(y + k - reach, task.grid_height);
            sum += task.mean.weight[k] * grid[static_cast<size_t>(row) * task.grid_width + column];
        }
        mean += task.mean.weight[i] * sum;
    }
    return grid[static_cast<size_t>(y) * task.grid_width + x] - mean;
}

/// Mean of one coefficient over all positions of the block, which are added up in their order. A device loads the next
/// samples of a row while it adds these, for each addition waits for the one before.
QC_HD float coefficient_mean(const Task& task, const float* coefficients, int o) {
    constexpr int kAhead = 16;
    const float* first = coefficients + static_cast<size_t>(o / kBlockSide) * task.grid_width + o % kBlockSide;
    const int width = task.windows_x;
    float sum = 0.0f;
    for (int y = 0; y < task.windows_y; ++y) {
        const float* row = first + static_cast<size_t>(y) * task.grid_width;
        float next[kAhead];
        QC_UNROLL
        for (int i = 0; i < kAhead; ++i) next[i] = i < width ? row[i] : 0.0f;
        for (int x = 0; x < width; x += kAhead) {
            float now[kAhead];
            QC_UNROLL
            for (int i = 0; i < kAhead; ++i) {
                now[i] = next[i];
                next[i] = x + kAhead + i < width ? row[x + kAhead + i] : 0.0f;
            }
            QC_UNROLL
            for (int i = 0; i < kAhead; ++i)
                if (x + i < width) sum += now[i];
        }
    }
    return sum / static_cast<float>(task.windows_x * task.windows_y);
}

template <class Block>
QC_HD void filter_image(Block& block, const Task& task, int pair, int image) {
    auto& kept = device::shared<KeptCoefficients>(block);
    const float* const grid = grid_of(task, pair, image);
    float* const coefficients = coefficients_of(task, pair, image);
    float* const means = means_of(task, pair, image);
    const int count = task.grid_width * task.grid_height;
    const bool fits = count <= kKeptCoefficients;
    block.each(count, [&](int i) {
        const float coefficient = band_pass_sample(task, grid, i % task.grid_width, i / task.grid_width);
        coefficients[i] = coefficient;
        if (fits) kept.at[i] = coefficient;
    });
    block.each(kDimensions, [&](int o) {
        means[o] = fits ? coefficient_mean(task, kept.at, o) : coefficient_mean(task, coefficients, o);
    });
}

/// grid: (images, 1, pairs)
template <class Source>
struct BandPass : device::KernelOf<Task, kTuning.band_pass_threads> {
    static constexpr bool kCollective = true;

    template <class Block>
    QC_HD static void run(Block& block, const Task& task) {
        if (Source::exists(task, block.z())) filter_image(block, task, block.z(), block.x());
    }
};

// ---- covariance -----------------------------------------------------------------------------------------------------

/// A share of the covariance: one coefficient against the five of a row of the block, so that each step of a window
/// loads two samples. Rows of coefficients come in pairs (lower >= upper), 15 of them, times five columns.
constexpr int kCovarianceShares = 15 * kBlockSide;
constexpr int kProducts = kCovarianceShares * kBlockSide; ///< sums of a group of rows

struct CovarianceShare {
    int lower = 0, upper, column;

    QC_HD explicit CovarianceShare(int index) : upper(index / kBlockSide), column(index % kBlockSide) {
        while (upper > lower) upper -= ++lower;
    }
    QC_HD int a() const { return lower * kBlockSide + column; }
    QC_HD int b() const { return upper * kBlockSide; } ///< the first of five
};

/// Product sums of one share over the windows of a group of rows. The sums of all shares with the same place in the
/// five lie side by side.
QC_HD void sum_products(const Task& task, const float* coefficients, const float* means, int group, int index,
                        double* products) {
    const CovarianceShare share(index);
    const int lower = share.lower, upper = share.upper, column = share.column, a = share.a(), b = share.b();
    const double mean_a = static_cast<double>(means[a]);
    double mean_b[kBlockSide], sums[kBlockSide];
    QC_UNROLL
    for (int i = 0; i < kBlockSide; ++i) {
        mean_b[i] = static_cast<double>(means[b + i]);
        sums[i] = 0.0;
    }
    const int end = first_of_group(group + 1, task.windows_y);
    for (int y = first_of_group(group, task.windows_y); y < end; ++y) {
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
    QC_UNROLL
    for (int i = 0; i < kBlockSide; ++i) products[(group * kBlockSide + i) * kCovarianceShares + index] = sums[i];
}

/// grid: (images, kCovarianceGroups, pairs)
template <class Source>
struct Covariance : device::KernelOf<Task, kTuning.covariance_threads> {
    static constexpr bool kCollective = true;

    template <class Block>
    QC_HD static void run(Block& block, const Task& task) {
        const int pair = block.z(), image = block.x(), group = block.y();
        if (!Source::exists(task, pair)) return;
        block.each(kCovarianceShares, [&](int share) {
            sum_products(task, coefficients_of(task, pair, image), means_of(task, pair, image), group, share,
                         products_of(task, pair, image));
        });
    }
};

// ---- analyse --------------------------------------------------------------------------------------------------------

/// One element of the covariance, with its mirror image, from the sums of all groups. index: of a sum within a group
QC_HD void covariance_element(const Task& task, const double* products, int index, Matrix& covariance) {
    const CovarianceShare share(index % kCovarianceShares);
    double sum = 0.0;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int group = 0; group < kCovarianceGroups; ++group) sum += products[group * kProducts + index];
    const auto value = static_cast<float>(sum / static_cast<double>(task.windows_x * task.windows_y));
    const int a = share.a(), b = share.b() + index / kCovarianceShares;
    covariance.at[a][b] = value;
    if (share.lower != share.upper) covariance.at[b][a] = value;
}

/// The covariance of an image.
template <class Block>
QC_HD void load_covariance(Block& block, const Task& task, int pair, int image, Matrix& covariance) {
    const double* const products = products_of(task, pair, image);
    block.each(kProducts, [&](int i) { covariance_element(task, products, i, covariance); });
}

/// The eigenvalues of one image's covariance: a chain of rotations, which one warp goes along.
template <class Block>
QC_HD void find_image_eigenvalues(Block& block, const Task& task, int pair, int image) {
    auto& work = device::shared<EigenWork>(block);
    load_covariance(block, task, pair, image, work.a);
    block.both([&](const auto& team) { find_eigenvalues<DeviceStep>(team, work); }, [](const auto&) {});
    Eigenvalues* const found = eigenvalues_of(task, pair, image);
    block.each(kDimensions, [&](int k) { found->at[k] = work.diagonal[k]; });
    block.once([&] { found->regular = work.regular ? 1 : 0; });
}

/// Room for the energies of an image.
struct EnergyWork {
    Matrix covariance;
    FactorWork factor;
};

/// The energies of one image's blocks, which mean nothing if it turns out not to be regular.
template <class Block>
QC_HD void find_image_energies(Block& block, const Task& task, int pair, int image) {
    auto& work = device::shared<EnergyWork>(block);
    load_covariance(block, task, pair, image, work.covariance);
    factorise(block, work.covariance, work.factor);
    const float* const coefficients = coefficients_of(task, pair, image);
    BlockStatistics* const statistics = statistics_of(task, pair, image);
    block.each(task.blocks_x * task.blocks_y, [&](int index) {
        const int x = index % task.blocks_x * kBlockSide, y = index / task.blocks_x * kBlockSide;
        statistics[index].energy = block_energy(work.factor, [&](int o) {
            return coefficients[static_cast<size_t>(y + o / kBlockSide) * task.grid_width + x + o % kBlockSide];
        });
    });
    block.once([&] { eigenvalues_of(task, pair, image)->factor_regular = work.factor.regular ? 1 : 0; });
}

/// Two blocks an image, for neither waits for the other. grid: (images, 2, pairs)
template <class Source>
struct Analyse : device::KernelOf<Task, kTuning.analyse_threads> {
    static constexpr bool kCollective = true;

    template <class Block>
    QC_HD static void run(Block& block, const Task& task) {
        if (!Source::exists(task, block.z())) return;
        if (block.y() == 0)
            find_image_eigenvalues(block, task, block.z(), block.x());
        else
            find_image_energies(block, task, block.z(), block.x());
    }
};

// ---- compare --------------------------------------------------------------------------------------------------------

/// Score `score` of a pair from images 2 * score and 2 * score + 1; the first one's grid serves as a list of terms.
template <class Block>
QC_HD void compare_images(Block& block, const Task& task, int pair, int score, uint64_t* words) {
    const int blocks = task.blocks_x * task.blocks_y;
    block.each(2 * blocks, [&](int i) {
        const int image = 2 * score + (i < blocks ? 0 : 1);
        const Eigenvalues* const eigenvalues = eigenvalues_of(task, pair, image);
        BlockStatistics& result = statistics_of(task, pair, image)[i < blocks ? i : i - blocks];
        if (!eigenvalues->is_regular()) result.energy = 0.0f;
        result.entropy = block_entropy(eigenvalues->at, result.energy, task.noise);
    });
    const BlockStatistics* const reference = statistics_of(task, pair, 2 * score);
    const BlockStatistics* const distorted = statistics_of(task, pair, 2 * score + 1);
    const bool reference_regular = eigenvalues_of(task, pair, 2 * score)->is_regular();
    const bool distorted_regular = eigenvalues_of(task, pair, 2 * score + 1)->is_regular();
    float* const terms = grid_of(task, pair, 2 * score);
    block.each(blocks, [&](int i) {
        terms[i] = entropy_difference(reference[i], distorted[i], task.weight_mode, task.visible_entropy);
    });
    block.once([&] {
        float sum = 0.0f;
        if (reference_regular == distorted_regular) {
#if defined(__CUDA_ARCH__)
#pragma unroll 8
#endif
            for (int i = 0; i < blocks; ++i) sum += terms[i];
            sum /= static_cast<float>(blocks);
        }
        words[kWordsPerPlane * score + kScoreBits] = score_bits(sum);
        words[kWordsPerPlane * score + kSingular] = !reference_regular || !distorted_regular;
    });
}

/// grid: (scores, 1, pairs). Pairs with nothing to score leave their words zero.
template <class Source>
struct Compare : device::KernelOf<Task, kTuning.compare_threads> {
    static constexpr bool kCollective = true;

    template <class Block>
    QC_HD static void run(Block& block, const Task& task) {
        const int pair = block.z();
        if (!Source::exists(task, pair)) return;
        uint64_t* const words =
            task.accumulators + static_cast<size_t>(task.pairs[pair].output) * (kWordsPerPlane * task.images / 2);
        compare_images(block, task, pair, block.x(), words);
    }
};

// ---- lists ----------------------------------------------------------------------------------------------------------

#define QC_SPEED_DECIMATE_KERNELS(KERNEL, suffix, ...)                                                                 \
    KERNEL(speed_decimate_##suffix##_plain, speed::Decimate<Resize::kNone, __VA_ARGS__>)                               \
    KERNEL(speed_decimate_##suffix##_nearest, speed::Decimate<Resize::kNearest, __VA_ARGS__>)                          \
    KERNEL(speed_decimate_##suffix##_bilinear, speed::Decimate<Resize::kBilinear, __VA_ARGS__>)                        \
    KERNEL(speed_decimate_##suffix##_bicubic, speed::Decimate<Resize::kBicubic, __VA_ARGS__>)                          \
    KERNEL(speed_decimate_##suffix##_lanczos4, speed::Decimate<Resize::kLanczos4, __VA_ARGS__>)

/// The list of a metric whose Source<T> reads samples of type T.
#define QC_SPEED_KERNELS(KERNEL, Source)                                                                               \
    QC_SPEED_DECIMATE_KERNELS(KERNEL, u8, Source<uint8_t>)                                                             \
    QC_SPEED_DECIMATE_KERNELS(KERNEL, u16, Source<uint16_t>)                                                           \
    KERNEL(speed_band_pass, speed::BandPass<Source<uint8_t>>)                                                          \
    KERNEL(speed_covariance, speed::Covariance<Source<uint8_t>>)                                                       \
    KERNEL(speed_analyse, speed::Analyse<Source<uint8_t>>)                                                             \
    KERNEL(speed_compare, speed::Compare<Source<uint8_t>>)

/// What a scorer finds a metric's kernels by.
struct KernelSet {
    KernelIdentifier<Task> decimate[2][5]; ///< of 8 and 16 bits, in the order of Resize
    KernelIdentifier<Task> band_pass, covariance, analyse, compare;
};

#define QC_SPEED_DECIMATE_SET(suffix)                                                                                  \
    {                                                                                                                  \
        kernels::speed_decimate_##suffix##_plain, kernels::speed_decimate_##suffix##_nearest,                          \
            kernels::speed_decimate_##suffix##_bilinear, kernels::speed_decimate_##suffix##_bicubic,                   \
            kernels::speed_decimate_##suffix##_lanczos4                                                                \
    }
/// The KernelSet of a metric, in the metric's namespace.
#define QC_SPEED_KERNEL_SET                                                                                            \
    {                                                                                                                  \
        {QC_SPEED_DECIMATE_SET(u8), QC_SPEED_DECIMATE_SET(u16)}, kernels::speed_band_pass, kernels::speed_covariance,  \
            kernels::speed_analyse, kernels::speed_compare                                                             \
    }

} // namespace qc::speed
