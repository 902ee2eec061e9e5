// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "ffmpeg/title.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include "quality_cuda_run/counts.h"
#include "quality_cuda_run/pairs.h"
#include "words/failure.hpp"

namespace qc::cli {

namespace {

constexpr int64_t kSpareFrames = 8; ///< of another input, on either side of what the first one's frames ask for
constexpr double kMostTicks = 0x1p62, kMostFrames = 0x1p40; ///< a plan may be of a strange hand
constexpr int64_t kTailFrames = 8; ///< of an input that ends before a part begins: the part has to see that it does

/// a / b rounded up; b is above 0.
__int128 divide_up(__int128 a, __int128 b) {
    return a / b + (a % b > 0 ? 1 : 0);
}

/// The first tick of `to` that is not earlier than a tick of `from`.
int64_t not_earlier(const Clock& from, int64_t ticks, const Clock& to) {
    return static_cast<int64_t>(
        divide_up(static_cast<__int128>(ticks) * from.num * to.den, static_cast<__int128>(from.den) * to.num));
}

int64_t ticks_of(const Clock& clock, double seconds) {
    return static_cast<int64_t>(std::ceil(seconds * static_cast<double>(clock.den) / static_cast<double>(clock.num)));
}

int64_t mean_distance(const Input& input) {
    if (input.pts.size() < 2) return 1;
    return std::max<int64_t>(1, (input.pts.back() - input.pts.front()) / static_cast<int64_t>(input.pts.size() - 1));
}

/// A cut behind a key frame and the lead costs no decoding twice: taken, if one is near.
size_t cut_near(const Input& input, size_t target, size_t part_length, size_t lead) {
    size_t best = target, distance = part_length / 4;
    for (const KeyFrame& key : input.key_frames) {
        const auto at =
            static_cast<size_t>(std::lower_bound(input.pts.begin(), input.pts.end(), key.pts) - input.pts.begin());
        const size_t cut = at + lead, away = cut > target ? cut - target : target - cut;
        if (away >= distance) continue;
        best = cut;
        distance = away;
    }
    return best;
}

/// Where part k begins, as numbers of main frames; ends with their count.
std::vector<size_t> cuts_of(const Input& main, size_t parts, size_t lead) {
    std::vector<size_t> cuts{0};
    const size_t frames = main.pts.size(), length = frames / parts;
    for (size_t k = 1; k < parts; ++k) {
        const size_t cut = cut_near(main, frames * k / parts, length, lead);
        if (cut > cuts.back() + lead && cut + 1 < frames) cuts.push_back(cut);
    }
    cuts.push_back(frames);
    return cuts;
}

Stretch main_stretch(const Input& main, size_t first, size_t end, size_t lead) {
    Stretch stretch{.from = main.pts[first], .start = main.pts[first - std::min(first, lead)]};
    stretch.end = end < main.pts.size() ? main.pts[end] : main.pts.back() + 1;
    stretch.seek = seek_for(main, stretch.start);
    return stretch;
}

Stretch partner_stretch(const Input& main, const Stretch& of_main, const Input& input, double tolerance) {
    const int64_t spare = kSpareFrames * mean_distance(input) + 2 * ticks_of(input.clock, tolerance);
    const size_t tail = std::min(input.pts.size(), static_cast<size_t>(kTailFrames));
    Stretch stretch{.from = not_earlier(main.clock, of_main.from, input.clock)};
    stretch.start =
        std::min(not_earlier(main.clock, of_main.start, input.clock) - spare, input.pts[input.pts.size() - tail]);
    // What lies between is read too: the part has to see the last frame that is not its own.
    const auto own = std::lower_bound(input.pts.begin(), input.pts.end(), stretch.from);
    if (own != input.pts.begin()) stretch.start = std::min(stretch.start, *(own - 1));
    stretch.end = not_earlier(main.clock, of_main.end, input.clock) + spare;
    stretch.seek = seek_for(input, stretch.start);
    return stretch;
}

/// A wish as a plan has it.
struct Word {
    const char* name;
    std::string Wish::*member;
};
constexpr Word kWords[] = {{"metrics", &Wish::metrics},
                           {"model", &Wish::model},
                           {"feature", &Wish::feature},
                           {"opts", &Wish::opts},
                           {"scale", &Wish::scale},
                           {"roi", &Wish::roi},
                           {"on_unsupported", &Wish::on_unsupported},
                           {"backend", &Wish::backend},
                           {"scale_to", &Wish::scale_to},
                           {"bitdepth", &Wish::bitdepth},
                           {"align", &Wish::align},
                           {"sync", &Wish::sync},
                           {"range", &Wish::range},
                           {"convert", &Wish::convert},
                           {"crop", &Wish::crop},
                           {"eof_action", &Wish::eof_action},
                           {"film_grain", &Wish::film_grain},
                           {"container_crop", &Wish::container_crop}};

/// nlohmann makes numbers of each other, whatever is lost.
template <typename T>
T number_of(const nlohmann::json& entry, const char* key, double least, double most) {
    const auto& value = entry.at(key);
    const bool is_kind = std::is_integral_v<T> ? value.is_number_integer() : value.is_number();
    if (!is_kind) throw Failure(std::string(key) + (std::is_integral_v<T> ? " is no whole number" : " is no number"));
    if (!(value.get<double>() >= least && value.get<double>() <= most))
        throw Failure(std::string(key) + " is " + value.dump() + ", which no plan has");
    return value.get<T>();
}

/// A plan from before videos could be opened in another way, or titles cut, says nothing of that.
void set_inputs(const nlohmann::json& json, Title* title) {
    const size_t count = title->inputs.size();
    title->openings.assign(count, {});
    title->windows.assign(count, {});
    if (json.contains("openings")) json.at("openings").get_to(title->openings);
    if (json.contains("windows")) {
        title->windows.clear();
        for (const auto& each : json.at("windows")) {
            Window window{each.at("start"), each.at("end"), number_of<double>(each, "seek", -1, 1e9)};
            for (const std::string& text : {window.start, window.end})
                if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_=-.0123456789") != std::string::npos)
                    throw Failure("a window is none");
            title->windows.push_back(std::move(window));
        }
    }
    if (title->openings.size() != count || title->windows.size() != count)
        throw Failure("a title says of other inputs than it has how to open them");
}

/// Whether a run moves an input by less than a frame: it tells that from the first frames, which parts do not have.
bool are_moved(const std::vector<Input>& inputs) {
    qcr_pairs_config config{};
    config.rules.mends_delay = 1;
    config.rules.rate = 0;
    config.renditions = static_cast<int>(inputs.size()) - 1;
    config.rate_frames = QCR_RATE_FRAMES;
    for (size_t i = 0; i < std::min<size_t>(inputs.size(), QCR_MAX_INPUTS); ++i)
        config.clock[i] = {static_cast<int>(inputs[i].clock.num), static_cast<int>(inputs[i].clock.den), 0};
    std::vector<qcr_counts> counts(inputs.size());
    qcr_pairs* pairs = nullptr;
    if (inputs.size() > QCR_MAX_INPUTS || qcr_pairs_create(&config, counts.data(), &pairs) != QC_OK) return false;
    bool is_any_moved = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
        const std::vector<int64_t>& pts = inputs[i].pts;
        const auto index = static_cast<int>(i), count = static_cast<int>(std::min<size_t>(pts.size(), QCR_RATE_FRAMES));
        for (int wanted; (wanted = qcr_pairs_first_frames(pairs, index)) > 0;)
            qcr_pairs_show_first(pairs, index, pts.data(), std::min(wanted, count));
        is_any_moved |= qcr_pairs_input(pairs, index).delay != 0;
    }
    qcr_pairs_destroy(pairs);
    return is_any_moved;
}

/// Whether one of them was given a wrong frame rate, which a run finds out at its end.
bool has_other_length(const Input& main, const Input& other) {
    if (main.pts.size() != other.pts.size() || main.pts.size() < 2) return false;
    const auto span_of = [](const Input& input) {
        return static_cast<double>(input.pts.back() - input.pts.front()) * static_cast<double>(input.clock.num) /
               static_cast<double>(input.clock.den);
    };
    const double span = span_of(main);
    return std::fabs(span - span_of(other)) > span / static_cast<double>(main.pts.size()) / 4;
}

/// Why parts could not tell what a run tells of its inputs; empty: they can.
std::string why_told_whole(const std::vector<Input>& inputs) {
    if (are_moved(inputs))
        return inputs[0].path + ": it begins apart from another video by less than a frame, which a run mends";
    for (size_t i = 1; i < inputs.size(); ++i)
        if (has_other_length(inputs[0], inputs[i]))
            return inputs[i].path + ": it has as many frames as the other video, but another length";
    return "";
}

} // namespace

