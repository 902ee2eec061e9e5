// SPDX-License-Identifier: BSD-2-Clause-Patent
// Streams of pairs through the CPU's implementations, without an engine.
#pragma once

#include <string>
#include <vector>

#include "metrics/cvvdp/cvvdp.hpp"
#include "metrics/cvvdp/cvvdp_cpu.hpp"
#include "metrics/cvvdp/cvvdp_cpu_rows.hpp"
#include "metrics/cvvdp/cvvdp_pooling.hpp"
#include "tests/support/metric_runner.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::cvvdp {

/// A clip of a few frames, made by a formula.
class Clip {
public:
    Clip(const FrameGeometry& geometry, int frames) {
        for (int f = 0; f < frames; ++f)
            for (const bool is_distorted : {false, true})
                pictures_.emplace_back(geometry, [&](int plane, int x, int y) {
                    return test::synthetic_blocks(x, y, f, plane, geometry.depth, is_distorted);
                });
        for (size_t i = 0; i < pictures_.size(); i += 2) {
            reference.push_back(pictures_[i].view());
            distorted.push_back(pictures_[i + 1].view());
        }
    }
    std::vector<HostPicture> reference, distorted;

private:
    std::vector<test::SamplePicture> pictures_;
};

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

/// Which of the CPU's implementations: what the backend runs, or one of the two that it chooses from.
enum class Cpu { kBackend, kRows, kReference };

/// The words of every frame of a clip.
inline std::vector<std::vector<uint64_t>> words_of_clip(const FrameGeometry& geometry, const OptionValues& options,
                                                        std::span<const HostPicture> reference,
                                                        std::span<const HostPicture> distorted, Cpu cpu = Cpu::kBackend,
                                                        Helpers* helpers = nullptr) {
    const Status status = validate(descriptor(), geometry, options);
    EXPECT_TRUE(status.ok()) << status.text();
    const std::unique_ptr<Scorer> scorer = create_scorer(descriptor(), geometry, options);
    const Settings settings = settled<Settings>(geometry, options);
    const CpuReference readable(geometry, settings);
    const CpuRows rows(geometry, settings);
    const auto depth = static_cast<size_t>(earlier_pairs(descriptor(), geometry, options));
    std::vector<std::vector<uint64_t>> words;
    for (size_t frame = 0; frame < reference.size(); ++frame) {
        HostPair pair{reference[frame], distorted[frame]};
        pair.helpers = helpers;
        const std::vector<EarlierPair> past = past_of(reference, distorted, frame, depth);
        words.emplace_back(scorer->accumulator_words());
        switch (cpu) {
        case Cpu::kBackend:
            scorer->score(pair, past, words.back());
            break;
        case Cpu::kRows:
            rows.score(pair, past, words.back());
            break;
        case Cpu::kReference:
            readable.score(pair, past, words.back());
            break;
        }
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
                            std::span<const HostPicture> reference, std::span<const HostPicture> distorted,
                            Cpu cpu = Cpu::kBackend) {
    return score_words(geometry, options, words_of_clip(geometry, options, reference, distorted, cpu));
}

/// What the CPU backend is held to: of the clip, and of each frame as if it were one.
constexpr double kCpuJodBound = 1e-6;

inline double frame_jod(double value) {
    return jod_of_frames(std::vector{value, value});
}

inline void expect_equal_jod(const ClipScore& actual, const ClipScore& expected, double bound = kCpuJodBound) {
    EXPECT_NEAR(actual.jod, expected.jod, bound);
    ASSERT_EQ(actual.frames.size(), expected.frames.size());
    for (size_t f = 0; f < actual.frames.size(); ++f)
        EXPECT_NEAR(frame_jod(actual.frames[f]), frame_jod(expected.frames[f]), bound) << "frame " << f;
}

} // namespace qc::cvvdp
