// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "options/score_names.hpp"

#include <algorithm>
#include <iterator>

#include <quality_cuda.h>

#include "text/nearest.hpp"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

/// A name that stands for another text.
struct Alias {
    const char *name, *meaning;
};
constexpr Alias kMetrics[] = {{"ssimulacra", "ssimulacra2"}};
constexpr const char* kShortModels[] = {"neg", "4k", "4kneg", "phone"}; ///< the library knows what they mean

using Words = std::vector<std::string>;

/// The pieces between any of the separators that are not empty.
Words pieces_of(const std::string& text, const char* separators) {
    Words pieces;
    for (size_t at = 0, end = 0; at < text.size(); at = end + 1) {
        end = std::min(text.find_first_of(separators, at), text.size());
        if (end > at) pieces.push_back(text.substr(at, end - at));
    }
    return pieces;
}

std::string listed(const Words& words, const char* separator) {
    std::string text;
    for (const std::string& each : words) text += (text.empty() ? "" : separator) + each;
    return text;
}

bool has(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// @return nullptr: it is none
template <size_t N>
const char* meaning_of(const Alias (&aliases)[N], const std::string& word) {
    const auto* const found =
        std::find_if(std::begin(aliases), std::end(aliases), [&](const Alias& each) { return word == each.name; });
    return found == std::end(aliases) ? nullptr : found->meaning;
}

bool is_short_model(const std::string& word) {
    return std::find(std::begin(kShortModels), std::end(kShortModels), word) != std::end(kShortModels);
}

Words metrics_of_library() {
    Words words{"vmaf", "all"};
    for (int i = 0; qc_metric_name(i) != nullptr; ++i)
        for (const char* name : {qc_metric_name(i), qc_metric_short_name(i)})
            if (*name != '\0' && !has(words, name)) words.emplace_back(name);
    return words;
}

Words built_in_models() {
    Words names{"auto"};
    for (int i = 0; qc_model_name(i) != nullptr; ++i) names.emplace_back(qc_model_name(i));
    return names;
}

/// @param option as it was typed
[[noreturn]] void refuse(const std::string& option, const std::string& word, const char* kind, const Words& known,
                         const char* more) {
    std::string meant = suggestion(word, known);
    if (meant.empty()) meant = suggestion("vmaf_" + word, known); // v0.6.1ng
    throw Failure(option + ": there is no " + kind + " " + word +
                      (meant.empty() ? "; there are " + listed(known, ", ") + more : meant),
                  kMisused);
}

std::string settled_metric(const std::string& word, const std::string& option) {
    std::string plain = plain_word(word);
    if (const char* meaning = meaning_of(kMetrics, plain)) return meaning;
    const Words known = metrics_of_library();
    if (has(known, plain)) return plain;
    if (is_short_model(plain) || has(built_in_models(), word))
        throw Failure(option + ": " + word + " is a model; did you mean --model " + word + "?", kMisused);
    refuse(option, word, "metric", known, "");
}

bool is_file_of_model(const std::string& text) {
    return text.find('/') != std::string::npos || text.ends_with(".json") || text.ends_with(".pkl");
}

/// @param item a name, or version=NAME, and what may follow behind a colon
std::string settled_model(const std::string& item, const std::string& option) {
    constexpr std::string_view kVersion = "version=";
    const size_t colon = std::min(item.find(':'), item.size());
    const std::string rest = item.substr(colon);
    std::string word = item.substr(0, colon);
    if (word.starts_with(kVersion)) word = word.substr(kVersion.size());
    const Words built_in = built_in_models();
    if (word.find('=') != std::string::npos || is_file_of_model(item) || has(built_in, word)) return item;
    const std::string plain = plain_word(word);
    if (is_short_model(plain)) return plain + rest;
    for (const std::string& each : built_in)
        if (plain_word(each) == plain || plain_word(each) == "vmaf_" + plain) return each + rest;
    refuse(option, word, "model", model_words(), "; path=FILE.json is another one");
}

} // namespace

std::vector<std::string> metric_words() {
    Words words = metrics_of_library();
    for (const Alias& each : kMetrics) words.emplace_back(each.name);
    return words;
}

std::vector<std::string> model_words() {
    Words words = built_in_models();
    words.insert(words.end(), std::begin(kShortModels), std::end(kShortModels));
    return words;
}

std::string settled_metrics(const std::string& typed) {
    Words names;
    for (const std::string& piece : pieces_of(typed, "+|, "))
        names.push_back(settled_metric(piece, "--metrics=" + typed));
    return listed(names, "+");
}

std::string settled_models(const std::string& typed) {
    Words items;
    for (const std::string& item : pieces_of(typed, "|")) items.push_back(settled_model(item, "--model=" + typed));
    return listed(items, "|");
}

} // namespace qc::cli
