// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/log_writer.hpp"

#include <charconv>
#include <cmath>

#include "report/log_formats.hpp"

namespace qc {

namespace {

constexpr int kUsualDecimals = 6, kMoreDecimals = 16;

struct FormatName {
    qc_log_format format;
    std::string_view name;
};
constexpr FormatName kFormats[] = {
    {QC_LOG_FORMAT_JSON, "json"},
    {QC_LOG_FORMAT_XML, "xml"},
    {QC_LOG_FORMAT_CSV, "csv"},
    {QC_LOG_FORMAT_SUB, "sub"},
};
static_assert(std::size(kFormats) == QC_LOG_FORMAT_COUNT);

/// How often the fraction must be multiplied by ten to reach 1; 0 for none.
int leading_decimals(double value) {
    double fraction = std::abs(value) - std::trunc(std::abs(value));
    int count = 0;
    for (; fraction != 0.0 && fraction < 1.0; ++count) fraction *= 10.0;
    return count;
}

Status write_in(qc_log_format log_format, const ScoreTable& table, const ScorePlan& plan, const LogHead& head,
                OutputFile* file) {
    switch (log_format) {
    case QC_LOG_FORMAT_JSON:
        return write_json_log(table, plan, head, file);
    case QC_LOG_FORMAT_XML:
        return write_xml_log(table, plan, head, file);
    case QC_LOG_FORMAT_CSV:
        return write_csv_log(table, plan, file);
    case QC_LOG_FORMAT_SUB:
        return write_sub_log(table, plan, file);
    default:
        return invalid(format("log format %d does not exist", static_cast<int>(log_format)));
    }
}

} // namespace

std::optional<qc_log_format> parse_log_format(std::string_view text) {
    for (const FormatName& each : kFormats)
        if (text == each.name) return each.format;
    return std::nullopt;
}

std::string fixed_text(double value, int decimals) {
    if (std::isnan(value)) return "nan"; // its sign means nothing
    char buffer[512];                    // the largest double has 309 digits before the point
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed, decimals);
    return std::string(buffer, error == std::errc{} ? end : buffer);
}

std::string score_text(double score) {
    const bool usual = !std::isfinite(score) || leading_decimals(score) <= kUsualDecimals;
    return fixed_text(score, usual ? kUsualDecimals : kMoreDecimals);
}

Status write_log(qc_log_format log_format, const ScoreTable& table, const ScorePlan& plan, const std::string& path,
                 const LogHead& head) {
    return write_file(path, [&](OutputFile* file) { return write_in(log_format, table, plan, head, file); });
}

} // namespace qc
