// SPDX-License-Identifier: BSD-2-Clause-Patent
// Linear RGB row by row, on the CPU.
#pragma once

#include <vector>

#include "contract/types.hpp"
#include "families/linear_light/linear_conversion.hpp"

namespace qc::linear_light {

/// Reads rows of a picture as linear RGB, in double precision and vectorised: equal to some 1e-12 to the conversion as
/// it is written down. Keeps what it is opened with by reference.
class LinearReader {
public:
    void open(const HostPicture& picture, const FrameGeometry& geometry, const ColourConversion<double>& conversion);
    void read(int y, double* const* rgb);

private:
    using Row = std::vector<double>;
    static constexpr int kPadding = 3;

    void read_codes(int plane, int y, double* to) const;
    /// Row y of a chroma plane at the size of luma.
    void read_chroma(int plane, int y);
    /// A row as it is stored. Neighbouring rows of luma need the same ones, so the latest are kept.
    const double* stored_chroma(int plane, int row);

    const HostPicture* picture_ = nullptr;
    const FrameGeometry* geometry_ = nullptr;
    const ColourConversion<double>* conversion_ = nullptr;
    static constexpr int kChromaRows = 4;
    struct StoredRow {
        Row codes;
        int row; ///< -1: none
    };
    Row codes_[3], weighed_;
    StoredRow chroma_rows_[2][kChromaRows]; ///< row y of a plane at y modulo their number
    ChromaTaps<double> taps_[2]{};
};

} // namespace qc::linear_light
