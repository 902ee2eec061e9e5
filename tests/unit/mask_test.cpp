// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores under a mask, on the CPU backend: against plain computations, against scores without one, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "plan/metric_registry.hpp"
#include "tests/support/plans.hpp"
#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

constexpr int kWidth = 97, kHeight = 65;

using WeightAt = std::function<int(int x, int y)>;

qc_config config_of(const char* metrics, const char* layout = "yuv420p", int width = kWidth, int height = kHeight) {
    qc_config config = config_for(layout_named(layout), width, height, metrics, QC_BACKEND_CPU);
    config.weights = 1;
    return config;
}

std::vector<uint8_t> mask_of(const WeightAt& weight_at, int width, int height) {
    std::vector<uint8_t> mask;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) mask.push_back(static_cast<uint8_t>(weight_at(x, y)));
    return mask;
}

/// Of the size of a configuration's pictures.
std::vector<uint8_t> mask_of(const WeightAt& weight_at, const qc_config& config) {
    return mask_of(weight_at, config.reference.width, config.reference.height);
}

/// No weight twice in a row, and none is left out.
int varied(int x, int y) {
    return (x * 37 + y * 101 + x * y) % 256;
}

RunResult run_well(const qc_config& config, const Stream& stream) {
    RunResult result = run(config, stream);
    EXPECT_TRUE(result.status.ok()) << config.metrics << ": " << result.status.text();
    return result;
}

RunResult run_masked(const qc_config& config, Stream stream, const WeightAt& weight_at) {
    stream.masks.assign(stream.reference.size(), mask_of(weight_at, config));
    return run_well(config, stream);
}

RunResult run_whole(qc_config config, Stream stream) {
    config.weights = 0;
    stream.masks.clear();
    return run_well(config, stream);
}

double score_of(const RunResult& result, const std::string& name, size_t frame = 0) {
    const auto at = std::find(result.names.begin(), result.names.end(), name) - result.names.begin();
    EXPECT_LT(at, static_cast<ptrdiff_t>(result.names.size())) << name;
    return result.values.at(frame).at(static_cast<size_t>(at));
}

struct MaskedMetric {
    std::string name;
    const MetricDescriptor* descriptor;

    /// Pictures that are large enough, and odd.
    int width() const { return std::max(kWidth, descriptor->smallest.width | 1); }
    int height() const { return std::max(kHeight, descriptor->smallest.height | 1); }
    qc_config config(const char* layout = "yuv420p") const {
        return config_of(name.c_str(), layout, width(), height());
    }
    /// How far a score under a mask that lets all through may be from that without one: what weighted sums round
    /// otherwise.
    double rounding() const {
        constexpr std::string_view kRounded[] = {"ciede", "ssim", "float_ssim", "float_ms_ssim", "ssimulacra2"};
        return std::find(std::begin(kRounded), std::end(kRounded), descriptor->name) != std::end(kRounded) ? 1e-6 : 0.0;
    }
};

std::ostream& operator<<(std::ostream& stream, const MaskedMetric& metric) {
    return stream << metric.name;
}

std::string error_of(const qc_config& config) {
    std::unique_ptr<Session> session;
    const Status status = Session::create(config, &session);
    EXPECT_EQ(status.code(), QC_ERROR_UNSUPPORTED) << status.text();
    return status.text();
}

std::vector<MaskedMetric> metrics_with_masks() {
    std::vector<MaskedMetric> metrics;
    for (const MetricDescriptor* metric : registered_metrics())
        if (metric->accepts_weights) metrics.push_back({unambiguous_name(*metric), metric});
    return metrics;
}

// ---- scores ---------------------------------------------------------------------------------------------------------

