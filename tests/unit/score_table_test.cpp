// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "scores/score_table.hpp"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <tuple>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fake_metrics.hpp"
#include "tests/support/plans.hpp"

namespace qc::test {
namespace {

ScorePlan plan_of(const char* metrics, const char* model = nullptr, int n_subsample = 1) {
    qc_config config{};
    config.metrics = metrics;
    config.model = model;
    config.n_subsample = n_subsample;
    ScorePlan plan;
    const Status status = test::plan_of_config(config, fake_registry(), &kGeometry, &plan);
    EXPECT_TRUE(status.ok()) << status.text();
    return plan;
}

std::unique_ptr<ScoreTable> table_of(const ScorePlan& plan) {
    std::unique_ptr<ScoreTable> table;
    EXPECT_TRUE(ScoreTable::create(plan, &table).ok());
    return table;
}

int instance_of(const ScorePlan& plan, const MetricDescriptor& metric) {
    for (size_t i = 0; i < plan.instances.size(); ++i)
        if (plan.instances[i].descriptor == &metric) return static_cast<int>(i);
    return -1;
}

void begin_frames(int64_t count, ScoreTable* table) {
    for (int64_t frame = 0; frame < count; ++frame) table->begin_frame(frame, true);
}

/// All outputs of one metric for a frame; output k gets `value` + k.
void put_all(const ScorePlan& plan, const MetricDescriptor& metric, int64_t frame, double value, ScoreTable* table) {
    const int instance = instance_of(plan, metric);
    for (size_t output = 0; output < metric.outputs.size(); ++output)
        table->put(frame, instance, static_cast<int>(output), value + static_cast<double>(output));
}

struct Row {
    int64_t frame = -1;
    std::vector<double> values;
    bool any_present = false, all_present = true;
};

std::optional<Row> next(ScoreTable* table, const ScorePlan& plan) {
    Row row;
    const double* values = nullptr;
    const unsigned char* present = nullptr;
    if (!table->next_final(&row.frame, &values, &present)) return std::nullopt;
    row.values.assign(values, values + plan.columns.size());
    for (size_t i = 0; i < plan.columns.size(); ++i) {
        row.any_present |= present[i] != 0;
        row.all_present &= present[i] != 0;
    }
    return row;
}

/// Frames that can be handed out now.
std::vector<int64_t> final_frames(ScoreTable* table, const ScorePlan& plan) {
    std::vector<int64_t> frames;
    while (const auto row = next(table, plan)) frames.push_back(row->frame);
    return frames;
}

using Frames = std::vector<int64_t>;

TEST(ScoreTable, RowsWaitForEveryScoreAndLeaveInOrder) {
    const ScorePlan plan = plan_of("psnr|vif");
    const auto table = table_of(plan);
    begin_frames(3, table.get());
    put_all(plan, kVif, 1, 1.0, table.get());
    put_all(plan, kPsnr, 1, 40.0, table.get());
    put_all(plan, kPsnr, 0, 30.0, table.get());
    EXPECT_EQ(final_frames(table.get(), plan), Frames{});
    EXPECT_EQ(table->scored_frames(), 0);
    EXPECT_EQ(table->pending_frames(), 3);
    put_all(plan, kVif, 0, 0.5, table.get());
    EXPECT_EQ(table->scored_frames(), 2);
    const auto row = next(table.get(), plan);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->frame, 0);
    EXPECT_TRUE(row->all_present);
    EXPECT_EQ(row->values, (std::vector<double>{30.0, 32.0, 33.0, 0.5, 1.5, 2.5, 3.5})); // mse_y is off
    EXPECT_EQ(final_frames(table.get(), plan), (Frames{1}));
    EXPECT_TRUE(table->status().ok());
}

TEST(ScoreTable, ModelsRunWhenARowIsComplete) {
    const ScorePlan plan = plan_of("vmaf", "version=vmaf_v0.6.1|version=vmaf_b_v0.6.3:name=b");
    const auto table = table_of(plan);
    table->begin_frame(0, true);
    const auto put = [&](const MetricDescriptor& metric, std::initializer_list<double> values) {
        int output = 0;
        for (double value : values) table->put(0, instance_of(plan, metric), output++, value);
    };
    put(kAdm, {0.9620839149029907, 0, 0, 0, 0, 0, 0});
    put(kVif, {0.5057119727134705, 0.8790611624717712, 0.9378732442855835, 0.9643008708953857});
    EXPECT_EQ(table->scored_frames(), 0);
    put(kMotion, {0, 0, 0, 0});
    const auto row = next(table.get(), plan);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->values[static_cast<size_t>(plan.models[0].outputs[0])], 83.85628400042145);
    EXPECT_EQ(row->values[static_cast<size_t>(plan.models[1].outputs[0])], 83.17122503247003);
    EXPECT_EQ(row->values[static_cast<size_t>(plan.models[1].outputs[24])], 86.20556671963547);
    double mean = 0.0;
    ASSERT_TRUE(table->pooled(plan.models[0].outputs[0], QC_POOL_MEAN, &mean).ok());
    EXPECT_EQ(mean, 83.85628400042145);
}

