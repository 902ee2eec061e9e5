// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/speed/speed_emulation.hpp"
#include "metrics/speed_chroma/speed_chroma.hpp"
#include "metrics/speed_chroma/speed_chroma_kernels.hpp"

namespace qc::speed_chroma {
namespace {

speed::Emulation emulation() {
    return {descriptor(), QC_EMULATED_KERNELS(QC_SPEED_CHROMA_KERNELS), 1};
}

TEST(SpeedChromaEmulation, EveryFormatEqualsTheCpu) {
    emulation().expect_every_format_equal();
}

TEST(SpeedChromaEmulation, EveryOptionEqualsTheCpu) {
    const FrameGeometry geometry = speed::geometry_of(262, 178, QC_CHROMA_444, 8);
    emulation().expect_every_scale_equal(geometry);
    for (int mode = 0; mode <= 6; ++mode) {
        OptionValues options = emulation().defaults();
        speed::set_option(&options, "wvm", mode);
        speed::set_option(&options, "nnf", 0.1 * mode);
        speed::set_option(&options, "snn", 0.19);
        emulation().expect_equal(geometry, options, speed::Content::kTexture, 0, 1);
    }
}

TEST(SpeedChromaEmulation, SmallSizesEqualTheCpu) {
    emulation().expect_small_sizes_equal();
}

} // namespace
} // namespace qc::speed_chroma
