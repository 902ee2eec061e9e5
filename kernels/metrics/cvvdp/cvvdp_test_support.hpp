// SPDX-License-Identifier: BSD-2-Clause-Patent
// Streams of pairs through the CPU reference, without an engine.
#pragma once

#include <string>
#include <vector>

#include "metrics/cvvdp/cvvdp.hpp"
#include "metrics/cvvdp/cvvdp_pooling.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::cvvdp {

/// A clip's values and its JOD.
struct ClipScore {
    std::vector<double> frames;
    double jod = 0.0;
};

/// What the engine makes of the values.
inline double jod_of_frames(std::span<const double> frames) {
    const StreamScoreSpec& spec = descriptor().stream_scores[0];
    double sum = 0.0;
    for (const double value : frames) sum += spec.term(value);
    return spec.total(sum, static_cast<int64_t>(frames.size()));
}

inline OptionValues options_of_words(const test::WordList& words, const test::OptionList& numbers = {}) {
    test::OptionList list = test::list_of_words(descriptor(), words);
    list.insert(list.end(), numbers.begin(), numbers.end());
    return test::options_of(descriptor(), list);
}

/// The pairs before a frame, the latest first.
inline std::vector<EarlierPair> past_of(std::span<const HostPicture> reference, std::span<const HostPicture> distorted,
                                        size_t frame, size_t depth) {
    std::vector<EarlierPair> past;
    for (size_t back = 1; back <= std::min(depth, frame); ++back)
        past.push_back({&reference[frame - back], &distorted[frame - back]});
    return past;
}

/// The words of every frame of a clip.
inline std::vector<std::vector<uint64_t>> words_of_clip(const FrameGeometry& geometry, const OptionValues& options,
                                                        std::span<const HostPicture> reference,
                                                        std::span<const HostPicture> distorted) {
    const Status status = validate(descriptor(), geometry, options);
    EXPECT_TRUE(status.ok()) << status.text();
    const std::unique_ptr<Scorer> scorer = create_scorer(descriptor(), geometry, options);
    const auto depth = static_cast<size_t>(earlier_pairs(descriptor(), geometry, options));
    std::vector<std::vector<uint64_t>> words;
    for (size_t frame = 0; frame < reference.size(); ++frame) {
        words.emplace_back(scorer->accumulator_words());
        scorer->score(HostPair{reference[frame], distorted[frame]}, past_of(reference, distorted, frame, depth),
                      words.back());
    }
    return words;
}

inline ClipScore score_words(const FrameGeometry& geometry, const OptionValues& options,
                             const std::vector<std::vector<uint64_t>>& words) {
    const test::Recorder recorder = test::finalise_frames(descriptor(), geometry, options, words);
    ClipScore score{recorder.values("cvvdp_frame"), 0.0};
    score.jod = jod_of_frames(score.frames);
    return score;
}

inline ClipScore score_clip(const FrameGeometry& geometry, const OptionValues& options,
                            std::span<const HostPicture> reference, std::span<const HostPicture> distorted) {
    return score_words(geometry, options, words_of_clip(geometry, options, reference, distorted));
}

} // namespace qc::cvvdp