/// motion2 of a frame comes with the next frame, that of the last with the flush.
TEST(ScoreTable, ScoresForEarlierFrames) {
    const ScorePlan plan = plan_of("psnr|motion");
    const auto table = table_of(plan);
    const int motion = instance_of(plan, kMotion);
    const auto put_late = [&](int64_t frame) {
        table->put(frame, motion, 2, 1.0);
        table->put(frame, motion, 3, 1.0);
    };
    for (int64_t frame = 0; frame < 4; ++frame) {
        table->begin_frame(frame, true);
        put_all(plan, kPsnr, frame, 30.0, table.get());
        table->put(frame, motion, 0, 5.0);
        if (frame > 0) put_late(frame - 1);
        EXPECT_EQ(final_frames(table.get(), plan), frame > 0 ? Frames{frame - 1} : Frames{});
    }
    put_late(3);
    table->close();
    EXPECT_EQ(final_frames(table.get(), plan), (Frames{3}));
    EXPECT_EQ(table->scored_frames(), 4);
    EXPECT_EQ(table->dropped_frames(), 0);
}

TEST(ScoreTable, SubsampledFramesNeedOnlyTheMetricsThatSeeEveryFrame) {
    const ScorePlan plan = plan_of("psnr|motion|vif", nullptr, 3);
    const auto table = table_of(plan);
    for (int64_t frame = 0; frame < 7; ++frame) {
        table->begin_frame(frame, true);
        put_all(plan, kMotion, frame, 1.0 + static_cast<double>(frame), table.get());
        EXPECT_EQ(next(table.get(), plan), std::nullopt) << "psnr sees every frame, too";
        put_all(plan, kPsnr, frame, 30.0, table.get());
        if (frame % 3 == 0) {
            EXPECT_EQ(next(table.get(), plan), std::nullopt);
            put_all(plan, kVif, frame, 0.5, table.get());
        }
        const auto row = next(table.get(), plan);
        ASSERT_TRUE(row);
        EXPECT_EQ(row->frame, frame);
        EXPECT_EQ(row->all_present, frame % 3 == 0);
        EXPECT_EQ(row->any_present, frame % 3 == 0);
        EXPECT_EQ(std::isnan(row->values[0]), frame % 3 != 0);
    }
    EXPECT_EQ(table->scored_frames(), 3);
    const int sad = plan.instances[static_cast<size_t>(instance_of(plan, kMotion))].column[0];
    double mean = 0.0;
    ASSERT_TRUE(table->pooled(sad, QC_POOL_MEAN, &mean).ok());
    EXPECT_EQ(mean, 4.0); // of 1, 4 and 7
}

