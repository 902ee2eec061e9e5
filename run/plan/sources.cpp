// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/sources.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "run/plan/refusal.hpp"
#include "run/text/text.hpp"

namespace qc::run {
namespace {

constexpr int kAttachedRate = 90000; ///< the clock of MPEG's files: FFmpeg's rate of streams of a single picture

/// The numbers of "... from stream 1:0". @return false: it is no stream's name
bool read_stream(std::string_view name, int* file, int* stream) {
    constexpr std::string_view kMark = " from stream ";
    const size_t at = name.find(kMark);
    if (at == std::string_view::npos) return false;
    const std::string_view numbers = name.substr(at + kMark.size());
    const char *begin = numbers.data(), *end = begin + numbers.size();
    const auto first = std::from_chars(begin, end, *file);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return false;
    return std::from_chars(first.ptr + 1, end, *stream).ec == std::errc();
}

std::span<const qcr_source> all(const qcr_sources& sources) {
    return {sources.of, static_cast<size_t>(sources.count)};
}

std::string named(const char* what, const qcr_names& names, int input) {
    return formatted("%s %d (%s)", what, input, input < names.inputs ? names.role[input] : "mask");
}

/// "[0:V:0][1:V:0]quality_cuda": V leaves out what is attached to a file.
std::string labelled(const qcr_source_rules& rules) {
    const int inputs = rules.names->inputs + (rules.has_weights != 0 ? 1 : 0), renditions = rules.names->inputs - 1;
    std::string text, options;
    for (int i = 0; i < inputs; ++i) text += formatted("[%d:V:0]", i);
    if (renditions > 1) options += formatted("renditions=%d", renditions);
    if (rules.has_weights != 0) options += std::string(options.empty() ? "" : ":") + "mask=1";
    return text + (rules.is_alias != 0 ? "libvmaf" : "quality_cuda") + (options.empty() ? "" : "=" + options);
}

/// Renditions of a ladder may be in one file; a reference or a mask beside them is likely to be taken for one.
bool belong_apart(const qcr_source_rules& rules, int one, int other) {
    return one != other && (one == QCR_REFERENCE || other == QCR_REFERENCE || one >= rules.names->inputs ||
                            other >= rules.names->inputs);
}

bool is_gray(const qcr_source& source) {
    return std::string_view(source.format_name).starts_with("gray");
}

std::string described(const qcr_source& source) {
    return formatted("%d:%d (%dx%d %s)", source.file, source.stream, source.width, source.height, source.format_name);
}

std::string text_of(const qcr_source_rules& rules, const qcr_source& one, const qcr_source& other) {
    const bool is_same = one.stream == other.stream;
    const char* const kind = other.is_attached != 0 || one.is_attached != 0 ? "a cover picture"
                             : is_gray(one) != is_gray(other)               ? "an alpha plane"
                                                                            : "a variant, a preview or a cover picture";
    std::string text = named("Input", *rules.names, one.input) + " and " + named("input", *rules.names, other.input);
    if (is_same)
        text += formatted(" are one stream, %d:%d, compared with itself", one.file, one.stream);
    else
        text += " are two streams of one file, " + described(one) + " and " + described(other) + ", " + kind +
                " perhaps: pads without labels get the first file's streams first";
    text += "; name the files' videos, " + labelled(rules);
    return rules.is_alias != 0 ? text : text + ", or accept it, same_file=1";
}

/// What is wrong with the inputs; empty: nothing.
std::string refusal_of(const qcr_sources& sources, const qcr_source_rules& rules) {
    for (const qcr_source& one : all(sources))
        for (const qcr_source& other : all(sources))
            if (one.input < other.input && one.id != other.id && one.file == other.file &&
                belong_apart(rules, one.input, other.input))
                return text_of(rules, one, other);
    return "";
}

/// Of an input that had a single frame. @return null: no cover
const qcr_source* attached(const qcr_sources& sources, int input) {
    const auto found = std::find_if(all(sources).begin(), all(sources).end(), [&](const qcr_source& source) {
        return source.input == input && source.is_attached != 0;
    });
    return found == all(sources).end() ? nullptr : &*found;
}

} // namespace
} // namespace qc::run

using namespace qc::run;

void qcr_add_source(qcr_sources* sources, int input, const void* id, const qcr_source_facts* facts) {
    qcr_source source = {input, id, 0, 0, facts->width, facts->height, facts->format_name, 0};
    const bool is_known = std::any_of(all(*sources).begin(), all(*sources).end(),
                                      [&](const qcr_source& of) { return of.input == input && of.id == id; });
    if (is_known || sources->count == QCR_MOST_SOURCES || facts->name == nullptr ||
        !read_stream(facts->name, &source.file, &source.stream))
        return;
    source.is_attached = facts->rate_num == kAttachedRate && facts->rate_den == 1 ? 1 : 0;
    sources->of[sources->count++] = source;
}

qc_status qcr_check_sources(const qcr_sources* sources, const qcr_source_rules* rules, const qcr_sink* sink,
                            qc_error* error) {
    return refusing(error, [&]() -> std::string {
        std::string refusal = rules->may_share != 0 ? "" : refusal_of(*sources, *rules);
        if (refusal.empty() || rules->is_alias == 0) return refusal;
        say(*sink, QCR_LEVEL_WARNING, refusal);
        return "";
    });
}

void qcr_say_single_frames(const qcr_sources* sources, const qcr_source_rules* rules, const qcr_pairs* pairs,
                           const qcr_counts* counts, const qcr_sink* sink) {
    const int64_t distorted = qcr_pairs_input(pairs, 0).received;
    for (int i = 0; i < rules->names->inputs; ++i) {
        const qcr_input met = qcr_pairs_input(pairs, i);
        if (met.ended == 0 || met.received != 1) continue;
        const qcr_source* const cover = attached(*sources, i);
        if_possible([&] {
            const std::string who = named("Input", *rules->names, i);
            if (cover != nullptr)
                say(*sink, QCR_LEVEL_WARNING,
                    who + formatted(" is stream %d:%d, a single picture that is attached to its file, such as a cover; "
                                    "name the files' videos, %s",
                                    cover->file, cover->stream, labelled(*rules).c_str()));
            else if (i == QCR_REFERENCE && distorted > 1 && counts->after != 0)
                say(*sink, QCR_LEVEL_WARNING,
                    who + formatted(" has a single frame, main has %lld: label the stream that is meant, e.g. "
                                    "[0:v:0][1:v:0]quality_cuda, or compare every frame with this one, "
                                    "eof_action=repeat",
                                    wide(distorted)));
        });
    }
}
