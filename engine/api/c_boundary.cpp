// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/c_boundary.hpp"

#include <algorithm>

#include "api/int_field.hpp"
#include "api/session_config.hpp"
#include "plan/metric_registry.hpp"

namespace qc {

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

Status no_null(const char* what) {
    return invalid(format("%s is a null pointer", what));
}

Status check_rendition(const qc_session* session, int rendition) {
    const int count = session->session->renditions();
    if (rendition >= 0 && rendition < count) return {};
    return not_accepted("rendition", rendition, format("0..%d", count - 1));
}

Status read_request(const qc_config* caller, qc_request* request) {
    if (caller == nullptr) return no_null("config");
    qc_config config;
    QC_RETURN_IF_ERROR(read_config(*caller, &config));
    QC_RETURN_IF_ERROR(parse_request(config, registered_metrics(), &request->request));
    request->renditions = config.renditions;
    ScorePlan plan; // finds what no picture could mend: models without their scores, two scores of one name
    return build_score_plan(request->request, nullptr, &plan);
}

/// The configuration that goes with a request.
static Status read_config_for(const qc_request* request, const qc_config* caller, qc_config* config) {
    if (request == nullptr) return no_null("request");
    if (caller == nullptr) return no_null("config");
    QC_RETURN_IF_ERROR(read_config(*caller, config));
    if (std::max(config->renditions, 1) == std::max(request->renditions, 1)) return {};
    return not_accepted("renditions", config->renditions, format("%d, as in the request,", request->renditions));
}

Status check_pictures(const qc_request* request, const qc_config* caller) {
    qc_config config;
    QC_RETURN_IF_ERROR(read_config_for(request, caller, &config));
    return Session::check(request->request, config);
}

Status open_session(const qc_request* request, const qc_config* caller, qc_session** session) {
    if (session == nullptr) return no_null("session");
    qc_config config;
    QC_RETURN_IF_ERROR(read_config_for(request, caller, &config));
    auto made = std::make_unique<qc_session>();
    QC_RETURN_IF_ERROR(Session::create(request->request, config, &made->session));
    *session = made.release();
    return {};
}

} // namespace qc
