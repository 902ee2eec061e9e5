// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the tests of metrics without a smallest picture have in common. Test code only.
#pragma once

#include <gtest/gtest.h>

#include "contract/metric.hpp"

namespace qc::test {

/// Pictures of any size are taken, but none without samples.
inline void expect_takes_any_size(const MetricDescriptor& metric) {
    const OptionValues options(metric.options);
    FrameGeometry geometry;
    EXPECT_EQ(validate(metric, geometry, options).code(), QC_ERROR_INVALID);
    geometry.width = geometry.height = 1;
    EXPECT_EQ(validate(metric, geometry, options).code(), QC_OK);
}

} // namespace qc::test
