// SPDX-License-Identifier: BSD-2-Clause-Patent
// Two inputs that have the same frames, but not the same time for them: one was given a wrong frame rate.
//
// Such inputs are paired by time all the same, each frame with another one than its own, and slow pictures do not show
// it. What tells is the end: as many frames, another length.
#pragma once

#include <cstdint>
#include <string>

#include "run/pairs/input.hpp"

namespace qc::run {

/// So many frames of an input may be needed behind the end of the distorted video, to learn whether it has as many.
int64_t frames_to_compare(const Input& distorted, const Input& other);

/// Whether both, which were read to their ends, have as many frames, but not as long ones.
bool have_other_lengths(const Input& distorted, const Input& other);

/// @param index number of the other input
std::string lengths_sentence(const Input& distorted, const Input& other, int index);

/// Whether both, which were read to their ends, have as many frames, but one begins a frame later, by as much as a
/// container's delay of sound would make it.
bool begins_a_frame_apart(const Input& distorted, const Input& other);

/// @param index number of the other input
std::string apart_sentence(const Input& distorted, const Input& other, int index);

/// Frames that are read behind the end at most, where it is worth it: 20 minutes of 25 frames a second. A source may
/// have no end.
constexpr int64_t kMostReadOn = 30000;

/// The number of the pair that a frame behind the last pair would be in; below 0: in none.
/// @param last the last pair @param index the input's number @param rate of pairs, 1/s; 0: not known
int64_t number_behind(const qcr_decision& last, const Input& in, int index, double rate, int64_t pts);

} // namespace qc::run
