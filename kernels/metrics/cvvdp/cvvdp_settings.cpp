// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "metrics/cvvdp/cvvdp_settings.hpp"

#include <cmath>
#include <iterator>
#include <numbers>

#include "metrics/cvvdp/cvvdp_temporal.hpp"

namespace qc::cvvdp {
namespace {

constexpr auto kDisplayWords = [] {
    std::array<std::string_view, std::size(kDisplays)> words;
    for (size_t i = 0; i < words.size(); ++i) words[i] = kDisplays[i].name;
    return words;
}();
constexpr std::string_view kPaddingWords[] = {"replicate", "symmetric"};
constexpr std::string_view kBorderWords[] = {"reference", "fixed"};
constexpr std::string_view kMatrixWords[] = {"auto", "bt709", "bt2020"};
constexpr std::string_view kEotfWords[] = {"display", "srgb", "pq", "hlg", "power", "linear"};
constexpr std::string_view kPrimariesWords[] = {"display", "bt709", "bt2020", "p3"};

constexpr OptionSpec word_option(std::string_view name, std::span<const std::string_view> words,
                                 std::string_view help) {
    return {name, "", OptionType::kChoice, 0, 0, static_cast<double>(words.size()) - 1, help, words};
}

/// An option that replaces a number of the display; its default leaves it.
constexpr OptionSpec own(std::string_view name, double unset, double largest, std::string_view help) {
    return {name, "", OptionType::kDouble, unset, unset, largest, help};
}

constexpr double kUnset = -1.0; ///< where 0 means something

constexpr OptionSpec kOptions[] = {
    word_option("display", kDisplayWords, "display that the pictures are shown on"),
    word_option("padding", kPaddingWords, "frames before the first one: it again, or those behind it mirrored"),
    word_option("border", kBorderWords, "right border of the pyramid: as the reference has it, or as it was meant"),
    word_option("matrix", kMatrixWords, "YUV matrix of both inputs, instead of their tags"),
    own("fps", 0, 480, "frames per second, instead of what the distorted input says"),
    own("ppd", 0, 1000, "pixels per degree, instead of the display's geometry"),
    {"screen_width", "", OptionType::kInt, 0, 0, 65536, "pixels across, instead of the display's"},
    {"screen_height", "", OptionType::kInt, 0, 0, 65536, "pixels down, instead of the display's"},
    own("screen_inches", 0, 10000, "diagonal, instead of the display's"),
    own("screen_distance", 0, 1000, "metres to the viewer, instead of the display's"),
    own("screen_fov", 0, 179, "degrees that the diagonal fills, instead of diagonal and distance"),
    own("peak", 0, 100000, "cd/m2 of white, instead of the display's"),
    own("contrast", 0, 1e9, "white over black, instead of the display's"),
    own("black", kUnset, 100000, "cd/m2 of black, instead of the display's; it goes before contrast"),
    own("ambient", kUnset, 100000, "lux around the display, instead of its own"),
    own("reflectivity", kUnset, 1, "share of that light which the screen reflects, instead of 0.005"),
    own("exposure", 0, 1000, "factor on the light, instead of 1"),
    word_option("eotf", kEotfWords, "from signal to light, instead of the display's"),
    {"gamma", "", OptionType::kDouble, 2.2, 0.1, 10, "exponent of eotf=power"},
    word_option("primaries", kPrimariesWords, "of the display, instead of its own"),
};

constexpr double kAssumedRate = 25.0;

/// Pixels per degree in the middle of the screen.
double pixels_per_degree(const Display& display) {
    constexpr double kDegrees = 180.0 / std::numbers::pi;
    const double columns = display.columns, rows = display.rows;
    double pixel = 0.0; // over the distance
    if (display.fov_degrees > 0.0) {
        pixel = 2.0 * std::tan(display.fov_degrees / kDegrees / 2.0) / std::sqrt(columns * columns + rows * rows);
    } else {
        const double shape = columns / rows;
        const double height = display.inches * 0.0254 / std::sqrt(1.0 + shape * shape);
        pixel = shape * height / columns / display.distance;
    }
    return 1.0 / (2.0 * std::atan(0.5 * pixel) * kDegrees);
}

/// The display with what the options say of it.
Display display_of(const OptionValues& options) {
    Display display = kDisplays[options.integer(kOptionDisplay)];
    const auto replace = [&](OptionIndex option, auto& value) {
        if (!options.is_default(option)) value = static_cast<std::decay_t<decltype(value)>>(options.number(option));
    };
    replace(kOptionScreenWidth, display.columns);
    replace(kOptionScreenHeight, display.rows);
    replace(kOptionScreenDistance, display.distance);
    replace(kOptionScreenFov, display.fov_degrees);
    if (!options.is_default(kOptionScreenInches)) {
        display.inches = options.number(kOptionScreenInches);
        display.fov_degrees = 0.0;
    }
    replace(kOptionPeak, display.peak);
    if (!options.is_default(kOptionContrast)) {
        display.contrast = options.number(kOptionContrast);
        display.black = kUnset;
    }
    replace(kOptionBlack, display.black);
    replace(kOptionAmbient, display.ambient);
    if (options.integer(kOptionEotf) > 0) display.eotf = static_cast<Eotf>(options.integer(kOptionEotf) - 1);
    if (options.integer(kOptionPrimaries) > 0)
        display.primaries = static_cast<Primaries>(options.integer(kOptionPrimaries) - 1);
    return display;
}

bool is_own_display(const OptionValues& options) {
    for (size_t option = kOptionPpd; option <= kOptionPrimaries; ++option)
        if (!options.is_default(option)) return true;
    return false;
}

Matrix matrix_of(const OptionValues& options, const ColourTags& tags) {
    constexpr int kBt2020NonConstant = 9;
    if (options.integer(kOptionMatrix) > 0) return static_cast<Matrix>(options.integer(kOptionMatrix) - 1);
    return tags.matrix == kBt2020NonConstant ? Matrix::kBt2020 : Matrix::kBt709;
}

/// What each option says, alone and of the others.
Status check_options(const OptionValues& options) {
    for (const OptionIndex option : {kOptionBlack, kOptionAmbient, kOptionReflectivity})
        if (!options.is_default(option) && options.number(option) < 0.0)
            return invalid(format("cvvdp: %s=%g: 0 to %g is accepted", std::string(kOptions[option].name).c_str(),
                                  options.number(option), kOptions[option].maximum));
    for (size_t option = kOptionScreenWidth; option <= kOptionScreenFov; ++option)
        if (!options.is_default(option) && !options.is_default(kOptionPpd))
            return invalid(format("cvvdp: ppd=%g goes before the screen's geometry: it is accepted without %s",
                                  options.number(kOptionPpd), std::string(kOptions[option].name).c_str()));
    if (!options.is_default(kOptionScreenInches) && !options.is_default(kOptionScreenFov))
        return invalid("cvvdp: screen_inches and screen_fov both say how large the screen looks: one of them is "
                       "accepted");
    return {};
}

Status check(const OptionValues& options, const Display& display, const Settings& settings) {
    QC_RETURN_IF_ERROR(check_options(options));
    if (settings.black >= settings.peak)
        return invalid(format("cvvdp: a black of %g cd/m2 on a display whose white has %g: less than white is accepted",
                              settings.black, settings.peak));
    if (!options.is_default(kOptionGamma) && settings.eotf != Eotf::kPower)
        return invalid(format("cvvdp: gamma=%g has no meaning here: eotf=power is accepted with it", settings.gamma));
    constexpr double kSmallestPpd = 1.0, kLargestPpd = 1000.0;
    if (!(settings.pixels_per_degree >= kSmallestPpd && settings.pixels_per_degree <= kLargestPpd))
        return invalid(format("cvvdp: %g pixels per degree, by ppd or the screen's size and distance: %g to %g are "
                              "accepted",
                              settings.pixels_per_degree, kSmallestPpd, kLargestPpd));
    if (settings.eotf == Eotf::kHlg && settings.peak > 1000.0 && !(display.ambient > 0.0))
        return invalid("cvvdp: ambient=0: HLG on a display brighter than 1000 cd/m2 is defined for more than 0 lux");
    constexpr int kFastest = 8 * ((kMaxEarlierPairs - 1) / 2); // every filter fits then
    if (settings.frame_rate > kFastest)
        return invalid(format("cvvdp: %g frames per second: up to %d are accepted", settings.frame_rate, kFastest));
    return {};
}

} // namespace

std::span<const OptionSpec> option_specs() {
    return kOptions;
}

Status settle(const FrameGeometry& geometry, const OptionValues& options, Settings* settings) {
    const Display display = display_of(options);
    const bool own = is_own_display(options);
    settings->display = own ? "custom, from " + std::string(display.name) : std::string(display.name);
    settings->pixels_per_degree =
        options.number(kOptionPpd) > 0.0 ? options.number(kOptionPpd) : pixels_per_degree(display);
    settings->peak = display.peak;
    settings->black = display.black >= 0.0 ? display.black : display.peak / display.contrast;
    settings->ambient = display.ambient;
    const double reflectivity =
        options.is_default(kOptionReflectivity) ? kReflectivity : options.number(kOptionReflectivity);
    settings->reflection = display.ambient / std::numbers::pi * reflectivity;
    settings->exposure = options.is_default(kOptionExposure) ? 1.0 : options.number(kOptionExposure);
    settings->eotf = display.eotf;
    settings->gamma = options.number(kOptionGamma);
    settings->primaries = display.primaries;
    settings->symmetric = options.integer(kOptionPadding) == 1;
    settings->fixed_border = options.integer(kOptionBorder) == 1;
    settings->matrix = {matrix_of(options, geometry.reference_colour), matrix_of(options, geometry.distorted_colour)};
    settings->frame_rate = options.number(kOptionFps) > 0.0 ? options.number(kOptionFps) : geometry.frame_rate;
    settings->rate_is_known = settings->frame_rate > 0.0;
    if (!settings->rate_is_known) settings->frame_rate = kAssumedRate;
    return check(options, display, *settings);
}

} // namespace qc::cvvdp
