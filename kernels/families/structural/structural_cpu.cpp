// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/structural/structural_cpu.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>

#include "contract/helpers.hpp"
#include "device/cpu_clones.hpp"
#include "device/row_turn.hpp"
#include "device/weights.hpp"
#include "families/structural/structural_plan.hpp"
#include "families/structural/structural_wide.hpp"

namespace qc::structural {
namespace {

// ---- the window -----------------------------------------------------------------------------------------------------
//
// A tap's product is the same for two of a sample's eleven results: it is made and widened once for both, and added to
// the ten sums that are under way, which stay in registers. That is so down the columns, where a vector has neighbours
// of a row, and along the rows, where it has samples that lie far from each other: a strip of columns is cut into
// kLanes parts, and position i of a strip's row is column i of each of them. The next position has the samples to the
// right of all of these.
//
// Results come in blocks of few rows, so that what is between the two directions stays in the caches. Sums that are
// under way down the columns wait in memory for the next block.

constexpr int kLanes = device::kTurned; ///< parts of a strip, whatever the registers hold
constexpr int kPart = 120;              ///< columns of a part at most
constexpr int kColumns = kLanes * kPart;
constexpr int kRows = 8; ///< of a block

template <typename Sample, int kPositions>
struct alignas(64) Positions {
    Sample of[kPositions][kLanes];
};
using PartRow = Positions<float, kPart>;
/// Samples of a strip's row, with those that the last windows reach.
using WideRow = Positions<WideSample, (kPart + kMargin + kLanes - 1) / kLanes * kLanes>;
/// Sums under way, by position.
struct alignas(64) ColumnSums {
    double of[kPart][kMargin][kLanes];
};

/// The sums of ten results that follow each other, that of the first being complete except for a sample.
template <typename Cpu>
struct SumsUnderWay {
    using Vector = WideVector<Cpu>;
    typename Vector::Sums of[kMargin];

    /// Adds a sample to each, and begins the next.
    template <bool kSigned>
    QC_INLINE_HELPER void add(const typename Vector::Words& samples, typename Vector::Sums* complete) {
        const typename Vector::template Factors<kSigned> factors(samples);
        typename Vector::Sums products[kDistinctTaps];
        QC_UNROLL for (int k = 0; k < kDistinctTaps; ++k) factors.multiply(window_tap(k), &products[k]);
        *complete = of[0] + products[0];
        QC_UNROLL for (int i = 0; i + 1 < kMargin; ++i) {
            const int tap = kMargin - 1 - i;
            of[i] = of[i + 1] + products[tap < kDistinctTaps ? tap : kMargin - tap];
        }
        of[kMargin - 1] = products[0];
    }
};

/// Along a row of a * b, or of a where b is null, to `part` positions' results.
template <typename Cpu, bool kSigned, bool kIsProduct>
QC_INLINE_HELPER void filter_along(const WideRow& a, const WideRow* b, int part, PartRow* __restrict results) {
    using Vector = WideVector<Cpu>;
    for (int lane = 0; lane < kLanes; lane += Vector::kLanes) {
        SumsUnderWay<Cpu> sums = {};
        for (int i = 0; i < part + kMargin; ++i) {
            typename Vector::Words samples;
            Vector::load(a.of[i] + lane, &samples);
            if (kIsProduct) {
                typename Vector::Words factors;
                Vector::load(b->of[i] + lane, &factors);
                Vector::multiply(factors, &samples);
            }
            typename Vector::Sums complete;
            sums.template add<kSigned>(samples, &complete);
            if (i >= kMargin) Vector::store_narrowed(complete, results->of[i - kMargin] + lane);
        }
    }
}
template <typename Cpu>
QC_INLINE_HELPER void filter_along_on(const WideRow& a, const WideRow* b, int part, bool is_signed, PartRow* results) {
    if (b == nullptr)
        is_signed ? filter_along<Cpu, true, false>(a, b, part, results)
                  : filter_along<Cpu, false, false>(a, b, part, results);
    else
        is_signed ? filter_along<Cpu, true, true>(a, b, part, results)
                  : filter_along<Cpu, false, true>(a, b, part, results);
}
QC_CPU_VERSIONS(filter_along, (const WideRow& a, const WideRow* b, int part, bool is_signed, PartRow* results),
                (a, b, part, is_signed, results))

/// Down the columns: of each of `count` rows, adds it to what is under way and puts what it completes in its place.
template <typename Cpu, bool kSigned>
QC_INLINE_HELPER void filter_down(PartRow* rows, int count, int part, ColumnSums* under_way) {
    using Vector = WideVector<Cpu>;
    for (int i = 0; i < part; ++i) {
        for (int lane = 0; lane < kLanes; lane += Vector::kLanes) {
            SumsUnderWay<Cpu> sums;
            QC_UNROLL for (int k = 0; k < kMargin; ++k) Vector::load(under_way->of[i][k] + lane, &sums.of[k]);
            for (int y = 0; y < count; ++y) {
                float* const place = rows[y].of[i] + lane;
                typename Vector::Words samples;
                Vector::widen(place, &samples);
                typename Vector::Sums complete;
                sums.template add<kSigned>(samples, &complete);
                Vector::store_narrowed(complete, place);
            }
            QC_UNROLL for (int k = 0; k < kMargin; ++k) Vector::store(sums.of[k], under_way->of[i][k] + lane);
        }
    }
}
template <typename Cpu>
QC_INLINE_HELPER void filter_down_on(PartRow* rows, int count, int part, bool is_signed, ColumnSums* under_way) {
    if (is_signed)
        filter_down<Cpu, true>(rows, count, part, under_way);
    else
        filter_down<Cpu, false>(rows, count, part, under_way);
}
QC_CPU_VERSIONS(filter_down, (PartRow * rows, int count, int part, bool is_signed, ColumnSums* under_way),
                (rows, count, part, is_signed, under_way))

/// A row of samples to positions. Reads up to kLanes - 1 samples beyond those of the last part's windows.
template <typename Cpu>
QC_INLINE_HELPER void lay_out_on(const float* samples, int part, WideRow* __restrict row) {
    using Vector = WideVector<Cpu>;
    for (int i = 0; i < part + kMargin; i += kLanes) {
        device::TurnedRow lanes[kLanes];
        QC_UNROLL for (int lane = 0; lane < kLanes; ++lane) device::load(samples + lane * part + i, &lanes[lane]);
        device::turn(lanes);
        float turned[kLanes][kLanes];
        std::memcpy(turned, lanes, sizeof turned);
        QC_UNROLL for (int k = 0; k < kLanes; ++k) {
            QC_UNROLL for (int lane = 0; lane < kLanes; lane += Vector::kLanes) {
                typename Vector::Words words;
                Vector::widen(turned[k] + lane, &words);
                Vector::store(words, row->of[i + k] + lane);
            }
        }
    }
}
QC_CPU_VERSIONS(lay_out, (const float* samples, int part, WideRow* row), (samples, part, row))

/// Window results of a row, by Quantity.
struct MomentRow {
    const float* of[kQuantities];

