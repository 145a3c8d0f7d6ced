/* A whole regular file in memory. As with every mapped file, who shortens it while it is open ends the process. */
#ifndef DSE_ATTENTION_MAPPED_H
#define DSE_ATTENTION_MAPPED_H

#include "base/diag.h"

struct mapped {
    const char *path; /* the caller's */
    void *map;        /* NULL: an empty file */
    const unsigned char *bytes;
    size_t size;
};

/* Map a file. False with one error that says what is needed ("a trace"). The caller releases it in either case. */
bool mapped_open(struct mapped *m, const char *path, const char *needed, struct diags *diags);
void mapped_release(struct mapped *m);

#endif
