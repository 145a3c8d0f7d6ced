/* Bars, Gantt charts: boxes over categories. */
#include "figure/kinds_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double category_width = 0.8, bar_gap = 0.06; /* of the distance of categories; of a bar's width, on each side */

/* ---- normalizing ----------------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->group > q->group) - (p->group < q->group);
}

bool scene_normalize(const struct scene *s, struct point_list *list, struct diags *diags)
{
    const struct series *series = &s->names.series;
    uint32_t one = UINT32_MAX;
    for (uint32_t i = 0; i < series->n; i++)
        if (strcmp(series->value[i].name, s->figure->normalize) == 0) one = i;
    if (one == UINT32_MAX)
        return diags_input(diags, s->figure->normalize_loc, s->figure->doc->text, NULL, "normalize: no row is of a series \"%s\"",
                           s->figure->normalize);
    struct point *reference = xcalloc(list->n + 1, sizeof *reference);
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->point[i].series == one) reference[n++] = list->point[i];
    qsort(reference, n, sizeof *reference, by_place);
    enum scale scale = s->figure->y.scale;
    for (size_t i = 0; i < list->n; i++) {
        struct point p = list->point[i];
        const struct point *r = bsearch(&p, reference, n, sizeof *reference, by_place);
        double v = r ? axis_unscale(scale, p.y) / axis_unscale(scale, r->y) : (double)NAN;
        if (!isfinite(v)) continue;
        p.y = axis_scale(scale, v);
        list->point[kept++] = p;
    }
    list->n = kept;
    free(reference);
    return true;
}

/* ---- bars ------------------------------------------------------------------------------------------------------------------ */

enum bars { BARS_ONE, BARS_GROUPED, BARS_STACKED };

/* The column within a category that a point's bar stands in, of *ret_n. */
static uint32_t column_of(const struct scene *s, enum bars how, const struct point *p, size_t *ret_n)
{
    const struct series *names = how == BARS_GROUPED ? &s->names.series : &s->names.group;
    *ret_n = how == BARS_ONE || !names->n ? 1 : names->n;
    return how == BARS_ONE || !names->n ? 0 : names->rank[how == BARS_GROUPED ? p->series : p->group];
}

static struct box bar_at(const struct scene *s, enum bars how, const struct point *p)
{
    size_t n;
    uint32_t column = column_of(s, how, p, &n);
    double width = category_width / (double)n;
    double left = s->names.x.rank[(uint32_t)p->x] - category_width / 2 + column * width;
    bool linear = s->figure->y.scale == SCALE_LINEAR;
    return (struct box){.x0 = left + bar_gap * width,
                        .x1 = left + (1 - bar_gap) * width,
                        .y0 = linear ? 0 : -HUGE_VAL,
                        .y1 = p->y,
                        .series = p->series,
                        .quoted = p->quoted};
}

/* Two rows for one bar: the query forgot a GROUP BY. */
static bool check_single(const struct scene *s, const struct box *boxes, size_t n, struct diags *diags)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (boxes[i].x0 == boxes[k].x0)
                return diags_input(diags, s->figure->query.loc, s->figure->doc->text,
                                   "one row for each x and series: aggregate in the query",
                                   "sql: rows %zu and %zu are the same bar", k + 1, i + 1);
    return true;
}

/* Put the parts of each bar upon each other, in the order of the series; negative ones below. */
static void stack(const struct scene *s, struct box *boxes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double below = 0;
        for (size_t k = 0; k < n; k++) {
            bool same = k != i && boxes[k].x0 == boxes[i].x0 && (boxes[k].value < 0) == (boxes[i].value < 0);
            uint32_t a = s->names.series.rank[boxes[k].series], b = s->names.series.rank[boxes[i].series];
            if (same && (a < b || (a == b && k < i))) below += boxes[k].value;
        }
        boxes[i].y0 = below;
        boxes[i].y1 = below + boxes[i].value;
    }
}

/* Published values stand in the middle of their bars. */
static bool add_published(struct scene *s, enum bars how, struct rows *rows, struct diags *diags)
{
    if (!rows) return true;
    struct point_list list;
    size_t categories = s->names.x.n, columns = s->names.series.n, groups = s->names.group.n;
    bool ok = scene_collect(s, rows, &s->figure->reference, &list, diags);
    if (ok && (s->names.x.n != categories || s->names.series.n != columns || s->names.group.n != groups))
        ok = diags_input(diags, s->figure->reference.loc, s->figure->doc->text, NULL,
                         "reference_sql: gives a value of x, series or group that sql does not have");
    struct cloud *cloud = scene_add_cloud(s, LAYER_PUBLISHED, SIZE_MAX, scene_published(s->figure));
    for (size_t i = 0; ok && i < list.n; i++) {
        struct box b = bar_at(s, how, &list.point[i]);
        cloud_add(cloud, (b.x0 + b.x1) / 2, list.point[i].y, list.point[i].series);
    }
    free(list.point);
    return ok;
}

