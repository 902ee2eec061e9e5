// SPDX-License-Identifier: BSD-2-Clause-Patent
// What the user is told of the inputs while their frames are paired.
#pragma once

#include <cstdint>
#include <string>

#include "run/pairs/input.hpp"

namespace qc::run {

/// The distorted video claims a frame rate that is not believed. @param rate what is gone by, 0: none
std::string rate_sentence(const Input& distorted, double claimed, double rate, double tolerance);

/// An input keeps step with the distorted video, but begins apart from it: it is moved.
std::string delay_sentence(int index, const Input& input);

std::string jump_sentence(int index, const Input& input, int64_t from, int64_t to);

std::string untimed_sentence(int index, const Input& input);

/// @param distorted, reference when they begin, seconds
std::string start_sentence(double distorted, double reference);

} // namespace qc::run
