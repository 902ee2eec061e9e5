// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "scores.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "failure.hpp"

namespace qc::cli {

namespace {

constexpr int kDeepest = 16;                      ///< a log of the filter has six levels
constexpr double kLastFrame = 9007199254740992.0; ///< 2^53: beyond it numbers of frames are no longer exact
constexpr double kLargestScore = 1e15;            ///< cubes and sums of such are still finite
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
const char* const kAccepted = "a log with frames is accepted, as the filter writes it with log_fmt=json";

/// Takes frames as they are parsed, so that a long log is never in memory as JSON.
class Reader {
public:
    explicit Reader(const std::string& path) { log_.path = path; }

    bool take(int depth, Json::parse_event_t event, const Json& value) {
        if (depth > kDeepest) throw Failure(log_.path + " nests deeper than any log: " + kAccepted);
        if (depth == 1 && event == Json::parse_event_t::key) in_frames_ = value == "frames";
        if (!in_frames_ || depth != 2) return true;
        if (event == Json::parse_event_t::value) throw Failure(where() + " is no object: " + kAccepted);
        if (event != Json::parse_event_t::object_end) return true;
        add(value);
        return false;
    }

    ScoreLog finish(Json head) {
        if (!head.is_object()) throw Failure(log_.path + " is no object: " + kAccepted);
        if (head.contains("type") && !head.contains("frames"))
            throw Failure(log_.path + " has lines of JSON (log_fmt=jsonl): " + kAccepted);
        if (!member(head, "frames").is_array()) throw Failure(log_.path + " has no frames: " + kAccepted);
        head.erase("frames");
        log_.head = std::move(head);
        if (log_.frames.empty()) throw Failure(log_.path + " has no frames with scores: nothing can be shown of it");
        if (log_.scores.empty()) throw Failure(log_.path + " has frames without any score: nothing can be shown of it");
        for (Scores& each : log_.scores) each.values.resize(log_.frames.size(), kNone);
        return std::move(log_);
    }

private:
    std::string where() const { return log_.path + ": frame " + std::to_string(log_.frames.size()) + " of the list"; }

    void add(const Json& frame) {
        const Json& number = member(frame, "frameNum");
        if (!number.is_number_integer() || number.get<double>() < 0 || number.get<double>() > kLastFrame)
            throw Failure(where() + " has no frameNum that is a whole number from 0 on");
        const auto n = number.get<int64_t>();
        if (!log_.frames.empty() && n <= log_.frames.back())
            throw Failure(where() + " has frameNum " + std::to_string(n) + " behind " +
                          std::to_string(log_.frames.back()) + ": frames have to ascend");
        const Json& metrics = member(frame, "metrics");
        if (!metrics.is_object()) throw Failure(where() + " has no object \"metrics\"");
        size_t expected = 0;
        for (const auto& [name, value] : metrics.items()) {
            if (!value.is_number() && !value.is_null()) throw Failure(where() + ": " + name + " is no number");
            const double score = value.is_null() ? kNone : value.get<double>();
            if (std::fabs(score) > kLargestScore)
                throw Failure(where() + ": " + name + " is beyond 1e15, which is no score of the filter");
            std::vector<double>& values = column(name, expected++);
            values.resize(log_.frames.size(), kNone);
            values.push_back(score);
        }
        log_.frames.push_back(n);
    }

    std::vector<double>& column(const std::string& name, size_t expected) {
        if (expected < log_.scores.size() && log_.scores[expected].name == name) return log_.scores[expected].values;
        for (Scores& each : log_.scores)
            if (each.name == name) return each.values;
        log_.scores.push_back({name, {}});
        return log_.scores.back().values;
    }

