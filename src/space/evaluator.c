/* Evaluating a run of points: parameters, model, derived columns, constraints, one row each. */
#include "space/space_internal.h"

#include "base/xalloc.h"
#include "space/bug.h"
#include "space/cells.h"
#include "space/command.h"
#include "space/many_points.h"
#include "space/margin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct evaluator {
    const struct space *space;
    struct expr **constraints, **derived; /* NULL: does not apply to the model */
    struct margin **margins;              /* of the constraints, made when one is broken in evaluator_probe; NULL: not yet */
    struct comparer *comparer;            /* NULL: no baseline */
    struct runner *runner;
    struct judge *judge;
    struct cell_runs *metric_cells;
    bool is_judged; /* a point, as follows: */
    struct budget_row judged_row;
    struct row judged;
    struct standing standing; /* of the last point */
    struct mixer *mixer;      /* NULL: no requests */
    char **failures;          /* of runs at event level, as reasons */
    size_t n_failures;
    bool stopped;
    bool is_measured;               /* the last run of the point itself: runner_is_measured */
    uint64_t point;                 /* at hand */
    bool is_copy;                   /* of another point's machine */
    char *bug;                      /* what stopped it, when that was the model; or NULL */
    void *start, *params, *metrics; /* before and behind resolve(); what the sweep adds behind the model's metrics */
    void *own_params, *own_metrics; /* of points that are evaluated one by one */
    struct many_at_work *many;      /* NULL: all are */
    bool is_evaluated;              /* the point at hand, as number `number` of those at once */
    size_t number;
    bool is_scanned;               /* only metrics that are wanted are there */
    bool stands[BLOCK_POINTS_MAX]; /* what is known of standings: by many_at_work_standing */
    struct standing standings[BLOCK_POINTS_MAX];
    bool *wanted;               /* metrics that a scan reads; NULL: not yet */
    const struct field **whole; /* those of them that are numbers */
    size_t n_whole;
    struct dse_breakdown parts; /* of the points whose parts are looked at */
};

/* A breakdown takes longer than the point: all of the few points at event level, and one of so many in closed form, are asked for
 * theirs, so that its parts are held against the metrics. Of a stream, whose points are billions, fewer are. */
enum { PARTS_EVERY = 1024, PARTS_EVERY_SCANNED = 4096 };

static struct dse_breakdown *parts_of(struct evaluator *e)
{
    bool asked = runner_fidelity(e->runner) == FIDELITY_EVENT_LEVEL || e->point % PARTS_EVERY == 0;
    return asked ? &e->parts : NULL;
}

static struct expr **compile_all(const struct space *sp, const struct named_expr *list, const bool *applies, size_t n)
{
    struct expr **exprs = xcalloc(n, sizeof *exprs);
    struct diags diags; /* space_new has compiled each of them before */
    diags_init(&diags);
    for (size_t i = 0; i < n; i++)
        if (applies[i]) exprs[i] = expr_new(list[i].expr, list[i].loc, NULL, &sp->model->params, &sp->metrics, &diags);
    diags_release(&diags);
    return exprs;
}

struct evaluator *evaluator_new(const struct space *sp, enum fidelity fidelity, const volatile sig_atomic_t *stop)
{
    struct evaluator *e = xcalloc(1, sizeof *e);
    e->space = sp;
    e->constraints = compile_all(sp, sp->sweep->constraints, sp->constraint_applies, sp->sweep->n_constraints);
    e->derived = compile_all(sp, sp->sweep->derived, sp->derived_applies, sp->sweep->n_derived);
    e->start = xcalloc(1, sp->model->desc->params_size);
    e->params = e->own_params = xcalloc(1, sp->model->desc->params_size);
    e->metrics = e->own_metrics = xcalloc(1, space_metrics_size(sp));
    struct sim_options options = {.stop = stop, .events_max = RUNNER_EVENTS_MAX};
    e->runner = runner_new(fidelity, &options);
    if (sp->baseline) e->comparer = comparer_new(sp->baseline, e->runner);
    e->judge = judge_new(sp->model->desc);
    e->metric_cells = cell_runs_new(&sp->metrics);
    if (sp->mix) e->mixer = mixer_new(sp->mix, e->runner, e->judge, true);
    if (!sp->mix && fidelity == FIDELITY_CLOSED_FORM) e->many = many_at_work_new(sp);
    return e;
}

