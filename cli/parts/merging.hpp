// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the records of a title's parts to its logs.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "ffmpeg/title.hpp"
#include "process/process.hpp"
#include "quality_cuda_run/merge.h"

namespace qc::cli {

struct Merged {
    qcr_merged status = QCR_MERGED;
    std::string reason;                ///< why it failed
    std::vector<std::string> warnings; ///< all that was said of the whole title, failures too
};

/// @param records one for each part  @throws Interrupted
Merged merge_records(const Title& title, const std::vector<std::string>& records, const std::string& log);

/// Who merges, for what tells how a log was made.
std::string merger();

/// A merge in a thread of its own, which takes each record when it is there. It ends with the object.
class MergeBeside {
public:
    MergeBeside(const Title& title, const std::vector<std::string>& records, const std::string& log);
    ~MergeBeside();
    MergeBeside(const MergeBeside&) = delete;
    MergeBeside& operator=(const MergeBeside&) = delete;

    /// As those that make the records know it.
    Companion companion();

    /// Waits for its end: all records have to be there. @throws Interrupted
    const Merged& finish();

private:
    void join();

    int end_; ///< can be read once it is over
    std::atomic<bool> is_given_up_ = false;
    Merged merged_;
    std::thread thread_;
};

} // namespace qc::cli
