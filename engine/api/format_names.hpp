// SPDX-License-Identifier: BSD-2-Clause-Patent
// FFmpeg's names of pixel formats, and what they mean as a qc_format.
#pragma once

#include <string_view>

#include "quality_cuda.h"

namespace qc {

/// @param format layout and range as the name tells them; the rest is 0
/// @return whether there is such a format, and the engine reads it
bool find_format(std::string_view name, qc_format* format);

/// The name of a layout, without its end "le" for 8 bits only; null if FFmpeg has no format of it.
const char* name_of_format(const qc_format& format);

} // namespace qc
