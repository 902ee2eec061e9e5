// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the CPU, fast: what butteraugli_cpu.cpp computes, row by row. Each step makes its next row once the
// rows around it have come from the step before, and keeps a few; so a run of rows works in a core's caches, and
// threads share a scale by runs. Light and responses are double precision; of these, one in sixteen is kept so, the
// others as differences from it, and the distorted picture's as differences from the reference's: single precision, as
// is all that comes after. Small differences keep their digits so: docs/reference/metrics/butteraugli.md has how many.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "contract/helpers.hpp"
#include "device/row_store.hpp"
#include "families/linear_light/linear_rows.hpp"
#include "metrics/butteraugli/butteraugli.hpp"
#include "metrics/butteraugli/butteraugli_cpu_band.hpp"
#include "metrics/butteraugli/butteraugli_lines.hpp"

namespace qc::butteraugli {
namespace {

using Singles = device::RowStore<float>;
using Doubles = device::RowStore<double>;

using rows::kBanded, rows::kBoth, rows::kColours, rows::kSides;
/// Planes above the lowest band: side * kBanded + channel, and how blue differs.
constexpr int kBandedBoth = kSides * kBanded, kBlue = kBandedBoth, kParted = kBlue + 1;
constexpr int kMargin = Singles::kMargin;
constexpr int kRowsTogether = 8; ///< that a step makes at once, and one thread takes at least
static_assert(kMargin >= kMaxRadius && kMargin >= kLineReach && kMargin >= kErosionStep);
static_assert(kMargin % rows::kSegment == 0 && kRowsTogether % 2 == 0);

/// A Gaussian, and 1 / its mass inside a row and inside a column.
struct RowBlur {
    Gaussian<float> blur;
    std::vector<float> along, down;
};

/// 1 / the Gaussian's mass inside a line of `length` samples.
double inverse_mass(const Gaussian<double>& blur, int position, int length) {
    double mass = 0.0;
    for (int k = -blur.radius; k <= blur.radius; ++k)
        if (position + k >= 0 && position + k < length) mass += blur.tap[std::abs(k)];
    return 1.0 / mass;
}

void zero_margins(float* row, int width) {
    std::fill(row - kMargin, row, 0.0f);
    std::fill(row + width, row + width + kMargin, 0.0f);
}

int mirrored(int i, int length) {
    return i < 0 ? -1 - i : i < length ? i : 2 * length - 1 - i;
}

struct RowSum {
    double power[kPowers], largest;
    uint64_t weights; ///< with weights
};

/// All that runs of a scale share.
struct ScaleTask {
    const Plan& plan;
    int width, height;
    RowBlur lowest, middle, highest, masking;
    std::vector<float> share_of_left, share_of_right; ///< see rows::LowBand
    Doubles* light;                                   ///< of this scale, if it is not the first
    Doubles* half;                                    ///< takes the next scale's light, if there is one
    Singles* map;

    ScaleTask(const Plan& of, int scale, Doubles* from, Doubles* next, Singles* to)
        : plan(of), width(of.scale[scale].width), height(of.scale[scale].height), lowest(blur_of(kLowest)),
          middle(blur_of(kMiddle)), highest(blur_of(kHighest)), masking(blur_of(kMasking)),
          share_of_left(share_beside(-1)), share_of_right(share_beside(1)), light(from), half(next), map(to) {}

private:
    size_t whole_segments() const { return static_cast<size_t>(rows::segments_of(width) * rows::kSegment); }

    RowBlur blur_of(GaussianIndex index) const {
        RowBlur row{rows::to_single(plan.blur[index]), std::vector<float>(whole_segments()), {}};
        for (int x = 0; x < width; ++x)
            row.along[static_cast<size_t>(x)] = static_cast<float>(inverse_mass(plan.blur[index], x, width));
        for (int y = 0; y < height; ++y)
            row.down.push_back(static_cast<float>(inverse_mass(plan.blur[index], y, height)));
        return row;
    }

