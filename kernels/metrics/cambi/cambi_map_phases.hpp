// SPDX-License-Identifier: BSD-2-Clause-Patent
// The map: c-values of all scales, as counting left them, become one value for each sample of the picture.
#pragma once

#include "contract/map.hpp"
#include "metrics/cambi/cambi_image_phases.hpp"

namespace qc::cambi {

/// Arguments of the kernel that draws.
struct DrawTask {
    Pyramid pyramid;
    const uint16_t* drawn; ///< see CountTask
    const DevicePair* pairs;
    DeviceMap map;
    MapShape shape;
    int width, height; ///< of the analysis
    int halving;       ///< 1: scale 0 is half of it
    float weight[kScales];
};

QC_HD float drawn_value(const DrawTask& task, int picture, int x, int y) {
    const int column = analysed_sample(x, task.shape.width, task.width, task.halving);
    const int row = analysed_sample(y, task.shape.height, task.height, task.halving);
    float sum = 0.0f;
    QC_UNROLL for (int s = 0; s < kScales; ++s) {
        const size_t at = static_cast<size_t>(row >> s) * static_cast<size_t>(task.pyramid.scale[s].pitch) +
                          static_cast<size_t>(column >> s);
        const float c = from_short(task.drawn[task.pyramid.offset(picture, s) + at]);
        sum = sum + task.weight[s] * c;
    }
    return sum;
}

/// grid: (blocks of a row, rows, pictures)
struct DrawMap {
    using Arguments = DrawTask;
    static constexpr int kThreads = 256;

    template <class Block>
    QC_HD static void run(Block& block, const DrawTask& task) {
        const Plane<float> values = task.map.of_output(task.pairs[block.z()].output, task.shape);
        const int x = block.x() * kThreads + block.thread(), y = block.y();
        if (values.data == nullptr || x >= values.width) return;
        values.at(x, y) = drawn_value(task, block.z(), x, y);
    }
};

} // namespace qc::cambi
