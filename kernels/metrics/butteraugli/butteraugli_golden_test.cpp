// SPDX-License-Identifier: BSD-2-Clause-Patent
// Butteraugli against the golden scores: an independent computation in double precision of PNG pairs and of the shared
// clips, and what the tool of libjxl 0.7 printed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "metrics/butteraugli/butteraugli_test_support.hpp"
#include "tests/golden/golden_scores.hpp"

namespace qc::butteraugli {
namespace {

constexpr double kTolerance = 1e-8;     ///< relative, of the reference: what two orders of the same sums may be apart
constexpr double kToolTolerance = 3e-5; ///< relative: the tool computes in single precision, with a fast logarithm

class ButteraugliGolden : public testing::Test {
protected:
    void SetUp() override {
        if (const char* reason = golden::missing_clips()) GTEST_SKIP() << reason;
        folder_ = golden::folder() / "butteraugli";
    }

    static void compare(golden::Tally* tally, double actual, double expected, double tolerance,
                        const std::string& what) {
        tally->compare(actual, expected, tolerance * std::max(1.0, std::abs(expected)), what);
    }

    /// Each of the CPU's implementations, and how far it may be from the definition.
    struct Held {
        Cpu cpu;
        double tolerance;
        const char* name;
    };
    static constexpr Held kHeld[] = {{Cpu::kReference, kTolerance, "reference"}, {Cpu::kBackend, kCpuBound, "backend"}};

    std::filesystem::path folder_;
};

class ButteraugliGoldenPng : public ButteraugliGolden {
protected:
    void SetUp() override {
        if (const char* reason = golden::missing_png()) GTEST_SKIP() << reason;
        ButteraugliGolden::SetUp();
        if (!IsSkipped()) pairs_ = golden::read_json(folder_ / "golden.json");
    }

    test::Recorder run(const golden::Json& pair, Words words, Cpu cpu = Cpu::kBackend) const {
        const std::filesystem::path pictures = golden::folder() / "ssimulacra2";
        const auto reference = golden::read_png(pictures / pair.at("ref").get<std::string>());
        const auto distorted = golden::read_png(pictures / pair.at("dis").get<std::string>());
        if (!reference || !distorted) {
            ADD_FAILURE() << name_of(pair) << " cannot be read";
            return test::Recorder(descriptor());
        }
        const std::string target = format("%g", pair.at("intensity_target").get<double>()),
                          asymmetry = format("%g", pair.at("hf_asymmetry").get<double>());
        words.emplace_back("intensity_target", target);
        words.emplace_back("hf_asymmetry", asymmetry);
        return butteraugli::run(reference->geometry(), words, reference->view(), distorted->view(), cpu);
    }

    static std::string name_of(const golden::Json& pair) {
        return pair.at("ref").get<std::string>() + " " + pair.at("dis").get<std::string>();
    }

    golden::Json pairs_;
};

TEST_F(ButteraugliGoldenPng, ScoresEqualTheDefinition) {
    for (const Held& held : kHeld) {
        golden::Tally largest, norms;
        for (const golden::Json& pair : pairs_) {
            const test::Recorder recorder = run(pair, {{"subscores", "norms"}}, held.cpu);
            const std::string name = name_of(pair) + ", " + held.name;
            const auto check = [&](golden::Tally* tally, const char* score, const char* key) {
                compare(tally, recorder.values(score).at(0), pair.at(key).get<double>(), held.tolerance, name);
            };
            check(&largest, "butteraugli", "ref64_max");
            check(&norms, "butteraugli_3norm", "ref64_3norm");
            check(&norms, "butteraugli_norm3", "ref64_N3");
            check(&norms, "butteraugli_norm2", "ref64_N2");
        }
        largest.print(std::string(held.name) + ", largest");
        norms.print(std::string(held.name) + ", norms");
        EXPECT_GE(largest.compared(), 12);
    }
}

TEST_F(ButteraugliGoldenPng, ScoresEqualTheToolsWithinItsPrecision) {
    golden::Tally tally;
    for (const golden::Json& pair : pairs_) {
        const test::Recorder recorder = run(pair, {});
        compare(&tally, recorder.values("butteraugli").at(0), pair.at("tool_max").get<double>(), kToolTolerance,
                name_of(pair));
        compare(&tally, recorder.values("butteraugli_3norm").at(0), pair.at("tool_3norm").get<double>(), kToolTolerance,
                name_of(pair));
    }
    tally.print("tool");
    EXPECT_GE(tally.compared(), 24);
}

TEST_F(ButteraugliGoldenPng, NewerConstantsEqualTheDefinition) {
    for (const Held& held : kHeld) {
        golden::Tally tally;
        for (const golden::Json& pair : pairs_) {
            const test::Recorder recorder = run(pair, {{"constants", "libjxl011"}}, held.cpu);
            const auto check = [&](const char* score, const char* key) {
                compare(&tally, recorder.values(score).at(0), pair.at(key).get<double>(), held.tolerance,
                        name_of(pair) + ", " + held.name);
            };
            check("butteraugli", "newconst_unverified_max");
            check("butteraugli_3norm", "newconst_unverified_3norm");
        }
        tally.print(std::string(held.name) + ", newer constants");
        EXPECT_GE(tally.compared(), 24);
    }
}

TEST_F(ButteraugliGolden, SharedClipsEqualTheDefinition) {
    const golden::Json recorded = golden::read_json(folder_ / "clips.json");
    std::map<std::string, const golden::Json*> frames_of;
    for (const golden::Json& entry : recorded.at("clips")) frames_of[entry.at("clip")] = &entry.at("frames");
    golden::Tally tally[std::size(kHeld)];
    int clips = 0;
    for (const golden::Clip& clip : golden::clips()) {
        const auto found = frames_of.find(clip.name);
        if (found == frames_of.end()) continue;
        const golden::ClipPictures pictures(clip);
        ASSERT_TRUE(pictures.ok()) << clip.name;
        ASSERT_GE(pictures.reference().size(), found->second->size()) << clip.name;
        ++clips;
        for (size_t i = 0; i < found->second->size(); ++i) {
            const golden::Json& frame = found->second->at(i);
            for (size_t h = 0; h < std::size(kHeld); ++h) {
                const test::Recorder recorder =
                    butteraugli::run(clip.geometry(), {{"matrix", "bt709"}, {"subscores", "norms"}},
                                     pictures.reference()[i], pictures.distorted()[i], kHeld[h].cpu);
                const std::string name = clip.name + " frame " + std::to_string(i) + ", " + kHeld[h].name;
                for (const auto& [score, key] : {std::pair{"butteraugli", "ref64_max"},
                                                 {"butteraugli_3norm", "ref64_3norm"},
                                                 {"butteraugli_norm3", "N3"},
                                                 {"butteraugli_norm2", "N2"}})
                    compare(&tally[h], recorder.values(score).at(0), frame.at(key).get<double>(), kHeld[h].tolerance,
                            name);
            }
        }
    }
    std::printf("%d clips\n", clips);
    for (size_t h = 0; h < std::size(kHeld); ++h) tally[h].print(std::string(kHeld[h].name) + ", clips");
    EXPECT_GE(clips, 20);
}

} // namespace
} // namespace qc::butteraugli
