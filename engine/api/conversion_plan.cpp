// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "api/conversion_plan.hpp"

#include <algorithm>

#include "api/sample_layout.hpp"

namespace qc {
namespace {

enum RangeTag { kUnknownRange, kLimitedRange, kFullRange };
constexpr int kMatrixBt709 = 1, kMatrixBt470bg = 5, kMatrixSmpte170m = 6;
constexpr int kRgbDepth = 16; ///< of RGB that luma and chroma become: rounding must not show

bool is_gray(const qc_format& format) {
    return format.rgb == 0 && format.chroma == QC_CHROMA_400;
}
bool has_chroma(const qc_format& format) {
    return format.rgb == 0 && format.chroma != QC_CHROMA_400;
}

int matrix_of(const qc_format& format) {
    constexpr int kUnspecified = 2;
    return format.rgb != 0 || format.colour.matrix == kUnspecified ? 0 : format.colour.matrix;
}

/// What metrics in linear light assume too.
int assumed_matrix(const qc_format& format) {
    constexpr int kHdWidth = 1280, kPalHeight = 576;
    if (format.width >= kHdWidth || format.height > kPalHeight) return kMatrixBt709;
    return format.height == kPalHeight ? kMatrixBt470bg : kMatrixSmpte170m;
}

class Planner {
public:
    Planner(const qc_config& config, ConversionPlan* plan) : config_(config), plan_(*plan) {
        for (int i = 0; i <= config.renditions; ++i) {
            inputs_.push_back(i == 0 ? &config.reference : &config.distorted[i - 1]);
            depth_ = std::max(depth_, inputs_.back()->depth);
        }
        depth_ = std::max(depth_, config.bitdepth);
        const auto rgb = std::count_if(inputs_.begin(), inputs_.end(), [](const auto* f) { return f->rgb != 0; });
        any_rgb_ = rgb > 0;
        plan_.is_mixed = any_rgb_ && static_cast<size_t>(rgb) < inputs_.size();
    }

    Status plan() {
        if (config_.convert == QC_CONVERT_OFF) return leave_all();
        find_anchor();
        settle_ranges();
        Coding scored;
        QC_RETURN_IF_ERROR(choose_coding(&scored));
        for (size_t i = 0; i < inputs_.size(); ++i) plan_.main.push_back(conversion(i, main_coding(i, scored)));
        for (size_t i = 0; any_rgb_ && i < inputs_.size(); ++i) plan_.rgb.push_back(conversion(i, rgb_coding(i)));
        return {};
    }

private:
    Status leave_all() {
        for (size_t i = 0; i < inputs_.size(); ++i) {
            if (inputs_[i]->rgb != inputs_[0]->rgb)
                return invalid(format("%s is %s, the reference %s: convert one of them first, or drop convert=off",
                                      input_text(config_, static_cast<int>(i)).c_str(),
                                      inputs_[i]->rgb != 0 ? "RGB" : "YUV", inputs_[0]->rgb != 0 ? "RGB" : "YUV"));
            const Coding as_it_is = coding(i);
            plan_.main.push_back({as_it_is, as_it_is, false, false});
        }
        return {};
    }

    /// The input that others are brought to: the reference, unless only a rendition has chroma planes, or is not RGB.
    void find_anchor() {
        for (const auto& suits : {has_chroma, is_gray})
            for (size_t i = 0; i < inputs_.size() && anchor_ < 0; ++i)
                if (suits(*inputs_[i])) anchor_ = static_cast<int>(i);
    }

    /// Luma and chroma that nobody has tagged have the range of what they are compared with, otherwise the limited one.
    /// RGB is of full range. So is gray, unless gray beside it is tagged: FFmpeg tags all gray so from version 7 on.
    void settle_ranges() {
        const bool only_gray = std::all_of(inputs_.begin(), inputs_.end(), [](const auto* f) { return is_gray(*f); });
        int common = kUnknownRange;
        for (const qc_format* input : inputs_)
            if (common == kUnknownRange && input->rgb == 0 && (has_chroma(*input) || only_gray))
                common = input->colour.range;
        for (const qc_format* input : inputs_) {
            const bool is_picture = input->rgb != 0 || (is_gray(*input) && (!only_gray || common == kUnknownRange));
            const int otherwise = is_picture ? kFullRange : common;
            full_.push_back((input->colour.range != kUnknownRange ? input->colour.range : otherwise) == kFullRange);
        }
    }

    Coding coding(size_t i) const {
        const qc_format& input = *inputs_[i];
        Coding coding;
        coding.rgb = input.rgb != 0;
        coding.full = !full_.empty() && full_[i];
        coding.has_chroma = input.chroma != QC_CHROMA_400;
        const Subsampling shared = chroma_subsampling(scored_chroma(input.chroma));
        coding.halved_across = shared.across > 0;
        coding.halved_down = shared.down > 0;
        coding.matrix = matrix_of(input);
        coding.chroma_location = input.colour.chroma_location;
        coding.depth = input.depth;
        return coding;
    }

