// SPDX-License-Identifier: BSD-2-Clause-Patent
// Lines for a file, a pipe, a device or an open descriptor.
#pragma once

#include <cstddef>

#include "quality_cuda_run/files.h"
#include "quality_cuda_run/receiver.h"

namespace qc::run {

/// The receiver that a target is. Whatever others read is never written more than it takes at once, so that a wait
/// can end; half a line, which would spoil the next one, too, is taken out of a file again.
class Descriptor {
public:
    /// @param target outlives this
    explicit Descriptor(const qcr_target& target) : target_(target) {}

    /// Its table of functions; the object has to outlive it, and not move.
    qcr_receiver table();

private:
    int open(const qcr_patience& patience);
    int write(const char* text, size_t size);
    int write_all(const char* text, size_t size);
    long write_some(const char* text, size_t size);
    int begin_anew();
    bool is_moved() const;
    int close();

    bool is_file() const { return target_.path.kind == QCR_PATH_FILE; }
    bool is_pipe() const { return target_.path.kind == QCR_PATH_PIPE; }

    const qcr_target& target_;
    qcr_patience patience_{};
    int descriptor_ = -1;
};

} // namespace qc::run
