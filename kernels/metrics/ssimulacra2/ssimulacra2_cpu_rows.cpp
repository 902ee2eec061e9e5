// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 on the CPU, fast: what ssimulacra2_cpu.cpp computes, row by row. A row of level 0 becomes linear RGB, is
// taken to XYB and blurred along the row; once the rows below it have arrived it is blurred across rows and pooled.
// Every second row yields one of the next level. So a level keeps a few rows only, whatever the size of the picture.
// Roots are Newton's, variances are made of differences, and sums have an order of their own: equal to some 1e-12.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "device/cpu_clones.hpp"
#include "families/linear_light/linear_roots.hpp"
#include "families/linear_light/linear_rows.hpp"
#include "metrics/ssimulacra2/ssimulacra2.hpp"
#include "metrics/ssimulacra2/ssimulacra2_mask.hpp"

namespace qc::ssimulacra2 {
namespace {

using Row = std::vector<double>;

/// Rows that are blurred carry this many zeros on both sides.
constexpr int kMargin = kMaxRadius;

// ---- roots ----------------------------------------------------------------------------------------------------------

QC_INLINE_HELPER double cube_root(double argument) {
    const double value = argument + kTiniest;
    double root = static_cast<double>(root_start(value, 3, 0x2a513700u));
    for (int step = 0; step < 3; ++step) {
        const double cube = root * root * root;
        root = root * ((cube + 2.0 * value) / (2.0 * cube + value));
    }
    return root;
}

// ---- rows of a level ------------------------------------------------------------------------------------------------

/// Cube roots of cone k's responses.
QC_CPU_CLONES void cone_row(int k, const double* red, const double* green, const double* blue, int count,
                            double* __restrict to) {
    for (int i = 0; i < count; ++i) to[i] = cube_root(cone(k, red[i], green[i], blue[i]));
}

/// In place: from cube roots to X, Y and B.
QC_CPU_CLONES void xyb_row(double* __restrict x, double* __restrict y, double* __restrict b, int count) {
    for (int i = 0; i < count; ++i) {
        double pixel[kChannels];
        xyb_of_roots(x[i], y[i], b[i], pixel);
        x[i] = pixel[kX];
        y[i] = pixel[kY];
        b[i] = pixel[kB];
    }
}

/// Mean of two rows' 2x2 blocks. The last column of an odd width counts twice.
QC_CPU_CLONES void halve_rows(const double* upper, const double* lower, int width, double* to) {
    for (int i = 0; i < width / 2; ++i)
        to[i] = 0.25 * ((upper[2 * i] + upper[2 * i + 1]) + (lower[2 * i] + lower[2 * i + 1]));
    if (width % 2 == 1) {
        const int last = width - 1;
        to[width / 2] = 0.25 * ((upper[last] + upper[last]) + (lower[last] + lower[last]));
    }
}

QC_CPU_CLONES void products_row(const double* reference, const double* distorted, int count, double* squared_difference,
                                double* squares) {
    for (int i = 0; i < count; ++i) {
        const double a = reference[i], d = distorted[i], difference = a - d;
        squared_difference[i] = difference * difference;
        squares[i] = a * a + d * d;
    }
}

template <int kRadius>
QC_INLINE_HELPER void blur_along(const double* from, const double* tap, int count, double* to) {
    for (int i = 0; i < count; ++i) {
        double sum = tap[0] * from[i];
        for (int k = 1; k <= kRadius; ++k) sum += tap[k] * (from[i - k] + from[i + k]);
        to[i] = sum;
    }
}

/// Along a row that has margins of zeros.
QC_CPU_CLONES void blur_row(const double* from, const double* tap, int radius, int count, double* to) {
    if (radius == 4)
        blur_along<4>(from, tap, count, to);
    else
        blur_along<kMaxRadius>(from, tap, count, to);
}

template <int kRadius>
QC_INLINE_HELPER void blur_across(const double* const* rows, const double* tap, double scale, int count, double* to) {
    const double* const* const centre = rows + kMaxRadius;
    for (int i = 0; i < count; ++i) {
        double sum = tap[0] * centre[0][i];
        for (int k = 1; k <= kRadius; ++k) sum += tap[k] * (centre[-k][i] + centre[k][i]);
        to[i] = scale * sum;
    }
}

/// Across rows[0 .. 2 kMaxRadius].
QC_CPU_CLONES void blur_rows(const double* const* rows, const double* tap, int radius, double scale, int count,
                             double* to) {
    if (radius == 4)
        blur_across<4>(rows, tap, scale, count, to);
    else
        blur_across<kMaxRadius>(rows, tap, scale, count, to);
}

QC_CPU_CLONES void scale_row(double* row, const double* factors, int count) {
    for (int i = 0; i < count; ++i) row[i] *= factors[i];
}

/// What a level keeps of a channel for each row, blurred along the row.
enum Blurred { kReferenceMean, kDistortedMean, kSquaredDifference, kSquares, kBlurredRows };

QC_CPU_CLONES void structure_row(const double* const* blurred, int count, double* map) {
    const double *mean1 = blurred[kReferenceMean], *mean2 = blurred[kDistortedMean];
    const double *squared_difference = blurred[kSquaredDifference], *squares = blurred[kSquares];
    for (int i = 0; i < count; ++i) {
        const double difference = mean1[i] - mean2[i];
        map[i] = structural_error(difference, squared_difference[i] - difference * difference,
                                  squares[i] - (mean1[i] * mean1[i] + mean2[i] * mean2[i]));
    }
}

QC_CPU_CLONES void edge_row(const double* reference, const double* distorted, const double* const* blurred, int count,
                            double* artifact, double* detail) {
    const double *mean1 = blurred[kReferenceMean], *mean2 = blurred[kDistortedMean];
    for (int i = 0; i < count; ++i) {
        const double change = edge_change(std::abs(reference[i] - mean1[i]), std::abs(distorted[i] - mean2[i]));
        artifact[i] = std::max(change, 0.0);
        detail[i] = std::max(-change, 0.0);
    }
}

/// Running sums of a map and of its fourth power, in a fixed order: pixel x adds to lane x % kLanes.
struct LaneSums {
    static constexpr int kLanes = 8;
    double first[kLanes], fourth[kLanes];

