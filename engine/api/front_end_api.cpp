// SPDX-License-Identifier: BSD-2-Clause-Patent
// What quality_cuda_run/engine.h has for front ends.
#include "quality_cuda_run/engine.h"

#include <algorithm>
#include <cstring>

#include "api/c_boundary.hpp"
#include "api/int_field.hpp"
#include "api/region.hpp"
#include "api/session_config.hpp"
#include "models/builtin_models.hpp"
#include "models/model_json.hpp"
#include "report/stats_line.hpp"

using namespace qc;

static_assert(static_cast<int>(Levels::Relation::kSame) == QC_RANGES_SAME &&
              static_cast<int>(Levels::Relation::kLimited) == QC_RANGES_LIMITED &&
              static_cast<int>(Levels::Relation::kFull) == QC_RANGES_FULL);

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

void qc_picture_cut(const qc_format* format, int x, int y, qc_picture* picture) {
    if (format == nullptr || picture == nullptr) return;
    *picture = cut_out(Region{x, y, format->width - x, format->height - y}, *format, *picture);
}

const char* qc_session_device(const qc_session* session) {
    return session == nullptr ? "" : session->session->device().c_str();
}
const char* qc_session_driver(const qc_session* session) {
    return session == nullptr ? "" : session->session->driver().c_str();
}
qc_backend qc_session_first_backend(const qc_session* session) {
    return session == nullptr ? QC_BACKEND_AUTO : session->session->first_backend();
}

qc_status qc_session_model(const qc_session* session, int index, const char** name, const char** checksum) {
    return ask(session, [&]() -> Status {
        const std::vector<ModelUse>& models = session->session->plan().models;
        if (name == nullptr || checksum == nullptr) return no_null("name, or checksum,");
        if (index < 0) return invalid(format("there is no model %d", index));
        if (static_cast<size_t>(index) >= models.size()) return {QC_END, "there are no more models"};
        *name = models[static_cast<size_t>(index)].name.c_str();
        *checksum = models[static_cast<size_t>(index)].model->checksum().c_str();
        return {};
    });
}

qc_status qc_model_checksum(const char* model, char* text, size_t size) {
    return report(caught([&]() -> Status {
                      if (model == nullptr || text == nullptr) return no_null("the model, or its text,");
                      std::shared_ptr<const Model> found;
                      const auto names = builtin_model_names();
                      QC_RETURN_IF_ERROR(std::find(names.begin(), names.end(), model) != names.end()
                                             ? load_builtin_model(model, &found)
                                             : load_model_file(model, &found));
                      if (found->checksum().size() >= size) return invalid("a checksum takes 65 bytes");
                      std::strcpy(text, found->checksum().c_str());
                      return {};
                  }),
                  static_cast<qc_error*>(nullptr));
}

qc_status qc_session_on_measured(qc_session* session, qc_measured_callback callback, void* opaque) {
    if (callback == nullptr) return ask(session, [] { return no_null("the callback of what is measured"); });
    return act(session, [&](Session& s) { return s.listen(callback, opaque); });
}

int64_t qc_session_measured_words(const qc_session* session) {
    return session == nullptr ? 0 : static_cast<int64_t>(session->session->layout().frame_words());
}
int qc_session_history(const qc_session* session) {
    return session == nullptr ? 0 : session->session->history();
}

qc_status qc_session_submit_measured(qc_session* session, uint32_t renditions, const uint64_t* words, int64_t count) {
    if (words == nullptr && count != 0) return ask(session, [] { return no_null("what was measured"); });
    return act(session, [&](Session& s) {
        return s.submit_measured(renditions, {words, static_cast<size_t>(count < 0 ? 0 : count)});
    });
}

qc_status qc_session_continue_on_cpu(qc_session* session) {
    return act(session, [](Session& s) { return s.continue_on_cpu(); });
}

qc_status qc_session_truncate(qc_session* session, int64_t frames) {
    return act(session, [&](Session& s) { return s.truncate(frames); });
}

