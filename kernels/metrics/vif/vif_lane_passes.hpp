// SPDX-License-Identifier: BSD-2-Clause-Patent
// Both filter passes of integer VIF over vectors of 16-bit words. No header like others: vif_cpu_lanes.cpp includes it
// once for each instruction set, into a namespace that has a type Lanes (device/word_lanes.hpp).
//
// Words are signed where they are multiplied, so those that need all 16 bits are stored less 32768 ("biased"). The
// weights of a window add up to 65536: their sum of biased words is 2^31 less than that of the words, modulo 2^32.
//
// Two neighbouring outputs read the same pairs of words. Where one begins at the first of a pair, the other begins at
// the second, with the weight 0 for the first.

using Vector = Lanes::Vector;

constexpr uint16_t kBias = 0x8000;
constexpr uint32_t kBiasOfSum = 0x80000000u;

/// Outputs of one block of rows. Products of 16-bit samples have twice as many sums.
template <typename Sample>
inline constexpr int kBlockRows = Lanes::kWords / 4 / static_cast<int>(sizeof(Sample));

/// Weights of pair j of a window that begins at the first or at the second word of a pair, as a 32-bit word.
template <int kScale, bool kFromSecond>
constexpr uint32_t pair_of_taps(int j) {
    constexpr int kTaps = 2 * kRadius<kScale> + 1;
    const int first = 2 * j - (kFromSecond ? 1 : 0);
    const uint32_t low = first >= 0 ? tap<kScale>(first) : 0;
    const uint32_t high = first + 1 < kTaps ? tap<kScale>(first + 1) : 0;
    return low | high << 16;
}

template <int kScale>
struct PairTaps {
    uint32_t of[2][kRadius<kScale> + 1]; ///< by the word of a pair that a window begins at
};

template <int kScale>
constexpr PairTaps<kScale> pair_taps() {
    PairTaps<kScale> taps{};
    for (int j = 0; j <= kRadius<kScale>; ++j) {
        taps.of[0][j] = pair_of_taps<kScale, false>(j);
        taps.of[1][j] = pair_of_taps<kScale, true>(j);
    }
    return taps;
}

template <int kScale>
inline constexpr PairTaps<kScale> kPairTaps = pair_taps<kScale>();

inline Vector biased(Vector words) {
    return Lanes::exclusive_or(words, Lanes::word(kBias));
}

/// The upper 16 bits of 32-bit words, and the lower ones: biased.
inline void store_split(uint16_t* high, uint16_t* low, Vector first, Vector second) {
    Lanes::store(high, biased(Lanes::pack(Lanes::shift_right(first, 16), Lanes::shift_right(second, 16))));
    Lanes::store(low, biased(Lanes::pack(Lanes::low_half(first), Lanes::low_half(second))));
}

// ---- vertical pass --------------------------------------------------------------------------------------------------

/// Weighted sums of kRows outputs, each in two vectors; their windows begin kStep rows after one another. `words(row)`
/// are those of an input row.
template <int kScale, int kStep, int kRows, typename Words>
QC_INLINE_HELPER void filter_rows(const Words& words, uint32_t start, Vector (&sums)[kRows][2]) {
    constexpr int kR = kRadius<kScale>;
    for (int row = 0; row < kRows; ++row) sums[row][0] = sums[row][1] = Lanes::long_word(start);
    QC_UNROLL for (int pair = 0; pair <= kR + (kRows - 1) * kStep / 2; ++pair) {
        const Vector a = words(2 * pair), b = words(2 * pair + 1);
        const Vector low = Lanes::interleave_low(a, b), high = Lanes::interleave_high(a, b);
        QC_UNROLL for (int row = 0; row < kRows; ++row) {
            const int j = pair - row * kStep / 2;
            if (j < 0 || j > kR) continue;
            const Vector taps = Lanes::long_word(kPairTaps<kScale>.of[row * kStep % 2][j]);
            sums[row][0] = Lanes::add_pairs(sums[row][0], low, taps);
            sums[row][1] = Lanes::add_pairs(sums[row][1], high, taps);
        }
    }
}

