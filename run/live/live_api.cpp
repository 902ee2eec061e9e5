// SPDX-License-Identifier: BSD-2-Clause-Patent
// The C functions of quality_cuda_run/live.h. Nothing throws across them.
#include <new>
#include <string>

#include "run/live/live.hpp"
#include "run/text/guard.hpp"

struct qcr_live final : qc::run::Live {
    using Live::Live;

    std::string error;
};

namespace {

/// @param body returns what is wrong, or an empty text
template <typename Body>
qc_status told(qcr_live* live, Body&& body) noexcept {
    const qc_status status = qc::run::guarded([&] { live->error = body(); });
    if (status == QC_OK) return live->error.empty() ? QC_OK : QC_ERROR_INVALID;
    live->error.assign("out of memory"); // short enough to lie in the string itself
    return status;
}

} // namespace

qc_status qcr_live_create(const qcr_sink* sink, qcr_live** live) {
    *live = new (std::nothrow) qcr_live(*sink);
    return *live != nullptr ? QC_OK : QC_ERROR_NO_MEMORY;
}

void qcr_live_destroy(qcr_live* live) {
    delete live;
}

const char* qcr_live_error(const qcr_live* live) {
    return live != nullptr ? live->error.c_str() : "out of memory";
}

qc_status qcr_live_configure(qcr_live* live, const qcr_live_options* options) {
    return told(live, [&] { return live->configure(*options); });
}

qc_status qcr_live_send_to(qcr_live* live, const char* name, const qcr_receiver* receiver, int most) {
    return told(live, [&] {
        live->send_to(name, *receiver, most);
        return std::string();
    });
}

qc_status qcr_live_write_to(qcr_live* live, const qcr_target* target, int most) {
    return told(live, [&] {
        live->write_to(*target, most);
        return std::string();
    });
}

void qcr_live_keep_metrics(qcr_live* live, const qcr_target* target) {
    live->keep_metrics(*target);
}

qc_status qcr_live_name_scores(qcr_live* live, const char* const* names, int renditions, int features) {
    return told(
        live, [&] { return live->name_scores(names, static_cast<size_t>(renditions), static_cast<size_t>(features)); });
}

qc_status qcr_live_frame_leaves(qcr_live* live, const qcr_row* row) {
    return told(live, [&] {
        live->frame_leaves(*row);
        return std::string();
    });
}

int qcr_live_has_alerts(const qcr_live* live) {
    return live->has_alerts() ? 1 : 0;
}

const char* qcr_live_active_alerts(const qcr_live* live) {
    return live->active_alerts();
}

void qcr_live_pace_changes(qcr_live* live, int is_overloaded, double time, int64_t passed) {
    live->pace_changes(is_overloaded != 0, time, passed);
}

int qcr_live_finish(qcr_live* live, const char* end, qc_session* session, int is_hurried) {
    return live->finish(end, session, is_hurried != 0);
}

void qcr_live_sum_up(const qcr_live* live) {
    if (qc::run::guarded([&] { live->sum_up(); }) == QC_OK) return;
    const qcr_sink& sink = live->sink(); // without a text of its own, for which memory would be needed
    if (sink.say != nullptr)
        sink.say(sink.opaque, QCR_LEVEL_ERROR, "what is said of live output at its end is not complete: out of memory");
}
