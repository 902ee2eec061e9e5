// SPDX-License-Identifier: BSD-2-Clause-Patent
// The frames of all inputs as the records have them, and a look at those that follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "run/record/parts.hpp"

namespace qc::run {

class Frames {
public:
    explicit Frames(const Records& records);

    /// The frame behind so many others that were not taken; null: the input ends before it. @throws PartsTrouble
    const qcr_recorded_frame* peek(size_t input, size_t others);
    /// Takes the next frame, which there has to be, and which belongs to the caller until it is given back.
    qcr_recorded_frame* take(size_t input);
    void give_back(void* frame) { spare_.push_back(static_cast<qcr_recorded_frame*>(frame)); }

    /// What the packets of all frames that were taken had; below 0: not known.
    int64_t packet_bytes(size_t input) const { return inputs_[input].packet_bytes; }

private:
    struct Input {
        FrameReader reader;
        std::deque<qcr_recorded_frame*> waiting{};
        bool has_ended = false;
        int64_t packet_bytes = 0;
    };

    qcr_recorded_frame* keep(const qcr_recorded_frame& frame);

    std::vector<Input> inputs_;
    std::deque<qcr_recorded_frame> all_; ///< whose memory is used again
    std::vector<qcr_recorded_frame*> spare_;
};

} // namespace qc::run