    /// Of the lowest band's Gaussian around each place of a row, what lies in the next segment to the right or left.
    std::vector<float> share_beside(int direction) const {
        const Gaussian<double>& blur = plan.blur[kLowest];
        std::vector<float> shares(whole_segments());
        for (int x = 0; x < width; ++x) {
            double share = 0.0;
            for (int k = 1; k <= blur.radius; ++k) {
                const int there = x + direction * k;
                const bool is_beside = there >= 0 && there < width && there / rows::kSegment != x / rows::kSegment;
                if (is_beside) share += blur.tap[k];
            }
            shares[static_cast<size_t>(x)] = static_cast<float>(share * inverse_mass(blur, x, width));
        }
        return shares;
    }
};

} // namespace

/// Of a run at work: the latest rows of each step.
struct RunWorkspace {
    LinearReader reader[kSides];
    Doubles light, base;
    Singles detail, difference, above, middle, ultra, activity, masking, lines, high_sum, low_sum;
    // What is forgotten at once.
    Doubles rgb, low_base;
    Singles line, blurred, low_difference, parted_ultra, high;
    // Rows of zeros, and of what is larger than anything.
    Doubles double_zeros;
    Singles zeros, most;
};

struct RowWorkspace {
    Doubles half;
    Singles map[kScales];
    std::vector<RowSum> sums;
    Workspaces<RunWorkspace> runs;
};

namespace {

/// Rows of a scale's map, and of the next scale's light.
class ScaleRun {
public:
    ScaleRun(const ScaleTask& task, RunWorkspace& space)
        : task_(task), space_(space), width_(task.width), height_(task.height) {
        open();
    }

    /// Rows begin to end - 1, begin being a multiple of kRowsTogether. Where it is the former end, nothing is made
    /// again.
    void measure(int begin, int end) {
        if (begin != end_) begin_at(begin);
        end_ = end;
        for (int y = begin; y < end; y += kTogether) {
            const int last = std::min(y + kTogether, end) - 1;
            make_masking(until(last, kErosionStep));
            for (int row = y; row <= last; ++row) measure_row(row);
        }
    }
    LinearReader& reader(int side) { return space_.reader[side]; }

private:
    static constexpr int kTogether = kRowsTogether;
    /// How many rows before those that are measured, and after them, a step needs.
    static constexpr int kHighAround = kErosionStep + kRadius[kMasking],
                         kMiddleAround = kHighAround + kRadius[kHighest],
                         kAboveAround = kMiddleAround + kRadius[kMiddle],
                         kResponsesAround = kAboveAround + kRadius[kLowest],
                         kLightAround = kResponsesAround + kRadius[kAdaptation];
    // Rows that are kept, from the first that is still needed to the last that has been made.
    static constexpr int kLightRows = rows::kResponseRows + 2 * kRadius[kAdaptation];
    static constexpr int kResponseRows = kTogether + 2 * kRadius[kLowest];
    static constexpr int kAboveRows = 24, kHighRows = 24, kRows = 16;
    static constexpr int kSumRows = kTogether + kAboveAround; ///< from the lowest band to the map
    static_assert(kAboveRows >= kTogether + 2 * kRadius[kMiddle] && kRows >= kTogether + 2 * kRadius[kHighest]);
    static_assert(kRows >= kTogether + 2 * kErosionStep && kHighRows >= kTogether + kHighAround + kLineReach);
    static_assert(kHighRows >= kTogether + 2 * kRadius[kMasking]);

    static int from(int row, int radius) { return std::max(0, row - radius); }
    int until(int row, int radius) const { return std::min(height_ - 1, row + radius); }

