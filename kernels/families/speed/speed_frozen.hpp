// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frozen scores of clips that exist as a formula. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/golden/golden_scores.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::speed {

using test::expect_refusal;

/// Computed once by an independent program written from the description of the algorithm; that program gives all of
/// libvmaf's golden scores in every bit.
inline constexpr test::SyntheticClip kFrozenClips[] = {
    {"g480x401_420_10", 480, 401, QC_CHROMA_420, 10, 3, 0xca81bfa6, 0x81a4b0c8},
    {"g251x170_444_8", 251, 170, QC_CHROMA_444, 8, 3, 0xb844f650, 0xdf09f865},
};

inline test::Recorder score_synthetic(const MetricDescriptor& metric, const test::SyntheticClip& clip,
                                      const std::string& suffix) {
    EXPECT_EQ(test::synthetic_crc32(clip, false), clip.reference_crc);
    EXPECT_EQ(test::synthetic_crc32(clip, true), clip.distorted_crc);
    const test::SyntheticStream stream(clip);
    OptionValues options(metric.options);
    EXPECT_TRUE(golden::read_suffix(metric, suffix, &options)) << suffix;
    return test::score_frames(metric, stream.geometry(), options, stream.reference(), stream.distorted());
}

} // namespace qc::speed
