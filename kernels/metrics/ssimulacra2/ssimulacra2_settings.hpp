// SPDX-License-Identifier: BSD-2-Clause-Patent
// From geometry, colour tags and options to a Plan.
#pragma once

#include <algorithm>
#include <cmath>

#include "families/linear_light/linear_settings.hpp"
#include "metrics/ssimulacra2/ssimulacra2_math.hpp"

namespace qc::ssimulacra2 {

enum OptionIndex {
    kOptionPreset,
    kOptionLight, ///< the first of kLightOptions
    kOptionKernel = kOptionLight + kLightOptions,
    kOptionBorder,
    kOptionPrune,
    kOptionRefWhite,
    kOptionSubscores
};

constexpr std::string_view kPresetWords[] = {"default", "vship", "rs", "vmaf-fork"};
constexpr std::string_view kKernelWords[] = {"auto", "cosine9", "gauss17"};
constexpr std::string_view kBorderWords[] = {"auto", "zero", "renorm"};
constexpr std::string_view kPruneWords[] = {"auto", "0", "1"};
constexpr std::string_view kSubscoresWords[] = {"none", "levels", "norms"};
enum Subscores { kNoSubscores, kLevelSubscores, kNormSubscores };

inline constexpr auto kOptions = with_light_options(
    {word_option("preset", "pre", kPresetWords, "compute as this program does on video; single options override it")},
    {word_option("kernel", "ker", kKernelWords, "blur; auto: cosine9"),
     word_option("border", "bor", kBorderWords, "blur at the border: zeros outside, or renormalised; auto: zero"),
     word_option("prune", "pru", kPruneWords, "1: leave out the weights up to 0.01; auto: 0"),
     {"ref_white", "rw", OptionType::kDouble, 255.0, 1.0, 10000.0, "PQ and HLG: cd/m2 that count as white"},
     word_option("subscores", "", kSubscoresWords, "also write the part of each level, or all norms")});

enum class LevelRule {
    kPreviousSize, ///< a level exists if the one before it is at least 8x8
    kOwnSize,      ///< ... if it is at least 8x8 itself
    kAll           ///< six, whatever the size
};

/// What a preset stands for beside its reading of tags.
struct PresetSpec {
    ChromaFilter chroma;
    Gamut gamut;
    bool gaussian, renormalise, prune, clamp_codes;
    LevelRule levels;
};

inline constexpr PresetSpec kPresetSpecs[] = {
    {ChromaFilter::kCatmullRom, Gamut::kClip, false, false, false, false, LevelRule::kPreviousSize},
    {ChromaFilter::kCatmullRom, Gamut::kExtend, true, true, true, false, LevelRule::kAll},
    {ChromaFilter::kNearest, Gamut::kFloor, false, false, false, true, LevelRule::kPreviousSize},
    {ChromaFilter::kNearest, Gamut::kClip, false, false, false, false, LevelRule::kOwnSize},
};

/// Everything that options, tags and size decide.
struct Settings : LightSettings {
    bool gaussian = false, renormalise = false, prune = false;
    LevelRule levels{};
    Subscores subscores = kNoSubscores;
};

inline Status settle(const FrameGeometry& geometry, const OptionValues& options, Settings* settings) {
    settings->preset = static_cast<Preset>(options.integer(kOptionPreset));
    const PresetSpec& preset = kPresetSpecs[settings->preset];
    settings->gaussian = choice_or(options, kOptionKernel, preset.gaussian);
    settings->renormalise = choice_or(options, kOptionBorder, preset.renormalise);
    settings->prune = choice_or(options, kOptionPrune, preset.prune);
    settings->clamp_codes = preset.clamp_codes;
    settings->levels = preset.levels;
    settings->ref_white = options.number(kOptionRefWhite);
    settings->subscores = static_cast<Subscores>(options.integer(kOptionSubscores));
    return settle_light("ssimulacra2", geometry, options, kOptionLight, preset.chroma, preset.gamut, settings);
}

// ---- plan -----------------------------------------------------------------------------------------------------------

/// Gaussian: sampled, standard deviation 1.5. Cosine: the recursive filter of Charalampidis (IEEE Trans. Signal
/// Processing, 2016) for that deviation, three truncated cosines, summed up into its nine taps.
inline BlurKernel<double> make_blur(bool gaussian, bool renormalise) {
    if (!gaussian)
        return {
            4,
            renormalise ? 1 : 0,
            {0.26462110548819867, 0.21292859201042225, 0.10933537277746033, 0.03601111465836436, 0.009414367809653698}};
    constexpr double kDeviation = 1.5;
    BlurKernel<double> blur{kMaxRadius, renormalise ? 1 : 0, {}};
    double sum = 0.0;
    for (int i = 0; i <= kMaxRadius; ++i) {
        blur.tap[i] = std::exp(-0.5 * i * i / (kDeviation * kDeviation));
        sum += (i == 0 ? 1.0 : 2.0) * blur.tap[i];
    }
    for (double& tap : blur.tap) tap /= sum;
    return blur;
}

inline void set_levels(const FrameGeometry& geometry, LevelRule rule, Plan* plan) {
    LevelSize size{geometry.width, geometry.height};
    plan->levels = 0;
    while (plan->levels < kMaxLevels) {
        plan->level[plan->levels++] = size;
        const LevelSize next{(size.width + 1) / 2, (size.height + 1) / 2};
        const LevelSize& tested = rule == LevelRule::kPreviousSize ? size : next;
        if (rule != LevelRule::kAll && std::min(tested.width, tested.height) < kMinimumSize) return;
        size = next;
    }
}

/// The weight of a norm in a picture with so many levels; 0 where pruned. The fork takes each level's own weights,
/// however many levels there are.
inline double weight_of(const Settings& settings, int levels, int channel, int level, int term) {
    const int stride = settings.levels == LevelRule::kOwnSize ? kMaxLevels : levels;
    const double weight = kWeights[norm_index(stride, channel, level, term)];
    return settings.prune && weight <= kPruneThreshold ? 0.0 : weight;
}

inline Plan make_plan(const FrameGeometry& geometry, const Settings& settings) {
    Plan plan{};
    plan.reference = make_conversion(geometry, settings, 0);
    plan.distorted = make_conversion(geometry, settings, 1);
    plan.blur = make_blur(settings.gaussian, settings.renormalise);
    set_levels(geometry, settings.levels, &plan);
    for (int c = 0; c < kChannels; ++c)
        for (int level = 0; level < plan.levels; ++level)
            for (int term = 0; term < kTerms; ++term) {
                const bool counts = weight_of(settings, plan.levels, c, level, term) != 0.0;
                if (counts || settings.subscores == kNormSubscores) plan.needed[level][c] |= 1u << term;
            }
    return plan;
}

} // namespace qc::ssimulacra2
