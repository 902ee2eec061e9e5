// SPDX-License-Identifier: BSD-2-Clause-Patent
// How the kernels of integer VIF read pictures, and keep a column of samples in registers.
//
// The pictures of scales 1 to 3 lie in scratch memory with both pictures' samples in one word (reference in the lower
// half): one read serves both.
#pragma once

#include "contract/map.hpp"
#include "contract/types.hpp"
#include "device/unroll.hpp"
#include "metrics/vif/vif_math.hpp"

namespace qc::vif {

/// The argument of all VIF kernels. blockIdx.z is the pair, or the group of pairs that have one reference.
struct ScaleArguments {
    const DevicePair* pairs;
    const uint32_t* first_pair;         ///< of each group, see DeviceBatch; null where blockIdx.z is the pair
    uint64_t* accumulators;             ///< kAccumulatorWords per row
    const uint32_t* input;              ///< packed pictures of this scale, or null for scale 0
    uint32_t* output;                   ///< packed pictures of the next scale, or null for scale 3
    uint64_t input_plane, output_plane; ///< words from pair to pair
    int input_pitch, output_pitch;      ///< words from row to row; even
    int width, height;                  ///< of this scale
    int depth;                          ///< of the samples of scale 0
    double gain_limit;
    const void* logarithms; ///< by kLogSource: the table (uint16_t) or the thresholds (uint32_t)
    DeviceMap map;          ///< of the kernels that draw
    MapShape map_shape;
};

// ---- reading pictures -----------------------------------------------------------------------------------------------

/// Reflection that also stays inside for positions whose result nobody uses (tiles that reach beyond the picture).
QC_HD int reflect_inside(int i, int n) {
    i = reflect(i, n);
    i = i < 0 ? 0 : i;
    return i < n ? i : n - 1;
}

/// A value in global memory that no kernel writes while this one runs.
template <typename T>
QC_HD T read_global(const T* from) {
#if defined(__CUDA_ARCH__)
    return __ldg(from);
#else
    return *from;
#endif
}

enum class Which { kReference, kDistorted };

/// Two samples in one word.
QC_HD uint32_t pack(uint32_t reference, uint32_t distorted) {
    return reference | distorted << 16;
}

/// Luma of the two pictures of a pair, read in place whatever their pitch, alignment and container.
template <typename Sample>
struct PictureSource {
    static constexpr bool kByteSamples = sizeof(Sample) == 1;
    const Sample *reference, *distorted;
    int reference_pitch, distorted_pitch; ///< samples
    int reference_shift, distorted_shift;
    int width, height;

    QC_HD PictureSource(const ScaleArguments& arguments, int pair) : width(arguments.width), height(arguments.height) {
        const DevicePlane& r = arguments.pairs[pair].reference.plane[0];
        const DevicePlane& d = arguments.pairs[pair].distorted.plane[0];
        reference = static_cast<const Sample*>(r.data);
        distorted = static_cast<const Sample*>(d.data);
        reference_pitch = static_cast<int>(r.pitch_bytes / sizeof(Sample));
        distorted_pitch = static_cast<int>(d.pitch_bytes / sizeof(Sample));
        reference_shift = r.shift;
        distorted_shift = d.shift;
    }

    /// Calls use(row, packed samples) for rows y .. y + kRows - 1 of column x.
    template <int kRows, typename Use>
    QC_HD void read_column(int x, int y, const Use& use) const {
        if (y >= 0 && y + kRows <= height) {
            const Sample* r = reference + static_cast<ptrdiff_t>(y) * reference_pitch + x;
            const Sample* d = distorted + static_cast<ptrdiff_t>(y) * distorted_pitch + x;
            QC_UNROLL for (int row = 0; row < kRows; ++row) {
                use(row, packed(r, d));
                r += reference_pitch;
                d += distorted_pitch;
            }
        } else {
            QC_UNROLL for (int row = 0; row < kRows; ++row) {
                const auto source_y = static_cast<ptrdiff_t>(reflect_inside(y + row, height));
                use(row,
                    packed(reference + source_y * reference_pitch + x, distorted + source_y * distorted_pitch + x));
            }
        }
    }

