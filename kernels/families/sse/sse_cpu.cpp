// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "device/cpu_clones.hpp"
#include "device/word_lanes.hpp"
#include "families/sse/squared_error.hpp"
#include "families/sse/sse.hpp"

namespace qc::sse {
namespace {

QC_CPU_CLONES uint64_t sum_row(const uint8_t* reference, const uint8_t* distorted, int width) {
    constexpr int kRun = 32768; // squares of up to 255 that a signed 32-bit sum holds
    uint64_t total = 0;
    for (int begin = 0; begin < width; begin += kRun) {
        const int end = width - begin < kRun ? width : begin + kRun;
        int32_t sum = 0;
        for (int x = begin; x < end; ++x) {
            const int16_t error = static_cast<int16_t>(reference[x] - distorted[x]);
            sum += error * error;
        }
        total += static_cast<uint64_t>(sum);
    }
    return total;
}

QC_CPU_CLONES uint64_t sum_row(const uint16_t* reference, const uint16_t* distorted, int width) {
    uint64_t sum = 0;
    for (int x = 0; x < width; ++x) sum += squared_error(reference[x], distorted[x]);
    return sum;
}

template <typename T>
uint64_t sum_plane(Plane<const T> reference, Plane<const T> distorted, int width, int height) {
    uint64_t sum = 0;
    for (int y = 0; y < height; ++y) sum += sum_row(reference.row(y), distorted.row(y), width);
    return sum;
}

#define QC_LANE_PASSES "families/sse/sse_lane_passes.hpp"
#include "device/lane_versions.hpp"

/// Sums the first columns of a row and says how many they are; null: there is none.
using RowPass = int (*)(const uint8_t* reference, const uint8_t* distorted, int width, uint64_t* total);

RowPass row_pass([[maybe_unused]] device::WordLanes lanes) {
#if QC_HAS_WORD_LANES
    if (lanes == device::WordLanes::kAvx512) return avx512::sum_bytes;
    if (lanes == device::WordLanes::kAvx2) return avx2::sum_bytes;
#endif
    return nullptr;
}

uint64_t sum_bytes(Plane<const uint8_t> reference, Plane<const uint8_t> distorted, int width, int height,
                   device::WordLanes lanes) {
    const RowPass pass = row_pass(lanes);
    if (pass == nullptr) return sum_plane(reference, distorted, width, height);
    uint64_t sum = 0;
    for (int y = 0; y < height; ++y) {
        const uint8_t *a = reference.row(y), *b = distorted.row(y);
        for (int x = pass(a, b, width, &sum); x < width; ++x) sum += squared_error(a[x], b[x]);
    }
    return sum;
}

} // namespace

uint64_t sum_of_squared_errors(const HostPlane& reference, const HostPlane& distorted, int width, int height,
                               SampleType sample, device::WordLanes lanes) {
    if (sample == SampleType::kU8)
        return sum_bytes(reference.as<uint8_t>(), distorted.as<uint8_t>(), width, height, lanes);
    return sum_plane(reference.as<uint16_t>(), distorted.as<uint16_t>(), width, height);
}

} // namespace qc::sse
