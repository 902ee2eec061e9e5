// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/speed/speed_cpu.hpp"

#include "device/cpu_clones.hpp"

namespace qc::speed {
namespace {

constexpr int n = kDimensions;

/// The sums of all products, row by row.
struct ProductSums {
    double at[n][n] = {};
};

/// What windows that begin at first, first + 1, ... add: `rows` are those of the window.
QC_CPU_CLONES void add_products(const float* const rows[kBlockSide], int windows, const double* mean,
                                ProductSums* sums) {
    for (int x = 0; x < windows; ++x) {
        double centred[n];
        for (int o = 0; o < n; ++o)
            centred[o] = static_cast<double>(rows[o / kBlockSide][x + o % kBlockSide]) - mean[o];
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b) sums->at[a][b] += centred[a] * centred[b]; // whole rows: they vectorise
    }
}

} // namespace

Matrix covariance_of(const Plan& plan, const std::vector<float>& coefficients) {
    const auto row_at = [&](int y) { return coefficients.data() + static_cast<size_t>(y) * plan.grid.width; };
    const auto count = static_cast<float>(plan.window_count());
    double mean[n];
    for (int o = 0; o < n; ++o) {
        float sum = 0.0f;
        for (int y = 0; y < plan.windows.height; ++y)
            for (int x = 0; x < plan.windows.width; ++x) sum += row_at(y + o / kBlockSide)[x + o % kBlockSide];
        mean[o] = static_cast<double>(sum / count);
    }
    ProductSums sums;
    for (int group = 0; group < kCovarianceGroups; ++group) {
        ProductSums of_group;
        for (int y = first_of_group(group, plan.windows.height); y < first_of_group(group + 1, plan.windows.height);
             ++y) {
            const float* rows[kBlockSide];
            for (int k = 0; k < kBlockSide; ++k) rows[k] = row_at(y + k);
            add_products(rows, plan.windows.width, mean, &of_group);
        }
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b) sums.at[a][b] += of_group.at[a][b];
    }
    Matrix covariance;
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b)
            covariance.at[a][b] = static_cast<float>(sums.at[a][b] / static_cast<double>(plan.window_count()));
    return covariance;
}

} // namespace qc::speed