TEST(Masks, WholeOnesChangeNothing) {
    ASSERT_GE(metrics_with_masks().size(), 5U);
    for (const MaskedMetric& metric : metrics_with_masks())
        for (const char* layout : {"yuv420p", "nv12", "yuv422p10le", "yuv444p16le"}) {
            const qc_config config = metric.config(layout);
            if (config.reference.depth > metric.descriptor->largest_depth) continue;
            const Stream stream = make_stream(config, Content::kNatural, 2);
            const RunResult whole = run_whole(config, stream);
            const RunResult masked = run_masked(config, stream, [](int, int) { return 255; });
            ASSERT_EQ(masked.values.size(), whole.values.size());
            for (size_t f = 0; f < whole.values.size(); ++f)
                for (size_t c = 0; c < whole.names.size(); ++c)
                    EXPECT_NEAR(masked.values[f][c], whole.values[f][c], metric.rounding())
                        << layout << " " << whole.names[c];
        }
}

/// Only shares of the whole count.
TEST(Masks, TheUnitDoesNotMatter) {
    for (const MaskedMetric& metric : metrics_with_masks()) {
        const qc_config config = metric.config();
        const Stream stream = make_stream(config, Content::kNatural, 2);
        const RunResult three = run_masked(config, stream, [](int x, int y) { return x > y ? 60 : 30; });
        const RunResult one = run_masked(config, stream, [](int x, int y) { return x > y ? 2 : 1; });
        for (size_t c = 0; c < one.names.size(); ++c)
            EXPECT_NEAR(three.values[1][c], one.values[1][c], 1e-6) << one.names[c];
    }
}

/// What has no weight cannot be seen: the samples there may be any, as far from the others as windows reach.
TEST(Masks, HiddenSamplesDoNotCount) {
    constexpr int kMaskWidth = 400, kMaskHeight = 180, kEdge = 100, kReach = 160;
    for (const MaskedMetric& metric : metrics_with_masks()) {
        if (metric.name == "cvvdp") continue; // its coarsest band is compared to the mean of the whole picture
        const qc_config masked = config_of(metric.name.c_str(), "yuv420p", kMaskWidth, kMaskHeight);
        qc_config config = masked;
        config.weights = 0;
        Stream stream = make_stream(config, Content::kNatural, 2);
        stream.masks.assign(2, mask_of([](int x, int) { return x < kEdge ? 255 : 0; }, masked));
        const RunResult before = run_well(masked, stream);
        const RunResult whole_before = run_whole(config, stream);
        // Of the pictures' second frame, for metrics that see the reference alone, and its changes.
        for (const auto& [picture, code] : {std::pair{&stream.distorted[0][1], 0}, {&stream.reference[1], 235}})
            for (int p = 0; p < 3; ++p) {
                const int halved = p == 0 ? 1 : 2, from = (kEdge + kReach) / halved, rows = kMaskHeight / halved,
                          columns = kMaskWidth / halved;
                for (int y = 0; y < rows; ++y)
                    std::memset(const_cast<uint8_t*>(picture->bytes(p).data()) + y * picture->pitch_bytes(p) + from,
                                code, static_cast<size_t>(columns - from));
            }
        const RunResult after = run_well(masked, stream);
        EXPECT_EQ(before.values, after.values) << metric;
        EXPECT_NE(whole_before.values, run_whole(config, stream).values) << metric;
    }
}

/// Errors of each plane by the definition, the mask of a chroma sample as the mean of its four.
TEST(Masks, PsnrOfEveryPlane) {
    qc_config config = config_of("psnr");
    config.options = "psnr.enable_mse=true";
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const RunResult result = run_masked(config, stream, varied);
    const char* const names[] = {"mse_y", "mse_cb", "mse_cr"};
    for (int p = 0; p < 3; ++p) {
        const int width = p == 0 ? kWidth : kWidth / 2, height = p == 0 ? kHeight : kHeight / 2;
        const auto sample = [&](const TestPicture& picture, int x, int y) {
            return int{picture.bytes(p)[y * picture.pitch_bytes(p) + x]};
        };
        double sum = 0.0, weights = 0.0;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                double weight = varied(x, y);
                if (p > 0)
                    weight = (varied(2 * x, 2 * y) + varied(2 * x + 1, 2 * y) + varied(2 * x, 2 * y + 1) +
                              varied(2 * x + 1, 2 * y + 1)) /
                             4.0;
                const double error = sample(stream.reference[0], x, y) - sample(stream.distorted[0][0], x, y);
                sum += weight * error * error;
                weights += weight;
            }
        EXPECT_NEAR(score_of(result, names[p]), sum / weights, 1e-9 * sum / weights) << p;
    }
    EXPECT_NE(score_of(result, "mse_y"), score_of(run_whole(config, stream), "mse_y"));
}

