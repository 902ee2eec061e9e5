/*
 * SPDX-License-Identifier: LGPL-2.1-or-later
 * This file is part of FFmpeg's filter quality_cuda.
 */

/**
 * @file
 * What differs between FFmpeg 5.1 and 9, and between builds with and without
 * CUDA: macros, and nothing else. Every file includes it first, but those that
 * depend on the C library alone.
 * Depends on FFmpeg only.
 */

#ifndef AVFILTER_QUALITY_CUDA_COMPAT_H
#define AVFILTER_QUALITY_CUDA_COMPAT_H

#include "config.h"

#include "libavutil/attributes.h"
#include "libavutil/frame.h"
#include "libavutil/hwcontext.h"
#include "libavutil/mem.h"
#include "libavutil/version.h"
#if CONFIG_CUDA
#include "libavutil/hwcontext_cuda_internal.h"
#endif

#include "libavcodec/version_major.h"

#include "libavfilter/avfilter.h"
#include "libavfilter/filters.h"
#include "libavfilter/version.h"

#if LIBAVFILTER_VERSION_INT < AV_VERSION_INT(10, 4, 100)
#include "libavfilter/internal.h"
#define QC_LINK_RATE(link)     ((link)->frame_rate)
#define QC_LINK_HWFRAMES(link) ((link)->hw_frames_ctx)
#else
#define QC_LINK_RATE(link)     (ff_filter_link(link)->frame_rate)
#define QC_LINK_HWFRAMES(link) (ff_filter_link(link)->hw_frames_ctx)
#endif

/* From here on lavfi negotiates colour space and range like pixel formats. */
#define QC_HAS_COLOR (LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(9, 15, 100))
#define QC_HAS_ALPHA (LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(11, 6, 100))
#define QC_HAS_SITING (LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(12, 4, 101))
#define QC_FFFILTER  (LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(11, 0, 0))

/* Before libavcodec 60 a frame from NVDEC is a mapped decoder surface: each
 * one that is held is missing in the decoder's small pool. Later ones copy
 * it on the device, unless they are told not to. */
#define QC_SCARCE_SURFACES (LIBAVCODEC_VERSION_MAJOR < 60)

/* Up to FFmpeg 6 the command line asks a graph for every frame, and only what its
 * decoders still hold comes unasked, when it has enough. Since then frames are
 * handed over by other threads as they come. */
#define QC_UNASKED_IS_LAST (LIBAVFILTER_VERSION_MAJOR < 10)

#ifdef AV_FRAME_FLAG_INTERLACED
#define QC_IS_INTERLACED(frame) (!!((frame)->flags & AV_FRAME_FLAG_INTERLACED))
#define QC_SET_INTERLACED(frame, is) ((frame)->flags |= (is) ? AV_FRAME_FLAG_INTERLACED : 0)
#else
#define QC_IS_INTERLACED(frame) (!!(frame)->interlaced_frame)
#define QC_SET_INTERLACED(frame, is) ((frame)->interlaced_frame = !!(is))
#endif

/* Bytes of the packet that a frame was decoded from; 0 where frames do not say so any more. */
#if LIBAVUTIL_VERSION_MAJOR < 58
#define QC_PACKET_BYTES(frame) ((frame)->pkt_size)
#define QC_SET_PACKET_BYTES(frame, bytes) ((frame)->pkt_size = (bytes))
#else
#define QC_PACKET_BYTES(frame) ((void)(frame), 0)
#define QC_SET_PACKET_BYTES(frame, bytes) ((void)(frame), (void)(bytes))
#endif

#ifdef AVFILTER_FLAG_HWDEVICE
#define QC_FLAG_HWDEVICE AVFILTER_FLAG_HWDEVICE
#else
#define QC_FLAG_HWDEVICE 0
#endif

/* The CUcontext of a CUDA device, and the CUstream that the producer of a
 * frame enqueued its work on. */
#if CONFIG_CUDA
#define QC_CUDA_CONTEXT(device) ((void *)((AVCUDADeviceContext *)(device)->hwctx)->cuda_ctx)
#define QC_CUDA_STREAM(frame)   ((void *)((AVCUDADeviceContext *)QC_DEVICE_OF(frame)->hwctx)->stream)
#define QC_DEVICE_OF(frame)     (((AVHWFramesContext *)(frame)->hw_frames_ctx->data)->device_ctx)
#else
#define QC_CUDA_CONTEXT(device) ((void)(device), NULL)
#define QC_CUDA_STREAM(frame)   ((void)(frame), NULL)
#endif

#endif /* AVFILTER_QUALITY_CUDA_COMPAT_H */
