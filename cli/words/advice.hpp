// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filter's messages advise what somebody types who runs ffmpeg. Here they become what one types for this command.
#pragma once

#include <string>

namespace qc::cli {

/// "use align=start" becomes "use --align start", and a filter before an input one of --filter.
std::string in_this_commands_words(const std::string& text);

} // namespace qc::cli
