// SPDX-License-Identifier: BSD-2-Clause-Patent
// examples/score_yuv.c as a user has it: its scores are the engine's, its messages say what is wrong, and it builds
// against what is installed.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "tests/support/c_session.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::test {
namespace {

namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

const char* format_name(const SyntheticClip& clip) {
    return clip.chroma == QC_CHROMA_444   ? "yuv444p16"
           : clip.chroma == QC_CHROMA_422 ? "yuv422p12"
           : clip.depth == 10             ? "yuv420p10"
                                          : "yuv420p";
}

/// A folder with the two files of a clip, and what a program run there said.
class ScoreYuv : public testing::Test {
protected:
    ScoreYuv() : folder_(fs::temp_directory_path() / format("qc_score_yuv_%d", static_cast<int>(getpid()))) {
        fs::create_directories(folder_);
    }
    ~ScoreYuv() override { fs::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string text(const std::string& name) const {
        std::ifstream file(path(name));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Writes "reference" and "distorted".
    void write_clip(const SyntheticClip& clip) const {
        for (const bool distorted : {false, true}) {
            std::vector<uint8_t> bytes;
            for (int frame = 0; frame < clip.frames; ++frame)
                for (int p = 0; p < clip.plane_count(); ++p) append_synthetic_plane(clip, distorted, frame, p, &bytes);
            ASSERT_EQ(crc32(bytes), distorted ? clip.distorted_crc : clip.reference_crc);
            std::ofstream(path(distorted ? "distorted" : "reference"), std::ios::binary)
                .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        }
    }

    /// Runs a command in the folder; files "out" and "err" have what it wrote. @return its exit status
    int run(const std::string& command) const {
        const int status = std::system(("cd '" + folder_.string() + "' && { " + command + "; } > out 2> err").c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    int score(const std::string& arguments) const { return run(emulator() + " '" QC_SCORE_YUV "' " + arguments); }
    static std::string arguments_for(const SyntheticClip& clip) {
        return format("distorted reference %d %d %s", clip.width, clip.height, format_name(clip));
    }

    fs::path folder_;
};

/// What the program has to print of a clip, from the engine's own scores.
std::string expected_output(const SyntheticClip& clip, const char* metrics) {
    qc_format picture{};
    picture.width = clip.width;
    picture.height = clip.height;
    picture.chroma = clip.chroma;
    picture.depth = clip.depth;
    picture.container_bits = clip.depth == 8 ? 8 : 16;
    qc_config config{};
    config.struct_size = sizeof(config);
    config.reference = config.distorted[0] = picture;
    config.metrics = metrics;
    Stream stream;
    stream.distorted.resize(1);
    for (int frame = 0; frame < clip.frames; ++frame)
        for (const bool distorted : {false, true}) {
            std::vector<uint8_t> bytes;
            for (int p = 0; p < clip.plane_count(); ++p) append_synthetic_plane(clip, distorted, frame, p, &bytes);
            (distorted ? stream.distorted[0] : stream.reference).emplace_back(picture, bytes.data());
        }
    const RunResult result = qc::test::run(config, stream);
    EXPECT_TRUE(result.status.ok()) << result.status.text();
    std::string text;
    for (size_t f = 0; f < result.values.size(); ++f) {
        text += format("frame %zu", f);
        for (size_t i = 0; i < result.names.size(); ++i)
            text += format(" %s:%.6f", result.names[i].c_str(), result.values[f][i]);
        text += "\n";
    }
    for (size_t i = 0; i < result.names.size(); ++i) {
        double sum = 0, reciprocals = 0, least = INFINITY, most = -INFINITY;
        for (const auto& row : result.values) {
            sum += row[i];
            reciprocals += 1.0 / (row[i] + 1.0);
            least = std::min(least, row[i]);
            most = std::max(most, row[i]);
        }
        const auto n = static_cast<double>(result.values.size());
        text += format("pooled %s mean:%.6f harmonic_mean:%.6f min:%.6f max:%.6f\n", result.names[i].c_str(), sum / n,
                       n / reciprocals - 1.0, least, most);
    }
    return text;
}

/// PSNR of a frame's luma by its definition.
double luma_psnr(const SyntheticClip& clip, int frame) {
    double squares = 0;
    for (int y = 0; y < clip.height; ++y)
        for (int x = 0; x < clip.width; ++x) {
            const double difference = static_cast<double>(synthetic_reference(x, y, frame, 0, clip.depth)) -
                                      synthetic_distorted(x, y, frame, 0, clip.depth);
            squares += difference * difference;
        }
    const double peak = (1 << clip.depth) - 1;
    return 10.0 * std::log10(peak * peak * clip.width * clip.height / squares);
}

TEST_F(ScoreYuv, ScoresWhatTheEngineScores) {
    for (const SyntheticClip& clip : kSyntheticClips) {
        write_clip(clip);
        const bool for_vmaf = clip.width >= 170;
        const char* const metrics = for_vmaf ? "psnr|vmaf" : "psnr";
        ASSERT_EQ(score(arguments_for(clip) + " --metrics '" + metrics + "' --log log.json"), 0) << text("err");
        EXPECT_EQ(text("out"), expected_output(clip, metrics)) << clip.name;
        const nlohmann::json log = nlohmann::json::parse(text("log.json"));
        EXPECT_TRUE(log["complete"]);
        ASSERT_EQ(log["frames"].size(), static_cast<size_t>(clip.frames));
        for (int frame = 0; frame < clip.frames; ++frame) {
            const double score = log["frames"][static_cast<size_t>(frame)]["metrics"]["psnr_y"];
            EXPECT_NEAR(score, luma_psnr(clip, frame), 1e-6) << clip.name << " frame " << frame;
        }
    }
}

TEST_F(ScoreYuv, SaysWhatIsWrong) {
    const SyntheticClip& clip = kSyntheticClips[0];
    write_clip(clip);
    const auto expect_failure = [&](const std::string& arguments, int status, const std::string& message) {
        EXPECT_EQ(score(arguments), status) << arguments;
        EXPECT_NE(text("err").find(message), std::string::npos) << arguments << " says: " << text("err");
    };
    const std::string good = arguments_for(clip) + " --metrics psnr";
    expect_failure("", 2, "usage: score_yuv DISTORTED REFERENCE");
    expect_failure("distorted reference 64 48 pal8", 2, "wrong arguments");
    expect_failure(good + " --log", 2, "wrong arguments");
    expect_failure(good + " --nonsense x", 2, "wrong arguments");
    expect_failure("distorted reference 64 0 yuv420p", 1, "reference.height=0: 1..32768 is accepted");
    expect_failure("distorted reference 64 48 yuv420p11", 2, "wrong arguments");
    expect_failure(arguments_for(clip) + " --metrics nonsense", 1, "unknown metric \"nonsense\"");
    expect_failure("absent reference 64 48 yuv420p --metrics psnr", 1, "absent: No such file");
    expect_failure(good + " --log no/folder/log.json", 1, "no/folder/log.json");
    fs::resize_file(path("distorted"), 4608 * 3 + 5);
    expect_failure(good, 1, "distorted ends within a frame: 5 of its 4608 bytes are there");
    fs::resize_file(path("distorted"), 4608 * 3);
    expect_failure(good + " --log log.json", 1, "distorted has fewer frames than the other file");
    EXPECT_NE(text("out").find("frame 2 psnr_y:"), std::string::npos) << "what there is is scored";
    EXPECT_FALSE(nlohmann::json::parse(text("log.json"))["complete"]);
    fs::resize_file(path("distorted"), 0);
    expect_failure(good, 1, "no frame was scored");
}

/// The folder of the pkg-config file below `root`.
std::string find_pc_folder(const fs::path& root) {
    for (const auto& entry : fs::recursive_directory_iterator(root))
        if (entry.path().filename() == "quality_cuda.pc") return entry.path().parent_path().string();
    return {};
}

TEST_F(ScoreYuv, BuildsAgainstWhatIsInstalled) {
    if (!emulator().empty()) GTEST_SKIP() << "this machine's compiler is not for the processor that is emulated";
    if (kSanitized) GTEST_SKIP() << "what links a library with a sanitizer needs it, too";
    if (run("meson --version && pkg-config --version && cc --version") != 0)
        GTEST_SKIP() << "needs meson, pkg-config and cc";
    const SyntheticClip& clip = kSyntheticClips[1];
    write_clip(clip);
    ASSERT_EQ(score(arguments_for(clip)), 0) << text("err");
    const std::string expected = text("out");
    ASSERT_EQ(run("meson install -C '" QC_BUILD_ROOT "' --destdir '" + path("root") + "' --no-rebuild --quiet"), 0)
        << text("out") << text("err");
    const std::string pc_folder = find_pc_folder(path("root"));
    ASSERT_EQ(run("PKG_CONFIG_PATH='" + pc_folder + "' PKG_CONFIG_SYSROOT_DIR='" + path("root") +
                  "' pkg-config --cflags --libs quality_cuda"),
              0)
        << text("err");
    std::string flags = text("out");
    flags.erase(flags.find_last_not_of('\n') + 1);
    ASSERT_EQ(run("cc -std=c11 -Wall -Wextra -Wpedantic -Werror '" QC_SOURCE_ROOT "/examples/score_yuv.c' " + flags +
                  " -o from_installed"),
              0)
        << flags << text("err");
    ASSERT_EQ(run("LD_LIBRARY_PATH='" + fs::path(pc_folder).parent_path().string() + "' ./from_installed " +
                  arguments_for(clip)),
              0)
        << text("err");
    EXPECT_EQ(text("out"), expected);
    EXPECT_NE(expected.find("vmaf:"), std::string::npos) << "the default metric";
}

} // namespace
} // namespace qc::test
