// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/options.h"

#include <string>
#include <string_view>

#include "run/plan/refusal.hpp"
#include "run/text/text.hpp"

namespace qc::run {
namespace {

bool is_given(const char* value) {
    return value != nullptr && *value != '\0';
}

/// What needs to know before the first picture how much of it is scored, or would begin each part with a look of its
/// own.
std::string refuse_look_for_bars(const qcr_option_values& values) {
    const bool scales = is_given(values.scale) && std::string_view(values.scale) != "none";
    const char* const with = is_given(values.record) ? "record"
                             : is_given(values.maps) ? "maps"
                             : values.has_mask != 0  ? "mask=1"
                             : scales                ? "scale"
                                                     : nullptr;
    if (with == nullptr) return "";
    return formatted("crop=auto: not accepted with %s; crop=WxH+X+Y|WxH+X+Y is", with);
}

std::string refusal_of(const qcr_option_values& values, qcr_option_meanings* meanings) {
    const std::string_view lines = values.stats_format;
    if (qc_pool_parse(values.pool, &meanings->pool) != QC_OK)
        return formatted("pool=%s is not known; accepted: mean, harmonic_mean, min, max, p1, p5, p10, p50, stddev",
                         values.pool);
    if (lines != "scores" && qc_stats_format_parse(values.stats_format, &meanings->stats_format) != QC_OK)
        return formatted("stats_format=%s is not known; accepted: scores, psnr, ssim", values.stats_format);
    if (is_given(values.maps) && is_given(values.record))
        return formatted("maps=%s: not accepted with record, which knows no pictures", values.maps);
    if (is_given(values.maps) && values.map_rendition >= values.renditions)
        return formatted("map_rendition=%d: 0 to %d is accepted, there are %d renditions", values.map_rendition,
                         values.renditions - 1, values.renditions);
    if (values.has_mask != 0 && is_given(values.record))
        return "mask=1: not accepted with record, which knows no masks; 0 is accepted";
    // Each part of a video would begin with a look of its own.
    if (is_given(values.record) && values.is_align_auto != 0)
        return "align=auto: with record none and start are accepted";
    return is_given(values.crop) && std::string_view(values.crop) == "auto" ? refuse_look_for_bars(values) : "";
}

} // namespace
} // namespace qc::run

qc_status qcr_read_options(const qcr_option_values* values, qcr_option_meanings* meanings, qc_error* error) {
    *meanings = {};
    return qc::run::refusing(error, [&] { return qc::run::refusal_of(*values, meanings); });
}
