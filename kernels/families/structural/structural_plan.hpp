// SPDX-License-Identifier: BSD-2-Clause-Patent
// Host side of the levels: scratch memory, the window's blocks, means from sums.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "contract/device.hpp"
#include "device/weights.hpp"
#include "families/structural/structural_level.hpp"

namespace qc::structural {

/// Luma of the 8-bit scale, whatever the depth. Exact.
inline float scale_of_depth(int depth) {
    return 1.0f / static_cast<float>(1 << (depth - 8));
}

/// Levels of the given sizes in scratch memory, and the blocks that the window takes.
class LevelPlan {
public:
    struct Size {
        int width, height;
    };

    explicit LevelPlan(const FrameGeometry& geometry) : sample_scale_(scale_of_depth(geometry.depth)) {}

    /// Positions count by weights; before levels are added. @param step samples of the picture to one of the first
    /// level; each further one is half of that before
    void count_by_weights(int step, const FrameGeometry& geometry) {
        weight_step_ = step;
        picture_ = {geometry.width, geometry.height};
    }

    /// Levels come from large to small. Precondition: width and height are at least kTaps.
    void add(Size size, bool in_scratch, bool with_luminance, bool has_negatives) {
        Level& level = levels_[count_];
        level = {nullptr, 0, 0, size.width, size.height};
        if (in_scratch) {
            level.pitch = (size.width + 31) / 32 * 32; // rows start at multiples of 128 bytes
            level.plane = static_cast<uint64_t>(level.pitch) * static_cast<uint64_t>(size.height);
        }
        const int columns = size.width - kMargin, rows = size.height - kMargin;
        constexpr int kMostRows = kTuning.batches * kBatchRows - kMargin;
        const int segments = (rows + kMostRows - 1) / kMostRows;
        const int batches = ((rows + segments - 1) / segments + kMargin + kBatchRows - 1) / kBatchRows;
        WindowTask& window = windows_[count_];
        window.first_block = blocks_;
        window.strips = (columns + kTileColumns - 1) / kTileColumns;
        window.segment_rows = batches * kBatchRows - kMargin;
        window.with_luminance = with_luminance;
        window.has_negatives = has_negatives;
        window.fixed = FixedPoint::for_sum_of(static_cast<int64_t>(columns) * rows * most_weight(count_));
        blocks_ += window.strips * ((rows + window.segment_rows - 1) / window.segment_rows);
        ++count_;
    }

    int count() const { return count_; }
    const Level& level(int index) const { return levels_[index]; }
    const WindowTask& window(int index) const { return windows_[index]; }
    int64_t positions(int index) const {
        return static_cast<int64_t>(levels_[index].width - kMargin) * (levels_[index].height - kMargin);
    }
    size_t words() const { return static_cast<size_t>(count_) * words_of_level(); }
    bool has_weights() const { return weight_step_ > 0; }
    const FixedPoint& fixed(int level) const { return windows_[level].fixed; }
    bool with_luminance(int level) const { return windows_[level].with_luminance; }
    /// How a level's positions lie under the weights.
    MapShape weight_shape(int level) const {
        MapShape shape = shape_of_positions(weight_step_ << level);
        shape.width = levels_[level].width - kMargin;
        shape.height = levels_[level].height - kMargin;
        return shape;
    }
    size_t words_of_level() const { return has_weights() ? kWeightedSumWords : kSumWords; }
    unsigned window_blocks() const { return static_cast<unsigned>(blocks_); }

    size_t scratch_bytes(int count) const {
        uint64_t floats = 0;
        for (int i = 0; i < count_; ++i) floats += levels_[i].plane;
        return 2 * static_cast<size_t>(count) * floats * sizeof(float);
    }

    Task task_for(const DeviceBatch& batch) const {
        Task task{batch.pairs, batch.accumulators, count_,          sample_scale_,  {},
                  {},          batch.map,          weight_shape(0), picture_.width, picture_.height};
        std::copy_n(levels_.begin(), count_, task.level);
        std::copy_n(windows_.begin(), count_, task.window);
        auto* next = static_cast<float*>(batch.scratch);
        for (int i = 0; i < count_; ++i) {
            if (levels_[i].plane == 0) continue;
            task.level[i].samples = next;
            next += 2 * static_cast<uint64_t>(batch.count) * levels_[i].plane;
        }
        return task;
    }

    /// Mean of the terms that word `word` of a level sums up, in single precision as libvmaf returns it.
    /// Precondition: some position counts.
    double mean(std::span<const uint64_t> words, int level, SumWord word) const {
        const auto own = words.subspan(static_cast<size_t>(level) * words_of_level());
        const double sum = windows_[level].fixed.to_double(own[word]);
        const double count = static_cast<double>(has_weights() ? own[kSumOfWeights] : positions(level));
        return static_cast<double>(static_cast<float>(sum / count));
    }
    /// Whether the weights leave nothing of some level.
    bool lacks_weight(std::span<const uint64_t> words) const {
        if (!has_weights()) return false;
        for (int level = 0; level < count_; ++level)
            if (words[static_cast<size_t>(level) * words_of_level() + kSumOfWeights] == 0) return true;
        return false;
    }

private:
    /// Of a position.
    int64_t most_weight(int level) const {
        const int64_t step = int64_t{weight_step_} << level;
        return has_weights() ? kFullWeight * step * step : 1;
    }

    float sample_scale_;
    Size picture_{0, 0};  ///< that weights lie over
    int weight_step_ = 0; ///< 0: there are none
    int count_ = 0, blocks_ = 0;
    std::array<Level, kMaxLevels> levels_{};
    std::array<WindowTask, kMaxLevels> windows_{};
};

} // namespace qc::structural
