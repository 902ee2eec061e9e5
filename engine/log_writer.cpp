// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "log_writer.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "feature_name.hpp"
#include "text.hpp"

namespace qc {

namespace {

constexpr int kUsualDecimals = 6, kMoreDecimals = 16;

std::string fixed_text(double value, int decimals) {
    char buffer[512]; // the largest double has 309 digits before the point
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed, decimals);
    return error == std::errc{} ? std::string(buffer, end) : std::string("null");
}

/// How often the fraction must be multiplied by ten to reach 1; 0 for none.
int leading_decimals(double value) {
    double fraction = std::abs(value) - std::trunc(std::abs(value));
    int count = 0;
    for (; fraction != 0.0 && fraction < 1.0; ++count) fraction *= 10.0;
    return count;
}

// ---- the file -------------------------------------------------------------------------------------------------------

/// A file that appears under its name only when it is whole. What is no regular file (a pipe, /dev/stdout) is written
/// directly.
class OutputFile {
public:
    explicit OutputFile(std::string path) : path_(std::move(path)) {}
    ~OutputFile() {
        if (file_ != nullptr) std::fclose(file_);
        if (!temporary_.empty()) unlink(temporary_.c_str());
    }
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    Status open() {
        struct stat info {};
        const bool exists = stat(path_.c_str(), &info) == 0;
        if (exists && S_ISDIR(info.st_mode)) return failure(EISDIR);
        if (exists && !S_ISREG(info.st_mode)) {
            file_ = std::fopen(path_.c_str(), "wb");
            return file_ != nullptr ? Status() : failure(errno);
        }
        target_ = exists ? resolved(path_) : path_;
        const int descriptor = open_temporary();
        if (descriptor < 0) return failure(errno);
        file_ = fdopen(descriptor, "wb");
        if (file_ != nullptr) return {};
        const int error = errno;
        ::close(descriptor);
        return failure(error);
    }

    Status write(std::string_view text) {
        return std::fwrite(text.data(), 1, text.size(), file_) == text.size() ? Status() : failure(errno);
    }

    Status finish() {
        FILE* file = file_;
        file_ = nullptr;
        if (std::fclose(file) != 0) return failure(errno);
        if (temporary_.empty()) return {};
        if (std::rename(temporary_.c_str(), target_.c_str()) != 0) return failure(errno);
        temporary_.clear();
        return {};
    }

private:
    /// Where a symbolic link leads, so that the link survives the renaming.
    static std::string resolved(const std::string& path) {
        std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), std::free);
        return real ? std::string(real.get()) : path;
    }

    int open_temporary() {
        static std::atomic<unsigned> counter{0};
        constexpr int kAttempts = 100;
        for (int attempt = 0; attempt < kAttempts; ++attempt) {
            std::string name = target_ + format(".part-%ld-%u", static_cast<long>(getpid()), counter.fetch_add(1));
            const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (descriptor >= 0) temporary_ = std::move(name);
            if (descriptor >= 0 || errno != EEXIST) return descriptor;
        }
        return -1;
    }

    Status failure(int error) const {
        return {QC_ERROR_IO, "cannot write log " + in_quotes(path_) + ": " + std::strerror(error)};
    }

    std::string path_, target_, temporary_;
    FILE* file_ = nullptr;
};

// ---- JSON -----------------------------------------------------------------------------------------------------------

/// "name": value lines of an object, with commas between them.
class JsonLines {
public:
    explicit JsonLines(std::string indent) : indent_(std::move(indent)) {}

    void add(std::string_view name, std::string_view json_value) {
        if (!text_.empty()) text_ += ",\n";
        text_ += indent_;
        text_ += json_string(name);
        text_ += ": ";
        text_ += json_value;
    }
    /// The lines, closed by a line end if there are any.
    std::string take() { return text_.empty() ? std::string() : std::move(text_) + "\n"; }

private:
    std::string indent_, text_;
};

/// [{"name": "vmaf", "model": "vmaf_v1.0.16_3d0h_2160", "score_range": [0, 110]}]
std::string models_list(const ScorePlan& plan) {
    std::string list;
    for (const ModelUse& use : plan.models) {
        const auto range = use.model->score_range();
        list += list.empty() ? "\n" : ",\n";
        list += "    {\"name\": " + json_string(use.name) + ", \"model\": " + json_string(use.source) +
                ", \"score_range\": " +
                (range ? "[" + general_text(range->first) + ", " + general_text(range->second) + "]" : "null") + "}";
    }
    return "[" + list + "\n  ]";
}

