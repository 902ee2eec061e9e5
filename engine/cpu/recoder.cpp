// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "cpu/recoder.hpp"

#include <algorithm>
#include <vector>

#include "ingest/recode_rows.hpp"

namespace qc::cpu {
namespace {

/// Samples that are repeated beyond either end of a row.
constexpr int kPadding = 4;

class Row {
public:
    void resize(int columns) { samples_.resize(static_cast<size_t>(columns) + 2 * kPadding); }
    int32_t* data() { return samples_.data() + kPadding; }
    const int32_t* data() const { return samples_.data() + kPadding; }
    void repeat_ends(int columns) {
        std::fill_n(samples_.begin(), kPadding, data()[0]);
        std::fill_n(data() + columns, kPadding, data()[columns - 1]);
    }

private:
    std::vector<int32_t> samples_;
};

/// Rows of one plane, of which the latest few are kept.
class KeptRows {
public:
    void open(const SourcePlanes& source, int plane) {
        source_ = source.component[static_cast<size_t>(plane)];
        extent_ = source.extent[static_cast<size_t>(plane)];
        samples_.resize(static_cast<size_t>(extent_.columns));
        for (Kept& kept : kept_) kept.row.resize(extent_.columns);
    }

    int columns() const { return extent_.columns; }

    /// Beyond a border, its row.
    const int32_t* row(int y) {
        y = std::clamp(y, 0, extent_.rows - 1);
        Kept& kept = kept_[static_cast<size_t>(y % kRows)];
        if (kept.y == y) return kept.row.data();
        ComponentRows one = source_;
        one.data += (y >> source_.repeated.down) * source_.pitch_bytes;
        unpack_plane(one, 0, Plane<uint16_t>{samples_.data(), {extent_.columns}, extent_.columns, 1});
        std::copy(samples_.begin(), samples_.end(), kept.row.data());
        kept.row.repeat_ends(extent_.columns);
        kept.y = y;
        return kept.row.data();
    }

private:
    static constexpr int kRows = 4;
    struct Kept {
        Row row;
        int y = -1;
    };
    ComponentRows source_{};
    PlaneExtent extent_{};
    std::vector<uint16_t> samples_;
    std::array<Kept, kRows> kept_;
};

/// Makes rows of one picture.
template <typename Target>
class Recoder {
public:
    Recoder(const SourcePlanes& source, const Recoding& recoding, const std::array<Plane<Target>, 3>& target)
        : recoding_(recoding), target_(target) {
        for (int q = 0; q < recoding.source_planes; ++q) {
            source_[static_cast<size_t>(q)].open(source, q);
            sums_[static_cast<size_t>(q)].resize(std::max(source_[static_cast<size_t>(q)].columns(), target[0].width));
        }
        between_.resize(source_[0].columns());
    }

    /// Rows of luma from `begin` to `end`, and the chroma that goes with them. @param begin even
    void run(int begin, int end) {
        if (recoding_.kind == kRecodePlanes)
            map_planes(begin, end);
        else if (recoding_.kind == kRecodeToYuv)
            make_yuv(begin, end);
        else
            make_rgb(begin, end);
    }

private:
    using Rows = std::array<const int32_t*, 3>;

    const Plane<Target>& target(int p) const { return target_[static_cast<size_t>(p)]; }
    KeptRows& source(int q) { return source_[static_cast<size_t>(q)]; }
    Row& sums(int q) { return sums_[static_cast<size_t>(q)]; }

    void write(int p, int y, const Rows& rows) const {
        recode_row(recoding_, p, rows.data(), target(p).width, target(p).row(y));
    }

    Rows rows_at(int y) {
        Rows rows{};
        for (int q = 0; q < recoding_.source_planes; ++q) rows[static_cast<size_t>(q)] = source(q).row(y);
        return rows;
    }

    void map_planes(int begin, int end) {
        for (int p = 0; p < recoding_.target_planes; ++p) {
            const int factor = target(p).height < target(0).height ? 2 : 1;
            for (int y = begin / factor; y < (end + factor - 1) / factor; ++y) {
                Rows rows{};
                rows[static_cast<size_t>(p)] = source(p).row(y);
                write(p, y, rows);
            }
        }
    }

    void make_yuv(int begin, int end) {
        const int factor = recoding_.shrink_down.factor;
        for (int y = begin; y < end; ++y) {
            write(0, y, rows_at(y));
            const bool ends_chroma_row = y % factor == factor - 1 || y == target(0).height - 1;
            if (recoding_.target_planes > 1 && ends_chroma_row) make_chroma(y / factor);
        }
    }

    /// Row y of Cb and Cr.
    void make_chroma(int y) {
        const ShrinkAxis &down = recoding_.shrink_down, &across = recoding_.shrink_across;
        Rows rows{};
        for (int q = 0; q < 3; ++q) {
            const int first = down.factor * y + down.first;
            const int32_t* const three[] = {source(q).row(first), source(q).row(first + 1), source(q).row(first + 2)};
            shrink_rows(three, down.weight, source(q).columns(), between_.data());
            between_.repeat_ends(source(q).columns());
            shrink_row(between_.data(), across, target(1).width, sums(q).data());
            rows[static_cast<size_t>(q)] = sums(q).data();
        }
        for (int p = 1; p < 3; ++p) write(p, y, rows);
    }

    void make_rgb(int begin, int end) {
        for (int y = begin; y < end; ++y) {
            const int32_t* const luma = source(0).row(y);
            int32_t* const scaled = sums(0).data();
            for (int x = 0; x < target(0).width; ++x) scaled[x] = luma[x] * (1 << kGrowBits);
            Rows rows{scaled};
            for (int q = 1; q < recoding_.source_planes; ++q) rows[static_cast<size_t>(q)] = grown_chroma(q, y);
            for (int p = 0; p < recoding_.target_planes; ++p) write(p, y, rows);
        }
    }

    /// Sums of chroma samples for a row of luma.
    const int32_t* grown_chroma(int q, int y) {
        const GrowTaps taps = grow_taps(recoding_.grow_down, y);
        const int32_t* four[4];
        for (int t = 0; t < 4; ++t) four[t] = source(q).row(taps.first + t);
        grow_rows(four, taps.weight, source(q).columns(), between_.data());
        between_.repeat_ends(source(q).columns());
        grow_row(between_.data(), recoding_.grow_across, target(0).width, sums(q).data());
        return sums(q).data();
    }

    const Recoding& recoding_;
    const std::array<Plane<Target>, 3>& target_;
    std::array<KeptRows, 3> source_;
    std::array<Row, 3> sums_;
    Row between_; ///< sums of rows
};

template <typename Target>
void recode(const SourcePlanes& source, const Recoding& recoding, Helpers* helpers,
            const std::array<Plane<Target>, 3>& target) {
    constexpr int kRows = 32; // of which a thread begins with some that it needs around its own
    share_runs(helpers, target[0].height, kRows,
               [&](int begin, int end) { Recoder(source, recoding, target).run(begin, end); });
}

} // namespace

void recode_planes(const SourcePlanes& source, const Recoding& recoding, Helpers* helpers,
                   const std::array<Plane<uint8_t>, 3>& target) {
    recode(source, recoding, helpers, target);
}

void recode_planes(const SourcePlanes& source, const Recoding& recoding, Helpers* helpers,
                   const std::array<Plane<uint16_t>, 3>& target) {
    recode(source, recoding, helpers, target);
}

} // namespace qc::cpu
