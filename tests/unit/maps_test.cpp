// SPDX-License-Identifier: BSD-2-Clause-Patent
// Maps, on the CPU backend: what is painted, against plain computations; which frames have a map; what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>

#include "ingest/map_paint.hpp"
#include "plan/metric_registry.hpp"
#include "tests/support/plans.hpp"
#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

constexpr int kWidth = 97, kHeight = 65;

qc_config config_of(const char* metrics, const char* map, const char* layout = "yuv420p") {
    qc_config config = config_for(layout_named(layout), kWidth, kHeight, metrics, QC_BACKEND_CPU);
    config.maps = map;
    return config;
}

RunResult run_well(const qc_config& config, const Stream& stream) {
    RunResult result = run(config, stream);
    EXPECT_TRUE(result.status.ok()) << config.maps << ": " << result.status.text();
    return result;
}

std::string error_of(const qc_config& config) {
    std::unique_ptr<Session> session;
    return Session::create(config, &session).text();
}

int luma(const TestPicture& picture, int x, int y) {
    return picture.bytes(
        0)[static_cast<size_t>(y) * static_cast<size_t>(picture.pitch_bytes(0)) + static_cast<size_t>(x)];
}

double mean_level(const std::vector<uint8_t>& gray) {
    return static_cast<double>(std::accumulate(gray.begin(), gray.end(), uint64_t{0})) /
           static_cast<double>(gray.size()) / 255.0;
}

// ---- what is painted ------------------------------------------------------------------------------------------------

TEST(Maps, DifferenceOfEverySample) {
    const qc_config config = config_of("psnr", "difference");
    const Stream stream = make_stream(config, Content::kNatural, 2);
    const RunResult result = run_well(config, stream);
    ASSERT_EQ(result.maps.size(), 2U);
    int worst = 0;
    for (size_t f = 0; f < 2; ++f)
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x) {
                const int difference = std::abs(luma(stream.reference[f], x, y) - luma(stream.distorted[0][f], x, y));
                const int expected = std::min(255, static_cast<int>(std::floor(difference * 255.0 / 32.0 + 0.5)));
                worst = std::max(worst, difference);
                ASSERT_EQ(result.maps[f][static_cast<size_t>(y * kWidth + x)], expected) << x << "," << y;
            }
    EXPECT_GT(worst, 5);
}

/// One natural pair with options of the metric. @param white the value that is painted white
RunResult run_natural(qc_config config, const char* options, double white) {
    config.options = options;
    config.map_white = white;
    return run_well(config, make_stream(config, Content::kNatural, 1));
}

/// Where white is the largest difference there is, the levels are the differences, and their squares psnr's error.
TEST(Maps, DifferenceMakesTheErrorOfPsnr) {
    const RunResult result =
        run_natural(config_of("psnr", "difference"), "psnr.enable_mse=true|psnr.enable_chroma=false", 255.0);
    double sum = 0.0;
    for (const uint8_t level : result.maps[0]) sum += level * level;
    const auto mse = std::find(result.names.begin(), result.names.end(), "mse_y") - result.names.begin();
    ASSERT_LT(mse, static_cast<ptrdiff_t>(result.names.size()));
    EXPECT_NEAR(sum / (kWidth * kHeight), result.values[0][static_cast<size_t>(mse)], 1e-9);
}

/// On the scale of 8 bits, whatever the depth.
TEST(Maps, DifferenceOfMoreBits) {
    const qc_config eight = config_of("psnr", "difference"), ten = config_of("psnr", "difference", "yuv420p10le");
    const Stream stream = make_stream(eight, Content::kNatural, 1);
    Stream lifted;
    lifted.reference.push_back(TestPicture::lifted(stream.reference[0], ten.reference));
    lifted.distorted.resize(1);
    lifted.distorted[0].push_back(TestPicture::lifted(stream.distorted[0][0], ten.reference));
    expect_same_maps(run_well(eight, stream), run_well(ten, lifted), 0, "10 bits");
}

