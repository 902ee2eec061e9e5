// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cuda/results.hpp"

#include <algorithm>

#include "cuda/carver.hpp"

namespace qc::cuda {

Results::Results(const BackendSetup& setup, int frames) : setup_(setup) {
    Carver carver;
    for (size_t i = 0; i < setup_.scorers.size(); ++i) {
        const size_t rows = setup_.layout->computes(i) ? static_cast<size_t>(frames) * setup_.evaluations(i) : 0;
        offsets_.push_back(carver.take(rows * setup_.layout->words(i) * sizeof(uint64_t)));
    }
    bytes_ = carver.used();
}

void Results::read(const Slot& slot, std::deque<FrameResult>* results) const {
    for (size_t f = 0; f < slot.frames.size(); ++f) {
        FrameResult result;
        result.index = slot.frames[f].index;
        result.present = slot.frames[f].present;
        result.accumulators.resize(setup_.layout->frame_words());
        for (size_t i = 0; i < setup_.scorers.size(); ++i) {
            if (!setup_.layout->computes(i)) continue;
            const size_t words = setup_.evaluations(i) * setup_.layout->words(i); // of a frame
            const auto* array = slot.accumulators_host.as<const uint64_t>(offsets_[i]);
            std::copy_n(array + f * words, words, result.accumulators.data() + setup_.layout->offset(i, 0));
        }
        results->push_back(std::move(result));
    }
}

} // namespace qc::cuda
