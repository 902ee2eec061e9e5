// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/live/metrics.hpp"

#include <cmath>

#include "run/text/text.hpp"

namespace qc::run {

namespace {

constexpr const char* kPrefix = "quality_cuda_";

/// Files of several processes are read together: this label tells their series apart.
std::string stream_label(std::string_view path) {
    std::string_view name = path.substr(path.find_last_of('/') + 1);
    const size_t dot = name.find_last_of('.');
    if (dot != std::string_view::npos && dot > 0) name = name.substr(0, dot);
    std::string label = "stream=\"";
    for (const char c : name) {
        if (c == '"' || c == '\\' || c == '\n') label += '\\';
        label += c == '\n' ? 'n' : c;
    }
    return label + '"';
}

std::string value_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0.0 ? "+Inf" : "-Inf";
    return number(value, value == std::floor(value) && std::fabs(value) < 1e15 ? 0 : kScoreDecimals);
}

class Writer {
public:
    explicit Writer(std::string_view path) : stream_(stream_label(path)) {}

    void describe(const std::string& name, const char* type, const char* help) {
        const std::string full = kPrefix + name;
        text_ += "# HELP " + full + ' ' + help + "\n# TYPE " + full + ' ' + type + '\n';
    }

    /// @param labels further ones, or empty
    void sample(const std::string& name, const std::string& labels, double value) {
        text_ +=
            kPrefix + name + '{' + stream_ + (labels.empty() ? "" : ",") + labels + "} " + value_text(value) + '\n';
    }

    void single(const std::string& name, const char* type, const char* help, double value) {
        describe(name, type, help);
        sample(name, "", value);
    }

    void count(const std::string& name, const char* help, int64_t value) {
        single(name, "counter", help, static_cast<double>(value));
    }

    std::string text_;

private:
    std::string stream_;
};

void write_counters(const Metrics& metrics, Writer& out) {
    out.single("running", "gauge", "1 while frames may follow, 0 behind the end of the run.",
               metrics.is_running ? 1.0 : 0.0);
    out.count("frames_total", "Frames of the distorted input that left.", metrics.frames);
    out.count("scored_frames_total", "Those of them that have scores.", metrics.scored);
    out.count("passed_frames_total", "Those of them that have none, for whatever reason.",
              metrics.frames - metrics.scored);
    out.count("realtime_passed_frames_total", "Those that have none because scoring was slower than the stream.",
              metrics.realtime);
    out.count("dropped_lines_total", "Lines of log_path that its receiver did not take.", metrics.dropped_lines);
}

void write_alerts(const Metrics& metrics, Writer& out) {
    if (metrics.alerts.empty()) return;
    const auto label = [](const Alert& alert) { return "alert=\"" + alert.condition.name + '"'; };
    out.describe("alerts_total", "counter", "How often the alert has begun.");
    for (const Alert& alert : metrics.alerts)
        out.sample("alerts_total", label(alert), static_cast<double>(alert.times));
    out.describe("alert_active", "gauge", "1 while the alert's condition holds, for as long as it has to.");
    for (const Alert& alert : metrics.alerts) out.sample("alert_active", label(alert), alert.is_active ? 1.0 : 0.0);
}

/// One statistic of each score.
void write_scores(const Metrics& metrics, const std::string& name, const char* help, double WindowScore::*statistic,
                  Writer& out) {
    out.describe(name, "gauge", help);
    for (size_t i = 0; i < metrics.latest.size(); ++i) {
        if (metrics.latest[i].count == 0) continue;
        const size_t features = metrics.features.size();
        out.sample(name,
                   "rendition=\"" + std::to_string(i / features) + "\",score=\"" + metrics.features[i % features] + '"',
                   metrics.latest[i].*statistic);
    }
}

void write_window(const Metrics& metrics, Writer& out) {
    if (metrics.latest.empty()) return;
    out.single("window_start_seconds", "gauge", "Time of the stream at which the window of the scores begins.",
               metrics.latest_start);
    out.single("window_end_seconds", "gauge", "Time of the stream at which it ends.", metrics.latest_end);
    write_scores(metrics, "score_mean", "Mean of a score in the latest window.", &WindowScore::mean, out);
    write_scores(metrics, "score_min", "Least value of a score in the latest window.", &WindowScore::min, out);
    write_scores(metrics, "score_p5", "5th percentile of a score in the latest window.", &WindowScore::p5, out);
}

} // namespace

std::string metrics_text(const Metrics& metrics) {
    Writer out(metrics.path);
    write_counters(metrics, out);
    write_alerts(metrics, out);
    write_window(metrics, out);
    return out.text_;
}

} // namespace qc::run
