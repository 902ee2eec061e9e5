// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures for tests: any layout, any content, rows padded with garbage so that a read outside the picture shows.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "quality_cuda.h"

namespace qc::test {

/// What pictures show. Every kind is a function of (content, seed, plane, x, y), so a failing case reproduces from its
/// name.
enum class Content {
    kNatural,      ///< gradients, edges and texture; the distorted side coarser and noisier
    kNoise,        ///< independent full-range noise
    kBinaryNoise,  ///< 0 or the largest code, the distorted side mostly inverted
    kCheckerboard, ///< full swing, 1- and 8-sample squares, the distorted side shifted
    kFlat,         ///< one code against another
    kIdentical     ///< kNatural against itself
};
inline constexpr std::array kAllContents{Content::kNatural,      Content::kNoise, Content::kBinaryNoise,
                                         Content::kCheckerboard, Content::kFlat,  Content::kIdentical};
const char* name_of(Content content);

/// A layout with its FFmpeg name.
struct Layout {
    const char* name;
    qc_chroma chroma;
    int depth, shift, container_bits, semi_planar;
    int rgb = 0, pixel_step = 0;
    std::array<int, 3> sample_offset{}; ///< of G, B, R; packed layouts only
};
extern const std::vector<Layout> kAllLayouts; ///< YUV and gray
extern const std::vector<Layout> kRgbLayouts;
const Layout& layout_named(const std::string& name);

qc_format format_of(const Layout& layout, int width, int height);

/// A frame of a reference and its distorted pictures.
qc_frame frame_of(const qc_picture& reference, const std::vector<qc_picture>& distorted,
                  void (*release)(void*) = nullptr, void* opaque = nullptr);

/// Owns one picture.
class TestPicture {
public:
    /// What channel 0, 1 or 2 shows at (x, y), in counts of the format's depth. Packed pixels that are read in place
    /// have them in this order, and what is left of a pixel of four samples is channel 3; of others, channels are
    /// components.
    using CodeAt = std::function<uint32_t(int channel, int x, int y)>;

    /// @param padding_bytes added to each row, rounded down to the container
    TestPicture(const qc_format& format, const CodeAt& code_at, int padding_bytes = 0, unsigned junk_seed = 0);
    TestPicture(const qc_format& format, Content content, bool distorted, unsigned seed, int padding_bytes = 0);

    /// An 8-bit picture in a planar 10-bit format, samples times four.
    static TestPicture lifted(const TestPicture& source, const qc_format& format);

    /// Rows of `packed` follow each other without padding, planes too, as in a raw file of this layout.
    TestPicture(const qc_format& format, const uint8_t* packed);

    /// Bytes of a packed picture.
    static size_t packed_bytes(const qc_format& format);

    qc_picture view() const;
    const qc_format& format() const { return format_; }
    int planes() const { return planes_; }
    const std::vector<uint8_t>& bytes(int plane) const { return bytes_[static_cast<size_t>(plane)]; }
    ptrdiff_t pitch_bytes(int plane) const { return pitch_[static_cast<size_t>(plane)]; }

private:
    void size_plane(int plane, int padding_bytes);
    void fill_plane(int plane, const CodeAt& code_at, int padding_bytes, unsigned junk_seed);
    void fill_component(int component, const CodeAt& code_at);

    qc_format format_;
    int planes_ = 1;
    int channels(int plane) const;

    std::array<int, 3> samples_{}, rows_{}; ///< per row, interleaved channels counted one by one; rows
    std::array<std::vector<uint8_t>, 3> bytes_;
    std::array<ptrdiff_t, 3> pitch_{};
};

} // namespace qc::test
