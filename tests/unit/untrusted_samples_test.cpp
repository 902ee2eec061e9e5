// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures come from anywhere: words may hold more than the samples that their format announces. A raw file of 10 bits
// can; metrics whose tables and sums count on 10 bits must not see it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

/// Copies of pictures, for as long as a run needs them, in which every second word is replaced, in no order.
class Replaced {
public:
    /// @param sound by the largest sample; else by what no sample is
    explicit Replaced(bool sound) : sound_(sound) {}

    qc_picture operator()(const TestPicture& picture) {
        qc_picture view = picture.view();
        const qc_format& format = picture.format();
        for (int p = 0; p < picture.planes(); ++p) {
            std::vector<uint8_t>& bytes = kept_.emplace_back(picture.bytes(p));
            const ptrdiff_t offset = static_cast<const uint8_t*>(view.plane[p]) - picture.bytes(p).data();
            for (size_t i = 0; i + 1 < bytes.size(); i += 2) replace(&bytes[i], format.depth + format.shift);
            view.plane[p] = bytes.data() + offset;
        }
        return view;
    }

private:
    void replace(uint8_t* word, int bits) {
        state_ = state_ * 1664525u + 1013904223u;
        if (state_ >> 31 != 0) return;
        const unsigned largest = (1u << bits) - 1, above = largest + 1 + (state_ >> 15 & 0xffffu);
        const auto value = static_cast<uint16_t>(sound_ ? largest : std::min(above, 0xffffu));
        std::memcpy(word, &value, sizeof(value));
    }

    bool sound_;
    std::deque<std::vector<uint8_t>> kept_;
    uint32_t state_ = 1;
};

void expect_the_largest_sample(const qc_config& config, const std::string& what) {
    const Stream stream = make_stream(config, Content::kNoise, 2);
    Replaced sound(true), unsound(false);
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
