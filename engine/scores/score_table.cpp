// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "scores/score_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "contract/caught.hpp"
#include "ranks/deviation.hpp"
#include "text/message.hpp"
#include "text/number.hpp"

namespace qc {

namespace {

constexpr double kNotPresent = std::numeric_limits<double>::quiet_NaN();
/// Beyond it sums and squares of a run's scores would overflow, and so would what prints them. No trained model comes
/// near.
constexpr double kLargestPrediction = 1e50;
constexpr size_t kReadBackBytes = size_t{64} << 20; ///< most memory that pooling of whole columns takes at a time

Status internal(std::string text) {
    return {QC_ERROR_INTERNAL, "score table: " + std::move(text)};
}

/// Fills what needs all scores. Reorders them: sorting all of them would take ten times as long as finding the few that
/// are asked for.
void pool_distribution(std::vector<double>& scores, ScoreTable::AllPools* pools) {
    (*pools)[QC_POOL_STDDEV] = Deviation(scores).standard;
    const bool has_nan = std::any_of(scores.begin(), scores.end(), [](double score) { return std::isnan(score); });
    for (int pool = 0; pool < QC_POOL_COUNT; ++pool)
        if (const auto percent = percentile_percent(static_cast<qc_pool>(pool)))
            (*pools)[static_cast<size_t>(pool)] = has_nan ? kNotPresent : percentile_of(scores, *percent);
}

void pool_running(const RunningPool& running, ScoreTable::AllPools* pools) {
    (*pools)[QC_POOL_MEAN] = running.mean();
    (*pools)[QC_POOL_HARMONIC_MEAN] = running.harmonic_mean();
    (*pools)[QC_POOL_MIN] = running.minimum();
    (*pools)[QC_POOL_MAX] = running.maximum();
}

} // namespace

ScoreTable::ScoreTable(const ScorePlan& plan)
    : plan_(plan), spool_(plan.columns.size()), ahead_values_(plan.columns.size()), handed_values_(plan.columns.size()),
      handed_present_(plan.columns.size()), pools_(plan.columns.size()), stream_sums_(plan.stream_scores.size()),
      was_written_(plan.columns.size()) {
    written_.reserve(plan.columns.size());
    for (const ModelUse& use : plan.models) {
        model_inputs_.resize(std::max(model_inputs_.size(), use.inputs.size()));
        model_outputs_.resize(std::max(model_outputs_.size(), use.outputs.size()));
    }
}

Status ScoreTable::create(const ScorePlan& plan, std::unique_ptr<ScoreTable>* table) {
    if (plan.n_subsample < 1) return internal("n_subsample must be at least 1");
    for (const MetricInstance& instance : plan.instances)
        if (instance.column.size() != instance.descriptor->outputs.size()) return internal("the plan has no columns");
    table->reset(new ScoreTable(plan));
    return {};
}

bool ScoreTable::expects(const MetricInstance& instance, int64_t frame, bool has_pair) const {
    const MetricDescriptor& metric = *instance.descriptor;
    return (keeps(frame) || evaluates_every_frame(metric, instance.options)) &&
           (has_pair || metric.scope == Scope::kReference);
}

int ScoreTable::expected_scores(int64_t frame, bool has_pair) const {
    int count = 0;
    for (const MetricInstance& instance : plan_.instances)
        if (expects(instance, frame, has_pair))
            count += static_cast<int>(
                std::count_if(instance.column.begin(), instance.column.end(), [](int column) { return column >= 0; }));
    return count;
}

void ScoreTable::begin_frame(int64_t frame, bool has_pair) {
    if (!status_.ok()) return;
    if (closed_ || frame != next_frame_)
        return fail(internal(format("frame %lld begun out of turn", static_cast<long long>(frame))));
    PendingRow row;
    if (!spare_rows_.empty()) {
        row = std::move(spare_rows_.back());
        spare_rows_.pop_back();
    }
    row.frame = frame;
    row.has_pair = has_pair;
    row.is_left_out = false;
    row.missing = expected_scores(frame, has_pair);
    row.values.assign(plan_.columns.size(), kNotPresent);
    row.present.assign(plan_.columns.size(), 0);
    pending_.push_back(std::move(row));
    ++next_frame_;
    settle_complete_rows();
}

void ScoreTable::put(int64_t frame, int instance, int output, double value) {
    if (!status_.ok() || closed_) return;
    if (frame < 0 || frame >= next_frame_ || instance < 0 || instance >= static_cast<int>(plan_.instances.size()))
        return fail(internal("score of an unknown frame or metric"));
    const MetricInstance& source = plan_.instances[static_cast<size_t>(instance)];
    if (output < 0 || output >= static_cast<int>(source.column.size())) return fail(internal("unknown output"));
    const int column = source.column[static_cast<size_t>(output)];
    if (column < 0 || pending_.empty() || frame < pending_.front().frame) return;

    // Frames are consecutive, so a pending row is found by its distance from the first.
    PendingRow& row = pending_[static_cast<size_t>(frame - pending_.front().frame)];
    if (row.is_left_out || !expects(source, frame, row.has_pair)) return;
    const size_t at = static_cast<size_t>(column);
    if (row.present[at] != 0)
        return fail(internal(plan_.columns[at].name + " was written twice for frame " + std::to_string(frame)));
    if (was_written_[at] == 0) written_.push_back(at);
    was_written_[at] = 1;
    row.values[at] = value;
    row.present[at] = 1;
    if (--row.missing == 0) settle_complete_rows();
}

void ScoreTable::leave_out(int64_t frame) {
    if (!status_.ok() || closed_ || pending_.empty() || frame < pending_.front().frame) return;
    if (frame >= next_frame_) return fail(internal("an unknown frame was left out"));
    PendingRow& row = pending_[static_cast<size_t>(frame - pending_.front().frame)];
    row.is_left_out = true;
    row.missing = 0;
    settle_complete_rows();
}

void ScoreTable::settle_complete_rows() {
    while (status_.ok() && !pending_.empty() && pending_.front().missing == 0) retire_front();
}

/// Ends the oldest row: settles it if it is complete, or drops it. Without memory for it, it ends the table too: a row
/// must neither be settled twice nor be missing between others.
void ScoreTable::retire_front() {
    PendingRow row = std::move(pending_.front());
    pending_.pop_front();
    if (status_.ok() && row.missing == 0) {
        Status status = caught([&] { settle(row); });
        if (!status.ok()) fail(std::move(status));
    } else {
        ++dropped_frames_;
    }
    spare_rows_.push_back(std::move(row));
}

void ScoreTable::settle(PendingRow& row) {
    const bool scored = keeps(row.frame) && row.has_pair && !row.is_left_out;
    const bool is_left_out = row.is_left_out && keeps(row.frame) && row.has_pair; // else it has another reason
    if (!scored) return unscored_frames_.push_back({row.frame, is_left_out});
    Status status = run_models(row.frame, row.values);
    if (!status.ok()) return fail(std::move(status));
    spool_.append(row.frame, row.values);
    count(row.values);
}

/// A scored row in what is said of all of them.
void ScoreTable::count(std::span<const double> values) {
    for (size_t column = 0; column < pools_.size(); ++column) pools_[column].add(values[column]);
    for (size_t i = 0; i < stream_sums_.size(); ++i) {
        const StreamScore& score = plan_.stream_scores[i];
        stream_sums_[i] += score.spec->term(values[static_cast<size_t>(score.column)]);
    }
    ++scored_frames_;
}

Status ScoreTable::run_models(int64_t frame, std::vector<double>& values) {
    for (const ModelUse& use : plan_.models) {
        bool known = true; // the scores that it predicts from
        for (size_t i = 0; i < use.inputs.size(); ++i) {
            model_inputs_[i] = values[static_cast<size_t>(use.inputs[i])];
            known = known && std::isfinite(model_inputs_[i]);
        }
        use.model->evaluate({model_inputs_.data(), use.inputs.size()}, {model_outputs_.data(), use.outputs.size()});
        for (size_t i = 0; i < use.outputs.size(); ++i) {
            const double score = model_outputs_[i];
            if (known && !(std::abs(score) <= kLargestPrediction))
                return invalid(format(
                    "model %s: %s of frame %lld is %s: its coefficients are too large, scores up to "
                    "%g are accepted",
                    in_quotes(use.source).c_str(), plan_.columns[static_cast<size_t>(use.outputs[i])].name.c_str(),
                    static_cast<long long>(frame), std::isnan(score) ? "no number" : general_text(score).c_str(),
                    kLargestPrediction));
            values[static_cast<size_t>(use.outputs[i])] = score;
        }
    }
    return {};
}

/// Has the next scored row at hand, if there is one.
Status ScoreTable::read_ahead() {
    if (ahead_frame_ || scored_rows_read_ == spool_.rows()) return {};
    int64_t frame = 0;
    QC_RETURN_IF_ERROR(spool_.read(scored_rows_read_, &frame, ahead_values_));
    ahead_frame_ = frame;
    ++scored_rows_read_;
    return {};
}

bool ScoreTable::next_final(int64_t* frame, const double** values, const unsigned char** present, bool* left_out) {
    Status status = read_ahead();
    if (!status.ok()) {
        fail(std::move(status));
        return false;
    }
    const bool unscored =
        !unscored_frames_.empty() && (!ahead_frame_ || unscored_frames_.front().frame < *ahead_frame_);
    if (left_out != nullptr) *left_out = unscored && unscored_frames_.front().is_left_out;
    if (unscored) {
        *frame = unscored_frames_.front().frame;
        unscored_frames_.pop_front();
        std::fill(handed_values_.begin(), handed_values_.end(), kNotPresent);
    } else if (ahead_frame_) {
        *frame = *ahead_frame_;
        ahead_frame_.reset();
        handed_values_.swap(ahead_values_);
    } else {
        return false;
    }
    std::fill(handed_present_.begin(), handed_present_.end(), unscored ? 0 : 1);
    *values = handed_values_.data();
    *present = handed_present_.data();
    return true;
}

void ScoreTable::abandon(int64_t frames) {
    if (!status_.ok() || closed_) return;
    for (; !pending_.empty() && pending_.back().frame >= frames; pending_.pop_back()) --next_frame_;
    for (; !pending_.empty(); pending_.pop_front()) unscored_frames_.push_back({pending_.front().frame, false});
}

Status ScoreTable::import(int64_t frame, int column, double value) {
    for (size_t i = 0; i < plan_.instances.size(); ++i) {
        const MetricInstance& instance = plan_.instances[i];
        const auto output = std::find(instance.column.begin(), instance.column.end(), column);
        if (output == instance.column.end()) continue;
        if (!expects(instance, frame, true)) return {};
        const int64_t pending = frame - final_frames();
        if (pending < 0 || pending_[static_cast<size_t>(pending)].present[static_cast<size_t>(column)] != 0)
            return invalid(format("%s of frame %lld is there already",
                                  plan_.columns[static_cast<size_t>(column)].name.c_str(),
                                  static_cast<long long>(frame)));
        put(frame, static_cast<int>(i), static_cast<int>(output - instance.column.begin()), value);
        return status_;
    }
    return internal("no metric has the score that was imported");
}

void ScoreTable::give_up_missing() {
    while (status_.ok() && !pending_.empty()) {
        if (pending_.front().missing == 0) {
            retire_front();
            continue;
        }
        unscored_frames_.push_back({pending_.front().frame, false});
        pending_.pop_front();
    }
}

void ScoreTable::close() {
    dropped_from_ = final_frames();
    closed_ = true;
    while (!pending_.empty()) retire_front();
    set_stream_scores();
}

void ScoreTable::set_stream_scores() {
    if (scored_frames_ == 0) return;
    for (size_t i = 0; i < stream_sums_.size(); ++i) {
        const StreamScore& score = plan_.stream_scores[i];
        set_aggregate(score.name, score.spec->total(stream_sums_[i], scored_frames_));
    }
}

Status ScoreTable::truncate(int64_t frames) {
    QC_RETURN_IF_ERROR(spool_.truncate(frames));
    scored_rows_read_ = std::min(scored_rows_read_, spool_.rows());
    if (ahead_frame_ && *ahead_frame_ >= frames) ahead_frame_.reset();
    next_frame_ = std::min(next_frame_, frames);
    dropped_from_ = std::min(dropped_from_, frames);
    std::erase_if(unscored_frames_, [=](const UnscoredFrame& unscored) { return unscored.frame >= frames; });
    aggregates_.clear();
    pools_.assign(pools_.size(), RunningPool());
    stream_sums_.assign(stream_sums_.size(), 0.0);
    scored_frames_ = 0;
    QC_RETURN_IF_ERROR(for_each_scored_row([&](int64_t, std::span<const double> values) {
        count(values);
        return Status();
    }));
    set_stream_scores();
    return {};
}

void ScoreTable::fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
}

