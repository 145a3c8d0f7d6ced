/* A design space: the grid of a sweep's axes over one model, or a sample of it (space/sampler.h), its points numbered 0..count-1,
 * and what is computed at each point.
 *
 * Axes are sorted by name, the last runs fastest, so that a point's index does not depend on the order of the file. A point is
 * made by copying the fixed parameters, setting the digits of its index, following catalog names to the parameters they default,
 * and the model's resolve(). A sample has a number in [0, 1) for each axis in place of the digit: the share of the axis' values,
 * or of its length where it is continuous, that are below. Two points of a sample may be one point of the grid.
 *
 * A space is immutable and shared by all threads; each thread has an evaluator of its own (expressions keep state).
 */
#ifndef DSE_SPACE_SPACE_H
#define DSE_SPACE_SPACE_H

#include "config/sweep_file.h"
#include "space/judge.h"

struct space;

/* What column i of a result row is, in order: the parameters that vary, every metric, in a sweep with a baseline the ratios to it
 * (model/ratios.h; metrics like the others), every derived column, and what is said of the row beside its numbers
 * (space/judge.h): quality, beyond, and in a sweep with requests known_tokens. */
enum column_role { COLUMN_PARAM, COLUMN_METRIC, COLUMN_DERIVED, COLUMN_NOTE };
struct column {
    const char *name, *unit, *doc;
    enum column_role role;
    enum dse_type type;
    enum dse_better better;    /* metrics */
    const struct field *field; /* NULL for a derived column, which is F64, and a note, which is F64 or (type ENUM) text */
};

/* One cell. F64 NaN stands for NULL. `text` is a string that outlives the space's catalog users: a choice or an entry's name. */
union cell {
    double f64;
    int64_t i64;
    const char *text; /* ENUM and REF; a text of a note lives as long as the evaluator */
};

/* Check what sweep_file_read cannot: constraints, derived columns and objectives of model `m`. Adds every error, and a warning
 * for an objective that can have no value in this model.
 *
 * An expression is about the models that have all its columns. For another model of the sweep a constraint does not apply and a
 * derived column is NULL; so it is where the expression uses a metric that has no meaning in the model. A name that no model has
 * is an error, and so is an expression whose columns no single model has. */
bool space_check(const struct sweep_file *s, size_t m, struct diags *diags);

/* Build the space of model `m` (an index into s->bindings). NULL with errors: unknown names and syntax errors in constraints,
 * derived columns and objectives, parameters that describe nothing (a DRAM whose rows close before they are open), a space above
 * max_points (the message has the count). The sweep and its catalog must outlive it. */
struct space *space_new(const struct sweep_file *s, size_t m, uint64_t max_points, struct diags *diags);
void space_free(struct space *sp);
/* From now on evaluate and bound by model.plain, where the model has that (model/registry.h). Before an evaluator is made. */
void space_check_plainly(struct space *sp);

/* Points of the space; saturates at UINT64_MAX. space_count_of is of the grid, space_points_of of model m's space: both work for
 * any sweep, however large, without building a space. */
uint64_t space_count(const struct space *sp);
uint64_t space_count_of(const struct binding *b);
uint64_t space_points_of(const struct sweep_file *s, size_t m);
/* The name of axis a, in the order of the axes. */
const char *space_axis_name(const struct space *sp, size_t a);
/* Are its points a sample? */
bool space_is_sample(const struct space *sp);

const struct model *space_model(const struct space *sp);
const struct column *space_columns(const struct space *sp, size_t *ret_n);
/* Do constraint i and derived column i of the sweep apply to this model (see space_check)? */
bool space_constraint_applies(const struct space *sp, size_t i);
bool space_derived_applies(const struct space *sp, size_t i);
/* Does the sweep's baseline take its parameter i from the points of this space? */
bool space_baseline_takes(const struct space *sp, size_t param);
/* Why the sweep's baseline would be on no front at the workload of the first point (baseline_over_budget); NULL: no baseline, or it
 * would be. The caller frees it. */
char *space_baseline_over_budget(const struct space *sp);
/* The metrics of a row, the model's and those that the sweep adds behind them (space/added.h), in a struct of
 * space_metrics_size() bytes. */
const struct schema *space_metrics(const struct space *sp);
size_t space_metrics_size(const struct space *sp);
/* The requests that every row is the mean over, and their mix as text; NULL in a sweep without [requests]. Then the parameters
 * that the mix sets (request_mix_sets) have no one value: in space_point and space_fixed they are those of the mean request, in a
 * row they do not stand. */
const struct request_mix *space_requests(const struct space *sp);
const char *space_requests_text(const struct space *sp);
/* Does parameter i (of the model's schema) vary? The struct with the parameters that do not (others as at point 0, resolved). */
bool space_varies(const struct space *sp, size_t param);
const void *space_fixed(const struct space *sp);
/* The index of the column of that name, or SIZE_MAX. */
size_t space_column(const struct space *sp, const char *name);
/* 64-bit hash of everything that rows depend on: model and its version, resolved parameters, axes and their values
 * sorted by name, expressions, the baseline, the requests. Independent of the order of keys in the file. */
