// SPDX-License-Identifier: BSD-2-Clause-Patent
// Weighing, masking and energies of ADM over vectors of 32-bit elements. No header like others: adm_cpu_masking.cpp
// includes it once for each instruction set, into a namespace that has a type Lanes (device/word_lanes.hpp).

using Vector = Lanes::Vector;
constexpr int kLongs = Lanes::kWords / 2;
static_assert(kLongs <= kRowPad);

QC_INLINE_HELPER Vector load(const int32_t* from) {
    return Lanes::load(reinterpret_cast<const uint16_t*>(from));
}

/// Products of a row's elements, or what is made of them: 64 bits each, of even and of odd elements.
struct Wide {
    Vector even, odd;
};

template <typename Make>
QC_INLINE_HELPER Wide wide(Vector a, const Make& make) {
    return {make(a), make(Lanes::odd(a))};
}

// ---- weighing and masker terms --------------------------------------------------------------------------------------

/// weigh_deep() with a factor below 2^31.
QC_INLINE_HELPER Vector weighted_deep(Vector x, uint32_t factor) {
    const Vector factors = Lanes::long_word(factor), half = Lanes::wide(uint64_t{1} << 27);
    const Wide products =
        wide(x, [&](Vector a) { return Lanes::add_wide(Lanes::wide_product_signed(a, factors), half); });
    return Lanes::join(Lanes::template shift_right_wide<28>(products.even),
                       Lanes::template shift_left_wide<4>(products.odd));
}

/// A term of masker_deep().
QC_INLINE_HELPER Vector masker_term_deep(Vector size, Vector odd_size, uint32_t factor) {
    const Vector factors = Lanes::long_word(factor), rounding = Lanes::wide(0 - (uint64_t{1} << 31));
    const Vector even = Lanes::add_wide(Lanes::wide_product(size, factors), rounding);
    const Vector odd = Lanes::add_wide(Lanes::wide_product(odd_size, factors), rounding);
    return Lanes::join(Lanes::odd(even), odd);
}

/// Masker terms, summed over the bands.
struct TermSums {
    Vector neighbour, centre;
};

QC_INLINE_HELPER void add_terms_deep(Vector size, TermSums* sums) {
    const Vector odd_size = Lanes::odd(size);
    sums->neighbour = Lanes::add(sums->neighbour, masker_term_deep(size, odd_size, 143165577));
    sums->centre = Lanes::add(sums->centre, masker_term_deep(size, odd_size, 286331153));
}

/// As masker_level0(): 4369 / 4096 and 8738 / 4096 are 1 + 2184 / 2^15 and 2 + 4368 / 2^15, with the same roundings.
/// What is narrowed to 16 bits there is the lower word here.
template <int kBand>
QC_INLINE_HELPER void add_terms_level0(Vector weighted, TermSums* sums) {
    constexpr uint32_t kHalf = kBand == kBandD ? 65535 : 16384;
    constexpr int kShift = kBand == kBandD ? 17 : 15;
    const Vector size =
        Lanes::absolute(Lanes::shift_right_signed(Lanes::add(weighted, Lanes::long_word(kHalf)), kShift));
    const Vector one = Lanes::long_word(1), doubled = Lanes::add_words(size, size);
    const Vector neighbour = Lanes::add_words(size, Lanes::rounded_product(size, Lanes::long_word(2184)));
    const Vector centre = Lanes::add_words(doubled, Lanes::rounded_product(size, Lanes::long_word(4368)));
    sums->neighbour = Lanes::add_pairs(sums->neighbour, neighbour, one);
    sums->centre = Lanes::add_pairs(sums->centre, centre, one);
}

template <bool kDeep, bool kMasks, int kBand>
QC_INLINE_HELPER void weigh_band(const uint32_t* factor, const PartRow& row, int x, TermSums* sums) {
    int32_t* const place = row.band[kBand] + x;
    const Vector weighted = kDeep ? weighted_deep(load(place), factor[kBand])
                                  : Lanes::long_product(load(place), Lanes::long_word(factor[kBand]));
    const Vector size = Lanes::absolute(weighted);
    Lanes::store(place, size);
    if constexpr (kMasks && kDeep) add_terms_deep(size, sums);
    if constexpr (kMasks && !kDeep) add_terms_level0<kBand>(weighted, sums);
}

