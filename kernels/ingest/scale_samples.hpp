// SPDX-License-Identifier: BSD-2-Clause-Patent
// How the kernels that scale read the tables of weights.
#pragma once

#include "device/plane_reader.hpp"
#include "device/unroll.hpp"

namespace qc::scale {

template <typename T>
QC_HD T fetch(const T* address) {
#if defined(__CUDA_ARCH__)
    return __ldg(address);
#else
    return *address;
#endif
}

/// The weights of one target sample as they lie there, two in each word: an even number that begins at a multiple of
/// their bytes, or of 4.
template <int kTaps>
struct WeightPairs {
    uint32_t pair[kTaps / 2];

    QC_HD int weight(int t) const { return static_cast<int16_t>(pair[t / 2] >> (t % 2 * 16)); }
};

template <int kTaps>
QC_HD WeightPairs<kTaps> load_weights(const int16_t* weights) {
    constexpr int kBytes = kTaps % 4 == 0 ? 8 : 4, kWords = kBytes / 4;
    WeightPairs<kTaps> pairs;
    QC_UNROLL for (int i = 0; i < kTaps / 2; i += kWords) {
        const Words<kBytes> words = load_words<kBytes>(weights + static_cast<ptrdiff_t>(2 * i));
        QC_UNROLL for (int k = 0; k < kWords; ++k) pairs.pair[i + k] = words.word[k];
    }
    return pairs;
}

} // namespace qc::scale