double seek_for(const Input& input, int64_t start) {
    auto key = std::upper_bound(input.key_frames.begin(), input.key_frames.end(), start,
                                [](int64_t pts, const KeyFrame& each) { return pts < each.pts; });
    if (key == input.key_frames.begin() || --key == input.key_frames.begin()) return -1;
    return key->seek_time > 0 ? key->seek_time : -1;
}

std::string whole_option(const Wish& wish) {
    // What is found out from the first pictures, or counted from the first frame, is another thing in each part.
    struct Whole {
        const char* name;
        const std::string& value;
        std::string_view parts_too{}; ///< a value that says the same of every frame
    };
    const Whole whole[] = {
        {"align", wish.align}, {"sync", wish.sync}, {"range", wish.range, "ignore"}, {"eof-action", wish.eof_action}};
    for (const Whole& each : whole)
        if (!each.value.empty() && each.value != each.parts_too)
            return std::string("--") + each.name + "=" + each.value;
    if (wish.crop == "auto") return "--crop=auto";
    return wish.allows_unpaired ? "--allow-unpaired" : "";
}

std::string why_undivided(const Title& title) {
    if (std::string option = whole_option(title.wish); !option.empty()) return option;
    for (const Opening& each : title.openings)
        if (!each.filter.empty()) return "filters before the scores (" + each.filter + ")";
    return "";
}

