// SPDX-License-Identifier: BSD-2-Clause-Patent
// The C boundary: checks arguments, turns statuses into codes, lets no exception out.
#include <algorithm>
#include <cstring>
#include <new>

#include "api/session.hpp"
#include "models/builtin_models.hpp"
#include "plan/metric_registry.hpp"
#include "quality_cuda.h"
#include "report/stats_line.hpp"
#include "scores/pooling.hpp"

#ifndef QC_VERSION
#error "QC_VERSION comes from the build"
#endif

/// What the opaque pointer points to.
struct qc_session {
    std::unique_ptr<qc::Session> session;
    std::string error; ///< of the last call that failed
};

namespace {

using qc::Status;

/// Runs a body that returns a Status; exceptions become statuses.
template <typename Body>
Status protect(Body&& body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc&) {
        return {QC_ERROR_NO_MEMORY, "host memory is exhausted"};
    } catch (const std::exception& error) {
        return {QC_ERROR_INTERNAL, std::string("unexpected: ") + error.what()};
    } catch (...) {
        return {QC_ERROR_INTERNAL, "unexpected exception"};
    }
}

qc_status report(const Status& status, qc_error* error) {
    if (error != nullptr) {
        std::strncpy(error->text, status.text().c_str(), sizeof(error->text) - 1);
        error->text[sizeof(error->text) - 1] = '\0';
    }
    return status.code();
}

qc_status report(const Status& status, qc_session* session) {
    if (!status.ok()) session->error = status.text();
    return status.code();
}

Status in_range(const char* name, int value, int minimum, int maximum) {
    if (value >= minimum && value <= maximum) return {};
    return qc::invalid(qc::format("%s=%d: %d..%d is accepted", name, value, minimum, maximum));
}

Status check_numbers(const qc_config& config) {
    if (config.struct_size != sizeof(qc_config))
        return qc::invalid(qc::format("qc_config has %zu bytes, this library expects %zu: front end and library are of "
                                      "different versions",
                                      config.struct_size, sizeof(qc_config)));
    QC_RETURN_IF_ERROR(in_range("renditions", config.renditions, 0, QC_MAX_RENDITIONS));
    QC_RETURN_IF_ERROR(in_range("n_subsample", config.n_subsample, 0, 1000000));
    if (config.bitdepth != 0 && config.bitdepth != 10)
        return qc::invalid(
            qc::format("bitdepth=%d: 10, or 0 for the depth of the inputs, is accepted", config.bitdepth));
    QC_RETURN_IF_ERROR(in_range("n_threads", config.n_threads, 0, 1024));
    QC_RETURN_IF_ERROR(in_range("batch", config.batch, 0, 64));
    QC_RETURN_IF_ERROR(in_range("slots", config.slots, 0, 2048));
    QC_RETURN_IF_ERROR(in_range("device", config.device, 0, 255));
    QC_RETURN_IF_ERROR(in_range("backend", config.backend, QC_BACKEND_AUTO, QC_BACKEND_CPU));
    QC_RETURN_IF_ERROR(in_range("stats_format", config.stats_format, QC_STATS_FORMAT_NONE, QC_STATS_FORMAT_COUNT - 1));
    return {};
}

bool valid_rendition(const qc_session* session, int rendition) {
    return rendition >= 0 && rendition < session->session->renditions();
}

} // namespace

int qc_abi_version(void) {
    return QC_ABI_VERSION;
}
const char* qc_version(void) {
    return QC_VERSION;
}

const char* qc_metric_name(int index) {
    const auto metrics = qc::registered_metrics();
    return index >= 0 && static_cast<size_t>(index) < metrics.size() ? metrics[static_cast<size_t>(index)]->name.data()
                                                                     : nullptr;
}

const char* qc_metric_summary(int index) {
    const auto metrics = qc::registered_metrics();
    return index >= 0 && static_cast<size_t>(index) < metrics.size()
               ? metrics[static_cast<size_t>(index)]->summary.data()
               : nullptr;
}