    /// The same for one picture of 8-bit samples: use(row, sample).
    template <Which kWhich, int kRows, typename Use>
    QC_HD void read_column_of(int x, int y, const Use& use) const {
        static_assert(kByteSamples);
        const Sample* const picture = kWhich == Which::kReference ? reference : distorted;
        const int pitch = kWhich == Which::kReference ? reference_pitch : distorted_pitch;
        if (y >= 0 && y + kRows <= height) {
            const Sample* sample = picture + static_cast<ptrdiff_t>(y) * pitch + x;
            QC_UNROLL for (int row = 0; row < kRows; ++row) {
                use(row, static_cast<uint32_t>(read_global(sample)));
                sample += pitch;
            }
        } else {
            QC_UNROLL for (int row = 0; row < kRows; ++row) {
                const auto source_y = static_cast<ptrdiff_t>(reflect_inside(y + row, height));
                use(row, static_cast<uint32_t>(read_global(picture + source_y * pitch + x)));
            }
        }
    }

private:
    QC_HD uint32_t packed(const Sample* r, const Sample* d) const {
        const uint32_t reference_sample = read_global(r), distorted_sample = read_global(d);
        if constexpr (kByteSamples)
            return pack(reference_sample, distorted_sample);
        else
            return pack(reference_sample >> reference_shift, distorted_sample >> distorted_shift);
    }
};

/// The packed pictures of a deeper scale.
struct PackedSource {
    static constexpr bool kByteSamples = false;
    const uint32_t* samples;
    int pitch;
    int width, height;

    QC_HD PackedSource(const ScaleArguments& arguments, int pair)
        : samples(arguments.input + pair * arguments.input_plane), pitch(arguments.input_pitch), width(arguments.width),
          height(arguments.height) {}

    template <int kRows, typename Use>
    QC_HD void read_column(int x, int y, const Use& use) const {
        if (y >= 0 && y + kRows <= height) {
            const uint32_t* sample = samples + static_cast<ptrdiff_t>(y) * pitch + x;
            QC_UNROLL for (int row = 0; row < kRows; ++row) {
                use(row, read_global(sample));
                sample += pitch;
            }
        } else {
            QC_UNROLL for (int row = 0; row < kRows; ++row) {
                const auto source_y = static_cast<ptrdiff_t>(reflect_inside(y + row, height));
                use(row, read_global(samples + source_y * pitch + x));
            }
        }
    }
};

// ---- a column of samples in registers -------------------------------------------------------------------------------

enum class Product { kSquare1, kSquare2, kProduct12 };

/// Keeps the compiler from sharing what is computed from `word` before and after this point: unpacking a sample again
/// costs one instruction, keeping it unpacked a register.
QC_HD void forget_unpacked(uint32_t& word) {
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+r"(word));
#else
    (void)word;
#endif
}

/// kRows rows of both pictures, one word a row.
template <int kRows>
class PairColumn {
public:
    template <typename Source>
    QC_HD void load(const Source& source, int x, int y) {
        source.template read_column<kRows>(x, y, [&](int row, uint32_t packed) { words_[row] = packed; });
    }
    /// Both pictures lie in one word, so what is kept of the reference saves no reading.
    template <Which kWhich, typename Source>
    QC_HD void load_one(const Source& source, int x, int y) {
        load(source, x, y);
    }

    QC_HD void next_quantity() { QC_UNROLL for (int row = 0; row < kRows; ++row) forget_unpacked(words_[row]); }

    /// Weighted sums of samples, the window starting at `first`: low is the reference's, high the distorted's.
    template <int kScale>
    QC_HD SplitSum weighted_samples(int first) const {
        return window_split_sum<kScale>([&](int k) { return words_[first + k]; });
    }

    /// The same of one picture.
    template <int kScale, Which kWhich>
    QC_HD uint32_t weighted_samples_of(int first) const {
        return window_sum<kScale>(
            [&](int k) { return kWhich == Which::kReference ? words_[first + k] & 0xffff : words_[first + k] >> 16; });
    }

