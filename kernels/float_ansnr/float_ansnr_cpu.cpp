// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <vector>

#include "common/cpu_clones.hpp"
#include "float_ansnr/float_ansnr.hpp"
#include "float_ansnr/float_ansnr_math.hpp"

namespace qc::float_ansnr {
namespace {

/// A picture row as floats, extended by kRadius at both ends: sample x is at [x + kRadius].
template <typename T>
void load_row(Plane<const T> plane, int y, const CentredLuma& luma, std::vector<float>* row) {
    const T* const samples = plane.row(mirror(y, plane.height));
    for (int x = -kRadius; x < plane.width + kRadius; ++x) {
        (*row)[static_cast<size_t>(x + kRadius)] = luma(samples[mirror(x, plane.width)]);
    }
}

QC_CPU_CLONES void filter_reference(const float* above, const float* here, const float* below, int width, float* out) {
    for (int x = 0; x < width; ++x) {
        out[x] = reference_window(reference_row(above + x), reference_row(here + x), reference_row(below + x));
    }
}

QC_CPU_CLONES void filter_distorted(const float* const* rows, int width, float* out) {
    const float *row0 = rows[0], *row1 = rows[1], *row2 = rows[2], *row3 = rows[3], *row4 = rows[4];
    for (int x = 0; x < width; ++x) {
        out[x] = distorted_window(distorted_row(row0 + x).outer, distorted_row(row1 + x).second,
                                  distorted_row(row2 + x).middle, distorted_row(row3 + x).second,
                                  distorted_row(row4 + x).outer);
    }
}

/// Sums run along the row: large sums round small terms away, as in libvmaf.
Energies sum_row(const float* reference, const float* distorted, int width) {
    Energies row;
    for (int x = 0; x < width; ++x) {
        row.signal += signal_term(reference[x]);
        row.noise += noise_term(reference[x], distorted[x]);
    }
    return row;
}

template <typename T>
Energies sum_planes(Plane<const T> reference, Plane<const T> distorted, const CentredLuma& luma) {
    const int width = reference.width, height = reference.height;
    const auto padded = static_cast<size_t>(width + 2 * kRadius);
    std::vector<float> reference_rows[3], distorted_rows[kWindow];
    for (auto& row : reference_rows) row.resize(padded);
    for (auto& row : distorted_rows) row.resize(padded);
    std::vector<float> smooth_reference(padded), smooth_distorted(padded);
    Energies sums;
    for (int y = 0; y < height; ++y) {
        const float* window[kWindow];
        for (int i = 0; i < 3; ++i) load_row(reference, y - 1 + i, luma, &reference_rows[i]);
        for (int i = 0; i < kWindow; ++i) {
            load_row(distorted, y - kRadius + i, luma, &distorted_rows[i]);
            window[i] = distorted_rows[i].data();
        }
        filter_reference(reference_rows[0].data(), reference_rows[1].data(), reference_rows[2].data(), width,
                         smooth_reference.data());
        filter_distorted(window, width, smooth_distorted.data());
        const Energies row = sum_row(smooth_reference.data(), smooth_distorted.data(), width);
        sums.signal += row.signal;
        sums.noise += row.noise;
    }
    return sums;
}

} // namespace

Energies sum_energies(const HostPlane& reference, const HostPlane& distorted, const FrameGeometry& geometry) {
    const CentredLuma luma(geometry.depth);
    if (geometry.sample == SampleType::kU8) {
        return sum_planes(reference.as<uint8_t>(), distorted.as<uint8_t>(), luma);
    }
    return sum_planes(reference.as<uint16_t>(), distorted.as<uint16_t>(), luma);
}

} // namespace qc::float_ansnr
