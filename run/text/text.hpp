// SPDX-License-Identifier: BSD-2-Clause-Patent
// Numbers and JSON as all that a run tells has them: the same in every locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "quality_cuda_run/sink.h"

namespace qc::run {

inline constexpr int kScoreDecimals = 6;

/// With so many decimals. What is no number has no sign: "nan".
std::string number(double value, int decimals);

/// printf's %g: the digits that it needs, of six.
std::string brief_number(double value);

/// A score, or a time in seconds: six decimals.
inline std::string score_text(double value) {
    return number(value, kScoreDecimals);
}

/// In double quotes; a control character becomes a space, a byte that is no UTF-8 becomes \ufffd.
std::string json_string(std::string_view text);

/// A score, or null where it is not finite.
std::string json_number(double value);

/// For printf's %lld.
constexpr long long wide(int64_t value) {
    return value;
}

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

/// Says one line; an empty sink hears nothing.
void say(const qcr_sink& sink, qcr_level level, const std::string& text);

} // namespace qc::run
