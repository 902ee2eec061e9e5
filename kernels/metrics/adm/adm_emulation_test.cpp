// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of ADM without a GPU, against the CPU backend, bit for bit: every format, sizes around tiles and
// strips, extremes, options.
#include "families/detail_loss/detail_loss_emulation.hpp"
#include "metrics/adm/adm.hpp"
#include "metrics/adm/adm_kernels.hpp"
#include "metrics/adm/adm_test_support.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::adm {
namespace {

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_ADM_KERNELS);

void expect_device_like_cpu(const std::vector<Pair>& pairs, const Assignments& assignments = {}, bool impairment = true,
                            const test::SurfaceLayout& layout = {}, bool descending = false) {
    Assignments all = assignments;
    if (!impairment) all["adm_skip_aim"] = 1;
    test::EmulatedProgram program(kKernels);
    test::EmulatedQueue queue(descending);
    expect_batch_like_cpu(descriptor(), with_options(all), pairs, layout, program, queue);
    EXPECT_EQ(program.uploads(), 0u);
    EXPECT_EQ(queue.launches(), 5);
}

// ---- tests ----------------------------------------------------------------------------------------------------------

TEST(AdmEmulation, SmallSizes) {
    for (int width = kMinimumSize; width <= 66; width++) {
        const int other = kMinimumSize + (width * 7) % 34;
        expect_device_like_cpu({textured(width, other, 8, 1)}, {}, width % 2 == 0, {}, width % 3 == 0);
        expect_device_like_cpu({textured(other, width, 8, 2)}, {}, width % 2 != 0, {}, width % 3 != 0);
        if (HasFatalFailure()) return;
    }
}

TEST(AdmEmulation, SizesAroundTilesAndNarrowBands) {
    for (const auto& size : kTileSizes) {
        expect_device_like_cpu({textured(size[0], size[1], 8, 3)});
        if (HasFatalFailure()) return;
    }
}

TEST(AdmEmulation, DepthsShiftsAndAlignments) {
    each_layout([](int depth, int offset, const test::SurfaceLayout& layout) {
        expect_device_like_cpu({textured(175, 99, depth, 4)}, {}, offset % 2 == 0, layout);
    });
}

TEST(AdmEmulation, Batches) {
    for (const int count : {2, 3, 7}) {
        expect_device_like_cpu(batch_of(count), {}, count % 2 == 0, {}, count == 3);
        if (HasFatalFailure()) return;
    }
}

/// What depends on the reference alone is computed for its first pair, whose row of the accumulators is not the first.
TEST(AdmEmulation, Ladders) {
    struct LadderCase {
        int width, height, depth, shift;
        bool impairment;
        std::vector<int> groups;
    };
    const LadderCase cases[] = {{139, 77, 8, 0, true, {3}},
                                {300, 150, 8, 0, true, {2, 0, 1, 5}},
                                {300, 150, 8, 0, false, {1, 4}},
                                {175, 99, 10, 6, true, {2, 2}},
                                {961, 65, 12, 0, false, {3, 1}}};
    for (const LadderCase& c : cases)
        for (const bool descending : {false, true}) {
            SCOPED_TRACE(testing::Message() << c.width << "x" << c.height << ", " << c.depth << " bits");
            const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
            Assignments assignments;
            if (!c.impairment) assignments["adm_skip_aim"] = 1;
            const auto metric = create_scorer(descriptor(), geometry, with_options(assignments));
            test::EmulatedProgram program(kKernels);
            ASSERT_TRUE(metric->prepare(program).ok());
            test::expect_ladder_equals_cpu(*metric, geometry, c.shift, c.groups, descending);
        }
}

TEST(AdmEmulation, LongStrips) {
    // Enough tiles for strips of several: 34 x 21 at level 0, and a batch.
    const Pair pair = textured(2000, 300, 8, 5);
    expect_device_like_cpu({pair, pair, pair, pair}, {}, true);
    expect_device_like_cpu({pair, pair, pair, pair}, {}, false, {}, true);
}

TEST(AdmEmulation, ExtremeContent) {
    for (const int depth : {8, 16}) {
        expect_device_like_cpu({binary_noise(131, 99, depth, 1)});
        expect_device_like_cpu({full_noise(131, 99, depth, 1)});
        expect_device_like_cpu({checkerboard(131, 99, depth, 1)});
        expect_device_like_cpu({checkerboard(131, 99, depth, 8)});
        expect_device_like_cpu({flat(131, 99, depth, 0, 255)});
        if (HasFatalFailure()) return;
    }
}

