// SPDX-License-Identifier: BSD-2-Clause-Patent
// The session's contract, on the CPU backend: order, completeness, errors, waiting.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "plan/metric_registry.hpp"
#include "quality_cuda.h"
#include "tests/support/plans.hpp"
#include "tests/support/runs.hpp"

namespace qc::test {
namespace {

qc_config cpu_config(const char* metrics, const char* layout = "yuv420p", int width = 96, int height = 64) {
    return config_for(layout_named(layout), width, height, metrics, QC_BACKEND_CPU);
}

Status create_error(const qc_config& config) {
    std::unique_ptr<Session> session;
    return Session::create(config, &session);
}

TEST(Session, SkeletonScoresTheMeanAbsoluteDifference) {
    const qc_config config = cpu_config("skeleton");
    Stream stream = make_stream(config, Content::kFlat, 2);
    const RunResult result = run(config, stream);
    ASSERT_TRUE(result.status.ok()) << result.status.text();
    ASSERT_EQ(result.names, std::vector<std::string>{"skeleton_mad"});
    ASSERT_EQ(result.values.size(), 2u);
    EXPECT_EQ(result.values[0][0], 1.0);
}

TEST(Session, EveryLayoutOfTheSameContentScoresAlike) {
    // Planar and semi-planar containers of one depth hold the same samples.
    for (const auto& [planar, other] :
         std::vector<std::pair<const char*, const char*>>{{"yuv420p", "nv12"},
                                                          {"yuv422p", "nv16"},
                                                          {"yuv420p10le", "p010le"},
                                                          {"yuv420p12le", "p012le"},
                                                          {"yuv444p10le", "yuv444p10msb"}}) {
        const qc_config a = cpu_config("vmaf|psnr", planar, 97, 65), b = cpu_config("vmaf|psnr", other, 97, 65);
        expect_same_bits(run(a, make_stream(a, Content::kNatural, 3, 6)), run(b, make_stream(b, Content::kNatural, 3)),
                         other);
    }
}

TEST(Session, BitDepthLiftsEightBitInputs) {
    // The same samples, times four, in 10 bits from the start.
    for (const char* layout : {"yuv420p", "nv12"}) {
        qc_config eight = cpu_config("vmaf|psnr|speed_chroma", layout, 330, 326);
        const qc_config ten = cpu_config("vmaf|psnr|speed_chroma", "yuv420p10le", 330, 326);
        const Stream stream = make_stream(eight, Content::kNatural, 3, 6);
        Stream lifted;
        lifted.distorted.resize(1);
        for (size_t f = 0; f < 3; ++f) {
            lifted.reference.push_back(TestPicture::lifted(stream.reference[f], ten.reference));
            lifted.distorted[0].push_back(TestPicture::lifted(stream.distorted[0][f], ten.reference));
        }
        const RunResult plain = run(eight, stream);
        eight.bitdepth = 10;
        const RunResult result = run(eight, stream);
        expect_same_bits(run(ten, lifted), result, layout);
        EXPECT_NE(plain.accumulators, result.accumulators);
    }
    qc_config ten = cpu_config("psnr", "yuv420p12le");
    const Stream stream = make_stream(ten, Content::kNatural, 2);
    const RunResult expected = run(ten, stream);
    ten.bitdepth = 10;
    expect_same_bits(expected, run(ten, stream), "deeper inputs stay as they are");
}

/// Metrics of RGB have the scores that they have alone, and so have the others; frames are let go of once.
TEST(Session, RgbIsSeenBothWays) {
    const auto values_of = [](const char* metrics, const char* distorted) {
        qc_config config = config_for(layout_named("gbrp"), 64, 48, metrics, QC_BACKEND_CPU);
        config.distorted[0] = format_of(layout_named(distorted), 64, 48);
        return run(config, make_stream(config, Content::kNatural, 3));
    };
    for (const char* distorted : {"gbrp", "yuv420p", "yuv444p10le"}) {
        const RunResult both = values_of("ssimulacra2|psnr", distorted), colour = values_of("ssimulacra2", distorted),
                        luma = values_of("psnr", distorted);
        ASSERT_TRUE(both.status.ok() && colour.status.ok() && luma.status.ok()) << both.status.text();
        for (size_t row = 0; row < both.values.size(); ++row) {
            std::vector<double> apart = colour.values[row];
            apart.insert(apart.end(), luma.values[row].begin(), luma.values[row].end());
            EXPECT_EQ(both.values[row], apart) << distorted;
        }
    }
}

TEST(Session, ThreadsAndSlotsDoNotChangeBits) {
    qc_config config = cpu_config("vmaf|psnr");
    const Stream stream = make_stream(config, Content::kNatural, 9);
    const RunResult expected = run(config, stream);
    for (const int threads : {1, 3, 8})
        for (const int slots : {1, 2, 16}) {
            config.n_threads = threads;
            config.slots = slots;
            expect_same_bits(expected, run(config, stream), format("%d threads, %d slots", threads, slots));
        }
}

TEST(Session, RenditionsScoreAsAlone) {
    qc_config ladder = cpu_config("vmaf|psnr");
    ladder.renditions = 3;
    for (int r = 1; r < 3; ++r) ladder.distorted[r] = ladder.distorted[0];
    const Stream stream = make_stream(ladder, Content::kNatural, 4);
    const RunResult together = run(ladder, stream);
    ASSERT_TRUE(together.status.ok()) << together.status.text();
    for (size_t r = 0; r < 3; ++r) {
        const qc_config alone = cpu_config("vmaf|psnr");
        const RunResult single = run(alone, Stream{stream.reference, {stream.distorted[r]}});
        const size_t columns = single.names.size();
        for (size_t f = 0; f < 4; ++f)
            for (size_t c = 0; c < columns; ++c)
                EXPECT_EQ(together.values[f][r * columns + c], single.values[f][c]) << single.names[c];
    }
}

TEST(Session, AMissingRenditionOnlyMissesItsOwnScores) {
    qc_config config = cpu_config("skeleton");
    config.renditions = 2;
    config.distorted[1] = config.distorted[0];
    std::unique_ptr<Session> session;
    ASSERT_TRUE(Session::create(config, &session).ok());
    const Stream stream = make_stream(config, Content::kNatural, 1);
    ASSERT_TRUE(session->submit(frame_of(stream.reference[0].view(), {stream.distorted[0][0].view(), {}})).ok());
    ASSERT_TRUE(session->flush().ok());
    qc_row row{};
    ASSERT_EQ(session->receive(true, &row), QC_OK);
    EXPECT_EQ(row.present[0], 1);
    EXPECT_EQ(row.present[1], 0);
    EXPECT_EQ(session->receive(true, &row), QC_END);
    EXPECT_EQ(session->table(0).scored_frames(), 1);
    EXPECT_EQ(session->table(1).scored_frames(), 0);
}

/// Looking back at distorted pictures: each rendition has a past of its own.
TEST(Session, RenditionsLookBackAtTheirOwnPast) {
    const auto config_of = [](int renditions) {
        qc_config config = cpu_config("speed_temporal|motion", "yuv420p", 230, 170);
        config.renditions = renditions;
        for (int r = 1; r < renditions; ++r) config.distorted[r] = config.distorted[0];
        return config;
    };
    qc_config ladder = config_of(2);
    const Stream stream = make_stream(ladder, Content::kNatural, 5);
    for (const int slots : {1, 4}) {
        ladder.slots = slots;
        const RunResult together = run(ladder, stream);
        ASSERT_TRUE(together.status.ok()) << together.status.text();
        const size_t columns = together.names.size();
        for (size_t r = 0; r < 2; ++r) {
            const RunResult single = run(config_of(1), Stream{stream.reference, {stream.distorted[r]}});
            EXPECT_EQ(single.values[0][0], 0.0);
            for (size_t f = 0; f < 5; ++f) {
                EXPECT_EQ(single.values[f][0] > 0.0, f > 0);
                for (size_t c = 0; c < columns; ++c)
                    EXPECT_EQ(together.values[f][r * columns + c], single.values[f][c]) << single.names[c];
            }
        }
        EXPECT_NE(together.values[1][0], together.values[1][columns]);
    }
}

/// After a frame without its distorted picture there is nothing to look back at; the other rendition does not notice.
TEST(Session, AMissingPictureIsMissingFromThePastToo) {
    qc_config config = cpu_config("speed_temporal", "yuv420p", 230, 170);
    config.renditions = 2;
    config.distorted[1] = config.distorted[0];
    const Stream stream = make_stream(config, Content::kNatural, 5);
    const RunResult whole = run(config, stream);
    ASSERT_TRUE(whole.status.ok()) << whole.status.text();
    std::unique_ptr<Session> session;
    ASSERT_TRUE(Session::create(config, &session).ok());
    constexpr size_t kMissing = 2;
    for (size_t f = 0; f < 5; ++f) {
        const qc_picture second = f == kMissing ? qc_picture{} : stream.distorted[1][f].view();
        ASSERT_TRUE(
            session->submit(frame_of(stream.reference[f].view(), {stream.distorted[0][f].view(), second})).ok());
    }
    ASSERT_TRUE(session->flush().ok());
    qc_row row{};
    for (size_t f = 0; f < 5; ++f) {
        ASSERT_EQ(session->receive(true, &row), QC_OK);
        EXPECT_EQ(row.value[0], whole.values[f][0]);
        EXPECT_EQ(row.present[1], f != kMissing);
        if (f == kMissing) continue;
        EXPECT_EQ(row.value[1], f == kMissing + 1 ? 0.0 : whole.values[f][1]);
    }
}

/// float_motion with chroma: the same whatever the layout that the chroma lies in, and more than luma alone.
TEST(Session, MetricsLookBackAtChroma) {
    const auto motion_of = [](const char* layout, const char* options) {
        qc_config config = cpu_config("float_motion", layout, 97, 65);
        config.options = options;
        const RunResult result = run(config, make_stream(config, Content::kNatural, 4, 6));
        EXPECT_TRUE(result.status.ok()) << result.status.text();
        std::vector<double> motion;
        for (const std::vector<double>& row : result.values) motion.push_back(row.at(0));
        return motion;
    };
    const char* const with_chroma = "float_motion.motion_add_uv=true";
    const std::vector<double> luma = motion_of("nv12", ""), all = motion_of("nv12", with_chroma);
    ASSERT_EQ(luma.size(), 4u);
    EXPECT_EQ(all, motion_of("yuv420p", with_chroma));
    EXPECT_EQ(all[0], 0.0);
    for (size_t frame = 1; frame < 4; ++frame) EXPECT_GT(all[frame], luma[frame] + 0.01) << frame;
    qc_config grey = cpu_config("float_motion", "gray", 97, 65);
    grey.options = with_chroma;
    EXPECT_NE(create_error(grey).text().find("needs chroma planes"), std::string::npos);
}

TEST(Session, WaitingDoesNotWaitForFramesNotSubmitted) {
    // motion2 of a frame needs the next one: asking for it must not hang.
    qc_config config = cpu_config("motion");
    std::unique_ptr<Session> session;
    ASSERT_TRUE(Session::create(config, &session).ok());
    const Stream stream = make_stream(config, Content::kNatural, 2);
    qc_row row{};
    EXPECT_EQ(session->receive(true, &row), QC_AGAIN);
    const qc_picture first = stream.distorted[0][0].view(), second = stream.distorted[0][1].view();
    ASSERT_TRUE(session->submit(frame_of(stream.reference[0].view(), {first})).ok());
    EXPECT_EQ(session->receive(true, &row), QC_AGAIN);
    ASSERT_TRUE(session->submit(frame_of(stream.reference[1].view(), {second})).ok());
    ASSERT_TRUE(session->flush().ok());
    EXPECT_EQ(session->receive(true, &row), QC_OK);
    EXPECT_EQ(session->receive(true, &row), QC_OK);
    EXPECT_EQ(session->receive(true, &row), QC_END);
}

TEST(Session, ReleaseIsCalledOncePerFrame) {
    const qc_config config = cpu_config("skeleton");
    std::unique_ptr<Session> session;
    ASSERT_TRUE(Session::create(config, &session).ok());
    const Stream stream = make_stream(config, Content::kNatural, 1);
    int released = 0;
    const auto release = [](void* count) { ++*static_cast<int*>(count); };
    const qc_picture picture = stream.distorted[0][0].view();
    ASSERT_TRUE(session->submit(frame_of(stream.reference[0].view(), {picture}, release, &released)).ok());
    EXPECT_EQ(released, 1);
    EXPECT_EQ(session->submit(frame_of(qc_picture{}, {picture}, release, &released)).code(), QC_ERROR_INVALID);
    EXPECT_EQ(released, 2);
}

TEST(Session, RefusesWhatItCannotScore) {
    qc_config config = cpu_config("skeleton");
    config.distorted[0].width = 98;
    EXPECT_NE(create_error(config).text().find("98x64"), std::string::npos);
    config = cpu_config("skeleton");
    config.reference.depth = 9;
    EXPECT_EQ(create_error(config).code(), QC_ERROR_UNSUPPORTED);
    config = cpu_config("psnr");
    config.distorted[0].chroma = QC_CHROMA_444;
    EXPECT_NE(create_error(config).text().find("psnr needs chroma"), std::string::npos);
    config = cpu_config("vmaf", "yuv420p", 32, 32);
    const Status small = create_error(config);
    EXPECT_EQ(small.code(), QC_ERROR_INVALID);
    EXPECT_NE(small.text().find("32x32"), std::string::npos) << small.text();
    config = cpu_config("nonsense");
    const Status unknown = create_error(config);
    EXPECT_EQ(unknown.code(), QC_ERROR_INVALID);
    EXPECT_NE(unknown.text().find("nonsense"), std::string::npos) << unknown.text();
    EXPECT_NE(unknown.text().find("psnr"), std::string::npos) << unknown.text();
}

/// Scores a stream with a pause before frame `pause`, and returns the value of a column per frame.
std::vector<double> scores_with_pause(const qc_config& config, const Stream& stream, size_t pause, const char* column,
                                      bool wait_before_pause) {
    std::unique_ptr<Session> session;
    EXPECT_TRUE(Session::create(config, &session).ok());
    size_t index = 0;
    for (const ScoreColumn& each : session->plan().columns) {
        if (each.name == column) break;
        ++index;
    }
    EXPECT_LT(index, session->plan().columns.size()) << column;
    std::vector<double> scores;
    qc_row row{};
    const auto take = [&] {
        while (session->receive(true, &row) == QC_OK) {
            EXPECT_EQ(row.present[index], 1);
            scores.push_back(row.value[index]);
        }
    };
    for (size_t f = 0; f < stream.reference.size(); ++f) {
        if (f == pause) {
            if (wait_before_pause) take();
            EXPECT_TRUE(session->begin_stretch().ok());
            EXPECT_TRUE(session->begin_stretch().ok()); // twice is once
            if (wait_before_pause) {
                take();
                EXPECT_EQ(scores.size(), pause) << "the rows before the pause are final";
            }
        }
        const qc_picture distorted = stream.distorted[0][f].view();
        EXPECT_TRUE(session->submit(frame_of(stream.reference[f].view(), {distorted})).ok());
    }
    EXPECT_TRUE(session->flush().ok());
    take();
    EXPECT_EQ(session->scored_frames(), static_cast<int64_t>(stream.reference.size()));
    return scores;
}

Stream part_of(const qc_config& config, size_t first, size_t count, size_t frames) {
    Stream whole = make_stream(config, Content::kNatural, static_cast<int>(frames)), part;
    part.distorted.resize(1);
    for (size_t f = first; f < first + count; ++f) {
        part.reference.push_back(std::move(whole.reference[f]));
        part.distorted[0].push_back(std::move(whole.distorted[0][f]));
    }
    return part;
}

TEST(Session, APauseMakesTwoStreams) {
    constexpr size_t kFrames = 9, kNever = kFrames;
    struct Case {
        const char *metrics, *options, *column;
    };
    for (const Case& each : {Case{"motion", nullptr, "integer_motion2"}, Case{"motion", nullptr, "integer_motion3"},
                             Case{"motion", "motion.motion_five_frame_window=true", "integer_motion3_mffw"},
                             Case{"speed_temporal", nullptr, "speed_temporal"}, Case{"vmaf", nullptr, "vmaf"}}) {
        qc_config config = cpu_config(each.metrics, "yuv420p", 230, 170);
        config.options = each.options;
        const Stream whole = part_of(config, 0, kFrames, kFrames);
        for (const size_t pause : {size_t{1}, size_t{4}, size_t{8}}) {
            const Stream head = part_of(config, 0, pause, kFrames),
                         tail = part_of(config, pause, kFrames - pause, kFrames);
            std::vector<double> expected = scores_with_pause(config, head, kNever, each.column, false);
            const std::vector<double> rest = scores_with_pause(config, tail, kNever, each.column, false);
            expected.insert(expected.end(), rest.begin(), rest.end());
            for (const bool wait : {false, true})
                EXPECT_EQ(scores_with_pause(config, whole, pause, each.column, wait), expected)
                    << each.column << ", pause before frame " << pause << (wait ? ", rows taken before" : "");
        }
        EXPECT_EQ(scores_with_pause(config, whole, 0, each.column, true),
                  scores_with_pause(config, whole, kNever, each.column, false))
            << "a pause before the first frame is none";
    }
}

TEST(Session, StreamLevelValuesGoOnAcrossAPause) {
    qc_config config = cpu_config("psnr");
    config.options = "psnr.enable_apsnr=true";
    const Stream stream = make_stream(config, Content::kNoise, 6);
    const auto apsnr = [&](size_t pause) {
        std::unique_ptr<Session> session;
        EXPECT_TRUE(Session::create(config, &session).ok());
        for (size_t f = 0; f < stream.reference.size(); ++f) {
            if (f == pause) {
                EXPECT_TRUE(session->begin_stretch().ok());
            }
            const qc_picture distorted = stream.distorted[0][f].view();
            EXPECT_TRUE(session->submit(frame_of(stream.reference[f].view(), {distorted})).ok());
        }
        EXPECT_TRUE(session->flush().ok());
        return session->table(0).aggregates()[0].second;
    };
    EXPECT_EQ(apsnr(3), apsnr(100));
}

TEST(Session, CpuBackendRefusesDevicePictures) {
    const qc_config config = cpu_config("skeleton");
    std::unique_ptr<Session> session;
    ASSERT_TRUE(Session::create(config, &session).ok());
    const Stream stream = make_stream(config, Content::kNatural, 1);
    qc_picture picture = stream.distorted[0][0].view();
    picture.memory = QC_MEMORY_CUDA;
    EXPECT_EQ(session->submit(frame_of(stream.reference[0].view(), {picture})).code(), QC_ERROR_INVALID);
    qc_row row{};
    EXPECT_EQ(session->receive(true, &row), QC_ERROR_INVALID);
}

} // namespace
} // namespace qc::test
