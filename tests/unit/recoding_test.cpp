// SPDX-License-Identifier: BSD-2-Clause-Patent
// Samples that stand for something else: against exact arithmetic, and the kernel against the CPU's rows.
#include <cmath>
#include <vector>

#include "cpu/recoder.hpp"
#include "ingest/ingest_kernels.hpp"
#include "ingest/recode_order.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc {
namespace {

Coding rgb(int depth, bool full = true) {
    Coding coding;
    coding.rgb = true;
    coding.full = full;
    coding.depth = depth;
    return coding;
}

Coding yuv(int depth, bool full, int halved = 0, int location = 0, int matrix = 1) {
    Coding coding;
    coding.full = full;
    coding.depth = depth;
    coding.halved_across = halved > 0;
    coding.halved_down = halved > 1;
    coding.chroma_location = location;
    coding.matrix = matrix;
    return coding;
}

// ---- values ---------------------------------------------------------------------------------------------------------

/// One target sample of a source whose three samples are these.
int sample_of(const Recoding& recoding, int plane, int first, int second, int third) {
    const bool is_chroma = plane > 0 && recoding.kind == kRecodeToYuv;
    const int64_t scale = recoding.kind == kRecodeToRgb ? 1 << kGrowBits : is_chroma ? 1 << kShrinkBits : 1;
    const int32_t* const weight = recoding.weight[plane];
    return recoding.target(
        plane, scale * (int64_t{weight[0]} * first + int64_t{weight[1]} * second + int64_t{weight[2]} * third));
}

struct Scale {
    double zero, span;
};
Scale luma_scale(const Coding& coding) {
    const double step = 1 << (coding.depth - 8);
    return coding.full ? Scale{0, (1 << coding.depth) - 1.0} : Scale{16 * step, 219 * step};
}
Scale chroma_scale(const Coding& coding) {
    const double step = 1 << (coding.depth - 8);
    return {128 * step, coding.full ? (1 << coding.depth) - 1.0 : 224 * step};
}

int rounded(double value, int depth) {
    return static_cast<int>(std::min(std::max(std::floor(value + 0.5), 0.0), (1 << depth) - 1.0));
}

/// Of exact arithmetic, brought into range. @param beyond half of a sample
void expect_rounded(int sample, double exact, int depth, double beyond, const char* what) {
    const double clamped = std::min(std::max(exact, 0.0), (1 << depth) - 1.0);
    ASSERT_LE(std::abs(sample - clamped), 0.5 + beyond) << what << ": " << sample << ", not " << exact;
}

TEST(Recoding, PlanesAreRoundedAsExactArithmeticSays) {
    for (const int from_depth : {8, 9, 10, 12})
        for (const int to_depth : {8, 9, 10, 12, 16})
            for (const bool from_full : {false, true})
                for (const bool to_full : {false, true}) {
                    const Coding from = yuv(from_depth, from_full), to = yuv(to_depth, to_full);
                    if (to_depth < from_depth || from_full == to_full) continue;
                    const Recoding recoding = make_recoding(from, to, 3);
                    const Scale source = luma_scale(from), target = luma_scale(to);
                    for (int code = 0; code < 1 << from_depth; ++code) {
                        const double exact = target.zero + (code - source.zero) * target.span / source.span;
                        ASSERT_NO_FATAL_FAILURE(
                            expect_rounded(sample_of(recoding, 0, code, 0, 0), exact, to_depth, 0.001, "luma"))
                            << code << " of " << from_depth << " bits, full " << from_full << ", to " << to_depth
                            << " bits, full " << to_full;
                    }
                }
}

TEST(Recoding, FullRangeEndsAtTheLargestSample) {
    for (const auto& [depth, deeper] :
         {std::pair{8, 9}, {8, 10}, {8, 12}, {8, 16}, {9, 16}, {10, 12}, {12, 16}, {14, 16}}) {
        const Recoding recoding = make_recoding(yuv(depth, true), yuv(deeper, true), 3);
        const int shift = deeper - depth;
        for (int code = 0; code < 1 << depth; ++code) {
            ASSERT_EQ(sample_of(recoding, 0, code, 0, 0), code << shift | code >> (depth - shift)) << depth;
            ASSERT_EQ(sample_of(recoding, 1, 0, code, 0), code << shift) << depth;
        }
        EXPECT_EQ(sample_of(recoding, 0, (1 << depth) - 1, 0, 0), (1 << deeper) - 1);
    }
}

TEST(Recoding, ChromaChangesItsRangeAroundItsMiddle) {
    for (const bool to_full : {false, true}) {
        const Coding from = yuv(8, !to_full), to = yuv(10, to_full);
        const Recoding recoding = make_recoding(from, to, 3);
        const Scale source = chroma_scale(from), target = chroma_scale(to);
        for (int code = 0; code < 256; ++code) {
            const double exact = target.zero + (code - source.zero) * target.span / source.span;
            ASSERT_EQ(sample_of(recoding, 2, 0, 0, code), rounded(exact, 10)) << code;
        }
    }
}

TEST(Recoding, GrayHasNoColour) {
    for (const int depth : {8, 10, 16})
        for (const bool full : {false, true}) {
            const Coding to = yuv(depth, full);
            const Recoding recoding = make_recoding(rgb(depth), to, 3);
            const Scale source = luma_scale(rgb(depth)), target = luma_scale(to);
            for (int code = 0; code < 1 << depth; code += depth == 16 ? 257 : 1) {
                ASSERT_NO_FATAL_FAILURE(expect_rounded(sample_of(recoding, 0, code, code, code),
                                                       target.zero + code * target.span / source.span, depth, 0.01,
                                                       "gray"));
                EXPECT_EQ(sample_of(recoding, 1, code, code, code), 1 << (depth - 1));
                EXPECT_EQ(sample_of(recoding, 2, code, code, code), 1 << (depth - 1));
            }
        }
}

/// Of BT.709.
TEST(Recoding, ColoursAreThoseOfTheMatrix) {
    const Recoding recoding = make_recoding(rgb(8), yuv(8, false), 3);
    const struct {
        int red, green, blue, luma, cb, cr;
    } kColours[] = {
        {255, 0, 0, 63, 102, 240}, {0, 255, 0, 173, 42, 26}, {0, 0, 255, 32, 240, 118}, {255, 255, 255, 235, 128, 128}};
    for (const auto& c : kColours) {
        EXPECT_EQ(sample_of(recoding, 0, c.green, c.blue, c.red), c.luma);
        EXPECT_EQ(sample_of(recoding, 1, c.green, c.blue, c.red), c.cb);
        EXPECT_EQ(sample_of(recoding, 2, c.green, c.blue, c.red), c.cr);
        const Recoding back = make_recoding(yuv(8, false), rgb(16), 3);
        EXPECT_NEAR(sample_of(back, 2, c.luma, c.cb, c.cr), c.red * 257, 700);
        EXPECT_NEAR(sample_of(back, 0, c.luma, c.cb, c.cr), c.green * 257, 700);
        EXPECT_NEAR(sample_of(back, 1, c.luma, c.cb, c.cr), c.blue * 257, 700);
    }
}

// ---- pictures -------------------------------------------------------------------------------------------------------

/// Where chroma is sited on the 3 x 3 luma samples around it, as sums to 16.
TEST(Recoding, ChromaLiesWhereItsTagSays) {
    const struct {
        int location;
        ShrinkAxis across, down;
    } kSites[] = {
        {0, {2, -1, {1, 2, 1}}, {2, 0, {2, 2, 0}}}, {1, {2, -1, {1, 2, 1}}, {2, 0, {2, 2, 0}}},
        {2, {2, 0, {2, 2, 0}}, {2, 0, {2, 2, 0}}},  {3, {2, -1, {1, 2, 1}}, {2, -1, {1, 2, 1}}},
        {4, {2, 0, {2, 2, 0}}, {2, -1, {1, 2, 1}}}, {5, {2, -1, {1, 2, 1}}, {2, 0, {1, 2, 1}}},
        {6, {2, 0, {2, 2, 0}}, {2, 0, {1, 2, 1}}},
    };
    for (const auto& site : kSites) {
        const Recoding recoding = make_recoding(rgb(8), yuv(8, false, 2, site.location), 3);
        EXPECT_TRUE(recoding.shrink_across == site.across && recoding.shrink_down == site.down) << site.location;
    }
}

template <typename T>
struct Planes {
    std::array<std::vector<T>, 3> samples;
    std::array<PlaneExtent, 3> extent{};

