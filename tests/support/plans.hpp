// SPDX-License-Identifier: BSD-2-Clause-Patent
// From a configuration to a plan in one step. Test code only.
#pragma once

#include "plan/score_plan.hpp"

namespace qc::test {

inline Status plan_of_config(const qc_config& config, MetricRegistry registry, const FrameGeometry* geometry,
                             ScorePlan* plan) {
    ScoreRequest request;
    QC_RETURN_IF_ERROR(parse_request(config, registry, &request));
    return build_score_plan(request, geometry, plan);
}

} // namespace qc::test