    QC_HD Moments at(int x) const {
        Moments moments;
        QC_UNROLL for (int q = 0; q < kQuantities; ++q) moments.of[q] = of[q][x];
        return moments;
    }
};

/// Window results of a strip of two images' columns, block after block down.
class MomentStrip {
public:
    MomentStrip(const LumaRows& a, const LumaRows& b) : a_(a), b_(b), is_signed_(a.may_be_negative()) {}

    /// Before the first block. @param columns at most kColumns
    void begin(int x, int columns) {
        x_ = x;
        columns_ = columns;
        part_ = (columns + kLanes - 1) / kLanes;
        for (ColumnSums& sums : under_way_) std::fill_n(sums.of[0][0], part_ * kMargin * kLanes, 0.0);
    }

    /// Takes `count` rows from y on. Row i then has results for the windows that end with row y + i, or something else
    /// where rows above were not taken.
    void take(int y, int count) {
        for (int i = 0; i < count; ++i) {
            read(a_, y + i, &wide_a_);
            read(b_, y + i, &wide_b_);
            filter_along(wide_a_, nullptr, part_, is_signed_, &moments_[kA][i]);
            filter_along(wide_b_, nullptr, part_, is_signed_, &moments_[kB][i]);
            filter_along(wide_a_, &wide_a_, part_, false, &moments_[kSquareA][i]);
            filter_along(wide_b_, &wide_b_, part_, false, &moments_[kSquareB][i]);
            filter_along(wide_a_, &wide_b_, part_, is_signed_, &moments_[kProduct][i]);
        }
        for (int q = 0; q < kQuantities; ++q)
            filter_down(moments_[q], count, part_, is_signed_ && q != kSquareA && q != kSquareB, &under_way_[q]);
    }

    MomentRow row(int i) const {
        MomentRow row;
        for (int q = 0; q < kQuantities; ++q) row.of[q] = moments_[q][i].of[0];
        return row;
    }
    /// Where a row has the results of a column.
    int place(int column) const { return column % part_ * kLanes + column / part_; }
    int places() const { return part_ * kLanes; }
    /// Places of a row without a column.
    int spare() const { return places() - columns_; }
    void clear_spare(int i) {
        for (int column = columns_; column < places(); ++column)
            for (int q = 0; q < kQuantities; ++q) moments_[q][i].of[column % part_][column / part_] = 0.0f;
    }

private:
    void read(const LumaRows& rows, int y, WideRow* wide) {
        rows.read(x_, y, columns_ + kMargin, samples_);
        lay_out(samples_, part_, wide);
    }

