#include "figure/kinds_internal.h"

#include "analysis/front.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum {
    CLOUD_MARKS = 500000, /* of a background: more than a picture has dots of the size of a mark */
    LINE_MARKS = 200000,  /* corners of all lines of a picture */
};

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

/* The series of a point as a mark has it; notes that there are lossy ones. */
static uint32_t series_of(struct scene *s, const struct point *p)
{
    s->lossy |= p->lossy;
    return p->series | (p->lossy ? MARK_LOSSY : 0);
}

/* Read all rows into a cloud. Points outside of the limits of the file are left out if `cropped`. */
static bool read_points(struct scene *s, struct rows *rows, const struct query_spec *query, bool cropped, struct cloud *cloud,
                        struct diags *diags)
{
    struct crop crop = crop_of(s->figure);
    struct points points;
    struct point p;
    int more;
    if (!points_open(&points, s->figure, query, rows, &s->names, diags)) return false;
    while ((more = points_next(&points, &p, diags)) > 0)
        if (!cropped || is_inside(&crop, &p)) cloud_add(cloud, p.x, p.y, series_of(s, &p));
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
    uint64_t n[SERIES_MAX], capacity[SERIES_MAX];
    bool *lossy[SERIES_MAX]; /* of each point */
};

static void add_to_front(struct fronts *fronts, const struct scene *s, const struct point *p)
{
    uint64_t *capacity = &fronts->capacity[p->series];
    if (fronts->n[p->series] == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 1024;
        fronts->lossy[p->series] = xrealloc(fronts->lossy[p->series], *capacity, sizeof(bool));
    }
    fronts->lossy[p->series][fronts->n[p->series]] = p->lossy;
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
        for (size_t j = 0; j < n; j++)
            cloud_add(ret, values[2 * j], values[2 * j + 1], i | (fronts->lossy[i] && fronts->lossy[i][ids[j]] ? MARK_LOSSY : 0));
        front_free(fronts->front[i]);
        free(fronts->lossy[i]);
    }
}

static bool build_with_fronts(struct scene *s, struct rows *rows, struct diags *diags)
{
    const struct figure *f = s->figure;
    bool x = need_better(s, &f->x, s->better_x, "x", diags), y = need_better(s, &f->y, s->better_y, "y", diags);
    struct points points;
    if (!points_open(&points, f, &f->query, rows, &s->names, diags) || !x || !y) return false;
    struct cloud *cloud = scene_add_cloud(s, LAYER_TINT, CLOUD_MARKS, "design points");
    struct fronts fronts = {0};
    struct crop crop = crop_of(f);
    struct point p;
    int more;
    while ((more = points_next(&points, &p, diags)) > 0) {
        if (!is_inside(&crop, &p)) continue;
        cloud_add(cloud, p.x, p.y, series_of(s, &p));
        add_to_front(&fronts, s, &p);
    }
    s->n_rows = points.n_rows;
    s->n_used = points.n_used;
    finish_fronts(&fronts, scene_add_cloud(s, LAYER_STEPS, SIZE_MAX, "Pareto front"));
    return more == 0 && points_finish(&points, diags);
}

/* Is a given front one of x and y alone? Then it has steps. A front under more objectives need not be, and one of several series
 * may be a front of all of them together, of which each has but some points. */
static bool has_steps(const struct scene *s, const struct cloud *front)
{
    if (s->names.series.n > 1 || s->better_x == BETTER_UNKNOWN || s->better_y == BETTER_UNKNOWN) return false;
    uint32_t rank[SERIES_MAX];
    for (uint32_t i = 0; i < SERIES_MAX; i++) rank[i] = i;
    struct mark *m = cloud_sorted(front, rank);
    double direction = s->better_x == s->better_y ? -1 : 1; /* of y along x */
    bool steps = true;
    for (size_t i = 1; i < front->n && steps; i++)
        steps = mark_series(&m[i]) != mark_series(&m[i - 1]) || (m[i].x > m[i - 1].x && (m[i].y - m[i - 1].y) * direction > 0);
    free(m);
    return steps;
}

static bool build_pareto(struct scene *s, const struct inputs *in, struct diags *diags)
{
    if (!in->front) return build_with_fronts(s, in->query, diags);
    const struct figure *f = s->figure;
    bool cloud = read_points(s, in->query, &f->query, true, scene_add_cloud(s, LAYER_TINT, CLOUD_MARKS, "design points"), diags);
    struct cloud *front = scene_add_cloud(s, LAYER_FRONT, SIZE_MAX, "Pareto front");
    if (!read_points(s, in->front, &f->front, true, front, diags) || !cloud) return false;
    if (has_steps(s, front)) s->layer[s->n_layers - 1].style = LAYER_STEPS;
    return true;
}

/* ---- scatter, lines --------------------------------------------------------------------------------------------------- */

static bool build_scatter(struct scene *s, const struct inputs *in, struct diags *diags)
{
    return read_points(s, in->query, &s->figure->query, true, scene_add_cloud(s, LAYER_MARKS, CLOUD_MARKS, NULL), diags);
}

