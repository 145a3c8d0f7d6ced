/* Internal to src/diff: where the parameters of one run's points come from, so that they can be evaluated again: its rows, its
 * sweep file, and the catalog as it was. */
#ifndef DSE_DIFF_SOURCE_H
#define DSE_DIFF_SOURCE_H

#include "diff/diff_internal.h"
#include "model/registry.h"
#include "space/mix.h"

struct source {
    const struct diff_side *side;
    const struct model *model;
    struct toml_doc *doc; /* the sweep file; NULL when it cannot be read any more */
    struct catalog *catalog;
    struct binding *binding; /* defaults of today, with entries of that catalog */
    bool *stored;            /* by parameter: does the database have it? */
    struct run_rows *rows;   /* status, reason, fidelity, then metrics, then parameters */
    size_t n_metrics;        /* columns of them */
    void *params;            /* of the row that was read last, before resolve() */
    double *values;          /* of its metrics; NaN: none */
    bool feasible;           /* as far as the model knows: constraints and budgets of the sweep do not count */
    enum fidelity fidelity;
    struct catalog *mix_catalog; /* of a run that is a mean over requests */
    struct sweep_file *mix_sweep;
    struct mix *mix;
};

enum { SOURCE_LEADING = 3 };

/* Prepare one side; `metrics` are the columns to read as values. False with errors. Release it in any case. */
bool source_open(struct source *s, const struct diff_side *side, const struct model *model, const char *const *metrics,
                 size_t n_metrics, const struct diff_options *options, struct diags *diags);
void source_release(struct source *s);
/* Does the sweep file give the parameter? */
bool source_gives(const struct source *s, const char *param);
/* Read a row. NULL, or why its parameters cannot be set today; the caller frees it. */
char *source_read(struct source *s, uint64_t point, struct diags *diags);
/* The parameter whose catalog's entry sets parameter i unless either sweep gives it; i itself when there is none. */
size_t source_owner(const struct source *a, const struct source *b, size_t i);
/* The hash that the run keeps of an entry that comes from a file: "KINDS.name" -> 16 digits; NULL: it keeps none. */
const char *source_digest(const struct diff_side *side, const char *entry);

#endif
