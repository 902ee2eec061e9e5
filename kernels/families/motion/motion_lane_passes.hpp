// SPDX-License-Identifier: BSD-2-Clause-Patent
// Both passes of motion's low pass over vectors of 16-bit words. No header like others: motion_cpu_lanes.cpp includes
// it once for each instruction set, into a namespace that has a type Lanes (device/word_lanes.hpp).

using Vector = Lanes::Vector;

/// Two taps as the words of a pair.
constexpr uint32_t pair_of(int32_t first, int32_t second) {
    return static_cast<uint32_t>(first) | static_cast<uint32_t>(second) << 16;
}
constexpr int kPairs = kReach + 1;
/// Of windows that begin at the first and at the second word of a pair.
constexpr uint32_t kFromFirst[kPairs] = {pair_of(kOuterTap, kInnerTap), pair_of(kCentreTap, kInnerTap),
                                         pair_of(kOuterTap, 0)};
constexpr uint32_t kFromSecond[kPairs] = {pair_of(0, kOuterTap), pair_of(kInnerTap, kCentreTap),
                                          pair_of(kInnerTap, kOuterTap)};

/// The last vector of a row ends with it, and covers some of the one before.
template <typename Sample>
void subtract(const Sample* previous, const Sample* current, int width, int16_t* difference) {
    for (int next = 0; next < width; next += Lanes::kWords) {
        const int x = next + Lanes::kWords > width ? width - Lanes::kWords : next;
        Lanes::store(difference + x, Lanes::subtract_words(Lanes::load(previous + x), Lanes::load(current + x)));
    }
}

QC_INLINE_HELPER Vector weighted(const Vector (&pairs)[kPairs], const uint32_t (&taps)[kPairs], uint32_t start) {
    Vector sum = Lanes::long_word(start);
    for (int i = 0; i < kPairs; ++i) sum = Lanes::add_pairs(sum, pairs[i], Lanes::long_word(taps[i]));
    return sum;
}

inline void filter(const int16_t* const* rows, int width, int depth, const FilteredWords& out) {
    for (int next = 0; next < width; next += Lanes::kWords) {
        const int x = next + Lanes::kWords > width ? width - Lanes::kWords : next;
        Vector low[kPairs], high[kPairs];
        for (int i = 0; i < kPairs; ++i) {
            const Vector first = Lanes::load(reinterpret_cast<const uint16_t*>(rows[2 * i] + x));
            const Vector second =
                i == kReach ? Lanes::zero() : Lanes::load(reinterpret_cast<const uint16_t*>(rows[2 * i + 1] + x));
            low[i] = Lanes::interleave_low(first, second);
            high[i] = Lanes::interleave_high(first, second);
        }
        const uint32_t half = 1u << (depth - 1);
        const Vector a = Lanes::shift_right_signed(weighted(low, kFromFirst, half), depth);
        const Vector b = Lanes::shift_right_signed(weighted(high, kFromFirst, half), depth);
        Lanes::store(out.high + x,
                     Lanes::pack_signed(Lanes::shift_right_signed(a, 8), Lanes::shift_right_signed(b, 8)));
        Lanes::store(out.low + x, Lanes::pack(Lanes::low_byte(a), Lanes::low_byte(b)));
    }
}

QC_INLINE_HELPER Vector absolute_result(const Vector (&high)[kPairs], const Vector (&low)[kPairs],
                                        const uint32_t (&taps)[kPairs]) {
    // As in low_pass(): 256 * a + b, both with what is behind the point.
    const Vector b = Lanes::shift_right_signed(weighted(low, taps, 32768), 8);
    return Lanes::absolute(Lanes::shift_right_signed(Lanes::add(weighted(high, taps, 0), b), 8));
}

inline int sum(const FilteredWords& row, int width, uint64_t* total) {
    constexpr int kRun = 1024; // vectors: a lane adds two values of up to 65535 of each
    int x = 0;
    while (x + Lanes::kWords <= width) {
        Vector sums = Lanes::zero();
        for (int run = 0; run < kRun && x + Lanes::kWords <= width; ++run, x += Lanes::kWords) {
            Vector high[kPairs], low[kPairs];
            for (int i = 0; i < kPairs; ++i) {
                high[i] = Lanes::load(reinterpret_cast<const uint16_t*>(row.high + x - kReach + 2 * i));
                low[i] = Lanes::load(reinterpret_cast<const uint16_t*>(row.low + x - kReach + 2 * i));
            }
            sums = Lanes::add(sums, absolute_result(high, low, kFromFirst));
            sums = Lanes::add(sums, absolute_result(high, low, kFromSecond));
        }
        uint32_t of_lanes[Lanes::kWords / 2];
        Lanes::store(of_lanes, sums);
        for (const uint32_t lane : of_lanes) *total += lane;
    }
    return x;
}

constexpr LanePasses kPasses{Lanes::kWords, subtract<uint8_t>, subtract<uint16_t>, filter, sum};
