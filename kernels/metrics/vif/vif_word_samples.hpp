// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples of 16 bits for the bands of vif_bands.hpp, and their way down the columns: those of scale 1, and those of
// pictures of 9 to 12 bits, moved up so that 16 bits are in use. Then every sum of either loses its 16 lowest bits
// (vertical_shifts()), whatever the depth.
#pragma once

#include "metrics/vif/vif_band_operands.hpp"

namespace qc::vif {

/// One picture's samples of a step, of columns lane / 4 and 8 + lane / 4 of 16. A word has those of rows 8 q + 2 group
/// and, in its upper half, 8 q + 2 group + 1.
/// @tparam kZeroBytes how many of the lowest bytes of two samples' products are zero
template <int kZeroBytes>
struct StepWords {
    uint32_t pairs[2][4];
};

/// The factors of products of samples.
template <int kZeroBytes>
struct WordProducts {
    const StepWords<kZeroBytes>&a, &b;
};

template <int kZeroBytes>
QC_HD WordProducts<kZeroBytes> multiply(const StepWords<kZeroBytes>& a, const StepWords<kZeroBytes>& b) {
    return {a, b};
}

// ---- how samples are read -------------------------------------------------------------------------------------------

/// What brings a plane's samples, two in a word, to the upper bits of 16.
struct MoveUp {
    uint32_t mask;
    int bits;

    QC_HD MoveUp(int depth, int shift)
        : mask((0xffffu >> (16 - depth) << shift) * 0x10001u), bits(16 - depth - shift) {}
    QC_HD uint32_t operator()(uint32_t two) const { return (two & mask) << bits; }
};

/// Pictures of 9 to 12 bits. The products of their samples have 24 bits, moved up by 8.
class WordInput {
public:
    static constexpr int kScale = 0, kLargestDepth = 12;
    static constexpr SampleOrder kOrderAlong = SampleOrder::kHalves;
    static constexpr int kRowBytes = device::kStagedRowBytes;
    /// 8 columns of a picture after the other.
    static constexpr int kColumnsBytes = device::kStagedRows * kRowBytes, kPictureBytes = 2 * kColumnsBytes;
    static constexpr int kStageBytes = 2 * kPictureBytes;

    /// @param first_row of the picture, which may lie outside: lane 0's
    QC_HD WordInput(const ScaleArguments& scale, int pair, int first_row, int lane)
        : WordInput(PictureSource<uint16_t>(scale, pair), scale.depth, first_row + lane) {}

    /// Begins to copy columns x to x + 15 (x: a multiple of 8) to this lane's row of a stage.
    template <Pictures kPictures>
    QC_HD void begin(int x, uint8_t* to) const {
        constexpr bool kBoth = kPictures == Pictures::kBoth;
        if (is_aligned_ && x >= 0 && x + kStepColumns <= width_) {
            QC_UNROLL for (int i = 0; i < 2; ++i) {
                device::begin_copy_of_16(to + i * kColumnsBytes, reference_ + x + 8 * i, true);
                if constexpr (kBoth)
                    device::begin_copy_of_16(to + kPictureBytes + i * kColumnsBytes, distorted_ + x + 8 * i, true);
            }
        } else {
            QC_UNROLL_BY(2)
            for (int i = 0; i < kStepColumns; ++i) {
                const int from = reflect_inside(x + i, width_);
                auto* const sample = reinterpret_cast<uint16_t*>(to + i / 8 * kColumnsBytes) + i % 8;
                *sample = read_global(reference_ + from);
                if constexpr (kBoth) sample[kPictureBytes / 2] = read_global(distorted_ + from);
            }
        }
    }

    template <Which kWhich, class Block>
    QC_HD StepWords<1> read(Block& block, const uint8_t* stage) const {
        constexpr bool kDistorted = kWhich == Which::kDistorted;
        const MoveUp& move_up = kDistorted ? move_distorted_ : move_reference_;
        StepWords<1> samples;
        QC_UNROLL for (int j = 0; j < 2; ++j) {
            device::read_byte_pairs(block, stage + (kDistorted ? kPictureBytes : 0) + j * kColumnsBytes,
                                    samples.pairs[j]);
            QC_UNROLL for (int q = 0; q < 4; ++q) samples.pairs[j][q] = move_up(samples.pairs[j][q]);
        }
        return samples;
    }

private:
    QC_HD WordInput(const PictureSource<uint16_t>& source, int depth, int y)
        : width_(source.width), move_reference_(depth, source.reference_shift),
          move_distorted_(depth, source.distorted_shift) {
        const auto row = static_cast<ptrdiff_t>(reflect_inside(y, source.height));
        reference_ = source.reference + row * source.reference_pitch;
        distorted_ = source.distorted + row * source.distorted_pitch;
        is_aligned_ = ((reinterpret_cast<uintptr_t>(reference_) | reinterpret_cast<uintptr_t>(distorted_)) & 15) == 0;
    }

