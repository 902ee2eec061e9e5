// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the functions of the C boundary share: what the opaque pointers point to, and how a call looks at a session or
// drives it. Statuses become codes here, and no exception gets out.
#pragma once

#include <memory>
#include <utility>

#include "api/session.hpp"
#include "contract/caught.hpp"
#include "plan/request.hpp"
#include "quality_cuda_run/engine.h"

struct qc_request {
    qc::ScoreRequest request;
    int renditions = 0; ///< as the configuration had it
};

struct qc_session {
    std::unique_ptr<qc::Session> session;
    mutable qc::Status error; ///< of the last call that failed
    bool in_call = false;     ///< of one that scores: the caller's release or log function may be running
};

namespace qc {

/// @param error may be null
qc_status report(const Status& status, qc_error* error);
qc_status report(const Status& status, const qc_session* session);

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
        return ask(session, [] { return invalid("a session was called from within its own release or log function"); });
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

/// The refusal of an argument.
Status no_null(const char* what);

Status check_rendition(const qc_session* session, int rendition);

/// Reads the strings of a caller's configuration.
Status read_request(const qc_config* caller, qc_request* request);
Status check_pictures(const qc_request* request, const qc_config* caller);
Status open_session(const qc_request* request, const qc_config* caller, qc_session** session);

} // namespace qc
