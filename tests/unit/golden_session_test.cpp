// SPDX-License-Identifier: BSD-2-Clause-Patent
// VMAF v1 whole, from the golden clips' samples to the models' scores, on the CPU backend.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <gtest/gtest.h>

#include "models/builtin_models.hpp"
#include "plan/metric_registry.hpp"
#include "tests/golden/golden_clip.hpp"
#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

/// Views of one frame of an unpacked file.
qc_picture picture_of(const golden::Clip& clip, const std::vector<uint8_t>& bytes, int frame) {
    qc_picture picture{};
    const uint8_t* data = bytes.data() + clip.frame_bytes() * static_cast<size_t>(frame);
    for (int p = 0; p < (clip.chroma_width() > 0 ? 3 : 1); ++p) {
        const size_t width = static_cast<size_t>(p == 0 ? clip.width : clip.chroma_width());
        const size_t height = static_cast<size_t>(p == 0 ? clip.height : clip.chroma_height());
        picture.plane[p] = data;
        picture.pitch_bytes[p] = static_cast<ptrdiff_t>(width * clip.sample_bytes());
        data += width * clip.sample_bytes() * height;
    }
    return picture;
}

qc_format format_of_clip(const golden::Clip& clip) {
    qc_format format{};
    format.width = clip.width;
    format.height = clip.height;
    format.depth = clip.depth;
    format.container_bits = clip.depth == 8 ? 8 : 16;
    format.chroma = clip.chroma_width() == 0             ? QC_CHROMA_400
                    : clip.chroma_width() == clip.width  ? QC_CHROMA_444
                    : clip.chroma_height() < clip.height ? QC_CHROMA_420
                                                         : QC_CHROMA_422;
    return format;
}

/// All scores of the session's models, by name and frame; empty with the session's refusal in `status`.
std::map<std::string, std::vector<double>> score(const golden::Clip& clip, const std::string& models,
                                                 const std::vector<uint8_t>& reference,
                                                 const std::vector<uint8_t>& distorted, Status* status) {
    std::map<std::string, std::vector<double>> scores;
    qc_config config{};
    config.struct_size = sizeof config;
    config.reference = config.distorted[0] = format_of_clip(clip);
    config.model = models.c_str();
    config.backend = QC_BACKEND_CPU;
    config.n_threads = 2;
    std::unique_ptr<Session> session;
    *status = Session::create(config, &session);
    if (!status->ok()) return scores;
    for (int frame = 0; frame < clip.frames && status->ok(); ++frame) {
        const qc_picture picture = picture_of(clip, distorted, frame);
        *status = session->submit(picture_of(clip, reference, frame), &picture, nullptr, nullptr);
    }
    if (status->ok()) *status = session->flush();
    qc_row row{};
    while (status->ok() && session->receive(true, &row) == QC_OK) {
        for (size_t i = 0; i < session->plan().columns.size(); ++i)
            if (session->plan().columns[i].is_model) scores[session->plan().columns[i].name].push_back(row.value[i]);
    }
    return scores;
}

struct Tally {
    size_t compared = 0, different = 0, clips = 0;
    double largest = 0;
};

/// Scores a clip with models whose names in the golden run are theirs. Clips that are refused are left out, and told.
void compare_models(const std::filesystem::path& folder, const golden::Clip& clip, const golden::Json& metrics,
                    const std::string& models, double tolerance, Tally* tally) {
    Status status;
    const auto scores = score(clip, models, golden::unpack(folder, clip.reference_file),
                              golden::unpack(folder, clip.distorted_file), &status);
    if (!status.ok() && status.code() == QC_ERROR_INVALID) {
        std::printf("%s: refused: %s\n", clip.name.c_str(), status.text().c_str());
        return;
    }
    ASSERT_TRUE(status.ok()) << clip.name << ": " << status.text();
    ++tally->clips;
    for (const auto& [name, values] : scores) {
        ASSERT_EQ(values.size(), static_cast<size_t>(clip.frames)) << clip.name << " " << name;
        const bool plain = metrics[name].has("scalar");
        for (size_t frame = 0; frame < values.size(); ++frame) {
            const double expected = metrics[name][plain ? "scalar" : "values"].array[frame].value();
            ++tally->compared;
            if (values[frame] == expected || (std::isnan(values[frame]) && std::isnan(expected))) continue;
            ++tally->different;
            tally->largest = std::max(tally->largest, std::abs(values[frame] - expected));
            EXPECT_NEAR(values[frame], expected, tolerance) << clip.name << " " << name << " frame " << frame;
        }
    }
}

void report(const Tally& tally) {
    std::printf("%zu scores of %zu clips compared, %zu differ, by %g at most\n", tally.compared, tally.clips,
                tally.different, tally.largest);
}

bool is_registered(std::string_view name) {
    const auto registry = registered_metrics();
    return std::any_of(registry.begin(), registry.end(), [&](const auto* metric) { return metric->name == name; });
}

constexpr char kNoClips[] = "SKIPPED: no golden clips (QC_SHARED, or a folder \"shared\" beside the checkout)";

TEST(GoldenSession, Version1Models) {
    const std::filesystem::path folder = golden::folder();
    if (folder.empty()) GTEST_SKIP() << kNoClips;
    ASSERT_TRUE(is_registered("cambi"));
    Tally tally;
    for (const golden::Clip& clip : golden::clips(folder)) {
        const golden::Json golden_file = golden::read_json(folder / "libvmaf" / (clip.name + ".json"));
        const golden::Json& metrics = golden_file["runs"]["models_v1"]["metrics"];
        std::string models;
        for (const std::string_view name : builtin_model_names())
            if (metrics.has(std::string(name)))
                models += (models.empty() ? "" : "|") + std::string("version=") + std::string(name) +
                          ":name=" + std::string(name);
        if (models.empty() || models.find("vmaf_v1") == std::string::npos) continue;
        compare_models(folder, clip, metrics, models, 1e-3, &tally);
        if (HasFatalFailure()) return;
    }
    report(tally);
    EXPECT_GT(tally.compared, 1000u);
}

/// Models over floating-point features. Their features are within 1e-6; a score moves by at most about 100 times that.
TEST(GoldenSession, FloatModels) {
    const std::filesystem::path folder = golden::folder();
    if (folder.empty()) GTEST_SKIP() << kNoClips;
    for (const char* metric : {"float_adm", "float_motion", "float_vif"}) ASSERT_TRUE(is_registered(metric)) << metric;
    Tally tally;
    for (const golden::Clip& clip : golden::clips(folder)) {
        if (std::min(clip.width, clip.height) < 17) continue; // libvmaf reads beyond its bands, we refuse
        const golden::Json golden_file = golden::read_json(folder / "libvmaf" / (clip.name + ".json"));
        const golden::Json& metrics = golden_file["runs"]["models_float"]["metrics"];
        std::string models;
        for (const char* name :
             {"vmaf_float_v0.6.1", "vmaf_float_v0.6.1neg", "vmaf_float_4k_v0.6.1", "vmaf_float_b_v0.6.3"}) {
            const std::filesystem::path file = folder.parent_path() / "models" / (std::string(name) + ".json");
            if (metrics.has(name)) models += (models.empty() ? "path=" : "|path=") + file.string() + ":name=" + name;
        }
        if (models.empty()) continue;
        compare_models(folder, clip, metrics, models, 1e-4, &tally);
        if (HasFatalFailure()) return;
    }
    report(tally);
    EXPECT_GT(tally.compared, 1000u);
}

} // namespace
} // namespace qc::test
