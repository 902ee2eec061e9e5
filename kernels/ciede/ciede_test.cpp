// SPDX-License-Identifier: BSD-2-Clause-Patent
// CIEDE2000: options, refusals, golden scores.
#include "ciede/ciede.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ciede/ciede_cpu.hpp"
#include "tests/golden_metric.hpp"
#include "tests/metric_runner.hpp"
#include "tests/synthetic_clip.hpp"

namespace qc::ciede {
namespace {

/// Where libvmaf takes each pixel's own chroma sample: 4:4:4, and 4:2:0 of even sizes.
bool libvmaf_is_sound(const FrameGeometry& geometry) {
    const ChromaGrid grid = make_chroma_grid(geometry);
    return grid.shift_x == grid.shift_y && (grid.shift_x == 0 || (geometry.width % 2 == 0 && geometry.height % 2 == 0));
}

TEST(CiedeGolden, EveryClip) {
    const int compared = test::compare_with_golden_clips(descriptor(), {"ciede2000"}, 0.0, libvmaf_is_sound);
    if (!IsSkipped()) {
        EXPECT_GT(compared, 0);
    }
}

} // namespace
} // namespace qc::ciede
