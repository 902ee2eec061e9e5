// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples of 8 bits for the bands of vif_bands.hpp, and their way down the columns.
#pragma once

#include "metrics/vif/vif_band_operands.hpp"

namespace qc::vif {

/// One picture's samples of a step, and the products of two pictures' samples: of the even and of the odd columns.
struct StepBytes {
    MatrixBytes columns[2];
};

/// The row that a lane copies, and how the warp reads all of them.
class ByteInput {
public:
    static constexpr int kScale = 0;
    static constexpr SampleOrder kOrderAlong = SampleOrder::kNeighbours;
    static constexpr int kRowBytes = device::kStagedRowBytes;
    static constexpr int kPictureBytes = device::kStagedRows * kRowBytes, kStageBytes = 2 * kPictureBytes;

    /// @param first_row of the picture, which may lie outside: lane 0's
    QC_HD ByteInput(const ScaleArguments& scale, int pair, int first_row, int lane) : width_(scale.width) {
        const PictureSource<uint8_t> source(scale, pair);
        const auto row = static_cast<ptrdiff_t>(reflect_inside(first_row + lane, source.height));
        reference_ = source.reference + row * source.reference_pitch;
        distorted_ = source.distorted + row * source.distorted_pitch;
        is_aligned_ = ((reinterpret_cast<uintptr_t>(reference_) | reinterpret_cast<uintptr_t>(distorted_)) & 7) == 0;
    }

    /// Begins to copy columns x to x + 15 (x: a multiple of 8) to this lane's row of a stage.
    template <Pictures kPictures>
    QC_HD void begin(int x, uint8_t* to) const {
        constexpr bool kBoth = kPictures == Pictures::kBoth;
        if (is_aligned_ && x >= 0 && x + kStepColumns <= width_) {
            QC_UNROLL for (int i = 0; i < kStepColumns; i += 8) {
                device::begin_copy_of_8(to + i, reference_ + x + i);
                if constexpr (kBoth) device::begin_copy_of_8(to + kPictureBytes + i, distorted_ + x + i);
            }
        } else {
            QC_UNROLL_BY(4)
            for (int i = 0; i < kStepColumns; ++i) {
                const int from = reflect_inside(x + i, width_);
                to[i] = read_global(reference_ + from);
                if constexpr (kBoth) to[kPictureBytes + i] = read_global(distorted_ + from);
            }
        }
    }

    template <Which kWhich, class Block>
    QC_HD StepBytes read(Block& block, const uint8_t* stage) const {
        uint32_t pairs[4];
        device::read_byte_pairs(block, stage + (kWhich == Which::kDistorted ? kPictureBytes : 0), pairs);
        StepBytes samples;
        QC_UNROLL for (int half = 0; half < 2; ++half) {
            samples.columns[0].words[half] = select_bytes(pairs[2 * half], pairs[2 * half + 1], 0x6420);
            samples.columns[1].words[half] = select_bytes(pairs[2 * half], pairs[2 * half + 1], 0x7531);
        }
        return samples;
    }

private:
    const uint8_t *reference_, *distorted_;
    int width_;
    bool is_aligned_;
};

/// Low and high bytes of products of samples.
struct ByteProducts {
    StepBytes low, high;
};

QC_HD ByteProducts multiply(const StepBytes& a, const StepBytes& b) {
    ByteProducts products;
    QC_UNROLL for (int j = 0; j < 2; ++j) QC_UNROLL for (int half = 0; half < 2; ++half) {
        // Two products of neighbours in a word: those of bytes 0 and 1, and of bytes 2 and 3.
        const uint32_t x = a.columns[j].words[half], y = b.columns[j].words[half], x2 = x >> 16, y2 = y >> 16;
        const uint32_t lower = (x & 0xff) * (y & 0xff) + (x & 0xff00) * (y & 0xff00);
        const uint32_t upper = (x2 & 0xff) * (y2 & 0xff) + (x2 & 0xff00) * (y2 & 0xff00);
        products.low.columns[j].words[half] = select_bytes(lower, upper, 0x6420);
        products.high.columns[j].words[half] = select_bytes(lower, upper, 0x7531);
    }
    return products;
}

template <class Block>
QC_HD void filter_down(Block& block, const BandWeights& weights, const StepBytes& samples, FilteredMeans& means) {
    StepValues values;
    QC_UNROLL for (int j = 0; j < 2; ++j) {
        const MatrixSums low = product(block, weights.low, samples.columns[j]);
        const MatrixSums high = product(block, weights.high, samples.columns[j]);
        QC_UNROLL for (int i = 0; i < 4; ++i) values[j][i / 2][i % 2] = high.words[i] * 256 + (low.words[i] + 128);
    }
    keep_means<1>(values, means);
}

template <class Block>
QC_HD void filter_down(Block& block, const BandWeights& weights, const ByteProducts& products,
                       FilteredProducts& means) {
    StepValues values;
    QC_UNROLL for (int j = 0; j < 2; ++j) {
        const MatrixSums sums = weigh_two_bytes(block, weights, products.low.columns[j], products.high.columns[j]);
        QC_UNROLL for (int i = 0; i < 4; ++i) values[j][i / 2][i % 2] = sums.words[i];
    }
    keep_products(values, means);
}

template <class Block>
QC_HD void decimate_down(Block& block, const BandWeights& weights, const StepBytes& samples, FilteredRows& rows) {
    uint32_t values[2][2];
    QC_UNROLL for (int j = 0; j < 2; ++j) {
        const MatrixSums sums = product(block, weights.next, samples.columns[j]);
        QC_UNROLL for (int i = 0; i < 2; ++i) values[j][i] = sums.words[2 + i] * 256 + (sums.words[i] + 128);
    }
    keep_rows<1>(values, rows);
}

} // namespace qc::vif
