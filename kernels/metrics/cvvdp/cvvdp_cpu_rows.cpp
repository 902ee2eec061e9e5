// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp_cpu_rows.hpp"

#include <bit>
#include <functional>

#include "contract/helpers.hpp"
#include "device/borders.hpp"
#include "device/row_store.hpp"
#include "metrics/cvvdp/cvvdp_cpu.hpp"
#include "metrics/cvvdp/cvvdp_cpu_band.hpp"

namespace qc::cvvdp {
namespace {

/// The reference's channels and how much those of the distorted picture differ: differences of the pictures keep their
/// digits so, where the pictures have much in common. Plane: side * kChannels + channel.
constexpr int kSides = 2, kPlanes = kSides * kChannels;

using RowStore = device::RowStore<float>;
using Sums = std::array<double, kChannels>;

} // namespace

/// Of a pair at work.
struct RowsWorkspace {
    RowStore level[kMaxBands]; ///< from the second one on
    std::vector<Sums> row_sums;
};

/// Of a run of rows at work.
struct RunWorkspace {
    RowStore fine, coarse, masker, difference; ///< the latest rows
    RowStore wide, blurred, line;
    std::vector<float> background[4];
    std::vector<int32_t> node;
    FilteredRows::Scratch light;
};

namespace {

/// Where a level's rows come from: from pictures, or from what the level before has left.
class RowSource {
public:
    RowSource(const FilteredRows* filters, const Frames* frames, std::span<const FrameWeights> weights)
        : filters_(filters), frames_(frames), weights_(weights) {}
    explicit RowSource(RowStore* level) : level_(level) {}

    bool is_level() const { return level_ != nullptr; }
    float* level_row(int plane, int y) const { return level_->row(plane, y); }
    void read(int y, RowStore* to, FilteredRows::Scratch& scratch) const {
        for (int side = 0; side < kSides; ++side) {
            float* rows[kChannels];
            for (int c = 0; c < kChannels; ++c) rows[c] = to->row(side * kChannels + c, y);
            filters_[side].read(frames_->side[side], weights_, y, scratch, rows);
        }
        for (int c = 0; c < kChannels; ++c)
            rows::subtract(to->row(c, y), filters_[0].width(), to->row(kChannels + c, y));
    }

private:
    const FilteredRows* filters_ = nullptr;
    const Frames* frames_ = nullptr;
    std::span<const FrameWeights> weights_;
    RowStore* level_ = nullptr;
};

/// What all runs of a level share.
struct LevelTask {
    RowSource source;
    LevelSize size;
    LastColumn border;
    rows::Sensitivity sensitivity;
    RowStore* next; ///< takes the next level's rows
    Sums* row_sums; ///< of this level's rows
};

/// Rows begin to end - 1 of a level, begin being even: their sums, and their part of the next level.
class LevelRun {
public:
    LevelRun(const LevelTask& task, RunWorkspace& space, int begin, int end)
        : task_(task), space_(space), width_(task.size.width), height_(task.size.height),
          coarse_width_((width_ + 1) / 2), coarse_height_((height_ + 1) / 2), begin_(begin), end_(end),
          blurs_(width_ > kUnblurredSide && height_ > kUnblurredSide) {
        space.fine.open(kPlanes, width_, kFineRows);
        space.coarse.open(kPlanes, coarse_width_, kCoarseRows);
        space.masker.open(kChannels, width_, kMaskerRows);
        space.difference.open(kChannels, width_, kDifferenceRows);
        space.wide.open(kPlanes, width_, 1);
        space.blurred.open(kChannels, width_, 2);
        space.line.open(1, width_, 2);
        for (auto& row : space.background) row.resize(static_cast<size_t>(width_));
        space.node.resize(static_cast<size_t>(width_));
        next_masker_ = std::max(0, begin - kBlurRadius);
        next_coarse_ = std::max(0, next_masker_ / 2 - 1);
        next_fine_ = std::max(0, 2 * next_coarse_ - 2);
    }

