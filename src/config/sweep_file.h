/* A sweep file, read and checked: DESIGN.md section 4. */
#ifndef DSE_CONFIG_SWEEP_FILE_H
#define DSE_CONFIG_SWEEP_FILE_H

#include "config/bind.h"

struct named_expr { /* of [constraints] and [derive] */
    char *name, *expr;
    struct srcloc loc; /* of the expression's text (just behind the quote), for positions inside it */
};

struct objective {
    char *column; /* a metric or a derived column */
    bool maximise;
    struct srcloc loc;
};

enum { SWEEP_OBJECTIVES_MAX = 16, SWEEP_EXPRESSIONS_MAX = 256 };

struct sweep_file {
    struct toml_doc *doc;
    char *question; /* the file's first comment line, without "# "; "" if none */
    char *name;
    struct binding **bindings; /* one a model, in the order of `models` */
    size_t n_models;
    bool compares;                            /* there is a [baseline]: rows get ratios to it */
    struct binding *baseline;                 /* the one point, one value a parameter; NULL when there is none or it was refused */
    struct named_expr *constraints, *derived; /* sorted by name */
    size_t n_constraints, n_derived;
    struct objective *objectives; /* in the order of the file */
    size_t n_objectives;
    char **per; /* a front for each combination of values of these parameters; none: one front */
    size_t n_per;
    char **figures; /* paths: as given if they exist from the working directory, else relative to the sweep file, else to the data
                       directory */
    size_t n_figures;
};

/* Read FILE. All errors of the file are added, not the first. NULL when there is nothing to read; otherwise what could be read, which
 * with errors is good for nothing but space_check (space/space.h), which adds those in expressions. The catalog gets the entries of the
 * file's own [catalog] table. The caller frees with sweep_file_free; the catalog must outlive it. */
struct sweep_file *sweep_file_read(const char *path, struct catalog *catalog, const char *data_dir, struct diags *diags);
/* The same from memory; `name` stands for the file in messages, and paths are relative to its folder. */
struct sweep_file *sweep_file_read_text(const char *name, const char *text, size_t n, struct catalog *catalog, const char *data_dir,
                                        struct diags *diags);
void sweep_file_free(struct sweep_file *s);

/* "flashdecoding: gpu=a100-40gb-pcie, batch=8": the baseline's model and what the file gives it; NULL: no baseline. The caller frees it. */
char *sweep_baseline_text(const struct sweep_file *s);

#endif
