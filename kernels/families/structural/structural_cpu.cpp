// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/structural/structural_cpu.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>

#include "contract/helpers.hpp"
#include "device/cpu_clones.hpp"
#include "device/mask.hpp"
#include "families/structural/structural_plan.hpp"

namespace qc::structural {
namespace {

// ---- the window -----------------------------------------------------------------------------------------------------
//
// A tap's product is the same for two of a sample's eleven results: it is made and widened once for both. Results come
// in blocks, so that what is between the two directions stays in the first caches.

constexpr int kColumns = 192, kRows = 48; ///< of a block
constexpr int kReach = kRows + kMargin;   ///< rows that its windows cover

/// Neighbouring columns.
constexpr int kLanes = 8;
typedef float Samples __attribute__((vector_size(kLanes * sizeof(float))));
typedef double Sums __attribute__((vector_size(kLanes * sizeof(double))));

template <int kCount>
struct alignas(64) Row {
    float of[kCount];
};

/// Products of a row's samples, by tap.
struct alignas(64) Products {
    double of[kDistinctTaps][kColumns + kMargin + kLanes];
};

/// Vectors go by reference: how they go by value depends on the instruction set.
QC_INLINE_HELPER void load(const float* from, Samples* samples) {
    std::memcpy(samples, from, sizeof *samples);
}

QC_INLINE_HELPER void store(const Sums& sums, float* to) {
    const Samples rounded = __builtin_convertvector(sums, Samples);
    std::memcpy(to, &rounded, sizeof rounded);
}

/// A row of samples to `columns` results, and up to kLanes - 1 more.
QC_CPU_CLONES void filter_along(const float* samples, int columns, Products* __restrict products,
                                float* __restrict results) {
    for (int x = 0; x < columns + kMargin; x += kLanes) {
        Samples values;
        load(samples + x, &values);
        QC_UNROLL for (int k = 0; k < kDistinctTaps; ++k) {
            const Sums widened = __builtin_convertvector(values * window_tap(k), Sums);
            std::memcpy(products->of[k] + x, &widened, sizeof widened);
        }
    }
    for (int x = 0; x < columns; x += kLanes) {
        Sums sums = {};
        QC_UNROLL for (int k = 0; k < kTaps; ++k) {
            Sums addend;
            std::memcpy(&addend, products->of[k < kDistinctTaps ? k : kMargin - k] + x + k, sizeof addend);
            sums = sums + addend;
        }
        store(sums, results + x);
    }
}

/// Down the columns, from rows + kMargin rows. Sums of the results that a row is part of move up by one with every row.
QC_CPU_CLONES void filter_down(const Row<kColumns>* samples, int columns, int rows, Row<kColumns>* __restrict results) {
    for (int x = 0; x < columns; x += kLanes) {
        Sums sums[kMargin] = {};
        for (int y = 0; y < rows + kMargin; ++y) {
            Samples values;
            load(samples[y].of + x, &values);
            Sums products[kDistinctTaps];
            QC_UNROLL for (int k = 0; k < kDistinctTaps; ++k) products[k] =
                __builtin_convertvector(values * window_tap(k), Sums);
            if (y >= kMargin) store(sums[0] + products[0], results[y - kMargin].of + x);
            QC_UNROLL for (int i = 0; i + 1 < kMargin; ++i) {
                const int tap = kMargin - 1 - i;
                sums[i] = sums[i + 1] + products[tap < kDistinctTaps ? tap : kMargin - tap];
            }
            sums[kMargin - 1] = products[0];
        }
    }
}

QC_CPU_CLONES void multiply_row(const float* a, const float* b, int count, float* __restrict products) {
    for (int x = 0; x < count; ++x) products[x] = a[x] * b[x];
}

/// Window results of a row, by Quantity.
struct MomentRow {
    const float* of[kQuantities];

    QC_HD Moments at(int x) const {
        Moments moments;
        QC_UNROLL for (int q = 0; q < kQuantities; ++q) moments.of[q] = of[q][x];
        return moments;
    }
};

/// Window results of two images, block after block down a strip of columns.
class MomentBlock {
public:
    MomentBlock(const LumaRows& a, const LumaRows& b) : a_(a), b_(b) {}

    /// Results for columns from x and rows from y on. `follows`: it lies below the block before.
    void reach(int x, int y, int columns, int rows, bool follows) {
        float *const a = a_row_.of, *const b = b_row_.of;
        int first = 0;
        if (follows) {
            for (auto& along : along_) std::copy_n(along + rows_, kMargin, along);
            first = kMargin;
        }
        for (int i = first; i < rows + kMargin; ++i) {
            a_.read(x, y + i, columns + kMargin, a);
            b_.read(x, y + i, columns + kMargin, b);
            filter_along(a, columns, &products_, along_[kA][i].of);
            filter_along(b, columns, &products_, along_[kB][i].of);
            filter_product(a, a, columns, along_[kSquareA][i].of);
            filter_product(b, b, columns, along_[kSquareB][i].of);
            filter_product(a, b, columns, along_[kProduct][i].of);
        }
        for (int q = 0; q < kQuantities; ++q) filter_down(along_[q], columns, rows, results_[q]);
        rows_ = rows;
    }

