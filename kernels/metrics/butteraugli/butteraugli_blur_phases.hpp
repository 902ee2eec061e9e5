// SPDX-License-Identifier: BSD-2-Clause-Patent
// Second kernel of Butteraugli: blurs of planes, and what is left of a plane without its blur, on the tensor cores. A
// blur is a product with a band matrix, whose row i has the taps around its column i. A warp marches down 32 columns,
// 16 rows at a time, by itself:
//
//     along   taps * samples: 16 rows of columns and margin, which memory gives in the order that a right matrix has,
//             become those of 16 columns each, transposed
//     down    that * taps: what these rows add to the results of the rows around them. Those that lie deepest above are
//             then complete
//
// Both operands are sums of two halves, or samples are halves. Samples outside the picture are 0, and sums are divided
// by the Gaussian's mass inside.
//
// Halves reach to 65504. What the eye makes of light, at most 1e5 cd/m2, is below 2,500, for a cone adapts to at least
// a ninth of what it sees, and what it may see less than nothing of (blue beyond BT.709) is hardly any. So differences
// and sums are below 5,000, planes without a blur below 8,000, and these blurred along rows kTapScale times as large.
// Where light may be negative in earnest (Gamut::kExtend), nothing holds that, and kernels of their own scale what they
// read.
#pragma once

#include "device/half_matrix.hpp"
#include "metrics/butteraugli/butteraugli_planes.hpp"

namespace qc::butteraugli {

using device::FloatSums;
using device::HalfLeft;
using device::HalfRight;
using device::SplitPair;

constexpr int kBlurRows = 16;  ///< of a step
constexpr int kBlurGroups = 2; ///< of 16 columns, of a warp
constexpr int kBlurThreads = 128;
constexpr int kWarpColumns = 16 * kBlurGroups, kStripColumns = kWarpColumns * (kBlurThreads / device::kWarpSize);
static_assert(tuning::kStripRows % kBlurRows == 0 && tuning::kStripRowsOfFew % kBlurRows == 0);

/// How far samples that 16 neighbours need lie beyond them at most, and how many times 16 they are with those.
template <int kR>
constexpr int kBlurReach = kR > 8 ? 16 : 8;
template <int kR>
constexpr int kBlurBlocks = 1 + kBlurReach<kR> / 8;

/// Keeps what taps leave when they are rounded to halves above the smallest of these.
constexpr float kTapScale = 8.0f, kUnscaled = 1.0f / (kTapScale * kTapScale);

template <int kR>
struct BlurArguments {
    float* scratch;
    uint64_t pair_floats;
    PlaneShape shape;
    uint64_t from[kSignals], to[kSignals]; ///< by blockIdx.y
    int32_t strips;                        ///< side by side
    int32_t strip_rows;                    ///< by the launch's pairs; no result depends on it
    float sample_scale;                    ///< a power of 2; 1 except for kernels that scale
    Taps<kR> taps;
};

/// Taps at i - kTapCentre and the next distance, as two halves each.
constexpr int kTapPairs = 64, kTapCentre = 32;
struct alignas(16) TapTable {
    SplitPair pair[kTapPairs];
};
template <int kR>
QC_HD void make_tap_table(const Taps<kR>& taps, int thread, TapTable& table) {
    if (thread >= kTapPairs) return;
    float tap[2];
    QC_UNROLL for (int i = 0; i < 2; ++i) {
        const int distance = thread - kTapCentre + i, size = distance < 0 ? -distance : distance;
        tap[i] = size > kR ? 0.0f : kTapScale * taps.tap[size];
    }
    table.pair[thread] = device::split_pair(tap[0], tap[1]);
}

/// Where a lane's parts of matrices lie.
struct MatrixLane {
    int row, group;
    QC_HD explicit MatrixLane(int lane) : row(lane / 4), group(lane % 4) {}
};

/// The band matrices: along rows by block of 16 samples, whose order is that of memory (four neighbours a lane),
/// results being neighbours in the two rows of a lane; down columns by distance, in steps of 8, where neither is
/// permuted.
template <int kR>
struct BandMatrices {
    static constexpr int kBlocks = kBlurBlocks<kR>, kReach = kBlurReach<kR>, kSteps = 2 * kBlocks - 1;
    HalfLeft along_high[kBlocks], along_low[kBlocks];
    SplitPair down[kSteps];