    template <Product kProduct>
    QC_HD uint32_t product(int row) const {
        const uint32_t a = words_[row] & 0xffff, b = words_[row] >> 16;
        if constexpr (kProduct == Product::kSquare1) return a * a;
        if constexpr (kProduct == Product::kSquare2) return b * b;
        return a * b;
    }

private:
    uint32_t words_[kRows];
};

/// accumulator + the dot product of two 16-bit weights with bytes 0 and 1 (kUpper: 2 and 3) of a word.
template <bool kUpper>
QC_HD uint32_t dot_2(uint32_t weights, uint32_t bytes, uint32_t accumulator) {
#if defined(__CUDA_ARCH__)
    return kUpper ? __dp2a_hi(weights, bytes, accumulator) : __dp2a_lo(weights, bytes, accumulator);
#else
    const uint32_t pair = kUpper ? bytes >> 16 : bytes;
    return accumulator + (weights & 0xffff) * (pair & 0xff) + (weights >> 16) * (pair >> 8 & 0xff);
#endif
}

/// The dot product of the bytes of two words.
QC_HD uint32_t dot_4(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__)
    return __dp4a(a, b, 0u);
#else
    uint32_t sum = 0;
    for (int shift = 0; shift < 32; shift += 8) sum += (a >> shift & 0xff) * (b >> shift & 0xff);
    return sum;
#endif
}

/// Weights of samples k and k + 1, zero outside the window.
template <int kScale>
QC_HD constexpr uint32_t tap_pair(int k) {
    const uint32_t lower = k >= 0 && k <= 2 * kRadius<kScale> ? tap<kScale>(k) : 0;
    const uint32_t upper = k + 1 >= 0 && k + 1 <= 2 * kRadius<kScale> ? tap<kScale>(k + 1) : 0;
    return lower | upper << 16;
}

/// kRows rows of 8-bit samples of both pictures, four rows of one picture in a word.
template <int kRows>
class ByteColumn {
public:
    template <typename Source>
    QC_HD void load(const Source& source, int x, int y) {
        source.template read_column<kRows>(x, y, [&](int row, uint32_t packed) {
            const uint32_t a = packed & 0xff, b = packed >> 16;
            const int shift = 8 * (row % 4);
            reference_[row / 4] = shift == 0 ? a : reference_[row / 4] | a << shift;
            distorted_[row / 4] = shift == 0 ? b : distorted_[row / 4] | b << shift;
        });
    }

    /// Leaves what is kept of the other picture.
    template <Which kWhich, typename Source>
    QC_HD void load_one(const Source& source, int x, int y) {
        uint32_t(&words)[kWords] = kWhich == Which::kReference ? reference_ : distorted_;
        source.template read_column_of<kWhich, kRows>(x, y, [&](int row, uint32_t sample) {
            words[row / 4] = row % 4 == 0 ? sample : words[row / 4] | sample << (8 * (row % 4));
        });
    }

    QC_HD void next_quantity() {
        QC_UNROLL for (int i = 0; i < kWords; ++i) {
            forget_unpacked(reference_[i]);
            forget_unpacked(distorted_[i]);
        }
    }

    template <int kScale>
    QC_HD SplitSum weighted_samples(int first) const {
        return {weighted<kScale>(distorted_, first), weighted<kScale>(reference_, first)};
    }

    template <int kScale, Which kWhich>
    QC_HD uint32_t weighted_samples_of(int first) const {
        return weighted<kScale>(kWhich == Which::kReference ? reference_ : distorted_, first);
    }

    template <Product kProduct>
    QC_HD uint32_t product(int row) const {
        const uint32_t mask = 0xffu << (8 * (row % 4));
        const uint32_t a = reference_[row / 4], b = distorted_[row / 4];
        if constexpr (kProduct == Product::kSquare1) return dot_4(a & mask, a);
        if constexpr (kProduct == Product::kSquare2) return dot_4(b & mask, b);
        return dot_4(a & mask, b);
    }

private:
    static constexpr int kWords = (kRows + 3) / 4;

    /// Two rows at a time, at even rows whatever `first` is: the weights move instead of the samples.
    template <int kScale>
    static QC_HD uint32_t weighted(const uint32_t (&words)[kWords], int first) {
        uint32_t sum = 0;
        QC_UNROLL for (int row = 0; row < kRows; row += 2) {
            const uint32_t weights = tap_pair<kScale>(row - first);
            if (weights == 0) continue;
            sum = row % 4 == 0 ? dot_2<false>(weights, words[row / 4], sum) : dot_2<true>(weights, words[row / 4], sum);
        }
        return sum;
    }

    uint32_t reference_[kWords], distorted_[kWords];
};

} // namespace qc::vif
