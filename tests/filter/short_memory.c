/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/*
 * Preloaded into ffmpeg: the nth allocation that the filter or its library makes, directly or through others, is refused.
 * Whose an allocation is, its call stack tells: it passes through libquality_cuda, or through the filter's functions.
 *
 *   QC_SHORT_RANGES  addresses of the filter's functions in the program's file, "start-end,..." in hexadecimal
 *   QC_SHORT_NTH     which is refused, counted from 1; 0 or nothing: none, they are only counted
 *   QC_SHORT_REPORT  file for "COUNT REFUSED" when the program ends
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_RANGES 256
#define DEEPEST 48

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *memory, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);

static struct { uintptr_t start, end; } ranges[MOST_RANGES];
static int range_count;
static long refused_at;
static atomic_long count, refused;
static atomic_int armed;
static _Thread_local int looking; /* whether this thread is in here already */

static void add_range(uintptr_t start, uintptr_t end)
{
    if (range_count == MOST_RANGES)
        return;
    ranges[range_count].start = start;
    ranges[range_count++].end = end;
}

/** The library's code, and the filter's in the program, which comes first. */
static int look_at(struct dl_phdr_info *info, size_t size, void *opaque)
{
    const char *text = getenv("QC_SHORT_RANGES");
    int *first = opaque;

    (void)size;
    if (*first) {
        *first = 0;
        while (text && *text) {
            char *end;
            const uintptr_t start = strtoull(text, &end, 16);

            add_range(info->dlpi_addr + start, info->dlpi_addr + strtoull(end + 1, &end, 16));
            text = *end ? end + 1 : end;
        }
    }
    if (strstr(info->dlpi_name, "libquality_cuda"))
        for (int i = 0; i < info->dlpi_phnum; i++)
            if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
                add_range(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
                          info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
    return 0;
}

static int is_ours(void)
{
    void *stack[DEEPEST];
    const int depth = backtrace(stack, DEEPEST);

    for (int i = 0; i < depth; i++)
        for (int r = 0; r < range_count; r++)
            if ((uintptr_t)stack[i] >= ranges[r].start && (uintptr_t)stack[i] < ranges[r].end)
                return 1;
    return 0;
}

/** Whether this allocation has to fail; errno says so then. */
static int refuses(void)
{
    int ours;

    if (!armed || looking)
        return 0;
    looking = 1; /* the look may allocate too */
    ours = is_ours();
    looking = 0;
    if (!ours || atomic_fetch_add(&count, 1) + 1 != refused_at)
        return 0;
    refused = 1;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes)
{
    return refuses() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t number, size_t bytes)
{
    return refuses() ? NULL : __libc_calloc(number, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    return refuses() ? NULL : __libc_realloc(memory, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    return refuses() ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    *memory = memalign(alignment, bytes);
    return *memory ? 0 : ENOMEM;
}

__attribute__((constructor)) static void begin(void)
{
    const char *nth = getenv("QC_SHORT_NTH");
    void *stack[1];
    int first = 1;

    backtrace(stack, 1); /* loads what it needs */
    dl_iterate_phdr(look_at, &first);
    refused_at = nth ? atol(nth) : 0;
    armed = 1;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("QC_SHORT_REPORT");
    FILE *file;

    armed = 0;
    if (!path || !(file = fopen(path, "w")))
        return;
    fprintf(file, "%ld %ld\n", (long)count, (long)refused);
    fclose(file);
}
