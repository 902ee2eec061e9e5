/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** Pictures: planes that the library allocates, the caller fills, and whoever drops the last reference frees. */
#ifndef QUALITY_CUDA_LIBVMAF_PICTURE_H
#define QUALITY_CUDA_LIBVMAF_PICTURE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum VmafPixelFormat {
    VMAF_PIX_FMT_UNKNOWN,
    VMAF_PIX_FMT_YUV420P,
    VMAF_PIX_FMT_YUV422P,
    VMAF_PIX_FMT_YUV444P,
    VMAF_PIX_FMT_YUV400P, /**< luma alone */
};

typedef struct VmafRef VmafRef;

typedef struct VmafPicture {
    enum VmafPixelFormat pix_fmt;
    unsigned bpc;        /**< bits of a sample; above 8 it lies in the low bits of a 16-bit word */
    unsigned w[3], h[3]; /**< samples of each plane; halved chroma is rounded down */
    ptrdiff_t stride[3]; /**< bytes from row to row */
    void* data[3];
    VmafRef* ref; /**< NULL: no picture */
    void* priv;
} VmafPicture;

/**
 * Allocates a picture of zeros with one reference.
 * @param bpc 8 to 16
 * @return 0, -EINVAL for a NULL, a format or a depth that does not exist, a size of 0, -ENOMEM
 */
int vmaf_picture_alloc(VmafPicture* pic, enum VmafPixelFormat pix_fmt, unsigned bpc, unsigned w, unsigned h);

/** Drops one reference and makes *pic zeros. @return 0, -EINVAL for a NULL and for what holds no picture */
int vmaf_picture_unref(VmafPicture* pic);

#ifdef __cplusplus
}
#endif

#endif
