// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures for the tests of both ADM metrics. Test code only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "contract/types.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/sample_picture.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::detail_loss {

struct Pair {
    test::SamplePicture reference, distorted;
    HostPair view() const { return {reference.view(), distorted.view()}; }
};

/// Values are cut to the range of codes. The pitch is no multiple of anything.
template <typename Value>
test::SamplePicture make_luma(int width, int height, int depth, const Value& value) {
    const auto code_at = [&](int x, int y) { return std::clamp<int>(value(x, y), 0, (1 << depth) - 1); };
    return {test::luma_geometry(width, height, depth), code_at, 3};
}

inline uint32_t hash(uint32_t x, uint32_t y, uint32_t salt) {
    return test::synthetic_hash(x, y, salt, 0, 0);
}

/// Edges, ramps, noise; the distorted picture blurs here, enhances there, adds noise elsewhere.
inline Pair textured(int width, int height, int depth, uint32_t salt) {
    const int up = depth - 8;
    const auto base = [=](int x, int y) {
        const int ramp = (3 * x + 2 * y) / 5 % 120, block = ((x / 7) ^ (y / 9)) % 2 * 50;
        return 40 + ramp + block + static_cast<int>(hash(x, y, salt) % 17);
    };
    const auto changed = [=](int x, int y) {
        const int value = base(x, y);
        switch ((x / 24 + y / 16) % 4) {
        case 0:
            return (value + base(x + 1, y) + base(x, y + 1) + base(x + 1, y + 1)) / 4;
        case 1:
            return (value - 128) * 5 / 4 + 128;
        case 2:
            return value / 12 * 12 + static_cast<int>(hash(x, y, salt + 1) % 5);
        default:
            return value;
        }
    };
    const auto fine = [=](int x, int y) {
        return up == 0 ? 0 : static_cast<int>(hash(x, y, 99) >> 8 & ((1 << up) - 1));
    };
    return {make_luma(width, height, depth, [=](int x, int y) { return (base(x, y) << up) + fine(x, y); }),
            make_luma(width, height, depth, [=](int x, int y) { return (changed(x, y) << up) + fine(y, x); })};
}

/// Every sample either end of the range, at random; most of the distorted ones inverted.
inline Pair binary_noise(int width, int height, int depth, uint32_t salt) {
    const int top = (1 << depth) - 1;
    const auto bit = [=](int x, int y) { return (hash(x, y, salt) & 1) != 0; };
    return {make_luma(width, height, depth, [=](int x, int y) { return bit(x, y) ? top : 0; }),
            make_luma(width, height, depth,
                      [=](int x, int y) { return bit(x, y) != ((hash(x, y, salt + 1) & 3) == 0) ? 0 : top; })};
}

inline Pair flat(int width, int height, int depth, int reference, int distorted) {
    return {make_luma(width, height, depth, [=](int, int) { return reference; }),
            make_luma(width, height, depth, [=](int, int) { return distorted; })};
}

} // namespace qc::detail_loss