TEST(ScoreTable, FramesWithoutAPairNeedOnlyTheReferencesScores) {
    const ScorePlan plan = plan_of("motion|vif");
    const auto table = table_of(plan);
    table->begin_frame(0, true);
    table->begin_frame(1, false);
    table->begin_frame(2, true);
    for (int64_t frame = 0; frame < 3; ++frame) put_all(plan, kMotion, frame, 1.0, table.get());
    put_all(plan, kVif, 1, 0.5, table.get()); // not asked for: ignored
    put_all(plan, kVif, 0, 0.5, table.get());
    EXPECT_TRUE(next(table.get(), plan)->all_present);
    const auto without = next(table.get(), plan);
    ASSERT_TRUE(without);
    EXPECT_EQ(without->frame, 1);
    EXPECT_FALSE(without->any_present);
    put_all(plan, kVif, 2, 0.5, table.get());
    EXPECT_EQ(final_frames(table.get(), plan), (Frames{2}));
    EXPECT_EQ(table->scored_frames(), 2);
    EXPECT_TRUE(table->status().ok()) << table->status().text();
}

TEST(ScoreTable, OnlyPairMetricsAndNoPairAtAll) {
    const ScorePlan plan = plan_of("vif");
    const auto table = table_of(plan);
    table->begin_frame(0, false);
    EXPECT_EQ(final_frames(table.get(), plan), (Frames{0}));
    EXPECT_EQ(table->scored_frames(), 0);
    double value = 0.0;
    const Status status = table->pooled(0, QC_POOL_MEAN, &value);
    EXPECT_EQ(status.code(), QC_ERROR_INVALID);
}

TEST(ScoreTable, CloseDropsIncompleteRowsOnly) {
    const ScorePlan plan = plan_of("vif");
    const auto table = table_of(plan);
    begin_frames(4, table.get());
    put_all(plan, kVif, 0, 0.5, table.get());
    put_all(plan, kVif, 3, 0.7, table.get());
    table->put(1, 0, 0, 0.5);
    table->close();
    EXPECT_EQ(final_frames(table.get(), plan), (Frames{0, 3}));
    EXPECT_EQ(table->scored_frames(), 2);
    EXPECT_EQ(table->dropped_frames(), 2);
    EXPECT_TRUE(table->status().ok());
    put_all(plan, kVif, 2, 0.5, table.get()); // too late
    EXPECT_EQ(table->scored_frames(), 2);
    EXPECT_TRUE(table->status().ok());
}

TEST(ScoreTable, ProtocolErrorsAreSticky) {
    const ScorePlan plan = plan_of("vif");
    {
        const auto table = table_of(plan);
        table->begin_frame(1, true);
        EXPECT_EQ(table->status().code(), QC_ERROR_INTERNAL);
    }
    {
        const auto table = table_of(plan);
        table->put(0, 0, 0, 1.0);
        EXPECT_EQ(table->status().code(), QC_ERROR_INTERNAL);
    }
    for (const auto& [instance, output] : {std::pair{1, 0}, std::pair{-1, 0}, std::pair{0, 4}, std::pair{0, -1}}) {
        const auto table = table_of(plan);
        table->begin_frame(0, true);
        table->put(0, instance, output, 1.0);
        EXPECT_EQ(table->status().code(), QC_ERROR_INTERNAL);
    }
    const auto table = table_of(plan);
    table->begin_frame(0, true);
    put_all(plan, kVif, 0, 0.5, table.get());
    table->begin_frame(1, true);
    table->put(1, 0, 2, 1.0);
    table->put(1, 0, 2, 1.0);
    EXPECT_EQ(table->status().text(), "score table: integer_vif_scale2 was written twice for frame 1");
    table->begin_frame(2, true);
    EXPECT_EQ(table->pending_frames(), 1) << "a failed table must not grow";
    EXPECT_EQ(final_frames(table.get(), plan), (Frames{0})) << "what was final stays available";
}