    const LumaRows &a_, &b_;
    bool is_signed_;
    int x_ = 0, columns_ = 0, part_ = 0;
    /// Zeros, or what was there before, behind the last column.
    alignas(64) float samples_[(kPart + 4) * kLanes] = {};
    WideRow wide_a_ = {}, wide_b_ = {};
    PartRow moments_[kQuantities][kRows];
    ColumnSums under_way_[kQuantities];
};

// ---- terms ----------------------------------------------------------------------------------------------------------

template <bool kLuminance>
QC_INLINE_HELPER void add_places(const MomentRow& row, int places, const FixedPoint& fixed, uint64_t* sums) {
    const MomentRow moments = row;
    const FixedPoint scale = fixed;
    uint64_t product = 0, luminance = 0, contrast = 0, structure = 0;
    for (int x = 0; x < places; ++x) {
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

QC_CPU_CLONES void add_places(const MomentRow& row, int places, bool with_luminance, const FixedPoint& fixed,
                              uint64_t* sums) {
    if (with_luminance)
        add_places<true>(row, places, fixed, sums);
    else
        add_places<false>(row, places, fixed, sums);
}

/// Adds the terms of all positions of a row, each once. All terms of zeros are exactly 1.
void add_row(MomentStrip* strip, int i, bool with_luminance, const FixedPoint& fixed, uint64_t* sums) {
    strip->clear_spare(i);
    add_places(strip->row(i), strip->places(), with_luminance, fixed, sums);
    const uint64_t too_much = fixed.from(1.0) * static_cast<uint64_t>(strip->spare());
    for (const SumWord word : {kSumContrast, kSumStructure}) sums[word] -= too_much;
    if (!with_luminance) return;
    for (const SumWord word : {kSumLuminance, kSumProduct}) sums[word] -= too_much;
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

std::vector<uint32_t> weights_under(const HostPlane& sample_weights, const MapShape& positions,
                                    const FrameGeometry& geometry) {
    std::vector<uint32_t> weights;
    if (sample_weights.data == nullptr) return weights;
    weights.reserve(static_cast<size_t>(positions.width) * static_cast<size_t>(positions.height));
    const WeightReader reader(sample_weights);
    for (int y = 0; y < positions.height; ++y)
        for (int x = 0; x < positions.width; ++x)
            weights.push_back(reader.over(positions, x, y, geometry.width, geometry.height));
    return weights;
}

void add_similarity(const LumaRows& a, const LumaRows& b, bool with_luminance, const FixedPoint& fixed,
                    Helpers* helpers, uint64_t* sums, const Plane<float>& map, std::span<const uint32_t> weights) {
    constexpr int kSharedRows = 16;
    const int width = a.width() - kMargin;
    const int words = weights.empty() ? kSumWords : kWeightedSumWords;
    std::mutex mutex;
    share_runs(helpers, a.height() - kMargin, kSharedRows, [&](int begin, int end) {
        uint64_t sums_of_run[kWeightedSumWords] = {};
        const auto add_position = [&](const Moments& moments, int x, int y) {
            const uint32_t weight =
                weights.empty() ? 1 : weights[static_cast<size_t>(y) * static_cast<size_t>(width) + x];
            const double similarity = add_terms(moments, with_luminance, fixed, sums_of_run, weight);
            if (!weights.empty()) sums_of_run[kSumOfWeights] += weight;
            if (map.data != nullptr) map.at(x, y) = loss_of(similarity);
        };
        const auto strip = std::make_unique<MomentStrip>(a, b);
        const int strips = (width + kColumns - 1) / kColumns;
        for (int k = 0; k < strips; ++k) {
            const int x = static_cast<int>(int64_t{width} * k / strips);
            const int columns = static_cast<int>(int64_t{width} * (k + 1) / strips) - x;
            strip->begin(x, columns);
            for (int y = begin; y < end + kMargin; y += kRows) {
                const int rows = std::min(kRows, end + kMargin - y);
                strip->take(y, rows);
                for (int i = std::max(0, begin + kMargin - y); i < rows; ++i) {
                    if (weights.empty() && map.data == nullptr) {
                        add_row(strip.get(), i, with_luminance, fixed, sums_of_run);
                        continue;
                    }
                    const MomentRow row = strip->row(i);
                    for (int column = 0; column < columns; ++column)
                        add_position(row.at(strip->place(column)), x + column, y - kMargin + i);
                }
            }
        }
        const std::lock_guard lock(mutex);
        for (int i = 0; i < words; ++i) sums[i] += sums_of_run[i];
    });
}

} // namespace qc::structural
