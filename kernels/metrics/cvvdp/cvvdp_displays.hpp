// SPDX-License-Identifier: BSD-2-Clause-Patent
// The display models of ColorVideoVDP. A restatement of its data file: see NOTICE.
#pragma once

#include <string_view>

namespace qc::cvvdp {

/// From signal to light.
enum class Eotf { kSrgb, kPq, kHlg, kPower, kLinear };
enum class Primaries { kBt709, kBt2020, kP3 };

struct Display {
    std::string_view name;
    int columns, rows;  ///< pixels
    double inches;      ///< diagonal; 0: fov_degrees says it
    double distance;    ///< metres
    double fov_degrees; ///< of the diagonal; 0: a flat screen of `inches`
    double peak;        ///< cd/m2
    double contrast;    ///< peak over black; 0: `black` says it
    double black;       ///< cd/m2; -1: `contrast` says it
    double ambient;     ///< lux
    Eotf eotf;
    Primaries primaries;
};

/// All reflect 0.5 % of the light around them.
constexpr double kReflectivity = 0.005;

// clang-format off
inline constexpr Display kDisplays[] = {
    {"standard_4k", 3840, 2160, 30, 0.7472, 0, 200, 1000, -1, 250, Eotf::kSrgb, Primaries::kBt709},
    {"standard_hdr_pq", 3840, 2160, 30, 0.7472, 0, 1500, 1e+06, -1, 10, Eotf::kPq, Primaries::kBt2020},
    {"standard_hdr_hlg", 3840, 2160, 30, 0.7472, 0, 1500, 1e+06, -1, 10, Eotf::kHlg, Primaries::kBt2020},
    {"standard_hdr_linear", 3840, 2160, 30, 0.7472, 0, 1500, 1e+06, -1, 10, Eotf::kLinear, Primaries::kBt709},
    {"standard_hdr_linear_dark", 3840, 2160, 30, 0.7472, 0, 1500, 1e+06, -1, 0, Eotf::kLinear, Primaries::kBt709},
    {"standard_hdr_linear_zoom", 3840, 2160, 30, 0.25, 0, 10000, 1e+06, -1, 10, Eotf::kLinear, Primaries::kBt709},
    {"standard_fhd", 1920, 1080, 24, 0.6, 0, 200, 1000, -1, 250, Eotf::kSrgb, Primaries::kBt709},
    {"standard_hmd", 1440, 1600, 0, 3, 110, 100, 1000, -1, 0, Eotf::kSrgb, Primaries::kBt709},
    {"standard_phone", 2400, 1080, 6, 0.4, 0, 500, 10000, -1, 250, Eotf::kSrgb, Primaries::kBt709},
    {"sdr_4k_30", 3840, 2160, 30, 0.6, 0, 100, 1000, -1, 250, Eotf::kSrgb, Primaries::kBt709},
    {"sdr_fhd_24", 1920, 1080, 24, 0.6, 0, 100, 1000, -1, 250, Eotf::kSrgb, Primaries::kBt709},
    {"htc_vive_pro", 1440, 1600, 0, 3, 110, 133.3, 1333, -1, 0, Eotf::kSrgb, Primaries::kBt709},
    {"iphone_12_pro", 2532, 1170, 6.1, 0.508, 0, 825, 0, 0.0004, 250, Eotf::kSrgb, Primaries::kBt709},
    {"iphone_14_pro", 2532, 1170, 6.1, 0.508, 0, 1025, 0, 0.0004, 250, Eotf::kSrgb, Primaries::kBt709},
    {"iphone_14_pro_vert", 1170, 2532, 6.1, 0.508, 0, 1025, 0, 0.0004, 250, Eotf::kSrgb, Primaries::kBt709},
    {"iphone_14_pro_hdr", 2532, 1170, 6.1, 0.508, 0, 1590, 0, 0.0004, 10, Eotf::kHlg, Primaries::kBt2020},
    {"iphone_14_pro_hdr_vert", 1170, 2532, 6.1, 0.508, 0, 1590, 0, 0.0004, 10, Eotf::kHlg, Primaries::kBt2020},
    {"ipad_pro_12_9", 2732, 2048, 12.9, 0.508, 0, 600, 0, 0.37, 250, Eotf::kSrgb, Primaries::kBt709},
    {"macbook_pro_16", 3072, 1920, 16, 0.635, 0, 500, 0, 0.37, 250, Eotf::kSrgb, Primaries::kBt709},
    {"lg_oled_2017_sdr", 3840, 2160, 64.5, 2.5654, 0, 272, 0, 0.014, 100, Eotf::kSrgb, Primaries::kBt709},
    {"lg_oled_2017_hdr", 3840, 2160, 64.5, 2.5654, 0, 754, 0, 0.038, 100, Eotf::kSrgb, Primaries::kBt709},
    {"eizo_CG3146", 4096, 2160, 31.063, 0.73406, 0, 300, 3000, -1, 0, Eotf::kSrgb, Primaries::kBt709},
};
// clang-format on

} // namespace qc::cvvdp
