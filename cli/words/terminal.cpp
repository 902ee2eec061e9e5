// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "words/terminal.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

#include <unistd.h>

#include "words/failure.hpp"

namespace qc::cli {

namespace {

/// A character at the beginning of a text.
struct Character {
    uint32_t number = 0;
    size_t bytes = 0; ///< 0: it is no UTF-8
};

Character character_of(std::string_view text) {
    const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    if (byte(0) < 0x80) return {byte(0), 1};
    static constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    const size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
    uint32_t number = byte(0) & (0x7fU >> bytes);
    for (size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return {};
        number = number << 6 | (byte(i) & 0x3fU);
    }
    const bool is_surrogate = number >= 0xd800 && number < 0xe000;
    if (byte(0) < 0xc2 || byte(0) > 0xf4 || number < kLeast[bytes] || is_surrogate || number > 0x10ffff) return {};
    return {number, bytes};
}

bool is_shown(uint32_t number) {
    if (number == '\n' || number == '\t') return true;
    if (number < 0x20 || (number >= 0x7f && number < 0xa0)) return false;
    const bool turns = (number >= 0x202a && number <= 0x202e) || (number >= 0x2066 && number <= 0x2069);
    return !turns && number != 0x200e && number != 0x200f && number != 0x061c && number != 0x2028 && number != 0x2029;
}

std::string spelled(const char* format, uint32_t number) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), format, static_cast<unsigned>(number));
    return text.data();
}

std::string spelled_out(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const Character next = character_of(text);
        const size_t bytes = next.bytes == 0 ? 1 : next.bytes;
        if (next.bytes == 0)
            result += spelled("\\x%02x", static_cast<unsigned char>(text.front()));
        else if (is_shown(next.number))
            result.append(text.substr(0, bytes));
        else
            result += spelled(next.number < 0x80 ? "\\x%02x" : "\\u%04x", next.number);
        text.remove_prefix(bytes);
    }
    return result;
}

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    // Who reads from a file that is full must not take what is there for all.
    if (std::fflush(stdout) != 0) throw Failure("standard output cannot be written");
}

} // namespace

std::string without_passwords(std::string_view text) {
    constexpr std::string_view kScheme = "://";
    std::string result;
    for (size_t at = 0; (at = text.find(kScheme)) != std::string_view::npos;) {
        at += kScheme.size();
        result.append(text.substr(0, at));
        text.remove_prefix(at);
        // What is before the last @ of what names the host; a password may have any of them but these.
        const std::string_view host = text.substr(0, text.find_first_of("/?# \t\r\n\"'"));
        const size_t end = host.rfind('@'), colon = host.find(':');
        if (end == std::string_view::npos || colon >= end) continue;
        result.append(text.substr(0, colon)).append(":***");
        text.remove_prefix(end);
    }
    return result.append(text);
}

TerminalText::TerminalText(std::string_view text) : shown_(spelled_out(without_passwords(text))) {}

TerminalText TerminalText::bold(std::string_view text) {
    TerminalText made(text);
    if (!made.shown_.empty()) made.shown_ = "\033[1m" + made.shown_ + "\033[0m";
    return made;
}

TerminalText& TerminalText::operator+=(const TerminalText& text) {
    shown_ += text.shown_;
    return *this;
}

void say(const TerminalText& text) {
    std::fprintf(stderr, "%s", text.shown().c_str());
}

void say(std::string_view line) {
    const TerminalText lines(line);
    std::string text;
    for (const char c : lines.shown()) text += c == '\n' ? std::string("\\n") : std::string(1, c);
    std::fprintf(stderr, "%s\n", text.c_str());
}

void print_whole(const TerminalText& text) {
    print(text.shown());
}

void print_whole(const DataText& text) {
    print(isatty(STDOUT_FILENO) != 0 ? TerminalText(text.text()).shown() : text.text());
}

} // namespace qc::cli
