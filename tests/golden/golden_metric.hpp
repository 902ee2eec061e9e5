// SPDX-License-Identifier: BSD-2-Clause-Patent
// Holds a metric's CPU reference against the scores of all golden clips. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tests/golden/golden_stream.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::test {

/// Compares the named scores of the run "default" on every clip that the metric and `comparable` accept; infinities
/// have to be equal. @return the number of values compared; 0 after skipping the test
inline int compare_with_golden_clips(const MetricDescriptor& descriptor, const std::vector<std::string>& names,
                                     double tolerance, const std::function<bool(const FrameGeometry&)>& comparable) {
    const auto skip = [](const char* reason) {
        [&] { GTEST_SKIP() << "SKIPPED: " << reason; }();
        return 0;
    };
    const auto folder = golden::folder();
    if (folder.empty()) return skip("no golden folder beside the repository or in QC_SHARED");
    int compared = 0, clips = 0;
    double largest = 0.0;
    for (const golden::Clip& clip : golden::clips(folder)) {
        const FrameGeometry geometry = golden::geometry_of(clip);
        const OptionValues options(descriptor.options);
        if (!validate(descriptor, geometry, options).ok() || !comparable(geometry)) continue;
        const std::vector<uint8_t> reference_file = golden::unpack(folder, clip.reference_file);
        const std::vector<uint8_t> distorted_file = golden::unpack(folder, clip.distorted_file);
        if (reference_file.empty()) return skip("the clips cannot be unpacked; is xz installed?");
        const std::vector<HostPicture> reference = golden::pictures_of(clip, reference_file);
        const std::vector<HostPicture> distorted = golden::pictures_of(clip, distorted_file);
        EXPECT_EQ(reference.size(), static_cast<size_t>(clip.frames)) << clip.name;
        EXPECT_EQ(distorted.size(), reference.size()) << clip.name;
        const golden::Json scores = golden::read_json(folder / "libvmaf" / (clip.name + ".json"));
        const golden::Json& run = scores["runs"]["default"];
        const Recorder recorder = score_stream(descriptor, geometry, {}, reference, distorted);
        ++clips;
        for (const std::string& name : names) {
            const std::vector<golden::Json>& expected = run["metrics"][name]["values"].array;
            const std::vector<double> actual = recorder.values(name);
            EXPECT_EQ(actual.size(), expected.size()) << clip.name << " " << name;
            for (size_t i = 0; i < expected.size() && i < actual.size(); ++i) {
                const double want = expected[i].value();
                ++compared;
                if (actual[i] == want) continue; // infinities too
                EXPECT_NEAR(actual[i], want, tolerance) << clip.name << " " << name << " frame " << i;
                largest = std::max(largest, std::abs(actual[i] - want));
            }
        }
    }
    std::printf("%d clips, %d values compared, largest difference %g\n", clips, compared, largest);
    return compared;
}

} // namespace qc::test
