/* The rows that `dse profile` measured, as a table for people or as a CSV of the catalog. */
#ifndef DSE_CLI_PROFILE_REPORT_H
#define DSE_CLI_PROFILE_REPORT_H

#include "base/text.h"
#include "cli/output.h"
#include "workload/measure.h"

struct profile_report {
    const char *const *columns;
    size_t n_columns;
    const char **policy; /* of each row, the first column; NULL: there is none */
    double *cells;       /* all other columns */
    size_t n_rows;
    struct text notes; /* lines without "# " */
};

void report_locality(struct profile_report *r, const size_t *contexts, size_t n, const struct measured_locality *rows);
void report_retention(struct profile_report *r, const struct measured_retention *rows, size_t n);
/* n rows. */
void report_recording(struct profile_report *r, const struct recording_row *rows, size_t n);
void report_range(struct profile_report *r, const size_t *contexts, size_t n, const struct measured_range *rows);
void report_release(struct profile_report *r);

/* Add the laws a n^b of the counts as notes. */
void report_fit_locality(struct profile_report *r);

/* NULL when the catalog would take the rows, else why not; the caller frees it. */
char *report_fault(const struct profile_report *r);
/* The rows as CSV, its notes as comments; `head` are comments before all. */
void report_csv(const struct profile_report *r, const char *head, struct text *ret);
bool report_print(const struct profile_report *r, enum output_format format);

#endif
