// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "run/account/interlaced.hpp"

#include <algorithm>

#include "run/text/text.hpp"

namespace qc::run {

namespace {

constexpr double kNearlyTwice = 1.5; ///< so much faster, a video has a frame for each field of the other one

constexpr const char *kPerFrame = "bwdif=mode=send_frame", *kPerField = "bwdif=mode=send_field",
                     *kIsProgressive = "setfield=prog";

/// What is put before an input; both null: nothing.
struct Treatment {
    const char* filter = nullptr;
    const char* alternative = nullptr; ///< where the pictures may be another thing than their flags say
};

struct Mix {
    std::span<const Fields> inputs;

    bool all_interlaced() const {
        return std::all_of(inputs.begin(), inputs.end(), [](const Fields& of) { return of.is_interlaced; });
    }
    /// Whether a progressive input has a frame for each field of this one.
    bool meets_fields(const Fields& own) const {
        return std::any_of(inputs.begin(), inputs.end(), [&](const Fields& other) {
            return !other.is_interlaced && own.rate > 0 && other.rate > kNearlyTwice * own.rate;
        });
    }
    /// Of a progressive reference of the same rate there are no fields of different moments: it was only coded so.
    bool is_only_coded_so(size_t input) const {
        return input != QCR_REFERENCE && inputs[input].is_interlaced && !inputs[QCR_REFERENCE].is_interlaced &&
               !meets_fields(inputs[input]);
    }
    Treatment of(size_t input) const {
        const Fields& own = inputs[input];
        if (!own.is_interlaced) return {};
        if (all_interlaced() || meets_fields(own)) return {kPerField, kPerField};
        if (is_only_coded_so(input)) return {kIsProgressive, kPerFrame};
        return {kPerFrame, kIsProgressive};
    }
};

/// "[1:v]bwdif[r];[0:v][r]quality_cuda"
std::string graph_of(const Mix& mix, const char* Treatment::*which) {
    std::string chains, pads;
    for (size_t i = 0; i < mix.inputs.size(); ++i) {
        const char* const filter = mix.of(i).*which;
        const std::string label = i == 0 ? "d" : i == QCR_REFERENCE ? "r" : formatted("d%zu", i - 1);
        pads += filter != nullptr ? "[" + label + "]" : formatted("[%zu:v]", i);
        if (filter != nullptr) chains += formatted("[%zu:v]%s[%s];", i, filter, label.c_str());
    }
    const size_t renditions = mix.inputs.size() - 1;
    return chains + pads + "quality_cuda" + (renditions > 1 ? formatted("=renditions=%zu", renditions) : "");
}

/// "main, main1"
std::string treated(const qcr_names& names, const Mix& mix) {
    std::string text;
    for (size_t i = 0; i < mix.inputs.size(); ++i)
        if (mix.inputs[i].is_interlaced) text += std::string(text.empty() ? "" : ", ") + names.role[i];
    return text;
}

} // namespace

std::string deinterlacing_advice(const qcr_names& names, std::span<const Fields> inputs) {
    const Mix mix = {inputs};
    const std::string who = treated(names, mix), first = graph_of(mix, &Treatment::filter),
                      second = graph_of(mix, &Treatment::alternative);
    if (mix.all_interlaced()) return "put the same deinterlacer before all inputs, " + first;
    bool only_coded_so = true;
    for (size_t i = 0; i < inputs.size(); ++i)
        only_coded_so = only_coded_so && (!inputs[i].is_interlaced || mix.is_only_coded_so(i));
    if (only_coded_so)
        return "made of this reference, " + who + " has no fields of different moments: call it progressive, " + first +
               ", or, if it was made of another video that has, deinterlace it, " + second;
    std::string text = "deinterlace " + who + " alone, " + first;
    if (first == second) return text;
    return text + ", or, if both fields of each frame show one moment, call it progressive, " + second;
}

} // namespace qc::run