    MomentRow row(int i) const {
        MomentRow row;
        for (int q = 0; q < kQuantities; ++q) row.of[q] = results_[q][i].of;
        return row;
    }

private:
    void filter_product(const float* a, const float* b, int columns, float* results) {
        multiply_row(a, b, columns + kMargin, multiplied_.of);
        filter_along(multiplied_.of, columns, &products_, results);
    }

    const LumaRows &a_, &b_;
    int rows_ = 0; ///< of the block before
    /// Zeros, or what was there before, behind the last column.
    Row<kColumns + kMargin + kLanes> a_row_ = {}, b_row_ = {}, multiplied_ = {};
    Products products_;
    Row<kColumns> along_[kQuantities][kReach] = {};
    Row<kColumns> results_[kQuantities][kRows];
};

// ---- terms ----------------------------------------------------------------------------------------------------------

template <bool kLuminance>
QC_INLINE_HELPER void add_row(const MomentRow& row, int width, const FixedPoint& fixed, uint64_t* sums) {
    const MomentRow moments = row;
    const FixedPoint scale = fixed;
    uint64_t product = 0, luminance = 0, contrast = 0, structure = 0;
    for (int x = 0; x < width; ++x) {
        uint64_t terms[kSumWords] = {};
        add_terms(moments.at(x), kLuminance, scale, terms);
        product += terms[kSumProduct];
        luminance += terms[kSumLuminance];
        contrast += terms[kSumContrast];
        structure += terms[kSumStructure];
    }
    sums[kSumProduct] += product;
    sums[kSumLuminance] += luminance;
    sums[kSumContrast] += contrast;
    sums[kSumStructure] += structure;
}

/// Adds the terms of all positions of a row, each once.
QC_CPU_CLONES void add_row(const MomentRow& row, int width, bool with_luminance, const FixedPoint& fixed,
                           uint64_t* sums) {
    if (with_luminance)
        add_row<true>(row, width, fixed, sums);
    else
        add_row<false>(row, width, fixed, sums);
}

// ---- pictures -------------------------------------------------------------------------------------------------------

QC_CPU_CLONES void scale_samples(const uint8_t* samples, float scale, int count, float* to) {
    for (int x = 0; x < count; ++x) to[x] = static_cast<float>(samples[x]) * scale;
}
QC_CPU_CLONES void scale_samples(const uint16_t* samples, float scale, int count, float* to) {
    for (int x = 0; x < count; ++x) to[x] = static_cast<float>(samples[x]) * scale;
}

} // namespace

void LumaRows::read(int x, int y, int count, float* to) const {
    if (image_ != nullptr)
        std::copy_n(image_->row(y) + x, count, to);
    else if (bytes_)
        scale_samples(plane_.as<uint8_t>().row(y) + x, scale_, count, to);
    else
        scale_samples(plane_.as<uint16_t>().row(y) + x, scale_, count, to);
}

std::vector<uint32_t> weights_under(const HostPlane& mask, const MapShape& positions, const FrameGeometry& geometry) {
    std::vector<uint32_t> weights;
    if (mask.data == nullptr) return weights;
    weights.reserve(static_cast<size_t>(positions.width) * static_cast<size_t>(positions.height));
    const MaskReader reader(mask);
    for (int y = 0; y < positions.height; ++y)
        for (int x = 0; x < positions.width; ++x)
            weights.push_back(reader.over(positions, x, y, geometry.width, geometry.height));
    return weights;
}

void add_similarity(const LumaRows& a, const LumaRows& b, bool with_luminance, const FixedPoint& fixed,
                    Helpers* helpers, uint64_t* sums, const Plane<float>& map, std::span<const uint32_t> weights) {
    constexpr int kSharedRows = 16;
    const int width = a.width() - kMargin;
    const int words = weights.empty() ? kSumWords : kMaskedSumWords;
    std::mutex mutex;
    share_runs(helpers, a.height() - kMargin, kSharedRows, [&](int begin, int end) {
        uint64_t sums_of_run[kMaskedSumWords] = {};
        const auto add_position = [&](const Moments& moments, int x, int y) {
            const uint32_t weight =
                weights.empty() ? 1 : weights[static_cast<size_t>(y) * static_cast<size_t>(width) + x];
            const double similarity = add_terms(moments, with_luminance, fixed, sums_of_run, weight);
            if (!weights.empty()) sums_of_run[kSumOfWeights] += weight;
            if (map.data != nullptr) map.at(x, y) = loss_of(similarity);
        };
        const auto block = std::make_unique<MomentBlock>(a, b);
        for (int x = 0; x < width; x += kColumns)
            for (int y = begin; y < end; y += kRows) {
                const int columns = std::min(kColumns, width - x), rows = std::min(kRows, end - y);
                block->reach(x, y, columns, rows, y > begin);
                for (int i = 0; i < rows; ++i) {
                    const MomentRow row = block->row(i);
                    if (weights.empty() && map.data == nullptr)
                        add_row(row, columns, with_luminance, fixed, sums_of_run);
                    else
                        for (int k = 0; k < columns; ++k) add_position(row.at(k), x + k, y + i);
                }
            }
        const std::lock_guard lock(mutex);
        for (int i = 0; i < words; ++i) sums[i] += sums_of_run[i];
    });
}

} // namespace qc::structural
