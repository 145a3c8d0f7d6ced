#include "figure/kinds_internal.h"

#include "analysis/front.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

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
    if (!points_open(&points, f, &f->query, rows, &s->names, diags) || !x || !y) return false;
    struct cloud *cloud = scene_add_cloud(s, LAYER_TINT, CLOUD_MARKS, "design points");
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
        steps = m[i].series != m[i - 1].series || (m[i].x > m[i - 1].x && (m[i].y - m[i - 1].y) * direction > 0);
    free(m);
    return steps;
}

bool build_pareto(struct scene *s, const struct inputs *in, struct diags *diags)
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

bool build_scatter(struct scene *s, const struct inputs *in, struct diags *diags)
{
    return read_points(s, in->query, &s->figure->query, true, scene_add_cloud(s, LAYER_MARKS, CLOUD_MARKS, NULL), diags);
}

/* y over that of the series `normalize` at the same x. */
static bool build_normalized_lines(struct scene *s, struct rows *rows, struct cloud *cloud, struct diags *diags)
{
    struct point_list list;
    bool ok = scene_collect(s, rows, &s->figure->query, &list, diags) && scene_normalize(s, &list, diags);
    for (size_t i = 0; ok && i < list.n; i++) cloud_add(cloud, list.point[i].x, list.point[i].y, list.point[i].series);
    free(list.point);
    return ok;
}

bool build_lines(struct scene *s, const struct inputs *in, struct diags *diags)
{
    struct cloud *cloud = scene_add_cloud(s, LAYER_LINES, LINE_MARKS, NULL);
    if (s->figure->normalize) return build_normalized_lines(s, in->query, cloud, diags);
    /* A line that leaves the picture is cut at its edge: the points outside are needed. */
    return read_points(s, in->query, &s->figure->query, false, cloud, diags);
}

/* ---- layers ------------------------------------------------------------------------------------------------------------ */

struct layer *scene_add_layer(struct scene *s, enum layer_style style, const char *legend)
{
    assert(s->n_layers < LAYERS_MAX);
    struct layer *l = &s->layer[s->n_layers++];
    *l = (struct layer){.style = style, .legend = legend};
    return l;
}

struct cloud *scene_add_cloud(struct scene *s, enum layer_style style, size_t max_marks, const char *legend)
{
    struct layer *l = scene_add_layer(s, style, legend);
    cloud_init(&l->points, max_marks);
    s->main = s->n_layers - 1;
    return &l->points;
}

bool scene_collect(struct scene *s, struct rows *rows, const struct query_spec *query, struct point_list *ret, struct diags *diags)
{
    struct points points;
    struct point p;
    int more;
    *ret = (struct point_list){0};
    if (!points_open(&points, s->figure, query, rows, &s->names, diags)) return false;
    size_t capacity = 0;
    while ((more = points_next(&points, &p, diags)) > 0) {
        if (ret->n == COLLECT_MAX) {
            diags_input(diags, query->loc, s->figure->doc->text, "aggregate them in the query",
                        "the query gives more than %d rows, the most that a figure of kind \"%s\" can show", COLLECT_MAX,
                        s->figure->kind->name);
            return false;
        }
        if (ret->n == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            ret->point = xrealloc(ret->point, capacity, sizeof *ret->point);
        }
        ret->point[ret->n++] = p;
    }
    if (query == &s->figure->query) {
        s->n_rows = points.n_rows;
        s->n_used = points.n_used;
    }
    return more == 0 && points_finish(&points, diags);
}

/* ---- the table -------------------------------------------------------------------------------------------------------- */

enum { XY = KIND_REFERENCE | KIND_BANDS };

