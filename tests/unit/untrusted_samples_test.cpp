// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures come from anywhere: words may hold more than the samples that their format announces. A raw file of 10 bits
// can; metrics whose tables and sums count on 10 bits must not see it.
#include <gtest/gtest.h>

#include <functional>

#include "tests/support/replaced_samples.hpp"

namespace qc::test {
namespace {

void expect_the_largest_sample(const qc_config& config, const std::string& what) {
    const Stream stream = make_stream(config, Content::kNoise, 2);
    ReplacedSamples sound(true), unsound(false);
    expect_same_bits(run(config, stream, std::ref(sound)), run(config, stream, std::ref(unsound)), what);
}

TEST(UntrustedSamples, BeyondTheLargestCountAsTheLargest) {
    for (const char* layout : {"gray10le", "yuv420p10le", "yuv444p10le", "yuv420p12le"}) {
        qc_config config = config_for(layout_named(layout), 192, 180, "all", QC_BACKEND_CPU);
        config.frame_rate = 25.0;
        config.skip_unsupported = 1;
        expect_the_largest_sample(config, layout);
    }
}

TEST(UntrustedSamples, AlsoWhereInputsOfTwoDepthsMeet) {
    qc_config config = config_for(layout_named("yuv420p10le"), 64, 48, "psnr|vif|motion", QC_BACKEND_CPU);
    config.distorted[0] = format_of(layout_named("yuv420p12le"), 64, 48);
    expect_the_largest_sample(config, "10 and 12 bits");
}

} // namespace
} // namespace qc::test
