// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which instance of this process a file belongs to.
//
// Two instances with one file would destroy each other's work, be they in one graph or in two that follow each other: a
// graph that ffmpeg re-creates in mid-stream starts a second instance with the same options. So each file that one
// writes to is claimed, and another instance gets number 2, 3, ... of it; only lines of statistics go on where an
// earlier instance has ended. An instance that never saw a frame gives its claims back: ffmpeg makes one just to count
// pads.
#pragma once

#include <string>

#include "quality_cuda_run/files.h"

namespace qc::run {

struct Claim {
    enum class Result { kTaken, kClaimed, kOwn, kFailed } result = Result::kFailed;
    const char* option = ""; ///< kOwn: the one that this owner claimed the file for
    bool was_there = false;  ///< kClaimed: an earlier owner wrote to it
    int error = 0;           ///< kFailed: errno below 0
};

/// @param owner        any address of its own
/// @param path         of a regular file, or none yet
/// @param is_log       a report of the whole run; only what is none is passed on to a later owner
/// @param replaceable  as for check_writable()
Claim claim_file(const void* owner, const qcr_path& path, const char* option, bool is_log, bool replaceable);

/// The owner has ended. @param used 0: it has written nothing, a later one may have the paths
void end_claims(const void* owner, bool used) noexcept;

} // namespace qc::run
