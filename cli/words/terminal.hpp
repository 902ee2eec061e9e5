// SPDX-License-Identifier: BSD-2-Clause-Patent
// The one way to standard error and standard output. Names of files, logs, plans and what other programs say are of
// strange hands: nothing in them commands a terminal, and no password is shown.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace qc::cli {

/// "https://user:***@host" of a URL with a password, wherever it stands in a text.
std::string without_passwords(std::string_view text);

/// Text for people. Characters that a terminal obeys, that turn the direction of writing, and bytes that are no UTF-8
/// are spelled out, \x1b; ends of lines and tabulators stay.
class TerminalText {
public:
    TerminalText() = default;
    explicit TerminalText(std::string_view text);
    static TerminalText bold(std::string_view text);

    TerminalText& operator+=(const TerminalText& text);
    TerminalText& operator+=(std::string_view text) { return *this += TerminalText(text); }
    const std::string& shown() const { return shown_; }

private:
    std::string shown_;
};

/// JSON, CSV or HTML, which has rules of its own: to a program as it is, to a terminal as TerminalText.
class DataText {
public:
    explicit DataText(std::string text) : text_(std::move(text)) {}
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

/// To standard error.
void say(const TerminalText& text);
/// A line on standard error; ends of lines within it are spelled out, too.
void say(std::string_view line);

/// To standard output. @throws Failure if it does not take all
void print_whole(const TerminalText& text);
void print_whole(const DataText& text);

} // namespace qc::cli
