// SPDX-License-Identifier: BSD-2-Clause-Patent
// Text of FFmpeg's filter graphs. Names of files and what people ask for are of strange hands: nothing in them ends an
// option, a filter or a chain.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qc::cli {

class GraphText {
public:
    GraphText() = default;
    /// What the program's own source says. No other text becomes a graph's without a word of how.
    template <size_t kSize>
    GraphText(const char (&literal)[kSize]) : text_(literal) {}
    /// An option's value, which FFmpeg reads back as it was: once for the options' parser, once for the graph's.
    static GraphText value(std::string_view text);
    static GraphText number(size_t number);
    /// Filters or a pad as they are: made of numbers, or held to one chain where they came in (opening.hpp).
    static GraphText filters(std::string text);

    GraphText& operator+=(const GraphText& more) {
        text_ += more.text_;
        return *this;
    }
    friend GraphText operator+(GraphText left, const GraphText& right) { return left += right; }
    bool empty() const { return text_.empty(); }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

} // namespace qc::cli