void evaluator_free(struct evaluator *e)
{
    if (!e) return;
    for (size_t i = 0; i < e->space->sweep->n_constraints; i++) expr_free(e->constraints[i]);
    for (size_t i = 0; i < e->space->sweep->n_derived; i++) expr_free(e->derived[i]);
    for (size_t i = 0; e->margins && i < e->space->sweep->n_constraints; i++) margin_free(e->margins[i]);
    free(e->margins);
    free(e->constraints);
    free(e->derived);
    comparer_free(e->comparer);
    many_at_work_free(e->many);
    mixer_free(e->mixer);
    judge_free(e->judge);
    cell_runs_free(e->metric_cells);
    runner_free(e->runner);
    for (size_t i = 0; i < e->n_failures; i++) free(e->failures[i]);
    free(e->failures);
    free(e->bug);
    free(e->start);
    free(e->own_params);
    free(e->own_metrics);
    free(e->wanted);
    free(e->whole);
    free(e);
}

/* A run that was refused, or failed, which is a bug of the model, as the reason of its row. */
static const char *failure(struct evaluator *e, enum run_end end)
{
    enum { LENGTH_MAX = 400 };
    char *reason = end == RUN_REFUSED ? xasprintf("at event level: %.*s", LENGTH_MAX, runner_error(e->runner))
                                      : xasprintf("a bug in model %s: its event level failed: %.*s", e->space->model->desc->name,
                                                  LENGTH_MAX, runner_error(e->runner));
    if (e->n_failures && strcmp(e->failures[e->n_failures - 1], reason) == 0) {
        free(reason);
        return e->failures[e->n_failures - 1];
    }
    e->failures = xrealloc(e->failures, e->n_failures + 1, sizeof(char *));
    return e->failures[e->n_failures++] = reason;
}

static const void *params_of(struct evaluator *e)
{
    return e->params ? e->params : many_at_work_params(e->many, e->number);
}

/* Does it have all numbers that are read of it? */
static bool is_whole(const struct evaluator *e)
{
    for (size_t i = 0; i < e->n_whole; i++) {
        const double x = field_number(e->whole[i], e->metrics);
        if (isinf(x) || (isnan(x) && !e->whole[i]->may_be_null)) return false;
    }
    return true;
}

/* A point that was evaluated with others. One in so many is evaluated once more, with its parts, and one whose numbers cannot be,
 * so that it is said which. */
static enum run_end run_evaluated(struct evaluator *e, const char **ret_reason)
{
    const struct dse_model *model = e->space->model->desc;
    *ret_reason = many_at_work_reason(e->many, e->number);
    if (*ret_reason) return RUN_DONE;
    if (e->point % (e->is_scanned ? PARTS_EVERY_SCANNED : PARTS_EVERY) == 0)
        return runner_run(e->runner, model, params_of(e), e->metrics, &e->parts);
    if (!e->is_scanned) return runner_check(e->runner, model, e->metrics);
    return is_whole(e) ? RUN_DONE : runner_run(e->runner, model, params_of(e), e->metrics, NULL);
}

/* Carry the model out, with every request of a mix: its metrics, unless *ret_reason tells why there are none. */
static enum run_end run_point(struct evaluator *e, const char **ret_reason)
{
    const struct dse_model *model = e->space->model->desc;
    judge_begin(e->judge);
    *ret_reason = e->is_copy ? space_copy_reason : NULL;
    if (*ret_reason) return RUN_DONE;
    if (e->mixer) {
        enum run_end end = mixer_run(e->mixer, e->start, e->metrics, parts_of(e), ret_reason);
        return end == RUN_DONE && !*ret_reason ? runner_check(e->runner, model, e->metrics) : end;
    }
    if (e->is_evaluated) return run_evaluated(e, ret_reason);
    *ret_reason = model->check ? model->check(e->params) : NULL;
    if (*ret_reason) return RUN_DONE;
    judge_add(e->judge, e->params, 1);
    return runner_run(e->runner, model, e->params, e->metrics, parts_of(e));
}

