// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ffmpeg/graph_text.hpp"

#include <type_traits>

#include <gtest/gtest.h>

#include "words/terminal.hpp"

namespace qc::cli {
namespace {

// Text that nobody made fit for a graph is none, nor is text made fit for something else; and a graph is no such text.
static_assert(!std::is_convertible_v<std::string, GraphText> && !std::is_constructible_v<GraphText, std::string>);
static_assert(!std::is_constructible_v<GraphText, std::string_view> &&
              !std::is_constructible_v<GraphText, const char*>);
static_assert(!std::is_constructible_v<GraphText, TerminalText> && !std::is_constructible_v<GraphText, DataText>);
static_assert(!std::is_constructible_v<TerminalText, GraphText> && !std::is_convertible_v<GraphText, std::string>);

template <typename Text>
concept JoinsGraphs = requires(GraphText graph, Text text) {
    graph += text;
};
static_assert(JoinsGraphs<GraphText> && JoinsGraphs<const char (&)[2]> && !JoinsGraphs<std::string> &&
              !JoinsGraphs<TerminalText>);

TEST(GraphText, ValuesEndNothing) {
    const std::pair<const char*, const char*> kTexts[] = {
        {"plain.json", "plain.json"},
        {"a:b", "a\\\\:b"},
        {"a,b;c[d]", "a\\,b\\;c\\[d\\]"},
        {"it's", "it\\\\\\'s"},
        {"a\\b", "a\\\\\\\\b"},
        {" a ", "\\\\ a\\\\\\ "},
        {" ", "\\\\\\ "},
        {"", ""},
    };
    for (const auto& [value, text] : kTexts) EXPECT_EQ(GraphText::value(value).text(), text) << value;
}

TEST(GraphText, JoinsAsItIs) {
    EXPECT_EQ(("x=" + GraphText::value("a,b") + ":n=" + GraphText::number(3) + GraphText::filters(",null")).text(),
              "x=a\\,b:n=3,null");
}

} // namespace
} // namespace qc::cli
