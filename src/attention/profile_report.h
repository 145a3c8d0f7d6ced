/* The rows that `dse profile` measured, as a table for people or as a CSV of the catalog. */
#ifndef DSE_ATTENTION_PROFILE_REPORT_H
#define DSE_ATTENTION_PROFILE_REPORT_H

#include "base/text.h"
#include "command/output.h"

struct profile_kind;

struct profile_report {
    const struct profile_kind *kind;
    const char *const *columns;
    size_t n_columns;
    const char **policy; /* of each row, the first column; NULL: there is none */
    double *cells;       /* all other columns */
    size_t n_rows;
    struct text notes; /* lines without "# " */
};

/* Make a report of n rows, which are to be filled. */
void report_init(struct profile_report *r, const struct profile_kind *kind, size_t n);
/* The numbers of a row, without its policy. */
double *report_row(const struct profile_report *r, size_t i);
void report_release(struct profile_report *r);

/* Add the laws a n^b of the counts as notes. */
void report_fit_locality(struct profile_report *r);

/* The rows as CSV, its notes as comments; `head` are comments before all. */
void report_csv(const struct profile_report *r, const char *head, struct text *ret);
bool report_print(const struct profile_report *r, enum output_format format);

#endif
