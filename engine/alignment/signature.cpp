// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/signature.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qc {

Signature::Signature(std::span<const float, kSignatureBlocks> luma) {
    const float mean = std::accumulate(luma.begin(), luma.end(), 0.0F) / kSignatureBlocks;
    for (size_t i = 0; i < kSignatureBlocks; ++i) {
        luma_[i] = luma[i] - mean;
        power_ += luma_[i] * luma_[i];
    }
    power_ /= kSignatureBlocks;
}

float Signature::distance(const Signature& other) const {
    constexpr float kMostGain = 2.0F;
    const float gain =
        other.power_ > 0.0F ? std::clamp(std::sqrt(power_ / other.power_), 1.0F / kMostGain, kMostGain) : 1.0F;
    float sum = 0.0F;
    for (size_t i = 0; i < kSignatureBlocks; ++i) {
        const float difference = luma_[i] - gain * other.luma_[i];
        sum += difference * difference;
    }
    return sum / kSignatureBlocks;
}

} // namespace qc