    QC_HD BandMatrices(const TapTable& table, const MatrixLane& lane) {
        QC_UNROLL for (int b = 0; b < kBlocks; ++b) {
            QC_UNROLL for (int i = 0; i < 4; ++i) {
                const int sample = 16 * b - kReach + 4 * lane.group + i / 2 * 2, result = 2 * lane.row + i % 2;
                const SplitPair& pair = table.pair[kTapCentre + sample - result];
                along_high[b].words[i] = pair.high;
                along_low[b].words[i] = pair.low;
            }
        }
        QC_UNROLL for (int s = 0; s < kSteps; ++s) down[s] =
            table.pair[kTapCentre + 8 * s - kReach + 2 * lane.group - lane.row];
    }

    /// Of the rows of block b, for eight rows of results.
    QC_HD HalfRight down_of(int b, int eight, bool high) const {
        HalfRight matrix;
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const int s = 2 * b - eight + i;
            matrix.words[i] = s < 0 || s >= kSteps ? 0 : high ? down[s].high : down[s].low;
        }
        return matrix;
    }
};

/// Where samples come from: planes of floats, or of pairs of halves, which are two planes.
template <bool kScales>
struct FloatSamples {
    static constexpr int kPlanes = 1;
    static constexpr bool kAreHalves = false;
    using Four = Float4;
    QC_HD static Float4 load(const float* from) { return load_plane4(from); }
    QC_HD static void split(const Float4& four, float scale, HalfRight (&high)[1], HalfRight (&low)[1]) {
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const float first = four.value[2 * i], second = four.value[2 * i + 1];
            const SplitPair pair =
                kScales ? device::split_pair(scale * first, scale * second) : device::split_pair(first, second);
            high[0].words[i] = pair.high;
            low[0].words[i] = pair.low;
        }
    }
};
struct PairSamples {
    static constexpr int kPlanes = 2;
    static constexpr bool kAreHalves = true;
    using Four = Pair4;
    QC_HD static Pair4 load(const float* from) { return load_plane_pair4(from); }
    QC_HD static void split(const Pair4& four, float, HalfRight (&high)[2], HalfRight (&)[2]) {
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const uint32_t first = four.value[2 * i], second = four.value[2 * i + 1];
            high[0].words[i] = (first & 0xffffu) | second << 16;
            high[1].words[i] = first >> 16 | (second & 0xffff0000u);
        }
    }
};

/// What a lane fetches of 16 rows: four neighbours of two rows of each block; in place of those outside the picture,
/// the nearest inside, lest memory be read that nobody has written. What they hold is cleared when it is needed.
template <int kR, class Samples>
class BlurFetch {
public:
    static constexpr int kBlocks = kBlurGroups + kBlurBlocks<kR> - 1;

    /// Rows from `first` to `last` will be asked for; those outside the picture as well.
    QC_HD BlurFetch(const float* plane, const PlaneShape& shape, const MatrixLane& lane, int left, int first, int last)
        : plane_(plane), shape_(shape), row_(first - kBlurRows + lane.row), first_(first < 0 ? 0 : first),
          last_(last < shape.height ? last : shape.height - 1), column_(left - kBlurReach<kR> + 4 * lane.group),
          inside_(left >= kBlurReach<kR> && left + kWarpColumns + kBlurReach<kR> <= shape.width) {}

    /// Goes to the next 16 rows.
    QC_HD void advance() {
        row_ += kBlurRows;
        QC_UNROLL for (int eight = 0; eight < 2; ++eight) {
            const int wanted = row_ + 8 * eight, above = wanted < last_ ? wanted : last_;
            from_[eight] = plane_ + static_cast<int64_t>(above > first_ ? above : first_) * shape_.pitch;
        }
    }
    /// Asks for a block of them.
    QC_HD void fetch(int block) {
        QC_UNROLL for (int eight = 0; eight < 2; ++eight) four[block][eight] =
            Samples::load(from_[eight] + column_of(block));
    }
    /// What lies outside the picture is nothing.
    QC_HD void clear_outside(const MatrixLane& lane) {
        const int top = row_ - lane.row;
        if (inside_ && top >= 0 && top + kBlurRows <= shape_.height) return;
        QC_UNROLL for (int block = 0; block < kBlocks; ++block) {
            const int x = column_ + 16 * block;
            QC_UNROLL for (int eight = 0; eight < 2; ++eight) {
                const int y = row_ + 8 * eight;
                if (x < 0 || x >= shape_.width || y < 0 || y >= shape_.height) four[block][eight] = {};
            }
        }
    }

