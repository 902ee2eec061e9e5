// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "words/findings.hpp"

#include <algorithm>

#include "words/terminal.hpp"

namespace qc::cli {

void Findings::add(const char* source, const std::string& text) {
    const bool is_known =
        std::any_of(list_.begin(), list_.end(), [&](const Finding& each) { return each.text == text; });
    if (is_known) return;
    list_.push_back({source, text});
    say(about_ + (about_.empty() ? "" : ": ") + "warning: " + text);
}

void Findings::add_damage(size_t count, const std::string& text) {
    decoder_errors_ = count;
    if (count > 0) add("decoder", text);
}

} // namespace qc::cli
