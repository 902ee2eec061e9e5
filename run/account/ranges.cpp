// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/ranges.h"

#include <algorithm>
#include <array>
#include <string>

#include "run/account/names.hpp"
#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {

namespace {

using Tags = std::array<int, QCR_MAX_VIDEOS>;

const char* in_words(int range) {
    return range == QCR_RANGE_FULL ? "full" : "limited";
}

int other_range(int range) {
    return range == QCR_RANGE_FULL ? QCR_RANGE_LIMITED : QCR_RANGE_FULL;
}

/// Where the ranges of a rendition and of the reference differ: the rendition's.
int told_range(const qcr_start& start) {
    if (start.is_range_told == 0 || start.ranges == QC_RANGES_SAME) return QCR_RANGE_UNKNOWN;
    return start.ranges == QC_RANGES_FULL ? QCR_RANGE_FULL : QCR_RANGE_LIMITED;
}

/// Tags two inputs, unless a tag that is there says otherwise.
bool settle(Tags& tags, int input, int own, int reference) {
    const auto agrees = [](int tag, int with) { return tag == QCR_RANGE_UNKNOWN || tag == with; };
    if (!agrees(tags[static_cast<size_t>(input)], own) || !agrees(tags[QCR_REFERENCE], reference)) return false;
    tags[static_cast<size_t>(input)] = own;
    tags[QCR_REFERENCE] = reference;
    return true;
}

/// What is told of each rendition. Ranges that differ come first: they tell the reference's too.
Tags settled(int renditions, const qcr_start* start, const Tags& tagged) {
    Tags tags = tagged;
    for (int k = 0; k < renditions; ++k)
        if (const int own = told_range(start[k]); own != QCR_RANGE_UNKNOWN)
            settle(tags, qcr_input_of(k), own, other_range(own));
    for (int k = 0; k < renditions; ++k) {
        const int known = std::max(tags[static_cast<size_t>(qcr_input_of(k))], tags[QCR_REFERENCE]);
        if (start[k].is_range_told != 0 && start[k].ranges == QC_RANGES_SAME && known != QCR_RANGE_UNKNOWN)
            settle(tags, qcr_input_of(k), known, known);
    }
    return tags;
}

std::string remedy_for(const qcr_names& names, int input, int range) {
    return formatted("setparams=range=%s before ", in_words(range)) + input_in_text(names, input);
}

/// Of the first rendition whose range differs without a tag; empty if there is none.
std::string refusal(const qcr_names& names, int renditions, const qcr_start* start, const Tags& tagged) {
    for (int k = 0; k < renditions; ++k) {
        const int input = qcr_input_of(k), own = told_range(start[k]);
        const int tag = tagged[static_cast<size_t>(input)], reference = tagged[QCR_REFERENCE];
        if (own == QCR_RANGE_UNKNOWN || (tag != QCR_RANGE_UNKNOWN && reference != QCR_RANGE_UNKNOWN)) continue;
        return input_in_text(names, input) +
               formatted(" has %s range and the reference %s range, by what the first "
                         "pictures show, and not both are tagged (range=error); put ",
                         in_words(own), in_words(other_range(own))) +
               remedy_for(names, input, own) + " and " + remedy_for(names, QCR_REFERENCE, other_range(own));
    }
    return "";
}

/// @param differs some ranges do; otherwise that is what everybody expects
void say_settled(const qcr_names& names, const Tags& tagged, const Tags& tags, bool differs, const qcr_sink& sink) {
    for (int i = 0; i < names.inputs; ++i)
        if (const auto at = static_cast<size_t>(i); tags[at] != tagged[at])
            say(sink, differs ? QCR_LEVEL_INFO : QCR_LEVEL_VERBOSE,
                "range=auto: " + input_in_text(names, i) +
                    formatted(" counts as of %s range, by what the first pictures show", in_words(tags[at])));
}

} // namespace
} // namespace qc::run

using namespace qc::run;

qc_status qcr_settle_ranges(const qcr_names* names, int renditions, const qcr_start* start, int* tag, int is_error,
                            const qcr_sink* sink, qc_error* error) {
    std::string refused;
    const qc_status status = guarded([&] {
        Tags tagged{};
        std::copy_n(tag, 1 + renditions, tagged.begin());
        if (is_error != 0) {
            refused = refusal(*names, renditions, start, tagged);
            return;
        }
        const Tags tags = settled(renditions, start, tagged);
        const bool differs = std::any_of(start, start + renditions,
                                         [](const qcr_start& one) { return told_range(one) != QCR_RANGE_UNKNOWN; });
        say_settled(*names, tagged, tags, differs, *sink);
        std::copy_n(tags.begin(), 1 + renditions, tag);
    });
    if (refused.empty()) return status;
    std::snprintf(error->text, sizeof(error->text), "%s", refused.c_str());
    return QC_ERROR_INVALID;
}
