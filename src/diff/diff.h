/* What changed between two runs, and why.
 *
 * Rows are matched by the parameters that either sweep gives several values (its axes): equal values, equal point. Everything else
 * is compared: metrics, derived columns, what is said of a row, status and reason. A parameter that is no axis may differ between
 * two matched rows: it is an input, and what it moves is told by the causes.
 *
 * Causes. Points whose rows changed are evaluated again by this dse, from the parameters that the runs stored. What A stored and
 * this dse does not compute from A's parameters, and the same of B, is the code. Then A's parameters are taken, one group is set as
 * B has it, and the point is evaluated: the difference is that group's. A group is a parameter, or a catalog's entry with all that
 * follows from it. It belongs to
 *
 *     sweep      when a sweep file gives it
 *     catalog    when the entry of one name says other things
 *     constant   when it is a default that differs (defaults.toml)
 *
 * and `together` is what all groups at once do beyond the sum of each alone.
 */
#ifndef DSE_DIFF_DIFF_H
#define DSE_DIFF_DIFF_H

#include "config/catalog.h"
#include "store/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum diff_kind { DIFF_CODE, DIFF_CONSTANT, DIFF_CATALOG, DIFF_SWEEP, DIFF_TOGETHER, DIFF_KINDS };
extern const char *const diff_kind_names[DIFF_KINDS]; /* "code", "constant", ... */

/* One of the two runs. */
struct diff_side {
    char *path;
    struct reader *reader;
    int64_t run;
    char *sweep, *text, *version, *commit, *started, *axes, *fidelity, *requests, *catalog, *shard; /* of table run; or NULL */
};

struct diff_tolerance {
    char *column; /* NULL: of all others */
    double rel;
};

struct diff_options {
    const struct diff_tolerance *tolerances;
    size_t n_tolerances;
    const char *model;           /* only this one; or NULL */
    size_t sample;               /* changed rows that are evaluated again for the causes, at most; 0: no causes */
    const char *const *catalogs; /* files of the user's own entries, beside those that are always read */
    size_t n_catalogs;
};

/* A column that both runs have. Changes are relative: (b - a) / |a|. */
struct diff_column {
    char *name, *unit;
    double rel;                 /* its tolerance */
    uint64_t changed, appeared; /* rows beyond the tolerance; of these, where one side has no value, a text or infinity */
    double largest, sum;        /* of those with numbers: the one of the largest size with its sign, and the sum of sizes */
    uint64_t point[2];          /* of the row of the largest; of the first that appeared where there is none */
    char *from, *to;            /* its values; NULL: none */
};

/* A group of inputs that differs, and what it moves by itself, or the code. */
struct diff_cause {
    enum diff_kind kind;
    char *what;      /* "clock_ghz 1 -> 1.2" */
    uint64_t rows;   /* of those evaluated again: how many it moves */
    double *largest; /* by each of diff_model.metrics, the largest relative change, with its sign */
    uint64_t *moved; /* and of how many rows */
};

/* A parameter that stands still in both runs, at different values. */
struct diff_input {
    char *name, *from, *to;
};

struct diff_model {
    char *name;
    uint64_t rows[2], matched, only[2], changed; /* changed: matched rows with any changed column */
    struct diff_column *columns;
    size_t n_columns;
    char **missing[2]; /* columns that only this side has */
    size_t n_missing[2];
    char **keys; /* the parameters that rows are matched by */
    size_t n_keys;
    struct diff_input *inputs;
    size_t n_inputs;
    uint64_t front[2], *lost, *gained; /* sizes; points of A that are on its front alone, and of B */
    size_t n_lost, n_gained;
    uint64_t evaluated, refused; /* rows evaluated again, and those that this dse cannot: why_refused */
    char *why_refused;
    char **metrics; /* numbers that causes are told of */
    size_t n_metrics;
    struct diff_cause *causes;
    size_t n_causes;
    uint64_t *changes; /* pairs of points of changed rows: A's, B's; ascending in A's */
};

struct diff {
    struct diff_side side[2];
    struct diff_model *models; /* that both runs have */
    size_t n_models;
    char **only[2]; /* models that only this run has */
    size_t n_only[2];
    char **notes; /* what to know of the causes */
    size_t n_notes;
};

/* Open one side: PATH or PATH:RUN, by default the newest run that is done. False with errors. Release the diff in any case. */
bool diff_open(struct diff *d, int side, const char *what, struct diags *diags);
/* Compare, and find the causes. False with errors. */
bool diff_run(struct diff *d, const struct diff_options *options, struct diags *diags);
void diff_release(struct diff *d);
/* Did anything come out otherwise: rows, columns, fronts, models? Inputs that change nothing do not count. */
bool diff_is_any(const struct diff *d);
/* "tiles=8 sram_mib=2.5": the axes of a point. The caller frees it; NULL with errors. */
char *diff_design(const struct diff *d, int side, const struct diff_model *m, uint64_t point, struct diags *diags);

#endif
