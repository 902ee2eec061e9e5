// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "ffmpeg/title.hpp"
#include "process/process.hpp"
#include "words/failure.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr double kRounding = 1e-6;         ///< seconds: logs have six decimals
constexpr double kDistanceRounding = 2e-6; ///< seconds: of logged distances, and of stamps that enter into them
constexpr int64_t kMostFrames = 4'000'000; ///< two days: a log may claim what it likes

double seconds_of(const Input& input, size_t index) {
    return static_cast<double>(input.pts[index]) * static_cast<double>(input.clock.num) /
           static_cast<double>(input.clock.den);
}

Place place_of(const Input& input, size_t index) {
    if (!input.why_whole.empty()) return {index, std::nullopt, -1};
    return {index, input.pts[index], seek_for(input, input.pts[index])};
}

/// The first frame that is later than a time, or as late.
size_t first_from(const Input& input, double seconds) {
    size_t low = 0, high = input.pts.size();
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (seconds_of(input, middle) < seconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// The frame nearest to a time, if it is near enough.
std::optional<size_t> nearest(const Input& input, double seconds, double tolerance) {
    size_t found = first_from(input, seconds);
    if (found > 0 &&
        (found == input.pts.size() || seconds - seconds_of(input, found - 1) <= seconds_of(input, found) - seconds))
        --found;
    if (found >= input.pts.size() || std::fabs(seconds_of(input, found) - seconds) > tolerance + kRounding)
        return std::nullopt;
    return found;
}

/// The newest frame that is not later, if it is near enough; 0: however far.
std::optional<size_t> newest(const Input& input, double seconds, double tolerance) {
    const size_t behind = first_from(input, std::nextafter(seconds, INFINITY));
    if (behind == 0) return std::nullopt;
    const double distance = seconds - seconds_of(input, behind - 1);
    return tolerance > 0 && distance > tolerance + kRounding ? std::nullopt : std::optional<size_t>(behind - 1);
}

/// Values of the filter's option `sync`.
enum class Sync { kNearest, kIndex, kFloor };
constexpr Sync kSyncs[] = {Sync::kNearest, Sync::kIndex, Sync::kFloor};

using Partners = std::vector<std::optional<size_t>>; ///< of each main frame

Partners partners_of(const Input& main, const Input& other, Sync sync, double tolerance, double shift) {
    Partners partners;
    for (size_t i = 0; i < main.pts.size(); ++i) {
        const double seconds = seconds_of(main, i) - shift;
        if (sync == Sync::kNearest)
            partners.push_back(nearest(other, seconds, tolerance));
        else if (sync == Sync::kFloor)
            partners.push_back(newest(other, seconds, tolerance));
        else
            partners.push_back(i < other.pts.size() ? std::optional<size_t>(i) : std::nullopt);
    }
    return partners;
}

/// What a log counts of its pairs.
struct Counts {
    int64_t paired = 0, repeated = 0, unused = 0;
    double largest = 0, mean = 0; ///< distance in seconds
};

Counts counts_of(const Input& main, const Input& other, const Partners& partners, double shift) {
    Counts counts;
    std::vector<bool> is_used(other.pts.size());
    for (size_t i = 0; i < partners.size(); ++i) {
        if (!partners[i]) continue;
        const double distance = seconds_of(main, i) - shift - seconds_of(other, *partners[i]);
        ++counts.paired;
        counts.largest = std::max(counts.largest, std::fabs(distance));
        counts.mean += distance;
        counts.repeated += is_used[*partners[i]] ? 1 : 0;
        is_used[*partners[i]] = true;
    }
    counts.unused = std::count(is_used.begin(), is_used.end(), false);
    if (counts.paired > 0) counts.mean /= static_cast<double>(counts.paired);
    return counts;
}

/// @param is_main else the log is of a further rendition, and has but these two of the main one's
bool agree(const Counts& counts, const Json& pairing, bool is_main) {
    if (counts.repeated != count_of(pairing, "reference_repeated") ||
        counts.unused != count_of(pairing, "reference_unused"))
        return false;
    const auto is_near = [&](const char* key, double value) {
        const double logged = number_of(pairing, key, NAN);
        return std::isnan(logged) || std::fabs(std::fabs(logged) - std::fabs(value)) <= kDistanceRounding;
    };
    return !is_main || (counts.paired == count_of(pairing, "paired") && is_near("max_abs_dt", counts.largest) &&
                        is_near("mean_dt", counts.mean));
}

/// The partners that the log tells of; empty: no rule makes such.
Partners reference_partners(const Input& main, const Input& reference, const Json& pairing, double shift,
                            bool is_main) {
    const double tolerance = number_of(pairing, "max_dt", 0);
    for (const Sync sync : kSyncs) {
        Partners partners = partners_of(main, reference, sync, tolerance, shift);
        if (agree(counts_of(main, reference, partners, shift), pairing, is_main)) return partners;
    }
    return {};
}

/// The logs' numbers count main frames with a partner.
void take_logged(const Encode& encode, const std::vector<Place>& distorted, const std::vector<Place>& reference,
                 PairPlaces* places) {
    for (const int64_t frame : encode.log.frames) {
        if (static_cast<size_t>(frame) >= reference.size()) {
            places->why_not = "its files have fewer pairs than the log";
            return;
        }
        places->distorted.push_back(distorted[static_cast<size_t>(frame)]);
        places->reference.push_back(reference[static_cast<size_t>(frame)]);
    }
}

/// Without time stamps frame by frame, which is right only where nothing is missing.
void pair_by_number(const Encode& encode, const Json& pairing, PairPlaces* places) {
    const int64_t frames = count_of(pairing, "frames");
    if (frames <= 0 || frames > kMostFrames || frames != count_of(pairing, "paired") ||
        count_of(pairing, "reference_unused") != 0 || count_of(pairing, "reference_repeated") != 0 ||
        encode.rendition > 0) {
        places->why_not = "its files have no time stamps for every frame, and its pairs are not one by one";
        return;
    }
    std::vector<Place> numbered;
    for (int64_t n = 0; n < frames; ++n) numbered.push_back({static_cast<size_t>(n), std::nullopt, -1});
    take_logged(encode, numbered, numbered, places);
}

std::string counts_text(int64_t paired, int64_t repeated, int64_t unused, double largest, double mean) {
    return std::to_string(paired) + " pairs, " + std::to_string(repeated) + " frames of the reference used again, " +
           std::to_string(unused) + " not used, distances up to " + fixed(largest, 6) + " s and " + fixed(mean, 6) +
           " s on average";
}

/// That no rule makes the log's pairs, and how the usual one fails.
std::string no_such_pairs(const Input& main, const Input& reference, const Json& pairing, double shift) {
    const Partners usual = partners_of(main, reference, Sync::kNearest, number_of(pairing, "max_dt", 0), shift);
    const Counts counts = counts_of(main, reference, usual, shift);
    return "its files make other pairs than the log has, by whatever sync: " +
           counts_text(counts.paired, counts.repeated, counts.unused, counts.largest, counts.mean) +
           " by nearest stamps, and the log has " +
           counts_text(count_of(pairing, "paired"), count_of(pairing, "reference_repeated"),
                       count_of(pairing, "reference_unused"), number_of(pairing, "max_abs_dt", NAN),
                       number_of(pairing, "mean_dt", NAN)) +
           "; other files, or filters before the scorer that change stamps or frames, do that";
}

void pair_by_time(const Encode& encode, const Json& pairing, Files* files, PairPlaces* places) {
    const Input &main = files->input(encode.main), &reference = files->input(encode.reference),
                &distorted = files->input(encode.distorted);
    // A further rendition's own correction is its own time's, not that of its reference.
    const double delay = encode.rendition == 0 ? number_of(pairing, "start_correction", 0) : 0;
    const double shift = number_of(member(member(encode.log.head, "alignment"), "auto"), "seconds", 0) + delay;
    const Partners partners = reference_partners(main, reference, pairing, shift, encode.rendition == 0);
    if (partners.empty()) {
        places->why_not = no_such_pairs(main, reference, pairing, shift);
        return;
    }
    const double tolerance = number_of(pairing, "max_dt", 0);
    std::vector<Place> of_distorted, of_reference;
    int64_t paired = 0;
    for (size_t i = 0; i < main.pts.size(); ++i) {
        if (!partners[i]) continue;
        const auto own = encode.rendition == 0 ? std::optional<size_t>(i)
                                               : nearest(distorted, seconds_of(main, i) - shift, tolerance);
        paired += own ? 1 : 0;
        of_distorted.push_back(own ? place_of(distorted, *own) : Place{});
        of_reference.push_back(place_of(reference, *partners[i]));
    }
    if (const int64_t logged = count_of(pairing, "paired"); paired != logged)
        places->why_not =
            "its files make " + std::to_string(paired) + " pairs, and the log has " + std::to_string(logged);
    else
        take_logged(encode, of_distorted, of_reference, places);
}

/// Lines of JSON have the stamps of both frames.
void pair_by_stamps(const Encode& encode, Files* files, PairPlaces* places) {
    const Input &distorted = files->input(encode.distorted), &reference = files->input(encode.reference);
    if (encode.rendition > 0) {
        places->why_not = "lines of JSON do not say which of its frames were scored";
        return;
    }
    for (size_t i = 0; i < encode.log.frames.size(); ++i) {
        const auto own = nearest(distorted, encode.log.times[i], 0),
                   partner = nearest(reference, encode.log.reference_times[i], 0);
        if (!own || !partner) {
            places->why_not = (own ? encode.reference : encode.distorted) + " has no frame at " +
                              fixed(own ? encode.log.reference_times[i] : encode.log.times[i], 6) +
                              " s, where the log has frame " + std::to_string(encode.log.frames[i]) +
                              ": filters before the scorer that change stamps do that";
            return;
        }
        places->distorted.push_back(place_of(distorted, *own));
        places->reference.push_back(place_of(reference, *partner));
    }
}

} // namespace

const Input& Files::input(const std::string& path) {
    const auto found = known_.find(path);
    return found != known_.end() ? found->second : known_.emplace(path, probe(tools_, path)).first->second;
}

void Files::read(const std::vector<std::string>& paths, const std::function<void()>& done) {
    const size_t at_once = std::max<size_t>(1, std::thread::hardware_concurrency());
    for (size_t begin = 0; begin < paths.size(); begin += at_once) {
        std::vector<std::pair<std::string, std::future<Input>>> probes;
        for (size_t i = begin; i < std::min(begin + at_once, paths.size()); ++i)
            if (known_.count(paths[i]) == 0)
                probes.emplace_back(
                    paths[i], std::async(std::launch::async, [this, path = paths[i]] { return probe(tools_, path); }));
        for (auto& [path, found] : probes) {
            try {
                known_.emplace(path, found.get());
            } catch (const Failure&) {
                if (was_interrupted()) throw;
            }
            done();
        }
    }
}

PairPlaces pair_places(const Encode& encode, Files* files) {
    PairPlaces places;
    if (encode.distorted.empty() || encode.reference.empty() || encode.main.empty()) {
        places.why_not = !encode.why_no_file.empty()
                             ? encode.why_no_file
                             : "its files are not known (--reference and --distorted name them, or --plan)";
        return places;
    }
    for (const std::string& path : {encode.main, encode.reference, encode.distorted})
        if (std::error_code error; !std::filesystem::is_regular_file(path, error)) {
            places.why_not = path + " is no file here";
            return places;
        }
    const Json& pairing = member(encode.log.head, "pairing");
    if (encode.log.times.empty() && !member(pairing, "paired").is_number()) {
        places.why_not = "its log does not say how frames were paired";
        return places;
    }
    try {
        bool has_times = true;
        for (const std::string& path : {encode.main, encode.reference, encode.distorted})
            has_times = has_times && !files->input(path).pts.empty();
        if (has_times && !encode.log.times.empty())
            pair_by_stamps(encode, files, &places);
        else if (has_times)
            pair_by_time(encode, pairing, files, &places);
        else
            pair_by_number(encode, pairing, &places);
    } catch (const Failure& failure) { // a report without pictures is a report
        if (was_interrupted()) throw;
        places.why_not = failure.what();
    }
    return places;
}

} // namespace qc::cli
