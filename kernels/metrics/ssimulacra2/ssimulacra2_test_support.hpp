// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the tests of SSIMULACRA 2 have in common. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "contract/settings.hpp"
#include "metrics/ssimulacra2/ssimulacra2.hpp"
#include "metrics/ssimulacra2/ssimulacra2_settings.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_pair.hpp"

namespace qc::ssimulacra2 {

using Words = test::WordList;
using test::convention;
using test::warns;

inline test::OptionList list_of(const Words& words) {
    return test::list_of_words(descriptor(), words);
}

inline test::Recorder run(const FrameGeometry& geometry, const test::OptionList& list, const HostPicture& reference,
                          const HostPicture& distorted) {
    const std::vector<HostPicture> first{reference}, second{distorted};
    return test::score_stream(descriptor(), geometry, list, first, second);
}

inline double score_of(const FrameGeometry& geometry, const Words& words, const HostPicture& reference,
                       const HostPicture& distorted) {
    return run(geometry, list_of(words), reference, distorted).values("ssimulacra2").at(0);
}

/// A synthetic pair and its score under options and tags.
struct Pair : test::SyntheticPair {
    using SyntheticPair::SyntheticPair;

    double score(const Words& words = {}) const {
        return score_of(geometry, words, reference.view(), distorted.view());
    }
};

inline ColourTags tags(int matrix, int range, int primaries, int transfer, int location) {
    return {matrix, range, primaries, transfer, location};
}

inline Plan plan_of(const FrameGeometry& geometry, const Words& words = {}) {
    return make_plan(geometry, settled<Settings>(geometry, test::options_of(descriptor(), list_of(words))));
}

inline std::unique_ptr<Scorer> scorer_of(const FrameGeometry& geometry, const Words& words = {}) {
    return create_scorer(descriptor(), geometry, test::options_of(descriptor(), list_of(words)));
}

} // namespace qc::ssimulacra2
