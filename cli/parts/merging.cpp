// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "parts/merging.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>

#include <sys/eventfd.h>
#include <unistd.h>

#include "run/interrupts/without_signals.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

/// Null for what was not asked for.
const char* text_or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

/// What a merge says, as far as a user is told.
struct Said {
    std::string error; ///< the first one
    std::vector<std::string> lines;
};

void keep(void* opaque, qcr_level level, const char* text) {
    Said& said = *static_cast<Said*>(opaque);
    if (level > QCR_LEVEL_WARNING) return;
    if (level == QCR_LEVEL_ERROR && said.error.empty()) said.error = text;
    if (said.lines.empty() || said.lines.back() != text) said.lines.emplace_back(text);
}

std::vector<qcr_part> parts_of(const Title& title, const std::vector<std::string>& records) {
    std::vector<qcr_part> parts(records.size());
    for (size_t part = 0; part < parts.size(); ++part) {
        const std::vector<Stretch>& inputs = title.parts[part].inputs;
        for (size_t i = 0; i < inputs.size() && i < QCR_MAX_VIDEOS; ++i) parts[part].from[i] = inputs[i].from;
        parts[part].path = records[part].c_str();
    }
    return parts;
}

using GoesOn = std::function<bool()>;

Merged merge(const Title& title, const std::vector<std::string>& records, const std::string& log, bool waits,
             GoesOn goes_on) {
    const Wish& wish = title.wish;
    const std::vector<qcr_part> parts = parts_of(title, records);
    Said said;
    qcr_merge_config config{};
    config.parts = parts.data();
    config.part_count = static_cast<int>(parts.size());
    config.renditions = static_cast<int>(title.inputs.size()) - 1;
    config.metrics = wish.metrics.empty() ? "vmaf" : wish.metrics.c_str();
    config.model = text_or_null(wish.model);
    config.feature = text_or_null(wish.feature);
    config.options = text_or_null(wish.opts);
    config.skip_unsupported = wish.on_unsupported == "skip" ? 1 : 0;
    config.range = wish.range == "ignore" ? QCR_RANGE_IGNORE : QCR_RANGE_TAGS;
    config.n_subsample = wish.n_subsample;
    config.max_dt = std::max(wish.max_dt, 0.0);
    config.log_path = log.c_str();
    config.log_fmt = "json";
    config.stats_file = text_or_null(title.times);
    config.waits = waits ? 1 : 0;
    config.goes_on = [](void* opaque) { return (*static_cast<const GoesOn*>(opaque))() ? 1 : 0; };
    config.opaque = &goes_on;
    config.sink = {keep, &said};
    std::error_code ignored;
    const bool has_log = std::filesystem::is_regular_file(log, ignored);
    const qcr_merged status = qcr_merge(&config);
    // A warning that came before is no reason.
    std::string reason = !said.error.empty() || said.lines.empty() ? said.error : said.lines.front();
    if (has_log && status != QCR_MERGED) reason += "; the log that is there stays as it was";
    return {status, reason, said.lines};
}

} // namespace

Merged merge_records(const Title& title, const std::vector<std::string>& records, const std::string& log) {
    Merged merged = merge(title, records, log, false, [] { return !was_interrupted(); });
    end_if_interrupted();
    return merged;
}

std::string merger() {
    return std::string("libquality_cuda ") + qc_version();
}

MergeBeside::MergeBeside(const Title& title, const std::vector<std::string>& records, const std::string& log)
    : end_(eventfd(0, EFD_CLOEXEC)) {
    if (end_ < 0) throw Failure(std::string("the merge cannot be watched: ") + std::strerror(errno));
    const WithoutSignals without;
    thread_ = std::thread([this, &title, records, log] {
        merged_ = merge(title, records, log, true, [this] { return !is_given_up_ && !was_interrupted(); });
        eventfd_write(end_, 1);
    });
}

MergeBeside::~MergeBeside() {
    is_given_up_ = true;
    join();
    close(end_);
}

void MergeBeside::join() {
    if (thread_.joinable()) thread_.join();
}

Companion MergeBeside::companion() {
    return {end_, [this] {
                join();
                return merged_.status == QCR_MERGED;
            }};
}

const Merged& MergeBeside::finish() {
    join();
    end_if_interrupted();
    return merged_;
}

} // namespace qc::cli
