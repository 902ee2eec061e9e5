// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "compare/rates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace qc::cli {

namespace {

constexpr size_t kFewestPoints = 4; ///< as VCEG-M33 asks for

/// y over ascending x, between points a cubic with the slopes of both ends.
struct Curve {
    std::vector<double> x, y, slope;
};

double width_of(const Curve& curve, size_t k) {
    return curve.x[k + 1] - curve.x[k];
}

double secant(const Curve& curve, size_t k) {
    return (curve.y[k + 1] - curve.y[k]) / width_of(curve, k);
}

/// At an end: a parabola through three points, kept from turning the curve back.
double end_slope(double near_width, double far_width, double near, double far) {
    const double slope = ((2 * near_width + far_width) * near - near_width * far) / (near_width + far_width);
    if (slope * near <= 0) return 0;
    if (near * far <= 0 && std::fabs(slope) > 3 * std::fabs(near)) return 3 * near;
    return slope;
}

void set_slopes(Curve* curve) {
    const size_t last = curve->x.size() - 1;
    curve->slope.assign(curve->x.size(), 0);
    for (size_t k = 1; k < last; ++k) {
        const double before = secant(*curve, k - 1), after = secant(*curve, k);
        if (before * after <= 0) continue;
        const double w_before = 2 * width_of(*curve, k) + width_of(*curve, k - 1),
                     w_after = width_of(*curve, k) + 2 * width_of(*curve, k - 1);
        curve->slope[k] = (w_before + w_after) / (w_before / before + w_after / after);
    }
    curve->slope[0] = end_slope(width_of(*curve, 0), width_of(*curve, 1), secant(*curve, 0), secant(*curve, 1));
    curve->slope[last] = end_slope(width_of(*curve, last - 1), width_of(*curve, last - 2), secant(*curve, last - 1),
                                   secant(*curve, last - 2));
}

/// Integral of one cubic from its left end to `t` of its width.
double piece_integral(const Curve& curve, size_t k, double t) {
    const double width = width_of(curve, k), a = curve.y[k], b = width * curve.slope[k], d = width * curve.slope[k + 1],
                 rise = curve.y[k + 1] - a;
    const double square = 3 * rise - 2 * b - d, cube = b + d - 2 * rise; // a + b t + square t^2 + cube t^3
    return width * t * (a + t * (b / 2 + t * (square / 3 + t * cube / 4)));
}

double integral(const Curve& curve, double from, double to) {
    double sum = 0;
    for (size_t k = 0; k + 1 < curve.x.size(); ++k) {
        const double low = std::max(from, curve.x[k]), high = std::min(to, curve.x[k + 1]);
        if (low >= high) continue;
        sum += piece_integral(curve, k, (high - curve.x[k]) / width_of(curve, k)) -
               piece_integral(curve, k, (low - curve.x[k]) / width_of(curve, k));
    }
    return sum;
}

/// log10 of the rate over the score. @return why there is no such curve, or empty
std::string make_curve(std::vector<RatePoint> points, double sign, const char* which, Curve* curve) {
    if (points.size() < kFewestPoints)
        return std::string("the ") + which + " curve has " + std::to_string(points.size()) + " points with rate and " +
               "score, and at least " + std::to_string(kFewestPoints) + " are needed";
    std::sort(points.begin(), points.end(),
              [](const RatePoint& a, const RatePoint& b) { return a.bit_rate < b.bit_rate; });
    for (const RatePoint& each : points) {
        if (!curve->x.empty() && sign * each.score <= curve->x.back())
            return std::string("the score of the ") + which + " curve does not get better with every higher rate";
        curve->x.push_back(sign * each.score);
        curve->y.push_back(std::log10(each.bit_rate));
    }
    set_slopes(curve);
    return "";
}

} // namespace

RateDifference rate_difference(std::vector<RatePoint> base, std::vector<RatePoint> other, bool higher_is_better) {
    RateDifference result;
    const double sign = higher_is_better ? 1 : -1;
    Curve of_base, of_other;
    result.why_not = make_curve(std::move(base), sign, "first", &of_base);
    if (result.why_not.empty()) result.why_not = make_curve(std::move(other), sign, "other", &of_other);
    if (!result.why_not.empty()) return result;
    const double low = std::max(of_base.x.front(), of_other.x.front()),
                 high = std::min(of_base.x.back(), of_other.x.back());
    if (low >= high) {
        result.why_not = "the curves reach no score in common";
        return result;
    }
    const double mean = (integral(of_other, low, high) - integral(of_base, low, high)) / (high - low);
    result.is_known = true;
    result.percent = 100 * (std::pow(10.0, mean) - 1);
    result.lowest_score = std::min(sign * low, sign * high);
    result.highest_score = std::max(sign * low, sign * high);
    return result;
}

} // namespace qc::cli
