/* Boxes of a model's parameters, and whether the model's bound holds in them: for the test and the bench over all models that have
 * one. A box is the hull of a few points, resolved one by one, that differ in some numbers; its enumerations and catalog entries
 * are any. Points of it are those, and others between lo and hi, often at an end of each number. */
#ifndef BOUND_BOXES_H
#define BOUND_BOXES_H

#include "model_points.h"

#include <dse/bound.h>

enum { BOX_CORNERS = 4, BOX_TRIES = 64 };

struct boxes {
    const struct model *model;
    struct one one; /* the defaults */
    void *lo, *hi, *point, *corner[BOX_CORNERS];
    void *floor, *ceiling, *metrics;
    double raise;   /* floors are raised by this factor before they are asked: 1, or what must be noticed */
    uint64_t pairs; /* of a point and a metric that were asked */
    uint64_t boxes, empty;
    uint64_t *caught; /* by metric: points outside of the bound */
    uint64_t *asked;  /* by metric */
    uint64_t *raised; /* of them, those whose floor is above 0 */
};

static inline bool boxes_init(struct boxes *b, const struct model *m)
{
    const size_t params = m->desc->params_size, metrics = m->desc->metrics_size;
    *b = (struct boxes){.model = m, .raise = 1};
    if (!one_init(&b->one, m, NULL, 0)) return false;
    b->lo = xcalloc(1, params);
    b->hi = xcalloc(1, params);
    b->point = xcalloc(1, params);
    for (int i = 0; i < BOX_CORNERS; i++) b->corner[i] = xcalloc(1, params);
    b->floor = xcalloc(1, metrics);
    b->ceiling = xcalloc(1, metrics);
    b->metrics = xcalloc(1, metrics);
    b->caught = xcalloc(m->metrics.n, sizeof *b->caught);
    b->asked = xcalloc(m->metrics.n, sizeof *b->asked);
    b->raised = xcalloc(m->metrics.n, sizeof *b->raised);
    return true;
}

static inline void boxes_release(struct boxes *b)
{
    free(b->lo);
    free(b->hi);
    free(b->point);
    for (int i = 0; i < BOX_CORNERS; i++) free(b->corner[i]);
    free(b->floor);
    free(b->ceiling);
    free(b->metrics);
    free(b->caught);
    free(b->asked);
    free(b->raised);
    one_release(&b->one);
}

static inline void boxes_copy(const struct boxes *b, void *to, const void *from)
{
    memcpy(to, from, b->model->desc->params_size);
}

/* The number of a field near another one: within a factor of `width`, and in range. */
static inline struct value value_near(const struct field *f, double at, double width)
{
    double v = at == 0 ? uniform() * (width - 1) : at * exp((2 * uniform() - 1) * log(width));
    v = fmin(fmax(v, f->min), f->max);
    if (f->type == DSE_TYPE_I64) return (struct value){.i64 = (int64_t)fmin(fmax(round(v), f->min), f->max)};
    return (struct value){.f64 = v};
}

static inline bool is_number(const struct field *f)
{
    return f->type == DSE_TYPE_F64 || f->type == DSE_TYPE_I64;
}

/* Set a number as `value`, whatever it is as: the bits of F64 and I64 take the same. */
static inline void number_set(const struct field *f, void *object, double v)
{
    field_set(f, object, f->type == DSE_TYPE_I64 ? (struct value){.i64 = (int64_t)v} : (struct value){.f64 = v});
}

static inline void resolve(const struct boxes *b, void *params)
{
    if (b->model->desc->resolve) b->model->desc->resolve(params);
}

static inline bool accepts(const struct boxes *b, const void *params)
{
    return !schema_refuse(&b->model->params, params) && (!b->model->desc->check || !b->model->desc->check(params));
}

/* Make lo and hi the hull of `point` and what they are. False: a number is not there at one of them. */
static inline bool box_include(struct boxes *b, const void *point)
{
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *f = &b->model->params.fields[i];
        if (!is_number(f)) continue;
        const double lo = field_number(f, b->lo), hi = field_number(f, b->hi), v = field_number(f, point);
        if (isnan(lo) != isnan(v)) return false;
        if (v < lo) number_set(f, b->lo, v);
        if (v > hi) number_set(f, b->hi, v);
    }
    return true;
}

static inline bool in_box(const struct boxes *b, const void *point)
{
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *f = &b->model->params.fields[i];
        const double v = is_number(f) ? field_number(f, point) : 0;
        if (is_number(f) && (v < field_number(f, b->lo) || v > field_number(f, b->hi))) return false;
    }
    return true;
}

/* A feasible point in some corner of the model: enumerations, entries and numbers of the defaults changed with probability
 * `share`. False: none was found. */
static inline bool box_base(struct boxes *b, double share)
{
    for (int i = 0; b->corner[0] && i < BOX_TRIES; i++)
        if (random_point(b->model, space_fixed(b->one.space), share, b->corner[0]) && accepts(b, b->corner[0])) return true;
    return false;
}

