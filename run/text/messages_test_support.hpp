// SPDX-License-Identifier: BSD-2-Clause-Patent
// A front end that only listens.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "quality_cuda_run/sink.h"

namespace qc::run {

class Messages {
public:
    qcr_sink sink() {
        return {[](void* opaque, qcr_level level, const char* text) {
                    static_cast<Messages*>(opaque)->all.push_back(std::string(1, "EWIVD"[level]) + " " + text);
                },
                this};
    }
    /// All of them, "W text", and none is left.
    std::vector<std::string> take() { return std::exchange(all, {}); }
    bool has(const std::string& text) const {
        return std::any_of(all.begin(), all.end(),
                           [&](const std::string& line) { return line.find(text) != std::string::npos; });
    }

    std::vector<std::string> all;
};

using Lines = std::vector<std::string>;

} // namespace qc::run