TEST(AdmEmulation, Options) {
    const Pair pair = textured(227, 135, 8, 6);
    const Assignments all[] = {{{"adm_enhn_gain_limit", 1}},
                               {{"adm_enhn_gain_limit", 1.2}},
                               {{"adm_skip_scale0", 1}},
                               {{"adm_skip_aim", 1}},
                               {{"adm_csf_mode", 1}},
                               {{"adm_csf_mode", 1}, {"adm_csf_scale", 50}, {"adm_csf_diag_scale", 0.8}},
                               {{"adm_csf_mode", 2}, {"adm_enhn_gain_limit", 1}, {"adm_norm_view_dist", 5}},
                               {{"adm_csf_mode", 3}},
                               {{"adm_norm_view_dist", 4}, {"adm_skip_scale0", 1}, {"adm_enhn_gain_limit", 37.5}}};
    for (const Assignments& assignments : all) {
        expect_device_like_cpu({pair}, assignments);
        if (HasFatalFailure()) return;
    }
}

/// Of level 0 and of level 1, with and without additive impairment, all that the tiles of a picture's edges have.
TEST(AdmEmulation, MapsEqualTheCpu) {
    struct Case {
        int width, height, depth, count;
        bool skip_level_0, skip_aim;
    };
    for (const auto& [width, height, depth, count, skip_level_0, skip_aim] :
         {Case{227, 135, 8, 2, false, false}, Case{175, 99, 10, 1, false, true}, Case{33, 66, 8, 1, false, false},
          Case{501, 211, 8, 1, true, false}, Case{131, 99, 16, 1, true, true}, Case{700, 40, 16, 1, false, false}}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits");
        const OptionValues options = test::options_of(
            descriptor(), {{"adm_skip_scale0", skip_level_0 ? 1.0 : 0.0}, {"adm_skip_aim", skip_aim ? 1.0 : 0.0}});
        const FrameGeometry geometry = test::luma_geometry(width, height, depth);
        const auto metric = create_scorer(descriptor(), geometry, options);
        metric->draw_maps();
        test::EmulatedProgram program(QC_EMULATED_KERNELS(QC_ADM_KERNELS));
        ASSERT_TRUE(metric->prepare(program).ok());
        const auto lumas = test::emulated_lumas(geometry, 0, 0, count);
        for (const bool descending : {false, true})
            test::expect_emulated_maps_equal_cpu(*metric, descriptor().map->shape(geometry, options),
                                                 test::EmulatedPairs(lumas), descending);
    }
}

TEST(AdmEmulation, WeightsEqualTheCpu) {
    struct Case {
        int width, height, depth, shift, count;
        bool skip_level_0, skip_aim;
        double gain_limit = 100.0;
    };
    for (const auto& [width, height, depth, shift, count, skip_level_0, skip_aim, gain_limit] :
         {Case{227, 135, 8, 0, 3, false, false}, Case{175, 99, 10, 6, 1, false, true},
          Case{33, 66, 8, 0, 2, false, false}, Case{501, 211, 8, 0, 1, true, false},
          Case{131, 99, 16, 0, 1, true, true, 1.2}, Case{1000, 40, 12, 0, 2, false, false, 1.0},
          Case{64, 64, 8, 0, 1, false, true}}) {
        SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << depth << " bits");
        const OptionValues options = test::options_of(descriptor(), {{"adm_skip_scale0", skip_level_0 ? 1.0 : 0.0},
                                                                     {"adm_skip_aim", skip_aim ? 1.0 : 0.0},
                                                                     {"adm_enhn_gain_limit", gain_limit}});
        const FrameGeometry geometry = test::luma_geometry(width, height, depth);
        test::expect_weighted_emulation_equals_cpu(descriptor(), kKernels, geometry, options,
                                                   test::emulated_lumas(geometry, shift, 0, count));
    }
}

/// Kernels that count by weights draw as well.
TEST(AdmEmulation, MapsWithWeightsEqualTheCpu) {
    for (const bool skip_level_0 : {false, true}) {
        const OptionValues options = test::options_of(descriptor(), {{"adm_skip_scale0", skip_level_0 ? 1.0 : 0.0}});
        FrameGeometry geometry = test::luma_geometry(227, 135, 8);
        geometry.has_weights = true;
        const auto metric = create_scorer(descriptor(), geometry, options);
        metric->draw_maps();
        test::EmulatedProgram program(kKernels);
        ASSERT_TRUE(metric->prepare(program).ok());
        const auto lumas = test::emulated_lumas(geometry, 0, 0, 2);
        test::EmulatedPairs pairs(lumas);
        const test::EmulatedWeights weights(geometry, &pairs);
        test::expect_emulated_maps_equal_cpu(*metric, descriptor().map->shape(geometry, options), pairs, false);
    }
}

TEST(AdmEmulation, FullHighDefinition) {
    expect_device_like_cpu({textured(1920, 1080, 8, 7)});
}

} // namespace
} // namespace qc::adm
