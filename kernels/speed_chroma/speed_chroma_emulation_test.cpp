// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "speed/speed_emulation.hpp"
#include "speed_chroma/speed_chroma.hpp"

namespace qc::speed_chroma {
namespace {

using speed::Content;

void expect_equal(const FrameGeometry& geometry, const OptionValues& options, Content content, int shift, int count,
                  bool* any_score = nullptr) {
    speed::expect_emulation_equals_cpu<speed::ChromaSource>(descriptor(), geometry, options, content, shift, count,
                                                            any_score);
}

TEST(SpeedChromaEmulation, EveryFormatEqualsTheCpu) {
    const OptionValues options(descriptor().options);
    for (const Content content : {Content::kTexture, Content::kNoise, Content::kFlat, Content::kOneFlat}) {
        bool scored = false;
        expect_equal(speed::geometry_of(340, 406, QC_CHROMA_420, 8), options, content, 0, 2, &scored);
        expect_equal(speed::geometry_of(417, 179, QC_CHROMA_422, 10), options, content, 6, 1, &scored);
        expect_equal(speed::geometry_of(175, 261, QC_CHROMA_444, 12), options, content, 4, 1, &scored);
        expect_equal(speed::geometry_of(250, 170, QC_CHROMA_444, 16), options, content, 0, 3, &scored);
        EXPECT_EQ(scored, content == Content::kTexture || content == Content::kNoise);
    }
}

TEST(SpeedChromaEmulation, EveryOptionEqualsTheCpu) {
    const FrameGeometry geometry = speed::geometry_of(262, 178, QC_CHROMA_444, 8);
    for (const double kernel : {0.5, 1.5, 2.0, 360.0 / 97, 4.0 / 3}) {
        OptionValues options(descriptor().options);
        speed::set_option(&options, "ks", kernel);
        expect_equal(geometry, options, Content::kTexture, 0, 1);
    }
    for (const double factor : {0.5, 0.97, 1.3})
        for (int method = 0; method < 4; ++method) {
            OptionValues options(descriptor().options);
            speed::set_option(&options, "ps", factor);
            speed::set_option(&options, "psm", method);
            expect_equal(geometry, options, Content::kTexture, 0, 1);
        }
    for (int mode = 0; mode <= 6; ++mode) {
        OptionValues options(descriptor().options);
        speed::set_option(&options, "wvm", mode);
        speed::set_option(&options, "nnf", 0.1 * mode);
        speed::set_option(&options, "snn", 0.19);
        expect_equal(geometry, options, Content::kTexture, 0, 1);
    }
}

TEST(SpeedChromaEmulation, SmallSizesEqualTheCpu) {
    const OptionValues options(descriptor().options);
    for (int size = 80; size < 176; size += 5) {
        expect_equal(speed::geometry_of(size, 255 - size, QC_CHROMA_444, 8), options, Content::kNoise, 0, 1);
        expect_equal(speed::geometry_of(size, size, QC_CHROMA_444, 10), options, Content::kTexture, 0, 1);
    }
}

} // namespace
} // namespace qc::speed_chroma
