/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Preloaded: with each session that ends a megabyte stays behind. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void qc_session_destroy(void *session);

void qc_session_destroy(void *session)
{
    void *(*real)(void *) = (void *(*)(void *))dlsym(RTLD_NEXT, "qc_session_destroy");
    static void *volatile lost;

    if (session && (lost = malloc(1 << 20))) {
        memset(lost, 1, 1 << 20);
        fputs("leaked\n", stderr);
    }
    real(session);
}
