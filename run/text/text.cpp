// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/text/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <system_error>

#include "quality_cuda_run/text.h"
#include "run/text/guard.hpp"
#include "text/number.hpp"
#include "text/utf8.hpp"

namespace qc::run {

std::string number(double value, int decimals) {
    std::array<char, std::numeric_limits<double>::max_exponent10 + 64> text{};
    if (std::isnan(value)) return "nan";
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals);
    return error == std::errc{} ? std::string(text.data(), end) : std::string();
}

std::string brief_number(double value) {
    return std::isnan(value) ? "nan" : general_text(value);
}

std::string json_string(std::string_view text) {
    constexpr std::string_view kReplaced = "\xef\xbf\xbd";
    const std::string valid = valid_utf8(text);
    std::string result = "\"";
    for (size_t at = 0; at < valid.size(); ++at) {
        const char c = valid[at];
        if (valid.compare(at, kReplaced.size(), kReplaced) == 0) {
            result += "\\ufffd"; // written out, so that who looks at the bytes sees that something was replaced
            at += kReplaced.size() - 1;
            continue;
        }
        if (c == '"' || c == '\\') result += '\\';
        result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return result + '"';
}

std::string json_number(double value) {
    return std::isfinite(value) ? score_text(value) : "null";
}

std::string formatted(const char* format, ...) {
    std::va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, arguments);
    va_end(arguments);
    std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    return text;
}

void say(const qcr_sink& sink, qcr_level level, const std::string& text) {
    if (sink.say != nullptr) sink.say(sink.opaque, level, text.c_str());
}

} // namespace qc::run

const char* qcr_number(char* text, size_t size, int decimals, double value) {
    text[0] = '\0';
    qc::run::if_possible([&] { std::snprintf(text, size, "%s", qc::run::number(value, decimals).c_str()); });
    return text;
}
