// SPDX-License-Identifier: BSD-2-Clause-Patent
// Holds a metric's CPU reference against libvmaf's scores, in every run of the golden files that asks for the metric,
// with the options that the run says. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/golden/golden_stream.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::structural {

inline double option_value(const std::string& text) {
    return text == "true" ? 1.0 : text == "false" ? 0.0 : std::stod(text);
}

struct GoldenCounts {
    int clips = 0, runs = 0, refused = 0, compared = 0, different = 0;
    double largest = 0.0; ///< difference of finite values
};

/// Compares the metrics of a run that carry one of our names.
inline void compare_run(const golden::Json& metrics, const test::Recorder& recorder, const std::string& where,
                        GoldenCounts* counts) {
    for (const auto& [name, values] : recorder.scores) {
        const auto& expected = metrics[name]["values"].array;
        ASSERT_EQ(expected.size(), values.size()) << where << " " << name;
        for (size_t frame = 0; frame < expected.size(); ++frame) {
            const double want = expected[frame].value(), value = values.at(static_cast<int64_t>(frame));
            ++counts->compared;
            if (value == want || (std::isnan(value) && std::isnan(want))) continue;
            ++counts->different;
            counts->largest = std::max(counts->largest, std::abs(value - want));
            EXPECT_EQ(value, want) << where << " " << name << " frame " << frame;
        }
    }
}

/// What libvmaf says of a picture that we refuse: nothing, or zeros, which is what empty sums leave.
inline bool is_undefined(const golden::Json& run, const MetricDescriptor& descriptor) {
    for (const auto& [name, metric] : run["metrics"].object) {
        const auto is_ours = [&wanted = name](const OutputSpec& output) { return output.alias == wanted; };
        if (std::none_of(descriptor.outputs.begin(), descriptor.outputs.end(), is_ours)) continue;
        for (const golden::Json& value : metric["values"].array)
            if (value.value() != 0.0) return false;
    }
    return true;
}

/// Every score has to be equal in every bit.
inline void expect_golden_scores(const MetricDescriptor& descriptor, int least_compared) {
    const auto folder = golden::folder();
    if (folder.empty()) GTEST_SKIP() << "SKIPPED: no golden folder beside the repository or in QC_SHARED";
    GoldenCounts counts;
    for (const golden::Clip& clip : golden::clips(folder)) {
        const golden::Json runs = golden::read_json(folder / "libvmaf" / (clip.name + ".json"))["runs"];
        const FrameGeometry geometry = golden::geometry_of(clip);
        std::vector<uint8_t> files[2];
        for (const auto& [run_name, run] : runs.object) {
            if (run_name.starts_with("subsample")) continue;
            for (const golden::Json& item : run["items"].array) {
                if (item["feature"].string != descriptor.name) continue;
                const std::string where = clip.name + " " + run_name;
                test::OptionList list;
                for (const auto& [name, value] : item["options"].object)
                    list.emplace_back(name, option_value(value.string));
                if (!validate(descriptor, geometry, test::options_of(descriptor, list)).ok()) {
                    EXPECT_TRUE(is_undefined(run, descriptor)) << where;
                    ++counts.refused;
                    continue;
                }
                if (files[0].empty()) {
                    files[0] = golden::unpack(folder, clip.reference_file);
                    files[1] = golden::unpack(folder, clip.distorted_file);
                    ++counts.clips;
                }
                const auto reference = golden::pictures_of(clip, files[0]);
                const auto distorted = golden::pictures_of(clip, files[1]);
                ASSERT_EQ(reference.size(), static_cast<size_t>(clip.frames)) << where;
                ASSERT_EQ(distorted.size(), reference.size()) << where;
                ++counts.runs;
                compare_run(run["metrics"], test::score_stream(descriptor, geometry, list, reference, distorted), where,
                            &counts);
            }
        }
    }
    std::printf("%d scores of %d runs of %d clips compared, %d differ, by %g at most; %d runs refused\n",
                counts.compared, counts.runs, counts.clips, counts.different, counts.largest, counts.refused);
    EXPECT_GE(counts.compared, least_compared);
}

} // namespace qc::structural
