// SPDX-License-Identifier: BSD-2-Clause-Patent
// One bar for many runs of ffmpeg.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace qc::cli {

/// On standard error, if that is a terminal.
class Progress {
public:
    struct Run {
        int64_t frames = 0;  ///< of all its outputs together, 0: not known
        int64_t outputs = 1; ///< which are alike: it tells of the first one's frames alone
    };
    Progress(std::vector<Run> runs, bool is_wanted);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// A line of ffmpeg's -progress.
    void take(size_t run, const std::string& line);

    /// What is shown behind the bar from now on.
    void note(const std::string& text);

    /// The bar's text at some time after the start.
    std::string text(double seconds) const;

private:
    void show();

    std::vector<Run> runs_;
    std::vector<int64_t> done_;
    std::string note_;
    bool is_shown_;
    std::chrono::steady_clock::time_point start_, shown_;
};

/// "pictures: 12 of 48" on standard error, if that is a terminal, from its first moment on.
class Tally {
public:
    Tally(std::string what, size_t count, bool is_wanted);
    ~Tally();
    Tally(const Tally&) = delete;
    Tally& operator=(const Tally&) = delete;

    void add();

private:
    void show() const;

    std::string what_;
    size_t count_, done_ = 0;
    bool is_shown_;
};

} // namespace qc::cli