Status ScoreTable::check_column(int column) const {
    if (column >= 0 && column < static_cast<int>(plan_.columns.size())) return {};
    return invalid(format("there is no score %d", column));
}

Status ScoreTable::check_pooling(int column, qc_pool pool) const {
    QC_RETURN_IF_ERROR(check_column(column));
    if (pool_name(pool) != nullptr) return {};
    return invalid(format("there is no pooling method %d", static_cast<int>(pool)));
}

int64_t ScoreTable::final_frames() const {
    if (closed_) return dropped_from_;
    return pending_.empty() ? next_frame_ : pending_.front().frame;
}

Status ScoreTable::score(int column, int64_t frame, double* value) const {
    QC_RETURN_IF_ERROR(check_column(column));
    int64_t row = 0, found = -1;
    QC_RETURN_IF_ERROR(spool_.find(frame, &row));
    std::vector<double> values(plan_.columns.size());
    if (row < spool_.rows()) QC_RETURN_IF_ERROR(spool_.read(row, &found, values));
    *value = found == frame ? values[static_cast<size_t>(column)] : kNotPresent;
    return {};
}

Status ScoreTable::pooled_between(int column, qc_pool pool, int64_t first, int64_t end, double* value) const {
    QC_RETURN_IF_ERROR(check_pooling(column, pool));
    const auto number = [](int64_t frame) { return static_cast<long long>(frame); };
    if (first < 0 || end < first)
        return invalid(format("first=%lld, end=%lld: 0 and more is accepted, and an end that is not below first",
                              number(first), number(end)));
    int64_t first_row = 0, end_row = 0;
    QC_RETURN_IF_ERROR(spool_.find(first, &first_row));
    QC_RETURN_IF_ERROR(spool_.find(end, &end_row));
    if (first_row == end_row)
        return invalid(
            format("no frame from %lld up to %lld was scored, there is nothing to pool", number(first), number(end)));
    RunningPool running;
    std::vector<double> scores;
    scores.reserve(static_cast<size_t>(end_row - first_row));
    QC_RETURN_IF_ERROR(spool_.for_each(first_row, end_row, [&](int64_t, std::span<const double> values) {
        scores.push_back(values[static_cast<size_t>(column)]);
        running.add(scores.back());
        return Status();
    }));
    AllPools pools{};
    pool_running(running, &pools);
    if (!is_running_pool(pool)) pool_distribution(scores, &pools);
    *value = pools[static_cast<size_t>(pool)];
    return {};
}

