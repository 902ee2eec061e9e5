// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "tests/support/pictures.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <tuple>

#include "api/picture.hpp"

namespace qc::test {
namespace {

uint32_t hash(uint32_t x, uint32_t y, uint32_t seed) {
    uint32_t h = x * 0x9e3779b1u ^ y * 0x85ebca6bu ^ seed * 0xc2b2ae35u;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    return h ^ (h >> 15);
}

/// 0..255: a moving gradient, blocks, and texture in every third column of blocks.
int natural(int x, int y, unsigned seed) {
    const int shift = static_cast<int>(seed % 7);
    const int gradient = (x * 3 + y * 2 + shift * 5) / 4 % 160;
    const int edge = (((x + shift) / 13 + y / 11) & 1) * 40;
    const int textured = ((x + shift) / 24) % 3 == 1;
    const int texture = textured ? static_cast<int>(hash(x, y, 77) % 48) : 0;
    return std::min(255, 20 + gradient + edge + texture);
}

int coarser(int value, int x, int y, unsigned seed) {
    const int noise = static_cast<int>(hash(x, y, seed + 1000) % 9) - 4;
    return std::clamp(value / 6 * 6 + noise, 0, 255);
}

uint32_t code(Content content, bool distorted, unsigned seed, int x, int y, int depth) {
    const uint32_t top = (1u << depth) - 1;
    const int lift = depth - 8;
    switch (content) {
    case Content::kIdentical:
    case Content::kNatural: {
        int value = natural(x, y, seed);
        if (distorted && content == Content::kNatural) value = coarser(value, x, y, seed);
        const uint32_t fine = lift > 0 ? hash(x, y, seed) >> (32 - lift) : 0;
        return std::min(top, (static_cast<uint32_t>(value) << lift) + fine);
    }
    case Content::kNoise:
        return hash(x, y, seed * 2 + (distorted ? 1 : 0)) & top;
    case Content::kBinaryNoise: {
        const bool high = (hash(x, y, seed) & 1) != 0;
        const bool flip = distorted && hash(x, y, seed + 5) % 4 != 0;
        return high != flip ? top : 0;
    }
    case Content::kCheckerboard: {
        const int size = seed % 2 == 0 ? 1 : 8;
        return (((x + (distorted ? 1 : 0)) / size + y / size) & 1) != 0 ? top : 0;
    }
    case Content::kFlat:
        return distorted ? top / 2 + 1 : top / 2;
    }
    return 0;
}

} // namespace

const char* name_of(Content content) {
    constexpr std::array<const char*, 6> names{"natural", "noise", "binary_noise", "checkerboard", "flat", "identical"};
    return names[static_cast<size_t>(content)];
}

const std::vector<Layout> kAllLayouts{
    {"gray", QC_CHROMA_400, 8, 0, 8, 0},          {"yuv420p", QC_CHROMA_420, 8, 0, 8, 0},
    {"yuv422p", QC_CHROMA_422, 8, 0, 8, 0},       {"yuv444p", QC_CHROMA_444, 8, 0, 8, 0},
    {"nv12", QC_CHROMA_420, 8, 0, 8, 1},          {"nv16", QC_CHROMA_422, 8, 0, 8, 1},
    {"gray10le", QC_CHROMA_400, 10, 0, 16, 0},    {"yuv420p10le", QC_CHROMA_420, 10, 0, 16, 0},
    {"yuv422p10le", QC_CHROMA_422, 10, 0, 16, 0}, {"yuv444p10le", QC_CHROMA_444, 10, 0, 16, 0},
    {"p010le", QC_CHROMA_420, 10, 6, 16, 1},      {"p210le", QC_CHROMA_422, 10, 6, 16, 1},
    {"yuv420p12le", QC_CHROMA_420, 12, 0, 16, 0}, {"p012le", QC_CHROMA_420, 12, 4, 16, 1},
    {"yuv420p16le", QC_CHROMA_420, 16, 0, 16, 0}, {"yuv444p16le", QC_CHROMA_444, 16, 0, 16, 0},
    {"p016le", QC_CHROMA_420, 16, 0, 16, 1},      {"yuv444p10msb", QC_CHROMA_444, 10, 6, 16, 0},
    {"yuv420p9le", QC_CHROMA_420, 9, 0, 16, 0},   {"yuv420p14le", QC_CHROMA_420, 14, 0, 16, 0},
};

const std::vector<Layout> kRgbLayouts{
    {"gbrp", QC_CHROMA_444, 8, 0, 8, 0, 1, 0, {}},
    {"rgb24", QC_CHROMA_444, 8, 0, 8, 0, 1, 3, {1, 2, 0}},
    {"bgr0", QC_CHROMA_444, 8, 0, 8, 0, 1, 4, {1, 0, 2}},
    {"gbrp10le", QC_CHROMA_444, 10, 0, 16, 0, 1, 0, {}},
    {"gbrp12le", QC_CHROMA_444, 12, 0, 16, 0, 1, 0, {}},
    {"gbrp16le", QC_CHROMA_444, 16, 0, 16, 0, 1, 0, {}},
    {"rgb48le", QC_CHROMA_444, 16, 0, 16, 0, 1, 3, {1, 2, 0}},
};

const Layout& layout_named(const std::string& name) {
    for (const auto* layouts : {&kAllLayouts, &kRgbLayouts})
        for (const Layout& layout : *layouts)
            if (name == layout.name) return layout;
    throw std::invalid_argument("no layout " + name);
}

qc_format format_of(const Layout& layout, int width, int height) {
    qc_format format{};
    format.width = width;
    format.height = height;
    format.chroma = layout.chroma;
    std::tie(format.depth, format.shift, format.container_bits) =
        std::tie(layout.depth, layout.shift, layout.container_bits);
    format.semi_planar = layout.semi_planar;
    format.rgb = layout.rgb;
    format.pixel_step = layout.pixel_step;
    std::copy(layout.sample_offset.begin(), layout.sample_offset.end(), format.sample_offset);
    return format;
}

qc_frame frame_of(const qc_picture& reference, const std::vector<qc_picture>& distorted, void (*release)(void*),
                  void* opaque) {
    qc_frame frame{};
    frame.reference = reference;
    std::copy(distorted.begin(), distorted.end(), frame.distorted);
    frame.release = release;
    frame.opaque = opaque;
    return frame;
}

TestPicture::TestPicture(const qc_format& format, const CodeAt& code_at, int padding_bytes, unsigned junk_seed)
    : format_(format) {
    planes_ = stored_planes(format);
    for (int p = 0; p < planes_; ++p) fill_plane(p, code_at, padding_bytes, junk_seed);
    const int components = format.chroma == QC_CHROMA_400 ? 1 : 3;
    for (int i = 0; i < components && !is_read_in_place(format); ++i) fill_component(i, code_at);
}

TestPicture::TestPicture(const qc_format& format, Content content, bool distorted, unsigned seed, int padding_bytes)
    : TestPicture(
          format,
          [&](int channel, int x, int y) {
              return code(content, distorted, seed + static_cast<unsigned>(channel) * 31, x, y, format.depth);
          },
          padding_bytes, seed + 99) {}

TestPicture::TestPicture(const qc_format& format, const uint8_t* packed) : format_(format) {
    planes_ = stored_planes(format);
    for (int p = 0; p < planes_; ++p) {
        size_plane(p, 0);
        std::vector<uint8_t>& bytes = bytes_[static_cast<size_t>(p)];
        std::memcpy(bytes.data(), packed, bytes.size());
        packed += bytes.size();
    }
}

size_t TestPicture::packed_bytes(const qc_format& format) {
    const TestPicture empty(format, Content::kFlat, false, 0);
    size_t total = 0;
    for (int p = 0; p < empty.planes(); ++p) total += empty.bytes(p).size();
    return total;
}

/// Interleaved in a plane.
int TestPicture::channels(int plane) const {
    if (format_.pixel_step != 0) return format_.pixel_step;
    return plane > 0 && format_.semi_planar != 0 ? 2 : 1;
}

void TestPicture::size_plane(int plane, int padding_bytes) {
    const auto p = static_cast<size_t>(plane);
    const StoredPlane stored = stored_plane(format_, plane);
    const int sample_bytes = format_.container_bits / 8;
    rows_[p] = stored.rows;
    samples_[p] = static_cast<int>(stored.row_bytes) / sample_bytes;
    pitch_[p] = stored.row_bytes + padding_bytes / sample_bytes * sample_bytes;
    bytes_[p].resize(static_cast<size_t>(pitch_[p] * rows_[p]));
}

void TestPicture::fill_plane(int plane, const CodeAt& code_at, int padding_bytes, unsigned junk_seed) {
    size_plane(plane, padding_bytes);
    const auto p = static_cast<size_t>(plane);
    const int channels = this->channels(plane);
    const int sample_bytes = format_.container_bits / 8;
    std::vector<uint8_t>& bytes = bytes_[p];
    for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<uint8_t>(hash(static_cast<uint32_t>(i), 3, junk_seed));
    if (!is_read_in_place(format_)) return; // component by component
    for (int y = 0; y < rows_[p]; ++y)
        for (int x = 0; x < samples_[p]; ++x) {
            const int channel = plane + x % channels; // 1: Cb, 2: Cr
            const uint32_t sample = code_at(channel, x / channels, y) << format_.shift;
            uint8_t* target = bytes.data() + y * pitch_[p] + static_cast<ptrdiff_t>(x) * sample_bytes;
            target[0] = static_cast<uint8_t>(sample);
            if (sample_bytes == 2) target[1] = static_cast<uint8_t>(sample >> 8);
        }
}

/// Puts a component's samples where the format says that they are; all other bits stay junk.
void TestPicture::fill_component(int component, const CodeAt& code_at) {
    const auto [columns, rows] = stored_extent(format_, component);
    const PlaneSource from = plane_source(format_, component);
    const SampleSource samples = sample_source(format_, component);
    const auto p = static_cast<size_t>(from.plane);
    const bool owns_container = samples.bytes < 4; // below and above the sample there may be anything, and zeros
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x) {
            uint8_t* const at =
                &bytes_[p][static_cast<size_t>(y * pitch_[p] + x * samples.step_bytes) + from.first_bytes];
            const auto byte_at = [&](int i) -> uint8_t& {
                return at[samples.swapped != 0 ? samples.bytes - 1 - i : i];
            };
            uint32_t container = 0;
            for (int i = 0; i < samples.bytes; ++i) container |= static_cast<uint32_t>(byte_at(i)) << (8 * i);
            const uint32_t kept = owns_container ? (1u << samples.shift) - 1 : ~(samples.largest << samples.shift);
            container = (container & kept) | code_at(component, x, y) << samples.shift;
            for (int i = 0; i < samples.bytes; ++i) byte_at(i) = static_cast<uint8_t>(container >> (8 * i));
        }
}

