// SPDX-License-Identifier: BSD-2-Clause-Patent
// CUDA against the CPU reference where options choose other kernels or other paths through them, and the map that is of
// no metric. Without a GPU every test is skipped, saying why.
#include <gtest/gtest.h>

#include "tests/support/plans.hpp"
#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

/// Windows of other widths, alone and with what else changes the way through the kernels.
TEST(CheckOptions, FloatVifAndFloatMotion) {
    if (!cuda_absence().empty()) GTEST_SKIP() << "needs a GPU: " << cuda_absence();
    const struct {
        const char *layout, *metric, *options;
    } cases[] = {
        {"yuv420p", "float_vif", "float_vif.vif_kernelscale=3.7113"},
        {"p010le", "float_vif", "float_vif.vif_kernelscale=0.5|float_vif.vif_skip_scale0=true"},
        {"nv12", "float_vif", "float_vif.vif_kernelscale=1.5|float_vif.vif_prescale=0.5"},
        {"yuv420p16le", "float_vif", "float_vif.vif_skip_scale0=true|float_vif.vif_prescale=1.3"},
        {"yuv420p", "float_vif", "float_vif.vif_sigma_nsq=0"},
        {"nv12", "float_motion", "float_motion.motion_add_uv=true|float_motion.motion_add_scale1=true"},
        {"p010le", "float_motion", "float_motion.motion_add_uv=true|float_motion.motion_filter_size=3"},
        {"yuv422p10le", "float_motion", "float_motion.motion_add_uv=true"},
        {"yuv444p16le", "float_motion", "float_motion.motion_add_scale1=true|float_motion.motion_filter_size=1"},
    };
    for (const auto& c : cases)
        for (const Content content : {Content::kNatural, Content::kFlat, Content::kCheckerboard}) {
            qc_config config = config_for(layout_named(c.layout), 645, 363, c.metric, QC_BACKEND_CPU);
            config.options = c.options;
            config.batch = 3;
            const Stream stream = make_stream(config, content, 7);
            const RunResult cpu = run(config, stream);
            EXPECT_TRUE(cpu.status.ok()) << cpu.status.text();
            config.backend = QC_BACKEND_CUDA;
            expect_agreement(cpu, run(config, stream), BackendBound{}, std::string(c.layout) + " " + c.options);
        }
}

/// Options that choose other kernels, or other paths through them.
TEST(CheckOptions, Cambi) {
    if (!cuda_absence().empty()) GTEST_SKIP() << "needs a GPU: " << cuda_absence();
    const struct {
        const char* layout;
        int width, height;
        std::string options;
    } cases[] = {
        {"p010le", 641, 363, "cambi.heatmaps_path=" + testing::TempDir() + "/check_cambi"},
        {"nv12", 1920, 1080, "cambi.cambi_high_res_speedup=1080|cambi.cambi_vis_lum_threshold=0.06"},
        {"p010le", 1930, 1081, "cambi.cambi_high_res_speedup=1080|cambi.cambi_max_val=17"},
        {"yuv420p10le", 3840, 2160, "cambi.cambi_high_res_speedup=1080"},
        {"nv12", 3840, 2160, ""},
        {"yuv420p", 640, 360, "cambi.topk=0.001"},
        {"yuv420p10le", 1920, 1080, "cambi.cambi_topk=0.01|cambi.cambi_eotf=pq"},
        {"yuv420p", 640, 360, "cambi.topk=1"},
        {"yuv420p", 640, 360, "cambi.max_log_contrast=0"},
        {"yuv420p10le", 640, 360, "cambi.max_log_contrast=1"},
        {"yuv420p", 640, 360, "cambi.max_log_contrast=3|cambi.topk=0.01"},
        {"p010le", 640, 360, "cambi.max_log_contrast=4"},
        {"yuv420p12le", 640, 360, "cambi.max_log_contrast=5|cambi.enc_bitdepth=8"},
        {"yuv420p", 1280, 720, "cambi.window_size=127"},
        {"yuv420p", 1280, 720, "cambi.window_size=15|cambi.tvi_threshold=0.005"},
        {"nv12", 1280, 720, "cambi.enc_width=854|cambi.enc_height=480"},
        {"nv12", 640, 360, "cambi.full_ref=true"},
        {"yuv420p10le", 640, 360, "cambi.full_ref=true|cambi.src_width=1280|cambi.src_height=720"},
        {"p010le", 640, 360, "cambi.full_ref=true|cambi.enc_width=320|cambi.enc_height=220|cambi.topk=0.01"},
    };
    for (const auto& c : cases)
        for (const Content content : {Content::kNatural, Content::kFlat, Content::kCheckerboard}) {
            qc_config config = config_for(layout_named(c.layout), c.width, c.height, "cambi", QC_BACKEND_CPU);
            config.options = c.options.c_str();
            const Stream stream = make_stream(config, content, 3);
            const RunResult cpu = run(config, stream);
            EXPECT_TRUE(cpu.status.ok()) << cpu.status.text();
            config.backend = QC_BACKEND_CUDA;
            expect_same_bits(cpu, run(config, stream),
                             format("cambi %dx%d %s %s, ", c.width, c.height, c.layout, name_of(content)) + c.options);
        }
}

/// Pictures above 2048x1152 are measured on cells of 2x2 samples.
TEST(CheckOptions, XpsnrCells) {
    if (!cuda_absence().empty()) GTEST_SKIP() << "needs a GPU: " << cuda_absence();
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{2560, 1440}, {2401, 983}, {4096, 2160}})
        for (const char* layout : {"nv12", "p010le", "yuv444p16le", "gray", "rgb24"}) {
            qc_config config = config_for(layout_named(layout), width, height, "xpsnr", QC_BACKEND_CPU);
            const Stream stream = make_stream(config, Content::kNatural, 3);
            for (const double frame_rate : {25.0, 60.0}) {
                config.frame_rate = frame_rate;
                config.backend = QC_BACKEND_CPU;
                const RunResult cpu = run(config, stream);
                config.backend = QC_BACKEND_CUDA;
                expect_same_bits(cpu, run(config, stream),
                                 format("xpsnr %dx%d %s, %g frames per second", width, height, layout, frame_rate));
            }
        }
}

void compare_difference_maps(const Layout& layout, int width, int height) {
    qc_config config = config_for(layout, width, height, "psnr", QC_BACKEND_CPU);
    config.maps = "difference";
    config.map_layout = QC_MAP_LAYOUT_NV12;
    config.map_colours = QC_MAP_COLOURS_HEAT;
    const Stream stream = make_stream(config, Content::kNatural, 3, 2);
    const RunResult cpu = run(config, stream);
    config.backend = QC_BACKEND_CUDA;
    const RunResult cuda = run(config, stream);
    ASSERT_TRUE(cuda.status.ok()) << cuda.status.text();
    expect_same_maps(cpu, cuda, 0, layout.name);
}

/// The map that is of no metric, in every layout and with its pictures in colours.
TEST(CheckMaps, Difference) {
    if (!cuda_absence().empty()) GTEST_SKIP() << "needs a GPU: " << cuda_absence();
    for (const Layout& layout : kAllLayouts) compare_difference_maps(layout, 611, 333);
}

TEST(CheckMaps, SanitizerSample) {
    if (!cuda_absence().empty()) GTEST_SKIP() << "needs a GPU: " << cuda_absence();
    for (const char* layout : {"nv12", "p010le"}) compare_difference_maps(layout_named(layout), 147, 83);
}

} // namespace
} // namespace qc::test
