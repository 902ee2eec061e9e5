// SPDX-License-Identifier: BSD-2-Clause-Patent
// PSNR-HVS: golden scores, the parallel sum against the sequential one, and the CUDA kernels' phases run on the host.
#include "metrics/psnr_hvs/psnr_hvs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "metrics/psnr_hvs/psnr_hvs_tile.hpp"
#include "tests/golden/golden_scores.hpp"
#include "tests/support/geometry.hpp"
#include "tests/support/metric_runner.hpp"

namespace qc::psnr_hvs {
namespace {

using test::geometry_of;

// ---- the walk, as the kernels do it ---------------------------------------------------------------------------------

using Maps = std::array<SumMap, kLanes>;
using Binades = std::array<uint32_t, kLanes>;

/// apply_while_valid() of the kernels, lane after lane.
int apply_while_valid(const Maps& maps, const Binades& binades, int first, float* sum) {
    SumMap prefix = identity_map();
    float reached = *sum;
    int lane = first;
    for (; lane < kLanes; ++lane) {
        prefix = compose(prefix, maps[lane]);
        if (!map_holds(*sum, prefix, binades[lane])) break;
        reached = apply(*sum, prefix);
    }
    *sum = reached;
    return lane;
}

struct Counts {
    int groups = 0, redone = 0, single_blocks = 0;
};

float add_group(float sum, const float* terms, Counts* counts) {
    for (int next = 0; next < kLanes; ++next) {
        Maps maps;
        Binades binades;
        binades.fill(binade_of(sum));
        for (int lane = 0; lane < kLanes; ++lane) maps[lane] = block_map(terms + lane, binade_of(sum));
        next = apply_while_valid(maps, binades, next, &sum);
        if (next == kLanes) break;
        sum = add_block(sum, terms + next);
        ++counts->single_blocks;
    }
    return sum;
}

/// Terms in the kernels' order, in whole groups. `guess_factor` spoils the guessed binades.
float parallel_sum(const std::vector<float>& terms, float guess_factor, Counts* counts) {
    const size_t groups = terms.size() / kTermsPerGroup;
    std::vector<SumMap> maps(groups);
    std::vector<uint32_t> binades(groups);
    float before = 0.0f;
    for (size_t g = 0; g < groups; ++g) {
        const float* const group = terms.data() + g * kTermsPerGroup;
        binades[g] = binade_of(before * guess_factor);
        maps[g] = identity_map();
        for (int lane = 0; lane < kLanes; ++lane) maps[g] = compose(maps[g], block_map(group + lane, binades[g]));
        float group_sum = 0.0f;
        for (int i = 0; i < kTermsPerGroup; ++i) group_sum += group[i];
        before += group_sum;
    }
    float sum = 0.0f;
    for (size_t base = 0; base < groups; base += kLanes) {
        Maps group_maps;
        Binades group_binades;
        for (int lane = 0; lane < kLanes; ++lane) {
            const bool present = base + lane < groups;
            group_maps[lane] = present ? maps[base + lane] : identity_map();
            group_binades[lane] = present ? binades[base + lane] : binade_of(sum);
        }
        for (int next = 0; next < kLanes && base + next < groups; ++next) {
            for (int lane = 0; lane < kLanes; ++lane)
                if (base + lane >= groups) group_binades[lane] = binade_of(sum);
            next = apply_while_valid(group_maps, group_binades, next, &sum);
            if (next == kLanes || base + next >= groups) break;
            sum = add_group(sum, terms.data() + (base + next) * kTermsPerGroup, counts);
            ++counts->redone;
        }
    }
    counts->groups += static_cast<int>(groups);
    return sum;
}

float sequential_sum(const std::vector<float>& terms) {
    float sum = 0.0f;
    for (size_t group = 0; group < terms.size(); group += kTermsPerGroup)
        for (int lane = 0; lane < kLanes; ++lane)
            for (int i = 0; i < kBlockSize; ++i) sum = sum + terms[group + i * kLanes + lane];
    return sum;
}

std::vector<float> random_terms(std::mt19937& random, int groups, int kind) {
    std::vector<float> terms(static_cast<size_t>(groups) * kTermsPerGroup);
    for (float& term : terms) {
        const auto integer = static_cast<float>(random() % 256);
        switch (kind) {
        case 0: // many zeros, as masking leaves them
            term = random() % 4 == 0 ? std::ldexp(integer, static_cast<int>(random() % 30) - 20) : 0.0f;
            break;
        case 1: // ties wherever the sum is large
            term = std::ldexp(0.5f, static_cast<int>(random() % 4));
            break;
        case 2: // all scales
            term = std::ldexp(1.0f + integer / 256, static_cast<int>(random() % 60) - 40);
            break;
        default:
            term = random() % 1000 == 0 ? integer : 0.0f;
        }
    }
    return terms;
}

TEST(PsnrHvsSum, ParallelSumHasTheBitsOfTheSequentialOne) {
    std::mt19937 random(1);
    Counts counts;
    for (int round = 0; round < 120; ++round) {
        const std::vector<float> terms = random_terms(random, 1 + static_cast<int>(random() % 90), round % 4);
        const float expected = sequential_sum(terms);
        for (const float guess_factor : {1.0f, 0.4f, 2.5f, 0.0f})
            ASSERT_EQ(parallel_sum(terms, guess_factor, &counts), expected) << round << " " << guess_factor;
    }
}

TEST(PsnrHvsSum, FewGroupsAreRedone) {
    std::mt19937 random(2);
    const std::vector<float> terms = random_terms(random, 1300, 0);
    Counts counts;
    ASSERT_EQ(parallel_sum(terms, 1.0f, &counts), sequential_sum(terms));
    EXPECT_LT(counts.redone, 40);
    EXPECT_LT(counts.single_blocks, 60);
}

TEST(PsnrHvsSum, NothingButZeros) {
    Counts counts;
    EXPECT_EQ(parallel_sum(std::vector<float>(3 * kTermsPerGroup), 1.0f, &counts), 0.0f);
}

/// The device's division by a table entry, with the host's fused multiply-add.
TEST(PsnrHvsMath, DivisionByReciprocalIsRoundedCorrectly) {
    std::mt19937 random(3);
    for (const PlaneTables& tables : kPlaneTables) {
        for (int i = 0; i < kBlockSize; ++i) {
            const float divisor = tables.masking[i], reciprocal = tables.inverse_masking[i];
            for (int round = 0; round < 4000; ++round) {
                const float value = std::ldexp(static_cast<float>(0x800000 + random() % 0x800000),
                                               static_cast<int>(random() % 40) - 43);
                float quotient = value * reciprocal;
                quotient = std::fma(std::fma(-quotient, divisor, value), reciprocal, quotient);
                quotient = std::fma(std::fma(-quotient, divisor, value), reciprocal, quotient);
                ASSERT_EQ(quotient, value / divisor) << value << " / " << divisor;
            }
        }
    }
}

// ---- the kernels' phases on pictures --------------------------------------------------------------------------------

template <typename T>
struct Pictures {
    std::vector<T> reference, distorted;
};

template <typename T>
Pictures<T> make_pictures(int width, int height, int depth, unsigned seed, int amplitude) {
    std::mt19937 random(seed);
    const int peak = (1 << depth) - 1;
    Pictures<T> pictures;
    for (int i = 0; i < width * height; ++i) {
        const int x = i % width, y = i / width;
        const int wave = static_cast<int>((0.5 + 0.3 * std::sin(x * 0.21) + 0.15 * std::sin(y * 0.13)) * peak);
        const int reference = amplitude < 0 ? static_cast<int>(random() % 2) * peak : wave;
        const int noise = amplitude <= 0 ? 0 : static_cast<int>(random() % (2 * amplitude + 1)) - amplitude;
        const int distorted = amplitude < 0 ? static_cast<int>(random() % 2) * peak : std::clamp(wave + noise, 0, peak);
        pictures.reference.push_back(static_cast<T>(std::min(reference, peak)));
        pictures.distorted.push_back(static_cast<T>(std::min(distorted, peak)));
    }
    return pictures;
}

template <typename T>
void expect_same_sum(int width, int height, int depth, int plane, unsigned seed, int amplitude) {
    const Pictures<T> pictures = make_pictures<T>(width, height, depth, seed, amplitude);
    const BytePitch pitch{static_cast<ptrdiff_t>(width * sizeof(T))};
    const float expected = weighted_error({pictures.reference.data(), pitch, width, height},
                                          {pictures.distorted.data(), pitch, width, height}, width, height, plane,
                                          sizeof(T) == 1 ? SampleType::kU8 : SampleType::kU16);

    const Task task = make_task(geometry_of(width, height, depth, width, height));
    const PlaneTask& part = task.plane[plane];
    const DevicePlane reference{pictures.reference.data(), static_cast<uint32_t>(pitch.bytes), 1, 0};
    const DevicePlane distorted{pictures.distorted.data(), static_cast<uint32_t>(pitch.bytes), 1, 0};
    std::vector<float> terms(static_cast<size_t>(part.groups) * kTermsPerGroup, -1.0f);
    for (int index = 0; index < part.groups * kLanes; ++index) {
        float* const first = terms.data() + static_cast<size_t>(index / kLanes) * kTermsPerGroup + index % kLanes;
        score_block<T>(reference, distorted, part, index, kPlaneTables[plane], first);
    }
    Counts counts;
    EXPECT_EQ(parallel_sum(terms, 1.0f, &counts), expected) << width << "x" << height << " plane " << plane;
}

TEST(PsnrHvsPhases, HaveTheBitsOfTheCpuReference) {
    unsigned seed = 10;
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{8, 8}, {14, 15}, {15, 14}, {16, 22}, {61, 33}, {177, 163}, {640, 360}}) {
        for (int plane = 0; plane < kPlanes; ++plane) {
            for (const int amplitude : {-1, 0, 3, 40}) {
                expect_same_sum<uint8_t>(width, height, 8, plane, ++seed, amplitude);
                expect_same_sum<uint16_t>(width, height, 12, plane, ++seed, amplitude);
            }
        }
    }
}

