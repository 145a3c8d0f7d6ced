/* Kinds of profiles. A kind is a row of the table in profile_kinds.c: its settings and options, its columns, how it is measured,
 * and whether the catalog would take the result. Nothing else knows a kind by its name. */
#ifndef DSE_ATTENTION_PROFILE_KINDS_H
#define DSE_ATTENTION_PROFILE_KINDS_H

#include "attention/profile_options.h"
#include "attention/profile_report.h"

enum { INTERVALS_MIN = 3 };

struct profile_kind {
    const char *name;
    const struct dse_param *params; /* its settings, of struct profile_settings */
    const char *const *options;     /* the names of options that not every kind has; NULL: none */
    const char *const *columns;     /* the names of a row's columns */
    bool of_policies;               /* the first column is a policy; the others are numbers */
    bool of_bits;                   /* kv_bits is a setting of it; else it is what the trace has */
    bool of_sets;                   /* measures the sets of --kept, which is its option */
    bool is_surface;                /* long format: rows of a quality file, by profile_surface */
    bool every_step;                /* rows are counts of single steps, as many at every context, instead of means */
    /* Why too little is asked for to make a profile of it, as far as that is known before measuring; NULL when nothing is wrong.
     * The caller frees it. */
    char *(*too_few)(const struct profile_options *o);
    bool (*measure)(const struct profile_options *o, const struct measure_plan *plan, struct profile_report *ret,
                    struct diags *diags);
    /* Why the catalog would not take the rows, or NULL. The caller frees it. NULL for a kind that only people read. */
    char *(*fault)(const struct profile_report *r);
};

/* All kinds, closed by a row without a name. */
extern const struct profile_kind profile_kinds[];
/* The kind of this name, or NULL. */
const struct profile_kind *profile_kind_find(const char *name);
/* All names, closed by NULL. */
const char *const *profile_kind_names(void);

#endif
