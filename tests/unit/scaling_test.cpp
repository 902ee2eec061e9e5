// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scaled pictures: the CPU backend's against plain arithmetic in double precision, and the kernel's, emulated, against
// those of the CPU backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "api/picture.hpp"
#include "api/scaling.hpp"
#include "cpu/host_picture.hpp"
#include "tests/device/emulated_device.hpp"
#include "tests/support/pictures.hpp"
#include "tests/support/sample_picture.hpp"

#ifdef QC_WITH_CUDA
#include "cuda/scaler.hpp"
#endif

namespace qc::test {
namespace {

struct Sizes {
    int width, height, scored_width, scored_height;
};

/// Larger, smaller, twice, half, odd, one axis alone, tiny, and the largest factor.
const std::vector<Sizes> kSizes{{96, 54, 144, 81}, {144, 81, 96, 54}, {64, 36, 128, 72}, {128, 72, 64, 36},
                                {53, 31, 127, 71}, {127, 71, 53, 31}, {40, 70, 61, 70},  {70, 40, 70, 23},
                                {2, 1, 31, 16},    {1, 1, 16, 16},    {16, 48, 1, 3},    {320, 17, 20, 272}};
const std::vector<qc_scaling> kScalings{QC_SCALING_BICUBIC, QC_SCALING_LANCZOS, QC_SCALING_BILINEAR, QC_SCALING_AREA};

/// A session whose distorted pictures are scaled.
struct Scene {
    qc_config config{};
    FrameGeometry geometry;

    Scene(qc_scaling scaling, const Sizes& sizes, const char* layout, const char* reference_layout) {
        config.renditions = 1;
        config.scaling = scaling;
        config.reference = format_of(layout_named(reference_layout), sizes.scored_width, sizes.scored_height);
        config.distorted[0] = format_of(layout_named(layout), sizes.width, sizes.height);
        std::string conflict;
        const Status status = session_geometry(config, &geometry, &conflict);
        EXPECT_TRUE(status.ok() && conflict.empty()) << status.text() << conflict;
    }
    Scene(qc_scaling scaling, const Sizes& sizes, const char* layout) : Scene(scaling, sizes, layout, layout) {}

    const qc_format& format() const { return config.distorted[0]; }
    int planes() const { return geometry.plane_count(); }
    InputScaling scaling() const { return input_scaling(config.scaling, format(), geometry, planes()); }

