/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/*
 * Counts what a whole process (ffmpeg, its decoders and filters, the engine) asks of the CUDA driver, by direction and
 * size. Preloaded; it works because everybody here looks the driver up with dlsym. At exit it writes one JSON object to
 * the file named by QC_DRIVER_TRACE.
 *
 * Copies that are nodes of a graph are counted when they are added, and once more for each further launch of a graph in
 * `graph_launches`: the engine's graphs copy a batch description in and accumulators out, nothing else. So are kernels.
 *
 * QC_DRIVER_FAIL_LAUNCH=n makes the n-th launch of a graph fail, as if a kernel had broken.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
typedef unsigned long long CUdeviceptr;

/* The head of cuda.h's CUDA_MEMCPY2D (version 2): enough to know direction and size. */
typedef struct Copy2d {
    size_t source_x, source_y;
    int source_type;
    const void* source_host;
    CUdeviceptr source_device;
    void* source_array;
    size_t source_pitch;
    size_t target_x, target_y;
    int target_type;
    void* target_host;
    CUdeviceptr target_device;
    void* target_array;
    size_t target_pitch;
    size_t width_bytes, height;
} Copy2d;

/* The same of CUDA_MEMCPY3D. */
typedef struct Copy3d {
    size_t source_x, source_y, source_z, source_level;
    int source_type;
    const void* source_host;
    CUdeviceptr source_device;
    void *source_array, *source_reserved;
    size_t source_pitch, source_height;
    size_t target_x, target_y, target_z, target_level;
    int target_type;
    void* target_host;
    CUdeviceptr target_device;
    void *target_array, *target_reserved;
    size_t target_pitch, target_height;
    size_t width_bytes, height, depth;
} Copy3d;

enum { kHostMemory = 1 };

enum Direction { kToDevice, kToHost, kOnDevice, kDirections };

static const char* const kDirectionNames[kDirections] = {"host_to_device", "device_to_host", "device_to_device"};

static struct { atomic_llong calls, bytes, largest; } copies[kDirections];
static atomic_llong graph_launches, kernel_launches, allocations, context_waits;

static void count_copy(enum Direction direction, size_t bytes) {
    long long size = (long long)bytes;
    long long seen = atomic_load(&copies[direction].largest);
    atomic_fetch_add(&copies[direction].calls, 1);
    atomic_fetch_add(&copies[direction].bytes, size);
    while (size > seen && !atomic_compare_exchange_weak(&copies[direction].largest, &seen, size)) {
    }
}

static enum Direction direction_of(int source_type, int target_type) {
    return target_type == kHostMemory ? kToHost : source_type == kHostMemory ? kToDevice : kOnDevice;
}

static void count_copy_2d(const Copy2d* copy) {
    count_copy(direction_of(copy->source_type, copy->target_type), copy->width_bytes * copy->height);
}

static void count_copy_3d(const Copy3d* copy) {
    count_copy(direction_of(copy->source_type, copy->target_type), copy->width_bytes * copy->height * copy->depth);
}

enum { kLaunchFailed = 719 };

/* Whether the launch that is counted now is the one that is to fail. */
static int launch_fails(void) {
    const char* wish = getenv("QC_DRIVER_FAIL_LAUNCH");
    return atomic_fetch_add(&graph_launches, 1) + 1 == (wish ? atoll(wish) : 0);
}

static void* real_dlsym(void* library, const char* name) {
    static void* (*real)(void*, const char*);
    if (!real) {
        real = (void* (*)(void*, const char*))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (!real) real = (void* (*)(void*, const char*))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    }
    return real(library, name);
}

#define WRAP(name, parameters, arguments, count)                                                                       \
    static CUresult(*real_##name) parameters;                                                                          \
    static CUresult wrap_##name parameters {                                                                           \
        count;                                                                                                         \
        return real_##name arguments;                                                                                  \
    }

