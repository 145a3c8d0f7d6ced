#include "space/sensitivity.h"

#include "base/xalloc.h"
#include "model/nulls.h"
#include "space/space_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const elasticity_ways[] = {"derivative", "derivative of differences", "difference"};

static const double real_step = 0x1p-17, probe_step = 0.01;

struct asking {
    const struct design_point *p;
    const struct schema *params, *metrics;
    void *start; /* parameters before resolve() */
    void *moved; /* room for others */
    void *at;    /* metrics of the point */
    struct sensitivity *out;
};

/* A point beside the one that is asked about. */
struct side {
    const char *why; /* it cannot be built; or NULL */
    void *metrics;
};

/* ---- points beside it -------------------------------------------------------------------------------------------------------- */

static const char *compute(const struct asking *k, const struct field *f, struct value v, void *metrics)
{
    const struct dse_model *m = k->p->model->desc;
    memcpy(k->moved, k->start, m->params_size);
    if (f) field_set(f, k->moved, v);
    if (m->resolve) m->resolve(k->moved);
    const char *why = schema_refuse(k->params, k->moved);
    if (!why && m->check) why = m->check(k->moved);
    if (!why) m->estimate(k->moved, metrics, NULL);
    return why;
}

static struct side side_at(const struct asking *k, const struct field *f, double x)
{
    struct side ret = {.metrics = xcalloc(1, k->p->model->desc->metrics_size)};
    const struct value v = f->type == DSE_TYPE_I64 ? (struct value){.i64 = (int64_t)x} : (struct value){.f64 = x};
    ret.why = x < f->min || x > f->max ? "its range ends here" : compute(k, f, v, ret.metrics);
    return ret;
}

static double metric_at(const struct side *s, const struct field *metric)
{
    return s->why ? (double)NAN : field_number(metric, s->metrics);
}

/* ---- one number -------------------------------------------------------------------------------------------------------------- */

static struct elasticity *add(const struct asking *k, size_t metric, const struct slope_variable *v, double is)
{
    struct sensitivity *s = k->out;
    s->list = xrealloc(s->list, s->n + 1, sizeof *s->list);
    struct elasticity *e = &s->list[s->n++];
    *e = (struct elasticity){.metric = metric,
                             .variable = v,
                             .is = is,
                             .step = (double)NAN,
                             .down = (double)NAN,
                             .up = (double)NAN,
                             .through_steps = (double)NAN};
    return e;
}

static bool has_percent(const struct asking *k, size_t metric)
{
    const struct field *f = &k->metrics->fields[metric];
    return field_is_number(f) && !metric_is_null(f, k->at) && isfinite(field_number(f, k->at)) && field_number(f, k->at) != 0;
}

static char *note_of_steps(double is, double through_steps)
{
    const double alike = 1e-6;
    char number[TEXT_NUMBER_MAX];
    if (fabs(is - through_steps) <= alike * (fabs(is) + fabs(through_steps))) return NULL;
    text_short_number(number, through_steps);
    return is == 0 ? xasprintf("0 by a step (ceil, floor, round); %s without steps", number)
                   : xasprintf("%s without steps (ceil, floor, round)", number);
}

static void add_derivatives(const struct asking *k, const struct slope_list *l, size_t i, const struct slope_variable *v)
{
    for (size_t m = 0; m < k->metrics->n; m++) {
        const struct slope *s = &l->slopes[i * l->n_metrics + m];
        if (!has_percent(k, m) || isnan(s->is)) continue;
        struct elasticity *e = add(k, m, v, s->is);
        e->way = s->has_difference ? ELASTICITY_MIXED : ELASTICITY_DERIVATIVE;
        e->through_steps = s->through_steps;
        e->note = note_of_steps(s->is, s->through_steps);
    }
}

/* ---- differences ------------------------------------------------------------------------------------------------------------- */

struct difference {
    const struct field *f;
    double x, step;
    struct side below, above, far_below, far_above; /* far: of real numbers */
};

static char *note_of_sides(const struct difference *d, const struct two_sides *s)
{
    char down[TEXT_NUMBER_MAX], up[TEXT_NUMBER_MAX];
    const bool is_whole = d->f->type == DSE_TYPE_I64, differ = is_whole ? (s->down == 0) != (s->up == 0) : s->differ;
    if (d->below.why) return xasprintf("upwards alone; below: %s", d->below.why);
    if (d->above.why) return xasprintf("downwards alone; above: %s", d->above.why);
    if (!differ) return NULL;
    return xasprintf("a threshold: %s below, %s above", text_short_number(down, s->down), text_short_number(up, s->up));
}

/* What is flat at the point may have a step near it. */
static char *note_of_probe(const struct difference *d, const struct field *metric, double at)
{
    const double below = metric_at(&d->far_below, metric), above = metric_at(&d->far_above, metric);
    const bool changes = (isfinite(below) && below != at) || (isfinite(above) && above != at);
    return changes ? xasprintf("0 here; a step is within %g %%", 100 * probe_step) : NULL;
}

