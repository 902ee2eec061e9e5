// SPDX-License-Identifier: BSD-2-Clause-Patent
// The sessions of quality_cuda.h: checks arguments, and hands on.
#include "api/c_boundary.hpp"
#include "api/int_field.hpp"
#include "quality_cuda.h"

using namespace qc;

qc_status qc_check(const qc_config* config, qc_error* error) {
    return report(caught([&] {
                      qc_request request;
                      return read_request(config, &request);
                  }),
                  error);
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
            return not_accepted("feature", index, format("0..%zu", columns.size() - 1));
        const ScoreColumn& column = columns[static_cast<size_t>(index)];
        *feature = qc_feature{column.name.c_str(), column.key.c_str(), column.is_model ? 1 : 0, {}};
        return {};
    });
}

qc_status qc_session_submit(qc_session* session, const qc_frame* frame) {
    if (frame == nullptr) return ask(session, [] { return no_null("frame"); });
    // A session takes the frame's release over; where it is not asked, the frame is refused all the same.
    if ((session == nullptr || session->in_call) && frame->release != nullptr) frame->release(frame->opaque);
    return act(session, [&](Session& s) { return s.submit(*frame); });
}

qc_status qc_session_import(qc_session* session, int rendition, const char* feature, int64_t frame, double value) {
    return act(session, [&](Session& s) -> Status {
        if (feature == nullptr) return no_null("feature");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        return s.import_score(rendition, feature, frame, value);
    });
}

qc_status qc_session_receive(qc_session* session, int wait, qc_row* row) {
    if (row == nullptr) return ask(session, [] { return no_null("row"); });
    qc_status code = QC_OK;
    const qc_status failure = act(session, [&](Session& s) -> Status {
        code = s.receive(wait != 0, row);
        return code < 0 ? s.failure() : Status();
    });
    return failure != QC_OK ? failure : code;
}

void qc_session_collect(qc_session* session) {
    static_cast<void>(act(session, [](Session& s) -> Status {
        s.collect();
        return {};
    }));
}

qc_status qc_session_break(qc_session* session) {
    return act(session, [](Session& s) { return s.begin_stretch(); });
}

qc_status qc_session_flush(qc_session* session) {
    return act(session, [](Session& s) { return s.flush(); });
}

qc_status qc_session_pooled(qc_session* session, int rendition, int feature, qc_pool pool, double* value) {
    return ask(session, [&]() -> Status {
        if (value == nullptr) return no_null("value");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        return session->session->table(rendition).pooled(feature, pool, value);
    });
}

qc_status qc_session_pooled_between(qc_session* session, int rendition, int feature, qc_pool pool, int64_t first,
                                    int64_t end, double* value) {
    return ask(session, [&]() -> Status {
        if (value == nullptr) return no_null("value");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        return session->session->table(rendition).pooled_between(feature, pool, first, end, value);
    });
}

qc_status qc_session_score(qc_session* session, int rendition, int feature, int64_t frame, double* value) {
    qc_status status = ask(session, [&]() -> Status {
        if (value == nullptr) return no_null("value");
        return check_rendition(session, rendition);
    });
    if (status == QC_OK) status = act(session, [&](Session& s) { return s.await(rendition, frame); });
    if (status != QC_OK) return status;
    qc_status code = QC_OK;
    status = ask(session, [&] { return session->session->score(rendition, feature, frame, value, &code); });
    return status != QC_OK ? status : code;
}

int64_t qc_session_scored_frames(const qc_session* session) {
    return session == nullptr ? 0 : session->session->scored_frames();
}

qc_status qc_session_aggregate(qc_session* session, int rendition, int index, const char** name, double* value) {
    bool past_the_last = false;
    const qc_status status = ask(session, [&]() -> Status {
        if (name == nullptr || value == nullptr) return no_null("name or value");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        if (index < 0) return not_accepted("index", index, "0 and more");
        const auto aggregates = session->session->table(rendition).aggregates();
        past_the_last = static_cast<size_t>(index) >= aggregates.size();
        if (past_the_last) return {};
        *name = aggregates[static_cast<size_t>(index)].first.c_str();
        *value = aggregates[static_cast<size_t>(index)].second;
        return {};
    });
    return past_the_last ? QC_END : status;
}

qc_status qc_session_write_log(qc_session* session, int rendition, const char* path, qc_log_format format, int complete,
                               const qc_log_extra* extra, int extra_count) {
    return ask(session, [&]() -> Status {
        if (path == nullptr) return no_null("path");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        if (extra_count < 0) return not_accepted("extra_count", extra_count, "0 and more");
        if (extra == nullptr && extra_count > 0) return no_null("extra");
        return session->session->write_log(rendition, path, format, complete != 0,
                                           {extra, static_cast<size_t>(extra_count)});
    });
}
