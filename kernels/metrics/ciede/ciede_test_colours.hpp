// SPDX-License-Identifier: BSD-2-Clause-Patent
// Random pairs of colours for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "metrics/ciede/ciede_math.hpp"

namespace qc::ciede {

/// Which pairs of colours are drawn.
enum class Colours {
    kAny,
    kOneCodeApart,
    kGrey,     ///< within a code of the grey axis, one code apart
    kSimilar,  ///< a few 8-bit codes apart
    kMuted,    ///< around the grey axis: hues wrap around
    kBlueSide, ///< where the rotation term matters
};

struct Pair {
    Sample reference, distorted;
};

class PairSource {
public:
    PairSource(Colours colours, int depth) : colours_(colours), depth_(depth), random_(static_cast<unsigned>(depth)) {}

    Pair next() {
        const int unit = 1 << (depth_ - 8), middle = 128 * unit;
        switch (colours_) {
        case Colours::kAny:
            return {any(), any()};
        case Colours::kOneCodeApart:
            return around(any(), 1, 1);
        case Colours::kGrey:
            return around({any().y, near(middle, 1), near(middle, 1)}, 1, 1);
        case Colours::kSimilar:
            return around(any(), 4 * unit, 3 * unit);
        case Colours::kMuted:
            return around({any().y, near(middle, 30 * unit), near(middle, 30 * unit)}, 10 * unit, 10 * unit);
        case Colours::kBlueSide:
            return around({any().y, near(190 * unit, 60 * unit), near(110 * unit, 50 * unit)}, 2 * unit, 6 * unit);
        }
        return {};
    }

private:
    uint32_t code() { return static_cast<uint32_t>(random_()) >> (32 - depth_); }
    Sample any() {
        const uint32_t y = code(), u = code(), v = code();
        return {y, u, v};
    }
    uint32_t near(int value, int distance) {
        const int moved = value + static_cast<int>(random_() % static_cast<unsigned>(2 * distance + 1)) - distance;
        return static_cast<uint32_t>(std::clamp(moved, 0, (1 << depth_) - 1));
    }
    Pair around(Sample sample, int luma, int chroma) {
        const uint32_t y = near(static_cast<int>(sample.y), luma), u = near(static_cast<int>(sample.u), chroma),
                       v = near(static_cast<int>(sample.v), chroma);
        return {sample, {y, u, v}};
    }

    Colours colours_;
    int depth_;
    std::mt19937 random_;
};

} // namespace qc::ciede