    void open() {
        RunWorkspace& s = space_;
        const int segments = rows::segments_of(width_);
        if (task_.light == nullptr) s.light.open(kBoth, width_, kLightRows);
        s.rgb.open(kColours, width_, 1);
        s.base.open(kBanded, segments, kResponseRows);
        s.detail.open(kBanded, width_, kResponseRows);
        s.difference.open(kColours, width_, kResponseRows);
        s.above.open(kParted, width_, kAboveRows);
        s.middle.open(kParted, width_, kRows);
        s.ultra.open(kBandedBoth, width_, kRows);
        s.lines.open(kLineBands, width_, kHighRows);
        s.activity.open(kSides, width_, kHighRows);
        s.masking.open(1, width_, kRows);
        s.high_sum.open(1, width_, kHighRows);
        s.low_sum.open(1, width_, kSumRows);
        for (Singles* rows : {&s.parted_ultra, &s.high}) rows->open(kBandedBoth, width_, 1);
        s.low_difference.open(kColours, width_, kTogether);
        s.low_base.open(1, segments, kTogether);
        s.blurred.open(1, width_, kTogether);
        s.line.open(kBandedBoth, width_, kTogether);
        for (Singles* rows : {&s.zeros, &s.most}) rows->open(1, width_, 1);
        s.double_zeros.open(1, segments, 1);
        std::fill_n(s.zeros.row(0, 0) - kMargin, width_ + 2 * kMargin, 0.0f);
        std::fill_n(s.most.row(0, 0) - kMargin, width_ + 2 * kMargin, HUGE_VALF);
        std::fill_n(s.double_zeros.row(0, 0) - kMargin, segments + 2 * kMargin, 0.0);
    }

    void begin_at(int row) {
        next_masking_ = from(row, kErosionStep);
        next_high_ = from(row, kHighAround);
        next_middle_ = from(row, kMiddleAround);
        next_above_ = from(row, kAboveAround);
        next_response_ = from(row, kResponsesAround);
        next_light_ = from(row, kLightAround);
        // Rows before belong to whom measures the rows above: that run has seen so far ahead.
        first_own_light_ = row == 0 ? 0 : row + kLightAround;
    }

    // ---- blurs: down, then along --------------------------------------------------------------------------------

    /// Rows that a blur of rows y to y + count - 1 reads, the first `radius` above y.
    template <typename Real>
    struct Around {
        const Real* row[2 * kMaxRadius + kTogether];

        Around(device::RowStore<Real>& rows, int plane, int y, int count, int radius, int height, const Real* zeros) {
            for (int i = 0; i < count + 2 * radius; ++i) {
                const int at = y - radius + i;
                row[i] = at >= 0 && at < height ? rows.row(plane, at) : zeros;
            }
        }
    };

    /// Rows y to y + count - 1. Beyond the borders there is nothing, and the sum is divided by the mass inside.
    void blur(const RowBlur& by, Singles& from, int plane, int y, int count, float* const* to) const {
        const int radius = by.blur.radius;
        const Around<float> around(from, plane, y, count, radius, height_, space_.zeros.row(0, 0));
        float* line[kTogether];
        for (int i = 0; i < count; ++i) line[i] = space_.blurred.row(0, i);
        rows::blur_down(by.blur, around.row + radius, by.down.data() + y, count, width_, line);
        for (int i = 0; i < count; ++i) {
            zero_margins(line[i], width_);
            rows::blur_across(by.blur, line[i], by.along.data(), width_, to[i]);
        }
    }

    /// The bases' part of the lowest band, down columns alone.
    void blur_bases(int channel, int y, int count, double* const* to) const {
        const Gaussian<double>& gaussian = task_.plan.blur[kLowest];
        const Around<double> around(space_.base, channel, y, count, gaussian.radius, height_,
                                    space_.double_zeros.row(0, 0));
        double scale[kTogether];
        for (int i = 0; i < count; ++i) scale[i] = inverse_mass(gaussian, y + i, height_);
        rows::blur_bases(gaussian, around.row + gaussian.radius, scale, count, rows::segments_of(width_), to);
    }

    // ---- steps: each makes its rows up to the last that is asked for, some at once ------------------------------

    template <typename Make>
    static void make(int* next, int last, int together, const Make& make_rows) {
        while (*next <= last) {
            const int first = *next, count = std::min(together, last + 1 - first);
            make_rows(first, count);
            *next += count;
        }
    }

    double* light_row(int plane, int y) const {
        return task_.light != nullptr ? task_.light->row(plane, y) : space_.light.row(plane, y);
    }

