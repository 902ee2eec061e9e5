// SPDX-License-Identifier: BSD-2-Clause-Patent
// Calls in any order, and calls whose memory is refused: what comes back is a number of errno.h, and nothing is left
// behind.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <random>
#include <vector>

#include "tests/compat/library_clip.hpp"
#include "tests/support/shortage.hpp"

namespace qc::test {
namespace {

constexpr int kOrders = 60, kCalls = 60;

bool is_known(int result) {
    return result == 0 || result == -EINVAL || result == -ENOMEM || result == -EIO;
}

/// Everything that a client may hold, and calls on it.
class Storm {
public:
    explicit Storm(uint32_t seed) : random_(seed) {}
    ~Storm() {
        for (VmafPicture& picture : pictures_) static_cast<void>(vmaf_picture_unref(&picture));
        vmaf_model_destroy(model_);
        vmaf_model_collection_destroy(collection_);
        if (context_ == nullptr) return;
        EXPECT_EQ(vmaf_close(context_), 0);
    }
    Storm(const Storm&) = delete;
    Storm& operator=(const Storm&) = delete;

    void blow() {
        const std::function<int()> calls[] = {
            [&] { return open(); },
            [&] { return vmaf_use_features_from_model(context_, model_); },
            [&] { return vmaf_use_features_from_model_collection(context_, collection_); },
            [&] {
                return vmaf_use_feature(context_, one_of({"psnr", "motion", "cambi", "none", "vif_cuda"}), nullptr);
            },
            [&] {
                return vmaf_model_feature_overload(model_, one_of({"vif", "adm", "x"}),
                                                   dictionary("vif_enhn_gain_limit", one_of({"1", "x"})));
            },
            [&] {
                return vmaf_import_feature_score(
                    context_, one_of({"psnr_y", "mine", "VMAF_integer_feature_motion2_score"}), 1, any(6));
            },
            [&] {
                return vmaf_preallocate_pictures(context_, {{any(3) * 32, 48, 8, VMAF_PIX_FMT_YUV420P}, 1 + any(4)});
            },
            [&] { return fetch(); },
            [&] { return vmaf_picture_unref(&pictures_[any(4)]); },
            [&] { return vmaf_picture_alloc(free_picture(), VMAF_PIX_FMT_YUV420P, 8, 64, 48); },
            [&] {
                return vmaf_read_pictures(context_, &pictures_[any(4)], &pictures_[any(4)], next_ + any(2) * any(3));
            },
            [&] { return read(); },
            [&] { return read(); },
            [&] { return read(); },
            [&] { return any(8) == 0 ? vmaf_read_pictures(context_, nullptr, nullptr, 0) : 0; },
            [&] { return vmaf_score_at_index(context_, model_, &score_, any(6)); },
            [&] { return vmaf_score_at_index_model_collection(context_, collection_, &scores_, any(6)); },
            [&] { return vmaf_feature_score_at_index(context_, "psnr_y", &score_, any(6)); },
            [&] {
                return vmaf_score_pooled(context_, model_, static_cast<VmafPoolingMethod>(any(6)), &score_, any(3),
                                         any(6));
            },
            [&] { return vmaf_write_output(context_, "/dev/null", static_cast<VmafOutputFormat>(any(6))); },
        };
        const int result = calls[any(static_cast<unsigned>(std::size(calls)))]();
        ASSERT_TRUE(is_known(result)) << result;
    }

private:
    unsigned any(unsigned count) { return static_cast<unsigned>(random_()) % count; }
    const char* one_of(std::initializer_list<const char*> words) {
        return words.begin()[any(static_cast<unsigned>(words.size()))];
    }
    int open() {
        VmafModelConfig config{};
        if (context_ == nullptr) return vmaf_init(&context_, {VMAF_LOG_LEVEL_NONE, any(4), any(3), 0, 0});
        if (model_ == nullptr && any(2) == 0)
            return vmaf_model_load(&model_, &config, one_of({"vmaf_v0.6.1", "vmaf_b_v0.6.3", "x"}));
        if (model_ == nullptr && collection_ == nullptr)
            return vmaf_model_collection_load(&model_, &collection_, &config, "vmaf_b_v0.6.3");
        return 0;
    }
    VmafPicture* free_picture() {
        VmafPicture* const picture = &pictures_[any(4)];
        static_cast<void>(vmaf_picture_unref(picture));
        return picture;
    }
    /// A client that holds all pictures of a pool waits for itself: this one holds none.
    int fetch() {
        for (VmafPicture& picture : pictures_) static_cast<void>(vmaf_picture_unref(&picture));
        return vmaf_fetch_preallocated_picture(context_, &pictures_[0]);
    }
    int read() {
        VmafPicture pair[2]{};
        for (int side = 0; side < 2; ++side)
            if (const int result = vmaf_picture_alloc(&pair[side], VMAF_PIX_FMT_YUV420P, 8, 64, 48); result == 0)
                fill(pair[side], small_clip(), side != 0, static_cast<int>(next_ % 4));
        const int result = vmaf_read_pictures(context_, &pair[0], &pair[1], next_);
        if (result == 0) ++next_;
        for (VmafPicture& picture : pair) static_cast<void>(vmaf_picture_unref(&picture));
        return result;
    }

