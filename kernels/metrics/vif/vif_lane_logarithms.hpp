// SPDX-License-Identifier: BSD-2-Clause-Patent
// The logarithms of integer VIF sixteen at a time, without the 64 KB of their table. Included by vif_cpu_lanes.cpp
// where AVX-512 is enabled.
//
// In 1/2048, log2 of a number 1 <= f < 2 is that of the middle c of the sixteenth that f lies in, and a short series
// for f / c. The sum is right to 1e-4, and the table to the 1e-3 that its rounding to single precision is worth. So
// only what lies closer than that to the middle between two integers, one number in 400, is looked up.

constexpr int kLogIntervals = 16;

/// By interval: 1 / c, the part of its logarithm that is no integer, and the number whose last place is a unit, with
/// the integer added.
struct LogIntervals {
    float reciprocal[kLogIntervals], fraction[kLogIntervals], rounder[kLogIntervals];
};
constexpr float kUnitPlaces = 12582912.0f; ///< 1.5 * 2^23

LogIntervals log_intervals() {
    LogIntervals intervals;
    for (int i = 0; i < kLogIntervals; ++i) {
        const float reciprocal = 1.0f / (1.0f + (static_cast<float>(i) + 0.5f) / kLogIntervals);
        const double logarithm = -2048.0 * std::log2(static_cast<double>(reciprocal)), whole = std::floor(logarithm);
        intervals.reciprocal[i] = reciprocal;
        intervals.fraction[i] = static_cast<float>(logarithm - whole);
        intervals.rounder[i] = kUnitPlaces + static_cast<float>(whole);
    }
    return intervals;
}

/// Sums of logarithms of sixteen numbers at a time.
class LogarithmSum {
public:
    LogarithmSum(const LogIntervals& intervals, LogTable table)
        : reciprocals_(_mm512_loadu_ps(intervals.reciprocal)), fractions_(_mm512_loadu_ps(intervals.fraction)),
          rounders_(_mm512_loadu_ps(intervals.rounder)), table_(table) {}

    /// Of those that the mask names, at least 2^17 each.
    QC_INLINE_HELPER void add(const uint32_t* numbers, __mmask16 wanted) {
        const __m512i x = _mm512_maskz_loadu_epi32(wanted, numbers);
        const __m512i zeros = _mm512_lzcnt_epi32(x);
        const __m512i leading = _mm512_sllv_epi32(x, zeros);
        const __m512 rounded = rounded_logarithms(leading);
        const __mmask16 known = _mm512_mask_cmp_ps_mask(wanted, error_, _mm512_set1_ps(kSure), _CMP_LT_OQ);
        steps_ = _mm512_mask_add_epi32(steps_, known, steps_, _mm512_castps_si512(rounded));
        zeros_ = _mm512_mask_add_epi32(zeros_, known, zeros_, zeros);
        count_ += __builtin_popcount(known);
        for (unsigned rest = static_cast<unsigned>(wanted) & ~static_cast<unsigned>(known); rest != 0; rest &= rest - 1)
            looked_up_ += table_(numbers[__builtin_ctz(rest)]);
    }

    /// Of up to 2^20 numbers: what a lane holds stays below 2^32 only modulo, and so does the difference.
    int64_t total() const {
        constexpr uint32_t kBits = 0x4b400000u; // of kUnitPlaces
        uint32_t steps[16], zeros[16];
        _mm512_storeu_si512(steps, steps_);
        _mm512_storeu_si512(zeros, zeros_);
        uint32_t step_sum = 0;
        int64_t zero_sum = 0;
        for (int lane = 0; lane < 16; ++lane) {
            step_sum += steps[lane];
            zero_sum += zeros[lane];
        }
        step_sum -= static_cast<uint32_t>(count_) * kBits;
        return looked_up_ + step_sum + int64_t{2048} * (31 * count_ - zero_sum);
    }

private:
    static constexpr float kSure = 0.5f - 0.00125f;

    /// Rounded, in the lowest bits. Leaves in error_ how far from that they were.
    QC_INLINE_HELPER __m512 rounded_logarithms(__m512i leading) {
        const __m512i interval = _mm512_srli_epi32(leading, 27); // its lowest four bits count
        const __m512i mantissa = _mm512_and_si512(_mm512_srli_epi32(leading, 8), _mm512_set1_epi32(0x007fff00));
        const __m512 f = _mm512_castsi512_ps(_mm512_or_si512(mantissa, _mm512_set1_epi32(0x3f800000)));
        const __m512 r =
            _mm512_fmsub_ps(f, _mm512_permutexvar_ps(interval, reciprocals_), _mm512_set1_ps(1.0f)); // f / c - 1
        constexpr float kUnit = 2954.6394f;                                                          // 2048 / ln 2
        __m512 series = _mm512_fmadd_ps(r, _mm512_set1_ps(-kUnit / 4), _mm512_set1_ps(kUnit / 3));
        series = _mm512_fmadd_ps(r, series, _mm512_set1_ps(-kUnit / 2));
        series = _mm512_fmadd_ps(r, series, _mm512_set1_ps(kUnit));
        const __m512 logarithm = _mm512_fmadd_ps(r, series, _mm512_permutexvar_ps(interval, fractions_));
        const __m512 rounder = _mm512_permutexvar_ps(interval, rounders_);
        const __m512 rounded = _mm512_add_ps(logarithm, rounder);
        error_ = _mm512_abs_ps(_mm512_sub_ps(logarithm, _mm512_sub_ps(rounded, rounder)));
        return rounded;
    }

    __m512 reciprocals_, fractions_, rounders_, error_{};
    __m512i steps_{}, zeros_{};
    LogTable table_;
    int64_t count_ = 0, looked_up_ = 0;
};

void add_row(const StatisticRows& rows, int width, int flat_count, const LogTable& table, Sums* sums) {
    static const LogIntervals intervals = log_intervals();
    LogarithmSum signal_and_noise(intervals, table), noise(intervals, table), denominator(intervals, table);
    for (int x = 0; x < width; x += 16) {
        const auto wanted = static_cast<__mmask16>(width - x >= 16 ? 0xffffu : (1u << (width - x)) - 1);
        signal_and_noise.add(rows.signal_and_noise + x, wanted);
        noise.add(rows.noise + x, wanted);
        denominator.add(rows.denominator + x, wanted);
    }
    int64_t flat_variance = 0;
    for (int x = 0; x < width; ++x) flat_variance += rows.flat_variance[x];
    sums->numerator_log += signal_and_noise.total() - noise.total();
    sums->denominator_log += denominator.total() - int64_t{kLogOfNoiseVariance} * width;
    sums->flat_variance += flat_variance;
    sums->flat_count += flat_count;
}
