// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/live/live.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>

#include "run/live/metrics.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

constexpr int64_t kDefaultWindow = 1000000; // microseconds, where the metrics need one and none was asked for
constexpr double kFarthest = 1e12; // seconds from the origin: in microseconds they fit 64 bits with room for windows
constexpr int64_t kLateScores =
    1000000; // microseconds: a step back that is no jump of the stream, but a score that came late
constexpr std::chrono::microseconds kPatience(3000000); // that a receiver has at the end
constexpr std::chrono::microseconds kShortPatience(1000000);

constexpr qc_pool kPools[] = {QC_POOL_MEAN, QC_POOL_HARMONIC_MEAN, QC_POOL_MIN, QC_POOL_P5};

std::string quoted(const char* option, std::string_view value) {
    return std::string(option) + '=' + std::string(value);
}

} // namespace

// ---- what was asked for

std::string Live::add_alert(std::string_view text, std::string_view option) {
    const std::string asked = quoted("alert", option);
    if (alerts_.size() == QCR_MOST_ALERTS)
        return asked + " has more than " + std::to_string(QCR_MOST_ALERTS) + " conditions";
    Alert alert;
    const char* wrong = parse_condition(text, alert.condition);
    if (wrong != nullptr)
        return asked + ": " + std::string(text) + ": " + wrong +
               "; accepted: conditions like vmaf<80:2s or mean(vmaf)<80:2s, joined by |";
    for (const Alert& other : alerts_)
        if (other.condition.name == alert.condition.name) return asked + " has " + alert.condition.name + " twice";
    alerts_.push_back(std::move(alert));
    return {};
}

std::string Live::configure(const qcr_live_options& options) {
    const bool has_lines = options.has_lines != 0, has_metrics = options.has_metrics != 0;
    if (options.window != 0 && !has_lines && !has_metrics)
        return quoted("window", brief_number(static_cast<double>(options.window) / 1e6)) +
               "s needs log_fmt=jsonl or metrics_file, which say what became of each window";
    inputs_ = options.names;
    has_window_lines_ = options.window != 0;
    if (has_window_lines_ || has_metrics) window_.emplace(has_window_lines_ ? options.window : kDefaultWindow);
    if (options.alerts == nullptr) return {};
    asked_alerts_ = options.alerts;
    for (std::string_view rest = asked_alerts_;;) {
        const size_t bar = rest.find('|');
        std::string wrong = add_alert(rest.substr(0, bar), asked_alerts_);
        if (!wrong.empty() || bar == std::string_view::npos) return wrong;
        rest.remove_prefix(bar + 1);
    }
}

void Live::write_to(const qcr_target& target, int most) {
    descriptor_.emplace(target);
    send_to(target.name, descriptor_->table(), most);
}

std::string Live::name_scores(const char* const* names, size_t renditions, size_t features) {
    names_.assign(names, names + renditions * features);
    features_ = features;
    for (Alert& alert : alerts_) {
        const auto found = std::find(names_.begin(), names_.end(), alert.condition.score);
        alert.column = static_cast<size_t>(found - names_.begin());
        if (found != names_.end()) continue;
        std::string text =
            quoted("alert", asked_alerts_) + ": there is no score " + alert.condition.score + "; accepted: ";
        for (size_t i = 0; i < names_.size(); ++i) text += (i > 0 ? ", " : "") + names_[i];
        return text;
    }
    return {};
}

// ---- lines

/// Only the first line does: the command line makes a filter just to count its pads.
void Live::start_stream() noexcept {
    if (stream_->is_running() || is_finished_ || has_failed_to_start_) return;
    int error = ENOMEM;
    try {
        stream_->start();
        return;
    } catch (const std::system_error& failure) {
        error = failure.code().value();
    } catch (const std::bad_alloc&) { // NOLINT(bugprone-empty-catch): that is what the error says
    }
    has_failed_to_start_ = true;
    if_possible([&] {
        say(sink_, QCR_LEVEL_ERROR, "log_path=" + stream_->name() + " cannot be written: " + std::strerror(error));
    });
}

template <typename Fill>
void Live::send_line(const char* type, Fill&& fill) noexcept {
    if (!stream_) return;
    start_stream();
    if (!stream_->is_running()) return;
    try {
        Line line(type);
        fill(line);
        stream_->send(std::move(line).finished());
    } catch (const std::bad_alloc&) {
        stream_->drop();
    }
}

void Live::add_active_alerts(Line& line) const {
    if (alerts_.empty()) return;
    std::vector<std::string_view> names;
    for (const Alert& alert : alerts_)
        if (alert.is_active) names.emplace_back(alert.condition.name);
    line.strings("alerts", names);
}

