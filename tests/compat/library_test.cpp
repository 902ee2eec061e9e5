// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf's functions one by one: scores, errors, ownership, reports.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <map>
#include <thread>
#include <vector>

#include "tests/compat/library_clip.hpp"

namespace qc::test {
namespace {

/// What libvmaf 3.2.0 says of g176x176_420_10.
const std::map<std::string, std::vector<double>> kFrozen = {
    {"VMAF_integer_feature_vif_scale0_score",
     {0.4483203589916229, 0.4549333453178406, 0.4467931091785431, 0.450303852558136}},
    {"VMAF_integer_feature_vif_scale3_score",
     {0.9200793504714966, 0.921065092086792, 0.9206393361091614, 0.9196017980575562}},
    {"VMAF_integer_feature_motion_sad_score", {0.0, 3.0114160963326446, 3.04087943084969, 3.008518187467717}},
    {"VMAF_integer_feature_motion2_score", {0.0, 3.0114160963326446, 3.008518187467717, 3.008518187467717}},
    {"integer_vif_scale0_egl_1", {0.4483194053173065, 0.4549284875392914, 0.4467931091785431, 0.4502757787704468}},
    {"psnr_y", {31.683953795914555, 31.775688309054736, 31.671589285735422, 31.71075926379753}},
    {"psnr_cb", {31.830565675701536, 31.739397371653467, 31.78167609989974, 31.71560241282546}},
    {"float_ms_ssim", {0.9829086700331494, 0.983654810604914, 0.9828905516345051, 0.9827998620381496}},
};
constexpr const char* kFrozenClip = "g176x176_420_10";

void use_frozen(VmafContext* context) {
    ASSERT_EQ(vmaf_use_feature(context, "psnr", dictionary("enable_apsnr", "true")), 0);
    ASSERT_EQ(vmaf_use_feature(context, "vif", nullptr), 0);
    ASSERT_EQ(vmaf_use_feature(context, "vif", dictionary("vif_enhn_gain_limit", "1.0")), 0);
    ASSERT_EQ(vmaf_use_feature(context, "motion", nullptr), 0);
    ASSERT_EQ(vmaf_use_feature(context, "float_ms_ssim", nullptr), 0);
}

TEST(Library, ScoresAreThoseOfLibvmaf) {
    for (const unsigned threads : {0u, 3u}) {
        LibraryContext context(threads);
        use_frozen(context);
        context.run(clip_named(kFrozenClip));
        for (const auto& [name, values] : kFrozen)
            for (size_t i = 0; i < values.size(); ++i)
                EXPECT_EQ(context.feature(name.c_str(), static_cast<unsigned>(i)), values[i]) << name << i;
        EXPECT_EQ(context.feature("integer_motion2", 1), 3.0114160963326446) << "the report's name of it";
        EXPECT_NE(context.report(VMAF_OUTPUT_FORMAT_XML).find("<aggregate_metrics apsnr_y=\"31.710312\" "),
                  std::string::npos);
    }
}

TEST(Library, PoolsOverAnyStretch) {
    LibraryContext context;
    use_frozen(context);
    context.run(clip_named(kFrozenClip));
    const std::vector<double>& psnr = kFrozen.at("psnr_y");
    const auto pooled = [&](VmafPoolingMethod method, unsigned low, unsigned high) {
        double score = -1;
        EXPECT_EQ(vmaf_feature_score_pooled(context, "psnr_y", method, &score, low, high), 0);
        return score;
    };
    EXPECT_EQ(pooled(VMAF_POOL_METHOD_MIN, 0, 3), psnr[2]);
    EXPECT_EQ(pooled(VMAF_POOL_METHOD_MAX, 2, 3), psnr[3]);
    EXPECT_EQ(pooled(VMAF_POOL_METHOD_MEAN, 1, 2), (psnr[1] + psnr[2]) / 2);
    EXPECT_EQ(pooled(VMAF_POOL_METHOD_HARMONIC_MEAN, 0, 1), 2 / (1 / (psnr[0] + 1) + 1 / (psnr[1] + 1)) - 1);
    double score = 0;
    EXPECT_EQ(vmaf_feature_score_pooled(context, "psnr_y", VMAF_POOL_METHOD_MEAN, &score, 2, 1), -EINVAL);
    EXPECT_EQ(vmaf_feature_score_pooled(context, "psnr_y", VMAF_POOL_METHOD_UNKNOWN, &score, 0, 1), -EINVAL);
    EXPECT_EQ(vmaf_feature_score_pooled(context, "psnr_y", VMAF_POOL_METHOD_NB, &score, 0, 1), -EINVAL);
    EXPECT_EQ(vmaf_feature_score_pooled(context, "psnr_y", VMAF_POOL_METHOD_MEAN, &score, 0, 4), -EINVAL);
    EXPECT_EQ(vmaf_feature_score_pooled(context, "psnr_x", VMAF_POOL_METHOD_MEAN, &score, 0, 1), -EINVAL);
}

/// Of 8-bit 64x48 pictures vmaf_v0.6.1 waits for the next picture, no longer.
TEST(Library, ScoresComeBeforeTheFlush) {
    VmafModel* const model = load_model();
    std::vector<double> expected;
    {
        LibraryContext whole;
        ASSERT_EQ(vmaf_use_features_from_model(whole, model), 0);
        whole.run(small_clip());
        for (unsigned i = 0; i < 4; ++i) expected.push_back(whole.model(model, i));
    }
    LibraryContext context(2);
    ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
    double score = 0;
    EXPECT_EQ(vmaf_score_at_index(context, model, &score, 0), -EINVAL);
    EXPECT_EQ(vmaf_score_at_index(context, model, &score, ~0u), -EINVAL);
    for (int frame = 0; frame < 4; ++frame) {
        ASSERT_EQ(context.read(small_clip(), frame, static_cast<unsigned>(frame)), 0);
        EXPECT_EQ(vmaf_score_at_index(context, model, &score, static_cast<unsigned>(frame)), -EINVAL)
            << "it waits for the next picture";
        if (frame > 0) {
            EXPECT_EQ(context.model(model, static_cast<unsigned>(frame) - 1), expected[static_cast<size_t>(frame) - 1]);
        }
    }
    ASSERT_EQ(context.flush(), 0);
    EXPECT_EQ(context.model(model, 3), expected[3]) << "a failure is not remembered";
    vmaf_model_destroy(model);
}

TEST(Library, NullsAreRefused) {
    LibraryContext context;
    VmafModel* model = nullptr;
    VmafModelCollection* collection = nullptr;
    VmafModelConfig config{};
    VmafPicture picture{};
    double score = 0;
    EXPECT_EQ(vmaf_init(nullptr, {}), -EINVAL);
    EXPECT_EQ(vmaf_close(nullptr), -EINVAL);
    EXPECT_EQ(vmaf_model_load(nullptr, &config, "vmaf_v0.6.1"), -EINVAL);
    EXPECT_EQ(vmaf_model_load(&model, nullptr, "vmaf_v0.6.1"), -EINVAL);
    EXPECT_EQ(vmaf_model_load(&model, &config, nullptr), -EINVAL);
    EXPECT_EQ(vmaf_model_load_from_path(&model, &config, nullptr), -EINVAL);
    EXPECT_EQ(vmaf_model_collection_load(&model, nullptr, &config, "vmaf_b_v0.6.3"), -EINVAL);
    EXPECT_EQ(vmaf_use_features_from_model(context, nullptr), -EINVAL);
    EXPECT_EQ(vmaf_use_features_from_model_collection(context, collection), -EINVAL);
    EXPECT_EQ(vmaf_use_feature(context, nullptr, nullptr), -EINVAL);
    EXPECT_EQ(vmaf_use_feature(nullptr, "psnr", nullptr), -EINVAL);
    EXPECT_EQ(vmaf_import_feature_score(context, nullptr, 1, 0), -EINVAL);
    EXPECT_EQ(vmaf_read_pictures(context, &picture, nullptr, 0), -EINVAL);
    EXPECT_EQ(vmaf_read_pictures(nullptr, &picture, &picture, 0), -EINVAL);
    EXPECT_EQ(vmaf_read_pictures(context, &picture, &picture, 0), -EINVAL) << "without a picture in it";
    EXPECT_EQ(vmaf_score_at_index(context, nullptr, &score, 0), -EINVAL);
    EXPECT_EQ(vmaf_feature_score_at_index(context, "psnr_y", nullptr, 0), -EINVAL);
    EXPECT_EQ(vmaf_write_output(context, nullptr, VMAF_OUTPUT_FORMAT_XML), -EINVAL);
    EXPECT_EQ(vmaf_picture_alloc(nullptr, VMAF_PIX_FMT_YUV420P, 8, 16, 16), -EINVAL);
    EXPECT_EQ(vmaf_picture_unref(nullptr), -EINVAL);
    EXPECT_EQ(vmaf_picture_unref(&picture), -EINVAL);
    EXPECT_EQ(vmaf_fetch_preallocated_picture(context, &picture), -EINVAL) << "without a pool";
    EXPECT_EQ(vmaf_feature_dictionary_set(nullptr, "a", "b"), -EINVAL);
    EXPECT_EQ(vmaf_feature_dictionary_free(nullptr), -EINVAL);
    EXPECT_EQ(vmaf_model_feature_overload(nullptr, "vif", dictionary("a", "b")), -EINVAL) << "and takes the dictionary";
    vmaf_model_destroy(nullptr);
    vmaf_model_collection_destroy(nullptr);
}

TEST(Library, WhatIsWrongIsSaidAtOnce) {
    LibraryContext context;
    VmafModel* model = nullptr;
    VmafModelCollection* collection = nullptr;
    VmafModelConfig config{};
    EXPECT_EQ(vmaf_model_load(&model, &config, "vmaf_v9"), -EINVAL);
    EXPECT_EQ(vmaf_model_load(&model, &config, "auto"), -EINVAL) << "libvmaf has no such model";
    EXPECT_EQ(vmaf_model_load(&model, &config, "vmaf_b_v0.6.3"), -EINVAL) << "a collection";
    EXPECT_EQ(vmaf_model_load_from_path(&model, &config, "/nowhere/model.json"), -EINVAL);
    EXPECT_EQ(vmaf_model_collection_load(&model, &collection, &config, "vmaf_v0.6.1"), -EINVAL) << "a single model";
    EXPECT_EQ(model, nullptr);
    VmafFeatureDictionary* options = dictionary("enable_chroma", "false");
    EXPECT_EQ(vmaf_use_feature(context, "psmr", options), -EINVAL);
    EXPECT_EQ(vmaf_feature_dictionary_free(&options), 0) << "it stayed the caller's";
    EXPECT_EQ(options, nullptr);
    EXPECT_EQ(vmaf_use_feature(context, "psnr", dictionary("enable_chroma", "1")), -EINVAL) << "true or false";
    EXPECT_EQ(vmaf_use_feature(context, "psnr", dictionary("no_such_option", "1")), 0) << "ignored, with a warning";
    EXPECT_EQ(vmaf_use_feature(context, "null", nullptr), 0);
    EXPECT_EQ(context.flush(), -EINVAL) << "before the first picture";
}

TEST(Library, OverloadsGoWithTheModel) {
    VmafModel* const model = load_model();
    ASSERT_EQ(vmaf_model_feature_overload(model, "float_motion", dictionary("motion_force_zero", "1")), 0)
        << "matches nothing";
    ASSERT_EQ(vmaf_model_feature_overload(model, "vif", dictionary("vif_enhn_gain_limit", "1.0")), 0);
    ASSERT_EQ(vmaf_model_feature_overload(model, "adm", dictionary("adm_enhn_gain_limit", "1")), 0);
    VmafModel* const neg = load_model("vmaf_v0.6.1neg", "neg");
    LibraryContext context;
    ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
    ASSERT_EQ(vmaf_use_features_from_model(context, neg), 0);
    context.run(small_clip());
    EXPECT_EQ(context.model(model, 2), context.model(neg, 2));
    static_cast<void>(context.feature("integer_adm2_egl_1", 0));
    ASSERT_EQ(vmaf_model_feature_overload(model, "motion", dictionary("motion_force_zero", "1")), 0)
        << "looked at when it is used";
    LibraryContext other;
    EXPECT_EQ(vmaf_use_features_from_model(other, model), -EINVAL);
    vmaf_model_destroy(model);
    vmaf_model_destroy(neg);
}

TEST(Library, CollectionsHaveAllTheirNames) {
    VmafModel* model = nullptr;
    VmafModelCollection* collection = nullptr;
    VmafModelConfig config{};
    ASSERT_EQ(vmaf_model_collection_load(&model, &collection, &config, "vmaf_b_v0.6.3"), 0);
    LibraryContext context;
    ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
    ASSERT_EQ(vmaf_use_features_from_model_collection(context, collection), 0);
    context.run(small_clip());
    VmafModelCollectionScore score{}, pooled{};
    EXPECT_EQ(vmaf_score_at_index_model_collection(context, collection, &score, 1), 0);
    EXPECT_EQ(score.type, VMAF_MODEL_COLLECTION_SCORE_BOOTSTRAP);
    EXPECT_LE(score.bootstrap.ci.p95.lo, score.bootstrap.bagging_score);
    EXPECT_GE(score.bootstrap.ci.p95.hi, score.bootstrap.bagging_score);
    EXPECT_EQ(vmaf_score_at_index_model_collection(context, collection, &score, 1), -EINVAL) << "twice";
    EXPECT_EQ(vmaf_score_pooled_model_collection(context, collection, VMAF_POOL_METHOD_MEAN, &pooled, 1, 1), 0);
    EXPECT_EQ(pooled.bootstrap.stddev, score.bootstrap.stddev);
    EXPECT_EQ(vmaf_score_pooled_model_collection(context, collection, VMAF_POOL_METHOD_MEAN, &pooled, 0, 3), 0);
    for (const char* name :
         {"vmaf_0001", "vmaf_0020", "vmaf_bagging", "vmaf_stddev", "vmaf_ci_p95_lo", "vmaf_ci_p95_hi"})
        static_cast<void>(context.feature(name, 3));
    double first = 0;
    EXPECT_EQ(vmaf_feature_score_at_index(context, "vmaf", &first, 1), -EINVAL) << "nobody asked for it";
    EXPECT_GT(context.model(model, 1), 0);
    EXPECT_EQ(context.feature("vmaf", 1), context.model(model, 1));
    vmaf_model_destroy(model);
    vmaf_model_collection_destroy(collection);
}

TEST(Library, FeaturesFromElsewherePredictWithoutPictures) {
    VmafModel* const model = load_model("vmaf_v0.6.1", "self");
    LibraryContext seen;
    ASSERT_EQ(vmaf_use_features_from_model(seen, model), 0);
    seen.run(small_clip());
    LibraryContext context;
    double score = 0;
    EXPECT_EQ(vmaf_score_at_index(context, model, &score, 1000000), -EINVAL);
    for (const char* feature : {"adm2", "motion2", "vif_scale0", "vif_scale1", "vif_scale2", "vif_scale3"}) {
        const std::string name = std::string("VMAF_integer_feature_") + feature + "_score";
        EXPECT_EQ(vmaf_import_feature_score(context, name.c_str(), seen.feature(name.c_str(), 2), 1000000), 0);
        EXPECT_EQ(vmaf_import_feature_score(context, name.c_str(), 1, 1000000), -EINVAL) << "the first stays";
    }
    EXPECT_EQ(context.model(model, 1000000), seen.model(model, 2));
    EXPECT_EQ(vmaf_import_feature_score(context, "mine", 0.5, ~0u), 0);
    EXPECT_EQ(context.feature("mine", ~0u), 0.5);
    EXPECT_NE(context.report(VMAF_OUTPUT_FORMAT_CSV).find("\n4294967295,,,,,,,,0.500000,\n"), std::string::npos);
    EXPECT_NE(context.report(VMAF_OUTPUT_FORMAT_JSON).find("\"fps\": null"), std::string::npos);
    vmaf_model_destroy(model);
}

TEST(Library, PicturesThatDoNotFitStayTheCallers) {
    LibraryContext context;
    ASSERT_EQ(vmaf_use_feature(context, "motion", nullptr), 0);
    const SyntheticClip& clip = small_clip();
    EXPECT_EQ(context.read(clip, 0, 1), -EINVAL) << "motion takes no gap";
    ASSERT_EQ(context.read(clip, 0, 0), 0);
    EXPECT_EQ(context.read(clip, 1, 0), -EINVAL) << "an index twice";
    EXPECT_EQ(context.read(clip, 1, 2), -EINVAL) << "a gap";
    EXPECT_EQ(context.read(clip_named(kFrozenClip), 1, 1), -EINVAL) << "another size";
    VmafPicture reference = picture_of(clip, false, 1), deep{};
    ASSERT_EQ(vmaf_picture_alloc(&deep, VMAF_PIX_FMT_YUV420P, 10, 64, 48), 0);
    EXPECT_EQ(vmaf_read_pictures(context, &reference, &deep, 1), -EINVAL) << "another depth";
    EXPECT_EQ(vmaf_picture_unref(&reference), 0);
    EXPECT_EQ(vmaf_picture_unref(&deep), 0);
    EXPECT_EQ(context.read(clip, 1, 1), 0);
    EXPECT_EQ(vmaf_use_feature(context, "motion", nullptr), 0) << "it is there";
    EXPECT_EQ(vmaf_use_feature(context, "psnr", nullptr), -EINVAL) << "too late";
    EXPECT_EQ(context.flush(), 0);
    EXPECT_EQ(context.flush(), -EINVAL);
    EXPECT_EQ(context.read(clip, 2, 2), -EINVAL);
    LibraryContext small;
    ASSERT_EQ(vmaf_use_feature(small, "float_ms_ssim", nullptr), 0);
    EXPECT_EQ(small.read(clip, 0, 0), -EINVAL) << "below 176x176";
}

TEST(Library, AnyOrderWhereNothingLooksBack) {
    LibraryContext context;
    ASSERT_EQ(vmaf_use_feature(context, "psnr", nullptr), 0);
    const SyntheticClip& clip = clip_named(kFrozenClip);
    ASSERT_EQ(context.read(clip, 3, 3), 0);
    ASSERT_EQ(context.read(clip, 1, 700), 0);
    ASSERT_EQ(context.read(clip, 0, 0), 0);
    EXPECT_EQ(context.read(clip, 0, 700), -EINVAL);
    ASSERT_EQ(context.flush(), 0);
    const std::vector<double>& psnr = kFrozen.at("psnr_y");
    EXPECT_EQ(context.feature("psnr_y", 3), psnr[3]);
    EXPECT_EQ(context.feature("psnr_y", 700), psnr[1]);
    EXPECT_EQ(context.feature("psnr_y", 0), psnr[0]);
}

TEST(Library, SubsampledIndicesAreLeftOut) {
    VmafModel* const model = load_model();
    LibraryContext context(1, 2);
    ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
    context.run(small_clip());
    double score = 0;
    EXPECT_EQ(vmaf_score_at_index(context, model, &score, 1), -EINVAL);
    ASSERT_EQ(vmaf_score_pooled(context, model, VMAF_POOL_METHOD_MEAN, &score, 0, 3), 0);
    EXPECT_EQ(score, (context.model(model, 0) + context.model(model, 2)) / 2);
    const std::string csv = context.report(VMAF_OUTPUT_FORMAT_CSV);
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
    vmaf_model_destroy(model);
}

TEST(Library, PicturesAreCounted) {
    VmafPicture picture{}, other{};
    ASSERT_EQ(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_YUV420P, 10, 65, 33), 0);
    EXPECT_EQ(picture.stride[0], 192);
    EXPECT_EQ(picture.w[1], 32u);
    EXPECT_EQ(picture.h[2], 16u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(picture.data[0]) % 32, 0u);
    ASSERT_EQ(vmaf_picture_ref(&other, &picture), 0);
    EXPECT_EQ(vmaf_picture_unref(&picture), 0);
    EXPECT_EQ(vmaf_picture_unref(&picture), -EINVAL) << "a second time does no harm";
    static_cast<uint8_t*>(other.data[0])[0] = 1;
    EXPECT_EQ(vmaf_picture_unref(&other), 0);
    ASSERT_EQ(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_YUV400P, 8, 16, 16), 0);
    EXPECT_EQ(picture.data[1], nullptr);
    EXPECT_EQ(picture.w[1] + picture.h[1] + static_cast<unsigned>(picture.stride[1]), 0u);
    EXPECT_EQ(vmaf_picture_unref(&picture), 0);
    EXPECT_EQ(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_UNKNOWN, 8, 16, 16), -EINVAL);
    EXPECT_EQ(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_YUV420P, 7, 16, 16), -EINVAL);
    EXPECT_EQ(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_YUV420P, 17, 16, 16), -EINVAL);
    EXPECT_EQ(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_YUV420P, 8, 0, 16), -EINVAL);
    EXPECT_EQ(vmaf_picture_alloc(&picture, VMAF_PIX_FMT_YUV420P, 8, ~0u, ~0u), -EINVAL);
}

