// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli on the CPU, fast: what butteraugli_cpu.cpp computes, row by row. Each step makes its next row once the
// rows around it have come from the step before, and keeps a few; so a run of rows works in a core's caches, and
// threads share a scale by runs. Light, responses and the reference's lowest band are double precision. How the
// distorted picture's response differs from the reference's is single precision, and blurred by itself; so is what
// lies above the lowest band. Small differences keep their digits so: docs/metrics/butteraugli.md has how many.
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

constexpr int kSides = 2, kColours = 3; ///< planes of a colour store: side * kColours + colour
constexpr int kBoth = kSides * kColours;
constexpr int kMargin = Singles::kMargin;
constexpr int kRowsTogether = 16; ///< that one thread takes at least
static_assert(kMargin >= kMaxRadius && kMargin >= kLineReach && kMargin >= kErosionStep);

/// A Gaussian, and what it is divided by along a row.
template <typename Real>
struct RowBlur {
    Gaussian<Real> blur;
    std::vector<Real> scale;
};

/// 1 / the Gaussian's mass inside a line of `length` samples.
double inverse_mass(const Gaussian<double>& blur, int position, int length) {
    double mass = 0.0;
    for (int k = -blur.radius; k <= blur.radius; ++k)
        if (position + k >= 0 && position + k < length) mass += blur.tap[std::abs(k)];
    return 1.0 / mass;
}

template <typename Real>
void zero_margins(Real* row, int width) {
    std::fill(row - kMargin, row, Real{0});
    std::fill(row + width, row + width + kMargin, Real{0});
}

int mirrored(int i, int length) {
    return i < 0 ? -1 - i : i < length ? i : 2 * length - 1 - i;
}

struct RowSum {
    double power[kPowers], largest;
    uint64_t weights; ///< under a mask
};

/// All that runs of a scale share.
struct ScaleTask {
    const Plan& plan;
    int width, height;
    RowBlur<double> lowest;
    RowBlur<float> lowest_single, middle, highest, mask;
    std::vector<double> ones;
    Doubles* light; ///< of this scale, if it is not the first
    Doubles* half;  ///< takes the next scale's light, if there is one
    Singles* map;

    ScaleTask(const Plan& of, int scale, Doubles* from, Doubles* next, Singles* to)
        : plan(of), width(of.scale[scale].width), height(of.scale[scale].height), lowest(blur_of<double>(kLowest)),
          lowest_single(blur_of<float>(kLowest)), middle(blur_of<float>(kMiddle)), highest(blur_of<float>(kHighest)),
          mask(blur_of<float>(kMask)), ones(static_cast<size_t>(width), 1.0), light(from), half(next), map(to) {}

private:
    template <typename Real>
    RowBlur<Real> blur_of(GaussianIndex index) const {
        RowBlur<Real> row;
        if constexpr (std::is_same_v<Real, double>)
            row.blur = plan.blur[index];
        else
            row.blur = rows::to_single(plan.blur[index]);
        for (int x = 0; x < width; ++x)
            row.scale.push_back(static_cast<Real>(inverse_mass(plan.blur[index], x, width)));
        return row;
    }
};

} // namespace

/// Of a run at work: the latest rows of each step.
struct RunWorkspace {
    LinearReader reader[kSides];
    Doubles light, soft, response;
    Singles difference, above, middle, ultra, activity, mask, lines, high_sum, low_sum;
    // What is forgotten at once.
    Doubles double_line, double_blurred;
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

/// Rows begin to end - 1 of a scale's map, begin being even, and their part of the next scale's light.
class ScaleRun {
public:
    ScaleRun(const ScaleTask& task, RunWorkspace& space, int begin, int end)
        : task_(task), space_(space), width_(task.width), height_(task.height), begin_(begin), end_(end) {
        // The last rows that anybody asks for: several at once are not made beyond them.
        const int last_high = until(end - 1, kErosionStep + kRadius[kMask]);
        last_middle_ = until(last_high, kRadius[kHighest]);
        last_above_ = until(last_middle_, kRadius[kMiddle]);
        next_mask_ = from(begin, kErosionStep);
        next_high_ = from(next_mask_, kRadius[kMask]);
        next_middle_ = from(next_high_, kRadius[kHighest]);
        next_above_ = from(next_middle_, kRadius[kMiddle]);
        next_response_ = from(next_above_, kRadius[kLowest]);
        next_light_ = from(next_response_, kRadius[kAdaptation]);
        open();
    }