    static double total(const double* lane) {
        return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
};

QC_CPU_CLONES void add_row(const double* map, int count, LaneSums* sums) {
    constexpr int kLanes = LaneSums::kLanes;
    double first[kLanes], fourth[kLanes];
    for (int l = 0; l < kLanes; ++l) {
        first[l] = sums->first[l];
        fourth[l] = sums->fourth[l];
    }
    int i = 0;
    for (; i + kLanes <= count; i += kLanes)
        for (int l = 0; l < kLanes; ++l) {
            const double value = map[i + l], square = value * value;
            first[l] += value;
            fourth[l] += square * square;
        }
    for (int l = 0; i + l < count; ++l) {
        const double value = map[i + l], square = value * value;
        first[l] += value;
        fourth[l] += square * square;
    }
    for (int l = 0; l < kLanes; ++l) {
        sums->first[l] = first[l];
        sums->fourth[l] = fourth[l];
    }
}

/// The same of places that count by their weights.
QC_CPU_CLONES void add_weighted_row(const double* map, const uint32_t* weights, int count, LaneSums* sums) {
    constexpr int kLanes = LaneSums::kLanes;
    LaneSums own = *sums;
    int i = 0;
    const auto add = [&](int l) {
        const double value = map[i + l], square = value * value, weight = weights[i + l];
        own.first[l] += weight * value;
        own.fourth[l] += weight * (square * square);
    };
    for (; i + kLanes <= count; i += kLanes)
        for (int l = 0; l < kLanes; ++l) add(l);
    for (int l = 0; i + l < count; ++l) add(l);
    *sums = own;
}

// ---- levels ---------------------------------------------------------------------------------------------------------

/// One channel of a level: the latest rows of both pictures, and the sums so far.
class ChannelRows {
public:
    void open(const BlurKernel<double>& blur, LevelSize size, uint8_t needed) {
        blur_ = &blur;
        size_ = size;
        needed_ = needed;
        for (LaneSums& sums : sums_) sums = {};
        if (needed == 0) return;
        rows_ = 2 * blur.radius + 1;
        const auto width = static_cast<size_t>(size.width);
        for (Row& row : samples_) row.resize(width * static_cast<size_t>(rows_));
        for (int b = 0; b < blurred_count(); ++b) blurred_[b].resize(width * static_cast<size_t>(rows_));
        for (Row& row : result_) row.resize(width);
        for (Row& row : maps_) row.resize(width);
        for (Row& row : products_) row.assign(width + 2 * kMargin, 0.0);
        zeros_.assign(width, 0.0);
        inverse_mass_.clear();
        if (blur.renormalise == 0) return;
        for (int x = 0; x < size.width; ++x) inverse_mass_.push_back(1.0 / mass_inside(x, size.width));
    }

