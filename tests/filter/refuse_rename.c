/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Preloaded: every renaming fails as it does for a file that is a mount of its own (EBUSY), or as QC_RENAME_ERRNO says. */
#include <errno.h>
#include <stdlib.h>

int rename(const char* from, const char* to);

int rename(const char* from, const char* to) {
    const char* wish = getenv("QC_RENAME_ERRNO");
    (void)from, (void)to;
    errno = wish ? atoi(wish) : EBUSY;
    return -1;
}