    void measure() {
        for (int y = begin_; y < end_; ++y) measure_row(y);
    }
    LinearReader& reader(int side) { return space_.reader[side]; }

private:
    static constexpr int kTogether = 8; ///< rows that are blurred at once, where there are many taps
    static constexpr int kLightRows = 8, kResponseRows = 40, kAboveRows = 32, kRows = 16;
    static constexpr int kSumRows = 40; ///< from the lowest band to the map
    static_assert(kLightRows > 2 * kRadius[kAdaptation] && kResponseRows >= 2 * kRadius[kLowest] + kTogether);
    static_assert(kAboveRows >= 2 * kRadius[kMiddle] + 2 * kTogether && kRows >= 2 * kRadius[kHighest] + kTogether);
    static_assert(kRows > 2 * kRadius[kMask] && kRows > kLineReach + kErosionStep + kRadius[kMask]);
    static_assert(kSumRows >= kErosionStep + kRadius[kMask] + kRadius[kHighest] + kRadius[kMiddle] + 2 * kTogether);

    static int from(int row, int radius) { return std::max(0, row - radius); }
    int until(int row, int radius) const { return std::min(height_ - 1, row + radius); }

    void open() {
        RunWorkspace& s = space_;
        if (task_.light == nullptr) s.light.open(kBoth, width_, kLightRows);
        s.response.open(kColours, width_, kResponseRows);
        s.difference.open(kColours, width_, kResponseRows);
        s.above.open(kBoth, width_, kAboveRows);
        for (Singles* rows : {&s.middle, &s.ultra, &s.lines}) rows->open(kBoth, width_, kRows);
        s.activity.open(kSides, width_, kRows);
        for (Singles* rows : {&s.mask, &s.high_sum}) rows->open(1, width_, kRows);
        s.low_sum.open(1, width_, kSumRows);
        s.soft.open(kColours, width_, 1);
        for (Singles* rows : {&s.parted_ultra, &s.high}) rows->open(kBoth, width_, 1);
        s.low_difference.open(kColours, width_, kTogether);
        for (Doubles* rows : {&s.double_line, &s.double_blurred}) rows->open(1, width_, kTogether);
        s.blurred.open(1, width_, kTogether);
        s.line.open(2, width_, 1);
        for (Singles* rows : {&s.zeros, &s.most}) rows->open(1, width_, 1);
        s.double_zeros.open(1, width_, 1);
        std::fill_n(s.zeros.row(0, 0) - kMargin, width_ + 2 * kMargin, 0.0f);
        std::fill_n(s.most.row(0, 0) - kMargin, width_ + 2 * kMargin, HUGE_VALF);
        std::fill_n(s.double_zeros.row(0, 0) - kMargin, width_ + 2 * kMargin, 0.0);
    }

    // ---- blurs: down, then along --------------------------------------------------------------------------------

    /// Rows y to y + count - 1. Beyond the borders there is nothing, and the sum is divided by the mass inside.
    /// @param zeros a row @param lines as many rows as are blurred
    template <typename Real>
    void blur(const RowBlur<Real>& by, GaussianIndex index, device::RowStore<Real>& rows, int plane, int y, int count,
              Real* zeros, device::RowStore<Real>& lines, Real* const* to) const {
        const int radius = by.blur.radius;
        const Real* around[2 * kMaxRadius + kTogether];
        for (int i = 0; i < count + 2 * radius; ++i) {
            const int row = y - radius + i;
            around[i] = row >= 0 && row < height_ ? rows.row(plane, row) : zeros;
        }
        Real scale[kTogether], *line[kTogether];
        for (int i = 0; i < count; ++i) {
            scale[i] = static_cast<Real>(inverse_mass(task_.plan.blur[index], y + i, height_));
            line[i] = lines.row(0, i);
        }
        rows::blur_down(by.blur, around + radius, scale, count, width_, line);
        for (int i = 0; i < count; ++i) {
            zero_margins(line[i], width_);
            rows::blur_across(by.blur, line[i], by.scale.data(), width_, to[i]);
        }
    }
    void blur(const RowBlur<float>& by, GaussianIndex index, Singles& rows, int plane, int y, int count,
              float* const* to) const {
        blur(by, index, rows, plane, y, count, space_.zeros.row(0, 0), space_.blurred, to);
    }
    void blur(const RowBlur<float>& by, GaussianIndex index, Singles& rows, int plane, int y, float* to) const {
        blur(by, index, rows, plane, y, 1, &to);
    }

    /// The light around, the picture being mirrored beyond its borders.
    void soften(int plane, int y, double* to) const {
        const Gaussian<double>& blur = task_.plan.blur[kAdaptation];
        constexpr int kR = kRadius[kAdaptation];
        const double* around[2 * kR + 1];
        for (int k = -kR; k <= kR; ++k) around[kR + k] = light_row(plane, mirrored(y + k, height_));
        double* const line = space_.double_blurred.row(0, 0);
        rows::blur_down(blur, around + kR, task_.ones.data(), 1, width_, &line);
        for (int i = 1; i <= kR; ++i) {
            line[-i] = line[mirrored(-i, width_)];
            line[width_ - 1 + i] = line[mirrored(width_ - 1 + i, width_)];
        }
        rows::blur_across(blur, line, task_.ones.data(), width_, to);
    }

