// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "alignment/evidence.hpp"

#include <algorithm>
#include <cmath>

namespace qc {

float evidence(float other, float own) {
    return std::clamp(std::log((other + kSameSignature) / (own + kSameSignature)), -kMostEvidence, kMostEvidence);
}

bool is_telling(float other, float own) {
    return evidence(other, own) > kTelling && other - own > kTellingDifference;
}

float mean_distance(std::span<const float> distances) {
    float sum = 0.0F, count = 0.0F;
    for (const float distance : distances) {
        if (distance < 0.0F) continue;
        sum += distance;
        count += 1.0F;
    }
    return sum / std::max(count, 1.0F);
}

} // namespace qc
