// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "verify/checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "quality_cuda_run/engine.h"
#include "results/results.hpp"
#include "words/text.hpp"

namespace qc::cli {

namespace {

constexpr double kHalfDigit = 0.5e-6; ///< what a printed score may be away from the score
constexpr const char* kPools[] = {"min", "max", "mean", "harmonic_mean", "p1", "p5", "p10", "p50", "stddev"};

std::string count_text(size_t count, const char* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// By how much a pooled value may differ from that of the printed scores: both are rounded. A mean, percentile or
/// standard deviation moves by no more than the scores do, a harmonic mean where scores are small by more.
double tolerance_of(const std::vector<double>& values, const std::string& pool, double pooled) {
    if (pool == "min" || pool == "max") return 0;
    double growth = 1;
    if (pool == "harmonic_mean") {
        growth = 0;
        for (const double each : values) growth += std::pow((pooled + 1) / (each + 1), 2);
        growth = std::max(growth / static_cast<double>(values.size()), 1.0);
    }
    constexpr double kSums = 1e-12; // sums of doubles, in whatever order
    return kHalfDigit * (1 + growth) + kSums * std::abs(pooled) + 1e-12;
}

/// The largest distance from the printed value at which they still agree is 0: what is beyond it; NaN: not comparable.
bool agrees(const std::vector<double>& values, const std::string& pool, double logged, double* expected) {
    *expected = pool_of(values, pool);
    if (!std::isfinite(*expected) || !std::isfinite(logged)) return true; // JSON has no word for it
    return std::abs(*expected - logged) <= tolerance_of(values, pool, *expected);
}

std::string sha256_of_model(const std::string& model) {
    std::array<char, 65> text{};
    return qc_model_checksum(model.c_str(), text.data(), text.size()) == QC_OK ? text.data() : "";
}

bool is_builtin(const std::string& checksum) {
    for (int i = 0; qc_model_name(i) != nullptr; ++i)
        if (sha256_of_model(qc_model_name(i)) == checksum) return true;
    return false;
}

} // namespace

Check check_end(const ScoreLog& log) {
    const Json& complete = member(log.head, "complete");
    const bool is_text = complete.is_string(); // XML
    if (!complete.is_boolean() && !is_text)
        return {"end", Held::kUnknown, std::string(name_of(log.layout)) + " does not say whether the run ended"};
    if (is_text ? complete == "true" : complete == true) return {"end", Held::kYes, "the run came to its end"};
    const std::string reason = text_of(log.head, "reason");
    return {"end", Held::kNo, "the log is not complete" + (reason.empty() ? "" : ": " + reason)};
}

Check check_counts(const ScoreLog& log) {
    const std::string frames = count_text(log.frames.size(), "frame");
    const Json& pairing = member(log.head, "pairing");
    double scored = number_of(pairing, "scored", NAN);
    if (std::isnan(scored) && !text_of(pairing, "scored").empty()) // XML
        scored = std::atof(text_of(pairing, "scored").c_str());
    if (std::isnan(scored)) return {"frames", Held::kUnknown, frames + "; the log does not say how many there were"};
    if (scored == static_cast<double>(log.frames.size()))
        return {"frames", Held::kYes, frames + ", as many as were scored"};
    std::string where; // a gap alone is no fault: under a black mask a frame has no scores
    for (size_t i = 1; i < log.frames.size() && where.empty(); ++i)
        if (const int64_t next = log.frames[i - 1] + log.frames[1] - log.frames[0]; log.frames[i] > next)
            where = "; frame " + std::to_string(next) + " is missing";
    return {"frames", Held::kNo, frames + ", and " + fixed(scored, 0) + " were scored" + where};
}

Check check_pools(const ScoreLog& log) {
    size_t checked = 0, scores = 0;
    for (const Scores& each : log.scores) {
        if (std::any_of(each.values.begin(), each.values.end(), [](double value) { return std::isnan(value); }))
            continue;
        const Json& pools = member(member(log.head, "pooled_metrics"), each.name.c_str());
        const size_t before = checked;
        for (const char* pool : kPools) {
            const double logged = number_of(pools, pool, NAN);
            if (std::isnan(logged)) continue;
            double expected = 0;
            if (!agrees(each.values, pool, logged, &expected))
                return {"pooled", Held::kNo,
                        std::string(pool) + " of " + each.name + " is " + fixed(logged, 6) +
                            ", and that of the frames " + fixed(expected, 6)};
            ++checked;
        }
        scores += checked > before ? 1 : 0;
    }
    if (checked == 0) return {"pooled", Held::kUnknown, "the log has no pooled values of its frames"};
    return {"pooled", Held::kYes,
            count_text(checked, "pooled value") + " of " + count_text(scores, "score") + " are those of the frames"};
}

Check check_models(const ScoreLog& log) {
    const Json& checksums = member(log.head, "model_checksums");
    if (!checksums.is_object()) {
        const Json& models = member(log.head, "models");
        const bool has_none = log.head.contains("provenance") && (!models.is_array() || models.empty());
        return {"models", has_none ? Held::kYes : Held::kUnknown,
                has_none ? "no model was used" : "the log has no checksums of models"};
    }
    for (const auto& [name, value] : checksums.items()) {
        const std::string wanted = value.is_string() ? value.get<std::string>() : "", source = model_of(log, name);
        const std::string found = source.empty() ? "" : sha256_of_model(source);
        if (source.empty() ? is_builtin(wanted) : found == wanted) continue;
        if (source.empty()) return {"models", Held::kNo, name + ": no model of this build has the log's checksum"};
        if (found.empty()) return {"models", Held::kUnknown, "the model " + source + " is not here"};
        return {"models", Held::kNo, "the model " + source + " is another one than that of the log"};
    }
    return {"models", Held::kYes, count_text(checksums.size(), "model") + ", as in the log"};
}

Check check_version(const ScoreLog& log) {
    const Json& made = member(log.head, "provenance");
    if (!made.is_object()) return {"version", Held::kUnknown, "the log does not say which build made it"};
    const std::string engine = text_of(made, "engine"), commit = text_of(made, "commit");
    if (engine != qc_version())
        return {"version", Held::kUnknown, "made by version " + engine + ", and this one is " + qc_version()};
    const bool is_known = commit != "unknown" && std::string(qc_commit()) != "unknown";
    if (is_known && commit != qc_commit())
        return {"version", Held::kUnknown, "made by a build of commit " + commit + ", and this one is " + qc_commit()};
    return {"version", Held::kYes, "version " + engine + (is_known ? ", commit " + commit : "")};
}

Check check_bytes(const std::string& log, const std::optional<Provenance>& made, const std::string& why_not) {
    if (!made) return {"bytes", Held::kUnknown, why_not};
    if (made->sha256.empty()) return {"bytes", Held::kUnknown, provenance_name(log) + " has no SHA-256 of the log"};
    if (sha256_of_file(log) == made->sha256) return {"bytes", Held::kYes, "the log is as it was written"};
    return {"bytes", Held::kNo, "the log was changed after it was written"};
}

Check check_files(const std::optional<Provenance>& made, const std::string& why_not) {
    if (!made || made->files.empty()) return {"files", Held::kUnknown, made ? "no files are recorded" : why_not};
    std::string gone;
    for (const SourceFile& each : made->files) {
        std::error_code error;
        if (each.checksum.empty() || !std::filesystem::is_regular_file(each.path, error))
            gone += (gone.empty() ? "" : ", ") + each.path;
        else if (!is_unchanged(each, each.path))
            return {"files", Held::kNo, each.path + " is not the file that was scored"};
    }
    if (!gone.empty()) return {"files", Held::kUnknown, "not here: " + gone};
    return {"files", Held::kYes, count_text(made->files.size(), "file") + " with the checksums of then"};
}

} // namespace qc::cli
