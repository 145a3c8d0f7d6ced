/* For tests: a directory of its own, with files. */
#ifndef DSE_TESTS_SCRATCH_H
#define DSE_TESTS_SCRATCH_H

#include "base/xalloc.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* A new directory; the caller hands it to scratch_remove. */
static inline char *scratch_new(void)
{
    char template[] = "/tmp/dse-test-XXXXXX";
    const char *dir = mkdtemp(template);
    if (!dir) abort();
    return xstrdup(dir);
}

/* Write dir/name, making the folders of `name`. */
static inline void scratch_write(const char *dir, const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", dir, name);
    for (char *s = strchr(path + strlen(dir) + 1, '/'); s; s = strchr(s + 1, '/')) {
        *s = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) fail_msg("mkdir %s: %s", path, strerror(errno));
        *s = '/';
    }
    FILE *f = fopen(path, "wb");
    if (!f || fputs(text, f) == EOF || fclose(f) != 0) fail_msg("write %s: %s", path, strerror(errno));
    free(path);
}

/* Copy a file of the directory `from` to the same place. */
static inline void scratch_copy(const char *dir, const char *from, const char *name)
{
    char *path = xasprintf("%s/%s", from, name), *text = NULL;
    size_t n = 0;
    FILE *f = fopen(path, "rb");
    if (!f || getdelim(&text, &n, EOF, f) < 0) fail_msg("read %s: %s", path, strerror(errno));
    fclose(f);
    scratch_write(dir, name, text);
    free(text);
    free(path);
}

static inline int scratch_remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static inline void scratch_remove(char *dir)
{
    nftw(dir, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(dir);
}

#endif