/// A pool of two that the scoring holds: pictures come back, or there are more of them; nobody waits for ever.
TEST(Library, APoolNeverWaitsForItself) {
    for (const unsigned count : {1u, 2u, 5u}) {
        LibraryContext context(3);
        ASSERT_EQ(vmaf_use_feature(context, "motion", nullptr), 0);
        ASSERT_EQ(vmaf_preallocate_pictures(context, {{64, 48, 8, VMAF_PIX_FMT_YUV420P}, count}), 0);
        for (unsigned i = 0; i < 12; ++i) {
            VmafPicture pictures[2];
            if (count == 1) {
                ASSERT_EQ(vmaf_picture_alloc(&pictures[1], VMAF_PIX_FMT_YUV420P, 8, 64, 48), 0);
            } else {
                ASSERT_EQ(vmaf_fetch_preallocated_picture(context, &pictures[1]), 0);
            }
            ASSERT_EQ(vmaf_fetch_preallocated_picture(context, pictures), 0);
            for (int side = 0; side < 2; ++side) fill(pictures[side], small_clip(), side != 0, static_cast<int>(i % 4));
            ASSERT_EQ(vmaf_read_pictures(context, &pictures[0], &pictures[1], i), 0);
        }
        ASSERT_EQ(context.flush(), 0);
    }
}

