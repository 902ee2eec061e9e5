// SPDX-License-Identifier: BSD-2-Clause-Patent
// From geometry, colour tags and options to a Plan.
#pragma once

#include <algorithm>
#include <cmath>

#include "metrics/ssimulacra2/ssimulacra2_colour.hpp"
#include "metrics/ssimulacra2/ssimulacra2_math.hpp"

namespace qc::ssimulacra2 {

enum OptionIndex {
    kOptionPreset,
    kOptionMatrix, ///< the first of kProperties, in the order of Property
    kOptionRange,
    kOptionPrimaries,
    kOptionTransfer,
    kOptionChromaLocation,
    kOptionChroma,
    kOptionGamut,
    kOptionKernel,
    kOptionBorder,
    kOptionPrune,
    kOptionRefWhite,
    kOptionSubscores
};

constexpr std::string_view kPresetWords[] = {"default", "vship", "rs", "vmaf-fork"};
constexpr std::string_view kChromaWords[] = {"auto", "catmullrom", "bilinear", "nearest"};
constexpr std::string_view kGamutWords[] = {"auto", "clip", "floor", "extend"};
constexpr std::string_view kKernelWords[] = {"auto", "cosine9", "gauss17"};
constexpr std::string_view kBorderWords[] = {"auto", "zero", "renorm"};
constexpr std::string_view kPruneWords[] = {"auto", "0", "1"};
constexpr std::string_view kSubscoresWords[] = {"none", "levels", "norms"};
enum Subscores { kNoSubscores, kLevelSubscores, kNormSubscores };

constexpr OptionSpec word_option(std::string_view name, std::string_view alias, std::span<const std::string_view> words,
                                 std::string_view help) {
    return {name, alias, OptionType::kChoice, 0, 0, static_cast<double>(words.size()) - 1, help, words};
}

inline constexpr OptionSpec kOptions[] = {
    word_option("preset", "pre", kPresetWords, "compute as this program does on video; single options override it"),
    word_option("matrix", "mat", kMatrixWords, "YUV matrix of both inputs, instead of their tags"),
    word_option("range", "rng", kRangeWords, "range of both inputs, instead of their tags"),
    word_option("primaries", "prim", kPrimariesWords, "primaries of both inputs, instead of their tags"),
    word_option("transfer", "trc", kTransferWords, "transfer function of both inputs, instead of their tags"),
    word_option("chroma_loc", "loc", kLocationWords, "chroma location of both inputs, instead of their tags"),
    word_option("chroma", "chr", kChromaWords, "how chroma is brought to the size of luma; auto: catmullrom"),
    word_option("gamut", "gam", kGamutWords, "R'G'B' beyond 0 to 1: clip, floor (clip below 0), extend; auto: clip"),
    word_option("kernel", "ker", kKernelWords, "blur; auto: cosine9"),
    word_option("border", "bor", kBorderWords, "blur at the border: zeros outside, or renormalised; auto: zero"),
    word_option("prune", "pru", kPruneWords, "1: leave out the weights up to 0.01; auto: 0"),
    {"ref_white", "rw", OptionType::kDouble, 255.0, 1.0, 10000.0, "PQ and HLG: cd/m2 that count as white"},
    word_option("subscores", "", kSubscoresWords, "also write the part of each level, or all norms"),
};

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
struct Settings {
    Preset preset = kPresetDefault;
    ChromaFilter chroma{};
    Gamut gamut{};
    bool gaussian = false, renormalise = false, prune = false, clamp_codes = false;
    LevelRule levels{};
    double ref_white = 255.0;
    Subscores subscores = kNoSubscores;
    Colours colours;
};

/// The choice of an option that begins with "auto".
template <typename Value>
Value choice_or(const OptionValues& options, OptionIndex index, Value preset_value) {
    const int word = options.integer(index);
    return word == 0 ? preset_value : static_cast<Value>(word - 1);
}

inline Status settle(const FrameGeometry& geometry, const OptionValues& options, Settings* settings) {
    settings->preset = static_cast<Preset>(options.integer(kOptionPreset));
    const PresetSpec& preset = kPresetSpecs[settings->preset];
    settings->chroma = choice_or(options, kOptionChroma, preset.chroma);
    settings->gamut = choice_or(options, kOptionGamut, preset.gamut);
    settings->gaussian = choice_or(options, kOptionKernel, preset.gaussian);
    settings->renormalise = choice_or(options, kOptionBorder, preset.renormalise);
    settings->prune = choice_or(options, kOptionPrune, preset.prune);
    settings->clamp_codes = preset.clamp_codes;
    settings->levels = preset.levels;
    settings->ref_white = options.number(kOptionRefWhite);
    settings->subscores = static_cast<Subscores>(options.integer(kOptionSubscores));
    std::array<int, kProperties> asked{};
    for (int p = 0; p < kProperties; ++p)
        asked[static_cast<size_t>(p)] = options.integer(static_cast<size_t>(kOptionMatrix + p));
    return settle_colours(geometry, settings->preset, asked, settings->chroma != ChromaFilter::kNearest,
                          &settings->colours);
}

// ---- colour ---------------------------------------------------------------------------------------------------------

/// value = scale * (code - origin)
struct CodeScale {
    double scale, origin;
};

/// The fork divides by the peak first and then uses constants of 8-bit video.
inline CodeScale luma_scale(bool fork, bool full, int depth) {
    const double step = 1 << (depth - 8), peak = (1 << depth) - 1;
    if (full) return {1.0 / peak, 0.0};
    if (fork) return {255.0 / 219.0 / peak, 16.0 / 255.0 * peak};
    return {1.0 / (219.0 * step), 16.0 * step};
}

inline CodeScale chroma_scale(bool fork, bool full, int depth) {
    const double step = 1 << (depth - 8), peak = (1 << depth) - 1;
    if (fork) return {(full ? 1.0 : 255.0 / 224.0) / peak, 0.5 * peak};
    return {full ? 1.0 / peak : 1.0 / (224.0 * step), 128.0 * step};
}

inline void set_matrix(const FrameGeometry& geometry, const Settings& settings, const InputColour& colour,
                       ColourConversion<double>* conversion) {
    const bool full = colour[kRange].word == kFull;
    const bool fork = settings.preset == kPresetVmafFork && !geometry.rgb;
    const CodeScale luma = luma_scale(fork, full, geometry.depth);
    CodeScale plane[3] = {luma, chroma_scale(fork, full, geometry.depth), {}};
    plane[2] = plane[1];
    auto& matrix = conversion->matrix;
    if (geometry.rgb) {
        plane[1] = plane[2] = luma;
        matrix[0][2] = matrix[1][0] = matrix[2][1] = luma.scale; // planes are G, B, R
    } else {
        for (auto& row : matrix) row[0] = luma.scale;
        if (conversion->planes > 1) {
            const auto [red, blue] = luma_weights(colour[kMatrix].word);
            const double green = 1.0 - red - blue;
            matrix[0][2] = 2.0 * (1.0 - red) * plane[2].scale;
            matrix[1][1] = -2.0 * blue * (1.0 - blue) / green * plane[1].scale;
            matrix[1][2] = -2.0 * red * (1.0 - red) / green * plane[2].scale;
            matrix[2][1] = 2.0 * (1.0 - blue) * plane[1].scale;
        }
    }
    conversion->clamp_codes = settings.clamp_codes ? 1 : 0;
    for (int p = 0; p < 3; ++p) {
        const bool signed_plane = p > 0 && !geometry.rgb;
        conversion->origin[p] = plane[p].origin;
        conversion->code_low[p] = plane[p].origin + (signed_plane ? -0.5 : 0.0) / plane[p].scale;
        conversion->code_high[p] = plane[p].origin + (signed_plane ? 0.5 : 1.0) / plane[p].scale;
    }
}

inline void set_transfer(const Settings& settings, const InputColour& colour, ColourConversion<double>* conversion) {
    conversion->gamut = settings.gamut;
    conversion->transfer = Transfer::kPower;
    conversion->exponent = 2.4;
    conversion->light_scale = 1.0;
    switch (colour[kTransferFunction].word) {
    case kSrgbCurve:
        conversion->transfer = Transfer::kSrgb;
        break;
    case kBt709Camera:
        conversion->transfer = Transfer::kBt709;
        break;
    case kGamma22:
        conversion->exponent = 2.2;
        break;
    case kGamma28:
        conversion->exponent = 2.8;
        break;
    case kLinearLight:
        conversion->transfer = Transfer::kLinear;
        break;
    case kPqCurve:
        conversion->transfer = Transfer::kPq;
        conversion->gamut = Gamut::kClip; // it has a pole at 1.99, and no meaning beyond 1
        conversion->light_scale = 10000.0 / settings.ref_white;
        break;
    case kHlgCurve:
        conversion->transfer = Transfer::kHlg;
        conversion->light_scale = 1000.0 / settings.ref_white;
        break;
    default:
        break;
    }
}

inline ColourConversion<double> make_conversion(const FrameGeometry& geometry, const Settings& settings, int input) {
    const InputColour& colour = settings.colours.input[static_cast<size_t>(input)];
    ColourConversion<double> conversion{};
    conversion.planes = geometry.plane_count();
    conversion.chroma_filter = settings.chroma;
    const int location = colour[kChromaLocation].word;
    conversion.axis_x = {is_halved_x(geometry) ? 1 : 0, location == kCentre || location == kTop ? 1 : 0};
    conversion.axis_y = {is_halved_y(geometry) ? 1 : 0, location == kLeft || location == kCentre ? 1 : 0};
    set_matrix(geometry, settings, colour, &conversion);
    set_transfer(settings, colour, &conversion);
    conversion.convert_primaries =
        settings.colours.matters[kPrimaries] && colour[kPrimaries].word != kPrimariesBt709 ? 1 : 0;
    const Matrix3& primaries = primaries_matrix(colour[kPrimaries].word);
    for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 3; ++j) conversion.primaries[i][j] = primaries[i][j];
    return conversion;
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