    /// @param weights of the level's places; null: each counts once
    void weigh_by(const device::Image<uint32_t>* weights) { weights_ = weights; }

    /// Takes row y of both pictures; both have margins of zeros.
    void push(int y, const double* reference, const double* distorted) {
        if (needed_ == 0) return;
        std::copy(reference, reference + size_.width, stored(samples_[0], y));
        std::copy(distorted, distorted + size_.width, stored(samples_[1], y));
        blur_into(kReferenceMean, y, reference);
        blur_into(kDistortedMean, y, distorted);
        if (blurred_count() > kSquaredDifference) {
            double* const difference = products_[0].data() + kMargin;
            double* const squares = products_[1].data() + kMargin;
            products_row(reference, distorted, size_.width, difference, squares);
            blur_into(kSquaredDifference, y, difference);
            blur_into(kSquares, y, squares);
        }
        if (y >= blur_->radius) pool(y - blur_->radius);
        if (y + 1 < size_.height) return;
        for (int last = std::max(0, size_.height - blur_->radius); last < size_.height; ++last) pool(last);
    }

    void write(uint64_t* terms) const {
        for (int map = 0; map < kMaps; ++map) {
            write_term(terms, term_index(kFirst, map), LaneSums::total(sums_[map].first));
            write_term(terms, term_index(kFourth, map), LaneSums::total(sums_[map].fourth));
        }
    }

private:
    int blurred_count() const { return needs_structure(needed_) ? kBlurredRows : kSquaredDifference; }

    double* stored(Row& rows, int y) const { return rows.data() + static_cast<ptrdiff_t>(y % rows_) * size_.width; }

    double mass_inside(int position, int length) const {
        double mass = 0.0;
        for (int k = -blur_->radius; k <= blur_->radius; ++k)
            if (position + k >= 0 && position + k < length) mass += blur_->tap[std::abs(k)];
        return mass;
    }

    void blur_into(Blurred which, int y, const double* row) {
        double* const to = stored(blurred_[which], y);
        blur_row(row, blur_->tap, blur_->radius, size_.width, to);
        if (!inverse_mass_.empty()) scale_row(to, inverse_mass_.data(), size_.width);
    }

    /// Maps of row y, whose neighbours have all arrived.
    void pool(int y) {
        const double* blurred[kBlurredRows] = {};
        const double scale = blur_->renormalise == 0 ? 1.0 : 1.0 / mass_inside(y, size_.height);
        for (int b = 0; b < blurred_count(); ++b) {
            const double* rows[2 * kMaxRadius + 1];
            for (int k = -blur_->radius; k <= blur_->radius; ++k) {
                const bool inside = y + k >= 0 && y + k < size_.height;
                rows[kMaxRadius + k] = inside ? stored(blurred_[b], y + k) : zeros_.data();
            }
            blur_rows(rows, blur_->tap, blur_->radius, scale, size_.width, result_[b].data());
            blurred[b] = result_[b].data();
        }
        if (needs_structure(needed_)) {
            structure_row(blurred, size_.width, maps_[kStructure].data());
            add(kStructure, y);
        }
        if (!needs_edges(needed_)) return;
        edge_row(stored(samples_[0], y), stored(samples_[1], y), blurred, size_.width, maps_[kArtifact].data(),
                 maps_[kDetail].data());
        add(kArtifact, y);
        add(kDetail, y);
    }

    /// Row y of a map to its sums.
    void add(Map map, int y) {
        if (weights_ == nullptr)
            add_row(maps_[map].data(), size_.width, &sums_[map]);
        else
            add_weighted_row(maps_[map].data(), weights_->row(y), size_.width, &sums_[map]);
    }

    void write_term(uint64_t* terms, int term, double sum) const {
        if ((needed_ >> term & 1) != 0) terms[term] = std::bit_cast<uint64_t>(sum);
    }

