// SPDX-License-Identifier: BSD-2-Clause-Patent
// A video as a person is told of it.
#pragma once

#include <string>

namespace qc::cli {

/// What a file says of its video.
struct StreamFacts {
    std::string codec; ///< FFmpeg's name; empty: not known
    int width = 0, height = 0;
    double bit_rate = 0; ///< bit/s, of its packets over the time that they last; 0: not known
};

} // namespace qc::cli