    void make_light(int last) {
        for (; next_light_ <= last; ++next_light_) {
            const int y = next_light_;
            for (int side = 0; task_.light == nullptr && side < kSides; ++side) {
                double *rgb[kColours], *cone[kColours];
                for (int c = 0; c < kColours; ++c) {
                    rgb[c] = space_.rgb.row(c, 0);
                    cone[c] = space_.light.row(side * kColours + c, y);
                }
                space_.reader[side].read(y, rgb);
                rows::mix_cones(task_.plan.intensity_target, rgb, width_, cone);
            }
            if (task_.half == nullptr || y < first_own_light_ || (y % 2 == 0 && y + 1 < height_)) continue;
            for (int plane = 0; plane < kBoth; ++plane) // the last row of an odd height counts twice
                rows::halve(light_row(plane, y - y % 2), light_row(plane, y), width_, task_.half->row(plane, y / 2));
        }
    }

    /// Of light that is mirrored beyond the picture's borders.
    void make_response(int last) {
        constexpr int kReach = kRadius[kAdaptation];
        make(&next_response_, last, rows::kResponseRows, [&](int first, int count) {
            make_light(until(first + count - 1, kReach));
            rows::LightRows light;
            std::copy_n(kDarkness, kColours, light.darkness);
            rows::ResponseRow to[rows::kResponseRows];
            for (int plane = 0; plane < kBoth; ++plane)
                for (int i = 0; i < count + 2 * kReach; ++i)
                    light.row[plane][i] = light_row(plane, mirrored(first - kReach + i, height_));
            for (int i = 0; i < count; ++i)
                for (int c = 0; c < kColours; ++c) {
                    to[i].difference[c] = space_.difference.row(c, first + i);
                    if (c >= kBanded) continue;
                    to[i].base[c] = space_.base.row(c, first + i);
                    to[i].detail[c] = space_.detail.row(c, first + i);
                }
            rows::respond(task_.plan.blur[kAdaptation], light, count, width_, to);
        });
    }

    /// What lies above the lowest band, and how the lowest bands differ.
    void make_above(int last) {
        make(&next_above_, last, kTogether, [&](int first, int count) {
            make_response(until(first + count - 1, kRadius[kLowest]));
            for (int c = 0; c < kColours; ++c) part_low(c, first, count);
            for (int i = 0; i < count; ++i) {
                const float* const low_difference[kColours] = {
                    space_.low_difference.row(0, i), space_.low_difference.row(1, i), space_.low_difference.row(2, i)};
                rows::add_low(task_.plan.constants, low_difference, width_, space_.low_sum.row(0, first + i));
            }
        });
    }

    void part_low(int c, int first, int count) {
        double* low_base[kTogether];
        float *low_detail[kTogether], *low_difference[kTogether];
        for (int i = 0; i < count; ++i) {
            low_base[i] = space_.low_base.row(0, i);
            low_detail[i] = space_.line.row(0, i);
            low_difference[i] = space_.low_difference.row(c, i);
        }
        blur(task_.lowest, space_.difference, c, first, count, low_difference);
        if (c >= kBanded) {
            for (int i = 0; i < count; ++i)
                rows::part_low_difference(space_.difference.row(c, first + i), low_difference[i], width_,
                                          space_.above.row(kBlue, first + i));
            return;
        }
        blur(task_.lowest, space_.detail, c, first, count, low_detail);
        blur_bases(c, first, count, low_base);
        for (int i = 0; i < count; ++i) {
            const int y = first + i;
            const rows::LowBand band{space_.base.row(c, y),       low_base[i],
                                     space_.detail.row(c, y),     low_detail[i],
                                     space_.difference.row(c, y), low_difference[i],
                                     task_.share_of_left.data(),  task_.share_of_right.data()};
            rows::part_low(band, width_, space_.above.row(c, y), space_.above.row(kBanded + c, y));
        }
    }