/// {"ssimulacra2": {"transfer": "bt1886 (assumed)"}}
std::string conventions_object(std::span<const MetricConventions> conventions) {
    JsonLines metrics("    ");
    for (const MetricConventions& each : conventions) {
        JsonLines lines("      ");
        for (const Convention& convention : each.list) lines.add(convention.key, json_string(convention.value));
        metrics.add(each.metric, "{\n" + lines.take() + "    }");
    }
    return "{\n" + metrics.take() + "  }";
}

Status write_head(const LogHead& head, const ScorePlan& plan, OutputFile* file) {
    JsonLines lines("  ");
    lines.add("version", json_string(head.version));
    lines.add("fps", std::isfinite(head.fps) ? fixed_text(head.fps, 2) : "null");
    lines.add("complete", head.complete ? "true" : "false");
    if (!plan.models.empty()) lines.add("models", models_list(plan));
    if (!head.conventions.empty()) lines.add("conventions", conventions_object(head.conventions));
    for (const qc_log_extra& extra : head.extra) {
        if (extra.key == nullptr || extra.json_value == nullptr || !nlohmann::json::accept(extra.json_value))
            return invalid("log: the value of the additional key " +
                           json_string(extra.key != nullptr ? extra.key : "") + " is not JSON");
        lines.add(extra.key, extra.json_value);
    }
    std::string text = lines.take();
    text.pop_back(); // more follows on the same level
    return file->write("{\n" + text + ",\n");
}

Status write_frames(const ScoreTable& table, const ScorePlan& plan, OutputFile* file) {
    QC_RETURN_IF_ERROR(file->write("  \"frames\": ["));
    bool first = true;
    QC_RETURN_IF_ERROR(table.for_each_scored_row([&](int64_t frame, std::span<const double> values) {
        JsonLines metrics("        ");
        for (size_t i = 0; i < values.size(); ++i) metrics.add(plan.columns[i].name, json_score(values[i]));
        std::string text = first ? "\n" : ",\n";
        first = false;
        text += "    {\n      \"frameNum\": " + std::to_string(frame) + ",\n      \"metrics\": {\n";
        text += metrics.take() + "      }\n    }";
        return file->write(text);
    }));
    return file->write("\n  ],\n");
}

std::string pooled_object(const ScoreTable::AllPools& pools) {
    constexpr qc_pool kOrder[] = {QC_POOL_MIN, QC_POOL_MAX, QC_POOL_MEAN, QC_POOL_HARMONIC_MEAN, QC_POOL_P1,
                                  QC_POOL_P5,  QC_POOL_P10, QC_POOL_P50,  QC_POOL_STDDEV};
    JsonLines lines("      ");
    for (qc_pool pool : kOrder) lines.add(pool_name(pool), json_score(pools[static_cast<size_t>(pool)]));
    return "{\n" + lines.take() + "    }";
}

Status write_pooled(const ScoreTable& table, const ScorePlan& plan, OutputFile* file) {
    std::vector<ScoreTable::AllPools> pools;
    QC_RETURN_IF_ERROR(table.pool_everything(&pools));
    JsonLines lines("    ");
    for (size_t i = 0; i < plan.columns.size(); ++i)
        lines.add(plan.columns[i].name, pools.empty() ? std::string("{\n    }") : pooled_object(pools[i]));
    return file->write("  \"pooled_metrics\": {\n" + lines.take() + "  },\n");
}

Status write_aggregates(const ScoreTable& table, OutputFile* file) {
    JsonLines lines("    ");
    for (const auto& [name, value] : table.aggregates()) lines.add(name, json_score(value));
    return file->write("  \"aggregate_metrics\": {\n" + lines.take() + "  }\n}\n");
}

} // namespace

std::string json_score(double score) {
    if (!std::isfinite(score)) return "null";
    return fixed_text(score, leading_decimals(score) <= kUsualDecimals ? kUsualDecimals : kMoreDecimals);
}

std::string json_string(std::string_view text) {
    std::string quoted = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            quoted += format("\\u%04x", static_cast<unsigned>(c));
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

Status write_json_log(const ScoreTable& table, const ScorePlan& plan, const std::string& path, const LogHead& head) {
    OutputFile file(path);
    QC_RETURN_IF_ERROR(file.open());
    QC_RETURN_IF_ERROR(write_head(head, plan, &file));
    QC_RETURN_IF_ERROR(write_frames(table, plan, &file));
    QC_RETURN_IF_ERROR(write_pooled(table, plan, &file));
    QC_RETURN_IF_ERROR(write_aggregates(table, &file));
    return file.finish();
}

} // namespace qc
