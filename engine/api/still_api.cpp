// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores of one pair of still pictures: a session that nobody sees.
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c_boundary.hpp"
#include "api/int_field.hpp"
#include "api/session_config.hpp"

struct qc_scores {
    std::vector<std::pair<std::string, double>> list;
};

namespace {

using qc::no_null;
using qc::Session;
using qc::Status;

Status open_still(const qc_config* caller, std::unique_ptr<Session>* session) {
    qc_request request;
    QC_RETURN_IF_ERROR(qc::read_request(caller, &request));
    if (request.renditions > 1)
        return qc::not_accepted("renditions", request.renditions, "1 for a pair of still pictures");
    qc_config config;
    QC_RETURN_IF_ERROR(qc::read_config(*caller, &config));
    return Session::create(request.request, config, session);
}

Status list_scores(Session& session, qc_scores* scores) {
    qc_row row{};
    if (session.receive(true, &row) != QC_OK) return session.failure();
    const auto& columns = session.plan().columns;
    for (size_t i = 0; i < columns.size(); ++i)
        if (row.present[i] != 0) scores->list.emplace_back(columns[i].name, row.value[i]);
    if (scores->list.empty())
        return qc::invalid(row.weightless != 0 ? "the pair has no scores: its weights leave nothing to be scored"
                                               : "the pair has no scores");
    for (const auto& aggregate : session.table(0).aggregates()) scores->list.push_back(aggregate);
    return {};
}

Status score_still(const qc_config* config, const qc_frame* frame, qc_scores* scores) {
    if (frame == nullptr) return no_null("frame");
    const qc::PictureHold hold(frame->release, frame->opaque); // ends behind the session
    std::unique_ptr<Session> session;
    QC_RETURN_IF_ERROR(open_still(config, &session));
    qc_frame pictures = *frame;
    pictures.release = nullptr;
    QC_RETURN_IF_ERROR(session->submit(pictures));
    QC_RETURN_IF_ERROR(session->flush());
    return list_scores(*session, scores);
}

} // namespace

qc_status qc_score(const qc_config* config, const qc_frame* frame, qc_scores** scores, qc_error* error) {
    if (scores != nullptr) *scores = nullptr;
    return qc::report(qc::caught([&]() -> Status {
                          qc_scores found;
                          QC_RETURN_IF_ERROR(score_still(config, frame, &found));
                          if (scores == nullptr) return no_null("scores");
                          *scores = new qc_scores(std::move(found));
                          return {};
                      }),
                      error);
}

const char* qc_scores_name(const qc_scores* scores, int index) {
    if (scores == nullptr || index < 0 || static_cast<size_t>(index) >= scores->list.size()) return nullptr;
    return scores->list[static_cast<size_t>(index)].first.c_str();
}

double qc_scores_value(const qc_scores* scores, int index) {
    if (qc_scores_name(scores, index) == nullptr) return std::numeric_limits<double>::quiet_NaN();
    return scores->list[static_cast<size_t>(index)].second;
}

qc_status qc_scores_find(const qc_scores* scores, const char* name, double* value) {
    if (scores == nullptr || name == nullptr || value == nullptr) return QC_ERROR_INVALID;
    for (const auto& [known, score] : scores->list) {
        if (known != std::string_view(name)) continue;
        *value = score;
        return QC_OK;
    }
    return QC_ERROR_INVALID;
}

void qc_scores_destroy(qc_scores* scores) {
    delete scores;
}