/// Samples of one column of vectors, by input row.
template <typename Sample>
struct ColumnSamples {
    const Sample* const* rows;
    int x;

    QC_INLINE_HELPER Vector operator()(int row) const {
        const Vector words = Lanes::load(rows[row] + x);
        return sizeof(Sample) == 1 ? words : biased(words);
    }
};

/// Products of samples, or a half of them.
template <typename Sample, bool kHigh>
struct ColumnProducts {
    const Sample *const *a, *const *b;
    int x;

    QC_INLINE_HELPER Vector operator()(int row) const {
        const Vector left = Lanes::load(a[row] + x), right = Lanes::load(b[row] + x);
        return biased(kHigh ? Lanes::high_product(left, right) : Lanes::low_product(left, right));
    }
};

template <int kScale, int kStep, typename Sample>
QC_INLINE_HELPER void filter_means(const Sample* const* rows, int x, int shift, const WordBlock& out, int plane) {
    constexpr int kRows = kBlockRows<Sample>;
    Vector sums[kRows][2];
    const uint32_t half = 1u << (shift - 1);
    filter_rows<kScale, kStep, kRows>(ColumnSamples<Sample>{rows, x}, (sizeof(Sample) == 1 ? 0 : kBiasOfSum) + half,
                                      sums);
    for (int row = 0; row < kRows; ++row) {
        const Vector mean =
            Lanes::pack(Lanes::shift_right(sums[row][0], shift), Lanes::shift_right(sums[row][1], shift));
        Lanes::store(out.row(row, plane) + x, biased(mean));
    }
}

/// Products of bytes: at most 16 bits, and not rounded.
template <int kScale>
QC_INLINE_HELPER void filter_products(const uint8_t* const* a, const uint8_t* const* b, int x, int /*shift*/,
                                      const WordBlock& out, int plane) {
    constexpr int kRows = kBlockRows<uint8_t>;
    Vector sums[kRows][2];
    filter_rows<kScale, 1, kRows>(ColumnProducts<uint8_t, false>{a, b, x}, kBiasOfSum, sums);
    for (int row = 0; row < kRows; ++row)
        store_split(out.row(row, plane) + x, out.row(row, plane + 1) + x, sums[row][0], sums[row][1]);
}

/// Products of larger samples, rounded to 32 bits: 2^16 times the sum of the upper halves, and that of the lower ones.
template <int kScale>
QC_INLINE_HELPER void filter_products(const uint16_t* const* a, const uint16_t* const* b, int x, int shift,
                                      const WordBlock& out, int plane) {
    constexpr int kRows = kBlockRows<uint16_t>;
    Vector high[kRows][2], low[kRows][2];
    filter_rows<kScale, 1, kRows>(ColumnProducts<uint16_t, true>{a, b, x}, kBiasOfSum, high);
    filter_rows<kScale, 1, kRows>(ColumnProducts<uint16_t, false>{a, b, x}, kBiasOfSum + (1u << (shift - 1)), low);
    for (int row = 0; row < kRows; ++row) {
        Vector sums[2];
        for (int i = 0; i < 2; ++i)
            sums[i] = Lanes::add(Lanes::shift_left(high[row][i], 16 - shift), Lanes::shift_right(low[row][i], shift));
        store_split(out.row(row, plane) + x, out.row(row, plane + 1) + x, sums[0], sums[1]);
    }
}

/// The last vector of a row ends with it, and covers some of the one before.
template <int kScale, typename Sample>
void vertical_pass(const Sample* const* a, const Sample* const* b, int width, VerticalShifts shifts,
                   const WordBlock& out) {
    for (int next = 0; next < width; next += Lanes::kWords) {
        const int x = next + Lanes::kWords > width ? width - Lanes::kWords : next;
        filter_means<kScale, 1>(a, x, shifts.mean, out, kMean1);
        filter_means<kScale, 1>(b, x, shifts.mean, out, kMean2);
        filter_products<kScale>(a, a, x, shifts.product, out, kSquare1);
        filter_products<kScale>(b, b, x, shifts.product, out, kSquare2);
        filter_products<kScale>(a, b, x, shifts.product, out, kProduct12);
    }
}

