// SPDX-License-Identifier: BSD-2-Clause-Patent
// examples/score_png.c as a user has it: what it prints of two PNGs, and what it says where that cannot be.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "contract/status.hpp"
#include "tests/support/emulator.hpp"

#ifdef QC_WITH_PNG
#include <png.h>
#endif

namespace qc::test {
namespace {

#ifdef QC_WITH_PNG

namespace fs = std::filesystem;

constexpr int kWidth = 96, kHeight = 80;
constexpr double kGpuBound = 3e-3; ///< of SSIMULACRA2, which is not exact there

/// Smooth colours with an edge; the distorted one is blocky and a little darker.
std::array<int, 3> colour_at(int x, int y, bool distorted) {
    if (distorted) {
        x -= x % 4;
        y -= y % 4;
    }
    const int edge = x > 40 && y > 24 ? 60 : 0, darker = distorted ? 5 : 0;
    return {40 + x + edge - darker, 30 + 2 * y - edge / 4, 200 - x - y / 2 + darker};
}

class ScorePng : public testing::Test {
protected:
    ScorePng() : folder_(fs::temp_directory_path() / format("qc_score_png_%d", static_cast<int>(getpid()))) {
        fs::create_directories(folder_);
    }
    ~ScorePng() override { fs::remove_all(folder_); }

    void write(const char* name, bool distorted, int width = kWidth) const {
        std::vector<uint8_t> pixels;
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < width; ++x)
                for (const int code : colour_at(x, y, distorted)) pixels.push_back(static_cast<uint8_t>(code));
        png_image image{};
        image.version = PNG_IMAGE_VERSION;
        image.width = static_cast<png_uint_32>(width);
        image.height = kHeight;
        image.format = PNG_FORMAT_RGB;
        ASSERT_TRUE(png_image_write_to_file(&image, (folder_ / name).c_str(), 0, pixels.data(), 0, nullptr));
    }
    /// @return the program's exit status; the files "out" and "err" have what it wrote
    int score(const std::string& arguments) const {
        const int status = std::system(
            ("cd '" + folder_.string() + "' && " + emulator() + " '" QC_SCORE_PNG "' " + arguments + " > out 2> err")
                .c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::string text(const char* name) const {
        std::ifstream file(folder_ / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    fs::path folder_;
};

TEST_F(ScorePng, PrintsBothScores) {
    write("d.png", true);
    write("r.png", false);
    ASSERT_EQ(score("d.png r.png"), 0) << text("err");
    double ssimulacra2 = 0.0, vmaf = 0.0;
    ASSERT_EQ(std::sscanf(text("out").c_str(), "ssimulacra2 %lf\nvmaf %lf\n", &ssimulacra2, &vmaf), 2) << text("out");
    EXPECT_NEAR(ssimulacra2, 57.413512, 1e-6 + kGpuBound);
    EXPECT_NEAR(vmaf, 92.811774, 1e-6);
    ASSERT_EQ(score("r.png r.png"), 0) << text("err");
    EXPECT_EQ(text("out").find("ssimulacra2 100.000000\nvmaf "), 0U) << "equal pictures";
}

TEST_F(ScorePng, SaysWhatIsWrong) {
    write("r.png", false);
    write("wide.png", false, kWidth + 8);
    std::ofstream(folder_ / "text.png") << "no picture";
    const auto expect_failure = [&](const std::string& arguments, int status, const std::string& message) {
        EXPECT_EQ(score(arguments), status) << arguments;
        EXPECT_NE(text("err").find(message), std::string::npos) << arguments << " says: " << text("err");
        EXPECT_EQ(text("out"), "");
    };
    expect_failure("", 2, "usage: score_png DISTORTED REFERENCE");
    expect_failure("r.png", 2, "usage:");
    expect_failure("absent.png r.png", 1, "score_png: absent.png: ");
    expect_failure("r.png text.png", 1, "score_png: text.png: ");
    expect_failure("wide.png r.png", 1, "104x80");
}

#else

TEST(ScorePng, NeedsLibpng) {
    GTEST_SKIP() << "needs libpng";
}

#endif

} // namespace
} // namespace qc::test