/// The window's positions make the map, and what lies beyond the outermost ones repeats them.
TEST(Maps, MeanOfSsimIsTheScore) {
    const RunResult result = run_natural(config_of("ssim", "ssim"), "ssim.scale=1", 1.0);
    double sum = 0.0;
    for (int y = 5; y < kHeight - 5; ++y)
        for (int x = 5; x < kWidth - 5; ++x) sum += result.maps[0][static_cast<size_t>(y * kWidth + x)];
    EXPECT_NEAR(1.0 - sum / 255.0 / ((kWidth - 10) * (kHeight - 10)), result.values[0][0], 0.5 / 255.0);
    EXPECT_LT(result.values[0][0], 0.97);
    for (int x = 0; x < 5; ++x)
        EXPECT_EQ(result.maps[0][static_cast<size_t>(20 * kWidth + x)], result.maps[0][20 * kWidth + 5]);
}

/// A value of decimated pictures is as large as the samples that it stands for.
TEST(Maps, ValuesOfDecimatedPicturesAreSquares) {
    qc_config config = config_of("ssim", "ssim");
    config.options = "ssim.scale=3";
    const RunResult result = run_well(config, make_stream(config, Content::kNatural, 1));
    const auto level = [&](int x, int y) { return result.maps[0][static_cast<size_t>(y * kWidth + x)]; };
    int changes = 0;
    for (int y = 14; y < 40; ++y)
        for (int x = 14; x < 70; ++x) { // value 0 begins at 5 * 3 - 1
            ASSERT_EQ(level(x, y), level(14 + (x - 14) / 3 * 3, 14 + (y - 14) / 3 * 3)) << x << "," << y;
            changes += level(x, y) != level(x + 3, y) ? 1 : 0;
        }
    EXPECT_GT(changes, 100);
}

/// Lost bits add up to what the numerator lacks.
TEST(Maps, SumOfVifIsWhatTheNumeratorLacks) {
    for (const char* options : {"vif.debug=true", "vif.debug=true|vif.vif_skip_scale0=true"}) {
        const int scale = std::string(options).find("skip") == std::string::npos ? 0 : 1;
        qc_config config = config_of("vif", "vif");
        config.options = options;
        config.map_white = 16.0;
        const RunResult result = run_well(config, make_stream(config, Content::kNatural, 1));
        const auto value = [&](const std::string& name) {
            const auto at = std::find_if(result.names.begin(), result.names.end(), [&](const std::string& score) {
                return score.starts_with(name + std::to_string(scale)); // options show behind it
            });
            return result.values[0][static_cast<size_t>(at - result.names.begin())];
        };
        const int step = 1 << scale, width = kWidth / step, height = kHeight / step;
        double sum = 0.0;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) sum += result.maps[0][static_cast<size_t>(y * step * kWidth + x * step)];
        const double lacking = value("integer_vif_den_scale") - value("integer_vif_num_scale");
        EXPECT_GT(lacking, 100.0);
        EXPECT_NEAR(sum / 255.0 * 16.0, lacking, width * height * 16.0 / 255.0 * 0.1) << options;
    }
}

/// Detail that is gone shows where it was, as far as the wavelet and the masking reach; the border of a tenth is not
/// scored.
TEST(Maps, AdmShowsWhatIsGone) {
    qc_config config = config_for(layout_named("yuv420p"), 240, 200, "adm", QC_BACKEND_CPU);
    config.maps = "adm";
    Stream stream = make_stream(config, Content::kNatural, 1);
    stream.distorted[0][0] = TestPicture(config.reference, Content::kNatural, false, 1);
    auto* const samples = const_cast<uint8_t*>(stream.distorted[0][0].bytes(0).data());
    const ptrdiff_t pitch = stream.distorted[0][0].pitch_bytes(0);
    for (int y = 80; y < 120; ++y) std::memset(samples + y * pitch + 100, 128, 40);
    const RunResult result = run_well(config, stream);
    int inside = 0, outside = 0;
    for (int y = 0; y < 200; ++y)
        for (int x = 0; x < 240; ++x) {
            const int level = result.maps[0][static_cast<size_t>(y * 240 + x)];
            const bool is_gone = x >= 100 && x < 140 && y >= 80 && y < 120;
            const bool is_near = x >= 94 && x < 146 && y >= 74 && y < 126;
            (is_gone ? inside : outside) += is_gone || !is_near ? level : 0;
        }
    EXPECT_GT(inside, 40 * 40 * 10);
    EXPECT_EQ(outside, 0);
    std::memset(samples, 128, static_cast<size_t>(pitch) * 200);
    const RunResult border = run_well(config, stream);
    EXPECT_EQ(border.maps[0][100 * 240 + 4], 0);
    EXPECT_EQ(border.maps[0][4 * 240 + 100], 0);
}