/* y over that of the series `normalize` at the same x. */
static bool build_normalized_lines(struct scene *s, struct rows *rows, struct cloud *cloud, struct diags *diags)
{
    struct point_list list;
    bool ok = scene_collect(s, rows, &s->figure->query, &list, diags) && scene_normalize(s, &list, diags);
    for (size_t i = 0; ok && i < list.n; i++) cloud_add(cloud, list.point[i].x, list.point[i].y, series_of(s, &list.point[i]));
    free(list.point);
    return ok;
}

static bool build_lines(struct scene *s, const struct inputs *in, struct diags *diags)
{
    struct cloud *cloud = scene_add_cloud(s, LAYER_LINES, LINE_MARKS, NULL);
    if (s->figure->normalize) return build_normalized_lines(s, in->query, cloud, diags);
    /* A line that leaves the picture is cut at its edge: the points outside are needed. */
    return read_points(s, in->query, &s->figure->query, false, cloud, diags);
}

/* ---- layers ------------------------------------------------------------------------------------------------------------ */

/* ---- axes ------------------------------------------------------------------------------------------------------------- */

/* Widen the extent to a value, if that is finite. */
static void widen(struct extent *e, double v)
{
    if (!isfinite(v)) return;
    e->low = fmin(e->low, v);
    e->high = fmax(e->high, v);
}

static struct extents extents_of(const struct scene *s)
{
    const struct extent none = {HUGE_VAL, -HUGE_VAL};
    struct extents e = {none, none, none};
    for (size_t i = 0; i < s->n_layers; i++) {
        const struct layer *l = &s->layer[i];
        if (l->points.capacity) {
            widen(&e.x, l->points.min_x), widen(&e.x, l->points.max_x);
            widen(&e.y, l->points.min_y), widen(&e.y, l->points.max_y);
        }
        for (size_t k = 0; k < l->n_boxes; k++) {
            const struct box *b = &l->boxes[k];
            widen(&e.x, b->x0), widen(&e.x, b->x1);
            widen(&e.y, b->y0), widen(&e.y, b->y1);
            widen(&e.z, b->value);
        }
    }
    for (size_t i = 0; i < s->n_notes && !s->grid;
         i++) { /* what stands beside the data is seen, too; a grid has no room beside it */
        widen(&e.x, s->note[i].x);
        widen(&e.y, s->note[i].y);
    }
    return e;
}

static void fit_number(const struct scene *s, struct axis *a, const struct column_spec *c, struct extent e, int ticks)
{
    (s->grid ? axis_fit_exactly : axis_fit)(a, c, e.low, e.high, ticks);
}

static void fit_numbers(struct scene *s, const struct extents *e, int ticks_x, int ticks_y)
{
    fit_number(s, &s->x, &s->figure->x, e->x, ticks_x);
    fit_number(s, &s->y, &s->figure->y, e->y, ticks_y);
}

static void fit_bars(struct scene *s, const struct extents *e, int ticks_x, int ticks_y)
{
    struct extent y = e->y;
    (void)ticks_x;
    if (s->figure->y.scale == SCALE_LOG) y.low = floor(y.low - 0.01); /* the lowest bar is seen, too */
    scene_fit_categories(s);
    fit_number(s, &s->y, &s->figure->y, y, ticks_y);
}

static void fit_rows_of_names(struct scene *s, const struct extents *e, int ticks_x, int ticks_y)
{
    (void)ticks_y;
    fit_number(s, &s->x, &s->figure->x, e->x, ticks_x);
    axis_fit_names(&s->y, &s->names.y, true);
}

static void fit_cells(struct scene *s, const struct extents *e, int ticks_x, int ticks_y)
{
    fit_numbers(s, e, ticks_x, ticks_y);
    axis_fit_exactly(&s->z, &s->figure->value, e->z.low, e->z.high, ticks_y);
}

static void fit_contour(struct scene *s, const struct extents *e, int ticks_x, int ticks_y)
{
    fit_cells(s, e, ticks_x, ticks_y);
    add_contours(s);
}

static void fit_parallel(struct scene *s, const struct extents *e, int ticks_x, int ticks_y)
{
    (void)e;
    (void)ticks_x;
    scene_fit_columns(s, ticks_y);
}

/* ---- the table -------------------------------------------------------------------------------------------------------- */

#define KEYS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }
#define XY KEYS("x", "y")
#define Z(column) .z = #column, .z_at = offsetof(struct figure, column)

