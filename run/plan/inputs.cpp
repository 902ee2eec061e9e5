// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/inputs.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "quality_cuda_run/pairs.h"
#include "run/plan/refusal.hpp"
#include "run/plan/shapes.hpp"
#include "run/text/text.hpp"

namespace qc::run {
namespace {

using Promise = qcr_input_promise;

/// An input beside the distorted video.
struct Comparison {
    const qcr_promise_rules& rules;
    int input;
    const Promise &own, &main;

    std::string who() const { return formatted("Input %d (%s)", input, rules.names->role[input]); }
};

const char* components_of(const qc_format& format) {
    static constexpr const char* kNames[] = {"no chroma", "4:2:0", "4:2:2", "4:4:4", "4:1:0", "4:1:1", "4:4:0"};
    return format.rgb != 0 ? "RGB" : kNames[format.chroma];
}

/// What the engine scores pictures as: it repeats samples of chroma where there are fewer.
qc_chroma scored_chroma(const qc_format& format) {
    static constexpr qc_chroma kScored[] = {QC_CHROMA_400, QC_CHROMA_420, QC_CHROMA_422, QC_CHROMA_444,
                                            QC_CHROMA_420, QC_CHROMA_422, QC_CHROMA_444};
    return kScored[format.chroma];
}

/// "is yuv420p (4:2:0)"
std::string kind_of(const Promise& promise) {
    return formatted("is %s (%s)", promise.format_name, components_of(promise.format));
}

/// Name of the planar format of a layout's depth with another subsampling of chroma.
std::string with_chroma(const qc_format& format, qc_chroma chroma) {
    qc_format wanted{};
    wanted.chroma = chroma;
    wanted.depth = format.depth;
    wanted.container_bits = format.depth == 8 ? 8 : 16;
    const char* name = qc_format_name(&wanted);
    return name != nullptr ? name : "unknown";
}

bool is_a_rate(const Promise& promise) {
    return promise.rate_num > 0 && promise.rate_den > 0 &&
           promise.rate_num / static_cast<double>(promise.rate_den) <= QCR_HIGHEST_RATE;
}

bool has_same_rate(const Promise& one, const Promise& other) {
    return int64_t{one.rate_num} * other.rate_den == int64_t{other.rate_num} * one.rate_den;
}

Shape shape_of(const Promise& promise) {
    return {promise.format.width, promise.format.height, promise.aspect > 0 ? promise.aspect : 1};
}

std::string refusal_of(const Comparison& of) {
    const qc_format &own = of.own.format, &main = of.main.format;
    if ((own.width != main.width || own.height != main.height) && of.rules.scales == 0) {
        const std::string advice =
            of.input != QCR_REFERENCE ? "" : shape_advice(0, shape_of(of.main), shape_of(of.own), false);
        if (!advice.empty())
            return of.who() + formatted(" is %dx%d, main is %dx%d: ", own.width, own.height, main.width, main.height) +
                   advice;
        return of.who() +
               formatted(" is %dx%d, main is %dx%d; scale first, e.g. [0:v]scale=%d:%d:flags=bicubic[d];"
                         "[d][%d:v]quality_cuda (GPU: scale_cuda=%d:%d:interp_algo=bicubic)%s",
                         own.width, own.height, main.width, main.height, own.width, own.height, of.input, own.width,
                         own.height,
                         of.rules.is_alias != 0 ? "" : ", or have it scaled here: quality_cuda=scale=bicubic");
    }
    if (own.rgb != main.rgb)
        return of.who() + formatted(" %s, main %s; convert one of them first, e.g. with [0:v]format=%s[d];[d][%d:v]"
                                    "quality_cuda",
                                    kind_of(of.own).c_str(), kind_of(of.main).c_str(), of.own.format_name, of.input);
    return "";
}

/// What is measured stays as it is: where chroma is to be compared, the reference is what should be converted.
std::string on_chroma(const Comparison& of) {
    const std::string advice =
        of.input != QCR_REFERENCE
            ? ""
            : formatted("; for chroma convert the reference first, e.g. [1:v]format=%s[r];[0:v][r]quality_cuda",
                        with_chroma(of.own.format, scored_chroma(of.main.format)).c_str());
    return of.who() + formatted(" %s, main %s: only luma can be compared%s", kind_of(of.own).c_str(),
                                kind_of(of.main).c_str(), advice.c_str());
}

void say_differences(const Comparison& of, const qcr_sink& sink) {
    const qc_format &own = of.own.format, &main = of.main.format;
    if (scored_chroma(own) != scored_chroma(main)) say(sink, QCR_LEVEL_INFO, on_chroma(of));
    if (own.depth != main.depth)
        say(sink, QCR_LEVEL_INFO,
            of.who() +
                formatted(" has %d bits, main has %d: both are scored at %d bits, the smaller samples shifted left",
                          own.depth, main.depth, std::max(own.depth, main.depth)));
    if (of.rules.by_index == 0 && is_a_rate(of.own) && is_a_rate(of.main) && !has_same_rate(of.own, of.main))
        say(sink, QCR_LEVEL_WARNING,
            of.who() + formatted(" has %d/%d frames per second, main has %d/%d: frames are paired by time, the counts "
                                 "follow at the end",
                                 of.own.rate_num, of.own.rate_den, of.main.rate_num, of.main.rate_den));
}

std::string word_or(const char* word, const char* otherwise) {
    return word == nullptr || std::string_view(word) == "unknown" ? otherwise : word;
}

/// "yuv420p (matrix bt709, range tv)"
std::string told(const qcr_link_colours& link, const char* unknown_matrix, const char* unknown_range) {
    const std::string range = word_or(link.range, link.is_rgb != 0 ? "pc" : unknown_range);
    if (link.is_rgb != 0) return formatted("%s (range %s)", link.format_name, range.c_str());
    return formatted("%s (matrix %s, range %s)", link.format_name, word_or(link.matrix, unknown_matrix).c_str(),
                     range.c_str());
}

} // namespace
} // namespace qc::run

using namespace qc::run;

/// Where nothing is told lavfi's scaler takes BT.601, and limited range.
void qcr_warn_of_conversion(const qcr_names* names, int input, const qcr_link_colours* from, const qcr_link_colours* to,
                            const qcr_sink* sink) {
    say(*sink, QCR_LEVEL_WARNING,
        formatted(
            "Input %d (%s) was converted by lavfi from %s to %s; add an explicit format or scale filter to choose "
            "the conversion",
            input, names->role[input], told(*from, "unknown", "unknown").c_str(),
            told(*to, "unknown, so that of BT.601", "unknown, so tv").c_str()));
}

qc_status qcr_check_input(const qcr_promise_rules* rules, int input, const qcr_input_promise* promise,
                          const qcr_input_promise* distorted, const qcr_sink* sink, qc_error* error) {
    const Comparison of = {*rules, input, *promise, *distorted};
    return refusing(error, [&] {
        std::string refusal = refusal_of(of);
        if (refusal.empty()) say_differences(of, *sink);
        return refusal;
    });
}
