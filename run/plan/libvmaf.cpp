// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "quality_cuda_run/libvmaf.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "run/text/guard.hpp"
#include "run/text/text.hpp"

namespace qc::run {
namespace {

bool is_given(const char* text) {
    return text != nullptr && *text != '\0';
}

/// What formatted() takes for "%.*s".
int length_of(std::string_view text) {
    return static_cast<int>(text.size());
}

/* ---- models ---- */

/// Length of the text up to the first of some separators that no backslash or quote protects.
size_t span_until(std::string_view text, std::string_view separators) {
    size_t length = 0;
    bool is_quoted = false;
    for (; length < text.size(); length++) {
        const char c = text[length];
        if (c == '\\' && !is_quoted && length + 1 < text.size())
            length++;
        else if (c == '\'')
            is_quoted = !is_quoted;
        else if (!is_quoted && separators.find(c) != std::string_view::npos)
            break;
    }
    return length;
}

/// libvmaf's filter takes any key of a model, and uses those that it knows.
void append_model_entry(std::string_view entry, const qcr_sink& sink, std::string& out) {
    const std::string_view key = entry.substr(0, span_until(entry, "="));
    const std::string_view value = entry.substr(std::min(key.size() + 1, entry.size()));
    const bool is_flag = key == "enable_transform" || key == "disable_clip";
    const bool is_known = is_flag || key == "version" || key == "path" || key == "name" ||
                          key.find('.') != std::string_view::npos || key.size() == entry.size();
    if (!is_known) {
        say(sink, QCR_LEVEL_WARNING,
            formatted("model: %.*s is not among its keys, and has no effect", length_of(entry), entry.data()));
        return;
    }
    if (is_flag && value != "true") {
        if (value != "false")
            say(sink, QCR_LEVEL_WARNING,
                formatted("model: %.*s is taken for false; accepted: true, false", length_of(entry), entry.data()));
        return;
    }
    if (!out.empty() && out.back() != '|') out += ':';
    out += entry;
}

/// The models with what the engine knows of them.
std::string known_of_models(std::string_view models, bool with_transform, const qcr_sink& sink) {
    std::string out;
    for (;;) {
        const size_t length = span_until(models, ":|");
        if (length != 0) append_model_entry(models.substr(0, length), sink, out);
        models.remove_prefix(length);
        const bool goes_on = models.starts_with(':');
        if (!goes_on && with_transform) out += ":enable_transform=true";
        if (models.empty()) return out;
        if (!goes_on) out += '|';
        models.remove_prefix(1);
    }
}

/// The built-in model that a file of libvmaf is, "" if none: files of its first versions (.pkl) nobody reads any more.
std::string_view builtin_of(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1); // npos + 1 is 0
    for (int i = 0; const char* known = qc_model_name(i); i++)
        if (name == std::string(known) + ".pkl") return known;
    return "";
}

/// With a backslash before what ends a value or protects it.
std::string escaped(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); i++) {
        const bool is_at_end = i == 0 || i + 1 == text.size();
        if (std::strchr(":|='\\", text[i]) != nullptr || (is_at_end && std::strchr(" \n\t\r", text[i]) != nullptr))
            out += '\\';
        out += text[i];
    }
    return out;
}

/// Of a path without any escapes, as an option of its own has it.
std::string model_of_file(const char* path, const qcr_sink& sink) {
    const std::string name(builtin_of(path));
    if (name.empty()) return "path=" + escaped(path);
    say(sink, QCR_LEVEL_INFO, formatted("model_path=%s: the built-in model %s is taken for it", path, name.c_str()));
    return "version=" + name;
}

std::string models_of(const qcr_libvmaf_options& options, const qcr_sink& sink) {
    const bool is_default = !is_given(options.model) || std::string_view(options.model) == QCR_LIBVMAF_MODEL;
    const bool has_path = is_given(options.model_path);
    const std::string text = has_path && is_default ? model_of_file(options.model_path, sink)
                             : is_default           ? QCR_LIBVMAF_MODEL
                                                    : options.model;
    if (has_path && !is_default)
        say(sink, QCR_LEVEL_WARNING, formatted("model_path=%s has no effect, model is given too", options.model_path));
    return known_of_models(text, options.enable_transform != 0 || options.phone_model != 0, sink);
}

/* ---- features and words ---- */

std::string features_of(const qcr_libvmaf_options& options) {
    std::string text;
    if (options.psnr != 0) text += "|name=psnr:enable_chroma=false";
    if (options.ssim != 0) text += "|name=float_ssim";
    if (options.ms_ssim != 0) text += "|name=float_ms_ssim";
    if (is_given(options.feature)) text += std::string("|") + options.feature;
    return text.empty() ? text : text.substr(1);
}

bool is_same_word(std::string_view one, std::string_view other) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
}

/// @param words the first one is what any other word means too
template <size_t count>
const char* word_of(const char* option, const char* value, const char* const (&words)[count], const qcr_sink& sink) {
    if (!is_given(value)) return words[0];
    for (const char* word : words)
        if (is_same_word(value, word)) return word;
    say(sink, QCR_LEVEL_WARNING, formatted("%s=%s is not known, %s is taken", option, value, words[0]));
    return words[0];
}

/// @throws std::bad_alloc
char* copy_of(const std::string& text) {
    char* copy = strdup(text.c_str());
    if (copy == nullptr) throw std::bad_alloc();
    return copy;
}

} // namespace
} // namespace qc::run

using namespace qc::run;

qc_status qcr_translate_libvmaf(const qcr_libvmaf_options* options, const qcr_sink* sink,
                                qcr_libvmaf_meaning* meaning) {
    static constexpr const char* kPools[] = {"mean", "harmonic_mean", "min"};
    static constexpr const char* kFormats[] = {"xml", "json", "csv", "sub"};
    *meaning = {};
    return guarded([&] {
        meaning->model = copy_of(models_of(*options, *sink));
        const std::string features = features_of(*options);
        if (!features.empty()) meaning->feature = copy_of(features);
        meaning->pool = word_of("pool", options->pool, kPools, *sink);
        meaning->log_fmt = word_of("log_fmt", options->log_fmt, kFormats, *sink);
    });
}

void qcr_free_meaning(qcr_libvmaf_meaning* meaning) {
    std::free(meaning->model);
    std::free(meaning->feature);
    *meaning = {};
}

void qcr_pair_as_libvmaf(const qcr_libvmaf_options* options, qcr_rules* rules) {
    const bool repeats = options->repeatlast != 0 && options->eof_action != QCR_LAVFI_PASS;
    const bool ends_all = options->shortest != 0 || (repeats && options->eof_action == QCR_LAVFI_ENDALL);
    rules->sync = options->ts_sync_mode == QCR_LAVFI_NEAREST ? QCR_SYNC_LAVFI_NEAREST : QCR_SYNC_LAVFI;
    rules->eof_action = ends_all ? QCR_EOF_ENDALL : repeats ? QCR_EOF_REPEAT : QCR_EOF_PASS;
    rules->outlasts = repeats ? 1 : 0;
}
