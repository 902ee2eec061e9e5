// SPDX-License-Identifier: BSD-2-Clause-Patent
// Frozen scores of clips that exist as a formula. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "families/speed/speed_golden.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::speed {

/// Computed once by an independent program written from the description of the algorithm; that program gives all of
/// libvmaf's golden scores in every bit.
inline constexpr test::SyntheticClip kFrozenClips[] = {
    {"g480x401_420_10", 480, 401, QC_CHROMA_420, 10, 3, 0xca81bfa6, 0x81a4b0c8},
    {"g251x170_444_8", 251, 170, QC_CHROMA_444, 8, 3, 0xb844f650, 0xdf09f865},
};

inline FrameScores score_synthetic(const MetricDescriptor& metric, const test::SyntheticClip& clip,
                                   const std::string& suffix) {
    EXPECT_EQ(test::synthetic_crc32(clip, false), clip.reference_crc);
    EXPECT_EQ(test::synthetic_crc32(clip, true), clip.distorted_crc);
    const FrameGeometry geometry = test::synthetic_geometry(clip);
    std::vector<test::SyntheticPicture> owners;
    std::vector<HostPicture> reference, distorted;
    owners.reserve(2 * static_cast<size_t>(clip.frames));
    for (int frame = 0; frame < clip.frames; ++frame) {
        reference.push_back(owners.emplace_back(clip, false, frame).view());
        distorted.push_back(owners.emplace_back(clip, true, frame).view());
    }
    OptionValues options(metric.options);
    EXPECT_TRUE(read_suffix(suffix, &options)) << suffix;
    EXPECT_TRUE(validate(metric, geometry, options).ok());
    return score_stream(metric, geometry, options, reference, distorted);
}

/// Expects a line that contains every one of the words.
inline void expect_refusal(const Status& status, std::initializer_list<const char*> words) {
    EXPECT_FALSE(status.ok());
    for (const char* word : words) EXPECT_NE(status.text().find(word), std::string::npos) << status.text();
    EXPECT_EQ(status.text().find('\n'), std::string::npos);
}

} // namespace qc::speed
