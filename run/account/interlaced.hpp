// SPDX-License-Identifier: BSD-2-Clause-Patent
// What to do about interlaced frames, which no score is made for: it depends on which inputs have them, and how often.
#pragma once

#include <span>
#include <string>

#include "quality_cuda_run/names.h"

namespace qc::run {

/// An input, as far as it was seen.
struct Fields {
    bool is_interlaced = false;
    double rate = 0; ///< frames per second; 0: not known
};

/// The filters that make the inputs progressive, as one line that can be typed. @param inputs one of each
std::string deinterlacing_advice(const qcr_names& names, std::span<const Fields> inputs);

} // namespace qc::run
