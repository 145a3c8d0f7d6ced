#include "space/bounds.h"

#include "base/xalloc.h"
#include "space/space_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bounds {
    const struct space *space;
    struct expr **constraints, **derived; /* NULL: does not apply to the model */
    struct runner *runner;
    struct comparer *comparer; /* NULL: no baseline */
    void *floor, *ceiling;     /* of the last box; the ratios behind the model's metrics */
    size_t size;               /* of each */
    struct expr_box box;       /* the last one */
};

static struct expr **compile_all(const struct space *sp, const struct named_expr *list, const bool *applies, size_t n)
{
    struct expr **exprs = xcalloc(n, sizeof *exprs);
    struct diags ignored; /* space_check has compiled each of them */
    diags_init(&ignored);
    for (size_t i = 0; i < n; i++)
        if (applies[i]) exprs[i] = expr_new(list[i].expr, list[i].loc, NULL, &sp->model->params, &sp->metrics, &ignored);
    diags_release(&ignored);
    return exprs;
}

struct bounds *bounds_new(const struct space *sp)
{
    struct bounds *b = xcalloc(1, sizeof *b);
    b->space = sp;
    b->constraints = compile_all(sp, sp->sweep->constraints, sp->constraint_applies, sp->sweep->n_constraints);
    b->derived = compile_all(sp, sp->sweep->derived, sp->derived_applies, sp->sweep->n_derived);
    b->size = space_metrics_size(sp);
    b->floor = xcalloc(1, b->size);
    b->ceiling = xcalloc(1, b->size);
    struct sim_options options = {.events_max = RUNNER_EVENTS_MAX};
    b->runner = runner_new(FIDELITY_CLOSED_FORM, &options);
    if (sp->baseline) b->comparer = comparer_new(sp->baseline, b->runner);
    return b;
}

static void free_all(struct expr **exprs, size_t n)
{
    for (size_t i = 0; i < n; i++) expr_free(exprs[i]);
    free(exprs);
}

void bounds_free(struct bounds *b)
{
    if (!b) return;
    free_all(b->constraints, b->space->sweep->n_constraints);
    free_all(b->derived, b->space->sweep->n_derived);
    comparer_free(b->comparer);
    runner_free(b->runner);
    free(b->floor);
    free(b->ceiling);
    free(b);
}

/* ---- a box ----------------------------------------------------------------------------------------------------------------- */

/* Can metrics be bounded at all? A row over a mix of requests is a mean of several points. */
static bool has_bound(const struct space *sp)
{
    return sp->model->desc->bound && !sp->mix;
}

static void know_nothing(struct bounds *b)
{
    for (size_t i = 0; i < b->space->metrics.n; i++) {
        const struct field *f = &b->space->metrics.fields[i];
        if (f->type == DSE_TYPE_F64) {
            field_set(f, b->floor, (struct value){.f64 = (double)NAN});
            field_set(f, b->ceiling, (struct value){.f64 = (double)NAN});
        } else if (f->type == DSE_TYPE_I64) {
            field_set(f, b->floor, (struct value){.i64 = INT64_MIN});
            field_set(f, b->ceiling, (struct value){.i64 = INT64_MAX});
        }
    }
}

static void bound_ratios(struct bounds *b)
{
    struct ratios floor, ceiling;
    comparer_bounds(b->comparer, &(struct comparer_box){b->box.lo, b->box.hi, b->floor, b->ceiling}, &floor, &ceiling);
    const size_t at = added_offset(b->space->model) + offsetof(struct added, ratios);
    memcpy((char *)b->floor + at, &floor, sizeof floor);
    memcpy((char *)b->ceiling + at, &ceiling, sizeof ceiling);
}

/* Is every point of the last box over the sweep's budgets, where it is known what it loses at all? */
static bool is_over_budget(const struct bounds *b, size_t *ret_constraint)
{
    const struct budget *budget = &b->space->sweep->budget;
    if (budget->trust == DSE_QUALITY_UNKNOWN) return false; /* what is unknown is within, and bounds are of what is known */
    for (int m = 0; m < BUDGET_METRICS; m++) {
        const struct field *f = b->space->budgeted[m];
        if (!f) continue;
        const struct graph_range v = expr_metric_range(f, b->floor, b->ceiling);
        const double limit = budget->limit[m][0];
        if (budget_is_least((enum budget_metric)m) ? v.hi >= limit : v.lo <= limit) continue;
        *ret_constraint = b->space->sweep->n_constraints + (size_t)m;
        return true;
    }
    return false;
}

