/* Heat maps, contours, interval maps: a grid of cells. */
#include "figure/kinds_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The distinct coordinates of a grid's columns or rows, growing. */
struct lines {
    double *at;
    size_t n;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct lines lines_of(const struct point_list *list, bool y)
{
    struct lines l = {xcalloc(list->n + 1, sizeof *l.at), 0};
    for (size_t i = 0; i < list->n; i++) l.at[i] = y ? list->point[i].y : list->point[i].x;
    qsort(l.at, list->n, sizeof *l.at, by_value);
    for (size_t i = 0; i < list->n; i++)
        if (l.n == 0 || l.at[i] != l.at[l.n - 1]) l.at[l.n++] = l.at[i];
    return l;
}

static size_t index_of(const struct lines *l, double v)
{
    const double *found = bsearch(&v, l->at, l->n, sizeof *l->at, by_value);
    return (size_t)(found - l->at);
}

/* A cell reaches half way to its neighbours. */
static void extent(const struct lines *l, size_t i, double *ret_from, double *ret_to)
{
    if (l->n == 1) {
        *ret_from = l->at[0] - 0.5;
        *ret_to = l->at[0] + 0.5;
        return;
    }
    double before = i ? (l->at[i] - l->at[i - 1]) / 2 : (l->at[1] - l->at[0]) / 2;
    double behind = i + 1 < l->n ? (l->at[i + 1] - l->at[i]) / 2 : before;
    *ret_from = l->at[i] - before;
    *ret_to = l->at[i] + behind;
}

static bool build_cells(struct scene *s, const struct inputs *in, enum layer_style style, struct diags *diags)
{
    struct point_list list;
    bool ok = scene_collect(s, in->query, &s->figure->query, &list, diags);
    if (ok) {
        struct lines x = lines_of(&list, false), y = lines_of(&list, true);
        unsigned char *taken = xcalloc(x.n * y.n + 1, 1);
        struct layer *l = scene_add_layer(s, style, NULL);
        s->grid = true;
        l->boxes = xcalloc(list.n + 1, sizeof *l->boxes);
        for (size_t i = 0; ok && i < list.n; i++) {
            const struct point *p = &list.point[i];
            size_t column = index_of(&x, p->x), row = index_of(&y, p->y);
            if (taken[row * x.n + column]++)
                ok = diags_input(diags, s->figure->query.loc, s->figure->doc->text,
                                 "one row for each x and y: aggregate in the query", "sql: row %zu is a cell that was there before",
                                 i + 1);
            struct box *b = &l->boxes[l->n_boxes++];
            *b = (struct box){.value = p->z, .series = p->series};
            extent(&x, column, &b->x0, &b->x1);
            extent(&y, row, &b->y0, &b->y1);
        }
        free(taken);
        free(x.at);
        free(y.at);
    }
    free(list.point);
    return ok;
}

bool build_heatmap(struct scene *s, const struct inputs *in, struct diags *diags)
{
    return build_cells(s, in, LAYER_CELLS, diags);
}

bool build_contour(struct scene *s, const struct inputs *in, struct diags *diags)
{
    return build_cells(s, in, LAYER_CELLS, diags);
}

bool build_interval_map(struct scene *s, const struct inputs *in, struct diags *diags)
{
    return build_cells(s, in, LAYER_BOXES, diags);
}

/* ---- contours -------------------------------------------------------------------------------------------------------------- */

/* The grid of cell centres again; NaN where there is no cell. */
struct grid {
    struct lines x, y;
    double *value;
};

static struct grid grid_of(const struct layer *cells)
{
    struct point_list list = {xcalloc(cells->n_boxes + 1, sizeof *list.point), cells->n_boxes};
    for (size_t i = 0; i < list.n; i++) {
        const struct box *b = &cells->boxes[i];
        list.point[i] = (struct point){.x = (b->x0 + b->x1) / 2, .y = (b->y0 + b->y1) / 2, .z = b->value};
    }
    struct grid g = {.x = lines_of(&list, false), .y = lines_of(&list, true)};
    g.value = xcalloc(g.x.n * g.y.n + 1, sizeof *g.value);
    for (size_t i = 0; i < g.x.n * g.y.n; i++) g.value[i] = (double)NAN;
    for (size_t i = 0; i < list.n; i++)
        g.value[index_of(&g.y, list.point[i].y) * g.x.n + index_of(&g.x, list.point[i].x)] = list.point[i].z;
    free(list.point);
    return g;
}

static void add_path_point(struct layer *l, size_t *capacity, double x, double y, bool first)
{
    if (l->n_path == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 256;
        l->path = xrealloc(l->path, *capacity, sizeof *l->path);
    }
    l->path[l->n_path++] = (struct path_point){.x = x, .y = y, .first = first};
}

/* Where the level is crossed between two corners: 0 to 1, or NaN. */
static double crossing(double a, double b, double level)
{
    if (isnan(a) || isnan(b) || (a < level) == (b < level)) return (double)NAN;
    return (level - a) / (b - a);
}

/* The pieces of one level in the square of grid points (i, j), (i + 1, j + 1): marching squares. A saddle is cut by the mean of
 * its corners. */
static void add_square(const struct grid *g, size_t i, size_t j, double level, struct layer *l, size_t *capacity)
{
    const double v[4] = {g->value[j * g->x.n + i], g->value[j * g->x.n + i + 1], g->value[(j + 1) * g->x.n + i + 1],
                         g->value[(j + 1) * g->x.n + i]};
    double x0 = g->x.at[i], x1 = g->x.at[i + 1], y0 = g->y.at[j], y1 = g->y.at[j + 1], x[4], y[4];
    const double corner_x[5] = {x0, x1, x1, x0, x0}, corner_y[5] = {y0, y0, y1, y1, y0};
    int n = 0;
    for (int k = 0; k < 4; k++) {
        double t = crossing(v[k], v[(k + 1) % 4], level);
        if (isnan(t)) continue;
        x[n] = corner_x[k] + t * (corner_x[k + 1] - corner_x[k]);
        y[n] = corner_y[k] + t * (corner_y[k + 1] - corner_y[k]);
        n++;
    }
    if (n < 2) return;
    bool turned = n == 4 && ((v[0] + v[1] + v[2] + v[3]) / 4 < level) == (v[0] < level);
    for (int k = 0; k < n; k += 2) {
        int a = turned ? (k + 1) % n : k, b = turned ? (k + 2) % n : k + 1;
        add_path_point(l, capacity, x[a], y[a], true);
        add_path_point(l, capacity, x[b], y[b], false);
    }
}

/* The piece nearest to the middle of the plot carries the level's number. */
static void add_level_note(struct scene *s, const struct layer *l, size_t from, const char *text)
{
    double best = HUGE_VAL;
    size_t at = from;
    for (size_t i = from; i < l->n_path; i++) {
        double dx = axis_position(&s->x, l->path[i].x) - 0.5, dy = axis_position(&s->y, l->path[i].y) - 0.5;
        if (dx * dx + dy * dy < best) {
            best = dx * dx + dy * dy;
            at = i;
        }
    }
    if (l->n_path > from && s->n_notes < NOTES_MAX)
        s->note[s->n_notes++] = (struct note){l->path[at].x, l->path[at].y, xstrdup(text)};
}

void add_contours(struct scene *s)
{
    struct grid g = grid_of(&s->layer[0]);
    struct layer *l = scene_add_layer(s, LAYER_PATHS, NULL);
    size_t capacity = 0;
    for (size_t t = 0; t < s->z.n; t++) {
        if (!s->z.tick[t].text[0]) continue;
        double level = s->z.low + s->z.tick[t].at * (s->z.high - s->z.low);
        size_t from = l->n_path;
        for (size_t j = 0; j + 1 < g.y.n; j++)
            for (size_t i = 0; i + 1 < g.x.n; i++) add_square(&g, i, j, level, l, &capacity);
        add_level_note(s, l, from, s->z.tick[t].text);
    }
    free(g.x.at);
    free(g.y.at);
    free(g.value);
}
