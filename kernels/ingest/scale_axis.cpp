// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ingest/scale_axis.hpp"

#include <algorithm>
#include <cmath>

namespace qc {
namespace {

/// D. P. Mitchell and A. N. Netravali, "Reconstruction Filters in Computer Graphics" (1988), with B = 0; C = 0.6 is
/// what swscale's bicubic has.
double bicubic(double d) {
    constexpr double kC = 0.6;
    if (d < 1.0) return ((2.0 - kC) * d - (3.0 - kC)) * d * d + 1.0;
    if (d < 2.0) return ((-kC * d + 5.0 * kC) * d - 8.0 * kC) * d + 4.0 * kC;
    return 0.0;
}

constexpr double kLanczosLobes = 3.0;

double lanczos(double d) {
    constexpr double kPi = 3.14159265358979323846;
    if (d == 0.0) return 1.0;
    if (d >= kLanczosLobes) return 0.0;
    return std::sin(kPi * d) * std::sin(kPi * d / kLanczosLobes) * kLanczosLobes / (kPi * kPi * d * d);
}

double triangle(double d) {
    return std::max(0.0, 1.0 - d);
}

/// A kernel at the ratio of an axis, in source samples.
class AxisKernel {
public:
    AxisKernel(qc_scaling scaling, double ratio) : scaling_(scaling), scale_(std::max(1.0, ratio)) {
        if (scaling == QC_SCALING_AREA && ratio <= 1.0) scaling_ = QC_SCALING_BILINEAR;
    }

    /// Beyond this distance weights are 0.
    double reach() const {
        switch (scaling_) {
        case QC_SCALING_BICUBIC:
            return 2.0 * scale_;
        case QC_SCALING_LANCZOS:
            return kLanczosLobes * scale_;
        case QC_SCALING_AREA:
            return scale_ / 2.0 + 0.5;
        default:
            return scale_;
        }
    }

    double weight(double distance) const {
        const double d = std::abs(distance);
        switch (scaling_) {
        case QC_SCALING_BICUBIC:
            return bicubic(d / scale_);
        case QC_SCALING_LANCZOS:
            return lanczos(d / scale_);
        case QC_SCALING_AREA: // how much of the source sample the target sample covers
            return std::clamp(reach() - d, 0.0, 1.0);
        default:
            return triangle(d / scale_);
        }
    }

private:
    qc_scaling scaling_;
    double scale_; ///< how much wider than a source sample
};

/// Weights before the borders are looked at: target sample i begins at first[i], which may lie outside.
struct RawTable {
    std::vector<int> first;
    std::vector<int> weight; ///< [target][taps]
    int taps = 1;

    const int* of(size_t i) const { return &weight[i * static_cast<size_t>(taps)]; }
};

/// Whole numbers in the ratio of the weights that add up to kWeightOne: differences of rounded sums.
void round_weights(const std::vector<double>& exact, int* rounded) {
    double total = 0.0, sum = 0.0;
    for (const double weight : exact) total += weight;
    long before = 0;
    for (size_t t = 0; t < exact.size(); ++t) {
        sum += exact[t];
        const long upto = t + 1 == exact.size() ? kWeightOne : std::lround(sum / total * kWeightOne);
        rounded[t] = static_cast<int>(upto - before);
        before = upto;
    }
}

RawTable raw_table(qc_scaling scaling, const AxisGeometry& axis) {
    const double ratio = static_cast<double>(axis.luma_source) / axis.luma_target;
    const AxisKernel kernel(scaling, ratio);
    RawTable table;
    table.taps = static_cast<int>(std::ceil(2.0 * kernel.reach()));
    const auto taps = static_cast<size_t>(table.taps);
    table.weight.resize(taps * static_cast<size_t>(axis.target));
    std::vector<double> exact(taps);
    for (int i = 0; i < axis.target; ++i) {
        const double luma = ((i + 0.5) * axis.step + axis.offset) * ratio;
        const double centre = (luma - axis.offset) / axis.step - 0.5;
        const int first = static_cast<int>(std::floor(centre - kernel.reach())) + 1;
        for (size_t t = 0; t < taps; ++t) exact[t] = kernel.weight(first + static_cast<double>(t) - centre);
        table.first.push_back(first);
        round_weights(exact, &table.weight[static_cast<size_t>(i) * taps]);
    }
    return table;
}

/// Taps at the beginning and at the end that no target sample gives weight to.
std::pair<int, int> idle_taps(const RawTable& table) {
    int head = table.taps - 1, tail = table.taps - 1;
    for (size_t i = 0; i < table.first.size(); ++i) {
        const int* weight = table.of(i);
        head = std::min(
            head, static_cast<int>(std::find_if(weight, weight + table.taps, [](int w) { return w != 0; }) - weight));
        int zeros = 0;
        while (weight[table.taps - 1 - zeros] == 0) ++zeros;
        tail = std::min(tail, zeros);
    }
    return {head, tail};
}

} // namespace

ScaleTable make_scale_table(qc_scaling scaling, const AxisGeometry& axis) {
    const RawTable raw = raw_table(scaling, axis);
    const auto [head, tail] = idle_taps(raw);
    const int used = raw.taps - head - tail;
    ScaleTable table;
    table.taps = std::min(used, axis.source);
    table.weight.resize(static_cast<size_t>(table.taps) * static_cast<size_t>(axis.target));
    for (size_t i = 0; i < raw.first.size(); ++i) {
        const int begin = raw.first[i] + head, first = std::clamp(begin, 0, axis.source - table.taps);
        int16_t* const weight = &table.weight[i * static_cast<size_t>(table.taps)];
        for (int t = 0; t < used; ++t) {
            const int at = std::clamp(begin + t, 0, axis.source - 1) - first;
            weight[at] = static_cast<int16_t>(weight[at] + raw.of(i)[head + t]);
        }
        table.first.push_back(first);
    }
    return table;
}

} // namespace qc