    const BlurKernel<double>* blur_ = nullptr;
    LevelSize size_{};
    uint8_t needed_ = 0;
    int rows_ = 0;
    Row samples_[2], blurred_[kBlurredRows]; ///< rings of rows_ rows
    Row result_[kBlurredRows], maps_[kMaps], products_[2], zeros_, inverse_mass_;
    LaneSums sums_[kMaps];
    const device::Image<uint32_t>* weights_ = nullptr;
};

/// A level: makes XYB of linear rows, feeds its channels, and hands every second row on.
class LevelRows {
public:
    void open(const Plan& plan, int level, LevelRows* next) {
        size_ = plan.level[level];
        next_ = next;
        for (int c = 0; c < kChannels; ++c) channels_[c].open(plan.blur, size_, plan.needed[level][c]);
        const auto width = static_cast<size_t>(size_.width);
        for (auto& picture : linear_)
            for (auto& row : picture)
                for (Row& component : row) component.resize(width);
        for (auto& picture : xyb_)
            for (Row& component : picture) component.assign(width + 2 * kMargin, 0.0);
    }

    /// After open(). @param weights of the level's places; null: each counts once
    void weigh_by(const device::Image<uint32_t>* weights) {
        for (ChannelRows& channel : channels_) channel.weigh_by(weights);
    }

    /// Where row y of the pictures' linear RGB has to be put before push(y).
    double* linear(int picture, int y, int component) { return linear_[picture][y % 2][component].data(); }

    void push(int y) {
        for (int i = 0; i < 2; ++i) {
            for (int k = 0; k < 3; ++k)
                cone_row(k, linear(i, y, 0), linear(i, y, 1), linear(i, y, 2), size_.width, xyb_row_of(i, k));
            xyb_row(xyb_row_of(i, kX), xyb_row_of(i, kY), xyb_row_of(i, kB), size_.width);
        }
        for (int c = 0; c < kChannels; ++c) channels_[c].push(y, xyb_row_of(0, c), xyb_row_of(1, c));
        const bool last = y + 1 == size_.height;
        if (next_ == nullptr || (y % 2 == 0 && !last)) return;
        const int upper = y - y % 2; // the last row of an odd height counts twice
        for (int i = 0; i < 2; ++i)
            for (int component = 0; component < 3; ++component)
                halve_rows(linear(i, upper, component), linear(i, y, component), size_.width,
                           next_->linear(i, y / 2, component));
        next_->push(y / 2);
    }

    const ChannelRows& channel(int c) const { return channels_[c]; }

private:
    double* xyb_row_of(int picture, int channel) { return xyb_[picture][channel].data() + kMargin; }

    LevelSize size_{};
    LevelRows* next_ = nullptr;
    Row linear_[2][2][3]; ///< [picture][parity of the row][component]
    Row xyb_[2][kChannels];
    ChannelRows channels_[kChannels];
};

} // namespace

struct RowWorkspace {
    LinearReader reader[2];
    LevelRows level[kMaxLevels];
};

void score_cpu_rows(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair,
                    std::span<uint64_t> accumulators, RowWorkspaces& workspaces) {
    const auto lease = workspaces.borrow();
    RowWorkspace& workspace = *lease;
    workspace.reader[0].open(pair.reference, geometry, plan.reference);
    workspace.reader[1].open(pair.distorted, geometry, plan.distorted);
    for (int level = 0; level < plan.levels; ++level)
        workspace.level[level].open(plan, level, level + 1 < plan.levels ? &workspace.level[level + 1] : nullptr);
    std::optional<LevelWeights> weights;
    if (geometry.masked) weights.emplace(plan, pair.mask).write_sums(accumulators);
    for (int level = 0; level < plan.levels; ++level)
        workspace.level[level].weigh_by(weights ? &weights->of(level) : nullptr);
    LevelRows& first = workspace.level[0];
    for (int y = 0; y < geometry.height; ++y) {
        for (int i = 0; i < 2; ++i) {
            double* const rgb[3] = {first.linear(i, y, 0), first.linear(i, y, 1), first.linear(i, y, 2)};
            workspace.reader[i].read(y, rgb);
        }
        first.push(y);
    }
    for (int level = 0; level < plan.levels; ++level)
        for (int c = 0; c < kChannels; ++c)
            workspace.level[level].channel(c).write(accumulators.data() + norm_index(plan.levels, c, level, 0));
}

} // namespace qc::ssimulacra2