TEST(PsnrHvs, GroupsCoverAllBlocksOfAllPlanes) {
    const Task task = make_task(geometry_of(1920, 1080, 8, 960, 540));
    EXPECT_EQ(task.plane[0].blocks, 274 * 154);
    EXPECT_EQ(task.plane[1].blocks, 137 * 77);
    for (int p = 0; p < kPlanes; ++p) {
        EXPECT_GE(task.plane[p].groups * kLanes, task.plane[p].blocks);
        EXPECT_EQ(plane_of_group(task, task.plane[p].first_group), p);
        EXPECT_EQ(plane_of_group(task, task.plane[p].first_group + task.plane[p].groups - 1), p);
    }
}

TEST(PsnrHvs, PlanesWithoutAnErrorScoreInfinity) {
    const FrameGeometry geometry = geometry_of(64, 64, 8, 32, 32);
    const auto recorder =
        test::finalise_stream(descriptor(), geometry, {}, {{std::bit_cast<uint64_t>(5.0), 0, 0}, {0, 0, 0}});
    EXPECT_TRUE(std::isfinite(recorder.values("psnr_hvs_y")[0]));
    EXPECT_EQ(recorder.values("psnr_hvs_cb")[0], std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isfinite(recorder.values("psnr_hvs")[0]));
    EXPECT_EQ(recorder.values("psnr_hvs")[1], std::numeric_limits<double>::infinity());
}

TEST(PsnrHvs, RefusesWhatHasNoScore) {
    const OptionValues options(descriptor().options);
    const auto code = [&](const FrameGeometry& geometry) { return validate(descriptor(), geometry, options).code(); };
    EXPECT_EQ(code(geometry_of(16, 16, 8, 8, 8)), QC_OK);
    EXPECT_EQ(code(geometry_of(8, 8, 12, 8, 8)), QC_OK);
    EXPECT_EQ(code(geometry_of(15, 16, 8, 7, 8)), QC_ERROR_UNSUPPORTED);
    EXPECT_EQ(code(geometry_of(16, 15, 8, 8, 7)), QC_ERROR_UNSUPPORTED);
    EXPECT_EQ(code(geometry_of(64, 64, 8, 0, 0)), QC_ERROR_UNSUPPORTED);
    EXPECT_EQ(code(geometry_of(64, 64, 16, 32, 32)), QC_ERROR_UNSUPPORTED);
}

TEST(PsnrHvsGolden, EveryClip) {
    golden::expect_golden_scores({.metric = descriptor(), .least = 900, .tolerance = 1e-12});
}

} // namespace
} // namespace qc::psnr_hvs
