// SPDX-License-Identifier: BSD-2-Clause-Patent
// libvmaf's functions for GPUs, on the driver that is not there (tests/device).
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include <libvmaf/libvmaf_cuda.h>

#include "tests/compat/library_clip.hpp"

namespace qc::test {
namespace {

using Copy = int (*)(uintptr_t target, const void* source, size_t bytes, void* stream);
using Push = int (*)(void* context);

class LibraryCuda : public testing::Test {
protected:
    void SetUp() override {
        driver_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(driver_, nullptr) << "the stand-in driver is not in LD_LIBRARY_PATH";
        ASSERT_EQ(vmaf_cuda_state_init(&state_, {nullptr}), 0);
    }
    void TearDown() override {
        if (state_ == nullptr) return;
        EXPECT_EQ(vmaf_cuda_release(state_), 0);
    }
    /// As a client with a device fills luma, row by row.
    void upload(const VmafPicture& picture, bool distorted, int frame) {
        VmafPicture host = picture_of(small_clip(), distorted, frame);
        const auto copy = reinterpret_cast<Copy>(dlsym(driver_, "cuMemcpyHtoDAsync_v2"));
        const auto retain = reinterpret_cast<int (*)(void**, int)>(dlsym(driver_, "cuDevicePrimaryCtxRetain"));
        const auto push = reinterpret_cast<Push>(dlsym(driver_, "cuCtxPushCurrent_v2"));
        void* context = nullptr;
        ASSERT_EQ(retain(&context, 0), 0);
        ASSERT_EQ(push(context), 0);
        for (unsigned y = 0; y < picture.h[0]; ++y)
            ASSERT_EQ(copy(reinterpret_cast<uintptr_t>(picture.data[0]) + y * static_cast<size_t>(picture.stride[0]),
                           static_cast<uint8_t*>(host.data[0]) + y * static_cast<size_t>(host.stride[0]), picture.w[0],
                           nullptr),
                      0);
        reinterpret_cast<int (*)(void**)>(dlsym(driver_, "cuCtxPopCurrent_v2"))(&context);
        reinterpret_cast<int (*)(int)>(dlsym(driver_, "cuDevicePrimaryCtxRelease_v2"))(0);
        EXPECT_EQ(vmaf_picture_unref(&host), 0);
    }
    static std::vector<double> on_the_cpu(VmafModel* model) {
        EXPECT_EQ(setenv("QUALITY_CUDA_BACKEND", "cpu", 1), 0);
        LibraryContext cpu;
        unsetenv("QUALITY_CUDA_BACKEND");
        EXPECT_EQ(vmaf_use_features_from_model(cpu, model), 0);
        cpu.run(small_clip());
        std::vector<double> scores;
        for (unsigned i = 0; i < 4; ++i) scores.push_back(cpu.model(model, i));
        return scores;
    }

