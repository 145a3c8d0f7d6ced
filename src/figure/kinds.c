#include "figure/kinds.h"

#include "analysis/front.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum {
    CLOUD_MARKS = 500000, /* of a background: more than a picture has dots of the size of a mark */
    LINE_MARKS = 200000,  /* corners of all lines of a picture */
};

static struct cloud *add_layer(struct scene *s, enum layer_style style, size_t max_marks, const char *legend)
{
    struct layer *l = &s->layer[s->n_layers++];
    *l = (struct layer){.style = style, .legend = legend};
    cloud_init(&l->points, max_marks);
    return &l->points;
}

/* The limits of the file, on the scales of the axes; NaN where it gives none. */
struct crop {
    double min_x, max_x, min_y, max_y;
};

static struct crop crop_of(const struct figure *f)
{
    return (struct crop){axis_scale(f->x.scale, f->x.min), axis_scale(f->x.scale, f->x.max), axis_scale(f->y.scale, f->y.min),
                         axis_scale(f->y.scale, f->y.max)};
}

static bool is_inside(const struct crop *c, const struct point *p)
{
    return !(p->x < c->min_x || p->x > c->max_x || p->y < c->min_y || p->y > c->max_y); /* NaN compares false */
}

/* Read all rows into a cloud. Points outside of the limits of the file are left out if `cropped`. */
static bool read_points(struct scene *s, struct rows *rows, const struct query_spec *query, bool cropped, struct cloud *cloud,
                        struct diags *diags)
{
    struct crop crop = crop_of(s->figure);
    struct points points;
    struct point p;
    int more;
    if (!points_open(&points, s->figure, query, rows, &s->series, diags)) return false;
    while ((more = points_next(&points, &p, diags)) > 0)
        if (!cropped || is_inside(&crop, &p)) cloud_add(cloud, p.x, p.y, p.series);
    if (query == &s->figure->query) {
        s->n_rows = points.n_rows;
        s->n_used = points.n_used;
    }
    return more == 0 && points_finish(&points, diags);
}

/* ---- pareto ----------------------------------------------------------------------------------------------------------- */

static bool need_better(const struct scene *s, const struct column_spec *c, enum better better, const char *key,
                        struct diags *diags)
{
    if (better != BETTER_UNKNOWN) return true;
    return diags_input(diags, c->loc, s->figure->doc->text,
                       "write x = { column = \"...\", better = \"min\" } or \"max\", or give the front with front_sql",
                       "%s: whether less or more of %s is better is not known, so the front cannot be found", key, c->column);
}

/* The front of x and y in each series, out of every row, whatever of the cloud is thinned away. */
struct fronts {
    struct front *front[SERIES_MAX];
    uint64_t n[SERIES_MAX];
};

static void add_to_front(struct fronts *fronts, const struct scene *s, const struct point *p)
{
    if (!fronts->front[p->series])
        fronts->front[p->series] = front_new(2, (bool[]){s->better_x == BETTER_MAX, s->better_y == BETTER_MAX});
    front_add(fronts->front[p->series], fronts->n[p->series]++, (double[]){p->x, p->y});
}

static void finish_fronts(struct fronts *fronts, struct cloud *ret)
{
    for (uint32_t i = 0; i < SERIES_MAX; i++) {
        if (!fronts->front[i]) continue;
        const uint64_t *ids;
        const double *values;
        size_t n = front_finish(fronts->front[i], &ids, &values);
        for (size_t j = 0; j < n; j++) cloud_add(ret, values[2 * j], values[2 * j + 1], i);
        front_free(fronts->front[i]);
    }
}

static bool build_with_fronts(struct scene *s, struct rows *rows, struct diags *diags)
{
    const struct figure *f = s->figure;
    bool x = need_better(s, &f->x, s->better_x, "x", diags), y = need_better(s, &f->y, s->better_y, "y", diags);
    struct points points;
    if (!points_open(&points, f, &f->query, rows, &s->series, diags) || !x || !y) return false;
    struct cloud *cloud = add_layer(s, LAYER_TINT, CLOUD_MARKS, "design points");
    struct fronts fronts = {0};
    struct crop crop = crop_of(f);
    struct point p;
    int more;
    while ((more = points_next(&points, &p, diags)) > 0) {
        if (!is_inside(&crop, &p)) continue;
        cloud_add(cloud, p.x, p.y, p.series);
        add_to_front(&fronts, s, &p);
    }
    s->n_rows = points.n_rows;
    s->n_used = points.n_used;
    finish_fronts(&fronts, add_layer(s, LAYER_STEPS, SIZE_MAX, "Pareto front"));
    return more == 0 && points_finish(&points, diags);
}