// ---- layouts --------------------------------------------------------------------------------------------------------

TEST(Maps, GrayOfLimitedRange) {
    qc_config config = config_of("psnr", "difference");
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const RunResult full = run_well(config, stream);
    for (const qc_map_layout layout : {QC_MAP_LAYOUT_YUV420P, QC_MAP_LAYOUT_NV12}) {
        config.map_layout = layout;
        const RunResult limited = run_well(config, stream);
        for (size_t i = 0; i < full.maps[0].size(); ++i)
            ASSERT_EQ(limited.maps[0][i], 16 + std::lround(full.maps[0][i] * 219.0 / 255.0)) << i;
        ASSERT_EQ(limited.maps[0].size(), kWidth * kHeight + 2 * 49 * 33U);
        for (size_t i = full.maps[0].size(); i < limited.maps[0].size(); ++i) ASSERT_EQ(limited.maps[0][i], 128) << i;
    }
}

/// The same colours, planar and side by side; the hotter, the brighter.
TEST(Maps, Heat) {
    qc_config config = config_of("psnr", "difference");
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const RunResult gray = run_well(config, stream);
    config.map_colours = QC_MAP_COLOURS_HEAT;
    config.map_layout = QC_MAP_LAYOUT_YUV420P;
    const RunResult planar = run_well(config, stream);
    config.map_layout = QC_MAP_LAYOUT_NV12;
    const RunResult paired = run_well(config, stream);
    constexpr size_t kLuma = kWidth * kHeight, kChroma = 49 * 33U;
    for (size_t i = 0; i < kChroma; ++i) {
        ASSERT_EQ(planar.maps[0][kLuma + i], paired.maps[0][kLuma + 2 * i]) << i;
        ASSERT_EQ(planar.maps[0][kLuma + kChroma + i], paired.maps[0][kLuma + 2 * i + 1]) << i;
    }
    for (size_t i = 0; i < kLuma; ++i) {
        ASSERT_EQ(planar.maps[0][i], paired.maps[0][i]) << i;
        ASSERT_EQ(planar.maps[0][i], heat_of(gray.maps[0][i]).y) << i;
    }
    // Chroma is the mean of four colours; in the last column, which is alone, of two of them twice.
    for (const auto& [x, y] : std::vector<std::pair<int, int>>{{0, 0}, {48, 16}, {20, 32}, {48, 32}}) {
        int sum = 0;
        for (int i = 0; i < 4; ++i) {
            const int u = std::min(2 * x + i % 2, kWidth - 1), v = std::min(2 * y + i / 2, kHeight - 1);
            sum += heat_of(gray.maps[0][static_cast<size_t>(v * kWidth + u)]).cb;
        }
        EXPECT_EQ(planar.maps[0][kLuma + static_cast<size_t>(y * 49 + x)], (sum + 2) / 4) << x << "," << y;
    }
}

TEST(Maps, HeatGrowsBrighterAndStaysLegal) {
    for (int level = 0; level < 256; ++level) {
        const MapColour colour = heat_of(level);
        if (level > 0) EXPECT_GE(colour.y, heat_of(level - 1).y) << level;
        for (const int component : {colour.cb, colour.cr}) {
            EXPECT_GE(component, 16) << level;
            EXPECT_LE(component, 240) << level;
        }
    }
    EXPECT_EQ(heat_of(0).y, 16);
    EXPECT_GT(heat_of(255).y, 225);
}

TEST(Maps, LevelsOfOddValues) {
    EXPECT_EQ(map_level(NAN, 1.0f), 0);
    EXPECT_EQ(map_level(-INFINITY, 1.0f), 0);
    EXPECT_EQ(map_level(INFINITY, 1.0f), 255);
    EXPECT_EQ(map_level(-1.0f, 100.0f), 0);
    EXPECT_EQ(map_level(254.5f, 1.0f), 255);
    EXPECT_EQ(map_level(254.4f, 1.0f), 254);
}