    void* driver_ = nullptr;
    VmafCudaState* state_ = nullptr;
};

/// FFmpeg's filter of the GPU. The state goes before the context.
TEST_F(LibraryCuda, PicturesInDeviceMemory) {
    VmafModel* const model = load_model();
    const std::vector<double> expected = on_the_cpu(model);
    {
        LibraryContext context;
        ASSERT_EQ(vmaf_cuda_import_state(context, state_), 0);
        ASSERT_EQ(vmaf_cuda_preallocate_pictures(
                      context, {{64, 48, 8, VMAF_PIX_FMT_YUV420P}, VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE}),
                  0);
        ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
        ASSERT_EQ(vmaf_use_feature(context, "psnr", nullptr), 0) << "its luma";
        for (unsigned i = 0; i < 4; ++i) {
            VmafPicture pair[2]{};
            for (int side = 0; side < 2; ++side) {
                ASSERT_EQ(vmaf_cuda_fetch_preallocated_picture(context, &pair[side]), 0);
                upload(pair[side], side != 0, static_cast<int>(i));
            }
            ASSERT_EQ(vmaf_read_pictures(context, &pair[0], &pair[1], i), 0);
            EXPECT_TRUE(is_zero(pair[0]) && is_zero(pair[1]));
        }
        ASSERT_EQ(context.flush(), 0);
        for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(context.model(model, i), expected[i]);
        EXPECT_GT(context.feature("psnr_y", 3), 0);
        double score = 0;
        EXPECT_EQ(vmaf_feature_score_at_index(context, "psnr_cb", &score, 3), -EINVAL) << "chroma is not looked at";
        ASSERT_EQ(vmaf_cuda_release(state_), 0);
        state_ = nullptr;
    }
    vmaf_model_destroy(model);
}

TEST_F(LibraryCuda, ChromaOfDevicePicturesIsRefused) {
    LibraryContext context;
    ASSERT_EQ(vmaf_cuda_import_state(context, state_), 0);
    ASSERT_EQ(vmaf_cuda_preallocate_pictures(
                  context, {{64, 48, 8, VMAF_PIX_FMT_YUV420P}, VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE}),
              0);
    ASSERT_EQ(vmaf_use_feature(context, "ciede", nullptr), 0);
    VmafPicture pair[2]{};
    for (VmafPicture& picture : pair) ASSERT_EQ(vmaf_cuda_fetch_preallocated_picture(context, &picture), 0);
    EXPECT_EQ(vmaf_read_pictures(context, &pair[0], &pair[1], 0), -EINVAL);
    for (VmafPicture& picture : pair) EXPECT_EQ(vmaf_picture_unref(&picture), 0);
}

/// NVEnc's and Condor's: pictures of the host in a context on a GPU, by either function; two are never given back.
TEST_F(LibraryCuda, HostPicturesAreUploaded) {
    VmafModel* const model = load_model();
    const std::vector<double> expected = on_the_cpu(model);
    VmafPicture dropped[2]{};
    for (const auto method :
         {VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST, VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST_PINNED}) {
        LibraryContext context;
        ASSERT_EQ(vmaf_cuda_import_state(context, state_), 0);
        ASSERT_EQ(vmaf_cuda_preallocate_pictures(context, {{64, 48, 8, VMAF_PIX_FMT_YUV420P}, method}), 0);
        ASSERT_EQ(vmaf_use_features_from_model(context, model), 0);
        ASSERT_EQ(vmaf_cuda_fetch_preallocated_picture(context,
                                                       &dropped[method == VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST]),
                  0);
        for (unsigned i = 0; i < 4; ++i) {
            VmafPicture pair[2]{};
            ASSERT_EQ(vmaf_cuda_fetch_preallocated_picture(context, &pair[0]), 0);
            ASSERT_EQ(vmaf_fetch_preallocated_picture(context, &pair[1]), 0);
            for (int side = 0; side < 2; ++side) fill(pair[side], small_clip(), side != 0, static_cast<int>(i));
            ASSERT_EQ(vmaf_read_pictures(context, &pair[0], &pair[1], i), 0);
        }
        ASSERT_EQ(context.flush(), 0);
        for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(context.model(model, i), expected[i]);
    }
    for (VmafPicture& picture : dropped) EXPECT_EQ(vmaf_picture_unref(&picture), 0) << "it outlives its context";
    vmaf_model_destroy(model);
}

/// Without a state, too, where there is a GPU; QUALITY_CUDA_BACKEND=cpu keeps off it.
TEST_F(LibraryCuda, TheEnvironmentDecides) {
    ASSERT_EQ(setenv("QUALITY_CUDA_BACKEND", "cpu", 1), 0);
    LibraryContext cpu;
    ASSERT_EQ(vmaf_cuda_import_state(cpu, state_), 0);
    ASSERT_EQ(vmaf_cuda_preallocate_pictures(
                  cpu, {{64, 48, 8, VMAF_PIX_FMT_YUV420P}, VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE}),
              0);
    VmafPicture picture{};
    EXPECT_EQ(vmaf_cuda_fetch_preallocated_picture(cpu, &picture), -EINVAL);
    ASSERT_EQ(setenv("QUALITY_CUDA_BACKEND", "cuda", 1), 0);
    LibraryContext cuda;
    ASSERT_EQ(unsetenv("QUALITY_CUDA_BACKEND"), 0);
    ASSERT_EQ(vmaf_use_feature(cuda, "psnr", nullptr), 0);
    cuda.run(small_clip());
    LibraryContext automatic;
    ASSERT_EQ(vmaf_use_feature(automatic, "psnr", nullptr), 0);
    automatic.run(small_clip());
    EXPECT_EQ(cuda.feature("psnr_y", 2), automatic.feature("psnr_y", 2));
}

TEST(LibraryWithoutCuda, ThereIsNoDevice) {
    VmafCudaState* state = nullptr;
    EXPECT_EQ(vmaf_cuda_state_init(&state, {nullptr}), -EINVAL);
    EXPECT_EQ(state, nullptr);
    EXPECT_EQ(vmaf_cuda_state_init(nullptr, {nullptr}), -EINVAL);
    EXPECT_EQ(vmaf_cuda_release(nullptr), -EINVAL);
    LibraryContext context;
    EXPECT_EQ(vmaf_cuda_import_state(context, nullptr), -EINVAL);
    EXPECT_EQ(vmaf_cuda_preallocate_pictures(
                  context, {{64, 48, 8, VMAF_PIX_FMT_YUV420P}, VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE}),
              -EINVAL);
    ASSERT_EQ(setenv("QUALITY_CUDA_BACKEND", "cuda", 1), 0);
    LibraryContext cuda;
    ASSERT_EQ(unsetenv("QUALITY_CUDA_BACKEND"), 0);
    ASSERT_EQ(vmaf_use_feature(cuda, "psnr", nullptr), 0);
    EXPECT_EQ(cuda.read(small_clip(), 0, 0), 0) << "what comes of it is known with the second pair";
    EXPECT_EQ(cuda.read(small_clip(), 1, 1), -EINVAL);
    EXPECT_EQ(cuda.read(small_clip(), 1, 1), -EINVAL);
    EXPECT_EQ(cuda.flush(), -EINVAL);
}

} // namespace
} // namespace qc::test
