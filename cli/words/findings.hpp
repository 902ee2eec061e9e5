// SPDX-License-Identifier: BSD-2-Clause-Patent
// What makes a number doubtful, in lines: each is said once, at once, and to whoever asked for nothing but errors, too.
#pragma once

#include <string>
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
    const std::vector<Finding>& list() const { return list_; }

private:
    std::string about_;
    std::vector<Finding> list_;
};

} // namespace qc::cli
