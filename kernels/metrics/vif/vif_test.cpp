// SPDX-License-Identifier: BSD-2-Clause-Patent
// Integer VIF on the CPU: tables, frozen scores, and every small size against a second implementation that does nothing
// clever.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "metrics/vif/vif.hpp"
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
    ASSERT_EQ(log_thresholds().size(), static_cast<size_t>(kLogThresholds));
    for (uint32_t i = kLogTableFirst; i < kLogTableFirst + kLogTableSize; ++i)
        for (const int shift : {2, 7, 15}) {
            const uint32_t lowest = i << shift, highest = lowest + ((1u << shift) - 1);
            ASSERT_EQ(table(lowest), log_table_entry(i) + 2048 * shift) << i;
            ASSERT_EQ(table(highest), table(lowest)) << i;
            ASSERT_EQ(thresholds(lowest), table(lowest)) << i;
            ASSERT_EQ(thresholds(highest), table(highest)) << i;
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

// ---- the slow twin --------------------------------------------------------------------------------------------------

using Picture = std::vector<std::vector<uint64_t>>; ///< [y][x]

/// Weights of a scale, written out.
const std::vector<uint64_t> kWeights[kScales] = {
    {489, 935, 1640, 2640, 3896, 5274, 6547, 7455, 7784, 7455, 6547, 5274, 3896, 2640, 1640, 935, 489},
    {1244, 3663, 7925, 12590, 14692, 12590, 7925, 3663, 1244},
    {3571, 16004, 26386, 16004, 3571},
    {10904, 43728, 10904}};

/// Sample with the edge sample as mirror.
uint64_t mirrored(const std::vector<uint64_t>& row, int x) {
    const int n = static_cast<int>(row.size());
    if (x < 0) x = -x;
    if (x >= n) x = 2 * (n - 1) - x;
    return row[x];
}

/// Column sum, rounded by `shift` bits (0: not at all).
Picture filtered_down(const Picture& picture, int scale, int shift) {
    const int height = static_cast<int>(picture.size()), width = static_cast<int>(picture[0].size());
    const int taps = static_cast<int>(kWeights[scale].size());
    Picture out(height, std::vector<uint64_t>(width));
    for (int x = 0; x < width; ++x) {
        std::vector<uint64_t> column(height);
        for (int y = 0; y < height; ++y) column[y] = picture[y][x];
        for (int y = 0; y < height; ++y) {
            uint64_t sum = shift > 0 ? uint64_t{1} << (shift - 1) : 0;
            for (int k = 0; k < taps; ++k) sum += kWeights[scale][k] * mirrored(column, y + k - taps / 2);
            out[y][x] = sum >> shift;
        }
    }
    return out;
}

Picture filtered_along(const Picture& picture, int scale, int shift) {
    const int taps = static_cast<int>(kWeights[scale].size());
    Picture out = picture;
    for (size_t y = 0; y < picture.size(); ++y)
        for (size_t x = 0; x < picture[y].size(); ++x) {
            uint64_t sum = shift > 0 ? uint64_t{1} << (shift - 1) : 0;
            for (int k = 0; k < taps; ++k)
                sum += kWeights[scale][k] * mirrored(picture[y], static_cast<int>(x) + k - taps / 2);
            out[y][x] = sum >> shift;
        }
    return out;
}

Picture product(const Picture& a, const Picture& b) {
    Picture out = a;
    for (size_t y = 0; y < a.size(); ++y)
        for (size_t x = 0; x < a[y].size(); ++x) out[y][x] *= b[y][x];
    return out;
}

Picture half_size(const Picture& picture) {
    Picture out(picture.size() / 2, std::vector<uint64_t>(picture[0].size() / 2));
    for (size_t y = 0; y < out.size(); ++y)
        for (size_t x = 0; x < out[y].size(); ++x) out[y][x] = picture[2 * y][2 * x];
    return out;
}

int64_t twin_log(int64_t x) {
    int bits = 16; // never fewer: the argument is at least 2^17
    while (x >> bits != 0) ++bits;
    return log_table_entry(static_cast<uint32_t>(x >> (bits - 16))) + int64_t{2048} * (bits - 16);
}

struct TwinResult {
    int64_t words[kAccumulatorWords] = {};
    Picture reference[kScales], distorted[kScales];
};

void add_twin_pixel(int64_t s1, int64_t s2, int64_t s12, double gain_limit, int64_t* words) {
    if (s2 < 0) s2 = 0;
    if (s1 < 131072) {
        words[kFlatVariance] += s2;
        words[kFlatCount] += 1;
        return;
    }
    words[kDenominatorLog] += twin_log(131072 + s1) - 2048 * 17;
    if (s12 <= 0 || s2 <= 0) return;
    double gain = static_cast<double>(s12) / (static_cast<double>(s1) + 65536 * 1.0e-10);
    auto residual = static_cast<int64_t>(static_cast<double>(s2) - gain * static_cast<double>(s12));
    if (residual < 0) residual = 0;
    if (gain > gain_limit) gain = gain_limit;
    const auto signal = static_cast<int64_t>((gain * gain) * static_cast<double>(s1));
    words[kNumeratorLog] += twin_log(signal + residual + 131072) - twin_log(residual + 131072);
}

TwinResult twin(Picture reference, Picture distorted, int depth, double gain_limit) {
    TwinResult result;
    for (int s = 0; s < kScales; ++s) {
        if (s > 0) {
            const int shift = s == 1 ? depth : 16;
            reference = half_size(filtered_along(filtered_down(reference, s, shift), s, 16));
            distorted = half_size(filtered_along(filtered_down(distorted, s, shift), s, 16));
        }
        const int mean_shift = s == 0 ? depth : 16, product_shift = s == 0 ? 2 * (depth - 8) : 16;
        const auto mean_1 = filtered_along(filtered_down(reference, s, mean_shift), s, 0);
        const auto mean_2 = filtered_along(filtered_down(distorted, s, mean_shift), s, 0);
        const auto second_moment = [&](const Picture& a, const Picture& b) {
            return filtered_along(filtered_down(product(a, b), s, product_shift), s, 16);
        };
        const auto square_1 = second_moment(reference, reference);
        const auto square_2 = second_moment(distorted, distorted);
        const auto product_12 = second_moment(reference, distorted);
        const auto centred = [](uint64_t moment, uint64_t a, uint64_t b) {
            return static_cast<int64_t>(moment) - static_cast<int64_t>((a * b + (uint64_t{1} << 31)) >> 32);
        };
        for (size_t y = 0; y < reference.size(); ++y)
            for (size_t x = 0; x < reference[y].size(); ++x)
                add_twin_pixel(centred(square_1[y][x], mean_1[y][x], mean_1[y][x]),
                               centred(square_2[y][x], mean_2[y][x], mean_2[y][x]),
                               centred(product_12[y][x], mean_1[y][x], mean_2[y][x]), gain_limit,
                               result.words + s * kWordsPerScale);
        result.reference[s] = reference;
        result.distorted[s] = distorted;
    }
    return result;
}

// ---- content --------------------------------------------------------------------------------------------------------

using test::SamplePicture;

enum class Content { kNatural, kNoise, kBinary, kFlat };

uint32_t sample_of(Content content, int x, int y, int depth, bool distorted) {
    const uint32_t noise = test::synthetic_hash(x, y, 7, 0, distorted ? 4 : 3);
    const uint32_t maximum = (1u << depth) - 1;
    switch (content) {
    case Content::kNatural:
        return distorted ? test::synthetic_distorted(x, y, 0, 0, depth) : test::synthetic_reference(x, y, 0, 0, depth);
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

/// Its twin's form.
Picture samples_of(const SamplePicture& picture) {
    Picture samples(picture.geometry().height, std::vector<uint64_t>(picture.geometry().width));
    for (int y = 0; y < picture.geometry().height; ++y)
        for (int x = 0; x < picture.geometry().width; ++x) samples[y][x] = picture.at(0, x, y);
    return samples;
}

void expect_equal_to_twin(Content content, int width, int height, int depth, double gain_limit) {
    const SamplePicture reference = make_picture(content, width, height, depth, false);
    const SamplePicture distorted = make_picture(content, width, height, depth, true);
    const TwinResult expected = twin(samples_of(reference), samples_of(distorted), depth, gain_limit);
    uint64_t words[kAccumulatorWords] = {};
    score_pair(reference.geometry(), {gain_limit, false}, {reference.view(), distorted.view()}, words);
    for (int i = 0; i < kAccumulatorWords; ++i)
        ASSERT_EQ(static_cast<int64_t>(words[i]), expected.words[i])
            << width << "x" << height << ", " << depth << " bits, content " << static_cast<int>(content) << ", word "
            << i;
}

TEST(VifCpu, AllSmallSizesEqualTheTwin) {
    for (int height = 16; height <= 40; ++height)
        for (int width = 16; width <= 40; ++width) {
            const int depth = (width + height) % 2 ? 8 : 10;
            expect_equal_to_twin(Content::kNatural, width, height, depth, width % 3 ? 100.0 : 1.0);
            if (HasFatalFailure()) return;
        }
}

TEST(VifCpu, ExtremeContentEqualsTheTwin) {
    for (const Content content : {Content::kNatural, Content::kNoise, Content::kBinary, Content::kFlat})
        for (const int depth : {8, 10, 12, 16})
            for (const double gain_limit : {1.0, 1.5, 100.0}) {
                expect_equal_to_twin(content, 75, 53, depth, gain_limit);
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
