// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "plan/stats_lines.hpp"

namespace qc {
namespace {

constexpr std::string_view kErrors[] = {"mse_y", "mse_cb", "mse_cr"};
constexpr std::string_view kSimilarity[] = {"float_ssim"};

constexpr StatsLineSpec kLines[] = {
    {QC_STATS_FORMAT_PSNR, "psnr", "psnr", "enable_mse", "", kErrors},
    {QC_STATS_FORMAT_SSIM, "ssim", "float_ssim", "", "enable_db", kSimilarity},
};

} // namespace

const StatsLineSpec* find_stats_line(qc_stats_format format) {
    for (const StatsLineSpec& line : kLines)
        if (line.format == format) return &line;
    return nullptr;
}

} // namespace qc
