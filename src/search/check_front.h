/* The check of a certificate (docs/explanation/exact-fronts.md): is what a database says of its front true?
 *
 * Everything is made anew from the text of the sweep that the run stores: the spaces, the lattices, the bounds of each box, the
 * rows. Nothing of the search is used but how a place on an axis becomes a parameter (lattice.h), and that is held against points
 * as they are evaluated. What is left to believe is the models, and that their bounds are bounds; of that points are drawn in every
 * box. */
#ifndef DSE_SEARCH_CHECK_FRONT_H
#define DSE_SEARCH_CHECK_FRONT_H

#include "config/catalog.h"
#include "store/check.h"

#include <signal.h>
#include <stdint.h>

struct front_check_options {
    int64_t run; /* 0: the newest that has a certificate */
    int threads;
    int samples;                            /* random points drawn in each box that was not evaluated, besides its two corners */
    const volatile sig_atomic_t *interrupt; /* or NULL */
};

enum { FRONT_CHECK_SAMPLES = 2 };

/* Check the certificate of a run. Lines of `ret` say what was looked at; what is wrong is also an error with its place, of which
 * the first FRONT_CHECK_ERRORS are told. False with errors when it cannot be checked at all: there is none, its boxes were not
 * kept, it is of another version of a model, the sweep's text is not what it was, or it was interrupted. Release `ret`
 * (check_release) in any case. */
enum { FRONT_CHECK_ERRORS = 10 };
bool front_check(const char *db, const struct front_check_options *options, struct catalog *catalog, const char *data_dir,
                 struct check *ret, struct diags *diags);

#endif