static const struct kind kinds[] = {
    {"pareto", XY | KIND_FRONT, build_pareto},
    {"scatter", XY, build_scatter},
    {"lines", XY | KIND_NORMALIZE, build_lines},
    {"bars", KIND_QUOTED | KIND_CATEGORY_X | KIND_REFERENCE, build_bars},
    {"grouped-bars", KIND_QUOTED | KIND_CATEGORY_X | KIND_REFERENCE | KIND_NORMALIZE, build_grouped_bars},
    {"stacked-bars", KIND_QUOTED | KIND_CATEGORY_X | KIND_REFERENCE | KIND_GROUP, build_stacked_bars},
    {"heatmap", KIND_VALUE, build_heatmap},
    {"contour", KIND_VALUE, build_contour},
    {"interval-map", 0, build_interval_map},
    {"gantt", KIND_CATEGORY_Y | KIND_END, build_gantt},
    {"parallel", KIND_COLUMNS, build_parallel},
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

/* The published points of kinds with axes of numbers; bars place theirs themselves. */
static bool add_published(struct scene *s, const struct inputs *in, struct diags *diags)
{
    if (!in->reference || s->figure->kind->has & KIND_CATEGORY_X) return true;
    size_t main = s->main;
    struct cloud *cloud = scene_add_cloud(s, LAYER_PUBLISHED, SIZE_MAX, scene_published(s->figure));
    s->main = main;
    return read_points(s, in->reference, &s->figure->reference, true, cloud, diags);
}

const char *scene_published(const struct figure *f)
{
    return f->reference_label ? f->reference_label : "published";
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

/* Widen [*low, *high] to a value that is finite. */
static void widen(double *low, double *high, double v)
{
    if (!isfinite(v)) return;
    *low = fmin(*low, v);
    *high = fmax(*high, v);
}

void scene_fit_axes(struct scene *s, int ticks_x, int ticks_y, const char *unit_x, const char *unit_y)
{
    double low_x = HUGE_VAL, high_x = -HUGE_VAL, low_y = HUGE_VAL, high_y = -HUGE_VAL, low_z = HUGE_VAL, high_z = -HUGE_VAL;
    for (size_t i = 0; i < s->n_layers; i++) {
        const struct layer *l = &s->layer[i];
        if (l->points.capacity) {
            widen(&low_x, &high_x, l->points.min_x), widen(&low_x, &high_x, l->points.max_x);
            widen(&low_y, &high_y, l->points.min_y), widen(&low_y, &high_y, l->points.max_y);
        }
        for (size_t k = 0; k < l->n_boxes; k++) {
            const struct box *b = &l->boxes[k];
            widen(&low_x, &high_x, b->x0), widen(&low_x, &high_x, b->x1);
            widen(&low_y, &high_y, b->y0), widen(&low_y, &high_y, b->y1);
            widen(&low_z, &high_z, b->value);
        }
    }
    const struct figure *f = s->figure;
    for (size_t i = 0; i < s->n_notes && !s->grid;
         i++) { /* what stands beside the data is seen, too; a grid has no room beside it */
        widen(&low_x, &high_x, s->note[i].x);
        widen(&low_y, &high_y, s->note[i].y);
    }
    if (f->kind->has & KIND_CATEGORY_X && f->y.scale == SCALE_LOG) low_y = floor(low_y - 0.01); /* the lowest bar is seen, too */
    if (f->kind->has & KIND_COLUMNS)
        scene_fit_columns(s, ticks_y);
    else if (f->kind->has & KIND_CATEGORY_X)
        scene_fit_categories(s);
    else
        (s->grid ? axis_fit_exactly : axis_fit)(&s->x, &f->x, low_x, high_x, ticks_x);
    if (f->kind->has & KIND_CATEGORY_Y)
        axis_fit_names(&s->y, &s->names.y, true);
    else if (!(f->kind->has & KIND_COLUMNS))
        (s->grid ? axis_fit_exactly : axis_fit)(&s->y, &f->y, low_y, high_y, ticks_y);
    if (f->kind->has & KIND_VALUE) axis_fit_exactly(&s->z, &f->value, low_z, high_z, ticks_y);
    if (f->kind->build == build_contour) add_contours(s);
    if (f->kind->has & KIND_COLUMNS) return;
    axis_set_label(&s->x, &f->x, unit_x);
    axis_set_label(&s->y, &f->y, unit_y);
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
    series_release(&s->band_names);
    axis_release(&s->x);
    axis_release(&s->y);
    axis_release(&s->z);
}
