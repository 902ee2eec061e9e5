// SPDX-License-Identifier: BSD-2-Clause-Patent
// What makes a number doubtful, in lines: each is said once, at once, and to whoever asked for nothing but errors, too.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace qc::cli {

struct Finding {
    const char* source; ///< who found it: "filter", "decoder" or "command"
    std::string text;   ///< cause and remedy, in words of this command
};

class Findings {
public:
    /// @param about what it is of; empty: there is but one title
    explicit Findings(std::string about = "") : about_(std::move(about)) {}
    /// Says it on standard error, unless it was said before.
    void add(const char* source, const std::string& text);
    /// The same of what decoders complained of. @param count how many different complaints there were
    void add_damage(size_t count, const std::string& text);
    const std::vector<Finding>& list() const { return list_; }
    size_t decoder_errors() const { return decoder_errors_; }

private:
    std::string about_;
    std::vector<Finding> list_;
    size_t decoder_errors_ = 0;
};

} // namespace qc::cli