static const struct kind kinds[] = {
    {.name = "pareto",
     .needs = XY,
     .takes = KEYS("front_sql", "reference_sql", "band_sql"),
     .build = build_pareto,
     .fit = fit_numbers},
    {.name = "scatter", .needs = XY, .takes = KEYS("reference_sql", "band_sql"), .build = build_scatter, .fit = fit_numbers},
    {.name = "lines",
     .needs = XY,
     .takes = KEYS("normalize", "reference_sql", "band_sql"),
     .build = build_lines,
     .fit = fit_numbers},
    {.name = "bars",
     .needs = XY,
     .takes = KEYS("quoted", "reference_sql"),
     .names_x = true,
     .own_published = true,
     .build = build_bars,
     .fit = fit_bars},
    {.name = "grouped-bars",
     .needs = XY,
     .takes = KEYS("quoted", "normalize", "reference_sql"),
     .names_x = true,
     .own_published = true,
     .build = build_grouped_bars,
     .fit = fit_bars},
    {.name = "stacked-bars",
     .needs = XY,
     .takes = KEYS("group", "quoted", "reference_sql"),
     .names_x = true,
     .own_published = true,
     .build = build_stacked_bars,
     .fit = fit_bars},
    {.name = "heatmap",
     .needs = KEYS("x", "y", "value"),
     Z(value),
     .colours_values = true,
     .build = build_heatmap,
     .fit = fit_cells},
    {.name = "contour",
     .needs = KEYS("x", "y", "value"),
     Z(value),
     .colours_values = true,
     .build = build_contour,
     .fit = fit_contour},
    {.name = "interval-map", .needs = XY, .build = build_interval_map, .fit = fit_numbers},
    {.name = "gantt", .needs = KEYS("x", "y", "end"), Z(end), .names_y = true, .build = build_gantt, .fit = fit_rows_of_names},
    {.name = "parallel", .needs = KEYS("columns"), .build = build_parallel, .fit = fit_parallel},
};
static_assert(COUNT(kinds) <= KINDS_MAX, "kinds_names() fills an array of KINDS_MAX");

size_t kinds_names(const char **ret)
{
    for (size_t i = 0; i < COUNT(kinds); i++) ret[i] = kinds[i].name;
    return COUNT(kinds);
}

static bool has_word(const char *const *words, const char *word)
{
    for (; words && *words; words++)
        if (strcmp(*words, word) == 0) return true;
    return false;
}

bool kind_takes(const struct kind *k, const char *key)
{
    return has_word(k->needs, key) || has_word(k->takes, key);
}

const struct kind *kinds_at(size_t i)
{
    return &kinds[i];
}

/* ---- scenes ----------------------------------------------------------------------------------------------------------- */

/* The published points, where the kind does not place them itself. */
static bool add_published(struct scene *s, const struct inputs *in, struct diags *diags)
{
    if (!in->reference || s->figure->kind->own_published) return true;
    size_t main = s->main;
    struct cloud *cloud = scene_add_cloud(s, LAYER_PUBLISHED, SIZE_MAX, scene_published(s->figure));
    s->main = main;
    return read_points(s, in->reference, &s->figure->reference, true, cloud, diags);
}

bool scene_build(struct scene *ret, const struct figure *f, const struct inputs *in, enum better better_x, enum better better_y,
                 struct diags *diags)
{
    *ret = (struct scene){.figure = f};
    ret->better_x = f->x.better != BETTER_UNKNOWN ? f->x.better : better_x;
    ret->better_y = f->y.better != BETTER_UNKNOWN ? f->y.better : better_y;
    names_init(&ret->names);
    series_init(&ret->band_names);
    if (!f->kind->build(ret, in, diags) || !add_published(ret, in, diags) || !scene_add_notes(ret, in, diags)) return false;
    if (!f->series.column) series_text(&ret->names.series, "");
    if (f->series_in_row_order)
        series_keep_order(&ret->names.series);
    else
        series_sort(&ret->names.series);
    names_show(&ret->names, f);
    size_t marks = 0;
    for (size_t i = 0; i < ret->n_layers; i++) marks += ret->layer[i].points.n + ret->layer[i].n_boxes + ret->layer[i].n_path;
    if (marks) return true;
    return diags_input(diags, f->query.loc, f->doc->text, NULL, "sql: none of its %llu rows lies within min and max of x and y",
                       (unsigned long long)ret->n_used);
}

void scene_fit_axes(struct scene *s, int ticks_x, int ticks_y, const char *unit_x, const char *unit_y)
{
    const struct figure *f = s->figure;
    struct extents e = extents_of(s);
    f->kind->fit(s, &e, ticks_x, ticks_y);
    if (f->x.column) axis_set_label(&s->x, &f->x, unit_x);
    if (f->y.column) axis_set_label(&s->y, &f->y, unit_y);
}

void scene_label_value(struct scene *s, const char *unit)
{
    if (s->figure->value.column) axis_set_label(&s->z, &s->figure->value, unit);
}

void scene_release(struct scene *s)
{
    for (size_t i = 0; i < s->n_layers; i++) {
        cloud_release(&s->layer[i].points);
        free(s->layer[i].boxes);
        free(s->layer[i].path);
    }
    for (size_t i = 0; i < s->n_notes; i++) free(s->note[i].text);
    for (size_t i = 0; i < s->n_axes; i++) axis_release(&s->axes[i]);
    names_release(&s->names);
    free(s->budget);
    series_release(&s->band_names);
    axis_release(&s->x);
    axis_release(&s->y);
    axis_release(&s->z);
}