/// The inputs whose frames are damaged.
void Live::add_corrupt(uint32_t corrupt, Line& line) const {
    std::vector<std::string_view> roles;
    for (int i = 0; i < inputs_->inputs; ++i)
        if ((corrupt >> i & 1U) != 0) roles.emplace_back(inputs_->role[i]);
    line.strings("corrupt", roles);
}

void Live::write_frame(const qcr_row& row) {
    send_line("frame", [&](Line& line) {
        if (row.value != nullptr) line.count("n", row.number);
        line.number("pts_time", row.pts_time);
        if (row.value != nullptr) {
            line.number("ref_pts_time", row.ref_pts_time);
            line.begin("scores");
            for (size_t i = 0; i < names_.size(); ++i)
                if (row.present[i] != 0) line.number(names_[i], row.value[i]);
            line.end();
        } else {
            line.string("unscored", row.unscored != nullptr ? row.unscored : "unpaired");
        }
        if (row.corrupt != 0) add_corrupt(row.corrupt, line);
        add_active_alerts(line);
    });
}

void Live::write_window() {
    send_line("window", [&](Line& line) {
        line.number("start", latest_start_);
        line.number("end", latest_end_);
        line.count("frames", window_->frames());
        line.count("scored", window_->scored());
        line.begin("scores");
        for (size_t i = 0; i < latest_.size(); ++i) {
            if (latest_[i].count == 0) continue;
            line.begin(names_[i]);
            line.number("mean", latest_[i].mean);
            line.number("min", latest_[i].min);
            line.number("p5", latest_[i].p5);
            line.count("count", latest_[i].count);
            line.end();
        }
        line.end();
        add_active_alerts(line);
    });
}

void Live::write_alert(const Alert& alert, const char* event, double value, const char* reason) {
    send_line("alert", [&](Line& line) {
        line.string("event", event);
        line.string("alert", alert.condition.name);
        line.number("pts_time", now());
        line.number("since", alert.since);
        line.number("value", value);
        line.number("worst", alert.worst);
        if (reason != nullptr) line.string("reason", reason);
    });
}

/// The receiver wants to know the whole run's scores, too.
void Live::write_end(const char* end, qc_session* session) {
    send_line("end", [&](Line& line) {
        line.members(end);
        line.count("frames", frames_);
        line.count("scored", scored_);
        line.count("unscored", frames_ - scored_);
        line.count("dropped", stream_->counts().dropped);
        line.begin("scores");
        for (size_t i = 0; session != nullptr && i < names_.size(); ++i) {
            const int rendition = static_cast<int>(i / features_), feature = static_cast<int>(i % features_);
            double value = 0.0;
            if (qc_session_pooled(session, rendition, feature, kPools[0], &value) != QC_OK) continue;
            line.begin(names_[i]);
            for (const qc_pool pool : kPools)
                if (qc_session_pooled(session, rendition, feature, pool, &value) == QC_OK)
                    line.number(qc_pool_name(pool), value);
            line.end();
        }
        line.end();
    });
}

// ---- windows, alerts, metrics

void Live::close_window() {
    latest_.resize(window_->columns());
    for (size_t i = 0; i < latest_.size(); ++i) latest_[i] = window_->pool(i);
    latest_start_ = seconds_of(window_->start());
    latest_end_ = seconds_of(window_->end());
    if (has_window_lines_) write_window();
    window_->clear();
    write_metrics(true);
}

void Live::begin_alert(const Alert& alert, double value) {
    say(sink_, QCR_LEVEL_WARNING,
        "alert " + alert.condition.name + " begins at " + number(now(), 3) + " s: " + score_text(value) + ", since " +
            number(alert.since, 3) + " s");
    write_alert(alert, "begin", value, nullptr);
}

void Live::end_alert(const Alert& alert, double value, const char* reason) {
    say(sink_, QCR_LEVEL_WARNING,
        "alert " + alert.condition.name + " ends at " + number(now(), 3) + " s" +
            (reason != nullptr ? std::string(", ") + reason : "") + ": since " + number(alert.since, 3) + " s, worst " +
            score_text(alert.worst));
    write_alert(alert, "end", value, reason);
}

void Live::note_active() {
    active_.clear();
    for (const Alert& alert : alerts_)
        if (alert.is_active) active_ += (active_.empty() ? "" : "|") + alert.condition.name;
}