static bool build(struct scene *s, enum bars how, const struct inputs *in, struct diags *diags)
{
    struct point_list list;
    if (how == BARS_STACKED && s->figure->y.scale != SCALE_LINEAR)
        return diags_input(diags, s->figure->y.loc, s->figure->doc->text, NULL, "y: stacked bars need a linear axis");
    bool ok =
        scene_collect(s, in->query, &s->figure->query, &list, diags) && (!s->figure->normalize || scene_normalize(s, &list, diags));
    if (ok) {
        categories_sort(&s->names.x);
        categories_sort(&s->names.group);
        if (s->figure->series_in_row_order)
            series_keep_order(&s->names.series);
        else
            series_sort(&s->names.series);
        struct layer *l = scene_add_layer(s, LAYER_BOXES, NULL);
        l->boxes = xcalloc(list.n, sizeof *l->boxes);
        l->n_boxes = list.n;
        for (size_t i = 0; i < list.n; i++) {
            l->boxes[i] = bar_at(s, how, &list.point[i]);
            l->boxes[i].value = list.point[i].y;
        }
        ok = how == BARS_STACKED || check_single(s, l->boxes, l->n_boxes, diags);
        if (how == BARS_STACKED) stack(s, l->boxes, l->n_boxes);
        s->groups = how == BARS_STACKED ? s->names.group.n : 0;
        ok = ok && add_published(s, how, in->reference, diags);
        s->main = 0;
    }
    free(list.point);
    return ok;
}

bool build_bars(struct scene *s, const struct inputs *in, struct diags *diags)
{
    return build(s, BARS_ONE, in, diags);
}

bool build_grouped_bars(struct scene *s, const struct inputs *in, struct diags *diags)
{
    return build(s, BARS_GROUPED, in, diags);
}

bool build_stacked_bars(struct scene *s, const struct inputs *in, struct diags *diags)
{
    return build(s, BARS_STACKED, in, diags);
}

void scene_fit_categories(struct scene *s)
{
    axis_fit_names(&s->x, &s->names.x, false);
    if (!s->groups) return;
    /* A tick below each bar with the name of its group; script.c writes the categories below those. */
    size_t categories = s->names.x.n;
    s->x.n = 0;
    for (size_t i = 0; i < categories; i++)
        for (size_t g = 0; g < s->groups && s->x.n < AXIS_TICKS_MAX; g++) {
            struct tick *t = &s->x.tick[s->x.n++];
            double v = (double)i - category_width / 2 + ((double)g + 0.5) * category_width / (double)s->groups;
            t->at = axis_position(&s->x, v);
            tick_set_name(t, s->names.group.value[s->names.group.order[g]].name);
        }
}

/* ---- gantt ----------------------------------------------------------------------------------------------------------------- */

/* Add a bar; one that begins where the latest of its row and series ends makes that longer: there would be a seam between them. */
static void add_span(struct layer *l, struct box **latest, const struct box *b)
{
    struct box **before = &latest[b->series];
    double slack = 1e-9 * fmax(fabs(b->x0), fabs(b->x1));
    if (*before && fabs(b->x0 - (*before)->x1) <= slack) {
        (*before)->x1 = b->x1;
        return;
    }
    *before = &l->boxes[l->n_boxes++];
    **before = *b;
}

bool build_gantt(struct scene *s, const struct inputs *in, struct diags *diags)
{
    static const double height = 0.36; /* half of it, of the distance of rows */
    struct point_list list;
    bool ok = scene_collect(s, in->query, &s->figure->query, &list, diags);
    if (ok) {
        series_keep_order(&s->names.y);
        struct layer *l = scene_add_layer(s, LAYER_BOXES, NULL);
        l->boxes = xcalloc(list.n, sizeof *l->boxes);
        struct box **latest = xcalloc(s->names.y.n * SERIES_MAX + 1, sizeof *latest); /* of each row and series */
        for (size_t i = 0; i < list.n; i++) {
            const struct point *p = &list.point[i];
            double row = s->names.y.rank[(uint32_t)p->y];
            if (!(p->z > p->x)) continue; /* takes no time */
            add_span(l, latest + (size_t)p->y * SERIES_MAX,
                     &(struct box){.x0 = p->x, .x1 = p->z, .y0 = row - height, .y1 = row + height, .series = p->series});
        }
        free(latest);
    }
    free(list.point);
    return ok;
}
