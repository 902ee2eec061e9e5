// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/crops.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include "run/plan/refusal.hpp"
#include "run/text/text.hpp"

namespace qc::run {
namespace {

/// The numbers of W:H:X:Y or WxH+X+Y, of digits alone. @return whether that is what the text has
bool read_crop(const std::string& text, qcr_crop* crop) {
    if (text.empty()) return true;
    if (text.find_first_not_of("0123456789:x+") != std::string::npos) return false;
    char rest = 0;
    const bool is_read =
        std::sscanf(text.c_str(), "%5d:%5d:%5d:%5d%c", &crop->width, &crop->height, &crop->x, &crop->y, &rest) == 4 ||
        std::sscanf(text.c_str(), "%5dx%5d+%5d+%5d%c", &crop->width, &crop->height, &crop->x, &crop->y, &rest) == 4;
    return is_read && crop->width > 0 && crop->height > 0;
}

std::string read_crops(std::string_view text, int inputs, qcr_crop* crops) {
    const std::string all(text);
    for (int i = 0;; ++i) {
        const size_t end = std::min(text.find('|'), text.size());
        const bool is_an_input = i < inputs;
        if (!is_an_input || !read_crop(std::string(text.substr(0, end)), &crops[i]))
            return formatted(
                "crop=%s is not known; accepted: for each of the %d inputs, joined by |, W:H:X:Y in luma samples, the "
                "first two at least 1 (or WxH+X+Y, which needs no escapes), or nothing",
                all.c_str(), inputs);
        if (end == text.size()) return "";
        text.remove_prefix(end + 1);
    }
}

/// Luma samples that share one of chroma.
struct Steps {
    int x, y;
};

Steps steps_of(const qc_format& format) {
    static constexpr std::array<Steps, 7> kSteps = {{{1, 1}, {2, 2}, {2, 1}, {1, 1}, {4, 4}, {4, 1}, {1, 2}}};
    static_assert(QC_CHROMA_400 == 0 && QC_CHROMA_420 == 1 && QC_CHROMA_422 == 2 && QC_CHROMA_444 == 3);
    const auto chroma = static_cast<size_t>(format.chroma);
    return format.rgb != 0 || chroma >= kSteps.size() ? Steps{1, 1} : kSteps[chroma];
}

std::string refuse_crop(const qcr_names& names, int input, const qcr_crop& crop, const qc_format& format) {
    const auto [x, y] = steps_of(format);
    const std::string who = formatted("crop=%d:%d:%d:%d of input %d (%s), ", crop.width, crop.height, crop.x, crop.y,
                                      input, names.role[input]);
    if (crop.x + crop.width > format.width || crop.y + crop.height > format.height)
        return who + formatted("which is %dx%d, lies outside of it", format.width, format.height);
    if (crop.x % x != 0 || crop.y % y != 0)
        return who + formatted("parts samples of chroma: accepted are multiples of %d and %d, such as crop=%d:%d:%d:%d",
                               x, y, crop.width, crop.height, crop.x / x * x, crop.y / y * y);
    return "";
}

} // namespace
} // namespace qc::run

using namespace qc::run;

qc_status qcr_read_crops(const char* text, int inputs, qcr_crop crops[QCR_MAX_VIDEOS], qc_error* error) {
    std::fill_n(crops, QCR_MAX_VIDEOS, qcr_crop{});
    const std::string_view words = text != nullptr ? text : "";
    return refusing(error, [&] { return words.empty() || words == "auto" ? "" : read_crops(words, inputs, crops); });
}

qc_status qcr_check_crop(const qcr_names* names, int input, const qcr_crop* crop, const qc_format* format,
                         qc_error* error) {
    return refusing(error, [&] { return crop->width == 0 ? "" : refuse_crop(*names, input, *crop, *format); });
}