    void make_middle(int last) {
        make(&next_middle_, last, kTogether, [&](int first, int count) {
            make_above(until(first + count - 1, kRadius[kMiddle]));
            for (int plane = 0; plane < kParted; ++plane) {
                float* to[kTogether];
                for (int i = 0; i < count; ++i) to[i] = space_.middle.row(plane, first + i);
                blur(task_.middle, space_.above, plane, first, count, to);
            }
            for (int y = first; y < first + count; ++y)
                for (int side = 0; side < kSides; ++side) {
                    const float* above[kBanded];
                    float *middle[kBanded], *ultra[kBanded];
                    for (int c = 0; c < kBanded; ++c) {
                        const int plane = side * kBanded + c;
                        above[c] = space_.above.row(plane, y);
                        middle[c] = space_.middle.row(plane, y);
                        ultra[c] = space_.ultra.row(plane, y);
                    }
                    rows::part_middle(above, middle, width_, ultra);
                }
        });
    }

    /// The highest bands, and what is made of all bands but the lowest at a place.
    void make_high(int last) {
        make(&next_high_, last, kTogether, [&](int first, int count) {
            make_middle(until(first + count - 1, kRadius[kHighest]));
            for (int plane = 0; plane < kBandedBoth; ++plane) {
                float* to[kTogether];
                for (int i = 0; i < count; ++i) to[i] = space_.line.row(plane, i);
                blur(task_.highest, space_.ultra, plane, first, count, to);
            }
            for (int i = 0; i < count; ++i) make_high_row(first + i, i);
        });
    }
    /// @param i of the blurred rows
    void make_high_row(int y, int i) {
        float *ultra[kSides][kBanded], *high[kSides][kBanded];
        rows::MiddleBands bands{};
        bands.blue = space_.middle.row(kBlue, y);
        for (int side = 0; side < kSides; ++side) {
            const float *above[kBanded], *blurred[kBanded];
            for (int c = 0; c < kBanded; ++c) {
                const int plane = side * kBanded + c;
                bands.high[side][c] = high[side][c] = space_.high.row(plane, 0);
                bands.middle[side][c] = space_.middle.row(plane, y);
                ultra[side][c] = space_.parted_ultra.row(plane, 0);
                above[c] = space_.ultra.row(plane, y);
                blurred[c] = space_.line.row(plane, i);
            }
            rows::part_high(task_.plan.constants.compression, above, blurred, width_, ultra[side], high[side]);
            rows::find_activity(ultra[side], high[side], width_, space_.activity.row(side, y));
        }
        const auto lines = [&](LineBand band, const float* reference, const float* distorted) {
            float* const to = space_.lines.row(band, y);
            rows::line_differences(task_.plan.lines[band], reference, distorted, width_, to);
            zero_margins(to, width_);
        };
        lines(kUltraY, ultra[0][1], ultra[1][1]);
        lines(kUltraX, ultra[0][0], ultra[1][0]);
        lines(kHighY, high[0][1], high[1][1]);
        lines(kHighX, high[0][0], high[1][0]);
        lines(kMiddleY, bands.middle[0][1], bands.middle[1][1]);
        lines(kMiddleX, bands.middle[0][0], bands.middle[1][0]);
        const auto weights = [&](double weight) -> rows::SquareWeights {
            return {static_cast<float>(kHighShare * weight * task_.plan.asymmetry),
                    static_cast<float>(kHighShare * weight / task_.plan.asymmetry)};
        };
        const rows::SquareWeights of_high[kBanded] = {weights(kHighWeightX), weights(kHighWeightY)};
        rows::take_squares(of_high, bands, width_, space_.high_sum.row(0, y));
    }

    void make_masking(int last) {
        make(&next_masking_, last, kTogether, [&](int first, int count) {
            make_high(until(first + count - 1, kRadius[kMasking]));
            float *reference[kTogether], *distorted[kTogether];
            for (int i = 0; i < count; ++i) {
                reference[i] = space_.masking.row(0, first + i);
                distorted[i] = space_.line.row(0, i);
            }
            blur(task_.masking, space_.activity, 0, first, count, reference);
            blur(task_.masking, space_.activity, 1, first, count, distorted);
            for (int i = 0; i < count; ++i) {
                rows::add_activity_squares(reference[i], distorted[i], width_, space_.high_sum.row(0, first + i));
                // Never among the smallest.
                std::fill_n(reference[i] - kErosionStep, kErosionStep, HUGE_VALF);
                std::fill_n(reference[i] + width_, kErosionStep, HUGE_VALF);
            }
        });
    }

