// SPDX-License-Identifier: BSD-2-Clause-Patent
// Score tables and logs of any names and values: every row is there once, pooled values are those of the rows, and what
// is called JSON can be read as JSON.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/builtin_models.hpp"
#include "report/log_writer.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/scratch.hpp"

namespace {

using qc::fuzz::Input;

constexpr int kMostOutputs = 4, kMostFrames = 40;

const std::string& log_path() {
    static const std::string path = qc::fuzz::scratch("log");
    return path;
}

/// What qc_config::model lets a name be made of; a column's name is nothing else.
std::string column_name(Input& input, size_t index) {
    constexpr std::string_view kLetters = "abz_AZ019.+-";
    std::string name;
    for (int length = input.choose(12); length > 0; --length)
        name += kLetters[static_cast<size_t>(input.choose(kLetters.size()))];
    return name + std::to_string(index);
}

double any_score(Input& input) {
    constexpr double kSpecial[] = {0.0,
                                   -0.0,
                                   1e-7,
                                   100.0,
                                   1e300,
                                   -1e300,
                                   5e-324,
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
    return input.flag() ? kSpecial[input.choose(std::size(kSpecial))] : input.any<double>();
}

struct Run {
    qc::MetricDescriptor metric{.name = "any", .summary = "any"};
    qc::ScorePlan plan;
    std::unique_ptr<qc::ScoreTable> table;
    int64_t frames = 0;
    std::vector<int64_t> scored; ///< frames that are to be in the log
};

void make_plan(Input& input, Run& run) {
    static const qc::OutputSpec kOutputs[kMostOutputs] = {{"a", "a"}, {"b", "b"}, {"c", "c"}, {"d", "d"}};
    const auto outputs = static_cast<size_t>(1 + input.choose(kMostOutputs));
    run.metric.outputs = {kOutputs, outputs};
    qc::MetricInstance instance{
        .descriptor = &run.metric, .options = qc::OptionValues(run.metric.options), .column = {}, .stage = {}};
    for (size_t i = 0; i < outputs; ++i) {
        instance.column.push_back(static_cast<int>(i));
        run.plan.columns.push_back({column_name(input, i), "", "", false});
    }
    run.plan.instances.push_back(std::move(instance));
    run.plan.n_subsample = 1 + input.choose(3);
    if (!input.rarely(3)) return;
    qc::ModelUse use{
        .name = column_name(input, 9), .source = input.line(), .model = nullptr, .inputs = {}, .outputs = {}};
    if (!qc::load_builtin_model("vmaf_v0.6.1", &use.model).ok()) return;
    use.inputs.assign(use.model->features().size(), 0);
    use.outputs = {static_cast<int>(run.plan.columns.size())};
    run.plan.columns.push_back({use.name, "", "", true});
    run.plan.models.push_back(std::move(use));
}

void fill(Input& input, Run& run) {
    const int outputs = static_cast<int>(run.metric.outputs.size());
    run.frames = input.choose(kMostFrames);
    for (int64_t frame = 0; frame < run.frames; ++frame) {
        const bool has_pair = !input.rarely(8), kept = frame % run.plan.n_subsample == 0;
        run.table->begin_frame(frame, has_pair);
        if (!has_pair) continue;
        for (int output = 0; output < outputs; ++output) run.table->put(frame, 0, output, any_score(input));
        if (kept) run.scored.push_back(frame);
    }
    run.table->close();
    QC_FUZZ_CHECK(run.table->status().ok(), run.table->status().text());
    QC_FUZZ_CHECK(run.table->scored_frames() == static_cast<int64_t>(run.scored.size()));
}

void check_rows(Run& run) {
    int64_t frame = 0, rows = 0;
    const double* values = nullptr;
    const unsigned char* present = nullptr;
    for (; run.table->next_final(&frame, &values, &present); ++rows)
        QC_FUZZ_CHECK(frame == rows, "rows leave in order");
    QC_FUZZ_CHECK(rows == run.frames);
    for (int pool = 0; pool < QC_POOL_COUNT; ++pool) {
        double value = 0.0;
        const qc::Status status = run.table->pooled(0, static_cast<qc_pool>(pool), &value);
        QC_FUZZ_CHECK(status.ok() == !run.scored.empty(), status.text());
    }
}

void check_json(const Run& run, const std::string& text) {
    const auto log = nlohmann::json::parse(text, nullptr, false);
    QC_FUZZ_CHECK(log.is_object(), text);
    QC_FUZZ_CHECK(log.at("frames").size() == run.scored.size());
    for (size_t i = 0; i < run.scored.size(); ++i) {
        QC_FUZZ_CHECK(log.at("frames")[i].at("frameNum") == run.scored[i]);
        QC_FUZZ_CHECK(log.at("frames")[i].at("metrics").size() == run.plan.columns.size());
    }
    QC_FUZZ_CHECK(log.at("pooled_metrics").size() == run.plan.columns.size());
}

/// Text layouts: no character that would end a line or a field early.
void check_text(const Run& run, const std::string& text, qc_log_format format) {
    for (const char c : text) QC_FUZZ_CHECK(c == '\n' || static_cast<unsigned char>(c) >= ' ', text);
    const size_t heads = format == QC_LOG_FORMAT_CSV ? 1 : 0;
    if (format == QC_LOG_FORMAT_CSV || format == QC_LOG_FORMAT_SUB)
        QC_FUZZ_CHECK(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) == run.scored.size() + heads,
                      text);
    if (format == QC_LOG_FORMAT_XML)
        QC_FUZZ_CHECK(std::count(text.begin(), text.end(), '<') == std::count(text.begin(), text.end(), '>'), text);
}

void write_and_check(Input& input, const Run& run) {
    const std::string json = input.line(), version = "1.2.3", word = input.line(), key = input.line();
    const qc_log_extra extra[] = {{"value", json.c_str()}};
    qc::MetricConventions conventions[] = {{"any", {{"word", word}, {key, "x"}}}};
    const qc::LogHead head{.version = version,
                           .fps = any_score(input),
                           .complete = input.flag(),
                           .width = 1,
                           .height = 1,
                           .extra = {extra, nlohmann::json::accept(json) ? size_t{1} : size_t{0}},
                           .conventions = conventions};
    for (int layout = 0; layout < QC_LOG_FORMAT_COUNT; ++layout) {
        const auto format = static_cast<qc_log_format>(layout);
        const qc::Status status = qc::write_log(format, *run.table, run.plan, log_path(), head);
        QC_FUZZ_CHECK(status.ok(), status.text());
        const std::string text = qc::fuzz::read_file(log_path());
        if (format == QC_LOG_FORMAT_JSON)
            check_json(run, text);
        else
            check_text(run, text, format);
    }
    unlink(log_path().c_str());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Input input(data, size);
    Run run;
    make_plan(input, run);
    const qc::Status status = qc::ScoreTable::create(run.plan, &run.table);
    QC_FUZZ_CHECK(status.ok(), status.text());
    fill(input, run);
    check_rows(run);
    write_and_check(input, run);
    return 0;
}
