// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "process/progress.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <numeric>

#include <unistd.h>

#include "words/terminal.hpp"

namespace qc::cli {

namespace {

constexpr int kBarWidth = 30;
constexpr std::chrono::milliseconds kPause{200};
constexpr std::string_view kFrames = "frame=";

} // namespace

Progress::Progress(std::vector<Run> runs, bool is_wanted)
    : runs_(std::move(runs)), done_(runs_.size()), is_shown_(is_wanted && isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()), shown_(start_) {}

Progress::~Progress() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
}

void Progress::take(size_t run, const std::string& line) {
    if (!line.starts_with(kFrames)) return;
    done_[run] = std::atoll(line.c_str() + kFrames.size()) * runs_[run].outputs;
    show();
}

void Progress::note(const std::string& text) {
    note_ = "  " + TerminalText(text).shown();
    show();
}

void Progress::show() {
    const auto now = std::chrono::steady_clock::now();
    if (!is_shown_ || now - shown_ < kPause) return;
    shown_ = now;
    const std::string text = this->text(std::chrono::duration<double>(now - start_).count());
    std::fprintf(stderr, "\r\033[K%s%s", text.c_str(), note_.c_str());
    std::fflush(stderr);
}

std::string Progress::text(double seconds) const {
    const int64_t done = std::accumulate(done_.begin(), done_.end(), int64_t{0});
    int64_t expected = 0;
    for (const Run& run : runs_) expected += run.frames;
    const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
    std::array<char, 160> text{};
    if (std::any_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.frames == 0; })) {
        std::snprintf(text.data(), text.size(), "%lld frames  %.0f frames/s", static_cast<long long>(done), rate);
        return text.data();
    }
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(expected));
    const auto filled = static_cast<size_t>(part * kBarWidth);
    const auto left =
        static_cast<long long>(rate > 0 ? static_cast<double>(std::max<int64_t>(0, expected - done)) / rate : 0);
    std::snprintf(text.data(), text.size(), "[%s%s] %3.0f %%  %.0f frames/s  %lld:%02lld left",
                  std::string(filled, '#').c_str(), std::string(kBarWidth - filled, '.').c_str(), 100 * part, rate,
                  left / 60, left % 60);
    return text.data();
}

Tally::Tally(std::string what, size_t count, bool is_wanted)
    : what_(std::move(what)), count_(count), is_shown_(is_wanted && count > 0 && isatty(STDERR_FILENO) == 1) {
    show();
}

Tally::~Tally() {
    if (is_shown_) std::fputs("\r\033[K", stderr);
}

void Tally::add() {
    ++done_;
    show();
}

void Tally::show() const {
    if (!is_shown_) return;
    std::fprintf(stderr, "\r\033[K%s: %zu of %zu", what_.c_str(), done_, count_);
    std::fflush(stderr);
}

} // namespace qc::cli
