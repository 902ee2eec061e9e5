// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf's reports, line for line: tools edit them by the numbers of lines.
#pragma once

#include <string>

#include "store.hpp"

namespace compat {

struct ReportHead {
    unsigned width = 0, height = 0;
    unsigned every = 1; ///< only these indices are there
    double fps = 0;     ///< not finite: not known
};

std::string report_text(const ScoreStore& scores, const ReportHead& head, VmafOutputFormat format);

} // namespace compat
