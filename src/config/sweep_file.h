/* A sweep file, read and checked. docs/reference/sweep-file.md describes its keys. */
#ifndef DSE_CONFIG_SWEEP_FILE_H
#define DSE_CONFIG_SWEEP_FILE_H

#include "config/bind.h"
#include "config/budget.h"
#include "model/fidelity.h"
#include "workload/request_mix.h"

/* An expression of [constraints] or [derive]. */
struct named_expr {
    char *name, *expr;
    struct srcloc loc; /* of the expression's text (just behind the quote), for positions inside it */
};

struct objective {
    char *column; /* a metric or a derived column */
    bool maximise;
    struct srcloc loc;
};

enum { SWEEP_OBJECTIVES_MAX = 16, SWEEP_EXPRESSIONS_MAX = 256 };
/* What a sweep may say of its fidelity: fidelity_names, and behind them "refine". */
enum { SWEEP_FIDELITIES = FIDELITIES + 1 };
extern const char *const sweep_fidelities[SWEEP_FIDELITIES + 1];       /* ends with NULL */
const char *const *sweep_fidelity_words(void);                         /* the same, for tables of options */
enum { SWEEP_REFINE_RUNS = 100000, SWEEP_REFINE_RUNS_MAX = 10000000 }; /* rows of [refine]: the default, and the most */

/* [sample]: which points of the space are evaluated. Names as in sample_names. */
enum sample_method { SAMPLE_GRID, SAMPLE_SOBOL, SAMPLE_HALTON, SAMPLE_LHS, SAMPLE_RANDOM, SAMPLE_METHODS };
extern const char *const sample_names[SAMPLE_METHODS];
struct sample_section {
    enum sample_method method;
    uint64_t points, seed; /* points of each model; unless the method is the grid */
    bool scramble;         /* of sobol and halton: digits are permuted by the seed */
};

/* [search]: points are looked for, by their index in the grid. Names as in search_names. */
enum search_method { SEARCH_NONE, SEARCH_EXACT, SEARCH_LOCAL, SEARCH_NSGA2, SEARCH_METHODS };
extern const char *const search_names[SEARCH_METHODS]; /* that of SEARCH_NONE is "" */
enum { SEARCH_POPULATION = 128, SEARCH_EVALUATIONS = 100000 };
struct search_section {
    enum search_method method;
    struct srcloc loc;                      /* of the method's name */
    uint64_t evaluations, population, seed; /* evaluations 0: until the search ends by itself */
};

/* keep of [sweep]: which of the rows that are evaluated are stored. */
enum sweep_keep { KEEP_ALL, KEEP_FRONT, KEEP_SAMPLE, KEEPS };
extern const char *const keep_names[KEEPS];
enum { KEEP_POINTS = 100000, KEEP_POINTS_MAX = 10000000 };

struct sweep_file {
    struct toml_doc *doc;
    char *question; /* the file's first comment line, without "# "; "" if none */
    char *name;
    struct binding **bindings; /* one a model, in the order of `models` */
    size_t n_models;
    char *equal_text;            /* [equal]: "technology = 7nm (not swiftkv), capacity_gib = 64"; NULL: there is none */
    enum fidelity fidelity;      /* of the row that every point gets */
    bool refine;                 /* the front and its neighbours get rows at event level as well, which all models have */
    uint64_t refine_runs;        /* the most such rows */
    bool refine_neighbours;      /* false: the front alone gets such rows */
    bool compares;               /* the sweep has a [baseline], and rows have ratios to it */
    struct binding *baseline;    /* its one point; NULL when there is none or it was refused */
    bool averages;               /* the sweep has [requests], and rows are means over its mix */
    struct request_mix requests; /* empty when there is none or it was refused */
    char *requests_text;         /* "chat", "chat 0.7, summarization 0.3"; or NULL */
    char *requests_option;       /* the same as sweep_requests_set_text takes it, in full; or NULL */
    bool known_quality;          /* quality = "known" in [constraints]: points that lose what nobody measured are infeasible */
    struct budget budget;        /* [quality]: what a design may lose to be on a front; the default where nothing is said */
    struct sample_section sample;
    struct search_section search;
    enum sweep_keep keep;
    uint64_t keep_points;                     /* rows of the sample, with KEEP_SAMPLE */
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

/* Read FILE. All errors of the file are added, not the first. NULL when there is nothing to read; otherwise what could be read,
 * which with errors is good for nothing but space_check (space/space.h), which adds those in expressions. The catalog gets the
 * entries of the file's own [catalog] table. The caller frees with sweep_file_free; the catalog must outlive it. */
struct sweep_file *sweep_file_read(const char *path, struct catalog *catalog, const char *data_dir, struct diags *diags);
/* The same from memory; `name` stands for the file in messages, and paths are relative to its folder. */
struct sweep_file *sweep_file_read_text(const char *name, const char *text, size_t n, struct catalog *catalog, const char *data_dir,
                                        struct diags *diags);
/* The same two at a fidelity of sweep_fidelities, whatever the file says: as --fidelity asks for it, and as a stored run was made.
 * NULL: as the file says. */
struct sweep_file *sweep_file_read_at(const char *path, const char *fidelity, struct catalog *catalog, const char *data_dir,
                                      struct diags *diags);
struct sweep_file *sweep_file_read_text_at(const char *name, const char *text, const char *fidelity, struct catalog *catalog,
                                           const char *data_dir, struct diags *diags);
void sweep_file_free(struct sweep_file *s);

/* The name of a constraint, as certificates have it; behind those of the file come the limits of the budget: "quality.task_loss".
 * And back: SIZE_MAX when there is no such constraint. */
const char *sweep_constraint_name(const struct sweep_file *s, size_t i);
size_t sweep_constraint_find(const struct sweep_file *s, const char *name);

/* The fidelity that it is run at: "closed-form", "event-level" or "refine". A string constant. */
const char *sweep_fidelity_text(const struct sweep_file *s);
/* "flashdecoding: gpu=a100-40gb-pcie, batch=8": the baseline's model and what the file gives it; NULL: no baseline. The caller
 * frees it. */
char *sweep_baseline_text(const struct sweep_file *s);
/* "chat 0.7, summarization 0.3: 128 requests a row, in the mean 1257 + 225 tokens, the longest 3852 + 244, the shortest 76 + 30":
 * the mix, prompts and generations; NULL: no mix. The caller frees it. */
char *sweep_requests_description(const struct sweep_file *s);

/* `--requests`: the name of a mix, "chat", or what stands in [requests], "mix = { chat = 0.7, summarization = 0.3 }, points =
 * 32". For a sweep of models that are bound and has no [requests] yet. False with all errors. */
bool sweep_requests_set_text(struct sweep_file *s, struct catalog *catalog, const char *text, struct diags *diags);

#endif