/// A mask and what it leaves: their means, by weight, are the mean of all.
TEST(Masks, HalvesMakeTheWhole) {
    struct Mean {
        const char *metric, *options, *score;
        std::function<double(double)> linear; ///< what is averaged, of the score
        double rounding = 1e-9;               ///< relative: 1e-6 of sums in single precision
    };
    const auto itself = [](double score) { return score; };
    const Mean means[] = {
        {"psnr", "psnr.enable_mse=true", "mse_y", itself},
        {"ciede", nullptr, "ciede2000", [](double score) { return std::pow(10.0, (45.0 - score) / 20.0); }},
        {"motion", "motion.debug=true", "integer_motion", itself},
        {"float_motion", nullptr, "motion", itself, 1e-6},
        {"float_moment", nullptr, "float_moment_ref1st", itself},
        {"float_moment", nullptr, "float_moment_dis2nd", itself},
        {"float_ansnr", nullptr, "float_anpsnr", [](double score) { return std::pow(10.0, -score / 10.0); }, 1e-6}};
    for (const Mean& mean : means) {
        qc_config config = config_of(mean.metric);
        config.options = mean.options;
        const Stream stream = make_stream(config, Content::kNatural, 2);
        const double one = mean.linear(score_of(run_masked(config, stream, varied), mean.score, 1));
        const double other = mean.linear(
            score_of(run_masked(config, stream, [](int x, int y) { return 255 - varied(x, y); }), mean.score, 1));
        double weights = 0.0;
        for (const uint8_t weight : mask_of(varied, config)) weights += weight;
        const double share = weights / (255.0 * kWidth * kHeight),
                     all = mean.linear(score_of(run_whole(config, stream), mean.score, 1));
        EXPECT_NEAR(share * one + (1.0 - share) * other, all, mean.rounding * all) << mean.metric;
        EXPECT_GT(std::abs(one - other), 1e-4 * all) << mean.metric;
    }
}

/// VIF's numerators and denominators add up, at every scale.
TEST(Masks, VifOfHalves) {
    for (const std::string metric : {"vif", "float_vif"}) {
        qc_config config = config_of(metric.c_str());
        const std::string options = metric + ".debug=true", prefix = metric == "vif" ? "integer_" : "";
        config.options = options.c_str();
        const Stream stream = make_stream(config, Content::kNatural, 1);
        const RunResult all = run_whole(config, stream), one = run_masked(config, stream, varied);
        const RunResult other = run_masked(config, stream, [](int x, int y) { return 255 - varied(x, y); });
        for (const char* part : {"vif_num_scale", "vif_den_scale"})
            for (int scale = 0; scale < 4; ++scale) {
                const std::string name = prefix + part + std::to_string(scale);
                EXPECT_NEAR(score_of(one, name) + score_of(other, name), score_of(all, name),
                            1e-5 * score_of(all, name))
                    << name;
                EXPECT_GT(score_of(one, name), 0.2 * score_of(all, name)) << name;
            }
    }
}

