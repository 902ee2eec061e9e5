// SPDX-License-Identifier: BSD-2-Clause-Patent
// The CUDA kernels of PSNR-HVS without a GPU: the parallel sum against the sequential one, and pictures of every layout
// against the CPU reference, bit for bit.
#include <array>
#include <cmath>
#include <random>

#include "metrics/psnr_hvs/psnr_hvs.hpp"
#include "metrics/psnr_hvs/psnr_hvs_kernels.hpp"
#include "tests/device/emulated_device.hpp"

namespace qc::psnr_hvs {
namespace {

const std::vector<test::EmulatedKernel> kKernels = QC_EMULATED_KERNELS(QC_PSNR_HVS_KERNELS);

// ---- the sum --------------------------------------------------------------------------------------------------------

/// Terms in the kernels' order, in whole groups of luma, and what the kernels behind the first make of them.
class SumRun {
public:
    explicit SumRun(const std::vector<float>& terms) : groups_(static_cast<int>(terms.size()) / kTermsPerGroup) {
        task_.groups = groups_;
        task_.plane[0] = {.blocks_x = kLanes, .blocks = groups_ * kLanes, .first_group = 0, .groups = groups_};
        task_.plane[1].first_group = task_.plane[2].first_group = groups_;
        memory_.resize((scratch_bytes_of(task_, 1) + sizeof(Word) - 1) / sizeof(Word));
        scratch_ = make_scratch(memory_.data(), task_, 1);
        std::copy(terms.begin(), terms.end(), scratch_.terms);
    }

    /// @param guess_factor spoils the guessed binades
    float sum(float guess_factor, bool descending) {
        for (int g = 0; g < groups_; ++g) {
            const float* const group = scratch_.terms + static_cast<size_t>(g) * kTermsPerGroup;
            float group_sum = 0.0f;
            for (int i = 0; i < kTermsPerGroup; ++i) group_sum += group[i];
            scratch_.group_sums[g] = group_sum * guess_factor;
        }
        const DevicePair pair{};
        uint64_t words[kPlanes] = {};
        const BatchArguments arguments{&pair, words, scratch_, task_};
        const Dim3 by_group{blocks_for(groups_, kTuning.warps)}, by_plane{kPlanes};
        launch(kernels::psnr_hvs_guess, by_plane, arguments, descending);
        launch(kernels::psnr_hvs_transitions, by_group, arguments, descending);
        launch(kernels::psnr_hvs_walk, by_plane, arguments, descending);
        EXPECT_EQ(words[1], 0u);
        EXPECT_EQ(words[2], 0u);
        return static_cast<float>(std::bit_cast<double>(words[0]));
    }

    // Of the latest sum.
    int groups() const { return groups_; }
    const float* terms(int group) const { return scratch_.terms + static_cast<size_t>(group) * kTermsPerGroup; }
    bool transition_of_group_holds(int group, float before) const {
        return transition_holds(before, scratch_.transitions[group], scratch_.binades[group]);
    }

private:
    using Word = uint64_t;

    void launch(const KernelIdentifier<BatchArguments>& identifier, Dim3 grid, const BatchArguments& arguments,
                bool descending) {
        LoadedKernel<BatchArguments> kernel;
        DeviceProgram& program = program_;
        ASSERT_TRUE(program.find(identifier, &kernel).ok());
        test::EmulatedQueue queue(descending);
        ASSERT_TRUE(queue.launch(kernel, grid, arguments).ok());
    }

