// SPDX-License-Identifier: BSD-2-Clause-Patent
// The engine's own kernels without a GPU: samples lifted to a depth, rings of earlier planes moved on,
// pictures kept whole.
#include <cstring>
#include <utility>
#include <vector>

#include "api/sample_layout.hpp"
#include "cpu/unpack.hpp"
#include "ingest/ingest_kernels.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/pictures.hpp"

namespace qc {
namespace {

template <class Arguments>
void launch(const KernelIdentifier<Arguments>& identifier, Dim3 grid, const Arguments& arguments, bool descending) {
    test::EmulatedProgram emulated(QC_EMULATED_KERNELS(QC_INGEST_KERNELS));
    DeviceProgram& program = emulated;
    LoadedKernel<Arguments> kernel;
    ASSERT_TRUE(program.find(identifier, &kernel).ok());
    test::EmulatedQueue emulated_queue(descending);
    DeviceQueue& queue = emulated_queue;
    ASSERT_TRUE(queue.launch(kernel, grid, arguments).ok());
}

// ---- conversion -----------------------------------------------------------------------------------------------------

struct Lifted {
    int bytes, step, shift_right, shift_left;
};

void expect_conversion(const Lifted& c, bool descending) {
    constexpr int kWidth = 1500, kHeight = 3, kTargetPitch = kWidth + 4; // samples
    constexpr uint16_t kUntouched = 0xa5a5;
    const size_t pitch = static_cast<size_t>(kWidth * c.step + 5) * c.bytes;
    std::vector<uint8_t> source(pitch * kHeight);
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(test::synthetic_hash(i, 1, 2, 3, 4));
    std::vector<uint16_t> target(kTargetPitch * (kHeight + 1), kUntouched);
    ConvertJob job{};
    job.source = source.data();
    job.target = target.data();
    job.source_pitch_bytes = static_cast<uint32_t>(pitch);
    job.target_pitch_bytes = kTargetPitch * 2;
    job.width = kWidth;
    job.height = kHeight;
    job.samples = {
        c.step * c.bytes, ~0u, 0xffff, static_cast<uint8_t>(c.bytes), 0, static_cast<uint8_t>(c.shift_right), 0};
    job.shift_left = static_cast<uint8_t>(c.shift_left);
    job.target_bytes = 2;
    // Fewer columns of threads than samples, one row of blocks too many.
    launch(kernels::qc_convert, Dim3{2, kHeight + 1, 1}, Convert::Arguments{&job}, descending);
    for (int y = 0; y <= kHeight; ++y)
        for (int x = 0; x < kTargetPitch; ++x) {
            uint16_t expected = kUntouched;
            if (y < kHeight && x < kWidth) {
                uint16_t raw = 0;
                std::memcpy(&raw, &source[y * pitch + static_cast<size_t>(x * c.step * c.bytes)], c.bytes);
                expected = static_cast<uint16_t>((raw >> c.shift_right) << c.shift_left);
            }
            ASSERT_EQ(target[static_cast<size_t>(y * kTargetPitch + x)], expected) << x << "," << y;
        }
}

TEST(Ingest, SamplesAreLiftedToTheDepth) {
    const Lifted cases[] = {{1, 1, 0, 2}, {1, 2, 0, 8}, {2, 1, 6, 2}, {2, 2, 0, 0}, {2, 1, 0, 4}};
    for (const Lifted& c : cases)
        for (const bool descending : {false, true}) expect_conversion(c, descending);
}

// ---- unpacking ------------------------------------------------------------------------------------------------------

/// What a component shows; of all bits of the depth.
uint32_t code_at(int component, int x, int y, int depth) {
    return test::synthetic_hash(x, y, component, 8, 9) & ((1u << depth) - 1);
}

constexpr uint8_t kUnwritten = 0xa5;

template <typename Target>
std::vector<Target> unwritten(int columns, int rows) {
    std::vector<Target> samples(static_cast<size_t>(columns) * static_cast<size_t>(rows));
    std::memset(samples.data(), kUnwritten, samples.size() * sizeof(Target));
    return samples;
}

/// A component of a picture, by both backends, between columns and rows that must stay as they are.
template <typename Target>
void expect_unpacked(const test::TestPicture& picture, int component, int depth) {
    const qc_format& format = picture.format();
    const auto [columns, rows] = stored_extent(unpacked_format(format), component);
    const cpu::ComponentRows source = cpu::component_rows(picture.view(), format, component);
    const int left = depth - format.depth, pitch = columns + 3;
    auto by_cpu = unwritten<Target>(pitch, rows + 1), by_kernel = by_cpu, expected = by_cpu;
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
            expected[static_cast<size_t>(y * pitch + x)] = static_cast<Target>(
                code_at(component, x >> source.repeated.across, y >> source.repeated.down, format.depth) << left);
    cpu::unpack_plane(source, left, Plane<Target>{by_cpu.data(), {pitch}, columns, rows});
    EXPECT_EQ(by_cpu, expected) << qc_format_name(&format) << " component " << component;

    ConvertJob job{};
    job.source = source.data;
    job.target = by_kernel.data();
    job.source_pitch_bytes = static_cast<uint32_t>(source.pitch_bytes);
    job.target_pitch_bytes = static_cast<uint32_t>(static_cast<size_t>(pitch) * sizeof(Target));
    job.width = columns;
    job.height = rows;
    job.samples = source.samples;
    job.shift_left = static_cast<uint8_t>(left);
    job.target_bytes = sizeof(Target);
    job.repeat_across = static_cast<uint8_t>(source.repeated.across);
    job.repeat_down = static_cast<uint8_t>(source.repeated.down);
    launch(kernels::qc_convert, Dim3{1, static_cast<unsigned>(rows + 1), 1}, Convert::Arguments{&job}, false);
    EXPECT_EQ(by_kernel, expected) << qc_format_name(&format) << " component " << component << ", kernel";
}

/// Widths where pairs and fours of pixels are cut, and one of many vectors.
TEST(Ingest, EveryLayoutIsUnpacked) {
    for (const char* name :
         {"yuyv422",     "yvyu422",    "uyvy422",     "y210le",         "y210be",   "y212le",  "y216le",
          "vyu444",      "vuyx",       "ayuv",        "uyva",           "xv36le",   "xv36be",  "xv48le",
          "v30xle",      "xv30le",     "x2rgb10le",   "x2bgr10le",      "ayuv64le", "ya8",     "ya16be",
          "nv21",        "nv42",       "nv20be",      "p010be",         "p416be",   "rgb48be", "rgb24",
          "gbrp9be",     "gbrp14le",   "gray9le",     "gray16be",       "yuv410p",  "yuv411p", "yuv440p",
          "yuv440p12be", "yuv420p9le", "yuv444p14be", "yuv444p10msbbe", "nv12",     "p010le",  "yuv420p",
          "yuv422p16le"})
        for (const auto& [width, height] : {std::pair(5, 3), std::pair(70, 4), std::pair(131, 6)}) {
            qc_format format{};
            ASSERT_EQ(qc_format_from_name(name, width, height, &format), QC_OK) << name;
            const test::TestPicture picture(
                format, [&](int component, int x, int y) { return code_at(component, x, y, format.depth); }, 12);
            if (is_read_in_place(format) && format.pixel_step != 0) continue; // their codes go by position
            for (int component = 0; component < (format.chroma == QC_CHROMA_400 ? 1 : 3); ++component) {
                if (format.depth == 8) expect_unpacked<uint8_t>(picture, component, 8);
                expect_unpacked<uint16_t>(picture, component, format.depth);
                if (format.depth <= 10) expect_unpacked<uint16_t>(picture, component, 12);
            }
        }
}

/// What lies above a sample's bits is another's in a word of 32 bits, and too large elsewhere, as on the way to a
/// metric.
TEST(Ingest, SamplesAboveTheLargestCountAsIt) {
    qc_format format{};
    ASSERT_EQ(qc_format_from_name("gray10be", 2, 1, &format), QC_OK);
    const uint8_t words[] = {0xff, 0x01, 0x03, 0xfe};
    qc_picture picture{};
    picture.plane[0] = words;
    picture.pitch_bytes[0] = 4;
    uint16_t samples[2] = {};
    cpu::unpack_plane(cpu::component_rows(picture, format, 0), 0, Plane<uint16_t>{samples, {2}, 2, 1});
    EXPECT_EQ(samples[0], 1023);
    EXPECT_EQ(samples[1], 1022);
}

// ---- history --------------------------------------------------------------------------------------------------------

/// Planes of one stream: a ring of the last ones, and those of a batch, which lie `offset` bytes off what wide copies
/// need. A plane's bytes tell its frame.
struct History {
    static constexpr int kNone = -100; ///< no frame is absent
    static constexpr int kRowBytes = 5000, kHeight = 2, kPitch = 5008;
    std::vector<std::vector<uint8_t>> ring, batch;
    std::vector<DevicePlane> planes;
    HistoryRings rings{};