TestPicture TestPicture::lifted(const TestPicture& source, const qc_format& format) {
    TestPicture picture(format, Content::kFlat, false, 0);
    const bool interleaved = source.format_.semi_planar != 0;
    for (size_t p = 0; p < static_cast<size_t>(picture.planes_); ++p) {
        const size_t from = interleaved && p > 0 ? 1 : p;
        const size_t step = interleaved && p > 0 ? 2 : 1, first = interleaved && p == 2 ? 1 : 0;
        const size_t columns = static_cast<size_t>(picture.pitch_[p]) / 2;
        const size_t rows = picture.bytes_[p].size() / static_cast<size_t>(picture.pitch_[p]);
        for (size_t y = 0; y < rows; ++y)
            for (size_t x = 0; x < columns; ++x) {
                const uint8_t sample =
                    source.bytes_[from][y * static_cast<size_t>(source.pitch_[from]) + x * step + first];
                uint8_t* target = &picture.bytes_[p][y * static_cast<size_t>(picture.pitch_[p]) + 2 * x];
                target[0] = static_cast<uint8_t>(sample << 2);
                target[1] = static_cast<uint8_t>(sample >> 6);
            }
    }
    return picture;
}

qc_picture TestPicture::view() const {
    qc_picture picture{};
    for (int p = 0; p < planes_; ++p) {
        picture.plane[p] = bytes_[static_cast<size_t>(p)].data();
        picture.pitch_bytes[p] = pitch_[static_cast<size_t>(p)];
    }
    return picture;
}

} // namespace qc::test
