// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "pairs.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "failure.hpp"
#include "process.hpp"
#include "title.hpp"

namespace qc::cli {

namespace {

constexpr double kRounding = 1e-6;           ///< seconds: logs have six decimals
constexpr int64_t kMostFrames = 100'000'000; ///< a log may claim what it likes

double seconds_of(const Input& input, size_t index) {
    return static_cast<double>(input.pts[index]) * static_cast<double>(input.clock.num) /
           static_cast<double>(input.clock.den);
}

Place place_of(const Input& input, size_t index) {
    if (!input.why_whole.empty()) return {index, std::nullopt, -1};
    return {index, input.pts[index], seek_for(input, input.pts[index])};
}

/// The frame nearest to a time, if it is near enough.
std::optional<size_t> nearest(const Input& input, double seconds, double tolerance) {
    size_t low = 0, high = input.pts.size();
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (seconds_of(input, middle) < seconds)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 &&
        (low == input.pts.size() || seconds - seconds_of(input, low - 1) <= seconds_of(input, low) - seconds))
        --low;
    if (low >= input.pts.size() || std::fabs(seconds_of(input, low) - seconds) > tolerance + kRounding)
        return std::nullopt;
    return low;
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
    for (int64_t n = 0; n < frames; ++n) {
        places->distorted.push_back({static_cast<size_t>(n), std::nullopt, -1});
        places->reference.push_back({static_cast<size_t>(n), std::nullopt, -1});
    }
}

void pair_by_time(const Encode& encode, const Json& pairing, Files* files, PairPlaces* places) {
    const Input &main = files->input(encode.main), &reference = files->input(encode.reference),
                &distorted = files->input(encode.distorted);
    const double tolerance = number_of(pairing, "max_dt", 0),
                 shift = number_of(member(member(encode.log.head, "alignment"), "auto"), "seconds", 0);
    int64_t paired = 0;
    for (size_t i = 0; i < main.pts.size(); ++i) {
        const double seconds = seconds_of(main, i) - shift;
        const auto partner = nearest(reference, seconds, tolerance);
        if (!partner) continue;
        const auto own = encode.rendition == 0 ? std::optional<size_t>(i) : nearest(distorted, seconds, tolerance);
        paired += own ? 1 : 0;
        places->distorted.push_back(own ? place_of(distorted, *own) : Place{});
        places->reference.push_back(place_of(reference, *partner));
    }
    if (paired != count_of(pairing, "paired"))
        places->why_not = "its files make " + std::to_string(paired) + " pairs, and the log has " +
                          std::to_string(count_of(pairing, "paired"));
}

} // namespace

const Input& Files::input(const std::string& path) {
    const auto found = known_.find(path);
    return found != known_.end() ? found->second : known_.emplace(path, probe(tools_, path)).first->second;
}

PairPlaces pair_places(const Encode& encode, Files* files) {
    PairPlaces places;
    if (encode.distorted.empty() || encode.reference.empty() || encode.main.empty()) {
        places.why_not = "its files are not known (--reference and --distorted name them, or --plan)";
        return places;
    }
    for (const std::string& path : {encode.main, encode.reference, encode.distorted})
        if (std::error_code error; !std::filesystem::is_regular_file(path, error)) {
            places.why_not = path + " is no file here";
            return places;
        }
    const Json& pairing = member(encode.log.head, "pairing");
    if (!pairing.is_object()) {
        places.why_not = "its log does not say how frames were paired";
        return places;
    }
    try {
        bool has_times = true;
        for (const std::string& path : {encode.main, encode.reference, encode.distorted})
            has_times = has_times && !files->input(path).pts.empty();
        if (has_times)
            pair_by_time(encode, pairing, files, &places);
        else
            pair_by_number(encode, pairing, &places);
    } catch (const Failure& failure) { // a report without pictures is a report
        if (was_interrupted()) throw;
        places.why_not = failure.what();
    }
    if (places.why_not.empty() && static_cast<size_t>(encode.log.frames.back()) >= places.distorted.size())
        places.why_not = "its files have fewer pairs than the log";
    return places;
}

} // namespace qc::cli
