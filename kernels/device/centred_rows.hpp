// SPDX-License-Identifier: BSD-2-Clause-Patent
// Luma around zero on the CPU, row by row, for windows that run down a picture: samples become floats where they are
// needed, so that no picture of floats is written for them.
#pragma once

#include <vector>

#include "contract/types.hpp"
#include "device/float_luma.hpp"
#include "device/image.hpp"

namespace qc::device {

void centre_row(const uint8_t* samples, int width, const CentredLuma& luma, float* to);
void centre_row(const uint16_t* samples, int width, const CentredLuma& luma, float* to);

/// A plane of samples, or a picture of floats made of one. Threads may share it.
class CentredSource {
public:
    CentredSource(const HostPlane& plane, SampleType sample, const CentredLuma& luma)
        : width_(plane.width), height_(plane.height), plane_(plane), bytes_(sample == SampleType::kU8), luma_(luma) {}
    /// @param picture lives longer
    explicit CentredSource(const Image<float>& picture)
        : width_(picture.width), height_(picture.height), picture_(&picture) {}

    int width() const { return width_; }
    int height() const { return height_; }
    /// Row y where it is kept as floats, otherwise null.
    const float* floats(int y) const { return picture_ != nullptr ? picture_->row(y) : nullptr; }
    /// Row y of a plane.
    void read(int y, float* to) const;

private:
    int width_, height_;
    const Image<float>* picture_ = nullptr;
    HostPlane plane_{};
    bool bytes_ = false;
    CentredLuma luma_;
};

/// Rows of a source, for one thread.
class CentredRows {
public:
    /// @param held neighbouring rows that are asked for before one above them is asked for again
    CentredRows(const CentredSource& source, int held) : source_(source), held_(static_cast<size_t>(held), -1) {
        if (source.floats(0) == nullptr) rows_ = Image<float>(source.width(), held);
    }

    int width() const { return source_.width(); }
    int height() const { return source_.height(); }
    const float* row(int y) {
        if (const float* const floats = source_.floats(y); floats != nullptr) return floats;
        const int place = y % rows_.height;
        if (int& there = held_[static_cast<size_t>(place)]; there != y) {
            source_.read(y, rows_.row(place));
            there = y;
        }
        return rows_.row(place);
    }

private:
    const CentredSource& source_;
    std::vector<int> held_; ///< which row is in each place of rows_
    Image<float> rows_;
};

} // namespace qc::device
