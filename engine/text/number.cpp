// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "text/number.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace qc {
namespace {

constexpr int kGeneralDigits = 6; ///< of printf's %g without a precision

bool starts_a_number(std::string_view text) {
    if (!text.empty() && text.front() == '-') text.remove_prefix(1);
    return !text.empty() && (text.front() == '.' || (text.front() >= '0' && text.front() <= '9'));
}

/// from_chars takes no '+'; and it takes "nan" and "inf", which are no numbers here.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
    if (!text.empty() && text.front() == '+') {
        text.remove_prefix(1);
        if (!text.empty() && text.front() == '-') return std::nullopt;
    }
    if (!starts_a_number(text)) return std::nullopt;
    T value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

} // namespace

std::optional<double> parse_double(std::string_view text) {
    return parse_number<double>(text);
}

std::string general_text(double value) {
    char buffer[64];
    const auto [end, error] =
        std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, kGeneralDigits);
    return error == std::errc{} ? std::string(buffer, end) : std::string();
}

std::string normalised_number(std::string_view text) {
    std::optional<float> single = parse_number<float>(text);
    if (!single) {
        // Too small for single precision (from_chars refuses, C's strtof rounds to 0) or no number at all.
        const std::optional<double> wide = parse_double(text);
        if (!wide || std::abs(*wide) > 1.0) return std::string(text);
        single = static_cast<float>(*wide);
    }
    return general_text(static_cast<double>(*single));
}

} // namespace qc