    /// What RGB becomes for metrics of luma and chroma.
    Status choose_coding(Coding* scored) {
        if (!any_rgb_) return {};
        if (anchor_ < 0) {
            scored->matrix = kMatrixBt709;
            return {};
        }
        *scored = coding(static_cast<size_t>(anchor_));
        for (size_t i = 0; i < inputs_.size(); ++i) {
            const int matrix = matrix_of(*inputs_[i]);
            if (matrix == 0 || knows_matrix(matrix)) continue;
            return unsupported(format("%s is of the matrix with number %d, which RGB is not converted to: convert the "
                                      "RGB input first",
                                      input_text(config_, static_cast<int>(i)).c_str(), matrix));
        }
        return {};
    }

    Coding main_coding(size_t i, const Coding& scored) const {
        Coding to = coding(i);
        if (to.rgb)
            to = scored;
        else if (config_.convert != QC_CONVERT_KEEP_RANGE && anchor_ >= 0)
            to.full = full_[static_cast<size_t>(anchor_)];
        to.depth = depth_;
        return to;
    }

    Coding rgb_coding(size_t i) const {
        Coding to = coding(i);
        to.depth = depth_;
        to.full = full_[0];
        if (!plan_.is_mixed) return to;
        Coding rgb;
        rgb.rgb = rgb.full = true;
        rgb.depth = kRgbDepth;
        return rgb;
    }

    InputConversion conversion(size_t i, const Coding& to) const {
        InputConversion made{coding(i), to, false, false};
        made.is_needed = needs_recoding(made.from, made.to);
        if (made.from.rgb == made.to.rgb) return made;
        Coding& of_luma = made.from.rgb ? made.to : made.from;
        made.assumes_matrix = of_luma.matrix == 0;
        const qc_format& tagged = made.from.rgb && anchor_ >= 0 ? *inputs_[static_cast<size_t>(anchor_)] : *inputs_[i];
        if (made.assumes_matrix) of_luma.matrix = assumed_matrix(tagged);
        return made;
    }

    const qc_config& config_;
    ConversionPlan& plan_;
    std::vector<const qc_format*> inputs_;
    std::vector<bool> full_; ///< per input
    int anchor_ = -1;        ///< none: all are RGB
    int depth_ = 0;
    bool any_rgb_ = false;
};

qc_chroma chroma_of(const Coding& coding) {
    if (!coding.has_chroma) return QC_CHROMA_400;
    if (!coding.halved_across) return QC_CHROMA_444;
    return coding.halved_down ? QC_CHROMA_420 : QC_CHROMA_422;
}

std::string coding_text(const qc_format& picture, const Coding& coding, bool assumes_matrix) {
    const char* name = qc_format_name(&picture);
    std::string text = name != nullptr ? name : coding.rgb ? "RGB" : "YUV";
    text += coding.full ? ", full range" : ", limited range";
    if (coding.rgb || coding.matrix == 0) return text;
    return text + ", matrix " + matrix_text(coding.matrix) + (assumes_matrix ? " (assumed)" : "");
}

} // namespace

Status plan_conversions(const qc_config& config, ConversionPlan* plan) {
    *plan = {};
    return Planner(config, plan).plan();
}

qc_format converted_format(const qc_format& format, const InputConversion& conversion) {
    if (!conversion.is_needed) return format;
    const Coding& to = conversion.to;
    qc_format made{};
    made.width = format.width;
    made.height = format.height;
    made.chroma = chroma_of(to);
    made.rgb = to.rgb ? 1 : 0;
    made.depth = to.depth;
    made.container_bits = to.depth == 8 ? 8 : 16;
    made.colour = format.colour;
    made.colour.range = to.full ? kFullRange : kLimitedRange;
    if (conversion.from.rgb == to.rgb) return made;
    made.colour.matrix = to.rgb ? 0 : to.matrix;
    made.colour.chroma_location = to.rgb ? 0 : to.chroma_location;
    return made;
}

std::string input_text(const qc_config& config, int input) {
    if (input == 0) return "the reference";
    return config.renditions == 1 ? "the distorted input" : format("distorted input %d", input - 1);
}

std::string conversion_text(const qc_format& picture, const InputConversion& conversion) {
    return "from " + coding_text(picture, conversion.from, conversion.assumes_matrix) + ", to " +
           coding_text(converted_format(picture, conversion), conversion.to, conversion.assumes_matrix);
}

std::string matrix_text(int matrix) {
    switch (matrix) {
    case 0:
        return "";
    case 1:
        return "bt709";
    case 4:
        return "fcc";
    case 5:
        return "bt470bg";
    case 6:
        return "smpte170m";
    case 7:
        return "smpte240m";
    case 9:
        return "bt2020nc";
    default:
        return std::to_string(matrix);
    }
}

} // namespace qc
