// SPDX-License-Identifier: BSD-2-Clause-Patent
// The state of a run in the text format of Prometheus: for the textfile collector of node_exporter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "run/live/alert.hpp"
#include "run/live/window.hpp"

namespace qc::run {

struct Metrics {
    std::string_view path;   ///< of the file: its name, without the extension, becomes the label "stream"
    bool is_running = false; ///< frames may follow
    int64_t frames = 0, scored = 0, realtime = 0; ///< that left: all, with scores, without because scoring was too slow
    int64_t dropped_lines = 0;
    std::span<const Alert> alerts;

    std::span<const std::string> features;   ///< names of the scores of one rendition
    std::span<const WindowScore> latest;     ///< of the latest window, [rendition][feature]; empty: there is none yet
    double latest_start = 0, latest_end = 0; ///< seconds
};

std::string metrics_text(const Metrics& metrics);

} // namespace qc::run