    typename Samples::Four four[kBlocks][2];

private:
    /// Of a block's four neighbours, the first that are stored.
    QC_HD int column_of(int block) const {
        const int x = column_ + 16 * block;
        if (inside_) return x;
        const int last = (shape_.width - 1) / 4 * 4, above = x < last ? x : last;
        return above > 0 ? above : 0;
    }

    const float *plane_, *from_[2];
    const PlaneShape& shape_;
    int row_, first_, last_, column_;
    bool inside_; ///< all columns of the warp
};

/// Of each plane, by group of 16 columns and by eight rows: two neighbouring columns of two rows.
template <class Samples>
using BlurSums = FloatSums[Samples::kPlanes][kBlurGroups][2];

/// Blurs 16 rows along, and asks for the next ones.
template <int kR, class Samples, class Block>
QC_HD void blur_along(Block& block, const BandMatrices<kR>& bands, float sample_scale, BlurFetch<kR, Samples>& fetch,
                      BlurSums<Samples>& sums) {
    constexpr int kProducts = Samples::kAreHalves ? 2 : 3;
    fetch.advance();
    QC_UNROLL for (int f = 0; f < BlurFetch<kR, Samples>::kBlocks; ++f) {
        HalfRight high[2][Samples::kPlanes], low[2][Samples::kPlanes];
        QC_UNROLL for (int eight = 0; eight < 2; ++eight)
            Samples::split(fetch.four[f][eight], sample_scale, high[eight], low[eight]);
        fetch.fetch(f);
        QC_UNROLL for (int product = 0; product < kProducts; ++product) { // the smaller ones first
            QC_UNROLL for (int i = 0; i < kBlurGroups * Samples::kPlanes * 2; ++i) {
                const int g = i / 2 % kBlurGroups, p = i / (2 * kBlurGroups), b = f - g;
                if (b < 0 || b >= kBlurBlocks<kR>) continue;
                add_product(block, product == 0 ? bands.along_low[b] : bands.along_high[b],
                            product == 1 && kProducts == 3 ? low[i % 2][p] : high[i % 2][p], sums[p][g][i % 2]);
            }
        }
    }
}

/// Adds what 16 rows are to results: of the blocks of rows in progress, the first of which is then complete.
template <int kR, class Samples, class Block>
QC_HD void blur_down(Block& block, const BandMatrices<kR>& bands, const BlurSums<Samples>& along,
                     BlurSums<Samples> (&results)[kBlurBlocks<kR>]) {
    constexpr int kLast = kBlurBlocks<kR> - 1;
    QC_UNROLL for (int p = 0; p < Samples::kPlanes; ++p) {
        QC_UNROLL for (int g = 0; g < kBlurGroups; ++g) {
            HalfLeft high, low;
            QC_UNROLL for (int i = 0; i < 4; ++i) {
                const float(&values)[4] = along[p][g][i / 2].values;
                const SplitPair pair = device::split_pair(values[i % 2 * 2], values[i % 2 * 2 + 1]);
                high.words[i] = pair.high;
                low.words[i] = pair.low;
            }
            QC_UNROLL for (int product = 0; product < 3; ++product) {
                QC_UNROLL for (int i = 0; i < 2 * kBlurBlocks<kR>; ++i)
                    add_product(block, product == 0 ? low : high, bands.down_of(kLast - i / 2, i % 2, product != 1),
                                results[i / 2][p][g][i % 2]);
            }
        }
    }
}

/// The next block of rows is the first now, and another begins.
template <int kR, class Samples>
QC_HD void shift_results(BlurSums<Samples> (&results)[kBlurBlocks<kR>]) {
    QC_UNROLL for (int p = 0; p < Samples::kPlanes; ++p) {
        QC_UNROLL for (int i = 0; i < 2 * kBlurGroups; ++i) {
            QC_UNROLL for (int r = 0; r + 1 < kBlurBlocks<kR>; ++r) results[r][p][i / 2][i % 2] =
                results[r + 1][p][i / 2][i % 2];
            results[kBlurBlocks<kR> - 1][p][i / 2][i % 2] = {};
        }
    }
}

