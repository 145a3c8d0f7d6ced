/* libdse: the models of dse in your own program.
 *
 * Open the models and their catalog, take points of a model, set by name what all of them have in common, and evaluate as many
 * as you like into columns:
 *
 *     struct dse_problems *problems = dse_problems_new();
 *     struct dse *d = dse_open(NULL, problems);
 *     struct dse_points *points = dse_points_new(d, "lad", problems);
 *     dse_points_set(points, "context", "4096", problems);
 *     const double tiles[] = {4, 8, 12};
 *     double speed[3];
 *     dse_points_evaluate(points, 3, (struct dse_input[]){{.name = "tiles", .numbers = tiles}}, 1,
 *                         (struct dse_output[]){{.name = "tokens_per_s", .numbers = speed}}, 1, problems);
 *
 * Names, units and values are those of `dse describe MODEL`, and numbers those of `dse eval`; `dse eval MODEL --points FILE.csv`
 * (src/cli/eval_points.c) is made of the functions below, but for --catalog, which takes databases, too. The library reads files in
 * dse_open, dse_add_catalog, dse_add_plugin and dse_points_new alone; it writes none, prints nothing and never ends the
 * process, but when memory is out.
 *
 * Every function that can fail takes a list of problems, which may be NULL, adds what is wrong to it, and returns false or
 * NULL. Texts are UTF-8; those that are returned live as long as what they were asked of, unless said otherwise. A struct that
 * is returned may get more members at its end; its size is not to be relied on.
 *
 * A NULL where a struct or a name is needed is an error like others; of functions that only ask, the answer is NULL.
 *
 * One struct dse may be read by many threads at once, but not while something is added to it; a struct dse_points belongs to
 * one thread at a time. A thread needs a stack of 256 KiB. Locale, rounding and traps of the caller's arithmetic make no
 * difference, and are what they were when a function returns.
 */
#ifndef DSE_DSE_H
#define DSE_DSE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version */

/* The version of the library: "0.2.0". Functions and members of this header stay as they are until the soname changes. */
const char *dse_version(void);

/* Problems */

struct dse_problems;

enum dse_severity { DSE_ERROR, DSE_WARNING, DSE_NOTE };

/* What went wrong, where, and what is allowed. */
struct dse_problem {
    int severity;        /* enum dse_severity */
    const char *file;    /* or NULL */
    int line, column;    /* from 1; 0: not known */
    const char *message; /* "tiles: 0 is below the minimum 1" */
    const char *hint;    /* what is allowed; or NULL */
};

struct dse_problems *dse_problems_new(void);
void dse_problems_free(struct dse_problems *p);
/* Forget all problems. */
void dse_problems_clear(struct dse_problems *p);
/* Problem i, or NULL behind the last. It is valid until problems are added or cleared. */
const struct dse_problem *dse_problems_at(struct dse_problems *p, size_t i);
/* All of them as one text, as `dse` would print it; "" without any. It is valid until problems are added or cleared. */
const char *dse_problems_text(struct dse_problems *p);

/* Models and the catalog */

struct dse;

/* The models, and the catalog of `data_dir`; NULL: where dse is installed, or $DSE_DATA_DIR. The user's own catalog is added as in
 * every command of dse. A relative folder is the one that it names now, wherever the program goes later. */
struct dse *dse_open(const char *data_dir, struct dse_problems *problems);
/* Points that are not freed yet can be used on: d ends with the last of them. */
void dse_close(struct dse *d);
/* Add a TOML file of catalog entries, as --catalog does: all of it or, when something is wrong with it, nothing. A file that was
 * added already is not added again; if it was edited meanwhile, that is an error. */
bool dse_add_catalog(struct dse *d, const char *file, struct dse_problems *problems);

/* Add the models of a plug-in (plugin.h), or that of a file in TOML (docs/reference/model-in-toml.md), as --plugin does; to all
 * that are opened from then on, too. Those of $DSE_PLUGINS and of the prefix are there when d is opened. What is loaded stays as
 * it is until the process ends: a file that was edited since is an error. 256 models can be added. Not while other threads use the
 * library. */
bool dse_add_plugin(struct dse *d, const char *file, struct dse_problems *problems);

/* The name of model i, or NULL behind the last. */
const char *dse_model_at(const struct dse *d, size_t i);
/* The name of entry i of a catalog ("llms", "memories", ... as in `dse list`), or NULL behind the last. */
const char *dse_entry_at(const struct dse *d, const char *catalog, size_t i);

enum dse_role { DSE_PARAMETER, DSE_METRIC };
enum dse_column_type { DSE_REAL, DSE_INTEGER, DSE_TEXT };

/* A parameter or a metric. */
struct dse_column {
    const char *name, *unit, *doc; /* unit: "" for a count, a ratio or a text */
    int role;                      /* enum dse_role */
    int type;                      /* enum dse_column_type */
    int better;                    /* of metrics: 1 the more the better, -1 the less, 0 neither */
    double min, max;               /* of parameters that are numbers */
    const char *const *choices;    /* closed by NULL, of texts out of a list; or NULL */
    const char *catalog;           /* of parameters that are names of a catalog: which, "llms"; or NULL */
};

/* Parameter or metric i of a model; NULL behind the last, or when there is no such model. */
const struct dse_column *dse_column_at(const struct dse *d, const char *model, enum dse_role role, size_t i);
/* The parameter or metric of that name, or NULL. */
const struct dse_column *dse_column_find(const struct dse *d, const char *model, const char *name);

/* Points */

struct dse_points;

/* Points of a model, all parameters at their defaults, in closed form. */
struct dse_points *dse_points_new(const struct dse *d, const char *model, struct dse_problems *problems);
void dse_points_free(struct dse_points *p);
/* Set a parameter of all points to a value as in --set: "8", "exact", "llama2-7b". A value set before is replaced; NULL: back to
 * the default. */
bool dse_points_set(struct dse_points *p, const char *name, const char *value, struct dse_problems *problems);
/* "closed-form", or "event-level" where the model has it. */
bool dse_points_set_fidelity(struct dse_points *p, const char *fidelity, struct dse_problems *problems);

/* A parameter that differs from point to point: n numbers, or n texts. */
struct dse_input {
    const char *name;
    const double *numbers;
    const char *const *texts;
};

/* A column to be filled in, with n numbers or n texts: a parameter or metric; or as texts "status" ("ok"; "infeasible": no such
 * machine can be built or run; "invalid": an input is out of its range), "reason" (NULL where the status is "ok"), "quality"
 * (what the output rests on), "beyond" (what lies beyond the data that it rests on), "why_unknown" (why the quality is not known),
 * "why_null" (why metrics have no value) and "fidelity" (that of the row: "measured-kernel" where a run at event level takes whole
 * times of kernels, and so repeats the closed form). Numbers are NaN, and texts NULL, where there is no value. Texts are valid
 * until the next evaluation, and until the points are freed. */
struct dse_output {
    const char *name;
    double *numbers;
    const char **texts;
};

/* Evaluate n points. False: nothing of the outputs is defined. A point that cannot be built is no error. Of many at once, each
 * costs under 50 ns more than its model does (`./dev bench library`). */
bool dse_points_evaluate(struct dse_points *p, size_t n, const struct dse_input *inputs, size_t n_inputs,
                         const struct dse_output *outputs, size_t n_outputs, struct dse_problems *problems);

#ifdef __cplusplus
}
#endif

#endif
