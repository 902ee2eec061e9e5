// SPDX-License-Identifier: BSD-2-Clause-Patent
// The filters of ADM's level 0 over vectors of 16-bit words. No header like others: adm_cpu_lanes.cpp includes it once
// for each instruction set, into a namespace that has a type Lanes (device/word_lanes.hpp).

using Vector = Lanes::Vector;

/// Two taps as the words of a pair.
constexpr uint32_t pair_of(int32_t first, int32_t second) {
    return (static_cast<uint32_t>(first) & 0xffffu) | static_cast<uint32_t>(second) << 16;
}
constexpr uint32_t kLowTaps[2] = {pair_of(kTap0, kTap1), pair_of(kTap2, kTap3)};
constexpr uint32_t kHighTaps[2] = {pair_of(kTap3, -kTap2), pair_of(kTap1, -kTap0)};

/// (start + the sum over four samples) >> shift, of samples 0 and 1 and of samples 2 and 3 in pairs.
QC_INLINE_HELPER Vector filtered(Vector first, Vector second, const uint32_t (&taps)[2], uint32_t start, int shift) {
    const Vector half = Lanes::add_pairs(Lanes::long_word(start), first, Lanes::long_word(taps[0]));
    return Lanes::shift_right_signed(Lanes::add_pairs(half, second, Lanes::long_word(taps[1])), shift);
}

/// The last vector of a row ends with it, and covers some of the one before.
template <typename Sample>
void vertical_pass(const Sample* const* rows, int width, int depth, int16_t* low, int16_t* high) {
    // As in level0_vertical_low() and level0_vertical_high().
    const uint32_t low_start = 0u - (static_cast<uint32_t>(kTapSum - 1) << (depth - 1));
    const uint32_t high_start = 1u << (depth - 1);
    for (int next = 0; next < width; next += Lanes::kWords) {
        const int x = next + Lanes::kWords > width ? width - Lanes::kWords : next;
        const Vector a = Lanes::load(rows[0] + x), b = Lanes::load(rows[1] + x);
        const Vector c = Lanes::load(rows[2] + x), d = Lanes::load(rows[3] + x);
        const Vector first[2] = {Lanes::interleave_low(a, b), Lanes::interleave_high(a, b)};
        const Vector second[2] = {Lanes::interleave_low(c, d), Lanes::interleave_high(c, d)};
        const auto all = [&](const uint32_t(&taps)[2], uint32_t start) {
            return Lanes::pack_signed(filtered(first[0], second[0], taps, start, depth),
                                      filtered(first[1], second[1], taps, start, depth));
        };
        Lanes::store(low + x, all(kLowTaps, low_start));
        Lanes::store(high + x, all(kHighTaps, high_start));
    }
}

inline void horizontal_pass(const int16_t* row, int count, int32_t* low, int32_t* high) {
    constexpr int kShift = kHorizontalShift<0>;
    const auto* words = reinterpret_cast<const uint16_t*>(row);
    for (int x = 0; x < count; x += Lanes::kWords / 2) {
        const Vector first = Lanes::load(words + 2 * x - 1), second = Lanes::load(words + 2 * x + 1);
        Lanes::store(low + x, filtered(first, second, kLowTaps, 1u << (kShift - 1), kShift));
        Lanes::store(high + x, filtered(first, second, kHighTaps, 1u << (kShift - 1), kShift));
    }
}

template <typename Sample>
constexpr LanePasses<Sample> passes() {
    return {Lanes::kWords, vertical_pass<Sample>, horizontal_pass};
}
