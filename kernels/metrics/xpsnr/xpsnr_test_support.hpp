// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the tests of XPSNR have in common. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "api/picture.hpp"
#include "metrics/xpsnr/xpsnr.hpp"
#include "metrics/xpsnr/xpsnr_plan.hpp"
#include "tests/support/runs.hpp"

namespace qc::xpsnr {

using Words64 = std::vector<uint64_t>;

inline WeightedErrors weighted_errors(const BlockPlan& plan, const Words64& words) {
    return Weighting(plan).errors(words);
}

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline FrameGeometry geometry_of(int width, int height, qc_chroma chroma = QC_CHROMA_420, int depth = 8) {
    qc_config config = test::config_for(test::layout_named("yuv420p"), width, height, "xpsnr", QC_BACKEND_CPU);
    config.reference.chroma = chroma;
    config.reference.depth = depth;
    config.reference.container_bits = depth == 8 ? 8 : 16;
    config.distorted[0] = config.reference;
    FrameGeometry geometry;
    bool chroma_agrees = false;
    const Status status = session_geometry(config, &geometry, &chroma_agrees);
    EXPECT_TRUE(status.ok()) << status.text();
    return geometry;
}

/// A plan with blocks and margin of the test's choice: large pictures' cells on small pictures.
inline BlockPlan plan_with(const FrameGeometry& geometry, int side, int margin) {
    BlockPlan plan = make_plan(geometry);
    plan.margin = margin;
    plan.weighted = true;
    plan.columns = (geometry.width + side - 1) / side;
    plan.rows = (geometry.height + side - 1) / side;
    for (int p = 0; p < plan.planes; ++p) {
        plan.block_width[p] = side * plan.width[p] / geometry.width;
        plan.block_height[p] = side * plan.height[p] / geometry.height;
    }
    return plan;
}

} // namespace qc::xpsnr