    Planes(const Coding& coding, int width, int height) {
        for (int p = 0; p < 3; ++p) {
            const bool across = p > 0 && coding.halved_across, down = p > 0 && coding.halved_down;
            extent[static_cast<size_t>(p)] = {across ? (width + 1) / 2 : width, down ? (height + 1) / 2 : height};
            samples[static_cast<size_t>(p)].assign(pitch(p) * static_cast<size_t>(rows(p)), T{0xa5});
        }
    }
    int columns(int p) const { return extent[static_cast<size_t>(p)].columns; }
    int rows(int p) const { return extent[static_cast<size_t>(p)].rows; }
    size_t pitch(int p) const { return (static_cast<size_t>(columns(p)) + 15) / 16 * 16; }
    T* data(int p) { return samples[static_cast<size_t>(p)].data(); }
    Plane<T> plane(int p) { return {data(p), {static_cast<ptrdiff_t>(pitch(p))}, columns(p), rows(p)}; }
    bool operator==(const Planes& other) const {
        for (int p = 0; p < 3; ++p)
            for (int y = 0; y < rows(p); ++y)
                for (int x = 0; x < columns(p); ++x)
                    if (samples[static_cast<size_t>(p)][pitch(p) * static_cast<size_t>(y) + static_cast<size_t>(x)] !=
                        other.samples[static_cast<size_t>(p)]
                                     [pitch(p) * static_cast<size_t>(y) + static_cast<size_t>(x)])
                        return false;
        return true;
    }
};

/// How samples lie: in planes; chroma in pairs; in pixels of three or four samples, of which one is unused; in words of
/// 32 bits.
enum Lie { kInPlanes, kInPairs, kInThrees, kInFours, kInWords };

struct Case {
    Coding from, to;
    Lie lie = kInPlanes;
};

/// The samples of a picture, as they lie in memory.
template <typename Source>
class LyingSamples {
public:
    LyingSamples(const Case& c, int width, int height) : planes_(c.from, width, height), lie_(c.lie) {
        const size_t containers = lie_ == kInFours ? 4 : lie_ == kInThrees ? 3 : lie_ == kInPairs ? 2 : 1;
        const size_t columns = lie_ == kInPairs ? planes_.pitch(1) : static_cast<size_t>(width);
        pitch_ = columns * (lie_ == kInWords ? sizeof(uint32_t) : containers * sizeof(Source));
        together_.resize(pitch_ * static_cast<size_t>(height));
        for (size_t i = 0; i < together_.size() / sizeof(Source); ++i)
            reinterpret_cast<Source*>(together_.data())[i] = code(i, 9, c.from.depth);
        if (lie_ == kInWords)
            for (size_t i = 0; i < together_.size(); ++i) together_[i] = static_cast<uint8_t>(code(i, 8, 8));
        for (uint32_t p = 0; p < 3; ++p)
            for (size_t i = 0; i < planes_.samples[p].size(); ++i) planes_.samples[p][i] = code(i, p, c.from.depth);
        largest_ = (1u << c.from.depth) - 1;
    }

