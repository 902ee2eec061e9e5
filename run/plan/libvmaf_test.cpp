// SPDX-License-Identifier: BSD-2-Clause-Patent
// Options of FFmpeg's filter libvmaf in; this project's, and what is said of it, out.
#include "quality_cuda_run/libvmaf.h"

#include <string>

#include <gtest/gtest.h>

#include "run/text/messages_test_support.hpp"

namespace qc::run {
namespace {

/// Translates and frees.
struct Meaning {
    explicit Meaning(const qcr_libvmaf_options& options) {
        Messages heard;
        const qcr_sink sink = heard.sink();
        EXPECT_EQ(qcr_translate_libvmaf(&options, &sink, &is), QC_OK);
        said = heard.all;
    }
    ~Meaning() { qcr_free_meaning(&is); }
    Meaning(const Meaning&) = delete;
    Meaning& operator=(const Meaning&) = delete;

    qcr_libvmaf_meaning is{};
    Lines said;
};

TEST(Libvmaf, Models) {
    static const struct {
        const char *model_path, *model;
        bool transform;
        const char* means;
        Lines said;
    } kCases[] = {
        {nullptr, nullptr, false, "version=vmaf_v0.6.1", {}},
        {nullptr, "", true, "version=vmaf_v0.6.1:enable_transform=true", {}},
        {nullptr, "version=a|path=b:name=c", false, "version=a|path=b:name=c", {}},
        {nullptr, "version=a|version=b", true, "version=a:enable_transform=true|version=b:enable_transform=true", {}},
        {nullptr, "version=a:psnr.enable_chroma=0:word", false, "version=a:psnr.enable_chroma=0:word", {}},
        {nullptr, "version=a:disable_clip=true:enable_transform=false", false, "version=a:disable_clip=true", {}},
        {nullptr, "disable_clip=false:version=a", false, "version=a", {}},
        {nullptr, "version=a::name=b", false, "version=a:name=b", {}},
        {nullptr, "path='a:b|c':name=d", false, "path='a:b|c':name=d", {}},
        {nullptr, "path=a\\:b\\|c", false, "path=a\\:b\\|c", {}},
        {nullptr,
         "version=a:log_fmt=b",
         false,
         "version=a",
         {"W model: log_fmt=b is not among its keys, and has no effect"}},
        {nullptr,
         "version=a:disable_clip=1",
         false,
         "version=a",
         {"W model: disable_clip=1 is taken for false; accepted: true, false"}},
        {"a/vmaf_v0.6.1neg.pkl",
         QCR_LIBVMAF_MODEL,
         false,
         "version=vmaf_v0.6.1neg",
         {"I model_path=a/vmaf_v0.6.1neg.pkl: the built-in model vmaf_v0.6.1neg is taken for it"}},
        {"/a/b.json", nullptr, false, "path=/a/b.json", {}},
        {" a:|='\\ b ", nullptr, false, "path=\\ a\\:\\|\\=\\'\\\\ b\\ ", {}},
        {"a.json", "version=b", false, "version=b", {"W model_path=a.json has no effect, model is given too"}},
    };
    for (const auto& of : kCases) {
        qcr_libvmaf_options options{};
        options.model_path = of.model_path;
        options.model = of.model;
        options.phone_model = of.transform;
        const Meaning meaning(options);
        EXPECT_STREQ(meaning.is.model, of.means);
        EXPECT_EQ(meaning.said, of.said);
    }
}

TEST(Libvmaf, Features) {
    static const struct {
        const char* feature;
        int psnr, ssim, ms_ssim;
        const char* means; ///< null: none
    } kCases[] = {
        {nullptr, 0, 0, 0, nullptr},
        {"", 0, 0, 0, nullptr},
        {"name=vif", 0, 0, 0, "name=vif"},
        {nullptr, 0, 1, 0, "name=float_ssim"},
        {"name=vif", 1, 1, 1, "name=psnr:enable_chroma=false|name=float_ssim|name=float_ms_ssim|name=vif"},
    };
    for (const auto& of : kCases) {
        qcr_libvmaf_options options{};
        options.feature = of.feature;
        options.psnr = of.psnr;
        options.ssim = of.ssim;
        options.ms_ssim = of.ms_ssim;
        const Meaning meaning(options);
        EXPECT_STREQ(meaning.is.feature, of.means);
        EXPECT_EQ(meaning.said, Lines{});
    }
}

TEST(Libvmaf, OtherWordsMeanTheFirstOne) {
    static const struct {
        const char *pool, *log_fmt, *pool_means, *log_fmt_means;
        Lines said;
    } kCases[] = {
        {nullptr, "", "mean", "xml", {}},
        {"HARMONIC_mean", "JSON", "harmonic_mean", "json", {}},
        {"min", "sub", "min", "sub", {}},
        {"max",
         "csv ",
         "mean",
         "xml",
         {"W pool=max is not known, mean is taken", "W log_fmt=csv  is not known, xml is taken"}},
    };
    for (const auto& of : kCases) {
        qcr_libvmaf_options options{};
        options.pool = of.pool;
        options.log_fmt = of.log_fmt;
        const Meaning meaning(options);
        EXPECT_STREQ(meaning.is.pool, of.pool_means);
        EXPECT_STREQ(meaning.is.log_fmt, of.log_fmt_means);
        EXPECT_EQ(meaning.said, of.said);
    }
}

TEST(Libvmaf, Pairing) {
    static const struct {
        int eof_action, shortest, repeatlast, ts_sync_mode;
        int sync, means, outlasts;
    } kCases[] = {
        {QCR_LAVFI_REPEAT, 0, 1, QCR_LAVFI_NEWEST, QCR_SYNC_LAVFI, QCR_EOF_REPEAT, 1},
        {QCR_LAVFI_REPEAT, 0, 0, QCR_LAVFI_NEAREST, QCR_SYNC_LAVFI_NEAREST, QCR_EOF_PASS, 0},
        {QCR_LAVFI_REPEAT, 1, 1, QCR_LAVFI_NEWEST, QCR_SYNC_LAVFI, QCR_EOF_ENDALL, 1},
        {QCR_LAVFI_ENDALL, 0, 1, QCR_LAVFI_NEWEST, QCR_SYNC_LAVFI, QCR_EOF_ENDALL, 1},
        {QCR_LAVFI_ENDALL, 0, 0, QCR_LAVFI_NEWEST, QCR_SYNC_LAVFI, QCR_EOF_PASS, 0},
        {QCR_LAVFI_PASS, 0, 1, QCR_LAVFI_NEWEST, QCR_SYNC_LAVFI, QCR_EOF_PASS, 0},
        {QCR_LAVFI_PASS, 1, 1, QCR_LAVFI_NEWEST, QCR_SYNC_LAVFI, QCR_EOF_ENDALL, 0},
    };
    for (const auto& of : kCases) {
        qcr_libvmaf_options options{};
        options.eof_action = of.eof_action;
        options.shortest = of.shortest;
        options.repeatlast = of.repeatlast;
        options.ts_sync_mode = of.ts_sync_mode;
        qcr_rules rules{};
        qcr_pair_as_libvmaf(&options, &rules);
        EXPECT_EQ(rules.sync, of.sync);
        EXPECT_EQ(rules.eof_action, of.means);
        EXPECT_EQ(rules.outlasts, of.outlasts);
    }
}

} // namespace
} // namespace qc::run
