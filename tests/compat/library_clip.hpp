// SPDX-License-Identifier: BSD-2-Clause-Patent
// Pictures for libvmaf's functions, and a context that closes itself.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include <libvmaf/libvmaf.h>

#include "tests/support/synthetic_clip.hpp"

extern "C" int vmaf_picture_ref(VmafPicture* dst, VmafPicture* src);

namespace qc::test {

inline const SyntheticClip& clip_named(const std::string& name) {
    for (const SyntheticClip& clip : kSyntheticClips)
        if (name == clip.name) return clip;
    ADD_FAILURE() << name;
    return kSyntheticClips[0];
}

/// The smallest that models accept.
inline const SyntheticClip& small_clip() {
    return clip_named("g64x48_420_8");
}

inline VmafPixelFormat format_of(const SyntheticClip& clip) {
    constexpr VmafPixelFormat kFormats[] = {VMAF_PIX_FMT_YUV400P, VMAF_PIX_FMT_YUV420P, VMAF_PIX_FMT_YUV422P,
                                            VMAF_PIX_FMT_YUV444P};
    return kFormats[clip.chroma];
}

/// As a client does: row by row, as many samples as the struct says.
inline void fill(const VmafPicture& picture, const SyntheticClip& clip, bool distorted, int frame, int planes = 3) {
    const size_t sample_bytes = clip.sample_bytes();
    for (int plane = 0; plane < planes && picture.data[plane] != nullptr; ++plane)
        for (unsigned y = 0; y < picture.h[plane]; ++y)
            for (unsigned x = 0; x < picture.w[plane]; ++x) {
                const auto sample = static_cast<uint16_t>(
                    synthetic_sample(static_cast<int>(x), static_cast<int>(y), frame, plane, clip.depth, distorted));
                auto* const row =
                    static_cast<uint8_t*>(picture.data[plane]) + static_cast<ptrdiff_t>(y) * picture.stride[plane];
                std::memcpy(row + x * sample_bytes, &sample, sample_bytes);
            }
}

inline VmafPicture picture_of(const SyntheticClip& clip, bool distorted, int frame) {
    VmafPicture picture{};
    EXPECT_EQ(vmaf_picture_alloc(&picture, format_of(clip), static_cast<unsigned>(clip.depth),
                                 static_cast<unsigned>(clip.width), static_cast<unsigned>(clip.height)),
              0);
    fill(picture, clip, distorted, frame);
    return picture;
}

inline bool is_zero(const VmafPicture& picture) {
    const VmafPicture zero{};
    return std::memcmp(&picture, &zero, sizeof(zero)) == 0;
}

class LibraryContext {
public:
    explicit LibraryContext(unsigned threads = 1, unsigned subsample = 0) {
        EXPECT_EQ(vmaf_init(&context_, {VMAF_LOG_LEVEL_NONE, threads, subsample, 0, 0}), 0);
    }
    ~LibraryContext() { EXPECT_EQ(vmaf_close(context_), 0); }
    LibraryContext(const LibraryContext&) = delete;
    LibraryContext& operator=(const LibraryContext&) = delete;
    operator VmafContext*() const { return context_; }

    int read(const SyntheticClip& clip, int frame, unsigned index) {
        VmafPicture reference = picture_of(clip, false, frame), distorted = picture_of(clip, true, frame);
        const int result = vmaf_read_pictures(context_, &reference, &distorted, index);
        EXPECT_EQ(is_zero(reference), result == 0);
        EXPECT_EQ(is_zero(distorted), result == 0);
        if (result != 0) {
            EXPECT_EQ(vmaf_picture_unref(&reference), 0);
            EXPECT_EQ(vmaf_picture_unref(&distorted), 0);
        }
        return result;
    }
    int flush() { return vmaf_read_pictures(context_, nullptr, nullptr, 77); }
    /// All of a clip, and the flush.
    void run(const SyntheticClip& clip) {
        for (int frame = 0; frame < clip.frames; ++frame) ASSERT_EQ(read(clip, frame, static_cast<unsigned>(frame)), 0);
        ASSERT_EQ(flush(), 0);
    }
    double feature(const char* name, unsigned index) const {
        double score = -1;
        EXPECT_EQ(vmaf_feature_score_at_index(context_, name, &score, index), 0) << name << " " << index;
        return score;
    }
    double model(VmafModel* model, unsigned index) const {
        double score = -1;
        EXPECT_EQ(vmaf_score_at_index(context_, model, &score, index), 0) << index;
        return score;
    }
    /// What vmaf_write_output() writes.
    std::string report(VmafOutputFormat format) const {
        const std::filesystem::path path =
            std::filesystem::temp_directory_path() / ("qc_library_" + std::to_string(getpid()));
        EXPECT_EQ(vmaf_write_output(context_, path.c_str(), format), 0);
        std::ifstream file(path);
        std::string text{std::istreambuf_iterator<char>(file), {}};
        std::filesystem::remove(path);
        return text;
    }

private:
    VmafContext* context_ = nullptr;
};

inline VmafModel* load_model(const char* version = "vmaf_v0.6.1", const char* name = nullptr, uint64_t flags = 0) {
    VmafModel* model = nullptr;
    VmafModelConfig config{name, flags};
    EXPECT_EQ(vmaf_model_load(&model, &config, version), 0) << version;
    return model;
}

inline VmafFeatureDictionary* dictionary(const char* key, const char* value) {
    VmafFeatureDictionary* made = nullptr;
    EXPECT_EQ(vmaf_feature_dictionary_set(&made, key, value), 0);
    return made;
}

} // namespace qc::test