    void score() {
        for (int y = begin_; y < end_; y += 2) {
            const int count = std::min(2, end_ - y), last = y + count - 1;
            const int last_masker = std::min(blurs_ ? last + kBlurRadius : last, height_ - 1);
            while (next_masker_ <= last_masker) make_maskers(next_masker_++);
            pool(y, count);
        }
    }

private:
    static constexpr int kFineRows = 8, kCoarseRows = 4, kMaskerRows = 16, kDifferenceRows = 8;
    static_assert(kMaskerRows > 2 * kBlurRadius + 1 && kDifferenceRows > kBlurRadius + 1);

    float* fine_row(int plane, int y) {
        return task_.source.is_level() ? task_.source.level_row(plane, y) : space_.fine.row(plane, y);
    }

    void make_fine(int last) {
        if (task_.source.is_level()) return;
        for (; next_fine_ <= last; ++next_fine_) task_.source.read(next_fine_, &space_.fine, space_.light);
    }

    /// Row y of the next level. Those of this run's rows are kept.
    void make_coarse(int y) {
        make_fine(std::min(2 * y + 2, height_ - 1));
        const bool is_own = 2 * y >= begin_ && 2 * y < end_;
        for (int plane = 0; plane < kPlanes; ++plane) {
            const float* from[5];
            for (int d = -2; d <= 2; ++d) from[d + 2] = fine_row(plane, mirror_with_edges(2 * y + d, height_));
            float* const line = space_.line.row(0, 0);
            float* const to = space_.coarse.row(plane, y);
            rows::reduce_down(from, width_, line);
            rows::reduce_across(line, width_, task_.border, to);
            if (is_own) std::copy_n(to, coarse_width_, task_.next->row(plane, y));
        }
    }

    /// The next level's row y, expanded.
    void make_wide(int y) {
        const int here = y / 2, before = std::max(here - 1, 0), after = std::min(here + 1, coarse_height_ - 1);
        while (next_coarse_ <= after) make_coarse(next_coarse_++);
        for (int plane = 0; plane < kPlanes; ++plane) {
            float* const line = space_.line.row(0, 0);
            rows::expand_down(space_.coarse.row(plane, before), space_.coarse.row(plane, here),
                              space_.coarse.row(plane, after), y % 2 != 0, coarse_width_, line);
            rows::expand_across(line, width_, space_.wide.row(plane, 0));
        }
    }

    /// Differences and maskers of row y.
    void make_maskers(int y) {
        make_wide(y);
        make_fine(y);
        const auto background_row = [&](size_t i) { return space_.background[i].data(); };
        const rows::BackgroundRow background{background_row(0), background_row(1), background_row(2), background_row(3),
                                             space_.node.data()};
        rows::find_background(space_.wide.row(0, 0), space_.wide.row(kChannels, 0), width_, background);
        for (int c = 0; c < kChannels; ++c) {
            const rows::ChannelRows channel{fine_row(c, y), space_.wide.row(c, 0), fine_row(kChannels + c, y),
                                            space_.wide.row(kChannels + c, 0)};
            rows::weigh(channel, background, task_.sensitivity.node[c], width_, space_.difference.row(c, y),
                        space_.masker.row(c, y));
        }
    }

    /// Row y, and the one below it if count is 2.
    void pool(int y, int count) {
        if (blurs_) blur(y, count);
        for (int i = 0; i < count; ++i) {
            float *difference[kChannels], *masker[kChannels];
            for (int c = 0; c < kChannels; ++c) {
                difference[c] = space_.difference.row(c, y + i);
                masker[c] = blurs_ ? space_.blurred.row(c, i) : space_.masker.row(c, y + i);
            }
            rows::pool(difference, masker, width_, task_.row_sums[y + i].data());
        }
    }

    void blur(int y, int count) {
        for (int c = 0; c < kChannels; ++c) {
            const float* from[2 * kBlurRadius + 2];
            for (int i = 0; i < 2 * kBlurRadius + count; ++i)
                from[i] = space_.masker.row(c, mirror_without_edges(y - kBlurRadius + i, height_));
            rows::blur_down(from, width_, space_.line.row(0, 0), count == 2 ? space_.line.row(0, 1) : nullptr);
            for (int i = 0; i < count; ++i) rows::blur_across(space_.line.row(0, i), width_, space_.blurred.row(c, i));
        }
    }

