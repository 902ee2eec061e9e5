// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/signature.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace qc {

Signature::Signature(std::span<const float, kSignatureBlocks> luma) {
    mean_ = std::accumulate(luma.begin(), luma.end(), 0.0F) / kSignatureBlocks;
    for (size_t i = 0; i < kSignatureBlocks; ++i) {
        luma_[i] = luma[i] - mean_;
        power_ += luma_[i] * luma_[i];
    }
    power_ /= kSignatureBlocks;
}

float Signature::gain_of(const Signature& other) const {
    constexpr float kMostGain = 2.0F;
    return other.power_ > 0.0F ? std::clamp(std::sqrt(power_ / other.power_), 1.0F / kMostGain, kMostGain) : 1.0F;
}

float Signature::correlation(const Signature& other) const {
    if (!(power_ > 0.0F) || !(other.power_ > 0.0F)) return 0.0F;
    float product = 0.0F;
    for (size_t i = 0; i < kSignatureBlocks; ++i) product += luma_[i] * other.luma_[i];
    return product / (kSignatureBlocks * std::sqrt(power_ * other.power_));
}

float Signature::distance(const Signature& other) const {
    return distances({&other, &other, &other, &other})[0];
}

std::array<float, Signature::kAtOnce> Signature::distances(const std::array<const Signature*, kAtOnce>& others) const {
    std::array<float, kAtOnce> gain, sum{};
    for (size_t k = 0; k < kAtOnce; ++k) gain[k] = gain_of(*others[k]);
    for (size_t i = 0; i < kSignatureBlocks; ++i)
        for (size_t k = 0; k < kAtOnce; ++k) {
            const float difference = luma_[i] - gain[k] * others[k]->luma_[i];
            sum[k] += difference * difference;
        }
    for (float& each : sum) each /= kSignatureBlocks;
    return sum;
}

} // namespace qc
