// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cpu/scaler.hpp"

#include <algorithm>
#include <vector>

#include "ingest/scale_rows.hpp"

namespace qc::cpu {
namespace {

template <typename Container>
void read_row(const char* row, const SampleRows& source, const ScaleMath& math, uint16_t* samples) {
    const auto* containers = reinterpret_cast<const Container*>(row);
    for (int x = 0; x < source.columns; ++x)
        samples[x] = static_cast<uint16_t>(math.sample(containers[static_cast<ptrdiff_t>(x) * source.step]));
}

/// Middles of the rows that a target row is made of: each is computed once, since they only ever move on.
class MiddleRows {
public:
    MiddleRows(const SampleRows& source, const InputScaling::PlaneTables& tables, const ScaleMath& math, int width)
        : source_(source), across_(tables.across.view()), math_(math), width_(width), taps_(tables.down.taps),
          samples_(static_cast<size_t>(source.columns)),
          middles_(static_cast<size_t>(width) * static_cast<size_t>(taps_)), rows_(static_cast<size_t>(taps_)) {}

    /// Of the rows from `first` on, `taps` of them. Never goes back.
    const int32_t* const* from(int first) {
        for (next_ = std::max(next_, first); next_ < first + taps_; ++next_) fill(next_);
        for (int t = 0; t < taps_; ++t) rows_[static_cast<size_t>(t)] = place(first + t);
        return rows_.data();
    }

private:
    int32_t* place(int row) { return &middles_[static_cast<size_t>(row % taps_) * static_cast<size_t>(width_)]; }

    void fill(int row) {
        const char* data = source_.data + row * source_.pitch_bytes;
        if (source_.container_bits == 8)
            read_row<uint8_t>(data, source_, math_, samples_.data());
        else
            read_row<uint16_t>(data, source_, math_, samples_.data());
        scale_across(samples_.data(), across_, width_, math_, place(row));
    }

    const SampleRows& source_;
    const ScaleAxis across_;
    const ScaleMath& math_;
    const int width_, taps_;
    int next_ = 0; ///< row that comes next
    std::vector<uint16_t> samples_;
    std::vector<int32_t> middles_; ///< row y in place y % taps
    std::vector<const int32_t*> rows_;
};

template <typename Target>
void scale_samples(const SampleRows& source, const InputScaling::PlaneTables& tables, const ScaleMath& math,
                   const Plane<Target>& target) {
    const ScaleAxis down = tables.down.view();
    MiddleRows middles(source, tables, math, target.width);
    std::vector<int32_t> sums(static_cast<size_t>(target.width));
    for (int y = 0; y < target.height; ++y)
        scale_down(middles.from(down.first[y]), down.weight + static_cast<ptrdiff_t>(y) * down.taps, down.taps,
                   target.width, math, sums.data(), target.row(y));
}

} // namespace

void scale_plane(const SampleRows& source, const InputScaling::PlaneTables& tables, const ScaleMath& math,
                 const Plane<uint8_t>& target) {
    scale_samples(source, tables, math, target);
}

void scale_plane(const SampleRows& source, const InputScaling::PlaneTables& tables, const ScaleMath& math,
                 const Plane<uint16_t>& target) {
    scale_samples(source, tables, math, target);
}

} // namespace qc::cpu
