// SPDX-License-Identifier: BSD-2-Clause-Patent
// Row functions of the fast CPU version, from responses to the map. What is large and smooth, the responses' bases, is
// in double precision; what is left when that is taken away, in single. Compiled for several instruction sets, to the
// same bits. Rows are read and written up to the end of a segment.
#pragma once

#include "metrics/butteraugli/butteraugli_cpu_light.hpp"

namespace qc::butteraugli::rows {

/// A Gaussian in single precision.
Gaussian<float> to_single(const Gaussian<double>& from);

/// Down columns, `count` rows: of row i, scale[i] * the sum of taps over rows[i - radius .. i + radius].
void blur_down(const Gaussian<float>& blur, const float* const* rows, const float* scale, int count, int width,
               float* const* to);
/// The same of responses' bases, by the lowest band's Gaussian.
void blur_bases(const Gaussian<double>& blur, const double* const* rows, const double* scale, int count, int width,
                double* const* to);
/// Along a row with radius samples more on both sides. @param scale of each place
void blur_across(const Gaussian<float>& blur, const float* row, const float* scale, int width, float* to);

/// A row of a channel's response, and of what its lowest band is made of.
struct LowBand {
    const double *base, *low_base; ///< of each segment; low: blurred down columns
    const float *detail, *low_detail, *difference, *low_difference;
    /// Of each place: how much of the blur along the row lies in the segments beside its own.
    const float *share_of_left, *share_of_right;
};
/// The part of X or Y above the lowest band, of both pictures.
void part_low(const LowBand& band, int width, float* reference, float* distorted);
/// The same of how blue differs.
void part_low_difference(const float* difference, const float* low_difference, int width, float* above);
/// @param low_difference [channel] @param to what the lowest bands' differences count
void add_low(const Constants<double>& constants, const float* const* low_difference, int width, float* to);

/// X and Y above the middle band, X suppressed, and the middle band as it counts.
/// @param above [2] @param middle [2], in place @param ultra [2]
void part_middle(const float* const* above, float* const* middle, int width, float* const* ultra);
/// The two highest bands, X and Y. @param above, blurred both together, and their blur
void part_high(double compression, const float* const* above, const float* const* blurred, int width,
               float* const* ultra, float* const* high);
void find_activity(const float* const* ultra, const float* const* high, int width, float* to);

/// What line detectors see of a band.
void line_differences(const LineWeights<double>& weights, const float* reference, const float* distorted, int width,
                      float* to);
/// Adds the lines of both kinds. @param rows nine, each with kLineReach samples more on both sides
void add_lines(bool dense, const float* const* rows, int width, float* sum);

struct SquareWeights {
    float added, lost;
};
/// X and Y of the high and the middle bands of both pictures, and the middle band's difference of blue.
struct MiddleBands {
    const float *high[kSides][kBanded], *middle[kSides][kBanded], *blue;
};
/// What differences of these count, but along lines. @param high_weights of X and Y
void take_squares(const SquareWeights* high_weights, const MiddleBands& bands, int width, float* sum);
void add_activity_squares(const float* reference, const float* distorted, int width, float* sum);

/// A row of the map. @param masking three rows, each with kErosionStep samples more on both sides
void measure(double masking_gain, const float* const* masking, const float* high, const float* low, int width,
             float* map);

/// Full size and half. @param half a row of half the width
void join_scales(const float* half, int width, float* map);
/// Sums of powers of a row, in a fixed order, and its largest value.
void add_powers(const float* map, int width, double (&sums)[kPowers], double& largest);
/// The same of places that count by their weights, the largest where those are not 0.
void add_weighted_powers(const float* map, const uint8_t* weights, int width, double (&sums)[kPowers], double& largest);

} // namespace qc::butteraugli::rows
