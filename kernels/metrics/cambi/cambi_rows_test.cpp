// SPDX-License-Identifier: BSD-2-Clause-Patent
// CAMBI's fast CPU version against its readable reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "metrics/cambi/cambi.hpp"
#include "plan/option_parser.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/sample_picture.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::cambi {
namespace {

using OptionList = std::vector<std::pair<const char*, const char*>>;
using Luma = test::SamplePicture;

OptionValues options_of(const OptionList& list) {
    OptionValues options(descriptor().options);
    for (const auto& [name, value] : list)
        EXPECT_TRUE(set_option(descriptor(), name, value, UnknownOption::kError, &options).ok()) << name;
    return options;
}

/// Steps with noise at the borders.
int stepped_sample(int x, int y, int width, int height, int depth) {
    const int border = std::min({x, y, width - 1 - x, height - 1 - y});
    const int noise = border < 2 ? static_cast<int>(test::synthetic_hash(x, y, 3, 0, 5) % 2) : 0;
    return (20 + (x + y) / 13 % 60 + noise) << (depth - 8);
}

struct RowsCase {
    int width, height, depth;
    OptionList options;
    bool heat_maps = false;
};

/// Sums and heat maps of the analysis of the distorted picture.
std::vector<uint64_t> words_of(const FrameGeometry& geometry, Settings settings, const Luma& luma, bool heat_maps,
                               RowWorkspaces* workspaces) {
    settings.heat_maps = heat_maps;
    std::vector<uint64_t> words(kWordsPerPicture + settings.heat_map_size());
    const std::span<uint64_t> all(words);
    const auto sums = all.first(kWordsPerPicture), maps = all.subspan(kWordsPerPicture);
    if (workspaces == nullptr)
        score_cpu(geometry, settings, settings.distorted, luma.plane(0), sums, maps);
    else
        score_cpu_rows(geometry, settings, settings.distorted, luma.plane(0), sums, maps, *workspaces);
    return words;
}

TEST(CambiRows, EqualTheReference) {
    const RowsCase cases[] = {
        {333, 250, 8, {}, true},
        {332, 251, 10, {{"topk", "0.001"}}, true},
        {217, 30, 8, {}},
        {224, 24, 8, {{"window_size", "127"}}}, // windows wider than the smallest scale
        {216, 7, 10, {{"window_size", "127"}}, true},
        {3, 219, 8, {}},
        {1, 217, 10, {}, true},
        {219, 2, 12, {}},
        {2, 240, 16, {}},
        {219, 1, 8, {{"enc_bitdepth", "8"}}},
        {230, 128, 16, {{"max_log_contrast", "5"}, {"topk", "0.02"}}},
        {400, 226, 8, {{"max_log_contrast", "0"}}},
        {360, 226, 12, {{"enc_bitdepth", "8"}, {"cambi_vis_lum_threshold", "1"}}, true},
        {400, 300, 8, {{"enc_width", "300"}, {"enc_height", "220"}}},
        {1930, 1091, 8, {{"cambi_high_res_speedup", "1080"}}, true},
        {1921, 1083, 10, {{"cambi_high_res_speedup", "1080"}, {"enc_bitdepth", "8"}}},
    };
    RowWorkspaces workspaces; // as each case leaves them to the next
    for (const RowsCase& c : cases) {
        const FrameGeometry geometry = test::luma_geometry(c.width, c.height, c.depth);
        Settings settings;
        ASSERT_TRUE(settle(geometry, options_of(c.options), &settings).ok());
        const auto largest = (1 << c.depth) - 1;
        const Luma pictures[] = {
            {geometry, [&](int x, int y) { return stepped_sample(x, y, c.width, c.height, c.depth); }},
            {geometry, [&](int x, int y) { return static_cast<int>(test::synthetic_hash(x, y, 1, 0, 5)) & largest; }},
            {geometry, [&](int, int) { return largest / 4; }},
            {geometry, [&](int x, int y) { return (x / 70 + y / 40) % 2 == 0 ? largest - (x / 8) % 2 : (x / 8) % 2; }},
        };
        for (const Luma& luma : pictures)
            ASSERT_EQ(words_of(geometry, settings, luma, c.heat_maps, &workspaces),
                      words_of(geometry, settings, luma, c.heat_maps, nullptr))
                << c.width << "x" << c.height << "@" << c.depth << ", picture " << &luma - pictures;
    }
}

} // namespace
} // namespace qc::cambi
