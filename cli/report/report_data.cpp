// SPDX-License-Identifier: BSD-2-Clause-Patent
// Scores for the page's plots. A series of every frame is 32-bit integers, millionths, which hold the log's six
// decimals exactly; what does not fit is doubles. Where there would be too much of it, features of models are means,
// minima and maxima of some frames each.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "report/html.hpp"
#include "report/plot.hpp"
#include "report/report_sections.hpp"

namespace qc::cli {

namespace {

static_assert(std::endian::native == std::endian::little); // as typed arrays of browsers are

constexpr size_t kMostValues = 8'000'000; ///< 43 MB as base64
constexpr double kMillion = 1e6;
constexpr int32_t kMissing = INT32_MIN;

struct Series {
    size_t encode = 0;
    const Scores* scores = nullptr;
    bool is_headline = false;
    size_t step = 1;
};

template <typename T>
void append(const T& value, std::string* bytes) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes->append(raw, sizeof(T));
}

bool fits_millionths(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(),
                       [](double value) { return std::isnan(value) || std::fabs(value) * kMillion < 2147483647.0; });
}

std::string bytes_of(const std::vector<double>& values, bool as_millionths) {
    std::string bytes;
    for (const double value : values) {
        if (!as_millionths)
            append(value, &bytes);
        else
            append(std::isnan(value) ? kMissing : static_cast<int32_t>(std::lround(value * kMillion)), &bytes);
    }
    return bytes;
}

/// Means of `step` values each, then their minima, then their maxima.
std::vector<double> reduced(const std::vector<double>& values, size_t step) {
    const size_t count = (values.size() + step - 1) / step;
    std::vector<double> result(3 * count, NAN);
    for (size_t k = 0; k < count; ++k) {
        double sum = 0, present = 0, low = INFINITY, high = -INFINITY;
        for (size_t i = k * step; i < std::min(values.size(), (k + 1) * step); ++i) {
            if (std::isnan(values[i])) continue;
            sum += values[i];
            ++present;
            low = std::min(low, values[i]);
            high = std::max(high, values[i]);
        }
        if (present == 0) continue;
        result[k] = sum / present;
        result[count + k] = low;
        result[2 * count + k] = high;
    }
    return result;
}

size_t size_of(const std::vector<Series>& list, bool headline) {
    size_t sum = 0;
    for (const Series& each : list)
        if (each.is_headline == headline) sum += each.scores->values.size();
    return sum;
}

/// The least power of two that makes three values of each `step` fit.
size_t step_for(size_t values, size_t room) {
    if (values <= room) return 1;
    size_t step = 4;
    while (3 * (values / step) > room) step *= 2;
    return step;
}

std::vector<Series> all_series(const Report& report) {
    std::vector<Series> list;
    for (size_t i = 0; i < report.encodes.size(); ++i) {
        const std::vector<std::string> headline = headline_scores(report.encodes[i].log);
        for (const Scores& each : report.encodes[i].log.scores)
            list.push_back({i, &each, std::find(headline.begin(), headline.end(), each.name) != headline.end(), 1});
    }
    const size_t first = size_of(list, true), headline_step = step_for(first, kMostValues / 2),
                 left = kMostValues - std::min(first, kMostValues / 2),
                 other_step = step_for(size_of(list, false), left);
    for (Series& each : list) each.step = each.is_headline ? headline_step : other_step;
    return list;
}

std::string data_script(const std::string& id, const std::string& bytes) {
    return "<script type=\"text/plain\" id=\"" + id + "\">" + base64(bytes) + "</script>\n";
}

Json json_of_series(const Series& series, const std::string& id, std::string* scripts) {
    const std::vector<double> values =
        series.step == 1 ? series.scores->values : reduced(series.scores->values, series.step);
    const bool as_millionths = fits_millionths(values);
    *scripts += data_script(id, bytes_of(values, as_millionths));
    return {{"encode", series.encode},
            {"score", series.scores->name},
            {"id", id},
            {"kind", as_millionths ? "millionths" : "doubles"},
            {"step", series.step},
            {"headline", series.is_headline}};
}

/// Frames are told by their distance where that is always the same.
Json json_of_frames(const std::vector<int64_t>& frames, const std::string& id, std::string* scripts) {
    const int64_t stride = frames.size() > 1 ? frames[1] - frames[0] : 1;
    bool is_even = true;
    for (size_t i = 1; i < frames.size(); ++i) is_even = is_even && frames[i] - frames[i - 1] == stride;
    if (is_even) return {{"first", frames.front()}, {"stride", stride}, {"count", frames.size()}};
    *scripts += data_script(id, bytes_of(std::vector<double>(frames.begin(), frames.end()), false));
    return {{"id", id}, {"count", frames.size()}};
}

/// The name of its key frames' script; null: they are not known.
Json keys_of(const Encode& encode, size_t number, std::string* scripts) {
    if (encode.key_frames.empty()) return {};
    const std::string id = "keys" + std::to_string(number);
    *scripts += data_script(id, bytes_of(encode.key_frames, false));
    return id;
}

Json json_of_encode(const Encode& encode, size_t number, std::string* scripts) {
    Json means = Json::object();
    for (const std::string& score : headline_scores(encode.log)) {
        const double mean = encode.log.mean(score);
        means[score] = std::isfinite(mean) ? Json(mean) : Json();
    }
    return {{"label", encode.label},
            {"rate", encode.log.frame_rate()},
            {"kbits", encode.bit_rate > 0 ? Json(encode.bit_rate / 1000) : Json()},
            {"colour", encode.style.colour},
            {"dash", encode.style.dash},
            {"keys", keys_of(encode, number, scripts)},
            {"frames", json_of_frames(encode.log.frames, "frames" + std::to_string(number), scripts)},
            {"means", means}};
}

} // namespace

std::string data_scripts(const Report& report) {
    std::string scripts;
    Json index = {{"score", report.score},   {"dashes", kDashes},      {"encodes", Json::array()},
                  {"series", Json::array()}, {"rates", Json::array()}, {"ladders", Json::array()}};
    for (size_t i = 0; i < report.encodes.size(); ++i)
        index["encodes"].push_back(json_of_encode(report.encodes[i], i, &scripts));
    size_t number = 0;
    const std::vector<Series> all = all_series(report);
    for (const Series& each : all)
        index["series"].push_back(json_of_series(each, "series" + std::to_string(number++), &scripts));
    for (size_t i = 0; i < report.encodes.size(); ++i)
        if (const Encode& each = report.encodes[i]; !each.rates.values.empty())
            index["rates"].push_back(
                json_of_series({i, &each.rates, false, all.front().step}, "rates" + std::to_string(i), &scripts));
    for (const Ladder& each : report.ladders)
        index["ladders"].push_back(
            {{"name", each.name + (report.titles.size() > 1 ? ", " + report.titles[each.title] : "")},
             {"encodes", each.encodes},
             {"colour", each.style.colour},
             {"dash", each.style.dash}});
    return scripts + "<script type=\"application/json\" id=\"index\">" + script_json(index) + "</script>\n";
}

} // namespace qc::cli
