/* Kinds of profiles. A kind is a row of the table in profile_kinds.c: its settings and options, its columns, how it is measured, and whether
 * the catalog would take what came out. Nothing else knows a kind by its name. */
#ifndef DSE_CLI_PROFILE_KINDS_H
#define DSE_CLI_PROFILE_KINDS_H

#include "cli/profile_options.h"
#include "cli/profile_report.h"

enum { INTERVALS_MIN = 3 };

struct profile_kind {
    const char *name;
    const struct dse_param *params; /* its settings, of struct profile_settings */
    const char *const *options;     /* that not every kind has, by name; NULL: none */
    const char *const *columns;     /* of a row */
    bool of_policies;               /* the first column is a policy; the others are numbers */
    bool every_step;                /* rows are counts of single steps, as many at every context, instead of means */
    /* Why too little is asked for a file that is a profile, as far as can be known before measuring; NULL: nothing known. The caller frees it. */
    char *(*too_few)(const struct profile_options *o);
    bool (*measure)(const struct profile_options *o, const struct measure_plan *plan, struct profile_report *ret,
                    struct diags *diags);
    /* Why the catalog would not take the rows, or NULL, and the caller frees it. NULL: nothing reads it but people. */
    char *(*fault)(const struct profile_report *r);
};

/* All kinds, closed by a row without a name. */
extern const struct profile_kind profile_kinds[];
/* The kind of this name, or NULL. */
const struct profile_kind *profile_kind_find(const char *name);
/* All names, closed by NULL. */
const char *const *profile_kind_names(void);

#endif
