// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scenes of a title, found in its log alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "logs/scores.hpp"

namespace qc::cli {

/// Places in the log's list of frames.
struct Scene {
    size_t begin = 0, end = 0; ///< half open
    size_t size() const { return end - begin; }
};

struct Scenes {
    std::vector<Scene> list; ///< in order, without gaps
    std::string source;      ///< how they were found, as a sentence for people
};

/// Between cuts, which are peaks of the reference's motion, where the log has it; otherwise windows of fixed length.
/// docs/reference/report.md has the rules. @param window_frames fixed length, whatever the log has; 0: none
Scenes find_scenes(const ScoreLog& log, size_t window_frames);

/// What a bootstrap draws: the scenes, where there are enough of them. Otherwise blocks of time, of one or two seconds
/// each, unless a length of scenes was asked for.
std::vector<Scene> drawn_pieces(const ScoreLog& log, const Scenes& scenes, size_t window_frames);

/// The reference's change from frame to frame, which is greatest at a cut; null: the log has none.
const Scores* motion_of(const ScoreLog& log);

} // namespace qc::cli
