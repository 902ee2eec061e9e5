// SPDX-License-Identifier: BSD-2-Clause-Patent
// A video as a person is told of it.
#pragma once

#include <string>

namespace qc::cli {

struct VideoFacts {
    std::string codec;         ///< as FFmpeg calls it; empty: not known
    int width = 0, height = 0; ///< 0: not known
    double kbit_per_s = 0;     ///< of its packets; 0: not known
};

} // namespace qc::cli
