/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** libvmaf's interface to NVIDIA's GPUs: pictures in device memory, in a context of the caller's. */
#ifndef QUALITY_CUDA_LIBVMAF_CUDA_H
#define QUALITY_CUDA_LIBVMAF_CUDA_H

#include "libvmaf.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct VmafCudaState VmafCudaState;

typedef struct VmafCudaConfiguration {
    void* cu_ctx; /**< a CUcontext, which must outlive all contexts that use the state; NULL: the first device's own */
} VmafCudaConfiguration;

/** @return 0, -EINVAL where there is no driver or no device */
int vmaf_cuda_state_init(VmafCudaState** cu_state, VmafCudaConfiguration cfg);

/** Has a context score on that device. Before models, features and pictures. The state stays the caller's. */
int vmaf_cuda_import_state(VmafContext* vmaf, VmafCudaState* cu_state);

/** Frees a state, before or after vmaf_close(). NULL is -EINVAL. */
int vmaf_cuda_release(VmafCudaState* cu_state);

enum VmafCudaPicturePreallocationMethod {
    VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_NONE = 0,
    VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE, /**< luma in device memory; chroma is not looked at */
    VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST,
    VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST_PINNED,
};

typedef struct VmafCudaPictureConfiguration {
    struct {
        unsigned w, h;
        unsigned bpc;
        enum VmafPixelFormat pix_fmt;
    } pic_params;
    enum VmafCudaPicturePreallocationMethod pic_prealloc_method;
} VmafCudaPictureConfiguration;

int vmaf_cuda_preallocate_pictures(VmafContext* vmaf, VmafCudaPictureConfiguration cfg);

/**
 * The next picture. What the legacy default stream of the device's context was given before vmaf_read_pictures() comes
 * before the scoring.
 */
int vmaf_cuda_fetch_preallocated_picture(VmafContext* vmaf, VmafPicture* pic);

#ifdef __cplusplus
}
#endif

#endif
