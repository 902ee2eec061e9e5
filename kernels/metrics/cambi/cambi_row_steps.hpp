// SPDX-License-Identifier: BSD-2-Clause-Patent
// What CAMBI does with a row on the CPU: steps of the readable reference and of the fast version alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "metrics/cambi/cambi_settings.hpp"

namespace qc::cambi {

/// Row y of the analysis: nearest samples of the picture, in 10 bits.
void analysed_row(const HostPlane& luma, const FrameGeometry& geometry, const Analysis& analysis, int y,
                  uint16_t* target);

/// Average of each sample and its three neighbours on the right and below; at the last column the samples there stand
/// for those beyond.
void anti_dither_row(const uint16_t* row, const uint16_t* below, uint16_t* out, int width);

/// 1 where a sample equals its neighbours on the right and below. Beyond the picture nothing differs.
void flat_row(const uint16_t* row, const uint16_t* below, uint8_t* flat, int width);
void add_row(uint8_t* sum, const uint8_t* row, int width);
void subtract_row(uint8_t* sum, const uint8_t* row, int width);
/// Where more than `limit` of a square are flat. `columns`, the sums down the squares' columns, starts kMaskReach zeros
/// before the row.
void mask_row(const uint8_t* columns, uint8_t* mask, int width, int limit);

/// Every second sample. May be in place: every one comes from behind where it goes.
void halve_row(const uint16_t* samples, const uint8_t* mask, int count, uint16_t* half_samples, uint8_t* half_mask);

void mode_row(const uint16_t* first, const uint16_t* second, const uint16_t* third, uint16_t* out, int count);

constexpr uint16_t kNotCounted = 0xffff;

/// Places of samples' values, kNotCounted for those that are masked out or have none.
void find_places(const uint16_t* samples, const uint8_t* mask, size_t count, int origin, int values, uint16_t* places);

/// Sum of the largest c-values, at most `pooled` of them, which are reordered.
uint64_t sum_of_largest(std::vector<float>& c_values, uint64_t pooled);

} // namespace qc::cambi