TEST(Maps, ReciprocalsDivide) {
    for (int step = 1; step <= 128; ++step) {
        MapPaint paint{};
        paint.shape = {70000, 70000, 0, 0, step};
        paint.reciprocal = MapPaint::reciprocal_of(step);
        for (int x = 0; x < 32768; x += x % step == step - 1 ? 1 : std::max(1, step - 1 - x % step))
            ASSERT_EQ(paint.column_of(x), x / step) << x << " / " << step;
    }
}

/// Equal pictures: nothing is wrong anywhere, whatever the metric.
TEST(Maps, EqualPicturesAreBlack) {
    for (const MetricDescriptor* metric : mapped_metrics(registered_metrics())) {
        if (metric->name == "cambi") continue; // sees the distorted picture alone
        qc_config config = config_for(layout_named("yuv420p"), 240, 196, "psnr", QC_BACKEND_CPU);
        const std::string name(metric->name);
        config.maps = name.c_str();
        Stream stream = make_stream(config, Content::kNatural, 1);
        stream.distorted[0][0] = TestPicture(config.reference, Content::kNatural, false, 1);
        const RunResult result = run_well(config, stream);
        EXPECT_EQ(result.maps[0], std::vector<uint8_t>(240 * 196, 0)) << name;
    }
}

// ---- which frames have one ------------------------------------------------------------------------------------------

TEST(Maps, FramesThatAreNotScoredAreBlack) {
    qc_config config = config_of("psnr", "difference");
    const Stream stream = make_stream(config, Content::kNatural, 5);
    const RunResult every = run_well(config, stream);
    config.n_subsample = 2;
    const RunResult second = run_well(config, stream);
    for (size_t f = 0; f < 5; ++f) {
        EXPECT_EQ(second.maps[f], f % 2 == 0 ? every.maps[f] : std::vector<uint8_t>(every.maps[f].size(), 0)) << f;
        EXPECT_GT(mean_level(every.maps[f]), 0.01) << f;
    }
}

TEST(Maps, OfTheRenditionThatIsNamed) {
    qc_config config = config_of("psnr", "ssim");
    config.renditions = 3;
    for (int k = 1; k < 3; ++k) config.distorted[k] = config.distorted[0];
    const Stream stream = make_stream(config, Content::kNatural, 2);
    for (int k = 0; k < 3; ++k) {
        config.map_rendition = k;
        qc_config alone = config_of("psnr", "ssim");
        Stream one;
        one.reference = stream.reference;
        one.distorted.push_back(stream.distorted[static_cast<size_t>(k)]);
        expect_same_maps(run_well(alone, one), run_well(config, stream), 0, "rendition " + std::to_string(k));
    }
}

/// What is drawn for the map alone is not among the scores, and changes none.
TEST(Maps, ScoresStayAsTheyAre) {
    qc_config config = config_of("vmaf|psnr", nullptr);
    const Stream stream = make_stream(config, Content::kNatural, 4);
    const RunResult plain = run_well(config, stream);
    for (const char* map : {"difference", "ssim", "vif"}) {
        config.maps = map;
        const RunResult drawn = run_well(config, stream);
        EXPECT_EQ(drawn.names, plain.names) << map;
        EXPECT_EQ(drawn.values, plain.values) << map;
    }
}

/// The instance that is scored draws, with its options.
TEST(Maps, OptionsAreThoseOfTheFirstInstance) {
    qc_config config = config_of("ssim", "ssim");
    config.options = "ssim.scale=4|ssim.enable_db=true";
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const RunResult coarse = run_well(config, stream);
    config.metrics = "psnr";
    config.options = nullptr;
    const RunResult fine = run_well(config, stream);
    EXPECT_NE(coarse.maps, fine.maps);
    qc_config feature = config_of("psnr", "ssim");
    feature.feature = "name=float_ssim:scale=4";
    expect_same_maps(coarse, run_well(feature, stream), 0, "feature");
}