TEST(ScoreTable, PooledValues) {
    const ScorePlan plan = plan_of("vif");
    const auto table = table_of(plan);
    const double scores[] = {0.5, 0.25, 0.75, 1.0, 0.0};
    for (int64_t frame = 0; frame < 5; ++frame) {
        table->begin_frame(frame, true);
        put_all(plan, kVif, frame, scores[frame], table.get());
    }
    std::vector<ScoreTable::AllPools> all;
    ASSERT_TRUE(table->pool_everything(&all).ok());
    ASSERT_EQ(all.size(), 4U);
    for (int column = 0; column < 4; ++column) {
        for (int pool = 0; pool < QC_POOL_COUNT; ++pool) {
            double value = 0.0;
            ASSERT_TRUE(table->pooled(column, static_cast<qc_pool>(pool), &value).ok());
            EXPECT_EQ(value, all[static_cast<size_t>(column)][static_cast<size_t>(pool)]);
        }
    }
    EXPECT_EQ(all[1][QC_POOL_MEAN], 1.5);
    EXPECT_EQ(all[1][QC_POOL_MIN], 1.0);
    EXPECT_EQ(all[1][QC_POOL_MAX], 2.0);
    EXPECT_EQ(all[1][QC_POOL_P50], 1.5);
    EXPECT_DOUBLE_EQ(all[1][QC_POOL_P10], 1.1);
    EXPECT_DOUBLE_EQ(all[1][QC_POOL_STDDEV], std::sqrt(0.125));
    double value = 0.0;
    EXPECT_EQ(table->pooled(4, QC_POOL_MEAN, &value).code(), QC_ERROR_INVALID);
    EXPECT_EQ(table->pooled(-1, QC_POOL_MEAN, &value).code(), QC_ERROR_INVALID);
    EXPECT_EQ(table->pooled(0, QC_POOL_COUNT, &value).code(), QC_ERROR_INVALID);
}

TEST(ScoreTable, NanScoresPoolToNanWithoutHarm) {
    const ScorePlan plan = plan_of("vif");
    const auto table = table_of(plan);
    for (int64_t frame = 0; frame < 5; ++frame) {
        table->begin_frame(frame, true);
        put_all(plan, kVif, frame, frame == 2 ? NAN : 1.0, table.get());
    }
    double value = 0.0;
    for (qc_pool pool : {QC_POOL_MEAN, QC_POOL_P50, QC_POOL_STDDEV}) {
        ASSERT_TRUE(table->pooled(0, pool, &value).ok());
        EXPECT_TRUE(std::isnan(value));
    }
}

TEST(ScoreTable, AggregatesKeepTheirOrder) {
    const ScorePlan plan = plan_of("vif");
    const auto table = table_of(plan);
    table->set_aggregate("apsnr_y", 1.0);
    table->set_aggregate("apsnr_cb", 2.0);
    table->set_aggregate("apsnr_y", 3.0);
    ASSERT_EQ(table->aggregates().size(), 2U);
    EXPECT_EQ(table->aggregates()[0].first, "apsnr_y");
    EXPECT_EQ(table->aggregates()[0].second, 3.0);
}

// ---- long runs ------------------------------------------------------------------------------------------------------

/// A score that depends on frame and output, so that a mixed-up row shows.
double score_of(int64_t frame, size_t output) {
    return static_cast<double>((frame * 7919 + static_cast<int64_t>(output) * 104729) % 1000003);
}

void score_frame(const ScorePlan& plan, int64_t frame, ScoreTable* table) {
    table->begin_frame(frame, true);
    for (size_t output = 0; output < kVif.outputs.size(); ++output)
        table->put(frame, 0, static_cast<int>(output), score_of(frame, output));
    (void)plan;
}

#if defined(__SANITIZE_ADDRESS__)
constexpr int64_t kFlatBytes = INT64_MAX; // the sanitizer keeps what was freed: its memory says nothing
#else
constexpr int64_t kFlatBytes = 256 << 10;
#endif