/* A new box around a feasible point: `share` of its numbers vary, within a factor of `width`. */
static inline bool box_draw(struct boxes *b, double base_share, double share, double width)
{
    bool varies[SPACE_AXES_MAX] = {false};
    if (!box_base(b, base_share)) return false;
    for (size_t i = 0; i < b->model->params.n; i++) varies[i] = is_number(&b->model->params.fields[i]) && uniform() < share;
    boxes_copy(b, b->lo, b->corner[0]);
    boxes_copy(b, b->hi, b->corner[0]);
    for (int c = 1; c < BOX_CORNERS; c++) {
        boxes_copy(b, b->corner[c], b->corner[0]);
        for (size_t i = 0; i < b->model->params.n; i++) {
            const struct field *f = &b->model->params.fields[i];
            const double at = is_number(f) ? field_number(f, b->corner[0]) : 0;
            if (varies[i] && !isnan(at)) field_set(f, b->corner[c], value_near(f, at, width));
        }
        resolve(b, b->corner[c]);
        if (!box_include(b, b->corner[c])) return false;
    }
    return true;
}

/* A point of the box into b->point: a corner of the hull, or anything between. False: resolving it leaves the box. */
static inline bool box_point(struct boxes *b, int which)
{
    boxes_copy(b, b->point, which < BOX_CORNERS ? b->corner[which] : b->lo);
    if (which < BOX_CORNERS) return true;
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *f = &b->model->params.fields[i];
        if (!is_number(f)) continue;
        const double lo = field_number(f, b->lo), hi = field_number(f, b->hi), share = uniform();
        if (!(lo < hi)) continue;
        const double v = share < 0.3 ? lo : share > 0.7 ? hi : lo + (hi - lo) * uniform();
        number_set(f, b->point, f->type == DSE_TYPE_I64 ? fmin(hi, floor(v + 0.5)) : fmin(hi, v));
    }
    resolve(b, b->point);
    return in_box(b, b->point);
}

/* Is the metric of the point within its bound? Counts it. */
static inline bool metric_holds(struct boxes *b, size_t at, double slack)
{
    const struct field *f = &b->model->metrics.fields[at];
    if (!is_number(f) || f->without) return true;
    const double v = field_number(f, b->metrics), floor = field_number(f, b->floor), ceiling = field_number(f, b->ceiling);
    if (isnan(v) || isnan(floor)) return true;
    b->pairs++;
    b->asked[at]++;
    b->raised[at] += floor > 0;
    const double raised = floor > 0 ? floor * b->raise : floor, off = slack * fabs(v);
    if (raised <= v + off && v - off <= ceiling) return true;
    b->caught[at]++;
    return false;
}

/* Ask `points` points of the box. Returns the name of a metric that is outside of its bound, or NULL; "feasible": a point is, and
 * the bound says that none is. The point and its metrics stay in *b. */
static inline const char *box_ask(struct boxes *b, int points, double slack)
{
    const struct dse_model *desc = b->model->desc;
    const char *wrong = NULL;
    memset(b->floor, 0, desc->metrics_size);
    memset(b->ceiling, 0, desc->metrics_size);
    dse_bound_nothing(desc->metrics, b->floor, b->ceiling);
    const bool any = desc->bound(b->lo, b->hi, b->floor, b->ceiling);
    b->boxes++;
    b->empty += !any;
    for (int i = 0; i < points && !wrong; i++) {
        if (!box_point(b, i) || !accepts(b, b->point)) continue;
        if (!any) return "feasible";
        memset(b->metrics, 0, desc->metrics_size);
        desc->estimate(b->point, b->metrics, NULL);
        for (size_t k = 0; k < b->model->metrics.n; k++)
            if (!metric_holds(b, k, slack) && !wrong) wrong = b->model->metrics.fields[k].name;
    }
    return wrong;
}

/* What is wrong with it, in words; the caller frees it. */
static inline char *box_text(const struct boxes *b, const char *wrong)
{
    const struct field *f = schema_find(&b->model->metrics, wrong);
    char *text = f ? xasprintf("%s.%s is %.17g, bounded by %.17g and %.17g, over", b->model->desc->name, wrong,
                               field_number(f, b->metrics), field_number(f, b->floor), field_number(f, b->ceiling))
                   : xasprintf("%s: a point is feasible where the bound says that none is, over", b->model->desc->name);
    for (size_t i = 0; i < b->model->params.n; i++) {
        char lo[TEXT_NUMBER_MAX], hi[TEXT_NUMBER_MAX], at[TEXT_NUMBER_MAX];
        const struct field *p = &b->model->params.fields[i];
        const bool same = field_same(p, b->lo, b->hi);
        if (same && field_same(p, b->lo, space_fixed(b->one.space))) continue;
        char *more = same ? xasprintf("%s %s=%s", text, p->name, value_text(p, field_get(p, b->lo), lo))
                          : xasprintf("%s %s=%s..%s (%s)", text, p->name, value_text(p, field_get(p, b->lo), lo),
                                      value_text(p, field_get(p, b->hi), hi), value_text(p, field_get(p, b->point), at));
        free(text);
        text = more;
    }
    return text;
}

#endif