TEST(Library, APoolWaitsForItsClient) {
    LibraryContext context;
    ASSERT_EQ(vmaf_preallocate_pictures(context, {{64, 48, 8, VMAF_PIX_FMT_YUV420P}, 1}), 0);
    VmafPicture held{}, other{};
    ASSERT_EQ(vmaf_fetch_preallocated_picture(context, &held), 0);
    void* const memory = held.data[0];
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_EQ(vmaf_picture_unref(&held), 0);
    });
    ASSERT_EQ(vmaf_fetch_preallocated_picture(context, &other), 0);
    EXPECT_EQ(other.data[0], memory);
    later.join();
    // It is still held when the context goes.
    VmafContext* closed = nullptr;
    ASSERT_EQ(vmaf_init(&closed, {}), 0);
    ASSERT_EQ(vmaf_preallocate_pictures(closed, {{64, 48, 8, VMAF_PIX_FMT_YUV420P}, 1}), 0);
    ASSERT_EQ(vmaf_fetch_preallocated_picture(closed, &held), 0);
    EXPECT_EQ(vmaf_close(closed), 0);
    std::memset(held.data[0], 1, 64);
    EXPECT_EQ(vmaf_picture_unref(&held), 0);
    EXPECT_EQ(vmaf_picture_unref(&other), 0);
}

