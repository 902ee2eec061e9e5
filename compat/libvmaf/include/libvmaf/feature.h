/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Options of features, as keys with values. */
#ifndef QUALITY_CUDA_LIBVMAF_FEATURE_H
#define QUALITY_CUDA_LIBVMAF_FEATURE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct VmafFeatureDictionary VmafFeatureDictionary;

/**
 * Sets an option, "adm_enhn_gain_limit" to "1.0"; a key that is there gets the new value.
 * @param dict *dict may be NULL: a dictionary is made. Who uses it takes it (see libvmaf.h and model.h)
 * @return 0, -EINVAL for a NULL, -ENOMEM
 */
int vmaf_feature_dictionary_set(VmafFeatureDictionary** dict, const char* key, const char* val);

/** Frees a dictionary that nobody has taken, and makes *dict NULL. @return 0, -EINVAL for a NULL */
int vmaf_feature_dictionary_free(VmafFeatureDictionary** dict);

#ifdef __cplusplus
}
#endif

#endif