/// Means alone, of every second row.
template <int kScale, typename Sample>
void vertical_decimation(const Sample* const* a, const Sample* const* b, int width, int shift, const WordBlock& out) {
    for (int next = 0; next < width; next += Lanes::kWords) {
        const int x = next + Lanes::kWords > width ? width - Lanes::kWords : next;
        filter_means<kScale, 2>(a, x, shift, out, kMean1);
        filter_means<kScale, 2>(b, x, shift, out, kMean2);
    }
}

// ---- horizontal pass ------------------------------------------------------------------------------------------------

/// Weighted sums of biased words, those of even columns and of odd ones.
struct EvenAndOdd {
    Vector even, odd;
};

template <int kScale>
QC_INLINE_HELPER EvenAndOdd filter_row(const uint16_t* words, uint32_t start) {
    EvenAndOdd sums{Lanes::long_word(kBiasOfSum + start), Lanes::long_word(kBiasOfSum + start)};
    QC_UNROLL for (int j = 0; j <= kRadius<kScale>; ++j) {
        const Vector pairs = Lanes::load(words - kRadius<kScale> + 2 * j);
        sums.even = Lanes::add_pairs(sums.even, pairs, Lanes::long_word(kPairTaps<kScale>.of[0][j]));
        sums.odd = Lanes::add_pairs(sums.odd, pairs, Lanes::long_word(kPairTaps<kScale>.of[1][j]));
    }
    return sums;
}

/// Means keep all their bits.
template <int kScale>
QC_INLINE_HELPER void filter_mean(const uint16_t* words, uint32_t* out) {
    const EvenAndOdd mean = filter_row<kScale>(words, 0);
    Lanes::store_in_turn(out, mean.even, mean.odd);
}

template <int kScale>
QC_INLINE_HELPER void filter_product(const uint16_t* high_words, const uint16_t* low_words, uint32_t* out) {
    const EvenAndOdd high = filter_row<kScale>(high_words, 0);
    const EvenAndOdd low = filter_row<kScale>(low_words, 1u << 15);
    Lanes::store_in_turn(out, Lanes::add(high.even, Lanes::shift_right(low.even, 16)),
                         Lanes::add(high.odd, Lanes::shift_right(low.odd, 16)));
}

/// Rows begin and end with kRadius mirrored words. Up to a vector is read and written behind their ends.
template <int kScale>
void horizontal_pass(const WordBlock& words, int row, int width, const MomentRows& out) {
    for (int x = 0; x < width; x += Lanes::kWords) {
        const auto at = [&](int plane) { return words.row(row, plane) + x; };
        filter_mean<kScale>(at(kMean1), out.mean_1 + x);
        filter_mean<kScale>(at(kMean2), out.mean_2 + x);
        filter_product<kScale>(at(kSquare1), at(kSquare1 + 1), out.square_1 + x);
        filter_product<kScale>(at(kSquare2), at(kSquare2 + 1), out.square_2 + x);
        filter_product<kScale>(at(kProduct12), at(kProduct12 + 1), out.product_12 + x);
    }
}

/// Every second column, rounded to 16 bits. The last vector of a row ends with it.
template <int kScale>
void horizontal_decimation(const uint16_t* words, int count, uint16_t* out) {
    constexpr int kOutputs = Lanes::kWords / 2;
    for (int next = 0; next < count; next += kOutputs) {
        const int x = next + kOutputs > count ? count - kOutputs : next;
        Lanes::store_words(out + x, Lanes::shift_right(filter_row<kScale>(words + 2 * x, 1u << 15).even, 16));
    }
}

template <int kScale, typename Sample>
constexpr LanePasses<Sample> passes() {
    LanePasses<Sample> passes{kBlockRows<Sample>,      Lanes::kWords, vertical_pass<kScale, Sample>,
                              horizontal_pass<kScale>, nullptr,       nullptr};
    if constexpr (kScale + 1 < kLaneScales) {
        passes.vertical_decimation = vertical_decimation<kScale + 1, Sample>;
        passes.horizontal_decimation = horizontal_decimation<kScale + 1>;
    }
    return passes;
}