    ScoreLog log_;
    bool in_frames_ = false;
};

bool begins_with(const std::string& text, const char* start) {
    return text.rfind(start, 0) == 0;
}

template <size_t N>
bool begins_with_one_of(const std::string& text, const char* const (&starts)[N]) {
    return std::any_of(std::begin(starts), std::end(starts), [&](const char* each) { return begins_with(text, each); });
}

/// Features of the built-in models, under the names that logs have for them.
bool is_feature(const std::string& score) {
    static constexpr const char* kStarts[] = {"integer_", "VMAF_", "adm", "aim", "vif_scale", "motion", "float_moment"};
    return begins_with_one_of(score, kStarts);
}

} // namespace

const Scores* ScoreLog::find(const std::string& name) const {
    const auto found =
        std::find_if(scores.begin(), scores.end(), [&](const Scores& each) { return each.name == name; });
    return found == scores.end() ? nullptr : &*found;
}

double ScoreLog::frame_rate() const {
    const double rate = number_of(member(head, "pairing"), "frame_rate", 0);
    return rate > 0 && rate < 1e6 ? rate : 0;
}

double ScoreLog::pooled(const std::string& score, const char* pool) const {
    return number_of(member(member(head, "pooled_metrics"), score.c_str()), pool, kNone);
}

double ScoreLog::mean(const std::string& score) const {
    const double logged = pooled(score, "mean");
    const Scores* const column = find(score);
    if (!std::isnan(logged) || column == nullptr) return logged;
    double sum = 0, count = 0;
    for (const double value : column->values)
        if (!std::isnan(value)) {
            sum += value;
            ++count;
        }
    return count > 0 ? sum / count : kNone;
}

ScoreLog read_scores(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) throw Failure(path + " is a folder: " + kAccepted);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Failure(path + " cannot be read: " + std::strerror(errno));
    if (file.peek() == std::ifstream::traits_type::eof()) throw Failure(path + " is empty: " + kAccepted);
    Reader reader(path);
    try {
        Json head = Json::parse(
            file, [&](int depth, Json::parse_event_t event, Json& value) { return reader.take(depth, event, value); });
        return reader.finish(std::move(head));
    } catch (const Json::parse_error& mistake) {
        file.clear();
        file.seekg(0);
        std::string line;
        std::getline(file, line);
        // Lines of JSON are JSON up to the second one.
        if (const Json first = Json::parse(line, nullptr, false); first.is_object() && first.contains("type"))
            throw Failure(path + " has lines of JSON (log_fmt=jsonl): " + kAccepted);
        throw Failure(path + " is no JSON from byte " + std::to_string(mistake.byte) +
                      " on, or ends there too early: " + kAccepted);
    } catch (const Json::exception&) {
        throw Failure(path + " has a number that no computer can hold: " + kAccepted);
    }
}

const Json& member(const Json& object, const char* key) {
    static const Json kNull;
    if (!object.is_object()) return kNull;
    const auto found = object.find(key);
    return found == object.end() ? kNull : *found;
}

std::string text_of(const Json& object, const char* key) {
    const Json& value = member(object, key);
    return value.is_string() ? value.get<std::string>() : "";
}

double number_of(const Json& object, const char* key, double otherwise) {
    const Json& value = member(object, key);
    return value.is_number() ? value.get<double>() : otherwise;
}

int64_t count_of(const Json& object, const char* key) {
    const double value = number_of(object, key, 0);
    return value > -kLastFrame && value < kLastFrame ? static_cast<int64_t>(value) : 0;
}

std::vector<std::string> headline_scores(const ScoreLog& log) {
    std::vector<std::string> names;
    const Json& models = member(log.head, "models");
    const auto add = [&](const std::string& name) {
        if (log.find(name) != nullptr && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    };
    if (models.is_array())
        for (const Json& model : models) add(text_of(model, "name"));
    if (log.find("vmaf") != nullptr) add("vmaf"); // libvmaf's own logs have no list of models
    for (const Scores& each : log.scores)
        if (!is_feature(each.name)) add(each.name);
    if (names.empty())
        for (const Scores& each : log.scores) add(each.name);
    return names;
}

Better better(const std::string& score) {
    static constexpr const char* kNeither[] = {"motion",       "integer_motion", "VMAF_integer_feature_motion",
                                               "float_moment", "cambi_source",   "float_motion"};
    static constexpr const char* kLower[] = {"mse_", "cambi",       "speed_",     "integer_aim",
                                             "aim",  "butteraugli", "cvvdp_frame"};
    if (begins_with_one_of(score, kNeither) || score.find("_ci_p95_") != std::string::npos ||
        (score.size() > 7 && score.compare(score.size() - 7, 7, "_stddev") == 0))
        return Better::kNeither;
    return begins_with_one_of(score, kLower) ? Better::kLower : Better::kHigher;
}

std::string fixed(double value, int decimals) {
    if (!std::isfinite(value)) return "-";
    std::array<char, 400> text{}; // the largest double has 309 digits
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return text.data();
}

std::string signed_text(double value, int decimals) {
    return (value > 0 ? "+" : "") + fixed(value, decimals);
}

std::string percent_text(double share) {
    return fixed(100 * share, 1) + " %";
}

std::vector<std::string> split_names(const std::string& text, char separator, const char* option) {
    std::vector<std::string> names;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(separator, at), text.size());
        names.push_back(text.substr(at, end - at));
        if (names.back().empty())
            throw Failure(std::string(option) + "=" + text + ": one of the names is empty; names joined by '" +
                              separator + "' are accepted",
                          kMisused);
        at = end + 1;
    }
    return names;
}

} // namespace qc::cli
