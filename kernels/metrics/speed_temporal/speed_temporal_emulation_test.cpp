// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/speed/speed_emulation.hpp"
#include "metrics/speed_temporal/speed_temporal.hpp"
#include "metrics/speed_temporal/speed_temporal_kernels.hpp"

namespace qc::speed_temporal {
namespace {

speed::Emulation emulation() {
    return {descriptor(), QC_EMULATED_KERNELS(QC_SPEED_TEMPORAL_KERNELS), 2};
}

TEST(SpeedTemporalEmulation, EveryFormatEqualsTheCpu) {
    emulation().expect_every_format_equal();
}

TEST(SpeedTemporalEmulation, EveryOptionEqualsTheCpu) {
    const FrameGeometry geometry = speed::geometry_of(262, 178, QC_CHROMA_444, 8);
    emulation().expect_every_scale_equal(geometry);
    OptionValues options = emulation().defaults();
    speed::set_option(&options, "urd", 1);
    speed::set_option(&options, "nnf", 0.1);
    speed::set_option(&options, "snn", 0.19);
    emulation().expect_equal(geometry, options, speed::Content::kTexture, 0, 3);
}

TEST(SpeedTemporalEmulation, SmallSizesEqualTheCpu) {
    emulation().expect_small_sizes_equal();
}

} // namespace
} // namespace qc::speed_temporal
