// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of speed_temporal: the family's, on differences between frames.
#pragma once

#include "families/speed/speed_kernels.hpp"

namespace qc::speed_temporal {

/// Luma of the frame before less that of the frame.
template <typename T>
struct DifferenceSource {
    DevicePlane previous, current;
    float scale;

    QC_HD DifferenceSource(const speed::Task& task, int pair, int image) : scale(task.sample_scale) {
        const DevicePair& both = task.pairs[pair];
        const bool reference = image % 2 == 0;
        previous = reference ? both.reference_history[0] : both.distorted_history[0];
        current = (reference || task.difference_to_reference != 0 ? both.reference : both.distorted).plane[0];
    }
    QC_HD static bool exists(const speed::Task& task, int pair) {
        return task.pairs[pair].reference_history[0].data != nullptr &&
               task.pairs[pair].distorted_history[0].data != nullptr;
    }
    QC_HD float operator()(int x, int y) const {
        const int difference =
            static_cast<int>(read_sample<T>(previous, x, y)) - static_cast<int>(read_sample<T>(current, x, y));
        return static_cast<float>(difference) * scale;
    }
};

#define QC_SPEED_TEMPORAL_KERNELS(KERNEL) QC_SPEED_KERNELS(KERNEL, DifferenceSource)
QC_DECLARE_KERNELS(QC_SPEED_TEMPORAL_KERNELS)

} // namespace qc::speed_temporal