WRAP(cuMemcpyHtoD_v2, (CUdeviceptr t, const void* s, size_t n), (t, s, n), count_copy(kToDevice, n))
WRAP(cuMemcpyHtoDAsync_v2, (CUdeviceptr t, const void* s, size_t n, void* q), (t, s, n, q), count_copy(kToDevice, n))
WRAP(cuMemcpyDtoH_v2, (void* t, CUdeviceptr s, size_t n), (t, s, n), count_copy(kToHost, n))
WRAP(cuMemcpyDtoHAsync_v2, (void* t, CUdeviceptr s, size_t n, void* q), (t, s, n, q), count_copy(kToHost, n))
WRAP(cuMemcpyDtoDAsync_v2, (CUdeviceptr t, CUdeviceptr s, size_t n, void* q), (t, s, n, q), count_copy(kOnDevice, n))
WRAP(cuMemcpy2D_v2, (const Copy2d* c), (c), count_copy_2d(c))
WRAP(cuMemcpy2DUnaligned_v2, (const Copy2d* c), (c), count_copy_2d(c))
WRAP(cuMemcpy2DAsync_v2, (const Copy2d* c, void* q), (c, q), count_copy_2d(c))
/* Unified addressing hides the direction; nobody here uses these, and if somebody does it is counted against them. */
WRAP(cuMemcpy, (CUdeviceptr t, CUdeviceptr s, size_t n), (t, s, n), count_copy(kToHost, n))
WRAP(cuMemcpyAsync, (CUdeviceptr t, CUdeviceptr s, size_t n, void* q), (t, s, n, q), count_copy(kToHost, n))
WRAP(cuGraphAddMemcpyNode, (void** n, void* g, void* const* b, size_t k, const Copy3d* c, void* x), (n, g, b, k, c, x),
     count_copy_3d(c))
WRAP(cuGraphAddKernelNode_v2, (void** n, void* g, void* const* b, size_t k, const void* l), (n, g, b, k, l),
     atomic_fetch_add(&kernel_launches, 1))
WRAP(cuGraphLaunch, (void* g, void* q), (g, q), if (launch_fails()) return kLaunchFailed)
WRAP(cuMemAlloc_v2, (CUdeviceptr * p, size_t n), (p, n), atomic_fetch_add(&allocations, 1))
WRAP(cuCtxSynchronize, (void), (), atomic_fetch_add(&context_waits, 1))
WRAP(cuLaunchKernel,
     (void* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void* q,
      void** p, void** e),
     (f, gx, gy, gz, bx, by, bz, shared, q, p, e), atomic_fetch_add(&kernel_launches, 1))

#define ENTRY(name)                                                                                                    \
    { #name, (void**)&real_##name, (void*)wrap_##name }
static const struct {
    const char* name;
    void** real;
    void* wrapper;
} kWrapped[] = {
    ENTRY(cuMemcpyHtoD_v2),         ENTRY(cuMemcpyHtoDAsync_v2), ENTRY(cuMemcpyDtoH_v2),
    ENTRY(cuMemcpyDtoHAsync_v2),    ENTRY(cuMemcpyDtoDAsync_v2), ENTRY(cuMemcpy2D_v2),
    ENTRY(cuMemcpy2DUnaligned_v2),  ENTRY(cuMemcpy2DAsync_v2),   ENTRY(cuMemcpy),
    ENTRY(cuMemcpyAsync),           ENTRY(cuGraphLaunch),        ENTRY(cuMemAlloc_v2),
    ENTRY(cuCtxSynchronize),        ENTRY(cuLaunchKernel),       ENTRY(cuGraphAddMemcpyNode),
    ENTRY(cuGraphAddKernelNode_v2),
};

__attribute__((visibility("default"))) void* dlsym(void* library, const char* name) {
    void* found = real_dlsym(library, name);
    if (!found || strncmp(name, "cu", 2)) return found;
    for (size_t i = 0; i < sizeof(kWrapped) / sizeof(kWrapped[0]); ++i) {
        if (strcmp(name, kWrapped[i].name)) continue;
        *kWrapped[i].real = found;
        return kWrapped[i].wrapper;
    }
    return found;
}

__attribute__((destructor)) static void report(void) {
    const char* path = getenv("QC_DRIVER_TRACE");
    FILE* out = path ? fopen(path, "w") : NULL;
    if (!out) return;
    fprintf(out, "{");
    for (int d = 0; d < kDirections; ++d)
        fprintf(out, "\"%s\": {\"calls\": %lld, \"bytes\": %lld, \"largest\": %lld}, ", kDirectionNames[d],
                (long long)copies[d].calls, (long long)copies[d].bytes, (long long)copies[d].largest);
    fprintf(out,
            "\"graph_launches\": %lld, \"kernel_launches\": %lld, \"allocations\": %lld, \"context_waits\": %lld}\n",
            (long long)graph_launches, (long long)kernel_launches, (long long)allocations, (long long)context_waits);
    fclose(out);
}
