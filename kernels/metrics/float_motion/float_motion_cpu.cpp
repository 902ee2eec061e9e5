// SPDX-License-Identifier: BSD-2-Clause-Patent
// Floating-point motion on the CPU: the readable reference.
#include <vector>

#include "device/cpu_clones.hpp"
#include "device/image.hpp"
#include "device/row_sums.hpp"
#include "metrics/float_motion/float_motion.hpp"

namespace qc::float_motion {
namespace {

using Picture = device::Image<float>;

template <typename T>
Picture normalised_picture(const Plane<const T>& plane, const PlanePlan& plan, float scale) {
    Picture picture(plan.width, plan.height);
    for (int y = 0; y < plan.height; ++y) {
        const T* const samples = plane.row(y);
        float* const out = picture.row(y);
        for (int x = 0; x < plan.width; ++x) out[x] = normalised(samples[x], scale);
    }
    return picture;
}

QC_CPU_CLONES void blur_columns(const float* const rows[kTaps], const BlurTaps& taps, int width,
                                float* __restrict out) {
    const float *first = rows[0], *second = rows[1], *middle = rows[2], *fourth = rows[3], *last = rows[4];
    for (int x = 0; x < width; ++x) out[x] = blurred(first[x], second[x], middle[x], fourth[x], last[x], taps);
}

/// `extended` starts kReach samples left of the row.
QC_CPU_CLONES void blur_row(const float* __restrict extended, const BlurTaps& taps, int width, float* __restrict out) {
    for (int x = 0; x < width; ++x)
        out[x] = blurred(extended[x], extended[x + 1], extended[x + 2], extended[x + 3], extended[x + 4], taps);
}

Picture blurred_picture(const HostPlane& plane, const PlanePlan& plan, const Plan& options, SampleType sample) {
    const Picture source = sample == SampleType::kU8
                               ? normalised_picture(plane.as<uint8_t>(), plan, options.sample_scale)
                               : normalised_picture(plane.as<uint16_t>(), plan, options.sample_scale);
    Picture result(plan.width, plan.height);
    std::vector<float> extended(static_cast<size_t>(plan.width) + 2 * kReach);
    float* const filtered = extended.data() + kReach;
    for (int y = 0; y < plan.height; ++y) {
        const float* rows[kTaps];
        for (int tap = 0; tap < kTaps; ++tap) rows[tap] = source.row(mirrored_inside(y - kReach + tap, plan.height));
        blur_columns(rows, options.taps, plan.width, filtered);
        for (int i = 1; i <= kReach; ++i) {
            filtered[-i] = filtered[mirrored_inside(-i, plan.width)];
            filtered[plan.width - 1 + i] = filtered[mirrored_inside(plan.width - 1 + i, plan.width)];
        }
        blur_row(extended.data(), options.taps, plan.width, result.row(y));
    }
    return result;
}

/// Of the half size: every sample is a mean of up to four.
Picture halved(const Picture& picture, const PlanePlan& plan) {
    Picture half(plan.half_width, plan.half_height);
    const auto at = [&](int x, int y) { return picture.row(y)[x]; };
    for (int y = 0; y < half.height; ++y)
        for (int x = 0; x < half.width; ++x)
            half.row(y)[x] =
                resized<Resize::kBilinear>(at, plan.columns[x], plan.rows[y], picture.width, picture.height);
    return half;
}

/// Along each row, then the rows: the order is part of the definition.
float sum_of_absolute_differences(const Picture& a, const Picture& b) {
    float sum = 0.0f;
    for (int y = 0; y < a.height; ++y) {
        float row_sum = 0.0f;
        for (int x = 0; x < a.width; ++x) row_sum = row_sum + absolute_difference(a.row(y)[x], b.row(y)[x]);
        sum = sum + row_sum;
    }
    return sum;
}

} // namespace

void score_cpu(const Plan& plan, SampleType sample, const HostReference& reference, std::span<uint64_t> accumulators) {
    for (size_t p = 0; p < plan.planes.size(); ++p) {
        const PlanePlan& plane = plan.planes[p];
        const HostPlane& earlier = p == 0 ? reference.history[0] : reference.chroma_history[0][p - 1];
        const Picture previous = blurred_picture(earlier, plane, plan, sample);
        const Picture current = blurred_picture(reference.current.plane[p], plane, plan, sample);
        uint64_t* const words = accumulators.data() + p * kWordsPerPlane;
        words[kFullSize] = accumulator_of(sum_of_absolute_differences(previous, current));
        if (plan.has_half())
            words[kHalfSize] =
                accumulator_of(sum_of_absolute_differences(halved(previous, plane), halved(current, plane)));
    }
}

} // namespace qc::float_motion