TEST(Library, ReportsOfEveryLayout) {
    LibraryContext context;
    ASSERT_EQ(vmaf_import_feature_score(context, "VMAF_integer_feature_adm2_score", 0.000000512, 0), 0);
    ASSERT_EQ(vmaf_import_feature_score(context, "mine", INFINITY, 0), 0);
    ASSERT_EQ(vmaf_import_feature_score(context, "mine", 100, 1), 0);
    EXPECT_EQ(context.report(VMAF_OUTPUT_FORMAT_CSV),
              "Frame,integer_adm2,mine,\n0,0.0000005120000000,inf,\n1,,100.000000,\n");
    EXPECT_EQ(context.report(VMAF_OUTPUT_FORMAT_SUB),
              "{0}{1}frame: 0|integer_adm2: 0.0000005120000000|mine: inf|\n{1}{2}frame: 1|mine: 100.000000|\n");
    const std::string version = vmaf_version();
    EXPECT_EQ(
        context.report(VMAF_OUTPUT_FORMAT_XML),
        "<VMAF version=\"" + version +
            "\">\n  <params qualityWidth=\"0\" qualityHeight=\"0\" />\n  <fyi fps=\"nan\" />\n  <frames>\n"
            "    <frame frameNum=\"0\" integer_adm2=\"0.0000005120000000\" mine=\"inf\" />\n"
            "    <frame frameNum=\"1\" mine=\"100.000000\" />\n  </frames>\n  <pooled_metrics>\n"
            "    <metric name=\"integer_adm2\" />\n"
            "    <metric name=\"mine\" min=\"100.000000\" max=\"inf\" mean=\"inf\" harmonic_mean=\"201.000000\" />\n"
            "  </pooled_metrics>\n  <aggregate_metrics />\n</VMAF>\n");
    EXPECT_EQ(
        context.report(VMAF_OUTPUT_FORMAT_JSON),
        "{\n  \"version\": \"" + version +
            "\",\n  \"fps\": null,\n  \"frames\": [\n    {\n      \"frameNum\": 0,\n      \"metrics\": {\n"
            "        \"integer_adm2\": 0.0000005120000000,\n        \"mine\": null\n      }\n    },\n"
            "    {\n      \"frameNum\": 1,\n      \"metrics\": {\n        \"mine\": 100.000000\n      }\n    }\n  ],\n"
            "  \"pooled_metrics\": {\n    \"integer_adm2\": {\n    },\n    \"mine\": {\n      \"min\": 100.000000,\n"
            "      \"max\": null,\n      \"mean\": null,\n      \"harmonic_mean\": 201.000000\n    }\n  },\n"
            "  \"aggregate_metrics\": {\n  }\n}\n");
    EXPECT_EQ(vmaf_write_output(context, "/nowhere/report", VMAF_OUTPUT_FORMAT_XML), -EINVAL);
    EXPECT_EQ(vmaf_write_output(context, "/dev/full", VMAF_OUTPUT_FORMAT_XML), -EIO);
    EXPECT_EQ(vmaf_write_output(context, "/dev/null", VMAF_OUTPUT_FORMAT_NONE), -EINVAL);
}

} // namespace
} // namespace qc::test
