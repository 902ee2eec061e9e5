// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/ladders.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>

#include "words/failure.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr int kMostDraws = 1000;       ///< of scenes, for a BD-rate
constexpr double kFewestUsable = 0.95; ///< share of draws that have a BD-rate

/// "400", "1080p", "2500k", "crf35": what tells one rung from another.
bool is_rung(std::string word) {
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const char* start : {"crf", "qp", "cq", "q", ""})
        if (word.starts_with(start)) {
            word.erase(0, std::char_traits<char>::length(start));
            break;
        }
    const size_t digits = word.find_first_not_of("0123456789");
    if (digits == 0 || word.empty()) return false;
    static const std::set<std::string> kUnits = {"", "p", "k", "kb", "kbit", "kbps", "m", "mbit", "mbps"};
    return digits == std::string::npos || kUnits.count(word.substr(digits)) > 0;
}

/// A name without the numbers that differ from rung to rung; "x264_1080p_400k.mp4" is "x264".
std::string family_of(const std::string& label) {
    const std::string stem = std::filesystem::path(label).stem().string();
    std::string family, word;
    const auto add = [&] {
        if (!word.empty() && !is_rung(word)) family += (family.empty() ? "" : "_") + word;
        word.clear();
    };
    for (const char c : stem) {
        if (std::string_view("_-. ,").find(c) == std::string_view::npos)
            word += c;
        else
            add();
    }
    add();
    return family.empty() ? stem : family;
}

/// Names that were given, one for each log.
std::vector<std::string> given_names(const std::string& text, const char* option, size_t logs) {
    std::vector<std::string> names = split_names(text, ',', option);
    if (names.size() != logs)
        throw Failure(std::string(option) + "=" + text + " has " + std::to_string(names.size()) + " names: there are " +
                          std::to_string(logs) + " logs, and one name for each is accepted",
                      kMisused);
    return names;
}

/// Of each encode. Logs of one encode each belong together if their names differ in numbers alone; otherwise each log
/// is a ladder, which has no name in common with another.
std::vector<std::string> ladder_names(const ReportOptions& options, const std::vector<Encode>& encodes) {
    std::vector<std::string> names;
    if (!options.ladders.empty()) {
        const std::vector<std::string> given = given_names(options.ladders, "--ladders", options.logs.size());
        for (const Encode& each : encodes) names.push_back(given[each.log_index]);
        return names;
    }
    const bool is_single =
        std::all_of(encodes.begin(), encodes.end(), [](const Encode& each) { return each.renditions == 1; });
    if (is_single && encodes.size() > 2)
        for (const Encode& each : encodes) names.push_back(family_of(each.label));
    if (std::set<std::string>(names.begin(), names.end()).size() < names.size()) return names;
    names.clear();
    for (const Encode& each : encodes)
        names.push_back(std::filesystem::path(options.logs[each.log_index]).filename().string());
    return names;
}

/// What tells one reference from another.
std::string title_key(const ReportOptions& options, const std::vector<std::string>& given, const Encode& encode) {
    if (!options.titles.empty()) return given[encode.log_index];
    return encode.reference_source.checksum.empty() ? encode.reference : encode.reference_source.checksum;
}

size_t place_in(const std::string& text, std::vector<std::string>* list) {
    const auto found = std::find(list->begin(), list->end(), text);
    const auto at = static_cast<size_t>(found - list->begin());
    if (found == list->end()) list->push_back(text);
    return at;
}

/// Colour is the ladder, dash is the rung. Where that would leave one of them unused it goes with the other.
void set_styles(Report* report) {
    const bool is_one = report->ladders.size() == 1;
    const bool is_single = std::all_of(report->ladders.begin(), report->ladders.end(),
                                       [](const Ladder& each) { return each.encodes.size() == 1; });
    for (const Ladder& ladder : report->ladders)
        for (size_t rung = 0; rung < ladder.encodes.size(); ++rung) {
            Encode& each = report->encodes[ladder.encodes[rung]];
            each.style.colour = is_one ? rung : ladder.style.colour;
            each.style.dash = is_single ? ladder.style.colour : rung;
        }
}

std::vector<RatePoint> points_of(const Report& report, const Ladder& ladder, const std::string& score) {
    std::vector<RatePoint> points;
    for (const size_t number : ladder.encodes) {
        const Encode& each = report.encodes[number];
        const double mean = each.log.mean(score);
        if (each.bit_rate > 0 && std::isfinite(mean)) points.push_back({each.bit_rate, mean});
    }
    return points;
}

/// Sums over the pieces that are drawn, of one encode.
struct Pieces {
    double bit_rate = 0;
    std::vector<double> sums, counts;

    double mean(const std::vector<uint32_t>& times) const {
        double sum = 0, count = 0;
        for (size_t k = 0; k < times.size(); ++k) {
            sum += times[k] * sums[k];
            count += times[k] * counts[k];
        }
        return count > 0 ? sum / count : NAN;
    }
};

Pieces pieces_of(const Encode& encode, const Scores& scores, const std::vector<Scene>& drawn) {
    Pieces pieces{encode.bit_rate, std::vector<double>(drawn.size()), std::vector<double>(drawn.size())};
    for (size_t k = 0; k < drawn.size(); ++k)
        for (size_t i = drawn[k].begin; i < drawn[k].end; ++i)
            if (!std::isnan(scores.values[i])) {
                pieces.sums[k] += scores.values[i];
                ++pieces.counts[k];
            }
    return pieces;
}

