// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the tests of Butteraugli have in common. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/butteraugli/butteraugli.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::butteraugli {

using Words = test::WordList;
using test::convention;
using test::warns;

inline OptionValues options_of(const Words& words) {
    return test::written_options(descriptor(), words);
}

/// Which of the CPU's implementations: what the backend runs, or the readable reference.
enum class Cpu { kBackend, kReference };

/// How far the backend may be from the reference, relative to scores above 1.
constexpr double kCpuBound = 1e-6;

/// Everything that a pair scores, by the name in the log.
inline test::Recorder run(const FrameGeometry& geometry, const Words& words, const HostPicture& reference,
                          const HostPicture& distorted, Cpu cpu = Cpu::kBackend) {
    const OptionValues options = options_of(words);
    test::Recorder recorder(descriptor());
    const Status valid = validate(descriptor(), geometry, options);
    EXPECT_TRUE(valid.ok()) << valid.text();
    if (!valid.ok()) return recorder;
    const auto scorer = create_scorer(descriptor(), geometry, options);
    std::vector<uint64_t> accumulators(scorer->accumulator_words());
    if (cpu == Cpu::kBackend) {
        scorer->score({reference, distorted}, accumulators);
    } else {
        Plan plan{};
        EXPECT_TRUE(plan_for(geometry, options, &plan).ok());
        score_cpu(geometry, plan, {reference, distorted}, accumulators);
    }
    create_finaliser(descriptor(), geometry, options)->finalise(0, accumulators, recorder);
    return recorder;
}

inline double score_of(const FrameGeometry& geometry, const Words& words, const HostPicture& reference,
                       const HostPicture& distorted) {
    return run(geometry, words, reference, distorted).values("butteraugli").at(0);
}

inline test::SyntheticClip clip_of(int width, int height, qc_chroma chroma, int depth) {
    return {"", width, height, chroma, depth, 1, 0, 0};
}

/// A synthetic pair and its score under options and tags.
struct Pair {
    explicit Pair(int width, int height, qc_chroma chroma = QC_CHROMA_420, int depth = 8)
        : geometry(test::synthetic_geometry(clip_of(width, height, chroma, depth))),
          reference(clip_of(width, height, chroma, depth), false, 0),
          distorted(clip_of(width, height, chroma, depth), true, 0) {}

    test::Recorder scores(const Words& words = {}, Cpu cpu = Cpu::kBackend) const {
        return run(geometry, words, reference.view(), distorted.view(), cpu);
    }
    double score(const Words& words = {}) const { return scores(words).values("butteraugli").at(0); }

    FrameGeometry geometry;
    test::SyntheticPicture reference, distorted;
};

inline std::unique_ptr<Scorer> scorer_of(const FrameGeometry& geometry, const Words& words = {}) {
    return create_scorer(descriptor(), geometry, options_of(words));
}

} // namespace qc::butteraugli
