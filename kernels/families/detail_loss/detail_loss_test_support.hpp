// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the tests of both ADM metrics have in common. Test code only.
#pragma once

#include <gtest/gtest.h>

#include "families/detail_loss/detail_loss_level.hpp"

namespace qc::detail_loss {

/// White in this rectangle, which is made of whole coefficients of all levels, black elsewhere.
constexpr int kWhiteLeft = 48, kWhiteTop = 32, kWhiteRight = 160, kWhiteBottom = 144;

inline int white_in_rectangle(int x, int y) {
    return x >= kWhiteLeft && x < kWhiteRight && y >= kWhiteTop && y < kWhiteBottom ? 255 : 0;
}

/// The same plan for just these coefficients, without weights, with the shifts of the whole.
template <class Plan>
Plan plan_of_rectangle(Plan plan) {
    plan.has_weights = false;
    for (int i = 0; i < kLevels; i++) {
        auto& level = plan.level[i];
        const int step = 2 << i;
        EXPECT_TRUE(kWhiteLeft / step >= level.left && kWhiteTop / step >= level.top);
        EXPECT_TRUE(kWhiteRight / step <= level.right && kWhiteBottom / step <= level.bottom);
        level.left = kWhiteLeft / step;
        level.top = kWhiteTop / step;
        level.right = kWhiteRight / step;
        level.bottom = kWhiteBottom / step;
    }
    return plan;
}

} // namespace qc::detail_loss