/// ANSNR's energies, of a place on average: the noise from one score, the signal from both.
TEST(Masks, AnsnrOfHalves) {
    const qc_config config = config_of("float_ansnr");
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const auto energy_of = [](const RunResult& result) {
        return std::pow(10.0, (score_of(result, "float_ansnr") - score_of(result, "float_anpsnr")) / 10.0);
    };
    double weights = 0.0;
    for (const uint8_t weight : mask_of(varied, config)) weights += weight;
    const double share = weights / (255.0 * kWidth * kHeight), all = energy_of(run_whole(config, stream));
    const double one = energy_of(run_masked(config, stream, varied));
    const double other = energy_of(run_masked(config, stream, [](int x, int y) { return 255 - varied(x, y); }));
    EXPECT_NEAR(share * one + (1.0 - share) * other, all, 1e-6 * all);
    EXPECT_GT(std::abs(one - other), 1e-3 * all);
}

TEST(Masks, FloatVifOfResizedPictures) {
    qc_config config = config_of("float_vif");
    config.options = "float_vif.vif_prescale=0.5";
    EXPECT_NE(error_of(config).find("under a mask vif_prescale=0.5 is not supported, only 1 is"), std::string::npos);
}

/// A model sees the features' scores under the mask, whatever else is scored beside.
TEST(Masks, VmafModels) {
    for (const char* model :
         {"vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1", "vmaf_b_v0.6.3", "vmaf_float_v0.6.1"}) {
        qc_config config = config_of("vmaf");
        config.model = model;
        const Stream stream = make_stream(config, Content::kNatural, 3);
        const RunResult whole = run_whole(config, stream);
        EXPECT_EQ(run_masked(config, stream, [](int, int) { return 255; }).values, whole.values) << model;
        const RunResult masked = run_masked(config, stream, varied);
        EXPECT_NE(masked.values, whole.values) << model;
        for (size_t f = 0; f < 3; ++f)
            for (size_t c = 0; c < masked.names.size(); ++c) EXPECT_TRUE(std::isfinite(masked.values[f][c])) << model;
    }
    qc_config config = config_of("vmaf|vif|adm|motion");
    config.model = "vmaf_v0.6.1";
    const Stream stream = make_stream(config, Content::kNatural, 3);
    const RunResult all = run_masked(config, stream, varied);
    for (const char* metric : {"vif", "adm", "motion"}) {
        const RunResult alone = run_masked(config_of(metric), stream, varied);
        for (const std::string& name : alone.names)
            for (size_t f = 0; f < 3; ++f) EXPECT_EQ(score_of(all, name, f), score_of(alone, name, f)) << name;
    }
}

/// One position of the window alone: its value is what the map shows there.
TEST(Masks, SsimOfOnePosition) {
    qc_config config = config_of("ssim");
    config.options = "ssim.scale=3";
    config.maps = "ssim";
    config.map_white = 1.0;
    const Stream stream = make_stream(config, Content::kNatural, 1);
    for (const auto& [x, y] : std::vector<std::pair<int, int>>{{17, 14}, {50, 32}, {31, 47}}) {
        const RunResult result =
            run_masked(config, stream, [x = x, y = y](int u, int v) { return u == x && v == y ? 9 : 0; });
        const double shown = result.maps[0][static_cast<size_t>(y * kWidth + x)] / 255.0;
        EXPECT_NEAR(score_of(result, "float_ssim"), 1.0 - shown, 0.51 / 255.0) << x << "," << y;
    }
}

/// Of the mask's whole, never of the picture's.
TEST(Masks, OfARegion) {
    for (const MaskedMetric& metric : metrics_with_masks()) {
        qc_config config = config_of(metric.name.c_str(), "yuv420p", metric.width() + 44, metric.height() + 27);
        config.roi_x = 12;
        config.roi_y = 20;
        config.roi_width = metric.width();
        config.roi_height = metric.height();
        Stream stream = make_stream(config, Content::kNatural, 1);
        const RunResult whole = run_whole(config, stream);
        stream.masks.assign(1, mask_of([](int, int) { return 255; }, config.roi_width, config.roi_height));
        const RunResult masked = run_well(config, stream);
        for (size_t c = 0; c < whole.names.size(); ++c)
            EXPECT_NEAR(masked.values[0][c], whole.values[0][c], metric.rounding()) << whole.names[c];
    }
}