TEST(Maps, AreOfTheRegion) {
    qc_config config = config_of("psnr", "difference");
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const RunResult whole = run_well(config, stream);
    config.roi_x = 12;
    config.roi_y = 20;
    config.roi_width = 33;
    config.roi_height = 18;
    const RunResult part = run_well(config, stream);
    ASSERT_EQ(part.maps[0].size(), 33 * 18U);
    for (int y = 0; y < 18; ++y)
        for (int x = 0; x < 33; ++x)
            ASSERT_EQ(part.maps[0][static_cast<size_t>(y * 33 + x)],
                      whole.maps[0][static_cast<size_t>((y + 20) * kWidth + x + 12)]);
}

TEST(Maps, OfRgbAreOfGreen) {
    qc_config config = config_for(layout_named("gbrp"), 64, 48, "ssimulacra2", QC_BACKEND_CPU);
    config.maps = "difference";
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const RunResult result = run_well(config, stream);
    const int difference = std::abs(luma(stream.reference[0], 10, 10) - luma(stream.distorted[0][0], 10, 10));
    EXPECT_EQ(result.maps[0][10 * 64 + 10], std::min(255, static_cast<int>(difference * 255.0 / 32.0 + 0.5)));
    config.maps = "ssim";
    EXPECT_EQ(error_of(config), "") << "luma is made of RGB for it";
    config.convert = QC_CONVERT_OFF;
    EXPECT_NE(error_of(config).find("maps: float_ssim takes YUV pictures"), std::string::npos) << error_of(config);
}

// ---- what is refused ------------------------------------------------------------------------------------------------

TEST(Maps, NamesThatAreNone) {
    const std::string accepted = ", accepted are difference, ";
    for (const char* name : {"motion", "vmaf", "all", "psnr"}) {
        const std::string error = error_of(config_of("psnr", name));
        EXPECT_EQ(error.find("maps: \"" + std::string(name) + "\" has no map" + accepted), 0U) << error;
        EXPECT_NE(error.find("float_ssim (ssim)"), std::string::npos) << error;
    }
    const std::string error = error_of(config_of("psnr", "nonsense"));
    EXPECT_EQ(error.find("maps: \"nonsense\" is no metric" + accepted), 0U) << error;
}

TEST(Maps, PicturesThatAMetricDoesNotTake) {
    qc_config config = config_for(layout_named("yuv420p"), 12, 12, "psnr", QC_BACKEND_CPU);
    config.maps = "vif";
    EXPECT_EQ(error_of(config).find("maps: vif needs pictures of at least 16x16"), 0U) << error_of(config);
}

TEST(Maps, PicturesThatCannotBePaintedOn) {
    const qc_config config = config_of("psnr", "difference");
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const qc_picture distorted = stream.distorted[0][0].view();
    MapPicture map(QC_MAP_LAYOUT_GRAY, kWidth, kHeight);
    std::unique_ptr<Session> session; // goes first: it paints until then
    ASSERT_TRUE(Session::create(config, &session).ok());
    const auto refusal = [&](const std::function<void(qc_picture&)>& change) {
        qc_frame frame = frame_of(stream.reference[0].view(), {distorted});
        frame.map = map.view();
        change(frame.map);
        return session->submit(frame).text();
    };
    EXPECT_EQ(refusal([](qc_picture& p) { p.memory = QC_MEMORY_CUDA; }), "the map's memory=1: 0 is accepted");
    EXPECT_EQ(refusal([](qc_picture& p) { p.pitch_bytes[0] = 96; }),
              "the map's pitch_bytes[0]=96: 97..2147483647 is accepted");
    EXPECT_EQ(refusal([](qc_picture& p) { p.pitch_bytes[0] = -97; }),
              "the map's pitch_bytes[0]=-97: 97..2147483647 is accepted");
    EXPECT_EQ(refusal([](qc_picture&) {}), "");

    std::unique_ptr<Session> without;
    ASSERT_TRUE(Session::create(config_of("psnr", nullptr), &without).ok());
    qc_frame frame = frame_of(stream.reference[0].view(), {distorted});
    frame.map = map.view();
    EXPECT_EQ(without->submit(frame).text(), "a map's picture was submitted, but the configuration names no map");
}

TEST(Maps, RecordedFramesHaveNone) {
    qc_config config = config_of("psnr", "difference");
    config.backend = QC_BACKEND_RECORDED;
    EXPECT_EQ(error_of(config).find("maps: the backend that is called recorded"), 0U) << error_of(config);
}

} // namespace
} // namespace qc::test
