// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer VIF on the CPU: tables, frozen scores, and every small size, row by row, against the readable reference.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "metrics/vif/vif.hpp"
#include "metrics/vif/vif_cpu_lanes.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/sample_picture.hpp"
#include "tests/support/synthetic_clip.hpp"

namespace qc::vif {
namespace {

// ---- logarithm ------------------------------------------------------------------------------------------------------

TEST(VifLog, TableHasTheKnownContent) {
    uint64_t sum = 0;
    std::vector<uint8_t> bytes;
    for (const uint16_t entry : log_table()) {
        sum += entry;
        bytes.push_back(static_cast<uint8_t>(entry));
        bytes.push_back(static_cast<uint8_t>(entry >> 8));
    }
    EXPECT_EQ(log_table().size(), 32768u);
    EXPECT_EQ(sum, 1044032097u); // of libvmaf 3.2.0's table, as is the CRC-32
    EXPECT_EQ(test::crc32(bytes), 0x42ad4d4fu);
}

TEST(VifLog, ThresholdsReconstructTheTable) {
    const LogTable table{log_table().data()};
    const LogThresholds thresholds{log_thresholds().data()};
    const LogCorrections corrections{log_corrections().data()};
    ASSERT_EQ(log_thresholds().size(), static_cast<size_t>(kLogThresholds));
    ASSERT_EQ(log_corrections().size(), static_cast<size_t>(kLogCorrections));
    for (uint32_t i = kLogTableFirst; i < kLogTableFirst + kLogTableSize; ++i)
        for (const int shift : {2, 7, 15}) {
            const uint32_t lowest = i << shift, highest = lowest + ((1u << shift) - 1);
            ASSERT_EQ(table(lowest), log_table_entry(i) + 2048 * shift) << i;
            ASSERT_EQ(table(highest), table(lowest)) << i;
            ASSERT_EQ(thresholds(lowest), table(lowest)) << i;
            ASSERT_EQ(thresholds(highest), table(highest)) << i;
            ASSERT_EQ(corrections(lowest), table(lowest)) << i;
            ASSERT_EQ(corrections(highest), table(highest)) << i;
        }
}

/// The device's approximation is another one than the host's: the thresholds must not depend on it.
TEST(VifLog, ThresholdsForgiveAnApproximation) {
    const auto table = log_table();
    const auto thresholds = log_thresholds();
    for (const double error : {-0.04, -0.001, 0.001, 0.04}) // in steps; the device's stays below 0.001
        for (uint32_t i = 0; i < kLogTableSize; ++i)
            for (const uint32_t low_bits : {0x00u, 0xffu}) {
                const uint32_t bits = 0x3f800000u | i << 8 | low_bits;
                const double log2 = std::log2(static_cast<double>(__builtin_bit_cast(float, bits)));
                const auto upper_step = static_cast<int>(std::floor(2048.0 * log2 + error)) + 1;
                ASSERT_GE(upper_step, 0) << i;
                ASSERT_LT(upper_step, kLogThresholds) << i;
                ASSERT_EQ(kLogTableLowest + upper_step - (bits > thresholds[upper_step] ? 0 : 1), table[i]) << i;
            }
}

TEST(VifLog, UsesSixteenSignificantBits) {
    const LogTable table{log_table().data()};
    EXPECT_EQ(table(1u << 17), 17 * 2048);
    EXPECT_EQ(table(1u << 31), 31 * 2048);
    EXPECT_EQ(table((1u << 17) + 3), 17 * 2048);  // the two lowest bits do not count
    EXPECT_EQ(table(3u << 29), 30 * 2048 + 1198); // log2(3) = 1.58496
}

/// Every entry of the table, each in a row of its own for each of three shifts, among others.
TEST(VifLog, LanesAddWhatTheTableSays) {
    const LogTable table{log_table().data()};
    for (const device::WordLanes lanes : device::all_word_lanes()) {
        const AddRow add_row = lane_add_row(lanes);
        if (add_row == nullptr) continue; // uses the table
        constexpr int kWidth = 19;
        std::vector<uint32_t> arguments[3], flat(kWidth, 1);
        for (auto& row : arguments) row.resize(kWidth);
        for (uint32_t i = kLogTableFirst; i < kLogTableFirst + kLogTableSize; ++i) {
            int64_t expected[2] = {};
            for (int x = 0; x < kWidth; ++x) {
                const int shift = 2 + (x * 7 + static_cast<int>(i)) % 14;
                arguments[0][x] = (i << shift) + ((i * 40503u + static_cast<uint32_t>(x)) & ((1u << shift) - 1));
                arguments[1][x] = (i << shift) + (i >> 3 & ((1u << shift) - 1));
                arguments[2][x] = (i << shift) | ((1u << shift) - 1);
                expected[0] += table(arguments[0][x]) - table(arguments[1][x]);
                expected[1] += table(arguments[2][x]) - kLogOfNoiseVariance;
            }
            Sums sums;
            add_row({arguments[0].data(), arguments[1].data(), arguments[2].data(), flat.data()}, kWidth, 5, table,
                    &sums);
            ASSERT_EQ(sums.numerator_log, expected[0]) << i;
            ASSERT_EQ(sums.denominator_log, expected[1]) << i;
            ASSERT_EQ(sums.flat_variance, kWidth) << i;
            ASSERT_EQ(sums.flat_count, 5) << i;
        }
    }
}

// ---- windows --------------------------------------------------------------------------------------------------------

template <int kScale>
void expect_window(const std::vector<uint32_t>& weights) {
    ASSERT_EQ(weights.size(), static_cast<size_t>(2 * kRadius<kScale> + 1));
    uint32_t sum = 0;
    for (size_t k = 0; k < weights.size(); ++k) {
        EXPECT_EQ(tap<kScale>(static_cast<int>(k)), weights[k]) << kScale << " " << k;
        sum += weights[k];
    }
    EXPECT_EQ(sum, 65536u) << kScale;
}

TEST(VifWindow, WeightsAreThese) {
    expect_window<0>(
        {489, 935, 1640, 2640, 3896, 5274, 6547, 7455, 7784, 7455, 6547, 5274, 3896, 2640, 1640, 935, 489});
    expect_window<1>({1244, 3663, 7925, 12590, 14692, 12590, 7925, 3663, 1244});
    expect_window<2>({3571, 16004, 26386, 16004, 3571});
    expect_window<3>({10904, 43728, 10904});
}

TEST(VifWindow, EdgesReflectWithoutRepeatingTheLastSample) {
    const int expected[] = {2, 1, 0, 1, 2, 3, 2, 1};
    for (int i = -2; i < 6; ++i) EXPECT_EQ(reflect(i, 4), expected[i + 2]) << i;
}

// ---- content --------------------------------------------------------------------------------------------------------

using test::SamplePicture;

enum class Content { kNatural, kNoise, kBinary, kFlat };

uint32_t sample_of(Content content, int x, int y, int depth, bool distorted) {
    const uint32_t noise = test::synthetic_hash(x, y, 7, 0, distorted ? 4 : 3);
    const uint32_t maximum = (1u << depth) - 1;
    switch (content) {
    case Content::kNatural:
        return test::synthetic_sample(x, y, 0, 0, depth, distorted);
    case Content::kNoise:
        return noise & maximum;
    case Content::kBinary:
        return (noise >> 9) % 2 * maximum;
    case Content::kFlat:
        return distorted ? maximum - (noise & 3) : maximum;
    }
    return 0;
}

/// Rows are further apart than they are long.
SamplePicture make_picture(Content content, int width, int height, int depth, bool distorted) {
    const auto sample_at = [&](int x, int y) { return sample_of(content, x, y, depth, distorted); };
    return SamplePicture(test::luma_geometry(width, height, depth), sample_at, 5);
}

// ---- row by row against the readable reference ----------------------------------------------------------------------

void expect_equal_to_reference(const FrameGeometry& geometry, const HostPair& pair, Content content,
                               const Parameters& parameters) {
    const int width = geometry.width, height = geometry.height, depth = geometry.depth;
    uint64_t expected[kAccumulatorWords] = {};
    (geometry.has_weights ? score_weighted_cpu : score_cpu)(geometry, parameters, pair, std::span(expected));
    for (const device::WordLanes lanes : device::all_word_lanes()) {
        uint64_t words[kAccumulatorWords] = {};
        score_cpu_rows(geometry, parameters, pair, words, lanes);
        for (int i = 0; i < kAccumulatorWords; ++i)
            ASSERT_EQ(words[i], expected[i])
                << width << "x" << height << ", " << depth << " bits, content " << static_cast<int>(content)
                << ", gain limit " << parameters.gain_limit << ", lanes " << static_cast<int>(lanes) << ", word " << i;
        if (parameters.skip_scale_0) {
            ASSERT_EQ(words[kDenominatorLog] + words[kFlatCount], 0u);
        }
    }
}

/// With and without weights.
void expect_equal_to_reference(Content content, int width, int height, int depth, const Parameters& parameters) {
    const SamplePicture reference = make_picture(content, width, height, depth, false);
    const SamplePicture distorted = make_picture(content, width, height, depth, true);
    FrameGeometry geometry = reference.geometry();
    HostPair pair{reference.view(), distorted.view()};
    expect_equal_to_reference(geometry, pair, content, parameters);
    if (testing::Test::HasFatalFailure()) return;
    const int pitch = width + 3;
    std::vector<uint8_t> sample_weights(static_cast<size_t>(pitch * height));
    for (size_t i = 0; i < sample_weights.size(); ++i)
        sample_weights[i] = static_cast<uint8_t>(i / 7 % 4 == 0 ? 0 : i / 7 % 4 == 1 ? 255 : i * 37 % 256);
    pair.weights = {sample_weights.data(), {pitch}, width, height};
    geometry.has_weights = true;
    expect_equal_to_reference(geometry, pair, content, parameters);
}

TEST(VifCpuRows, AllSmallSizesAndDepths) {
    for (int height = 16; height <= 40; ++height)
        for (int width = 16; width <= 40; ++width)
            for (const int depth : {8, 10, 12, 16}) {
                const Parameters parameters{width % 3 ? 100.0 : 1.0, (width + height + depth) % 5 == 0};
                expect_equal_to_reference(Content::kNatural, width, height, depth, parameters);
                if (HasFatalFailure()) return;
            }
}

TEST(VifCpuRows, ExtremeContent) {
    for (const Content content : {Content::kNatural, Content::kNoise, Content::kBinary, Content::kFlat})
        for (const int depth : {8, 10, 12, 16})
            for (const double gain_limit : {1.0, 1.5, 100.0})
                for (const bool skip_scale_0 : {false, true}) {
                    expect_equal_to_reference(content, 75, 53, depth, {gain_limit, skip_scale_0});
                    if (HasFatalFailure()) return;
                }
}

// ---- scores ---------------------------------------------------------------------------------------------------------

class CollectedScores : public ScoreSink {
public:
    void put(int64_t frame, int output, double value) override {
        const bool fresh = scores_.emplace(std::pair{frame, output}, value).second;
        EXPECT_TRUE(fresh) << "output " << output << " of frame " << frame << " written twice";
    }
    double at(int64_t frame, int output) const { return scores_.at({frame, output}); }
    size_t size() const { return scores_.size(); }

private:
    std::map<std::pair<int64_t, int>, double> scores_;
};

OptionValues make_options(bool debug, double gain_limit, bool skip_scale_0) {
    OptionValues options(descriptor().options);
    options.set(0, debug);
    options.set(1, gain_limit);
    options.set(2, skip_scale_0);
    return options;
}

void score_clip(const test::SyntheticClip& clip, const OptionValues& options, CollectedScores* scores) {
    const FrameGeometry geometry = test::synthetic_geometry(clip);
    ASSERT_TRUE(validate(descriptor(), geometry, options).ok());
    const auto scorer = create_scorer(descriptor(), geometry, options);
    const auto finaliser = create_finaliser(descriptor(), geometry, options);
    for (int frame = 0; frame < clip.frames; ++frame) {
        const test::SyntheticPicture reference(clip, false, frame), distorted(clip, true, frame);
        std::vector<uint64_t> words(scorer->accumulator_words());
        scorer->score(HostPair{reference.view(), distorted.view()}, words);
        finaliser->finalise(frame, words, *scores);
    }
}

struct FrozenScores {
    const char* clip;
    double plain[4][kScales], no_enhancement[4][kScales]; ///< [frame][scale]; gain limit 100 and 1
};

/// libvmaf 3.2.0's scores of the synthetic clips.
constexpr FrozenScores kFrozen[] = {
    {"g64x48_420_8",
     {{0.44085243344306946, 0.8872470259666443, 0.9118159413337708, 0.9170255661010742},
      {0.45095765590667725, 0.8824242353439331, 0.908630907535553, 0.9189078211784363},
      {0.441879004240036, 0.8942437171936035, 0.9140146374702454, 0.9202947616577148},
      {0.44713494181632996, 0.8818110823631287, 0.9062959551811218, 0.9193645715713501}},
     {{0.44085243344306946, 0.8872470259666443, 0.9118159413337708, 0.9170255661010742},
      {0.4509504437446594, 0.8824242353439331, 0.908630907535553, 0.9189078211784363},
      {0.441879004240036, 0.8942437171936035, 0.9140146374702454, 0.9202947616577148},
      {0.44712188839912415, 0.8818110823631287, 0.9062959551811218, 0.9193645715713501}}},
    {"g175x99_420_8",
     {{0.4474866986274719, 0.8841117024421692, 0.9096509218215942, 0.9202120304107666},
      {0.45374611020088196, 0.8870179653167725, 0.9095950722694397, 0.920053243637085},
      {0.44711068272590637, 0.8870797753334045, 0.9093387126922607, 0.9205350875854492},
      {0.45118576288223267, 0.8824059367179871, 0.9053318500518799, 0.9165639281272888}},
     {{0.44748666882514954, 0.8841117024421692, 0.9096509218215942, 0.9202120304107666},
      {0.4537459909915924, 0.8870179653167725, 0.9095950722694397, 0.920053243637085},
      {0.44711068272590637, 0.8870797753334045, 0.9093387126922607, 0.9205350875854492},
      {0.4511834681034088, 0.8824059367179871, 0.9053318500518799, 0.9165639281272888}}},
    {"g176x176_420_10",
     {{0.4483203589916229, 0.8845828771591187, 0.9090540409088135, 0.9200793504714966},
      {0.4549333453178406, 0.8884111046791077, 0.9104589223861694, 0.921065092086792},
      {0.4467931091785431, 0.8876920342445374, 0.9105580449104309, 0.9206393361091614},
      {0.450303852558136, 0.8842986822128296, 0.9085730314254761, 0.9196017980575562}},
     {{0.4483194053173065, 0.8845828771591187, 0.9090540409088135, 0.9200793504714966},
      {0.4549284875392914, 0.8884111046791077, 0.9104589223861694, 0.921065092086792},
      {0.4467931091785431, 0.8876920342445374, 0.9105580449104309, 0.9206393361091614},
      {0.4502757787704468, 0.8842986822128296, 0.9085730314254761, 0.9196017980575562}}},
    {"g80x66_422_12",
     {{0.44454407691955566, 0.8850035667419434, 0.9103149175643921, 0.9204785823822021},
      {0.454693466424942, 0.8849854469299316, 0.9074559807777405, 0.918834388256073},
      {0.4457111358642578, 0.889482319355011, 0.9100915789604187, 0.917210042476654}},
     {{0.44454407691955566, 0.8850035667419434, 0.9103149175643921, 0.9204785823822021},
      {0.454693466424942, 0.8849854469299316, 0.9074559807777405, 0.918834388256073},
      {0.4457111358642578, 0.889482319355011, 0.9100915789604187, 0.917210042476654}}},
    {"g48x32_444_16",
     {{0.4377825856208801, 0.8923187255859375, 0.9164383411407471, 0.9226474165916443},
      {0.4535861909389496, 0.8793346881866455, 0.9085454344749451, 0.9261041283607483},
      {0.43720942735671997, 0.8979131579399109, 0.9198906421661377, 0.9252928495407104}},
     {{0.4377825856208801, 0.8923187255859375, 0.9164383411407471, 0.9226474165916443},
      {0.4535475969314575, 0.8793346881866455, 0.9085454344749451, 0.9261041283607483},
      {0.43720942735671997, 0.8979131579399109, 0.9198906421661377, 0.9252928495407104}}},
};

class VifFrozen : public testing::TestWithParam<FrozenScores> {
protected:
    const test::SyntheticClip& clip() const {
        for (const test::SyntheticClip& candidate : test::kSyntheticClips)
            if (std::string_view(candidate.name) == GetParam().clip) return candidate;
        ADD_FAILURE() << "no such clip";
        return test::kSyntheticClips[0];
    }
};

TEST_P(VifFrozen, GeneratorIsTheDefinedOne) {
    EXPECT_EQ(test::synthetic_crc32(clip(), false), clip().reference_crc);
    EXPECT_EQ(test::synthetic_crc32(clip(), true), clip().distorted_crc);
}

TEST_P(VifFrozen, ScoresAreEqual) {
    for (const double gain_limit : {100.0, 1.0}) {
        CollectedScores scores;
        score_clip(clip(), make_options(false, gain_limit, false), &scores);
        ASSERT_EQ(scores.size(), static_cast<size_t>(clip().frames * kScales));
        const auto& expected = gain_limit == 1.0 ? GetParam().no_enhancement : GetParam().plain;
        for (int frame = 0; frame < clip().frames; ++frame)
            for (int s = 0; s < kScales; ++s)
                EXPECT_EQ(scores.at(frame, s), expected[frame][s]) << "frame " << frame << ", scale " << s;
    }
}

INSTANTIATE_TEST_SUITE_P(Clips, VifFrozen, testing::ValuesIn(kFrozen),
                         [](const auto& parameter) { return std::string(parameter.param.clip); });

TEST(VifScores, DebugOutputsAreFrozenToo) {
    CollectedScores scores;
    score_clip(test::kSyntheticClips[0], make_options(true, 100.0, false), &scores);
    // libvmaf 3.2.0, clip g64x48_420_8, frame 0
    const double expected[] = {0.44085243344306946, 0.8872470259666443, 0.9118159413337708, 0.9170255661010742,
                               0.536837413840946,   13851.412109375,    25801.87548828125,  8960.658203125,
                               20325.75390625,      3747.78564453125,   4224.06103515625,   910.70556640625,
                               998.7822265625,      232.2626953125,     253.2783203125};
    ASSERT_EQ(std::size(expected), descriptor().outputs.size());
    for (size_t i = 0; i < std::size(expected); ++i)
        EXPECT_EQ(scores.at(0, static_cast<int>(i)), expected[i]) << descriptor().outputs[i].name;
}

TEST(VifScores, SkippedScaleIsZeroAndLeavesTheOthersAlone) {
    CollectedScores scores;
    score_clip(test::kSyntheticClips[0], make_options(true, 100.0, true), &scores);
    EXPECT_EQ(scores.at(0, 0), 0.0);
    EXPECT_EQ(scores.at(0, 1), 0.8872470259666443);
    EXPECT_EQ(scores.at(0, 7), 0.0);  // numerator of scale 0
    EXPECT_EQ(scores.at(0, 8), -1.0); // its denominator
    EXPECT_EQ(scores.at(0, 5), 3747.78564453125 + 910.70556640625 + 232.2626953125);
}

TEST(VifDescriptor, RefusesSmallPictures) {
    const OptionValues options(descriptor().options);
    EXPECT_TRUE(validate(descriptor(), test::luma_geometry(16, 16, 8), options).ok());
    for (const auto& [width, height] : {std::pair{15, 16}, {16, 15}, {1, 1}}) {
        const Status status = validate(descriptor(), test::luma_geometry(width, height, 8), options);
        EXPECT_EQ(status.code(), QC_ERROR_INVALID);
        EXPECT_NE(status.text().find("16x16"), std::string::npos) << status.text();
    }
}

TEST(VifDescriptor, DebugOutputsAreOnlyThereOnDemand) {
    const FrameGeometry geometry = test::luma_geometry(64, 64, 8);
    const auto enabled = [&](const OptionValues& options) {
        int count = 0;
        for (const OutputSpec& output : descriptor().outputs)
            count += output.enabled == nullptr || output.enabled(options, geometry);
        return count;
    };
    EXPECT_EQ(enabled(make_options(false, 100.0, false)), 4);
    EXPECT_EQ(enabled(make_options(true, 100.0, false)), 15);
}

} // namespace
} // namespace qc::vif