Status ScoreTable::pooled(int column, qc_pool pool, double* value) const {
    QC_RETURN_IF_ERROR(check_pooling(column, pool));
    if (scored_frames_ == 0) return invalid("no frame was scored, there is nothing to pool");
    AllPools pools{};
    pool_running(pools_[static_cast<size_t>(column)], &pools);
    if (!is_running_pool(pool)) {
        std::vector<std::vector<double>> scores;
        QC_RETURN_IF_ERROR(read_columns(static_cast<size_t>(column), 1, &scores));
        pool_distribution(scores[0], &pools);
    }
    *value = pools[static_cast<size_t>(pool)];
    return {};
}

Status ScoreTable::pool_everything(std::vector<AllPools>* columns) const {
    columns->clear();
    if (scored_frames_ == 0) return {};
    columns->resize(plan_.columns.size());
    const size_t column_bytes = static_cast<size_t>(scored_frames_) * sizeof(double);
    const size_t at_once = std::max<size_t>(kReadBackBytes / column_bytes, 1);
    for (size_t first = 0; first < columns->size(); first += at_once) {
        std::vector<std::vector<double>> scores;
        QC_RETURN_IF_ERROR(read_columns(first, std::min(at_once, columns->size() - first), &scores));
        for (size_t i = 0; i < scores.size(); ++i) {
            pool_running(pools_[first + i], &(*columns)[first + i]);
            pool_distribution(scores[i], &(*columns)[first + i]);
        }
    }
    return {};
}

Status ScoreTable::read_columns(size_t first, size_t count, std::vector<std::vector<double>>* scores) const {
    scores->resize(count);
    for (std::vector<double>& column : *scores) column.reserve(static_cast<size_t>(scored_frames_));
    return for_each_scored_row([&](int64_t, std::span<const double> values) {
        for (size_t i = 0; i < count; ++i) (*scores)[i].push_back(values[first + i]);
        return Status();
    });
}

void ScoreTable::set_aggregate(std::string name, double value) {
    for (auto& [known, old] : aggregates_) {
        if (known != name) continue;
        old = value;
        return;
    }
    aggregates_.emplace_back(std::move(name), value);
}

std::vector<size_t> ScoreTable::log_order() const {
    std::vector<size_t> order = written_;
    for (size_t column = 0; column < plan_.columns.size(); ++column)
        if (was_written_[column] == 0) order.push_back(column);
    return order;
}

Status
ScoreTable::for_each_scored_row(const std::function<Status(int64_t frame, std::span<const double>)>& visit) const {
    return spool_.for_each(visit);
}

} // namespace qc
