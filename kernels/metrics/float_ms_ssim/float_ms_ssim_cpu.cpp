// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <algorithm>
#include <cstring>
#include <vector>

#include "contract/helpers.hpp"
#include "device/bits.hpp"
#include "device/borders.hpp"
#include "device/cpu_clones.hpp"
#include "families/structural/structural_cpu.hpp"
#include "families/structural/structural_wide.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim.hpp"
#include "metrics/float_ms_ssim/float_ms_ssim_math.hpp"

namespace qc::float_ms_ssim {
namespace {

using structural::Image;
using structural::LumaRows;
using structural::WideSample;

QC_CPU_CLONES void split_pairs(const float* row, int pairs, WideSample* __restrict even, WideSample* __restrict odd) {
    for (int i = 0; i < pairs; ++i) {
        WideSample both;
        std::memcpy(&both, row + 2 * i, sizeof both);
        even[i] = both << 32;
        odd[i] = both >> 32 << 32;
    }
}

/// Windows that are filled up to, so that vectors need no ends. A multiple of every vector's lanes.
constexpr int kTogether = 8;

/// A row with its mirrored ends, even and odd columns apart so that every second window lies side by side.
class SplitRow {
public:
    explicit SplitRow(int width) : whole_(static_cast<size_t>(width)) {
        for (auto& samples : phase_) samples.resize(static_cast<size_t>(halved(width) + kRadius + kTogether));
    }

    void read(const LumaRows& rows, int y) {
        const int width = rows.width(), pairs = halved(width) + kRadius;
        rows.read(0, y, width, whole_.data());
        const int inner_end = kRadius / 2 + width / 2; // pairs up to it have both samples, from kRadius / 2 on
        for (int i = 0; i < kRadius / 2; ++i) mirror(width, i);
        split_pairs(whole_.data(), inner_end - kRadius / 2, phase_[0].data() + kRadius / 2,
                    phase_[1].data() + kRadius / 2);
        for (int i = inner_end; i < pairs; ++i) mirror(width, i);
    }

    /// Where tap u of a row of windows begins to read.
    const WideSample* tap(int u) const { return phase_[u % 2].data() + u / 2; }

private:
    void mirror(int width, int pair) {
        for (int i = 0; i < 2; ++i) {
            const int x = nearest_inside(mirror_with_edges(2 * pair + i - kRadius, width), width);
            phase_[i][static_cast<size_t>(pair)] = uint64_t{device::bits_of(whole_[static_cast<size_t>(x)])} << 32;
        }
    }

