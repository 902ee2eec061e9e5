// SPDX-License-Identifier: BSD-2-Clause-Patent
// Reads samples as floats of the 8-bit scale, from the video's luma in place or from a level in scratch memory.
#pragma once

#include "device/bits.hpp"
#include "device/borders.hpp"
#include "device/plane_reader.hpp"
#include "families/structural/structural_level.hpp"

namespace qc::structural {

/// Four neighbouring samples.
struct Quad {
    float at[4];
};

/// Luma of a picture.
template <typename T>
class LumaSource {
public:
    int width, height;

    QC_HD LumaSource(const Task& task, int pair, int picture)
        : width(task.level[0].width), height(task.level[0].height),
          plane_(picture == 0 ? task.pairs[pair].reference.plane[0] : task.pairs[pair].distorted.plane[0]),
          scale_(task.sample_scale), has_quads_(plane_.step == 1 && rows_aligned(plane_, 4 * sizeof(T))) {}

    /// As for pictures of another size than level 0.
    QC_HD LumaSource(const Task& task, int pair, int picture, int picture_width, int picture_height)
        : LumaSource(task, pair, picture) {
        width = picture_width;
        height = picture_height;
    }

    QC_HD bool has_quads() const { return has_quads_; }
    QC_HD unsigned integer(int x, int y) const { return read_sample<T>(plane_, x, y); }
    QC_HD float sample(int x, int y) const { return static_cast<float>(integer(x, y)) * scale_; }

    /// Precondition: has_quads(), x is a multiple of 4.
    QC_HD Quad quad(int x, int y) const {
        const unsigned char* address = row_bytes(plane_, y) + static_cast<size_t>(x) * sizeof(T);
        const auto words = load_words<4 * sizeof(T)>(address);
        Quad quad;
        QC_UNROLL for (int i = 0; i < 4; ++i) {
            constexpr int kPerWord = 4 / static_cast<int>(sizeof(T)), kBits = 8 * static_cast<int>(sizeof(T));
            const uint32_t sample = words.word[i / kPerWord] >> (i % kPerWord * kBits) & ((1u << kBits) - 1);
            quad.at[i] = static_cast<float>(sample >> plane_.shift) * scale_;
        }
        return quad;
    }

private:
    DevicePlane plane_;
    float scale_;
    bool has_quads_;
};

/// A picture of a level in scratch memory. An earlier kernel wrote it.
class LevelSource {
public:
    int width, height;

    QC_HD LevelSource(const Level& level, int pair, int picture)
        : width(level.width), height(level.height),
          samples_(level.samples + static_cast<uint64_t>(2 * pair + picture) * level.plane), pitch_(level.pitch) {}

    QC_HD bool has_quads() const { return true; }
    QC_HD float sample(int x, int y) const { return samples_[static_cast<ptrdiff_t>(y) * pitch_ + x]; }

    QC_HD Quad quad(int x, int y) const {
        const float* address = samples_ + static_cast<ptrdiff_t>(y) * pitch_ + x;
        Quad quad;
        const auto words = load_words<16>(address);
        QC_UNROLL for (int i = 0; i < 4; ++i) quad.at[i] = device::float_of(words.word[i]);
        return quad;
    }

private:
    const float* samples_;
    int pitch_;
};

/// Row or column of a picture that stands at i.
QC_HD int mirrored_inside(int i, int n) {
    return nearest_inside(mirror_with_edges(i, n), n);
}

/// A thread's part of reading kRows rows from (x0, y0), mirrored at the borders. Calls store(row, column, sample).
/// Precondition: x0 is a multiple of 4.
template <int kRows, int kColumns, int kThreads, class Source, class Store>
QC_HD void read_tile(const Source& source, int x0, int y0, int thread, const Store& store) {
    static_assert(kColumns % 4 == 0);
    constexpr int kQuads = kColumns / 4;
    for (int i = thread; i < kRows * kQuads; i += kThreads) {
        const int row = i / kQuads, column = i % kQuads * 4;
        const int x = x0 + column, y = mirrored_inside(y0 + row, source.height);
        if (source.has_quads() && x >= 0 && x + 4 <= source.width) {
            const Quad quad = source.quad(x, y);
            QC_UNROLL for (int j = 0; j < 4; ++j) store(row, column + j, quad.at[j]);
        } else {
            QC_UNROLL for (int j = 0; j < 4; ++j) {
                store(row, column + j, source.sample(mirrored_inside(x + j, source.width), y));
            }
        }
    }
}

} // namespace qc::structural
