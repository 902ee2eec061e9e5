// SPDX-License-Identifier: BSD-2-Clause-Patent
// The C boundary: checks arguments, turns statuses into codes, lets no exception out.
#include <algorithm>
#include <cstring>

#include "api/int_field.hpp"
#include "api/session.hpp"
#include "api/session_config.hpp"
#include "contract/caught.hpp"
#include "models/builtin_models.hpp"
#include "plan/metric_registry.hpp"
#include "quality_cuda.h"
#include "report/stats_line.hpp"
#include "scores/pooling.hpp"

#ifndef QC_VERSION
#error "QC_VERSION comes from the build"
#endif

// What the opaque pointers point to.

struct qc_request {
    qc::ScoreRequest request;
    int renditions = 0; ///< as the configuration had it
};

struct qc_session {
    std::unique_ptr<qc::Session> session;
    mutable qc::Status error; ///< of the last call that failed
    bool in_call = false;     ///< of one that scores: the caller's release or log function may be running
};

namespace {

using qc::caught;
using qc::Status;

qc_status report(const Status& status, qc_error* error) {
    if (error != nullptr) {
        const size_t length = status.text().copy(error->text, sizeof(error->text) - 1);
        error->text[length] = '\0';
    }
    return status.code();
}

qc_status report(const Status& status, const qc_session* session) {
    if (!status.ok()) session->error = status;
    return status.code();
}

/// A call that looks at the session or at its arguments only.
template <typename Body>
qc_status ask(const qc_session* session, Body&& body) {
    return session == nullptr ? QC_ERROR_INVALID : report(caught(body), session);
}

/// Marks a call that scores, as long as it lasts.
class Call {
public:
    explicit Call(qc_session* session) : session_(session) { session_->in_call = true; }
    ~Call() { session_->in_call = false; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

private:
    qc_session* session_;
};

/// A call that scores. An exception leaves frames half done, so it ends the scoring. From within the caller's own
/// functions it would find them half done too: that is refused.
template <typename Body>
qc_status act(qc_session* session, Body&& body) {
    if (session == nullptr) return QC_ERROR_INVALID;
    if (session->in_call)
        return ask(session,
                   [] { return qc::invalid("a session was called from within its own release or log function"); });
    const Call call(session);
    bool returned = false;
    Status status = caught([&] {
        Status result = body(*session->session);
        returned = true;
        return result;
    });
    if (!returned) status = session->session->fail(std::move(status));
    return report(status, session);
}

Status no_null(const char* what) {
    return qc::invalid(qc::format("%s is a null pointer", what));
}

/// nullptr beyond the last.
const qc::MetricDescriptor* metric_at(int index) {
    const auto metrics = qc::registered_metrics();
    return index >= 0 && static_cast<size_t>(index) < metrics.size() ? metrics[static_cast<size_t>(index)] : nullptr;
}

/// Of those that have a map; nullptr beyond the last.
const qc::MetricDescriptor* map_at(int index) {
    static const auto mapped = qc::mapped_metrics(qc::registered_metrics());
    return index >= 0 && static_cast<size_t>(index) < mapped.size() ? mapped[static_cast<size_t>(index)] : nullptr;
}

Status check_rendition(const qc_session* session, int rendition) {
    const int count = session->session->renditions();
    if (rendition >= 0 && rendition < count) return {};
    return qc::not_accepted("rendition", rendition, qc::format("0..%d", count - 1));
}

} // namespace

int qc_abi_version(void) {
    return QC_ABI_VERSION;
}
const char* qc_version(void) {
    return QC_VERSION;
}

const char* qc_metric_name(int index) {
    const qc::MetricDescriptor* const metric = metric_at(index);
    return metric != nullptr ? metric->name.data() : nullptr;
}

const char* qc_metric_summary(int index) {
    const qc::MetricDescriptor* const metric = metric_at(index);
    return metric != nullptr ? metric->summary.data() : nullptr;
}

const char* qc_metric_short_name(int index) {
    const qc::MetricDescriptor* const metric = metric_at(index);
    if (metric == nullptr) return nullptr;
    return metric->short_name.empty() ? "" : metric->short_name.data();
}

const char* qc_map_name(int index) {
    const qc::MetricDescriptor* const metric = map_at(index);
    return metric != nullptr ? metric->name.data() : nullptr;
}

const char* qc_map_unit(int index) {
    const qc::MetricDescriptor* const metric = map_at(index);
    return metric != nullptr ? metric->map->what.data() : nullptr;
}

double qc_map_white(int index) {
    const qc::MetricDescriptor* const metric = map_at(index);
    return metric != nullptr ? metric->map->white : 0.0;
}

const char* qc_model_name(int index) {
    const auto names = qc::builtin_model_names();
    return index >= 0 && static_cast<size_t>(index) < names.size() ? names[static_cast<size_t>(index)].data() : nullptr;
}

qc_status qc_pool_parse(const char* text, qc_pool* pool) {
    const auto parsed = text != nullptr ? qc::parse_pool(text) : std::nullopt;
    if (!parsed || pool == nullptr) return QC_ERROR_INVALID;
    *pool = *parsed;
    return QC_OK;
}

const char* qc_pool_name(qc_pool pool) {
    return qc::pool_name(pool);
}

namespace {

/// What the C API's calls share: a caller's numbers, and a request, which is the caller's or made of the strings.
Status read_request(const qc_config* caller, qc_request* request) {
    if (caller == nullptr) return no_null("config");
    qc_config config;
    QC_RETURN_IF_ERROR(qc::read_config(*caller, &config));
    QC_RETURN_IF_ERROR(qc::parse_request(config, qc::registered_metrics(), &request->request));
    request->renditions = config.renditions;
    qc::ScorePlan plan; // finds what no picture could mend: models without their scores, two scores of one name
    return qc::build_score_plan(request->request, nullptr, &plan);
}

/// The configuration that goes with a request.
Status read_config_for(const qc_request* request, const qc_config* caller, qc_config* config) {
    if (request == nullptr) return no_null("request");
    if (caller == nullptr) return no_null("config");
    QC_RETURN_IF_ERROR(qc::read_config(*caller, config));
    if (std::max(config->renditions, 1) == std::max(request->renditions, 1)) return {};
    return qc::not_accepted("renditions", config->renditions,
                            qc::format("%d, as in the request,", request->renditions));
}

Status check_pictures(const qc_request* request, const qc_config* caller) {
    qc_config config;
    QC_RETURN_IF_ERROR(read_config_for(request, caller, &config));
    return qc::Session::check(request->request, config);
}

Status open_session(const qc_request* request, const qc_config* caller, qc_session** session) {
    if (session == nullptr) return no_null("session");
    qc_config config;
    QC_RETURN_IF_ERROR(read_config_for(request, caller, &config));
    auto made = std::make_unique<qc_session>();
    QC_RETURN_IF_ERROR(qc::Session::create(request->request, config, &made->session));
    *session = made.release();
    return {};
}

} // namespace

qc_status qc_request_create(const qc_config* config, qc_request** request, qc_error* error) {
    if (request != nullptr) *request = nullptr;
    return report(caught([&]() -> Status {
                      if (request == nullptr) return no_null("request");
                      auto made = std::make_unique<qc_request>();
                      QC_RETURN_IF_ERROR(read_request(config, made.get()));
                      *request = made.release();
                      return {};
                  }),
                  error);
}

void qc_request_destroy(qc_request* request) {
    delete request;
}

int qc_request_accepts_rgb(const qc_request* request) {
    return request != nullptr && request->request.accepts_rgb() ? 1 : 0;
}

int qc_request_takes_long(const qc_request* request) {
    return request != nullptr && request->request.takes_long() ? 1 : 0;
}

qc_status qc_request_check(const qc_request* request, const qc_config* config, qc_error* error) {
    return report(caught([&] { return check_pictures(request, config); }), error);
}

qc_status qc_request_open(const qc_request* request, const qc_config* config, qc_session** session, qc_error* error) {
    if (session != nullptr) *session = nullptr;
    return report(caught([&] { return open_session(request, config, session); }), error);
}

qc_status qc_config_check(const qc_config* config, qc_error* error) {
    return report(caught([&]() -> Status {
                      qc_request request;
                      QC_RETURN_IF_ERROR(read_request(config, &request));
                      return check_pictures(&request, config);
                  }),
                  error);
}

qc_status qc_session_create(const qc_config* config, qc_session** session, qc_error* error) {
    if (session != nullptr) *session = nullptr;
    return report(caught([&]() -> Status {
                      qc_request request;
                      QC_RETURN_IF_ERROR(read_request(config, &request));
                      return open_session(&request, config, session);
                  }),
                  error);
}

void qc_session_destroy(qc_session* session) {
    if (session == nullptr) return;
    session->in_call = true; // as long as release functions are called
    session->session->drain();
    delete session;
}

const char* qc_session_description(const qc_session* session) {
    return session == nullptr ? "" : session->session->description().c_str();
}
qc_backend qc_session_backend(const qc_session* session) {
    return session == nullptr ? QC_BACKEND_AUTO : session->session->backend().kind();
}
const char* qc_session_error(const qc_session* session) {
    return session == nullptr ? "" : session->error.text().c_str();
}

int qc_session_feature_count(const qc_session* session) {
    return session == nullptr ? 0 : static_cast<int>(session->session->plan().columns.size());
}

qc_status qc_session_feature(const qc_session* session, int index, qc_feature* feature) {
    return ask(session, [&]() -> Status {
        const auto& columns = session->session->plan().columns;
        if (feature == nullptr) return no_null("feature");
        if (index < 0 || static_cast<size_t>(index) >= columns.size())
            return qc::not_accepted("feature", index, qc::format("0..%zu", columns.size() - 1));
        const qc::ScoreColumn& column = columns[static_cast<size_t>(index)];
        *feature = qc_feature{column.name.c_str(), column.key.c_str(), column.is_model ? 1 : 0, {}};
        return {};
    });
}

qc_status qc_session_submit(qc_session* session, const qc_picture* reference, const qc_picture* distorted,
                            void (*release)(void* opaque), void* opaque) {
    return qc_session_submit_with_map(session, reference, distorted, nullptr, release, opaque);
}

qc_status qc_session_submit_with_map(qc_session* session, const qc_picture* reference, const qc_picture* distorted,
                                     const qc_picture* map, void (*release)(void* opaque), void* opaque) {
    return qc_session_submit_masked(session, reference, distorted, nullptr, map, release, opaque);
}

qc_status qc_session_submit_masked(qc_session* session, const qc_picture* reference, const qc_picture* distorted,
                                   const qc_picture* mask, const qc_picture* map, void (*release)(void* opaque),
                                   void* opaque) {
    const bool is_null = session == nullptr || reference == nullptr || distorted == nullptr;
    if ((is_null || session->in_call) && release != nullptr) release(opaque);
    if (is_null) return ask(session, [] { return no_null("a frame's picture"); });
    return act(session, [&](qc::Session& s) { return s.submit(*reference, distorted, release, opaque, map, mask); });
}

qc_status qc_session_on_measured(qc_session* session, qc_measured_callback callback, void* opaque) {
    if (callback == nullptr) return ask(session, [] { return no_null("the callback of what is measured"); });
    return act(session, [&](qc::Session& s) { return s.listen(callback, opaque); });
}

int64_t qc_session_measured_words(const qc_session* session) {
    return session == nullptr ? 0 : static_cast<int64_t>(session->session->layout().frame_words());
}
int qc_session_history(const qc_session* session) {
    return session == nullptr ? 0 : session->session->history();
}

qc_status qc_session_submit_measured(qc_session* session, uint32_t renditions, const uint64_t* words, int64_t count) {
    if (words == nullptr && count != 0) return ask(session, [] { return no_null("what was measured"); });
    return act(session, [&](qc::Session& s) {
        return s.submit_measured(renditions, {words, static_cast<size_t>(count < 0 ? 0 : count)});
    });
}

qc_status qc_session_receive(qc_session* session, int wait, qc_row* row) {
    if (row == nullptr) return ask(session, [] { return no_null("row"); });
    qc_status code = QC_OK;
    const qc_status failure = act(session, [&](qc::Session& s) -> Status {
        code = s.receive(wait != 0, row);
        return code < 0 ? s.failure() : Status();
    });
    return failure != QC_OK ? failure : code;
}

void qc_session_collect(qc_session* session) {
    static_cast<void>(act(session, [](qc::Session& s) -> Status {
        s.collect();
        return {};
    }));
}

qc_status qc_session_break(qc_session* session) {
    return act(session, [](qc::Session& s) { return s.begin_stretch(); });
}

qc_status qc_session_continue_on_cpu(qc_session* session) {
    return act(session, [](qc::Session& s) { return s.continue_on_cpu(); });
}

qc_status qc_session_flush(qc_session* session) {
    return act(session, [](qc::Session& s) { return s.flush(); });
}

qc_status qc_session_truncate(qc_session* session, int64_t frames) {
    return act(session, [&](qc::Session& s) { return s.truncate(frames); });
}

qc_status qc_session_pooled(qc_session* session, int rendition, int feature, qc_pool pool, double* value) {
    return ask(session, [&]() -> Status {
        if (value == nullptr) return no_null("value");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        return session->session->table(rendition).pooled(feature, pool, value);
    });
}

int64_t qc_session_scored_frames(const qc_session* session) {
    return session == nullptr ? 0 : session->session->scored_frames();
}

qc_status qc_session_aggregate(qc_session* session, int rendition, int index, const char** name, double* value) {
    bool past_the_last = false;
    const qc_status status = ask(session, [&]() -> Status {
        if (name == nullptr || value == nullptr) return no_null("name or value");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        if (index < 0) return qc::not_accepted("index", index, "0 and more");
        const auto aggregates = session->session->table(rendition).aggregates();
        past_the_last = static_cast<size_t>(index) >= aggregates.size();
        if (past_the_last) return {};
        *name = aggregates[static_cast<size_t>(index)].first.c_str();
        *value = aggregates[static_cast<size_t>(index)].second;
        return {};
    });
    return past_the_last ? QC_END : status;
}

qc_status qc_session_stream_score(qc_session* session, int rendition, int index, const char** title, double* value) {
    qc_status found = QC_AGAIN;
    const qc_status status = ask(session, [&]() -> Status {
        if (title == nullptr || value == nullptr) return no_null("title or value");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        if (index < 0) return qc::not_accepted("index", index, "0 and more");
        const auto& scores = session->session->plan().stream_scores;
        if (static_cast<size_t>(index) >= scores.size()) {
            found = QC_END;
            return {};
        }
        const qc::StreamScore& score = scores[static_cast<size_t>(index)];
        *title = score.title.c_str();
        for (const auto& [name, aggregate] : session->session->table(rendition).aggregates()) {
            if (name != score.name) continue;
            *value = aggregate;
            found = QC_OK;
        }
        return {};
    });
    return status != QC_OK ? status : found;
}

int64_t qc_session_watched_frames(const qc_session* session, int rendition) {
    if (session == nullptr || rendition < 0 || rendition >= session->session->renditions()) return 0;
    const qc::ContentsWatch* contents = session->session->contents();
    return contents == nullptr ? 0 : contents->of(rendition).frames();
}

qc_status qc_session_finding(const qc_session* session, int rendition, int index, qc_finding* finding) {
    bool past_the_last = false;
    const qc_status status = ask(session, [&]() -> Status {
        if (finding == nullptr) return no_null("finding");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        if (index < 0) return qc::not_accepted("index", index, "0 and more");
        const qc::ContentsWatch* contents = session->session->contents();
        past_the_last = contents == nullptr || static_cast<size_t>(index) >= contents->of(rendition).findings().size();
        if (past_the_last) return {};
        *finding = contents->of(rendition).findings()[static_cast<size_t>(index)];
        return {};
    });
    return past_the_last ? QC_END : status;
}

qc_status qc_session_start_offset(const qc_session* session, int rendition, int* offset) {
    qc_status told = QC_END;
    const qc_status status = ask(session, [&]() -> Status {
        if (offset == nullptr) return no_null("offset");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        const qc::ContentsWatch* contents = session->session->contents();
        if (contents == nullptr) return {};
        const qc::StartOffset& start = contents->start_of(rendition);
        if (!start.is_decided()) told = QC_AGAIN;
        if (!start.offset()) return {};
        *offset = *start.offset();
        told = QC_OK;
        return {};
    });
    return status == QC_OK ? told : status;
}

qc_status qc_stats_format_parse(const char* text, qc_stats_format* format) {
    const auto parsed = text != nullptr ? qc::parse_stats_format(text) : std::nullopt;
    if (!parsed || format == nullptr) return QC_ERROR_INVALID;
    *format = *parsed;
    return QC_OK;
}

qc_status qc_session_stats_line(const qc_session* session, const qc_row* row, char* text, size_t size) {
    return ask(session, [&]() -> Status {
        if (row == nullptr || text == nullptr) return no_null("row or text");
        if (row->value == nullptr || row->present == nullptr) return qc::invalid("the row was not received");
        const qc::ScorePlan& plan = session->session->plan();
        const size_t columns = plan.columns.size();
        const std::string line = qc::stats_line(plan, session->session->geometry(), row->frame, {row->value, columns},
                                                {row->present, columns});
        if (line.size() >= size)
            return qc::invalid(qc::format("a line of %zu bytes does not fit into %zu", line.size() + 1, size));
        line.copy(text, line.size());
        text[line.size()] = '\0';
        return {};
    });
}

qc_status qc_log_format_parse(const char* text, qc_log_format* format) {
    const auto parsed = text != nullptr ? qc::parse_log_format(text) : std::nullopt;
    if (!parsed || format == nullptr) return QC_ERROR_INVALID;
    *format = *parsed;
    return QC_OK;
}

qc_status qc_session_write_log(qc_session* session, int rendition, const char* path, qc_log_format format, int complete,
                               const qc_log_extra* extra, int extra_count) {
    return ask(session, [&]() -> Status {
        if (path == nullptr) return no_null("path");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        if (extra_count < 0) return qc::not_accepted("extra_count", extra_count, "0 and more");
        if (extra == nullptr && extra_count > 0) return no_null("extra");
        return session->session->write_log(rendition, path, format, complete != 0,
                                           {extra, static_cast<size_t>(extra_count)});
    });
}

qc_status qc_session_stats(const qc_session* session, qc_stats* stats) {
    return ask(session, [&]() -> Status {
        if (stats == nullptr) return no_null("stats");
        qc_stats counted{};
        session->session->fill_stats(&counted);
        return qc::write_stats(counted, stats);
    });
}