/* Numbers that cannot be, of the point or of the baseline beside it: no row but an error. */
static void stop_at_bug(struct evaluator *e, const struct model *of)
{
    char *command = space_command(e->space, e->point, runner_fidelity(e->runner), NULL, 0);
    free(e->bug);
    char *bug = bug_text(of, runner_error(e->runner));
    e->bug = xasprintf("%s; %s: %s", bug, of == e->space->model ? "the point" : "the model is the baseline's; the point", command);
    free(bug);
    free(command);
    e->stopped = true;
}

/* Carry the model out, and the baseline; returns why there are no metrics, or NULL. */
static const char *run_model(struct evaluator *e)
{
    const char *reason;
    enum run_end end = run_point(e, &reason);
    e->is_measured = runner_is_measured(e->runner); /* the baseline may run next */
    if (end == RUN_STOPPED) e->stopped = true;
    if (end == RUN_BROKEN) stop_at_bug(e, e->space->model);
    if (end == RUN_FAILED || end == RUN_REFUSED) return failure(e, end);
    struct added *added = (struct added *)(void *)((char *)e->metrics + added_offset(e->space->model));
    if (e->mixer && !reason) added->served = mixer_served(e->mixer);
    if (e->stopped || reason || !e->comparer) return reason;
    end = comparer_ratios(e->comparer, params_of(e), e->metrics, &added->ratios);
    if (end == RUN_BROKEN) stop_at_bug(e, e->space->sweep->baseline->model);
    if (end == RUN_STOPPED) e->stopped = true;
    return NULL;
}

static void put_notes(const struct standing *s, bool mixed, union cell *cells)
{
    cells[0].text = s->quality;
    cells[1].text = s->beyond;
    if (mixed) cells[2].f64 = s->quality ? s->known : (double)NAN;
}

/* Why the quality of a point is unknown although the sweep requires that it is known; NULL when all is well. */
static const char *unknown_quality(struct evaluator *e, const struct standing *s)
{
    bool unknown = !s->quality || s->unknown;
    return e->space->sweep->known_quality && unknown ? judge_refusal(e->judge, s) : NULL;
}

/* The standing of the point at hand, which is asked for where rows need it. */
static const struct standing *stand(struct evaluator *e)
{
    if (!e->is_evaluated) {
        e->standing = judge_end(e->judge);
        return &e->standing;
    }
    const size_t at = many_at_work_standing(e->many, e->number);
    if (!e->stands[at]) {
        judge_begin(e->judge);
        judge_add(e->judge, params_of(e), 1);
        e->standings[at] = judge_end(e->judge);
        e->stands[at] = true;
    }
    e->standing = e->standings[at];
    return &e->standing;
}

/* What is known of the point for the sweep's budgets: its quality, where the metrics do not tell without. */
static struct budget_row budget_row_of(struct evaluator *e)
{
    const struct budget *b = &e->space->sweep->budget;
    bool needs_quality = b->trust < DSE_QUALITY_UNKNOWN || e->mixer; /* a mean may be of the known part alone */
    struct budget_row row = {0};
    for (int i = 0; i < BUDGET_METRICS; i++) {
        const struct field *f = e->space->budgeted[i];
        row.has[i] = f != NULL;
        row.value[i] = f ? field_number(f, e->metrics) : (double)NAN;
        needs_quality |= budget_limits(b, (enum budget_metric)i) && isnan(row.value[i]);
    }
    if (needs_quality) row.quality = stand(e)->quality;
    return row;
}

static const char *judge_quality(struct evaluator *e)
{
    return e->space->sweep->known_quality ? unknown_quality(e, stand(e)) : NULL;
}

static bool is_same_row(const struct budget_row *a, const struct budget_row *b)
{
    for (size_t i = 0; i < BUDGET_METRICS; i++) {
        const double x = a->value[i], y = b->value[i];
        if (a->has[i] != b->has[i] || (x != y && !(isnan(x) && isnan(y)))) return false;
    }
    return a->quality == b->quality;
}