void Live::write_metrics(bool is_running) noexcept {
    if (metrics_file_ == nullptr) return;
    int error = -ENOMEM;
    try {
        Metrics metrics;
        metrics.path = metrics_file_->name;
        metrics.is_running = is_running;
        metrics.frames = frames_;
        metrics.scored = scored_;
        metrics.realtime = realtime_;
        metrics.dropped_lines = stream_ ? stream_->counts().dropped : 0;
        metrics.alerts = alerts_;
        metrics.features = std::span(names_).first(features_);
        metrics.latest = latest_;
        metrics.latest_start = latest_start_;
        metrics.latest_end = latest_end_;
        const std::string text = metrics_text(metrics);
        error = qcr_replace_file(&metrics_file_->path, text.data(), text.size());
    } catch (const std::bad_alloc&) { // NOLINT(bugprone-empty-catch): that is what the error says
    }
    if (error >= 0 || metrics_error_ != 0) return;
    metrics_error_ = error;
    if_possible([&] {
        say(sink_, QCR_LEVEL_ERROR,
            std::string("metrics_file=") + metrics_file_->name + " cannot be written: " + std::strerror(-error) +
                "; it is tried again with each window");
    });
}

// ---- the run

/// Scores may come when later frames have left already; only what jumps further is a jump of the stream.
void Live::follow_time(double seconds) {
    if (!std::isfinite(seconds)) return;
    if (std::abs(seconds - origin_) > kFarthest) {
        if (window_ && window_->is_open()) close_window();
        origin_ = seconds;
        time_ = 0;
    }
    const int64_t time = std::llrint((seconds - origin_) * 1e6);
    if (time > time_ || time_ - time > kLateScores || frames_ == 0) time_ = time;
}

void Live::frame_leaves(const qcr_row& row) {
    if (!is_watching() || is_finished_ || row.scores_follow != 0) return;
    follow_time(row.pts_time);
    ++frames_;
    if (row.value != nullptr) ++scored_;
    if (row.unscored != nullptr && std::strcmp(row.unscored, "realtime") == 0) ++realtime_;
    if (window_) {
        if (window_->closes(time_)) close_window();
        window_->add(time_, row.value, row.present, names_.size());
    }
    std::array<AlertChange, QCR_MOST_ALERTS> changes{};
    for (size_t a = 0; a < alerts_.size(); ++a) {
        if (row.value == nullptr || row.present[alerts_[a].column] == 0) continue;
        changes[a] = alerts_[a].update(row.value[alerts_[a].column], now());
    }
    note_active();
    if (!has_window_lines_) write_frame(row);
    for (size_t a = 0; a < alerts_.size(); ++a) {
        if (changes[a] == AlertChange::kBegins) begin_alert(alerts_[a], alerts_[a].value);
        if (changes[a] == AlertChange::kEnds) end_alert(alerts_[a], alerts_[a].value, nullptr);
    }
}

void Live::pace_changes(bool is_overloaded, double time, int64_t passed) noexcept {
    if_possible([&] {
        const std::string when = number(time, 3) + " s";
        say(sink_, QCR_LEVEL_WARNING,
            is_overloaded
                ? "realtime=1: from " + when + " on scoring is slower than the stream, frames pass without scores"
                : "realtime=1: scoring keeps up again at " + when +
                      "; frames that passed without scores:" + std::to_string(passed));
    });
    send_line("realtime", [&](Line& line) {
        line.string("event", is_overloaded ? "overloaded" : "recovered");
        line.number("pts_time", time);
        line.count("passed", passed);
    });
}

int Live::finish(const char* end, qc_session* session, bool is_hurried) noexcept {
    if (!is_watching() || is_finished_) return 0;
    if_possible([&] {
        for (Alert& alert : alerts_) {
            if (alert.is_active) end_alert(alert, std::numeric_limits<double>::quiet_NaN(), "the run ends");
            alert.is_active = false;
        }
        note_active();
        if (window_ && window_->is_open()) close_window();
    });
    write_metrics(false);
    write_end(end, session);
    is_finished_ = true;
    const int error = stream_ ? stream_->finish(is_hurried ? kShortPatience : kPatience) : 0;
    return error < 0 ? error : metrics_error_;
}

void Live::sum_up() const {
    if (stream_) {
        const StreamCounts counts = stream_->counts();
        say(sink_, counts.dropped > 0 ? QCR_LEVEL_WARNING : QCR_LEVEL_INFO,
            "log_path=" + stream_->name() + ": lines:" + std::to_string(counts.lines) +
                " dropped:" + std::to_string(counts.dropped) + " receivers:" + std::to_string(counts.receivers));
    }
    for (const Alert& alert : alerts_)
        say(sink_, QCR_LEVEL_INFO, "alert " + alert.condition.name + ": times:" + std::to_string(alert.times));
    if (metrics_error_ != 0)
        say(sink_, QCR_LEVEL_ERROR,
            std::string("metrics_file=") + metrics_file_->name +
                " could not always be written: " + std::strerror(-metrics_error_));
}

} // namespace qc::run
