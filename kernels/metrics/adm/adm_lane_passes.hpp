// SPDX-License-Identifier: BSD-2-Clause-Patent
// ADM's filters over vectors of 16-bit words. No header like others: adm_cpu_lanes.cpp includes it once
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

// ---- deep levels: values of 32 bits as two words --------------------------------------------------------------------

/// Sums over four samples, or over one half of theirs, with both taps.
QC_INLINE_HELPER Vector summed(Vector first, Vector second, const uint32_t (&taps)[2], uint32_t start) {
    const Vector half = Lanes::add_pairs(Lanes::long_word(start), first, Lanes::long_word(taps[0]));
    return Lanes::add_pairs(half, second, Lanes::long_word(taps[1]));
}

/// Four samples, or neighbours, in pairs: what is high_half() and low_half() of them.
struct PairedHalves {
    Vector upper[2], lower[2];
};

/// join_halves() of the filtered halves.
template <int kShift>
QC_INLINE_HELPER Vector filtered_wide(const PairedHalves& in, const uint32_t (&taps)[2]) {
    const Vector upper = summed(in.upper[0], in.upper[1], taps, 0);
    const Vector lower = summed(in.lower[0], in.lower[1], taps, 1u << (kShift - 1));
    return Lanes::add(kShift == 16 ? upper : Lanes::shift_left(upper, 16 - kShift),
                      Lanes::shift_right_signed(lower, kShift));
}

template <typename T>
QC_INLINE_HELPER Vector load(const T* from) {
    return Lanes::load(reinterpret_cast<const uint16_t*>(from));
}

/// Four rows of a vector of columns. Level 1's have 16 bits.
template <int kLevel>
QC_INLINE_HELPER PairedHalves paired_rows(const int32_t* const* rows, int x) {
    const Vector r[4] = {load(rows[0] + x), load(rows[1] + x), load(rows[2] + x), load(rows[3] + x)};
    PairedHalves out;
    for (int i = 0; i < 2; ++i) out.lower[i] = Lanes::pair_lower(r[2 * i], r[2 * i + 1]);
    if constexpr (kLevel == 1) return out;
    const Vector carry = Lanes::long_word(0x8000);
    for (int i = 0; i < 2; ++i)
        out.upper[i] = Lanes::pair_upper(Lanes::add(r[2 * i], carry), Lanes::add(r[2 * i + 1], carry));
    return out;
}

template <int kLevel>
QC_INLINE_HELPER Vector filtered_rows(const PairedHalves& rows, const uint32_t (&taps)[2]) {
    if constexpr (kLevel == 1) return summed(rows.lower[0], rows.lower[1], taps, 0);
    return filtered_wide<16>(rows, taps);
}

QC_INLINE_HELPER void store_words(const WordRow& row, int x, Vector a, Vector b) {
    const Vector carry = Lanes::long_word(0x8000);
    Lanes::store(row.lower + x, Lanes::lower_words(a, b));
    Lanes::store(row.upper + x, Lanes::upper_words(Lanes::add(a, carry), Lanes::add(b, carry)));
}

template <int kLevel, bool kHigh>
void vertical_deep(const int32_t* const* rows, int width, const WordRow& low, const WordRow* high) {
    for (int x = 0; x < width; x += Lanes::kWords) {
        const PairedHalves a = paired_rows<kLevel>(rows, x), b = paired_rows<kLevel>(rows, x + Lanes::kWords / 2);
        store_words(low, x, filtered_rows<kLevel>(a, kLowTaps), filtered_rows<kLevel>(b, kLowTaps));
        if constexpr (kHigh)
            store_words(*high, x, filtered_rows<kLevel>(a, kHighTaps), filtered_rows<kLevel>(b, kHighTaps));
    }
}

inline void vertical_deep_pass(int level, const int32_t* const* rows, int width, const WordRow& low,
                               const WordRow* high) {
    if (level == 1)
        high != nullptr ? vertical_deep<1, true>(rows, width, low, high)
                        : vertical_deep<1, false>(rows, width, low, high);
    else
        high != nullptr ? vertical_deep<2, true>(rows, width, low, high)
                        : vertical_deep<2, false>(rows, width, low, high);
}

template <int kLevel>
void horizontal_deep(const WordRow& row, int count, int32_t* low, int32_t* high) {
    constexpr int kShift = kHorizontalShift<kLevel>;
    for (int x = 0; x < count; x += Lanes::kWords / 2) {
        const PairedHalves in{{load(row.upper + 2 * x - 1), load(row.upper + 2 * x + 1)},
                              {load(row.lower + 2 * x - 1), load(row.lower + 2 * x + 1)}};
        Lanes::store(low + x, filtered_wide<kShift>(in, kLowTaps));
        Lanes::store(high + x, filtered_wide<kShift>(in, kHighTaps));
    }
}

inline void horizontal_deep_pass(int level, const WordRow& row, int count, int32_t* low, int32_t* high) {
    if (level == 2)
        horizontal_deep<2>(row, count, low, high);
    else
        horizontal_deep<1>(row, count, low, high); // level 3 has level 1's shift
}

constexpr DeepLanePasses kDeepPasses{vertical_deep_pass, horizontal_deep_pass};
