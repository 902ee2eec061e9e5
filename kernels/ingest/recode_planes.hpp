// SPDX-License-Identifier: BSD-2-Clause-Patent
// Planes that are recoded each by itself, strip by strip.
#pragma once

#include "ingest/recode_strips.hpp"

namespace qc::recode {

template <typename Sum, int kBytes>
QC_HD void store_mapped(const Mix<Sum>& mix, int32_t weight, const Levels<kBytes>& levels, const Target& target,
                        const Strip<kBytes>& strip, int x, int y) {
    int made[kStrip];
    QC_UNROLL for (int i = 0; i < kStrip; ++i) made[i] = mix.target(static_cast<Sum>(weight) * levels.sample(strip, i));
    target.store(x, y, made);
}

/// A column of a plane.
/// @param first, end rows of that plane
template <typename Sum, int kBytes>
QC_HD void map_plane_strips(const RecodeJob& job, int p, int x, int first, int end) {
    constexpr int kAhead = 4; // rows whose loads wait together
    const Mix<Sum> mix(job.recoding, p);
    const int32_t weight = job.recoding.weight[p][p];
    const Component<kBytes> component(job.source[p]);
    const Levels<kBytes> levels(job.source[p]);
    const Target target(job, p);
    QC_NO_UNROLL for (int y = first; y < end; y += kAhead) {
        Strip<kBytes> strips[kAhead];
        QC_UNROLL for (int r = 0; r < kAhead; ++r) strips[r] = component.strip(x, y + r);
        QC_UNROLL for (int r = 0; r < kAhead; ++r) if (y + r < end)
            store_mapped(mix, weight, levels, target, strips[r], x, y + r);
    }
}

/// A column of all planes, whose samples lie in pixels.
template <typename Sum, int kBytes>
QC_HD void map_pixel_strips(const RecodeJob& job, int x, int first, int end) {
    constexpr int kAhead = 2;
    const PixelReader<kBytes> reader{job, false};
    const Levels<kBytes> levels(job.source[0]);
    QC_NO_UNROLL for (int y = first; y < end; y += kAhead) {
        PixelRow<kBytes> rows[kAhead];
        const int both[kAhead] = {y, y + 1};
        reader.load(x, both, rows);
        QC_UNROLL for (int p = 0; p < 3; ++p) {
            if (p >= job.recoding.target_planes) continue;
            const Mix<Sum> mix(job.recoding, p);
            const Target target(job, p);
            QC_UNROLL for (int r = 0; r < kAhead; ++r) if (y + r < end)
                store_mapped(mix, job.recoding.weight[p][p], levels, target, rows[r].plane[p], x, y + r);
        }
    }
}

template <typename Sum>
QC_HD void map_plane(const RecodeJob& job, int p, int x, int first, int end) {
    if (job.source[p].samples.bytes == 1)
        map_plane_strips<Sum, 1>(job, p, x, first, end);
    else
        map_plane_strips<Sum, 2>(job, p, x, first, end);
}

template <typename Sum>
QC_HD void map_pixels(const RecodeJob& job, int x, int first, int end) {
    if (job.source[0].samples.bytes == 1)
        map_pixel_strips<Sum, 1>(job, x, first, end);
    else
        map_pixel_strips<Sum, 2>(job, x, first, end);
}

} // namespace qc::recode
