// SPDX-License-Identifier: BSD-2-Clause-Patent
#pragma once

#include <string>
#include <string_view>

namespace qc {

/// The text with U+FFFD for every byte that is no part of a UTF-8 character: names of files may hold any bytes, JSON
/// and XML may not.
std::string valid_utf8(std::string_view text);

} // namespace qc