    static uint8_t byte_of(int frame, int i) { return static_cast<uint8_t>(test::synthetic_hash(i, frame, 5, 6, 7)); }
    static std::vector<uint8_t> plane_of(int frame, int offset) {
        std::vector<uint8_t> plane(static_cast<size_t>(offset + kPitch * kHeight));
        for (int i = 0; i < kPitch * kHeight; ++i) plane[static_cast<size_t>(offset + i)] = byte_of(frame, i);
        return plane;
    }

    /// Frames -depth .. -1 are in the ring, 0 .. frames - 1 in the batch.
    History(int depth, int frames, int offset, int absent) {
        rings.count = 1;
        HistoryRing& only = rings.ring[0];
        only.depth = depth;
        only.pitch_bytes = kPitch;
        only.row_bytes = kRowBytes;
        only.height = kHeight;
        for (int k = 0; k < depth; ++k) ring.push_back(plane_of(-1 - k, 0));
        for (int k = 0; k < depth; ++k) only.plane[k] = ring[static_cast<size_t>(k)].data();
        for (int frame = 0; frame < frames; ++frame) batch.push_back(plane_of(frame, offset));
        for (int frame = 0; frame < frames; ++frame)
            planes.push_back(
                {frame == absent ? nullptr : batch[static_cast<size_t>(frame)].data() + offset, kPitch, 1, 0});
    }
};

TEST(Ingest, RingsMoveOn) {
    for (const bool descending : {false, true})
        for (const int depth : {1, 2})
            for (const int frames : {1, 2, 5})
                for (const int offset : {0, 3})
                    for (const int absent : {History::kNone, frames - 1}) {
                        History history(depth, frames, offset, absent);
                        launch(kernels::qc_keep_history, Dim3{History::kHeight + 1, 1, 1},
                               KeepHistory::Arguments{history.planes.data(), frames, history.rings}, descending);
                        for (int k = 0; k < depth; ++k) {
                            const int frame = frames - 1 - k;
                            if (frame == absent) continue; // nothing of meaning is there
                            const auto& plane = history.ring[static_cast<size_t>(k)];
                            for (int y = 0; y < History::kHeight; ++y)
                                for (int x = 0; x < History::kRowBytes; ++x) {
                                    const int i = y * History::kPitch + x;
                                    ASSERT_EQ(plane[static_cast<size_t>(i)], History::byte_of(frame, i))
                                        << "frame " << frame << " of " << frames << " at " << x << "," << y;
                                }
                        }
                    }
}

// ---- whole pictures -------------------------------------------------------------------------------------------------

/// What a kept plane lies between: samples of so many bytes, `step` apart, the first of them `first` samples behind
/// where the row begins, and that `offset` bytes off what wide copies need.
struct Kept {
    int bytes, step, first, offset, width;
};

void expect_kept(const Kept& c, bool descending) {
    constexpr int kHeight = KeepPictures::kRows + 3, kTargetPitch = 400; // bytes
    constexpr uint8_t kUntouched = 0xa5;
    const size_t pitch = 1024, rows = kHeight;
    // Not a byte more than the last sample takes, for the sanitizers.
    const size_t begin = static_cast<size_t>(c.offset + c.first * c.bytes);
    std::vector<uint8_t> source(begin + pitch * (rows - 1) +
                                static_cast<size_t>(((c.width - 1) * c.step + 1) * c.bytes));
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<uint8_t>(test::synthetic_hash(i, 2, 3, 4, 5));
    std::vector<uint8_t> target(kTargetPitch * (rows + 1), kUntouched);
    KeepJob jobs[2]{};
    jobs[1].source = {source.data() + begin, static_cast<uint32_t>(pitch), static_cast<uint16_t>(c.step), 0};
    jobs[1].target = target.data();
    jobs[1].target_pitch_bytes = kTargetPitch;
    jobs[1].width = c.width;
    jobs[1].height = kHeight;
    jobs[1].sample_bytes = c.bytes;
    launch(kernels::qc_keep_pictures, Dim3{blocks_for(kHeight, KeepPictures::kRows), 2, 1},
           KeepPictures::Arguments{jobs}, descending);
    for (size_t i = 0; i < target.size(); ++i) {
        const size_t y = i / kTargetPitch, byte = i % kTargetPitch, sample = byte / static_cast<size_t>(c.bytes);
        uint8_t expected = kUntouched;
        if (y < rows && sample < static_cast<size_t>(c.width))
            expected = source[begin + y * pitch + sample * static_cast<size_t>(c.step * c.bytes) +
                              byte % static_cast<size_t>(c.bytes)];
        ASSERT_EQ(target[i], expected) << "byte " << byte << " of row " << y << ", step " << c.step << " from "
                                       << c.first << ", offset " << c.offset << ", " << c.bytes << " bytes";
    }
}

TEST(Ingest, WholePicturesAreKeptSampleBesideSample) {
    for (const bool descending : {false, true})
        for (const int bytes : {1, 2})
            for (const int step : {1, 2, 4})
                for (int first = 0; first < step; ++first)
                    for (const int offset : {0, bytes, 6})
                        for (const int width : {1, 8, 33, 120})
                            expect_kept({bytes, step, first, offset, width}, descending);
}

} // namespace
} // namespace qc