enum bounds_of bounds_box(struct bounds *b, const void *lo, const void *hi, size_t *ret_constraint)
{
    const struct dse_model *model = b->space->model->desc;
    memset(b->floor, 0, b->size);
    memset(b->ceiling, 0, b->size);
    b->box = (struct expr_box){lo, hi, b->floor, b->ceiling};
    know_nothing(b); /* of what the model's bound does not set */
    if (has_bound(b->space) && !model->bound(lo, hi, b->floor, b->ceiling)) return BOUNDS_IMPOSSIBLE;
    if (b->comparer) bound_ratios(b);
    for (size_t i = 0; i < b->space->sweep->n_constraints; i++) {
        if (!b->constraints[i]) continue;
        const struct graph_range v = expr_range(b->constraints[i], &b->box);
        if (!range_is_nothing(v) && (v.lo != 0 || v.hi != 0)) continue; /* where it is no number it is broken, too */
        *ret_constraint = i;
        return BOUNDS_REFUSED;
    }
    return is_over_budget(b, ret_constraint) ? BOUNDS_REFUSED : BOUNDS_SOME;
}

/* ---- columns --------------------------------------------------------------------------------------------------------------- */

/* Which of the sweep's derived columns it is. */
static size_t derived_index(const struct space *sp, size_t column)
{
    size_t first = column;
    while (first > 0 && sp->columns[first - 1].role == COLUMN_DERIVED) first--;
    return column - first;
}

static struct dse_interval derived_bound(const struct bounds *b, size_t i)
{
    if (!b->derived[i]) return dse_unbounded;
    const struct graph_range r = expr_range(b->derived[i], &b->box);
    return range_is_nothing(r) ? dse_unbounded : dse_iv(r.lo, r.hi); /* of what has no number anywhere, nothing is known */
}

static struct dse_interval metric_bound(const struct bounds *b, const struct field *f)
{
    const struct graph_range r = expr_metric_range(f, b->floor, b->ceiling);
    return dse_iv(r.lo, r.hi);
}

struct dse_interval bounds_column(struct bounds *b, size_t column)
{
    const struct column *c = &b->space->columns[column];
    if (c->role == COLUMN_DERIVED) return derived_bound(b, derived_index(b->space, column));
    if (c->role != COLUMN_METRIC || !field_is_number(c->field) || c->field->without) return dse_unbounded;
    return metric_bound(b, c->field);
}

static bool knows_nothing_of(struct dse_interval v)
{
    return isinf(v.lo) && isinf(v.hi);
}

/* The metric itself has no bound. */
static char *why_no_metric(const struct bounds *b, const struct field *f)
{
    const struct space *sp = b->space;
    const char *model = sp->model->desc->name;
    if (sp->mix) return xasprintf("rows are means over [requests], and model %s has no bound of such a mean", model);
    if (!sp->model->desc->bound) return xasprintf("model %s has no bounds", model);
    if (f->offset >= added_offset(sp->model))
        return xasprintf(
            "%s has no bound: the baseline's model cannot bound several workloads, or one of the two models has no bound of a "
            "metric in it",
            f->name);
    return xasprintf("model %s has no bound of %s", model, f->name);
}

static char *why_no_derived(const struct bounds *b, size_t i)
{
    const struct named_expr *d = &b->space->sweep->derived[i];
    const struct expr *e = b->derived[i];
    if (!e) return xasprintf("%s has no value in model %s", d->name, b->space->model->desc->name);
    for (size_t m = 0; m < b->space->metrics.n; m++) {
        const struct field *f = &b->space->metrics.fields[m];
        if (expr_reads(e, f) && knows_nothing_of(metric_bound(b, f))) return why_no_metric(b, f);
    }
    return xasprintf("\"%s\" can be any number there", d->expr);
}

char *bounds_why_none(struct bounds *b, size_t column)
{
    const struct column *c = &b->space->columns[column];
    if (!knows_nothing_of(bounds_column(b, column))) return NULL;
    if (c->role == COLUMN_DERIVED) return why_no_derived(b, derived_index(b->space, column));
    if (c->role == COLUMN_METRIC && field_is_number(c->field)) return why_no_metric(b, c->field);
    return xasprintf("%s is not a metric", c->name);
}
