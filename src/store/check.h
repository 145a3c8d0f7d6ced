/* Everything that can be checked of a database, which opening one does not do for its cost (src/store/whole.h). */
#ifndef DSE_STORE_CHECK_H
#define DSE_STORE_CHECK_H

#include "base/diag.h"

struct check_line {
    const char *name; /* what was looked at; a constant */
    bool ok;
    char *detail; /* what was found, or what is wrong */
};

struct check {
    struct check_line *lines;
    size_t n;
    bool whole; /* all are */
};

/* Make all checks, also after one that fails. False with errors when the file cannot be read as a database of dse. Release `ret`
 * in any case. */
bool store_check(const char *path, struct check *ret, struct diags *diags);
void check_release(struct check *c);

#endif
