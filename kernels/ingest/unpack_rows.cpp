// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ingest/unpack_rows.hpp"

#include <cstring>

#include "device/cpu_clones.hpp"

namespace qc {
namespace {

/// What is done with every sample of a row. Copies: the target may be bytes, which could be anything's.
struct Lift {
    unsigned shift, mask, largest;
    int left;
};

/// @tparam kStep distance of samples in containers, or 0: as `step` says. A constant one is vectorised
template <typename Container, int kStep, bool kSwapped, typename Target>
QC_INLINE_HELPER void lift_row(const uint8_t* row, int step, Lift lift, int width, Target* __restrict target) {
    const auto* const containers = reinterpret_cast<const Container*>(row);
    const ptrdiff_t distance = kStep > 0 ? kStep : step;
    for (int x = 0; x < width; ++x) {
        const Container container = containers[x * distance];
        const unsigned raw = (kSwapped ? swapped_bytes(container) : container) >> lift.shift & lift.mask;
        target[x] = static_cast<Target>((raw < lift.largest ? raw : lift.largest) << lift.left);
    }
}

template <typename Container, bool kSwapped, typename Target>
QC_INLINE_HELPER void lift_steps(const uint8_t* row, int step, Lift lift, int width, Target* target) {
    switch (step) {
    case 1:
        return lift_row<Container, 1, kSwapped>(row, step, lift, width, target);
    case 2:
        return lift_row<Container, 2, kSwapped>(row, step, lift, width, target);
    case 4:
        return lift_row<Container, 4, kSwapped>(row, step, lift, width, target);
    default:
        return lift_row<Container, 0, kSwapped>(row, step, lift, width, target);
    }
}

/// Samples of bytes are what they are, if they are 8 bits.
template <int kStep>
QC_INLINE_HELPER void take_bytes(const uint8_t* row, int width, uint8_t* __restrict target) {
    for (int x = 0; x < width; ++x) target[x] = row[static_cast<ptrdiff_t>(x) * kStep];
}

QC_CPU_CLONES void every_byte(const uint8_t* row, int step, int width, uint8_t* target) {
    if (step == 2) return take_bytes<2>(row, width, target);
    if (step == 4) return take_bytes<4>(row, width, target);
    for (int x = 0; x < width; ++x) target[x] = row[static_cast<ptrdiff_t>(x) * step];
}

QC_CPU_CLONES void lift_bytes(const uint8_t* row, int step, Lift lift, int width, uint16_t* target) {
    lift_steps<uint8_t, false>(row, step, lift, width, target);
}
QC_CPU_CLONES void lift_words(const uint8_t* row, int step, Lift lift, int width, uint16_t* target) {
    lift_steps<uint16_t, false>(row, step, lift, width, target);
}
QC_CPU_CLONES void lift_swapped_words(const uint8_t* row, int step, Lift lift, int width, uint16_t* target) {
    lift_steps<uint16_t, true>(row, step, lift, width, target);
}
QC_CPU_CLONES void lift_pixels(const uint8_t* row, int step, Lift lift, int width, uint16_t* target) {
    lift_steps<uint32_t, false>(row, step, lift, width, target);
}
QC_CPU_CLONES void lift_swapped_pixels(const uint8_t* row, int step, Lift lift, int width, uint16_t* target) {
    lift_steps<uint32_t, true>(row, step, lift, width, target);
}

} // namespace

/// 8 bits lie in bytes, and fill them.
void unpack_row(const uint8_t* row, const SampleSource& samples, int /*shift_left*/, int width, uint8_t* target) {
    if (samples.step_bytes == 1)
        std::memcpy(target, row, static_cast<size_t>(width));
    else
        every_byte(row, samples.step_bytes, width, target);
}

void unpack_row(const uint8_t* row, const SampleSource& samples, int shift_left, int width, uint16_t* target) {
    const Lift lift{samples.shift, samples.mask, samples.largest, shift_left};
    const int step = samples.step_bytes / samples.bytes;
    const bool plain = samples.bytes == 2 && step == 1 && samples.swapped == 0 && samples.shift == 0 &&
                       samples.largest == 0xffff && shift_left == 0;
    if (plain)
        std::memcpy(target, row, static_cast<size_t>(width) * sizeof(uint16_t));
    else if (samples.bytes == 1)
        lift_bytes(row, step, lift, width, target);
    else if (samples.bytes == 2)
        (samples.swapped != 0 ? lift_swapped_words : lift_words)(row, step, lift, width, target);
    else
        (samples.swapped != 0 ? lift_swapped_pixels : lift_pixels)(row, step, lift, width, target);
}

} // namespace qc
