// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "compare/scenes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "compare/bootstrap.hpp"

namespace qc::cli {

namespace {

constexpr size_t kNeighbours = 12;   ///< on each side, which say what motion is usual
constexpr double kTimesUsual = 4.0;  ///< and how far above it a cut stands
constexpr double kLeastChange = 2.0; ///< codes of 8 bits, on average; below it nothing is called a cut
constexpr double kShortestSeconds = 0.5, kLongestSeconds = 10.0, kWindowSeconds = 2.0;
constexpr double kBlockSeconds = 1.0, kLongBlockSeconds = 2.0;
constexpr size_t kManyBlocks = 10;
constexpr double kAssumedRate = 25.0; ///< where the log says none

size_t frames_in(double seconds, double rate) {
    return std::max<size_t>(1, static_cast<size_t>(std::lround(std::min(seconds * rate, 1e9))));
}

/// Frames from one entry to the next, of logs of every n-th.
double step_of(const ScoreLog& log) {
    return log.frames.size() > 1 ? static_cast<double>(log.frames.back() - log.frames.front()) /
                                       static_cast<double>(log.frames.size() - 1)
                                 : 1;
}

double median_of(std::array<double, 2 * kNeighbours>& values, size_t count) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(count / 2);
    std::nth_element(values.begin(), middle, values.begin() + static_cast<std::ptrdiff_t>(count));
    return *middle;
}

/// What is usual around a frame, without itself.
double usual_motion(const std::vector<double>& motion, size_t at) {
    std::array<double, 2 * kNeighbours> around{};
    size_t count = 0;
    const size_t first = at > kNeighbours ? at - kNeighbours : 1, // the first frame has no motion yet
        last = std::min(motion.size(), at + kNeighbours + 1);
    for (size_t i = first; i < last; ++i)
        if (i != at && !std::isnan(motion[i])) around[count++] = motion[i];
    return count > 0 ? median_of(around, count) : 0;
}

bool is_cut(const std::vector<double>& motion, size_t at) {
    return motion[at] >= kLeastChange && motion[at] >= kTimesUsual * usual_motion(motion, at); // NaN: neither
}

std::vector<Scene> between_cuts(const std::vector<double>& motion, size_t shortest) {
    std::vector<Scene> list;
    size_t begin = 0;
    for (size_t i = 1; i < motion.size(); ++i)
        if (i - begin >= shortest && motion.size() - i >= shortest && is_cut(motion, i)) {
            list.push_back({begin, i});
            begin = i;
        }
    list.push_back({begin, motion.size()});
    return list;
}

/// As few pieces as possible, of lengths that differ by one at most.
void divide_evenly(const Scene& scene, size_t longest, std::vector<Scene>* list) {
    const size_t pieces = (scene.size() + longest - 1) / longest;
    for (size_t k = 0; k < pieces; ++k)
        list->push_back({scene.begin + scene.size() * k / pieces, scene.begin + scene.size() * (k + 1) / pieces});
}

} // namespace

const Scores* motion_of(const ScoreLog& log) {
    // Not motion2 and motion3: the smaller one of two neighbours, so that a cut is no peak of theirs.
    const std::string model = "VMAF_integer_feature_motion_sad_score";
    for (const char* name : {model.c_str(), "integer_motion", "VMAF_integer_feature_motion_v2_sad_score", "motion"})
        if (const Scores* const found = log.find(name)) return found;
    // Of a model that sets options their names follow.
    const auto found = std::find_if(log.scores.begin(), log.scores.end(),
                                    [&](const Scores& each) { return each.name.starts_with(model + "_"); });
    return found == log.scores.end() ? nullptr : &*found;
}

std::vector<Scene> drawn_pieces(const ScoreLog& log, const Scenes& scenes, size_t window_frames) {
    if (scenes.list.size() >= kFewestScenes || window_frames > 0) return scenes.list;
    const double rate = log.frame_rate() > 0 ? log.frame_rate() : kAssumedRate,
                 frames = static_cast<double>(log.frames.size());
    const double step = step_of(log);
    for (const auto& [seconds, fewest] :
         {std::pair(kLongBlockSeconds, kManyBlocks), std::pair(kBlockSeconds, kFewestScenes)}) {
        const size_t length = frames_in(seconds / step, rate);
        if (frames < static_cast<double>(length * fewest)) continue;
        std::vector<Scene> blocks;
        divide_evenly({0, log.frames.size()}, length, &blocks);
        return blocks;
    }
    return scenes.list;
}

Scenes find_scenes(const ScoreLog& log, size_t window_frames) {
    Scenes scenes;
    const double rate = log.frame_rate() > 0 ? log.frame_rate() : kAssumedRate;
    const Scene whole{0, log.frames.size()};
    const Scores* const motion = motion_of(log);
    if (window_frames > 0 || motion == nullptr) {
        const size_t length = window_frames > 0 ? window_frames : frames_in(kWindowSeconds, rate);
        divide_evenly(whole, length, &scenes.list);
        scenes.source = "windows of at most " + std::to_string(length) + " frames" +
                        (window_frames > 0 ? "" : ", for the log has no motion of the reference to find cuts by");
        return scenes;
    }
    // Of a log of every n-th pair the change between neighbours is still that from one frame to the next.
    const double step = step_of(log);
    const size_t shortest = frames_in(kShortestSeconds / step, rate), longest = frames_in(kLongestSeconds / step, rate);
    for (const Scene& each : between_cuts(motion->values, shortest)) divide_evenly(each, longest, &scenes.list);
    scenes.source = "between cuts, found by " + motion->name + "; pieces of at most 10 s";
    return scenes;
}

} // namespace qc::cli
