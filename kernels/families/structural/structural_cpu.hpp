// SPDX-License-Identifier: BSD-2-Clause-Patent
/// CPU reference of structural similarity, as far as float_ssim and float_ms_ssim share it.
#pragma once

#include <span>
#include <vector>

#include "contract/map.hpp"
#include "contract/types.hpp"
#include "device/image.hpp"
#include "families/structural/structural_math.hpp"
#include "families/structural/structural_plan.hpp"

namespace qc::structural {

/// A picture of floats, on the scale of 8 bits.
using Image = device::Image<float>;

/// Luma of a picture, or an image made of it, row by row on the scale of 8 bits.
class LumaRows {
public:
    LumaRows(const HostPlane& plane, const FrameGeometry& geometry)
        : width_(plane.width), height_(plane.height), plane_(plane), bytes_(geometry.sample == SampleType::kU8),
          scale_(scale_of_depth(geometry.depth)) {}
    /// @param image lives longer
    explicit LumaRows(const Image& image, bool may_be_negative = false)
        : width_(image.width), height_(image.height), image_(&image), may_be_negative_(may_be_negative) {}

    int width() const { return width_; }
    int height() const { return height_; }
    /// Whether there may be samples below zero.
    bool may_be_negative() const { return may_be_negative_; }
    void read(int x, int y, int count, float* to) const;

private:
    int width_, height_;
    HostPlane plane_{};
    bool bytes_ = false;
    float scale_ = 1.0f;
    const Image* image_ = nullptr;
    bool may_be_negative_ = false;
};

/// Of the positions of a level, row after row; of a pair without weights none.
std::vector<uint32_t> weights_under(const HostPlane& sample_weights, const MapShape& positions,
                                    const FrameGeometry& geometry);

/// The sums of the terms of all positions. Precondition: both are of the same size, at least kTaps x kTaps.
/// @param with_luminance else its sum, and that of the product, are left as they are
/// @param helpers may take a share; null: there are none
/// @param map null data: nobody wants one; otherwise a value for each position
/// @param weights of the positions, row after row, and the sums are kWeightedSumWords; empty: each counts once
void add_similarity(const LumaRows& a, const LumaRows& b, bool with_luminance, const FixedPoint& fixed,
                    Helpers* helpers, uint64_t* sums, const Plane<float>& map = {},
                    std::span<const uint32_t> weights = {});

} // namespace qc::structural