TEST(Masks, OneForAllRenditions) {
    qc_config config = config_of("psnr|vif");
    config.renditions = 2;
    config.distorted[1] = config.distorted[0];
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const RunResult both = run_masked(config, stream, varied);
    for (size_t k = 0; k < 2; ++k) {
        Stream one;
        one.reference = stream.reference;
        one.distorted.push_back(stream.distorted[k]);
        const RunResult alone = run_masked(config_of("psnr|vif"), one, varied);
        for (size_t c = 0; c < alone.names.size(); ++c)
            EXPECT_EQ(both.values[0][k * alone.names.size() + c], alone.values[0][c]) << k << " " << alone.names[c];
    }
}

TEST(Masks, MapsAreDrawnAsWithoutOne) {
    qc_config config = config_of("psnr|ssim|vif|adm|ssimulacra2|butteraugli");
    const Stream stream = make_stream(config, Content::kNatural, 1);
    for (const char* map : {"difference", "ssim", "vif", "ssimulacra2", "butteraugli", "adm"}) {
        config.maps = map;
        expect_same_maps(run_whole(config, stream), run_masked(config, stream, varied), 0, map);
    }
}

// ---- frames that are left out ---------------------------------------------------------------------------------------

TEST(Masks, WithoutAnyWeightAFrameHasNoScores) {
    for (const MaskedMetric& metric : metrics_with_masks()) {
        const std::string metrics = metric.name + "|psnr";
        const qc_config config = config_of(metrics.c_str(), "yuv420p", metric.width(), metric.height());
        Stream stream = make_stream(config, Content::kNatural, 4);
        stream.masks.assign(4, mask_of(varied, config));
        stream.masks[2].assign(stream.masks[2].size(), 0);
        const RunResult result = run_well(config, stream);
        ASSERT_EQ(result.values.size(), 4U) << metric;
        for (size_t f = 0; f < 4; ++f) {
            EXPECT_EQ(result.weightless[f], f == 2 ? 1 : 0) << metric;
            for (size_t c = 0; c < result.names.size(); ++c) {
                EXPECT_EQ(result.present[f][c], f == 2 ? 0 : 1) << metric << " " << result.names[c];
                EXPECT_EQ(std::isnan(result.values[f][c]), f == 2) << metric << " " << result.names[c];
            }
        }
    }
}

/// Weight that some metric of several does not see: beyond the window's outermost positions.
TEST(Masks, WithoutWeightForOneAllAreLeftOut) {
    qc_config config = config_of("psnr|ssim|vif");
    config.options = "ssim.scale=1";
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const RunResult result = run_masked(config, stream, [](int x, int y) { return x < 4 && y < 20 ? 255 : 0; });
    EXPECT_EQ(result.weightless[0], 1);
    config.metrics = "psnr";
    config.options = nullptr;
    EXPECT_EQ(run_masked(config, stream, [](int x, int y) { return x < 4 && y < 20 ? 255 : 0; }).weightless[0], 0);
}

/// Pooled values, counts and stream-level values are of the other frames.
TEST(Masks, LeftOutFramesAreNotPooled) {
    qc_config config = config_of("psnr");
    config.options = "psnr.enable_apsnr=true";
    Stream stream = make_stream(config, Content::kNatural, 3);
    std::vector<double> means, streams;
    for (const bool with_third : {true, false}) {
        std::unique_ptr<Session> session;
        ASSERT_TRUE(Session::create(config, &session).ok());
        for (size_t f = 0; f < (with_third ? 3 : 2); ++f) {
            const std::vector<uint8_t> mask = mask_of(f == 2 ? [](int, int) { return 0; } : varied, config);
            qc_frame frame = frame_of(stream.reference[f].view(), {stream.distorted[0][f].view()});
            frame.weights.plane[0] = mask.data();
            frame.weights.pitch_bytes[0] = kWidth;
            ASSERT_TRUE(session->submit(frame).ok());
        }
        ASSERT_TRUE(session->flush().ok());
        EXPECT_EQ(session->scored_frames(), 2);
        double mean = 0.0;
        ASSERT_TRUE(session->table(0).pooled(0, QC_POOL_MEAN, &mean).ok());
        means.push_back(mean);
        streams.push_back(session->table(0).aggregates()[0].second);
    }
    EXPECT_EQ(means[0], means[1]);
    EXPECT_EQ(streams[0], streams[1]);
    EXPECT_TRUE(std::isfinite(streams[0]));
}

