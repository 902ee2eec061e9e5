// SPDX-License-Identifier: BSD-2-Clause-Patent
#include <cstdlib>
#include <vector>

#include "device/borders.hpp"
#include "device/cpu_clones.hpp"
#include "device/weights.hpp"
#include "families/motion/motion_cpu_lanes.hpp"
#include "families/motion/motion_math.hpp"
#include "families/motion/motion_scorer.hpp"

namespace qc::motion {
namespace {

constexpr int kTaps = 2 * kReach + 1;

template <typename T>
QC_HD void subtract(const T* __restrict previous, const T* __restrict current, int32_t* __restrict difference,
                    int width) {
    for (int x = 0; x < width; ++x) difference[x] = static_cast<int32_t>(previous[x]) - current[x];
}

QC_CPU_CLONES void subtract_row(const uint8_t* previous, const uint8_t* current, int32_t* difference, int width) {
    subtract(previous, current, difference, width);
}

QC_CPU_CLONES void subtract_row(const uint16_t* previous, const uint16_t* current, int32_t* difference, int width) {
    subtract(previous, current, difference, width);
}

/// Vertical pass: five rows of differences become one row on the 16-bit scale.
QC_CPU_CLONES void filter_columns(const int32_t* const rows[kTaps], int32_t* __restrict filtered, int width,
                                  int depth) {
    const int32_t *first = rows[0], *second = rows[1], *middle = rows[2], *fourth = rows[3], *last = rows[4];
    if (depth < 16) {
        for (int x = 0; x < width; ++x) {
            filtered[x] = low_pass_to_16_bits(first[x] + last[x], second[x] + fourth[x], middle[x], depth);
        }
    } else {
        for (int x = 0; x < width; ++x) {
            filtered[x] = low_pass(first[x] + last[x], second[x] + fourth[x], middle[x]);
        }
    }
}

/// Of value_at(x), kRun of which a 32-bit sum holds.
template <int kRun, class ValueAt>
QC_INLINE_HELPER uint64_t sum_in_runs(int width, const ValueAt& value_at) {
    uint64_t total = 0;
    for (int begin = 0; begin < width; begin += kRun) {
        const int end = width - begin < kRun ? width : begin + kRun;
        uint32_t sum = 0;
        for (int x = begin; x < end; ++x) sum += value_at(x);
        total += sum;
    }
    return total;
}

/// Horizontal pass: a magnitude of up to 65535. `window` starts kReach samples left of it.
QC_INLINE_HELPER uint32_t filtered_magnitude(const int32_t* window) {
    return static_cast<uint32_t>(std::abs(low_pass(window[0] + window[4], window[1] + window[3], window[2])));
}

/// Horizontal pass and sum. `extended` starts kReach samples left of the row.
QC_CPU_CLONES uint64_t sum_filtered_row(const int32_t* extended, int width) {
    return sum_in_runs<65536>(width, [=](int x) { return filtered_magnitude(extended + x); });
}

/// The same, each value as often as its weight says.
QC_CPU_CLONES uint64_t sum_weighted_row(const int32_t* extended, const uint8_t* weights, int width) {
    return sum_in_runs<65536 / (kFullWeight + 1)>(width,
                                                  [=](int x) { return filtered_magnitude(extended + x) * weights[x]; });
}

QC_CPU_CLONES uint64_t sum_weights(const uint8_t* weights, int width) {
    uint64_t sum = 0;
    for (int x = 0; x < width; ++x) sum += weights[x];
    return sum;
}

/// `row` points at the first sample of the picture, with room for kReach more on either side.
template <typename T>
void mirror_ends(T* row, int width) {
    for (int i = 1; i <= kReach; ++i) {
        row[-i] = row[mirror_without_edges(-i, width)];
        row[width - 1 + i] = row[mirror_without_edges(width - 1 + i, width)];
    }
}

/// Calls `visit(y, row)` for each row that was filtered vertically; it starts kReach samples left of the picture.
template <typename T, typename Visit>
void filter_planes(Plane<const T> previous, Plane<const T> current, int width, int height, int depth,
                   const Visit& visit) {
    // The last five rows of differences, row y in place y % kTaps, and the row that was filtered vertically.
    std::vector<int32_t> differences(static_cast<size_t>(kTaps) * width);
    std::vector<int32_t> extended(static_cast<size_t>(width) + 2 * kReach);
    int32_t* const filtered = extended.data() + kReach;
    const auto difference_row = [&](int y) { return differences.data() + static_cast<size_t>(y % kTaps) * width; };

    int subtracted_rows = 0;
    for (int y = 0; y < height; ++y) {
        for (; subtracted_rows < height && subtracted_rows <= y + kReach; ++subtracted_rows) {
            subtract_row(previous.row(subtracted_rows), current.row(subtracted_rows), difference_row(subtracted_rows),
                         width);
        }
        const int32_t* rows[kTaps];
        for (int tap = 0; tap < kTaps; ++tap)
            rows[tap] = difference_row(mirror_without_edges(y - kReach + tap, height));
        filter_columns(rows, filtered, width, depth);
        mirror_ends(filtered, width);
        visit(y, extended.data());
    }
}

// ---- by the passes of an instruction set ----------------------------------------------------------------------------

void subtract_row(const LanePasses& passes, const uint8_t* previous, const uint8_t* current, int width, int16_t* to) {
    passes.subtract_u8(previous, current, width, to);
}
void subtract_row(const LanePasses& passes, const uint16_t* previous, const uint16_t* current, int width, int16_t* to) {
    passes.subtract_u16(previous, current, width, to);
}

/// The columns that no vector covers one by one.
uint64_t sum_filtered_row(const LanePasses& passes, const FilteredWords& row, int width) {
    uint64_t total = 0;
    for (int x = passes.sum(row, width, &total); x < width; ++x) {
        const int32_t value = low_pass(row.at(x - 2) + row.at(x + 2), row.at(x - 1) + row.at(x + 1), row.at(x));
        total += static_cast<uint32_t>(std::abs(value));
    }
    return total;
}

/// Calls `visit(y, row)` for each row that was filtered vertically, and mirrored.
template <typename T, typename Visit>
void filter_planes(const LanePasses& passes, Plane<const T> previous, Plane<const T> current, int width, int height,
                   int depth, const Visit& visit) {
    // Rows begin where cache lines do, lest every vector lies in two of them.
    constexpr size_t kLine = 64 / sizeof(int16_t);
    const size_t stride = (static_cast<size_t>(width) + kReach + 2 * kLine - 1) / kLine * kLine;
    std::vector<int16_t> words((kTaps + 2) * stride + kLine);
    int16_t* const first_row = words.data() + (64 - reinterpret_cast<uintptr_t>(words.data()) % 64) / sizeof(int16_t);
    const auto difference_row = [&](int y) { return first_row + static_cast<size_t>(y % kTaps) * stride; };
    // What lies before the first sample is behind the end of another row.
    const FilteredWords filtered{first_row + kTaps * stride, first_row + (kTaps + 1) * stride};
    int subtracted_rows = 0;
    for (int y = 0; y < height; ++y) {
        for (; subtracted_rows < height && subtracted_rows <= y + kReach; ++subtracted_rows)
            subtract_row(passes, previous.row(subtracted_rows), current.row(subtracted_rows), width,
                         difference_row(subtracted_rows));
        const int16_t* rows[kTaps];
        for (int tap = 0; tap < kTaps; ++tap)
            rows[tap] = difference_row(mirror_without_edges(y - kReach + tap, height));
        passes.filter(rows, width, depth, filtered);
        mirror_ends(filtered.high, width);
        mirror_ends(filtered.low, width);
        visit(y, filtered);
    }
}

/// Null where rows are filtered by loops.
const LanePasses* passes_for(device::WordLanes lanes, const FrameGeometry& geometry) {
    const LanePasses* const passes = geometry.depth < 16 ? lane_passes(lanes) : nullptr;
    return passes != nullptr && geometry.width >= passes->narrowest ? passes : nullptr;
}

template <typename T>
uint64_t sum_planes(const LanePasses* passes, const FrameGeometry& geometry, const HostPlane& previous,
                    const HostPlane& current) {
    const int width = geometry.width, height = geometry.height, depth = geometry.depth;
    uint64_t total = 0;
    if (passes != nullptr)
        filter_planes(*passes, previous.as<T>(), current.as<T>(), width, height, depth,
                      [&](int, const FilteredWords& row) { total += sum_filtered_row(*passes, row, width); });
    else
        filter_planes(previous.as<T>(), current.as<T>(), width, height, depth,
                      [&](int, const int32_t* extended) { total += sum_filtered_row(extended, width); });
    return total;
}

template <typename T>
uint64_t sum_weighted_planes(const LanePasses* passes, const FrameGeometry& geometry, const HostPlane& previous,
                             const HostPlane& current, const Plane<const uint8_t>& sample_weights) {
    const int width = geometry.width, height = geometry.height, depth = geometry.depth;
    std::vector<int32_t> joined(static_cast<size_t>(width) + 2 * kReach);
    uint64_t total = 0;
    const auto add = [&](int y, const int32_t* extended) {
        total += sum_weighted_row(extended, sample_weights.row(y), width);
    };
    const auto join_and_add = [&](int y, const FilteredWords& row) {
        for (int x = -kReach; x < width + kReach; ++x) joined[static_cast<size_t>(x + kReach)] = row.at(x);
        add(y, joined.data());
    };
    if (passes != nullptr)
        filter_planes(*passes, previous.as<T>(), current.as<T>(), width, height, depth, join_and_add);
    else
        filter_planes(previous.as<T>(), current.as<T>(), width, height, depth, add);
    return total;
}

} // namespace

uint64_t score_cpu(const FrameGeometry& geometry, const HostPlane& previous, const HostPlane& current,
                   device::WordLanes lanes) {
    const LanePasses* const passes = passes_for(lanes, geometry);
    return geometry.sample == SampleType::kU8 ? sum_planes<uint8_t>(passes, geometry, previous, current)
                                              : sum_planes<uint16_t>(passes, geometry, previous, current);
}

void score_weighted_cpu(const FrameGeometry& geometry, const HostPlane& previous, const HostPlane& current,
                        const HostPlane& sample_weights, std::span<uint64_t> words, device::WordLanes lanes) {
    const auto weights = sample_weights.as<uint8_t>();
    for (int y = 0; y < geometry.height; ++y) words[kWeights] += sum_weights(weights.row(y), geometry.width);
    if (previous.data == nullptr) return;
    const LanePasses* const passes = passes_for(lanes, geometry);
    words[kSad] = geometry.sample == SampleType::kU8
                      ? sum_weighted_planes<uint8_t>(passes, geometry, previous, current, weights)
                      : sum_weighted_planes<uint16_t>(passes, geometry, previous, current, weights);
}

} // namespace qc::motion