uint64_t space_hash(const struct space *sp);
/* The parameters of a point, resolved. `params` holds the model's params_size bytes. Thread-safe. */
void space_point(const struct space *sp, uint64_t index, void *params);

/* The axes, in the order of a point's digits, of which the last runs fastest. A digit counts the values of its axis in the order of
 * the file. */
enum { SPACE_AXES_MAX = 256 }; /* more than any model of dse has parameters; a sweep with more is refused */
struct space_axis {
    const struct field *field;
    uint64_t n;
    const struct value *values; /* n of them */
};
size_t space_axes(const struct space *sp);
struct space_axis space_axis(const struct space *sp, size_t axis);
/* The digits of a point, SPACE_AXES_MAX at most, and back; the parameters at these digits, resolved. Thread-safe. */
void space_digits(const struct space *sp, uint64_t index, uint64_t *digits);
uint64_t space_index(const struct space *sp, const uint64_t *digits);
void space_point_at(const struct space *sp, const uint64_t *digits, void *params);

/* The points one step away from a point along each axis that the sweep's `per` does not name: at most SPACE_NEIGHBOURS_MAX, in no
 * order. Names step in the order of their list. Returns how many. */
enum { SPACE_NEIGHBOURS_MAX = 512 };
size_t space_neighbours(const struct space *sp, uint64_t index, uint64_t *ret);

/* One thread's evaluator, of a fidelity that the model has; the baseline's metrics are of the same where its model has it. At
 * event level it stops soon after *stop became nonzero (NULL: never). */
struct evaluator;
struct evaluator *evaluator_new(const struct space *sp, enum fidelity fidelity, const volatile sig_atomic_t *stop);
void evaluator_free(struct evaluator *e);

/* A row: cells of space_columns(), and why the point is infeasible. reason NULL: feasible. If the model's check() refused the
 * point, metrics and derived columns are NULL (NaN, text NULL, and i64 INT64_MIN); if a constraint did, they are there. The
 * reason lives as long as the space and the evaluator. */
struct row {
    const char *reason;
    unsigned fronts;  /* of a feasible point: budget_fronts (config/budget.h); of another 0 */
    bool is_measured; /* the run repeats the closed form (runner_is_measured) */
};
/* May the point be on the front of the loosest budget: is it feasible, and known not to lose more? */
static inline bool row_is_within(const struct row *r)
{
    return r->fronts & 1u;
}
/* The names of the columns of notes, closed by NULL. */
extern const char *const space_notes[];
/* Evaluate `n` points from `first` on: cells[i * n_columns + c], rows[i]. In closed form, no allocation. False: stopped, and not
 * all rows are there. */
bool evaluator_run(struct evaluator *e, uint64_t first, size_t n, union cell *cells, struct row *rows);
/* The same of any points of a grid, by their numbers. */
bool evaluator_run_points(struct evaluator *e, const uint64_t *points, size_t n, union cell *cells, struct row *rows);
/* Evaluate one point without its row: the values of n columns of metrics or derived ones (SIZE_MAX: a column that there is not),
 * NaN where a column has none or the model refuses the point; and 0, or by how much the point is infeasible: of points that the
 * model accepts the sum over the broken constraints (space/margin.h) and of what it is over budget (budget_excess), of one that it
 * refuses more than that, the more the more is missing. False: stopped, as evaluator_run. */
bool evaluator_probe(struct evaluator *e, uint64_t index, const size_t *columns, size_t n, double *values, double *ret_violation);
/* The same of many points of a grid: values[i * n + k], violations[i]. The columns are the same at each call. */
bool evaluator_probe_many(struct evaluator *e, const uint64_t *points, size_t n_points, const size_t *columns, size_t n,
                          double *values, double *violations);
/* Evaluate n points from `first` on without their rows: of each the values of some columns of metrics or derived ones (those of an
 * infeasible point are not defined), the bits of some parameters, and why it is infeasible, as evaluator_run. No allocation. */
struct point_scan {
    const size_t *columns; /* SIZE_MAX: a column that there is not, NaN */
    size_t n_columns;
    const struct field *const *groups; /* parameters */
    size_t n_groups;
    double *values; /* n * n_columns */
    uint64_t *keys; /* n * n_groups: equal for equal values */
    struct row *rows;
};
bool evaluator_scan(struct evaluator *e, uint64_t first, size_t n, const struct point_scan *what);
/* What stopped it, when that was numbers of the model that cannot be (model/row_check.h): a bug, with the metric and the point;
 * else NULL. */
const char *evaluator_error(const struct evaluator *e);
/* What is said of the last point that had metrics, as in its columns of notes; the strings live as long as the evaluator. */
struct standing evaluator_standing(const struct evaluator *e);

#endif