/// Empty where not all encodes have the score in the same frames.
std::vector<Pieces> pieces_of(const Report& report, const Ladder& ladder, const std::string& score,
                              const ScoreLog& like, const std::vector<Scene>& drawn) {
    std::vector<Pieces> list;
    for (const size_t number : ladder.encodes) {
        const Encode& each = report.encodes[number];
        const Scores* const scores = each.log.find(score);
        if (!(each.bit_rate > 0) || scores == nullptr) continue;
        if (each.log.frames != like.frames) return {};
        list.push_back(pieces_of(each, *scores, drawn));
    }
    return list;
}

std::vector<RatePoint> drawn_points(const std::vector<Pieces>& list, const std::vector<uint32_t>& times) {
    std::vector<RatePoint> points;
    points.reserve(list.size());
    for (const Pieces& each : list) points.push_back({each.bit_rate, each.mean(times)});
    return points;
}

/// By drawing scenes again and again, the same ones of all encodes: scores move, rates are those of the whole.
std::optional<Interval> rate_interval(const Report& report, const Ladder& base, const Ladder& other,
                                      const std::string& score, const Resampling& resampling) {
    const Encode& first = report.encodes[base.encodes.front()];
    const std::vector<Scene> drawn = drawn_pieces(first.log, first.scenes, 0);
    if (drawn.size() < kFewestScenes) return std::nullopt;
    const std::vector<Pieces> of_base = pieces_of(report, base, score, first.log, drawn),
                              of_other = pieces_of(report, other, score, first.log, drawn);
    if (of_base.empty() || of_other.empty()) return std::nullopt;
    std::mt19937 numbers(resampling.seed);
    std::vector<uint32_t> times(drawn.size());
    std::vector<double> found;
    const int count = std::min(kMostDraws, resampling.count);
    for (int draw = 0; draw < count; ++draw) {
        std::fill(times.begin(), times.end(), 0);
        for (size_t k = 0; k < drawn.size(); ++k)
            ++times[static_cast<size_t>((uint64_t{numbers()} * drawn.size()) >> 32)];
        const RateDifference each = rate_difference(drawn_points(of_base, times), drawn_points(of_other, times),
                                                    better(score) == Better::kHigher);
        if (each.is_known) found.push_back(each.percent);
    }
    if (static_cast<double>(found.size()) < kFewestUsable * count) return std::nullopt;
    std::sort(found.begin(), found.end());
    const double tail = (1 - resampling.confidence / 100) / 2;
    return Interval{percentile_of(found, 100 * tail), percentile_of(found, 100 * (1 - tail))};
}

/// Of the ladder's own title; null: this is it, or there is none.
const Ladder* base_of(const Report& report, const Ladder& ladder) {
    for (const Ladder& each : report.ladders)
        if (each.title == ladder.title) return each.name == ladder.name ? nullptr : &each;
    return nullptr;
}

void add_averages(Report* report) {
    if (report->titles.size() < 2) return;
    for (const LadderDifference& each : report->differences) {
        const Ladder& ladder = report->ladders[each.ladder];
        auto found =
            std::find_if(report->averages.begin(), report->averages.end(), [&](const AverageDifference& known) {
                return known.ladder == ladder.name && known.base == each.base && known.score == each.score;
            });
        if (!each.difference.is_known) continue;
        if (found == report->averages.end())
            found = report->averages.insert(found, {ladder.name, each.base, each.score, 0, 0});
        found->percent = (found->percent * static_cast<double>(found->titles) + each.difference.percent) /
                         static_cast<double>(found->titles + 1);
        ++found->titles;
    }
}

} // namespace

void group_encodes(const ReportOptions& options, Report* report) {
    const std::vector<std::string> names = ladder_names(options, report->encodes);
    std::vector<std::string> given, keys, colours;
    if (!options.titles.empty()) given = given_names(options.titles, "--titles", options.logs.size());
    for (size_t i = 0; i < report->encodes.size(); ++i) {
        const Encode& encode = report->encodes[i];
        const std::string key = title_key(options, given, encode);
        const size_t title = place_in(key, &keys);
        if (title == report->titles.size())
            report->titles.push_back(given.empty() ? std::filesystem::path(encode.reference_source.path.empty()
                                                                               ? encode.reference
                                                                               : encode.reference_source.path)
                                                         .filename()
                                                         .string()
                                                   : key);
        const bool is_own = options.ladders.empty() &&
                            names[i] == std::filesystem::path(options.logs[encode.log_index]).filename().string();
        auto found = std::find_if(report->ladders.begin(), report->ladders.end(), [&](const Ladder& each) {
            return each.name == names[i] && each.title == title &&
                   (!is_own || report->encodes[each.encodes.front()].log_index == encode.log_index);
        });
        if (found == report->ladders.end()) {
            const size_t colour =
                is_own ? place_in(std::to_string(encode.log_index), &colours) : place_in(names[i], &colours);
            found = report->ladders.insert(found, {names[i], title, {}, {colour, title}});
        }
        found->encodes.push_back(i);
    }
    set_styles(report);
}

void compare_ladders(const Resampling& resampling, Report* report) {
    for (size_t k = 0; k < report->ladders.size(); ++k) {
        const Ladder& ladder = report->ladders[k];
        const Ladder* const base = base_of(*report, ladder);
        if (base == nullptr) continue;
        for (const std::string& score : headline_scores(report->encodes[base->encodes[0]].log)) {
            if (better(score) == Better::kNeither) continue;
            LadderDifference each{k,
                                  base->name,
                                  score,
                                  rate_difference(points_of(*report, *base, score), points_of(*report, ladder, score),
                                                  better(score) == Better::kHigher),
                                  std::nullopt,
                                  "scenes"};
            if (each.difference.is_known) each.interval = rate_interval(*report, *base, ladder, score, resampling);
            if (report->encodes[base->encodes.front()].scenes.list.size() < kFewestScenes)
                each.drawn = "blocks of time";
            report->differences.push_back(std::move(each));
        }
    }
    add_averages(report);
}

} // namespace qc::cli