    const LevelTask& task_;
    RunWorkspace& space_;
    const int width_, height_, coarse_width_, coarse_height_, begin_, end_;
    const bool blurs_;
    int next_fine_, next_coarse_, next_masker_;
};

/// The baseband as the reference has it.
Sums baseband_sums(const Plan& plan, int first_rows, const RowSource& source, FilteredRows::Scratch& scratch) {
    const LevelSize size = plan.level[static_cast<size_t>(plan.baseband())];
    Channels channels[kSides];
    for (Channels& side : channels)
        for (Image& image : side) image = Image(size);
    RowStore row;
    row.open(kPlanes, size.width, first_rows);
    for (int y = 0; y < size.height; ++y) {
        if (!source.is_level()) source.read(y, &row, scratch);
        for (int plane = 0; plane < kPlanes; ++plane) {
            const float* const from = source.is_level() ? source.level_row(plane, y) : row.row(plane, y);
            std::copy_n(from, size.width, channels[plane / kChannels][static_cast<size_t>(plane % kChannels)].row(y));
        }
    }
    for (size_t c = 0; c < kChannels; ++c)
        std::transform(channels[0][c].samples.begin(), channels[0][c].samples.end(), channels[1][c].samples.begin(),
                       channels[1][c].samples.begin(), std::plus<>());
    return pool_baseband(plan, channels[0], channels[1], nullptr);
}

} // namespace

CpuRows::CpuRows(const FrameGeometry& geometry, const Settings& settings)
    : geometry_(geometry), plan_(make_plan(geometry, settings)),
      curve_(settings), rows_{FilteredRows(geometry, settings, curve_, 0), FilteredRows(geometry, settings, curve_, 1)},
      time_(settings), fixed_border_(settings.fixed_border) {}

CpuRows::~CpuRows() = default;

void CpuRows::score_target(const Frames& frames, const Target& target, Helpers* helpers, std::span<double> sums) const {
    constexpr int kRowsTogether = 16;
    const auto weights = time_.weights_of(target, frames.count());
    const auto lease = workspaces_.borrow();
    RowsWorkspace& space = *lease;
    const auto keep = [&](int band, const Sums& of_channels) {
        for (int c = 0; c < kChannels; ++c)
            sums[static_cast<size_t>(word_of(c, band, plan_.bands))] = of_channels[static_cast<size_t>(c)];
    };
    RowSource source(rows_, &frames, weights);
    for (int k = 0; k < plan_.baseband(); ++k) {
        const LevelSize size = plan_.level[static_cast<size_t>(k)], coarse = plan_.level[static_cast<size_t>(k) + 1];
        RowStore& next = space.level[k + 1];
        next.open(kPlanes, coarse.width, coarse.height);
        space.row_sums.resize(static_cast<size_t>(size.height));
        const LevelTask task{source,
                             size,
                             last_column(size, fixed_border_),
                             rows::sensitivity_of(plan_, k),
                             &next,
                             space.row_sums.data()};
        share_runs(helpers, size.height, kRowsTogether, [&](int begin, int end) {
            const auto run_lease = run_workspaces_.borrow();
            LevelRun(task, *run_lease, begin, end).score();
        });
        Sums of_band{};
        for (const Sums& of_row : space.row_sums)
            for (size_t c = 0; c < kChannels; ++c) of_band[c] += of_row[c];
        keep(k, of_band);
        source = RowSource(&next);
    }
    FilteredRows::Scratch scratch;
    keep(plan_.baseband(), baseband_sums(plan_, 1, source, scratch));
}

void CpuRows::score(const HostPair& pair, HostPast past, std::span<uint64_t> sums) const {
    const Frames frames = time_.frames_of(pair, past);
    std::vector<double> values(static_cast<size_t>(plan_.words()));
    for (int slot = 0; slot < time_.targets().slots(); ++slot) {
        const Target target = time_.targets().target(frames.count() - 1, slot);
        if (target.target < 0) continue;
        score_target(frames, target, pair.helpers, values);
        for (size_t i = 0; i < values.size(); ++i)
            sums[static_cast<size_t>(slot) * values.size() + i] = std::bit_cast<uint64_t>(values[i]);
    }
}

} // namespace qc::cvvdp
