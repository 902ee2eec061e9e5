// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/live/line.hpp"

#include <utility>

#include "run/text/text.hpp"

namespace qc::run {

void Line::key(std::string_view key) {
    if (text_.back() != '{') text_ += ", ";
    text_ += '"';
    text_ += key;
    text_ += "\": ";
}

void Line::number(std::string_view name, double value) {
    key(name);
    text_ += json_number(value);
}

void Line::count(std::string_view name, int64_t value) {
    key(name);
    text_ += std::to_string(value);
}

void Line::string(std::string_view name, std::string_view value) {
    key(name);
    text_ += json_string(value);
}

void Line::strings(std::string_view name, const std::vector<std::string_view>& values) {
    key(name);
    text_ += '[';
    for (size_t i = 0; i < values.size(); ++i) {
        text_ += i > 0 ? ", " : "";
        text_ += json_string(values[i]);
    }
    text_ += ']';
}

void Line::begin(std::string_view name) {
    key(name);
    text_ += '{';
}

void Line::members(std::string_view json) {
    text_ += ", ";
    text_ += json;
}

std::string Line::finished() && {
    text_ += "}\n";
    return std::move(text_);
}

} // namespace qc::run