template <bool kDeep, bool kMasks>
void weigh_columns(const uint32_t* factor, const PartRow& row, Columns columns) {
    for (int x = columns.begin; x < columns.end; x += kLongs) {
        TermSums sums{Lanes::zero(), Lanes::zero()};
        weigh_band<kDeep, kMasks, kBandH>(factor, row, x, &sums);
        weigh_band<kDeep, kMasks, kBandV>(factor, row, x, &sums);
        weigh_band<kDeep, kMasks, kBandD>(factor, row, x, &sums);
        if constexpr (!kMasks) continue;
        Lanes::store(row.neighbour + x, sums.neighbour);
        Lanes::store(row.centre + x, Lanes::subtract(sums.centre, sums.neighbour));
    }
}

inline void weigh(int level, const uint32_t* factor, const PartRow& row, Columns columns) {
    if (level == 0)
        row.neighbour != nullptr ? weigh_columns<false, true>(factor, row, columns)
                                 : weigh_columns<false, false>(factor, row, columns);
    else
        row.neighbour != nullptr ? weigh_columns<true, true>(factor, row, columns)
                                 : weigh_columns<true, false>(factor, row, columns);
}

// ---- energies -------------------------------------------------------------------------------------------------------

QC_INLINE_HELPER uint64_t total(Vector wide) {
    uint64_t elements[kLongs / 2], sum = 0;
    Lanes::store(elements, wide);
    for (const uint64_t element : elements) sum += element;
    return sum;
}

/// A rounded shift of wide elements with a sign. They are made positive, which adds kBias >> shift to each result, to
/// be taken off sums: not every instruction set can shift 64 bits with a sign.
struct BiasedRounding {
    static constexpr uint64_t kBias = uint64_t{1} << 63;
    Vector start, bits;

    explicit BiasedRounding(Rounding rounding)
        : start(Lanes::wide(static_cast<uint64_t>(rounding.half) + kBias)),
          bits(Lanes::wide(static_cast<uint64_t>(rounding.shift))) {}
    QC_INLINE_HELPER Vector apply(Vector a) const { return Lanes::shift_right_wide(Lanes::add_wide(a, start), bits); }
    static uint64_t excess(Rounding rounding, int elements) {
        return static_cast<uint64_t>(elements) * (kBias >> rounding.shift);
    }
};

/// cube(), added to the sum of a band. Squares stay below 2^62.
template <int kSquareShift>
QC_INLINE_HELPER Vector add_cubes(Vector sum, Vector excess, const BiasedRounding& rounding) {
    const Vector half = Lanes::wide(uint64_t{1} << (kSquareShift - 1));
    const Wide cubes = wide(excess, [&](Vector e) {
        const Vector square = Lanes::add_wide(Lanes::wide_product(e, e), half);
        return rounding.apply(Lanes::wide_product_signed(Lanes::template shift_right_wide<kSquareShift>(square), e));
    });
    return Lanes::add_wide(Lanes::add_wide(sum, cubes.even), cubes.odd);
}

/// All bits of the elements from x on that lie inside.
QC_INLINE_HELPER Vector inside(Columns columns, int x) {
    return Lanes::first_longs(columns.end - x < kLongs ? columns.end - x : kLongs);
}

