// SPDX-License-Identifier: BSD-2-Clause-Patent
// Eight samples of a row at once, loaded from wherever they lie side by side, in pairs or in pixels. A thread keeps
// them as they are in words: instructions that multiply bytes of words, or pick them, leave nothing to unpack.
#pragma once

#include "ingest/recode_cells.hpp"

namespace qc::recode {

/// Samples of a row that a thread makes at once.
constexpr int kStrip = 8;

/// Eight samples: bytes in two words, or words of 16 bits in four.
template <int kBytes>
struct Strip {
    uint32_t word[2 * kBytes];
};

/// The place of a sample in a container of 16 bits. Bytes are whole samples.
template <int kBytes>
struct Levels {
    int shift, largest;

    QC_HD Levels(int right, int most) : shift(right), largest(most) {}
    QC_HD explicit Levels(const RecodeSource& source)
        : Levels(source.samples.bytes == 2 ? source.samples.shift : 0, static_cast<int>(source.samples.largest)) {}

    QC_HD int sample(const Strip<kBytes>& strip, int i) const {
        if constexpr (kBytes == 1) return static_cast<int>(strip.word[i / 4] >> (8 * (i % 4)) & 0xff);
        const uint32_t both = strip.word[i / 2];
        return in_range(i % 2 != 0 ? both >> (16 + shift) : (both & 0xffff) >> shift);
    }
    QC_HD int in_range(uint32_t raw) const { return static_cast<int>(raw) < largest ? static_cast<int>(raw) : largest; }
    QC_HD void samples(const Strip<kBytes>& strip, int (&sample)[kStrip]) const {
        QC_UNROLL for (int i = 0; i < kStrip; ++i) sample[i] = this->sample(strip, i);
    }
};

/// A component whose samples lie side by side or in pairs.
template <int kBytes>
struct Component {
    const uint8_t* data; ///< of pairs: the first one
    uint32_t pitch_bytes, selector;
    int columns, rows, second;
    bool has_pairs;

    QC_HD explicit Component(const RecodeSource& source) {
        second = source.order == kSecondOfPair ? 1 : 0;
        data = source.data - static_cast<ptrdiff_t>(second * kBytes);
        pitch_bytes = source.pitch_bytes;
        columns = source.columns;
        rows = source.rows;
        has_pairs = source.order != kSideBySide;
        if constexpr (kBytes == 1)
            selector = second != 0 ? 0x7531u : 0x6420u;
        else
            selector = second != 0 ? 0x7632u : 0x5410u;
    }

    QC_HD const uint8_t* row(int y) const { return data + static_cast<uint32_t>(clamped(y, rows)) * pitch_bytes; }

    QC_HD Strip<kBytes> strip(int x, int y) const {
        const Words<8 * kBytes> words = four_and_four<8 * kBytes>(x, y);
        Strip<kBytes> strip;
        QC_UNROLL for (int i = 0; i < 2 * kBytes; ++i) strip.word[i] = words.word[i];
        return strip;
    }

    /// kWide bytes of samples from a column that is a multiple of so many.
    template <int kWide>
    QC_HD Words<kWide> four_and_four(int x, int y) const {
        const uint8_t* const at = row(y) + static_cast<ptrdiff_t>(x * kBytes);
        if (!has_pairs) return load_words<kWide>(at);
        constexpr int kLoad = kWide < 16 ? 2 * kWide : 16;
        const uint8_t* const pairs = at + static_cast<ptrdiff_t>(x * kBytes);
        Words<kWide> words;
        QC_UNROLL for (int i = 0; i < kWide / 4; i += kLoad / 8) {
            const Words<kLoad> both = load_words<kLoad>(pairs + static_cast<ptrdiff_t>(8 * i));
            QC_UNROLL for (int k = 0; k < kLoad / 8; ++k) words.word[i + k] =
                device::select_bytes(both.word[2 * k], both.word[2 * k + 1], selector);
        }
        return words;
    }

    /// One container of a row, beyond a border the outermost one.
    QC_HD uint32_t one(int x, int y) const {
        const int i = has_pairs ? 2 * clamped(x, columns) + second : clamped(x, columns);
        using Container = std::conditional_t<kBytes == 1, uint8_t, uint16_t>;
        const auto* const at = reinterpret_cast<const Container*>(row(y)) + i;
#if defined(__CUDA_ARCH__)
        return __ldg(at);
#else
        return *at;
#endif
    }
};

/// A strip of three planes, and the samples before it: a byte at the top of a word, or 16 bits at its bottom.
template <int kBytes>
struct PixelRow {
    Strip<kBytes> plane[3];
    uint32_t before[3];
};

/// Where the samples of pixels lie in them.
struct PixelOrder {
    uint32_t first[3]; ///< byte of a sample; of words of 32 bits: bit
    uint32_t mask;     ///< of such words

    QC_HD explicit PixelOrder(const RecodeJob& job) {
        const bool has_words = job.source[0].samples.bytes == 4;
        QC_UNROLL for (int q = 0; q < 3; ++q) first[q] =
            has_words ? job.source[q].samples.shift : static_cast<uint32_t>(job.source[q].data - job.pixels);
        mask = job.source[0].samples.mask;
    }
};

/// Eight pixels as they lie there, and the one before them at the end of `before`.
template <int kPixelBytes>
struct RawPixels {
    static constexpr int kBeforeBytes = kPixelBytes <= 4 ? 4 : 8;
    uint32_t word[2 * kPixelBytes];
    Words<kBeforeBytes> before;

