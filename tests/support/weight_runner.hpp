// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores a pair whose samples have weights with a metric's CPU backend, without an engine. Test code only.
#pragma once

#include <functional>

#include "tests/support/metric_runner.hpp"

namespace qc::test {

using WeightAt = std::function<int(int x, int y)>;

/// Weights of a picture, whose rows lie further apart than they are long.
class TestWeights {
public:
    TestWeights(const FrameGeometry& geometry, const WeightAt& weight_at)
        : width_(geometry.width), height_(geometry.height), weights_(static_cast<size_t>(pitch() * height_), 0xa5) {
        for (int y = 0; y < height_; ++y)
            for (int x = 0; x < width_; ++x)
                weights_[static_cast<size_t>(y * pitch() + x)] = static_cast<uint8_t>(weight_at(x, y));
    }
    int at(int x, int y) const { return weights_[static_cast<size_t>(y * pitch() + x)]; }
    HostPlane view() const { return {weights_.data(), {pitch()}, width_, height_}; }

private:
    int pitch() const { return width_ + 3; }

    int width_, height_;
    std::vector<uint8_t> weights_;
};

/// No weight twice in a row, and none is left out.
inline int varied_weight(int x, int y) {
    return (x * 37 + y * 101 + x * y) % 256;
}

/// That of one sample alone.
inline WeightAt only_at(int x, int y) {
    return [x, y](int u, int v) { return u == x && v == y ? 9 : 0; };
}

/// Scores of a pair with weights; none if the metric leaves the frame out. @param weight_at empty: without weights
inline std::map<std::string, double> scores_under(const MetricDescriptor& descriptor, FrameGeometry geometry,
                                                  const OptionValues& options, HostPair pair,
                                                  const WeightAt& weight_at) {
    geometry.has_weights = static_cast<bool>(weight_at);
    const TestWeights weights(geometry, weight_at ? weight_at : only_at(0, 0));
    if (geometry.has_weights) pair.weights = weights.view();
    EXPECT_TRUE(validate(descriptor, geometry, options).ok());
    const auto scorer = create_scorer(descriptor, geometry, options);
    std::vector<uint64_t> words(scorer->accumulator_words());
    scorer->score(pair, HostPast{}, words);
    Recorder recorder(descriptor);
    create_finaliser(descriptor, geometry, options)->finalise(0, words, recorder);
    std::map<std::string, double> scores;
    for (const auto& [name, values] : recorder.scores) scores[name] = values.at(0);
    return scores;
}

} // namespace qc::test