    void measure_row(int y) {
        float* const high = space_.high_sum.row(0, y);
        for (int band = 0; band < kLineBands; ++band) {
            const float* around[2 * kLineReach + 1];
            for (int k = -kLineReach; k <= kLineReach; ++k) {
                const bool inside = y + k >= 0 && y + k < height_;
                around[kLineReach + k] = inside ? space_.lines.row(band, y + k) : space_.zeros.row(0, 0);
            }
            rows::add_lines(band == kUltraY || band == kUltraX, around, width_, high);
        }
        const float* masking[3];
        for (int k = -1; k <= 1; ++k) {
            const int row = y + k * kErosionStep;
            masking[1 + k] = row >= 0 && row < height_ ? space_.masking.row(0, row) : space_.most.row(0, 0);
        }
        rows::measure(task_.plan.constants.masking_gain, masking, high, space_.low_sum.row(0, y), width_,
                      task_.map->row(0, y));
    }

    const ScaleTask& task_;
    RunWorkspace& space_;
    const int width_, height_;
    int end_ = -1;
    int next_light_ = 0, next_response_ = 0, next_above_ = 0, next_middle_ = 0, next_high_ = 0, next_masking_ = 0;
    int first_own_light_ = 0;
};

void measure_scale(const ScaleTask& task, const FrameGeometry& geometry, const HostPair& pair,
                   Workspaces<RunWorkspace>& spaces) {
    share_row_runs(pair.helpers, task.height, kRowsTogether, [&](RowRuns& runs, RowRuns::Run rows) {
        const auto lease = spaces.borrow();
        ScaleRun run(task, *lease);
        run.reader(0).open(pair.reference, geometry, task.plan.reference);
        run.reader(1).open(pair.distorted, geometry, task.plan.distorted);
        do run.measure(rows.begin, rows.end);
        while (runs.go_on(&rows) || runs.begin(&rows));
    });
}

} // namespace

void score_cpu_rows(const FrameGeometry& geometry, const Plan& plan, const HostPair& pair,
                    std::span<uint64_t> accumulators, RowWorkspaces& workspaces) {
    const auto lease = workspaces.borrow();
    RowWorkspace& space = *lease;
    const bool halves = plan.scales > 1;
    if (halves) space.half.open(kBoth, plan.scale[1].width, plan.scale[1].height);
    for (int scale = 0; scale < plan.scales; ++scale) {
        space.map[scale].open(1, plan.scale[scale].width, plan.scale[scale].height);
        const ScaleTask task(plan, scale, scale == 0 ? nullptr : &space.half,
                             scale == 0 && halves ? &space.half : nullptr, &space.map[scale]);
        measure_scale(task, geometry, pair, space.runs);
    }
    space.sums.assign(static_cast<size_t>(geometry.height), RowSum{});
    share_runs(pair.helpers, geometry.height, kRowsTogether, [&](int begin, int end) {
        for (int y = begin; y < end; ++y) {
            float* const row = space.map[0].row(0, y);
            RowSum& sum = space.sums[static_cast<size_t>(y)];
            if (halves) rows::join_scales(space.map[1].row(0, y / 2), geometry.width, row);
            if (!geometry.has_weights) {
                rows::add_powers(row, geometry.width, sum.power, sum.largest);
                continue;
            }
            const uint8_t* const weights = pair.weights.as<uint8_t>().row(y);
            rows::add_weighted_powers(row, weights, geometry.width, sum.power, sum.largest);
            sum.weights = std::accumulate(weights, weights + geometry.width, uint64_t{0});
        }
    });
    RowSum total{};
    for (const RowSum& sum : space.sums) {
        for (int p = 0; p < kPowers; ++p) total.power[p] += sum.power[p];
        total.largest = std::max(total.largest, sum.largest);
        total.weights += sum.weights;
    }
    for (size_t p = 0; p < kPowers; ++p) accumulators[p] = std::bit_cast<uint64_t>(total.power[p]);
    accumulators[kLargest] = std::bit_cast<uint64_t>(total.largest);
    if (geometry.has_weights) accumulators[kSumOfWeights] = total.weights;
}

} // namespace qc::butteraugli
