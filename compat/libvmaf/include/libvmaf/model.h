/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Models and collections of models. One may serve several contexts, and outlive them or not. */
#ifndef QUALITY_CUDA_LIBVMAF_MODEL_H
#define QUALITY_CUDA_LIBVMAF_MODEL_H

#include <stdint.h>

#include "feature.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct VmafModel VmafModel;

enum VmafModelFlags {
    VMAF_MODEL_FLAGS_DEFAULT = 0,
    VMAF_MODEL_FLAG_DISABLE_CLIP = (1 << 0),
    VMAF_MODEL_FLAG_ENABLE_TRANSFORM = (1 << 1),
    VMAF_MODEL_FLAG_DISABLE_TRANSFORM = (1 << 2), /**< has no effect, as in libvmaf */
};

typedef struct VmafModelConfig {
    const char* name; /**< of its scores in reports; NULL: "vmaf" */
    uint64_t flags;   /**< of VmafModelFlags */
} VmafModelConfig;

/** A built-in model, "vmaf_v0.6.1". @return 0, -EINVAL for a NULL, a name that is not known and a collection's, -ENOMEM
 */
int vmaf_model_load(VmafModel** model, VmafModelConfig* cfg, const char* version);
/** A model's JSON file. @return 0, -EINVAL for a NULL, a file that is no model, and a collection's, -ENOMEM */
int vmaf_model_load_from_path(VmafModel** model, VmafModelConfig* cfg, const char* path);

/**
 * Gives options to those features of a model that an extractor computes; other models, and contexts that use this one
 * already, keep theirs.
 * @param feature_name of the extractor, "vif". If none of the model's features is its, nothing happens
 * @param opts_dict is taken, whatever comes back
 * @return 0, -EINVAL for a NULL; values are looked at by vmaf_use_features_from_model()
 */
int vmaf_model_feature_overload(VmafModel* model, const char* feature_name, VmafFeatureDictionary* opts_dict);

/** NULL is allowed. */
void vmaf_model_destroy(VmafModel* model);

typedef struct VmafModelCollection VmafModelCollection;

enum VmafModelCollectionScoreType {
    VMAF_MODEL_COLLECTION_SCORE_UNKNOWN = 0,
    VMAF_MODEL_COLLECTION_SCORE_BOOTSTRAP,
};

typedef struct VmafModelCollectionScore {
    enum VmafModelCollectionScoreType type;
    struct {
        double bagging_score;
        double stddev;
        struct {
            struct {
                double lo, hi;
            } p95;
        } ci;
    } bootstrap;
} VmafModelCollectionScore;

/** A built-in collection: its first model and, of their own, all others. Both are the caller's to destroy. */
int vmaf_model_collection_load(VmafModel** model, VmafModelCollection** model_collection, VmafModelConfig* cfg,
                               const char* version);
int vmaf_model_collection_load_from_path(VmafModel** model, VmafModelCollection** model_collection,
                                         VmafModelConfig* cfg, const char* path);

/** As vmaf_model_feature_overload(), for the first model and all others. */
int vmaf_model_collection_feature_overload(VmafModel* model, VmafModelCollection** model_collection,
                                           const char* feature_name, VmafFeatureDictionary* opts_dict);

/** NULL is allowed. */
void vmaf_model_collection_destroy(VmafModelCollection* model_collection);

#ifdef __cplusplus
}
#endif

#endif
