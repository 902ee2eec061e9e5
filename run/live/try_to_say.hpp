// SPDX-License-Identifier: BSD-2-Clause-Patent
// Messages from where nothing may throw.
#pragma once

#include <new>

#include "run/text/text.hpp"

namespace qc::run {

/// A formatted message. One that there is no memory for is not said.
template <typename... Arguments>
void try_to_say(const qcr_sink& sink, qcr_level level, const char* format, Arguments... arguments) noexcept {
    try {
        say(sink, level, formatted(format, arguments...));
    } catch (const std::bad_alloc&) { // NOLINT(bugprone-empty-catch)
    }
}

} // namespace qc::run
