// SPDX-License-Identifier: BSD-2-Clause-Patent
// From geometry, colour tags and options to a ColourConversion for each input.
#pragma once

#include "families/linear_light/linear_colour.hpp"
#include "families/linear_light/linear_conversion.hpp"

namespace qc::linear_light {

// ---- options --------------------------------------------------------------------------------------------------------

constexpr std::string_view kChromaWords[] = {"auto", "catmullrom", "bilinear", "nearest"};
constexpr std::string_view kGamutWords[] = {"auto", "clip", "floor", "extend"};

constexpr OptionSpec word_option(std::string_view name, std::string_view alias, std::span<const std::string_view> words,
                                 std::string_view help) {
    return {name, alias, OptionType::kChoice, 0, 0, static_cast<double>(words.size()) - 1, help, words};
}

/// Options of how light is made of codes: those of all properties, in the order of Property, then these.
enum LightOption { kLightChroma = kProperties, kLightGamut, kLightOptions };

/// A metric's options: its own around those of light.
template <size_t kBefore, size_t kBehind>
constexpr auto with_light_options(const OptionSpec (&before)[kBefore], const OptionSpec (&behind)[kBehind]) {
    std::array<OptionSpec, kBefore + kLightOptions + kBehind> all{};
    size_t count = 0;
    for (const OptionSpec& option : before) all[count++] = option;
    for (const PropertySpec& property : kPropertySpecs)
        all[count++] = word_option(property.name, property.alias, property.words, property.help);
    all[count++] =
        word_option("chroma", "chr", kChromaWords, "how chroma is brought to the size of luma; auto: catmullrom");
    all[count++] = word_option("gamut", "gam", kGamutWords,
                               "R'G'B' beyond 0 to 1: clip, floor (clip below 0), extend; auto: clip");
    for (const OptionSpec& option : behind) all[count++] = option;
    return all;
}

/// The choice of an option that begins with "auto".
template <typename Value>
Value choice_or(const OptionValues& options, int index, Value preset_value) {
    const int word = options.integer(static_cast<size_t>(index));
    return word == 0 ? preset_value : static_cast<Value>(word - 1);
}

/// What decides how both inputs are converted.
struct LightSettings {
    Preset preset = kPresetDefault;
    ChromaFilter chroma{};
    Gamut gamut{};
    bool clamp_codes = false;
    double ref_white = 255.0; ///< cd/m2 that become 1.0, of PQ and HLG
    Colours colours;
};

/// Settles chroma, gamut and colours. @param first the index of the first option of light
/// @param chroma @param gamut what "auto" means
inline Status settle_light(const char* metric, const FrameGeometry& geometry, const OptionValues& options, int first,
                           ChromaFilter chroma, Gamut gamut, LightSettings* settings) {
    settings->chroma = choice_or(options, first + kLightChroma, chroma);
    settings->gamut = choice_or(options, first + kLightGamut, gamut);
    std::array<int, kProperties> asked{};
    for (int p = 0; p < kProperties; ++p)
        asked[static_cast<size_t>(p)] = options.integer(static_cast<size_t>(first + p));
    return settle_colours(metric, geometry, settings->preset, asked, settings->chroma != ChromaFilter::kNearest,
                          &settings->colours);
}

// ---- conversion -----------------------------------------------------------------------------------------------------

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

inline void set_matrix(const FrameGeometry& geometry, const LightSettings& settings, const InputColour& colour,
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

inline void set_transfer(const LightSettings& settings, const InputColour& colour,
                         ColourConversion<double>* conversion) {
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

inline ColourConversion<double> make_conversion(const FrameGeometry& geometry, const LightSettings& settings,
                                                int input) {
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

} // namespace qc::linear_light
