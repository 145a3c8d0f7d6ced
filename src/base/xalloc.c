#include "base/xalloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void out_of_memory(size_t size)
{
    static const char words[] = "dse: error: out of memory";
    char line[96];
    int n = size ? snprintf(line, sizeof line, "%s: %zu bytes are not to be had\n", words, size)
                 : snprintf(line, sizeof line, "%s\n", words);
    if (write(STDERR_FILENO, line, (size_t)n) != n) _exit(1);
    _exit(1);
}

static void *must(void *p, size_t size)
{
    if (!p) out_of_memory(size);
    return p;
}

void *xmalloc(size_t size)
{
    return must(malloc(size ? size : 1), size);
}

void *xcalloc(size_t n, size_t size)
{
    if (n == 0 || size == 0) n = size = 1;
    return must(calloc(n, size), n > SIZE_MAX / size ? SIZE_MAX : n * size);
}

void *xrealloc(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) return must(NULL, SIZE_MAX);
    return must(realloc(p, bytes ? bytes : 1), bytes);
}

char *xstrdup(const char *s)
{
    return must(strdup(s), strlen(s) + 1);
}

char *xstrndup(const char *s, size_t n)
{
    return must(strndup(s, n), n + 1);
}

char *xvasprintf(const char *fmt, va_list ap)
{
    char *s = NULL;
    if (vasprintf(&s, fmt, ap) < 0) s = NULL;
    return must(s, 0);
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = xvasprintf(fmt, ap);
    va_end(ap);
    return s;
}
