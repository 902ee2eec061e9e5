// SPDX-License-Identifier: BSD-2-Clause-Patent
// A front end that only listens, to several threads if there are.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "quality_cuda_run/sink.h"

namespace qc::run {

using Lines = std::vector<std::string>;

/// Collects what is said: "W text" for a warning, and E, I, V and D alike.
class Messages {
public:
    qcr_sink sink() {
        return {[](void* opaque, qcr_level level, const char* text) {
                    Messages& self = *static_cast<Messages*>(opaque);
                    const std::scoped_lock lock(self.mutex_);
                    self.all.push_back(std::string(1, "EWIVD"[level]) + ' ' + text);
                },
                this};
    }
    /// All of them, and none is left.
    Lines take() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(all, {});
    }
    bool has(const std::string& text) const {
        return std::any_of(all.begin(), all.end(),
                           [&](const std::string& line) { return line.find(text) != std::string::npos; });
    }

    Lines all;

private:
    std::mutex mutex_;
};

} // namespace qc::run
