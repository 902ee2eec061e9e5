// SPDX-License-Identifier: BSD-2-Clause-Patent
// What a thread of the decimation kernel does. Compiles for the host too, where a test runs it.
#pragma once

#include "families/structural/structural_source.hpp"
#include "metrics/float_ssim/float_ssim_math.hpp"
#include "metrics/float_ssim/float_ssim_tuning.hpp"

namespace qc::float_ssim {

/// Arguments of the decimation beside the task, whose only level it writes.
struct DecimationTask {
    int width, height; ///< of the video
    int factor;
    bool power_of_two;
};

/// Sample (x, y) of the decimated picture, for both pictures of a pair.
template <typename T>
QC_HD void decimate(const structural::Task& task, const DecimationTask& decimation, int pair, int x, int y) {
    const structural::Level& level = task.level[0];
    if (x >= level.width || y >= level.height) return;
    const int width = decimation.width, height = decimation.height, factor = decimation.factor;
    for (int picture = 0; picture < 2; ++picture) {
        const structural::LumaSource<T> source(task, pair, picture, width, height);
        const float mean =
            decimation.power_of_two
                ? integer_mean_around(x, y, factor, width, height, weight_of(factor) * task.sample_scale,
                                      [&](int u, int v) { return source.integer(u, v); })
                : mean_around(x, y, factor, width, height, [&](int u, int v) { return source.sample(u, v); });
        level.samples[static_cast<uint64_t>(2 * pair + picture) * level.plane +
                      static_cast<uint64_t>(y) * static_cast<uint64_t>(level.pitch) + static_cast<uint64_t>(x)] = mean;
    }
}

} // namespace qc::float_ssim
