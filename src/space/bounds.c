#include "space/bounds.h"

#include "base/xalloc.h"
#include "model/many.h"
#include "space/many_boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bounds {
    const struct space *space;
    struct expr **constraints, **derived; /* NULL: does not apply to the model */
    struct runner *runner;
    struct comparer *comparer; /* NULL: no baseline */
    void *floor, *ceiling;     /* of the last box; the ratios behind the model's metrics */
    struct expr_box box;       /* the last one */
    void *own_floor, *own_ceiling;
    bool reads_params;          /* of a box: by an expression or the baseline */
    struct boxes_at_work *many; /* NULL: without a lattice */
    const struct graph_moves *param_moves;
    struct expr_moves moves;    /* of the last box; `metrics` NULL: nothing is known */
    struct graph_moves *walked; /* of bounds_walk_moves */
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

static bool has_any(struct expr *const *exprs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (exprs[i]) return true;
    return false;
}

struct bounds *bounds_new(const struct space *sp)
{
    struct bounds *b = xcalloc(1, sizeof *b);
    b->space = sp;
    b->constraints = compile_all(sp, sp->sweep->constraints, sp->constraint_applies, sp->sweep->n_constraints);
    b->derived = compile_all(sp, sp->sweep->derived, sp->derived_applies, sp->sweep->n_derived);
    b->floor = b->own_floor = xcalloc(1, space_metrics_size(sp));
    b->ceiling = b->own_ceiling = xcalloc(1, space_metrics_size(sp));
    struct sim_options options = {.events_max = RUNNER_EVENTS_MAX};
    b->runner = runner_new(FIDELITY_CLOSED_FORM, &options);
    if (sp->baseline) b->comparer = comparer_new(sp->baseline, b->runner);
    b->reads_params = b->comparer || has_any(b->constraints, sp->sweep->n_constraints) || has_any(b->derived, sp->sweep->n_derived);
    return b;
}

void bounds_set_lattice(struct bounds *b, const struct bounds_lattice *l)
{
    b->many = boxes_at_work_new(b->space, l);
    b->param_moves = l->moves;
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
    boxes_at_work_free(b->many);
    free(b->own_floor);
    free(b->own_ceiling);
    free(b->walked);
    free(b);
}

/* ---- a box ----------------------------------------------------------------------------------------------------------------- */

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