    // ---- steps --------------------------------------------------------------------------------------------------

    double* light_row(int plane, int y) const {
        return task_.light != nullptr ? task_.light->row(plane, y) : space_.light.row(plane, y);
    }

    void make_light(int last) {
        for (; next_light_ <= last; ++next_light_) {
            const int y = next_light_;
            for (int side = 0; task_.light == nullptr && side < kSides; ++side) {
                double* rgb[kColours];
                for (int c = 0; c < kColours; ++c) rgb[c] = space_.light.row(side * kColours + c, y);
                space_.reader[side].read(y, rgb);
            }
            const bool is_own = y / 2 * 2 >= begin_ && y / 2 * 2 < end_;
            if (task_.half == nullptr || !is_own || (y % 2 == 0 && y + 1 < height_)) continue;
            for (int plane = 0; plane < kBoth; ++plane) // the last row of an odd height counts twice
                rows::halve(light_row(plane, y - y % 2), light_row(plane, y), width_, task_.half->row(plane, y / 2));
        }
    }

    void make_response(int last) {
        for (; next_response_ <= last; ++next_response_) {
            const int y = next_response_;
            make_light(until(y, kRadius[kAdaptation]));
            double* distorted[kColours];
            for (int c = 0; c < kColours; ++c) distorted[c] = space_.double_line.row(0, c);
            for (int side = 0; side < kSides; ++side) {
                double *soft[kColours], *light[kColours], *response[kColours];
                for (int c = 0; c < kColours; ++c) {
                    soft[c] = space_.soft.row(c, 0);
                    light[c] = light_row(side * kColours + c, y);
                    response[c] = side == 0 ? space_.response.row(c, y) : distorted[c];
                    soften(side * kColours + c, y, soft[c]);
                }
                rows::respond(task_.plan.intensity_target, light, soft, width_, response);
            }
            for (int c = 0; c < kColours; ++c)
                rows::subtract(space_.response.row(c, y), distorted[c], width_, space_.difference.row(c, y));
        }
    }

    /// What lies above the lowest band, and how the lowest bands differ.
    void make_above(int last) {
        while (next_above_ <= last) {
            const int first = next_above_, count = std::min(kTogether, last_above_ + 1 - first);
            make_response(until(first + count - 1, kRadius[kLowest]));
            for (int c = 0; c < kColours; ++c) {
                double* low[kTogether];
                float* low_difference[kTogether];
                for (int i = 0; i < count; ++i) {
                    low[i] = space_.double_line.row(0, i);
                    low_difference[i] = space_.low_difference.row(c, i);
                }
                blur(task_.lowest, kLowest, space_.response, c, first, count, space_.double_zeros.row(0, 0),
                     space_.double_blurred, low);
                blur(task_.lowest_single, kLowest, space_.difference, c, first, count, low_difference);
                for (int i = 0; i < count; ++i)
                    rows::part_low(space_.response.row(c, first + i), low[i], space_.difference.row(c, first + i),
                                   low_difference[i], width_, space_.above.row(c, first + i),
                                   space_.above.row(kColours + c, first + i));
            }
            for (int i = 0; i < count; ++i) {
                const float* const low_difference[kColours] = {
                    space_.low_difference.row(0, i), space_.low_difference.row(1, i), space_.low_difference.row(2, i)};
                rows::add_low(task_.plan.constants, low_difference, width_, space_.low_sum.row(0, first + i));
            }
            next_above_ += count;
        }
    }

    void make_middle(int last) {
        while (next_middle_ <= last) {
            const int first = next_middle_, count = std::min(kTogether, last_middle_ + 1 - first);
            make_above(until(first + count - 1, kRadius[kMiddle]));
            for (int plane = 0; plane < kBoth; ++plane) {
                float* to[kTogether];
                for (int i = 0; i < count; ++i) to[i] = space_.middle.row(plane, first + i);
                blur(task_.middle, kMiddle, space_.above, plane, first, count, to);
            }
            for (int y = first; y < first + count; ++y)
                for (int side = 0; side < kSides; ++side) {
                    const float* above[2];
                    float *middle[2], *ultra[2];
                    for (int c = 0; c < 2; ++c) {
                        const int plane = side * kColours + c;
                        above[c] = space_.above.row(plane, y);
                        middle[c] = space_.middle.row(plane, y);
                        ultra[c] = space_.ultra.row(plane, y);
                    }
                    rows::part_middle(above, middle, width_, ultra);
                }
            next_middle_ += count;
        }
    }

