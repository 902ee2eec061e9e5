// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <vector>

#include "device/cpu_clones.hpp"
#include "device/term_weights.hpp"
#include "metrics/float_ansnr/float_ansnr.hpp"
#include "metrics/float_ansnr/float_ansnr_math.hpp"

namespace qc::float_ansnr {
namespace {

/// A picture as floats, its rows extended by kRadius at both ends.
class PaddedImage {
public:
    template <typename T>
    PaddedImage(Plane<const T> plane, const CentredLuma& luma)
        : pitch_(static_cast<size_t>(plane.width + 2 * kRadius)), height_(plane.height),
          samples_(pitch_ * static_cast<size_t>(plane.height)) {
        for (int y = 0; y < plane.height; ++y) {
            const T* const in = plane.row(y);
            float* const out = samples_.data() + pitch_ * static_cast<size_t>(y) + kRadius;
            for (int x = 0; x < plane.width; ++x) out[x] = luma(in[x]);
            for (int i = 1; i <= kRadius; ++i) {
                out[-i] = out[mirror_with_last_edge_inside(-i, plane.width)];
                out[plane.width - 1 + i] = out[mirror_with_last_edge_inside(plane.width - 1 + i, plane.width)];
            }
        }
    }

    /// Row y, mirrored at the borders: sample x is at [x + kRadius].
    const float* row(int y) const {
        return samples_.data() + pitch_ * static_cast<size_t>(mirror_with_last_edge_inside(y, height_));
    }

private:
    size_t pitch_;
    int height_;
    std::vector<float> samples_;
};

QC_CPU_CLONES void filter_reference(const float* above, const float* here, const float* below, int width,
                                    float* __restrict out) {
    for (int x = 0; x < width; ++x) {
        out[x] = reference_window(reference_row(above + x), reference_row(here + x), reference_row(below + x));
    }
}

QC_CPU_CLONES void filter_distorted(const float* const* rows, int width, float* __restrict out) {
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

Energies sum_masked_row(const float* reference, const float* distorted, const float* shares, int width) {
    Energies row;
    for (int x = 0; x < width; ++x) {
        row.signal += signal_term(reference[x]) * shares[x];
        row.noise += noise_term(reference[x], distorted[x]) * shares[x];
    }
    return row;
}

template <typename T>
Energies sum_planes(Plane<const T> reference, Plane<const T> distorted, const HostPlane& mask,
                    const CentredLuma& luma) {
    const PaddedImage reference_image(reference, luma), distorted_image(distorted, luma);
    const int width = reference.width;
    std::vector<float> smooth_reference(static_cast<size_t>(width)), smooth_distorted(static_cast<size_t>(width));
    std::vector<float> shares(static_cast<size_t>(width));
    const device::MaskFootprint footprint{1, 1, width, reference.height};
    Energies sums;
    for (int y = 0; y < reference.height; ++y) {
        const float* window[kWindow];
        for (int i = 0; i < kWindow; ++i) window[i] = distorted_image.row(y - kRadius + i);
        filter_reference(reference_image.row(y - 1), reference_image.row(y), reference_image.row(y + 1), width,
                         smooth_reference.data());
        filter_distorted(window, width, smooth_distorted.data());
        if (mask.data != nullptr) sums.weights += footprint.share_row(mask, y, width, shares.data());
        const Energies row = mask.data != nullptr ? sum_masked_row(smooth_reference.data(), smooth_distorted.data(),
                                                                   shares.data(), width)
                                                  : sum_row(smooth_reference.data(), smooth_distorted.data(), width);
        sums.signal += row.signal;
        sums.noise += row.noise;
    }
    return sums;
}

} // namespace

Energies score_cpu(const FrameGeometry& geometry, const HostPair& pair) {
    const HostPlane &reference = pair.reference.plane[0], &distorted = pair.distorted.plane[0];
    const CentredLuma luma(geometry.depth);
    const HostPlane mask = geometry.masked ? pair.mask : HostPlane{};
    if (geometry.sample == SampleType::kU8) {
        return sum_planes(reference.as<uint8_t>(), distorted.as<uint8_t>(), mask, luma);
    }
    return sum_planes(reference.as<uint16_t>(), distorted.as<uint16_t>(), mask, luma);
}

} // namespace qc::float_ansnr
