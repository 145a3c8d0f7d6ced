/* For fuzz targets: bytes as a file in memory, and a claim that must hold. */
#ifndef DSE_FUZZ_MEMORY_FILE_H
#define DSE_FUZZ_MEMORY_FILE_H

#include "base/xalloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline void need(bool holds)
{
    if (!holds) abort();
}

/* Its path, which the caller frees; *ret_fd is to be closed. */
static inline char *memory_file(const uint8_t *data, size_t n, int *ret_fd)
{
    *ret_fd = memfd_create("fuzz", 0);
    need(*ret_fd >= 0);
    while (n > 0) {
        ssize_t done = write(*ret_fd, data, n);
        need(done > 0);
        data += done;
        n -= (size_t)done;
    }
    return xasprintf("/proc/self/fd/%d", *ret_fd);
}

#endif
