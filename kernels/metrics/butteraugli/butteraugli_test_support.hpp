// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the tests of Butteraugli have in common. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "contract/settings.hpp"
#include "metrics/butteraugli/butteraugli.hpp"
#include "metrics/butteraugli/butteraugli_settings.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_pair.hpp"

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
        score_cpu(geometry, make_plan(geometry, settled<Settings>(geometry, options)), {reference, distorted},
                  accumulators);
    }
    create_finaliser(descriptor(), geometry, options)->finalise(0, accumulators, recorder);
    return recorder;
}

inline double score_of(const FrameGeometry& geometry, const Words& words, const HostPicture& reference,
                       const HostPicture& distorted) {
    return run(geometry, words, reference, distorted).values("butteraugli").at(0);
}

/// A synthetic pair and its score under options and tags.
struct Pair : test::SyntheticPair {
    using SyntheticPair::SyntheticPair;

    test::Recorder scores(const Words& words = {}, Cpu cpu = Cpu::kBackend) const {
        return run(geometry, words, reference.view(), distorted.view(), cpu);
    }
    double score(const Words& words = {}) const { return scores(words).values("butteraugli").at(0); }
};

inline Plan plan_of(const FrameGeometry& geometry, const Words& words = {}) {
    return make_plan(geometry, settled<Settings>(geometry, options_of(words)));
}

inline std::unique_ptr<Scorer> scorer_of(const FrameGeometry& geometry, const Words& words = {}) {
    return create_scorer(descriptor(), geometry, options_of(words));
}

} // namespace qc::butteraugli