    std::vector<float> whole_;
    std::vector<WideSample> phase_[2];
};
static_assert(kRadius % 2 == 0);

/// What the rows 2 y and 2 y + 1 add to five rows of windows: that of y - 2, which is complete with the first one's
/// part, to that of y + 2, which begins with it and takes the place of y - 2.
struct RowPair {
    const WideSample *even[kSide], *odd[kSide]; ///< by tap
    double *outermost, *before, *same, *after;  ///< sums of y - 2, then y + 2; y - 1; y; y + 1
};

/// A product is the same above and below a window's centre: it is made once for both. Negative weights are subtracted,
/// so that samples that are not negative make products that are not.
template <typename Cpu, bool kSigned>
QC_INLINE_HELPER void add_row_pair(const RowPair& rows, int width, float* __restrict completed) {
    using Vector = structural::WideVector<Cpu>;
    using Factors = typename Vector::template Factors<kSigned>;
    using Sums = typename Vector::Sums;
    const auto add = [](float tap, const Sums& product, Sums* sum) __attribute__((always_inline)) {
        *sum = tap < 0.0f ? *sum - product : *sum + product;
    };
    for (int x = 0; x < width; x += Vector::kLanes) {
        Sums last, before, same, after, first = {};
        Vector::load(rows.outermost + x, &last);
        Vector::load(rows.before + x, &before);
        Vector::load(rows.same + x, &same);
        Vector::load(rows.after + x, &after);
        QC_UNROLL for (int u = 0; u < kSide; ++u) {
            typename Vector::Words samples;
            Vector::load(rows.even[u] + x, &samples);
            const Factors factors(samples);
            const float tap[] = {low_pass_tap(distance(u), 0), low_pass_tap(distance(u), 2),
                                 low_pass_tap(distance(u), 4)};
            Sums product[3];
            QC_UNROLL for (int i = 0; i < 3; ++i) factors.multiply(tap[i] < 0.0f ? -tap[i] : tap[i], &product[i]);
            add(tap[2], product[2], &last);
            add(tap[1], product[1], &before);
            add(tap[0], product[0], &same);
            add(tap[1], product[1], &after);
            add(tap[2], product[2], &first);
        }
        Vector::store_narrowed(last, completed + x);
        QC_UNROLL for (int u = 0; u < kSide; ++u) {
            typename Vector::Words samples;
            Vector::load(rows.odd[u] + x, &samples);
            const Factors factors(samples);
            const float tap[] = {low_pass_tap(distance(u), 1), low_pass_tap(distance(u), 3)};
            Sums product[2];
            QC_UNROLL for (int i = 0; i < 2; ++i) factors.multiply(tap[i] < 0.0f ? -tap[i] : tap[i], &product[i]);
            add(tap[1], product[1], &before);
            add(tap[0], product[0], &same);
            add(tap[0], product[0], &after);
            add(tap[1], product[1], &first);
        }
        Vector::store(before, rows.before + x);
        Vector::store(same, rows.same + x);
        Vector::store(after, rows.after + x);
        Vector::store(first, rows.outermost + x);
    }
}

template <typename Cpu>
QC_INLINE_HELPER void add_row_pair_on(const RowPair& rows, int width, bool is_signed, float* completed) {
    if (is_signed)
        add_row_pair<Cpu, true>(rows, width, completed);
    else
        add_row_pair<Cpu, false>(rows, width, completed);
}
QC_CPU_VERSIONS(add_row_pair, (const RowPair& rows, int width, bool is_signed, float* completed),
                (rows, width, is_signed, completed))

/// The next scale.
Image decimated(const LumaRows& image, Helpers* helpers) {
    constexpr int kSharedRows = 16, kLiveRows = 4;
    Image result(halved(image.width()), halved(image.height()));
    const int width = result.width, room = (width + kTogether - 1) / kTogether * kTogether;
    share_runs(helpers, result.height, kSharedRows, [&](int begin, int end) {
        SplitRow even(image.width()), odd(image.width());
        std::vector<double> sums[kLiveRows]; // row y's are sums[y % kLiveRows]
        for (auto& row : sums) row.resize(static_cast<size_t>(room));
        std::vector<float> completed(static_cast<size_t>(room));
        RowPair pair;
        for (int u = 0; u < kSide; ++u) {
            pair.even[u] = even.tap(u);
            pair.odd[u] = odd.tap(u);
        }
        const auto read = [&](int y, SplitRow* row) {
            row->read(image, nearest_inside(mirror_with_edges(y, image.height()), image.height()));
        };
        const auto sums_of = [&](int y) { return sums[(y + kLiveRows) % kLiveRows].data(); };
        for (int y = begin - kRadius / 2; y < end + kRadius / 2; ++y) {
            read(2 * y, &even);
            read(2 * y + 1, &odd);
            pair.outermost = sums_of(y + 2);
            pair.before = sums_of(y - 1);
            pair.same = sums_of(y);
            pair.after = sums_of(y + 1);
            add_row_pair(pair, width, image.may_be_negative(), completed.data());
            const int done = y - kRadius / 2;
            if (done >= begin) std::copy_n(completed.data(), width, result.row(done));
        }
    });
    return result;
}

} // namespace

void score_cpu(const FrameGeometry& geometry, const structural::LevelPlan& plan, const HostPair& pair,
               std::span<uint64_t> accumulators) {
    Image images[2]; // from scale 1 on
    LumaRows reference(pair.reference.plane[0], geometry), distorted(pair.distorted.plane[0], geometry);
    for (int scale = 0; scale < kScales; ++scale) {
        if (scale > 0) {
            images[0] = decimated(reference, pair.helpers);
            images[1] = decimated(distorted, pair.helpers);
            reference = LumaRows(images[0], true);
            distorted = LumaRows(images[1], true);
        }
        structural::add_similarity(reference, distorted, plan.with_luminance(scale), plan.fixed(scale), pair.helpers,
                                   &accumulators[static_cast<size_t>(scale) * plan.words_of_level()], {},
                                   structural::weights_under(pair.weights, plan.weight_shape(scale), geometry));
    }
}

} // namespace qc::float_ms_ssim
