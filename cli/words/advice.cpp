// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "words/advice.hpp"

#include <algorithm>
#include <iterator>
#include <regex>
#include <vector>

#include "words/text.hpp"

namespace qc::cli {

namespace {

/// An option of the filter, and this command's.
struct Option {
    const char *filters, *own;
    bool is_flag = false; ///< of this command: it takes no value
};
constexpr Option kOptions[] = {{"metrics", "--metrics"},
                               {"model", "--model"},
                               {"feature", "--feature"},
                               {"opts", "--opts"},
                               {"scale", "--scale"},
                               {"scale_to", "--scale-to"},
                               {"bitdepth", "--bitdepth"},
                               {"roi", "--roi"},
                               {"crop", "--crop"},
                               {"convert", "--convert"},
                               {"range", "--range"},
                               {"align", "--align"},
                               {"sync", "--sync"},
                               {"max_dt", "--max-dt"},
                               {"eof_action", "--eof-action"},
                               {"allow_unpaired", "--allow-unpaired", true},
                               {"n_subsample", "--subsample"},
                               {"on_unsupported", "--on-unsupported"},
                               {"backend", "--backend"},
                               {"device", "--gpus"},
                               {"log_path", "--output"},
                               {"strict", "--strict", true}};

const Option* option_of(const std::string& name) {
    const auto* const found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                           [&](const Option& each) { return name == each.filters; });
    return found == std::end(kOptions) ? nullptr : found;
}

std::string names_of_options() {
    std::string names;
    for (const Option& each : kOptions) names += (names.empty() ? "" : "|") + std::string(each.filters);
    return names;
}

/// A value as a shell takes it. What a message only sketches (WIDTH, "...") stays readable.
std::string setting(const Option& option, const std::string& value) {
    return option.is_flag ? option.own : std::string(option.own) + " " + shell_text({value});
}

/// The name of the filter's input `number` for --filter.
std::string which_input(int number) {
    if (number == 0) return "dist0";
    return number == 1 ? "ref" : "dist" + std::to_string(number - 1);
}

std::string filtering(const std::string& which, const std::string& chain) {
    return "--filter " + shell_text({which.empty() ? chain : which + ":" + chain});
}

/// "scale=bicubic:max_dt=1" of the filter quality_cuda.
std::string settings_of(const std::string& text) {
    static const std::regex kSetting(R"((\w+)=([^:]*))");
    std::string result;
    for (std::sregex_iterator each(text.begin(), text.end(), kSetting), end; each != end; ++each)
        if (const Option* const option = option_of((*each)[1]))
            result += (result.empty() ? "" : " ") + setting(*option, (*each)[2]);
    return result;
}

/// A rule: what it finds, and what it makes of that.
struct Rule {
    std::regex pattern;
    std::string (*rewrite)(const std::smatch&);
};

/// "[0:v]bwdif[d];[1:v]bwdif[r];[d][r]quality_cuda=scale=area"
std::string rewrite_graph(const std::smatch& found) {
    static const std::regex kChain(R"(\[(\d+):v(?::\d+)?\]([^\[\]; ]+)\[\w+\];)");
    const std::string chains = found[1];
    std::vector<std::pair<int, std::string>> filters;
    for (std::sregex_iterator each(chains.begin(), chains.end(), kChain), end; each != end; ++each)
        filters.emplace_back(std::stoi((*each)[1]), (*each)[2]);
    const std::string pads = found[2];
    const auto inputs = static_cast<size_t>(std::count(pads.begin(), pads.end(), '['));
    const bool is_same = filters.size() > 1 && filters.size() == inputs &&
                         std::all_of(filters.begin(), filters.end(),
                                     [&](const auto& each) { return each.second == filters.front().second; });
    if (is_same) filters.resize(1);
    std::string text;
    for (const auto& [input, chain] : filters)
        text += (text.empty() ? "" : " ") + filtering(is_same ? "" : which_input(input), chain);
    const std::string settings = settings_of(found[3]);
    return text + (settings.empty() ? "" : " " + settings);
}

/// "put setpts=PTS-0.2/TB before the reference", "setsar before an input ..."
std::string rewrite_filter(const std::smatch& found) {
    const std::string put = found[1], chain = found[2], place = found[3], number = found[4];
    std::string which;
    if (!number.empty())
        which = which_input(std::stoi(number));
    else if (place == "the reference")
        which = "ref";
    else if (place.starts_with("main") || place == "the distorted video")
        which = "dist0";
    else if (place.starts_with("rendition "))
        which = "dist" + place.substr(10);
    const bool is_of_one = place.starts_with("an input") || place == "it" || place.starts_with("the input");
    return (put.empty() ? "" : "use ") +
           (is_of_one ? "--filter WHICH:" + chain + " for " + place : filtering(which, chain));
}

const std::vector<Rule>& rules() {
    static const std::string kFilters =
        R"(((?:(?:setpts|settb|trim|setsar|setdar|setparams|mpdecimate|bwdif|yadif|transpose|hflip|vflip|crop|pad|fps|)"
        R"(format|scale|zscale|setfield|rotate)\b(?:=[^\s,;]*[^\s,;.])?,?)+))";
    static const std::string kPlaces =
        R"((the reference|main\d*|the distorted video|rendition \d+|all inputs|both inputs|an input|the input|it|input (\d+)(?: \([^)]*\))?))";
    static const std::vector<Rule> kRules = {
        {std::regex(
             R"(((?:\[\d+:v(?::\d+)?\][^\[\]; ]+\[\w+\];)+)((?:\[[^\]]*\])*)quality_cuda(?:=([^\s;]*[^\s;,.]))?)"),
         rewrite_graph},
        {std::regex("\\b(put |use )?" + kFilters + " before (?:" + kPlaces + ")"), rewrite_filter},
        {std::regex(R"(\bquality_cuda=([^\s;,]+))"), [](const std::smatch& found) { return settings_of(found[1]); }},
        {std::regex(
             R"((?:\[\d+:v(?::\d+)?\])+quality_cuda takes the first file's for the distorted video, the second's for )"
             R"(the reference)"),
         [](const std::smatch&) { return std::string("--stream dist:N and --stream ref:N"); }},
        {std::regex(R"((?:\[\d+:v(?::\d+)?\])+quality_cuda)"),
         [](const std::smatch&) { return std::string("--stream WHICH:N"); }},
        {std::regex(R"(-apply_cropping codec before each -i)"),
         [](const std::smatch&) { return std::string("--container-crop off"); }},
        {std::regex(R"(transpose=2 the other way round)"),
         [](const std::smatch&) { return std::string("transpose=2 in its place, the other way round"); }},
        {std::regex(R"(-r or -framerate before -i)"), [](const std::smatch&) { return std::string("--framerate"); }},
        {std::regex(R"(add an explicit format or scale filter to choose the conversion)"),
         [](const std::smatch&) {
             return std::string("choose the conversion yourself, e.g. by --filter WHICH:format=yuv420p or --filter "
                                "WHICH:scale=out_color_matrix=bt709");
         }},
        {std::regex(
             R"(\b((?:setpts|settb|trim|setsar|setdar|setparams|setfield|transpose|format|fps|bwdif|yadif)=[^\s,;)]*[^\s,;:).]))"),
         [](const std::smatch& found) { return filtering("", found[1]); }},
        {std::regex(R"( \(GPU: [^)]*\))"), [](const std::smatch&) { return std::string(); }},
        {std::regex("(^|[^\\w.-])(on_unsupported|allow_unpaired|n_subsample|max_dt|scale_to)(?![\\w=])"),
         [](const std::smatch& found) { return found.str(1) + option_of(found[2])->own; }},
        {std::regex("(^|[^\\w.:=-])(" + names_of_options() + ")=([^\\s,;:)]*[^\\s,;:).])"),
         [](const std::smatch& found) { return found.str(1) + setting(*option_of(found[2]), found[3]); }}};
    return kRules;
}

} // namespace

std::string in_this_commands_words(const std::string& text) {
    std::string result;
    auto rest = text.cbegin();
    while (rest != text.cend()) {
        std::smatch earliest;
        const Rule* taken = nullptr;
        for (const Rule& rule : rules()) {
            std::smatch found;
            const auto flags =
                rest == text.cbegin() ? std::regex_constants::match_default : std::regex_constants::match_prev_avail;
            if (!std::regex_search(rest, text.cend(), found, rule.pattern, flags)) continue;
            if (taken != nullptr && found[0].first >= earliest[0].first) continue;
            earliest = found;
            taken = &rule;
        }
        if (taken == nullptr) break;
        result.append(rest, earliest[0].first);
        result += taken->rewrite(earliest);
        rest = earliest[0].second;
    }
    return result.append(rest, text.cend());
}

} // namespace qc::cli
