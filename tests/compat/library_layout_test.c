/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/*
 * libvmaf's headers as programs in C include them, in each of the forms in use; sizes, offsets and numbers are those of
 * libvmaf 3.2 on 64-bit machines. Every function is asked for by its name.
 */
#include <libvmaf.h>
#include <libvmaf/libvmaf.h>
#include <libvmaf/libvmaf_cuda.h>
#include <libvmaf/version.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EXPECT(condition) _Static_assert(condition, #condition)

EXPECT(VMAF_API_VERSION_MAJOR == 3 && VMAF_API_VERSION_MINOR == 2 && VMAF_API_VERSION_PATCH == 0);

EXPECT(sizeof(VmafConfiguration) == 32 && offsetof(VmafConfiguration, n_threads) == 4 &&
       offsetof(VmafConfiguration, n_subsample) == 8);
EXPECT(offsetof(VmafConfiguration, cpumask) == 16 && offsetof(VmafConfiguration, gpumask) == 24);
EXPECT(sizeof(VmafPicture) == 96 && offsetof(VmafPicture, bpc) == 4 && offsetof(VmafPicture, w) == 8 &&
       offsetof(VmafPicture, h) == 20);
EXPECT(offsetof(VmafPicture, stride) == 32 && offsetof(VmafPicture, data) == 56);
EXPECT(offsetof(VmafPicture, ref) == 80 && offsetof(VmafPicture, priv) == 88);
EXPECT(sizeof(VmafModelConfig) == 16 && offsetof(VmafModelConfig, flags) == 8);
EXPECT(sizeof(VmafModelCollectionScore) == 40 && offsetof(VmafModelCollectionScore, bootstrap.bagging_score) == 8);
EXPECT(offsetof(VmafModelCollectionScore, bootstrap.stddev) == 16 &&
       offsetof(VmafModelCollectionScore, bootstrap.ci.p95.lo) == 24);
EXPECT(offsetof(VmafModelCollectionScore, bootstrap.ci.p95.hi) == 32);
EXPECT(sizeof(VmafPictureConfiguration) == 20 && offsetof(VmafPictureConfiguration, pic_params.h) == 4);
EXPECT(offsetof(VmafPictureConfiguration, pic_params.bpc) == 8 &&
       offsetof(VmafPictureConfiguration, pic_params.pix_fmt) == 12);
EXPECT(offsetof(VmafPictureConfiguration, pic_cnt) == 16);
EXPECT(sizeof(VmafCudaConfiguration) == 8 && sizeof(VmafCudaPictureConfiguration) == 20);
EXPECT(offsetof(VmafCudaPictureConfiguration, pic_prealloc_method) == 16);

EXPECT(VMAF_LOG_LEVEL_NONE == 0 && VMAF_LOG_LEVEL_ERROR == 1 && VMAF_LOG_LEVEL_WARNING == 2 &&
       VMAF_LOG_LEVEL_INFO == 3);
EXPECT(VMAF_LOG_LEVEL_DEBUG == 4);
EXPECT(VMAF_OUTPUT_FORMAT_NONE == 0 && VMAF_OUTPUT_FORMAT_XML == 1 && VMAF_OUTPUT_FORMAT_JSON == 2 &&
       VMAF_OUTPUT_FORMAT_CSV == 3);
EXPECT(VMAF_OUTPUT_FORMAT_SUB == 4);
EXPECT(VMAF_POOL_METHOD_UNKNOWN == 0 && VMAF_POOL_METHOD_MIN == 1 && VMAF_POOL_METHOD_MAX == 2 &&
       VMAF_POOL_METHOD_MEAN == 3);
EXPECT(VMAF_POOL_METHOD_HARMONIC_MEAN == 4 && VMAF_POOL_METHOD_NB == 5);
EXPECT(VMAF_PIX_FMT_UNKNOWN == 0 && VMAF_PIX_FMT_YUV420P == 1 && VMAF_PIX_FMT_YUV422P == 2 &&
       VMAF_PIX_FMT_YUV444P == 3);
EXPECT(VMAF_PIX_FMT_YUV400P == 4);
EXPECT(VMAF_MODEL_FLAGS_DEFAULT == 0 && VMAF_MODEL_FLAG_DISABLE_CLIP == 1 && VMAF_MODEL_FLAG_ENABLE_TRANSFORM == 2);
EXPECT(VMAF_MODEL_FLAG_DISABLE_TRANSFORM == 4);
EXPECT(VMAF_MODEL_COLLECTION_SCORE_UNKNOWN == 0 && VMAF_MODEL_COLLECTION_SCORE_BOOTSTRAP == 1);
EXPECT(VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_NONE == 0 && VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE == 1);
EXPECT(VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST == 2 && VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST_PINNED == 3);

typedef void (*Function)(void);

static const Function functions[] = {
    (Function)vmaf_init,
    (Function)vmaf_close,
    (Function)vmaf_version,
    (Function)vmaf_use_features_from_model,
    (Function)vmaf_use_features_from_model_collection,
    (Function)vmaf_use_feature,
    (Function)vmaf_import_feature_score,
    (Function)vmaf_read_pictures,
    (Function)vmaf_score_at_index,
    (Function)vmaf_score_at_index_model_collection,
    (Function)vmaf_feature_score_at_index,
    (Function)vmaf_score_pooled,
    (Function)vmaf_score_pooled_model_collection,
    (Function)vmaf_feature_score_pooled,
    (Function)vmaf_preallocate_pictures,
    (Function)vmaf_fetch_preallocated_picture,
    (Function)vmaf_write_output,
    (Function)vmaf_picture_alloc,
    (Function)vmaf_picture_unref,
    (Function)vmaf_model_load,
    (Function)vmaf_model_load_from_path,
    (Function)vmaf_model_feature_overload,
    (Function)vmaf_model_destroy,
    (Function)vmaf_model_collection_load,
    (Function)vmaf_model_collection_load_from_path,
    (Function)vmaf_model_collection_feature_overload,
    (Function)vmaf_model_collection_destroy,
    (Function)vmaf_feature_dictionary_set,
    (Function)vmaf_feature_dictionary_free,
    (Function)vmaf_cuda_state_init,
    (Function)vmaf_cuda_import_state,
    (Function)vmaf_cuda_release,
    (Function)vmaf_cuda_preallocate_pictures,
    (Function)vmaf_cuda_fetch_preallocated_picture,
};

int main(void) {
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        if (functions[i] == NULL) return 1;
    if (strncmp(vmaf_version(), "3.", 2) != 0) {
        fprintf(stderr, "clients read a version from \"%s\"\n", vmaf_version());
        return 1;
    }
    return 0;
}
