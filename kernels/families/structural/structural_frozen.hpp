// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures that exist as a formula, for frozen scores. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::structural {

using test::expect_refusal;

/// The frozen scores of these were computed by an independent program written from the description of the algorithm;
/// that program gives all of libvmaf's golden scores in every bit.
inline constexpr test::SyntheticClip kOdd8Bits{"g175x99_420_8", 175, 99, QC_CHROMA_420, 8, 4, 0xd6391582, 0xafb67e2e};
inline constexpr test::SyntheticClip kSmall16Bits{"g48x32_444_16", 48,        32, QC_CHROMA_444, 16, 3,
                                                  0x25e90688,      0xbf775746};
inline constexpr test::SyntheticClip kSmallest10Bits{"g176x176_420_10", 176,       176, QC_CHROMA_420, 10, 4,
                                                     0x7091ecfd,        0xcd7bbafc};
inline constexpr test::SyntheticClip kOdd12Bits{"g251x190_444_12", 251,       190, QC_CHROMA_444, 12, 2,
                                                0x505b951f,        0xdb3e875c};
inline constexpr test::SyntheticClip kDecimated8Bits{"g600x421_420_8", 600,       421, QC_CHROMA_420, 8, 2,
                                                     0x3f7a6bf1,       0xca091fdb};

/// Scores of the first frame of a clip.
inline test::Recorder score_first_frame(const MetricDescriptor& descriptor, const test::SyntheticClip& clip,
                                        const test::OptionList& list) {
    EXPECT_EQ(test::synthetic_crc32(clip, false), clip.reference_crc);
    EXPECT_EQ(test::synthetic_crc32(clip, true), clip.distorted_crc);
    const test::SyntheticPicture reference(clip, false, 0), distorted(clip, true, 0);
    const HostPicture views[] = {reference.view(), distorted.view()};
    return test::score_stream(descriptor, test::synthetic_geometry(clip), list, std::span(views, 1),
                              std::span(views + 1, 1));
}

/// The same picture on both sides.
inline test::Recorder score_identical(const MetricDescriptor& descriptor, const test::SyntheticClip& clip,
                                      const test::OptionList& list) {
    const test::SyntheticPicture picture(clip, false, 0);
    const HostPicture view = picture.view();
    return test::score_stream(descriptor, test::synthetic_geometry(clip), list, std::span(&view, 1),
                              std::span(&view, 1));
}

} // namespace qc::structural
