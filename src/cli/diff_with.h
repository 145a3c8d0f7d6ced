/* `dse diff --with OTHER_DSE`: a sweep run by other binaries, into databases that are gone afterwards. */
#ifndef DSE_CLI_DIFF_WITH_H
#define DSE_CLI_DIFF_WITH_H

#include "base/diag.h"

struct with_runs {
    char *folder; /* or NULL */
    char *sweep, *db[2];
};

/* Run a sweep, a .toml file or that of a database's run ("a.db", "a.db:2"), with `other` into *ret's db[1]; of a file also with
 * this dse into db[0], else db[0] is a copy of the name of the database. Talk of the binaries goes to stderr. False with errors.
 * Release in any case, which removes the files. */
bool with_runs_make(struct with_runs *ret, const char *what, const char *other, struct diags *diags);
void with_runs_release(struct with_runs *w);

#endif
