// SPDX-License-Identifier: BSD-2-Clause-Patent
/// CPU reference of structural similarity, as far as float_ssim and float_ms_ssim share it.
#pragma once

#include <vector>

#include "contract/types.hpp"
#include "families/structural/structural_math.hpp"

namespace qc::structural {

/// A picture of floats, on the scale of 8 bits.
struct Image {
    Image(int image_width, int image_height)
        : width(image_width), height(image_height), samples(static_cast<size_t>(image_width) * image_height) {}

    const float* row(int y) const { return samples.data() + static_cast<size_t>(y) * width; }
    float* row(int y) { return samples.data() + static_cast<size_t>(y) * width; }

    int width, height;
    std::vector<float> samples;
};

/// Luma of a picture.
Image image_of(const HostPlane& plane, const FrameGeometry& geometry);

/// The sums of the terms of all positions. Precondition: both are of the same size, at least kTaps x kTaps.
/// @param with_luminance else its sum, and that of the product, are left as they are
void add_similarity(const Image& a, const Image& b, bool with_luminance, const FixedPoint& fixed, uint64_t* sums);

} // namespace qc::structural
