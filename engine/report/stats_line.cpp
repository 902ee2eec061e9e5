// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/stats_line.hpp"

#include <cmath>
#include <vector>

#include "report/log_formats.hpp"

namespace qc {

namespace {

constexpr char kPlaneNames[] = {'y', 'u', 'v'};
constexpr int kPsnrDecimals = 2, kSsimDecimals = 6;

double decibels(double ratio) {
    return 10.0 * std::log10(ratio); // inf for a division by zero
}

std::string field(const std::string& name, double value, int decimals) {
    return " " + name + ":" + fixed_text(value, decimals);
}

std::string psnr_line(const FrameGeometry& geometry, std::span<const double> errors) {
    double samples = 0.0, weighted = 0.0;
    for (size_t plane = 0; plane < errors.size(); ++plane) {
        const int index = static_cast<int>(plane);
        const double weight = static_cast<double>(geometry.stored_width(index)) * geometry.stored_height(index);
        samples += weight;
        weighted += errors[plane] * weight;
    }
    const double peak = static_cast<double>((1 << geometry.depth) - 1), mean = weighted / samples;
    std::string line = field("mse_avg", mean, kPsnrDecimals),
                scores = field("psnr_avg", decibels(peak * peak / mean), kPsnrDecimals);
    for (size_t plane = 0; plane < errors.size(); ++plane) {
        line += field(std::string("mse_") + kPlaneNames[plane], errors[plane], kPsnrDecimals);
        scores +=
            field(std::string("psnr_") + kPlaneNames[plane], decibels(peak * peak / errors[plane]), kPsnrDecimals);
    }
    return line + scores;
}

std::string ssim_line(double luma) {
    return field("Y", luma, kSsimDecimals) + field("All", luma, kSsimDecimals) + " (" +
           fixed_text(decibels(1.0 / (1.0 - luma)), kSsimDecimals) + ")";
}

} // namespace

std::optional<qc_stats_format> parse_stats_format(std::string_view text) {
    if (text == "psnr") return QC_STATS_FORMAT_PSNR;
    if (text == "ssim") return QC_STATS_FORMAT_SSIM;
    return std::nullopt;
}

std::string stats_line(const ScorePlan& plan, const FrameGeometry& geometry, int64_t frame,
                       std::span<const double> values, std::span<const unsigned char> present) {
    std::vector<double> scores;
    for (const int column : plan.stats.columns) {
        if (present[static_cast<size_t>(column)] == 0) return {};
        scores.push_back(values[static_cast<size_t>(column)]);
    }
    if (scores.empty()) return {};
    const std::string number = "n:" + std::to_string(frame + 1); // they count from 1
    return number + (plan.stats.format == QC_STATS_FORMAT_PSNR ? psnr_line(geometry, scores) : ssim_line(scores[0]));
}

} // namespace qc
