// SPDX-License-Identifier: BSD-2-Clause-Patent
// A front end that only listens.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "quality_cuda_run/sink.h"

namespace qc::run {

using Lines = std::vector<std::string>;

/// Messages as "W text", by the first letter of their level. Two threads may say some.
class Messages {
public:
    qcr_sink sink() {
        return {[](void* opaque, qcr_level level, const char* text) {
                    Messages& self = *static_cast<Messages*>(opaque);
                    const std::scoped_lock lock(self.mutex_);
                    self.said_.push_back(std::string(1, "EWIVD"[level]) + ' ' + text);
                },
                this};
    }

    /// All of them, and none is left.
    Lines take() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(said_, {});
    }

private:
    std::mutex mutex_;
    Lines said_;
};

} // namespace qc::run