/// A lane's places of 16 rows of results: two neighbours in each of four rows, of each group.
struct BlurPlaces {
    int x, y;

    QC_HD BlurPlaces(const MatrixLane& lane, int left, int top) : x(left + 2 * lane.row), y(top + 2 * lane.group) {}
    QC_HD int row(int i) const { return y + i / 2 * 8 + i % 2; }
    QC_HD int64_t at(const PlaneShape& shape, int row) const { return static_cast<int64_t>(row) * shape.pitch + x; }
};

/// What becomes of blurred places: they are taken from what was blurred, or stored as halves. Beyond the right border
/// both are 0.
template <bool kScales>
struct TakeFromWhole {
    const float* from;
    float* to;
    float unscaled; ///< kUnscaled, of samples that were scaled
    using Whole = device::Float2;
    QC_HD Whole fetch(int64_t at) const { return device::load_plane2(from + at); }
    QC_HD void store(int64_t at, int, float first, float second, const Whole& whole) const {
        const float factor = kScales ? unscaled : kUnscaled;
        device::store_plane2(to + at, fmaf(-factor, first, whole.x), fmaf(-factor, second, whole.y));
    }
};
struct StoreHalves {
    Half* to[2];
    struct Whole {};
    QC_HD Whole fetch(int64_t) const { return {}; }
    QC_HD void store(int64_t at, int plane, float first, float second, const Whole&) const {
        store_half2(to[plane] + at, kUnscaled * first, kUnscaled * second);
    }
};

/// What of a complete block of rows is fetched before it is needed.
template <class Result>
struct Wholes {
    typename Result::Whole of[kBlurGroups][4];
};
template <class Result>
QC_HD void fetch_wholes(const PlaneShape& shape, const Result& result, const BlurPlaces& places,
                        Wholes<Result>& wholes) {
    QC_UNROLL for (int i = 0; i < 4; ++i) {
        const int row = places.row(i);
        const int64_t at = places.at(shape, row < shape.height ? row : shape.height - 1);
        QC_UNROLL for (int g = 0; g < kBlurGroups; ++g) {
            wholes.of[g][i] = {};
            if (places.x + 16 * g < shape.width) wholes.of[g][i] = result.fetch(at + 16 * g);
        }
    }
}

/// Divides by the mass inside the picture where a part of it lies outside, and clears what lies outside itself.
template <int kR, class Samples>
QC_HD void scale_at_borders(const BlurArguments<kR>& arguments, const BlurPlaces& places, BlurSums<Samples>& sums) {
    const PlaneShape& shape = arguments.shape;
    const Taps<kR>& taps = arguments.taps;
    QC_UNROLL for (int i = 0; i < 4; ++i) {
        const int y = places.row(i);
        const float of_row = y < shape.height ? taps.inverse_mass(y, shape.height) : 0.0f;
        QC_UNROLL for (int g = 0; g < kBlurGroups; ++g) {
            QC_UNROLL for (int k = 0; k < 2; ++k) {
                const int x = places.x + 16 * g + k;
                const float scale = x < shape.width ? of_row * taps.inverse_mass(x, shape.width) : 0.0f;
                QC_UNROLL for (int p = 0; p < Samples::kPlanes; ++p) sums[p][g][i / 2].values[i % 2 + 2 * k] *= scale;
            }
        }
    }
}

/// @tparam kInside all places are inside the picture
template <bool kInside, class Samples, class Result>
QC_HD void store_blurred(const PlaneShape& shape, const Result& result, const BlurPlaces& places,
                         const Wholes<Result>& wholes, const BlurSums<Samples>& sums) {
    const int stored_columns = (shape.width + 3) / 4 * 4;
    QC_UNROLL for (int i = 0; i < 4; ++i) {
        const int row = places.row(i);
        if (!kInside && row >= shape.height) continue;
        const int64_t at = places.at(shape, row);
        QC_UNROLL for (int g = 0; g < kBlurGroups; ++g) {
            if (!kInside && places.x + 16 * g >= stored_columns) continue;
            QC_UNROLL for (int p = 0; p < Samples::kPlanes; ++p) {
                const float(&values)[4] = sums[p][g][i / 2].values;
                result.store(at + 16 * g, p, values[i % 2], values[2 + i % 2], wholes.of[g][i]);
            }
        }
    }
}

} // namespace qc::butteraugli
