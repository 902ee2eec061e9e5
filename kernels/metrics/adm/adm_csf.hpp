// SPDX-License-Identifier: BSD-2-Clause-Patent
// Contrast sensitivity factors of integer ADM, per level and orientation: Watson's, Barten's, and fixed tables that
// blend the two. Host only, once per instance. Constants are libvmaf's.
#pragma once

#include "families/detail_loss/detail_loss_settings.hpp"

namespace qc::adm {

enum CsfMode { kCsfWatson = 0, kCsfBarten = 1, kCsfBlend = 2, kCsfBlendMae = 3 };

using detail_loss::Viewing;

/// Blended tables, selected by exact display height and distance.
struct BlendTable {
    int height;
    double distance;
    float straight[2][4], diagonal[2][4]; ///< [mode - kCsfBlend][level]
};

inline constexpr BlendTable kBlendTables[] = {
    {1080,
     3.0,
     {{0.01183f, 0.025026f, 0.04295f, 0.058621f}, {0.011249f, 0.022606f, 0.035930f, 0.045673f}},
     {{0.004302f, 0.011778f, 0.023918f, 0.035901f}, {0.004097f, 0.010921f, 0.021430f, 0.031313f}}},
    {2160,
     1.5,
     {{0.01183f, 0.025026f, 0.04295f, 0.058621f}, {0.011249f, 0.022606f, 0.035930f, 0.045673f}},
     {{0.004302f, 0.011778f, 0.023918f, 0.035901f}, {0.004097f, 0.010921f, 0.021430f, 0.031313f}}},
    {1080,
     5.0,
     {{0.004212f, 0.014809f, 0.029642f, 0.047464f}, {0.004052f, 0.013939f, 0.026298f, 0.038833f}},
     {{0.000984f, 0.005852f, 0.0146f, 0.027574f}, {0.000927f, 0.005544f, 0.013415f, 0.024515f}}},
    {2160,
     3.0,
     {{0.00226f, 0.01183f, 0.025026f, 0.04295f}, {0.002166f, 0.011249f, 0.022606f, 0.035930f}},
     {{0.000479f, 0.004302f, 0.011778f, 0.023918f}, {0.000447f, 0.004097f, 0.010921f, 0.021430f}}},
    {2160,
     5.0,
     {{0.000092f, 0.004212f, 0.014809f, 0.029642f}, {0.000077f, 0.004052f, 0.013939f, 0.026298f}},
     {{0.000050f, 0.000984f, 0.005852f, 0.0146f}, {0.000045f, 0.000927f, 0.005544f, 0.013415f}}},
    {720,
     5.0,
     {{0.010144f, 0.022561f, 0.040309f, 0.05672f}, {0.009689f, 0.020577f, 0.034162f, 0.044523f}},
     {{0.003463f, 0.010282f, 0.021839f, 0.034641f}, {0.003302f, 0.009579f, 0.019661f, 0.030318f}}},
};

/// The table for a display, or null if there is none.
inline const BlendTable* find_blend_table(const Viewing& viewing) {
    for (const BlendTable& table : kBlendTables) {
        if (table.height == viewing.height && table.distance == viewing.distance) return &table;
    }
    return nullptr;
}

/// Precondition: modes kCsfBlend and kCsfBlendMae have a table for this display.
inline CsfFactors csf_factors(const Viewing& viewing, int level) {
    switch (viewing.mode) {
    case kCsfBarten:
        return detail_loss::barten_factors(viewing, level);
    case kCsfBlend:
    case kCsfBlendMae: {
        const BlendTable* table = find_blend_table(viewing);
        const int row = viewing.mode - kCsfBlend;
        return {table->straight[row][level], table->diagonal[row][level]};
    }
    default:
        return detail_loss::watson_factors(viewing, level);
    }
}

} // namespace qc::adm