const char* qc_metric_short_name(int index) {
    const auto metrics = qc::registered_metrics();
    if (index < 0 || static_cast<size_t>(index) >= metrics.size()) return nullptr;
    const std::string_view name = metrics[static_cast<size_t>(index)]->short_name;
    return name.empty() ? "" : name.data();
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

qc_status qc_config_check(const qc_config* config, qc_error* error) {
    if (config == nullptr) return QC_ERROR_INVALID;
    return report(protect([&]() -> Status {
                      QC_RETURN_IF_ERROR(check_numbers(*config));
                      qc::ScoreRequest request;
                      QC_RETURN_IF_ERROR(qc::parse_request(*config, qc::registered_metrics(), &request));
                      if (config->reference.width != 0) return qc::Session::check(request, *config);
                      qc::ScorePlan plan;
                      return qc::build_score_plan(request, nullptr, &plan);
                  }),
                  error);
}

int qc_config_accepts_rgb(const qc_config* config) {
    if (config == nullptr) return 0;
    bool accepts = false;
    const Status status = protect([&]() -> Status {
        QC_RETURN_IF_ERROR(check_numbers(*config));
        qc::ScoreRequest request;
        QC_RETURN_IF_ERROR(qc::parse_request(*config, qc::registered_metrics(), &request));
        accepts = request.accepts_rgb();
        return {};
    });
    return status.ok() && accepts ? 1 : 0;
}

qc_status qc_session_create(const qc_config* config, qc_session** session, qc_error* error) {
    if (config == nullptr || session == nullptr) return QC_ERROR_INVALID;
    *session = nullptr;
    return report(protect([&]() -> Status {
                      QC_RETURN_IF_ERROR(check_numbers(*config));
                      auto made = std::make_unique<qc_session>();
                      QC_RETURN_IF_ERROR(qc::Session::create(*config, &made->session));
                      *session = made.release();
                      return {};
                  }),
                  error);
}

void qc_session_destroy(qc_session* session) {
    delete session;
}

const char* qc_session_description(const qc_session* session) {
    return session->session->description().c_str();
}
qc_backend qc_session_backend(const qc_session* session) {
    return session->session->backend().kind();
}
const char* qc_session_error(const qc_session* session) {
    const Status& failure = session->session->failure();
    return failure.ok() ? session->error.c_str() : failure.text().c_str();
}

int qc_session_feature_count(const qc_session* session) {
    return static_cast<int>(session->session->plan().columns.size());
}

qc_status qc_session_feature(const qc_session* session, int index, qc_feature* feature) {
    const auto& columns = session->session->plan().columns;
    if (index < 0 || static_cast<size_t>(index) >= columns.size() || feature == nullptr) return QC_ERROR_INVALID;
    const qc::ScoreColumn& column = columns[static_cast<size_t>(index)];
    *feature = qc_feature{column.name.c_str(), column.key.c_str(), column.is_model ? 1 : 0};
    return QC_OK;
}

qc_status qc_session_submit(qc_session* session, const qc_picture* reference, const qc_picture* distorted,
                            void (*release)(void* opaque), void* opaque) {
    if (reference == nullptr || distorted == nullptr) {
        if (release != nullptr) release(opaque);
        return report(qc::invalid("a frame was submitted without pictures"), session);
    }
    return report(protect([&] { return session->session->submit(*reference, distorted, release, opaque); }), session);
}

qc_status qc_session_receive(qc_session* session, int wait, qc_row* row) {
    if (row == nullptr) return QC_ERROR_INVALID;
    qc_status code = QC_ERROR_INTERNAL;
    const Status status = protect([&]() -> Status {
        code = session->session->receive(wait != 0, row);
        return {};
    });
    return status.ok() ? code : report(status, session);
}

void qc_session_collect(qc_session* session) {
    static_cast<void>(report(protect([&]() -> Status {
                                 session->session->collect();
                                 return {};
                             }),
                             session));
}

qc_status qc_session_break(qc_session* session) {
    return report(protect([&] { return session->session->begin_stretch(); }), session);
}

qc_status qc_session_flush(qc_session* session) {
    return report(protect([&] { return session->session->flush(); }), session);
}

qc_status qc_session_pooled(qc_session* session, int rendition, int feature, qc_pool pool, double* value) {
    if (!valid_rendition(session, rendition) || value == nullptr)
        return report(qc::invalid(qc::format("rendition %d does not exist", rendition)), session);
    return report(protect([&] { return session->session->table(rendition).pooled(feature, pool, value); }), session);
}

int64_t qc_session_scored_frames(const qc_session* session) {
    return session->session->scored_frames();
}

qc_status qc_session_aggregate(qc_session* session, int rendition, int index, const char** name, double* value) {
    if (!valid_rendition(session, rendition) || index < 0 || name == nullptr || value == nullptr)
        return QC_ERROR_INVALID;
    const auto aggregates = session->session->table(rendition).aggregates();
    if (static_cast<size_t>(index) >= aggregates.size()) return QC_END;
    *name = aggregates[static_cast<size_t>(index)].first.c_str();
    *value = aggregates[static_cast<size_t>(index)].second;
    return QC_OK;
}

qc_status qc_stats_format_parse(const char* text, qc_stats_format* format) {
    const auto parsed = text != nullptr ? qc::parse_stats_format(text) : std::nullopt;
    if (!parsed || format == nullptr) return QC_ERROR_INVALID;
    *format = *parsed;
    return QC_OK;
}

qc_status qc_session_stats_line(const qc_session* session, const qc_row* row, char* text, size_t size) {
    if (row == nullptr || text == nullptr || size == 0) return QC_ERROR_INVALID;
    const qc::ScorePlan& plan = session->session->plan();
    const Status status = protect([&]() -> Status {
        const size_t columns = plan.columns.size();
        const std::string line = qc::stats_line(plan, session->session->geometry(), row->frame, {row->value, columns},
                                                {row->present, columns});
        if (line.size() >= size) return qc::invalid(qc::format("a line of %zu bytes is too short", size));
        line.copy(text, line.size());
        text[line.size()] = '\0';
        return {};
    });
    return status.code();
}

qc_status qc_log_format_parse(const char* text, qc_log_format* format) {
    const auto parsed = text != nullptr ? qc::parse_log_format(text) : std::nullopt;
    if (!parsed || format == nullptr) return QC_ERROR_INVALID;
    *format = *parsed;
    return QC_OK;
}

qc_status qc_session_write_log(qc_session* session, int rendition, const char* path, qc_log_format format, int complete,
                               const qc_log_extra* extra, int extra_count) {
    if (!valid_rendition(session, rendition) || path == nullptr) return QC_ERROR_INVALID;
    return report(protect([&] {
                      const std::span<const qc_log_extra> extras(
                          extra, extra == nullptr ? 0 : static_cast<size_t>(extra_count));
                      return session->session->write_log(rendition, path, format, complete != 0, extras);
                  }),
                  session);
}

qc_status qc_session_stats(const qc_session* session, qc_stats* stats) {
    if (stats == nullptr || stats->struct_size != sizeof(qc_stats)) return QC_ERROR_INVALID;
    *stats = qc_stats{};
    stats->struct_size = sizeof(qc_stats);
    session->session->fill_stats(stats);
    return QC_OK;
}
