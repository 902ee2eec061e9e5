// SPDX-License-Identifier: BSD-2-Clause-Patent
// Which colours the codes of an input stand for: what its tags say, what options and presets say instead, and what is
// assumed where nobody says anything.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "contract/options.hpp"
#include "contract/status.hpp"
#include "contract/types.hpp"

namespace qc::linear_light {

enum Preset { kPresetDefault, kPresetVship, kPresetRs, kPresetVmafFork };

/// What has to be known of an input. Its values are numbers of words below; 0 is "auto", not yet known.
enum Property { kMatrix, kRange, kPrimaries, kTransferFunction, kChromaLocation };
constexpr int kProperties = 5;

enum MatrixWord { kMatrixBt709 = 1, kMatrixBt601, kMatrixBt470bg, kMatrix170m, kMatrix240m, kMatrixFcc, kMatrixBt2020 };
enum RangeWord { kLimited = 1, kFull };
enum PrimariesWord { kPrimariesBt709 = 1, kPrimariesBt470bg, kPrimaries170m, kPrimaries240m, kPrimariesBt2020, kP3 };
enum TransferWord { kBt1886 = 1, kSrgbCurve, kBt709Camera, kGamma22, kGamma28, kLinearLight, kPqCurve, kHlgCurve };
enum LocationWord { kLeft = 1, kCentre, kTopLeft, kTop };

inline constexpr std::string_view kMatrixWords[] = {"auto",      "bt709",     "bt601", "bt470bg",
                                                    "smpte170m", "smpte240m", "fcc",   "bt2020nc"};
inline constexpr std::string_view kRangeWords[] = {"auto", "limited", "full"};
inline constexpr std::string_view kPrimariesWords[] = {"auto",      "bt709",  "bt470bg", "smpte170m",
                                                       "smpte240m", "bt2020", "p3"};
inline constexpr std::string_view kTransferWords[] = {"auto",    "bt1886", "srgb", "bt709oetf", "gamma22",
                                                      "gamma28", "linear", "pq",   "hlg"};
inline constexpr std::string_view kLocationWords[] = {"auto", "left", "center", "topleft", "top"};

constexpr int kUnknown = 0, kNotSupported = -1;

/// Words for code points of ITU-T H.273 (of qc_colour for ranges and locations).
constexpr int matrix_of_tag(int code) {
    constexpr int kWords[] = {kUnknown,       kMatrixBt709, kUnknown,    kNotSupported, kMatrixFcc,
                              kMatrixBt470bg, kMatrix170m,  kMatrix240m, kNotSupported, kMatrixBt2020};
    return code >= 0 && code < static_cast<int>(std::size(kWords)) ? kWords[code] : kNotSupported;
}
constexpr int range_of_tag(int code) {
    return code >= 0 && code <= kFull ? code : kNotSupported;
}
constexpr int primaries_of_tag(int code) {
    switch (code) {
    case 0:
    case 2:
        return kUnknown;
    case 1:
        return kPrimariesBt709;
    case 5:
        return kPrimariesBt470bg;
    case 6:
        return kPrimaries170m;
    case 7:
        return kPrimaries240m;
    case 9:
        return kPrimariesBt2020;
    case 12:
        return kP3;
    default:
        return kNotSupported;
    }
}
constexpr int transfer_of_tag(int code) {
    switch (code) {
    case 0:
    case 2:
        return kUnknown;
    case 1:  // BT.709
    case 6:  // SMPTE 170M
    case 7:  // SMPTE 240M
    case 14: // BT.2020, 10 bits
    case 15: // BT.2020, 12 bits
        return kBt1886;
    case 4:
        return kGamma22;
    case 5:
        return kGamma28;
    case 8:
        return kLinearLight;
    case 13:
        return kSrgbCurve;
    case 16:
        return kPqCurve;
    case 18:
        return kHlgCurve;
    default:
        return kNotSupported;
    }
}
constexpr int location_of_tag(int code) {
    return code >= 0 && code <= kTop ? code : kNotSupported;
}

struct PropertySpec {
    std::string_view name, alias; ///< of the option too
    std::string_view title;
    std::string_view help; ///< of the option
    std::span<const std::string_view> words;
    int ColourTags::*tag;
    int (*word_of_tag)(int code);
};

inline constexpr PropertySpec kPropertySpecs[kProperties] = {
    {"matrix", "mat", "matrix", "YUV matrix of both inputs, instead of their tags", kMatrixWords, &ColourTags::matrix,
     matrix_of_tag},
    {"range", "rng", "range", "range of both inputs, instead of their tags", kRangeWords, &ColourTags::range,
     range_of_tag},
    {"primaries", "prim", "primaries", "primaries of both inputs, instead of their tags", kPrimariesWords,
     &ColourTags::primaries, primaries_of_tag},
    {"transfer", "trc", "transfer function", "transfer function of both inputs, instead of their tags", kTransferWords,
     &ColourTags::transfer, transfer_of_tag},
    {"chroma_loc", "loc", "chroma location", "chroma location of both inputs, instead of their tags", kLocationWords,
     &ColourTags::chroma_location, location_of_tag},
};

/// Where a value comes from.
enum class Source { kOption, kPreset, kTag, kOtherInput, kAssumed };

struct Setting {
    int word = kUnknown;
    Source source = Source::kAssumed;
    bool operator==(const Setting&) const = default;
};

using InputColour = std::array<Setting, kProperties>;

/// Both inputs, [0] the reference.
struct Colours {
    std::array<InputColour, 2> input;
    std::array<bool, kProperties> matters{}; ///< e.g. no matrix in RGB, no chroma location in 4:4:4
};

inline bool is_halved_x(const FrameGeometry& geometry) {
    return geometry.plane_count() > 1 && geometry.stored_width(1) < geometry.width;
}
inline bool is_halved_y(const FrameGeometry& geometry) {
    return geometry.plane_count() > 1 && geometry.stored_height(1) < geometry.height;
}

/// What is taken where neither tags nor options speak. `known`: the properties before this one, settled.
inline int assumed_word(Property property, const FrameGeometry& geometry, Preset preset, const InputColour& known) {
    const bool vship = preset == kPresetVship, fork = preset == kPresetVmafFork;
    const bool small_for_vship = geometry.height <= 650;
    switch (property) {
    case kMatrix:
        if (fork) return kMatrixBt709;
        if (vship) return small_for_vship ? kMatrixBt470bg : kMatrixBt709;
        if (geometry.width >= 1280 || geometry.height > 576) return kMatrixBt709;
        return geometry.height == 576 ? kMatrixBt470bg : kMatrix170m;
    case kRange:
        return geometry.rgb ? kFull : kLimited;
    case kPrimaries:
        if (fork || geometry.rgb) return kPrimariesBt709;
        if (known[kMatrix].word == kMatrixBt2020) return kPrimariesBt2020;
        return vship && small_for_vship ? kPrimariesBt470bg : kPrimariesBt709;
    case kTransferFunction:
        if (fork || geometry.rgb) return kSrgbCurve;
        if (!vship) return kBt1886;
        if (known[kMatrix].word == kMatrixBt2020) return kPqCurve;
        return small_for_vship ? kGamma28 : kBt1886;
    case kChromaLocation:
        break;
    }
    return kLeft;
}

/// The word for an input's tag as the preset reads it.
inline int tagged_word(Property property, const ColourTags& tags, Preset preset) {
    constexpr int kTransferSmpte170m = 6;
    const int code = tags.*kPropertySpecs[property].tag;
    if (preset == kPresetVmafFork) return kUnknown; // it looks at no tags
    if (preset == kPresetVship && property == kTransferFunction && code == kTransferSmpte170m) return kGamma28;
    return kPropertySpecs[property].word_of_tag(code);
}

inline Status refuse_tag(const char* metric, Property property, int input, int code) {
    const PropertySpec& spec = kPropertySpecs[property];
    std::string accepted;
    for (const std::string_view word : spec.words.subspan(1))
        accepted += (accepted.empty() ? "" : ", ") + std::string(word);
    return unsupported(format("%s: unsupported %s: the %s input is tagged with code point %d; supported are "
                              "%s, which the option %s can set",
                              metric, std::string(spec.title).c_str(), input == 0 ? "reference" : "distorted", code,
                              accepted.c_str(), std::string(spec.name).c_str()));
}

/// Settles all properties of both inputs. `asked`: the options' words, 0 for "auto". Messages begin with `metric`.
inline Status settle_colours(const char* metric, const FrameGeometry& geometry, Preset preset,
                             const std::array<int, kProperties>& asked, bool location_matters, Colours* colours) {
    const bool yuv = !geometry.rgb && geometry.plane_count() > 1;
    colours->matters = {yuv, true, geometry.rgb || yuv, true,
                        location_matters && (is_halved_x(geometry) || is_halved_y(geometry))};
    const ColourTags* const tags[] = {&geometry.reference_colour, &geometry.distorted_colour};
    for (int p = 0; p < kProperties; ++p) {
        const auto property = static_cast<Property>(p);
        int tagged[2];
        for (int i = 0; i < 2; ++i) {
            tagged[i] = tagged_word(property, *tags[i], preset);
            if (tagged[i] != kNotSupported) continue;
            if (colours->matters[property] && asked[property] == kUnknown)
                return refuse_tag(metric, property, i, tags[i]->*kPropertySpecs[property].tag);
            tagged[i] = kUnknown;
        }
        for (int i = 0; i < 2; ++i) {
            Setting& setting = colours->input[static_cast<size_t>(i)][property];
            if (asked[property] != kUnknown)
                setting = {asked[property], Source::kOption};
            else if (tagged[i] != kUnknown)
                setting = {tagged[i], Source::kTag};
            else if (tagged[1 - i] != kUnknown)
                setting = {tagged[1 - i], Source::kOtherInput};
            else
                setting = {assumed_word(property, geometry, preset, colours->input[static_cast<size_t>(i)]),
                           preset == kPresetDefault ? Source::kAssumed : Source::kPreset};
        }
    }
    return {};
}

/// From linear RGB with these primaries to linear RGB with those of BT.709; both have D65 as white.
using Matrix3 = std::array<std::array<double, 3>, 3>;
inline const Matrix3& primaries_matrix(int word) {
    static constexpr Matrix3 kIdentity{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    static constexpr Matrix3 kFrom470bg{{{1.0440432088, -0.0440432088, 0}, {0, 1, 0}, {0, 0.0117933783, 0.9882066217}}};
    static constexpr Matrix3 kFrom170m{{{0.9395420638, 0.0501813569, 0.0102765794},
                                        {0.0177722231, 0.9657928625, 0.0164349144},
                                        {-0.0016215999, -0.0043697497, 1.0059913496}}};
    static constexpr Matrix3 kFromBt2020{{{1.6604910021, -0.5876411388, -0.0728498633},
                                          {-0.1245504745, 1.1328998971, -0.0083494226},
                                          {-0.0181507634, -0.1005788980, 1.1187296614}}};
    static constexpr Matrix3 kFromP3{{{1.2249401763, -0.2249401763, 0},
                                      {-0.0420569547, 1.0420569547, 0},
                                      {-0.0196375546, -0.0786360456, 1.0982736001}}};
    switch (word) {
    case kPrimariesBt470bg:
        return kFrom470bg;
    case kPrimaries170m:
    case kPrimaries240m:
        return kFrom170m;
    case kPrimariesBt2020:
        return kFromBt2020;
    case kP3:
        return kFromP3;
    default:
        return kIdentity;
    }
}

/// Shares of red and blue in luma.
struct LumaWeights {
    double red, blue;
};
constexpr LumaWeights luma_weights(int matrix_word) {
    switch (matrix_word) {
    case kMatrixBt601:
    case kMatrixBt470bg:
    case kMatrix170m:
        return {0.299, 0.114};
    case kMatrix240m:
        return {0.212, 0.087};
    case kMatrixFcc:
        return {0.30, 0.11};
    case kMatrixBt2020:
        return {0.2627, 0.0593};
    default:
        return {0.2126, 0.0722};
    }
}

} // namespace qc::linear_light