    QC_HD void load(const uint8_t* row, int x, bool wants_before) {
        constexpr int kWide = kPixelBytes == 3 ? 8 : 16;
        const uint8_t* const at = row + static_cast<ptrdiff_t>(x * kPixelBytes);
        QC_UNROLL for (int i = 0; i < 2 * kPixelBytes; i += kWide / 4) {
            const Words<kWide> words = load_words<kWide>(at + static_cast<ptrdiff_t>(4 * i));
            QC_UNROLL for (int k = 0; k < kWide / 4; ++k) word[i + k] = words.word[k];
        }
        before = {};
        if (wants_before && x > 0) before = load_words<kBeforeBytes>(at - kBeforeBytes);
    }
};

/// Parts pixels of bytes.
template <int kPixelBytes>
QC_HD void part(const RawPixels<kPixelBytes>& raw, const PixelOrder& order, PixelRow<1>& row) {
    static_assert(kPixelBytes == 3 || kPixelBytes == 4);
    constexpr int kSecondWord = kPixelBytes == 3 ? 1 : 2, kSecondByte = kPixelBytes == 3 ? 2 : 0;
    QC_UNROLL for (int q = 0; q < 3; ++q) {
        const uint32_t first = order.first[q], two = first | (first + kPixelBytes) << 4;
        QC_UNROLL for (int i = 0; i < 2; ++i) {
            const uint32_t* const word = raw.word + static_cast<ptrdiff_t>(kPixelBytes * i);
            const uint32_t low = device::select_bytes(word[0], word[1], two);
            const uint32_t high =
                device::select_bytes(word[kSecondWord], word[kSecondWord + 1], two + 0x11u * kSecondByte);
            row.plane[q].word[i] = device::select_bytes(low, high, 0x5410u);
        }
        row.before[q] = device::select_bytes(raw.before.word[0], 0, (first + (4 - kPixelBytes)) << 12);
    }
}

/// Parts pixels of 16-bit words, and of the 32-bit words that hold three samples.
template <int kPixelBytes>
QC_HD void part(const RawPixels<kPixelBytes>& raw, const PixelOrder& order, PixelRow<2>& row) {
    QC_UNROLL for (int q = 0; q < 3; ++q) {
        const uint32_t first = order.first[q];
        if constexpr (kPixelBytes == 4) {
            QC_UNROLL for (int i = 0; i < 4; ++i) row.plane[q].word[i] =
                (raw.word[2 * i] >> first & order.mask) | (raw.word[2 * i + 1] >> first & order.mask) << 16;
            row.before[q] = raw.before.word[0] >> first & order.mask;
        } else {
            const auto two_bytes_from = [](uint32_t byte) { return byte | (byte + 1) << 4; };
            QC_UNROLL for (int i = 0; i < 4; ++i) {
                const uint32_t* const word = raw.word + static_cast<ptrdiff_t>(kPixelBytes / 2 * i);
                constexpr int kSecondWord = kPixelBytes == 6 ? 1 : 2;
                const uint32_t low = device::select_bytes(word[0], word[1], two_bytes_from(first));
                const uint32_t high = device::select_bytes(word[kSecondWord], word[kSecondWord + 1],
                                                           two_bytes_from(first + (kPixelBytes == 6 ? 2 : 0)));
                row.plane[q].word[i] = device::select_bytes(low, high, 0x5410u);
            }
            row.before[q] = device::select_bytes(raw.before.word[0], raw.before.word[1],
                                                 two_bytes_from(first + (8 - kPixelBytes))) &
                            0xffff;
        }
    }
}

/// Reads strips of three components of equal size.
template <int kBytes>
struct PixelReader {
    const RecodeJob& job;
    const bool wants_before;

    /// kCount rows, whose loads wait together.
    template <int kCount>
    QC_HD void load(int x, const int (&y)[kCount], PixelRow<kBytes> (&rows)[kCount]) const {
        switch (job.pixel_bytes) {
        case 3:
            if constexpr (kBytes == 1) load_pixels<3>(x, y, rows);
            break;
        case 4:
            load_pixels<4>(x, y, rows);
            break;
        case 6:
            if constexpr (kBytes == 2) load_pixels<6>(x, y, rows);
            break;
        case 8:
            if constexpr (kBytes == 2) load_pixels<8>(x, y, rows);
            break;
        default:
            load_planes(x, y, rows);
        }
        if (!wants_before || x > 0) return;
        QC_UNROLL for (PixelRow<kBytes>& row : rows) QC_UNROLL for (int q = 0; q < 3; ++q) {
            const uint32_t first = row.plane[q].word[0];
            row.before[q] = kBytes == 1 ? first << 24 : first & 0xffff;
        }
    }

private:
    template <int kPixelBytes, int kCount>
    QC_HD void load_pixels(int x, const int (&y)[kCount], PixelRow<kBytes> (&rows)[kCount]) const {
        RawPixels<kPixelBytes> raw[kCount];
        QC_UNROLL for (int r = 0; r < kCount; ++r) {
            const auto offset = static_cast<uint32_t>(clamped(y[r], job.source[0].rows)) * job.source[0].pitch_bytes;
            raw[r].load(job.pixels + offset, x, wants_before);
        }
        const PixelOrder order(job);
        QC_UNROLL for (int r = 0; r < kCount; ++r) part(raw[r], order, rows[r]);
    }

    template <int kCount>
    QC_HD void load_planes(int x, const int (&y)[kCount], PixelRow<kBytes> (&rows)[kCount]) const {
        QC_UNROLL for (int q = 0; q < 3; ++q) {
            const Component<kBytes> component(job.source[q]);
            QC_UNROLL for (int r = 0; r < kCount; ++r) {
                rows[r].plane[q] = component.strip(x, y[r]);
                rows[r].before[q] = 0;
                if (wants_before && x > 0) rows[r].before[q] = component.one(x - 1, y[r]) << (kBytes == 1 ? 24 : 0);
            }
        }
    }
};

} // namespace qc::recode