/* Of a point that keeps the constraints: the fronts that it may be on, or why none. */
static struct row judge_point(struct evaluator *e)
{
    const struct sweep_file *s = e->space->sweep;
    const char *unknown = judge_quality(e);
    if (unknown) return (struct row){.reason = unknown};
    const struct budget_row row = budget_row_of(e);
    if (e->is_judged && is_same_row(&row, &e->judged_row)) return e->judged;
    const unsigned fronts = budget_fronts(&s->budget, &row);
    e->judged_row = row;
    e->is_judged = true;
    return e->judged = (struct row){.reason = fronts ? NULL : budget_reason(&s->budget, &row), .fronts = fronts};
}

static const char *broken_constraint(struct evaluator *e)
{
    for (size_t i = 0; i < e->space->sweep->n_constraints; i++) {
        double v = e->constraints[i] ? expr_eval(e->constraints[i], params_of(e), e->metrics) : 1;
        if (isnan(v) || v == 0) return e->space->constraint_reasons[i];
    }
    return NULL;
}

/* The row of the point whose parameters are in e->params. */
static struct row evaluate(struct evaluator *e, union cell *cells)
{
    const struct space *sp = e->space;
    size_t c = 0;
    if (e->is_evaluated) c = many_at_work_cells(e->many, e->number, cells);
    for (; c < sp->n_columns && sp->columns[c].role == COLUMN_PARAM; c++) cells[c] = cell_of(sp->columns[c].field, e->params);
    const char *reason = run_model(e);
    if (reason || e->stopped) {
        for (; c < sp->n_columns; c++) cells[c] = cell_null(sp->columns[c].type);
        return (struct row){.reason = reason};
    }
    cell_runs_put(e->metric_cells, e->metrics, cells + c);
    c += sp->metrics.n;
    for (size_t i = 0; i < sp->sweep->n_derived; i++)
        cells[c++].f64 = e->derived[i] ? expr_eval(e->derived[i], params_of(e), e->metrics) : (double)NAN;
    put_notes(stand(e), e->mixer != NULL, cells + c);
    reason = broken_constraint(e);
    struct row row = reason ? (struct row){.reason = reason} : judge_point(e);
    row.is_measured = e->is_measured;
    return row;
}

const char *evaluator_error(const struct evaluator *e)
{
    return e->bug;
}

/* Set the point at hand: at these digits of the grid, or of the sample. */
static void set_point(struct evaluator *e, const uint64_t *digits)
{
    const struct dse_model *model = e->space->model->desc;
    e->params = e->own_params;
    e->metrics = e->own_metrics;
    e->is_copy = !e->space->sampler && space_is_copy(e->space, digits);
    if (e->space->sampler)
        space_start_of(e->space, e->point, e->params);
    else
        space_start_of_digits(e->space, digits, e->params);
    if (e->mixer) memcpy(e->start, e->params, model->params_size);
    if (model->resolve) model->resolve(e->params);
}

struct standing evaluator_standing(const struct evaluator *e)
{
    return e->standing;
}

/* Points that were evaluated at once, from number `begin` to `end` of the run. */
struct many_range {
    size_t begin, end;
    const bool *wanted;
    const uint64_t *points; /* of the run; NULL: one after the other */
};

/* Evaluate points from number i of n on at once, if they are enough: the point at hand, at these digits, is number i. */
static void begin_many(struct evaluator *e, size_t i, size_t n, const uint64_t *digits, struct many_range *many)
{
    const size_t some = n - i < BLOCK_POINTS_MAX ? n - i : BLOCK_POINTS_MAX;
    const bool at_once = e->many && some >= MANY_POINTS_MIN;
    many->begin = i;
    many->end = at_once ? i + some : i;
    if (!at_once) return;
    if (many->points)
        many_at_work_run_points(e->many, many->points + i, some, many->wanted);
    else
        many_at_work_run(e->many, e->point, some, e->space->sampler ? NULL : digits, many->wanted);
    memset(e->stands, 0, some * sizeof *e->stands);
}

