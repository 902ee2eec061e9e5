// SPDX-License-Identifier: BSD-2-Clause-Patent
// Made-up videos, as far as the watch of the contents sees them.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "contract/signature.hpp"

namespace qc::test {

using Luma = std::array<float, kSignatureBlocks>;
using Video = std::vector<Luma>;

/// Something that moves everywhere, and never the same way twice.
inline Luma scene(double time, double speed = 1.0) {
    Luma luma;
    for (int i = 0; i < kSignatureBlocks; ++i) {
        const int column = i % kSignatureColumns, row = i / kSignatureColumns;
        const double x = column, y = row, t = time * speed;
        luma[static_cast<size_t>(i)] = static_cast<float>(
            120 + 40 * std::sin(0.9 * x + 0.31 * t) * std::cos(0.5 * y - 0.173 * t) +
            25 * std::sin(0.7 * y + 1.3 * x + 0.0917 * t * std::sqrt(2.0)) + 15 * std::cos(2.1 * x - 0.0531 * t));
    }
    return luma;
}

inline Video video(int frames, const std::function<Luma(int)>& frame) {
    Video made;
    for (int n = 0; n < frames; ++n) made.push_back(frame(n));
    return made;
}

inline Video moving(int frames, double speed = 1.0) {
    return video(frames, [&](int n) { return scene(n, speed); });
}

/// What an encoder does to a signature.
inline Video noisy(Video made, float amount, unsigned seed = 1) {
    std::mt19937 random(seed);
    std::normal_distribution<float> noise; // of deviation 1: none of 0 is allowed
    for (Luma& luma : made)
        for (float& value : luma) value += amount * noise(random);
    return made;
}

inline Luma faded(Luma luma, double level) {
    for (float& value : luma) value = static_cast<float>(value * level);
    return luma;
}

} // namespace qc::test
