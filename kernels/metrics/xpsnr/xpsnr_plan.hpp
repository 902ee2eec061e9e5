// SPDX-License-Identifier: BSD-2-Clause-Patent
// How a picture is cut into blocks: the same for both backends, a pure function of the geometry.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "contract/types.hpp"

namespace qc::xpsnr {

/// Words of a block: two activities, then the squared error of each plane. With weights the planes' errors follow by
/// the weights of their samples, and then the sums of these.
enum Word { kSpatial, kTemporal, kSquaredError };

/// Samples begin..end-1 of a row or a column.
struct Range {
    int begin, end;
    QC_HD int size() const { return end - begin; }
};

/// A block of the picture in one plane.
struct Rectangle {
    Range x, y;
};

struct BlockPlan {
    int width[3] = {}, height[3] = {};             ///< of the planes, as stored
    int block_width[3] = {}, block_height[3] = {}; ///< in the planes; the last column and row are cut off
    int planes = 1;
    int columns = 1, rows = 1;
    int margin = 1; ///< at the picture's edges no activity is measured; 2: it is measured on cells of 2x2 samples
    int depth = 8;
    bool weighted = false;    ///< else the picture is one block of weight 1
    bool smoothed = false;    ///< weights that stand out among their neighbours are taken down
    bool has_weights = false; ///< pairs come with weights

    QC_HD int blocks() const { return columns * rows; }
    QC_HD int words_per_block() const { return kSquaredError + planes * (has_weights ? 3 : 1); }
    QC_HD int weighted_error_word(int plane) const { return kSquaredError + planes + plane; }
    QC_HD int weight_word(int plane) const { return kSquaredError + 2 * planes + plane; }

    QC_HD Rectangle block(int index, int plane) const {
        const int x = index % columns * block_width[plane], y = index / columns * block_height[plane];
        const int right = x + block_width[plane], below = y + block_height[plane];
        return {{x, right < width[plane] ? right : width[plane]}, {y, below < height[plane] ? below : height[plane]}};
    }
};

/// The part of a luma block's columns (or rows) where spatial activity is measured; may be empty.
QC_HD Range active_part(Range block, int size, int margin) {
    return {block.begin == 0 ? margin : block.begin, block.end == size ? size - margin : block.end};
}

/// Whether a luma block has activities; otherwise its words stay 0 and its weight is 1.
QC_HD bool is_active(const BlockPlan& plan, const Rectangle& block) {
    return plan.weighted && active_part(block.x, plan.width[0], plan.margin).size() > 0 &&
           active_part(block.y, plan.height[0], plan.margin).size() > 0;
}

/// Number of samples as a share of a 2160p picture.
inline double relative_size(const BlockPlan& plan) {
    return static_cast<double>(static_cast<int64_t>(plan.width[0]) * plan.height[0]) / (3840.0 * 2160);
}

inline BlockPlan make_plan(const FrameGeometry& geometry) {
    BlockPlan plan;
    plan.planes = geometry.plane_count();
    plan.depth = geometry.depth;
    plan.has_weights = geometry.has_weights;
    for (int p = 0; p < plan.planes; ++p) {
        plan.width[p] = geometry.stored_width(p);
        plan.height[p] = geometry.stored_height(p);
    }
    const int64_t samples = static_cast<int64_t>(geometry.width) * geometry.height;
    plan.margin = samples > 2048 * 1152 ? 2 : 1;
    plan.smoothed = samples <= 640 * 480;
    // 128 at 2160p; a multiple of 4.
    const int side = 4 * static_cast<int>(std::floor(32 * std::sqrt(relative_size(plan)) + 0.5));
    plan.weighted = side > 0;
    if (!plan.weighted) {
        std::copy_n(plan.width, 3, plan.block_width);
        std::copy_n(plan.height, 3, plan.block_height);
        return plan;
    }
    plan.columns = (geometry.width + side - 1) / side;
    plan.rows = (geometry.height + side - 1) / side;
    for (int p = 0; p < plan.planes; ++p) {
        // With chroma sizes rounded up, every plane has as many columns and rows of blocks as luma.
        plan.block_width[p] = static_cast<int>(static_cast<int64_t>(side) * plan.width[p] / geometry.width);
        plan.block_height[p] = static_cast<int>(static_cast<int64_t>(side) * plan.height[p] / geometry.height);
    }
    return plan;
}

} // namespace qc::xpsnr