/// Pools, rows and aggregates of the first `kept` frames, by never scoring more, and by forgetting the others.
void expect_truncated_alike(int64_t scored, int64_t kept) {
    const ScorePlan plan = plan_of("vif", nullptr, 3);
    const auto whole = table_of(plan), cut = table_of(plan);
    for (int64_t frame = 0; frame < kept; ++frame) score_frame(plan, frame, whole.get());
    for (int64_t frame = 0; frame < scored; ++frame) score_frame(plan, frame, cut.get());
    cut->set_aggregate("apsnr_y", 40.0);
    whole->close();
    cut->close();
    final_frames(cut.get(), plan);
    ASSERT_TRUE(cut->truncate(kept).ok());
    EXPECT_EQ(cut->scored_frames(), whole->scored_frames());
    EXPECT_TRUE(cut->aggregates().empty()) << "it is of more frames";
    EXPECT_EQ(final_frames(cut.get(), plan), Frames());
    std::vector<ScoreTable::AllPools> expected, found;
    ASSERT_TRUE(whole->pool_everything(&expected).ok());
    ASSERT_TRUE(cut->pool_everything(&found).ok());
    EXPECT_EQ(found, expected);
    int64_t rows = 0;
    ASSERT_TRUE(cut->for_each_scored_row([&](int64_t frame, std::span<const double> values) {
                       EXPECT_EQ(frame, 3 * rows++);
                       EXPECT_EQ(values[1], score_of(frame, 1));
                       return Status();
                   })
                    .ok());
    EXPECT_EQ(rows, whole->scored_frames());
}

TEST(ScoreTable, ForgottenFramesLeaveNoTrace) {
    for (const auto& [scored, kept] :
         std::vector<std::pair<int64_t, int64_t>>{{10, 7}, {10, 10}, {10, 20}, {10, 0}, {50000, 49999}, {50000, 20001}})
        expect_truncated_alike(scored, std::min(kept, scored));
}

/// Whether the next row is that frame's, with its value in one column.
bool next_is(ScoreTable* table, const ScorePlan& plan, int64_t frame, size_t column) {
    const auto row = next(table, plan);
    return row && row->frame == frame && row->values[column] == score_of(frame, column);
}

int64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    int64_t total = 0, resident = 0;
    statm >> total >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

/// By how much the resident set grows over rows, behind the first ones. @param step (frame)
template <class Step>
int64_t growth_over(int64_t rows, int64_t warm, const Step& step) {
    int64_t warm_bytes = 0;
    for (int64_t frame = 0; frame < rows; ++frame) {
        step(frame);
        if (frame == warm) warm_bytes = resident_bytes();
    }
    return resident_bytes() - warm_bytes;
}

/// All rows can be visited, in the order of their frames.
void expect_rows_in_order(const ScoreTable& table, int64_t rows) {
    int64_t visited = 0;
    const Status status = table.for_each_scored_row([&](int64_t frame, std::span<const double> values) {
        if (frame != visited || values[1] != score_of(frame, 1)) return invalid("row out of place");
        ++visited;
        return Status();
    });
    EXPECT_TRUE(status.ok()) << status.text();
    EXPECT_EQ(visited, rows);
}

TEST(ScoreTable, MemoryIsFlatOverAMillionRows) {
    const ScorePlan plan = plan_of("vif");
    const auto table = table_of(plan);
    constexpr int64_t kRows = 1000000, kWarm = 50000;
    int64_t wrong = 0;
    const int64_t growth = growth_over(kRows, kWarm, [&](int64_t frame) {
        score_frame(plan, frame, table.get());
        wrong += next_is(table.get(), plan, frame, 3) ? 0 : 1;
    });
    ASSERT_EQ(wrong, 0);
    std::printf("resident set grew by %lld bytes over %lld rows\n", static_cast<long long>(growth),
                static_cast<long long>(kRows - kWarm));
    EXPECT_LT(growth, kFlatBytes);

    expect_rows_in_order(*table, kRows);
    double median = 0.0;
    ASSERT_TRUE(table->pooled(0, QC_POOL_P50, &median).ok());
    EXPECT_NEAR(median, 500001.0, 5.0);
}