int64_t lead_frames(const Title& title) {
    const std::string wanted = title.wish.metrics + " " + title.wish.feature;
    const bool filters_in_time = wanted.find("cvvdp") != std::string::npos || wanted.find("all") != std::string::npos;
    if (!filters_in_time || title.frame_rate <= 0) return kLeadFrames;
    return kLeadFrames + 2 * static_cast<int64_t>(std::ceil(title.frame_rate / 8));
}

void divide(const std::vector<Input>& inputs, size_t wanted, int64_t shortest, Title* title) {
    title->parts.clear();
    const Input& main = inputs[0];
    const auto lead = static_cast<size_t>(lead_frames(*title));
    std::string why = why_undivided(*title);
    if (!why.empty() && wanted > 1) title->why_one_part = why;
    shortest = std::max(shortest, 2 * lead_frames(*title));
    size_t parts = std::max<size_t>(wanted, 1);
    for (const Input& input : inputs) {
        if (title->why_one_part.empty() && !input.why_whole.empty() && parts > 1)
            title->why_one_part = input.path + ": " + input.why_whole;
        if (!input.why_whole.empty() || input.pts.empty()) parts = 1;
    }
    if (parts > 1 && why.empty()) {
        why = why_told_whole(inputs);
        if (title->why_one_part.empty()) title->why_one_part = why;
    }
    if (title->frame_rate < 0 || !why.empty()) parts = 1;
    parts = std::min(parts, std::max<size_t>(1, main.pts.size() / static_cast<size_t>(shortest)));
    if (parts == 1) {
        title->parts.push_back(
            {std::vector<Stretch>(inputs.size()), true, true, static_cast<int64_t>(main.pts.size())});
        return;
    }
    const std::vector<size_t> cuts = cuts_of(main, parts, lead);
    for (size_t k = 0; k + 1 < cuts.size(); ++k) {
        Part part;
        part.is_first = k == 0;
        part.is_last = k + 2 == cuts.size();
        part.frames = static_cast<int64_t>(cuts[k + 1] - cuts[k] + std::min(cuts[k], lead));
        part.inputs.push_back(main_stretch(main, cuts[k], cuts[k + 1], lead));
        for (size_t i = 1; i < inputs.size(); ++i)
            part.inputs.push_back(partner_stretch(main, part.inputs[0], inputs[i], title->tolerance));
        title->parts.push_back(std::move(part));
    }
}

void to_json(nlohmann::json& json, const Title& title) {
    json = {{"inputs", title.inputs},
            {"log", title.log},
            {"n_subsample", title.wish.n_subsample},
            {"max_dt", title.wish.max_dt},
            {"frame_rate", title.frame_rate},
            {"tolerance", title.tolerance}};
    for (const Word& word : kWords)
        if (const std::string& value = title.wish.*word.member; !value.empty()) json[word.name] = value;
    if (title.wish.allows_unpaired) json["allow_unpaired"] = true;
    json["openings"] = title.openings;
    json["windows"] = nlohmann::json::array();
    for (const Window& each : title.windows)
        json["windows"].push_back({{"start", each.start}, {"end", each.end}, {"seek", each.seek}});
    json["parts"] = nlohmann::json::array();
    for (const Part& part : title.parts) {
        nlohmann::json list = nlohmann::json::array();
        for (const Stretch& each : part.inputs)
            list.push_back({{"from", each.from}, {"start", each.start}, {"end", each.end}, {"seek", each.seek}});
        json["parts"].push_back(
            {{"inputs", list}, {"first", part.is_first}, {"last", part.is_last}, {"frames", part.frames}});
    }
}

void from_json(const nlohmann::json& json, Title& title) {
    json.at("inputs").get_to(title.inputs);
    json.at("log").get_to(title.log);
    title.wish.n_subsample = number_of<int>(json, "n_subsample", 1, 1e6);
    title.wish.max_dt = number_of<double>(json, "max_dt", 0, 1e6);
    title.frame_rate = number_of<double>(json, "frame_rate", -1, 1e9);
    title.tolerance = number_of<double>(json, "tolerance", 0, 1e9);
    if (title.inputs.size() < 2) throw Failure("a title has no reference");
    for (const Word& word : kWords) title.wish.*word.member = json.value(word.name, "");
    title.wish.allows_unpaired = json.value("allow_unpaired", false);
    set_inputs(json, &title);
    for (const auto& entry : json.at("parts")) {
        Part part;
        for (const auto& each : entry.at("inputs"))
            part.inputs.push_back({number_of<int64_t>(each, "from", -kMostTicks, kMostTicks),
                                   number_of<int64_t>(each, "start", -kMostTicks, kMostTicks),
                                   number_of<int64_t>(each, "end", -kMostTicks, kMostTicks),
                                   number_of<double>(each, "seek", -1, 1e9)});
        entry.at("first").get_to(part.is_first);
        entry.at("last").get_to(part.is_last);
        part.frames = number_of<int64_t>(entry, "frames", 0, kMostFrames);
        if (part.inputs.size() != title.inputs.size()) throw Failure("a part has other inputs than its title");
        title.parts.push_back(std::move(part));
    }
    if (title.parts.empty()) throw Failure("a title has no parts");
}

} // namespace qc::cli
