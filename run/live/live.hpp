// SPDX-License-Identifier: BSD-2-Clause-Patent
// What is told of the scores while a run goes on; the contract is that of quality_cuda_run/live.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quality_cuda_run/live.h"
#include "run/live/alert.hpp"
#include "run/live/descriptor.hpp"
#include "run/live/line.hpp"
#include "run/live/stream.hpp"
#include "run/live/window.hpp"

namespace qc::run {

/// Functions that return a text return what is wrong, or "". All may throw std::bad_alloc, unless they say otherwise.
class Live {
public:
    explicit Live(const qcr_sink& sink) : sink_(sink) {}

    std::string configure(const qcr_live_options& options);
    void send_to(const char* name, const qcr_receiver& receiver, int most) {
        stream_.emplace(name, receiver, most, sink_);
    }
    void write_to(const qcr_target& target, int most);
    void keep_metrics(const qcr_target& target) { metrics_file_ = &target; }
    std::string name_scores(const char* const* names, size_t renditions, size_t features);

    void frame_leaves(const qcr_row& row);
    void pace_changes(bool is_overloaded, double time, int64_t passed) noexcept;
    int finish(const char* end, qc_session* session, bool is_hurried) noexcept;
    void sum_up() const;
    const qcr_sink& sink() const { return sink_; }

    bool has_alerts() const { return !alerts_.empty(); }
    const char* active_alerts() const { return active_.c_str(); }

private:
    std::string add_alert(std::string_view text, std::string_view option);
    bool is_watching() const { return stream_ || !alerts_.empty() || window_; }
    void follow_time(double seconds);
    double now() const { return seconds_of(time_); }
    double seconds_of(int64_t time) const { return origin_ + static_cast<double>(time) / 1e6; }

    /// Makes a line and sends it, if there is a receiver. A line that there is no memory for is dropped. Throws
    /// nothing.
    template <typename Fill>
    void send_line(const char* type, Fill&& fill) noexcept;
    void start_stream() noexcept;

    void write_frame(const qcr_row& row);
    void add_corrupt(uint32_t corrupt, Line& line) const;
    void write_window();
    void write_alert(const Alert& alert, const char* event, double value, const char* reason);
    void write_end(const char* end, qc_session* session);
    void add_active_alerts(Line& line) const;

    void close_window();
    void begin_alert(const Alert& alert, double value);
    void end_alert(const Alert& alert, double value, const char* reason);
    void note_active();
    void write_metrics(bool is_running) noexcept;

    const qcr_sink sink_;
    const qcr_names* inputs_ = nullptr;
    std::vector<std::string> names_; // of the scores, [rendition][feature]
    size_t features_ = 0;

    std::optional<Descriptor> descriptor_;
    std::optional<Stream> stream_;
    bool has_failed_to_start_ = false;

    std::string asked_alerts_; // the whole option
    std::vector<Alert> alerts_;
    std::string active_; // names of those that are

    bool has_window_lines_ = false;
    std::optional<Window> window_;
    std::vector<WindowScore> latest_;          // of the latest window, [rendition][feature]; empty: there is none yet
    double latest_start_ = 0, latest_end_ = 0; // seconds

    const qcr_target* metrics_file_ = nullptr;
    int metrics_error_ = 0; // the first time that it could not be written

    double origin_ = 0; // seconds; time is counted from here. 0, unless stamps are so large that microseconds overflow
    int64_t time_ = 0;  // of the latest frame, microseconds
    int64_t frames_ = 0, scored_ = 0,
            realtime_ = 0; // of those that left: all, with scores, without because scoring was too slow
    bool is_finished_ = false;
};

} // namespace qc::run
