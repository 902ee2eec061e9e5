// SPDX-License-Identifier: BSD-2-Clause-Patent
// A check of an option's value.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>

#include "words/text.hpp"

namespace qc::cli {

/// For CLI11's check(). CLI::Range takes what is no number, too.
inline std::function<std::string(const std::string&)> number_between(double low, double high) {
    return [low, high](const std::string& text) -> std::string {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (end != text.c_str() && *end == '\0' && value >= low && value <= high) return "";
        return text + " is not accepted; a number from " + fixed(low, 1) + " to " + fixed(high, 1) + " is";
    };
}

} // namespace qc::cli