    /// The highest bands, and what is made of all bands but the lowest at a place.
    void make_high(int last) {
        for (; next_high_ <= last; ++next_high_) {
            const int y = next_high_;
            make_middle(until(y, kRadius[kHighest]));
            float *ultra[kSides][2], *high[kSides][2], *middle[kSides][kColours];
            for (int side = 0; side < kSides; ++side) {
                for (int c = 0; c < kColours; ++c) middle[side][c] = space_.middle.row(side * kColours + c, y);
                const float* blurred[2];
                for (int c = 0; c < 2; ++c) {
                    const int plane = side * kColours + c;
                    high[side][c] = space_.high.row(plane, 0);
                    ultra[side][c] = space_.parted_ultra.row(plane, 0); // rows below still need what is blurred
                    std::copy_n(space_.ultra.row(plane, y), width_, ultra[side][c]);
                    float* const to = space_.line.row(c, 0);
                    blur(task_.highest, kHighest, space_.ultra, plane, y, to);
                    blurred[c] = to;
                }
                rows::part_high(task_.plan.constants.compression, ultra[side], blurred, width_, high[side]);
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
            lines(kMiddleY, middle[0][1], middle[1][1]);
            lines(kMiddleX, middle[0][0], middle[1][0]);
            float* const sum = space_.high_sum.row(0, y);
            std::fill_n(sum, width_, 0.0f);
            const auto weights = [&](double weight) -> rows::SquareWeights {
                return {static_cast<float>(kHighShare * weight * task_.plan.asymmetry),
                        static_cast<float>(kHighShare * weight / task_.plan.asymmetry)};
            };
            const rows::SquareWeights of_high[2] = {weights(kHighWeightX), weights(kHighWeightY)};
            rows::add_squares(of_high, high[0], high[1], middle[0], middle[1], width_, sum);
        }
    }

    void make_mask(int last) {
        for (; next_mask_ <= last; ++next_mask_) {
            const int y = next_mask_;
            make_high(until(y, kRadius[kMask]));
            float *const reference = space_.mask.row(0, y), *const distorted = space_.line.row(0, 0);
            blur(task_.mask, kMask, space_.activity, 0, y, reference);
            blur(task_.mask, kMask, space_.activity, 1, y, distorted);
            rows::add_activity_squares(reference, distorted, width_, space_.high_sum.row(0, y));
            // Never among the smallest.
            std::fill_n(reference - kErosionStep, kErosionStep, HUGE_VALF);
            std::fill_n(reference + width_, kErosionStep, HUGE_VALF);
        }
    }

    void measure_row(int y) {
        make_mask(until(y, kErosionStep));
        float* const high = space_.high_sum.row(0, y);
        for (int band = 0; band < kLineBands; ++band) {
            const float* around[2 * kLineReach + 1];
            for (int k = -kLineReach; k <= kLineReach; ++k) {
                const bool inside = y + k >= 0 && y + k < height_;
                around[kLineReach + k] = inside ? space_.lines.row(band, y + k) : space_.zeros.row(0, 0);
            }
            rows::add_lines(band == kUltraY || band == kUltraX, around, width_, high);
        }
        const float* masks[3];
        for (int k = -1; k <= 1; ++k) {
            const int row = y + k * kErosionStep;
            masks[1 + k] = row >= 0 && row < height_ ? space_.mask.row(0, row) : space_.most.row(0, 0);
        }
        rows::measure(task_.plan.constants.mask_gain, masks, high, space_.low_sum.row(0, y), width_,
                      task_.map->row(0, y));
    }

    const ScaleTask& task_;
    RunWorkspace& space_;
    const int width_, height_, begin_, end_;
    int next_light_, next_response_, next_above_, next_middle_, next_high_, next_mask_;
    int last_above_ = 0, last_middle_ = 0;
};

void measure_scale(const ScaleTask& task, const FrameGeometry& geometry, const HostPair& pair,
                   Workspaces<RunWorkspace>& spaces) {
    share_runs(pair.helpers, task.height, kRowsTogether, [&](int begin, int end) {
        const auto lease = spaces.borrow();
        ScaleRun run(task, *lease, begin, end);
        run.reader(0).open(pair.reference, geometry, task.plan.reference);
        run.reader(1).open(pair.distorted, geometry, task.plan.distorted);
        run.measure();
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
            if (!geometry.masked) {
                rows::add_powers(row, geometry.width, sum.power, sum.largest);
                continue;
            }
            const uint8_t* const weights = pair.mask.as<uint8_t>().row(y);
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
    if (geometry.masked) accumulators[kSumOfWeights] = total.weights;
}

} // namespace qc::butteraugli