/// Nothing is fetched until the end: memory stays flat all the same, and all rows are there.
TEST(ScoreTable, RowsThatNobodyFetchesWaitInTheFile) {
    const ScorePlan plan = plan_of("vif");
    const auto table = table_of(plan);
    constexpr int64_t kRows = 100000, kWarm = 20000;
    EXPECT_LT(growth_over(kRows, kWarm, [&](int64_t frame) { score_frame(plan, frame, table.get()); }), kFlatBytes);
    for (int64_t frame = 0; frame < kRows; ++frame) {
        ASSERT_TRUE(next_is(table.get(), plan, frame, 2)) << frame;
    }
    EXPECT_FALSE(next(table.get(), plan));
}

/// Wherever a row lies, in the file or in memory still, and with frames between that have none.
TEST(ScoreTable, RowsAreFoundByTheirFrames) {
    const ScorePlan plan = plan_of("vif", nullptr, 2);
    const auto table = table_of(plan);
    constexpr int64_t kFrames = 200000;
    for (int64_t frame = 0; frame < kFrames; ++frame) score_frame(plan, frame, table.get());
    EXPECT_EQ(table->final_frames(), kFrames);
    for (const int64_t frame : {0, 1, 2, 77777, 77778, 131072, 199997, 199998, 199999, 200000}) {
        double value = 0.0;
        ASSERT_TRUE(table->score(1, frame, &value).ok()) << frame;
        if (frame % 2 == 0 && frame < kFrames)
            EXPECT_EQ(value, score_of(frame, 1)) << frame;
        else
            EXPECT_TRUE(std::isnan(value)) << frame;
    }
    for (const auto& [first, end] : {std::pair<int64_t, int64_t>{0, 2}, {1, 3}, {1001, 199001}, {199990, 999999}}) {
        double sum = 0.0, mean = 0.0;
        int64_t count = 0;
        for (int64_t frame = first; frame < std::min(end, kFrames); ++frame) {
            if (frame % 2 != 0) continue;
            sum += score_of(frame, 1);
            ++count;
        }
        ASSERT_TRUE(table->pooled_between(1, QC_POOL_MEAN, first, end, &mean).ok());
        EXPECT_EQ(mean, sum / static_cast<double>(count)) << first << ".." << end;
    }
    double none = 0.0;
    EXPECT_FALSE(table->pooled_between(1, QC_POOL_MEAN, 3, 4, &none).ok());
    EXPECT_FALSE(table->score(99, 0, &none).ok());
}

/// More rows than memory keeps by itself; all of them must be there at the end.
void expect_all_rows(const ScorePlan& plan) {
    const auto table = table_of(plan);
    constexpr int64_t kRows = 100000;
    for (int64_t frame = 0; frame < kRows; ++frame) score_frame(plan, frame, table.get());
    EXPECT_TRUE(table->status().ok()) << table->status().text();
    EXPECT_EQ(table->scored_frames(), kRows);
    for (int64_t frame = 0; frame < kRows; ++frame) ASSERT_TRUE(next_is(table.get(), plan, frame, 2)) << frame;
    double median = 0.0;
    EXPECT_TRUE(table->pooled(0, QC_POOL_P50, &median).ok());
    expect_rows_in_order(*table, kRows);
}

TEST(ScoreTable, MissingTemporaryFolderEndsNoRun) {
    EXPECT_TRUE(ScoreSpool::check_folder().ok());
    const Environment tmpdir("TMPDIR", "/nowhere/at/all");
    EXPECT_EQ(ScoreSpool::check_folder().text(),
              "no temporary file can be made in \"/nowhere/at/all\": No such file or directory");
    expect_all_rows(plan_of("vif"));
}

