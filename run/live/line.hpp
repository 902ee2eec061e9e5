// SPDX-License-Identifier: BSD-2-Clause-Patent
// A line of JSON in the making: an object whose members are appended one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qc::run {

class Line {
public:
    /// @param type what the line is: its first member
    explicit Line(std::string_view type) { string("type", type); }

    /// Six decimals, null for what JSON has no number for.
    void number(std::string_view key, double value);
    void count(std::string_view key, int64_t value);
    void string(std::string_view key, std::string_view value);
    void strings(std::string_view key, const std::vector<std::string_view>& values);

    /// An object as a member: what is appended up to end() are members of it.
    void begin(std::string_view key);
    void end() { text_ += '}'; }

    /// Members that are JSON already.
    void members(std::string_view json);

    /// The whole line, with its end.
    std::string finished() &&;

private:
    void key(std::string_view key);

    std::string text_ = "{";
};

} // namespace qc::run
