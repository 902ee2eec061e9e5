// SPDX-License-Identifier: BSD-2-Clause-Patent
// The C API's promises, sentence by sentence of quality_cuda.h, on the CPU backend: names, arguments, scoring. Failures
// and logs: c_api_failure_test.cpp. Configurations: c_api_config_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <set>
#include <thread>

#include "plan/metric_registry.hpp"
#include "quality_cuda.h"
#include "tests/support/c_session.hpp"
#include "tests/support/plans.hpp"

namespace qc::test {
namespace {

std::string source_text(const char* path) {
    std::ifstream file(std::string(QC_SOURCE_ROOT) + "/" + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// ---- names ----------------------------------------------------------------------------------------------------------

TEST(CApi, VersionAndSoname) {
    EXPECT_EQ(qc_abi_version(), QC_ABI_VERSION);
    EXPECT_TRUE(std::regex_match(qc_version(), std::regex("\\d+\\.\\d+\\.\\d+"))) << qc_version();
    // The soname, and what speaks of it, follow the ABI's number.
    const std::string number = std::to_string(QC_ABI_VERSION);
    EXPECT_NE(source_text("engine/meson.build").find("soversion: '" + number + "'"), std::string::npos);
    EXPECT_NE(source_text("docs/reference/packaging.md").find("libquality_cuda.so." + number + "`"), std::string::npos);
    EXPECT_NE(source_text("packaging/debian/control").find("Package: libquality-cuda" + number), std::string::npos);
}

TEST(CApi, ARequestTellsWhetherAMetricTakesLong) {
    for (const auto& [metrics, expected] : std::initializer_list<std::pair<const char*, int>>{
             {"vmaf|ssimulacra2", 0}, {"butteraugli", 1}, {"psnr|cvvdp", 1}, {"all", 1}}) {
        const qc_config config = cpu_config(metrics);
        qc_request* request = nullptr;
        ASSERT_EQ(qc_request_create(&config, &request, nullptr), QC_OK) << metrics;
        EXPECT_EQ(qc_request_takes_long(request), expected) << metrics;
        qc_request_destroy(request);
    }
    EXPECT_EQ(qc_request_takes_long(nullptr), 0);
}

TEST(CApi, TheHeadersTestNamesEveryFunction) {
    const std::string header = source_text("engine/include/quality_cuda.h") +
                               source_text("run/include/quality_cuda_run/engine.h"),
                      test = source_text("tests/unit/header_test.c");
    const std::regex declaration("\nQC_API [^;(]*?(qc_\\w+)\\(");
    int functions = 0;
    for (std::sregex_iterator it(header.begin(), header.end(), declaration), end; it != end; ++it, ++functions)
        EXPECT_NE(test.find("(Function)" + it->str(1) + ","), std::string::npos) << it->str(1);
    EXPECT_GE(functions, 31);
}

TEST(CApi, NamesEndWithNull) {
    const auto count = [](const char* (*name_of)(int)) {
        int index = 0;
        for (; name_of(index) != nullptr; ++index) EXPECT_TRUE(std::isprint(name_of(index)[0]) || *name_of(index) == 0);
        EXPECT_EQ(name_of(-1), nullptr);
        EXPECT_EQ(name_of(index + 1), nullptr);
        return index;
    };
    EXPECT_EQ(count(qc_metric_name), static_cast<int>(registered_metrics().size()));
    EXPECT_EQ(count(qc_metric_summary), count(qc_metric_name));
    EXPECT_EQ(count(qc_metric_short_name), count(qc_metric_name));
    EXPECT_STREQ(qc_model_name(0), "vmaf_v0.6.1");
    for (int i = 0; i < count(qc_model_name); ++i) {
        qc_config config = cpu_config("vmaf");
        config.model = qc_model_name(i);
        qc_error error{};
        EXPECT_EQ(check_options(&config, &error), QC_OK) << error.text;
    }
}

TEST(CApi, EveryMetricTogether) {
    const qc_config config = cpu_config("all", "yuv420p", 640, 360);
    qc_error error{};
    EXPECT_EQ(qc_config_check(&config, &error), QC_OK) << error.text; // no two scores of one name, nothing refused
    EXPECT_EQ(check_options(&config, &error), QC_OK) << error.text;
}

TEST(CApi, EveryMetricCanBeNamed) {
    for (int i = 0; qc_metric_name(i) != nullptr; ++i) {
        const std::string name = qc_metric_name(i), short_name = qc_metric_short_name(i);
        bool named = false;
        for (const std::string& word : {name, short_name}) {
            if (word.empty()) continue;
            qc_config config = cpu_config(word.c_str());
            ScorePlan plan;
            const Status status = plan_of_config(config, registered_metrics(), nullptr, &plan);
            EXPECT_TRUE(status.ok()) << word << ": " << status.text();
            named = named || std::any_of(plan.instances.begin(), plan.instances.end(),
                                         [&](const MetricInstance& each) { return each.descriptor->name == name; });
        }
        EXPECT_TRUE(named) << name << " is hidden by another metric's short name";
    }
}

TEST(CApi, WordsOfPoolsAndFormats) {
    std::set<std::string> names;
    for (int i = 0; i < QC_POOL_COUNT; ++i) {
        const auto pool = static_cast<qc_pool>(i);
        qc_pool parsed = QC_POOL_COUNT;
        EXPECT_EQ(qc_pool_parse(qc_pool_name(pool), &parsed), QC_OK);
        EXPECT_EQ(parsed, pool);
        names.insert(qc_pool_name(pool));
    }
    EXPECT_EQ(names,
              (std::set<std::string>{"mean", "harmonic_mean", "min", "max", "p1", "p5", "p10", "p50", "stddev"}));
    EXPECT_EQ(qc_pool_name(QC_POOL_COUNT), nullptr);
    qc_pool pool{};
    qc_stats_format stats{};
    qc_log_format log{};
    for (const char* word : {"", "Mean", "mean ", "psnr2", "JSON", static_cast<const char*>(nullptr)}) {
        EXPECT_EQ(qc_pool_parse(word, &pool), QC_ERROR_INVALID);
        EXPECT_EQ(qc_stats_format_parse(word, &stats), QC_ERROR_INVALID);
        EXPECT_EQ(qc_log_format_parse(word, &log), QC_ERROR_INVALID);
    }
    const std::pair<const char*, int> stats_words[] = {{"psnr", QC_STATS_FORMAT_PSNR}, {"ssim", QC_STATS_FORMAT_SSIM}};
    for (const auto& [word, value] : stats_words) {
        EXPECT_EQ(qc_stats_format_parse(word, &stats), QC_OK);
        EXPECT_EQ(stats, value);
    }
    const std::pair<const char*, int> log_words[] = {{"json", QC_LOG_FORMAT_JSON},
                                                     {"xml", QC_LOG_FORMAT_XML},
                                                     {"csv", QC_LOG_FORMAT_CSV},
                                                     {"sub", QC_LOG_FORMAT_SUB}};
    for (const auto& [word, value] : log_words) {
        EXPECT_EQ(qc_log_format_parse(word, &log), QC_OK);
        EXPECT_EQ(log, value);
    }
}

// ---- arguments ------------------------------------------------------------------------------------------------------

TEST(CApi, NullPointersAreRefused) {
    const qc_config config = cpu_config("skeleton");
    Scoring scoring(config);
    ASSERT_EQ(scoring.submit(0), QC_OK);
    qc_session* const s = scoring.get();
    const qc_picture picture = scoring.reference(0);
    qc_session* made = s;
    const char* name = nullptr;
    double value = 0;
    char text[8];
    int releases = 0;
    const auto release = [](void* calls) { ++*static_cast<int*>(calls); };
    for (qc_session* const session : {static_cast<qc_session*>(nullptr), s}) {
        EXPECT_EQ(qc_session_feature(session, 0, nullptr), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_submit(session, nullptr), QC_ERROR_INVALID);
        const qc_frame frame = frame_of(qc_picture{}, {picture}, release, &releases);
        EXPECT_EQ(qc_session_submit(session, &frame), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_receive(session, 1, nullptr), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_pooled(session, 0, 0, QC_POOL_MEAN, nullptr), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_aggregate(session, 0, 0, nullptr, &value), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_aggregate(session, 0, 0, &name, nullptr), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_stats_line(session, nullptr, text, sizeof(text)), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_stats_line(session, &scoring.row(), nullptr, 0), QC_ERROR_INVALID);
        int feature = 7;
        EXPECT_EQ(qc_session_report_feature(session, 0, 0, nullptr), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_report_feature(session, 1, 0, &feature), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_report_feature(session, 0, -1, &feature), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_report_feature(session, 0, qc_session_feature_count(session), &feature),
                  session == nullptr ? QC_ERROR_INVALID : QC_END);
        EXPECT_EQ(feature, 7);
        EXPECT_EQ(qc_session_report_feature(session, 0, 0, &feature), session == nullptr ? QC_ERROR_INVALID : QC_OK);
        const qc_row never_received{};
        EXPECT_EQ(qc_session_stats_line(session, &never_received, text, sizeof(text)), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_write_log(session, 0, nullptr, QC_LOG_FORMAT_JSON, 1, nullptr, 0), QC_ERROR_INVALID);
        EXPECT_EQ(qc_session_stats(session, nullptr), QC_ERROR_INVALID);
    }
    EXPECT_EQ(releases, 2);
    EXPECT_EQ(scoring.error(), "stats is a null pointer");
    EXPECT_EQ(qc_session_flush(nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_break(nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_continue_on_cpu(nullptr), QC_ERROR_INVALID);
    qc_session_collect(nullptr);
    qc_session_destroy(nullptr);
    EXPECT_STREQ(qc_session_description(nullptr), "");
    EXPECT_STREQ(qc_session_error(nullptr), "");
    EXPECT_EQ(qc_session_backend(nullptr), QC_BACKEND_AUTO);
    EXPECT_EQ(qc_session_feature_count(nullptr), 0);
    EXPECT_EQ(qc_session_scored_frames(nullptr), 0);
    EXPECT_EQ(qc_session_create(nullptr, nullptr, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_create(nullptr, &made, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(made, nullptr);
    EXPECT_EQ(qc_session_create(&config, nullptr, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_config_check(nullptr, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(check_options(nullptr, nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_pool_parse("mean", nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_stats_format_parse("psnr", nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_log_format_parse("json", nullptr), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_flush(s), QC_OK) << "all of it was without effect";
    EXPECT_EQ(scoring.receive(), QC_OK);
}

TEST(CApi, RefusedPicturesChangeNothing) {
    const auto try_one = [](const char* metrics, const char* layout, const char* text, auto&& spoil) {
        Scoring scoring(cpu_config(metrics, layout));
        for (const bool in_reference : {true, false}) {
            qc_picture reference = scoring.reference(0);
            std::vector<qc_picture> distorted = scoring.distorted(0);
            spoil(in_reference ? reference : distorted[0]);
            const int before = scoring.releases();
            EXPECT_EQ(scoring.submit(reference, distorted), QC_ERROR_INVALID) << text;
            EXPECT_EQ(scoring.error(), std::string(in_reference ? "the reference" : "a distorted picture") + text);
            EXPECT_EQ(scoring.releases(), before + 1) << "refused pictures are free";
        }
        scoring.run(2);
        EXPECT_EQ(qc_session_scored_frames(scoring.get()), 2);
    };
    try_one("psnr", "yuv420p", " lacks plane 1", [](qc_picture& p) { p.plane[1] = nullptr; });
    try_one("psnr", "yuv420p", " lacks plane 2", [](qc_picture& p) { p.plane[2] = nullptr; });
    try_one("skeleton", "yuv420p", ": memory=2: 0 or 1 is accepted", [](qc_picture& p) {
        const int memory = 2; // no enumerator
        std::memcpy(&p.memory, &memory, sizeof(memory));
    });
    for (int i = 0; i < 4; ++i)
        try_one("skeleton", "nv12", ": reserved=7: 0 is accepted", [&](qc_picture& p) { p.reserved[i] = 7; });
    const char* const odd = ": plane 0 does not begin, or its rows do not, at multiples of 2 bytes";
    try_one("skeleton", "yuv420p10le", odd, [](qc_picture& p) { ++p.pitch_bytes[0]; });
    try_one("skeleton", "yuv420p10le", odd,
            [](qc_picture& p) { p.plane[0] = static_cast<const char*>(p.plane[0]) + 1; });
    try_one("skeleton", "yuv420p", ": pitch_bytes[0]=-96: 96..2147483647 is accepted for CUDA memory",
            [](qc_picture& p) {
                p.memory = QC_MEMORY_CUDA;
                p.pitch_bytes[0] = -96;
            });

    Scoring scoring(cpu_config("skeleton"));
    qc_picture luma = scoring.reference(0);
    luma.plane[1] = luma.plane[2] = nullptr;
    EXPECT_EQ(scoring.submit(luma, scoring.distorted(0)), QC_OK) << "no metric of this session needs chroma";
    EXPECT_EQ(scoring.submit(qc_picture{}, scoring.distorted(0)), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), "a frame was submitted without its reference");
    EXPECT_EQ(scoring.releases(), 2);
    ASSERT_EQ(qc_session_flush(scoring.get()), QC_OK);
    EXPECT_EQ(scoring.submit(0), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), "a frame was submitted after the flush");
    EXPECT_EQ(scoring.receive(), QC_OK);
    EXPECT_EQ(scoring.receive(), QC_END);
}

/// Rows that overlap, or lie further apart than addresses reach.
TEST(CApi, RowsLieApart) {
    struct Case {
        const char* metrics;
        const char* layout;
        int plane;
        ptrdiff_t row_bytes;
    };
    for (const Case& each :
         {Case{"skeleton", "yuv420p", 0, 97}, Case{"psnr", "yuv420p", 1, 49}, Case{"psnr", "nv12", 1, 98},
          Case{"psnr", "yuv420p10le", 2, 98}, Case{"psnr", "p010le", 1, 196}}) {
        SCOPED_TRACE(std::string(each.layout) + ", plane " + std::to_string(each.plane));
        Scoring scoring(cpu_config(each.metrics, each.layout, 97, 65));
        const auto submit = [&](ptrdiff_t pitch_bytes) {
            std::vector<qc_picture> distorted = scoring.distorted(0);
            distorted[0].pitch_bytes[each.plane] = pitch_bytes;
            return scoring.submit(scoring.reference(0), distorted);
        };
        const ptrdiff_t sample_bytes = scoring.distorted(0)[0].pitch_bytes[0] >= 194 ? 2 : 1;
        for (const ptrdiff_t pitch :
             {ptrdiff_t{0}, each.row_bytes - sample_bytes, -each.row_bytes + sample_bytes, ptrdiff_t{1} << 32,
              -(ptrdiff_t{1} << 32), std::numeric_limits<ptrdiff_t>::min()}) {
            EXPECT_EQ(submit(pitch), QC_ERROR_INVALID) << pitch;
            EXPECT_EQ(
                scoring.error(),
                format(
                    "a distorted picture: pitch_bytes[%d]=%lld: %lld..2147483647 is accepted, and the same below zero",
                    each.plane, static_cast<long long>(pitch), static_cast<long long>(each.row_bytes)));
        }
        EXPECT_EQ(submit(each.row_bytes), QC_OK) << scoring.error();
    }
}

/// What a frame's release, or the log, may do with the session that calls it: nothing that drives it.
TEST(CApi, CallbacksDoNotDriveTheSession) {
    struct Inner {
        Scoring* scoring = nullptr;
        std::vector<qc_status> statuses;
        int releases = 0;
        int64_t submitted = -1;
    } inner;
    Scoring scoring(cpu_config("psnr"));
    inner.scoring = &scoring;
    const auto release = [](void* opaque) {
        auto& in = *static_cast<Inner*>(opaque);
        qc_session* const session = in.scoring->get();
        const qc_frame frame = frame_of(
            in.scoring->reference(1), in.scoring->distorted(1),
            [](void* again) { ++static_cast<Inner*>(again)->releases; }, &in);
        qc_row row{};
        in.statuses = {qc_session_submit(session, &frame), qc_session_receive(session, 1, &row),
                       qc_session_break(session), qc_session_continue_on_cpu(session), qc_session_flush(session)};
        qc_session_collect(session);
        in.statuses.push_back(qc_session_truncate(session, 0));
        qc_stats stats{};
        stats.struct_size = sizeof(stats);
        EXPECT_EQ(qc_session_stats(session, &stats), QC_OK) << "asking is allowed";
        in.submitted = stats.frames_submitted;
    };
    const qc_frame frame = frame_of(scoring.reference(0), scoring.distorted(0), release, &inner);
    ASSERT_EQ(qc_session_submit(scoring.get(), &frame), QC_OK);
    EXPECT_EQ(inner.statuses, std::vector<qc_status>(6, QC_ERROR_INVALID));
    EXPECT_EQ(inner.releases, 1) << "refused pictures are free";
    EXPECT_EQ(inner.submitted, 0);
    EXPECT_EQ(scoring.error(), "a session was called from within its own release or log function");
    scoring.run(3);
    EXPECT_EQ(qc_session_scored_frames(scoring.get()), 4) << "the session did not notice";
    for (int64_t frame = 0; frame < 4; ++frame) {
        ASSERT_EQ(scoring.receive(), QC_OK);
        EXPECT_EQ(scoring.row().frame, frame);
    }
    EXPECT_EQ(scoring.receive(), QC_END);
}

TEST(CApi, HoldsOnPicturesEndOnce) {
    int releases = 0;
    const auto hold = [&] { return PictureHold([](void* calls) { ++*static_cast<int*>(calls); }, &releases); };
    {
        PictureHold first = hold();
        PictureHold second = std::move(first);
        EXPECT_EQ(releases, 0) << "moved";
        second.end();
        second.end();
        EXPECT_EQ(releases, 1);
        second = hold();
        second = hold();
        EXPECT_EQ(releases, 2) << "the one that is overwritten ends";
    }
    EXPECT_EQ(releases, 3) << "and the last with its owner";
    PictureHold nothing;
    nothing.end();
}

TEST(CApi, RowsMayRunUpwards) {
    const qc_config config = cpu_config("psnr");
    Scoring down(config), up(config);
    const auto flipped = [&](qc_picture picture) {
        for (int p = 0; p < 3; ++p) {
            const ptrdiff_t rows = p == 0 ? 64 : 32;
            picture.plane[p] = static_cast<const char*>(picture.plane[p]) + (rows - 1) * picture.pitch_bytes[p];
            picture.pitch_bytes[p] = -picture.pitch_bytes[p];
        }
        return picture;
    };
    ASSERT_EQ(down.submit(0), QC_OK);
    ASSERT_EQ(up.submit(flipped(up.reference(0)), {flipped(up.distorted(0)[0])}), QC_OK);
    ASSERT_EQ(down.receive(), QC_OK);
    ASSERT_EQ(up.receive(), QC_OK);
    for (int i = 0; i < qc_session_feature_count(up.get()); ++i)
        EXPECT_EQ(up.row().value[i], down.row().value[i]) << "the error does not know up from down";
}

// ---- scoring --------------------------------------------------------------------------------------------------------

TEST(CApi, RowsLeaveInOrderAndWaitForLaterFrames) {
    Scoring scoring(cpu_config("motion"));
    EXPECT_EQ(scoring.receive(), QC_AGAIN) << "no frame yet";
    ASSERT_EQ(scoring.submit(0), QC_OK);
    EXPECT_EQ(scoring.receive(), QC_AGAIN) << "motion2 of frame 0 needs frame 1";
    ASSERT_EQ(scoring.submit(1), QC_OK);
    ASSERT_EQ(scoring.receive(), QC_OK);
    EXPECT_EQ(scoring.row().frame, 0);
    for (const int64_t word : scoring.row().reserved) EXPECT_EQ(word, 0);
    EXPECT_EQ(scoring.receive(), QC_AGAIN);
    ASSERT_EQ(qc_session_flush(scoring.get()), QC_OK);
    EXPECT_EQ(qc_session_flush(scoring.get()), QC_OK) << "a second flush does nothing";
    ASSERT_EQ(scoring.receive(0), QC_OK);
    EXPECT_EQ(scoring.row().frame, 1);
    EXPECT_EQ(scoring.receive(), QC_END);
    EXPECT_EQ(scoring.receive(), QC_END);
    EXPECT_EQ(scoring.error(), "") << "none of these is a failure";
    qc_stats stats{};
    stats.struct_size = sizeof(stats);
    ASSERT_EQ(qc_session_stats(scoring.get(), &stats), QC_OK);
    EXPECT_EQ(stats.frames_submitted, 2);
    EXPECT_EQ(stats.frames_received, 2);
    EXPECT_EQ(stats.batches, 2);
    EXPECT_EQ(stats.pixel_bytes_to_device + stats.control_bytes_to_device + stats.result_bytes_to_host, 0);
    EXPECT_EQ(stats.kernel_launches + stats.graph_launches + stats.device_allocations, 0);
    EXPECT_EQ(stats.device_bytes + stats.pinned_bytes, 0u);
}

TEST(CApi, ABreakCompletesWhatWaits) {
    Scoring scoring(cpu_config("motion"));
    EXPECT_EQ(qc_session_break(scoring.get()), QC_OK) << "before the first frame";
    EXPECT_EQ(qc_session_continue_on_cpu(scoring.get()), QC_ERROR_INVALID) << "nothing has failed";
    ASSERT_EQ(scoring.submit(0), QC_OK);
    EXPECT_EQ(qc_session_break(scoring.get()), QC_OK);
    EXPECT_EQ(qc_session_break(scoring.get()), QC_OK);
    ASSERT_EQ(scoring.receive(), QC_OK) << "nothing after the break can change it";
    ASSERT_EQ(scoring.submit(1), QC_OK);
    EXPECT_EQ(scoring.receive(), QC_AGAIN);
    ASSERT_EQ(qc_session_flush(scoring.get()), QC_OK);
    EXPECT_EQ(qc_session_break(scoring.get()), QC_OK);
    ASSERT_EQ(scoring.receive(), QC_OK);
    EXPECT_EQ(scoring.row().value[0], 0.0) << "the first frame after a break has no earlier one";
}

TEST(CApi, FramesReadAheadCanBeForgotten) {
    Scoring scoring(cpu_config("psnr"));
    EXPECT_EQ(qc_session_truncate(nullptr, 1), QC_ERROR_INVALID);
    for (size_t f = 0; f < 2; ++f) ASSERT_EQ(scoring.submit(f), QC_OK);
    EXPECT_EQ(qc_session_truncate(scoring.get(), 1), QC_ERROR_INVALID) << "before the flush";
    ASSERT_EQ(qc_session_flush(scoring.get()), QC_OK);
    EXPECT_EQ(qc_session_truncate(scoring.get(), -1), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), "frames=-1: 0 and more are accepted");
    ASSERT_EQ(scoring.receive(), QC_OK);
    const double first = scoring.row().value[0];
    ASSERT_EQ(qc_session_truncate(scoring.get(), 1), QC_OK);
    EXPECT_EQ(qc_session_scored_frames(scoring.get()), 1);
    double pooled = 0;
    ASSERT_EQ(qc_session_pooled(scoring.get(), 0, 0, QC_POOL_MEAN, &pooled), QC_OK);
    EXPECT_EQ(pooled, first);
    const char* name = nullptr;
    EXPECT_EQ(qc_session_aggregate(scoring.get(), 0, 0, &name, &pooled), QC_END);
    EXPECT_EQ(scoring.receive(), QC_END);
}

/// A rendition that does not say what its colours are is scored as it is alone: by what the reference says.
TEST(CApi, RenditionsMayLeaveTagsToTheReference) {
    qc_config config = cpu_config("ssimulacra2");
    const qc_colour tagged{.matrix = 6, .range = 2, .primaries = 6, .transfer = 13, .chroma_location = 2};
    config.reference.colour = tagged;
    config.distorted[0].colour = {.matrix = 2, .range = 0, .primaries = 2, .transfer = 13, .chroma_location = 0};
    const auto score = [&] {
        Scoring scoring(config, 1);
        scoring.run(1);
        return scoring.pooled(QC_POOL_MEAN);
    };
    const double alone = score();
    config.renditions = 2;
    config.distorted[1] = config.distorted[0];
    config.distorted[1].colour = tagged;
    EXPECT_EQ(score(), alone);

    const auto refusal = [&] {
        qc_error error{};
        qc_session* session = nullptr;
        EXPECT_EQ(qc_session_create(&config, &session, &error), QC_ERROR_UNSUPPORTED);
        return std::string(error.text);
    };
    const char* const told = "ssimulacra2: the distorted inputs are tagged with different colour spaces";
    config.distorted[1].colour.matrix = 1;
    EXPECT_EQ(refusal().rfind(told, 0), 0u);
    config.distorted[1].colour = tagged;
    config.reference.colour = {}; // which takes from a rendition what it does not know itself
    EXPECT_EQ(refusal().rfind(told, 0), 0u);
}

TEST(CApi, AllScoresOfARenditionAreThereOrNone) {
    qc_config config = cpu_config("vmaf|psnr", "yuv420p", 192, 176);
    config.renditions = 2;
    config.n_subsample = 2;
    config.distorted[1] = config.distorted[0];
    Scoring scoring(config, 4);
    for (size_t f = 0; f < 4; ++f)
        ASSERT_EQ(f < 2 ? scoring.submit(f) : scoring.submit_without(f == 2 ? 0 : 1, f), QC_OK);
    ASSERT_EQ(qc_session_flush(scoring.get()), QC_OK);
    const int features = qc_session_feature_count(scoring.get());
    const bool expected[4][2] = {{true, true}, {false, false}, {false, true}, {false, false}};
    for (const auto& frame : expected) {
        ASSERT_EQ(scoring.receive(), QC_OK);
        for (int r = 0; r < 2; ++r)
            for (int i = r * features; i < (r + 1) * features; ++i) {
                EXPECT_EQ(scoring.row().present[i], frame[r] ? 1 : 0);
                EXPECT_EQ(std::isnan(scoring.row().value[i]), !frame[r]);
            }
    }
    EXPECT_EQ(qc_session_scored_frames(scoring.get()), 2) << "of the rendition that has most";
    double value = 0;
    EXPECT_EQ(qc_session_pooled(scoring.get(), 0, 0, QC_POOL_MIN, &value), QC_OK);
    EXPECT_EQ(qc_session_pooled(scoring.get(), 2, 0, QC_POOL_MIN, &value), QC_ERROR_INVALID);
    EXPECT_EQ(scoring.error(), "rendition=2: 0..1 is accepted");
}

TEST(CApi, FeaturesTellTheirNames) {
    Scoring scoring(cpu_config("psnr|vmaf", "yuv420p", 192, 176));
    const int count = qc_session_feature_count(scoring.get());
    bool model_seen = false;
    for (int i = 0; i < count; ++i) {
        qc_feature feature;
        std::memset(&feature, 0xee, sizeof(feature));
        ASSERT_EQ(qc_session_feature(scoring.get(), i, &feature), QC_OK);
        std::string key = feature.name;
        std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
        EXPECT_EQ(feature.key, key);
        EXPECT_EQ(feature.is_model, std::string(feature.name) == "vmaf" ? 1 : 0);
        EXPECT_FALSE(model_seen && feature.is_model == 0) << "models' scores come last";
        model_seen = model_seen || feature.is_model == 1;
        for (const int word : feature.reserved) EXPECT_EQ(word, 0);
    }
    EXPECT_TRUE(model_seen);
    qc_feature feature{};
    for (const int index : {-1, count}) {
        EXPECT_EQ(qc_session_feature(scoring.get(), index, &feature), QC_ERROR_INVALID);
        EXPECT_EQ(scoring.error(), format("feature=%d: 0..%d is accepted", index, count - 1));
    }
}

TEST(CApi, PooledValuesAreOfTheFramesSoFar) {
    Scoring scoring(cpu_config("skeleton"), 5);
    double value = 0;
    EXPECT_EQ(qc_session_pooled(scoring.get(), 0, 0, QC_POOL_MEAN, &value), QC_ERROR_INVALID) << "no frame yet";
    scoring.run(5);
    EXPECT_EQ(qc_session_scored_frames(scoring.get()), 5) << "received or not";
    const double received_before = scoring.pooled(QC_POOL_MEAN);
    std::vector<double> scores;
    while (scoring.receive() == QC_OK) scores.push_back(scoring.row().value[0]);
    ASSERT_EQ(scores.size(), 5u);
    double sum = 0, reciprocals = 0, squares = 0;
    for (const double score : scores) sum += score, reciprocals += 1.0 / (score + 1.0);
    for (const double score : scores) squares += (score - sum / 5) * (score - sum / 5);
    std::sort(scores.begin(), scores.end());
    EXPECT_EQ(received_before, sum / 5);
    EXPECT_EQ(scoring.pooled(QC_POOL_HARMONIC_MEAN), 5 / reciprocals - 1.0);
    EXPECT_EQ(scoring.pooled(QC_POOL_MIN), scores.front());
    EXPECT_EQ(scoring.pooled(QC_POOL_MAX), scores.back());
    EXPECT_DOUBLE_EQ(scoring.pooled(QC_POOL_P10), scores[0] + 0.4 * (scores[1] - scores[0]));
    EXPECT_EQ(scoring.pooled(QC_POOL_P50), scores[2]);
    EXPECT_DOUBLE_EQ(scoring.pooled(QC_POOL_STDDEV), std::sqrt(squares / 5));
    EXPECT_EQ(qc_session_pooled(scoring.get(), 0, 1, QC_POOL_MEAN, &value), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_pooled(scoring.get(), -1, 0, QC_POOL_MEAN, &value), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_pooled(scoring.get(), 0, 0, QC_POOL_COUNT, &value), QC_ERROR_INVALID);
}

TEST(CApi, StreamLevelValuesComeWithTheFlush) {
    qc_config config = cpu_config("psnr");
    config.options = "psnr.enable_apsnr=true";
    Scoring scoring(config);
    ASSERT_EQ(scoring.submit(0), QC_OK);
    const char* name = nullptr;
    double value = 0;
    EXPECT_EQ(qc_session_aggregate(scoring.get(), 0, 0, &name, &value), QC_END);
    ASSERT_EQ(qc_session_flush(scoring.get()), QC_OK);
    ASSERT_EQ(qc_session_aggregate(scoring.get(), 0, 0, &name, &value), QC_OK);
    EXPECT_STREQ(name, "apsnr_y");
    EXPECT_GT(value, 0.0);
    EXPECT_EQ(qc_session_aggregate(scoring.get(), 0, 3, &name, &value), QC_END);
    EXPECT_EQ(qc_session_aggregate(scoring.get(), 0, -1, &name, &value), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_aggregate(scoring.get(), 1, 0, &name, &value), QC_ERROR_INVALID);
}

TEST(CApi, StreamScoresHaveATitle) {
    qc_config config = cpu_config("cvvdp|psnr");
    config.frame_rate = 25;
    Scoring scoring(config);
    const char *title = nullptr, *name = nullptr;
    double value = 0, aggregate = 0;
    EXPECT_EQ(qc_session_stream_score(scoring.get(), 0, 0, &title, &value), QC_AGAIN);
    ASSERT_EQ(scoring.submit(0), QC_OK);
    ASSERT_EQ(qc_session_flush(scoring.get()), QC_OK);
    ASSERT_EQ(qc_session_stream_score(scoring.get(), 0, 0, &title, &value), QC_OK);
    EXPECT_STREQ(title, "CVVDP score");
    ASSERT_EQ(qc_session_aggregate(scoring.get(), 0, 0, &name, &aggregate), QC_OK);
    EXPECT_STREQ(name, "cvvdp");
    EXPECT_EQ(value, aggregate);
    EXPECT_LT(value, 10.0);
    EXPECT_EQ(qc_session_stream_score(scoring.get(), 0, 1, &title, &value), QC_END);
    EXPECT_EQ(qc_session_stream_score(scoring.get(), 0, -1, &title, &value), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_stream_score(scoring.get(), 1, 0, &title, &value), QC_ERROR_INVALID);
    EXPECT_EQ(qc_session_stream_score(scoring.get(), 0, 0, nullptr, &value), QC_ERROR_INVALID);
}

TEST(CApi, SessionsAreIndependent) {
    const auto scores = [] {
        std::vector<double> values;
        Scoring scoring(cpu_config("vmaf|psnr", "yuv420p", 192, 176), 6);
        scoring.run(6);
        while (scoring.receive() == QC_OK)
            values.insert(values.end(), scoring.row().value,
                          scoring.row().value + qc_session_feature_count(scoring.get()));
        return values;
    };
    const std::vector<double> expected = scores();
    std::vector<std::vector<double>> found(3);
    std::vector<std::thread> threads;
    for (auto& each : found) threads.emplace_back([&] { each = scores(); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& each : found) EXPECT_EQ(each, expected);
}

} // namespace
} // namespace qc::test
