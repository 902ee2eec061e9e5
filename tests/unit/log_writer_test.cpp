// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "report/log_formats.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_metrics.hpp"
#include "tests/golden/golden.hpp"
#include "tests/support/plans.hpp"

namespace qc::test {
namespace {

using Json = nlohmann::json;

std::string content_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

struct ScoredRun {
    ScorePlan plan;
    std::unique_ptr<ScoreTable> table;
};

/// A run of vif, output k of frame f scoring scores[f] + k.
ScoredRun run_of(const std::vector<double>& scores, int n_subsample = 1) {
    ScoredRun run;
    qc_config config{};
    config.metrics = "vif";
    config.n_subsample = n_subsample;
    EXPECT_TRUE(test::plan_of_config(config, fake_registry(), &kGeometry, &run.plan).ok());
    EXPECT_TRUE(ScoreTable::create(run.plan, &run.table).ok());
    for (size_t frame = 0; frame < scores.size(); ++frame) {
        run.table->begin_frame(int64_t(frame), true);
        for (int output = 0; output < 4; ++output) run.table->put(int64_t(frame), 0, output, scores[frame] + output);
    }
    run.table->close();
    return run;
}

Status write(const ScoredRun& run, const std::string& path,
             LogHead head = {.version = "1.2.3", .fps = 64.567, .extra = {}}) {
    return write_log(QC_LOG_FORMAT_JSON, *run.table, run.plan, path, head);
}

/// A run in one of the other layouts, as text.
std::string text_of(const ScoredRun& run, qc_log_format log_format,
                    LogHead head = {.version = "1.2.3", .fps = 64.567}) {
    const TemporaryFolder folder;
    head.width = kGeometry.width;
    head.height = kGeometry.height;
    const std::string path = folder.file("log.json"); // the ending does not choose the layout
    const Status status = write_log(log_format, *run.table, run.plan, path, head);
    EXPECT_TRUE(status.ok()) << status.text();
    return content_of(path);
}

TEST(LogWriter, NumbersAreWrittenLikeTheReferences) {
    EXPECT_EQ(json_score(100.0), "100.000000");
    EXPECT_EQ(json_score(83.85628400042145), "83.856284");
    EXPECT_EQ(json_score(0.0), "0.000000");
    EXPECT_EQ(json_score(-1.5), "-1.500000");
    EXPECT_EQ(json_score(0.000000512), "0.0000005120000000");
    EXPECT_EQ(json_score(1e-6), "0.000001");
    EXPECT_EQ(json_score(9.9e-7), "0.0000009900000000");
    EXPECT_EQ(json_score(3.0000001), "3.0000000999999998"); // what a double makes of it
    EXPECT_EQ(json_score(1e300).substr(0, 4), "1000");
    EXPECT_EQ(json_score(5e-324), "0.0000000000000000");
    for (double score : {double(INFINITY), -double(INFINITY), double(NAN)}) EXPECT_EQ(json_score(score), "null");
}

TEST(LogWriter, StringsAreEscaped) {
    EXPECT_EQ(json_string("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\"");
}

TEST(LogWriter, NamesOfAnyBytesAreStillJson) {
    const std::string broken = "\xef\xbf\xbd"; // U+FFFD
    EXPECT_EQ(json_string("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xac"), "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xac\"");
    EXPECT_EQ(json_string("m\xff.json"), "\"m" + broken + ".json\"");
    for (const char* wrong : {"\x80", "\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xe2\x82",
                              "\xf5\x80\x80\x80", "\xf4\x90\x80\x80", "\xfe"}) {
        EXPECT_NE(json_string(wrong).find(broken), std::string::npos) << wrong;
        EXPECT_TRUE(Json::accept(json_string(wrong))) << wrong;
    }
}

TEST(LogWriter, ModelsAreListedWithTheirRanges) {
    const TemporaryFolder folder;
    ScoredRun run;
    qc_config config{};
    config.model = "vmaf_v1.0.16_3d0h_2160|vmaf_v1.0.16_5d0h:disable_clip=true:name=open";
    ASSERT_TRUE(test::plan_of_config(config, fake_registry_v1(), &kGeometry, &run.plan).ok());
    ASSERT_TRUE(ScoreTable::create(run.plan, &run.table).ok());
    run.table->close();
    ASSERT_TRUE(write(run, folder.file("log.json")).ok());
    const Json log = Json::parse(content_of(folder.file("log.json")));
    EXPECT_EQ(log.at("models"), Json::parse(R"([
        {"name": "vmaf", "model": "vmaf_v1.0.16_3d0h_2160", "score_range": [0, 110]},
        {"name": "open", "model": "vmaf_v1.0.16_5d0h", "score_range": null}])"));
}

TEST(LogWriter, LayoutIsExact) {
    const TemporaryFolder folder;
    ScoredRun run = run_of({0.5, INFINITY});
    run.table->set_aggregate("apsnr_y", 33.113422);
    const qc_log_extra extra[] = {{"reference", "{\"file\": \"ref.mp4\"}"}, {"renditions", "1"}};
    const Status status =
        write(run, folder.file("log.json"), {.version = "1.2.3", .fps = 64.567, .complete = false, .extra = extra});
    ASSERT_TRUE(status.ok()) << status.text();
    const std::string log = content_of(folder.file("log.json"));
    EXPECT_TRUE(log.starts_with(R"({
  "version": "3.2.0",
  "quality_cuda_version": "1.2.3",
  "fps": 64.57,
  "complete": false,
  "reference": {"file": "ref.mp4"},
  "renditions": 1,
  "frames": [
    {
      "frameNum": 0,
      "metrics": {
        "integer_vif_scale0": 0.500000,
        "integer_vif_scale1": 1.500000,
        "integer_vif_scale2": 2.500000,
        "integer_vif_scale3": 3.500000
      }
    },
    {
      "frameNum": 1,
      "metrics": {
        "integer_vif_scale0": null,
)")) << log;
    EXPECT_NE(log.find(R"(
  ],
  "pooled_metrics": {
    "integer_vif_scale0": {
      "min": 0.500000,
      "max": null,
      "mean": null,
      "harmonic_mean": 2.000000,
      "p1": null,
)"),
              std::string::npos)
        << log;
    EXPECT_TRUE(log.ends_with(R"(
  },
  "aggregate_metrics": {
    "apsnr_y": 33.113422
  }
}
)")) << log;
    EXPECT_NO_THROW(Json::parse(log));
}

/// Columns come in the order of the first scores, whatever order the plan has: a metric that lags stands behind the
/// others.
TEST(LogWriter, ColumnsInTheOrderOfTheirFirstScores) {
    ScoredRun run;
    qc_config config{};
    config.metrics = "vif";
    ASSERT_TRUE(test::plan_of_config(config, fake_registry(), &kGeometry, &run.plan).ok());
    ASSERT_TRUE(ScoreTable::create(run.plan, &run.table).ok());
    for (int64_t frame = 0; frame < 3; ++frame) {
        run.table->begin_frame(frame, true);
        for (const int output : {2, 3, 0}) run.table->put(frame, 0, output, output);
        if (frame > 0) run.table->put(frame - 1, 0, 1, 1.0);
    }
    run.table->put(2, 0, 1, 1.0);
    run.table->close();
    EXPECT_TRUE(text_of(run, QC_LOG_FORMAT_CSV)
                    .starts_with("Frame,integer_vif_scale2,integer_vif_scale3,integer_vif_scale0,integer_vif_scale1,\n"
                                 "0,2.000000,3.000000,0.000000,1.000000,\n"));
    EXPECT_NE(text_of(run, QC_LOG_FORMAT_SUB)
                  .find("|integer_vif_scale2: 2.000000|integer_vif_scale3: 3.000000|integer_vif_"
                        "scale0: 0.000000|integer_vif_scale1: 1.000000|"),
              std::string::npos);
    EXPECT_NE(text_of(run, QC_LOG_FORMAT_XML).find("frameNum=\"2\" integer_vif_scale2=\"2.000000\" integer_vif_scale3"),
              std::string::npos);
    const std::string json = text_of(run, QC_LOG_FORMAT_JSON);
    EXPECT_LT(json.find("integer_vif_scale3"), json.find("integer_vif_scale0"));
    EXPECT_LT(json.rfind("integer_vif_scale0"), json.rfind("integer_vif_scale1"));
}

TEST(LogWriter, FormatNames) {
    EXPECT_EQ(parse_log_format("json"), QC_LOG_FORMAT_JSON);
    EXPECT_EQ(parse_log_format("xml"), QC_LOG_FORMAT_XML);
    EXPECT_EQ(parse_log_format("csv"), QC_LOG_FORMAT_CSV);
    EXPECT_EQ(parse_log_format("sub"), QC_LOG_FORMAT_SUB);
    for (const char* wrong : {"", "JSON", "jsonx", "yaml"}) EXPECT_FALSE(parse_log_format(wrong)) << wrong;
}

TEST(LogWriter, ScoresThatAreNoNumbersInTextLayouts) {
    EXPECT_EQ(score_text(0.000000512), "0.0000005120000000");
    EXPECT_EQ(score_text(INFINITY), "inf");
    EXPECT_EQ(score_text(-INFINITY), "-inf");
    EXPECT_EQ(score_text(std::copysign(NAN, 1.0)), "nan");
    EXPECT_EQ(score_text(std::copysign(NAN, -1.0)), "nan") << "the sign means nothing";
}

TEST(LogWriter, XmlLayoutIsExact) {
    ScoredRun run = run_of({0.5, 0.25}, 1);
    run.table->set_aggregate("apsnr_y", 33.113422);
    const std::string log = text_of(run, QC_LOG_FORMAT_XML, {.version = "1.2.3", .fps = 64.567, .complete = false});
    EXPECT_TRUE(log.starts_with(R"(<VMAF version="3.2.0">
  <params qualityWidth="320" qualityHeight="180" />
  <fyi fps="64.57" quality_cuda_version="1.2.3" complete="false" />
  <frames>
    <frame frameNum="0" integer_vif_scale0="0.500000" integer_vif_scale1="1.500000" integer_vif_scale2="2.500000" integer_vif_scale3="3.500000" />
    <frame frameNum="1" integer_vif_scale0="0.250000" integer_vif_scale1="1.250000" integer_vif_scale2="2.250000" integer_vif_scale3="3.250000" />
  </frames>
  <pooled_metrics>
    <metric name="integer_vif_scale0" min="0.250000" max="0.500000" mean="0.375000" harmonic_mean="0.363636" p1=")"))
        << log;
    EXPECT_TRUE(log.ends_with(R"( />
  </pooled_metrics>
  <aggregate_metrics apsnr_y="33.113422" />
</VMAF>
)")) << log;
}

TEST(LogWriter, XmlTellsWhatTheFrontEndAdds) {
    const qc_log_extra extra[] = {{"end", "\"stopped early\""},
                                  {"engine", "\"<CPU & \\\"GPU\\\"\\n>\""},
                                  {"reason", "null"},
                                  {"count", "3"},
                                  {"exact", "true"},
                                  {"pairing", R"({"frames": 100, "mean_dt": -0.25, "ended": true, "list": [1]})"}};
    const std::string log = text_of(run_of({0.5}), QC_LOG_FORMAT_XML, {.version = "1", .fps = NAN, .extra = extra});
    EXPECT_NE(
        log.find(
            "  <fyi fps=\"nan\" quality_cuda_version=\"1\" complete=\"true\" end=\"stopped early\" engine=\"&lt;CPU "
            "&amp; &quot;GPU&quot; >\" count=\"3\" exact=\"true\" />\n"
            "  <pairing ended=\"true\" frames=\"100\" mean_dt=\"-0.25\" />\n  <frames>\n"),
        std::string::npos)
        << log;
    const qc_log_extra bad[] = {{"end", "stopped"}};
    const ScoredRun run = run_of({0.5});
    const TemporaryFolder folder;
    EXPECT_EQ(write_log(QC_LOG_FORMAT_XML, *run.table, run.plan, folder.file("log.xml"), {.version = "1", .extra = bad})
                  .code(),
              QC_ERROR_INVALID);
}

TEST(LogWriter, XmlOfNothing) {
    const std::string log = text_of(run_of({}), QC_LOG_FORMAT_XML, {.version = "1", .fps = NAN});
    EXPECT_NE(log.find("  <fyi fps=\"nan\" quality_cuda_version=\"1\" complete=\"true\" />\n  <frames>\n  </frames>\n  "
                       "<pooled_metrics>\n"
                       "    <metric name=\"integer_vif_scale0\" />\n"),
              std::string::npos)
        << log;
    EXPECT_TRUE(log.ends_with("  <aggregate_metrics />\n</VMAF>\n")) << log;
}

TEST(LogWriter, XmlNamesStayNames) {
    ScoredRun run = run_of({0.5});
    run.plan.columns[0].name = "4k+phone";
    const std::string log = text_of(run, QC_LOG_FORMAT_XML);
    EXPECT_NE(log.find("<frame frameNum=\"0\" _4k_phone=\"0.500000\" "), std::string::npos) << log;
    EXPECT_NE(log.find("<metric name=\"4k+phone\" "), std::string::npos) << log;
}

TEST(LogWriter, CsvLayoutIsExact) {
    EXPECT_EQ(text_of(run_of({0.5, 7.0, INFINITY}, 2), QC_LOG_FORMAT_CSV),
              "Frame,integer_vif_scale0,integer_vif_scale1,integer_vif_scale2,integer_vif_scale3,\n"
              "0,0.500000,1.500000,2.500000,3.500000,\n"
              "2,inf,inf,inf,inf,\n");
    EXPECT_EQ(text_of(run_of({}), QC_LOG_FORMAT_CSV),
              "Frame,integer_vif_scale0,integer_vif_scale1,integer_vif_scale2,integer_vif_scale3,\n");
}

TEST(LogWriter, SubLayoutIsExact) {
    EXPECT_EQ(text_of(run_of({0.5, 7.0, 1.0}, 2), QC_LOG_FORMAT_SUB),
              "{0}{1}frame: 0|integer_vif_scale0: 0.500000|integer_vif_scale1: 1.500000|integer_vif_scale2: 2.500000|"
              "integer_vif_scale3: 3.500000|\n"
              "{2}{3}frame: 2|integer_vif_scale0: 1.000000|integer_vif_scale1: 2.000000|integer_vif_scale2: 3.000000|"
              "integer_vif_scale3: 4.000000|\n");
    EXPECT_EQ(text_of(run_of({}), QC_LOG_FORMAT_SUB), "");
}

TEST(LogWriter, EveryPoolIsThere) {
    const TemporaryFolder folder;
    ASSERT_TRUE(write(run_of({1.0, 2.0, 3.0, 4.0, 5.0}), folder.file("log.json")).ok());
    const Json pooled = Json::parse(content_of(folder.file("log.json"))).at("pooled_metrics").at("integer_vif_scale0");
    EXPECT_EQ(pooled.size(), 9U);
    EXPECT_EQ(pooled.at("p1"), 1.04);
    EXPECT_EQ(pooled.at("p5"), 1.2);
    EXPECT_EQ(pooled.at("p10"), 1.4);
    EXPECT_EQ(pooled.at("p50"), 3.0);
    EXPECT_EQ(pooled.at("stddev"), 1.414214);
    EXPECT_EQ(pooled.at("mean"), 3.0);
}

TEST(LogWriter, SubsampledFramesAreLeftOut) {
    const TemporaryFolder folder;
    ASSERT_TRUE(write(run_of({1.0, 2.0, 3.0, 4.0, 5.0}, 2), folder.file("log.json")).ok());
    const Json log = Json::parse(content_of(folder.file("log.json")));
    ASSERT_EQ(log.at("frames").size(), 3U);
    EXPECT_EQ(log.at("frames")[2].at("frameNum"), 4);
    EXPECT_EQ(log.at("pooled_metrics").at("integer_vif_scale0").at("mean"), 3.0);
}

TEST(LogWriter, NoFramesIsStillALog) {
    const TemporaryFolder folder;
    ASSERT_TRUE(write(run_of({}), folder.file("log.json"), {.version = "1", .fps = NAN, .extra = {}}).ok());
    const Json log = Json::parse(content_of(folder.file("log.json")));
    EXPECT_TRUE(log.at("frames").empty());
    EXPECT_TRUE(log.at("fps").is_null());
    EXPECT_TRUE(log.at("pooled_metrics").at("integer_vif_scale0").empty());
    EXPECT_TRUE(log.at("aggregate_metrics").empty());
}

TEST(LogWriter, ReplacesOnlyWhenWhole) {
    const TemporaryFolder folder;
    const std::string path = folder.file("log.json");
    std::ofstream(path) << "old";
    const qc_log_extra broken[] = {{"note", "{not json"}};
    const Status status = write(run_of({1.0}), path, {.version = "1", .extra = broken});
    EXPECT_EQ(status.code(), QC_ERROR_INVALID);
    EXPECT_EQ(status.text(), "log: the value of the additional key \"note\" is not JSON");
    EXPECT_EQ(content_of(path), "old");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "a temporary file stayed";
    ASSERT_TRUE(write(run_of({1.0}), path).ok());
    EXPECT_EQ(content_of(path).substr(0, 2), "{\n");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "a temporary file stayed";
}

TEST(LogWriter, UnwritablePathsSaySo) {
    const TemporaryFolder folder;
    const Environment tmpdir("TMPDIR", folder.path().string());
    const Status status = write(run_of({1.0}), "/nowhere/log.json");
    EXPECT_EQ(status.code(), QC_ERROR_IO);
    EXPECT_TRUE(status.text().starts_with(
        "cannot write log \"/nowhere/log.json\": No such file or directory; the scores are in "
        "\"" +
        folder.path().string() + "/"))
        << status.text();
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(LogWriter, LinksAndDevicesStayWhatTheyAre) {
    const TemporaryFolder folder;
    const ScoredRun run = run_of({1.0});
    std::ofstream(folder.file("real.json")) << "old";
    ASSERT_EQ(symlink("real.json", folder.file("link.json").c_str()), 0);
    ASSERT_TRUE(write(run, folder.file("link.json")).ok());
    EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link.json")));
    EXPECT_EQ(content_of(folder.file("real.json")).substr(0, 2), "{\n");
    ASSERT_TRUE(write(run, "/dev/null").ok());
    struct stat info {};
    ASSERT_EQ(stat("/dev/null", &info), 0);
    EXPECT_TRUE(S_ISCHR(info.st_mode));
}

/// Scores of golden files through the log, judged by the golden data's own comparison script.
TEST(LogWriter, GoldenRoundTrip) {
    if (const char* reason = golden::missing()) GTEST_SKIP() << reason;
    const std::filesystem::path shared = golden::shared_folder();
    const std::string script = (shared / "golden" / "check_scores.py").string();
    if (std::system("python3 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "SKIPPED: no python3";
    const TemporaryFolder folder;
    int compared = 0;
    for (const char* clip : {"src01_420p8", "src01_420p16", "noise_8b", "small_33x35_10b", "temporal60"}) {
        const std::filesystem::path golden_path = shared / "golden" / "libvmaf" / (std::string(clip) + ".json");
        ASSERT_TRUE(std::filesystem::exists(golden_path)) << golden_path;
        const Json golden = Json::parse(std::ifstream(golden_path));
        const Json& metrics = golden.at("runs").at("models_v0").at("metrics");
        ScoredRun run;
        qc_config config{};
        config.model = "version=vmaf_v0.6.1|version=vmaf_v0.6.1neg|version=vmaf_4k_v0.6.1|version=vmaf_4k_v0.6.1neg|"
                       "version=vmaf_b_v0.6.3";
        ASSERT_TRUE(test::plan_of_config(config, fake_registry(), &kGeometry, &run.plan).ok());
        ASSERT_TRUE(ScoreTable::create(run.plan, &run.table).ok());
        for (int64_t frame = 0; frame < golden.at("frames").get<int64_t>(); ++frame) {
            run.table->begin_frame(frame, true);
            for (size_t i = 0; i < run.plan.instances.size(); ++i) {
                for (size_t output = 0; output < run.plan.instances[i].column.size(); ++output) {
                    const int column = run.plan.instances[i].column[output];
                    if (column < 0) continue;
                    const Json& values = metrics.at(run.plan.columns[size_t(column)].name).at("values");
                    run.table->put(frame, int(i), int(output), values.at(size_t(frame)).get<double>());
                }
            }
        }
        run.table->close();
        const std::string log = folder.file("log.json");
        ASSERT_TRUE(write(run, log).ok());
        const std::string command = "python3 " + script + " -q " + golden_path.string() + " " + log +
                                    " --run models_v0 --map vmaf=vmaf_v0.6.1 --extra fail --tol-int 0 --tol-vmaf 0";
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
        ++compared;
    }
    EXPECT_EQ(compared, 5);
}

} // namespace
} // namespace qc::test
