// SPDX-License-Identifier: BSD-2-Clause-Patent
// The lines through a place along which differences of the bands add up: each is the place itself, the samples listed
// here and those opposite to them.
#pragma once

#include <cstdint>
#include <span>

namespace qc::butteraugli {

constexpr int kLineReach = 4;

struct LineSample {
    int8_t x, y;
};

struct Line {
    int samples;
    double times; ///< how often the line counts
    LineSample at[kLineReach];
};

/// For the highest band.
inline constexpr Line kDenseLines[] = {
    {4, 1, {{1, 0}, {2, 0}, {3, 0}, {4, 0}}},
    {4, 1, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}},
    {3, 1, {{1, 1}, {2, 2}, {3, 3}}},
    {3, 1, {{-1, 1}, {-2, 2}, {-3, 3}}},
    {3, 1, {{1, 1}, {1, 2}, {2, 3}}},
    {3, 1, {{-1, 1}, {-1, 2}, {-2, 3}}},
    {3, 1, {{1, 1}, {2, 1}, {3, 2}}},
    {3, 1, {{-1, 1}, {-2, 1}, {-3, 2}}},
    {4, 2, {{0, 1}, {-1, 2}, {-1, 3}, {-1, 4}}},
    {4, 2, {{0, 1}, {1, 2}, {1, 3}, {1, 4}}},
    {4, 2, {{1, 0}, {2, 1}, {3, 1}, {4, 1}}},
    {4, 2, {{1, 0}, {2, -1}, {3, -1}, {4, -1}}},
};

/// For the high and the middle band.
inline constexpr Line kSparseLines[] = {
    {2, 1, {{2, 0}, {4, 0}}},   {2, 1, {{0, 2}, {0, 4}}},   {2, 1, {{2, 2}, {3, 3}}}, {2, 1, {{-2, 2}, {-3, 3}}},
    {2, 1, {{-1, 2}, {-1, 4}}}, {2, 1, {{1, 2}, {1, 4}}},   {2, 1, {{2, 1}, {4, 1}}}, {2, 1, {{2, -1}, {4, -1}}},
    {2, 1, {{1, 2}, {2, 3}}},   {2, 1, {{-1, 2}, {-2, 3}}}, {2, 1, {{2, 1}, {3, 2}}}, {2, 1, {{-2, 1}, {-3, 2}}},
    {2, 1, {{2, -1}, {4, -2}}}, {2, 1, {{2, 1}, {4, 2}}},   {2, 1, {{1, 2}, {2, 4}}}, {2, 1, {{-1, 2}, {-2, 4}}},
};

} // namespace qc::butteraugli