    const uint16_t *reference_, *distorted_;
    int width_;
    bool is_aligned_;
    MoveUp move_reference_, move_distorted_;
};

/// The packed pictures of scale 1, both of which one copy brings. Its windows need 24 rows.
class PackedInput {
public:
    static constexpr int kScale = 1;
    static constexpr SampleOrder kOrderAlong = SampleOrder::kHalves;
    static constexpr int kRows = kBandRows + 2 * kRadius<kScale>;
    /// 16 words, and room so that the words of every other row, which a warp reads at once, lie in different banks.
    static constexpr int kRowWords = 20;
    static constexpr int kRowBytes = kRowWords * static_cast<int>(sizeof(uint32_t)), kStageBytes = kRows * kRowBytes;

    QC_HD PackedInput(const ScaleArguments& scale, int pair, int first_row, int lane)
        : width_(scale.width), copies_(lane < kRows) {
        const PackedSource source(scale, pair);
        row_ = source.samples + static_cast<ptrdiff_t>(reflect_inside(first_row + lane, source.height)) * source.pitch;
    }

    /// Begins to copy columns x to x + 15 (x: a multiple of 4) to this lane's row of a stage.
    template <Pictures kPictures>
    QC_HD void begin(int x, uint8_t* to) const {
        if (!copies_) return;
        auto* const words = reinterpret_cast<uint32_t*>(to);
        if (x >= 0 && x + kStepColumns <= width_) {
            QC_UNROLL for (int i = 0; i < kStepColumns; i += 4) device::begin_copy_of_16(words + i, row_ + x + i, true);
        } else {
            QC_UNROLL_BY(2)
            for (int i = 0; i < kStepColumns; ++i) words[i] = read_global(row_ + reflect_inside(x + i, width_));
        }
    }

    template <Which kWhich, class Block>
    QC_HD StepWords<0> read(Block& block, const uint8_t* stage) const {
        constexpr uint32_t kSelector = kWhich == Which::kReference ? 0x5410 : 0x7632;
        const auto* const words =
            reinterpret_cast<const uint32_t*>(stage) + block.lane() % 4 * 2 * kRowWords + block.lane() / 4;
        StepWords<0> samples{}; // zero where there is no row
        QC_UNROLL for (int j = 0; j < 2; ++j) QC_UNROLL for (int q = 0; q < kRows / 8; ++q) {
            const uint32_t* word = words + 8 * q * kRowWords + 8 * j;
            samples.pairs[j][q] = select_bytes(word[0], word[kRowWords], kSelector);
        }
        return samples;
    }

private:
    const uint32_t* row_;
    int width_;
    bool copies_;
};

// ---- down the columns -----------------------------------------------------------------------------------------------

/// Operands of the 32 rows of a step's columns: a byte of each sample.
template <int kZeroBytes>
QC_HD MatrixBytes bytes_of(const StepWords<kZeroBytes>& samples, int j, bool is_high) {
    const uint32_t(&pairs)[4] = samples.pairs[j];
    const uint32_t selector = is_high ? 0x7531 : 0x6420;
    return {{select_bytes(pairs[0], pairs[1], selector), select_bytes(pairs[2], pairs[3], selector)}};
}

template <class Block, int kZeroBytes>
QC_HD void filter_down(Block& block, const BandWeights& weights, const StepWords<kZeroBytes>& samples,
                       FilteredMeans& means) {
    StepValues values;
    QC_UNROLL for (int j = 0; j < 2; ++j) {
        const MatrixSums sums =
            weigh_two_bytes(block, weights, bytes_of(samples, j, false), bytes_of(samples, j, true));
        QC_UNROLL for (int i = 0; i < 4; ++i) values[j][i / 2][i % 2] = sums.words[i] + 32768;
    }
    keep_means<2>(values, means);
}

template <class Block, int kZeroBytes>
QC_HD void filter_down(Block& block, const BandWeights& weights, const WordProducts<kZeroBytes>& factors,
                       FilteredProducts& means) {
    StepValues values;
    QC_UNROLL for (int j = 0; j < 2; ++j) {
        MatrixBytes bytes[4];
        QC_UNROLL for (int half = 0; half < 2; ++half) {
            uint32_t products[2][2]; // of the lower and the upper half of a word, by word
            QC_UNROLL for (int i = 0; i < 2; ++i) {
                const uint32_t a = factors.a.pairs[j][2 * half + i], b = factors.b.pairs[j][2 * half + i];
                products[0][i] = (a & 0xffff) * (b & 0xffff);
                products[1][i] = (a >> 16) * (b >> 16);
            }
            take_two_bytes<0>(products[0], products[1], bytes[0].words[half], bytes[1].words[half]);
            take_two_bytes<2>(products[0], products[1], bytes[2].words[half], bytes[3].words[half]);
        }
        const MatrixSums sums = weigh_four_bytes<kZeroBytes>(block, weights, bytes);
        QC_UNROLL for (int i = 0; i < 4; ++i) values[j][i / 2][i % 2] = sums.words[i];
    }
    keep_products(values, means);
}

template <class Block, int kZeroBytes>
QC_HD void decimate_down(Block& block, const BandWeights& weights, const StepWords<kZeroBytes>& samples,
                         FilteredRows& rows) {
    uint32_t values[2][2];
    QC_UNROLL for (int j = 0; j < 2; ++j) {
        weigh_every_other(block, weights, bytes_of(samples, j, false), bytes_of(samples, j, true), values[j]);
        QC_UNROLL for (int i = 0; i < 2; ++i) values[j][i] += 32768;
    }
    keep_rows<2>(values, rows);
}

} // namespace qc::vif
