// SPDX-License-Identifier: BSD-2-Clause-Patent
// The kernels of speed_chroma: the family's, on chroma planes.
#pragma once

#include "families/speed/speed_kernels.hpp"

namespace qc::speed_chroma {

/// Chroma planes, around 0 on the scale of 8 bits.
template <typename T>
struct ChromaSource {
    DevicePlane plane;
    float scale;

    QC_HD ChromaSource(const speed::Task& task, int pair, int image)
        : plane((image % 2 == 0 ? task.pairs[pair].reference : task.pairs[pair].distorted).plane[1 + image / 2]),
          scale(task.sample_scale) {}
    QC_HD static bool exists(const speed::Task&, int) { return true; }
    QC_HD float operator()(int x, int y) const {
        return static_cast<float>(read_sample<T>(plane, x, y)) * scale - 128.0f;
    }
};

#define QC_SPEED_CHROMA_KERNELS(KERNEL) QC_SPEED_KERNELS(KERNEL, ChromaSource)
QC_DECLARE_KERNELS(QC_SPEED_CHROMA_KERNELS)

} // namespace qc::speed_chroma