/// A disk that is full from 1 MB on.
TEST(ScoreTable, FullDiskEndsNoRun) {
    const TemporaryFolder folder;
    const Environment tmpdir("TMPDIR", folder.path().string());
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1 << 20, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    expect_all_rows(plan_of("vif"));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, old_handler);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "the temporary file has no name";
}

/// Rows without scores are not kept, but handed out in their place among the others.
TEST(ScoreTable, UnscoredRowsTakeNoRoom) {
    const ScorePlan plan = plan_of("vif", nullptr, 3);
    const auto table = table_of(plan);
    constexpr int64_t kRows = 50000;
    for (int64_t frame = 0; frame < kRows; ++frame) {
        table->begin_frame(frame, true);
        if (frame % 3 == 0) put_all(plan, kVif, frame, static_cast<double>(frame), table.get());
    }
    for (int64_t frame = 0; frame < kRows; ++frame) {
        const auto row = next(table.get(), plan);
        ASSERT_TRUE(row);
        ASSERT_EQ(row->frame, frame);
        ASSERT_EQ(row->all_present, frame % 3 == 0);
        ASSERT_EQ(row->any_present, frame % 3 == 0);
        if (row->all_present) {
            ASSERT_EQ(row->values[1], static_cast<double>(frame) + 1.0);
        } else {
            ASSERT_TRUE(std::isnan(row->values[1]));
        }
    }
    EXPECT_FALSE(next(table.get(), plan));
}

/// A model that maps one feature to coefficient * exp(-(x - 1)^2) / slope.
std::shared_ptr<const Model> model_with(double coefficient, double slope) {
    Predictor predictor;
    predictor.rescale = true;
    predictor.slopes = {slope, 1.0};
    predictor.intercepts = {0.0, 0.0};
    predictor.svm = {1.0, 0.0, 1, {coefficient}, {1.0}};
    return std::make_shared<const Model>(std::vector<ModelFeature>{{"integer_vif_scale0", {}}},
                                         std::vector<Predictor>{predictor});
}

TEST(ScoreTable, PredictionsBeyondAllMeasureFail) {
    for (const auto& [coefficient, slope, score] :
         {std::tuple{1e300, 1e-300, "inf"}, std::tuple{-1e60, 1.0, "-1e+60"}, std::tuple{0.0, 0.0, "no number"}}) {
        ScorePlan plan = plan_of("vif");
        plan.models.push_back({"vmaf", "m.json", model_with(coefficient, slope), {0}, {3}});
        const auto table = table_of(plan);
        table->begin_frame(0, true);
        put_all(plan, kVif, 0, 1.0, table.get());
        EXPECT_EQ(table->status().code(), QC_ERROR_INVALID);
        EXPECT_EQ(table->status().text(), std::string("model \"m.json\": integer_vif_scale3 of frame 0 is ") + score +
                                              ": its coefficients are too large, scores up to 1e+50 are accepted");
        EXPECT_EQ(table->scored_frames(), 0);
    }
    ScorePlan plan = plan_of("vif");
    plan.models.push_back({"vmaf", "m.json", model_with(1e49, 1.0), {0}, {3}});
    const auto table = table_of(plan);
    for (int64_t frame = 0; frame < 2; ++frame) {
        table->begin_frame(frame, true);
        put_all(plan, kVif, frame, frame == 0 ? 1.0 : NAN,
                table.get()); // a score that is no number is no model's fault
    }
    EXPECT_TRUE(table->status().ok()) << table->status().text();
    EXPECT_EQ(next(table.get(), plan)->values[3], 1e49);
    EXPECT_TRUE(std::isnan(next(table.get(), plan)->values[3]));
}

} // namespace
} // namespace qc::test
