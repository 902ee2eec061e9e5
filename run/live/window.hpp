// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores of a stretch of the stream: frames with their times come in; mean, minimum and 5th percentile come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace qc::run {

struct WindowScore {
    int count = 0; ///< 0: the others are NaN, as they are if one of the scores is
    double mean = std::numeric_limits<double>::quiet_NaN();
    double min = mean, p5 = mean;
};

/// A half-open stretch of the stream's time: the first window begins with the first frame, and each of the others a
/// whole number of lengths later. Where the time jumps back, a new first one begins. Windows without any frame do not
/// exist. Whoever has a frame asks closes() first, reads and clears the window if it does, and then adds the frame.
class Window {
public:
    /// A window of more frames closes early: what it holds is bounded, whatever the time stamps say.
    static constexpr int kMostFrames = 65536;

    /// @param length microseconds, above 0
    explicit Window(int64_t length) : length_(length) {}

    /// Whether a frame of that time, in microseconds, comes behind the window.
    bool closes(int64_t time) const;

    bool is_open() const { return frames_ > 0; }
    int frames() const { return frames_; }
    int scored() const { return scored_; } ///< those with any score
    size_t columns() const { return columns_.size(); }

    /// Where the window begins and ends, in microseconds of the stream.
    int64_t start() const { return origin_ + number_ * length_; }
    int64_t end() const { return start() + length_; }

    /// Adds a frame; closes() has been asked. Without memory the frame counts, and has no scores.
    /// @param value   nullptr: it has no scores
    /// @param present which of them there are
    /// @param columns how many; 0 as long as nobody knows, from then on the same for all frames
    void add(int64_t time, const double* value, const unsigned char* present, size_t columns);

    /// Pools a column as the engine pools a run. Reorders its values.
    WindowScore pool(size_t column);

    /// The next frame begins another window.
    void clear();

private:
    int64_t number_of(int64_t time) const { return (time - origin_) / length_; }
    void open(int64_t time);

    int64_t length_;
    int64_t origin_ = 0, number_ = 0; // where the first window began; this window's number from there
    bool was_open_ = false;           // there has been a frame
    int frames_ = 0, scored_ = 0;
    std::vector<std::vector<double>> columns_;
};

} // namespace qc::run
