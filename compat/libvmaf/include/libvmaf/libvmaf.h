/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/**
 * libvmaf's interface, served by quality_cuda. Layouts, numbers and names are those of libvmaf 3.2, so that programs
 * built for one run with the other; docs/reference/libvmaf_library.md tells what differs.
 *
 * vmaf_init, models and features, vmaf_read_pictures for each pair, vmaf_read_pictures with NULLs, scores, vmaf_close.
 *
 * Every function that returns an int returns 0, or a negative number of errno.h: -EINVAL for what is wrong or not there
 * (yet), -ENOMEM, -EIO where a device or a disk failed. The reason is a line on standard error, at its level.
 *
 * A context may be used from any thread; calls on it wait for each other.
 */
#ifndef QUALITY_CUDA_LIBVMAF_H
#define QUALITY_CUDA_LIBVMAF_H

#include <stdint.h>

#include "feature.h"
#include "model.h"
#include "picture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum VmafLogLevel {
    VMAF_LOG_LEVEL_NONE = 0,
    VMAF_LOG_LEVEL_ERROR,
    VMAF_LOG_LEVEL_WARNING,
    VMAF_LOG_LEVEL_INFO,
    VMAF_LOG_LEVEL_DEBUG,
};

enum VmafOutputFormat {
    VMAF_OUTPUT_FORMAT_NONE = 0,
    VMAF_OUTPUT_FORMAT_XML,
    VMAF_OUTPUT_FORMAT_JSON,
    VMAF_OUTPUT_FORMAT_CSV,
    VMAF_OUTPUT_FORMAT_SUB, /**< MicroDVD subtitles */
};

enum VmafPoolingMethod {
    VMAF_POOL_METHOD_UNKNOWN = 0,
    VMAF_POOL_METHOD_MIN,
    VMAF_POOL_METHOD_MAX,
    VMAF_POOL_METHOD_MEAN,
    VMAF_POOL_METHOD_HARMONIC_MEAN,
    VMAF_POOL_METHOD_NB
};

typedef struct VmafConfiguration {
    enum VmafLogLevel log_level; /**< of the whole process: the last context's */
    unsigned n_threads;          /**< of the CPU; 0: one */
    unsigned n_subsample;        /**< scores of every n-th picture only; 0: of each */
    uint64_t cpumask;            /**< changes nothing */
    uint64_t gpumask;            /**< not 0: the CPU is used, unless QUALITY_CUDA_BACKEND says otherwise */
} VmafConfiguration;

typedef struct VmafContext VmafContext;

/** Makes a context. QUALITY_CUDA_BACKEND in the environment is auto, cpu or cuda. @return 0, -EINVAL, -ENOMEM */
int vmaf_init(VmafContext** vmaf, VmafConfiguration cfg);

/** Has all that a model needs computed. The model stays the caller's. @return 0, -EINVAL for options that are wrong */
int vmaf_use_features_from_model(VmafContext* vmaf, VmafModel* model);
int vmaf_use_features_from_model_collection(VmafContext* vmaf, VmafModelCollection* model_collection);

/**
 * Has one feature computed.
 * @param feature_name of an extractor, "psnr"
 * @param opts_dict NULL, or options; taken unless the name is not known
 */
int vmaf_use_feature(VmafContext* vmaf, const char* feature_name, VmafFeatureDictionary* opts_dict);

/** Brings in a score that was computed elsewhere. @return 0, -EINVAL where there is one already */
int vmaf_import_feature_score(VmafContext* vmaf, const char* feature_name, double value, unsigned index);

typedef struct VmafPictureConfiguration {
    struct {
        unsigned w, h;
        unsigned bpc;
        enum VmafPixelFormat pix_fmt;
    } pic_params;
    unsigned pic_cnt; /**< pictures of the pool */
} VmafPictureConfiguration;

/** Makes a pool of pictures, in the place of the one that was there. */
int vmaf_preallocate_pictures(VmafContext* vmaf, VmafPictureConfiguration cfg);

/** A picture of the pool, whose samples are whatever they are. Waits while the caller holds all of them. */
int vmaf_fetch_preallocated_picture(VmafContext* vmaf, VmafPicture* pic);

/**
 * Hands over a pair. On success both pictures are the library's and the structs become zeros; on failure they stay the
 * caller's. Both NULL: no more pairs will come.
 * @param index of the pair; ignored with NULLs
 * @return -EINVAL also for pictures unlike the first pair's, an index that was there, a gap where features look at the
 * picture before, and behind the end
 */
int vmaf_read_pictures(VmafContext* vmaf, VmafPicture* ref, VmafPicture* dist, unsigned index);

/** A model's score of one pair, which the report has from then on. @return -EINVAL while it is not there: ask again
 * later */
int vmaf_score_at_index(VmafContext* vmaf, VmafModel* model, double* score, unsigned index);
int vmaf_score_at_index_model_collection(VmafContext* vmaf, VmafModelCollection* model_collection,
                                         VmafModelCollectionScore* score, unsigned index);
/** A feature's, by the name that models or reports know it by. */
int vmaf_feature_score_at_index(VmafContext* vmaf, const char* feature_name, double* score, unsigned index);

/** Scores of all pairs from index_low to index_high, both included, as one. @return -EINVAL if one of them is not there
 */
int vmaf_score_pooled(VmafContext* vmaf, VmafModel* model, enum VmafPoolingMethod pool_method, double* score,
                      unsigned index_low, unsigned index_high);
int vmaf_score_pooled_model_collection(VmafContext* vmaf, VmafModelCollection* model_collection,
                                       enum VmafPoolingMethod pool_method, VmafModelCollectionScore* score,
                                       unsigned index_low, unsigned index_high);
int vmaf_feature_score_pooled(VmafContext* vmaf, const char* feature_name, enum VmafPoolingMethod pool_method,
                              double* score, unsigned index_low, unsigned index_high);

/** Frees the context; pictures that the caller holds stay good. */
int vmaf_close(VmafContext* vmaf);

/** Writes what scores there are. */
int vmaf_write_output(VmafContext* vmaf, const char* output_path, enum VmafOutputFormat fmt);

/** "3.2.0", and behind it whose. */
const char* vmaf_version(void);

#ifdef __cplusplus
}
#endif

#endif
