/* Allocation that cannot fail: out of memory ends the process with the size that was asked for, and exit status 1. All code
 * outside of this file allocates through these; free() frees. */
#ifndef DSE_BASE_XALLOC_H
#define DSE_BASE_XALLOC_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Report that memory is out and end the process, for allocations that other libraries make. size is 0 when it is not known. Open
 * files and databases are left as a kill would leave them. */
void out_of_memory(size_t size) __attribute__((noreturn));

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull, warn_unused_result));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull, warn_unused_result));
void *xrealloc(void *p, size_t n, size_t size)
    __attribute__((returns_nonnull, warn_unused_result)); /* n * size, overflow checked */
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull, warn_unused_result));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull, warn_unused_result));
/* Formatted string; the caller frees it. */
char *xasprintf(const char *fmt, ...) __attribute__((malloc, returns_nonnull, warn_unused_result, format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((malloc, returns_nonnull, warn_unused_result, format(printf, 1, 0)));

#ifdef __cplusplus
}
#endif

#endif
