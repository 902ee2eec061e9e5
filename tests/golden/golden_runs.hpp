// SPDX-License-Identifier: BSD-2-Clause-Patent
// Holds a metric's CPU reference, with several option sets, against the golden runs of all clips: every value has to be
// equal in every bit. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "tests/golden/golden_stream.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::test {

/// One option set, where its scores are, and the ending that it gives to their names.
struct GoldenRun {
    const char* run;
    OptionList options;
    const char* suffix;
};

/// Compares the scores that a run and the recorder both have, by the name in the log. @return how many
inline int compare_golden_run(const Recorder& recorder, const golden::Json& metrics, const GoldenRun& run,
                              const std::string& clip) {
    int compared = 0;
    for (const auto& [name, frames] : recorder.scores) {
        const std::string full_name = name + run.suffix;
        if (!metrics.has(full_name)) continue;
        const golden::Json& metric = metrics[full_name];
        const auto& expected = metric.has("scalar") ? metric["scalar"].array : metric["values"].array;
        const std::vector<double> actual = recorder.values(name);
        EXPECT_EQ(actual.size(), expected.size()) << clip << " " << full_name;
        for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
            if (expected[i].kind == golden::Json::kNull) continue; // n_subsample left it out
            EXPECT_EQ(actual[i], expected[i].value()) << clip << " " << full_name << " frame " << i;
            ++compared;
        }
    }
    return compared;
}

/// All runs on all clips that the metric accepts; each run has to be met somewhere.
inline void compare_golden_runs(const MetricDescriptor& descriptor, const std::vector<GoldenRun>& runs) {
    const auto folder = golden::folder();
    if (folder.empty()) GTEST_SKIP() << "SKIPPED: no golden folder beside the repository or in QC_SHARED";
    std::vector<int> compared(runs.size());
    for (const golden::Clip& clip : golden::clips(folder)) {
        const FrameGeometry geometry = golden::geometry_of(clip);
        const golden::Json scores = golden::read_json(folder / "libvmaf" / (clip.name + ".json"));
        const std::vector<uint8_t> reference_file = golden::unpack(folder, clip.reference_file);
        const std::vector<uint8_t> distorted_file = golden::unpack(folder, clip.distorted_file);
        if (reference_file.empty()) GTEST_SKIP() << "SKIPPED: the clips cannot be unpacked; is xz installed?";
        const std::vector<HostPicture> reference = golden::pictures_of(clip, reference_file);
        const std::vector<HostPicture> distorted = golden::pictures_of(clip, distorted_file);
        ASSERT_EQ(reference.size(), static_cast<size_t>(clip.frames)) << clip.name;
        for (size_t i = 0; i < runs.size(); ++i) {
            if (!scores["runs"].has(runs[i].run)) continue;
            if (!validate(descriptor, geometry, options_of(descriptor, runs[i].options)).ok()) continue;
            const Recorder recorder = score_stream(descriptor, geometry, runs[i].options, reference, distorted);
            compared[i] += compare_golden_run(recorder, scores["runs"][runs[i].run]["metrics"], runs[i], clip.name);
        }
    }
    for (size_t i = 0; i < runs.size(); ++i) {
        EXPECT_GT(compared[i], 0) << runs[i].run << runs[i].suffix;
        std::printf("%s%s: %d values compared\n", runs[i].run, runs[i].suffix, compared[i]);
    }
}

} // namespace qc::test
