// SPDX-License-Identifier: BSD-2-Clause-Patent
// SSIMULACRA 2 on the CPU, fast: what ssimulacra2_cpu.cpp computes, row by row. A row of level 0 becomes linear RGB and
// is taken to XYB; once the rows below it have arrived it is blurred, down columns first, and pooled. Every second row
// yields one of the next level. A run of rows works in a core's caches, and threads share a level by runs.
// Roots are series', variances are made of differences, and sums have an order of their own: equal to some 1e-12.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "contract/helpers.hpp"
#include "device/cpu_versions.hpp"
#include "device/row_blur.hpp"
#include "device/row_store.hpp"
#include "device/row_vector.hpp"
#include "device/unroll.hpp"
#include "families/linear_light/linear_roots.hpp"
#include "families/linear_light/linear_rows.hpp"
#include "metrics/ssimulacra2/ssimulacra2.hpp"
#include "metrics/ssimulacra2/ssimulacra2_level_weights.hpp"

namespace qc::ssimulacra2 {
namespace {

using Rows = device::RowStore<double>;
constexpr int kMargin = Rows::kMargin;
static_assert(kMargin >= kMaxRadius);

// ---- rows of a level ------------------------------------------------------------------------------------------------

/// Cube roots of cone k's responses.
template <typename Cpu>
QC_INLINE_HELPER void cone_row_on(int k, const double* red, const double* green, const double* blue, int count,
                                  double* __restrict to) {
    for (int i = 0; i < count; ++i) to[i] = cube_root<Cpu>(cone(k, red[i], green[i], blue[i]));
}
QC_CPU_VERSIONS(cone_row, (int k, const double* red, const double* green, const double* blue, int count, double* to),
                (k, red, green, blue, count, to))

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

/// Along a row that has margins of zeros.
template <typename Cpu>
QC_INLINE_HELPER void blur_row_on(const double* from, const double* tap, int radius, int count, double* to) {
    if (radius == 4)
        device::blur_along<Cpu, 4, double>(tap, from, nullptr, count, to);
    else
        device::blur_along<Cpu, kMaxRadius, double>(tap, from, nullptr, count, to);
}
QC_CPU_VERSIONS(blur_row, (const double* from, const double* tap, int radius, int count, double* to),
                (from, tap, radius, count, to))

/// Down columns, several rows: see device/row_blur.hpp.
template <typename Cpu>
QC_INLINE_HELPER void blur_columns_on(const double* const* rows, const double* tap, int radius, const double* scale,
                                      int count, int width, double* const* to) {
    if (radius == 4)
        device::blur_columns<Cpu, 4>(tap, rows, scale, count, width, to);
    else
        device::blur_columns<Cpu, kMaxRadius>(tap, rows, scale, count, width, to);
}
QC_CPU_VERSIONS(blur_columns,
                (const double* const* rows, const double* tap, int radius, const double* scale, int count, int width,
                 double* const* to),
                (rows, tap, radius, scale, count, width, to))

QC_CPU_CLONES void scale_row(double* row, const double* factors, int count) {
    for (int i = 0; i < count; ++i) row[i] *= factors[i];
}

/// What is blurred of a channel: both pictures' samples, and for structures their products.
enum Blurred { kReferenceMean, kDistortedMean, kSquaredDifference, kSquares, kBlurredRows };

QC_CPU_CLONES void structure_row(const double* const* blurred, int count, double* field) {
    const double *mean1 = blurred[kReferenceMean], *mean2 = blurred[kDistortedMean];
    const double *squared_difference = blurred[kSquaredDifference], *squares = blurred[kSquares];
    for (int i = 0; i < count; ++i) {
        const double difference = mean1[i] - mean2[i];
        field[i] = structural_error(difference, squared_difference[i] - difference * difference,
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

/// Sums of a row of a field and of its fourth powers, in a fixed order: pixel x adds to lane x % kLanes.
struct LaneSums {
    static constexpr int kLanes = 8;
    double first[kLanes] = {}, fourth[kLanes] = {};

    static double total(const double* lane) {
        return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    }
};

template <typename Cpu>
QC_INLINE_HELPER void add_row_on(const double* field, int count, LaneSums* sums) {
    using Vector = device::RowVector<double, Cpu>;
    constexpr int kLanes = LaneSums::kLanes, kVectors = kLanes / Vector::kLanes;
    typename Vector::Type first[kVectors], fourth[kVectors], value;
    QC_UNROLL for (int v = 0; v < kVectors; ++v) {
        Vector::load(sums->first + v * Vector::kLanes, &first[v]);
        Vector::load(sums->fourth + v * Vector::kLanes, &fourth[v]);
    }
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        QC_UNROLL for (int v = 0; v < kVectors; ++v) {
            Vector::load(field + i + v * Vector::kLanes, &value);
            first[v] += value;
            value *= value;
            fourth[v] += value * value;
        }
    }
    QC_UNROLL for (int v = 0; v < kVectors; ++v) {
        Vector::store(first[v], sums->first + v * Vector::kLanes);
        Vector::store(fourth[v], sums->fourth + v * Vector::kLanes);
    }
    for (int l = 0; i + l < count; ++l) {
        const double square = field[i + l] * field[i + l];
        sums->first[l] += field[i + l];
        sums->fourth[l] += square * square;
    }
}
QC_CPU_VERSIONS(add_row, (const double* field, int count, LaneSums* sums), (field, count, sums))

/// The same of places that count by their weights.
QC_CPU_CLONES void add_weighted_row(const double* field, const uint32_t* weights, int count, LaneSums* sums) {
    constexpr int kLanes = LaneSums::kLanes;
    LaneSums own = *sums;
    int i = 0;
    const auto add = [&](int l) {
        const double value = field[i + l], square = value * value, weight = weights[i + l];
        own.first[l] += weight * value;
        own.fourth[l] += weight * (square * square);
    };
    for (; i + kLanes <= count; i += kLanes)
        for (int l = 0; l < kLanes; ++l) add(l);
    for (int l = 0; i + l < count; ++l) add(l);
    *sums = own;
}

// ---- levels ---------------------------------------------------------------------------------------------------------

constexpr int kPictures = 2, kComponents = 3; ///< plane of light: picture * kComponents + component
constexpr int kTogether = 8;                  ///< rows that are blurred at once

/// Sums over a row of a level, by channel and term_index().
struct RowSums {
    double of[kChannels][kTerms];
};

double mass_inside(const BlurKernel<double>& blur, int position, int length) {
    double mass = 0.0;
    for (int k = -blur.radius; k <= blur.radius; ++k)
        if (position + k >= 0 && position + k < length) mass += blur.tap[std::abs(k)];
    return mass;
}

/// All that runs of a level share.
struct LevelTask {
    const Plan& plan;
    const uint8_t* needed; ///< [channel]
    LevelSize size;
    Rows* light;                            ///< of this level, if it is not the first
    Rows* half;                             ///< takes the next level's light, if there is one
    RowSums* sums;                          ///< [row]
    const device::Image<uint32_t>* weights; ///< of the places; null: each counts once
    std::vector<double> inverse_mass;       ///< along a row, if the kernel is renormalised

    LevelTask(const Plan& of, int level, Rows* from, Rows* next, RowSums* to, const device::Image<uint32_t>* by)
        : plan(of), needed(of.needed[level]), size(of.level[level]), light(from), half(next), sums(to), weights(by) {
        for (int x = 0; of.blur.renormalise != 0 && x < size.width; ++x)
            inverse_mass.push_back(1.0 / mass_inside(of.blur, x, size.width));
    }
};

} // namespace

/// Of a run at work.
struct RunWorkspace {
    LinearReader reader[kPictures];
    Rows light, samples; ///< the latest rows; of samples, plane channel * kBlurredRows + Blurred
    Rows lines, blurred, fields, zeros;
};

struct RowWorkspace {
    Rows light[kMaxLevels]; ///< from the second level on
    std::vector<RowSums> sums;
    Workspaces<RunWorkspace> runs;
};

namespace {

/// Rows begin to end - 1 of a level, begin being even: their sums, and their part of the next level's light.
class LevelRun {
public:
    LevelRun(const LevelTask& task, RunWorkspace& space, int begin, int end)
        : task_(task), blur_(task.plan.blur), space_(space), width_(task.size.width), height_(task.size.height),
          begin_(begin), end_(end), next_(std::max(0, begin - blur_.radius)) {
        if (task.light == nullptr) space.light.open(kPictures * kComponents, width_, 2);
        space.samples.open(kChannels * kBlurredRows, width_, kRows);
        space.lines.open(1, width_, kTogether);
        space.blurred.open(kBlurredRows, width_, kTogether);
        space.fields.open(kFields, width_, 1);
        space.zeros.open(1, width_, 1);
        std::fill_n(space.zeros.row(0, 0), width_, 0.0);
    }

    void score() {
        for (int y = begin_; y < end_; y += kTogether) {
            const int count = std::min(kTogether, end_ - y);
            for (const int last = std::min(height_, y + count + blur_.radius); next_ < last; ++next_) make_row(next_);
            for (int c = 0; c < kChannels; ++c)
                if (task_.needed[c] != 0) pool(c, y, count);
        }
    }

private:
    static constexpr int kRows = 2 * kMaxRadius + kTogether;

    double* light_row(int picture, int component, int y) const {
        Rows& rows = task_.light != nullptr ? *task_.light : space_.light;
        return rows.row(picture * kComponents + component, y);
    }
    double* sample_row(int channel, int which, int y) const {
        return space_.samples.row(channel * kBlurredRows + which, y);
    }
    int blurred_count(int channel) const {
        return needs_structure(task_.needed[channel]) ? kBlurredRows : kSquaredDifference;
    }

    /// XYB of row y, and what is blurred besides.
    void make_row(int y) {
        for (int i = 0; i < kPictures; ++i) {
            double* const rgb[] = {light_row(i, 0, y), light_row(i, 1, y), light_row(i, 2, y)};
            if (task_.light == nullptr) space_.reader[i].read(y, rgb);
            const int mean = i == 0 ? kReferenceMean : kDistortedMean;
            for (int k = 0; k < kChannels; ++k) cone_row(k, rgb[0], rgb[1], rgb[2], width_, sample_row(k, mean, y));
            xyb_row(sample_row(kX, mean, y), sample_row(kY, mean, y), sample_row(kB, mean, y), width_);
        }
        for (int c = 0; c < kChannels; ++c)
            if (blurred_count(c) > kSquaredDifference)
                products_row(sample_row(c, kReferenceMean, y), sample_row(c, kDistortedMean, y), width_,
                             sample_row(c, kSquaredDifference, y), sample_row(c, kSquares, y));
        hand_on(y);
    }

    /// The next level's row that ends with row y, if it is this run's.
    void hand_on(int y) {
        const int upper = y - y % 2; // the last row of an odd height counts twice
        const bool is_own = upper >= begin_ && upper < end_;
        if (task_.half == nullptr || !is_own || (y % 2 == 0 && y + 1 < height_)) return;
        for (int i = 0; i < kPictures; ++i)
            for (int component = 0; component < kComponents; ++component)
                halve_rows(light_row(i, component, upper), light_row(i, component, y), width_,
                           task_.half->row(i * kComponents + component, y / 2));
    }

    /// Blurs rows y to y + count - 1 of a channel.
    void blur(int channel, int which, int y, int count) {
        const int radius = blur_.radius;
        const double* around[2 * kMaxRadius + kTogether];
        for (int i = 0; i < count + 2 * radius; ++i) {
            const int row = y - radius + i;
            around[i] = row >= 0 && row < height_ ? sample_row(channel, which, row) : space_.zeros.row(0, 0);
        }
        double scale[kTogether], *line[kTogether];
        for (int i = 0; i < count; ++i) {
            scale[i] = blur_.renormalise == 0 ? 1.0 : 1.0 / mass_inside(blur_, y + i, height_);
            line[i] = space_.lines.row(0, i);
        }
        blur_columns(around + radius, blur_.tap, radius, scale, count, width_, line);
        for (int i = 0; i < count; ++i) {
            std::fill(line[i] - kMargin, line[i], 0.0);
            std::fill(line[i] + width_, line[i] + width_ + kMargin, 0.0);
            double* const to = space_.blurred.row(which, i);
            blur_row(line[i], blur_.tap, radius, width_, to);
            if (!task_.inverse_mass.empty()) scale_row(to, task_.inverse_mass.data(), width_);
        }
    }

    /// Sums of the fields of rows y to y + count - 1, whose neighbours have all arrived.
    void pool(int channel, int y, int count) {
        const uint8_t needed = task_.needed[channel];
        for (int b = 0; b < blurred_count(channel); ++b) blur(channel, b, y, count);
        double* field[kFields];
        for (int m = 0; m < kFields; ++m) field[m] = space_.fields.row(m, 0);
        for (int i = 0; i < count; ++i) {
            const double* blurred[kBlurredRows];
            for (int b = 0; b < kBlurredRows; ++b) blurred[b] = space_.blurred.row(b, i);
            double* const sums = task_.sums[y + i].of[channel];
            if (needs_structure(needed)) {
                structure_row(blurred, width_, field[kStructure]);
                add_field(field[kStructure], kStructure, y + i, sums);
            }
            if (!needs_edges(needed)) continue;
            edge_row(sample_row(channel, kReferenceMean, y + i), sample_row(channel, kDistortedMean, y + i), blurred,
                     width_, field[kArtifact], field[kDetail]);
            add_field(field[kArtifact], kArtifact, y + i, sums);
            add_field(field[kDetail], kDetail, y + i, sums);
        }
    }

    /// Row y of a field.
    void add_field(const double* field, int which, int y, double* sums) const {
        LaneSums lanes;
        if (task_.weights == nullptr)
            add_row(field, width_, &lanes);
        else
            add_weighted_row(field, task_.weights->row(y), width_, &lanes);
        sums[term_index(kFirst, which)] = LaneSums::total(lanes.first);
        sums[term_index(kFourth, which)] = LaneSums::total(lanes.fourth);
    }

    const LevelTask& task_;
    const BlurKernel<double>& blur_;
    RunWorkspace& space_;
    const int width_, height_, begin_, end_;
    int next_;
};

void write_sums(const Plan& plan, int level, std::span<const RowSums> rows, std::span<uint64_t> accumulators) {
    RowSums total{};
    for (const RowSums& row : rows)
        for (int c = 0; c < kChannels; ++c)
            for (int term = 0; term < kTerms; ++term) total.of[c][term] += row.of[c][term];
    for (int c = 0; c < kChannels; ++c)
        for (int term = 0; term < kTerms; ++term)
            if ((plan.needed[level][c] >> term & 1) != 0)
                accumulators[static_cast<size_t>(norm_index(plan.levels, c, level, term))] =
                    std::bit_cast<uint64_t>(total.of[c][term]);
}

} // namespace

void score_cpu_rows(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair,
                    std::span<uint64_t> accumulators, RowWorkspaces& workspaces) {
    constexpr int kRowsTogether = 16; ///< that one thread takes at least
    const auto lease = workspaces.borrow();
    RowWorkspace& space = *lease;
    std::optional<LevelWeights> weights;
    if (geometry.has_weights) weights.emplace(plan, pair.weights).write_sums(accumulators);
    for (int level = 0; level < plan.levels; ++level) {
        const LevelSize size = plan.level[level];
        Rows* const next = level + 1 < plan.levels ? &space.light[level + 1] : nullptr;
        if (next != nullptr)
            next->open(kPictures * kComponents, plan.level[level + 1].width, plan.level[level + 1].height);
        space.sums.assign(static_cast<size_t>(size.height), RowSums{});
        const LevelTask task(plan, level, level == 0 ? nullptr : &space.light[level], next, space.sums.data(),
                             weights ? &weights->of(level) : nullptr);
        share_runs(pair.helpers, size.height, kRowsTogether, [&](int begin, int end) {
            const auto run_lease = space.runs.borrow();
            RunWorkspace& run = *run_lease;
            run.reader[0].open(pair.reference, geometry, plan.reference);
            run.reader[1].open(pair.distorted, geometry, plan.distorted);
            LevelRun(task, run, begin, end).score();
        });
        write_sums(plan, level, space.sums, accumulators);
    }
}

} // namespace qc::ssimulacra2
