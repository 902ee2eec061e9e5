// SPDX-License-Identifier: BSD-2-Clause-Patent
// What programs that use libvmaf call, in their order, with their mistakes.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cerrno>
#include <cmath>
#include <thread>
#include <vector>

#include "tests/compat/library_clip.hpp"

namespace qc::test {
namespace {

/// Of vmaf_v0.6.1 on the small clip, by one context.
std::vector<double> expected_scores() {
    VmafModel* const model = load_model();
    LibraryContext context;
    EXPECT_EQ(vmaf_use_features_from_model(context, model), 0);
    context.run(small_clip());
    std::vector<double> scores;
    for (unsigned i = 0; i < 4; ++i) scores.push_back(context.model(model, i));
    vmaf_model_destroy(model);
    return scores;
}

double mean(const std::vector<double>& scores) {
    double sum = 0;
    for (const double score : scores) sum += score;
    return sum / static_cast<double>(scores.size());
}

/// Models go before the context; a picture that is refused stays with the library's user, who forgets it.
TEST(Client, FilterOfFfmpeg) {
    VmafContext* context = nullptr;
    ASSERT_EQ(vmaf_init(&context, {VMAF_LOG_LEVEL_NONE, 3, 1, 0, 0}), 0);
    VmafModel* models[] = {load_model(), load_model("vmaf_v0.6.1neg", "neg")};
    ASSERT_EQ(vmaf_model_feature_overload(models[0], "motion", dictionary("motion_force_zero", "false")), 0);
    for (VmafModel* model : models) ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
    ASSERT_EQ(vmaf_use_feature(context, "psnr", nullptr), 0);
    for (int frame = 0; frame < 4; ++frame) {
        VmafPicture reference = picture_of(small_clip(), false, frame),
                    distorted = picture_of(small_clip(), true, frame);
        ASSERT_EQ(vmaf_read_pictures(context, &reference, &distorted, static_cast<unsigned>(frame)), 0);
    }
    ASSERT_EQ(vmaf_read_pictures(context, nullptr, nullptr, 0), 0);
    double score = 0;
    ASSERT_EQ(vmaf_score_pooled(context, models[0], VMAF_POOL_METHOD_MEAN, &score, 0, 3), 0);
    EXPECT_EQ(score, mean(expected_scores()));
    ASSERT_EQ(vmaf_score_pooled(context, models[1], VMAF_POOL_METHOD_MEAN, &score, 0, 3), 0);
    ASSERT_EQ(vmaf_write_output(context, "/dev/null", VMAF_OUTPUT_FORMAT_XML), 0);
    for (VmafModel* model : models) vmaf_model_destroy(model);
    EXPECT_EQ(vmaf_close(context), 0);
}

/// Luma alone, scores as frames pass; half of each row of deep pictures is never written. The context goes first.
TEST(Client, ElementOfGstreamer) {
    VmafContext* context = nullptr;
    ASSERT_EQ(vmaf_init(&context, {VMAF_LOG_LEVEL_NONE, 0, 1, 0, 0}), 0);
    VmafModel* model = nullptr;
    VmafModelConfig config{"self", 0};
    ASSERT_EQ(vmaf_model_load(&model, &config, "vmaf_v0.6.1"), 0);
    ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
    ASSERT_EQ(vmaf_use_feature(context, "psnr", dictionary("enable_chroma", "false")), 0);
    ASSERT_EQ(vmaf_use_feature(context, "float_ssim", nullptr), 0);
    std::vector<double> posted;
    for (unsigned n = 0; n < 4; ++n) {
        VmafPicture pictures[2]{};
        for (int side = 0; side < 2; ++side) {
            ASSERT_EQ(vmaf_picture_alloc(&pictures[side], VMAF_PIX_FMT_YUV400P, 8, 64, 48), 0);
            fill(pictures[side], small_clip(), side != 0, static_cast<int>(n), 1);
        }
        ASSERT_EQ(vmaf_read_pictures(context, &pictures[0], &pictures[1], n), 0);
        double score = 0;
        const int result = vmaf_score_at_index(context, model, &score, n + 1 - 2); // wraps around at the first
        EXPECT_EQ(result, n == 0 ? -EINVAL : 0) << n;
        if (result == 0) posted.push_back(score);
    }
    ASSERT_EQ(vmaf_read_pictures(context, nullptr, nullptr, 0), 0);
    const std::vector<double> expected = expected_scores();
    EXPECT_EQ(posted, std::vector<double>(expected.begin(), expected.begin() + 3));
    double score = 0;
    ASSERT_EQ(vmaf_score_pooled(context, model, VMAF_POOL_METHOD_MEAN, &score, 0, 3), 0);
    EXPECT_EQ(score, mean(expected));
    EXPECT_EQ(vmaf_close(context), 0);
    vmaf_model_destroy(model);
}

/// One model for many contexts of one picture each, with overloads that pile up, a gpumask of rubbish, and a second
/// unref.
TEST(Client, TuneVmafOfLibaom) {
    VmafModel* const model = load_model("vmaf_v0.6.1", "vmaf", VMAF_MODEL_FLAG_DISABLE_CLIP);
    std::vector<double> scores;
    for (int round = 0; round < 20; ++round) {
        VmafContext* context = nullptr;
        ASSERT_EQ(vmaf_init(&context, {VMAF_LOG_LEVEL_NONE, 0, 0, 0, 0xdeadbeefdeadbeef}), 0);
        ASSERT_EQ(vmaf_model_feature_overload(model, "float_motion", dictionary("motion_force_zero", "1")), 0);
        ASSERT_EQ(vmaf_model_feature_overload(model, "adm", dictionary("adm_enhn_gain_limit", "1.0")), 0);
        ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
        VmafPicture reference = picture_of(small_clip(), false, round % 4),
                    distorted = picture_of(small_clip(), true, round % 4);
        ASSERT_EQ(vmaf_read_pictures(context, &reference, &distorted, 0), 0);
        ASSERT_EQ(vmaf_read_pictures(context, nullptr, nullptr, 0), 0);
        EXPECT_EQ(vmaf_picture_unref(&reference), -EINVAL);
        EXPECT_EQ(vmaf_picture_unref(&distorted), -EINVAL);
        double score = -1;
        EXPECT_EQ(vmaf_score_at_index(context, model, &score, 0), 0);
        scores.push_back(score);
        EXPECT_EQ(vmaf_close(context), 0);
    }
    for (size_t i = 4; i < scores.size(); ++i) EXPECT_EQ(scores[i], scores[i % 4]);
    vmaf_model_destroy(model);
}

/// A pool, both pictures unref'd again, scores asked for at any time, two pictures held to the end.
TEST(Client, PoolOfCondor) {
    constexpr unsigned kThreads = 2;
    VmafContext* context = nullptr;
    ASSERT_EQ(vmaf_init(&context, {VMAF_LOG_LEVEL_NONE, kThreads, 1, 0, 0}), 0);
    ASSERT_EQ(vmaf_preallocate_pictures(context, {{64, 48, 8, VMAF_PIX_FMT_YUV420P}, 2 * kThreads + 2}), 0);
    VmafModel* const model = load_model();
    ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
    EXPECT_EQ(vmaf_use_feature(context, "no_feature", nullptr), -EINVAL) << "it only warns";
    VmafPicture reference{}, distorted{};
    double score = 0;
    for (unsigned i = 0; i < 16; ++i) {
        ASSERT_EQ(vmaf_fetch_preallocated_picture(context, &reference), 0);
        ASSERT_EQ(vmaf_fetch_preallocated_picture(context, &distorted), 0);
        fill(reference, small_clip(), false, static_cast<int>(i % 4));
        fill(distorted, small_clip(), true, static_cast<int>(i % 4));
        ASSERT_EQ(vmaf_read_pictures(context, &reference, &distorted, i), 0);
        static_cast<void>(vmaf_picture_unref(&reference));
        static_cast<void>(vmaf_picture_unref(&distorted));
        static_cast<void>(vmaf_score_at_index(context, model, &score, i));
    }
    ASSERT_EQ(vmaf_fetch_preallocated_picture(context, &reference), 0);
    ASSERT_EQ(vmaf_fetch_preallocated_picture(context, &distorted), 0);
    ASSERT_EQ(vmaf_read_pictures(context, nullptr, nullptr, 16), 0);
    for (unsigned i = 0; i < 16; ++i) ASSERT_EQ(vmaf_score_at_index(context, model, &score, i), 0);
    ASSERT_EQ(vmaf_feature_score_pooled(context, "vmaf", VMAF_POOL_METHOD_MEAN, &score, 0, 15), 0);
    ASSERT_EQ(vmaf_picture_unref(&reference), 0);
    ASSERT_EQ(vmaf_picture_unref(&distorted), 0);
    vmaf_model_destroy(model);
    EXPECT_EQ(vmaf_close(context), 0);
}

/// No GPU: it closes, starts again on the CPU, and asks for features that may not be there.
TEST(Client, NvencWithoutAGpu) {
    VmafContext* context = nullptr;
    ASSERT_EQ(vmaf_init(&context, {VMAF_LOG_LEVEL_NONE, 2, 1, 0, 0}), 0);
    VmafModelConfig config{"vmaf", 0};
    VmafModel* model = nullptr;
    VmafModelCollection* collection = nullptr;
    ASSERT_NE(vmaf_model_load(&model, &config, "vmaf_b_v0.6.3"), 0);
    ASSERT_EQ(vmaf_model_collection_load(&model, &collection, &config, "vmaf_b_v0.6.3"), 0);
    ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
    ASSERT_EQ(vmaf_use_features_from_model_collection(context, collection), 0);
    for (int frame = 0; frame < 4; ++frame) {
        VmafPicture reference = picture_of(small_clip(), false, frame),
                    distorted = picture_of(small_clip(), true, frame);
        ASSERT_EQ(vmaf_read_pictures(context, &reference, &distorted, static_cast<unsigned>(frame)), 0);
    }
    ASSERT_EQ(vmaf_read_pictures(context, nullptr, nullptr, 0), 0);
    VmafModelCollectionScore pooled{};
    double score = 0;
    ASSERT_EQ(vmaf_score_pooled_model_collection(context, collection, VMAF_POOL_METHOD_MEAN, &pooled, 0, 3), 0);
    ASSERT_EQ(vmaf_score_pooled(context, model, VMAF_POOL_METHOD_MEAN, &score, 0, 3), 0);
    EXPECT_TRUE(std::isfinite(pooled.bootstrap.bagging_score) && std::isfinite(score));
    for (const char* name : {"integer_motion", "vmaf_hd", "", "psnr_y"})
        EXPECT_NE(vmaf_feature_score_at_index(context, name, &score, 9), 0) << name;
    vmaf_model_destroy(model);
    vmaf_model_collection_destroy(collection);
    EXPECT_EQ(vmaf_close(context), 0);
}

/// Programs that open the library look for these, and for one that must not be there.
TEST(Client, NamesThatAreLookedFor) {
    void* const library = dlopen(QC_LIBVMAF, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    for (const char* name : {"vmaf_version", "vmaf_cuda_release", "vmaf_picture_ref", "vmaf_register_metadata_handler",
                             "vmaf_cuda_import_state"})
        EXPECT_NE(dlsym(library, name), nullptr) << name;
    for (const char* name : {"vmaf_use_vmafossexec_aliases", "vmaf_picture_convert", "vmaf_cuda_state_free"})
        EXPECT_EQ(dlsym(library, name), nullptr) << name;
    dlclose(library);
}

TEST(Client, TwoThreadsWithAModelInCommon) {
    VmafModel* const model = load_model();
    const std::vector<double> expected = expected_scores();
    const auto run = [&] {
        for (int round = 0; round < 3; ++round) {
            LibraryContext context(2);
            ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
            context.run(small_clip());
            for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(context.model(model, i), expected[i]);
        }
    };
    std::thread other(run);
    run();
    other.join();
    vmaf_model_destroy(model);
}

/// It is closed while pairs are being scored, by another thread than the one that read them.
TEST(Client, ClosesWithWorkLeft) {
    for (int round = 0; round < 5; ++round) {
        VmafContext* context = nullptr;
        ASSERT_EQ(vmaf_init(&context, {VMAF_LOG_LEVEL_NONE, 4, 1, 0, 0}), 0);
        ASSERT_EQ(vmaf_use_feature(context, "vif", nullptr), 0);
        for (int frame = 0; frame <= round; ++frame) {
            VmafPicture reference = picture_of(small_clip(), false, frame % 4),
                        distorted = picture_of(small_clip(), true, frame % 4);
            ASSERT_EQ(vmaf_read_pictures(context, &reference, &distorted, static_cast<unsigned>(frame)), 0);
        }
        std::thread([&] { EXPECT_EQ(vmaf_close(context), 0); }).join();
    }
}

} // namespace
} // namespace qc::test