template <bool kDeep>
void measure_columns(const Rounding* rounding, const std::array<int32_t*, kBands>& sizes, const MaskerRows& masker,
                     Columns columns, uint32_t* column, uint64_t* sums) {
    constexpr int kSquareShift[kBands] = {kDeep ? 30 : 29, kDeep ? 30 : 29, 30};
    static_assert(kBandD == 2);
    for (int x = columns.begin - 1; x < columns.end + 1; x += kLongs)
        Lanes::store(column + x,
                     Lanes::add(Lanes::add(load(masker.above + x), load(masker.here + x)), load(masker.below + x)));
    const auto* const by_column = reinterpret_cast<const int32_t*>(column);
    const BiasedRounding rounded[kBands] = {BiasedRounding(rounding[0]), BiasedRounding(rounding[1]),
                                            BiasedRounding(rounding[2])};
    Vector sum[kBands] = {Lanes::zero(), Lanes::zero(), Lanes::zero()};
    int elements = 0;
    for (int x = columns.begin; x < columns.end; x += kLongs) {
        const Vector sides = Lanes::add(load(by_column + x - 1), load(by_column + x + 1));
        const Vector threshold = Lanes::add(Lanes::add(load(masker.centre + x), load(by_column + x)), sides);
        const Vector mask = inside(columns, x);
        const auto excess = [&](int band, int shift) {
            const Vector size = load(sizes[static_cast<size_t>(band)] + x);
            const Vector raised = kDeep ? threshold : Lanes::shift_left(threshold, shift);
            return Lanes::bitwise_and(mask, Lanes::larger(Lanes::subtract(size, raised), Lanes::zero()));
        };
        sum[0] = add_cubes<kSquareShift[0]>(sum[0], excess(0, 10), rounded[0]);
        sum[1] = add_cubes<kSquareShift[1]>(sum[1], excess(1, 10), rounded[1]);
        sum[2] = add_cubes<kSquareShift[2]>(sum[2], excess(2, 12), rounded[2]);
        elements += kLongs;
    }
    for (int b = 0; b < kBands; b++) sums[b] = total(sum[b]) - BiasedRounding::excess(rounding[b], elements);
}

inline void measure(int level, const Rounding* rounding, const std::array<int32_t*, kBands>& sizes,
                    const MaskerRows& masker, Columns columns, MeasuringScratch scratch, uint64_t* sums) {
    if (level == 0)
        measure_columns<false>(rounding, sizes, masker, columns, scratch.column, sums);
    else
        measure_columns<true>(rounding, sizes, masker, columns, scratch.column, sums);
}

/// reference_energy_level0() and reference_energy_deep(). Magnitudes are below 2.12e9: scaled squares have 32 bits.
template <int kLevel>
QC_INLINE_HELPER Vector reference_energies(Vector size, Vector half, Vector bits) {
    const Vector square = Lanes::wide_product(size, size);
    if constexpr (kLevel == 0) return Lanes::wide_product(square, size);
    constexpr int kShift = kLevel == 2 ? 30 : 31;
    const Vector scaled =
        Lanes::template shift_right_wide<kShift>(Lanes::add_wide(square, Lanes::wide(uint64_t{1} << kShift)));
    return Lanes::shift_right_wide(Lanes::add_wide(Lanes::wide_product(scaled, size), half), bits);
}

template <int kLevel>
void measure_reference_columns(Rounding rounding, const std::array<int32_t*, kBands>& coefficients, Columns columns,
                               uint64_t* sums) {
    const Vector half = Lanes::wide(static_cast<uint64_t>(rounding.half)),
                 bits = Lanes::wide(static_cast<uint64_t>(rounding.shift));
    Vector sum[kBands] = {Lanes::zero(), Lanes::zero(), Lanes::zero()};
    for (int x = columns.begin; x < columns.end; x += kLongs) {
        const Vector mask = inside(columns, x);
        for (size_t b = 0; b < kBands; b++) {
            const Vector size = Lanes::bitwise_and(mask, Lanes::absolute(load(coefficients[b] + x)));
            const Wide energies = wide(size, [&](Vector a) { return reference_energies<kLevel>(a, half, bits); });
            sum[b] = Lanes::add_wide(Lanes::add_wide(sum[b], energies.even), energies.odd);
        }
    }
    for (int b = 0; b < kBands; b++) sums[b] = total(sum[b]);
}

inline void measure_reference(int level, Rounding rounding, const std::array<int32_t*, kBands>& coefficients,
                              Columns columns, uint64_t* sums) {
    if (level == 0)
        measure_reference_columns<0>(rounding, coefficients, columns, sums);
    else if (level == 2)
        measure_reference_columns<2>(rounding, coefficients, columns, sums);
    else
        measure_reference_columns<1>(rounding, coefficients, columns, sums); // level 3 has level 1's format
}

constexpr MaskingPasses kPasses{weigh, measure, measure_reference};