static void add_difference(const struct asking *k, const struct difference *d, size_t m, const struct slope_variable *v)
{
    const struct field *metric = &k->metrics->fields[m];
    const double at = field_number(metric, k->at), below = metric_at(&d->below, metric), above = metric_at(&d->above, metric);
    const bool is_whole = d->f->type == DSE_TYPE_I64;
    struct two_sides s = two_sides_of(below, at, above, fabs(d->step / d->x));
    if (is_whole && s.differ) s.is = (s.down + s.up) / 2;
    if (isnan(s.is)) return;
    struct elasticity *e = add(k, m, v, s.is);
    e->way = ELASTICITY_DIFFERENCE;
    e->step = d->step;
    e->down = s.down;
    e->up = s.up;
    e->note = note_of_sides(d, &s);
    if (!e->note && !is_whole && s.is == 0) e->note = note_of_probe(d, metric, at);
}

static void add_differences(const struct asking *k, const struct slope_variable *v)
{
    const struct field *f = v->param;
    const double x = v->value, step = f->type == DSE_TYPE_I64 ? 1 : fabs(x) * real_step,
                 far = f->type == DSE_TYPE_I64 ? 1 : fabs(x) * probe_step;
    struct difference d = {
        f, x, step, side_at(k, f, x - step), side_at(k, f, x + step), side_at(k, f, x - far), side_at(k, f, x + far)};
    for (size_t m = 0; m < k->metrics->n; m++)
        if (has_percent(k, m)) add_difference(k, &d, m, v);
    free(d.below.metrics);
    free(d.above.metrics);
    free(d.far_below.metrics);
    free(d.far_above.metrics);
}

/* ---- variables --------------------------------------------------------------------------------------------------------------- */

/* What is "auto" can be told, unless something is given that it cannot stand beside. */
static bool can_be_told(const struct asking *k, const struct field *f)
{
    const struct binding *b = k->p->binding;
    for (size_t i = 0; i < k->params->n; i++)
        if (b->given[i].is_given && field_excludes(f, k->params->fields[i].name)) return false;
    return true;
}

static bool is_variable(const struct asking *k, const struct field *f)
{
    if (!field_is_number(f) || f->reader == READ_BY_EVENT_LEVEL) return false;
    const double x = field_number(f, k->p->params);
    if (!isfinite(x) || x == 0) return false;
    return !isnan(field_number(f, k->start)) || can_be_told(k, f);
}

static size_t find_slopes(const struct slope_list *l, const char *param)
{
    size_t i = 0;
    while (i < l->n && !(l->variables[i].param && strcmp(l->variables[i].param->name, param) == 0)) i++;
    return i;
}

static struct slope_variable *next_variable(const struct asking *k, struct slope_variable v)
{
    struct slope_variable *ret = &k->out->variables[k->out->n_variables++];
    *ret = v;
    return ret;
}

static void ask_all(const struct asking *k, struct slope_list *l)
{
    k->out->variables = xcalloc(k->params->n + l->n + 1, sizeof *k->out->variables);
    for (size_t i = 0; i < k->params->n; i++) {
        const struct field *f = &k->params->fields[i];
        if (!is_variable(k, f)) continue;
        const struct slope_variable *v =
            next_variable(k, (struct slope_variable){.param = f, .value = field_number(f, k->p->params)});
        const size_t at = find_slopes(l, f->name);
        if (at < l->n)
            add_derivatives(k, l, at, v);
        else
            add_differences(k, v);
    }
    for (size_t i = 0; i < l->n; i++) {
        if (l->variables[i].param) continue;
        add_derivatives(k, l, i, next_variable(k, l->variables[i]));
        l->variables[i].name = NULL; /* it is the list's now */
    }
}

static int by_size(const void *a, const void *b)
{
    const struct elasticity *x = a, *y = b;
    if (x->metric != y->metric) return x->metric < y->metric ? -1 : 1;
    if (fabs(x->is) != fabs(y->is)) return fabs(x->is) > fabs(y->is) ? -1 : 1;
    return (x->variable > y->variable) - (x->variable < y->variable);
}

void sensitivity_of(const struct design_point *p, struct sensitivity *ret)
{
    const struct model *m = p->model;
    struct slope_list slopes = {0};
    struct asking k = {.p = p, .params = &m->params, .metrics = &m->metrics, .out = ret};
    *ret = (struct sensitivity){0};
    k.start = space_start(p->binding);
    k.moved = xcalloc(1, m->desc->params_size);
    k.at = xcalloc(1, m->desc->metrics_size);
    m->desc->estimate(p->params, k.at, NULL);
    if (m->slopes) m->slopes->at(m->slopes->object, &m->metrics, p->params, &slopes);
    ret->is_without_constants = slopes.is_too_large;
    ask_all(&k, &slopes);
    if (ret->n) qsort(ret->list, ret->n, sizeof *ret->list, by_size);
    slope_list_release(&slopes);
    free(k.start);
    free(k.moved);
    free(k.at);
}

void sensitivity_release(struct sensitivity *s)
{
    for (size_t i = 0; i < s->n; i++) free(s->list[i].note);
    for (size_t i = 0; i < s->n_variables; i++) free(s->variables[i].name);
    free(s->list);
    free(s->variables);
    *s = (struct sensitivity){0};
}
