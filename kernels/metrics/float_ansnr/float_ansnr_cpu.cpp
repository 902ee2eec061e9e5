// SPDX-License-Identifier: BSD-2-Clause-Patent
// Row by row: of the rows that a window covers, what is left along them is kept.
#include <algorithm>
#include <vector>

#include "device/centred_rows.hpp"
#include "device/cpu_clones.hpp"
#include "device/ordered_rows.hpp"
#include "device/term_weights.hpp"
#include "metrics/float_ansnr/float_ansnr.hpp"
#include "metrics/float_ansnr/float_ansnr_math.hpp"

namespace qc::float_ansnr {
namespace {

/// `row` begins kRadius samples before the picture.
QC_CPU_CLONES void filter_reference(const float* row, int width, float* __restrict sums) {
    for (int x = 0; x < width; ++x) sums[x] = reference_row(row + x);
}

QC_CPU_CLONES void filter_distorted(const float* row, int width, float* __restrict outer, float* __restrict second,
                                    float* __restrict middle) {
    for (int x = 0; x < width; ++x) {
        const RowSums sums = distorted_row(row + x);
        outer[x] = sums.outer;
        second[x] = sums.second;
        middle[x] = sums.middle;
    }
}

/// Rows of sums under a window.
struct WindowRows {
    const float *reference[3], *distorted[kWindow];
};

QC_CPU_CLONES void find_terms(const WindowRows& rows, int width, float* __restrict signal, float* __restrict noise) {
    const WindowRows in = rows;
    for (int x = 0; x < width; ++x) {
        const float reference = reference_window(in.reference[0][x], in.reference[1][x], in.reference[2][x]);
        const float distorted = distorted_window(in.distorted[0][x], in.distorted[1][x], in.distorted[2][x],
                                                 in.distorted[3][x], in.distorted[4][x]);
        signal[x] = signal_term(reference);
        noise[x] = noise_term(reference, distorted);
    }
}

constexpr int kTogether = 4; ///< rows whose sums are made side by side

/// Of kTogether rows. Sums run along the row: large sums round small terms away, as in libvmaf.
QC_CPU_CLONES void sum_terms(const float* const* signal_and_noise, int width, float* sums) {
    device::sum_rows_in_order<2 * kTogether>(signal_and_noise, width, sums);
}

using Row = std::vector<float>;

/// Terms of the rows of a pair, from the first to the last.
template <typename T>
class TermRows {
public:
    TermRows(Plane<const T> reference, Plane<const T> distorted, const CentredLuma& luma)
        : reference_(reference), distorted_(distorted), luma_(luma),
          padded_(static_cast<size_t>(reference.width) + 2 * kRadius) {
        for (RowOfSums& row : rows_)
            for (Row* sums : {&row.reference, &row.outer, &row.second, &row.middle})
                sums->resize(static_cast<size_t>(reference.width));
    }

    void find(int y, float* signal, float* noise) {
        for (; next_ <= std::min(y + kRadius, reference_.height - 1); ++next_) take(next_);
        const WindowRows window{{at(y - 1).reference.data(), at(y).reference.data(), at(y + 1).reference.data()},
                                {at(y - 2).outer.data(), at(y - 1).second.data(), at(y).middle.data(),
                                 at(y + 1).second.data(), at(y + 2).outer.data()}};
        find_terms(window, reference_.width, signal, noise);
    }

private:
    /// What is left along a row.
    struct RowOfSums {
        Row reference, outer, second, middle;
    };

    void take(int y) {
        RowOfSums& row = rows_[y % kWindow];
        const int width = reference_.width;
        filter_reference(padded(reference_, y), width, row.reference.data());
        filter_distorted(padded(distorted_, y), width, row.outer.data(), row.second.data(), row.middle.data());
    }

    /// A row as floats, mirrored at both ends.
    const float* padded(Plane<const T> plane, int y) {
        float* const row = padded_.data() + kRadius;
        device::centre_row(plane.row(y), plane.width, luma_, row);
        for (int i = 1; i <= kRadius; ++i) {
            row[-i] = row[mirror_with_last_edge_inside(-i, plane.width)];
            row[plane.width - 1 + i] = row[mirror_with_last_edge_inside(plane.width - 1 + i, plane.width)];
        }
        return padded_.data();
    }

    /// Row y, mirrored at the borders.
    const RowOfSums& at(int y) const { return rows_[mirror_with_last_edge_inside(y, reference_.height) % kWindow]; }

    Plane<const T> reference_, distorted_;
    CentredLuma luma_;
    Row padded_;
    RowOfSums rows_[kWindow]; ///< row y is rows_[y % kWindow]
    int next_ = 0;            ///< that is taken next
};

template <typename T>
Energies sum_planes(Plane<const T> reference, Plane<const T> distorted, const HostPlane& weights,
                    const CentredLuma& luma) {
    TermRows<T> rows(reference, distorted, luma);
    const int width = reference.width, height = reference.height;
    std::vector<Row> terms(2 * kTogether, Row(static_cast<size_t>(width)));
    const float* begins[2 * kTogether];
    for (int i = 0; i < 2 * kTogether; ++i) begins[i] = terms[i].data();
    Row shares(static_cast<size_t>(width));
    const device::WeightFootprint footprint{1, 1, width, height};
    Energies sums;
    for (int y = 0; y < height; y += kTogether) {
        const int count = std::min(kTogether, height - y);
        for (int i = 0; i < count; ++i) {
            float *const signal = terms[2 * i].data(), *const noise = terms[2 * i + 1].data();
            rows.find(y + i, signal, noise);
            if (weights.data != nullptr)
                sums.weights += footprint.weigh_row(weights, y + i, width, shares.data(), signal, noise);
        }
        float of_rows[2 * kTogether];
        sum_terms(begins, width, of_rows);
        for (int i = 0; i < count; ++i) {
            sums.signal += of_rows[2 * i];
            sums.noise += of_rows[2 * i + 1];
        }
    }
    return sums;
}

} // namespace

Energies score_cpu(const FrameGeometry& geometry, const HostPair& pair) {
    const HostPlane &reference = pair.reference.plane[0], &distorted = pair.distorted.plane[0];
    const CentredLuma luma(geometry.depth);
    const HostPlane weights = geometry.has_weights ? pair.weights : HostPlane{};
    if (geometry.sample == SampleType::kU8) {
        return sum_planes(reference.as<uint8_t>(), distorted.as<uint8_t>(), weights, luma);
    }
    return sum_planes(reference.as<uint16_t>(), distorted.as<uint16_t>(), weights, luma);
}

} // namespace qc::float_ansnr
