// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "families/linear_light/linear_notes.hpp"

namespace qc::linear_light {
namespace {

const char* describe(Source source, int input) {
    switch (source) {
    case Source::kOption:
        return "set";
    case Source::kPreset:
        return "of the preset";
    case Source::kTag:
        return "tagged";
    case Source::kOtherInput:
        return input == 0 ? "as the distorted input" : "as the reference";
    case Source::kAssumed:
        break;
    }
    return "assumed";
}

std::string word_of(Property property, const Setting& setting) {
    return std::string(kPropertySpecs[property].words[static_cast<size_t>(setting.word)]);
}

std::string describe(const Colours& colours, Property property) {
    const Setting& reference = colours.input[0][property];
    const Setting& distorted = colours.input[1][property];
    std::string first = word_of(property, reference) + " (" + describe(reference.source, 0) + ")";
    if (reference == distorted) return first;
    return "reference " + first + ", distorted " + word_of(property, distorted) + " (" + describe(distorted.source, 1) +
           ")";
}

void append_word(std::string* list, const std::string& word) {
    if (!list->empty()) *list += ", ";
    *list += word;
}

/// Lists what was not known of one or both inputs, as "matrix bt709, range limited".
std::string settled_by(const Colours& colours, Source source, int input) {
    std::string list;
    for (int p = 0; p < kProperties; ++p) {
        const Setting& setting = colours.input[static_cast<size_t>(input)][static_cast<size_t>(p)];
        if (!colours.matters[static_cast<size_t>(p)] || setting.source != source) continue;
        append_word(&list, std::string(kPropertySpecs[p].title) + " " + word_of(static_cast<Property>(p), setting));
    }
    return list;
}

} // namespace

std::vector<std::string> colour_warnings(const LightSettings& settings) {
    const Colours& colours = settings.colours;
    std::vector<std::string> warnings;
    const Source assumed = settings.preset == kPresetDefault ? Source::kAssumed : Source::kPreset;
    if (const std::string list = settled_by(colours, assumed, 0); !list.empty()) {
        const std::string who =
            settings.preset == kPresetVmafFork ? "preset vmaf-fork does not look at tags" : "the inputs are not tagged";
        warnings.push_back(who + ", assumed: " + list + "; options of these names set other values");
    }
    for (int i = 0; i < 2; ++i)
        if (const std::string list = settled_by(colours, Source::kOtherInput, i); !list.empty())
            warnings.push_back(format("the %s is not fully tagged, taken from the %s: %s",
                                      i == 0 ? "reference" : "distorted input",
                                      i == 0 ? "distorted input" : "reference", list.c_str()));
    for (int p = 0; p < kProperties; ++p) {
        const Setting &reference = colours.input[0][static_cast<size_t>(p)],
                      &distorted = colours.input[1][static_cast<size_t>(p)];
        if (!colours.matters[static_cast<size_t>(p)] || reference.word == distorted.word) continue;
        const auto property = static_cast<Property>(p);
        warnings.push_back(format("the inputs differ in %s: %s; each is converted as it is tagged, a wrong tag costs "
                                  "many points",
                                  std::string(kPropertySpecs[p].title).c_str(), describe(colours, property).c_str()));
    }
    return warnings;
}

namespace {

bool is_hdr(const InputColour& colour) {
    return colour[kTransferFunction].word == kPqCurve || colour[kTransferFunction].word == kHlgCurve;
}

} // namespace

bool is_hdr(const Colours& colours) {
    return is_hdr(colours.input[0]) || is_hdr(colours.input[1]);
}

void add_conventions(const LightSettings& settings, const FrameGeometry& geometry, std::vector<Convention>* list) {
    const Colours& colours = settings.colours;
    for (int p = 0; p < kProperties; ++p)
        if (colours.matters[static_cast<size_t>(p)])
            list->push_back({std::string(kPropertySpecs[p].name), describe(colours, static_cast<Property>(p))});
    if (is_halved_x(geometry) || is_halved_y(geometry))
        list->push_back({"chroma", std::string(kChromaWords[static_cast<size_t>(settings.chroma) + 1])});
    list->push_back({"gamut", std::string(kGamutWords[static_cast<size_t>(settings.gamut) + 1])});
}

void add_idle_options(const LightSettings& settings, const FrameGeometry& geometry, std::vector<std::string>* list) {
    for (const Property property : {kMatrix, kPrimaries, kChromaLocation})
        if (settings.colours.input[0][property].source == Source::kOption && !settings.colours.matters[property])
            list->push_back(format("the option %s has no effect on %s",
                                   std::string(kPropertySpecs[property].name).c_str(),
                                   geometry.rgb ? "RGB" : "this chroma layout"));
}

} // namespace qc::linear_light
