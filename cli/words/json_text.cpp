// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "words/json_text.hpp"

namespace qc::cli {

std::string json_trouble(const nlohmann::json::exception& broken) {
    constexpr int kAnotherType = 302, kNoSuchKey = 403;
    const std::string text = broken.what(); // "[json.exception.out_of_range.403] key 'inputs' not found"
    const size_t end = text.find("] ");
    if ((broken.id != kAnotherType && broken.id != kNoSuchKey) || end == std::string::npos)
        return "a value is of another kind than it has to be";
    return text.substr(end + 2);
}

} // namespace qc::cli
