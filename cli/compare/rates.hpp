// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rate-distortion curves, and how much less one of them takes for the same score.
#pragma once

#include <string>
#include <vector>

namespace qc::cli {

struct RatePoint {
    double bit_rate = 0; ///< bit/s
    double score = 0;
};

struct RateDifference {
    bool is_known = false;
    double percent = 0;                         ///< of bit rate, at equal score; below 0: the other curve takes less
    double lowest_score = 0, highest_score = 0; ///< between which both curves were compared
    std::string why_not;                        ///< why it is not known
};

/// The mean difference of the logarithm of the bit rate over the scores that both curves reach (G. Bjontegaard,
/// "Calculation of average PSNR differences between RD-curves", ITU-T SG16 Q.6 VCEG-M33, 2001), each curve being a
/// monotone piecewise cubic through its points (F. N. Fritsch and J. Butland, "A method for constructing local monotone
/// piecewise cubic interpolants", SIAM Journal on Scientific and Statistical Computing 5(2), 1984) instead of one cubic
/// polynomial, which runs wild between unevenly spaced points.
/// @param higher_is_better whether scores rise with the rate
RateDifference rate_difference(std::vector<RatePoint> base, std::vector<RatePoint> other, bool higher_is_better);

} // namespace qc::cli
