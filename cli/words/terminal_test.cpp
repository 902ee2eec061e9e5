// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "words/terminal.hpp"

#include <type_traits>

#include <gtest/gtest.h>

namespace qc::cli {
namespace {

TEST(Terminal, ObeysNothingOfAText) {
    const std::pair<const char*, const char*> kTexts[] = {
        {"plain\n\ttext \xc3\xa4 \xe4\xb8\xad \xf0\x9f\x98\x80",
         "plain\n\ttext \xc3\xa4 \xe4\xb8\xad \xf0\x9f\x98\x80"},
        {"a\x1b[2Jb\rc\ad\x7f", "a\\x1b[2Jb\\x0dc\\x07d\\x7f"},
        {"\xc2\x9b\x32J", "\\u009b2J"},                          // the same in one character
        {"\x9b\x32J \xc3", "\\x9b2J \\xc3"},                     // no UTF-8
        {"\xc0\x9b \xe0\x82\x9b", "\\xc0\\x9b \\xe0\\x82\\x9b"}, // more bytes than it needs
        {"\xed\xa0\x80 \xf4\x90\x80\x80", "\\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"},
        {"gpj\xe2\x80\xae.exe", "gpj\\u202e.exe"}, // written from the right
    };
    for (const auto& [text, shown] : kTexts) {
        EXPECT_EQ(TerminalText(text).shown(), shown);
        EXPECT_EQ(TerminalText(shown).shown(), shown) << "twice is as once";
    }
}

TEST(Terminal, PasswordsAreNotShown) {
    const std::pair<const char*, const char*> kTexts[] = {
        {"-i https://me:secret@host/a.mp4 -i b", "-i https://me:***@host/a.mp4 -i b"},
        {"'ftp://me:a:b@c@host/x' http://you:pw@[::1]:80/", "'ftp://me:***@host/x' http://you:***@[::1]:80/"},
        {"https://host:8080/a@b:c", "https://host:8080/a@b:c"},
        {"https://me@host/", "https://me@host/"},
        {"http://:pw@host", "http://:***@host"},
        {"a://b", "a://b"},
    };
    for (const auto& [text, shown] : kTexts) EXPECT_EQ(without_passwords(text), shown);
}

// Which of the two a text is has to be said.
static_assert(!std::is_convertible_v<std::string, TerminalText> && !std::is_convertible_v<std::string, DataText>);
static_assert(!std::is_convertible_v<DataText, TerminalText> && !std::is_convertible_v<TerminalText, DataText>);

} // namespace
} // namespace qc::cli
