/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/** The version of libvmaf's interface that these headers describe. */
#ifndef QUALITY_CUDA_LIBVMAF_VERSION_H
#define QUALITY_CUDA_LIBVMAF_VERSION_H

#define VMAF_API_VERSION_MAJOR 3
#define VMAF_API_VERSION_MINOR 2
#define VMAF_API_VERSION_PATCH 0

#endif