    const int groups_;
    Task task_;
    Scratch scratch_{};
    std::vector<Word> memory_;
    test::EmulatedProgram program_{kKernels};
};

float sequential_sum(const std::vector<float>& terms) {
    float sum = 0.0f;
    for (size_t group = 0; group < terms.size(); group += kTermsPerGroup)
        for (int lane = 0; lane < kLanes; ++lane) sum = add_block(sum, terms.data() + group + lane);
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

TEST(PsnrHvsEmulation, ParallelSumHasTheBitsOfTheSequentialOne) {
    std::mt19937 random(1);
    for (int round = 0; round < 120; ++round) {
        const std::vector<float> terms = random_terms(random, 1 + static_cast<int>(random() % 90), round % 4);
        const float expected = sequential_sum(terms);
        SumRun run(terms);
        for (const float guess_factor : {1.0f, 0.4f, 2.5f, 0.0f})
            ASSERT_EQ(run.sum(guess_factor, round % 8 < 4), expected) << round << " " << guess_factor;
    }
}

/// What the parallel sum lives from: the walk adds few groups block by block, and few blocks term by term.
TEST(PsnrHvsEmulation, FewGroupsAreRedone) {
    std::mt19937 random(2);
    const std::vector<float> terms = random_terms(random, 1300, 0);
    SumRun run(terms);
    const float total = run.sum(1.0f, false);
    int redone = 0, single_blocks = 0;
    float sum = 0.0f;
    for (int group = 0; group < run.groups(); ++group) {
        const bool holds = run.transition_of_group_holds(group, sum);
        redone += holds ? 0 : 1;
        for (int lane = 0; lane < kLanes; ++lane) {
            const float* const block = run.terms(group) + lane;
            if (!holds && !transition_holds(sum, block_transition(block, binade_of(sum)), binade_of(sum)))
                ++single_blocks;
            sum = add_block(sum, block);
        }
    }
    ASSERT_EQ(total, sum);
    EXPECT_GT(redone, 0); // the first one at least
    EXPECT_LT(redone, 40);
    EXPECT_LT(single_blocks, 60);
}

TEST(PsnrHvsEmulation, NothingButZeros) {
    EXPECT_EQ(SumRun(std::vector<float>(3 * kTermsPerGroup)).sum(1.0f, false), 0.0f);
}

// ---- pictures -------------------------------------------------------------------------------------------------------

struct PictureCase {
    FrameGeometry geometry;
    int amplitude = 0; ///< of the noise on a wave; below 0: black and white at random
    int shift = 0;
    bool semi_planar = false;
    int padding = 0, count = 1;
};

std::ostream& operator<<(std::ostream& stream, const PictureCase& c) {
    return stream << c.geometry.width << "x" << c.geometry.height << ", chroma " << c.geometry.chroma_width << "x"
                  << c.geometry.chroma_height << ", " << c.geometry.depth << " bits << " << c.shift
                  << (c.semi_planar ? ", semi-planar" : "") << ", padding " << c.padding << ", amplitude "
                  << c.amplitude << ", " << c.count << " pairs";
}

/// Appends a reference and a distorted picture.
void add_pair(const PictureCase& c, unsigned seed, std::vector<test::EmulatedPicture>* pictures) {
    std::mt19937 random(seed);
    const int peak = (1 << c.geometry.depth) - 1;
    const auto reference_at = [&](int x, int y) {
        if (c.amplitude < 0) return static_cast<int>(random() % 2) * peak;
        return static_cast<int>((0.5 + 0.3 * std::sin(x * 0.21) + 0.15 * std::sin(y * 0.13)) * peak);
    };
    const auto distorted_at = [&](int x, int y) {
        const int noise = c.amplitude <= 0 ? 0 : static_cast<int>(random() % (2u * c.amplitude + 1)) - c.amplitude;
        return std::clamp(reference_at(x, y) + noise, 0, peak);
    };
    const test::SurfaceLayout layout{
        .semi_planar = c.semi_planar, .shift = c.shift, .padding = static_cast<size_t>(c.padding)};
    pictures->emplace_back(test::SamplePicture(c.geometry, reference_at, c.padding), layout);
    pictures->emplace_back(test::SamplePicture(c.geometry, distorted_at, c.padding), layout);
}

void expect_emulation_equals_cpu(const PictureCase& c, unsigned seed) {
    SCOPED_TRACE(testing::Message() << c);
    const auto scorer = create_scorer(descriptor(), c.geometry, OptionValues(descriptor().options));
    test::EmulatedProgram program(kKernels);
    ASSERT_TRUE(scorer->prepare(program).ok());
    std::vector<test::EmulatedPicture> pictures;
    for (int i = 0; i < c.count; ++i) add_pair(c, seed + static_cast<unsigned>(i), &pictures);
    for (const bool descending : {false, true}) test::expect_emulation_equals_cpu(*scorer, pictures, descending);
}

FrameGeometry subsampled(int width, int height, int depth, int shift_x, int shift_y) {
    return test::geometry_of(width, height, depth, width >> shift_x, height >> shift_y);
}

/// All planes of one size: each table meets every amplitude.
TEST(PsnrHvsEmulation, PicturesHaveTheBitsOfTheCpuReference) {
    unsigned seed = 10;
    for (const auto& [width, height] :
         std::vector<std::pair<int, int>>{{8, 8}, {14, 15}, {15, 14}, {16, 22}, {61, 33}, {177, 163}, {640, 360}})
        for (const int amplitude : {-1, 0, 3, 40})
            for (const int depth : {8, 12})
                expect_emulation_equals_cpu({subsampled(width, height, depth, 0, 0), amplitude}, ++seed);
}

TEST(PsnrHvsEmulation, EveryLayoutHasTheBitsOfTheCpuReference) {
    constexpr struct { int depth, shift; } kFormats[] = {{8, 0}, {10, 0}, {10, 6}, {12, 4}};
    unsigned seed = 500;
    for (const auto& [shift_x, shift_y] : std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {1, 1}})
        for (const auto& [depth, shift] : kFormats)
            for (const bool semi_planar : {false, true})
                for (const auto& [width, height] : std::vector<std::pair<int, int>>{{16, 16}, {93, 67}})
                    expect_emulation_equals_cpu({.geometry = subsampled(width, height, depth, shift_x, shift_y),
                                                 .amplitude = 8,
                                                 .shift = shift,
                                                 .semi_planar = semi_planar,
                                                 .padding = static_cast<int>(seed % 5),
                                                 .count = semi_planar ? 2 : 1},
                                                ++seed);
}

TEST(PsnrHvsEmulation, SmallSizesHaveTheBitsOfTheCpuReference) {
    for (int height = 16; height <= 31; ++height)
        for (int width = 16; width <= 31; ++width) {
            const int depth = (width + height) % 2 == 0 ? 8 : 10;
            expect_emulation_equals_cpu({subsampled(width, height, depth, 1, width % 3 == 0 ? 0 : 1), 20},
                                        static_cast<unsigned>(width));
            if (HasFailure()) return;
        }
}

} // namespace
} // namespace qc::psnr_hvs
