// SPDX-License-Identifier: BSD-2-Clause-Patent
// From the accumulators of a batch to the results of its frames. Knows slots and the session's layout of words.
#pragma once

#include <deque>
#include <vector>

#include "api/backend.hpp"
#include "cuda/slot.hpp"

namespace qc::cuda {

/// Where each instance's accumulators lie in a slot: one array per instance that computes, [frame][evaluation][word],
/// an evaluation being a rendition or the reference.
class Results {
public:
    /// @param setup outlives the object; @param frames of a batch at most
    Results(const BackendSetup& setup, int frames);

    /// Of all arrays.
    size_t bytes() const { return bytes_; }
    /// Byte offset of an instance's array.
    size_t offset(size_t instance) const { return offsets_[instance]; }

    /// Appends the results of a batch that is done, frame by frame.
    void read(const Slot& slot, std::deque<FrameResult>* results) const;

private:
    const BackendSetup& setup_;
    std::vector<size_t> offsets_; ///< per instance
    size_t bytes_ = 0;
};

} // namespace qc::cuda
