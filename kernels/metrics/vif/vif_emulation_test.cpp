// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of VIF without a GPU: every format against the CPU reference, bit for bit.
#include <functional>

#include "metrics/vif/vif.hpp"
#include "metrics/vif/vif_kernels.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::vif {
namespace {

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_VIF_KERNELS);

struct EmulationCase {
    int width, height, depth, shift, count;
    double gain_limit;
    bool skip_scale_0;
    std::vector<int> groups{}; ///< of pairs that have one reference; none: each has its own
    bool has_products = true;  ///< of matrices: of a GPU that the bands' kernel runs on
};

std::ostream& operator<<(std::ostream& stream, const EmulationCase& c) {
    return stream << c.width << "x" << c.height << ", " << c.depth << " bits << " << c.shift << ", " << c.count
                  << " pairs, gain " << c.gain_limit << (c.skip_scale_0 ? ", no scale 0" : "")
                  << (c.has_products ? "" : ", no products of matrices");
}

/// A case's scorer.
struct Prepared {
    explicit Prepared(const EmulationCase& c, bool draws_maps = false)
        : geometry(test::luma_geometry(c.width, c.height, c.depth)), program(kKernels), options(descriptor().options) {
        options.set(1, c.gain_limit);
        options.set(2, c.skip_scale_0);
        metric = create_scorer(descriptor(), geometry, options);
        if (draws_maps) metric->draw_maps();
        if (!c.has_products) program.emulated_capability = 75;
        EXPECT_TRUE(metric->prepare(program).ok());
    }

    FrameGeometry geometry;
    test::EmulatedProgram program;
    OptionValues options;
    std::unique_ptr<Scorer> metric;
};

void expect_emulation_equals_cpu(const EmulationCase& c, bool descending) {
    SCOPED_TRACE(testing::Message() << c);
    const Prepared of(c);
    if (!c.groups.empty())
        return test::expect_ladder_equals_cpu(*of.metric, of.geometry, c.shift, c.groups, descending);
    const auto lumas = test::emulated_lumas(of.geometry, c.shift, 0, c.count);
    test::expect_emulation_equals_cpu(*of.metric, lumas, descending);
}

/// Maps of scale 0, by tiles and by bands, and of scale 1.
TEST(VifEmulation, MapsEqualTheCpu) {
    const EmulationCase cases[] = {{317, 83, 8, 0, 3, 100.0, false},
                                   {317, 83, 8, 0, 2, 1.0, false, {}, false},
                                   {500, 40, 8, 0, 1, 100.0, true},
                                   {157, 45, 10, 6, 2, 100.0, false},
                                   {131, 67, 16, 0, 1, 100.0, true},
                                   {16, 17, 8, 0, 1, 100.0, false},
                                   {250, 33, 12, 4, 1, 100.0, false, {}, true}};
    for (const EmulationCase& c : cases)
        for (const bool descending : {false, true}) {
            SCOPED_TRACE(testing::Message() << c);
            const Prepared of(c, true);
            const auto lumas = test::emulated_lumas(of.geometry, c.shift, 0, c.count);
            test::expect_emulated_maps_equal_cpu(*of.metric, descriptor().map->shape(of.geometry, of.options),
                                                 test::EmulatedPairs(lumas), descending);
        }
}

TEST(VifEmulation, WeightsEqualTheCpu) {
    for (const EmulationCase& c : {EmulationCase{317, 83, 8, 0, 3, 100.0, false},
                                   {250, 40, 8, 0, 1, 1.0, true},
                                   {157, 45, 10, 6, 2, 100.0, false},
                                   {131, 67, 16, 0, 1, 100.0, false},
                                   {16, 17, 8, 0, 1, 100.0, false}}) {
        SCOPED_TRACE(testing::Message() << c);
        OptionValues options(descriptor().options);
        options.set(1, c.gain_limit);
        options.set(2, c.skip_scale_0);
        const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
        test::expect_weighted_emulation_equals_cpu(descriptor(), kKernels, geometry, options,
                                                   test::emulated_lumas(geometry, c.shift, 0, c.count));
    }
}

/// Kernels that count by weights draw as well.
TEST(VifEmulation, MapsWithWeightsEqualTheCpu) {
    for (const bool skip_scale_0 : {false, true}) {
        OptionValues options(descriptor().options);
        options.set(2, skip_scale_0);
        FrameGeometry geometry = test::luma_geometry(157, 45, 8);
        geometry.has_weights = true;
        const auto metric = create_scorer(descriptor(), geometry, options);
        metric->draw_maps();
        test::EmulatedProgram program(kKernels);
        ASSERT_TRUE(metric->prepare(program).ok());
        const auto lumas = test::emulated_lumas(geometry, 0, 0, 1);
        test::EmulatedPairs pairs(lumas);
        const test::EmulatedWeights weights(geometry, &pairs);
        test::expect_emulated_maps_equal_cpu(*metric, descriptor().map->shape(geometry, options), pairs, false);
    }
}

