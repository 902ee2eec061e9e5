// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the pictures of a session become before they are scored, decided from their formats, their tags and the wish
// alone; docs/reference/conversions.md has the rules. Knows no picture.
#pragma once

#include <string>
#include <vector>

#include "contract/status.hpp"
#include "ingest/recoding.hpp"
#include "quality_cuda.h"

namespace qc {

/// What becomes of the pictures of one input.
struct InputConversion {
    Coding from, to;
    bool is_needed = false;      ///< by more than a shift to the left
    bool assumes_matrix = false; ///< nobody has tagged the one that luma and chroma are of
    bool operator==(const InputConversion&) const = default;
};

/// One way to see the pictures.
using PictureView = std::vector<InputConversion>; ///< the reference, then the renditions

struct ConversionPlan {
    /// Luma and chroma. Where all inputs are RGB and nothing may be converted, as they are.
    PictureView main;
    /// Where an input is RGB: that, for metrics that take it; otherwise empty.
    PictureView rgb;
    bool is_mixed = false; ///< only some inputs are RGB
};

/// @param config its formats have passed their checks, its defaults are resolved
/// @return QC_ERROR_UNSUPPORTED if RGB stands beside luma and chroma of a matrix that nobody knows; QC_ERROR_INVALID if
///         it stands beside them and nothing may be converted
Status plan_conversions(const qc_config& config, ConversionPlan* plan);

/// The format of an input's pictures once they are converted: planar. What needs no conversion stays as it is.
qc_format converted_format(const qc_format& format, const InputConversion& conversion);

/// "the reference", "distorted input 2"
std::string input_text(const qc_config& config, int input);
/// "from rgb24, full range, to yuv420p, limited range, matrix bt709 (assumed)"
std::string conversion_text(const qc_format& format, const InputConversion& conversion);

/// Name of a matrix as FFmpeg has it, "" for none.
std::string matrix_text(int matrix);

} // namespace qc
