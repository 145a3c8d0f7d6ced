/* A model in TOML by its graph and by its walk, at a point and over a box. */
#ifndef DSE_TESTS_WALK_POINTS_H
#define DSE_TESTS_WALK_POINTS_H

#include "bound_boxes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline void fail_at(const struct boxes *b, const char *what, double walked, double graph)
{
    char *text = box_text(b, what);
    print_error("%.17g walked, %.17g by the graph: %s\n", walked, graph, text);
    free(text);
    fail();
}

static inline bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The graph leaves out what changes nothing, as a factor of 1, and with it a rounding outward. */
static inline bool near(double a, double b)
{
    return same(a, b) || fabs(a - b) <= 1e-12 * fabs(b);
}

/* The metrics by both at the point; false: it is refused. */
static inline bool compare_points(struct boxes *b, const void *point, void *walked)
{
    const struct dse_model *plain = b->model->plain, *desc = b->model->desc;
    const char *why = desc->check(point), *plain_why = plain->check(point);
    boxes_copy(b, b->lo, point);
    boxes_copy(b, b->hi, point);
    if (why != plain_why) fail_at(b, "the reason", 0, 0);
    if (why) return false;
    desc->estimate(point, b->metrics, NULL);
    plain->estimate(point, walked, NULL);
    for (size_t k = 0; k < b->model->metrics.n; k++) {
        const struct field *f = &b->model->metrics.fields[k];
        if (!is_number(f) || f->without) continue;
        const double x = field_number(f, walked), y = field_number(f, b->metrics);
        if (!same(x, y)) fail_at(b, f->name, x, y);
    }
    return true;
}

/* The bounds of the box at hand by both; room for those of the walk. */
static inline void compare_bounds(struct boxes *b, void *floor, void *ceiling)
{
    const bool some = b->model->desc->bound(b->lo, b->hi, b->floor, b->ceiling);
    if (b->model->plain->bound(b->lo, b->hi, floor, ceiling) != some) fail_at(b, "whether there are points", 0, 0);
    for (size_t m = 0; m < b->model->metrics.n && some; m++) {
        const struct field *f = &b->model->metrics.fields[m];
        if (!is_number(f) || f->without) continue;
        const double lo = field_number(f, floor), hi = field_number(f, ceiling), graph_lo = field_number(f, b->floor),
                     graph_hi = field_number(f, b->ceiling);
        if (!near(lo, graph_lo) || !near(hi, graph_hi)) fail_at(b, f->name, lo, graph_lo);
    }
}

#endif