/* Make point `number` of those that were evaluated at once, at these digits, the one at hand. */
static void take_evaluated(struct evaluator *e, size_t number, const uint64_t *digits)
{
    e->is_evaluated = true;
    e->is_copy = !e->space->sampler && space_is_copy(e->space, digits);
    e->number = number;
    e->params = NULL;
    if (e->comparer)
        memcpy(e->metrics, many_at_work_metrics(e->many, e->number), e->space->model->desc->metrics_size);
    else
        e->metrics = many_at_work_metrics(e->many, e->number);
}

/* Make a point the one at hand: number i of n of the run, at these digits. */
static void go_to(struct evaluator *e, uint64_t point, size_t i, size_t n, const uint64_t *digits, struct many_range *many)
{
    e->point = point;
    if (i >= many->end) begin_many(e, i, n, digits, many);
    e->is_evaluated = i < many->end;
    if (e->is_evaluated)
        take_evaluated(e, i - many->begin, digits);
    else
        set_point(e, digits);
}

/* The same of number i of a list. */
static void go_to_listed(struct evaluator *e, size_t i, size_t n, struct many_range *many)
{
    uint64_t digits[SPACE_AXES_MAX];
    space_digits(e->space, many->points[i], digits);
    go_to(e, many->points[i], i, n, digits, many);
}

bool evaluator_run_points(struct evaluator *e, const uint64_t *points, size_t n, union cell *cells, struct row *rows)
{
    struct many_range many = {.points = points};
    e->stopped = e->is_scanned = false;
    for (size_t i = 0; i < n && !e->stopped; i++) {
        go_to_listed(e, i, n, &many);
        rows[i] = evaluate(e, cells + i * e->space->n_columns);
    }
    return !e->stopped;
}

bool evaluator_run(struct evaluator *e, uint64_t first, size_t n, union cell *cells, struct row *rows)
{
    const struct space *sp = e->space;
    uint64_t digits[SPACE_AXES_MAX];
    struct many_range many = {.wanted = NULL};
    e->is_scanned = false;
    if (!sp->sampler) space_digits(sp, first, digits);
    e->stopped = false;
    for (size_t i = 0; i < n && !e->stopped; i++) {
        go_to(e, first + i, i, n, digits, &many);
        rows[i] = evaluate(e, cells + i * sp->n_columns);
        if (!sp->sampler) space_step(sp, digits);
    }
    return !e->stopped;
}

/* ---- a point without a row --------------------------------------------------------------------------------------------------- */

/* By how much the point breaks constraint i. */
static double broken_by(struct evaluator *e, size_t i)
{
    const struct space *sp = e->space;
    if (!e->margins) e->margins = xcalloc(sp->sweep->n_constraints, sizeof(struct margin *));
    if (!e->margins[i]) e->margins[i] = margin_new(sp->sweep->constraints[i].expr, &sp->model->params, &sp->metrics);
    return margin_broken(e->margins[i], params_of(e), e->metrics);
}

static double violation(struct evaluator *e)
{
    double sum = 0;
    for (size_t i = 0; i < e->space->sweep->n_constraints; i++) {
        double v = e->constraints[i] ? expr_eval(e->constraints[i], params_of(e), e->metrics) : 1;
        if (isnan(v) || v == 0) sum += broken_by(e, i);
    }
    if (judge_quality(e)) sum += 1;
    const struct budget_row row = budget_row_of(e);
    return sum + budget_excess(&e->space->sweep->budget, &row);
}

/* Of a point that the model refuses: above that of any that it does not, and the less the less is missing. */
static double refused_by(struct evaluator *e, const char *reason)
{
    const struct dse_model *model = e->space->model->desc;
    struct dse_shortage s;
    double missing = 1;
    if (!e->mixer && model->shortage && model->shortage(params_of(e), reason, &s) && s.needed > s.there && s.there >= 0)
        missing = 1 - s.there / s.needed;
    enum { OF_QUALITY = 2 + BUDGET_METRICS }; /* at most: unknown, not trusted, each limit */
    return (double)e->space->sweep->n_constraints + OF_QUALITY + missing;
}