/* Is a given front one of x and y alone, in each series? Then it has steps. A front under more objectives need not be. */
static bool has_steps(const struct scene *s, const struct cloud *front)
{
    if (s->better_x == BETTER_UNKNOWN || s->better_y == BETTER_UNKNOWN) return false;
    uint32_t rank[SERIES_MAX];
    for (uint32_t i = 0; i < SERIES_MAX; i++) rank[i] = i;
    struct mark *m = cloud_sorted(front, rank);
    double direction = s->better_x == s->better_y ? -1 : 1; /* of y along x */
    bool steps = true;
    for (size_t i = 1; i < front->n && steps; i++)
        steps = m[i].series != m[i - 1].series || (m[i].x > m[i - 1].x && (m[i].y - m[i - 1].y) * direction > 0);
    free(m);
    return steps;
}

static bool build_pareto(struct scene *s, const struct inputs *in, struct diags *diags)
{
    if (!in->front) return build_with_fronts(s, in->query, diags);
    const struct figure *f = s->figure;
    bool cloud = read_points(s, in->query, &f->query, true, add_layer(s, LAYER_TINT, CLOUD_MARKS, "design points"), diags);
    struct cloud *front = add_layer(s, LAYER_FRONT, SIZE_MAX, "Pareto front");
    if (!read_points(s, in->front, &f->front, true, front, diags) || !cloud) return false;
    if (has_steps(s, front)) s->layer[s->n_layers - 1].style = LAYER_STEPS;
    return true;
}

/* ---- scatter, lines --------------------------------------------------------------------------------------------------- */

static bool build_scatter(struct scene *s, const struct inputs *in, struct diags *diags)
{
    return read_points(s, in->query, &s->figure->query, true, add_layer(s, LAYER_MARKS, CLOUD_MARKS, NULL), diags);
}

static bool build_lines(struct scene *s, const struct inputs *in, struct diags *diags)
{
    /* A line that leaves the picture is cut at its edge: the points outside are needed. */
    return read_points(s, in->query, &s->figure->query, false, add_layer(s, LAYER_LINES, LINE_MARKS, NULL), diags);
}

/* ---- the table -------------------------------------------------------------------------------------------------------- */

static const struct kind kinds[] = {
    {"pareto", true, build_pareto},
    {"scatter", false, build_scatter},
    {"lines", false, build_lines},
};
static_assert(COUNT(kinds) <= KINDS_MAX, "kinds_names() fills an array of KINDS_MAX");

size_t kinds_names(const char **ret)
{
    for (size_t i = 0; i < COUNT(kinds); i++) ret[i] = kinds[i].name;
    return COUNT(kinds);
}

const struct kind *kinds_at(size_t i)
{
    return &kinds[i];
}

/* ---- scenes ----------------------------------------------------------------------------------------------------------- */

bool scene_build(struct scene *ret, const struct figure *f, const struct inputs *in, enum better better_x, enum better better_y,
                 struct diags *diags)
{
    *ret = (struct scene){.figure = f};
    ret->better_x = f->x.better != BETTER_UNKNOWN ? f->x.better : better_x;
    ret->better_y = f->y.better != BETTER_UNKNOWN ? f->y.better : better_y;
    series_init(&ret->series);
    if (!f->kind->build(ret, in, diags)) return false;
    if (!f->series.column) series_text(&ret->series, "");
    series_sort(&ret->series);
    size_t marks = 0;
    for (size_t i = 0; i < ret->n_layers; i++) marks += ret->layer[i].points.n;
    if (marks) return true;
    return diags_input(diags, f->query.loc, f->doc->text, NULL, "sql: none of its %llu rows lies within min and max of x and y",
                       (unsigned long long)ret->n_used);
}

void scene_fit_axes(struct scene *s, int ticks_x, int ticks_y, const char *unit_x, const char *unit_y)
{
    double low_x = HUGE_VAL, high_x = -HUGE_VAL, low_y = HUGE_VAL, high_y = -HUGE_VAL;
    for (size_t i = 0; i < s->n_layers; i++) {
        const struct cloud *c = &s->layer[i].points;
        low_x = fmin(low_x, c->min_x);
        high_x = fmax(high_x, c->max_x);
        low_y = fmin(low_y, c->min_y);
        high_y = fmax(high_y, c->max_y);
    }
    const struct figure *f = s->figure;
    axis_fit(&s->x, &f->x, low_x, high_x, ticks_x);
    axis_fit(&s->y, &f->y, low_y, high_y, ticks_y);
    axis_set_label(&s->x, &f->x, unit_x);
    axis_set_label(&s->y, &f->y, unit_y);
}

void scene_release(struct scene *s)
{
    for (size_t i = 0; i < s->n_layers; i++) cloud_release(&s->layer[i].points);
    series_release(&s->series);
    axis_release(&s->x);
    axis_release(&s->y);
}
