/* What a model says of boxes: exact fronts rest on it (dse_model.bound). */
#include "prove/prove_internal.h"

#include <dse/bound.h>
#include <dse/num.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A box between two points, and what holds in it. */
struct box {
    const struct model *m;
    void *corner[2]; /* the first is feasible */
    void *lo, *hi, *metrics, *floor, *ceiling;
};

static struct box box_of(const struct model *m)
{
    const size_t params = m->desc->params_size, metrics = m->desc->metrics_size;
    return (struct box){m,
                        {xcalloc(1, params), xcalloc(1, params)},
                        xcalloc(1, params),
                        xcalloc(1, params),
                        xcalloc(1, metrics),
                        xcalloc(1, metrics),
                        xcalloc(1, metrics)};
}

static void box_release(struct box *b)
{
    free(b->corner[0]);
    free(b->corner[1]);
    free(b->lo);
    free(b->hi);
    free(b->metrics);
    free(b->floor);
    free(b->ceiling);
}

static void set_number(const struct field *f, void *params, double v)
{
    field_set(f, params, f->type == DSE_TYPE_I64 ? (struct value){.i64 = (int64_t)v} : (struct value){.f64 = v});
}

/* The second corner: some numbers of the first, up to half as large again. */
static void draw_corner(const struct box *b, uint64_t *seed)
{
    const double share = 0.2, most = 1.5;
    memcpy(b->corner[1], b->corner[0], b->m->desc->params_size);
    for (size_t i = 0; i < b->m->params.n; i++) {
        const struct field *f = &b->m->params.fields[i];
        if (!field_is_number(f) || isnan(field_number(f, b->corner[0])) || random_uniform(seed) > share) continue;
        const double v = dse_clamp(field_number(f, b->corner[0]) * (1 + (most - 1) * random_uniform(seed)), f->min, f->max);
        set_number(f, b->corner[1], f->type == DSE_TYPE_I64 ? ceil(v) : v);
    }
    if (b->m->desc->resolve) b->m->desc->resolve(b->corner[1]);
}

/* The hull of both corners. False: a number is at one of them alone. */
static bool enclose(const struct box *b)
{
    memcpy(b->lo, b->corner[0], b->m->desc->params_size);
    memcpy(b->hi, b->corner[0], b->m->desc->params_size);
    for (size_t i = 0; i < b->m->params.n; i++) {
        const struct field *f = &b->m->params.fields[i];
        if (!field_is_number(f)) continue;
        const double at = field_number(f, b->corner[0]), v = field_number(f, b->corner[1]);
        if ((isnan(at) != 0) != (isnan(v) != 0)) return false;
        if (v < at) set_number(f, b->lo, v);
        if (v > at) set_number(f, b->hi, v);
    }
    return true;
}

static void say_sides(const struct box *b, struct text *ret)
{
    for (size_t i = 0; i < b->m->params.n; i++) {
        const struct field *f = &b->m->params.fields[i];
        const double lo = field_number(f, b->lo), hi = field_number(f, b->hi);
        if (field_is_number(f) && lo < hi) text_addf(ret, "%s%s from %.17g to %.17g", *ret->s ? ", " : "", f->name, lo, hi);
    }
    if (!*ret->s) text_add(ret, "a single point");
}

/* Do the metrics of a feasible corner lie in the bound? */
static bool hold_corner(const struct box *b, const void *params, struct diags *diags)
{
    const double slack = 1e-9;
    struct text sides;
    bool ok = true;
    if (b->m->desc->check && b->m->desc->check(params)) return true;
    memset(b->metrics, 0, b->m->desc->metrics_size);
    b->m->desc->estimate(params, b->metrics, NULL);
    text_init(&sides);
    say_sides(b, &sides);
    for (size_t i = 0; i < b->m->metrics.n && ok; i++) {
        const struct field *f = &b->m->metrics.fields[i];
        if (f->type != DSE_TYPE_F64 || f->without) continue;
        const double v = field_number(f, b->metrics), lo = field_number(f, b->floor), hi = field_number(f, b->ceiling);
        if (isnan(v) || isnan(lo) || (v >= lo - slack * fabs(lo) && v <= hi + slack * fabs(hi))) continue;
        ok = prove_fail(b->m, diags, "%s is %.12g at a point, and its bound is %.12g to %.12g (bound); the box: %s", f->name, v, lo,
                        hi, sides.s);
    }
    text_release(&sides);
    return ok;
}

static bool hold_box(const struct box *b, struct diags *diags)
{
    memset(b->floor, 0, b->m->desc->metrics_size);
    memset(b->ceiling, 0, b->m->desc->metrics_size);
    dse_bound_nothing(b->m->desc->metrics, b->floor, b->ceiling);
    if (!b->m->desc->bound(b->lo, b->hi, b->floor, b->ceiling))
        return prove_fail(b->m, diags, "its bound says of a box with a feasible point that it has none");
    return hold_corner(b, b->corner[0], diags) && hold_corner(b, b->corner[1], diags);
}

/* Bounds hold at single points, and at both corners of boxes. */
bool prove_bounds(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    enum { TRIALS = 4000 };
    if (!m->desc->bound) {
        text_add(note, "it has none, and no exact fronts");
        return true;
    }
    uint64_t seed = 42;
    void *base = prove_point(m, catalog, NULL, 0, diags);
    struct box b = box_of(m);
    size_t boxes = 0;
    bool ok = base != NULL;
    for (int trial = 0; ok && trial < TRIALS; trial++) {
        if (!random_point_of(m, catalog, base, trial % 2 ? 0.3 : 0.05, &seed, b.corner[0])) continue;
        if (trial % 4)
            draw_corner(&b, &seed);
        else
            memcpy(b.corner[1], b.corner[0], m->desc->params_size);
        if (!enclose(&b)) continue;
        boxes++;
        ok = hold_box(&b, diags);
    }
    text_addf(note, "%zu boxes", boxes);
    box_release(&b);
    free(base);
    return ok;
}
