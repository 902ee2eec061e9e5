// SPDX-License-Identifier: BSD-2-Clause-Patent
// Inputs and their tags in words.
#pragma once

#include <string>

#include "quality_cuda_run/names.h"

namespace qc::run {

/// "Input 0 (main)"
std::string input_name(const qcr_names& names, int input);
/// "input 0 (main)"
std::string input_in_text(const qcr_names& names, int input);

/// The names of H.273's codes that FFmpeg has too; null: there is none.
const char* matrix_name(int code);
const char* primaries_name(int code);
const char* transfer_name(int code);
const char* range_name(int range); ///< "tv", "pc"; "unknown" for 0

/// "PQ", "HLG"; null: no HDR.
const char* hdr_name(int transfer);

} // namespace qc::run