    std::shared_ptr<const HostPicture> on_cpu(const TestPicture& picture) const {
        const InputScaling tables = scaling();
        return std::make_shared<cpu::PicturePool>(geometry, true)->take_in(picture.view(), format(), &tables);
    }
    int sample(const HostPlane& plane, int x, int y) const {
        return geometry.sample == SampleType::kU8 ? plane.as<uint8_t>().at(x, y) : plane.as<uint16_t>().at(x, y);
    }
};

std::string text_of(qc_scaling scaling, const Sizes& sizes, const std::string& layout) {
    return format("%s %dx%d to %dx%d ", scaling_name(scaling), sizes.width, sizes.height, sizes.scored_width,
                  sizes.scored_height) +
           layout;
}

// ---- plain arithmetic -----------------------------------------------------------------------------------------------

constexpr double kPi = 3.14159265358979323846;

double sinc(double x) {
    return x == 0.0 ? 1.0 : std::sin(kPi * x) / (kPi * x);
}

/// A kernel's weight at a distance in samples of the coarser side.
double kernel_at(qc_scaling scaling, double x) {
    x = std::abs(x);
    if (scaling == QC_SCALING_LANCZOS) return x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
    if (scaling != QC_SCALING_BICUBIC) return std::max(0.0, 1.0 - x);
    const double a = -0.6; // Keys's parameter
    if (x < 1.0) return (a + 2.0) * x * x * x - (a + 3.0) * x * x + 1.0;
    return x < 2.0 ? a * x * x * x - 5.0 * a * x * x + 8.0 * a * x - 4.0 * a : 0.0;
}

/// Overlap of the source sample at k with what a target sample at `centre` covers.
double overlap(double centre, double ratio, int k) {
    return std::max(0.0, std::min(k + 0.5, centre + ratio / 2.0) - std::max(k - 0.5, centre - ratio / 2.0));
}

/// One scaled value of a line that goes on for ever with its outermost samples.
double scaled_at(qc_scaling scaling, double centre, double ratio, int samples, const std::function<double(int)>& line) {
    const double wide = std::max(1.0, ratio);
    const int reach = static_cast<int>(4.0 * wide) + 2, middle = static_cast<int>(std::floor(centre));
    double sum = 0.0, total = 0.0;
    for (int k = middle - reach; k <= middle + reach; ++k) {
        const bool covers = scaling == QC_SCALING_AREA && ratio > 1.0;
        const double weight = covers ? overlap(centre, ratio, k) : kernel_at(scaling, (k - centre) / wide);
        sum += weight * line(std::clamp(k, 0, samples - 1));
        total += weight;
    }
    return sum / total;
}

/// Where the samples of a plane lie along an axis: (i + 1/2) * step + offset luma samples from the edge.
struct Grid {
    double step = 1.0, offset = 0.0;
    double centre(int i, double ratio) const { return (((i + 0.5) * step + offset) * ratio - offset) / step - 0.5; }
};

std::vector<double> expected_plane(const Scene& scene, int p, Grid across, Grid down,
                                   const std::function<double(int, int)>& sample) {
    const qc_scaling scaling = scene.config.scaling;
    const auto [columns, rows] = stored_extent(scene.format(), p);
    const int width = scene.geometry.stored_width(p), height = scene.geometry.stored_height(p);
    const double ratio_x = static_cast<double>(scene.format().width) / scene.geometry.width;
    const double ratio_y = static_cast<double>(scene.format().height) / scene.geometry.height;
    std::vector<double> middle(static_cast<size_t>(width) * static_cast<size_t>(rows)), target;
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < width; ++x)
            middle[static_cast<size_t>(y * width + x)] =
                scaled_at(scaling, across.centre(x, ratio_x), ratio_x, columns, [&](int k) { return sample(k, y); });
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            target.push_back(scaled_at(scaling, down.centre(y, ratio_y), ratio_y, rows,
                                       [&](int k) { return middle[static_cast<size_t>(k * width + x)]; }));
    return target;
}

/// What rounding may make of a sample of the session: half a one, 0.85 of a middle's unit, and weights that are off by
/// a unit each.
double tolerance(const Scene& scene, const InputScaling& scaling, int p) {
    const auto& tables = scaling.plane[static_cast<size_t>(p)];
    const int depth = scene.format().depth, session = scene.geometry.depth;
    const double unit = std::ldexp(1.0, session - (depth <= 12 ? 14 : 16));
    const double weights = 1.7 * (tables.across.taps + tables.down.taps) / kWeightOne;
    return 0.5 + 0.85 * unit + weights * std::ldexp(1.0, session);
}

/// Compares every plane of noise, where all weights count.
void expect_plain_arithmetic(const Scene& scene, Grid across, Grid down, const std::string& what) {
    const TestPicture picture(scene.format(), Content::kNoise, false, 7, 6);
    const auto scaled = scene.on_cpu(picture);
    const InputScaling scaling = scene.scaling();
    const int lift = scene.geometry.depth - scene.format().depth;
    const double brightest = scaling.math.brightest;
    const qc_picture view = picture.view();
    for (int p = 0; p < scene.planes(); ++p) {
        const PlaneSource from = plane_source(scene.format(), p);
        const auto sample = [&](int x, int y) {
            const auto* row = static_cast<const uint8_t*>(view.plane[from.plane]) + y * view.pitch_bytes[from.plane];
            const uint8_t* at = row + from.first_bytes + x * from.step * scene.format().container_bits / 8;
            const int container = scene.format().container_bits == 8 ? at[0] : at[0] + 256 * at[1];
            return std::ldexp(container >> scene.format().shift, lift);
        };
        const bool halved_x = p > 0 && scene.format().chroma != QC_CHROMA_444;
        const bool halved_y = p > 0 && scene.format().chroma == QC_CHROMA_420;
        const std::vector<double> expected =
            expected_plane(scene, p, halved_x ? across : Grid{}, halved_y ? down : Grid{}, sample);
        double worst = 0.0;
        for (int y = 0; y < scene.geometry.stored_height(p); ++y)
            for (int x = 0; x < scene.geometry.stored_width(p); ++x) {
                const double exact = expected[static_cast<size_t>(y * scene.geometry.stored_width(p) + x)];
                worst =
                    std::max(worst, std::abs(scene.sample(scaled->plane[p], x, y) - std::clamp(exact, 0.0, brightest)));
            }
        EXPECT_LE(worst, tolerance(scene, scaling, p)) << what << ", plane " << p;
    }
}

const Grid kLeft{2.0, -0.5}, kCentred{2.0, 0.0}, kRight{2.0, 0.5};

TEST(Scaling, IsWhatPlainArithmeticGives) {
    for (const qc_scaling scaling : kScalings)
        for (const Sizes& sizes : kSizes)
            for (const char* layout :
                 {"gray", "yuv420p", "nv12", "yuv422p10le", "p010le", "yuv444p16le", "yuv420p12le"})
                expect_plain_arithmetic(Scene(scaling, sizes, layout), kLeft, kCentred,
                                        text_of(scaling, sizes, layout));
}

TEST(Scaling, GoesStraightToTheSessionsDepth) {
    for (const auto& [layout, reference] :
         std::vector<std::pair<const char*, const char*>>{{"yuv420p", "yuv420p10le"},
                                                          {"nv12", "p010le"},
                                                          {"p010le", "yuv420p12le"},
                                                          {"yuv420p10le", "yuv420p16le"},
                                                          {"yuv420p", "yuv420p16le"}})
        for (const Sizes& sizes : {kSizes[0], kSizes[5]})
            expect_plain_arithmetic(Scene(QC_SCALING_BICUBIC, sizes, layout, reference), kLeft, kCentred,
                                    text_of(QC_SCALING_BICUBIC, sizes, layout) + " for " + reference);
}

TEST(Scaling, ChromaStaysWhereItIs) {
    const struct {
        int location;
        Grid across, down;
    } cases[] = {{0, kLeft, kCentred},  {1, kLeft, kCentred},  {2, kCentred, kCentred},
                 {3, kLeft, kLeft},     {4, kCentred, kLeft},  {5, kLeft, kRight},
                 {6, kCentred, kRight}, {99, kLeft, kCentred}, {-1, kLeft, kCentred}};
    for (const auto& c : cases)
        for (const char* layout : {"yuv420p", "nv16"})
            for (const Sizes& sizes : {kSizes[2], kSizes[4], kSizes[1]}) {
                Scene scene(QC_SCALING_BICUBIC, sizes, layout);
                scene.config.distorted[0].colour.chroma_location = c.location;
                expect_plain_arithmetic(scene, c.across, c.down, format("location %d, %s", c.location, layout));
            }
}

TEST(Scaling, RgbPlanesAreScaledLikeLuma) {
    for (const char* layout : {"gbrp", "rgb24", "bgr0", "rgb48le"})
        expect_plain_arithmetic(Scene(QC_SCALING_LANCZOS, kSizes[0], layout), {}, {}, layout);
}

/// Flat pictures stay as they are, the darkest and the brightest among them, and so does whatever has its size along an
/// axis.
TEST(Scaling, KeepsWhatNeedsNoScaling) {
    for (const qc_scaling scaling : kScalings)
        for (const uint32_t code : {0u, 77u, 255u}) {
            const Scene scene(scaling, kSizes[4], "yuv420p", "yuv420p10le");
            const auto scaled = scene.on_cpu(TestPicture(scene.format(), [&](int, int, int) { return code; }));
            for (int p = 0; p < 3; ++p)
                for (int y = 0; y < scene.geometry.stored_height(p); ++y)
                    for (int x = 0; x < scene.geometry.stored_width(p); ++x)
                        ASSERT_EQ(scene.sample(scaled->plane[p], x, y), static_cast<int>(code * 4));
        }
    const ScaleTable same = make_scale_table(QC_SCALING_BICUBIC, {50, 50, 99, 99, 2, -0.5});
    EXPECT_EQ(same.taps, 1);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(same.first[static_cast<size_t>(i)], i);
}

/// The bounds that sums of 32 bits and the kernel count on.
TEST(Scaling, WeightsKeepTheirBounds) {
    for (const qc_scaling scaling : kScalings)
        for (const int source : {1, 2, 3, 5, 17, 96, 160, 333})
            for (const int target : {1, 2, 3, 7, 16, 97, 160, 480})
                for (const double offset : {-0.5, 0.0, 0.5}) {
                    if (source > 16 * target || target > 16 * source) continue;
                    const ScaleTable table =
                        make_scale_table(scaling, {source, target, 2 * source, 2 * target, 2, offset});
                    int before = 0;
                    for (size_t i = 0; i < static_cast<size_t>(target); ++i) {
                        const auto begin = table.weight.begin() + static_cast<ptrdiff_t>(i) * table.taps;
                        const auto end = begin + table.taps;
                        const auto magnitude = [](int sum, int weight) { return sum + std::abs(weight); };
                        ASSERT_EQ(std::accumulate(begin, end, 0), kWeightOne);
                        ASSERT_LE(std::accumulate(begin, end, 0, magnitude), kMostWeight);
                        ASSERT_GE(table.first[i], before);
                        ASSERT_LE(table.first[i] + table.taps, source);
                        before = table.first[i];
                    }
                }
}

// ---- kernel ---------------------------------------------------------------------------------------------------------

#ifdef QC_WITH_CUDA
/// Of the pictures that the scaler makes: rows of 64 bytes' multiples.
constexpr SurfaceLayout kTargetLayout{.name = "scaled", .alignment = 64};

/// The same pictures twice in a batch, each with its own target.
void expect_kernel_equals_cpu(const Scene& scene, Content content, bool descending, const std::string& what,
                              int padding_bytes = 6) {
    BackendSetup setup;
    setup.config = &scene.config;
    setup.geometry = scene.geometry;
    setup.needs_chroma = scene.planes() > 1;
    cuda::Scaler scaler(setup);
    EmulatedProgram program(QC_EMULATED_KERNELS(QC_INGEST_KERNELS), 48 * 1024);
    EmulatedQueue queue(descending);
    ASSERT_TRUE(scaler.prepare(program).ok()) << what;
    ASSERT_EQ(scaler.inputs(), 1);
    ASSERT_TRUE(!scaler.scales(0) && scaler.scales(1));
    std::vector<TestPicture> pictures;
    std::vector<Surface> targets;
    std::vector<ScaleJob> jobs(2);
    int count = 0;
    for (const unsigned seed : {1u, 2u}) {
        const TestPicture& picture = pictures.emplace_back(scene.format(), content, false, seed, padding_bytes);
        const qc_picture view = picture.view();
        std::array<uint32_t, 3> pitch{};
        for (int p = 0; p < picture.planes(); ++p)
            pitch[static_cast<size_t>(p)] = static_cast<uint32_t>(view.pitch_bytes[p]);
        const DevicePicture raw = cuda::picture_view(scene.format(), scene.planes(), std::to_array(view.plane), pitch);
        targets.emplace_back(SamplePicture(scene.geometry, [](int, int) { return 0; }), kTargetLayout);
        scaler.add_job(raw, targets.back().device(), 1, jobs.data(), &count);
    }
    ASSERT_TRUE(scaler.enqueue(jobs.data(), count, queue).ok());
    EXPECT_EQ(queue.launches(), 1);
    for (size_t i = 0; i < pictures.size(); ++i) {
        const auto expected = scene.on_cpu(pictures[i]);
        const SamplePicture wanted(scene.geometry,
                                   [&](int p, int x, int y) { return scene.sample(expected->plane[p], x, y); });
        const Surface surface(wanted, kTargetLayout);
        for (int p = 0; p < scene.planes(); ++p)
            ASSERT_TRUE(std::ranges::equal(targets[i].memory(p), surface.memory(p))) << what << ", plane " << p;
    }
}

TEST(ScalingKernel, EqualsTheCpu) {
    for (const qc_scaling scaling : kScalings)
        for (const Sizes& sizes : kSizes)
            for (const char* layout : {"gray", "yuv420p", "nv12", "yuv422p10le", "p010le", "yuv444p16le"})
                for (const bool descending : {false, true})
                    expect_kernel_equals_cpu(Scene(scaling, sizes, layout), Content::kNoise, descending,
                                             text_of(scaling, sizes, layout));
}

TEST(ScalingKernel, EqualsTheCpuAtTheSessionsDepth) {
    for (const auto& [layout, reference] : std::vector<std::pair<const char*, const char*>>{
             {"yuv420p", "yuv420p10le"}, {"nv12", "p010le"}, {"p010le", "yuv420p12le"}, {"yuv420p10le", "yuv420p16le"}})
        for (const Content content : {Content::kNatural, Content::kBinaryNoise})
            expect_kernel_equals_cpu(Scene(QC_SCALING_LANCZOS, {213, 120, 320, 180}, layout, reference), content, false,
                                     std::string(layout) + " for " + reference);
}

TEST(ScalingKernel, ScalesPackedRgb) {
    for (const char* layout : {"gbrp", "rgb24", "bgr0", "rgb48le"})
        expect_kernel_equals_cpu(Scene(QC_SCALING_BICUBIC, kSizes[0], layout), Content::kNoise, false, layout);
}

/// Rows that begin at words or do not, wide enough for whole warps; chroma of all widths; columns behind a warp's last.
TEST(ScalingKernel, ScalesBytesFromWordsAndOneByOne) {
    for (const qc_scaling scaling : {QC_SCALING_BICUBIC, QC_SCALING_LANCZOS})
        for (const Sizes& sizes : {Sizes{1280, 32, 1920, 48}, Sizes{854, 30, 1280, 45}, Sizes{960, 27, 1920, 54},
                                   Sizes{1018, 40, 1031, 41}, Sizes{160, 72, 1300, 500}, Sizes{1079, 64, 1081, 65}})
            for (const char* layout : {"gray", "yuv420p", "nv12", "yuv444p", "rgb24"})
                for (const int padding : {0, 2})
                    expect_kernel_equals_cpu(Scene(scaling, sizes, layout), Content::kNoise, false,
                                             text_of(scaling, sizes, layout) + format(", padding %d", padding),
                                             padding);
}

/// Many source rows for each target row: lower tiles, and shared memory that needs no permission.
TEST(ScalingKernel, ShrinksByTheLargestFactor) {
    for (const qc_scaling scaling : kScalings)
        for (const char* layout : {"yuv420p", "yuv420p16le"})
            expect_kernel_equals_cpu(Scene(scaling, {1040, 1056, 65, 66}, layout), Content::kBinaryNoise, false,
                                     layout);
}
#endif

} // namespace
} // namespace qc::test