    RecodeSource source(int q) {
        const bool is_plain = lie_ == kInPlanes || (lie_ == kInPairs && q == 0);
        RecodeSource source{};
        source.columns = planes_.columns(q);
        source.rows = planes_.rows(q);
        source.samples = {sizeof(Source), ~0u, largest_, sizeof(Source), 0, 0, 0};
        source.data = reinterpret_cast<const uint8_t*>(planes_.data(q));
        source.pitch_bytes = static_cast<uint32_t>(is_plain ? planes_.pitch(q) * sizeof(Source) : pitch_);
        if (is_plain) return source;
        const int place = lie_ == kInWords ? 0 : lie_ == kInPairs ? q - 1 : (q + 1) % 3;
        source.data = together_.data() + static_cast<size_t>(place) * sizeof(Source);
        source.samples.step_bytes *= lie_ == kInPairs ? 2 : lie_ == kInThrees ? 3 : 4;
        if (lie_ == kInWords) source.samples = {4, largest_, largest_, 4, 0, static_cast<uint8_t>(10 * q), 0};
        return source;
    }

private:
    static Source code(size_t i, uint32_t p, int depth) {
        return static_cast<Source>(test::synthetic_hash(i, p, 2, 3, 4) & ((1u << depth) - 1));
    }

    Planes<Source> planes_;
    Lie lie_;
    size_t pitch_;
    uint32_t largest_;
    std::vector<uint8_t> together_;
};

/// Runs all kernels that recode: each leaves the jobs of the others.
void emulate_recoding(const RecodeJob& job, bool descending) {
    test::EmulatedProgram emulated(QC_EMULATED_KERNELS(QC_INGEST_KERNELS));
    DeviceProgram& program = emulated;
    test::EmulatedQueue emulated_queue(descending);
    DeviceQueue& queue = emulated_queue;
    const int across = recode::blocks_across(job), down = recode::blocks_down(job, across);
    for (const auto& identifier : kRecodeKernels) {
        LoadedKernel<RecodeArguments> kernel;
        ASSERT_TRUE(program.find(identifier, &kernel).ok());
        const Dim3 grid{static_cast<unsigned>(across), static_cast<unsigned>(down), 1};
        ASSERT_TRUE(queue.launch(kernel, grid, RecodeArguments{&job}).ok());
    }
}

template <typename Source, typename Target>
void expect_same(const Case& c, int width, int height, bool descending) {
    LyingSamples<Source> samples(c, width, height);
    const Recoding recoding = make_recoding(c.from, c.to, 3);
    Planes<Target> by_rows(c.to, width, height), by_kernel(c.to, width, height);
    cpu::SourcePlanes from;
    RecodeJob job{};
    job.recoding = recoding;
    job.target_bytes = sizeof(Target);
    for (int q = 0; q < recoding.source_planes; ++q) {
        const RecodeSource source = job.source[q] = samples.source(q);
        from.component[static_cast<size_t>(q)] = {
            source.data, static_cast<ptrdiff_t>(source.pitch_bytes), source.samples, {0, 0}};
        from.extent[static_cast<size_t>(q)] = {source.columns, source.rows};
    }
    std::array<Plane<Target>, 3> targets{};
    for (int p = 0; p < 3; ++p) {
        targets[static_cast<size_t>(p)] = by_rows.plane(p);
        job.target[p] = {by_kernel.data(p), static_cast<uint32_t>(by_kernel.pitch(p) * sizeof(Target)),
                         by_kernel.columns(p), by_kernel.rows(p)};
    }
    cpu::recode_planes(from, recoding, nullptr, targets);
    job.pixel_bytes = pixel_bytes_of(job);
    EXPECT_EQ(job.pixel_bytes != 0, c.lie > kInPairs && c.from.rgb) << c.lie;
    find_order(&job);
    emulate_recoding(job, descending);
    EXPECT_TRUE(by_rows == by_kernel) << width << "x" << height << ", depth " << c.from.depth << " to " << c.to.depth
                                      << ", lying " << c.lie << ", to RGB " << c.to.rgb;
}

template <typename Source, typename Target>
void expect_same(const std::vector<Case>& cases, const std::vector<std::pair<int, int>>& sizes) {
    for (const Case& c : cases)
        for (const auto& [width, height] : sizes) expect_same<Source, Target>(c, width, height, width % 2 == 0);
}

TEST(Recoding, TheKernelsMakeWhatTheRowsMake) {
    expect_same<uint8_t, uint8_t>({{yuv(8, true, 2), yuv(8, false, 2)},
                                   {yuv(8, false, 2), yuv(8, true, 2), kInPairs},
                                   {yuv(8, false, 0), yuv(8, true, 0)},
                                   {rgb(8), yuv(8, false, 2, 1)},
                                   {rgb(8), yuv(8, true, 2, 2), kInThrees},
                                   {rgb(8), yuv(8, false, 2, 3), kInFours},
                                   {rgb(8), yuv(8, false, 2, 5), kInThrees},
                                   {rgb(8), yuv(8, false, 1), kInThrees},
                                   {rgb(8, false), yuv(8, false, 0, 0, 9)}},
                                  {{1, 1}, {2, 3}, {5, 2}, {8, 6}, {19, 7}, {32, 4}, {16, 21}, {530, 3}, {9, 75}});
    expect_same<uint8_t, uint16_t>({{yuv(8, true, 1), yuv(10, false, 1)},
                                    {rgb(8), yuv(10, false, 2, 1)},
                                    {rgb(8), yuv(12, false, 2), kInThrees},
                                    {rgb(8), rgb(16), kInFours},
                                    {yuv(8, false, 2, 1), rgb(16)},
                                    {yuv(8, false, 2, 2), rgb(16), kInPairs},
                                    {yuv(8, true, 2, 3), rgb(16)},
                                    {yuv(8, true, 2, 5), rgb(16)},
                                    {yuv(8, false, 1), rgb(16)},
                                    {yuv(8, false, 0), rgb(16)}},
                                   {{1, 1}, {5, 3}, {18, 6}, {32, 37}, {270, 2}});
    expect_same<uint16_t, uint16_t>({{yuv(10, true, 2), yuv(10, false, 2)},
                                     {yuv(10, true, 2), yuv(10, false, 2), kInPairs},
                                     {yuv(12, true, 2), yuv(12, false, 2)},
                                     {rgb(16), yuv(16, true, 2)},
                                     {rgb(16), yuv(16, false, 1), kInThrees},
                                     {rgb(12), rgb(16), kInFours},
                                     {rgb(10), yuv(10, false, 2), kInThrees},
                                     {rgb(10), yuv(10, false, 2, 4), kInFours},
                                     {rgb(10), yuv(10, false, 2, 1), kInWords},
                                     {rgb(10), yuv(10, false, 0)},
                                     {yuv(10, false, 2, 2), rgb(16), kInPairs},
                                     {yuv(16, false, 1), rgb(16)},
                                     {yuv(16, false, 2, 5), rgb(16)}},
                                    {{3, 2}, {17, 5}, {32, 6}, {264, 19}});
}

/// The scalar definition, in one place and without a border: 4:2:0 sited left.
TEST(Recoding, ChromaIsOneRoundingOfTheWeightedSum) {
    constexpr int kWidth = 4, kHeight = 2;
    const Coding to = yuv(8, false, 2, 1);
    Planes<uint8_t> source(rgb(8), kWidth, kHeight), target(to, kWidth, kHeight);
    for (uint32_t p = 0; p < 3; ++p)
        for (size_t i = 0; i < source.samples[p].size(); ++i)
            source.samples[p][i] = static_cast<uint8_t>(test::synthetic_hash(i, p, 7, 7, 7));
    const Recoding recoding = make_recoding(rgb(8), to, 3);
    cpu::SourcePlanes from;
    std::array<Plane<uint8_t>, 3> targets{};
    for (int p = 0; p < 3; ++p) {
        from.component[static_cast<size_t>(p)] = {
            source.data(p), static_cast<ptrdiff_t>(source.pitch(p)), SampleSource{1, ~0u, 255, 1, 0, 0, 0}, {0, 0}};
        from.extent[static_cast<size_t>(p)] = {kWidth, kHeight};
        targets[static_cast<size_t>(p)] = target.plane(p);
    }
    cpu::recode_planes(from, recoding, nullptr, targets);
    for (int p = 1; p < 3; ++p) {
        int64_t sum = 0;
        for (int q = 0; q < 3; ++q)
            for (int y = 0; y < 2; ++y)
                for (int x = 1; x < 4; ++x)
                    sum += int64_t{recoding.weight[p][q]} * (x == 2 ? 4 : 2) *
                           source.samples[static_cast<size_t>(q)]
                                         [source.pitch(q) * static_cast<size_t>(y) + static_cast<size_t>(x)];
        EXPECT_EQ(target.samples[static_cast<size_t>(p)][1], recoding.target(p, sum));
    }
}

} // namespace
} // namespace qc