/* What the sweep says of the last box. */
static enum bounds_of judge(struct bounds *b, size_t *ret_constraint)
{
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

enum bounds_of bounds_box(struct bounds *b, const void *lo, const void *hi, size_t *ret_constraint)
{
    b->floor = b->own_floor;
    b->ceiling = b->own_ceiling;
    b->box = (struct expr_box){lo, hi, b->floor, b->ceiling};
    return box_bound(b->space, lo, hi, b->floor, b->ceiling) ? judge(b, ret_constraint) : BOUNDS_IMPOSSIBLE;
}

/* Which of the sweep's derived columns it is. */
static size_t derived_index(const struct space *sp, size_t column)
{
    size_t first = column;
    while (first > 0 && sp->columns[first - 1].role == COLUMN_DERIVED) first--;
    return column - first;
}

/* ---- moves ----------------------------------------------------------------------------------------------------------------- */

static void set_moves(struct bounds *b, const struct graph_moves *params, const struct graph_moves *metrics)
{
    const struct model *m = b->space->model;
    b->moves = (struct expr_moves){&m->params, &b->space->metrics, params, metrics, m->metrics.n};
}

void bounds_walk_moves(struct bounds *b, const struct graph_moves *params)
{
    const struct many *many = b->space->walked;
    set_moves(b, params, NULL);
    if (!many || !params) return;
    if (!b->walked) b->walked = xcalloc(b->space->model->metrics.n + 1, sizeof *b->walked);
    many->walk_moves(many->object, b->box.lo, b->box.hi, params, b->walked);
    b->moves.metrics = b->walked;
}

static struct graph_moves and_also(struct graph_moves a, struct graph_moves b)
{
    return (struct graph_moves){a.up | b.up, a.down | b.down};
}

static struct graph_moves in_any_way(struct graph_moves a)
{
    return moves_any(moves_all(a));
}

/* What is true somewhere and false elsewhere: it holds where the expression has a finite number that is not 0. */
static struct graph_moves moves_of_constraint(const struct bounds *b, const struct expr *e)
{
    struct expr_box box = b->box;
    box.moves = &b->moves;
    const struct graph_range v = expr_range(e, &box);
    const bool is_known = !v.none && v.hi < (double)INFINITY && v.lo > -(double)INFINITY;
    if (is_known && (v.lo > 0 || v.hi < 0)) return moves_any(0);
    return is_known && v.lo >= 0 ? v.moves : in_any_way(v.moves);
}

/* Axes along which another point's row may stand for that of a point (twins), and those that budgets may judge by. */
static uint32_t axes_apart(const struct bounds *b)
{
    const struct space *sp = b->space;
    uint32_t ret = 0;
    for (size_t i = 0; i < sp->n_twins; i++)
        for (size_t k = 0; k < sp->twins[i].n_only; k++) ret |= UINT32_C(1) << sp->twins[i].only[k];
    for (int i = 0; i < BUDGET_METRICS; i++)
        if (sp->budgeted[i]) ret |= moves_all(expr_metric_moves(&b->moves, sp->budgeted[i]));
    return ret;
}

/* Of a number that may be infinite, and then is none, no more is known than along which axes it moves. */
static struct graph_moves moves_of_column(struct bounds *b, size_t column)
{
    const struct column *c = &b->space->columns[column];
    const struct dse_interval v = bounds_column(b, column);
    struct graph_moves ret = moves_any(~0u);
    struct expr_box box = b->box;
    box.moves = &b->moves;
    if (c->role == COLUMN_METRIC && field_is_number(c->field)) ret = expr_metric_moves(&b->moves, c->field);
    if (c->role == COLUMN_DERIVED && b->derived[derived_index(b->space, column)])
        ret = expr_range(b->derived[derived_index(b->space, column)], &box).moves;
    return isfinite(v.lo) && isfinite(v.hi) ? ret : in_any_way(ret);
}

struct graph_moves bounds_better(struct bounds *b, const size_t *columns, const bool *maximise, size_t n)
{
    if (!b->moves.metrics || b->comparer) return moves_any(~0u);
    struct graph_moves ret = and_also(b->moves.metrics[b->moves.n_metrics], moves_any(axes_apart(b)));
    for (size_t i = 0; i < b->space->sweep->n_constraints; i++)
        if (b->constraints[i]) ret = and_also(ret, moves_of_constraint(b, b->constraints[i]));
    for (size_t j = 0; j < n; j++) {
        const struct graph_moves m = columns[j] == SIZE_MAX ? moves_any(~0u) : moves_of_column(b, columns[j]);
        ret = and_also(ret, maximise[j] ? m : (struct graph_moves){m.down, m.up});
    }
    return ret;
}

/* ---- many boxes ------------------------------------------------------------------------------------------------------------ */

void bounds_many(struct bounds *b, const uint32_t *const *lo, const uint32_t *const *hi, size_t n, const bool *wanted)
{
    boxes_at_work_run(b->many, lo, hi, n, wanted, false);
}

void bounds_many_moved(struct bounds *b, const uint32_t *const *lo, const uint32_t *const *hi, size_t n, const bool *wanted)
{
    boxes_at_work_run(b->many, lo, hi, n, wanted, true);
}

bool bounds_are_at_once(const struct bounds *b)
{
    return boxes_are_at_once(b->many);
}

enum bounds_of bounds_take(struct bounds *b, size_t i, size_t *ret_constraint)
{
    if (!boxes_at_work_possible(b->many, i, &b->floor, &b->ceiling)) return BOUNDS_IMPOSSIBLE;
    b->box = (struct expr_box){.floor = b->floor, .ceiling = b->ceiling};
    set_moves(b, b->param_moves, boxes_at_work_moves(b->many, i));
    if (b->reads_params) boxes_at_work_ends(b->many, (int)i, &b->box.lo, &b->box.hi);
    return judge(b, ret_constraint);
}

bool *bounds_wanted(const struct bounds *b, const size_t *columns, size_t n)
{
    return space_wanted(b->space, columns, n);
}

/* ---- columns --------------------------------------------------------------------------------------------------------------- */

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
