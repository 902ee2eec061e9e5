// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures with words that hold more than the samples that their format announces.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "tests/support/runs.hpp"

namespace qc::test {

/// Copies of pictures, for as long as a run needs them, in which every second word is replaced, in no order.
class ReplacedSamples {
public:
    /// @param sound by the largest sample; otherwise by what no sample is
    explicit ReplacedSamples(bool sound) : sound_(sound) {}

    qc_picture operator()(const TestPicture& picture) {
        qc_picture view = picture.view();
        const qc_format& format = picture.format();
        for (int p = 0; p < picture.planes(); ++p) {
            std::vector<uint8_t>& bytes = kept_.emplace_back(picture.bytes(p));
            const ptrdiff_t offset = static_cast<const uint8_t*>(view.plane[p]) - picture.bytes(p).data();
            for (size_t i = 0; i + 1 < bytes.size(); i += 2) replace(&bytes[i], format.depth + format.shift);
            view.plane[p] = bytes.data() + offset;
        }
        return view;
    }

private:
    void replace(uint8_t* word, int bits) {
        state_ = state_ * 1664525u + 1013904223u;
        if (state_ >> 31 != 0) return;
        const unsigned largest = (1u << bits) - 1, above = largest + 1 + (state_ >> 15 & 0xffffu);
        const auto value = static_cast<uint16_t>(sound_ ? largest : std::min(above, 0xffffu));
        std::memcpy(word, &value, sizeof(value));
    }

    bool sound_;
    std::deque<std::vector<uint8_t>> kept_;
    uint32_t state_ = 1;
};

} // namespace qc::test