// ---- what is refused ------------------------------------------------------------------------------------------------

TEST(Masks, MetricsWithoutSuchScores) {
    std::string accepting;
    for (const MaskedMetric& metric : metrics_with_masks())
        accepting += (accepting.empty() ? "" : ", ") + std::string(metric.descriptor->name);
    EXPECT_EQ(error_of(config_of("cambi")),
              "mask=1: cambi has no score under a mask; these metrics have one: " + accepting);
    EXPECT_NE(error_of(config_of("psnr|cambi")).find("cambi has no score under a mask"), std::string::npos);
    qc_config of_model = config_of("vmaf");
    of_model.model = "vmaf_v1.0.16_3d0h";
    EXPECT_NE(error_of(of_model).find("has no score under a mask"), std::string::npos);
    qc_config config = config_of("psnr|cambi");
    config.skip_unsupported = 1;
    EXPECT_EQ(run_masked(config, make_stream(config, Content::kNatural, 1), varied).names,
              run_whole(config_of("psnr"), make_stream(config, Content::kNatural, 1)).names);
}

TEST(Masks, VifOfPicturesThatAreTooLarge) {
    qc_config config = config_for(layout_named("gray"), 8193, 8192, "vif", QC_BACKEND_CPU);
    config.weights = 1;
    EXPECT_NE(error_of(config).find("at most 67108864 samples, these are 8193x8192"), std::string::npos);
    config.reference.width = config.distorted[0].width = 8192;
    std::unique_ptr<Session> session;
    EXPECT_TRUE(Session::create(config, &session).ok());
}

TEST(Masks, PicturesThatDoNotFit) {
    const qc_config config = config_of("psnr");
    const Stream stream = make_stream(config, Content::kNatural, 1);
    const std::vector<uint8_t> mask = mask_of(varied, config);
    const auto refusal = [&](qc_config tried, const std::function<void(qc_picture*)>& change) {
        std::unique_ptr<Session> session;
        EXPECT_TRUE(Session::create(tried, &session).ok());
        qc_frame frame = frame_of(stream.reference[0].view(), {stream.distorted[0][0].view()});
        frame.weights.plane[0] = mask.data();
        frame.weights.pitch_bytes[0] = kWidth;
        change(&frame.weights);
        return session->submit(frame).text();
    };
    EXPECT_EQ(refusal(config, [](qc_picture*) {}), "");
    EXPECT_EQ(refusal(config, [](qc_picture* picture) { picture->plane[0] = nullptr; }),
              "a frame was submitted without its weights, which weights=1 asks for");
    EXPECT_NE(refusal(config, [](qc_picture* picture) { picture->pitch_bytes[0] = kWidth - 1; })
                  .find("the weights: pitch_bytes[0]=96"),
              std::string::npos);
    EXPECT_NE(
        refusal(config, [](qc_picture* picture) { picture->memory = QC_MEMORY_CUDA; }).find("backend=cpu cannot read"),
        std::string::npos);
    qc_config without = config;
    without.weights = 0;
    EXPECT_EQ(refusal(without, [](qc_picture*) {}), "weights were submitted, but the configuration has weights=0");
}

} // namespace
} // namespace qc::test
