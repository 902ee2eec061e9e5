// SPDX-License-Identifier: BSD-2-Clause-Patent
// Row functions of the fast CPU version. What is large and smooth, light, responses to it and the lowest band, is in
// double precision; what is left when that is taken away, in single. Compiled for several instruction sets, to the same
// bits.
#pragma once

#include "metrics/butteraugli/butteraugli_math.hpp"

namespace qc::butteraugli::rows {

/// A Gaussian in single precision.
Gaussian<float> to_single(const Gaussian<double>& from);

/// Means of 2x2 blocks. The last column of odd widths counts twice.
void halve(const double* upper, const double* lower, int width, double* to);

/// Down columns, `count` rows: of row i, scale[i] * the sum of taps over rows[i - radius .. i + radius].
void blur_down(const Gaussian<double>& blur, const double* const* rows, const double* scale, int count, int width,
               double* const* to);
void blur_down(const Gaussian<float>& blur, const float* const* rows, const float* scale, int count, int width,
               float* const* to);
/// Along a row with radius samples more on both sides. @param scale of each place
void blur_across(const Gaussian<double>& blur, const double* row, const double* scale, int width, double* to);
void blur_across(const Gaussian<float>& blur, const float* row, const float* scale, int width, float* to);

/// Light to X, Y and blue. @param soft light around, to which the eye is adapted
void respond(double intensity, const double* const* rgb, const double* const* soft, int width, double* const* to);
/// distorted - reference
void subtract(const double* reference, const double* distorted, int width, float* to);

/// A channel's part above the lowest band, of both pictures.
/// @param difference, low_difference of the distorted picture's response and lowest band from the reference's
void part_low(const double* response, const double* low, const float* difference, const float* low_difference,
              int width, float* reference, float* distorted);
/// @param low_difference [channel] @param to what the lowest bands' differences count
void add_low(const Constants<double>& constants, const float* const* low_difference, int width, float* to);

/// X and Y above the middle band, X suppressed, and the middle band as it counts.
/// @param above [2] @param middle [2], in place @param ultra [2]
void part_middle(const float* const* above, float* const* middle, int width, float* const* ultra);
/// The two highest bands. @param ultra [2], in place @param blurred [2] @param high [2]
void part_high(double compression, float* const* ultra, const float* const* blurred, int width, float* const* high);
void find_activity(const float* const* ultra, const float* const* high, int width, float* to);

/// What line detectors see of a band.
void line_differences(const LineWeights<double>& weights, const float* reference, const float* distorted, int width,
                      float* to);
/// Adds the lines of both kinds. @param rows nine, each with kLineReach samples more on both sides
void add_lines(bool dense, const float* const* rows, int width, float* sum);

struct SquareWeights {
    float added, lost;
};
/// Adds squares of differences of the high band, X and Y, and of the middle one; all [channel].
void add_squares(const SquareWeights* high_weights, const float* const* high_reference,
                 const float* const* high_distorted, const float* const* middle_reference,
                 const float* const* middle_distorted, int width, float* sum);
void add_activity_squares(const float* reference, const float* distorted, int width, float* sum);

/// A row of the map. @param masks three rows, each with kErosionStep samples more on both sides
void measure(double mask_gain, const float* const* masks, const float* high, const float* low, int width, float* map);

/// Full size and half. @param half a row of half the width
void join_scales(const float* half, int width, float* map);
/// Sums of powers of a row, in a fixed order, and its largest value.
void add_powers(const float* map, int width, double (&sums)[kPowers], double& largest);
/// The same of places that count by their weights, the largest where those are not 0.
void add_weighted_powers(const float* map, const uint8_t* weights, int width, double (&sums)[kPowers], double& largest);

} // namespace qc::butteraugli::rows
