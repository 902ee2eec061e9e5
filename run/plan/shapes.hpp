// SPDX-License-Identifier: BSD-2-Clause-Patent
// Why two videos have different shapes, as far as their sizes tell, and what to put where.
#pragma once

#include <string>

namespace qc::run {

/// What a picture shows: its samples, and their shape.
struct Shape {
    int width, height;
    double aspect; ///< of a sample: width / height

    double display() const { return width * aspect / height; }
};

/// Whether the one could be the other scaled, with its sides rounded.
bool is_alike(const Shape& one, const Shape& other);

/**
 * @param input  number of the distorted video
 * @param scales the run scales already
 * @return the cause and the remedy, a graph that can be typed; empty where nothing but scaling is to be done
 */
std::string shape_advice(int input, const Shape& distorted, const Shape& reference, bool scales);

/// Whether sizes are so near each other, on both sides, that the smaller one is likelier a part than scaled.
bool is_likely_cut(const Shape& one, const Shape& other);

} // namespace qc::run