qc_status qc_session_stream_score(qc_session* session, int rendition, int index, const char** title, double* value) {
    qc_status found = QC_AGAIN;
    const qc_status status = ask(session, [&]() -> Status {
        if (title == nullptr || value == nullptr) return no_null("title or value");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        if (index < 0) return not_accepted("index", index, "0 and more");
        const auto& scores = session->session->plan().stream_scores;
        if (static_cast<size_t>(index) >= scores.size()) {
            found = QC_END;
            return {};
        }
        const StreamScore& score = scores[static_cast<size_t>(index)];
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
    const ContentsWatch* contents = session->session->contents();
    return contents == nullptr ? 0 : contents->of(rendition).frames();
}

qc_status qc_session_finding(const qc_session* session, int rendition, int index, qc_finding* finding) {
    bool past_the_last = false;
    const qc_status status = ask(session, [&]() -> Status {
        if (finding == nullptr) return no_null("finding");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        if (index < 0) return not_accepted("index", index, "0 and more");
        const ContentsWatch* contents = session->session->contents();
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
        const ContentsWatch* contents = session->session->contents();
        if (contents == nullptr) return {};
        const StartOffset& start = contents->start_of(rendition);
        if (!start.is_decided()) told = QC_AGAIN;
        if (!start.offset()) return {};
        *offset = *start.offset();
        told = QC_OK;
        return {};
    });
    return status == QC_OK ? told : status;
}

int qc_session_seeks_in(const qc_session* session, int rendition) {
    if (session == nullptr || rendition >= session->session->renditions()) return 0;
    const qc::ContentsWatch* contents = session->session->contents();
    return contents != nullptr && contents->seeks_in(rendition) ? 1 : 0;
}

qc_status qc_session_look_further(qc_session* session, int rendition, int64_t number, const qc_session* other) {
    return act(session, [&](qc::Session& s) -> Status {
        if (other == nullptr || other->session->contents() == nullptr)
            return qc::invalid("the other session watches nothing");
        if (rendition >= s.renditions()) return qc::not_accepted("rendition", rendition, "those of the session");
        if (s.contents() != nullptr) s.contents()->look_further(rendition, number, *other->session->contents());
        return {};
    });
}

qc_status qc_session_end_search(qc_session* session) {
    return act(session, [](qc::Session& s) -> Status {
        if (s.contents() != nullptr) s.contents()->end_search();
        return {};
    });
}

qc_status qc_session_start_range(const qc_session* session, int rendition, qc_ranges* ranges) {
    qc_status told = QC_END;
    const qc_status status = ask(session, [&]() -> Status {
        if (ranges == nullptr) return no_null("ranges");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        const ContentsWatch* contents = session->session->contents();
        if (contents == nullptr) return {};
        const StartRange& start = contents->range_of(rendition);
        if (!start.is_decided()) told = QC_AGAIN;
        if (!start.relation()) return {};
        *ranges = static_cast<qc_ranges>(*start.relation());
        told = QC_OK;
        return {};
    });
    return status == QC_OK ? told : status;
}

qc_status qc_stats_format_parse(const char* text, qc_stats_format* format) {
    const auto parsed = text != nullptr ? parse_stats_format(text) : std::nullopt;
    if (!parsed || format == nullptr) return QC_ERROR_INVALID;
    *format = *parsed;
    return QC_OK;
}

qc_status qc_session_stats_line(const qc_session* session, const qc_row* row, char* text, size_t size) {
    return ask(session, [&]() -> Status {
        if (row == nullptr || text == nullptr) return no_null("row or text");
        if (row->value == nullptr || row->present == nullptr) return invalid("the row was not received");
        const ScorePlan& plan = session->session->plan();
        const size_t columns = plan.columns.size();
        const std::string line =
            stats_line(plan, session->session->geometry(), row->frame, {row->value, columns}, {row->present, columns});
        if (line.size() >= size)
            return invalid(format("a line of %zu bytes does not fit into %zu", line.size() + 1, size));
        line.copy(text, line.size());
        text[line.size()] = '\0';
        return {};
    });
}

qc_status qc_session_report_feature(const qc_session* session, int rendition, int place, int* feature) {
    bool is_end = false;
    const qc_status status = ask(session, [&]() -> Status {
        if (feature == nullptr) return no_null("feature");
        QC_RETURN_IF_ERROR(check_rendition(session, rendition));
        if (place < 0) return not_accepted("place", place, "0 and more");
        const std::vector<size_t> order = session->session->table(rendition).log_order();
        is_end = static_cast<size_t>(place) >= order.size();
        if (!is_end) *feature = static_cast<int>(order[static_cast<size_t>(place)]);
        return {};
    });
    return status == QC_OK && is_end ? QC_END : status;
}

qc_status qc_session_stats(const qc_session* session, qc_stats* stats) {
    return ask(session, [&]() -> Status {
        if (stats == nullptr) return no_null("stats");
        qc_stats counted{};
        session->session->fill_stats(&counted);
        return write_stats(counted, stats);
    });
}