    std::mt19937 random_;
    VmafContext* context_ = nullptr;
    VmafModel* model_ = nullptr;
    VmafModelCollection* collection_ = nullptr;
    VmafPicture pictures_[4]{};
    unsigned next_ = 0;
    double score_ = 0;
    VmafModelCollectionScore scores_{};
};

TEST(LibraryStorm, AnyOrderOfCalls) {
    for (int order = 0; order < kOrders; ++order) {
        SCOPED_TRACE(order);
        Storm storm(static_cast<uint32_t>(order));
        for (int call = 0; call < kCalls && !HasFatalFailure(); ++call) storm.blow();
    }
}

/// What a client does from the beginning to the end. @return the first failure
int whole_run() {
    VmafContext* context = nullptr;
    VmafModel *model = nullptr, *first = nullptr;
    VmafModelCollection* collection = nullptr;
    VmafModelConfig config{};
    VmafFeatureDictionary *options = nullptr, *overload = nullptr;
    double score = 0;
    int result = 0;
    const auto then = [&](int next) {
        EXPECT_TRUE(is_known(next)) << next;
        if (result == 0) result = next;
    };
    then(vmaf_init(&context, {VMAF_LOG_LEVEL_NONE, 2, 1, 0, 0}));
    then(vmaf_model_load(&model, &config, "vmaf_v0.6.1"));
    then(vmaf_feature_dictionary_set(&overload, "vif_enhn_gain_limit", "1"));
    then(vmaf_model_feature_overload(model, "vif", overload));
    then(vmaf_use_features_from_model(context, model));
    then(vmaf_model_collection_load(&first, &collection, &config, "vmaf_b_v0.6.3"));
    then(vmaf_use_features_from_model_collection(context, collection));
    then(vmaf_feature_dictionary_set(&options, "enable_apsnr", "true"));
    if (vmaf_use_feature(context, "psnr", options) != 0 && context == nullptr)
        static_cast<void>(vmaf_feature_dictionary_free(&options));
    then(vmaf_preallocate_pictures(context, {{64, 48, 8, VMAF_PIX_FMT_YUV420P}, 6}));
    for (unsigned i = 0; i < 3; ++i) {
        VmafPicture pair[2]{};
        for (VmafPicture& picture : pair) then(vmaf_fetch_preallocated_picture(context, &picture));
        then(vmaf_read_pictures(context, &pair[0], &pair[1], i));
        for (VmafPicture& picture : pair) static_cast<void>(vmaf_picture_unref(&picture));
    }
    then(vmaf_read_pictures(context, nullptr, nullptr, 0));
    then(vmaf_score_pooled(context, model, VMAF_POOL_METHOD_MEAN, &score, 0, 2));
    then(vmaf_write_output(context, "/dev/null", VMAF_OUTPUT_FORMAT_JSON));
    vmaf_model_destroy(model);
    vmaf_model_destroy(first);
    vmaf_model_collection_destroy(collection);
    if (context != nullptr) then(vmaf_close(context));
    return result;
}

TEST(LibraryStorm, EveryAllocationMayBeRefused) {
    ASSERT_EQ(whole_run(), 0); // what is made once per process
    Shortage counted(Resource::kMemory, 0, Shortage::Extent::kOnce);
    ASSERT_EQ(whole_run(), 0);
    const int64_t requests = counted.requests();
    counted.end();
    ASSERT_GT(requests, 100);
    int failed = 0;
    for (int64_t nth = 1; nth <= requests; nth += std::max<int64_t>(requests / 150, 1)) {
        SCOPED_TRACE(nth);
        const int64_t before = live_blocks();
        Shortage shortage(Resource::kMemory, nth, nth % 2 == 0 ? Shortage::Extent::kOnce : Shortage::Extent::kForGood);
        failed += whole_run() != 0 ? 1 : 0;
        shortage.end();
        EXPECT_EQ(live_blocks(), before);
    }
    EXPECT_GT(failed, 20);
}

} // namespace
} // namespace qc::test
