// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "options/completion.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <CLI/CLI.hpp>

#include <quality_cuda.h>

#include "options/score_names.hpp"

namespace qc::cli {

namespace {

using Words = std::vector<std::string>;

constexpr const char* kFiles = ":files";

/// Words that an option takes, which are none of a fixed set to CLI11.
constexpr std::pair<const char*, const char*> kWords[] = {{"--scale", "bicubic lanczos bilinear area"},
                                                          {"--scale-to", "reference main"},
                                                          {"--on-unsupported", "fail skip"},
                                                          {"--crop", "auto"},
                                                          {"--rotate", "90 180 270 hflip vflip"},
                                                          {"--gres", "auto none gpu:1"}};
constexpr const char* kOfFiles[] = {"--output",    "--csv",       "--scenes", "--index",  "--png",
                                    "--reference", "--distorted", "--plan",   "--titles", "--ffmpeg"};

Words split(const std::string& text, char separator) {
    Words words;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(separator, at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

/// Candidates that begin as the word does.
class Offers {
public:
    explicit Offers(std::string typed) : typed_(std::move(typed)) {}

    void add(const std::string& word, const std::string& what = "") {
        if (word.starts_with(typed_)) lines_.push_back(what.empty() ? word : word + "\t" + what);
    }
    void add_files() { takes_files_ = true; }
    Words take() {
        if (takes_files_) lines_.emplace_back(kFiles);
        return std::move(lines_);
    }

    /// Of a list: what is before its last separator stays.
    void add_to_list(const Words& words, char separator) {
        const size_t at = typed_.rfind(separator);
        const std::string before = at == std::string::npos ? "" : typed_.substr(0, at + 1);
        for (const std::string& each : words) add(before + each, summary_of(each));
    }

private:
    static std::string summary_of(const std::string& metric) {
        for (int i = 0; qc_metric_name(i) != nullptr; ++i)
            if (metric == qc_metric_name(i)) return qc_metric_summary(i);
        return "";
    }

    std::string typed_;
    Words lines_;
    bool takes_files_ = false;
};

const CLI::App* command_of(const CLI::App& app, const std::string& name) {
    const auto commands = app.get_subcommands([&](const CLI::App* each) { return each->get_name() == name; });
    return commands.empty() ? nullptr : commands.front();
}

const CLI::Option* option_of(const CLI::App& command, const std::string& name) {
    for (const CLI::Option* each : command.get_options())
        if (!each->get_positional() && each->check_name(name)) return each;
    return nullptr;
}

void add_commands(const CLI::App& app, Offers* offers) {
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
        offers->add(each->get_name(), each->get_description());
    offers->add("help", "tells what a command does");
}

void add_options(const CLI::App& command, Offers* offers) {
    for (const CLI::Option* each : command.get_options())
        for (const std::string& name : each->get_lnames()) offers->add("--" + name, each->get_description());
}

/// CLI11 says the words of a fixed set in the type's name: "TEXT:{auto,cuda,cpu}".
Words fixed_words(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const size_t open = type.find('{'), close = type.find('}');
    return open == std::string::npos || close < open ? Words() : split(type.substr(open + 1, close - open - 1), ',');
}

void add_values(const CLI::App& command, const CLI::Option& option, Offers* offers) {
    const std::string name = "--" + (option.get_lnames().empty() ? "" : option.get_lnames().front());
    for (const std::string& each : fixed_words(option)) offers->add(each);
    for (const auto& [of, words] : kWords)
        if (name == of)
            for (const std::string& each : split(words, ' ')) offers->add(each);
    const bool scores = command.get_name() != "compare"; // whose --metrics are scores of logs
    if (name == "--metrics" && scores) offers->add_to_list(metric_words(), '+');
    if (name == "--model") offers->add_to_list(model_words(), '|');
    if (name == "--model" || std::find(std::begin(kOfFiles), std::end(kOfFiles), name) != std::end(kOfFiles))
        offers->add_files();
}

} // namespace

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty()) return {};
    Offers offers(words.back());
    if (words.size() == 1 || (words.size() == 2 && words.front() == "help")) {
        if (words.back().starts_with("-"))
            add_options(app, &offers);
        else
            add_commands(app, &offers);
        return offers.take();
    }
    const CLI::App* const command = command_of(app, words.front());
    if (command == nullptr) return {};
    const CLI::Option* const option = option_of(*command, words[words.size() - 2]);
    if (option != nullptr && option->get_items_expected_max() > 0)
        add_values(*command, *option, &offers);
    else if (words.back().starts_with("-"))
        add_options(*command, &offers);
    else
        offers.add_files();
    return offers.take();
}

} // namespace qc::cli