static double number_of(struct evaluator *e, size_t column)
{
    const struct space *sp = e->space;
    if (column == SIZE_MAX) return (double)NAN;
    const struct column *c = &sp->columns[column];
    if (c->role != COLUMN_DERIVED) return c->field->without ? (double)NAN : field_number(c->field, e->metrics);
    const size_t i = column - (size_t)(sp->derived_at);
    return e->derived[i] ? expr_eval(e->derived[i], params_of(e), e->metrics) : (double)NAN;
}

/* Of the point at hand, as evaluator_probe. */
static bool probe_here(struct evaluator *e, const size_t *columns, size_t n, double *values, double *ret_violation)
{
    const char *reason = run_model(e);
    if (e->stopped) return false;
    *ret_violation = reason ? refused_by(e, reason) : violation(e);
    for (size_t i = 0; i < n; i++) values[i] = reason ? (double)NAN : number_of(e, columns[i]);
    return true;
}

bool evaluator_probe(struct evaluator *e, uint64_t index, const size_t *columns, size_t n, double *values, double *ret_violation)
{
    uint64_t digits[SPACE_AXES_MAX];
    if (!e->space->sampler) space_digits(e->space, index, digits);
    e->stopped = e->is_evaluated = e->is_scanned = false;
    e->point = index;
    set_point(e, digits);
    return probe_here(e, columns, n, values, ret_violation);
}

static const bool *wanted_of(struct evaluator *e, const size_t *columns, size_t n)
{
    const struct schema *metrics = &e->space->model->metrics;
    if (e->wanted) return e->wanted;
    e->wanted = space_wanted(e->space, columns, n);
    e->whole = xcalloc(metrics->n + 1, sizeof(struct field *));
    for (size_t i = 0; i < metrics->n; i++)
        if (e->wanted[i] && metrics->fields[i].type == DSE_TYPE_F64 && !metrics->fields[i].without)
            e->whole[e->n_whole++] = &metrics->fields[i];
    return e->wanted;
}

bool evaluator_probe_many(struct evaluator *e, const uint64_t *points, size_t n_points, const size_t *columns, size_t n,
                          double *values, double *violations)
{
    struct many_range many = {.wanted = e->many ? wanted_of(e, columns, n) : NULL, .points = points};
    bool ok = true;
    e->stopped = false;
    e->is_scanned = true;
    for (size_t i = 0; i < n_points && ok; i++) {
        go_to_listed(e, i, n_points, &many);
        ok = probe_here(e, columns, n, values + i * n, &violations[i]);
    }
    return ok;
}

/* The numbers of the point whose parameters are in e->params. */
static struct row scan_point(struct evaluator *e, const struct point_scan *what, size_t i)
{
    double *values = what->values + i * what->n_columns;
    for (size_t k = 0; k < what->n_groups; k++)
        what->keys[i * what->n_groups + k] = (uint64_t)field_get(what->groups[k], params_of(e)).i64;
    const char *reason = run_model(e);
    if (reason || e->stopped) return (struct row){.reason = reason};
    for (size_t k = 0; k < what->n_columns; k++) values[k] = number_of(e, what->columns[k]);
    reason = broken_constraint(e);
    return reason ? (struct row){.reason = reason} : judge_point(e);
}

bool evaluator_scan(struct evaluator *e, uint64_t first, size_t n, const struct point_scan *what)
{
    uint64_t digits[SPACE_AXES_MAX];
    if (!e->space->sampler) space_digits(e->space, first, digits);
    struct many_range many = {.wanted = e->many ? wanted_of(e, what->columns, what->n_columns) : NULL};
    e->stopped = false;
    e->is_scanned = true;
    for (size_t i = 0; i < n && !e->stopped; i++) {
        go_to(e, first + i, i, n, digits, &many);
        what->rows[i] = scan_point(e, what, i);
        if (!e->space->sampler) space_step(e->space, digits);
    }
    return !e->stopped;
}
