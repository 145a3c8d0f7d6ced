/* A finished sweep as one page that needs no network: what was asked, what was found, the front to explore, what each parameter
 * does, why points were infeasible, with the SQL behind every part.
 *
 * A page is safe to open whatever stands in the database: texts are data in it, and it allows no script but its own.
 *
 * The page is report/page.html of the data directory with style, script, the charting library and the data put in their places. A
 * run of any size makes a page of bounded size: the front is whole up to REPORT_FRONT_MAX rows, of the other points a sample is
 * shown.
 */
#ifndef DSE_REPORT_REPORT_H
#define DSE_REPORT_REPORT_H

#include "base/text.h"
#include "config/catalog.h"

#include <stdint.h>

enum {
    REPORT_FRONT_MAX = 2000,  /* rows of the front in the page */
    REPORT_SAMPLE_MAX = 4000, /* other points in the page */
};

struct report_options {
    const char *db;
    int64_t run;                 /* 0: the newest that is done */
    struct catalog *catalog;     /* what the run's sweep took its names from; gets the sweep's own */
    const char *const *catalogs; /* the files of --catalog in it, for the commands that show a point again */
    size_t n_catalogs;
    void (*progress)(void *user, uint64_t done, uint64_t of); /* rows read; or NULL */
    void *user;
};

/* Write the page to `out`, whole or not at all; *said, an open text, gets its sentences about machines at equal quality, a line
 * each. False with errors: no such run, one that is not done or has no feasible point, a database that is none, a part of the page
 * that is missing from the data directory, an output that cannot be written. */
bool report_write(const struct report_options *o, const char *out, struct text *said, struct diags *diags);

#endif