TEST(VifEmulation, EveryFormatEqualsTheCpu) {
    const EmulationCase cases[] = {
        {517, 83, 8, 0, 2, 100.0, false},  {208, 50, 8, 0, 6, 1.0, false},    {240, 64, 8, 0, 1, 100.0, true},
        {257, 45, 10, 0, 5, 100.0, false}, {257, 45, 10, 6, 1, 1.0, false},   {130, 67, 12, 4, 1, 100.0, false},
        {241, 39, 12, 0, 1, 100.0, true},  {300, 50, 16, 0, 3, 100.0, false}, {255, 33, 16, 0, 5, 1.2, true},
    };
    for (const EmulationCase& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

TEST(VifEmulation, WithoutProductsOfMatrices) {
    const EmulationCase cases[] = {{517, 83, 8, 0, 2, 100.0, false, {}, false},
                                   {500, 130, 8, 0, 1, 1.0, false, {}, false},
                                   {257, 45, 10, 6, 2, 100.0, false, {}, false},
                                   {130, 67, 12, 0, 1, 1.0, false, {}, false}};
    for (const EmulationCase& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

/// Samples and what is filtered of them as large as they can be, which the products of bytes must not lose a bit of.
TEST(VifEmulation, ExtremeContentEqualsTheCpu) {
    constexpr int kWidth = 49, kHeight = 37;
    for (const int depth : {8, 9, 10, 12, 16}) {
        const int peak = (1 << depth) - 1;
        const std::function<int(int, int)> patterns[] = {
            [=](int, int) { return peak; },
            [=](int x, int y) { return x % 17 < 9 && y % 13 < 8 ? peak : 0; },
            [=](int x, int y) { return (x + y) % 2 ? peak : 0; },
            [=](int x, int y) { return (x * 7 + y * 13) % 5 < 2 ? peak : 1; },
        };
        const FrameGeometry geometry = test::luma_geometry(kWidth, kHeight, depth);
        std::vector<test::EmulatedPicture> lumas;
        for (const auto& reference : patterns)
            for (const auto& distorted : patterns)
                for (const bool is_distorted : {false, true})
                    lumas.emplace_back(test::SamplePicture(geometry, is_distorted ? distorted : reference),
                                       test::SurfaceLayout{.shift = is_distorted && depth > 8 ? 16 - depth : 0});
        const auto metric = create_scorer(descriptor(), geometry, OptionValues(descriptor().options));
        test::EmulatedProgram program(kKernels);
        ASSERT_TRUE(metric->prepare(program).ok());
        SCOPED_TRACE(depth);
        test::expect_emulation_equals_cpu(*metric, lumas, false);
    }
}

/// Three pairs of a reference on average, so that all of them are scored together where that is faster.
TEST(VifEmulation, LaddersEqualTheCpu) {
    const EmulationCase cases[] = {
        {517, 83, 8, 0, 6, 100.0, false, {6}, false}, {500, 50, 8, 0, 12, 1.0, false, {5, 0, 4, 3}, false},
        {240, 64, 8, 0, 3, 100.0, true, {3}},         {257, 45, 10, 6, 9, 100.0, false, {0, 8, 1}, false},
        {130, 67, 12, 0, 9, 1.2, false, {1, 8, 0}},   {300, 50, 16, 0, 3, 100.0, false, {3}},
    };
    for (const EmulationCase& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

/// The bands of a ladder: any number of pictures, strips that end in the picture or before it, widths and heights
/// around a step and a band, and pitches at which nothing is aligned (those of all pictures but the first differ).
TEST(VifEmulation, LaddersInBandsEqualTheCpu) {
    const EmulationCase cases[] = {
        {517, 83, 8, 0, 6, 100.0, false, {6}},      {500, 50, 8, 0, 12, 1.0, false, {5, 0, 4, 3}},
        {17, 16, 8, 0, 6, 100.0, false, {2, 4}},    {130, 41, 8, 0, 7, 100.0, false, {7}},
        {33, 35, 8, 0, 9, 1.2, false, {1, 7, 1}},   {96, 32, 8, 0, 3, 100.0, false, {3}},
        {97, 17, 8, 0, 6, 100.0, false, {0, 6}},    {1000, 16, 8, 0, 4, 100.0, false, {4}},
        {130, 33, 10, 6, 6, 1.0, false, {0, 5, 1}}, {260, 20, 12, 0, 3, 100.0, false, {3}},
        {33, 35, 10, 0, 9, 1.2, false, {1, 7, 1}},  {97, 34, 9, 7, 3, 100.0, false, {3}},
    };
    for (const EmulationCase& c : cases)
        for (const bool descending : {false, true}) expect_emulation_equals_cpu(c, descending);
}

/// A GPU whose multiprocessors have too little shared memory for that.
TEST(VifEmulation, LaddersWithoutMuchSharedMemory) {
    const FrameGeometry geometry = test::luma_geometry(130, 41, 8);
    const auto metric = create_scorer(descriptor(), geometry, OptionValues(descriptor().options));
    test::EmulatedProgram program(kKernels, ScoreBands<ByteInput>::kSharedBytes);
    ASSERT_TRUE(metric->prepare(program).ok());
    test::expect_ladder_equals_cpu(*metric, geometry, 0, {3}, false);
}

TEST(VifEmulation, SmallSizesEqualTheCpu) {
    for (int height = 16; height <= 40; ++height)
        for (int width = 16; width <= 40; ++width) {
            const bool bytes = (width + height) % 2;
            const int count = width % 2 && height % 2 ? kFewPairs + 1 : 1;
            expect_emulation_equals_cpu(
                {width, height, bytes ? 8 : 10, 0, count, 100.0, width % 7 == 0, {}, height % 4 > 1}, false);
            if (HasFailure()) return;
        }
}

} // namespace
} // namespace qc::vif
